"""How much words count beside vectors follows from the question and what both arms found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recollect
from recollect.recall import fusion, read
from recollect.recall.ranker import Ranker
from recollect.types import Draft

NOTES = ("The gateway listens on port 8420.", "Invoices go out at night.", "Ana looks after billing.", "We use pnpm.")


def test_the_share_is_told_and_stays_within_its_bounds(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "store.db") as memory:
        memory.remember_many(NOTES)
        found = memory.recall("who is in charge of billing?", effort="fast", explain=True)
        assert found.hits[0].memory.content == NOTES[2]
        assert found.explained is not None
        assert found.explained.words is not None
        assert fusion.LOW <= found.explained.words <= fusion.HIGH
        ranked = memory.recall("who is in charge of billing?", explain=True).explained
        assert ranked is not None
        assert ranked.words == found.explained.words


def test_the_sum_of_the_arms_counts_beside_the_ranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranker that has learnt nothing of a sort of text must not undo what words and vectors agree on."""
    monkeypatch.setattr(Ranker, "score", lambda self, rows: np.zeros(len(rows), np.float32))
    monkeypatch.setattr(read, "READ", 0)
    with recollect.open(tmp_path / "store.db") as memory:
        memory.remember_many([Draft(note, kind="doc") for note in NOTES])
        asked = "which port does the gateway listen on?"
        orders = [[hit.memory.id for hit in memory.recall(asked, effort=effort)] for effort in ("fast", "balanced")]
    assert orders[0] == orders[1]


def test_another_model_and_a_fusion_of_the_caller_are_left_alone(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "store.db", embedder="hashing") as memory:
        memory.remember_many(NOTES)
        told = memory.recall("who owns billing?", effort="fast", explain=True).explained
        assert told is not None
        assert told.words is None


@pytest.mark.parametrize("arms", [({}, {}), ({"a": 3.0}, {"b": 0.4}), ({"a": 1.0, "b": 1.0}, {"a": 0.5, "b": 0.5})])
def test_any_scores_give_a_share(arms: tuple[dict[str, float], dict[str, float]]) -> None:
    assert fusion.LOW <= fusion.words_share("which port?", *arms) <= fusion.HIGH


def test_words_count_more_where_they_find_what_stands_out() -> None:
    cosines = {"a": 0.5, "b": 0.5, "c": 0.49}
    clear = fusion.words_share("error E4012", {"a": 18.0, "b": 2.0}, cosines)
    vague = fusion.words_share("error E4012", {"a": 1.1, "b": 1.0, "c": 1.0}, cosines)
    assert clear > vague
