"""The doctor: checks each part, says what is wrong and how to fix it, and fixes what is safe to fix.

It works with unreadable settings, a broken database or a missing model: each is a finding. Checking changes nothing
except what opening a store does (migrations). "Broken" means that something does not work or is readable by others; a
warning means that it works less well.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from .. import settings
from ..entrypoints.system import is_mine
from ..errors import RecollectError
from ..history_types import Retention
from ..models import embedder as models
from ..models.embedder import Embedder
from ..remember.write import embed_drafts
from ..settings import Settings
from ..store import open_store
from ..store.contract import Store
from ..store.mark import Mark
from ..store.sqlite import SQLiteStore
from ..store.sqlite_file import is_empty
from ..types import Check, Filter
from .switch import FIX, Serving

LITTLE_SPACE, NO_SPACE = 500_000_000, 20_000_000  # bytes free on the disk
COUNTED = 1000  # memories without a vector that are counted exactly
SAME = 0.95  # the cosine of a stored vector and one made now; processors round a little differently
MENDED = ("rows", "vector rows", "full text", "consistency")  # findings that the store can put right by itself
QUESTION = "When is the service deployed?"
NEAR, FAR = "The service is deployed on Thursdays.", "Cats like to sleep in the warm sun."


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found: the findings, what others may read with the mode it should have, and whether to embed."""

    checks: tuple[Check, ...]
    exposed: tuple[tuple[Path, int], ...] = ()
    unembedded: bool = False

    @property
    def unindexed(self) -> bool:
        """Whether rows must be taken from the journal, or full text must be built again."""
        return any(check.status == "broken" and check.name in MENDED for check in self.checks)

    @property
    def broken(self) -> bool:
        return any(check.status == "broken" for check in self.checks)


def versions(package: str) -> dict[str, str]:
    return {"recollect": package, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}


def diagnose(package: str, now: datetime, **given: Any) -> Diagnosis:
    """Look at everything; `given` are the settings of the command line."""
    numbers = ", ".join(f"{name} {version}" for name, version in versions(package).items())
    checks = [Check("versions", "ok", numbers)]
    try:
        chosen, _ = settings.load(**given)
    except RecollectError as error:
        return Diagnosis((*checks, _broken("settings", error)))
    store, opened = _store(chosen, now)
    exposed = tuple(_find_exposed(chosen, ours=store is not None))
    found, embedder = _embedder(chosen)
    checks += [_config(chosen), _home(chosen), _permissions(exposed), _space(chosen), *opened, found]
    missing = False
    if store is not None:
        try:
            checks += store.check(chosen.tenant)
            others = [tenant for tenant in store.tenants() if tenant != chosen.tenant]
            checks += [check for tenant in others for check in store.check(tenant) if check.status == "broken"]
            checks += _retention(store, chosen, now)
            if embedder is not None:
                vectors = _vectors(store, chosen.tenant, embedder)
                checks.append(vectors)
                missing = vectors.status == "warning" and vectors.fix != FIX  # which model serves is a person's choice
        except RecollectError as error:
            checks.append(_broken("database", error))
        except apsw.Error as error:
            checks.append(Check("database", "broken", f"{settings.shown(chosen.place)}: {error}", "Restore a backup."))
        finally:
            store.close()
    return Diagnosis(tuple(checks), exposed, missing)


def accept(now: datetime, **given: Any) -> list[str]:
    """Take the database as it is for what it should be, where it is not what the mark beside it says."""
    chosen, _ = settings.load(**given)
    if chosen.remote:
        return []
    if is_empty(chosen.store_path):
        Mark(chosen.store_path).clear()
        return ["the store begins anew"]
    with closing(SQLiteStore(chosen.store_path, chosen.busy_timeout, now)) as store:
        if not store.mark.wrong:
            return []
        store.accept()
        return ["the database was accepted as it is"]


