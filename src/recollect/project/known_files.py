"""What is known about the files that a project was ingested from.

**Stamps** record what files looked like when they were read, so that unchanged files are not opened. They only save
time: the hash in the store decides. **Roots** are the ingested folders, named by the address of their repository or by
their path. If roots contain each other, a file belongs to the one that was ingested first. A root that was moved keeps
its name.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..agents.places import Places
from ..engine import Engine
from ..entrypoints.private import write_private
from ..regular_files import read_bytes, read_json
from ..remember.shelf import shelved
from ..types import Scope, Source
from .walk import File, Tree

FOLDER = "ingested"
VERSION = 1
READER = 2  # goes up when parsers find more in files, so that files that did not change are read once more
FRESH = 2_000_000_000  # nanoseconds
UNNAMED = ""  # the root of what was ingested before roots had names


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
        if self._changed:
            write_private(self._path, json.dumps({"version": VERSION, "files": self._known}))
            self._changed = False

    def _read(self) -> dict[str, list[Any]]:
        told = read_json(self._path)
        if told.get("version") != VERSION or not isinstance(told.get("files"), dict):
            return {}
        stamps = {path: stamp for path, stamp in told["files"].items() if isinstance(stamp, list)}
        return {path: [*stamp, 1][:6] for path, stamp in stamps.items() if len(stamp) in (5, 6)}


@dataclass(frozen=True, slots=True)
class Root:
    folder: str
    name: str


class Roots:
    """The root of one run, and the other roots of its project that share files with it."""

    def __init__(self, engine: Engine, scope: Scope, tree: Tree, stamps: Stamps) -> None:
        self._shelf = engine.shelf
        self._scope = scope
        self._tree = tree
        self._stamps = stamps
        self._here = os.path.realpath(tree.root)
        self._places = Places(engine.settings)
        self._known = [Root(folder, name) for folder, name in self._places.roots(scope.project)]
        own = next((root for root in self._known if root.folder == self._here), None)
        self._own = own or Root(self._here, self._name())
        self._sharing = [
            one for one in self._known if _inside(one.folder, self._here) or _inside(self._here, one.folder)
        ]
        self._sharing += [] if own else [self._own]

    def note(self) -> None:
        """Remember that the project was ingested from here."""
        self._places.note_root(self._scope.project, self._own.folder, self._own.name)

    def id_of(self, path: str, branch: str = "") -> str:
        """The id of a file's source, by its path below the tree."""
        root, below = self._owner(path)
        return self._id(root.name, below, branch)

    def address(self, path: str, branch: str = "") -> str:
        return self._start(branch) + self._owner(path)[1]

    def stored(self, branch: str = "") -> dict[str, Source]:
        """What the store has of the tree's files, by their path below it."""
        found: dict[str, Source] = {}
        for source in self._shelf.under(self._start(branch)):
            below = source.uri.removeprefix(self._start(branch))
            for root in self._sharing:
                whole = f"{root.folder}/{below}"
                if source.id == self._id(root.name, below, branch) and whole.startswith(f"{self._here}/"):
                    found[whole.removeprefix(f"{self._here}/")] = source
        return found

    def _start(self, branch: str) -> str:
        return f"file:{self._scope.project}{f'@{branch}' if branch else ''}/"

    def _id(self, name: str, below: str, branch: str = "") -> str:
        address = f"{self._start(branch)}{below}"
        return shelved(f"{name}:{address}" if name else address, self._scope.user)

    def _owner(self, path: str) -> tuple[Root, str]:
        """The root that a file of the tree belongs to, and its path below that."""
        whole = f"{self._here}/{path}"
        root = next(one for one in self._sharing if whole.startswith(f"{one.folder.rstrip('/')}/"))
        return root, whole.removeprefix(f"{root.folder.rstrip('/')}/")

    def _name(self) -> str:
        """The name of a root that was not ingested from this folder before."""
        repository = self._tree.repository
        named = (repository.origin(), str(repository.common)) if repository else ()
        names = [_short_hash(told) for told in (*named, self._here) if told]
        paths = [file.path for file in self._tree.files]
        for name in names:
            if self._shelf.read([self._id(name, path) for path in paths]):
                return name
        gone = [root.name for root in self._known if not Path(root.folder).is_dir()]
        before = [] if any(root.name == UNNAMED for root in self._known) else [UNNAMED]
        return next((name for name in (*gone, *before) if self._was_moved_here(name)), names[0])

    def _was_moved_here(self, name: str) -> bool:
        """Whether at least half of what the store has of a root lies unchanged in this one."""
        start = self._start("")
        told = [one for one in self._shelf.under(start) if one.id == self._id(name, one.uri.removeprefix(start))]
        same = sum(self._hash(one.uri.removeprefix(start)) == one.content_hash for one in told)
        return bool(told) and 2 * same >= len(told)

    def _hash(self, path: str) -> str:
        """The hash of a file as it was last read here, or as it is."""
        if stamped := self._stamps.last(path):
            return stamped
        try:
            return hashlib.sha256(read_bytes(Path(self._here, path))).hexdigest()
        except OSError:
            return ""


def _inside(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(f"{outer.rstrip('/')}/")


def _short_hash(told: str) -> str:
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
