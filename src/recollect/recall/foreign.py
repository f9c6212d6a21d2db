"""Questions and memories in other languages than English, which the ranker and the reader do not know.

They are ordered by words and cosines alone, and whether something answers follows from the same: how much of the
question the best have, how near the nearest is, how far it leads. The numbers are fitted on the dev half of
`recollect eval languages` (`training/fit_foreign.py`), for the packaged model, whose cosines say little of such texts,
and for the multilingual one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .. import rank
from ..language import terms
from ..language.detect import detect
from ..models.embedder import MULTILINGUAL
from ..types import Memory

LOOKED_AT = 6  # candidates whose language is told
WORDS = {MULTILINGUAL: 0.4}  # how much words count beside the vectors of a model
WORDS_ELSE = 0.8
NAMES = ("one", "covered", "cosine", "lead", "share")
# As fitted, but for the first: a right answer that is called weak is worse than a wrong one that is not.
WEIGHTS = {MULTILINGUAL: (-2.7, 1.98, 5.83, 5.83, 1.32)}
WEIGHTS_ELSE = (-0.8, 2.66, 0.67, 2.47, 2.75)


def is_foreign(question: str, memories: Sequence[Memory]) -> bool:
    """Whether a question, or most of what is found for it, is in another language than English."""
    if detect(question) != "en":
        return True
    some = memories[:LOOKED_AT]
    return 2 * sum(memory.kind != "code" and detect(memory.content) != "en" for memory in some) > len(some)


def words_share(model: str) -> float:
    return WORDS.get(model, WORDS_ELSE)


def numbers(memories: Sequence[Memory], cosines: rank.Scores, rarity: Mapping[str, float]) -> list[float]:
    """What is seen of the best few: the rarer words of the question that one has, its cosine and how far it leads."""
    total = sum(rarity.values()) or 1.0
    held = [
        sum(weight for term, weight in rarity.items() if term in found)
        for found in (set(terms.of_memory(memory)) for memory in memories[:3])
    ]
    near = sorted(cosines.values(), reverse=True) or [0.0]
    rest = near[1:11] or [0.0]
    return [1.0, max(held, default=0.0) / total, near[0], near[0] - sum(rest) / len(rest), max(held, default=0.0) / 10]


def sure_of_answer(model: str, seen: Sequence[float]) -> float:
    """How probable it is that one of the best answers."""
    odds = sum(weight * one for weight, one in zip(WEIGHTS.get(model, WEIGHTS_ELSE), seen, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
