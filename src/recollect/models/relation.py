"""How two texts relate: they say the same, cannot both hold, one narrows the other down, or neither.

    relation("Deploys go out on Thursday.", "We deploy every Thursday.").kind                     → same
    relation("The port is 8080.", "The port is 8443.")                                            → opposed
    relation("How do I run the tests?", "how can I run the test suite", "question").risk <= 0.01  → may be served

The one place where this is decided. The reader gives a probability for each relation; exact rules (`vetoes.py`) forbid
what one character decides. `risk` is how often that relation is wrong at that probability or above, as measured on
texts that were held out; each caller asks for the risk it can bear.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..errors import ModelUnavailable
from ..language import vetoes
from ..text import key
from . import reader

Kind = Literal["same", "opposed", "narrower", "other"]
RISKS = (0.005, 0.01, 0.05, 0.1)
MERGE, RESOLVE, LINK = 0.005, 0.01, 0.05  # what may be wrong of merges, of superseded memories and of links
FEWEST = 3  # words of a statement; fewer say too little to be compared
LONGEST = 600  # characters; what is longer is a text and no statement, and may well say both
log = logging.getLogger("recollect")


@dataclass(frozen=True, slots=True)
class Relation:
    """The most probable relation that no rule forbids.

    `risk`: how often it is wrong when it is as probable as this; 1 where it is not known to be small. `reasons`: what
    forbids taking them for the same, or why they were not compared.
    """

    kind: Kind
    probability: float = 0.0
    risk: float = 1.0
    reasons: tuple[str, ...] = ()

    def is_sure(self, kind: Kind, risk: float) -> bool:
        return self.kind == kind and self.risk <= risk


def relation(a: str, b: str, kind: Literal["statement", "question"] = "statement") -> Relation:
    """
    >>> relation("Deploys go out on Thursday.", "Deploys go out on Thursday!").kind
    'same'
    >>> relation("The gateway listens on port 8080.", "The gateway listens on port 8443.").reasons
    ('another number: 8080 ≠ 8443',)
    """
    if not a.strip() or not b.strip():
        return Relation("other", reasons=("there is nothing to compare",))
    try:
        return compared(min(a, b), max(a, b), kind)
    except ModelUnavailable as error:
        log.warning("two texts are not compared: %s", error)
        return Relation("other", reasons=(f"the reader is unavailable: {error}",))


@lru_cache(maxsize=16384)
def compared(a: str, b: str, kind: str) -> Relation:
    """The same, for texts in one order; remembered, so that what is read before a lock is taken is not read again."""
    if min(len(a.split()), len(b.split())) < FEWEST and kind == "statement":
        return Relation("same", 1.0, 0.0) if key(a) == key(b) else Relation("other", reasons=("too short to compare",))
    if max(len(a), len(b)) > LONGEST:
        return Relation("same", 1.0, 0.0) if a == b else Relation("other", reasons=("too long to compare",))
    forbidden = vetoes.differences(a, b)
    if not forbidden and key(a) == key(b):
        return Relation("same", 1.0, 0.0)
    return _relate_questions(a, b, forbidden) if kind == "question" else _relate_statements(a, b, forbidden)


def _relate_statements(a: str, b: str, forbidden: tuple[str, ...]) -> Relation:
    model = reader.shared()
    found = model.relation(a, b, vetoes.likeness(a, b))
    if forbidden:
        del found["same"]
    if vetoes.elsewhere(a, b):
        del found["opposed"]
    whole = model.holds(a) and model.holds(b)
    return _judge(model, max(found, key=lambda name: found[name]), found, forbidden, whole)


def _relate_questions(a: str, b: str, forbidden: tuple[str, ...]) -> Relation:
    model = reader.shared()
    same = model.asks_same(a, b)
    if vetoes.exchanged(a, b):
        forbidden = (*forbidden, "the same words in another order")
    if same < 0.5 or forbidden:
        return Relation("other", same, 1.0, forbidden)
    return _judge(model, "asks_same", {"asks_same": same}, forbidden, model.holds(a) and model.holds(b))


def _judge(
    model: reader.PairReader, name: str, found: dict[str, float], reasons: tuple[str, ...], whole: bool
) -> Relation:
    able = [risk for risk in RISKS if whole and found[name] >= model.cut(name, risk)]
    kind: Kind = "same" if name == "asks_same" else name  # type: ignore[assignment]
    return Relation(kind, round(found[name], 4), min(able, default=1.0), reasons)
