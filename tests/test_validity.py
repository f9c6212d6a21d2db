"""Validity: a question about a past time, what ends, and what holds at different times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import recollect
from conftest import START, Clock
from recollect.agents.access import local
from recollect.ops.catalogue import BY_NAME
from recollect.types import EVERYWHERE

ME = local("default", "test", EVERYWHERE)
CHANGE = datetime(2026, 2, 1, tzinfo=UTC)  # START is 2 March 2026
OLD, NEW = "The API listens on port 8080.", "The API listens on port 9090."
ON_A_DAY = "Which port did the API listen on on 10 January 2026?"


@pytest.fixture
def backend() -> str:
    return "sqlite"


def found(memory: recollect.Engine, question: str, **options: object) -> list[str]:
    return [hit.memory.content for hit in memory.recall(question, **options)]  # type: ignore[arg-type]


def test_a_question_about_a_past_day_is_answered_by_what_held_then(memory: recollect.Engine) -> None:
    memory.remember(OLD, valid_from=datetime(2025, 1, 1, tzinfo=UTC), valid_to=CHANGE)
    memory.remember(NEW, valid_from=CHANGE)
    assert found(memory, ON_A_DAY) == [OLD]
    assert found(memory, ON_A_DAY) == found(memory, ON_A_DAY, true_at=datetime(2026, 1, 10, 12, tzinfo=UTC))
    assert found(memory, "Which port does the API listen on?") == [NEW]
    assert found(memory, "Which port did the API listen on on 20 February 2026?") == [NEW]


def test_what_was_superseded_since_answers_for_its_time(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember(OLD)
    clock.forward(days=30)
    new = memory.remember(NEW)
    memory.link(new.id, "supersedes", old.id)
    clock.forward(days=30)
    assert found(memory, "Which port did the API listen on on 10 March 2026?") == [OLD]
    assert found(memory, "Which port did the API listen on on 20 April 2026?") == [NEW]
    assert found(memory, "Which port does the API listen on?") == [NEW]


def test_what_is_told_later_of_a_past_day_is_still_found(memory: recollect.Engine, clock: Clock) -> None:
    clock.forward(days=20)
    memory.remember("The migration on 3 March 2026 lost two orders.", kind="incident")
    assert found(memory, "What did the migration lose on 3 March 2026?") == [
        "The migration on 3 March 2026 lost two orders."
    ]


def test_an_answer_to_a_question_about_a_past_day_is_of_that_day(memory: recollect.Engine) -> None:
    memory.remember(OLD, valid_from=datetime(2025, 1, 1, tzinfo=UTC), valid_to=CHANGE)
    memory.remember(NEW, valid_from=CHANGE)
    assert "8080" in memory.answers.ask(ON_A_DAY).answer
    assert "9090" in memory.answers.ask("Which port does the API listen on?").answer


def test_what_is_invalidated_ends_and_is_still_true_of_before(memory: recollect.Engine, clock: Clock) -> None:
    made = memory.remember(OLD).memory
    assert made is not None
    ended = clock.forward(days=10)
    done = BY_NAME["invalidate_memory"].call(memory, ME, {"id": made.id, "reason": "it moved"})
    (gone,) = done.memories
    assert (gone.state, gone.valid_to.date()) == ("invalid", ended.date())
    clock.forward(days=10)
    assert found(memory, "Which port does the API listen on?") == []
    assert found(memory, "Which port does the API listen on?", true_at=START + timedelta(days=5)) == [OLD]
    again = BY_NAME["invalidate_memory"].call(memory, ME, {"id": made.id, "reason": "it moved"})
    assert again.memories[0].valid_to == gone.valid_to
    back = memory.edit(made.id, state="active")
    assert back.valid_to is None
    assert found(memory, "Which port does the API listen on?") == [OLD]


def test_what_was_superseded_holds_again_when_it_is_brought_back(memory: recollect.Engine) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    memory.link(new.id, "supersedes", old.id)
    memory.forget(new.id)
    memory.edit(old.id, state="active")
    assert found(memory, "Which port does the API listen on?") == [OLD]


def test_facts_of_different_times_do_not_contradict_each_other(memory: recollect.Engine) -> None:
    first = memory.remember(OLD, valid_from=datetime(2025, 1, 1, tzinfo=UTC), valid_to=CHANGE)
    second = memory.remember(NEW, valid_from=CHANGE)
    third = memory.remember("The API listens on port 7070.", valid_to=datetime(2024, 1, 1, tzinfo=UTC))
    assert (second.conflicts, second.superseded, third.conflicts) == ((), (), ())
    assert memory.overview.disputes(10) == []
    clash = memory.remember("The API listens on port 6060.", valid_from=CHANGE + timedelta(days=1))
    assert clash.conflicts == (second.id,)
    assert [{pair.first.id, pair.second.id} for pair in memory.overview.disputes(10)] == [{clash.id, second.id}]
    memory.edit(second.id, valid_to=CHANGE + timedelta(days=1))
    assert memory.overview.disputes(10) == []
    assert memory.get(first.id).state == "active"


def test_a_statement_is_as_old_as_itself_and_not_as_what_it_tells(memory: recollect.Engine) -> None:
    since = memory.remember("The office has been in Porto.", valid_from=datetime(2012, 1, 1, tzinfo=UTC))
    fresh = memory.remember("The office has been in Lisbon.")
    scores = {hit.memory.id: hit.score for hit in memory.recall("The office has been in")}
    assert scores[since.id] == pytest.approx(scores[fresh.id], rel=0.02)
