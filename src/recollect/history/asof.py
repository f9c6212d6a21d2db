"""What was known at an earlier time, by undoing the journal.

A journal row holds the changed fields before and after; putting the values before back, from today backwards, gives a
noun as it stood. What was purged, or written anew to take a secret out, cannot be had from before that.

`as_of` asks for what was known then: the journal's time. `true_at` asks for what held then: the memory's own validity.
What supersedes another and does not say since when begins to hold where the other ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from ..history_types import EntityState
from ..language import terms
from ..remember.mention import ABOUT, entity_key, known_in
from ..store.contract import Store
from ..store.rows import noun_name, record
from ..store.trail import Trace
from ..types import Entity, Entry, Filter, Kept, Link, Memory, Scope

N = TypeVar("N", bound=Kept)
Rows = dict[str, list[Entry]]
PAGE = 1000
FOUND_BY = frozenset(("content", "title", "reasoning", "keywords", "tags", "context", "scope"))
# States in which a memory's own validity says when it held. What is set aside, waits or was rejected held at no time.
HELD_ONCE = ("active", "superseded", "invalid")


def undone(now: Mapping[str, Any] | None, later: Iterable[Entry]) -> dict[str, Any] | None:
    """A noun's record before some journal rows of it, given the one of today; None where there was none to be had."""
    fields = None if now is None else dict(now)
    for entry in sorted(later, key=lambda entry: -entry.seq):
        if entry.before is None:
            # Created here; or blanked, or written anew, and what it was before is gone for good.
            fields = None
        elif entry.after is None:
            fields = dict(entry.before)
        elif fields is not None:
            fields |= entry.before
    return fields


def visible_rows(entries: Sequence[Entry], sees: Callable[[Scope], bool]) -> list[Entry]:
    """The rows of one memory, oldest first, that somebody may be told of who sees only some scopes.

    Each row is held against the scope that the memory had when it was written. Of a row that moved it into sight, what
    was before and why stays untold.
    """
    told: list[Entry] = []
    is_seen = False
    for entry in entries:
        after, before = entry.after or {}, entry.before
        was_seen = is_seen or before is None
        if "scope" in after or (before is None and after):  # moved, or written whole
            is_seen = sees(Scope(**(after.get("scope") or {})))
        if is_seen:
            told.append(entry if was_seen else replace(entry, before=None, reason=""))
    return told


def as_of(memory: Memory, later: Sequence[Entry], moment: datetime) -> Memory | None:
    """The memory as it stood at `moment`, given the journal rows about it that are later than that."""
    rows = [entry for entry in later if entry.noun == "memory" and entry.at > moment]
    fields = undone(memory.record(), rows)
    return None if fields is None else Memory.from_dict(fields)


def held(memory: Memory, moment: datetime) -> bool:
    """Whether a memory was valid and unexpired at a time."""
    ends = [end for end in (memory.valid_to, memory.expires_at) if end]
    return (memory.valid_from is None or memory.valid_from <= moment) and all(moment < end for end in ends)


def fits(memory: Memory, filter: Filter) -> bool:
    """Whether a memory passes a filter, as a store would say."""
    since = memory.valid_from or memory.created_at
    return (
        (filter.scope.contains if filter.inside else filter.scope.sees)(memory.scope)
        and (not filter.kinds or memory.kind in filter.kinds)
        and (not filter.networks or memory.network in filter.networks)
        and (not filter.states or memory.state in filter.states)
        and set(filter.tags) <= set(memory.tags)
        and memory.importance >= filter.min_importance
        and (filter.since is None or since >= filter.since)
        and (filter.until is None or since <= filter.until)
        and (filter.current_at is None or held(memory, filter.current_at))
    )


