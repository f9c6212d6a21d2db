"""The last few hundred recalls: by whom, and to which question, for people who watch.

They are held in the memory of the process that answered, with secrets redacted, and are gone with it. With the setting
`access_log` they are also written into a file, which a purge searches like all others.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .. import text, times
from ..entrypoints import spool
from ..redact import redact
from ..types import EVERYWHERE, Noun, Scope

log = logging.getLogger("recollect.access")
KEPT = 300
FILE, OLDER, LARGE = "access.jsonl", "access-before.jsonl", 5_000_000  # bytes from which a new file is begun
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

    def __init__(self, now: Callable[[], datetime], home: Path | None = None) -> None:
        """With a `home`, each is also written into a file there."""
        self._now = now
        self._home = home
        self._lock = threading.Lock()
        self._kept: deque[RecentRecall] = deque(maxlen=KEPT)
        self._number = 0
        self.since = now()

    def note(
        self, actor: str, way: str, question: str, scope: Scope, memories: Sequence[str],
        scores: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        said, at = redact(text.shorten(" ".join(question.split()), MAX_QUESTION))[0], self._now()
        with self._lock:
            self._number += 1
            self._kept.append(RecentRecall(self._number, at, actor, way, said, scope, tuple(memories)))
        if self._home is not None:
            hits = [{"memory": id, "score": round((scores or {}).get(id, 0.0), 4)} for id in memories]
            record = {"at": times.iso(at), "actor": actor, "way": way, "query": said, "scope": scope.as_dict()}
            self._write(self._home, {**record, "hits": hits})

    def _write(self, home: Path, record: dict[str, object]) -> None:
        path = home / spool.FOLDER / FILE
        try:
            if path.exists() and path.stat().st_size > LARGE:
                os.replace(path, path.with_name(OLDER))
            spool.add(os.fspath(home), record, FILE, sure=False)
        except OSError as error:  # who asks is answered all the same
            log.warning("a recall is missing in %s: %s", path, error)

    @property
    def head(self) -> int:
        """The number of the newest look."""
        return self._number

    def after(self, number: int, limit: int = KEPT) -> list[RecentRecall]:
        """The looks since a number, oldest first; the newest where they are more than `limit`."""
        with self._lock:
            return [look for look in self._kept if look.number > number][-limit:]
