"""Checkpoints: names for places in the journal, what changed since, and going back.

A checkpoint is the number of a journal row. Going back appends the inverse changes in one transaction, so nothing is
lost, and a checkpoint set just before takes the rollback back. A dry run does the same and lets go of it at the end.

**What going back does not touch**, and names in its result: what was rejected since, what was rejected then and is not
any more, values that a tombstone forbids, what was purged, and what was written anew to take a secret out. A memory
that came since is archived; sources stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from .. import checks, times
from ..checks import MAX_NAME, MAX_TAG, MAX_TAGS, Cleaner, one_of
from ..errors import BadInput, BadTime, NotFound, RecollectError
from ..history_types import Checkpoint, Difference, Differences, RolledBack, TakenBack
from ..redact import redact
from ..remember.write import Writer
from ..store.contract import Transaction
from ..store.rows import changed, record
from ..store.trail import Trace
from ..types import EVERYWHERE, KINDS, Entity, Entry, Evidence, Link, Memory, Scope, Source, Tombstone
from . import sharing
from .asof import Past, Rows, undone
from .undo import May, Undo

MOST = 1000  # memories of each sort that a difference names
MAX_CHECKPOINTS = 10_000
AUTOMATIC, KEPT_AUTOMATIC = "before-", 50
LIVE = ("active", "pending")
COUNTED = ("observed", "updated_at")  # fields that change without anything being said differently
_NUMBER = re.compile(r"#(\d{1,15})")
_POINTS = (
    "Name a checkpoint, now, #NUMBER of a change, or a time: 2026-03-01T09:30:00Z, 2026-03-01, or 1d for a day ago. "
    "See the checkpoints with: recollect checkpoint list"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which memories a rollback is about; what is empty does not narrow. Sources are ids or addresses."""

    scope: Scope = EVERYWHERE
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def has(self, memory: Memory, uris: dict[str, str]) -> bool:
        return (
            self.scope.contains(memory.scope)
            and (not self.kinds or memory.kind in self.kinds)
            and (not self.tags or bool(set(self.tags) & set(memory.tags)))
            and (not self.sources or memory.source in self.sources or uris.get(memory.source, "") in self.sources)
            and (not self.agents or memory.scope.agent in self.agents)
        )

    @property
    def whole(self) -> bool:
        """Whether all that lies in the scope is meant, and not only some of its memories."""
        return not (self.kinds or self.tags or self.sources or self.agents)


