"""Query plans: no statement that runs for a single look-up may walk through a tenant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from recollect.store import sqlite, sqlite_changes
from recollect.store.sqlite import SQLiteStore
from recollect.types import Evidence, Link, Memory, Source, Tombstone

NOUN = sqlite_changes.NOUN
AMONG = "in (select value from json_each(:ids))"
STATEMENTS = {
    **{name: getattr(sqlite_changes, name) for name in ("BY_ID", "SAME", "TURN_BEFORE", "WAS_PURGED", "BLANK", "STALE",
                                                       "UNEMBED", "SOURCE_IS_USED")},
    **{name: getattr(sqlite, name) for name in ("VECTORS", "VECTORS_OF", "INDEX_CHANGES", "TAGGED", "SHARING")},
    **{f"get {kind.__name__}": f"{NOUN[kind]} and id = :id" for kind in (Memory, Source, Evidence, Link, Tombstone)},
    "get with usage": f"{sqlite_changes.MEMORIES} and m.id = :id",
    "tombstone": NOUN[Tombstone] + sqlite_changes.TOMBSTONE,
    "source": NOUN[Source] + sqlite_changes.SOURCE_LIKE,
    "by hash": f"{NOUN[Memory]} and content_hash {AMONG}",
    "evidence of": f"{NOUN[Evidence]} and memory {AMONG}",
    "links from": f"{NOUN[Link]} and origin {AMONG}",
    "links to": f"{NOUN[Link]} and target {AMONG}",
    "history": f"{sqlite.ENTRIES} and target = :target order by seq limit :limit",
    "changed vectors": f"{sqlite.INDEX_ROWS} and m.n in (select value from json_each(:memories))",
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_look_up_searches_by_more_than_the_tenant(store: SQLiteStore, name: str) -> None:
    sql = STATEMENTS[name]
    values: Any = dict.fromkeys(re.findall(r":(\w+)", sql)) or [None] * sql.count("?")
    with store._reading() as con:
        plan = [str(row[3]) for row in con.execute(f"explain query plan {sql}", values)]
    walks = [step for step in plan if step.startswith("SCAN") and "json_each" not in step and "CONSTANT" not in step]
    assert walks == [], plan
    alone = [step for step in plan if re.search(r"\((?:tenant|model)=\?\)|\(tenant=\? AND model=\?\)", step)]
    assert alone == [], plan
