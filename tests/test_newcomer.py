"""What a newcomer asks of a few plain notes, with the packaged models and no other word in common."""

from __future__ import annotations

from conftest import Opener
from recollect.ops import hooks
from recollect.types import Message, Scope

NOTES = (
    "We deploy on Thursdays because support is fully staffed then.",
    "Use pnpm in the monorepo, never npm.",
    "The staging cluster runs in eu-west-1.",
    "The network configuration of the office router is broken.",
)


def test_the_note_that_answers_is_shown_without_a_warning_and_given_as_the_answer(opened: Opener) -> None:
    memory = opened(embedder="default")
    memory.remember_many(list(NOTES))
    for question, note in (("when do releases go out?", NOTES[0]), ("where is staging hosted?", NOTES[2])):
        found = memory.recall(question)
        assert found.hits[0].memory.content == note
        assert not found.weak
        assert memory.answers.ask(question).answer == f"{note} [1]"
    for question in ("what is the capital of France?", "who owns billing?"):
        assert memory.recall(question).weak
        assert memory.answers.ask(question).answer == ""


def test_the_prompt_hook_gives_what_bears_on_a_remark_and_is_silent_on_small_talk(opened: Opener) -> None:
    memory = opened(embedder="default")
    memory.remember_many(list(NOTES))
    assert NOTES[3] in hooks.prompted(memory, Scope(), "I have a WiFi issue")
    assert NOTES[0] in hooks.prompted(memory, Scope(), "when do releases go out?")
    for prompt in ("hello", "thanks, that works", "run the tests", "fix the typo in the readme"):
        assert hooks.prompted(memory, Scope(), prompt) == "", prompt


def test_a_question_or_greeting_that_was_asked_before_neither_answers_nor_hides_what_does(opened: Opener) -> None:
    memory = opened(embedder="default")
    question, note = (
        "Which port does the metrics endpoint of the collector use?",
        "The collector exposes metrics on 9464.",
    )
    told = [Message("user", said, id=f"m{n}") for n, said in enumerate((question, "hello there", note, "thanks!"))]
    memory.capture(told, session="s1", scope=Scope(project="svc"))
    hits = [hit.memory.content for hit in memory.recall(question, limit=4).hits]
    assert hits[0] == note
    assert question in hits
    assert note in hooks.prompted(memory, Scope(project="svc"), question)
    for greeting in ("hello there", "thanks!"):
        assert memory.recall(greeting).weak, greeting
        assert memory.answers.ask(greeting).answer == "", greeting
