"""News: what changed in the journal since an answer was computed, as far as an answer can be touched by it.

An answer is a function of what recall found for its question. So it can only change when a memory did: one that it was
built from, or one that recall would find now. The journal names every such memory; here its rows are boiled down to
that, once for all answers that are looked at.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..store.contract import Store
from ..types import Entry, Scope

MOST = 5000  # changes that are looked through for one answer; after more, it is computed again
HELD = 50_000  # changes that are held in memory
PAGE = 1000
HARMLESS = {"observed"}  # fields of a memory that no answer is made of


@dataclass(frozen=True, slots=True)
class Event:
    """A memory that changed. `said` is whether what it says may have; else only how it is found has."""

    seq: int
    memory: str
    said: bool
    operation: str
    scope: tuple[str, str] | None = None  # user and project, where the row tells them

    def seen_from(self, place: tuple[str, str]) -> bool:
        if self.scope is None:
            return True
        return all(not wanted or own in ("", wanted) for own, wanted in zip(self.scope, place, strict=True))


def events(entry: Entry) -> Iterable[Event]:
    """What a journal row may mean for an answer."""
    after, before = entry.after or {}, entry.before or {}
    if entry.noun == "memory":
        if entry.after is None or not after.keys() <= HARMLESS:
            told = after.get("scope", {}) if entry.before is None and entry.after is not None else None
            scope = None if told is None else (str(told.get("user", "")), str(told.get("project", "")))
            yield Event(entry.seq, entry.target, True, entry.operation, scope)
    elif entry.noun == "embedding":
        yield Event(entry.seq, entry.target, False, entry.operation)
    elif entry.noun == "link":
        link = {**before, **after}
        for end in ("origin", "target"):
            # What contradicts or supersedes a memory says that it does not hold.
            said = link.get("relation") == "contradicts" or (link.get("relation") == "supersedes" and end == "target")
            if link.get(end):
                yield Event(entry.seq, str(link[end]), said, str(link.get("relation", entry.operation)))


class News:
    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._from = self._to = 0

    def since(self, seq: int, head: int) -> list[Event] | None:
        """The events after a journal row, or None where there are too many to look through."""
        if head - seq > MOST:
            return None
        with self._lock:
            if not self._from <= seq <= self._to:
                self._events, self._from, self._to = [], seq, seq
            while self._to < head:
                rows = self._store.journal(self._tenant, self._to, PAGE)
                if not rows:
                    break
                self._events += [event for row in rows for event in events(row)]
                self._to = rows[-1].seq
            if len(self._events) > HELD:
                self._from = self._events[-HELD // 2].seq
                self._events = self._events[-HELD // 2 + 1 :]
            start = bisect.bisect_right(self._events, seq, key=lambda event: event.seq)
            return self._events[start:]


def ended(events: Iterable[Event], built_from: Collection[str]) -> str:
    """Why what an answer was built from no longer says the same; nothing where it does."""
    for event in events:
        if event.said and event.memory in built_from:
            return f"memory {event.memory} changed ({event.operation})"
    return ""


def others(events: Iterable[Event], built_from: Collection[str], place: Scope) -> set[str]:
    """The memories that are new or another, besides those it was built from, and may be seen from a place."""
    own = place.user, place.project
    return {event.memory for event in events if event.memory not in built_from and event.seen_from(own)}
