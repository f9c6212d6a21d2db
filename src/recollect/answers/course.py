"""The course of asking: the last questions, whether each was answered from the cache, and why.

How often an answer was served is counted in the store; what decided it each time is only of interest while it is fresh.
The last few hundred are held in the memory of the process, and are gone with it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from ..types import EVERYWHERE, Noun, Scope
from .answered import Answered

KEPT = 500


@dataclass(frozen=True, slots=True)
class Ask(Noun):
    """One question as it was asked: `answer` is the id of the kept one that was served or made, `why` what decided."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("at",))

    at: datetime
    question: str
    cached: bool
    known: bool
    tier: str = ""
    confidence: float = 0.0
    why: str = ""
    answer: str = ""
    scope: Scope = EVERYWHERE


class Course:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[Ask] = deque(maxlen=KEPT)

    def note(self, scope: Scope, done: Answered) -> Answered:
        ask = Ask(
            self._now(), done.question, done.cached, done.known, done.cache_tier, done.confidence, done.why, done.id,
            scope,
        )  # fmt: skip
        with self._lock:
            self._kept.append(ask)
        return done

    def last(self) -> list[Ask]:
        """The last questions, oldest first."""
        with self._lock:
            return list(self._kept)
