"""Questions about the past without flags: what held then, what was known then, what happened, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import recollect
from conftest import Clock, Opener
from recollect.ops import words
from recollect.recall import anchors, timing

NOTES = (
    ("2025-01-14", "fact", "billing is owned by team Fjord; Katrin is the contact for pages."),
    ("2025-03-06", "fact", "I think Redis is why the invoice list is slow, the cache has too many small keys."),
    ("2025-03-19", "decision", "The gateway timeout towards ledger is set to 5 s."),
    ("2025-04-22", "incident", "ledger was unreachable, the connection pool was exhausted."),
    ("2025-04-24", "decision", "We lower the gateway timeout towards ledger to 2 s."),
    ("2025-05-15", "lesson", "The cache was innocent: the invoice list had an N+1 query."),
    ("2025-06-02", "fact", "Re-org effective today: Fjord is dissolved, billing goes to team Lagune."),
    ("2025-09-17", "incident", "Second ledger incident: a migration locked the postings table."),
    ("2025-10-07", "decision", "PDF rendering moves out of billing into its own service."),
    ("2026-01-27", "decision", "The gateway timeout towards ledger goes to 1.5 s."),
    ("2026-02-16", "turn", "We moved the gateway to the new load balancer."),
)
NOW = datetime(2026, 2, 17, 10, 30, tzinfo=UTC)


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def memory(opened: Opener, clock: Clock) -> recollect.Engine:
    engine = opened(embedder="default")
    for day, kind, content in NOTES:
        clock.moment = datetime.fromisoformat(f"{day}T09:00:00+00:00")
        engine.remember(content, kind=kind)
    clock.moment = NOW
    return engine


def test_a_question_is_answered_from_the_time_it_names(memory: recollect.Engine) -> None:
    first = {
        "who owned billing before the re-org?": NOTES[0],
        "what was the gateway timeout towards ledger in summer 2025?": NOTES[4],
        "what was the gateway timeout towards ledger on 1 April 2025?": NOTES[2],
        "what was the gateway timeout towards ledger before 24 April 2025?": NOTES[2],
        "which timeout did we set after the ledger was unreachable?": NOTES[4],
        "what did we do yesterday?": NOTES[10],
        "decisions made in Q4 2025": NOTES[8],
    }
    for question, (_, _, content) in first.items():
        assert memory.recall(question).hits[0].memory.content == content, question


def test_the_answer_says_from_which_time_it_is(memory: recollect.Engine, clock: Clock) -> None:
    held = memory.recall("what was the gateway timeout towards ledger on 1 April 2025?")
    assert held.time == 'as it held on 2025-04-01 ("on 1 April 2025")'
    assert f"Answered {held.time}." in words.recalled(held, clock())
    assert memory.recall("who owned billing before the re-org?").time.startswith("as it held until 2025-06-02")
    assert memory.recall("who owns billing?").time == ""


def test_what_was_believed_is_told_as_it_was_known(memory: recollect.Engine) -> None:
    found = memory.recall("what did we believe in March 2025 about the cache?")
    assert found.time == 'as it was known on 2025-03-31 ("in March 2025")'
    assert found.hits[0].memory.content == NOTES[1][2]
    assert NOTES[5][2] not in [hit.memory.content for hit in found]
    today = memory.recall("what do we know about the cache and the invoice list?")
    assert NOTES[5][2] in [hit.memory.content for hit in today]


def test_what_has_ended_is_told_as_ended(memory: recollect.Engine, clock: Clock) -> None:
    by_words = {one.content: one for one in memory.list().memories}
    old, new = by_words[NOTES[0][2]], by_words[NOTES[6][2]]
    memory.link(new.id, "supersedes", old.id)
    clock.forward(days=10)
    found = memory.recall("who owned billing in March 2025?")
    assert found.hits[0].memory.id == old.id
    assert 'kind="superseded fact until 17 February 2026"' in words.recalled(found, clock())


def test_a_list_in_order_is_in_the_order_of_time(memory: recollect.Engine) -> None:
    found = memory.recall("list in order every value the gateway timeout towards ledger had")
    told = [hit.memory.content for hit in found.hits[:3]]
    assert told == [NOTES[n][2] for n in (2, 4, 9)]


def test_a_kind_that_a_list_is_wanted_of_binds(memory: recollect.Engine) -> None:
    assert {hit.memory.kind for hit in memory.recall("incidents about ledger")} == {"incident"}
    assert {hit.memory.network for hit in memory.recall("opinions about the cache")} == {"opinion"}
    assert memory.recall("runbooks for the ledger").hits, "where there is none of the kind, it does not bind"


def test_events_are_found_by_name_and_number(memory: recollect.Engine) -> None:
    def day(name: str) -> str:
        moment = anchors.moment_of(memory._store, memory._tenant, recollect.Scope(), name)
        return f"{moment:%Y-%m-%d}" if moment else ""

    assert (day("the re-org"), day("first ledger incident"), day("second ledger incident")) == (
        "2025-06-02",
        "2025-04-22",
        "2025-09-17",
    )
    assert (day("Lagune"), day("third ledger incident"), day("the lunch")) == ("2025-06-02", "", "")
    found = memory.recall("what changed between the two ledger incidents?")
    assert 'between the two ledger incidents"' in found.time
    assert {hit.memory.content for hit in found.hits[:3]} == {NOTES[n][2] for n in (4, 5, 6)}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("list in order what we did about the deploys", True),
        ("how did our view of the model evolve?", True),
        ("in order to deploy, what do I need?", False),
        ("where is the order table?", False),
    ],
)
def test_which_questions_want_an_order(question: str, wanted: bool) -> None:
    assert timing.asks_order(question) is wanted
