"""The arms: independent ways to find candidates, each optional.

Text finds words, vectors find meaning, links find what hangs together with the best of those, and time finds what is of
the days that were asked for. An arm gives ids with scores on a scale of its own; fusing them is not its business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from .. import rank
from ..language import terms
from ..language.when import When
from ..models.embedder import scale
from ..store.contract import Store
from ..types import Filter, Link, Memory

if TYPE_CHECKING:
    from ..vectors import Floats

Scores = dict[str, float]
VARIANT = 0.5  # what a match of a rewritten question counts against one of the question itself
SEEDS = 8  # the best candidates whose neighbours are looked at
SURE = 0.5  # the confidence from which a time expression is believed
# «In March» is a time of its own; «last week» hangs on when it was asked, and people say it loosely.
RELATIVE = 0.2
_NAMED = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b\d{4}\b|\b[QqHh][1-4]\b", re.IGNORECASE
)
NEAR_DAYS = 14.0  # how far outside the asked range a memory still counts: people tell of things afterwards
LAST = datetime.max.replace(tzinfo=UTC)
AFTERWARDS = 0.3  # how much it then counts, unless it sums up, which is always done afterwards
# How much of its origin's score a link hands on; what replaces or contradicts belongs beside what it speaks of.
HANDED_ON = {
    "supersedes": 0.8, "contradicts": 0.8, "supports": 0.6, "elaborates": 0.8, "caused_by": 0.8, "had_incident": 0.7,
    "depends_on": 0.7,
    "implements": 0.7, "derived_from": 0.7, "configures": 0.6, "calls": 0.6, "uses": 0.6, "owned_by": 0.6,
    "related": 0.5, "mentions": 0.5,
}  # fmt: skip
SHARED_REF = 0.4


@dataclass(frozen=True, slots=True)
class Arms:
    """What the arms look at: one tenant's store through one filter, to a depth."""

    store: Store
    tenant: str
    filter: Filter
    depth: int

    def text(self, question: str, variants: Sequence[str]) -> Scores:
        """Words, and in second place the words of rewritten questions."""
        found = dict(self.store.match(self.tenant, terms.of_query(question), self.filter, self.depth))
        for variant in variants:
            for id, score in self.store.match(self.tenant, terms.of_query(variant), self.filter, self.depth):
                found[id] = max(found.get(id, 0.0), VARIANT * score)
        return found

    def vector(self, query: Floats, model: str, others: Sequence[str]) -> Scores:
        """Meaning; what other arms found is given its cosine too, so that a sum compares like with like."""
        near = dict(self.store.nearest(self.tenant, model, query, self.filter, self.depth))
        missing = [id for id in others if id not in near]
        near |= self.store.cosines(self.tenant, model, query, missing) if missing else {}
        return near if (factor := scale(model)) == 1.0 else {id: factor * one for id, one in near.items()}

    def links(self, fused: rank.Scores) -> Scores:
        """What is linked to the best candidates, or refers to the same file, commit or decision."""
        seeds = rank.order(fused)[:SEEDS]
        found: Scores = {}
        for column in ("origin", "target"):
            for link in self.store.of(self.tenant, Link, seeds, column):
                ends = (link.origin, link.target) if column == "origin" else (link.target, link.origin)
                self._hand_on(found, fused, *ends, HANDED_ON[link.relation] * link.weight)
        for seed, other, shared in self.store.sharing(self.tenant, seeds):
            self._hand_on(found, fused, seed, other, SHARED_REF * min(1.0, 0.5 + shared / 4))
        return found

    @staticmethod
    def _hand_on(found: Scores, fused: rank.Scores, seed: str, other: str, part: float) -> None:
        found[other] = max(found.get(other, 0.0), part * fused.get(seed, 0.0))

    def time(self, when: When, now: datetime) -> Scores:
        """What is of the asked days, or was told soon after: found by time alone, whatever its words."""
        if when.confidence < SURE or (when.start and when.start > now):
            return {}
        found = self._dated(when.start, when.end, self.depth)
        if when.start and when.end:
            later = when.end + min(timedelta(days=NEAR_DAYS), LAST - when.end)
            found += self._dated(when.end, later, self.depth - len(found))
        return {memory.id: closeness(memory, when) for memory in found}

    def _dated(self, start: datetime | None, end: datetime | None, most: int) -> list[Memory]:
        starts = [moment for moment in (start, self.filter.since) if moment]
        ends = [moment for moment in (end, self.filter.until) if moment]
        filter = self.filter.but(since=max(starts, default=None), until=min(ends, default=None))
        return list(self.store.dated(self.tenant, filter, most)) if most > 0 else []


def within(memory: Memory, when: When) -> bool:
    moment = memory.valid_from or memory.created_at
    return (when.start is None or when.start <= moment) and (when.end is None or moment < when.end)


def closeness(memory: Memory, when: When) -> float:
    """1 inside the range, falling to nothing some days outside; less where the words are less sure or only relative."""
    moment = memory.valid_from or memory.created_at
    outside = timedelta(0)
    if when.start and moment < when.start:
        outside = when.start - moment
    elif when.end and moment >= when.end:
        outside = moment - when.end
    named = 1.0 if _NAMED.search(when.words) else RELATIVE
    told = 1.0 if not outside or memory.kind == "summary" else AFTERWARDS
    return named * when.confidence * told * max(0.0, 1 - outside.total_seconds() / 86400 / NEAR_DAYS)
