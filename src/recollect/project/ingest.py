"""Ingestion: read a file or a folder, and follow it as it changes.

    walk -> unchanged? -> recognise -> pieces -> new, kept, changed or gone -> write -> links

A file is one source, with the hash of its content. In a changed file, an unchanged piece keeps its memory, a changed
one supersedes it, a missing one is retired. The hash is written last, so that an interrupted run is completed later.
Changes on a feature branch are ingested for that branch alone.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import text as texts
from ..agents.home import project_of
from ..agents.places import Places
from ..checks import MAX_TAG, MAX_TAGS, Cleaner
from ..engine import Engine
from ..errors import BadInput, GitUnavailable, ModelUnavailable, NoRepository
from ..redact import redact
from ..regular_files import read_bytes
from ..remember.drafts import MAX_KEYWORDS, MAX_REF, MAX_REFS, MAX_TITLE
from ..remember.shelf import Said
from ..types import Draft, Memory, Noun, Scope, Source
from . import commits, git, links, walk
from .adr import GONE
from .git import BranchDifference, Repository, difference_from_default, feature_branch
from .known_files import Roots, Stamps
from .piece import Piece
from .recognise import KINDS, MAX_FILE, NOT_READ, Kind, decoded, has_no_suffix, may_be, recognise, skip_reason
from .walk import File, Tree

BATCH = 400  # pieces that are written together
NAMED: dict[Kind, str] = {"adr": "a decision record", "incident": "an incident report", "code": "code", "docs": "text"}
ENDED = ("superseded", "archived")
EDITED = ("title", "reasoning", "context", "tags", "keywords", "refs", "valid_from", "kind")
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Report(Noun):
    """What a run read and what became of it. `skipped` counts files by the reason, `kinds` by what they were taken for.

    `as_text` counts files of code that no parser read, by the reason.

    `created`, `kept` and the others count pieces; of a dry run, what would have become of them.
    """

    project: str = ""
    branch: str = ""
    files: int = 0
    commits: int = 0
    unchanged: int = 0
    deleted: int = 0
    pieces: int = 0
    created: int = 0
    kept: int = 0
    edited: int = 0
    superseded: int = 0
    retired: int = 0
    refused: int = 0
    links: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    as_text: dict[str, int] = field(default_factory=dict)
    secrets: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(slots=True)
class _Read:
    """A file that is to be written: its bytes' hash, what it was taken for, and what it says."""

    file: File
    source: Source
    kind: Kind
    pieces: list[Piece]
    before: list[Said] = field(default_factory=list)


def ingest(
    engine: Engine, path: str | Path, *, project: str | None = None, kind: Kind | None = None, dry_run: bool = False,
    progress: Progress | None = None, only: Callable[[Path], bool] | None = None,
) -> Report:  # fmt: skip
    """Take in what a file or folder tells; what is known already and has not changed is left alone.

    A path that is no longer there is taken for a deletion where it was taken in before. Files that are not among those
    that are `only` wanted are as if they did not exist: neither taken in nor missed. What is new is found by its words
    at once, and by meaning when `Engine.embed` or the daemon has given it vectors, which takes far longer.
    """
    if kind is not None and kind not in KINDS:
        raise BadInput(f"kind {kind!r} is not known.", fix=f"It is one of: {', '.join(KINDS)}.")
    tree = walk.find_files(Path(path), only)
    name = project if project is not None else engine.settings.project or project_of(os.fspath(tree.root))
    name = Cleaner(1000).scope(Scope(project=name)).project
    run = _Run(engine, tree, name, kind, dry_run)
    if not tree.files and not Path(path).exists() and not run.known_before():
        raise BadInput(f"There is no {path}.", fix="Name a file or a folder.")
    report = run.run(progress)
    if tree.repository and not (tree.below or kind or only or dry_run):
        report.commits = _commits(engine, tree.repository, name)
    return report


def _commits(engine: Engine, repository: Repository, project: str) -> int:
    """Take in the commits of a repository that is ingested as a whole; gives how many were new."""
    places = Places(engine.settings)
    seen = places.seen(repository.git)
    taken = commits.import_commits(
        engine, repository, Scope(project=project), feature_branch(repository.root), seen, embed=False
    )
    places.saw(repository.git, seen)
    return taken


def note_place(engine: Engine, path: Path, project: str) -> None:
    """Remember that a project lies in the repository of a path, so that the daemon follows it."""
    with suppress(NoRepository, GitUnavailable):
        Places(engine.settings).note(project, git.find(path if path.is_dir() else path.parent).root)


