"""The contract of rerankers, and what each must be good for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Opener
from recollect import BadInput, ModelUnavailable
from recollect.models.embedder import PACKAGED, load
from recollect.models.onnx import OnnxEmbedder
from recollect.models.reranker import CrossEncoder, LateInteraction, Reranker
from recollect.models.reranker import load as load_reranker

QUESTION = "Who is responsible for invoices?"
TEXTS = [
    "Ana owns the billing service.",
    "The office is painted blue.",
    "Invoices: ask Ana, who is responsible for them.",
]
MAKERS: dict[str, Callable[[], Reranker]] = {
    "late interaction": lambda: LateInteraction(OnnxEmbedder(PACKAGED)),
    # Any model in a folder that reads a pair runs; the packaged one was not made for it, so its order means nothing.
    "cross-encoder": lambda: CrossEncoder(PACKAGED),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_reranker_gives_one_number_a_text_and_the_same_ones_again(name: str) -> None:
    reranker = MAKERS[name]()
    scores = reranker.score(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS)
    assert reranker.score(QUESTION, TEXTS) == scores
    assert reranker.score(QUESTION, []) == []
    assert reranker.score(QUESTION, TEXTS[:1]) == scores[:1]
    assert len(reranker.score("", ["", "x" * 20_000, "\ud800\x00"])) == 3


def test_late_interaction_puts_the_text_that_answers_word_by_word_first() -> None:
    scores = LateInteraction(OnnxEmbedder(PACKAGED)).score(QUESTION, TEXTS)
    assert max(range(3), key=scores.__getitem__) == 2
    assert min(range(3), key=scores.__getitem__) == 1


def test_a_reranker_is_chosen_by_name_or_by_folder(tmp_path: Path) -> None:
    model = load("default")
    assert isinstance(load_reranker("late", model), LateInteraction)
    assert isinstance(load_reranker(str(PACKAGED), model), CrossEncoder)
    assert load_reranker("off", model) is None
    with pytest.raises(BadInput):
        load_reranker(str(tmp_path / "nothing"), model)
    with pytest.raises(ModelUnavailable):
        load_reranker("late", load("hashing"))


@pytest.mark.parametrize("name", ["off", "late"])
def test_deep_recall_finds_what_it_should_with_and_without_it(
    name: str, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_RERANKER", name)
    memory = opened(embedder="default")
    memory.remember_many([*TEXTS, *[f"A remark about colour number {n}." for n in range(20)]])
    found = memory.recall(QUESTION, effort="deep", limit=2)
    assert found.skipped == ()
    assert {hit.memory.content for hit in found} == {TEXTS[0], TEXTS[2]}
