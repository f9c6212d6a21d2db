"""Policy: which answers are kept, for how long, and which go first. Pure: every number is a setting.

An answer is kept when its question is asked often, or again and it is slow to compute, or when it is sure from the
start. The tier follows how often it was asked, and says which goes first when there is no room. What is pinned stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from .. import text
from ..checks import one_of
from ..settings import Settings
from ..store.answers import TIERS, Answer

QUESTIONS = 10  # questions that are counted for each answer that may be kept
SLACK = 0.9  # how full it is after something was let go, so that not every new answer lets another go
LIKED, DISLIKED = 0.25, 0.5  # how far a word of praise or blame moves the confidence, of the way to 1 or 0


class Risk(NamedTuple):
    """How often an answer may be that of another question: one that is served, and one that is only offered."""

    serve: float
    offer: float


RISKS = {"strict": Risk(0.005, 0.01), "normal": Risk(0.01, 0.05), "loose": Risk(0.05, 0.1)}


@dataclass(frozen=True, slots=True)
class Policy:
    cache_after: int = 3
    expensive_ms: int = 500
    expensive_after: int = 2
    sure: float = 0.9
    warm: int = 2
    hot: int = 4
    core: int = 10
    most: int = 10_000
    hours: tuple[float, float, float] = (24.0, 1.0, 720.0)
    retire: int = 2
    forget_days: int = 90
    risk: str = "normal"
    on: bool = True

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        return cls(
            settings.answers_after, settings.answers_expensive_ms, settings.answers_expensive_after,
            settings.answers_sure, settings.answers_warm, settings.answers_hot, settings.answers_core,
            settings.answers_most,
            (settings.answers_hours, settings.answers_hours_timely, settings.answers_hours_given),
            settings.answers_retire, settings.answers_forget_days,
            one_of(settings.answers_risk, tuple(RISKS), "answers_risk"),
            one_of(settings.answers, ("on", "off"), "answers") == "on",
        )  # fmt: skip

    def tier(self, asked: int, kept: bool) -> str:
        """
        >>> [Policy().tier(asked, kept=True) for asked in (1, 2, 4, 10)], Policy().tier(1, kept=False)
        (['warm', 'warm', 'hot', 'core'], 'cold')
        """
        reached = sum(asked >= least for least in (self.warm, self.hot, self.core))
        return TIERS[max(reached, 1) if kept else reached]

    def worth(self, asked: int, compute_ms: float, confidence: float) -> str:
        """Why an answer is kept, in words; nothing where it is not.

        >>> Policy().worth(3, 10, 0.5), Policy().worth(2, 900, 0.5), Policy().worth(2, 10, 0.5)
        ('asked 3 times', 'asked 2 times and took 900 ms', '')
        """
        if asked >= self.cache_after:
            return f"asked {asked} times"
        if asked >= self.expensive_after and compute_ms > self.expensive_ms:
            return f"asked {asked} times and took {compute_ms:.0f} ms"
        return f"sure to {confidence:.2f}" if confidence > self.sure else ""

    def ends(self, kind: str, now: datetime, *others: datetime | None) -> datetime:
        """When an answer of a kind ends by itself: after its time, or when something it was built from does."""
        computed, timely, given = self.hours
        own = now + timedelta(hours={"computed": computed, "timely": timely}.get(kind, given))
        if kind == "timely":  # "yesterday" is another day tomorrow
            today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            own = min(own, today + timedelta(days=1))
        return min([own, *(other for other in others if other is not None)])

    def rated(self, answer: Answer, helpful: bool, said: str | None) -> Answer:
        """The question after somebody said whether what was `said` helped; turned down often enough, it is retired."""
        before = 0.5 if answer.confidence is None else answer.confidence
        if helpful:
            return replace(answer, liked=answer.liked + 1, confidence=round(before + LIKED * (1 - before), 4))
        worse = replace(answer, disliked=answer.disliked + 1, confidence=round(before * (1 - DISLIKED), 4))
        if worse.disliked < self.retire or said is None:
            return worse
        return replace(without_answer(worse), disliked=0, pinned=False, retired=text.key(said))

    def doubt(self, confidence: float, before: Answer | None) -> float:
        """How sure an answer is that is computed anew, where those before it were not kept and turned down."""
        times = before.disliked if before is not None and before.answer is None else 0
        return round(confidence * (1 - DISLIKED) ** times, 4)

    def too_many(self, questions: int, answers: int, is_short_of_memory: bool) -> tuple[int, int]:
        """How many questions without an answer, and how many answers, have to go.

        >>> Policy(most=100).too_many(120, 101, False), Policy(most=100).too_many(120, 50, True)
        ((0, 11), (0, 5))
        """
        over = answers - int(self.most * SLACK) if answers > self.most else answers // 10 if is_short_of_memory else 0
        bare = questions - answers
        limit = QUESTIONS * self.most
        return (bare - int(limit * SLACK) if bare > limit else 0), over


def without_answer(answer: Answer) -> Answer:
    """The question alone, as it is counted while no answer is kept for it."""
    return replace(
        answer, answer=None, sources=(), depends=(), model="", stale="", watched=False, expires_at=None,
        tier="cold" if answer.tier == "cold" or answer.asked < 2 else answer.tier,
    )  # fmt: skip