def ingest_changed(engine: Engine, root: Path, project: str) -> Report:
    """Read the files of a root again that were ingested before and changed since."""
    known = _ingested(engine, root, project)
    return ingest(engine, root, project=project, only=known.__contains__) if known else Report(project)


def outdated_memories(engine: Engine, root: Path, project: str) -> set[str]:
    """The memories that the files of a root, as they are now, do not say any more; nothing is changed."""
    known = _ingested(engine, root, project)
    if not known:
        return set()
    tree = walk.find_files(root, known.__contains__)
    run = _Run(engine, tree, Cleaner(1000).scope(Scope(project=project)).project, None, True)
    run.run(None)
    return run.outdated


def _ingested(engine: Engine, root: Path, project: str) -> set[Path]:
    branch = feature_branch(root) if engine.settings.branches == "on" else ""
    stamps = [Stamps(engine, project, root), *([Stamps(engine, project, root, branch)] if branch else ())]
    return {root / path for one in stamps for path in one.paths()}


def embed_later(engine: Engine, report: Report) -> None:
    """Have what is new given its vectors in the background, where there is a model."""
    if report.created and not report.dry_run:
        with suppress(ModelUnavailable):  # said in every answer that does without
            engine.embed_later(change="never")


class _Run:
    """One run over one tree."""

    def __init__(self, engine: Engine, tree: Tree, project: str, kind: Kind | None, dry_run: bool) -> None:
        self._engine = engine
        self._tree = tree
        self._kind = kind
        self._one = not (tree.root / tree.below).is_dir()  # a file that somebody named is what they say it is
        self._scope = Scope(user=engine.settings.user, project=project)
        self._apart = (
            difference_from_default(tree.repository)
            if tree.repository and engine.settings.branches == "on"
            else BranchDifference()
        )
        self._of_project = Stamps(engine, project, tree.root)
        self._of_branch = Stamps(engine, project, tree.root, self._apart.branch) if self._apart.branch else None
        self._shelf = engine.shelf
        self._roots = Roots(engine, self._scope, tree, self._of_project)
        paths = [file.path for file in tree.files]
        self._links = links.LinkWriter(engine, self._scope, self.id_of, self._roots.stored, paths)
        self._cleaner = Cleaner(engine.settings.content_limit, redact)
        self._ids: dict[str, str] = {}
        self._unsaid: list[str] = []  # decisions that a file no longer says
        self._left: set[str] = set()  # files that were here before and are not now
        self.outdated: set[str] = set()  # of a dry run, the memories that would be taken back
        self.report = Report(project=project, branch=self._apart.branch, dry_run=dry_run)

    def branch_of(self, path: str) -> str:
        """The branch that a file is of, where it is not of the project as a whole."""
        return self._apart.branch if path in self._apart.own else ""

    def id_of(self, path: str) -> str:
        if path not in self._ids:
            self._ids[path] = self._roots.id_of(path, self.branch_of(path))
        return self._ids[path]

    def stamps(self, path: str) -> Stamps:
        return self._of_branch if self._of_branch and self.branch_of(path) else self._of_project

    def known_before(self) -> bool:
        return bool(self._gone({}))

    def run(self, progress: Progress | None) -> Report:
        files = self._tree.files
        known = self._shelf.read([self.id_of(file.path) for file in files])
        there = {file.path: None for file in files}
        gone, left = self._gone(there), self._left_by_branch(there)
        self._left.update(gone, left)
        batch: list[_Read] = []
        size = 0
        for number, file in enumerate(files):
            if read := self._look(file, known):
                batch.append(read)
                size += len(read.pieces)
            if size >= BATCH:
                self._write(batch, known)
                batch, size = [], 0
            if progress:
                progress(number, len(files) + 1)
        self._write(batch, known)
        self._retire(gone)
        self._retire(left, self._apart.branch)
        self._tie()
        if not self.report.dry_run:
            self._roots.note()
            self._of_project.save()
            if self._of_branch:
                self._of_branch.save()
        for why, count in self._tree.skipped.items():
            self._skip(why, count)
        if progress:
            progress(len(files) + 1, len(files) + 1)
        return self.report

    def _look(self, file: File, known: dict[str, Source]) -> _Read | None:
        """What is new in a file, or nothing."""
        id = self.id_of(file.path)
        before = known[id].content_hash if id in known else ""
        if before and file.path in self._apart.older:
            self.report.unchanged += 1
            return None
        stamps = self.stamps(file.path)
        taken_for = stamps.kind(file.path) if before else ""  # somebody may have named a file of an odd name
        if why := skip_reason(file.path, file.size, bool(self._kind or taken_for or self._one)):
            self._nothing(file, "", why, bool(before))
            return None
        same_kind = self._kind in (None, stamps.kind(file.path)) and stamps.is_current(file.path)
        if same_kind and self._is_as_stamped(file, stamps, before):
            return None
        try:
            raw = read_bytes(self._tree.root / file.path, MAX_FILE)
        except OSError as error:
            self.report.failed[file.path] = error.strerror or str(error)
            return None
        hash = hashlib.sha256(raw).hexdigest()
        if hash == before and same_kind:
            stamps.put(file, hash, stamps.kind(file.path) or "docs")
            self.report.unchanged += 1
            return None
        text = decoded(raw)
        if text is None:
            self._nothing(file, hash, "not text", bool(before))
            return None
        if self._kind and not self._one and not may_be(file.path, text, self._kind):
            self._skip(f"not {NAMED[self._kind]}")  # what it said as something else stays
            return None
        named = bool(self._kind or taken_for or self._one)
        return self._recognise(file, text, hash, named=named, before=bool(before))

    def _is_as_stamped(self, file: File, stamps: Stamps, before: str) -> bool:
        """Whether a file is as it was when it was last read; then it is counted and need not be opened."""
        if (stamped := stamps.hash(file)) is None:
            return False
        if why := stamps.empty(file):
            if not before:
                self._skip(why)
            return not before
        self.report.unchanged += stamped == before
        return stamped == before

    def _recognise(self, file: File, text: str, hash: str, *, named: bool, before: bool) -> _Read | None:
        """What a text is and says; nothing where it says nothing, or where nobody named a file of unknown kind."""
        found = recognise(file.path, text, self._kind)
        pieces = [piece for piece in found.pieces if texts.fold(texts.clean(piece.content))]
        unknown = found.kind == "docs" and not named and has_no_suffix(file.path)
        if unknown or not pieces:
            self._nothing(file, hash, NOT_READ if unknown else "nothing in it", before)
            return None
        self.report.files += 1
        self.report.pieces += len(pieces)
        self.report.kinds[found.kind] = self.report.kinds.get(found.kind, 0) + 1
        if found.as_text:
            self.report.as_text[found.as_text] = self.report.as_text.get(found.as_text, 0) + 1
        uri = self._roots.address(file.path, self.branch_of(file.path))
        source = Source(self.id_of(file.path), "file", uri[:MAX_REF], file.path[:MAX_REF], content_hash=hash)
        return _Read(file, source, found.kind, pieces)

    def _nothing(self, file: File, hash: str, why: str, before: bool) -> None:
        """A file that says nothing; what it said before is retired."""
        self._skip(why)
        if hash:
            self.stamps(file.path).put(file, hash, "", why)
        if before:
            self._retire([file.path], self.branch_of(file.path))

    def _skip(self, why: str, count: int = 1) -> None:
        self.report.skipped[why] = self.report.skipped.get(why, 0) + count

    def _write(self, batch: list[_Read], known: dict[str, Source]) -> None:
        """Write what some files say: new pieces first, then what they take the place of, and the hashes last."""
        again = [read for read in batch if read.source.id in known]
        said = self._shelf.said([read.source.id for read in again]) if again else {}
        self._leave_out_the_projects(batch)
        fresh: list[tuple[_Read, Piece]] = []
        gone: list[Said] = []
        heirs: list[tuple[Said, int]] = []
        for read in batch:
            read.before = said.get(read.source.id, [])
            new, old = self._compare(read)
            waiting: dict[str, list[Said]] = {}
            for one in old:
                waiting.setdefault(one.place, []).append(one)
            for piece in new:
                if others := waiting.get(piece.key):
                    heirs.append((others.pop(0), len(fresh)))
                fresh.append((read, piece))
            gone += [one for some in waiting.values() for one in some]
        self.report.created += len(fresh)
        if self.report.dry_run:
            self.report.superseded += len(heirs)
            self.report.retired += len(gone)
            self.outdated |= self._shelf.unsupported([*gone, *(one for one, _ in heirs)])
            return
        ids = self._remember(fresh)
        replaced = [(one, ids[number]) for one, number in heirs]
        self._unsay([one for one, _ in replaced], [id for _, id in replaced], "the file says something else there now")
        self._unsay(gone, [], "the file does not say it any more")
        self._shelf.put([read.source for read in batch])
        for read in batch:
            self.stamps(read.file.path).put(read.file, read.source.content_hash, read.kind)

    def _leave_out_the_projects(self, batch: list[_Read]) -> None:
        """Of the files of a branch, leave out the pieces that say what the project's own version of the file says."""
        ids = {read.file.path: self._roots.id_of(read.file.path) for read in batch if self.branch_of(read.file.path)}
        said = self._shelf.said(list(ids.values())) if ids else {}
        for read in batch:
            known = {one.memory.content_hash for one in said.get(ids.get(read.file.path, ""), ())}
            if known:
                read.pieces = [piece for piece in read.pieces if self._key(piece) not in known]

    def _key(self, piece: Piece) -> str:
        return texts.key(self._cleaner.content(_truncate(piece.content, self._engine.settings.content_limit)))

    def _compare(self, read: _Read) -> tuple[list[Piece], list[Said]]:
        """The pieces of a file that are new, and what it said before and does not say now; the rest is kept."""
        if not read.before:
            return read.pieces, []
        by_key: dict[str, list[Said]] = {}
        for one in read.before:
            by_key.setdefault(one.memory.content_hash, []).append(one)
        new: list[Piece] = []
        for piece in read.pieces:
            kept = by_key.get(self._key(piece), [])
            same = next((one for one in kept if one.place == piece.key), kept[0] if kept else None)
            if same is None:
                new.append(piece)
                continue
            kept.remove(same)
            self.report.kept += 1
            self._refresh(read, piece, same)
            self._links.add(read.file.path, piece, same.memory.id)
        return new, [one for some in by_key.values() for one in some]

    def _refresh(self, read: _Read, piece: Piece, said: Said) -> None:
        """Bring a kept memory's other fields up to date: a status or a heading above it may have changed."""
        draft = self._draft(read, piece)
        changed: dict[str, Any] = {
            name: getattr(draft, name) for name in EDITED if getattr(draft, name) != getattr(said.memory, name)
        }
        if (
            piece.state == "active"
            and said.memory.state in ENDED
            and "tags" in changed
            and _was_ended(said.memory.tags)
        ):
            changed |= {"state": "active", "valid_to": None}
        if not changed or said.memory.state == "rejected":
            return
        try:
            if not self.report.dry_run:
                before = said.memory.version
                after = self._engine.edit(said.memory.id, reason="the file changed", **changed)
                self.report.edited += after.version != before
        except BadInput as error:
            self.report.failed[read.file.path] = error.message

    def _remember(self, fresh: Sequence[tuple[_Read, Piece]]) -> list[str]:
        """Store pieces; gives the id of each one's memory, or nothing where it was refused."""
        if not fresh:
            return []
        results = self._engine.remember_many([self._draft(read, piece) for read, piece in fresh], embed=False)
        ids = []
        for (read, piece), result in zip(fresh, results, strict=True):
            ids.append(result.id)
            for secret in result.redacted:
                self.report.secrets[secret] = self.report.secrets.get(secret, 0) + 1
            if result.memory is None:
                self.report.refused += 1
                self.report.created -= 1
                continue
            if result.action != "created":
                self.report.created -= 1
                self.report.kept += 1
                if result.memory.refs and result.memory.refs[0] in self._left:  # the file was moved here
                    self._refresh(read, piece, Said(piece.key, "", result.memory))
            self._links.add(read.file.path, piece, result.id)
        return ids

    def _draft(self, read: _Read, piece: Piece) -> Draft:
        source = replace(read.source, content_hash="")  # written when all of the file has landed
        scope = replace(self._scope, branch=self.branch_of(read.file.path))
        return draft_of(piece, read.file.path, source, scope, self._engine.settings.content_limit)

    def _gone(self, there: dict[str, None]) -> list[str]:
        """The files that were taken in from here before and are not there now."""
        stamps = self._of_project
        before = stamps.paths() if stamps.there else list(self._roots.stored())
        differs = self._apart.own | self._apart.older  # of the default branch, which may still have it
        return [path for path in before if path not in there and path not in differs and self._tree.covers(path)]

    def _left_by_branch(self, there: dict[str, None]) -> list[str]:
        """The files that the branch had of its own and has no longer: they are gone, or the default branch has them."""
        if not self._of_branch:
            return []
        branch = self._apart.branch
        before = self._of_branch.paths() if self._of_branch.there else list(self._roots.stored(branch))
        own = self._apart.own
        return [path for path in before if not (path in there and path in own) and self._tree.covers(path)]

    def _retire(self, paths: Sequence[str], branch: str = "") -> None:
        """Take back all that some files said, of a branch or of the project."""
        ids = {path: self._roots.id_of(path, branch) for path in paths}
        known = self._shelf.read(list(ids.values()))
        alive = [path for path in paths if (one := known.get(ids[path])) and one.content_hash]
        self.report.deleted += sum(not (self._tree.root / path).exists() for path in alive)
        said = self._shelf.said([ids[path] for path in alive])
        if self.report.dry_run:
            self.report.retired += sum(len(some) for some in said.values())
            self.outdated |= self._shelf.unsupported([one for some in said.values() for one in some])
            return
        stamps = self._of_branch if self._of_branch and branch else self._of_project
        for path in paths:
            if not (self._tree.root / path).exists() or branch != self.branch_of(path):
                stamps.drop(path)
        for n in range(0, len(alive), BATCH):
            some = [known[ids[path]] for path in alive[n : n + BATCH]]
            self._unsay([one for source in some for one in said.get(source.id, [])], [], "its file is gone")
            self._shelf.put([replace(source, content_hash="") for source in some])

    def _unsay(self, gone: Sequence[Said], heirs: Sequence[str], reason: str) -> None:
        if gone:
            counts = self._shelf.unsay(gone, heirs, reason)
            self.report.superseded += counts.superseded
            self.report.retired += counts.retired
            self._unsaid += [one.memory.id for one in gone if one.memory.kind == "decision"]

    def _revive(self) -> None:
        """Decisions whose successors are gone stand again, where their own files still say so."""
        for id in self._unsaid:
            for link in self._engine.links(id):
                if (link.origin, link.relation, link.target_kind) == (id, "supersedes", "memory"):
                    self._stand_again(self._engine.get(link.target, peek=True))

    def _stand_again(self, memory: Memory) -> None:
        if memory.state != "superseded" or _was_ended(memory.tags) or not memory.refs:
            return
        source = self.id_of(memory.refs[0])
        said = self._shelf.said([source]).get(source, [])
        after = [
            link.origin
            for link in self._engine.links(memory.id)
            if (link.relation, link.target, link.origin_kind) == ("supersedes", memory.id, "memory")
        ]
        held = any(self._engine.get(other, peek=True).state == "active" for other in after)
        if not held and any(one.memory.id == memory.id for one in said):
            self._engine.edit(memory.id, state="active", valid_to=None, reason="what took its place is gone")
            self.report.edited += 1

    def _tie(self) -> None:
        if not self.report.dry_run:
            self.report.links, superseded = self._links.write()
            self.report.superseded += superseded
            self._revive()


