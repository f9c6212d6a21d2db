"""Compression: within the budget for any text, nothing but what was there, and what was asked for survives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import text
from recollect.language import terms
from recollect.models.tokens import Tokens
from recollect.recall.compress import Count, compress, kept_history, units

real = Tokens()
COUNTERS: list[Count] = [real, text.tokens, lambda said: len(said.encode("utf-8", "replace")) // 3 + 1 if said else 0]
words = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="…"))
notes = st.lists(
    st.sampled_from(["# Deploy", "- item one", "We deploy on Thursdays.", "It takes 22 minutes.", "```", "make test",
                     "\n", "\n\n", "    code = 1", "Ana keeps the runbook! ", "INC-77 was the reason. "]) | words,
    max_size=30,
).map(" ".join) | words  # fmt: skip

RUNBOOK = """# Deploys
We deploy on Thursdays at 14:00 because support is fully staffed. The pipeline was written in 2021.
It has 14 stages and takes 22 minutes. Rollbacks are done with make rollback. Ana keeps the runbook.
Lunch is at noon. The office has a new coffee machine. Incident INC-77 was caused by a Friday deploy.

## Stages
- lint
- unit tests
- canary on eu-west-1
```sh
make rollback TAG=v1
make status
```
The retention of logs is 30 days. Nobody likes the old dashboard."""


def asked(question: str) -> list[str]:
    return terms.of_query(question)


@pytest.mark.parametrize("count", COUNTERS)
@given(notes, st.integers(0, 60), st.lists(st.sampled_from(["deploy", "thursday", "22", "inc77"])))
def test_the_budget_is_never_exceeded(count: Count, said: str, budget: int, query: list[str]) -> None:
    assert count(compress(said, query, budget, count)) <= budget


@given(notes, st.integers(8, 60))
def test_something_is_left_of_any_text_when_there_is_room_for_eight_tokens(said: str, budget: int) -> None:
    assert compress(said, (), budget, real) or not said.strip() or not real(said)


@given(notes, st.integers(1, 60), st.sampled_from(["deploy thursday", "coffee", ""]))
def test_every_piece_that_is_left_was_there_and_in_that_order(said: str, budget: int, question: str) -> None:
    place = 0
    for line in compress(said, asked(question), budget, real).split("\n"):
        for piece in filter(None, (part.strip() for part in line.split("…"))):
            for sentence in [unit.text.strip() for unit in units(piece)]:
                found = said.find(sentence, place)
                assert found >= 0
                place = found + len(sentence)


@given(notes, st.integers(1, 60))
def test_the_same_text_is_compressed_to_the_same_bytes(said: str, budget: int) -> None:
    assert compress(said, {"deploy", "22", "ana"}, budget, real) == compress(
        said, {"ana", "22", "deploy"}, budget, real
    )


def test_a_text_that_fits_is_left_alone() -> None:
    assert compress(RUNBOOK, asked("deploy"), 1000, real) == RUNBOOK


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("when do we deploy?", "Thursdays at 14:00"),
        ("how do I do a rollback?", "Rollbacks are done with make rollback."),
        ("what was INC-77 about?", "Incident INC-77 was caused by a Friday deploy."),
        ("how many stages and minutes?", "It has 14 stages and takes 22 minutes."),
        ("which region gets the canary?", "- canary on eu-west-1"),
        ("how long are logs kept, what is the retention?", "The retention of logs is 30 days."),
        ("who keeps the runbook?", "Ana keeps the runbook."),
        ("make status", "make status"),
    ],
)
def test_the_sentence_that_answers_survives_in_a_fifth_of_the_room(question: str, answer: str) -> None:
    short = compress(RUNBOOK, asked(question), real(RUNBOOK) // 5, real)
    assert answer in short
    assert "…" in short


def test_holes_are_marked_within_a_line_between_lines_and_at_both_ends() -> None:
    assert compress(RUNBOOK, asked("Ana INC-77 canary"), 44, real) == (
        "# Deploys\n…\nAna keeps the runbook.\n…\nIncident INC-77 was caused by a Friday deploy."
        "\n## Stages\n…\n- canary on eu-west-1 …"
    )


def test_with_nothing_asked_the_beginning_is_kept() -> None:
    assert compress(RUNBOOK, (), 24, real).startswith("# Deploys\nWe deploy on Thursdays")


def test_a_sentence_too_long_for_the_budget_is_cut_near_the_word_that_was_asked_for() -> None:
    long = "word " * 400 + "the port is 8443 " + "word " * 400
    short = compress(long, asked("which port?"), 16, real)
    assert "port is 8443" in short
    assert short.startswith("… ")
    assert short.endswith("…")


def test_one_endless_word_is_cut_too() -> None:
    assert 0 < len(compress("a" * 5000, (), 10, real)) < 40


# -- conversations ----------------------------------------------------------------------------------------------------

TURNS = [
    turn
    for n in range(20)
    for turn in (
        f"user: Question {n}? I ask because of ticket {n}.",
        f"assistant: Answer {n}. It has details that nobody needs later on, such as lines and lines of output.",
    )
]


@pytest.mark.parametrize("count", [real, text.tokens])
@given(st.lists(notes, max_size=12), st.integers(0, 120))
def test_a_history_never_exceeds_its_budget(count: Tokens, turns: list[str], budget: int) -> None:
    assert count(kept_history(turns, budget, count)[0]) <= budget


def test_the_newest_turns_are_whole_older_ones_short_and_the_oldest_counted() -> None:
    lines = kept_history(TURNS, 200, real)[0].split("\n")
    assert lines[0] == f"({40 - (len(lines) - 1)} earlier turns left out)"
    assert lines[-1] == TURNS[-1]
    assert lines[-2] == TURNS[-2]
    kinds = [line in TURNS for line in lines[1:]]
    assert kinds == sorted(kinds), "once shortened, every older turn is"
    assert "user: Question 15? …" in lines


def test_a_conversation_that_fits_is_left_alone_and_one_left_out_is_one_turn() -> None:
    assert kept_history(TURNS[:4], 400, real)[0] == "\n".join(TURNS[:4])
    assert kept_history(["word " * 50, "user: hi"], 11, real)[0] == "(1 earlier turn left out)\nuser: hi"
    assert kept_history([], 100, real)[0] == ""


def test_a_newest_turn_that_is_too_long_is_itself_compressed() -> None:
    assert kept_history(["word " * 50, "assistant: " + RUNBOOK], 60, real)[0].startswith("(1 earlier turn left out)\n")
