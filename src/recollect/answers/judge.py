"""The judge: whether the answer to one question may be served for another. Pure.

    judge("How do I delete a branch?", "How can I remove a branch?", 0.97).verdict   → serve, offer or miss

Two parts. The *guards* (`guards.py`) look for a difference that changes the answer and that vectors do not see; one
objection is enough to forbid serving. The *fitted part* gives the probability that both ask the same: a few tiny
networks over features of both questions and, where they are given, their vectors, which say far more than their cosine
alone. Its numbers lie in `judge.json`, made by `training/fit_judge.py`; with vectors of another model it goes without.

Both vectors are those of questions (role `query`), and so is the cosine: 0.9 between two questions is not 0.9 between a
question and a note.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelUnavailable
from .direction import word_for_word
from .features import NAMES, features
from .guards import objections, strict
from .reading import read
from .two import Two

Floats = NDArray[np.float32]
# At SERVE, of a hundred pairs that the guards let through 94 are the same question, on pairs that were not fitted on;
# `recollect eval answers` tells the figure on others. At OFFER it is about three of four.
SERVE = 0.88
OFFER = 0.4
# Of technical talk little was fitted on, so its probabilities are too low; where both say the same words and no guard
# objects, this much is enough. Of all pairs that must be refused none gets so far.
SAME_WORDS = 0.5
LONGEST = 2000  # letters of a question that are read: what is longer is no question, and costs time


@dataclass(frozen=True, slots=True)
class Judgement:
    """`probability`: that both ask the same. `refusals`: why the answer must not be served all the same, in words."""

    probability: float
    refusals: tuple[str, ...] = ()
    needed: float = SERVE  # the probability from which it is served

    @property
    def verdict(self) -> Literal["serve", "offer", "miss"]:
        """
        >>> Judgement(0.99).verdict, Judgement(0.99, ("another number: 5 ≠ 6",)).verdict, Judgement(0.1).verdict
        ('serve', 'offer', 'miss')
        """
        if self.probability >= self.needed and not self.refusals:
            return "serve"
        return "offer" if self.probability >= OFFER else "miss"


def judge(asked: str, known: str, cosine: float, vectors: tuple[Floats, Floats] | None = None) -> Judgement:
    """Whether `known` asks what was `asked`; `vectors` are theirs, by the packaged model.

    >>> judge("How do I allow 5 retries?", "How do I allow 6 retries?", 0.99).refusals[0]
    'another number: 5 ≠ 6'
    """
    fitted = load()
    two = Two(read(asked[:LONGEST]), read(known[:LONGEST]))
    if not two.asked.words or not two.known.words:
        return Judgement(0.0, ("there is nothing to compare",))
    found = objections(two, fitted.rarity)
    row = np.array([features(two, cosine, found, fitted.rarity)], np.float32)
    probability = fitted.probability(row, vectors)
    if not found and not any(two.left):  # word for word the same by the lexicon: worth showing, whatever vectors say
        probability = max(probability, OFFER)
    technical = strict(two, fitted.rarity)
    needed = SAME_WORDS if technical and not found and word_for_word(two) else SERVE
    return Judgement(probability, tuple(one.text for one in found.values() if one.firm or technical), needed)


@dataclass(frozen=True, slots=True)
class Net:
    """One network: what both vectors are projected by, one hidden layer, the weights of its output."""

    project: Floats | None
    hidden: Floats
    hidden_bias: Floats
    out: Floats
    bias: float

    def score(self, rows: Floats, one: Floats | None = None, other: Floats | None = None) -> Floats:
        if self.project is not None and one is not None and other is not None:
            a, b = one @ self.project, other @ self.project
            rows = np.concatenate([a * b, np.abs(a - b), rows], axis=1)
        inner = np.maximum(rows @ self.hidden + self.hidden_bias, 0)
        return np.asarray(inner @ self.out + self.bias, np.float32)


@dataclass(frozen=True, slots=True)
class Committee:
    """Networks that are asked together: the mean of their scores, turned into a probability by a slope and a shift."""

    nets: tuple[Net, ...]
    slope: float
    shift: float

    def probability(self, rows: Floats, one: Floats | None = None, other: Floats | None = None) -> Floats:
        score = np.mean([net.score(rows, one, other) for net in self.nets], axis=0)
        return np.asarray(1 / (1 + np.exp(-(self.slope * score + self.shift))), np.float32)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was fitted: how rare words are, the scale of each feature, and the networks with and without vectors."""

    model: str
    rarity: dict[str, float]
    mean: Floats
    spread: Floats
    vectors: Committee
    words: Committee

    def probability(self, rows: Floats, vectors: tuple[Floats, Floats] | None) -> float:
        scaled = (rows - self.mean) / self.spread
        project = self.vectors.nets[0].project
        if vectors is None or project is None or any(vector.shape != project.shape[:1] for vector in vectors):
            return float(self.words.probability(scaled)[0])
        one, other = (np.asarray(vector, np.float32)[None] for vector in vectors)
        return float(self.vectors.probability(scaled, one, other)[0])


def packed(array: Floats) -> dict[str, Any]:
    """An array as JSON takes it: its shape, and its numbers in half precision."""
    return {"shape": list(array.shape), "f16": base64.b64encode(array.astype("<f2").tobytes()).decode("ascii")}


def unpacked(told: dict[str, Any]) -> Floats:
    raw = np.frombuffer(base64.b64decode(told["f16"]), "<f2")
    return np.ascontiguousarray(raw.reshape(told["shape"]).astype(np.float32))


def committee(told: dict[str, Any]) -> Committee:
    nets = tuple(
        Net(
            unpacked(one["project"]) if one["project"] else None,
            unpacked(one["hidden"]),
            unpacked(one["hidden_bias"]),
            unpacked(one["out"]),
            float(one["bias"]),
        )
        for one in told["nets"]
    )
    return Committee(nets, float(told["slope"]), float(told["shift"]))


@cache
def load() -> Fitted:
    """What comes with the package."""
    try:
        told: dict[str, Any] = json.loads(resources.files(__package__).joinpath("judge.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"The judge of answers cannot be read: {error}.") from error
    if told["features"] != list(NAMES):
        raise ModelUnavailable("The judge was fitted on other features.", fix="Run: python training/fit_judge.py")
    return Fitted(
        told["model"], told["rarity"], unpacked(told["mean"]), unpacked(told["spread"]), committee(told["vectors"]),
        committee(told["words"]),
    )  # fmt: skip
