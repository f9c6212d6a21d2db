"""Company: what belongs beside the best hit. Pure.

Many a question takes more than one note: it asks two things at once, the first note only leads to the second, or it
wants a list. Once the best note is chosen, the next is not the one that fits the question second best but the one that
adds what is still missing. So the places behind the first are given one by one, each to the candidate that a tiny
network holds for the best addition to those before it. It was fitted on questions about made-up projects that take
several notes (`training/fit_company.py`). The first place stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..language import terms
from ..vectors import Floats
from . import intent
from .network import WEIGHTS, Network, read
from .select import Scored

if TYPE_CHECKING:
    from .read import Found

PLACES = 4  # places that are given with an eye to those before
WIDE = 20  # candidates that are looked at
# What is told of a candidate by itself, and what of it beside those that are chosen already.
ALONE = (
    "score", "part", "time", "bare_time", "kind", "timed_kind", "linked", "cosine", "length", "titled", "place",
)  # fmt: skip
BESIDE = (
    "behind", "alike", "left_over", "adds", "covered", "shares", "bridge", "bridges", "same_kind", "days", "later",
    "other_part", "best_of_part", "parts", "chosen",
)  # fmt: skip
NAMES = ALONE + BESIDE


@dataclass(frozen=True)
class Table:
    """The candidates of a question, the best first."""

    alone: Floats  # candidates × ALONE
    vectors: Floats
    question: Floats
    words: Sequence[frozenset[str]]
    asked: frozenset[str]
    kinds: Sequence[str]
    moments: Floats  # in days
    parts: Floats  # questions in the question × candidates: how well each is answered

    def seated(self, network: Network, places: int) -> list[int]:
        """The candidates in their new order."""
        chosen, left = [0], list(range(1, len(self.kinds)))
        while len(chosen) < places and len(left) > 1:
            best = left[int(np.argmax(network.score(self.rows(chosen, left))))]
            chosen.append(best)
            left.remove(best)
        return chosen + left

    def rows(self, chosen: Sequence[int], left: Sequence[int]) -> Floats:
        """The features of those that are left, beside those that are chosen."""
        many, among = len(left), np.ix_(left, chosen)
        score = self.alone[left, ALONE.index("score")]
        shares, bridge, bridges = (pairs[among].max(axis=1) for pairs in self._words_in_common)
        missing = self._asked_for[left] * (self._asked_for[chosen] == 0).all(axis=0)
        gaps = np.abs(self.moments[left][:, None] - self.moments[chosen]).min(axis=1)
        kinds = {self.kinds[number] for number in chosen}
        other, tops = np.zeros(many, np.float32), set[int]()
        if len(self.parts):
            other = (self.parts[:, left] - self.parts[:, chosen].max(axis=1, keepdims=True)).max(axis=0)
            tops = set(self.parts.argmax(axis=1).tolist())
        columns = {
            "behind": score - score.max(),
            "alike": self._likeness[among].max(axis=1),
            "left_over": self.vectors[left] @ self._left_over(chosen),
            "adds": missing.sum(axis=1),
            "covered": self._asked_for[left].sum(axis=1),
            "shares": shares,
            "bridge": bridge,
            "bridges": bridges,
            "same_kind": np.array([self.kinds[number] in kinds for number in left]),
            "days": np.log1p(gaps) / 6,
            "later": self.moments[left] > self.moments[chosen].max(),
            "other_part": other,
            "best_of_part": np.array([number in tops for number in left]),
            "parts": np.full(many, len(self.parts)),
            "chosen": np.full(many, len(chosen)),
        }
        beside = np.array([columns[name] for name in BESIDE], np.float32).T
        return np.concatenate((self.alone[left], beside), axis=1)

    def _left_over(self, chosen: Sequence[int]) -> Floats:
        """The direction of the question that those chosen do not point in."""
        rest = self.question
        for number in chosen:
            rest = rest - (rest @ self.vectors[number]) * self.vectors[number]
        return rest / max(float(np.linalg.norm(rest)), 1e-6)

    @cached_property
    def _likeness(self) -> Floats:
        return self.vectors @ self.vectors.T

    @cached_property
    def _rarity(self) -> dict[str, float]:
        """How few of the candidates have a word, from 1 for one of them; what is on all of them binds nothing."""
        counts: dict[str, int] = {}
        for words in self.words:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        alone = np.log1p(len(self.words) / 2)
        return {word: float(np.log1p(len(self.words) / (1 + count)) / alone) for word, count in counts.items()}

    @cached_property
    def _asked_for(self) -> Floats:
        """Candidates × words of the question: which it has, by its share of the question."""
        words = sorted(self.asked)
        weight = np.array([self._rarity.get(word, 1.0) for word in words], np.float32)
        has = np.array([[word in own for word in words] for own in self.words], np.float32)
        return has * (weight / max(float(weight.sum()), 1e-6))

    @cached_property
    def _words_in_common(self) -> tuple[Floats, Floats, Floats]:
        """For each two: the share of the words of the one that says less, the rarest word that the question does not
        have, and the three rarest of those. A name that the first note brings up leads to the second."""
        words = sorted(self._rarity)
        place = {word: number for number, word in enumerate(words)}
        weight = np.array([self._rarity[word] for word in words], np.float32)
        has = np.zeros((len(self.words), len(words)), np.float32)
        for number, own in enumerate(self.words):
            has[number, [place[word] for word in own]] = 1
        common = np.asarray(has * weight @ has.T, np.float32)
        said = np.maximum(np.diag(common), np.float32(1e-6))
        fresh = weight * np.array([word not in self.asked for word in words], np.float32)
        # Only what two have can be in common, which is little of all that is said.
        twice = has.sum(axis=0) > 1
        pairs = has[:, None, twice] * (has * fresh)[None, :, twice]
        if pairs.shape[-1] < 3:
            pairs = np.concatenate((pairs, np.zeros((*pairs.shape[:2], 3), np.float32)), axis=-1)
        rarest = np.partition(pairs, -3, axis=-1)[..., -3:]
        shared = np.asarray(common / np.minimum(said[:, None], said), np.float32)
        return shared, rarest.max(axis=-1), rarest.sum(axis=-1) / 3


def laid(found: Found, few: Sequence[Scored], vectors: Sequence[Floats], question: Floats) -> Table:
    """The table of the best candidates of a question."""
    memories = [one.memory for one in few]
    ids = [memory.id for memory in memories]
    when = found.asked.when if "time" in found.arms else None
    bare = intent.bare(found.question, when.words) if when else 0.0
    wanted = intent.kinds(found.query.text)
    kinds = np.array([wanted.get(memory.kind, 0.0) for memory in memories])
    words = [frozenset(terms.of_memory(memory)) for memory in memories]
    parts = np.array([[part.get(id, 0.0) for id in ids] for part in found.parts], np.float32)
    cosine, time, linked = (
        np.array([found.arms.get(arm, {}).get(id, 0.0) for id in ids]) for arm in ("vector", "time", "links")
    )
    columns = {
        "score": [one.score for one in few],
        "part": parts.max(axis=0) if len(parts) else np.zeros(len(few)),
        "time": time,
        "bare_time": time * bare,
        "kind": kinds,
        "timed_kind": kinds * (when is not None),
        "linked": linked,
        "cosine": cosine,
        "length": [math.log1p(len(own)) / 5 for own in words],
        "titled": [bool(memory.title) for memory in memories],
        "place": [1 / (1 + place) for place in range(len(few))],
    }
    return Table(
        alone=np.array([columns[name] for name in ALONE], np.float32).T,
        vectors=np.array(vectors, np.float32),
        question=question,
        words=words,
        asked=frozenset(terms.of_query(found.question)),
        kinds=[memory.kind for memory in memories],
        moments=np.array([(m.valid_from or m.created_at).timestamp() / 86400 for m in memories]),
        parts=parts,
    )


@cache
def load() -> Network:
    """The network that comes with the package."""
    told = read("company", NAMES)
    return Network(**{weight: told[weight] for weight in WEIGHTS})