def fix_permissions(exposed: Sequence[tuple[Path, int]]) -> list[str]:
    """Give files and folder the modes they should have; gives what was done. The next look finds what could not be."""
    done = []
    for path, wanted in exposed:
        if not _is_shared(path) and os.access(path, os.W_OK) and is_mine(path.stat()):
            path.chmod(wanted)
            done.append(f"{path} is {wanted:04o} now")
    return done


def _config(chosen: Settings) -> Check:
    there = chosen.config_path.exists()
    return Check("settings", "ok", f"{chosen.config_path}" if there else f"defaults; no {chosen.config_path}")


def _home(chosen: Settings) -> Check:
    folder = chosen.home if chosen.remote else chosen.store_path.parent
    if not folder.exists():
        above = next(parent for parent in folder.parents if parent.exists())
        if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
            return Check("folder", "broken", f"{folder} cannot be made: {above} cannot be written.", _ELSEWHERE)
        return Check("folder", "ok", f"{folder} is not there yet; the first memory makes it")
    if not folder.is_dir():
        return Check("folder", "broken", f"{folder} is not a folder.", f"Move it away. {_ELSEWHERE}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Check("folder", "broken", f"{folder} cannot be written.", _ELSEWHERE)
    return Check("folder", "ok", f"{folder}")


def _permissions(exposed: Sequence[tuple[Path, int]]) -> Check:
    def names(paths: Sequence[tuple[Path, int]]) -> str:
        return ", ".join(f"{path} ({stat.S_IMODE(path.stat().st_mode):04o})" for path, _ in paths)

    if ours := [(path, wanted) for path, wanted in exposed if not _is_shared(path)]:
        commands = " && ".join(f"chmod {wanted:o} {shlex.quote(str(path))}" for path, wanted in ours[:3])
        return Check(
            "permissions", "broken", f"open to others: {names(ours)}", f"recollect doctor --fix, or: {commands}"
        )
    if exposed:
        fix = "Choose a folder of its own with RECOLLECT_HOME."
        return Check("permissions", "warning", f"the folder is shared with others: {names(exposed)}", fix)
    return Check("permissions", "ok", "open to nobody but you")


def _find_exposed(chosen: Settings, ours: bool) -> Iterator[tuple[Path, int]]:
    """Our files and folder that somebody else may use, with the mode they should have.

    A file counts as ours when it opened as a store of ours or lies in the home folder under our name: a wrong
    `--store /etc/passwd` must not become a change of that file. A folder that only `--store` names is not ours.
    """
    store, home = chosen.store_path, chosen.home
    wanted = [(home, 0o700), (chosen.config_path, 0o600)]
    if not chosen.remote and (ours or store == home / "recollect.db"):
        beside = (store.with_name(store.name + end) for end in ("", "-wal", "-shm", ".head"))
        wanted += [(path, 0o600) for path in (*beside, *sorted(store.parent.glob(f"{store.name}.*.index")))]
    for path, mode in wanted:
        if path.exists() and os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield path, mode


def _is_shared(path: Path) -> bool:
    """Whether a folder is for more than our files, so that closing it would shut others out."""
    return path.is_dir() and (path in (Path.home(), Path(path.anchor)) or bool(path.stat().st_mode & stat.S_ISVTX))


def _space(chosen: Settings) -> Check:
    ours = chosen.home if chosen.remote else chosen.store_path.parent
    folder = next(path for path in (ours, *ours.parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    status: Any = "broken" if free < NO_SPACE else "warning" if free < LITTLE_SPACE else "ok"
    return Check("disk", status, f"{free / 1e9:,.1f} GB free", "" if status == "ok" else "Free some disk space.")


def _store(chosen: Settings, now: datetime) -> tuple[Store | None, list[Check]]:
    if not chosen.remote and not chosen.store_path.exists() and not Mark(chosen.store_path).read():
        return None, [Check("database", "ok", f"{chosen.store_path} is not there yet; the first memory makes it")]
    try:
        return open_store(chosen.place, chosen.busy_timeout, now), []
    except RecollectError as error:
        return None, [_broken("database", error)]
    except apsw.Error as error:
        return None, [Check("database", "broken", f"{settings.shown(chosen.place)}: {error}", "Restore a backup.")]


def _embedder(chosen: Settings) -> tuple[Check, Embedder | None]:
    """Whether the model loads, and whether what it gives are vectors that tell likeness."""
    if chosen.embedder == "off":
        return Check("embedder", "ok", "switched off: memories are found by words only"), None
    try:
        model = models.load(chosen.embedder)
        question = model.embed([QUESTION], "query")[0]
        near, far, again = model.embed([NEAR, FAR, NEAR], "document")
    except RecollectError as error:
        return _broken("embedder", error), None
    length, like, unlike = float(question @ question), float(question @ near), float(question @ far)
    sane = abs(length - 1) < 0.01 and float(near @ again) > 0.999 and like > unlike + 0.05
    if not sane:
        detail = f"{model.model} gives vectors that do not tell likeness ({like:.2f} against {unlike:.2f})."
        return Check("embedder", "broken", detail, "Reinstall the package, or set the embedder to default."), None
    detail = f"{model.model}, {model.dimension} dimensions; like {like:.2f}, unlike {unlike:.2f}"
    return Check("embedder", "ok", detail), model


def _vectors(store: Store, tenant: str, embedder: Embedder) -> Check:
    """Whether every memory has a vector of today's model, and whether the model would make the same one now."""
    if another := Serving.of(store, tenant).another(embedder.model):
        return Check("vectors", "warning", another, FIX)
    if missing := len(store.unembedded(tenant, embedder.model, COUNTED + 1)):
        count = f"more than {COUNTED}" if missing > COUNTED else str(missing)
        detail = f"{count} {'memory has' if missing == 1 else 'memories have'} none and can be found by words only"
        return Check("vectors", "warning", detail, "recollect embed, or: recollect doctor --fix")
    newest = store.page(tenant, Filter(), None, 1)
    if newest and (made := embed_drafts(newest, embedder)[0]) is not None:
        stored = store.cosines(tenant, embedder.model, made[0], [newest[0].id]).get(newest[0].id, 0.0)
        if stored < SAME:
            detail = f"what is stored is not what {embedder.model} makes today (cosine {stored:.2f})."
            fix = "Export, move the database away and import again: the vectors are made anew."
            return Check("vectors", "broken", detail, fix)
    return Check("vectors", "ok", f"every memory has its vector of {embedder.model}")


def _retention(store: Store, chosen: Settings, now: datetime) -> list[Check]:
    """Whether somebody applies the retention policies, where there are any."""
    count = len(store.all(chosen.tenant, Retention, "", 1000))
    if not count:
        return []
    said = "1 policy" if count == 1 else f"{count} policies"
    if not chosen.janitor_hours:
        fix = "Run: recollect retention apply, or set janitor_hours."
        return [Check("retention", "warning", f"{said}, which nobody applies: janitor_hours is 0", fix)]
    runs = [job for job in store.jobs(chosen.tenant, ("done",), 1000) if job.kind == "janitor"]
    last = max((job.finished_at for job in runs if job.finished_at), default=None)
    when = f"{last:%Y-%m-%d %H:%M} UTC" if last else "never"
    told = f"{said}, applied by the daemon every {chosen.janitor_hours:g} h, last {when}"
    late = last is None or last + timedelta(hours=2 * chosen.janitor_hours) < now
    fix = "Start the daemon with: recollect serve; or run: recollect retention apply" if late else ""
    return [Check("retention", "warning" if late else "ok", told, fix)]


_ELSEWHERE = "Make it writable for you, or choose another folder with RECOLLECT_HOME."


def _broken(name: str, error: RecollectError) -> Check:
    circular = "recollect doctor" in error.fix
    return Check(name, "broken", error.message, "Check the path, and that you may read it." if circular else error.fix)
