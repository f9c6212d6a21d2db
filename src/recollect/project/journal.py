"""Followers of the journal: files beside the store that are updated as it changes.

A follower stores its position in the home folder and starts again if the database is new. The daily log leaves out
turns and memories that came from files, so that a log in a watched folder does not feed itself.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from .. import ids, text, times
from ..engine import Engine
from ..entrypoints import system
from ..entrypoints.private import make_folder, write_private
from ..regular_files import read_json
from ..types import Entry, Scope, Source

FOLDER = "follow"
BATCH = 500
WIDTH, ORIGIN = 200, 60  # characters of a line of the daily log, and of the source in it
READ = ("file", "document", "commit", "import", "url")  # kinds of sources that are read and not said
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")


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
        with open(system.open_private(self._path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT), "w") as lock:
            system.lock(lock.fileno())
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
        known = read_json(self._path)
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
        write_private(self._path, json.dumps(told))


def _mark(entry: Entry) -> str:
    """What makes a row this row: a purge may blank its content, but neither when it was nor what it was about."""
    return f"{times.iso(entry.at)} {entry.target}"


class DailyLog(Follower):
    """Writes the lines of the days; it begins with what happens from now on."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        super().__init__(engine, "daily")
        self._folder = folder

    def take(self, entries: Sequence[Entry]) -> int:
        fresh = [entry for entry in entries if entry.noun == "memory" and entry.operation == "create" and entry.after]
        named = [str((entry.after or {}).get("source", "")) for entry in fresh]
        sources = {source.id: source for source in self._engine.sources(named)}
        written = 0
        for entry, source in zip(fresh, named, strict=True):
            told = entry.after or {}
            own = self.own(Scope.from_dict(told.get("scope") or {}))
            found = sources.get(source)
            if own and (found is None or found.kind not in READ) and told.get("kind") != "turn":
                self._append(entry, _origin(found) or entry.actor)
                written += 1
        for entry in entries:
            if entry.operation == "purge" and entry.noun == "memory":
                self._erase(entry.target)
        return written

    def _append(self, entry: Entry, origin: str) -> None:
        day = entry.at.astimezone(UTC)
        path = self._folder / f"{day:%Y-%m-%d}.md"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = not path.exists()
        with open(system.open_private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", encoding="utf-8") as file:
            file.write((f"# {day:%Y-%m-%d}\n\n" if fresh else "") + daily_line(entry, origin) + "\n")

    def _erase(self, memory: str) -> None:
        """Take the line of a purged memory out, in whichever day it stands."""
        if not self._folder.is_dir():
            return
        for path in sorted(self._folder.iterdir()):
            if _DAY.fullmatch(path.name) and (mark := _line_mark(memory)) in (
                told := path.read_text("utf-8", "replace")
            ):
                kept = [line for line in told.splitlines(True) if not line.rstrip().endswith(mark)]
                write_private(path, "".join(kept))


def _origin(source: Source | None) -> str:
    """Where something was said, in a few words."""
    if source is None:
        return ""
    told = source.title or source.uri or f"{source.kind} {source.session}".strip()
    return text.shorten(" ".join(told.split()), ORIGIN)


def daily_line(entry: Entry, origin: str) -> str:
    """One new memory in a line, with where it comes from."""
    told = entry.after or {}
    head = f"- {entry.at.astimezone(UTC):%H:%M:%S} {told.get('kind', 'fact')} · "
    tail = f" · {origin} {_line_mark(entry.target)}"
    said = str(told.get("title") or "")
    said = f"{said}: {told.get('content', '')}" if said else str(told.get("content", ""))
    return head + text.shorten(said, WIDTH - len(head) - len(tail)) + tail


def _line_mark(memory: str) -> str:
    return f"({ids.short(memory)})"
