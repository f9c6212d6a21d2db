"""Stamps: what files looked like when they were last read, so that one that did not change need not be opened.

A small JSON file for each project in the home folder. The hash in the store is the truth: a stamp only tells the hash
of a file without reading it, and losing the stamps costs time and nothing else. A stamp of a file that was changed just
before it was taken is not believed, because it could have changed again without the clock moving.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from ..engine import Engine
from ..entrypoints.private import make_folder
from .walk import File

FOLDER = "ingested"
VERSION = 1
READER = 2  # goes up when parsers find more in files, so that files that did not change are read once more
FRESH = 2_000_000_000  # nanoseconds


class Stamps:
    """The stamps of one project in one store; of a branch, those of the files that are its own."""

    def __init__(self, engine: Engine, project: str, root: Path, branch: str = "") -> None:
        settings = engine.settings
        parts = (settings.place, settings.tenant, settings.user, project, os.fspath(root), *filter(None, [branch]))
        name = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:32]
        self._path = settings.home / FOLDER / f"{name}.json"
        self._began = time.time_ns()
        self._known = self._read()
        self.there = bool(self._known)
        self._changed = False

    def paths(self) -> list[str]:
        """The files that say something, as far as the stamps know."""
        return [path for path, stamp in self._known.items() if stamp[3]]

    def hash(self, file: File) -> str | None:
        """The hash of a file that is as it was, or nothing."""
        stamp = self._known.get(file.path)
        return stamp[2] if stamp and stamp[:2] == [file.size, file.changed] else None

    def last(self, path: str) -> str:
        """The hash of a file when it was last read, or nothing."""
        stamp = self._known.get(path)
        return stamp[2] if stamp else ""

    def empty(self, file: File) -> str:
        """Why nothing was found in a file that is as it was."""
        stamp = self._known.get(file.path)
        return stamp[4] if stamp and not stamp[3] else ""

    def is_current(self, path: str) -> bool:
        """Whether a file was last read by parsers like these, as far as is known."""
        stamp = self._known.get(path)
        return stamp is None or stamp[5] == READER

    def kind(self, path: str) -> str:
        stamp = self._known.get(path)
        return stamp[3] if stamp else ""

    def put(self, file: File, hash: str, kind: str, why: str = "") -> None:
        """Remember a file: what it was taken for, or nothing and why nothing is in it."""
        changed = file.changed if file.changed < self._began - FRESH else 0
        stamp = [file.size, changed, hash, kind, why, READER]
        if self._known.get(file.path) != stamp:
            self._known[file.path] = stamp
            self._changed = True

    def drop(self, path: str) -> None:
        self._changed |= self._known.pop(path, None) is not None

    def save(self) -> None:
        if not self._changed:
            return
        make_folder(self._path.parent)
        part = self._path.with_suffix(f".{os.getpid()}.part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            json.dump({"version": VERSION, "files": self._known}, out)
        os.replace(part, self._path)
        self._changed = False

    def _read(self) -> dict[str, list[Any]]:
        try:
            told = json.loads(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        if not isinstance(told, dict) or told.get("version") != VERSION or not isinstance(told.get("files"), dict):
            return {}
        stamps = {path: stamp for path, stamp in told["files"].items() if isinstance(stamp, list)}
        return {path: [*stamp, 1][:6] for path, stamp in stamps.items() if len(stamp) in (5, 6)}
