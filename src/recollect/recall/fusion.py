"""Fusion: how much words count beside vectors for one question in one store. Pure.

A fixed share loses where texts are long and chatty, or terse and full of rare words. A few numbers of what both arms
found (how well the best fits, how far it leads, how much they agree) give the share of the words, between a tenth and
seven tenths. The fit was drawn to the share at which all kinds of text do about equally well, so that an unfamiliar one
is not taken for one of them. Fitted by `training/fit_fusion.py`. It orders in `fast`, and what the ranker says is added
to it among documents and in `deep`, so that on text of an unfamiliar sort the order is no worse than theirs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from .. import rank
from ..language import terms
from ..models.embedder import on_scale_of
from . import foreign

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..types import Memory
    from .query import Query
    from .recipes import Recipe

LOW, HIGH = 0.1, 0.7
BY_ARMS = 6.0  # what the sum counts beside a logit of the ranker
NAMES = ("one", "best", "lead", "tenth", "cosine", "cosine_lead", "cosine_tenth", "agree", "words_first", "meant_first",
         "terms", "best_per_term", "share")  # fmt: skip


@cache
def load() -> tuple[str, tuple[tuple[float, float, float], ...]]:
    """The model whose cosines it was fitted with; the mean, spread and weight of each number."""
    told = json.loads(resources.files(__package__).joinpath("fusion.json").read_text("utf-8"))
    return told["model"], tuple(tuple(told["numbers"][name]) for name in NAMES)


def decided(
    query: Query, question: str, arms: Mapping[str, rank.Scores], memories: Sequence[Memory], model: Embedder | None,
    other: bool = False,
) -> float | None:  # fmt: skip
    """How much words count beside vectors for this question; None: as the recipe says. `other`: not in English."""
    if model is None or query.fusion != "sum" or not query.recipe.adapts:
        return None
    if other:
        return foreign.words_share(model.model)
    if on_scale_of(model.model) != load()[0] or not arms.get("text") or not arms.get("vector"):
        return None
    text, vector = (_among(memories, arms[arm]) for arm in ("text", "vector"))
    return words_share(question or query.text, text, vector)


def beside_ranker(effort: str, memories: Sequence[Memory]) -> float:
    """What the sum of the arms counts beside the ranker: something among documents, and in `deep`."""
    documents = 2 * sum(memory.kind == "doc" for memory in memories) > len(memories)
    return BY_ARMS if documents or effort == "deep" else 0.0


def fuse(
    recipe: Recipe, words: float, arms: Mapping[str, rank.Scores], memories: Sequence[Memory]
) -> dict[str, float]:  # fmt: skip
    """The sum of the arms over some memories, with this share for words."""
    shares = {**recipe.arms, "text": words, "vector": 1 - words}
    return rank.add({arm: _among(memories, scores) for arm, scores in arms.items()}, shares, recipe.scale)


def _among(memories: Sequence[Memory], scores: rank.Scores) -> dict[str, float]:
    return {memory.id: scores[memory.id] for memory in memories if memory.id in scores}


def words_share(question: str, text: rank.Scores, vector: rank.Scores) -> float:
    """How much the words count, from LOW to HIGH; the vectors count the rest."""
    fitted = load()[1]
    seen = numbers(question, text, vector)
    odds = sum(weight * (one - mean) / spread for one, (mean, spread, weight) in zip(seen, fitted, strict=True))
    return LOW + (HIGH - LOW) / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def numbers(question: str, text: Mapping[str, float], vector: Mapping[str, float]) -> list[float]:
    """What is seen of both arms; `text` and `vector` score the same candidates, some of them perhaps in one only."""
    ids = {**text, **vector}
    by_words, by_meaning = (rank.order({id: arm.get(id, 0.0) for id in ids}) for arm in (text, vector))
    words, cosines = [text.get(id, 0.0) for id in by_words], [vector.get(id, 0.0) for id in by_meaning]
    if not ids:
        return [1.0] + [0.0] * (len(NAMES) - 1)
    second, tenth = min(1, len(ids) - 1), min(9, len(ids) - 1)
    asked = len(terms.of_query(question))
    return [
        1.0,
        math.log1p(words[0]) / 3,
        (words[0] - words[second]) / (words[0] + 1e-6),
        words[tenth] / (words[0] + 1e-6),
        cosines[0],
        5 * (cosines[0] - cosines[second]),
        5 * (cosines[0] - cosines[tenth]),
        len(set(by_words[:5]) & set(by_meaning[:5])) / 5,
        rank.stretch(vector).get(by_words[0], 0.0),
        rank.stretch(text).get(by_meaning[0], 0.0),
        math.log1p(asked) / 2,
        math.log1p(words[0] / max(asked, 1)),
        len(text) / len(ids),
    ]
