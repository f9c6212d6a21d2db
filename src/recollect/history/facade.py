"""History: what an engine asks of the past, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from .. import checks, times
from ..checks import MAX_NAME, Cleaner
from ..errors import BadInput, NotFound
from ..history_types import Audit, EntityState, Retained, Sighting
from ..remember.write import Writer
from ..store.changes import MANY
from ..store.trail import Trace
from ..types import EVERYWHERE, Entry, Filter, Memory, Scope
from . import provenance
from .asof import HELD_ONCE, Past
from .checkpoints import Checkpoints
from .derived import trace
from .erase import Erased, Eraser
from .policies import Policies

MAX_ROWS = 1000
BULK = 10  # memories that are forgotten at once from which a checkpoint is set before
Moment = datetime | str | None


@dataclass(frozen=True, slots=True)
class History:
    writer: Writer
    home: Path

    @property
    def past(self) -> Past:
        return Past(self.writer.store, self.writer.tenant)

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.writer)

    @property
    def policies(self) -> Policies:
        # How long turns are kept says nothing about what was learnt from them.
        return Policies(self.writer, lambda memories, reason: self.erase(memories, reason, keep=True))

    def retain(self, actor: str, dry_run: bool, beat: Callable[[], None]) -> Retained:
        """Apply the retention policies in somebody's name, or tell what that would do."""
        theirs = replace(self, writer=replace(self.writer, actor=actor))
        return theirs.policies.apply(dry_run=dry_run, beat=beat)

    # -- looking back -------------------------------------------------------------------------------------------------

    def get(self, find: Callable[[], Memory], id: str, as_of: Moment, true_at: Moment) -> Memory:
        """A memory as it was known at a time; of those that stood for one another, the one that held then."""
        known = None if as_of is None else times.aware(as_of, "as_of")
        try:
            memory = find()
        except NotFound:
            if known is None:
                raise
            return self._dropped(id, known)
        if true_at is not None:
            true = self.past.version(memory, times.aware(true_at, "true_at"))
            if true is None:
                raise NotFound(f"Neither memory {memory.id} nor what it stands for held then.")
            memory = true
        if known is None:
            return memory
        then = self.past.memories([memory.id], known).get(memory.id)
        if then is None:
            raise NotFound(f"Memory {memory.id} was not known then.")
        return then

    def _dropped(self, id: str, known: datetime) -> Memory:
        then = self.past.memories([id], known).get(id)
        if then is None:
            raise NotFound(f"No memory has the id {id!r}.")
        return then

    def page(
        self, filter: Callable[[datetime | None, Any], Filter], filters: dict[str, Any], after: str | None, limit: int
    ) -> list[Memory] | None:
        """A page of what was known and true at a time; None where no time is asked for."""
        as_of, true_at = filters.pop("as_of", None), filters.pop("true_at", None)
        if as_of is None and true_at is None:
            return None
        known = None if as_of is None else times.aware(as_of, "as_of")
        true = None if true_at is None else times.aware(true_at, "true_at")
        if true is not None:
            filters.setdefault("states", HELD_ONCE)
        wanted, found = filter(true, filters), list[Memory]()
        while len(found) < limit:
            if known is None:
                batch = self.writer.store.page(self.writer.tenant, wanted, after, limit)
            else:
                batch = self.past.page(wanted, known, after, limit)
            found += batch if true is None else self.past.true(batch, true)
            if len(batch) < limit:
                break
            after = batch[-1].id
        return found[:limit]

    def state(self, entity: str, at: Moment, true_at: Moment, scope: Scope) -> EntityState:
        name = Cleaner(MAX_NAME).text(entity, "entity", MAX_NAME)
        known = self.writer.now() if at is None else times.aware(at, "at")
        true = known if true_at is None else times.aware(true_at, "true_at")
        found = self.past.entity(name, known, true, scope) if name else None
        if found is None:
            raise NotFound(f"No entity was called {name!r} then.", fix="Names are told apart as they are written.")
        return found

    # -- what speaks for it -------------------------------------------------------------------------------------------

    def rows(self, id: str) -> list[Entry]:
        """Every journal row of a noun, oldest first."""
        return list(self.writer.store.each_entry(self.writer.tenant, Trace(targets=(id,))))

    def audit(self, *, reads: bool, limit: int, cursor: int | None, project: str = "", **asked: Any) -> Audit:
        """The audit log, newest first. `asked` are lists of actors, operations, nouns and targets, since and until."""
        checks.within(limit, 1, MAX_ROWS, "limit", whole=True)
        if cursor is not None:
            checks.within(cursor, 1, 2**53, "cursor", whole=True)
        first, last = checks.span(asked.get("since"), asked.get("until"), ("since", "until"))
        cleaner = Cleaner(MAX_NAME)
        lists: dict[str, Any] = {
            name: cleaner.texts(tuple(asked.get(name) or ()), name, MANY, MAX_NAME)
            for name in ("targets", "nouns", "operations", "actors")
        }
        trace = Trace(
            until_seq=None if cursor is None else cursor - 1, since=first, until=last,
            project=cleaner.text(project, "project", MAX_NAME), **lists,
        )  # fmt: skip
        return provenance.audit(self.writer.store, self.writer.tenant, trace, reads=reads, limit=limit)

    def rate(self, memory: Memory, helped: bool, session: str) -> Sighting:
        """Say whether a memory helped, of the last time it was shown (in a session); noted anew if it never was."""
        writer = self.writer
        where = Cleaner(MAX_NAME).text(session, "session", MAX_NAME)
        if not isinstance(helped, bool):
            raise BadInput("helped must be true or false.")
        said = 1 if helped else -1
        found = writer.store.sightings(writer.tenant, [memory.id], session=where, limit=1)
        if found:
            writer.store.rate(writer.tenant, found[0], said)
            return replace(found[0], helped=said)
        own = memory.scope.project
        fresh = Sighting(memory.id, writer.now(), where, "rated", writer.actor, own, own, said)
        writer.store.saw(writer.tenant, [fresh])
        return fresh

    def seen(
        self, memories: Iterable[Memory | str], way: str, here: Scope, session: str, *, every: bool
    ) -> list[Sighting]:
        """What is to be noted of memories that were put before somebody: all of it, or reads across projects."""
        if not every and not here.project:  # who is at home nowhere in particular cannot look across
            return []
        now, actor = self.writer.now(), self.writer.actor
        return [
            Sighting(memory.id, now, session, way, actor, here.project, memory.scope.project)
            for memory in self._memories(list(memories))
            if every or provenance.across(here, memory)
        ]

    def _memories(self, given: Sequence[Memory | str]) -> list[Memory]:
        ids = [one for one in given if isinstance(one, str)]
        known = self.writer.store.memories(self.writer.tenant, ids) if ids else {}
        return [one for one in given if isinstance(one, Memory)] + [known[id] for id in ids if id in known]

    # -- erasing ------------------------------------------------------------------------------------------------------

    def erase(self, memories: Sequence[Memory], reason: str, *, user: str = "", keep: bool = False) -> Erased:
        return Eraser(self.writer, self.home).erase(memories, reason, user=user, keep=keep)

    def derived(self, memories: Sequence[Memory]) -> tuple[Memory, ...]:
        """What an erasure of some memories would take along."""
        return tuple(trace(self.writer, memories).alone)

    def before_forgetting(self, memories: Sequence[Memory]) -> None:
        """A checkpoint, where many are forgotten at once."""
        if len(memories) >= BULK:
            self.checkpoints.automatic("forget", scope=EVERYWHERE)
