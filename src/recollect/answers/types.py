"""The results of asking and seeding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..types import Noun


@dataclass(frozen=True, slots=True)
class Related(Noun):
    """An answer to a question that is near to the one asked and not the same: never to be shown as the answer."""

    question: str
    answer: str
    probability: float
    why: str


@dataclass(frozen=True, slots=True)
class Answered(Noun):
    """The answer to a question, where it comes from and why it is believed; an empty answer is an honest "not known".

    `computed_ms` is how long computing it took, when it was computed. `sources` are the memories it cites, with the
    words of each. `id` is that of the question in the cache; it is empty where the question is not kept.
    """

    question: str
    answer: str
    cached: bool = False
    cache_tier: str = "cold"
    ask_count: int = 0
    confidence: float = 0.0
    why: str = ""
    sources: tuple[dict[str, Any], ...] = ()
    computed_ms: float = 0.0
    related: tuple[Related, ...] = ()
    skipped: tuple[str, ...] = ()
    id: str = ""

    @property
    def known(self) -> bool:
        return bool(self.answer)


@dataclass(frozen=True, slots=True)
class Seeded(Noun):
    """What came of seeding: how many questions were looked at, had an answer kept, were known, or found none."""

    looked_at: int = 0
    kept: int = 0
    known: int = 0
    unanswered: tuple[str, ...] = ()
