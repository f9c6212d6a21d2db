"""Followers of the journal: files that are written beside the store, as things happen in it.

A follower reads what changed since it last looked and remembers how far it came, in a small file in the home folder.
Whatever writes to the store, in whichever process, is followed; and what happened while nobody followed is caught up
with. A store that is another than the one before, because the database was made anew, is followed from its beginning.
"""

from __future__ import annotations

import fcntl
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import times
from ..engine import Engine
from ..entrypoints.private import make_folder
from ..types import Entry, Scope

FOLDER = "follow"
BATCH = 500


class Follower(ABC):
    """`take` is what to do with some rows of the journal; gives how many things were written."""

    def __init__(self, engine: Engine, name: str, *, from_the_start: bool = False) -> None:
        self._engine = engine
        self._path = engine.settings.home / FOLDER / f"{name}.json"
        self._from_the_start = from_the_start

    @abstractmethod
    def take(self, entries: Sequence[Entry]) -> int: ...

    def run(self) -> int:
        """Follow to the newest change; gives how many things were written. One process at a time does."""
        if self._from_the_start and not self._engine.head:
            return 0  # nothing has happened yet, and nothing is left behind
        make_folder(self._path.parent)
        with open(os.open(self._path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            written, after = 0, self._cursor()
            while entries := self._engine.changes(after=after, limit=BATCH):
                written += self.take(entries)
                after = self._come_to(entries[-1])
        return written

    def own(self, scope: Scope) -> bool:
        """Whether what holds in a scope is for the person whose files these are: a store may be a team's."""
        user = self._engine.settings.user
        return not user or scope.user in ("", user)

    def _cursor(self) -> int:
        """How far it came, if this is the store it came so far in."""
        known = read_note(self._path)
        seq = known.get("seq")
        if isinstance(seq, int) and seq > 0:
            found = self._engine.changes(after=seq - 1, limit=1)
            return seq if found and _mark(found[0]) == known.get("mark") else 0
        if self._from_the_start or known:
            return 0
        head = self._engine.head
        if newest := self._engine.changes(after=head - 1, limit=1) if head else ():
            self._come_to(newest[-1])
        else:
            self._note({"seq": 0, "mark": ""})
        return head

    def _come_to(self, entry: Entry) -> int:
        self._note({"seq": entry.seq, "mark": _mark(entry)})
        return entry.seq

    def _note(self, told: dict[str, object]) -> None:
        write_note(self._path, told)


def _mark(entry: Entry) -> str:
    """What makes a row this row: a purge may blank its content, but neither when it was nor what it was about."""
    return f"{times.iso(entry.at)} {entry.target}"


def write_note(path: Path, told: Mapping[str, object]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.touch(mode=0o600)
    part.write_text(json.dumps(told), "utf-8")
    os.replace(part, path)


def read_note(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # none yet, or cut off by a full disk: what is followed twice changes nothing
        return {}
    return found if isinstance(found, dict) else {}
