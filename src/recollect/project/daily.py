"""The daily log: a markdown file a day, with one line for each new memory, for people who like to read along.

    # 2026-03-02

    - 09:14:05 decision · We deploy on Thursdays because support is fully staffed then. (9r0c6d1e)

It is written from the journal, so that it does not matter who stored something. A line is at most 200 characters. What
came from a file is never logged: where the log lies in a folder that is watched, it is itself such a file, and logging
what was read from it would go on for ever. Nor are turns, which a transcript has already. A purge takes its line out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from .. import ids, text
from ..engine import Engine
from ..types import Entry, Scope
from .journal import Follower

WIDTH = 200
READ = ("file", "document", "commit", "import", "url")  # kinds of sources that are read and not said
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")


class DailyLog(Follower):
    """Writes the lines of the days; it begins with what happens from now on."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        super().__init__(engine, "daily")
        self._folder = folder

    def take(self, entries: Sequence[Entry]) -> int:
        fresh = [entry for entry in entries if entry.noun == "memory" and entry.operation == "create" and entry.after]
        named = [str((entry.after or {}).get("source", "")) for entry in fresh]
        read = {source.id for source in self._engine.sources(named) if source.kind in READ}
        written = 0
        for entry, source in zip(fresh, named, strict=True):
            told = entry.after or {}
            own = self.own(Scope.from_dict(told.get("scope") or {}))
            if own and source not in read and told.get("kind") != "turn":
                self._append(entry)
                written += 1
        for entry in entries:
            if entry.operation == "purge" and entry.noun == "memory":
                self._erase(entry.target)
        return written

    def _append(self, entry: Entry) -> None:
        day = entry.at.astimezone(UTC)
        path = self._folder / f"{day:%Y-%m-%d}.md"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = not path.exists()
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
            file.write((f"# {day:%Y-%m-%d}\n\n" if fresh else "") + line(entry) + "\n")

    def _erase(self, memory: str) -> None:
        """Take the line of a purged memory out, in whichever day it stands."""
        if not self._folder.is_dir():
            return
        for path in sorted(self._folder.iterdir()):
            if _DAY.fullmatch(path.name) and (mark := _mark(memory)) in (told := path.read_text("utf-8", "replace")):
                part = path.with_suffix(".part")
                part.touch(mode=0o600)
                kept = [line for line in told.splitlines(True) if not line.rstrip().endswith(mark)]
                part.write_text("".join(kept), "utf-8")
                os.replace(part, path)


def line(entry: Entry) -> str:
    """One new memory in a line."""
    told = entry.after or {}
    head = f"- {entry.at.astimezone(UTC):%H:%M:%S} {told.get('kind', 'fact')} · "
    tail = f" {_mark(entry.target)}"
    said = str(told.get("title") or "")
    said = f"{said}: {told.get('content', '')}" if said else str(told.get("content", ""))
    return head + text.shorten(said, WIDTH - len(head) - len(tail)) + tail


def _mark(memory: str) -> str:
    return f"({ids.short(memory)})"
