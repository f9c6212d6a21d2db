"""Then: what a question about a past time is answered from.

A question is usually answered from what holds now. One that names a time which is over ("on 3 March", "last year") also
sees what held then and has ended since, and does not see what took the place of that later. What came later and takes
nothing's place stays: it may tell of that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from .. import times
from ..history.asof import HELD_ONCE, held
from ..remember.write import CLAIMS, opposed
from ..store.contract import Store
from ..types import Link, Memory
from .query import Query
from .timing import Timing, asks_past


def asked_back(query: Query, timing: Timing | None, now: datetime) -> Query:
    """The question, open to what has ended since, where it asks for a course of things or names a time that is over,
    and its asker named none.

    One that asks for what was believed is answered from what was known when its time was over.
    """
    if query.as_of or query.true_at or query.filter.current_at is None or not (timing or asks_past(query.text)):
        return query
    end = min(timing.end or now, now) if timing else now
    known = end if timing and timing.believed and timing.end and timing.end <= now else None
    filter = query.filter.but(states=HELD_ONCE, current_at=None)
    return replace(query, then=((timing and timing.start) or times.EPOCH, end), as_of=known, filter=filter)


def held_then(
    store: Store, tenant: str, memories: Sequence[Memory], then: tuple[datetime, datetime], now: datetime
) -> list[Memory]:
    """What holds now or held in the time asked about, without what holds instead of the latter since."""
    start, end = then
    holding = [memory for memory in memories if memory.state == "active" and held(memory, now)]
    ended = [memory for memory in memories if memory not in holding and _held_in(memory, start, end)]
    heirs = _heirs(store, tenant, [memory.id for memory in ended])
    gone = {
        memory.id
        for memory in holding
        if (memory.valid_from or memory.created_at) >= end
        and (
            memory.id in heirs
            or (stated(memory) and memory.valid_from is not None and start > times.EPOCH)
            or any(opposed(old.content, memory.content) for old in ended)
        )
    }
    kept = {memory.id for memory in (*holding, *ended)} - gone
    return [memory for memory in memories if memory.id in kept]


def stated(memory: Memory) -> bool:
    """Whether a memory is a claim that somebody made as such: its validity is what they said, not when it was heard."""
    return memory.kind in CLAIMS and "captured" not in memory.tags


def told_at(memory: Memory) -> datetime:
    """When a memory was told, which its age counts from. What is stated today may hold since long ago."""
    return memory.created_at if stated(memory) else memory.valid_from or memory.created_at


def _held_in(memory: Memory, start: datetime, end: datetime) -> bool:
    ends = [moment for moment in (memory.valid_to, memory.expires_at) if moment]
    return (memory.valid_from is None or memory.valid_from < end) and all(start < moment for moment in ends)


def _heirs(store: Store, tenant: str, ids: Sequence[str]) -> set[str]:
    """What supersedes these, directly or through others."""
    found: set[str] = set()
    edge = list(ids)
    while edge:
        links = store.of(tenant, Link, edge, "target")
        edge = sorted({link.origin for link in links if link.relation == "supersedes"} - found)
        found.update(edge)
    return found


def passes(memory: Memory, query: Query) -> bool:
    """Whether a memory that came by a link is one that the question may see."""
    filter = query.filter
    return (
        filter.scope.sees(memory.scope)
        and (not filter.kinds or memory.kind in filter.kinds)
        and (not filter.networks or memory.network in filter.networks)
        and set(filter.tags) <= set(memory.tags)
        and (query.as_of is not None or not filter.states or memory.state in filter.states)
        and memory.importance >= filter.min_importance
        and (filter.since is None or (memory.valid_from or memory.created_at) >= filter.since)
        and (filter.until is None or (memory.valid_from or memory.created_at) <= filter.until)
        and (filter.current_at is None or held(memory, filter.current_at))
    )
