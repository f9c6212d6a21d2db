"""The watcher: ingests the markdown files of some folders as they change.

A file is read half a second after its last change. Where the system reports no changes, folders are scanned every
second. Files over 100 KB are skipped and reported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic

from ..engine import Engine
from ..errors import BadInput, RecollectError
from ..settings import Settings
from ..types import Noun
from .git import checked_out
from .ingest import ingest
from .walk import JUNK

DEBOUNCE = 0.5  # seconds that a file must have been quiet
EVERY = 1.0  # seconds between two looks where the system says nothing
STEP = 100  # milliseconds that changes are collected before they are told
MAX_FILE = 100 * 1024  # bytes
SUFFIXES = (".md", ".markdown")
log = logging.getLogger("recollect.watch")


@dataclass(slots=True)
class WatchReport(Noun):
    """What a watcher did so far."""

    files: int = 0
    unchanged: int = 0
    created: int = 0
    retired: int = 0
    skipped: list[str] = field(default_factory=list)


def watched_folders(settings: Settings) -> list[Path]:
    """The folders of the setting `watch`."""
    named = [part.strip() for part in settings.watch.split(os.pathsep)]
    return [Path(part).expanduser().absolute() for part in named if part]


class Watcher:
    """Follows folders until it is told to stop. `said` hears what a person should know."""

    def __init__(
        self, engine: Engine, folders: Sequence[Path], *, project: str | None = None, poll: bool = False,
        said: Callable[[str], None] = log.info,
    ) -> None:  # fmt: skip
        for folder in folders:
            if not folder.is_dir():
                raise BadInput(f"{folder} is no folder.", fix="Name folders that are there.")
        self._engine = engine
        self._folders = [Path(os.path.realpath(folder)) for folder in folders]
        self._project = project
        self._poll = poll
        self._said = said
        self._large: set[Path] = set()
        self._waiting: dict[Path, float] = {}  # when each file that changed was last seen to
        self.done = WatchReport()

    def scan(self) -> WatchReport:
        """Look at everything that is there, and at what is gone since the last time."""
        for folder in self._folders:
            for path in self._files(folder):
                self._fits(path)
            self._take(folder, self._wanted)
        return self.done

    def run(self, stopping: Event) -> WatchReport:
        """Look at everything, then follow what changes; comes back when told to stop."""
        scanned = False
        for changed in self._changes(stopping):
            if not scanned:  # when changes are already being told, so that none falls in between
                self.scan()
                scanned = True
            now = monotonic()
            self._waiting.update(dict.fromkeys(changed, now))
            self._settle([path for path, since in self._waiting.items() if now - since >= DEBOUNCE])
        self._settle(list(self._waiting))  # what somebody saved a moment ago is not to be lost
        return self.done

    def _settle(self, paths: Sequence[Path]) -> None:
        """Take in files that have been quiet."""
        for path in paths:
            del self._waiting[path]
        quiet = {path for path in paths if self._fits(path)}
        for folder in self._folders:
            inside = {path for path in quiet if path.is_relative_to(folder)}
            if inside:
                self._take(folder, self._wanted if folder in inside else inside.__contains__)
                quiet -= inside

    def _changes(self, stopping: Event) -> Iterator[set[Path]]:
        """The files that changed since the last time, several times a second, until told to stop."""
        if not self._poll:
            try:
                yield from self._told(stopping)
            except (ImportError, OSError, RuntimeError) as error:
                self._said(f"the system does not tell of changes ({error}); looking every {EVERY:g} s instead")
        if not stopping.is_set():
            yield from self._seen(stopping)

    def _told(self, stopping: Event) -> Iterator[set[Path]]:
        from watchfiles import watch

        for changes in watch(
            *self._folders, watch_filter=lambda _, path: self._bears(Path(path)), step=STEP, debounce=2 * STEP,
            stop_event=stopping, rust_timeout=STEP, yield_on_timeout=True, raise_interrupt=False,
            ignore_permission_denied=True,
        ):  # fmt: skip
            paths = [Path(path) for _, path in changes]
            # Of a folder that was moved, nobody tells what was in it: all of what it was in is looked at again.
            yield {path if self._wanted(path) else self._folder(path) for path in paths}

    def _seen(self, stopping: Event) -> Iterator[set[Path]]:
        before = self._stamps()
        yield set()
        looked = monotonic()
        while not stopping.wait(STEP / 1000):
            changed: set[Path] = set()
            if monotonic() - looked >= EVERY:
                now = self._stamps()
                changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
                before, looked = now, monotonic()
            yield changed

    def _stamps(self) -> dict[Path, tuple[int, int]]:
        found: dict[Path, tuple[int, int]] = {}
        for folder in self._folders:
            for path in self._files(folder):
                try:
                    seen = path.stat()
                except OSError:  # gone in between
                    continue
                found[path] = seen.st_mtime_ns, seen.st_size
        return found

    def _files(self, folder: Path) -> Iterable[Path]:
        for place, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if name not in JUNK)
            for name in sorted(names):
                if name.lower().endswith(SUFFIXES):
                    yield Path(place, name)

    def _wanted(self, path: Path) -> bool:
        return path.name.lower().endswith(SUFFIXES) and JUNK.isdisjoint(path.parts)

    def _bears(self, path: Path) -> bool:
        """Whether a change of a path may be one of a file that is wanted: it is one, or it is or was a folder."""
        return self._wanted(path) or (JUNK.isdisjoint(path.parts) and (path.is_dir() or not path.suffix))

    def _folder(self, path: Path) -> Path:
        return next((folder for folder in self._folders if path.is_relative_to(folder)), self._folders[0])

    def _fits(self, path: Path) -> bool:
        """Whether a file is small enough; one that is gone is. What is too large is said once."""
        try:
            large = path.stat().st_size > MAX_FILE
        except OSError:
            return True
        if large and path not in self._large:
            self._skip(f"{path} is larger than {MAX_FILE // 1024} KB")
            self._large.add(path)
        elif not large:
            self._large.discard(path)
        return not large

    def _take(self, folder: Path, only: Callable[[Path], bool]) -> None:
        try:
            report = ingest(
                self._engine, folder, project=self._owner(folder),
                only=lambda path: only(path) and path not in self._large,
            )  # fmt: skip
            if report.created:
                self._engine.embed(change="never")
        except RecollectError as error:  # the store is locked, or git cannot be asked: the next change tries again
            self._skip(f"{folder}: {error}")
            return
        done = self.done
        done.files += report.files
        done.unchanged += report.unchanged
        done.created += report.created
        done.retired += report.retired + report.superseded
        for path, why in report.failed.items():
            self._skip(f"{path}: {why}")
        if report.files or report.deleted:
            told = {"files": report.files, "created": report.created, "retired": report.retired}
            log.info("followed", extra={"fields": told})

    def _owner(self, folder: Path) -> str | None:
        """The project of a folder's files. Notes outside a repository are of none: a person's notes hold everywhere."""
        if self._project is not None or checked_out(folder):
            return self._project
        return self._engine.settings.project

    def _skip(self, why: str) -> None:
        self.done.skipped.append(why)
        self._said(why)
