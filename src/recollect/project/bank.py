"""The knowledge bank: learnings in markdown files beside the store.

**The store is the truth.** Learnings (patterns, anti-patterns, heuristics) are stored; `BankWriter` follows the journal
and writes them to `bank/patterns.md` and the like. Edits by hand are imported when the files change. A learning is
identified by the hash of its description, the id of its memory, or its heading. A purge removes it from the files too.

**Without a store the files still answer.** With `semantic = off`, or if the database is missing or broken, a session
starts with their content. `rebuild` makes a new database from them and moves a broken one away.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..engine import Engine
from ..engine import open as open_engine
from ..entrypoints.private import make_folder, write_private
from ..entrypoints.system import open_private
from ..errors import BadInput, GitUnavailable, NoRepository, NotADatabase, NotFound, Refused, StoreCorrupt
from ..redact import redact
from ..regular_files import read_json, read_text
from ..settings import Settings
from ..store import open_store
from ..store.mark import Mark
from ..types import STATES, Draft, Entry, Memory, Noun, Scope, Source
from . import learning
from .git import PATIENCE, checked_out, find
from .journal import FOLDER, Follower
from .learning import CATEGORY_OF, KIND_OF, KINDS, TRUST_IN, Learning, content_id
from .signals import LAST, changed_files
from .truth import every

LOCAL = Path("docs") / "knowledge-bank"  # where a project keeps its own
SOURCE = "bank:"  # how the ids of the sources of what was taken in begin
MAX_FILE = 8 * 1024 * 1024  # bytes of one file that are read
Progress = Callable[[int, int], None]
log = logging.getLogger("recollect")


@dataclass(frozen=True, slots=True)
class Bank:
    """Where the files lie: `own` is read and written, `local` belongs to a project and is only read."""

    own: Path
    local: Path | None = None
    project: str = ""

    def files(self) -> Iterator[tuple[Path, str, bool]]:
        """The files there are, with their category and whether they are the project's."""
        for folder in (self.local, self.own):
            for category in KIND_OF if folder else ():
                path = (folder or self.own) / f"{category}.md"
                if path.is_file():
                    yield path, category, folder == self.local

    def learnings(self) -> tuple[list[Learning], list[Learning]]:
        """What the files hold and still holds: the project's, and what is one's own and not among those."""
        local: dict[str, Learning] = {}
        own: dict[str, Learning] = {}
        for path, category, theirs in self.files():
            for one in learning.read(_text(path), category):
                if theirs:
                    local[one.id] = replace(one, project=one.project or self.project)
                else:
                    own[one.id] = one
        active = {id: one for id, one in local.items() if one.state == "active"}
        return list(active.values()), [one for id, one in own.items() if id not in local and one.state == "active"]


@dataclass(slots=True)
class BankImport(Noun):
    """What an import did. `aside` is where a broken database was put."""

    files: int = 0
    learnings: int = 0
    created: int = 0
    edited: int = 0
    known: int = 0
    refused: int = 0
    redacted: int = 0
    dry_run: bool = False
    aside: str = ""
    places: list[str] = field(default_factory=list)


def bank(settings: Settings, folder: str | Path = "", project: str = "") -> Bank:
    """The bank as it is seen from a folder: one's own, and that of the project the folder belongs to."""
    here = Path(os.path.abspath(folder)) if folder else None
    local = next((up / LOCAL for up in (here, *here.parents) if (up / LOCAL).is_dir()), None) if here else None
    return Bank(settings.bank_path, local, project)


def _text(path: Path) -> str:
    try:
        return read_text(path, MAX_FILE)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror}.", fix="Make it a readable file, split it, or move it away."
        ) from error


