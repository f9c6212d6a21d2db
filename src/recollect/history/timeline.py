"""The timeline: memories as events in time, and the state of an entity that their changes lead to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from .. import text, times
from ..errors import BadInput
from ..history_types import Attribute, Event, Timeline
from ..language import changes, terms
from ..remember.belief import sums_up
from ..store.contract import Store
from ..store.trail import Trace
from ..types import Filter, Memory
from .asof import HELD_ONCE, Past, fits, held

MAX_STATE = 300  # memories that name an entity, of which its state is made
TITLE = 120


@dataclass(frozen=True, slots=True)
class Chronicle:
    """What a tenant's memories tell in the order of time."""

    store: Store
    tenant: str

    def timeline(
        self, filter: Filter, entity: str, limit: int, cursor: str | None, anchor: datetime | None
    ) -> Timeline:
        """A page of events, newest first; of an entity, those that name it."""
        words = named_by(entity)
        below, found = _position(cursor), list[Memory]()
        while len(found) <= limit:
            batch = self.store.dated(self.tenant, filter, limit + 1, words, below)
            found += [memory for memory in batch if not entity or speaks_of(memory, entity)]
            if len(batch) <= limit:
                break
            below = told_at(batch[-1]), batch[-1].id
        more = found[limit - 1] if len(found) > limit else None
        events = tuple(_event(memory, entity, anchor) for memory in found[:limit])
        return Timeline(events, f"{times.micros(told_at(more))}-{more.id}" if more else None, anchor)

    def knows(self, entity: str, filter: Filter) -> bool:
        """Whether anything ever named an entity."""
        return bool(self.timeline(filter.but(states=HELD_ONCE), entity, 1, None, None).events)

    def attributes(self, entity: str, at: datetime, true_at: datetime, filter: Filter) -> tuple[Attribute, ...]:
        """What each attribute of an entity was, by what was known at a time and held at another."""
        wanted = filter.but(states=HELD_ONCE, until=true_at)
        return read_state(self._about(entity, at, wanted), entity, true_at)

    def _about(self, entity: str, at: datetime, filter: Filter) -> list[Memory]:
        """Memories that name an entity, as they were known at a time."""
        past, words = Past(self.store, self.tenant), named_by(entity)
        if not words:
            return []
        rows = past.later(Trace(since=at, nouns=("memory",)))
        found = self.store.dated(self.tenant, filter, MAX_STATE, words)
        known = [memory for memory in found if memory.id not in rows]
        return known + [memory for memory in past.nouns(Memory, rows).values() if fits(memory, filter)]


def read_state(memories: Iterable[Memory], entity: str, true_at: datetime) -> tuple[Attribute, ...]:
    """The attributes that memories lead to, the oldest told first; a judgement or a summary proves none."""
    state: dict[str, Attribute] = {}
    for memory in sorted(memories, key=lambda one: (told_at(one), one.id)):
        if memory.network == "opinion" or sums_up(memory) or not held(memory, true_at) or not speaks_of(memory, entity):
            continue
        for one in changes.read(memory.content, entity):
            last = state.get(one.attribute)
            before = one.old or (last.value if last else "")
            cause = one.cause or memory.reasoning
            state[one.attribute] = Attribute(one.attribute, one.new, told_at(memory), memory.id, before, cause)
    return tuple(sorted(state.values(), key=lambda one: one.name))


def named_by(entity: str) -> list[str]:
    return sorted(set(terms.of_query(entity))) if entity else []


def speaks_of(memory: Memory, entity: str) -> bool:
    return changes.mentions(f"{memory.title}\n{memory.content}", entity)


def told_at(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


def distance(moment: datetime, anchor: datetime) -> str:
    """How far a moment is from an anchor, in words.

    >>> from datetime import UTC
    >>> anchor = datetime(2026, 3, 8, tzinfo=UTC)
    >>> distance(datetime(2026, 3, 5, tzinfo=UTC), anchor), distance(datetime(2026, 3, 8, 2, tzinfo=UTC), anchor)
    ('3 days before', '2 hours after')
    """
    words = times.ago(min(moment, anchor), max(moment, anchor))
    words = {"just now": "at the same time", "yesterday": "1 day ago"}.get(words, words)
    return words.replace(" ago", " before" if moment < anchor else " after")


def _event(memory: Memory, entity: str, anchor: datetime | None) -> Event:
    told = changes.read(memory.content, entity) if entity and memory.network != "opinion" else []
    action = memory.kind if memory.kind != "fact" else "changed" if told else "said"
    end, title = memory.valid_to, memory.title or text.title_of(memory.content, TITLE)
    return Event(
        told_at(memory), memory.id, memory.network, action, title, entity, tuple(map(str, told)),
        f"{end.day} {end:%B %Y}" if end else "", distance(told_at(memory), anchor) if anchor else "",
    )  # fmt: skip


def _position(cursor: str | None) -> tuple[datetime, str] | None:
    if cursor is None:
        return None
    micros, _, id = cursor.rpartition("-")
    if not micros.lstrip("-").isdigit() or not id:
        raise BadInput(f"cursor {cursor!r} is not one of ours.", fix="Take the cursor of the page before.")
    return times.moment(int(micros)), id
