"""Ranking: putting arms on one scale, fusing them, and weighing what they found. Pure.

Each arm's scores are stretched to 0…1 over the candidates and added, which keeps how far apart the first and the second
are. Importance, age and confidence only decide between memories that fit about equally well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Scores = Mapping[str, float]


def order(scores: Scores) -> list[str]:
    """Ids, best score first; equal ones by id, so that the same question gets the same answer.

    >>> order({"b": 0.5, "a": 0.5, "c": 0.9})
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda one: (-scores[one], one))


def stretch(scores: Scores) -> dict[str, float]:
    """From 0, the worst here, to 1, the best; when all are equal each is the best.

    >>> stretch({"a": 4.0, "b": 2.0, "c": 3.0})
    {'a': 1.0, 'b': 0.0, 'c': 0.5}
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {id: (score - low) / (high - low) for id, score in scores.items()}


def by_best(scores: Scores) -> dict[str, float]:
    """As a part of the best one; nothing when the best is nothing, so that its weight goes to the other arms.

    >>> by_best({"a": 0.8, "b": 0.4}), by_best({"a": 0.0})
    ({'a': 1.0, 'b': 0.5}, {})
    """
    high = max(scores.values(), default=0.0)
    return {id: max(0.0, score) / high for id, score in scores.items()} if high > 0 else {}


def by_distance(cosines: Scores) -> dict[str, float]:
    """1 - d / max(2·dmax, 2) with the Euclidean distance d of unit vectors.

    >>> {id: round(score, 3) for id, score in by_distance({"a": 1.0, "b": 0.5}).items()}
    {'a': 1.0, 'b': 0.5}
    """
    distances = {id: math.sqrt(max(0.0, 2 - 2 * cosine)) for id, cosine in cosines.items()}
    reach = max(2 * max(distances.values(), default=0.0), 2.0)
    return {id: 1 - distance / reach for id, distance in distances.items()}


SCALES: dict[str, Callable[[str, Scores], dict[str, float]]] = {
    "stretch": lambda _, scores: stretch(scores),
    "best": lambda _, scores: by_best(scores),
    "distance": lambda arm, scores: by_distance(scores) if arm == "vector" else stretch(scores),
}


def add(arms: Mapping[str, Scores], weights: Mapping[str, float], scale: str = "stretch") -> dict[str, float]:
    """The weighted sum of the arms on one scale; the weight of an arm that found nothing goes to the others.

    >>> add({"text": {"a": 9.0, "b": 3.0}, "vector": {"b": 0.9, "a": 0.1}}, {"text": 0.5, "vector": 0.5})
    {'a': 0.5, 'b': 0.5}
    """
    scaled = {arm: SCALES[scale](arm, scores) for arm, scores in arms.items() if weights.get(arm) and scores}
    total = sum(weights[arm] for arm, scores in scaled.items() if scores) or 1.0
    fused: dict[str, float] = {}
    for arm, scores in scaled.items():
        for id, score in scores.items():
            fused[id] = fused.get(id, 0.0) + weights[arm] / total * score
    return fused


def rrf(lists: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] = ()) -> dict[str, float]:
    """Fuse ranked id lists (Cormack et al. 2009), each with its weight.

    >>> order(rrf([["a", "b"], ["b", "c"]], k=1))
    ['b', 'a', 'c']
    """
    fused: dict[str, float] = {}
    for number, ids in enumerate(lists):
        weight = weights[number] if weights else 1.0
        for place, id in enumerate(ids, start=1):
            fused[id] = fused.get(id, 0.0) + weight / (k + place)
    return fused


def freshness(days: float, half_life: float = 30.0) -> float:
    """Hyperbolic: 1 today, a half after the half-life, never quite nothing.

    >>> freshness(0), freshness(30), freshness(90)
    (1.0, 0.5, 0.25)
    """
    return half_life / (half_life + max(0.0, days))


def fading(days_unused: float, rate: float = 0.01) -> float:
    """Exponential decay since the last use; every use starts it again.

    >>> round(fading(0), 3), round(fading(69.3), 2)
    (1.0, 0.5)
    """
    return math.exp(-rate * max(0.0, days_unused))


def gentle(importance: int, days: float, confidence: float, unused: float = 0.0) -> float:
    """What a fit is multiplied with by default: around 1, from about 0.5 to 1.2.

    >>> round(gentle(5, 0, 1.0), 3), round(gentle(10, 0, 1.0), 3), round(gentle(1, 365, 0.2, 365), 3)
    (1.0, 1.15, 0.577)
    """
    age = (0.9 + 0.1 * freshness(days)) * (0.95 + 0.05 * fading(unused))
    return (1 + 0.03 * (importance - 5)) * age * (0.7 + 0.3 * confidence)


def prominence(observed: int, most_observed: int, confidence: float, days: float, recalled: int) -> float:
    """How much a memory has proved itself, whatever is asked: seen, sure, fresh and used, a quarter each.

    >>> round(prominence(3, 3, 1.0, 0, 10), 3), round(prominence(1, 4, 0.5, 30, 2), 3)
    (1.0, 0.362)
    """
    seen = observed / max(1, most_observed)
    return (seen + confidence + freshness(days) + min(recalled / 10, 1.0)) / 4
