"""Killed at any moment, a store keeps every acknowledged change, whole."""

from __future__ import annotations

import random
import time
from pathlib import Path

import apsw

from conftest import Clock
from recollect.store.sqlite import ORPHANS, SQLiteStore
from replay import entries_of, replayed, state_of
from writers import context, lines, write_for_ever

ROUNDS = 50
TENANT = "default"


def kill_while_writing(path: Path, log: Path, number: int, chance: random.Random) -> None:
    writers = [context.Process(target=write_for_ever, args=(path, log, 10 * number + n), daemon=True) for n in range(2)]
    seen = len(lines(log))
    for writer in writers:
        writer.start()
    deadline = time.monotonic() + 60
    while len(lines(log)) < seen + chance.randrange(1, 25) and time.monotonic() < deadline:
        time.sleep(chance.uniform(0, 0.01))
    for writer in writers:
        writer.kill()
        writer.join()
    assert len(lines(log)) > seen, "the writers never wrote"


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path, clock: Clock) -> None:
    path, log = tmp_path / "store.db", tmp_path / "acknowledged"
    chance = random.Random(20260302)
    for number in range(ROUNDS):
        kill_while_writing(path, log, number, chance)
        con = apsw.Connection(str(path))
        assert con.execute("pragma integrity_check").get == "ok"
        for name, sql in ORPHANS.items():
            assert con.execute(sql).get == 0, name
        con.close()
    store = SQLiteStore(path, patience=5, now=clock())
    assert [check for check in store.check(TENANT) if check.status != "ok"] == []
    said = lines(log)
    # A purge is announced before it is done: the kill may have come first, so such a memory may be there or not.
    purged = {line[1] for line in said if line[0] == "purging"}
    created = {line[1] for line in said if line[0] == "created"}
    assert len(created) > ROUNDS
    assert created - purged <= store.memories(TENANT, list(created)).keys()
    assert store.unembedded(TENANT, "hashing/1", 10) == []
    entries = entries_of(store, TENANT)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    copy = replayed(store, TENANT, tmp_path / "copy.db")
    assert state_of(copy, TENANT) == state_of(store, TENANT)
    copy.close()
    store.close()
