"""What was erased stays erased: an older backup, copy or export does not bring it back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import recollect
from conftest import Clock, Opener, Places
from recollect import Scope
from recollect.cli.program import cli
from recollect.errors import StoreCorrupt
from recollect.graph import Node
from recollect.settings import Settings, load
from recollect.types import Message
from recollect.upkeep import backup as backups

SECRET = "The vault opens with quixotic-marzipan-771."
TURN = "Always run make lint before a commit. We decided to hide the quixotic-marzipan-771 under the stairs."
WORDS = (b"quixotic", b"marzipan")
ANA, BEN = Scope(user="ana"), Scope(user="ben")


def quiet(done: int, total: int) -> None:
    pass


def told(memory: recollect.Engine) -> list[str]:
    memory.capture([Message("user", TURN, id="1"), Message("user", "Use pnpm for everything.", id="2")], session="s")
    memory.remember("Ana is allergic to zanzibarite.", scope=ANA, evidence="Ana is allergic to zanzibarite.")
    memory.graph(ANA).create([Node("zanzibarite", "stone", ("is blue",))])
    memory.remember("Ben likes tea.", scope=BEN)
    kept = memory.remember(SECRET, title="marzipan", tags=["marzipan"], evidence=SECRET)
    memory.edit(kept.id, content=f"Edited: {SECRET}")
    return [one.id for one in memory.list(limit=50).memories if "marzipan" in one.content and one.kind != "turn"]


def restored(file: Path, target: str, memory: recollect.Engine, clock: Clock) -> backups.Backup:
    settings = replace(Settings(), store=target, home=memory.settings.home)
    return backups.restore(file, settings, clock(), quiet)


def nowhere(place: Places, name: str, words: tuple[bytes, ...] = WORDS) -> None:
    whole = place.everything(name).lower()
    assert [word for word in words if word in whole] == []
    assert b"ben likes tea" in whole  # the rest is there


def test_a_restored_backup_holds_nothing_that_was_erased_since(
    opened: Opener, place: Places, clock: Clock, tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "saved" / "older"
    ids = told(memory)
    made = backups.backup(memory._store, file, clock(), quiet)
    clock.forward(days=1)
    gone = memory.forget(ids, purge=True)
    done = restored(file, place("again"), memory, clock)
    assert done.erased >= len(gone.memories)
    assert done.memories == made.memories - done.erased
    assert done.held == 0
    nowhere(place, "again")
    again = opened("again")
    assert [m.content for m in again.list(limit=50).memories if "marzipan" in m.content] == []
    assert again.remember(SECRET).action == "created"  # it may be said anew


def test_what_is_said_anew_is_in_later_backups(opened: Opener, place: Places, clock: Clock, tmp_path: Path) -> None:
    memory, file = opened(), tmp_path / "saved" / "later"
    memory.forget(memory.remember(SECRET).id, purge=True)
    clock.forward(seconds=1)
    anew = memory.remember(SECRET)
    backups.backup(memory._store, file, clock(), quiet)
    assert restored(file, place("again"), memory, clock).erased == 0
    assert opened("again").get(anew.id).content == SECRET


def test_a_person_who_was_erased_does_not_come_back(
    opened: Opener, place: Places, clock: Clock, tmp_path: Path
) -> None:
    memory, file, export = opened(), tmp_path / "saved" / "older", tmp_path / "older.jsonl"
    told(memory)
    token, _ = memory.tokens.create(user="ana")
    backups.backup(memory._store, file, clock(), quiet)
    memory.export(export)
    clock.forward(days=1)
    memory.forget(scope=ANA, purge=True)
    assert restored(file, place("again"), memory, clock).erased == 2
    nowhere(place, "again", (b"zanzibarite",))
    again = opened("again")
    assert [(one.id, bool(one.revoked_at)) for one in again.tokens.all()] == [(token.id, True)]
    clock.forward(seconds=1)
    assert again.remember("Ana is allergic to zanzibarite.", scope=ANA).action == "created"
    fresh = opened("fresh")
    assert (fresh.import_(export).erased, len(fresh.list(scope=ANA).memories)) == (2, 0)
    nowhere(place, "fresh", (b"zanzibarite",))


def test_a_hold_of_the_backup_is_respected_and_said(
    opened: Opener, place: Places, clock: Clock, tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "saved" / "older"
    ids = told(memory)
    memory.policies.hold("case", scope=ANA)
    backups.backup(memory._store, file, clock(), quiet)
    memory.policies.release("case")
    clock.forward(days=1)
    memory.forget(ids, purge=True)
    memory.forget(scope=ANA, purge=True)
    done = restored(file, place("again"), memory, clock)
    assert (done.held, done.erased >= 1) == (2, True)
    nowhere(place, "again")


@pytest.mark.parametrize("journal", [False, True])
def test_an_older_export_brings_nothing_back_into_another_store(
    opened: Opener, place: Places, clock: Clock, tmp_path: Path, journal: bool
) -> None:
    memory, file = opened(), tmp_path / "older.jsonl"
    ids = told(memory)
    memory.export(file, journal=journal)
    clock.forward(days=1)
    memory.forget(ids, purge=True)
    for name in ("store.db", "fresh"):
        came = opened(name).import_(file)
        assert came.erased >= 2
        assert came.refused >= came.erased
        nowhere(place, name)
    (turn,) = [one for one in opened("fresh").list(kinds=["turn"]).memories if "make lint" in one.content]
    assert "[purged]" in turn.content  # it lost only the words


def test_a_later_export_keeps_its_journal(opened: Opener, tmp_path: Path) -> None:
    memory, file = opened(), tmp_path / "later.jsonl"
    memory.forget(told(memory), purge=True)
    memory.export(file, journal=True)
    came = opened("fresh").import_(file)
    assert (came.erased, came.notes) == (0, [])
    assert came.journal == memory.head


def test_undated_lines_and_observations_that_were_erased_stay_out(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    memory, file = opened(), tmp_path / "lines.jsonl"
    seen = memory.graph().create([Node("vault", "thing", ("opens with quixotic-marzipan-771",))])
    erased = [memory.remember(SECRET).id, *(m.id for m in memory.list().memories if "vault: opens" in m.content)]
    memory.remember(SECRET, scope=BEN)  # somebody else said the same, and nobody erased that
    assert seen
    memory.forget(erased, purge=True)
    lines = [
        {"content": SECRET}, {"content": SECRET, "user": "ben"}, {"content": "Graz is nice."},
        {"type": "entity", "name": "vault", "entityType": "thing", "observations": [
            "opens with quixotic-marzipan-771", "is heavy"]},
    ]  # fmt: skip
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    came = opened("fresh").import_(file)
    assert came.erased == 2
    assert sorted(m.content for m in opened("fresh").list().memories) == [
        "Graz is nice.", SECRET, "vault: is heavy"
    ]  # fmt: skip


def test_the_ledger_tells_nobody_what_was_erased_and_a_lost_key_is_an_error(
    opened: Opener, clock: Clock, tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "older.jsonl"
    ids = told(memory)
    memory.export(file)
    memory.forget(ids, purge=True)
    memory.forget(scope=ANA, purge=True)
    home = memory.settings.home
    ledger, key = home / "erasures.jsonl", home / "erasures.key"
    assert [oct(path.stat().st_mode & 0o777) for path in (ledger, key)] == ["0o600"] * 2
    assert [one for one in ("marzipan", "ana", *ids) if one in ledger.read_text()] == []
    with ledger.open("a") as lines:  # a crash cut a line off; what follows is still read
        lines.write('{"at": "2026-')
    more = memory.remember("Another thing.").id
    memory.export(tmp_path / "more.jsonl")
    memory.forget(more, purge=True)
    assert opened("fresh").import_(tmp_path / "more.jsonl").erased == 1
    key.rename(home / "elsewhere")
    with pytest.raises(StoreCorrupt, match="key of the erasure ledger"):
        memory.import_(file)


def test_copying_an_older_store_erases_again(opened: Opener, place: Places, clock: Clock, tmp_path: Path) -> None:
    memory, file = opened(), tmp_path / "saved" / "older"
    ids = told(memory)
    backups.backup(memory._store, file, clock(), quiet)
    clock.forward(days=1)
    memory.forget(ids, purge=True)
    assert load()[0].home == memory.settings.home
    done = CliRunner().invoke(cli, ["migrate-store", str(file), place("again"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["erased"] >= 2
    nowhere(place, "again")
