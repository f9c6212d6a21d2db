"""How far cached answers can be trusted: public pairs of questions, a cache full of them, and two sets of our own.

`refuse.txt` holds pairs that are nearly the same and must never be served for each other, `hit.txt` pairs that ask the
same. Lines are `question | question` below a `# kind`; every second line is of the held part, which the reader is not
fitted on, but for kinds marked `; dev`. Its figures were watched and a few of its pairs are examples in the tests, so
it is no blind set.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

PARTS = ("dev", "held")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, of what kind their difference is, and in which half of the set they are."""

    asked: str
    known: str
    kind: str
    part: str


def pairs(name: str) -> tuple[Pair, ...]:
    """One of our own sets: `refuse` or `hit`.

    >>> pairs("refuse")[0].kind
    'negation'
    """
    found: list[Pair] = []
    kind, mark = "", ""
    for line in resources.files(__package__).joinpath(f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            kind, _, mark = (part.strip() for part in line.removeprefix("#").partition(";"))
        elif "|" in line:
            asked, _, known = line.partition(" | ")
            found.append(Pair(asked.strip(), known.strip(), kind, mark or PARTS[len(found) % 2]))
    return tuple(found)
