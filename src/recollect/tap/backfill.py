"""Backfill: read transcripts and exports, file by file, and follow them as they grow.

A turn is stored once, by the name its source gives it, so a run can be stopped and repeated at any time. `capture.json`
records how far each file was read, only to save time.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from .. import text
from ..agents.home import project_of
from ..capture import durable, turns
from ..capture.extract import Extractor
from ..capture.model import Load, Tier
from ..capture.transcripts import Said, Talk, Tally
from ..capture.windows import Turn, Window, in_reply, windows
from ..engine import Engine
from ..entrypoints.private import write_private
from ..errors import RecollectError, StoreUnavailable
from ..types import Captured, Message, Noun, Scope
from . import files

BATCH = 200  # messages a capture
MAX_SESSION = 150  # characters of a session's name that are kept
STATE = "capture.json"
PAGE = 1000
QUIET = 600.0  # seconds after which a session that is followed is summed up
TIERS: tuple[Tier, ...] = ("gate", "extract")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the files is to be taken, and where it belongs."""

    since: datetime | None = None
    sidechains: bool = False
    tools: bool = False
    dry_run: bool = False
    explain: bool = False  # of a dry run: what each statement is taken for, and why
    scope: Scope | None = None  # in place of the project of the folder a session took place in

    @property
    def whole(self) -> bool:
        """Whether all is taken that is by default, so that a file which is done need not be read again."""
        return not (self.since or self.sidechains or self.tools or self.dry_run)


@dataclass(slots=True)
class Report(Noun):
    """What a run read and what became of it."""

    files: int = 0
    unchanged: int = 0
    turns: int = 0
    known: int = 0
    older: int = 0
    tokens: int = 0
    windows: int = 0
    worth: int = 0
    found: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    echoes: int = 0
    malformed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    missed: tuple[str, ...] = ()  # what models were to do and did not
    cost: dict[str, Any] = field(default_factory=dict)  # of a dry run: what models would be paid at most
    explained: list[dict[str, Any]] = field(default_factory=list)
    dry_run: bool = False

    def add(self, captured: Captured) -> None:
        self.turns += captured.turns
        self.known += captured.known
        self.windows += captured.windows
        self.worth += captured.worth
        self.missed = tuple(dict.fromkeys((*self.missed, *captured.skipped)))
        for finding in captured.findings:
            self.found[finding.action] = self.found.get(finding.action, 0) + 1

    def count(self, tally: Tally) -> None:
        self.lines += tally.lines
        self.echoes += tally.echoes
        self.malformed += tally.malformed
        for into, counts in ((self.skipped, tally.skipped), (self.unknown, tally.unknown)):
            for why, number in counts.items():
                into[why] = into.get(why, 0) + number


class Backfill:
    """One engine's taps."""

    def __init__(self, engine: Engine, wanted: Wanted) -> None:
        self._engine = engine
        self._wanted = wanted
        self._state = _State(engine, lasting=wanted.whole)
        self._load = Load()
        self._open: dict[Path, tuple[Talk, dict[str, tuple[str, Scope]]]] = {}  # files with sessions to sum up
        self.report = Report(dry_run=wanted.dry_run)

    def run(self, paths: Sequence[Path], progress: Progress | None = None, quiet: float = 0) -> Report:
        """Take in what lies under the paths. What a file does not let us read is reported; the rest goes on.

        A session is summed up when its file has not changed for so many seconds.
        """
        found = files.find_files(paths)
        sizes = {path: path.stat().st_size for path in found}
        done, total = 0, max(1, sum(sizes.values()))
        for path in found:
            try:
                self._file(path)
                if path in self._open and time.time() - path.stat().st_mtime >= quiet:
                    self._sum_up(*self._open.pop(path))
            except StoreUnavailable:
                raise
            except (RecollectError, OSError) as error:
                self.report.failed[str(path)] = error.message if isinstance(error, RecollectError) else str(error)
            done += sizes[path]
            if progress:
                progress(done, total)
        if self._wanted.dry_run:
            self.report.cost = _cost(self._engine, self._load)
        return self.report

    def follow(self, paths: Sequence[Path], stop: Callable[[], bool], pause: float = 1.0) -> Report:
        """Take in what is written from now on, until told to stop; new files too."""
        while not stop():
            self.run(paths, quiet=QUIET)
            self.report.unchanged = 0
            time.sleep(pause)
        return self.report

    def _file(self, path: Path) -> None:
        stamp = _stamp(path)
        before, taken = self._state.of(path)
        since = self._wanted.since
        if before == stamp or (since and path.stat().st_mtime < since.timestamp()):
            self.report.unchanged += 1
            return
        self.report.files += 1
        talk = Talk(self._wanted.sidechains, self._wanted.tools, session=path.name.partition(".")[0][:MAX_SESSION])
        try:
            for last, batch in self._batches(path, talk, taken):
                self._take(batch)
                if not self._wanted.dry_run:
                    session = batch[0].session[:MAX_SESSION]
                    self._open.setdefault(path, (talk, {}))[1][session] = _origin(batch[0]), self._scope(batch[0].cwd)
                self._state.put(path, [], last)
            self._state.put(path, stamp, talk.tally.lines)
        finally:
            self.report.count(talk.tally)

    def _batches(self, path: Path, talk: Talk, taken: int) -> Iterator[tuple[int, list[Said]]]:
        """What is to be taken of a file, in order, each batch of one session; and after which line it ends."""
        batch: list[Said] = []
        last, since = taken, self._wanted.since
        try:
            for number, one in files.said(path, talk):
                if number <= taken:
                    continue
                if since and one.moment and one.moment < since:
                    self.report.older += 1
                    continue
                if batch and (len(batch) >= BATCH or _place(one) != _place(batch[0])):
                    yield last, batch
                    batch = []
                batch.append(one)
                last = number
        except (RecollectError, OSError):  # broken off in the middle: what came before was said all the same
            if batch:
                yield last, batch
            raise
        if batch:
            yield last, batch

    def _take(self, batch: Sequence[Said]) -> None:
        self.report.tokens += sum(text.tokens(one.text) for one in batch)
        if self._wanted.dry_run:
            self.report.turns += len(batch)
            said = windows(list(in_reply(Turn(one.speaker, one.text) for one in batch)))
            self._load.add(said)
            if self._wanted.explain:
                self.report.explained += explain(said)
            return
        first = batch[0]
        origin, session = _origin(first), first.session[:MAX_SESSION]
        messages = [Message(one.speaker, one.text, one.id, one.moment) for one in batch]
        captured = self._engine.capture(messages, origin=origin, session=session, scope=self._scope(first.cwd))
        self.report.add(captured)
        if captured.known:  # stored, but perhaps by a run that was stopped before it had looked at them
            ids = [id for message in messages for id in turns.names(origin, session, message)]
            self.report.add(self._engine.extract(ids))

    def _sum_up(self, talk: Talk, sessions: dict[str, tuple[str, Scope]]) -> None:
        for session, (origin, scope) in sessions.items():
            uses = [one for one in talk.used if one.session[:MAX_SESSION] in ("", session)]
            self._engine.summaries.write(origin, session, scope, uses)

    def _scope(self, cwd: str) -> Scope:
        settings = self._engine.settings
        if self._wanted.scope is not None:
            return self._wanted.scope
        return Scope(user=settings.user, project=settings.project or project_of(cwd))


