"""Metrics: how good a ranked list is, given the keys that are right. Pure; every one lies between 0 and 1.

All take the ranking as keys, best first, and the right keys as a set that is not empty. A rank counts from 1.

**Precision at 5 where fewer than five memories are right.** Divided by five, a perfect answer to a question that one
memory answers would score 0.2, and the mean would say more about the questions than about the engine. So `precision`
looks at the first `min(k, number of right ones)` and divides by that: the share of the places that could be right and
are. With five or more right ones it is the usual figure; with one it is "is the first one right". `purity` is the other
reading, for an engine that may give back fewer: of what it did give back, up to k, the share that is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import log2

import numpy as np

Ranked = Sequence[str]


def precision(ranked: Ranked, right: Set[str], k: int) -> float:
    """The share of the first `min(k, len(right))` that are right.

    >>> precision(["a", "x", "b"], {"a", "b"}, 5), precision(["a", "x"], {"a"}, 5)
    (0.5, 1.0)
    """
    places = min(k, len(right))
    return len(right & set(ranked[:places])) / places


def purity(ranked: Ranked, right: Set[str], k: int) -> float:
    """The share of what was given back, up to `k`, that is right; nothing given back is nothing right.

    >>> purity(["a", "x"], {"a", "b"}, 5), purity([], {"a"}, 5)
    (0.5, 0.0)
    """
    given = ranked[:k]
    return len(right & set(given)) / len(given) if given else 0.0


def recall(ranked: Ranked, right: Set[str], k: int) -> float:
    """The share of the right ones that are among the first `k`.

    >>> recall(["a", "x", "b"], {"a", "b"}, 2)
    0.5
    """
    return len(right & set(ranked[:k])) / len(right)


def hit(ranked: Ranked, right: Set[str], k: int) -> float:
    """1 when any of the first `k` is right.

    >>> hit(["x", "a"], {"a"}, 1), hit(["x", "a"], {"a"}, 2)
    (0.0, 1.0)
    """
    return float(bool(right & set(ranked[:k])))


def whole(ranked: Ranked, right: Set[str], k: int) -> float:
    """1 when all the right ones are among the first `k`.

    >>> whole(["a", "b"], {"a", "b"}, 2), whole(["a", "x", "b"], {"a", "b"}, 2)
    (1.0, 0.0)
    """
    return float(right <= set(ranked[:k]))


def reciprocal(ranked: Ranked, right: Set[str]) -> float:
    """One over the rank of the first right one; its mean is the MRR.

    >>> reciprocal(["x", "a"], {"a"}), reciprocal(["x"], {"a"})
    (0.5, 0.0)
    """
    return next((1 / rank for rank, key in enumerate(ranked, start=1) if key in right), 0.0)


def ndcg(ranked: Ranked, gains: Mapping[str, float], k: int) -> float:
    """Discounted gain, `gain / log2(rank + 1)`, over that of the best order there could be.

    >>> round(ndcg(["x", "a"], {"a": 1.0}, 10), 4)
    0.6309
    """
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = sum(gain / log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    found = sum(gains.get(key, 0.0) / log2(rank + 1) for rank, key in enumerate(ranked[:k], start=1))
    return found / best


def fitting(ranked: Ranked, costs: Mapping[str, int], budget: int) -> list[str]:
    """What of a ranking fits into so many tokens, taken in order; what is too large is passed over.

    >>> fitting(["a", "b", "c"], {"a": 50, "b": 90, "c": 40}, 100)
    ['a', 'c']
    """
    taken, used = [], 0
    for key in ranked:
        if used + costs[key] <= budget:
            taken.append(key)
            used += costs[key]
    return taken


def separation(right: Sequence[float], wrong: Sequence[float]) -> float:
    """How often a value of the first kind is above one of the second (the area under the ROC curve).

    >>> separation([0.9, 0.4], [0.5, 0.1])
    0.75
    """
    pairs = [(a > b) + 0.5 * (a == b) for a in right for b in wrong]
    return sum(pairs) / len(pairs) if pairs else 0.5


def interval(values: Sequence[float], seed: int = 0, rounds: int = 1000) -> tuple[float, float]:
    """The 95 % interval of the mean, by a bootstrap with a fixed seed.

    >>> interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    sample = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(0, len(sample), size=(rounds, len(sample)))
    low, high = np.percentile(sample[picks].mean(axis=1), (2.5, 97.5))
    return round(float(low), 4), round(float(high), 4)
