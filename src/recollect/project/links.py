"""Links between pieces, written after all of them are stored (targets: see `piece`).

A missing entity is created. A superseded decision ends when its successor began.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..engine import Engine
from ..graph import Node
from ..remember.shelf import Said
from ..types import RELATIONS, Memory, Scope, Source
from .imports import OwnFiles
from .piece import Piece

MANY = 900  # entities or ties of entities at once
_ENTITY = re.compile(r"([a-z][a-z-]{1,30}):(\S.{0,150})", re.DOTALL)


@dataclass(slots=True)
class _One:
    path: str
    piece: Piece
    memory: str


class LinkWriter:
    """The links of one run."""

    def __init__(
        self, engine: Engine, scope: Scope, id_of: Callable[[str], str], stored: Callable[[], dict[str, Source]],
        files: Iterable[str],
    ) -> None:  # fmt: skip
        self._engine = engine
        self._scope = scope
        self._id_of = id_of
        self._stored_files = stored
        self._files = dict.fromkeys(files)
        self._ones: list[_One] = []
        self._ended: list[_One] = []
        self._by_key: dict[tuple[str, str], str] = {}
        self._by_path: dict[str, str] = {}
        self._adrs: dict[str, list[tuple[str, str]]] = {}
        self._said: dict[str, list[Said]] = {}  # by path, of files that this run did not read
        self._stored_adrs: dict[str, dict[str, str]] = {}  # by folder, of earlier runs

    def add(self, path: str, piece: Piece, memory: str) -> None:
        self._by_key.setdefault((path, piece.key), memory)
        self._by_path.setdefault(path, memory)
        if piece.key.startswith("adr:"):
            self._adrs.setdefault(piece.key, []).append((path, memory))
        one = _One(path, piece, memory)
        if piece.links:
            self._ones.append(one)
        if piece.state != "active":
            self._ended.append(one)

    def write(self) -> tuple[int, int]:
        """Write all of it; gives how many ties are new, and how many memories one of them superseded."""
        self._resolve_modules()
        self._look_up()
        between: list[tuple[str, str, str]] = []
        entities: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for one in self._ones:
            for relation, target in one.piece.links:
                if relation == "superseded_by":
                    if other := self._memory(one.path, target):
                        between.append((other, "supersedes", one.memory))
                elif other := self._memory(one.path, target):
                    if relation in RELATIONS:
                        between.append((one.memory, relation, other))
                elif named := self._entity(target):
                    entities.setdefault(named, []).append((relation, one.memory))
        superseded = self._supersede([tie for tie in between if tie[1] == "supersedes"])
        plain = [tie for tie in between if tie[1] != "supersedes"]
        count = superseded + sum(self._engine.shelf.tie(plain[n : n + MANY]) for n in range(0, len(plain), MANY))
        count += self._attach(entities)
        ends = [(one.memory, one.piece.state) for one in self._ended]
        superseded += self._engine.shelf.close(ends, "its own status says so") if ends else 0
        return count, superseded

    def _resolve_modules(self) -> None:
        """Let imports of the project's own files name these files, and leave those out that name only a folder."""
        if not any(target.startswith("module:") for one in self._ones for _, target in one.piece.links):
            return
        files = OwnFiles(dict.fromkeys((*self._files, *self._stored_files())))
        for one in self._ones:
            links = [(relation, _own(target, one.path, files)) for relation, target in one.piece.links]
            one.piece = replace(one.piece, links=tuple(dict.fromkeys(link for link in links if link[1])))

    def _supersede(self, ties: list[tuple[str, str, str]]) -> int:
        """Decisions that took the place of others; the older one held until the newer began."""
        shelf, done = self._engine.shelf, 0
        for newer, relation, older in dict.fromkeys(ties):
            if newer == older:
                continue
            first, second = self._engine.get(newer, peek=True), self._engine.get(older, peek=True)
            if first.scope.branch != second.scope.branch:
                continue  # what a branch decided takes nothing back elsewhere until it is merged
            if second.state == "active" and first.valid_from and _fits(first, second):
                self._engine.edit(older, valid_to=first.valid_from, reason=f"until {first.title}"[:200])
            done += shelf.tie([(newer, relation, older)], "the file says so")
        return done

    def _attach(self, entities: dict[tuple[str, str], list[tuple[str, str]]]) -> int:
        if not entities:
            return 0
        graph = self._engine.graph(self._scope)
        nodes = [Node(name, kind) for kind, name in entities]
        ties = [(name, relation, memory) for (_, name), told in entities.items() for relation, memory in told]
        for n in range(0, len(nodes), MANY):
            graph.create(nodes[n : n + MANY])
        return sum(graph.attach(ties[n : n + MANY]) for n in range(0, len(ties), MANY))

    def _memory(self, path: str, target: str) -> str:
        """The memory that a target names, or nothing."""
        if found := self._by_key.get((path, target)):
            return found
        if target.startswith("adr:file:"):
            target = target.removeprefix("adr:")
        if target.startswith("adr:"):
            return self._adr(path, target)
        if target.startswith("file:"):
            return self._file(path, *target.removeprefix("file:").partition("#")[::2])
        return ""

    def _file(self, path: str, wanted: str, key: str) -> str:
        """What a file says at a place, or first: by its path from the file that names it, or from the root."""
        for place in _places(path, wanted):
            found = self._by_key.get((place, key)) if key else self._by_path.get(place)
            if found:
                return found
            for said in self._said.get(place, ()):
                if not key or said.place == key:
                    return said.memory.id
        return ""

    def _look_up(self) -> None:
        """What the files say that are named here and were not read in this run, all at once."""
        named = {
            place
            for one in self._ones
            for _, target in one.piece.links
            if "file:" in target[:9]
            for place in _places(one.path, target.partition("file:")[2].partition("#")[0])
        }
        ids = {self._id_of(place): place for place in sorted(named - self._by_path.keys())}
        self._said = {ids[id]: said for id, said in self._engine.shelf.said(list(ids)).items()}

    def _adr(self, path: str, key: str) -> str:
        """The record of a number: the one in the same folder where several have it."""
        folder = posixpath.dirname(path)
        known = self._adrs.get(key, [])
        near = [memory for place, memory in known if posixpath.dirname(place) == folder]
        if near:
            return near[0]
        beside = self._stored(folder, key)
        return beside or (known[0][1] if len(known) == 1 else "")

    def _stored(self, folder: str, key: str) -> str:
        """A record that was taken in by an earlier run."""
        if folder not in self._stored_adrs:
            start = f"{folder}/" if folder else ""
            near = [source.id for path, source in self._stored_files().items() if path.startswith(start)]
            said = self._engine.shelf.said(near)
            found = {one.place: one.memory.id for some in said.values() for one in some if one.place.startswith("adr:")}
            self._stored_adrs[folder] = found
        return self._stored_adrs[folder].get(key, "")

    def _entity(self, target: str) -> tuple[str, str] | None:
        found = _ENTITY.fullmatch(target)
        if not found or found[1] in ("adr", "file", "key"):
            return None
        return found[1], " ".join(found[2].split())


def _own(target: str, path: str, files: OwnFiles) -> str:
    """The file that a module means where it is the project's own, nothing where it is only a folder of it."""
    if not target.startswith("module:"):
        return target
    module, _, names = target.removeprefix("module:").partition("#")
    found = files.find(module, tuple(name for name in names.split(",") if name), path)
    return f"module:{module}" if found is None else f"file:{found}" if found else ""


def _places(path: str, wanted: str) -> tuple[str, str]:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), wanted)), posixpath.normpath(wanted)


def _fits(newer: Memory, older: Memory) -> bool:
    return newer.valid_from is not None and (older.valid_from is None or older.valid_from <= newer.valid_from)