def explain(said: Sequence[Window]) -> Iterator[dict[str, Any]]:
    """What each statement is taken for, how probable it is that it is worth keeping, and what forbids it."""
    extractor = Extractor(durable.Durability(), explain=True)
    for one in (one for window in said for one in extractor.extract(window)):
        kept = "" if one.veto else "correction" if one.rule == "correction" else one.kind
        yield {"said": one.quote, "kept_as": kept, "content": one.content, "why": one.why or one.rule, "veto": one.veto}


def reprocess(engine: Engine, wanted: Wanted, progress: Progress | None = None) -> Report:
    """Look again at every turn that is stored: rules and models get better, and what was said stays."""
    report = Report(dry_run=wanted.dry_run)
    inside = wanted.scope or Scope()
    sessions: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    load = Load()
    cursor: str | None = None
    while True:
        page = engine.list(scope=inside, kinds=("turn",), since=wanted.since, limit=PAGE, cursor=cursor)
        for turn in page.memories:
            sessions.setdefault(turn.scope.places(), []).append((turn.position or 0, turn.source))
            if wanted.dry_run:
                load.add(windows([Turn(turn.speaker, turn.content)]))
        if (cursor := page.cursor) is None:
            break
    done, total = 0, sum(map(len, sessions.values()))
    for _, said in sorted(sessions.items()):
        report.add(engine.extract([id for _, id in sorted(said)], dry_run=wanted.dry_run))
        done += len(said)
        if progress:
            progress(done, total)
    report.known = total
    if wanted.dry_run:
        report.cost = _cost(engine, load)
    return report


def _cost(engine: Engine, load: Load) -> dict[str, Any]:
    """What the models of the settings would be paid at most, and which they are."""
    tiers: dict[str, dict[str, Any]] = {tier: engine.spending.estimate(tier, *load.of(tier)) for tier in TIERS}
    return {**tiers, "dollars": sum(told["dollars"] for told in tiers.values())}


class _State:
    """How far each file has been taken into this store; losing it costs time and nothing else.

    Only a run that takes everything leaves it behind: what another left out is still to be taken.
    """

    def __init__(self, engine: Engine, *, lasting: bool) -> None:
        self._path = engine.settings.home / STATE if lasting else None
        self._store = hashlib.sha256(f"{engine.settings.place}\0{engine.settings.tenant}".encode()).hexdigest()[:16]
        self._known: dict[str, Any] = self._read()

    def of(self, path: Path) -> tuple[list[int], int]:
        """The stamp of a file that is done, or nothing; and how many of its lines have been taken."""
        known = self._known.get(self._key(path))
        if not isinstance(known, list) or len(known) != 2 or not isinstance(known[1], int):
            return [], 0
        stamp, lines = known
        shrunk = stamp and path.stat().st_size < stamp[0]  # written anew
        return ([], 0) if shrunk else (stamp, lines)

    def put(self, path: Path, stamp: list[int], lines: int) -> None:
        key = self._key(path)
        self._known[key] = [stamp, lines]
        if self._path is None:
            return
        known = {**self._read(), key: [stamp, lines]}  # another run may have written meanwhile
        write_private(self._path, json.dumps(known))

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path.read_text("utf-8")) if self._path else {}
        except (FileNotFoundError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _key(self, path: Path) -> str:
        return hashlib.sha256(f"{self._store}\0{path.resolve()}".encode("utf-8", "replace")).hexdigest()[:32]


def _stamp(path: Path) -> list[int]:
    """What changes when a file does."""
    now = path.stat()
    return [now.st_size, now.st_mtime_ns]


def _origin(one: Said) -> str:
    return one.host or "chat"


def _place(one: Said) -> tuple[str, str, str]:
    return one.host, one.session, one.cwd
