"""Timing: which of the memories that fit a question are of the time it asks about. Pure.

A question speaks of the past in three ways. *What happened then* ("incidents in March") wants what is of those days.
*What held then* ("who owned billing before the re-org?") wants the latest that was told before the time was over. *What
was known then* ("what did we believe in March?") wants what the store held at that time; that one is answered by
`as_of`. Of two memories that fit a question as well, the one of the wrong time goes behind the one of the right time;
what fits alone keeps its place, because it may tell of that time afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..language import calendar, tables, terms, when
from ..types import Memory
from . import intent
from .arms import SURE
from .query import Query
from .select import Scored

DEPTH = 20  # places in which memories are put in order by their time
EXACT = 0.8  # how sure a date in a memory's own words must be, to stand for when the memory was told
LISTED = 40  # candidates that a list in the order of time is made of
BEARS, CLOSE = 2, 0.9  # more than half the most words, or this share of the best cosine, bears on a question too
FLOOR = 0.001  # what a place in such a list is worth at least
_BELIEVED = re.compile(rf"\b(?:{tables.joined('time', 'believed')})\b", re.IGNORECASE)
_NEWEST = re.compile(rf"\b(?:{tables.joined('time', 'newest')})\b", re.IGNORECASE)
_EVENTS = re.compile(rf"\b(?:{tables.joined('time', 'events')})\b", re.IGNORECASE)
_COURSE = re.compile(rf"\b(?:{tables.joined('time', 'course')})\b", re.IGNORECASE)
_IN_ORDER = re.compile(rf"\b(?:{tables.joined('time', 'in order')})\b", re.IGNORECASE)
INSIDE, BEFORE, LATER = range(3)
Alike = Callable[[Memory, Memory], bool]


@dataclass(frozen=True, slots=True)
class Timing:
    """The time a question asks about. `bare`: it says little else. `believed`: it asks for what was known then."""

    start: datetime | None
    end: datetime | None
    words: str
    bare: bool
    believed: bool
    newest: bool = False  # it asks what is new since then
    state: bool = False  # it asks for what held then, and not for what happened
    past: bool = True  # it is in the past tense

    def place(self, memory: Memory) -> int:
        """Whether a memory is of the time, from before it, or from later."""
        told = memory.valid_from or memory.created_at
        if self._inside(told):
            return INSIDE
        own = when.find(memory.content, told)
        if own and own.start and own.end and own.confidence >= EXACT and self._inside(own.start):
            return INSIDE
        return LATER if self.end and told >= self.end else BEFORE

    def penalty(self, memory: Memory) -> float:
        """How much less probable it is that a memory answers because of its time, as a logit.

        What held at a time may have been told long before, and what has ended since is what is asked about.
        """
        place = self.place(memory)
        if self.end is None or self.start is None:
            return (3.5 if self.past else 1.0) * (place == (BEFORE if self.end is None else LATER))
        if place == LATER:
            return 2.0 if self.past else 1.0
        if self.state:
            return -0.8 * (place == BEFORE) - (memory.valid_to is not None)
        return (1.5 if self.newest else 0.5) * (place == BEFORE)

    def rest(self, question: str, one: bool) -> str:
        """What a question says beside its time; of one that wants the last of a kind before an event, what it says
        before it: what follows may still tell of the event."""
        before, _, after = question.partition(self.words)
        return before if one and before.strip() else f"{before} {after}"

    def _inside(self, moment: datetime) -> bool:
        # A range that does not begin on the hour begins with an event, which is not part of what came after it.
        event = self.start is not None and (
            self.end is None or self.start.replace(minute=0, second=0, microsecond=0) != self.start
        )
        after = self.start is None or (moment > self.start if event else moment >= self.start)
        return after and (self.end is None or moment < self.end)


def timing_of(question: str, found: when.When | None, now: datetime) -> Timing | None:
    """The time a question asks about; None where it asks about none, or about the present."""
    if found is None or found.confidence < SURE or (found.start and found.start > now):
        return None
    bare = intent.bare(question, found.words) == 1
    if found.end and found.start and found.start <= now < found.end and not bare:
        return None
    rest = question.replace(found.words, " ")
    newest = _NEWEST.search(question) is not None and (found.end is not None or found.words.startswith("since"))
    believed = _BELIEVED.search(question) is not None
    state = believed or not (bare or newest or _EVENTS.search(rest) or "incident" in intent.kinds(rest))
    return Timing(
        found.start, found.end, found.words, bare, believed, newest, state, calendar.PAST.search(rest) is not None
    )


def asks_order(question: str) -> bool:
    """Whether a question wants a list in the order of time.

    >>> asks_order("list in order what we did about the deploys"), asks_order("is the order service up?")
    (True, False)
    """
    return _IN_ORDER.search(question) is not None


def asks_past(question: str) -> bool:
    """Whether a question asks for the course of things, without naming a time: also what has ended belongs to it.

    >>> asks_past("How did the limit change?"), asks_past("Who led it originally?"), asks_past("Who leads it?")
    (True, True, False)
    """
    return asks_order(question) or _COURSE.search(question) is not None


def describe(timing: Timing, query: Query) -> str:
    """From which time a question is answered, in words."""
    if query.as_of is None and query.then is None:
        return ""
    kind = "as it was known" if query.as_of else "as it held"
    last = timing.end - timedelta(microseconds=1) if timing.end else None
    first = f"{timing.start:%Y-%m-%d}" if timing.start else ""
    if query.as_of or first == (f"{last:%Y-%m-%d}" if last else ""):
        return f'{kind} on {last:%Y-%m-%d} ("{timing.words}")'
    since = f" from {first}" if first else ""
    return f'{kind}{since}{f" until {last:%Y-%m-%d}" if last else ""} ("{timing.words}")'


def in_order(
    scored: Sequence[Scored], asked: Collection[str], near: Mapping[str, float], timing: Timing | None = None,
    which: str = "",
) -> list[Scored]:  # fmt: skip
    """The candidates that bear on a question in the order of time, then the others.

    `which`: the first or the last of the time asked about goes first, and what is of another time behind.
    """
    head = scored[:LISTED]
    asked = set(asked) - intent.EMPTY
    words = {one.memory.id: len(set(asked).intersection(terms.of_memory(one.memory))) for one in head}
    most, nearest = max(words.values(), default=0), max((near.get(one.memory.id, 0.0) for one in head), default=0.0)
    told = [
        one for one in head
        if 0 < most < BEARS * words[one.memory.id] or 0 < nearest * CLOSE <= near.get(one.memory.id, 0.0)
    ]  # fmt: skip
    if which:
        told = told if most else list(head)  # no word of a subject: all of the kind
        told = [one for one in told if timing is None or timing.place(one.memory) == INSIDE]
    dated = sorted(told, key=lambda one: (one.memory.valid_from or one.memory.created_at, one.memory.id))
    if which == "last":
        dated.reverse()
    return _rescored([*dated, *(one for one in head if one not in told)], scored, len(dated))


def _rescored(order: Sequence[Scored], scored: Sequence[Scored], least: int) -> list[Scored]:
    """An order with falling scores; the first few are shown, however little they fit by themselves."""
    size = len(order)
    floors = [FLOOR * (size - n) if n < least else scored[n].score for n in range(size)]
    made = [Scored(one.memory, max(scored[n].score, floors[n])) for n, one in enumerate(order)]
    return made + list(scored[size:])


@dataclass(frozen=True, slots=True)
class Fit:
    """How candidates fit a question beside its time: the words of it that they have, their cosines, which are alike."""

    asked: Collection[str]
    near: Mapping[str, float]
    alike: Alike

    def words(self, memory: Memory) -> set[str]:
        return set(self.asked).intersection(terms.of_memory(memory))


def arrange(scored: Sequence[Scored], timing: Timing, fit: Fit) -> list[Scored]:
    """The candidates with those of the right time before those of the wrong time that fit no better."""
    head = list(scored[:DEPTH])
    places = {one.memory.id: timing.place(one.memory) for one in head}
    words = {one.memory.id: fit.words(one.memory) for one in head}
    if timing.start and (timing.bare or not (timing.state or timing.newest or any(words.values()))):
        order = sorted(head, key=lambda one: places[one.memory.id] != INSIDE)
        return _rescored(order, scored, sum(place == INSIDE for place in places.values()))

    def beats(one: Memory, other: Memory) -> bool:
        """Whether a memory goes before one that ranks higher: of a better time and no worse, or better in all else."""
        mine, theirs = words[one.id], words[other.id]
        if places[one.id] == places[other.id] and theirs < mine and fit.near.get(one.id, 0) > fit.near.get(other.id, 0):
            return True
        close = timing.newest or 2 * len(mine) >= len(theirs)
        fits = (bool(theirs) and theirs <= mine) or (close and fit.alike(one, other))
        return fits and _is_better(one, other, timing, places)

    order = []
    for one in head:
        beaten = (n for n, other in enumerate(order) if beats(one.memory, other.memory))
        order.insert(next(beaten, len(order)), one)
    return _rescored(order, scored, 0)


def _is_better(one: Memory, other: Memory, timing: Timing, places: Mapping[str, int]) -> bool:
    """Whether the time of a memory fits the time asked for better than that of another."""
    mine, theirs = places[one.id], places[other.id]
    told, then = (memory.valid_from or memory.created_at for memory in (one, other))
    if timing.newest and mine == theirs == INSIDE:
        return told > then
    if timing.end is None:
        return mine == INSIDE and (theirs != INSIDE or told < then)
    if timing.start is None:
        return mine < theirs or (mine == theirs == INSIDE and told > then)
    return mine < theirs if theirs == LATER or mine == INSIDE else mine == theirs == BEFORE and told > then


def local(moment: datetime) -> datetime:
    """A moment in the zone in which days begin: the clock's own, or that of this machine where the clock tells UTC."""
    return moment.astimezone() if moment.utcoffset() == timedelta(0) else moment
