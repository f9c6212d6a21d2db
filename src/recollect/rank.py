"""Ranking: fusing what the arms found, and weighing it. Pure.

The arms' scores live on different scales, so each is stretched to 0…1 over the candidates before they are added. A sum
of such scores keeps how far apart the first and the second are, which ranks alone forget; on conversations it beats
reciprocal rank fusion, which stays available. Weighing is gentle on purpose: importance, age and confidence decide
between memories that fit about equally well, and never lift one that does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Scores = Mapping[str, float]


def order(scores: Scores) -> list[str]:
    """Ids, best score first; equal ones by id, so that the same question gets the same answer.

    >>> order({"b": 0.5, "a": 0.5, "c": 0.9})
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda one: (-scores[one], one))


def stretch(scores: Scores) -> dict[str, float]:
    """Scores on a scale from 0, the worst here, to 1, the best; a single one is the best.

    >>> stretch({"a": 4.0, "b": 2.0, "c": 3.0})
    {'a': 1.0, 'b': 0.0, 'c': 0.5}
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {id: (score - low) / (high - low) for id, score in scores.items()}


def add(arms: Mapping[str, Scores], weights: Mapping[str, float]) -> dict[str, float]:
    """The weighted sum of the arms' stretched scores; the weight of an arm that did not run goes to the others.

    >>> add({"text": {"a": 9.0, "b": 3.0}, "vector": {"b": 0.9, "a": 0.1}}, {"text": 0.5, "vector": 0.5})
    {'a': 0.5, 'b': 0.5}
    """
    total = sum(weights[arm] for arm in arms) or 1.0
    fused: dict[str, float] = {}
    for arm, scores in arms.items():
        for id, score in stretch(scores).items():
            fused[id] = fused.get(id, 0.0) + weights[arm] / total * score
    return fused


def rrf(lists: Sequence[Sequence[str]], k: int = 60) -> dict[str, float]:
    """Fuse ranked id lists (Cormack et al. 2009).

    >>> sorted(rrf([["a", "b"], ["b", "c"]], k=1).items(), key=lambda item: -item[1])[0][0]
    'b'
    """
    fused: dict[str, float] = {}
    for ids in lists:
        for rank, id in enumerate(ids, start=1):
            fused[id] = fused.get(id, 0.0) + 1 / (k + rank)
    return fused


def freshness(days: float, half_life: float = 30.0) -> float:
    """Hyperbolic: 1 today, a half after the half-life, never quite nothing.

    >>> freshness(0), freshness(30), freshness(90)
    (1.0, 0.5, 0.25)
    """
    return half_life / (half_life + max(0.0, days))


def weight(importance: int, days: float, confidence: float) -> float:
    """What a memory's fit is multiplied with: around 1, from about 0.5 to 1.2.

    >>> round(weight(5, 0, 1.0), 3), round(weight(10, 0, 1.0), 3), round(weight(1, 365, 0.2), 3)
    (1.0, 1.15, 0.609)
    """
    return (1 + 0.03 * (importance - 5)) * (0.9 + 0.1 * freshness(days)) * (0.7 + 0.3 * confidence)
