"""Several processes and threads on one store: nothing lost, nobody locked out, everybody sees everything."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import recollect
from conftest import Opener, Places
from recollect import StoreLocked
from replay import entries_of
from writers import context, lines, watch, write_some

WRITERS, WRITES = 4, 500


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)  # for PostgreSQL it is eight, in its own tests
def test_four_processes_write_and_recall_at_once_and_nothing_is_lost(
    place: Places, tmp_path: Path, opened: Opener
) -> None:
    log = tmp_path / "acknowledged"
    watcher = opened("store.db")
    writers = [context.Process(target=write_some, args=(place(), log, n, WRITES), daemon=True) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    seen = watch(watcher, log, writers)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    said = lines(log)
    assert [line for line in said if line[0] == "error"] == []
    assert seen > 0
    assert watcher.stats()["by_state"] == {"active": WRITERS * WRITES}
    assert len({line[1] for line in said}) == WRITERS * WRITES
    entries = entries_of(watcher._store, "default")
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert [check for check in watcher._store.check("default") if check.status != "ok"] == []


def test_threads_share_one_engine(memory: recollect.Engine) -> None:
    errors: list[Exception] = []

    def work(seed: int) -> None:
        try:
            for number in range(25):
                memory.remember(f"thread {seed} fact {number}")
                assert memory.recall(f"thread {seed} fact {number}", limit=50).hits
        except Exception as error:  # noqa: BLE001 - whatever happens in a thread is the test's finding
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert memory.stats()["by_state"] == {"active": 150}


def test_two_processes_that_say_the_same_make_one_memory(opened: Opener) -> None:
    engines = [opened("store.db") for _ in range(4)]
    results: list[recollect.Remembered] = []
    barrier = threading.Barrier(4)

    def say(engine: recollect.Engine) -> None:
        barrier.wait()
        results.append(engine.remember("Said by all at once."))

    threads = [threading.Thread(target=say, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.action for result in results) == ["created", "duplicate", "duplicate", "duplicate"]
    assert engines[0].get(results[0].id).observed == 4


def test_a_lock_that_is_never_let_go_is_a_clear_error_and_reading_goes_on(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_BUSY_TIMEOUT", "0.2")
    first, second = opened(), opened()
    first.remember("Before the lock.")
    with first._store.transaction("default", "test", first._now()):
        with pytest.raises(StoreLocked) as caught:
            second.remember("During the lock.")
        assert "busy_timeout" in caught.value.fix
        assert len(second.recall("before the lock")) == 1
    assert second.remember("After the lock.").action == "created"