def import_files(
    engine: Engine, place: Bank, *, dry_run: bool = False, embed: bool = True, progress: Progress | None = None
) -> BankImport:  # fmt: skip
    """Remember what the files hold and the store does not know yet, and change what was changed in them by hand."""
    files = list(place.files())
    local, own = place.learnings()
    done = BankImport(len(files), len(local) + len(own), dry_run=dry_run, places=[str(path) for path, _, _ in files])
    known = _Known(engine, {one.id for one in (*local, *own)})
    fresh: list[tuple[Learning, bool]] = []
    for one, theirs in [*((one, True) for one in local), *((one, False) for one in own)]:
        memory = known.memory(one)
        if memory is None and not known.was_taken_in(one):
            fresh.append((one, theirs))
        elif fields := known.changed(memory, one) if memory else {}:
            done.edited += 1
            if not dry_run and memory:
                _edit(engine, memory, one, fields, done)
    done.known = done.learnings - len(fresh) - done.edited
    if dry_run:
        done.created = len(fresh)
        return done
    results = engine.remember_many([_draft(engine, place, *one) for one in fresh], embed=embed, progress=progress)
    for result in results:
        done.created += result.action == "created"
        done.known += result.action == "duplicate"
        done.refused += result.action == "refused"
        done.redacted += bool(result.redacted)
    return done


class _Known:
    """What the store knows of learnings that stand in files."""

    def __init__(self, engine: Engine, listed: Collection[str]) -> None:
        self._engine = engine
        memories = list(every(engine, kinds=KINDS, states=STATES))
        self._by_content = {content_id(memory.content): memory for memory in memories}
        self._by_id = {memory.id: memory for memory in memories}
        # What was taken in from a file whose words are no longer there, by its heading: they may have been changed.
        self._left = {
            (memory.kind, memory.scope.project, learning.heading(memory.title)): memory
            for id, memory in self._by_content.items()
            if id not in listed and memory.source.startswith(SOURCE) and memory.state == "active"
        }

    def memory(self, one: Learning) -> Memory | None:
        headed = (KIND_OF[one.category], one.project, one.name)
        return self._by_content.get(one.id) or self._by_id.get(one.memory) or self._left.get(headed)

    def was_taken_in(self, one: Learning) -> bool:
        return bool(self._engine.sources([f"{SOURCE}{one.id}"]))

    def changed(self, memory: Memory, one: Learning) -> dict[str, Any]:
        """What an entry says otherwise than its memory, which does not say so and never did."""
        said = {"content": one.description, "title": one.name, "reasoning": " ".join(one.reasoning.split())}
        now = {"content": content_id(memory.content), "title": learning.heading(memory.title), "reasoning": ""}
        now["reasoning"] = " ".join(memory.reasoning.split())
        same = {"content": one.id, "title": one.name, "reasoning": said["reasoning"]}
        differs = [name for name in said if same[name] and same[name] != now[name]]
        if memory.state != "active" or not differs or (not memory.title and differs == ["title"]):
            return {}
        before = [entry.before or {} for entry in self._engine.history(memory.id)]
        if one.id in {content_id(told["content"]) for told in before if told.get("content")} and "content" in differs:
            return {}  # an older version of it
        once = {learning.heading(told["title"]) for told in before if told.get("title")}
        return {name: said[name] for name in differs if name != "title" or one.name not in once}


def _edit(engine: Engine, memory: Memory, one: Learning, fields: dict[str, Any], done: BankImport) -> None:
    try:
        engine.edit(memory.id, reason=f"changed by hand in {one.category}.md", **fields)
    except (BadInput, Refused):  # another says the same, or it was rejected before
        done.edited -= 1
        done.refused += 1


def import_changed(engine: Engine, place: Bank, *, embed: bool = True) -> BankImport | None:
    """Take in the files of a bank that changed since they were last looked at; nothing where none did."""
    settings = engine.settings
    if reason_disabled(settings):
        return None
    store = hashlib.sha256(f"{settings.place}\0{settings.tenant}".encode()).hexdigest()[:16]
    note = settings.home / FOLDER / f"bank-files-{store}.json"
    seen = read_json(note)
    now = {str(path): f"{(stat := path.stat()).st_size} {stat.st_mtime_ns}" for path, _, _ in place.files()}
    if all(seen.get(path) == stamp for path, stamp in now.items()):
        return None
    done = import_files(engine, place, embed=embed)
    write_private(note, json.dumps({**seen, **now}))
    return done


