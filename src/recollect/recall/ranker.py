"""The ranker: a tiny network over the features of the candidates, fitted once and shipped as a small file.

One hidden layer; the weights lie in `ranker.json` with the names of the features, what they were fitted on and the
script that did it, and the embedder whose cosines it knows: with another one it is not used. It orders what the arms
found and says, as a probability, whether the best of it fits at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from ..errors import ModelUnavailable
from ..vectors import Floats
from .features import NAMES


@dataclass(frozen=True, slots=True)
class Ranker:
    """Weights of the two layers, and how each feature is put on a scale."""

    mean: Floats
    spread: Floats
    hidden: Floats
    hidden_bias: Floats
    out: Floats
    fit: Floats
    fit_bias: float
    model: str = ""

    def score(self, rows: Floats) -> Floats:
        """How well each row fits; only differences within one question mean anything."""
        inner = np.tanh((rows - self.mean) / self.spread @ self.hidden + self.hidden_bias)
        return np.asarray(inner @ self.out, np.float32)

    def fits(self, rows: Floats) -> float:
        """How probable it is that the best of the candidates answers the question at all."""
        best = peaks(rows)
        return float(1 / (1 + np.exp(-(best @ self.fit + self.fit_bias))))


PEAKS = ("cosine", "covered", "covered_with_context", "words", "session_covered", "query_length")


def peaks(rows: Floats) -> Floats:
    """What decides whether anything fits: the best value of the features that do not depend on the other candidates."""
    return np.asarray(rows[:, [NAMES.index(name) for name in PEAKS]].max(axis=0), np.float32)


@cache
def load() -> Ranker:
    """The ranker that comes with the package."""
    file = resources.files(__package__).joinpath("ranker.json")
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"The ranker cannot be read: {error}.") from error
    if told["features"] != list(NAMES):
        raise ModelUnavailable("The ranker was fitted on other features.", fix="Run: python scripts/fit_ranker.py")
    mean, spread, hidden, hidden_bias, out, fit = (
        np.array(told[name], np.float32) for name in ("mean", "spread", "hidden", "hidden_bias", "out", "fit")
    )
    return Ranker(mean, spread, hidden, hidden_bias, out, fit, float(told["fit_bias"]), told["model"])