def draft_of(piece: Piece, path: str, source: Source, scope: Scope, limit: int) -> Draft:
    """A piece as it is asked to be remembered, every field within its limits."""
    line = next((line.strip() for line in piece.content.splitlines() if line.strip()), piece.content)
    return Draft(
        content=_truncate(piece.content, limit),
        kind=piece.kind,
        title=texts.shorten(piece.title, MAX_TITLE - 50),
        reasoning=_truncate(piece.reasoning, limit),
        context=_truncate(piece.context, limit),
        scope=scope,
        keywords=_bounded(piece.keywords, MAX_KEYWORDS, MAX_TAG),
        tags=_bounded(piece.tags, MAX_TAGS, MAX_TAG),
        refs=_bounded((path, *piece.refs), MAX_REFS, MAX_REF),
        importance=min(10, max(1, piece.importance)),
        valid_from=piece.valid_from,
        valid_to=piece.valid_to,
        source=source,
        evidence=(texts.shorten(line, 200),),
        place=piece.key[:MAX_REF],
    )


def _truncate(words: str, limit: int) -> str:
    """At most as much as fits in any script, with room for what redaction adds."""
    most = limit // 4 - 100
    return words if len(words) <= most else f"{words[:most]} …"


def _was_ended(tags: Sequence[str]) -> bool:
    """Whether a record's own status had ended it."""
    return bool({"status:superseded", *(f"status:{word}" for word in GONE)} & set(tags))


def _bounded(values: Iterable[str], most: int, longest: int) -> tuple[str, ...]:
    """As many as a memory may have, each as long as it may be."""
    short = (texts.shorten(value, longest - 4) for value in values)
    return tuple(dict.fromkeys(value for value in short if value))[:most]
