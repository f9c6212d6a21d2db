"""The last few hundred recalls: by whom, and to which question, for people who watch.

They are held in the memory of the process that answered, with secrets redacted, and are gone with it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from .. import text
from ..redact import redact
from ..types import EVERYWHERE, Noun, Scope

KEPT = 300
MAX_QUESTION = 300  # characters


@dataclass(frozen=True, slots=True)
class RecentRecall(Noun):
    """One time that memories were put before somebody: asked for (`recall`), or by a hook (`start`, `prompt`)."""

    number: int
    at: datetime
    actor: str
    way: str
    question: str = ""
    scope: Scope = EVERYWHERE
    memories: tuple[str, ...] = ()


class RecentRecalls:
    """The last looks of one tenant; the engines of all who work in it share them."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[RecentRecall] = deque(maxlen=KEPT)
        self._number = 0
        self.since = now()

    def note(self, actor: str, way: str, question: str, scope: Scope, memories: Sequence[str]) -> None:
        said = redact(text.shorten(" ".join(question.split()), MAX_QUESTION))[0]
        with self._lock:
            self._number += 1
            self._kept.append(RecentRecall(self._number, self._now(), actor, way, said, scope, tuple(memories)))

    @property
    def head(self) -> int:
        """The number of the newest look."""
        return self._number

    def after(self, number: int, limit: int = KEPT) -> list[RecentRecall]:
        """The looks since a number, oldest first; the newest where they are more than `limit`."""
        with self._lock:
            return [look for look in self._kept if look.number > number][-limit:]
