"""Roots: the folders that a project was ingested from, and which of them a file belongs to.

A project may be ingested from several folders, so a file is known by its root and its path below it. A root is named by
the address of its repository, or else by its folder; an older version named files by the project alone, which counts as
a root without a name. Where roots lie inside each other, a file belongs to the one that was ingested first. A root that
is gone from its folder and found again elsewhere, with most of its files unchanged, was moved and keeps its name.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ..agents.places import Places
from ..engine import Engine
from ..regular_files import read_bytes
from ..remember.shelf import shelved
from ..types import Scope, Source
from .stamps import Stamps
from .walk import Tree

UNNAMED = ""  # the root of what was ingested before roots had names


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

    # -- a root that is new here --------------------------------------------------------------------------------------

    def _name(self) -> str:
        """The name of a root that was not ingested from this folder before."""
        repository = self._tree.repository
        named = (repository.origin(), str(repository.common)) if repository else ()
        names = [_hashed(told) for told in (*named, self._here) if told]
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


def _hashed(told: str) -> str:
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
