"""Company: what belongs beside the best hit, and the file of the network that says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from conftest import Clock, Opener
from recollect import Draft, Scope
from recollect.errors import ModelUnavailable
from recollect.recall import company
from recollect.recall.company import ALONE, BESIDE, Table

NOTES = [
    "heddle is owned by team Audience.",
    "Team Audience is led by Lorcan Devaney.",
    "heddle was written in Go in 2021.",
    "Team Deliver is led by Imogen Castle.",
    "heddle has a query timeout of 60 seconds.",
    "Team Flows is led by Petra Lind.",
    "heddle runs on Postgres 16 in Dublin.",
    "shuttle is owned by team Flows.",
    "Team leads meet every second Tuesday.",
]
ASKED = "Who leads the team that owns heddle?"


def table(words: list[str], asked: str = "", parts: list[list[float]] | None = None) -> Table:
    """Candidates that say some words, the first the best, each in a direction of its own."""
    many = len(words)
    alone = np.zeros((many, len(ALONE)), np.float32)
    alone[:, ALONE.index("score")] = np.linspace(1, 0.1, many)
    return Table(
        alone=alone,
        vectors=np.eye(many, dtype=np.float32),
        question=np.full(many, many**-0.5, np.float32),
        words=[frozenset(own.split()) for own in words],
        asked=frozenset(asked.split()),
        kinds=["fact"] * (many - 1) + ["incident"],
        moments=np.arange(many, dtype=np.float32),
        parts=np.array(parts or [], np.float32),
    )


def column(given: Table, name: str, chosen: list[int], left: list[int]) -> list[float]:
    return [round(float(value), 3) for value in given.rows(chosen, left)[:, len(ALONE) + BESIDE.index(name)]]


def contents(found: recollect.Recall) -> list[str]:
    return [hit.memory.content for hit in found]


def test_a_candidate_is_told_by_what_it_adds_to_those_before_it() -> None:
    seats = table(["owner heddle audience", "lead audience lorcan", "heddle go", "lunch"], asked="lead owner heddle")
    assert column(seats, "adds", [0], [1, 2, 3]) == [0.361, 0.0, 0.0]
    assert column(seats, "adds", [0, 1], [2, 3]) == [0.0, 0.0]
    bridge, *others = column(seats, "bridge", [0], [1, 2, 3])
    assert bridge > 0  # «audience», which the question does not name
    assert others == [0.0, 0.0]  # «heddle» is asked for, so it leads nowhere new
    assert column(seats, "same_kind", [0], [1, 2, 3]) == [1, 1, 0]
    assert column(seats, "later", [1], [0, 2]) == [0, 1]
    assert column(seats, "behind", [0], [1, 2, 3])[0] == 0


def test_the_question_loses_the_direction_of_what_is_chosen() -> None:
    seats = table(["a", "b", "c"])
    assert column(seats, "left_over", [0], [1, 2]) == [0.707, 0.707]
    assert column(seats, "left_over", [0, 1], [2]) == [1.0]


def test_an_answer_to_the_other_question_in_a_question_stands_out() -> None:
    seats = table(["a", "b", "c"], parts=[[1.0, 0.2, 0.1], [0.1, 0.3, 0.9]])
    assert column(seats, "other_part", [0], [1, 2]) == [0.2, 0.8]
    assert column(seats, "best_of_part", [0], [1, 2]) == [0, 1]
    assert column(table(["a", "b", "c"]), "other_part", [0], [1, 2]) == [0, 0]


@given(st.lists(st.text("abcd ", max_size=9), min_size=2, max_size=9), st.integers(2, 5))
def test_everybody_is_seated_once_and_the_first_stays(words: list[str], places: int) -> None:
    seats = table(words, asked="a b")
    order = seats.seated(company.load(), places)
    assert order[0] == 0
    assert sorted(order) == list(range(len(words)))
    # Those that no place was left for stand as they stood.
    assert order[places:] == sorted(order[places:])
    assert np.isfinite(seats.rows([0], list(range(1, len(words))))).all()


def test_the_note_that_the_first_one_leads_to_comes_second(opened: Opener) -> None:
    memory = opened(embedder="default")
    memory.remember_many(NOTES)
    found = memory.recall(ASKED, limit=2, explain=True)
    assert contents(found) == NOTES[:2]
    assert found.explained is not None
    weighed, seated = (dict(found.explained.stages[stage]) for stage in ("weighed", "seated"))
    assert list(weighed) != list(seated)
    assert list(weighed.values()) == list(seated.values())  # the places change hands, their scores do not
    assert contents(memory.recall(ASKED, limit=2, effort="fast")) != NOTES[:2]
    assert contents(memory.recall(ASKED, limit=1)) == NOTES[:1]


def test_of_two_on_one_thing_the_newer_is_seated_first(opened: Opener, clock: Clock) -> None:
    memory = opened(embedder="default")
    memory.remember_many(NOTES)
    clock.forward(days=30)
    newer = "Team Audience is now led by Petra Lind."
    memory.remember(newer)
    assert contents(memory.recall(ASKED, limit=2)) == [NOTES[0], newer]
    # Said in the same words of another team, it is no news of this one.
    clock.forward(days=1)
    memory.remember("Team Weave is led by Imogen Castle.")
    assert contents(memory.recall(ASKED, limit=2)) == [NOTES[0], newer]


def test_what_the_session_has_seen_keeps_nobody_company(opened: Opener) -> None:
    memory = opened(embedder="default")
    first = memory.remember_many(NOTES)[0]
    best = memory.recall(ASKED, effort="balanced", explain=True)
    assert best.explained is not None
    ranked = [id for id, _ in best.explained.stages["weighed"] if id != first.id]
    assert memory.recall(ASKED, shown=[first.id]).hits[0].memory.id == ranked[0]


def test_without_its_file_the_order_stays_and_the_answer_says_so(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ModelUnavailable("The company cannot be read: it is empty.")

    memory = opened(embedder="default")
    memory.remember_many(NOTES)
    monkeypatch.setattr(company, "load", broken)
    found = memory.recall(ASKED)
    assert [line.partition(".")[0] for line in found.skipped] == ["company: The company cannot be read: it is empty"]
    assert "vector" in found.arms


def test_a_talk_stays_as_it_ranks(opened: Opener) -> None:
    memory = opened(embedder="default")
    turns = [Draft(told, kind="turn", scope=Scope(session="s"), position=n) for n, told in enumerate(NOTES)]
    memory.remember_many(turns)
    found = memory.recall(ASKED, explain=True)
    assert found.explained is not None
    assert found.explained.stages["weighed"] == found.explained.stages["seated"]


def test_what_has_no_vector_yet_leaves_the_order_as_it_was(opened: Opener) -> None:
    opened(embedder="none").remember_many(NOTES[:4])
    memory = opened(embedder="default")
    memory.remember_many(NOTES[4:])
    found = memory.recall(ASKED, explain=True)
    assert found.explained is not None
    assert found.explained.stages["weighed"] == found.explained.stages["seated"]
