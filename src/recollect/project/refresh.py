"""Bring memory up to date with a repository: commits, branches, changed files and citations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ..agents.places import Places
from ..engine import Engine
from ..types import Noun, Scope
from . import commits, truth
from .git import Repository, feature_branch, find
from .ingest import Report, ingest_changed


@dataclass(frozen=True, slots=True)
class Refreshed(Noun):
    """What came of it: commits taken in, memories promoted and archived with their branches, ingested files read
    again, memories that are stale and those no longer."""

    project: str
    commits: int = 0
    files: int = 0
    promoted: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    recovered: tuple[str, ...] = ()


def refresh(engine: Engine, repository: Repository | Path, project: str) -> Refreshed:
    """Bring memory up to date with a repository."""
    found = repository if isinstance(repository, Repository) else find(repository)
    places = Places(engine.settings)
    seen = places.seen(found.git)
    moved = _state_hash(found)
    if seen.verified == moved:
        return Refreshed(project)
    taken = commits.import_commits(engine, found, Scope(project=project), feature_branch(found.root), seen)
    promoted, archived = truth.follow_branches(engine, found, project, seen)
    read = Report() if found.bare else ingest_changed(engine, found.root, project)
    looked = truth.verify(engine, found, project)
    seen.verified = moved
    places.saw(found.git, seen)
    stale = tuple(one.id for one in looked.stale)
    return Refreshed(
        project, taken, read.files + read.deleted, tuple(promoted), tuple(archived), stale, looked.recovered
    )


def counts(done: Refreshed) -> dict[str, str | int]:
    """What came of it in numbers, for a log."""
    told = done.as_dict()
    return {name: len(value) if isinstance(value, list) else value for name, value in told.items()}


def _state_hash(repository: Repository) -> str:
    """Where everything stands: each branch, and what is checked out."""
    refs = sorted(repository.refs().items())
    told = f"{repository.resolve('HEAD')}\0{feature_branch(repository.root)}\0{refs}"
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()
