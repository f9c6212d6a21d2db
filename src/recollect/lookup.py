"""The engine's verbs that look things up: memories, what they rest on, how they came to be, and who did what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from . import checks, ids, times
from .checks import MAX_NAME, Cleaner, filter_of
from .core import Base
from .errors import BadInput, BadTime, NotFound
from .history import provenance
from .history.asof import HELD_ONCE, Past
from .history.policies import Policies
from .history.provenance import Sees, everybody
from .history.timeline import Chronicle
from .history.usage import counts
from .history_types import MAX_ROWS, Audit, EntityState, Provenance, Sighting, Timeline
from .recall.anchors import moment_of
from .recall.query import MAX_LIMIT
from .store.changes import MANY
from .store.checksums import sound_rows
from .store.trail import Trace
from .types import EVERYWHERE, Entity, Entry, Evidence, Filter, Link, Memory, Page, Scope, Source

Moment = datetime | str | None


class Lookup(Base):
    @property
    def _past(self) -> Past:
        return Past(self._store, self._tenant)

    @property
    def policies(self) -> Policies:
        """What may not be erased, and how long things are kept."""
        return Policies(self._writer, self.settings.home)

    def get(self, id: str, *, peek: bool = False, as_of: Moment = None, true_at: Moment = None) -> Memory:
        """One memory, by its id or the last characters of it; with `peek` the look is not counted.

        `as_of` gives it as it was known then; `true_at` the one that held then, of it and those it stands for.
        """
        memory = self._at(id, _moment(as_of, "as_of"), _moment(true_at, "true_at"))
        if not peek:
            self._usage.add([memory.id], accessed=1)
            self.saw([memory], "get")
        return memory

    def _at(self, id: str, known: datetime | None, true: datetime | None) -> Memory:
        try:
            memory = self._find(id)
        except NotFound:
            if known is None:
                raise
            return self._as_known(id, known, f"No memory has the id {id!r}.")
        if true is not None:
            held = self._past.version(memory, true)
            if held is None:
                raise NotFound(f"Neither memory {memory.id} nor what it stands for held then.")
            memory = held
        return memory if known is None else self._as_known(memory.id, known, f"Memory {memory.id} was not known then.")

    def _as_known(self, id: str, moment: datetime, missing: str) -> Memory:
        then = self._past.memories([id], moment).get(id)
        if then is None:
            raise NotFound(missing)
        return then

    def list(
        self, *, scope: Scope | None = None, limit: int = 50, cursor: str | None = None, as_of: Moment = None,
        true_at: Moment = None, **filters: Any,
    ) -> Page:  # fmt: skip
        """Memories inside a scope, newest first, with the cursor of the next page.

        Takes the filters of recall: `kinds`, `networks`, `tags`, `states`, `since`, `until`, `min_importance`; and
        `as_of`, what was known then, and `true_at`, what held then.
        """
        self._usage.flush()
        known, true = _moment(as_of, "as_of"), _moment(true_at, "true_at")
        if true is not None:
            filters.setdefault("states", HELD_ONCE)
        wanted = filter_of(now=true, scope=scope or EVERYWHERE, inside=True, **filters)
        page = self._page(wanted, limit, cursor, known, true)
        self.saw(page.memories, "list")
        return page

    def _page(
        self, filter: Filter, limit: int, cursor: str | None, known: datetime | None = None,
        true: datetime | None = None,
    ) -> Page:  # fmt: skip
        if not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise BadInput(f"limit must be a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")
        if cursor is not None and not (isinstance(cursor, str) and ids.whole(cursor)):
            raise BadInput(f"cursor {cursor!r} is not one of ours.", fix="Take the cursor of the page before.")
        found, damaged = sound_rows(lambda most: self._then(filter, cursor, most, known, true), limit + 1)
        return Page(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None, damaged)

    def _then(
        self, filter: Filter, after: str | None, most: int, known: datetime | None, true: datetime | None
    ) -> Sequence[Memory]:
        """Memories below an id, as they were known and true at a time; None is now."""
        found: Sequence[Memory] = ()
        while len(found) < most:
            if known is None:
                batch = self._store.page(self._tenant, filter, after, most)
            else:
                batch = self._past.page(filter, known, after, most)
            found = [*found, *(batch if true is None else self._past.true(batch, true))]
            if len(batch) < most:
                break
            after = batch[-1].id
        return found[:most]

    def count(self, *, scope: Scope | None = None, **filters: Any) -> int:
        """How many memories `list` would give, all pages together."""
        return self._store.count(self._tenant, filter_of(now=None, scope=scope or EVERYWHERE, inside=True, **filters))

    def evidence(self, id: str) -> tuple[Source | None, tuple[Evidence, ...]]:
        """Where a memory came from: its source, and the quotes that support it."""
        memory = self._find(id)
        sources = self._store.of(self._tenant, Source, [memory.source])
        quotes = self._store.of(self._tenant, Evidence, [memory.id], "memory")
        return (sources[0] if sources else None), tuple(quotes)

    def sources(self, ids: Sequence[str]) -> tuple[Source, ...]:
        """The sources among these ids that are known: what has been taken in already."""
        return tuple(self._store.of(self._tenant, Source, list(ids)))

    def links(self, id: str) -> tuple[Link, ...]:
        """The links from and to a memory."""
        memory = self._find(id)
        found = {
            link.id: link
            for column in ("origin", "target")
            for link in self._store.of(self._tenant, Link, [memory.id], column)
        }
        return tuple(found.values())

    def changes(self, *, after: int = 0, limit: int = 100) -> tuple[Entry, ...]:
        """What changed after a sequence number of the journal, in the order it happened."""
        checks.within(after, 0, 2**53, "after", whole=True)
        checks.within(limit, 1, MAX_LIMIT, "limit", whole=True)
        return tuple(self._store.journal(self._tenant, after, limit))

    def stats(self, *, scope: Scope | None = None) -> dict[str, Any]:
        """Counts of everything, and the size of the files; with a scope, of the memories inside it alone."""
        if scope is not None:
            return counts(self._store, self._tenant, scope)
        self._usage.flush()
        return {**self._store.stats(self._tenant), "recall_cache": self._shared.recalls.stats.as_dict()}

    @property
    def head(self) -> int:
        """The sequence number of the newest change."""
        return self._store.head(self._tenant)

    def wait(self, after: int, seconds: float) -> int:
        """Wait until there is a change later than the number `after`, or the time is over; the newest number."""
        return self._store.changed(self._tenant, after, seconds)

    def history(self, id: str) -> tuple[Entry, ...]:
        """Every change of a memory, oldest first: who, when, why, before and after."""
        whole = isinstance(id, str) and len(id) == ids.LENGTH
        target = id if whole else self._find(id).id
        entries = tuple(self._store.each_entry(self._tenant, Trace(targets=(target,))))
        if not entries:
            raise NotFound(f"No memory has the id {id!r}.")
        return entries

    def why(self, id: str, *, depth: int = 3, limit: int = 50, sees: Sees = everybody) -> Provenance:
        """Why a memory is there: source, quotes, path of trust, what it goes back to, changes, uses, and what helped.

        Bounded: ties are followed `depth` far, and at most `limit` of each thing are told. `sees` hides other memories.
        """
        self._usage.flush()
        return provenance.why(self._store, self._tenant, self._find(id), depth=depth, limit=limit, sees=sees)

    def audit(
        self, *, reads: bool = True, limit: int = 100, cursor: int | None = None, project: str = "", **asked: Any
    ) -> Audit:
        """Who did what, newest first, and who read across projects.

        Takes `actors`, `operations`, `nouns` and `targets` (lists), `project`, `since` and `until`.
        """
        self._usage.flush()
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
        return provenance.audit(self._store, self._tenant, trace, reads=reads, limit=limit)

    def state(
        self, entity: str, *, at: Moment = None, true_at: Moment = None, scope: Scope | None = None,
        networks: Sequence[str] = (),
    ) -> EntityState:  # fmt: skip
        """What was known of an entity at a time, of what held then; by memories of some networks or of any."""
        cleaner = Cleaner(MAX_NAME)
        name, where = cleaner.text(entity, "entity", MAX_NAME), cleaner.scope(scope or self._scope)
        known = _moment(at, "at") or self._now()
        true = _moment(true_at, "true_at") or known
        wanted = filter_of(now=None, scope=where, networks=networks).but(states=())
        found = self._past.entity(name, known, true, wanted) if name else None
        attributes = self._chronicle.attributes(name, known, true, wanted) if name else ()
        if found is None and not attributes and not (name and self._chronicle.knows(name, Filter(where))):
            raise NotFound(f"No entity was called {name!r} then.", fix="Names are told apart as they are written.")
        return replace(found or EntityState(Entity("", "", name, ""), known, true), attributes=attributes)

    def timeline(
        self, entity: str = "", *, scope: Scope | None = None, around: str = "", limit: int = 50,
        cursor: str | None = None, **filters: Any,
    ) -> Timeline:  # fmt: skip
        """Events inside a scope, newest first: of an entity, of networks and kinds, in a range.

        `around` is a time or the name of an event; each event then says how far it is from it.
        """
        checks.within(limit, 1, MAX_LIMIT, "limit", whole=True)
        cleaner = Cleaner(MAX_NAME)
        name, event = cleaner.text(entity, "entity", MAX_NAME), cleaner.text(around, "around", MAX_NAME)
        where = scope or EVERYWHERE
        filters.setdefault("states", HELD_ONCE)
        wanted = filter_of(now=None, scope=where, inside=True, **filters)
        anchor = self._anchor(event, where) if event else None
        return self._chronicle.timeline(wanted, name, limit, cursor, anchor)

    def _anchor(self, event: str, scope: Scope) -> datetime:
        try:
            found: datetime | None = checks.moment(event, self._now(), None, "around")
        except BadTime:
            found = moment_of(self._store, self._tenant, scope, event)
        if found is None:
            raise NotFound(
                f"No event is called {event!r}.", fix="Give a time, or words of the memory that tells of it."
            )
        return found

    @property
    def _chronicle(self) -> Chronicle:
        return Chronicle(self._store, self._tenant)

    def rate(self, id: str, *, helped: bool, session: str = "") -> Sighting:
        """Say whether a memory helped where it was shown last, in a session or anywhere; noted anew if it never was."""
        self._usage.flush()
        memory = self._find(id)
        where = Cleaner(MAX_NAME).text(session, "session", MAX_NAME)
        if not isinstance(helped, bool):
            raise BadInput("helped must be true or false.")
        said = 1 if helped else -1
        found = self._store.sightings(self._tenant, [memory.id], session=where, limit=1)
        if found:
            self._store.rate(self._tenant, found[0], said)
            return replace(found[0], helped=said)
        own = memory.scope.project
        fresh = Sighting(memory.id, self._now(), where, "rated", self._actor, own, own, said)
        self._store.saw(self._tenant, [fresh])
        return fresh

    def saw(
        self, memories: Iterable[Memory | str], way: str, *, here: Scope | None = None, session: str = "",
        every: bool = False,
    ) -> None:  # fmt: skip
        """Note that memories (or ids) were put before somebody: all of them, or only what another project owns."""
        where = here or self._scope
        if not every and not where.project:  # who is at home nowhere in particular cannot look across
            return
        given = [*memories]
        known = self._store.memories(self._tenant, [one for one in given if isinstance(one, str)])
        seen = [memory for one in given if (memory := known.get(one) if isinstance(one, str) else one)]
        self._usage.saw(
            Sighting(one.id, self._now(), session, way, self._actor, where.project, one.scope.project)
            for one in seen
            if every or provenance.across(where, one)
        )


def _moment(given: Moment, name: str) -> datetime | None:
    return None if given is None else times.aware(given, name)
