"""Ingestion: a file or a folder, taken in once and followed as it changes.

    walk → unchanged? → recognise → pieces → what is new, kept, changed or gone → the one write path → links

**A file is one source**, known by its address (`file:PROJECT/path`), with the hash of its bytes; a file whose hash is
the one in the store is not read again. Of one that changed, a piece that says what it said keeps its memory; one that
says something else at the same place supersedes it; one that is gone is retired, and so is all that a deleted file
said.

**Nothing is half done.** The hash is written after everything a file says has landed, and what is known is not stored
twice, so a run that was broken off is finished by the next.

**Decisions end.** A record that another took the place of is superseded, linked, and valid until the other's date.
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
from ..checks import MAX_TAG, MAX_TAGS, Cleaner
from ..engine import Engine
from ..errors import BadInput, ModelUnavailable
from ..redact import redact
from ..remember.drafts import MAX_KEYWORDS, MAX_REF, MAX_REFS, MAX_TITLE
from ..remember.shelf import Said, shelved
from ..types import Draft, Memory, Noun, Scope, Source
from . import ties, walk
from .adr import GONE
from .piece import Piece
from .recognise import KINDS, Kind, decoded, may_be, passed_over, recognise
from .stamps import Stamps
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
    files: int = 0
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
    tree = walk.found(Path(path), only)
    name = project if project is not None else engine.settings.project or project_of(os.fspath(tree.root))
    name = Cleaner(1000).scope(Scope(project=name)).project
    run = _Run(engine, tree, name, kind, dry_run)
    if not tree.files and not Path(path).exists() and not run.known_before():
        raise BadInput(f"There is no {path}.", fix="Name a file or a folder.")
    return run.run(progress)


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
        self._stamps = Stamps(engine, project, tree.root)
        self._shelf = engine.shelf
        self._ties = ties.Ties(engine, self._scope, self.id_of)
        self._ids: dict[str, str] = {}
        self._unsaid: list[str] = []  # decisions that a file no longer says
        self._left: set[str] = set()  # files that were here before and are not now
        self.report = Report(project=project, dry_run=dry_run)

    def address(self, path: str) -> str:
        return f"file:{self._scope.project}/{path}"

    def id_of(self, path: str) -> str:
        if path not in self._ids:
            self._ids[path] = shelved(self.address(path), self._scope.user)
        return self._ids[path]

    def known_before(self) -> bool:
        return bool(self._gone({}))

    def run(self, progress: Progress | None) -> Report:
        files = self._tree.files
        known = self._shelf.read([self.id_of(file.path) for file in files])
        gone = self._gone({file.path: None for file in files})
        self._left.update(gone)
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
        self._tie()
        if not self.report.dry_run:
            self._stamps.save()
        for why, count in self._tree.skipped.items():
            self._skip(why, count)
        if progress:
            progress(len(files) + 1, len(files) + 1)
        return self.report

    # -- reading ------------------------------------------------------------------------------------------------------

    def _look(self, file: File, known: dict[str, Source]) -> _Read | None:
        """What is new in a file, or nothing."""
        id = self.id_of(file.path)
        before = known[id].content_hash if id in known else ""
        taken_for = self._stamps.kind(file.path) if before else ""  # somebody may have named a file of an odd name
        if why := passed_over(file.path, file.size, self._kind or taken_for or None):
            self._nothing(file, "", why, bool(before))
            return None
        same_kind = self._kind is None or self._kind == self._stamps.kind(file.path)
        stamped = self._stamps.hash(file)
        if stamped is not None and same_kind:
            if why := self._stamps.empty(file):
                if not before:
                    self._skip(why)
                    return None
            elif stamped == before:
                self.report.unchanged += 1
                return None
        try:
            raw = (self._tree.root / file.path).read_bytes()
        except OSError as error:
            self.report.failed[file.path] = error.strerror or str(error)
            return None
        hash = hashlib.sha256(raw).hexdigest()
        if hash == before and same_kind:
            self._stamps.put(file, hash, self._stamps.kind(file.path) or "docs")
            self.report.unchanged += 1
            return None
        text = decoded(raw)
        if text is None:
            self._nothing(file, hash, "not text", bool(before))
            return None
        if self._kind and not self._one and not may_be(file.path, text, self._kind):
            self._skip(f"not {NAMED[self._kind]}")  # what it said as something else stays
            return None
        found = recognise(file.path, text, self._kind)
        pieces = [piece for piece in found.pieces if texts.fold(texts.clean(piece.content))]
        if not pieces:
            self._nothing(file, hash, "nothing in it", bool(before))
            return None
        self.report.files += 1
        self.report.pieces += len(pieces)
        self.report.kinds[found.kind] = self.report.kinds.get(found.kind, 0) + 1
        if found.as_text:
            self.report.as_text[found.as_text] = self.report.as_text.get(found.as_text, 0) + 1
        source = Source(id, "file", self.address(file.path)[:MAX_REF], file.path[:MAX_REF], content_hash=hash)
        return _Read(file, source, found.kind, pieces)

    def _nothing(self, file: File, hash: str, why: str, before: bool) -> None:
        """A file that says nothing; what it said before is retired."""
        self._skip(why)
        if hash:
            self._stamps.put(file, hash, "", why)
        if before:
            self._retire([file.path])

    def _skip(self, why: str, count: int = 1) -> None:
        self.report.skipped[why] = self.report.skipped.get(why, 0) + count

    # -- writing ------------------------------------------------------------------------------------------------------

    def _write(self, batch: list[_Read], known: dict[str, Source]) -> None:
        """Write what some files say: new pieces first, then what they take the place of, and the hashes last."""
        again = [read for read in batch if read.source.id in known]
        said = self._shelf.said([read.source.id for read in again]) if again else {}
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
            return
        ids = self._remember(fresh)
        replaced = [(one, ids[number]) for one, number in heirs]
        self._unsay([one for one, _ in replaced], [id for _, id in replaced], "the file says something else there now")
        self._unsay(gone, [], "the file does not say it any more")
        self._shelf.put([read.source for read in batch])
        for read in batch:
            self._stamps.put(read.file, read.source.content_hash, read.kind)

    def _compare(self, read: _Read) -> tuple[list[Piece], list[Said]]:
        """The pieces of a file that are new, and what it said before and does not say now; the rest is kept."""
        if not read.before:
            return read.pieces, []
        cleaner = Cleaner(self._engine.settings.content_limit, redact)
        by_key: dict[str, list[Said]] = {}
        for one in read.before:
            by_key.setdefault(one.memory.content_hash, []).append(one)
        new: list[Piece] = []
        for piece in read.pieces:
            kept = by_key.get(texts.key(cleaner.content(self._fitting(piece.content))), [])
            same = next((one for one in kept if one.place == piece.key), kept[0] if kept else None)
            if same is None:
                new.append(piece)
                continue
            kept.remove(same)
            self.report.kept += 1
            self._refresh(read, piece, same)
            self._ties.add(read.file.path, piece, same.memory.id)
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
            self._ties.add(read.file.path, piece, result.id)
        return ids

    def _draft(self, read: _Read, piece: Piece) -> Draft:
        source = replace(read.source, content_hash="")  # written when all of the file has landed
        return drafted(piece, read.file.path, source, self._scope, self._engine.settings.content_limit)

    def _fitting(self, words: str) -> str:
        return _fitting(words, self._engine.settings.content_limit)

    # -- taking back --------------------------------------------------------------------------------------------------

    def _gone(self, there: dict[str, None]) -> list[str]:
        """The files that were taken in from here before and are not there now."""
        start = self.address("")
        if self._stamps.there:
            before: Iterable[str] = self._stamps.paths()
        else:
            before = [one.uri.removeprefix(start) for one in self._shelf.under(self.address(self._tree.below))]
        return [path for path in before if path not in there and self._tree.covers(path)]

    def _retire(self, paths: Sequence[str]) -> None:
        """Take back all that some files said."""
        known = self._shelf.read([self.id_of(path) for path in paths])
        alive = [path for path in paths if (one := known.get(self.id_of(path))) and one.content_hash]
        self.report.deleted += sum(not (self._tree.root / path).exists() for path in alive)
        said = self._shelf.said([self.id_of(path) for path in alive])
        if self.report.dry_run:
            self.report.retired += sum(len(some) for some in said.values())
            return
        for path in paths:
            if not (self._tree.root / path).exists():
                self._stamps.drop(path)
        for n in range(0, len(alive), BATCH):
            some = [known[self.id_of(path)] for path in alive[n : n + BATCH]]
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

    # -- tying --------------------------------------------------------------------------------------------------------

    def _tie(self) -> None:
        if not self.report.dry_run:
            self.report.links, superseded = self._ties.write()
            self.report.superseded += superseded
            self._revive()


def drafted(piece: Piece, path: str, source: Source, scope: Scope, limit: int) -> Draft:
    """A piece as it is asked to be remembered, every field within its limits."""
    line = next((line.strip() for line in piece.content.splitlines() if line.strip()), piece.content)
    return Draft(
        content=_fitting(piece.content, limit),
        kind=piece.kind,
        title=texts.shorten(piece.title, MAX_TITLE - 50),
        reasoning=_fitting(piece.reasoning, limit),
        context=_fitting(piece.context, limit),
        scope=scope,
        keywords=_few(piece.keywords, MAX_KEYWORDS, MAX_TAG),
        tags=_few(piece.tags, MAX_TAGS, MAX_TAG),
        refs=_few((path, *piece.refs), MAX_REFS, MAX_REF),
        importance=min(10, max(1, piece.importance)),
        valid_from=piece.valid_from,
        valid_to=piece.valid_to,
        source=source,
        evidence=(texts.shorten(line, 200),),
        place=piece.key[:MAX_REF],
    )


def _fitting(words: str, limit: int) -> str:
    """At most as much as fits in any script, with room for what redaction adds."""
    most = limit // 4 - 100
    return words if len(words) <= most else f"{words[:most]} …"


def _was_ended(tags: Sequence[str]) -> bool:
    """Whether a record's own status had ended it."""
    return bool({"status:superseded", *(f"status:{word}" for word in GONE)} & set(tags))


def _few(values: Iterable[str], most: int, longest: int) -> tuple[str, ...]:
    """As many as a memory may have, each as long as it may be."""
    short = (texts.shorten(value, longest - 4) for value in values)
    return tuple(dict.fromkeys(value for value in short if value))[:most]
