"""Counters: how often kept answers were asked for, and the last questions with what decided each.

Counts are written together a little later: a crash may lose the last seconds of them, never an answer. The last few
hundred questions are held in the memory of the process.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..errors import StoreUnavailable
from ..store.answers import Answer, Count
from ..store.contract import Store
from ..types import EVERYWHERE, Noun, Scope
from .policy import Policy
from .types import Answered

DELAY = 2.0
MAX_ASKS = 500
log = logging.getLogger("recollect")


@dataclass(slots=True)
class _Noted:
    answer: Answer
    asked: int = 0
    hits: int = 0
    seq: int = 0


class Counters:
    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime], policy: Policy) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._policy = policy
        self._noted: dict[str, _Noted] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # who looks at the counts waits for those that are being written
        self._timer: threading.Timer | None = None

    def add(self, answer: Answer, seq: int) -> int:
        """Count that an answer was served; gives how often its question was asked by now."""
        with self._lock:
            noted = self._noted.setdefault(answer.id, _Noted(answer))
            noted.asked += 1
            noted.hits += 1
            noted.answer, noted.seq = answer, max(noted.seq, seq)
            if self._timer is None:
                self._timer = threading.Timer(DELAY, self.flush)
                self._timer.daemon = True
                self._timer.start()
            return answer.asked + noted.asked

    def flush(self) -> None:
        """Write what is noted. A store that cannot be written now keeps its answers; only the counts are lost."""
        with self._writing:
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
                noted, self._noted = self._noted, {}
            counts = [
                Count(
                    id, one.asked, one.hits, self._policy.tier(one.answer.asked + one.asked, kept=True),
                    one.answer.version, one.seq,
                )
                for id, one in noted.items()
            ]  # fmt: skip
            if counts:
                try:
                    self._store.asked(self._tenant, counts, self._now())
                except StoreUnavailable as error:
                    log.warning("how often answers were served was not written: %s", error)


@dataclass(frozen=True, slots=True)
class Ask(Noun):
    """One question as it was asked: `answer` is the id of the kept one that was served or made, `why` what decided."""

    at: datetime
    question: str
    cached: bool
    known: bool
    tier: str = ""
    confidence: float = 0.0
    why: str = ""
    answer: str = ""
    scope: Scope = EVERYWHERE


class RecentAsks:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[Ask] = deque(maxlen=MAX_ASKS)

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
