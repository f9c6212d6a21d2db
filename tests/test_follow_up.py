"""What somebody says or changes has the effect they expect the next time: ratings, edits, deletions, sources, tasks."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

import recollect
from conftest import Clock, Opener
from recollect.agents.access import Caller, local
from recollect.ops.catalogue import BY_NAME
from recollect.project import tasks
from recollect.project.brief import BriefRequest, build
from recollect.serve import tools
from recollect.serve.work import Work
from recollect.types import EVERYWHERE, Message, Scope
from recollect.upkeep.switch import Serving

ME = local("default", "test", EVERYWHERE)
QUESTION = "Who owns the billing service?"
FIRST, SECOND = "Ana owns the billing service.", "The billing service is owned by the platform group, too."


@pytest.fixture
def backend() -> str:
    return "sqlite"


# -- answers that were turned down ------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [1, 4])  # not kept yet, and kept
def test_an_answer_that_was_turned_down_twice_is_not_given_again(memory: recollect.Engine, asked: int) -> None:
    memory.remember(FIRST, importance=9)
    for _ in range(asked):
        before = memory.answers.ask(QUESTION)
    assert FIRST in before.answer
    memory.answers.feedback(QUESTION, False)
    between = memory.answers.ask(QUESTION)
    assert between.confidence < before.confidence
    memory.answers.feedback(QUESTION, False)
    assert FIRST not in memory.answers.ask(QUESTION).answer
    memory.remember(SECOND)
    assert SECOND in memory.answers.ask(QUESTION).answer


def test_the_daemon_does_not_bring_back_what_was_turned_down(memory: recollect.Engine, clock: Clock) -> None:
    memory.remember(FIRST)
    for _ in range(12):
        memory.answers.ask(QUESTION)
    assert memory.answers.find(QUESTION).tier == "core"
    memory.answers.feedback(QUESTION, False)
    memory.answers.feedback(QUESTION, False)
    clock.forward(days=2)
    memory.answers.refresh()
    assert memory.answers.find(QUESTION).answer is None


def test_core_answers_are_refreshed_when_their_time_is_over(opened: Opener, clock: Clock) -> None:
    engine = opened()
    engine.remember(FIRST)
    for _ in range(12):
        engine.answers.ask(QUESTION)
    work = Work(engine, engine.settings.home, threading.Event())
    work._renew()
    assert [job for job in engine.jobs.list() if job.kind == "answers"] == []
    clock.forward(hours=25)
    work._renew()
    work._renew()
    assert len([job for job in engine.jobs.list() if job.kind == "answers"]) == 1
    engine.answers.refresh()
    assert engine.answers.ended() == ()


# -- edits ------------------------------------------------------------------------------------------------------------


def test_an_edit_of_the_text_takes_its_old_words_out_of_the_keywords(memory: recollect.Engine) -> None:
    said = [Message("user", "We decided to use Kafka for the event bus because RabbitMQ lost messages.")]
    (found,) = [one for one in memory.capture(said, session="s").findings if one.memory]
    old = memory.get(found.memory)
    assert "kafka" in old.keywords
    memory.edit(old.id, keywords=[*old.keywords, "broker"])
    new = memory.edit(old.id, content="We decided to use NATS for the event bus.", reasoning="")
    assert "kafka" not in new.keywords
    assert "broker" in new.keywords
    found_by = [hit.arms for hit in memory.recall("Kafka") if hit.memory.id == old.id]
    assert not any("text" in arms for arms in found_by)


def test_a_replaced_memory_names_its_new_source(memory: recollect.Engine) -> None:
    made = memory.remember(FIRST, source="https://example.org/old")
    new = BY_NAME["update_memory"].call(
        memory, ME, {"id": made.id, "value": "Ben owns the billing service.", "source": "https://example.org/new"}
    )
    source, _ = memory.evidence(made.id)
    assert source is not None
    assert (source.uri, source.kind, new.trust) == ("https://example.org/new", "url", "cited")
    assert memory.edit(made.id, source="heard from Ana").trust == "stated"
    model = memory.for_caller(model=True)
    assert model.edit(made.id, source="https://example.org/third").trust == "derived"


def test_a_memory_is_deleted_once(memory: recollect.Engine) -> None:
    id = memory.remember(FIRST).id
    tool = tools.TOOLS["memory_delete"]
    assert [tool.call(memory, ME, {"id": id}) for _ in range(3)] == [True, False, False]
    assert memory.forget(id).memories == ()
    assert len([entry for entry in memory.history(id) if entry.operation == "forget"]) == 1


# -- the model of a store ---------------------------------------------------------------------------------------------


def test_taking_a_change_back_does_not_change_the_model_of_the_store(opened: Opener) -> None:
    engine = opened()
    engine.remember("The shop sells prints.")
    made = engine.remember(FIRST)
    engine.edit(made.id, content="Ben owns the billing service.")
    change = str(engine.history(made.id)[-1].seq)
    other = opened(embedder="default")
    before = Serving.of(other._store, "default")
    BY_NAME["undo"].call(other, Caller("default", "test"), {"changes": [change]})
    assert other.get(made.id).content == FIRST
    assert Serving.of(other._store, "default") == before


# -- the task at hand -------------------------------------------------------------------------------------------------


def test_a_task_that_is_set_reaches_the_task_block(memory: recollect.Engine) -> None:
    here = Scope(project="shop")
    tasks.set_task(memory, here, "Move the checkout to the new API")
    tasks.set_task(memory, Scope(project="blog"), "Translate the imprint")
    block = next(one for one in memory.context("anything", scope=here).blocks if one.name == "task")
    assert "Move the checkout to the new API" in block.text
    seen = memory.context("anything", scope=Scope(project="shop", branch="main")).text
    assert "Move the checkout" in seen
    assert "Translate" not in seen
    assert "Move the checkout" in build(memory, BriefRequest("", here)).text
    told = memory.context("anything", scope=here, task="Fix the tests").text
    assert "Fix the tests" in told
    given = next(one for one in memory.context(scope=here, task="Fix the tests").blocks if one.name == "task")
    assert "checkout" not in given.text


def test_a_task_that_has_ended_is_not_told(memory: recollect.Engine, clock: Clock) -> None:
    made = tasks.set_task(memory, EVERYWHERE, "Move the checkout")
    memory.edit(made.id, expires_at=clock() + timedelta(days=1))
    clock.forward(days=2)
    assert memory.context("anything").blocks == ()
