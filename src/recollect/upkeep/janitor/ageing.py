"""Ageing: what is over, what nobody uses, what waited too long, what lost its other half, and what proved itself.

A memory decays with the days since it was last used; an ordinary one (importance 5) halves within `decay_days`, one of
importance 10 lasts four times as long. Below a twentieth it is archived. Rules, preferences, decisions and procedures,
what matters and what was observed repeatedly do not decay; turns are summed up instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from ...answers.eviction import Leaving
from ...store.contract import Transaction
from ...types import KINDS, Entity, Evidence, Link, Memory, Source
from .room import Act, Room, lots

FAINT = 0.05
LASTING = frozenset(("rule", "preference", "decision", "procedure", "anti-pattern", "summary", "turn", "doc", "code"))
MATTERS, OFTEN = 7, 3  # the importance and the number of observations from which nothing decays
# How important a memory is at least that was observed so often.
PROMOTED = ((10, 8), (5, 7), (3, 6))


def strength(days: float, importance: int, decay_days: int) -> float:
    """What is left of a memory after days without use.

    >>> strength(90, 5, 90), round(strength(360, 10, 90), 2), strength(400, 5, 90) < FAINT
    (0.5, 0.5, True)
    """
    return math.exp(-math.log(2) / (decay_days * (importance / 5) ** 2) * days)


def expired(room: Room) -> Iterator[list[Act]]:
    """Memories whose time to be dropped has come."""
    for page in room.pages():
        due = [memory for memory in page if memory.expires_at and memory.expires_at <= room.now]
        yield from lots(
            _state(room, m, "expired", "expire", "its time was over") for m in due if "pinned" not in m.tags
        )


def review(room: Room) -> Iterator[list[Act]]:
    """What waited for a person longer than it may."""
    for page in room.pages(states=("pending",)):
        due = [memory for memory in page if memory.expires_at and memory.expires_at <= room.now]
        yield from lots(_state(room, m, "expired", "expire", "nobody looked at it in time") for m in due)


def decayed(room: Room) -> Iterator[list[Act]]:
    """Memories that nobody has used for so long that hardly anything is left of them."""
    if not room.rules.decay_days:
        return
    for page in room.pages(kinds=[kind for kind in KINDS if kind not in LASTING]):
        faint = [memory for memory in page if _faint(room, memory) and not room.sacred(memory)]
        yield from lots(_state(room, m, "archived", "archive", f"unused for {room.idle(m):.0f} days") for m in faint)


def _faint(room: Room, memory: Memory) -> bool:
    if memory.importance >= MATTERS or memory.observed >= OFTEN:
        return False
    return strength(room.idle(memory), memory.importance, room.rules.decay_days) < FAINT


def _state(room: Room, memory: Memory, state: str, operation: str, why: str) -> Act:
    def do(changes: Transaction) -> bool:
        current = room.unchanged(changes, memory)
        # Somebody may have looked at it since the act was planned, which changes nothing but its use.
        if current is None or (state == "archived" and room.used_at(current) > room.used_at(memory)):
            return False
        return changes.put(replace(current, state=state), operation, why)

    return Act(state, memory.id, why, do, retires=(memory.id,))


def promoted(room: Room) -> Iterator[list[Act]]:
    """Memories that were observed often: they matter more than somebody thought at first."""
    for page in room.pages():
        yield from lots(
            _promote(room, memory, least)
            for memory in page
            if memory.observed >= OFTEN and memory.kind != "turn"
            and (least := _least(memory.observed)) > memory.importance and not room.sacred(memory)
        )  # fmt: skip


def _least(observed: int) -> int:
    """
    >>> [_least(observed) for observed in (1, 3, 7, 40)]
    [1, 6, 7, 8]
    """
    return next((importance for often, importance in PROMOTED if observed >= often), 1)


def _promote(room: Room, memory: Memory, importance: int) -> Act:
    why = f"observed {memory.observed} times"

    def do(changes: Transaction) -> bool:
        current = room.unchanged(changes, memory)
        if current is None:
            return False
        raised = replace(current, importance=importance)
        room.own[memory.id] = raised.record()
        return changes.put(raised, "promote", why)

    return Act("promoted", memory.id, why, do)


def orphans(room: Room) -> Iterator[list[Act]]:
    """Links and quotes whose other end is gone."""
    after = ""
    while links := room.store.all(room.tenant, Link, after, 500):
        after = links[-1].id
        room.looked += len(links)
        ends = {kind: {end for link in links for end, of in _ends(link) if of == kind} for kind in ("memory", "entity")}
        there = set(room.store.memories(room.tenant, sorted(ends["memory"])))
        there |= {entity.id for entity in room.store.of(room.tenant, Entity, sorted(ends["entity"]))}
        lost = [link for link in links if any(end not in there for end, of in _ends(link) if of in ends)]
        yield from lots(Act("dropped", link.id, "an end of the link is gone", _drop(Link, link.id)) for link in lost)
    after = ""
    while quotes := room.store.all(room.tenant, Evidence, after, 500):
        after = quotes[-1].id
        room.looked += len(quotes)
        there = set(room.store.memories(room.tenant, sorted({quote.memory for quote in quotes})))
        known = {one.id for one in room.store.of(room.tenant, Source, sorted({quote.source for quote in quotes}))}
        bare = [quote for quote in quotes if quote.memory not in there or quote.source not in known]
        yield from lots(Act("dropped", one.id, "what it proved is gone", _drop(Evidence, one.id)) for one in bare)


def _ends(link: Link) -> tuple[tuple[str, str], tuple[str, str]]:
    return (link.origin, link.origin_kind), (link.target, link.target_kind)


def _drop(kind: type[Link] | type[Evidence], id: str) -> Callable[[Transaction], bool]:
    return lambda changes: changes.drop(kind, id, "tidy", "its other end is gone")


def answers(room: Room) -> Iterator[list[Act]]:
    """Cached answers that ended, questions long unasked, and what there is no room for; noted by id, without a word."""
    for looked, page in room.cache.leaving():
        room.looked += looked
        yield from lots(Act(one.what, one.answer.id, one.why, _leave(one)) for one in page)


def _leave(one: Leaving) -> Callable[[Transaction], bool]:
    def do(changes: Transaction) -> bool:
        if not one.go(changes):
            return False
        changes.note("tidy", one.answer.id, f"{one.what}: {one.why}")
        return True

    return do
