"""The tally: how often kept answers were asked for, written together a little later.

A hit must not wait for the disk. What is noted is added to what the store has whenever somebody looks at the counts; a
crash may lose the last seconds of it, never an answer.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..errors import StoreUnavailable
from ..store.answers import Answer, Count
from ..store.contract import Store
from .policy import Policy

DELAY = 2.0
log = logging.getLogger("recollect")


@dataclass(slots=True)
class _Noted:
    answer: Answer
    asked: int = 0
    hits: int = 0
    seq: int = 0


class Tally:
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
