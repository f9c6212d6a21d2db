"""Damaged rows: each is noticed where it is read, left out and named; the journal proves itself and restores rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from conftest import Clock, Places, open_store
from recollect import Engine, Memory, StoreCorrupt
from recollect.store import sqlite_file
from recollect.store.contract import Store
from recollect.store.postgres import PostgresStore
from recollect.store.sqlite import SQLiteStore

Opener = Callable[..., Engine]
Run = Callable[..., None]


@pytest.fixture
def execute(place: Places, backend: str) -> Run:
    """Run a statement on the database behind the back of the store."""

    def run(sql: str, *values: Any) -> None:
        if backend == "sqlite":
            con = sqlite_file.connect(Path(place()), 5)
            for trigger in ("journal_is_append_only", "journal_is_never_replaced", "memory_is_reindexed"):
                con.execute(f"drop trigger if exists {trigger}")
            con.execute(sql, values)
            con.close()
            return
        with psycopg.connect(place(), autocommit=True) as other:
            other.execute("alter table journal disable trigger user")
            for table in ("memory", "source", "evidence", "link", "journal", "head"):
                other.execute(f"alter table {table} no force row level security")
            other.execute(sql.replace("?", "%s"), values)

    return run


def kept(memory: Engine, content: str, **fields: Any) -> Memory:
    found = memory.remember(content, **fields).memory
    assert found is not None
    return found


def values(memory: Engine, sql: str) -> list[Any]:
    store = memory._store
    assert isinstance(store, SQLiteStore | PostgresStore)
    return [row[0] for row in store._query(sql, tenant=memory.settings.tenant)]


def checks(memory: Engine) -> dict[str, str]:
    return {
        check.name: check.detail for check in memory._store.check(memory.settings.tenant) if check.status == "broken"
    }


def test_a_damaged_memory_is_left_out_and_named_and_the_others_are_read(
    opened: Opener, execute: Run, tmp_path: Path
) -> None:
    memory = opened()
    bad, good = (kept(memory, text).id for text in ("We deploy on Thursdays.", "We never deploy on Fridays."))
    execute("update memory set content = 'We deploy on Tuesdays.' where id = ?", bad)
    page, found = memory.list(), memory.recall("When do we deploy?")
    assert [one.id for one in page.memories] == [hit.memory.id for hit in found.hits] == [good]
    for skipped in (page.skipped, found.skipped):
        assert [line for line in skipped if bad in line and "damaged" in line]
    assert memory.export(tmp_path / "out.jsonl") == 1
    assert bad in checks(memory)["rows"]
    with pytest.raises(StoreCorrupt, match=bad):
        memory.edit(bad, title="Deployments")


def test_what_is_damaged_or_lost_is_taken_from_the_journal(opened: Opener, execute: Run) -> None:
    memory = opened()
    ids = [kept(memory, f"Fact number {n} is kept.", tags=(f"t{n}",)).id for n in range(4)]
    memory.edit(ids[0], title="Before")
    memory.forget(id=ids[3])
    before = memory.list(states=("active", "archived", "invalid")).memories
    execute("update memory set title = 'After' where id = ?", ids[0])
    execute("update memory set checksum = 17 where id = ?", ids[1])
    execute("update source set author = 'somebody' where id = ?", before[0].source)
    assert checks(memory).keys() == {"rows"}
    memory.mend()
    assert memory.list(states=("active", "archived", "invalid")).memories == before
    assert checks(memory) == {}


def test_a_row_that_is_stale_or_was_never_written_is_found_by_the_journal(opened: Opener, execute: Run) -> None:
    """Each row fits its checksum here: only the journal tells that it should not be there, or not be so."""
    memory = opened()
    gone, stale = (kept(memory, text) for text in ("Tea is served at four.", "The office closes at six."))
    other = kept(memory, "The lamp is green.")
    link = memory.link(gone.id, "related", other.id)
    execute("create table old as select * from link where id = ?", link.id)
    with memory._store.transaction(memory.settings.tenant, "test", memory._now()) as changes:
        changes.drop(type(link), link.id, "unlink")
    execute("insert into link select * from old")
    execute("drop table old")
    execute("create table old as select title, updated_at, checksum from memory where id = ?", stale.id)
    memory.edit(stale.id, title="Hours")
    columns = ", ".join(f"{name} = (select {name} from old)" for name in ("title", "updated_at", "checksum"))
    execute(f"update memory set {columns} where id = ?", stale.id)
    told = checks(memory)["rows"]
    assert f"{link.id} was removed and is there again" in told
    assert f"{stale.id} is not what the journal tells" in told
    memory.mend()
    assert checks(memory) == {}
    assert memory.get(stale.id).title == "Hours"


@pytest.mark.parametrize("column", ["reason", "actor", "after", "operation"])
def test_a_journal_row_that_was_altered_is_found(column: str, opened: Opener, execute: Run) -> None:
    memory = opened()
    for n in range(5):
        memory.remember(f"Fact number {n} is kept.")
    execute(f"update journal set {column} = ? where seq = 4", '{"content":"another"}')
    assert "change 4" in checks(memory)["journal"]
    assert [entry.seq for entry in memory._store.journal(memory.settings.tenant)][:4] == [1, 2, 3, 5]


def test_a_journal_row_cannot_be_replaced_and_one_that_was_is_found(store: Store, clock: Clock, execute: Run) -> None:
    """Even one with a digest of its own: the row after it does not follow."""
    from recollect.store.checksums import seal

    with store.transaction("t", "test", clock()) as changes:
        for n in range(5):
            changes.note("try", f"thing {n}", "as it was")
    row = (3, 5, "test", "try", "note", "thing 2", None, None, "as it never was")
    digest, chain = seal(b"", "t", row, b"s" * 16)
    sql = "update journal set reason = ?, salt = ?, digest = ?, chain = ?, at = 5 where tenant = 't' and seq = 3"
    execute(sql, row[-1], b"s" * 16, digest, chain)
    broken = {check.name: check.detail for check in store.check("t") if check.status == "broken"}
    assert "change 4 does not follow" in broken["journal"]


def test_insert_or_replace_does_not_get_past_the_journal(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path / "store.db", clock())
    with store.transaction("t", "test", clock()) as changes:
        changes.note("try", "thing", "as it was")
    con = apsw.Connection(str(tmp_path / "store.db"))
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        con.execute("insert or replace into journal select * from journal where seq = 1")
    con.close()
    store.close()


def test_the_chain_survives_a_purge_and_tells_nothing_about_what_was_purged(opened: Opener, place: Places) -> None:
    memory = opened()
    secret = kept(memory, "My number is 4711.").id
    memory.remember("The office closes at six.")
    memory.forget(id=secret, purge=True)
    assert checks(memory) == {}
    blanked = [entry for entry in memory._store.journal(memory.settings.tenant) if entry.purged]
    assert blanked
    assert set(values(memory, "select salt from journal where tenant = :tenant and purged = 1")) == {None}


@pytest.mark.parametrize("backend", ["sqlite"])
def test_text_that_is_not_utf8_ends_no_command(opened: Opener, execute: Run, tmp_path: Path) -> None:
    memory = opened(embedder="off")
    bad, good = (kept(memory, text).id for text in ("We deploy on Thursdays.", "We never deploy on Fridays."))
    execute("update memory set content = cast(x'ff41' as text) where id = ?", bad)
    execute("update journal set reason = cast(x'ff41' as text) where noun = 'memory' and target = ?", good)
    assert [one.id for one in memory.list().memories] == [good]
    assert [line for line in memory.list().skipped if bad in line]
    assert [hit.memory.id for hit in memory.recall("When do we deploy?").hits] == [good]
    assert memory.export(tmp_path / "out.jsonl", journal=True) == 1
    assert {"rows", "journal"} <= checks(memory).keys()
    memory.mend()
    assert {one.id for one in memory.list().memories} == {bad, good}


def test_rows_of_an_older_version_get_their_checksums_little_by_little(
    backend: str, opened: Opener, execute: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.guard.STEP", 3)
    memory = opened()
    for n in range(4):
        memory.remember(f"Fact number {n} is kept.")
    memory.close()
    for table in ("memory", "source", "evidence", "journal"):
        columns = ("salt", "digest", "chain") if table == "journal" else ("checksum",)
        execute(f"update {table} set {', '.join(f'{one} = null' for one in columns)}")
    if backend == "postgres":
        execute("update head set chain = null")
    execute("delete from meta where key <> 'store'")
    memory = opened()
    assert len(memory.list().memories) == 4
    steps = 0
    while (told := meta(memory)) != "done":
        steps += 1
        memory.remember(f"Another fact, number {steps}, is kept.")
        assert told is None or told.partition(" ")[0] in ("memory", "source", "evidence", "journal"), told
    assert steps > 4
    assert checks(memory) == {}
    execute("update memory set checksum = null")
    assert checks(memory).keys() == {"rows"}


def meta(memory: Engine) -> str | None:
    found = values(memory, "select value from meta where key <> 'store'")
    return str(found[0]) if found else None


def test_the_doctor_makes_no_tenant(store: Store) -> None:
    store.check("nobody")
    assert store.tenants() == []