@dataclass(frozen=True, slots=True)
class Past:
    """A tenant's nouns as they were."""

    store: Store
    tenant: str

    def later(self, trace: Trace) -> Rows:
        """The journal rows that fit, by what they are about."""
        found: Rows = {}
        for entry in self.store.each_entry(self.tenant, trace):
            found.setdefault(entry.target, []).append(entry)
        return found

    def nouns(self, kind: type[N], rows: Rows) -> dict[str, N]:
        """The nouns of these rows as they were before them."""
        ids = sorted(rows)
        today = {noun.id: noun for noun in self.store.of(self.tenant, kind, ids)}
        past = {id: undone(record(today[id]) if id in today else None, rows[id]) for id in ids}
        return {id: kind.from_dict(fields) for id, fields in past.items() if fields is not None}

    def memories(self, ids: Sequence[str], moment: datetime) -> dict[str, Memory]:
        """Memories as they were known at a time; those that were not are left out."""
        found = self.store.memories(self.tenant, ids)
        rows = self.later(Trace(since=moment, targets=tuple(ids), nouns=("memory",))) if ids else {}
        return {id: memory for id, memory in found.items() if id not in rows} | self.nouns(Memory, rows)

    def page(self, filter: Filter, moment: datetime, after: str | None, limit: int) -> list[Memory]:
        """Memories as they were known at a time, newest first: what `Store.page` would have given then."""
        changed = self.later(Trace(since=moment, nouns=("memory",)))
        found = [
            memory
            for memory in self.nouns(Memory, changed).values()
            if fits(memory, filter) and (after is None or memory.id < after)
        ]
        cursor = after
        while batch := self.store.page(self.tenant, filter, cursor, max(limit, 100)):
            found += [memory for memory in batch if memory.id not in changed]
            cursor = batch[-1].id
            if sum(memory.id >= cursor for memory in found) >= limit:
                break
        return sorted(found, key=lambda memory: memory.id, reverse=True)[:limit]

    def saying(self, words: Sequence[str], moment: datetime) -> dict[str, float]:
        """Memories whose words or place have changed since, and which part of these words they had.

        Full text knows only today's.
        """
        wanted = set(words)
        rows = self.later(Trace(since=moment, nouns=("memory",)))
        reworded = {
            id: entries
            for id, entries in rows.items()
            if any(entry.before and FOUND_BY & entry.before.keys() for entry in entries)
        }
        shares = {
            id: len(wanted & set(terms.of_memory(memory))) / max(1, len(wanted))
            for id, memory in self.nouns(Memory, reworded).items()
        }
        return {id: share for id, share in shares.items() if share}

    def true(self, memories: Sequence[Memory], moment: datetime) -> list[Memory]:
        """Those that held at a time. What took another's place and says not since when, held from then on."""
        holding = [memory for memory in memories if held(memory, moment)]
        unsaid = [memory.id for memory in holding if memory.valid_from is None and memory.created_at > moment]
        newer = {
            link.origin for link in self.store.of(self.tenant, Link, unsaid, "origin") if link.relation == "supersedes"
        }
        return [memory for memory in holding if memory.id not in newer]

    def version(self, memory: Memory, moment: datetime) -> Memory | None:
        """The one among a memory, what it superseded and what superseded it that held at a time."""
        seen = {memory.id: memory}
        edge = [memory.id]
        while edge:
            links = (one for side in ("origin", "target") for one in self.store.of(self.tenant, Link, edge, side))
            ends = {end for one in links if one.relation == "supersedes" for end in (one.origin, one.target)}
            found = self.store.memories(self.tenant, sorted(ends - seen.keys()))
            seen |= found
            edge = list(found)[:PAGE]
        standing = [one for one in seen.values() if one.state in HELD_ONCE]
        true = sorted(self.true(standing, moment), key=lambda one: (one.valid_from or one.created_at, one.id))
        return true[-1] if true else None

    def entity(self, name: str, at: datetime, true_at: datetime, filter: Filter) -> EntityState | None:
        """What was known of an entity at a time, by memories that a filter lets through."""
        scope = filter.scope
        rows = self.later(Trace(since=at, nouns=("entity",)))
        gone = self.nouns(Entity, rows)
        known = [one for one in self._named(name, scope) if one.id not in rows]
        known += [one for one in gone.values() if one.name == name and known_in(one, scope)]
        if not known:
            return None
        entity = min(known, key=lambda one: (one.created_at, one.id))
        links = self._links(entity.id, at)
        about = [one.origin for one in links if one.relation == ABOUT and one.origin_kind == "memory"]
        seen = filter.but(states=HELD_ONCE)
        memories = [one for one in self.memories(about, at).values() if fits(one, seen)]
        ties = [one for one in links if one.origin_kind == one.target_kind == "entity"]
        ends = {end for one in ties for end in (one.origin, one.target)}
        named = {one.id: one for one in self.store.of(self.tenant, Entity, sorted(ends))} | gone
        called = {id: one.name for id, one in named.items() if known_in(one, scope)}
        relations = [
            (called[one.origin], one.relation, called[one.target])
            for one in ties
            if one.origin in called and one.target in called
        ]
        true = sorted(self.true(memories, true_at), key=lambda one: (one.valid_from or one.created_at, one.id))
        return EntityState(entity, at, true_at, tuple(true), tuple(relations))

    def _named(self, name: str, scope: Scope) -> list[Entity]:
        if scope.user:
            keys = [entity_key(user, name) for user in ("", scope.user)]
            found = self.store.of(self.tenant, Entity, keys, "key")
        else:  # whose it is does not matter, so the key is not known
            found = self.store.of(self.tenant, Entity, [name], "name")
        return [one for one in found if known_in(one, scope)]

    def _links(self, entity: str, at: datetime) -> list[Link]:
        rows = self.later(Trace(since=at, nouns=(noun_name(Link),)))
        today = [
            one
            for column in ("origin", "target")
            for one in self.store.of(self.tenant, Link, [entity], column)
            if one.id not in rows
        ]
        past = [one for one in self.nouns(Link, rows).values() if entity in (one.origin, one.target)]
        return sorted({one.id: one for one in (*today, *past)}.values(), key=lambda one: (one.created_at, one.id))
