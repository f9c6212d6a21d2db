"""Events that a question names by a clause, and the first or last of a kind."""

from __future__ import annotations

from datetime import datetime

import pytest

import recollect
from conftest import Clock, Opener

NOTES = (
    ("2025-02-10", "fact", "Priya is on call for the scheduler, backup is Tom."),
    ("2025-05-06", "fact", "It looks like the slow calendar is the fault of the ORM."),
    ("2025-05-20", "lesson", "The slow calendar was a missing index on appointments(clinic_id)."),
    ("2025-06-09", "fact", "Go live of the Boston clinic, 41 doctors."),
    ("2025-06-24", "incident", "Boston double booked 63 slots, two workers took the same lock."),
    ("2025-06-26", "decision", "Slots are reserved with select for update, not with the Redis lock."),
    ("2025-10-01", "fact", "Tom is on call for the scheduler now, Priya moved to billing."),
    ("2025-12-03", "incident", "No reminder texts for a day, Twilio blocked our number as spam."),
    ("2026-02-20", "incident", "Magic links expired before people clicked them."),
)


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def memory(opened: Opener, clock: Clock) -> recollect.Engine:
    engine = opened(embedder="default")
    for day, kind, content in NOTES:
        clock.moment = datetime.fromisoformat(f"{day}T09:00:00+00:00")
        engine.remember(content, kind=kind)
    clock.moment = datetime.fromisoformat("2026-03-20T09:00:00+00:00")
    return engine


@pytest.mark.parametrize(
    ("question", "first", "time"),
    [
        ("Before we found the missing index, what did we blame for the slow calendar?", 1, "until 2025-05-20"),
        ("When Boston went live, who was on call for the scheduler?", 0, "on 2025-06-09"),
        ("At the time of the double booking in Boston, who was on call for the scheduler?", 0, "on 2025-06-24"),
        ("What was the last incident before Christmas 2025?", 7, "until 2025-12-24"),
        ("Which incident preceded the decision to use select for update?", 4, ""),
    ],
)
def test_an_event_is_found_by_the_clause_that_tells_of_it(
    memory: recollect.Engine, question: str, first: int, time: str
) -> None:
    found = memory.recall(question)
    assert found.hits[0].memory.content == NOTES[first][2]
    assert time in found.time


@pytest.mark.parametrize(
    "question", ["Who looks after the scheduler?", "What must I do when tests fail, before I go on?", "Since when?"]
)
def test_the_present_names_no_event(memory: recollect.Engine, question: str) -> None:
    assert memory.recall(question).time == ""


def test_an_event_is_found_by_its_meaning_and_what_ended_answers(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember("Nightly builds run on the old Mac Pro under the desk.").id
    clock.forward(days=30)
    memory.remember("The coffee machine is descaled monthly.")
    new = memory.remember("Nightly builds moved to a rented runner, the Mac Pro is retired.").id
    clock.forward(days=30)
    found = memory.recall("Where were nightly builds made before the rented box?")
    assert "before the rented" in found.time
    assert [hit.memory.id for hit in found.hits if hit.memory.id in (old, new)] == [old, new]
    memory.edit(old, state="invalid")
    assert old not in {hit.memory.id for hit in memory.recall("Where are nightly builds made?").hits}
    listed = [hit.memory.id for hit in memory.recall("List in order where nightly builds were made").hits]
    assert [one for one in listed if one in (old, new)] == [old, new]
