"""Features: how alike two questions are, in numbers, for the fitted judge. Pure.

All are symmetric: which question was asked first says nothing about whether they are the same. `rarity` gives each
known stem the logarithm of how seldom it is; a stem that is not in it is the rarest.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache

from .asking import kind
from .guards import GUARDS
from .two import Two

NAMES = (
    "cosine", "shared", "covered least", "covered most", "rarest left, less", "rarest left, more", "left, less",
    "left, more", "letters", "order", "order of content", "pairs", "words", "same kind", "numbers", "raised",
    "length, shorter", "length, longer", "length apart", "count left", "count left, less", "same first", "same last",
    "same last of content", "shared weight", "cosine and covered", "function words", "letters of what is left",
    *GUARDS, "leftover",
)  # fmt: skip
RAREST = 11.0
MOST = 40  # words of a question that are looked at where time grows with their square


def features(two: Two, cosine: float, fired: Collection[str], rarity: Mapping[str, float]) -> list[float]:
    one, other = two.asked, two.known
    a, b = ({word.stem for word in reading.content} or set(reading.texts) for reading in (one, other))
    left = [{word.stem for word in words} for words in two.left]
    weight = {name: rarity.get(name, RAREST) for name in a | b}
    total = [sum(weight[name] for name in names) or 1.0 for names in (a, b)]
    lost = [sum(weight[name] for name in names if name in weight) for names in left]
    rarest = [max((weight.get(name, RAREST) for name in names), default=0.0) for names in left]
    covered = [1 - missing / whole for missing, whole in zip(lost, total, strict=True)]
    stems = [tuple(word.stem for word in reading.words)[:MOST] for reading in (one, other)]
    content = [tuple(word.stem for word in reading.content)[:MOST] for reading in (one, other)]
    lengths = sorted((len(one.words), len(other.words)))
    both = [set(names) for names in stems]
    bigrams = [set(itertools.pairwise(names)) for names in stems]
    glue = [{word.stem for word in reading.words if not word.content} for reading in (one, other)]
    shared = sum(total) - sum(lost)
    return [
        cosine,
        shared / sum(total),
        *sorted(covered),
        *sorted(rarest),
        *sorted(lost),
        _letters(one.plain, other.plain),
        _in_order(*stems),
        _in_order(*content),
        _share(*bigrams),
        _share(*both),
        float(kind(one.plain) == kind(other.plain)),
        float(len(one.of("number") ^ other.of("number"))),
        float(len({w.stem for w in one.words if w.raised} ^ {w.stem for w in other.words if w.raised})),
        *map(float, lengths),
        float(lengths[1] - lengths[0]),
        float(len(left[0]) + len(left[1])),
        float(min(len(left[0]), len(left[1]))),
        float(stems[0][:1] == stems[1][:1]),
        float(stems[0][-1:] == stems[1][-1:]),
        float(content[0][-1:] == content[1][-1:]),
        shared / 2,
        cosine * min(covered),
        _share(*glue),
        _letters(" ".join(sorted(left[0])), " ".join(sorted(left[1]))) if left[0] and left[1] else 0.0,
        *(float(name in fired) for name in GUARDS),
        float("leftover" in fired),
    ]


def _share(one: Set[object], other: Set[object]) -> float:
    return len(one & other) / (len(one | other) or 1)


@lru_cache(maxsize=8192)
def _triples(text: str) -> Counter[str]:
    flat = f" {' '.join(re.findall(r'[a-z0-9]+', text.casefold()))} "
    return Counter(flat[n : n + 3] for n in range(len(flat) - 2))


def _letters(one: str, other: str) -> float:
    a, b = _triples(one), _triples(other)
    return 2 * sum((a & b).values()) / (sum(a.values()) + sum(b.values()) or 1)


def _in_order(one: Sequence[str], other: Sequence[str]) -> float:
    """How much of both is one sequence: the longest common one, of their mean length.

    >>> _in_order(("a", "b", "c"), ("a", "c"))
    0.8
    """
    row = [0] * (len(other) + 1)
    for a in one:
        before = 0
        for place, b in enumerate(other, start=1):
            before, row[place] = row[place], before + 1 if a == b else max(row[place], row[place - 1])
    return 2 * row[-1] / (len(one) + len(other) or 1)
