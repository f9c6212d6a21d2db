"""What only the SQLite store has: the bytes of its files, triggers that hold against other programs, an index copy."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

import recollect
from conftest import START, Clock, Opener
from nouns import A, memory, put, unit
from recollect import BadInput, Draft, StoreFull, StoreUnavailable
from recollect.ids import make
from recollect.store.index import VectorIndex
from recollect.store.sqlite import SQLiteStore
from recollect.types import Filter, Scope


@pytest.fixture
def backend() -> str:
    return "sqlite"


def test_the_journal_cannot_be_changed_or_deleted_even_by_hand(store: SQLiteStore) -> None:
    put(store, memory(1, "Facts."))
    con = apsw.Connection(str(store.path))
    for sql in ("delete from journal", "update journal set actor = 'mallory'", "update journal set after = '{}'"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            con.execute(sql)
    con.close()


def test_a_saved_index_is_used_and_catches_up_and_a_damaged_one_is_built_again(
    store: SQLiteStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.WORTH_SAVING", 1)
    put(store, memory(1, "one"))
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(1, 1), "m", unit(1)[None, :])
    store.nearest(A, "m", unit(1), Filter(), 1)
    store.save()
    (copy,) = store.path.parent.glob("*.index")
    assert copy.stat().st_mode & 0o777 == 0o600
    put(store, memory(2, "two"))
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(2, 2), "m", unit(1, 1)[None, :])
    for damage in (False, True):
        if damage:
            copy.write_bytes(copy.read_bytes()[:100])
        other = SQLiteStore(store.path, patience=5, now=clock())
        assert [id for id, _ in other.nearest(A, "m", unit(1), Filter(), 5)] == [make(1, 1), make(2, 2)]
        other.close()


def test_what_another_process_purged_leaves_the_index_before_it_is_saved(
    store: SQLiteStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.WORTH_SAVING", 1)
    put(store, memory(1, "one"), memory(2, "two"))
    with store.transaction(A, "test", START) as changes:
        for number in (1, 2):
            changes.embed(make(number, number), "m", unit(1, number)[None, :])
    other = SQLiteStore(store.path, patience=5, now=clock())
    assert len(other.nearest(A, "m", unit(1), Filter(), 5)) == 2
    with store.transaction(A, "test", START) as changes:
        changes.purge(make(1, 1))
    other.close()
    (copy,) = store.path.parent.glob("*.index")
    kept = VectorIndex.load(copy, store._stamp(A, "m"))
    assert kept is not None
    assert len(kept) == 1


def test_a_grown_index_is_built_again_around_its_new_middle_and_only_once(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.index.SECOND", 10)
    monkeypatch.setattr("recollect.store.sqlite.INDEX_BATCH", 4)
    built: list[int] = []
    build = VectorIndex.build

    def counted(index: VectorIndex, rows: Any) -> None:
        build(index, rows)
        built.append(index.count)

    monkeypatch.setattr(VectorIndex, "build", counted)
    for number in range(60):
        put(store, memory(number, f"number {number}"))
        with store.transaction(A, "test", START) as changes:
            changes.embed(make(number, number), "m", unit(1, number / 10)[None, :])
        assert len(store.nearest(A, "m", unit(1), Filter(), 100)) == number + 1
    assert built == [1, 12, 50]


def test_an_index_saved_for_another_database_is_not_used(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.WORTH_SAVING", 1)
    for content in ("first life", "second life"):
        again = SQLiteStore(tmp_path / "again.db", patience=5, now=clock())
        put(again, memory(1, content))
        with again.transaction(A, "test", START) as changes:
            changes.embed(make(1, 1), "m", (unit(1) if content == "first life" else unit(0, 1))[None, :])
        assert again.nearest(A, "m", unit(1), Filter(), 5)[0][1] == pytest.approx(float(content == "first life"))
        again.close()
        for suffix in ("", "-wal", "-shm", ".head"):
            (tmp_path / f"again.db{suffix}").unlink(missing_ok=True)


def test_a_column_of_the_index_becomes_wider_where_numbers_do_not_fit() -> None:
    index, half = VectorIndex(), np.array([1, -1] * 4, "<f2").tobytes()
    many = np.iinfo(np.int16).max + 9
    index.replace([], [
        (n + 2**31, n + 2**33, make(n, n), half, *[""] * 4, f"s{n}", "fact", "world", "active", 5, n, None, None, None)
        for n in range(many)
    ])  # fmt: skip
    last = Filter(scope=Scope(session=f"s{many - 1}"), inside=True)
    mask = index.mask(last, None)
    assert mask is not None
    assert np.flatnonzero(mask).tolist() == [many - 1]
    assert (int(index["row"][-1]), int(index["memory"][-1])) == (many - 1 + 2**31, many - 1 + 2**33)


def test_lost_halves_are_found(store: SQLiteStore) -> None:
    put(store, memory(1, "one"))
    assert [check for check in store.check(A) if check.status != "ok"] == []
    con = apsw.Connection(str(store.path))
    con.execute("delete from memory_fts")
    con.close()
    broken = [check for check in store.check(A) if check.status == "broken"]
    assert broken
    assert "memories without full text" in broken[-1].detail


def test_a_full_disk_is_a_clear_error_and_the_change_is_rolled_back(opened: Opener) -> None:
    memory = opened()
    memory.remember("Before the disk was full.")
    writer = memory._store._writer  # type: ignore[attr-defined]
    writer.pragma("max_page_count", writer.pragma("page_count") + 2)
    with pytest.raises(StoreFull, match="full"):
        memory.remember_many([Draft("filling the disk " * 3000 + str(n)) for n in range(20)])
    writer.pragma("max_page_count", 1_000_000)
    assert memory.stats()["memories"] == 1
    assert memory.remember("After it was freed.").action == "created"
    assert [check for check in memory._store.check("default") if check.status != "ok"] == []


def test_a_damaged_database_is_a_clear_error(tmp_path: Path, opened: Opener) -> None:
    memory = opened("damaged.db", embedder="off")
    memory.remember_many([f"fact number {n} " * 20 for n in range(300)])
    memory.close()
    con = apsw.Connection(str(tmp_path / "damaged.db"))
    con.pragma("journal_mode", "delete")
    con.close()
    with (tmp_path / "damaged.db").open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(200_000))

    def use() -> None:
        broken = opened("damaged.db", embedder="off")
        broken.list(limit=1000)
        broken.remember("x")

    with pytest.raises(StoreUnavailable):
        use()


def test_a_store_is_closed_while_a_thread_still_reads_and_after_a_write_that_has_begun(
    tmp_path: Path, clock: Clock
) -> None:
    store = SQLiteStore(tmp_path / "closing.db", patience=30, now=clock())
    reading, writing, ended = threading.Event(), threading.Event(), []
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(x) from n"

    def forever() -> None:
        with store._reading() as con:
            reading.set()
            con.execute(endless)

    def read() -> None:
        with pytest.raises(StoreUnavailable, match="was closed"):
            forever()
        ended.append("read")

    def write() -> None:
        with store.transaction("default", "test", clock()) as changes:
            writing.set()
            changes.note("note", "0" * 26, "written while it closes")
        ended.append("written")

    threads = [threading.Thread(target=read), threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    reading.wait(30)
    writing.wait(30)
    store.close()
    for thread in threads:
        thread.join(30)
    assert sorted(ended) == ["read", "written"]
    with closing(SQLiteStore(tmp_path / "closing.db", patience=5, now=clock())) as again:
        assert [entry.reason for entry in again.journal("default")] == ["written while it closes"]


def test_a_store_in_memory_alone_is_refused_in_words() -> None:
    with pytest.raises(BadInput, match="in memory alone"):
        recollect.open(":memory:", embedder="off")