def _draft(engine: Engine, place: Bank, one: Learning, theirs: bool) -> Draft:
    folder = place.local if theirs and place.local else place.own
    path = folder / f"{one.category}.md"
    source = Source(f"{SOURCE}{one.id}", "file", f"file:{path}", title=path.name)
    return Draft(
        one.description,
        kind=KIND_OF[one.category],
        title=one.name,
        reasoning=one.reasoning,
        scope=Scope(user=engine.settings.user, project=one.project),
        keywords=one.keywords,
        refs=one.references,
        confidence=TRUST_IN[one.confidence],
        observed=one.observed,
        source=source,
    )


def rebuild(settings: Settings, place: Bank, *, dry_run: bool = False, progress: Progress | None = None) -> BankImport:
    """Make the database from the files: a broken one is put aside, a sound one is kept and only added to."""
    if settings.remote:
        raise BadInput("A database on a server is not made from here.", fix="Use: recollect bank import")
    path, now = settings.store_path, datetime.now(UTC)
    aside = f"{path}.broken-{now:%Y%m%d-%H%M%S}" if broken(settings, now) else ""
    if aside and not dry_run:
        for tail in ("", "-wal", "-shm", ".head"):
            if os.path.exists(f"{path}{tail}"):
                os.replace(f"{path}{tail}", f"{aside}{tail}")
    if dry_run and (aside or not path.exists()):
        found = sum(map(len, place.learnings()))
        return BankImport(len(list(place.files())), found, found, dry_run=True, aside=aside)
    if not path.exists():
        Mark(path).clear()  # it says that there was a database, which is known here
    with open_engine(path, tenant=settings.tenant, user=settings.user, actor="bank") as engine:
        return replace(import_files(engine, place, dry_run=dry_run, progress=progress), aside=aside)


def broken(settings: Settings, now: datetime) -> str:
    """Why the database cannot be used, or nothing; one that is not there is not broken."""
    if not settings.store_path.exists():
        return ""
    try:
        store = open_store(settings.place, settings.busy_timeout, now)
    except (NotADatabase, StoreCorrupt) as error:
        return error.message
    try:
        wrong = [check for check in store.check(settings.tenant) if check.status == "broken"]
    except (NotADatabase, StoreCorrupt) as error:
        return error.message
    finally:
        store.close()
    return "; ".join(check.detail for check in wrong)


