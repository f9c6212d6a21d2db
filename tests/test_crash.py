"""Killed at any moment, a store keeps every acknowledged change, whole."""

from __future__ import annotations

import random
import time
from pathlib import Path

import apsw

from conftest import Clock, Places, open_store
from recollect.store.sqlite_tending import ORPHANS
from replay import entries_of, replayed, state_of
from writers import context, lines, write_for_ever

ROUNDS = 50
TENANT = "default"


def kill_while_writing(place: str, log: Path, number: int, chance: random.Random) -> None:
    writers = [
        context.Process(target=write_for_ever, args=(place, log, 10 * number + n), daemon=True) for n in range(2)
    ]
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


def whole(place: str, clock: Clock) -> None:
    """Nothing that was left half done is to be seen right after a kill."""
    if place.startswith("postgresql://"):
        store = open_store(place, clock())
        assert [check for check in store.check(TENANT) if check.status != "ok"] == []
        store.close()
        return
    con = apsw.Connection(place)
    assert con.execute("pragma integrity_check").get == "ok"
    for name, sql in ORPHANS.items():
        assert con.execute(sql).get == 0, name
    con.close()


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(
    place: Places, tmp_path: Path, clock: Clock
) -> None:
    log = tmp_path / "acknowledged"
    chance = random.Random(20260302)
    for number in range(ROUNDS):
        kill_while_writing(place(), log, number, chance)
        whole(place(), clock)
    store = open_store(place(), clock())
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
    copy = replayed(store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(store, TENANT)
    copy.close()
    store.close()
