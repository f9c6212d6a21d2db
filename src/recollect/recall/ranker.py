"""The ranker: a tiny network over the features of the candidates, fitted once and shipped as a small file.

One hidden layer; the weights lie in `ranker.json` with the names of the features, what they were fitted on and the
script that did it, and the embedder whose cosines it knows: with another one it is not used. It orders what the arms
found and says, as a probability, whether the best of it fits at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..vectors import Floats
from .features import NAMES
from .network import WEIGHTS, Network, read


@dataclass(frozen=True, slots=True)
class Ranker(Network):
    """The network that orders candidates, and the weights by which it says whether any of them fits."""

    fit: Floats
    fit_bias: float
    model: str = ""

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
    told = read("ranker", NAMES)
    fit = np.array(told["fit"], np.float32)
    weights = {weight: told[weight] for weight in WEIGHTS}
    return Ranker(**weights, fit=fit, fit_bias=float(told["fit_bias"]), model=told["model"])
