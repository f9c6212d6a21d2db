"""Explaining: how an answer came about, for `--explain`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from .. import rank, times
from ..types import Explained
from .arms import Scores
from .select import Scored

if TYPE_CHECKING:
    from .read import Found


def explained(
    found: Found, dropped: list[tuple[str, str]], ranked: Scores, weighed: Sequence[Scored], read: Sequence[Scored]
) -> Explained:
    asked, when = found.asked, found.asked.when
    pool = [memory.id for memory in found.memories]
    stages = {
        "fused": {id: found.fused.get(id, 0.0) for id in pool}, "ranked": {id: ranked.get(id, 0.0) for id in pool},
        "weighed": {one.memory.id: one.score for one in weighed},
        "read": {one.memory.id: one.score for one in read},
    }  # fmt: skip
    return Explained(
        candidates=_rounded(found.arms),
        dropped=tuple(dropped),
        when=f"{when.words}: {_edge(when.start)} to {_edge(when.end)}, sure to {when.confidence:.0%}" if when else "",
        hints={name: tuple(values) for name, values in asked.hints.items()},
        variants=asked.variants,
        stages=_rounded(stages),
        words=None if found.words is None else round(found.words, 2),
    )


def _rounded(scores: Mapping[str, Scores]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Scores by name, the best first."""
    return {name: tuple((id, round(some[id], 4)) for id in rank.order(some)) for name, some in scores.items()}


def _edge(moment: datetime | None) -> str:
    return times.iso(moment) if moment else "…"
