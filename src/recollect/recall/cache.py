"""A cache of answers to questions: the same question, in the same place, of the same store.

An entry holds while the tenant's journal has not moved, so a change by any process ends it at the next look, and for
a minute at most, because validity, expiry and age go on without a change. Counters of use do not touch the journal.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..types import Noun, Recall

SIZE = 512
LIFE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class CacheStats(Noun):
    size: int
    hits: int
    misses: int


class RecallCache:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[int, datetime, Recall]] = OrderedDict()
        self._hits = self._misses = 0

    def get(self, key: Hashable, head: int) -> Recall | None:
        with self._lock:
            seq, made, found = self._kept.get(key, (-1, None, None))
            if found is None or made is None or seq != head or self._now() - made > LIFE:
                self._kept.pop(key, None)
                self._misses += 1
                return None
            self._kept.move_to_end(key)
            self._hits += 1
            return _copy(found)

    def put(self, key: Hashable, head: int, found: Recall) -> None:
        with self._lock:
            self._kept[key] = head, self._now(), _copy(found)
            self._kept.move_to_end(key)
            while len(self._kept) > SIZE:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """After a purge nothing of the text may stay, not even here."""
        with self._lock:
            self._kept.clear()

    @property
    def stats(self) -> CacheStats:
        return CacheStats(len(self._kept), self._hits, self._misses)


def _copy(found: Recall) -> Recall:
    """The same answer with dictionaries of its own: what a caller does to it must not reach the next one."""
    hits = tuple(replace(hit, arms=dict(hit.arms)) for hit in found.hits)
    return replace(found, hits=hits, timings=dict(found.timings))
