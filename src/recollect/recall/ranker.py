"""The ranker: a tiny network over the features of the candidates, fitted once and shipped as a small file.

One hidden layer; the weights lie in `ranker.json` with the names of the features, what they were fitted on and the
script that did it, and the embedder whose cosines it knows: with another one it is not used. It orders what the arms
found; whether any of it answers at all, the relevance model says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .features import NAMES
from .network import WEIGHTS, Network, read


@dataclass(frozen=True, slots=True)
class Ranker(Network):
    """The network that orders candidates, and the embedder whose cosines it knows."""

    model: str = ""
    reading: float = 0.0  # what a logit of the relevance model counts beside one of this network


@cache
def load() -> Ranker:
    """The ranker that comes with the package."""
    told = read("ranker", NAMES)
    return Ranker(**{weight: told[weight] for weight in WEIGHTS}, model=told["model"], reading=told["reading"])
