"""Corrections hold: whatever is done afterwards, what was set right stays set right, and its neighbours stay known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import Clock, Opener
from recollect import Engine, Scope
from recollect.types import Message

SHOP = Scope(project="shop")
WRONG = "We decided to deploy on Fridays because nobody looks then."
NEIGHBOUR = "We decided to deploy the docs on Mondays because nobody reads them on Sundays."
MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


def say(memory: Engine, *texts: str, session: str = "s") -> None:
    """A transcript: the same words at the same places each time it is read."""
    said = [Message("user", text, id=f"{session}-{n}", at=MARCH) for n, text in enumerate(texts)]
    memory.capture(said, session=session, scope=SHOP)


def believed(memory: Engine, words: str) -> list[str]:
    """What is active and speaks of these words, as list, recall and context show it; turns are mere records."""
    wanted = words.lower()
    listed = {m.content for m in memory.list(limit=1000).memories if m.kind != "turn" and wanted in m.content.lower()}
    hits = {h.memory.content for h in memory.recall(words, scope=SHOP, limit=50) if wanted in h.memory.content.lower()}
    stated = {m for m in hits if m in listed}
    return sorted(listed | stated)


def test_a_rejected_value_cannot_be_laundered(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    """Superseded, restated, captured again, imported from before, rolled back: it stays out, its neighbour in."""
    memory = opened()
    talk = (WRONG, NEIGHBOUR)
    say(memory, *talk)
    (wrong,) = [m for m in memory.list(limit=100).memories if m.kind != "turn" and "Fridays" in m.content]
    (near,) = [m for m in memory.list(limit=100).memories if m.kind != "turn" and "docs" in m.content]
    memory.checkpoints.create("when it was believed")
    old = tmp_path / "old.jsonl"
    memory.export(old)
    clock.forward(days=1)
    memory.reject(wrong.id, reason="it was a joke")

    def out() -> None:
        assert memory.get(wrong.id).state == "rejected"
        assert believed(memory, "deploy on Fridays") == []
        assert near.content in {hit.memory.content for hit in memory.recall("when are the docs deployed?", scope=SHOP)}
        assert memory.get(near.id).state == "active"

    out()
    newer = memory.remember("We deploy on Tuesdays.", kind="decision", scope=SHOP)
    memory.link(newer.id, "supersedes", wrong.id)
    out()
    assert memory.remember(WRONG, scope=SHOP).action == "refused"
    assert memory.remember(f"Notes: {WRONG}", scope=Scope(project="shop", branch="b")).action == "refused"
    out()
    say(memory, *talk)  # the same transcript again
    say(memory, *talk, session="another")  # and as if it had been another session
    out()
    memory.import_(old)
    out()
    memory.checkpoints.rollback("when it was believed")
    out()
    memory.forget(newer.id, purge=True)
    memory.checkpoints.rollback("when it was believed")
    memory.mend()
    memory.close()
    memory = opened()
    out()
    assert memory.remember(WRONG, scope=SHOP).action == "refused"


def reindexed(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    memory.mend()
    memory.embed()
    return memory


def restarted(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    memory.close()
    return opened()


def recaptured(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    talk(memory)
    return memory


def reimported(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    memory.import_(tmp_path / "before.jsonl")
    return memory


def rolled_back(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    """There and back again: a rollback that is taken back leaves everything corrected."""
    done = memory.checkpoints.rollback("before")
    if done.undo:
        memory.checkpoints.rollback(done.undo)
    return memory


def cleaned(memory: Engine, opened: Opener, talk: Callable[[Engine], None], tmp_path: Path) -> Engine:
    memory.janitor.run()
    return memory


AFTERWARDS = (reindexed, restarted, recaptured, reimported, rolled_back, cleaned)


@pytest.mark.parametrize("afterwards", AFTERWARDS, ids=lambda one: one.__name__)
def test_the_shapes_of_correction_hold(
    opened: Opener, clock: Clock, tmp_path: Path, afterwards: Callable[..., Engine]
) -> None:
    memory = opened()

    def talk(memory: Engine) -> None:
        say(memory, "We use yarn for the shop because it is fast.", "The API listens on port 8080.", session="first")

    talk(memory)
    partly = memory.remember("The team meets on Mondays in room 4 and writes minutes.", kind="rule", scope=SHOP)
    flipped = memory.remember("Feature flags are enabled in production.", scope=SHOP)
    replaced = memory.remember("The staging server is called heron.", scope=SHOP)
    bounded = memory.remember(
        "The freeze holds for the holidays.", scope=SHOP, valid_from=MARCH, valid_to="2026-03-20T00:00:00Z"
    )
    memory.checkpoints.create("before")
    memory.export(tmp_path / "before.jsonl")
    clock.forward(days=1)
    # Replacement, polarity flip, retraction, partial supersession, bounded validity.
    new = memory.remember("The staging server is called ibis now.", scope=SHOP)
    memory.link(new.id, "supersedes", replaced.id)
    off = memory.remember("Feature flags are not enabled in production any more.", scope=SHOP)
    memory.link(off.id, "supersedes", flipped.id)
    retracted = [m for m in memory.list(limit=100).memories if m.kind != "turn" and "8080" in m.content]
    for one in retracted:
        memory.reject(one.id, reason="taken back")
    part = memory.edit(partly.id, content="The team meets on Mondays in room 7 and writes minutes.", reason="moved")
    clock.forward(days=60)
    memory = afterwards(memory, opened, talk, tmp_path)

    states = {id: memory.get(id).state for id in (replaced.id, flipped.id, new.id, off.id)}
    assert states[replaced.id] == states[flipped.id] == "superseded"
    assert states[new.id] == states[off.id] == "active"
    assert believed(memory, "heron") == []
    assert believed(memory, "Feature flags are enabled") == []
    assert believed(memory, "8080") == []
    assert all(memory.get(one.id).state == "rejected" for one in retracted)
    assert memory.get(part.id).content.endswith("room 7 and writes minutes.")
    assert believed(memory, "room 4") == []
    assert bounded.memory is not None
    shown = {hit.memory.id for hit in memory.recall("does the freeze hold for the holidays?", scope=SHOP)}
    assert bounded.id not in shown
    during = memory.recall("does the freeze hold?", scope=SHOP, true_at="2026-03-10T00:00:00Z")
    assert bounded.id in {hit.memory.id for hit in during}