class _Preview(Exception):
    """Raised at the end of a dry run, so that the transaction is let go."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    writer: Writer

    def create(self, name: str, *, scope: Scope = EVERYWHERE, reason: str = "") -> Checkpoint:
        """Name the present state of a scope, or of everything."""
        cleaner = Cleaner(MAX_NAME, redact)
        name, reason = cleaner.text(name, "name", MAX_NAME), cleaner.text(reason, "reason", 1000)
        if not name or name == "now" or _NUMBER.fullmatch(name) or _time(name):
            raise BadInput(f"A checkpoint cannot be called {name!r}.", fix="Choose a name, such as before-the-move.")
        where = cleaner.scope(scope)
        with self.writer.changing() as changes:
            known = self.all()
            if any(one.name == name for one in known):
                raise BadInput(f"There is a checkpoint {name!r} already.", fix="Choose another name, or delete it.")
            if len(known) >= MAX_CHECKPOINTS:
                raise BadInput(f"There are {len(known)} checkpoints.", fix="Delete some that are not needed any more.")
            return self._put(changes, name, where, reason)

    def automatic(self, before: str, *, scope: Scope = EVERYWHERE) -> Checkpoint | None:
        """Name the present state before something large is done; old ones of this sort make room.

        None where there is nothing yet that could be lost.
        """
        with self.writer.changing() as changes:
            return self._automatic(changes, before, scope)

    @contextmanager
    def around(self, what: str) -> Iterator[list[Checkpoint]]:
        """Name the state before something that may change nothing: only if it did, and also where it failed.

        The list has the checkpoint when the block has ended.
        """
        head = self.writer.store.head(self.writer.tenant)
        made: list[Checkpoint] = []
        try:
            yield made
        finally:
            if head and self.writer.store.head(self.writer.tenant) > head:
                with self.writer.changing() as changes:
                    made.extend(filter(None, [self._automatic(changes, what, EVERYWHERE, head)]))

    def _automatic(
        self, changes: Transaction, before: str, scope: Scope, seq: int | None = None
    ) -> Checkpoint | None:  # fmt: skip
        writer = self.writer
        head = writer.store.head(writer.tenant) if seq is None else seq
        if not head:
            return None
        old = [one for one in self.all() if one.name.startswith(AUTOMATIC)]
        for one in old[KEPT_AUTOMATIC - 1 :]:
            changes.drop(Checkpoint, one.id, "drop", "newer ones were set")
        now = writer.now()
        name = f"{AUTOMATIC}{before}-{now:%Y%m%dT%H%M%S}-{head}"
        taken = {one.name for one in old}
        unique = next(n for n in (name, *(f"{name}.{k}" for k in range(2, 1000))) if n not in taken)
        return self._put(changes, unique, scope, f"set by itself before: {before}", head)

    def _put(
        self, changes: Transaction, name: str, scope: Scope, reason: str, seq: int | None = None
    ) -> Checkpoint:  # fmt: skip
        writer, now = self.writer, self.writer.now()
        # Nobody else can write while this transaction stands, so what is committed is all there is.
        head = writer.store.head(writer.tenant) if seq is None else seq
        made = Checkpoint(writer.new_id(now), name, head, scope, reason, now)
        changes.put(made, "create", reason)
        return made

    def all(self) -> list[Checkpoint]:
        """Every checkpoint, newest first."""
        every = self.writer.store.each(self.writer.tenant, Checkpoint)
        return sorted(every, key=lambda one: (one.seq, one.id), reverse=True)

    def get(self, name: str) -> Checkpoint:
        for one in self.all():
            if name in (one.name, one.id):
                return one
        raise NotFound(f"There is no checkpoint {str(name)[:60]!r}.", fix="See them with: recollect checkpoint list")

    def delete(self, name: str, *, inside: Scope = EVERYWHERE) -> Checkpoint:
        """Forget a name; what it named stays in the journal."""
        with self.writer.changing() as changes:
            found = self.get(name)
            if not inside.contains(found.scope):
                raise NotFound(f"There is no checkpoint {name!r}.")
            changes.drop(Checkpoint, found.id, "drop")
        return found

    def place(self, named: str | int | datetime) -> tuple[int, Scope]:
        """The journal row that a checkpoint, `now`, a time or a number (`#120`) stands for, and the scope it is of.

        A time is ISO with its zone, a day of this machine's zone, or how long ago: `1d`.
        """
        writer = self.writer
        head = writer.store.head(writer.tenant)
        if isinstance(named, datetime):
            return writer.store.reached(writer.tenant, times.aware(named, "time")), EVERYWHERE
        if isinstance(named, int) and not isinstance(named, bool):
            return max(0, min(named, head)), EVERYWHERE
        name = str(named).strip()
        if name == "now":
            return head, EVERYWHERE
        if number := _NUMBER.fullmatch(name):
            return min(int(number[1]), head), EVERYWHERE
        for one in self.all():
            if name in (one.name, one.id):
                return one.seq, one.scope
        try:
            moment = checks.moment(name, writer.now(), None)
        except BadTime as error:
            raise NotFound(f"{name[:60]!r} is neither a checkpoint nor a time.", fix=_POINTS) from error
        return writer.store.reached(writer.tenant, moment), EVERYWHERE

    def diff(
        self, first: str | int | datetime, last: str | int | datetime = "now", *, scope: Scope | None = None,
        limit: int = MOST,
    ) -> Differences:  # fmt: skip
        """What changed between two places, in a scope: checkpoints, times, `now` or numbers of journal rows."""
        if not isinstance(limit, int) or not 1 <= limit <= MOST:
            raise BadInput(f"limit must be a whole number from 1 to {MOST}, not {limit!r}.")
        (start, own), (end, other) = self.place(first), self.place(last)
        if start > end:
            start, end = end, start
        where = scope if scope is not None else own if own != EVERYWHERE else other
        found = _Differences(where, limit)
        for id, (before, after, rows) in self._between(start, end).items():
            found.add(id, before, after, rows)
        by = self._standing_for([one.id for one in found.lists["superseded"]])
        superseded = tuple(replace(one, by=by.get(one.id, "")) for one in found.lists["superseded"])
        lists = {name: tuple(found.lists[name]) for name in ("added", "changed", "removed")}
        return Differences(start, end, where, superseded=superseded, counts=found.counts, **lists)

    def _between(self, start: int, end: int) -> dict[str, tuple[Memory | None, Memory | None, list[Entry]]]:
        """Each memory that changed between two rows: before, after, and the rows between."""
        past = Past(self.writer.store, self.writer.tenant)
        rows = past.later(Trace(after=start, nouns=("memory",)))
        between = {id: [row for row in found if row.seq <= end] for id, found in rows.items()}
        wanted = {id: found for id, found in rows.items() if between[id]}
        after = past.nouns(Memory, {id: [row for row in found if row.seq > end] for id, found in wanted.items()})
        pairs = {}
        for id in wanted:
            then = after.get(id)
            fields = undone(record(then) if then else None, between[id])
            pairs[id] = Memory.from_dict(fields) if fields else None, then, between[id]
        return pairs

    def _standing_for(self, ids: Sequence[str]) -> dict[str, str]:
        links = self.writer.store.of(self.writer.tenant, Link, ids, "target")
        return {link.target: link.origin for link in links if link.relation == "supersedes"}

    def rollback(
        self, to: str | int | datetime, *, scope: Scope | None = None, kinds: Sequence[str] = (),
        tags: Sequence[str] = (), sources: Sequence[str] = (), agents: Sequence[str] = (), dry_run: bool = False,
        reason: str = "",
    ) -> RolledBack:  # fmt: skip
        """Bring a scope back to how it was; only memories of some kinds, tags, sources or agents where these are named.

        With `dry_run` nothing happens: the result is what would.
        """
        cleaner, writer = Cleaner(MAX_NAME, redact), self.writer
        seq, own = self.place(to)
        where = own if scope is None else cleaner.scope(scope)
        if not own.contains(where):
            raise BadInput(f"The checkpoint is of {own}; {where} lies outside.", fix="Name a place inside it.")
        chosen = Chosen(
            where,
            tuple(one_of(kind, KINDS, "kind") for kind in kinds),
            cleaner.texts(tuple(tags), "tags", MAX_TAGS, MAX_TAG),
            cleaner.texts(tuple(sources), "sources", 1000, MAX_NAME),
            cleaner.texts(tuple(agents), "agents", 1000, MAX_NAME),
        )
        why = cleaner.text(reason, "reason", 1000) or f"back to {to}"
        result = RolledBack(str(to), seq, where, dry_run=dry_run)
        try:
            with self.writer.changing() as changes:
                undo = self._automatic(changes, "rollback", where)
                work = _Rollback(writer, changes, chosen, why)
                work.run(seq)
                result = replace(work.result(result), undo=undo.name if undo and not dry_run else "")
                work.end(keep=not dry_run)
        except _Preview:
            return replace(result, undo="")
        return result

    def undo(
        self, changes: Sequence[str], *, by: str = "", may: May = lambda memory: True, reason: str = ""
    ) -> TakenBack:
        """Take single changes back by their numbers (`120`, `120-124`), all of them or none.

        Nothing happens where one of the things they changed has been changed since. With `by`, only what this actor did
        is taken back; `may` raises for a memory that the caller may not change.
        """
        why = Cleaner(MAX_NAME, redact).text(reason, "reason", 1000)
        return Undo(self.writer).run(changes, by=by, may=may, reason=why)


class _Differences:
    """Sorts pairs of a memory before and after into what a person would call them."""

    def __init__(self, scope: Scope, limit: int) -> None:
        self._scope, self._limit = scope, limit
        self.lists: dict[str, list[Difference]] = {n: [] for n in ("added", "changed", "removed", "superseded")}
        self.counts = dict.fromkeys((*self.lists, "said_again", "purged"), 0)

    def add(self, id: str, before: Memory | None, after: Memory | None, rows: Sequence[Entry]) -> None:
        if after is None and any(row.operation == "purge" for row in rows):
            # Whose it was cannot be told any more, so it is told only to who asks for everything.
            self.counts["purged"] += self._scope == EVERYWHERE
            return
        old = before if before and self._scope.contains(before.scope) else None
        new = after if after and self._scope.contains(after.scope) else None
        stood, stands = (one is not None and one.state in LIVE for one in (old, new))
        if old and new and stood and stands:
            was, now = changed(record(old), record(new))
            fields = {name: [was[name], now[name]] for name in now if name not in (*COUNTED, "content_hash")}
            if now:
                self._note("changed" if fields else "said_again", new, fields)
        elif new and stands:
            self._note("added", new, {"state": [old.state, new.state]} if old else {})
        elif old and stood:
            gone = new or replace(old, state="archived")
            self._note("superseded" if gone.state == "superseded" else "removed", gone, {})

    def _note(self, sort: str, memory: Memory, fields: dict[str, Any]) -> None:
        self.counts[sort] += 1
        if sort in self.lists and len(self.lists[sort]) < self._limit:
            self.lists[sort].append(
                Difference(memory.id, memory.kind, memory.content, memory.scope, memory.state, fields)
            )


@dataclass(slots=True)
class _Rollback:
    """One rollback under the write lock."""

    writer: Writer
    changes: Transaction
    chosen: Chosen
    why: str
    restored: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    stones: set[str] = field(default_factory=set)  # keys of statements that some tombstone names
    forbidden: set[str] = field(default_factory=set)  # keys of whole texts that some tombstone names
    twins: set[str] = field(default_factory=set)  # keys of texts that more than one memory has, or another one
    links: int = 0
    evidence: int = 0
    entities: int = 0
    shared: int = 0

    @property
    def did(self) -> bool:
        return bool(self.restored or self.archived or self.links or self.evidence or self.entities or self.shared)

    def end(self, *, keep: bool) -> None:
        """Let go of the transaction where nothing is to be kept."""
        if not (keep and self.did):
            raise _Preview

    def result(self, empty: RolledBack) -> RolledBack:
        return replace(
            empty, restored=tuple(self.restored), archived=tuple(self.archived), links=self.links,
            evidence=self.evidence, entities=self.entities, shared=self.shared, skipped=self.skipped,
        )  # fmt: skip

    def run(self, seq: int) -> None:
        past = Past(self.writer.store, self.writer.tenant)
        rows = past.later(Trace(after=seq, nouns=("memory", "evidence", "link", "entity")))
        nouns: dict[str, Rows] = {"memory": {}, "evidence": {}, "link": {}, "entity": {}}
        for id, entries in rows.items():
            nouns[entries[0].noun][id] = entries
        before = past.nouns(Memory, nouns["memory"])
        now = self.writer.store.memories(self.writer.tenant, list(nouns["memory"]))
        uris = self._uris(before, now)
        self._look_ahead([memory for memory in before.values() if memory.state in LIVE], sorted(now))
        # What frees a value goes first, so that what takes its place again finds it free.
        fresh = [id for id in now if id not in before]
        for id in sorted(fresh):
            if self.chosen.has(now[id], uris):
                self._archive(now[id], nouns["memory"][id])
        again = sorted(before, key=lambda one: (before[one].state in LIVE, one))
        touched = {id for id in fresh if self.chosen.has(now[id], uris)}
        for id in again:
            if id in now and (self.chosen.has(before[id], uris) or self.chosen.has(now[id], uris)):
                touched.add(id)
                self._restore(before[id], now[id], nouns["memory"][id])
        self._entities_back(past, nouns["entity"])
        self._evidence(past, nouns["evidence"], touched - set(fresh))
        self._links(past, nouns["link"], touched)
        self._entities_away(past, nouns["entity"])
        if self.chosen == Chosen(EVERYWHERE):
            self.shared = sharing.roll_back(self.writer, self.changes, seq, self.why)

    def _look_ahead(self, wanted: Sequence[Memory], changing: Sequence[str]) -> None:
        """Ask once for what would otherwise be asked for each memory."""
        store, tenant = self.writer.store, self.writer.tenant
        self.changes.read_ahead(Memory, changing)
        self.stones = self.writer.tombstoned(wanted)
        mine = {memory.id: memory.content_hash for memory in wanted}
        keys = sorted(set(mine.values()))
        self.forbidden |= {stone.key for stone in store.of(tenant, Tombstone, keys, "key")}
        same = store.of(tenant, Memory, keys, "content_hash")
        self.twins |= {memory.content_hash for memory in same if mine.get(memory.id) != memory.content_hash}
        counts = Counter(mine.values())
        self.twins |= {key for key, count in counts.items() if count > 1}

    def _uris(self, *sides: dict[str, Memory]) -> dict[str, str]:
        if not self.chosen.sources:
            return {}
        ids = sorted({memory.source for side in sides for memory in side.values()})
        return {one.id: one.uri for one in self.writer.store.of(self.writer.tenant, Source, ids)}

    def _archive(self, memory: Memory, rows: Sequence[Entry]) -> None:
        """What came since leaves recall; where that is not sure, because its beginning was blanked, it stays."""
        if any(row.purged or row.operation == "restate" for row in rows):
            self.skipped[memory.id] = "its history was blanked"
        elif memory.state in LIVE:
            self.changes.put(replace(memory, state="archived"), "rollback", self.why)
            self.archived.append(memory.id)

    def _restore(self, wanted: Memory, memory: Memory, rows: Sequence[Entry]) -> None:
        if record(wanted) == record(memory):
            return
        if why := self._forbidden(wanted, memory, rows):
            self.skipped[memory.id] = why
            return
        self.changes.put(wanted, "rollback", self.why)
        self.restored.append(memory.id)

    def _forbidden(self, wanted: Memory, memory: Memory, rows: Sequence[Entry]) -> str:
        if any(row.purged or row.operation == "restate" for row in rows):
            return "its history was blanked"
        if memory.state == "rejected":
            return "it was rejected"
        if wanted.state == "rejected":
            return "its rejection was taken back"
        if wanted.state in LIVE:
            key = wanted.content_hash
            named = key in self.forbidden or bool(self.stones)
            if named and self.writer.rejected(self.changes, wanted, self.stones):
                return "its value was rejected"
            same = self.changes.same(key, wanted.scope) if key in self.twins else None
            if same and same.id != wanted.id:
                return f"memory {same.id} says the same"
        return ""

    def _evidence(self, past: Past, rows: Rows, memories: set[str]) -> None:
        """Proof of what was there already: what was added since goes, what went comes back."""
        before = past.nouns(Evidence, rows)
        for id in sorted(rows):
            today = self.changes.get(Evidence, id)
            then = before.get(id)
            if today and not then and today.memory in memories and today.memory not in self.skipped:
                self.evidence += self.changes.drop(Evidence, id, "rollback", self.why)
            elif then and not today and then.memory in memories and self.changes.get(Source, then.source):
                self.evidence += self.changes.put(then, "rollback", self.why)

    def _links(self, past: Past, rows: Rows, memories: set[str]) -> None:
        before = past.nouns(Link, rows)
        for id in sorted(rows):
            today, then = self.changes.get(Link, id), before.get(id)
            one = today or then
            if one is None or not self._mine(one, memories) or {one.origin, one.target} & self.skipped.keys():
                continue
            if today and not then:
                self.links += self.changes.drop(Link, id, "rollback", self.why)
            elif then and not today and self._ends(then) and not self._tied(then):
                self.links += self.changes.put(then, "rollback", self.why)

    def _mine(self, link: Link, memories: set[str]) -> bool:
        ends = [end for kind, end in _ends(link) if kind == "memory"]
        if ends:
            return any(end in memories for end in ends) or any(self._chosen(end) for end in ends)
        return self.chosen.whole and all(self._in_scope(self.changes.get(Entity, end)) for _, end in _ends(link))

    def _chosen(self, id: str) -> bool:
        """Whether a memory that did not change itself is one that was meant."""
        memory = self.changes.get(Memory, id) if self.chosen.whole else None
        return memory is not None and self.chosen.scope.contains(memory.scope)

    def _ends(self, link: Link) -> bool:
        return all(self.changes.get(Memory if kind == "memory" else Entity, end) for kind, end in _ends(link))

    def _tied(self, link: Link) -> bool:
        """Whether the same tie was made again since: there can be only one."""
        known = self.writer.store.of(self.writer.tenant, Link, [link.origin], "origin")
        return any((one.relation, one.target) == (link.relation, link.target) for one in known)

    def _entities_back(self, past: Past, rows: Rows) -> None:
        if self.chosen.whole:
            for id, then in sorted(past.nouns(Entity, rows).items()):
                taken = self.writer.store.of(self.writer.tenant, Entity, [then.key], "key")
                if not self.changes.get(Entity, id) and self._in_scope(then) and not taken:
                    self.entities += self.changes.put(then, "rollback", self.why)

    def _entities_away(self, past: Past, rows: Rows) -> None:
        """Entities that came since go, unless something that stays speaks of them."""
        before = past.nouns(Entity, rows) if self.chosen.whole else {}
        for id in sorted(rows) if self.chosen.whole else ():
            today = self.changes.get(Entity, id)
            if today and id not in before and self._in_scope(today) and not self._spoken_of(id):
                self.entities += self.changes.drop(Entity, id, "rollback", self.why)

    def _spoken_of(self, id: str) -> bool:
        store, tenant = self.writer.store, self.writer.tenant
        links = [*store.of(tenant, Link, [id], "origin"), *store.of(tenant, Link, [id], "target")]
        return any(self.changes.get(Link, link.id) for link in links)

    def _in_scope(self, entity: Entity | None) -> bool:
        """An entity is of a project or of all; a narrower place than a project has none of its own."""
        own = Scope(project=entity.project) if entity else EVERYWHERE
        return entity is not None and self.chosen.scope.contains(own)


def _ends(link: Link) -> Iterator[tuple[str, str]]:
    yield link.origin_kind, link.origin
    yield link.target_kind, link.target


def _time(name: str) -> datetime | None:
    try:
        return times.aware(name, "time")
    except RecollectError:
        return None
