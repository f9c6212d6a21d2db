"""Folders: whose files are read for a caller.

The person at this machine may read any folder. A caller with a token names a project, and only a folder in which a
person at this machine worked under that name, for the same tenant, is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ..agents.access import Caller
from ..agents.home import project_of
from ..agents.places import Places
from ..engine import Engine
from ..errors import BadInput, Forbidden, GitUnavailable, NoRepository
from ..project import truth
from ..project.git import visible_branch
from ..project.state import StateCache
from ..regular_files import check_path
from ..types import Scope

STATES = StateCache()
ABSOLUTE = re.compile(r"(?<![\w:/.~])/(?:[^\s/'\",;:]+/)*([^\s/'\",;:]+)")


def folder_of(engine: Engine, caller: Caller, project: str | None, path: str | None = None) -> tuple[str, Path]:
    """The project that is meant and the folder it lies in, or the file or folder that was named, if it may be read."""
    check_path(path or "")
    if caller.token:
        named = caller.scope({"project": project} if project else {}).project
        return named, _inside(_known(engine, named), path)
    here = Path(caller.folder) if caller.folder else None
    if path:
        wanted = Path(path).expanduser()
        if not wanted.is_absolute():
            base = here or _known(engine, project or caller.home.project)
            wanted = base / wanted
        return project or _name(caller, wanted), wanted
    named = project or caller.home.project
    if here and (not named or named in (project_of(str(here)), caller.home.project)):
        return named or project_of(str(here)), here
    return named, _known(engine, named)


def _name(caller: Caller, path: Path) -> str:
    return caller.home.project or project_of(str(path if path.is_dir() else path.parent))


def _known(engine: Engine, project: str) -> Path:
    if project and (found := Places(engine.settings).folders(project)):
        return found[0]
    what = f"of the project {project!r:.100}" if project else "to look at"
    raise NoRepository(
        f"No folder {what} is known here.",
        fix="Work in it with an assistant on the machine of the daemon, or run recollect install git-hooks there.",
    )


def _inside(folder: Path, path: str | None) -> Path:
    if not path:
        return folder
    base = os.path.realpath(folder)
    wanted = os.path.normpath(os.path.join(base, path))
    for find in (str, os.path.realpath):  # what is named outside is not even looked at: whether it is there is not told
        wanted = find(wanted)
        if wanted != base and not wanted.startswith(base + os.sep):
            raise Forbidden("That path is not inside the project.", fix="Name a path below the project's folder.")
    return Path(wanted)


def cited(engine: Engine, caller: Caller, refs: Sequence[str], project: str) -> tuple[list[str], str]:
    """References, with what the files among them are now, where the project's repository can be seen.

    With them comes the project: where none was named, the one whose files are cited, because what cites them is of it.
    """
    if not any(True for _ in truth.files_of(refs)):
        return list(refs), project
    try:
        name, folder = folder_of(engine, caller, project or None)
        repository = STATES.repository(folder)
        found = truth.with_blobs(_from_the_top(refs, caller, repository.root), repository)
    except (NoRepository, GitUnavailable, BadInput):
        return list(refs), project
    return list(found), project or (name if len(found) > len(refs) else "")


def _from_the_top(refs: Sequence[str], caller: Caller, root: Path) -> list[str]:
    """References, with files of the folder that the caller works in told from the top of its repository."""
    named = []
    for ref in refs:
        path, mark, symbol = ref.partition("::")
        own = caller.folder and not caller.token and not (root / path).is_file()
        here = Path(caller.folder) / path
        named.append(f"{os.path.relpath(here, root)}{mark}{symbol}" if own and here.is_file() else ref)
    return named


def seen(engine: Engine, caller: Caller, places: Mapping[str, Any]) -> Scope:
    """The scope to ask in, on the branch that is checked out: what is staged on another does not hold there."""
    scope = caller.scope(places)
    if not scope.project or scope.branch or engine.settings.branches != "on":
        return scope
    try:
        return replace(scope, branch=visible_branch(folder_of(engine, caller, scope.project)[1]))
    except NoRepository:
        return scope


def asked_in(engine: Engine, caller: Caller, places: Mapping[str, Any]) -> Scope:
    """The scope of a question whose answer may be kept.

    Answers are kept for a user and a project. The branch counts only while something of the project is staged on
    another one: then the answer differs from branch to branch, and none is kept.
    """
    scope = seen(engine, caller, places)
    if any(places.get(name) for name in ("branch", "agent", "session")):
        return scope
    project = Scope(scope.user, scope.project)
    return replace(project, branch=scope.branch) if engine.overview.hidden(scope, project) else project


def left_out(
    engine: Engine, caller: Caller, places: Mapping[str, Any], scope: Scope, *, inside: bool = False
) -> tuple[str, ...]:
    """A line that says where was looked, if memories lie elsewhere that the caller did not rule out by name."""
    hidden = engine.overview.hidden(scope, caller.inside(places), inside=inside)
    where = ", ".join(f"{name} {value}" for name, value in scope.as_dict().items())
    if not hidden:
        return ()
    way = 'project ""' if caller.model else 'project "" or --everywhere'
    return (f"place: looked in {where}; memories elsewhere: {hidden} (look everywhere: {way})",)


def without_paths(caller: Caller, told: Any) -> Any:
    """What the server tells of itself; somebody with a token is not told where its files lie, but for their names."""
    if not caller.token:
        return told
    if isinstance(told, str):
        return ABSOLUTE.sub(r"…/\1", told)
    if isinstance(told, dict):
        return {name: without_paths(caller, value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return type(told)(without_paths(caller, value) for value in told)
    if is_dataclass(told) and not isinstance(told, type):
        return replace(told, **{one.name: without_paths(caller, getattr(told, one.name)) for one in fields(told)})
    return told