class BankWriter(Follower):
    """Appends to the files what the journal says was learnt, changed, or holds no longer."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, "bank", from_the_start=True)
        self._folder = engine.settings.bank_path

    def take(self, entries: Sequence[Entry]) -> int:
        changed: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.operation == "purge":  # a memory by its id, and what was taken in by the id in that of its source
                own = entry.target.removeprefix(SOURCE) if entry.target.startswith(SOURCE) else ""
                erase(self._folder, "" if own else entry.target, own)
            elif entry.noun == "memory" and not entry.purged:
                changed.setdefault(entry.target, []).append(entry)
        told = [(one, rows) for id, rows in changed.items() for one in self._told(id, rows)]
        for one, rows in told:
            update_file(self._folder, one, renamed=any("title" in (row.before or {}) for row in rows))
        return len(told)

    def _told(self, id: str, rows: Sequence[Entry]) -> Iterator[Learning]:
        """What some changes of a memory add: what it said before, as edited, and what it says and is now."""
        try:
            memory = self._engine.get(id, peek=True)
        except NotFound:  # purged since
            return
        if memory.kind not in CATEGORY_OF or not self.own(memory.scope):
            return
        now = learning.from_memory(memory)
        for row in rows:
            said = (row.before or {}).get("content")
            if said and content_id(said) != now.id:
                yield replace(now, description=said, state="edited")
        was_active = any((row.before or {}).get("state") == "active" for row in rows)
        taken_in = memory.source.startswith(SOURCE) and all(row.before is None for row in rows)
        if (memory.state == "active" or was_active) and not taken_in:
            yield now


def update_file(folder: Path, one: Learning, *, renamed: bool = False) -> None:
    """Write what is known of a learning where it stands in its file, or at its end."""
    path = folder / f"{one.category}.md"
    before = _text(path) if path.is_file() else ""
    after = learning.update_entry(before, one, renamed=renamed)
    if after is not None and after != before:
        write_private(path, after)
    elif after is None and one.state == "active":  # what is over and was never written down need not be
        append(folder, one)


def append(folder: Path, one: Learning) -> Path:
    """Write a learning at the end of its file, which is made if need be; readable by its owner alone."""
    make_folder(folder)
    path = folder / f"{one.category}.md"
    fresh = not path.exists()
    with open(open_private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", encoding="utf-8") as file:
        file.write((learning.title(one.category) if fresh else "") + "\n" + learning.write(one))
    return path


def erase(folder: Path, memory: str, id: str = "") -> None:
    """Take what was purged out of the files."""
    for category in KIND_OF:
        path = folder / f"{category}.md"
        before = _text(path) if path.is_file() else ""
        if (id or memory in before) and (after := learning.remove_entries(before, memory, id)) != before:
            write_private(path, after)


def validate(one: Learning) -> Learning:
    """A learning that may be kept, rid of secrets: it says what was learnt, and why that is so."""
    for name in ("name", "description", "reasoning"):
        if not str(getattr(one, name)).strip():
            raise BadInput(f"{name} is empty.", fix="name, description and reasoning are all needed.")
    if one.category not in KIND_OF or one.confidence not in TRUST_IN:
        raise BadInput(
            f"category {one.category!r} or confidence {one.confidence!r} is not known.",
            fix=f"Categories are {', '.join(KIND_OF)}; confidence is {', '.join(TRUST_IN)}.",
        )
    name, description, reasoning = (redact(said)[0].strip() for said in (one.name, one.description, one.reasoning))
    return replace(one, name=name, description=description, reasoning=reasoning)


def add_learning(engine: Engine, one: Learning) -> Memory | None:
    """Learn something: into the store, and from there into the files. Nothing comes back where it was refused."""
    one = validate(one)
    result = engine.remember(
        one.description, kind=KIND_OF[one.category], title=one.name, reasoning=one.reasoning,
        refs=one.references, keywords=one.keywords, confidence=TRUST_IN[one.confidence],
        scope=Scope(user=engine.settings.user, project=one.project),
    )  # fmt: skip
    BankWriter(engine).run()
    return result.memory


def add_to_files(settings: Settings, one: Learning, today: datetime) -> Path:
    """Learn something where there is no store: into the files alone; what is known there was observed once more."""
    one = validate(one)
    path = settings.bank_path / f"{one.category}.md"
    known = {other.id: other for other in learning.read(_text(path), one.category)} if path.is_file() else {}
    before = known.get(one.id)
    seen = replace(one, observed=before.observed + 1 if before else 1, last_observed=f"{today:%Y-%m-%d}")
    update_file(settings.bank_path, learning.merge(before, seen) if before else seen)
    return path


def reason_disabled(settings: Settings) -> str:
    """`disabled` where the files alone are wanted."""
    return "disabled" if settings.semantic.strip().lower() in ("off", "false", "no", "0") else ""


def reason_without_store(settings: Settings) -> str:
    """Why the files have to do without a store, or nothing: it is switched off, or there is none yet."""
    if not settings.remote and not settings.store_path.exists():
        return reason_disabled(settings) or "unavailable (there is no database yet)"
    return reason_disabled(settings)


def changed_on_branch(folder: str) -> tuple[str, ...]:
    """The files that the branch at hand changed: what a retrospective of it is about."""
    seen = checked_out(folder)
    if not seen:
        return ()
    try:
        default = find(folder).default()
        own = [f"{default}...HEAD"] if default and default != seen[1] else []
        return changed_files(seen[0], PATIENCE, (*own, *LAST))
    except (GitUnavailable, NoRepository) as error:
        log.warning("the files of the branch are not known: %s", error)
        return ()
