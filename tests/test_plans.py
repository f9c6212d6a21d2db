"""SQLite's query plans: no statement that runs for a single look-up may walk through a tenant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from recollect.store import answers, changes, jobs, sqlite, statements, trail
from recollect.store.sqlite import SQLiteStore
from recollect.store.sqlite_changes import SQLiteChanges
from recollect.types import Evidence, Link, Memory, Source, Tombstone

NOUN = statements.NOUN
AMONG = "in (select value from json_each(:ids))"
STATEMENTS = {
    **{name: getattr(changes, name) for name in ("SAME", "TURN_BEFORE", "WAS_PURGED", "BLANK", "SOURCE_IS_USED")},
    **{name: getattr(SQLiteChanges, name) for name in ("STALE", "UNEMBED")},
    **{name: getattr(sqlite, name) for name in ("VECTORS", "VECTORS_OF", "INDEX_CHANGES", "TAGGED")},
    "by id": f"{statements.MEMORIES} and m.id {AMONG}",
    "sharing": SQLiteStore.SHARING,
    **{f"get {kind.__name__}": f"{NOUN[kind]} and id = :id" for kind in (Memory, Source, Evidence, Link, Tombstone)},
    "get with usage": f"{statements.MEMORIES} and m.id = :id",
    "tombstone": NOUN[Tombstone] + statements.TOMBSTONE,
    "source": NOUN[Source] + statements.SOURCE_LIKE,
    "by hash": f"{NOUN[Memory]} and content_hash {AMONG}",
    "evidence of": f"{NOUN[Evidence]} and memory {AMONG}",
    "links from": f"{NOUN[Link]} and origin {AMONG}",
    "links to": f"{NOUN[Link]} and target {AMONG}",
    "trail": f"{trail.TRAIL} and seq > :after and target {AMONG} and noun {AMONG} order by seq limit :limit",
    "history": f"{statements.ENTRIES} and target = :target order by seq limit :limit",
    "job due": jobs.IS_DUE.format(kinds=AMONG),
    "claim": jobs.CLAIM.format(kinds=AMONG, lock=""),
    "answer": answers.OF,
    "what an answer depends on": answers.DEPENDS.format(ids=AMONG),
    "answers built from": answers.DROP_BUILT,
    "count of an answer": answers.COUNT,
    "changed answers": answers.SHELF,
    "answers with a vector": answers.SHELF_SIZE,
    "vectors of all models": sqlite.ALL_VECTORS_OF,
    "changed vectors": f"{sqlite.INDEX_ROWS} and m.n in (select value from json_each(:memories))",
}  # fmt: skip


@pytest.fixture
def backend() -> str:
    return "sqlite"


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
