"""Many memories at once: the same as one by one, and in PostgreSQL one statement a table and batch."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import postgres
import recollect
from conftest import START, Opener, Places, open_store
from nouns import source
from recollect import BadInput, Draft, Evidence, Memory, Scope, Source
from recollect.language import terms
from recollect.remember.write import BATCH
from recollect.store import sqlite_text
from recollect.store.contract import Store
from recollect.types import Filter

COUNTED = ("memory", "source", "evidence", "embedding", "posting", "memory_terms", "memory_tag", "memory_ref")


def drafts(count: int) -> list[Draft]:
    """Every sort of draft, some of them twice."""
    return [
        Draft(
            f"Service {n % (count - 3)} listens on port {8000 + n % (count - 3)}.",
            kind=("fact", "doc", "turn", "code")[n % 4], title=f"Port {n}" if n % 5 == 0 else "",
            scope=Scope(project="shop" if n % 2 else "", session="s1" if n % 4 == 2 else ""),
            position=n if n % 4 == 2 else None, tags=("port", f"t{n % 3}"), refs=(f"src/{n}.py", "README.md"),
            source=Source("", "file", f"file:{n % 7}", content=f"page {n % 7}") if n % 3 else None,
            evidence=f"port {8000 + n}" if n % 3 == 1 else (),
        )
        for n in range(count)
    ]  # fmt: skip


def told(store: Store) -> list[Any]:
    """What a store holds, without what differs from run to run."""
    found = []
    uris = {source.id: source.uri for source in store.each("default", Source)}
    for one in sorted(store.each("default", Memory), key=lambda one: (one.content, one.kind, str(one.scope))):
        quotes = store.of("default", Evidence, [one.id], "memory")
        vectors = store.vectors("default", [one.id]).get(one.id, {})
        rest = [(quote.quote, uris[quote.source]) for quote in quotes], {m: len(v) for m, v in vectors.items()}
        found.append((one.content, one.title, one.kind, one.scope, one.tags, one.refs, one.context, one.observed,
                      uris[one.source], *rest))  # fmt: skip
    return found


def test_many_at_once_are_stored_as_they_are_one_by_one(opened: Opener, place: Places) -> None:
    said = drafts(60)
    at_once = opened("many.db").remember_many(said)
    single = opened("single.db")
    one_by_one = [single.remember_many([draft])[0] for draft in said]
    assert [one.action for one in at_once] == [one.action for one in one_by_one]
    stores = [open_store(place(name), START) for name in ("many.db", "single.db")]
    assert told(stores[0]) == told(stores[1])
    for asked in ("port 8010", "service 12", "readme", "shop"):
        words = terms.of_query(asked)
        scores = [sorted(score for _, score in store.match("default", words, Filter(), 100)) for store in stores]
        assert scores[0] == pytest.approx(scores[1]), asked
    for store in stores:
        assert [check for check in store.check("default") if check.status != "ok"] == []
        store.close()


def test_what_is_near_is_told_of_claims_and_not_of_records(memory: recollect.Engine) -> None:
    memory.remember("The payments service listens on port 8443.")
    near = "The payments service listens on port 8443 now."
    claimed, recorded = memory.remember_many([Draft(near), Draft(f"{near} It does.", kind="doc")])
    assert claimed.near
    assert not recorded.near


@pytest.mark.parametrize("backend", ["postgres"])
def test_a_batch_is_one_statement_a_table(opened: Opener, place: Places, cluster: postgres.Cluster) -> None:
    memory = opened()
    memory.remember("The first one makes the tenant.")
    with psycopg.connect(cluster.as_admin(place()), autocommit=True) as con:
        con.execute("create table ran (name text)")
        con.execute("grant all on ran to public")
        con.execute("create function count_it() returns trigger language plpgsql as $$"
                    "begin insert into ran values (tg_table_name); return null; end $$")  # fmt: skip
        for table in COUNTED:
            con.execute(
                f"create trigger counted after insert on {table} for each statement execute function count_it()"
            )
        said = [
            Draft(f"Page {n} is about subject {n * 7}.", kind="doc", tags=("page",), refs=(f"p{n}",), evidence=f"{n}")
            for n in range(BATCH)
        ]
        assert {one.action for one in memory.remember_many(said)} == {"created"}
        ran: dict[str, int] = dict(con.execute("select name, count(*) from ran group by 1").fetchall())
    assert {name: ran.get(name, 0) for name in COUNTED} == {**dict.fromkeys(COUNTED, 1), "source": 0}


@pytest.mark.parametrize("backend", ["postgres"])
def test_a_character_that_the_server_cannot_keep_is_refused_and_changes_nothing(store: Store) -> None:
    with store.transaction("default", "test", START) as changes:
        changes.put(source(1, content="six letters: \\u0000"), "create")
    with pytest.raises(BadInput, match="NUL"), store.transaction("default", "test", START) as changes:
        changes.put(source(2, content="a\0b \\u0000"), "create")
    assert [one.content for one in store.each("default", Source)] == ["six letters: \\u0000"]
    assert store.head("default") == 1


@pytest.mark.parametrize("backend", ["sqlite"])
def test_common_words_do_not_hide_what_holds_a_rare_one(
    memory: recollect.Engine, place: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "the nightly backup of the billing database runs before the daily report job starts"
    drafts = [Draft(f"{said} {n}", kind="doc", tags=(("seen",) if n % 9 else ())) for n in range(3000)]
    drafts += [Draft(f"Our zebra feeds the billing database, {n}.", kind="doc", tags=("seen",)) for n in range(5)]
    memory.remember_many(drafts, embed=False)
    store = open_store(place(), START)
    for asked in ("nightly zebra database backup job", "nightly billing database backup report job"):
        words = terms.of_query(asked)
        assert sum(store.frequencies("default", words, Filter())[1].values()) > sqlite_text.COMMON / 2
        monkeypatch.setattr(sqlite_text, "COMMON", 10**9)
        exact = store.match("default", words, Filter(tags=("seen",)), 10)
        monkeypatch.setattr(sqlite_text, "COMMON", 10_000)
        bounded = store.match("default", words, Filter(tags=("seen",)), 10)
        assert len(bounded) == 10
        zebras = [score for _, score in exact if "zebra" in asked][:5]
        assert [score for _, score in bounded][: len(zebras)] == pytest.approx(zebras, rel=0.02)
        assert {id for id, _ in bounded[: len(zebras)]} == {id for id, _ in exact[: len(zebras)]}
    store.close()
