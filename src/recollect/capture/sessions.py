"""Sessions: the little that must be known of an assistant's session from one of its events to the next.

What was shown, so that nothing is shown twice; the last things the person said, because a question is understood by
what came before it; how many turns are kept, under which names, and how far the transcript is read. It lies in a small
file a session in the home folder, so that a daemon that is restarted goes on where the one before it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from ..entrypoints.private import make_folder

FOLDER = "sessions"
KEPT_DAYS = 30
MAX_SHOWN, MAX_SAID, MAX_KEPT = 1000, 3, 100
_LOCKS = tuple(threading.Lock() for _ in range(64))


@dataclass(slots=True)
class Session:
    shown: list[str] = field(default_factory=list)  # ids of memories, oldest first
    said: list[str] = field(default_factory=list)  # by the person, oldest first
    kept: list[str] = field(default_factory=list)  # the names of what was kept last, oldest first
    turns: int = 0
    offset: int = 0
    started: float = 0.0  # when a context was last given, seconds since 1970

    def heard(self, prompt: str) -> None:
        if prompt and (not self.said or self.said[-1] != prompt):
            self.said = [*self.said, prompt][-MAX_SAID:]

    def keeps(self, names: Iterable[str]) -> None:
        self.kept = [*dict.fromkeys((*self.kept, *names))][-MAX_KEPT:]

    def showed(self, ids: tuple[str, ...]) -> None:
        self.shown = [*dict.fromkeys((*self.shown, *ids))][-MAX_SHOWN:]


@contextmanager
def session(home: Path, *name: str) -> Iterator[Session]:
    """A session by its name, for one event at a time; what is changed is kept when the block ends well."""
    path = _path(home, name)
    with _LOCKS[int(path.name[:8], 16) % len(_LOCKS)]:
        found = _read(path)
        before = asdict(found)
        yield found
        if asdict(found) != before:
            _write(path, found)


def drop(home: Path, *name: str) -> None:
    """Forget a session."""
    _path(home, name).unlink(missing_ok=True)


def _path(home: Path, name: tuple[str, ...]) -> Path:
    digest = hashlib.sha256("\0".join(name).encode("utf-8", "replace")).hexdigest()[:32]
    return home / FOLDER / f"{digest}.json"


def _read(path: Path) -> Session:
    try:
        data = json.loads(path.read_text("utf-8"))
        return Session(**{f.name: data[f.name] for f in fields(Session) if f.name in data})
    except (FileNotFoundError, ValueError, TypeError, AttributeError):  # new, or damaged: begin anew
        return Session()


def _write(path: Path, session: Session) -> None:
    new = not path.parent.exists()
    make_folder(path.parent)
    number, name = tempfile.mkstemp(dir=path.parent, suffix=".part")  # which is 0600
    with os.fdopen(number, "w", encoding="utf-8") as file:
        json.dump(asdict(session), file)
    os.replace(name, path)
    if not new and session.turns <= 1:  # a session that has just begun: a good moment to let old ones go
        _forget_old(path.parent)


def _forget_old(folder: Path) -> None:
    oldest = time.time() - KEPT_DAYS * 86400
    for path in folder.iterdir():
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
