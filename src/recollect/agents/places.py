"""Places: which folders a project lies in on this machine, which it was ingested from, and how far each repository has
been read.

A small JSON file in the home folder, by store and tenant, so that a project of one tenant is never found through
another's name. Only what a person at this machine did writes a folder into it: a session of theirs there, `recollect
ingest`, `recollect install git-hooks`. So it also says which folders somebody who calls from elsewhere may have looked
at. Losing the file loses nothing but time: everything in it can be found out again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..entrypoints.private import make_folder
from ..entrypoints.system import lock, open_private
from ..settings import Settings

FILE = "projects.json"
MAX_FOLDERS = 8  # of one project, the latest


@dataclass(slots=True)
class Seen:
    """How far a repository has been read."""

    heads: dict[str, str] = field(default_factory=dict)  # by branch, the newest commit that was taken in
    branches: dict[str, str] = field(default_factory=dict)  # by branch, where it last stood
    ahead: list[str] = field(default_factory=list)  # branches that had commits of their own
    verified: str = ""  # where everything stood when citations were last looked at


class Places:
    """The file, for one store and tenant."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.home / FILE
        name = f"{settings.standing}\0{settings.tenant}"
        self._store = hashlib.sha256(name.encode()).hexdigest()[:16]

    def folders(self, project: str) -> list[Path]:
        """Where a project lies, the latest first, as far as it is still there."""
        known = [Path(folder) for folder in self._mine().get("folders", {}).get(project, ())]
        return [folder for folder in known if folder.is_dir()]

    def projects(self) -> dict[str, list[Path]]:
        return {name: found for name in self._mine().get("folders", {}) if (found := self.folders(name))}

    def note(self, project: str, folder: str | Path) -> None:
        """Remember that a project lies in a folder."""
        where = os.path.realpath(folder)
        listed = self._mine().get("folders", {}).get(project, [])
        if not project or listed[:1] == [where]:
            return

        def put(mine: dict[str, Any]) -> None:
            known = mine.setdefault("folders", {}).get(project, [])
            mine["folders"][project] = [where, *(one for one in known if one != where)][:MAX_FOLDERS]

        self._change(put)

    def roots(self, project: str) -> list[tuple[str, str]]:
        """The folders that a project was ingested from and the name of each, the first one first."""
        return [(folder, name) for folder, name in self._mine().get("roots", {}).get(project, [])]

    def note_root(self, project: str, folder: str, name: str) -> None:
        """Remember that a project was ingested from a folder; one that is gone and has this name was moved there."""

        def put(mine: dict[str, Any]) -> None:
            known = mine.setdefault("roots", {}).setdefault(project, [])
            moved = next((root for root in known if root[1] == name and not os.path.isdir(root[0])), None)
            if moved:
                moved[0] = folder
            else:
                known.append([folder, name])

        if (folder, name) not in self.roots(project):
            self._change(put)

    def seen(self, repository: Path) -> Seen:
        told = self._mine().get("seen", {}).get(os.fspath(repository), {})
        return Seen(**{name: value for name, value in told.items() if name in Seen.__slots__})

    def saw(self, repository: Path, seen: Seen) -> None:
        def put(mine: dict[str, Any]) -> None:
            mine.setdefault("seen", {})[os.fspath(repository)] = asdict(seen)

        if self.seen(repository) != seen:
            self._change(put)

    # -- the file -----------------------------------------------------------------------------------------------------

    def _mine(self) -> dict[str, Any]:
        found = self._read().get(self._store, {})
        return found if isinstance(found, dict) else {}

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _change(self, put: Callable[[dict[str, Any]], None]) -> None:
        make_folder(self._path.parent)
        with _alone(self._path.with_suffix(".lock")):
            data = self._read()
            put(data.setdefault(self._store, {}))
            part = self._path.with_suffix(".part")
            part.write_text(json.dumps(data, indent=1), "utf-8")
            part.chmod(0o600)
            os.replace(part, self._path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One writer at a time: the daemon and commands note things at once."""
    number = open_private(path, os.O_RDWR | os.O_CREAT)
    try:
        lock(number)
        yield
    finally:
        os.close(number)
