"""Whether a memory answers a question or helps with a prompt, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect import Scope
from recollect.engine import Engine
from recollect.models.reader import FOLDER, PairReader
from recollect.ops import hooks
from recollect.recall.select import Scored, once_each
from recollect.types import Draft, Memory, Source

SHOP = Scope(project="shop")
KNOWN = (
    Draft("We chose PostgreSQL over MongoDB because orders need transactions.", kind="decision", scope=SHOP),
    Draft("Kafka carries the order events; Maria Lopez approved that on 1 March 2025.", kind="decision", scope=SHOP),
    Draft("PgBouncer pools database connections in transaction mode, at most 20 a service.", kind="fact", scope=SHOP),
    Draft("Why did we choose PostgreSQL over MongoDB?", kind="turn", speaker="user", scope=SHOP),
)


@pytest.fixture(scope="module")
def reader() -> PairReader:
    return PairReader()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = recollect.open(tmp_path / "m.db")
    made.remember_many(list(KNOWN))
    return made


def test_a_note_on_the_topic_that_lacks_what_is_asked_does_not_answer(reader: PairReader) -> None:
    owner, port = reader.read("who owns billing?", ["Ana owns the billing service.", "Billing listens on port 7610."])
    assert owner["answers"] > 0 > port["answers"]


def test_a_damaged_file_is_said_and_not_used(tmp_path: Path) -> None:
    for name in ("model.json", "model.onnx"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    with (tmp_path / "model.onnx").open("r+b") as file:
        file.seek(5000)
        file.write(b"\0\0\0\0")
    with pytest.raises(recollect.ModelUnavailable, match="sha256"):
        PairReader(tmp_path).warm()


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("Why did we choose PostgreSQL over MongoDB?", "because orders need transactions"),
        ("Who approved the Kafka decision?", "Maria Lopez"),
        ("How do we handle database connections?", "PgBouncer"),
    ],
)
def test_the_prompt_hook_brings_what_answers_the_prompt(engine: Engine, prompt: str, words: str) -> None:
    given = hooks.prompted(engine, SHOP, prompt)
    assert words in given
    assert "Why did we choose PostgreSQL over MongoDB?</memory>" not in given


def test_the_prompt_hook_is_silent_where_nothing_helps(engine: Engine) -> None:
    for prompt in ("thanks, looks good", "write a haiku about autumn leaves", "continue"):
        assert hooks.prompted(engine, SHOP, prompt) == "", prompt


@pytest.mark.parametrize(
    "prompt", ["Draw a small fox for the landing page", "the cart keeps forgetting what people put into it"]
)
def test_a_prompt_is_never_the_answer_to_itself(engine: Engine, prompt: str) -> None:
    engine.remember_many([Draft(prompt, kind="turn", speaker="user", scope=SHOP)])
    for asked in (prompt, f"Please, {prompt}!"):
        assert prompt not in engine.answers.ask(asked, scope=SHOP).answer


def test_a_question_is_never_the_answer_to_itself(engine: Engine) -> None:
    asked = engine.answers.ask("Why did we choose PostgreSQL over MongoDB?", scope=SHOP)
    assert "transactions" in asked.answer
    other = "Which colour has the logo of the shop?"
    engine.remember_many([Draft(other, kind="turn", speaker="user", scope=SHOP)])
    assert not engine.answers.ask(other, scope=SHOP).answer


def test_a_right_answer_in_a_small_store_is_not_called_weak(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("Ana owns the billing service.")
        memory.remember("Billing listens on port 7610.")
        assert not memory.recall("who owns billing?").weak
        assert memory.recall("when was the billing service written?").weak


def test_a_memory_stands_in_the_place_of_the_turn_it_was_learnt_from() -> None:
    turn = Memory("1", "From now on we deploy on Thursdays, ok?", kind="turn", source="s", scope=Scope(session="1"))
    learnt = Memory("2", "We deploy on Thursdays.", kind="decision", source="s")
    other = Memory("3", "Lunch is at noon.", source="t")
    found = once_each([Scored(turn, 1.0), Scored(learnt, 0.8), Scored(other, 0.5)])
    assert [(one.memory.id, one.score) for one in found] == [("2", 1.0), ("3", 0.5)]
    assert [one.memory.id for one in once_each([Scored(turn, 1.0), Scored(learnt, 0.2)])] == ["1"]


def test_the_same_words_are_not_injected_twice_in_a_session(engine: Engine) -> None:
    again = Draft(KNOWN[0].content, kind="fact", source=Source("", "statement", uri="other"), scope=SHOP)
    engine.remember_many([again])
    found = engine.recall("why PostgreSQL over MongoDB?", scope=SHOP, recipe="conversation")
    shown = [found.hits[0].memory.content_hash]
    later = engine.recall("why PostgreSQL over MongoDB?", scope=SHOP, recipe="conversation", shown=shown)
    assert KNOWN[0].content not in [hit.memory.content for hit in later]


def test_a_session_of_no_project_is_not_told_about_projects(tmp_path: Path) -> None:
    from recollect.project import brief

    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("A very long decision. " * 200, kind="decision", scope=SHOP)
        memory.remember("Answer in English.", kind="preference")
        told = brief.build(memory, brief.BriefRequest(scope=Scope())).text
    assert "Answer in English." in told
    assert "very long decision" not in told
    assert "recalled for this request" not in told
