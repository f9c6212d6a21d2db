"""Backup and restore: a whole store in one file, made while others write, and verified by reading it back.

A SQLite store is copied by SQLite's own backup, a PostgreSQL store by replaying its journal. The copy's journal rows
must equal the source's and, if nobody wrote meanwhile, everything else by count and hash. Restoring verifies the file
first, moves an existing store aside (a server that has one is refused), and erases again what was erased since the
backup.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ..errors import BadInput, CopyDiffers, StoreCorrupt
from ..history.replay import replay
from ..settings import Settings, shown
from ..store import open_store
from ..store.contract import Store
from ..store.copy import copy, parts
from ..store.mark import Mark
from ..store.search import digest
from ..store.sqlite import SQLiteStore
from ..types import Noun

Progress = Callable[[int, int], None]
log = logging.getLogger("recollect")
BESIDE = ("", "-wal", "-shm", ".head")


@dataclass(frozen=True, slots=True)
class Backup(Noun):
    """A backup that was read back: where it lies, how large it is, its hash, and what it holds."""

    path: str
    bytes: int
    sha256: str
    tenants: int
    memories: int
    journal: int
    verified: str
    aside: str = ""
    erased: int = 0  # memories of the backup that were erased here since, and so again
    held: int = 0  # the same, but a hold of the backup kept them


def backup(store: Store, path: Path, now: datetime, step: Progress) -> Backup:
    """Write a backup of the whole store to a file that is not there yet, and verify it."""
    if path.exists():
        raise BadInput(f"{path} is there already.", fix="Name another file: a backup never writes over anything.")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    Mark(path).clear()
    if isinstance(store, SQLiteStore):
        store.backup(path)
    else:
        with closing(open_store(path, 30, now)) as target:
            try:
                copy(store, target, step)
            except CopyDiffers as error:  # somebody writes without end; what was copied is a moment of it all the same
                log.info("the source moved on while it was copied: %s", error)
        Mark(path).clear()  # people move and replace backups
    try:
        with closing(open_store(path, 30, now)) as made:
            verified = _verify(store, made, step)
            return _describe(path, made, verified)
    except (CopyDiffers, StoreCorrupt):
        for end in BESIDE:  # nothing is left of a backup that cannot be believed
            path.with_name(path.name + end).unlink(missing_ok=True)
        raise


def restore(path: Path, settings: Settings, now: datetime, step: Progress) -> Backup:
    """Put a backup in the place of the store that the settings name; what lies there is set aside."""
    if not path.is_file():
        raise BadInput(f"There is no backup at {path}.", fix="Name a file that recollect backup wrote.")
    if not settings.remote and settings.store_path.resolve() == path.resolve():
        raise BadInput("The backup is the store itself.", fix="Name another store with --store.")
    with closing(open_store(path, 30, now)) as source:
        _sound(source)
        if isinstance(source, SQLiteStore) and not settings.remote:
            with _fresh(settings.store_path) as fresh:
                source.backup(fresh, store=True)
                with closing(open_store(fresh, settings.busy_timeout, now)) as made:
                    verified, again = _verify(source, made, step), replay(made, settings, lambda: now)
                aside = _set_aside(settings.store_path, now)
                os.replace(fresh, settings.store_path)
        with closing(open_store(settings.place, settings.busy_timeout, now)) as target:
            if settings.remote:
                aside = ""
                copy(source, target, step)
                verified, again = _verify(source, target, step), replay(target, settings, lambda: now)
            target.save()
            told = _describe(path, target, verified)
    return replace(told, path=shown(settings.place), aside=aside, erased=again.erased, held=again.held)


@contextmanager
def _fresh(path: Path) -> Iterator[Path]:
    """Where a store is made ready before it takes its place; nothing of it stays there, nor of an earlier try."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.restoring")
    left = f"{fresh.name}*"
    for old in path.parent.glob(left):
        old.unlink()
    try:
        yield fresh
    finally:
        for one in path.parent.glob(left):
            one.unlink()


def _set_aside(path: Path, now: datetime) -> str:
    """Move a store out of the way, with its log, and drop what is derived from it; where it lies now."""
    for copy_ in path.parent.glob(f"{path.name}.*.index"):
        copy_.unlink(missing_ok=True)
    if not any(path.with_name(path.name + end).exists() for end in BESIDE):
        return ""
    aside = path.with_name(f"{path.name}.before-{now:%Y%m%d-%H%M%S}")
    for end in BESIDE:
        old = path.with_name(path.name + end)
        if old.exists():
            os.replace(old, aside.with_name(aside.name + end))
    return str(aside) if aside.exists() else ""


def _verify(source: Store, made: Store, step: Progress) -> str:
    """Hold a copy against what it was made of; how far they were compared."""
    _sound(made)
    tenants = made.tenants()
    if missing := set(source.tenants()) - set(tenants):
        raise CopyDiffers(f"The copy lacks {len(missing)} tenants of its source.")
    still = all(source.head(tenant) == made.head(tenant) for tenant in tenants)
    if still:
        here, there = tuple(parts(source, step)), tuple(parts(made, step))
        kinds = {f"{part.noun} of {part.tenant}" for part in set(here) ^ set(there) if part.noun not in _MOVING}
        if not kinds:
            return "everything both hold is the same by count and hash"
        if all(source.head(tenant) == made.head(tenant) for tenant in tenants):
            raise CopyDiffers(f"The copy is not what its source is: {', '.join(sorted(kinds))}.")
    for tenant in tenants:
        _same_history(source, made, tenant)
    return "somebody wrote meanwhile: every change that the copy has is the source's"


_MOVING = ("usage", "sighting", "job", "door", "ledger")  # what moves without a row in the journal


def _same_history(source: Store, made: Store, tenant: str) -> None:
    after, head = 0, made.head(tenant)
    while rows := made.journal(tenant, after):
        own = source.journal(tenant, after, len(rows))
        # A purge blanks rows that were copied before: what they were about and when still tells histories apart.
        if [(r.seq, r.at, r.operation, r.target) for r in own] != [(r.seq, r.at, r.operation, r.target) for r in rows]:
            raise CopyDiffers(f"The copy's history of {tenant} is not the source's, after change {after} of {head}.")
        after = rows[-1].seq


def _sound(store: Store) -> None:
    for tenant in store.tenants():
        if broken := [check for check in store.check(tenant) if check.status == "broken"]:
            raise StoreCorrupt(f"It is damaged: {broken[0].detail}.", fix=broken[0].fix)


def _describe(path: Path, made: Store, verified: str) -> Backup:
    tenants = made.tenants()
    memories = sum(int(made.stats(tenant)["memories"]) for tenant in tenants)
    journal = sum(made.head(tenant) for tenant in tenants)
    return Backup(str(path), path.stat().st_size, digest(str(path)), len(tenants), memories, journal, verified)
