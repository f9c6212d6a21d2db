"""Events that a text names, and ranges between two: "between the Adyen outage and the spike". Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from .. import times
from . import calendar as lex
from .calendar import Span, shift

if TYPE_CHECKING:
    from .when import _Reader

Ends = tuple[datetime, datetime, int]  # two moments, and the token after them
COUNTS = ("two", "both")
MAX_EVENT, MAX_CLAUSE = 6, 10  # words in the name of an event, and in a clause that tells of one


def event(reader: _Reader, i: int, joints: frozenset[str] = frozenset()) -> Span | None:
    """What the caller knows the time of: the longest name that it recognises, up to a joint."""
    end = i + (reader.word(i) not in lex.NOT_EVENTS)
    while i < end < min(len(reader.tokens), i + MAX_EVENT) and reader.then(end) and reader.word(end) not in joints:
        end += 1
    shortest = i + (reader.word(i) in lex.DETERMINERS)
    for last in range(end, shortest, -1):
        if reader.asked[0] <= 0 or reader.word(last - 1) in lex.NOT_EVENTS | lex.DETERMINERS:
            continue
        reader.asked[0] -= 1
        name = " ".join(token.raw for token in reader.tokens[i:last]).strip()
        if (moment := reader.anchor(name)) is not None:
            utc = times.aware(moment, name)
            return Span(utc, utc, 0.8, last, "event", exact=True, event=True)
    return None if joints or reader.word(i - 1) in lex.LOOSE else clause(reader, i)


def clause(reader: _Reader, i: int, *, closed: bool = False) -> Span | None:
    """What a clause tells of, up to what it says of something else; `closed`: a comma must end it."""
    end = i
    while end < len(reader.tokens) and end <= i + MAX_CLAUSE and (end == i or reader.then(end)):
        end += 1
    if end > i + MAX_CLAUSE or end == i or (closed and end < len(reader.tokens) and reader.tokens[end - 1].stop != ","):
        return None
    cuts = [n for n in range(i + 1, end) if reader.word(n) in lex.TURNS_TO]
    for last in (*cuts, end):
        if reader.asked[0] <= 0:
            return None
        reader.asked[0] -= 1
        name = " ".join(token.raw for token in reader.tokens[i:last])
        if (moment := reader.told(name)) is not None:
            utc = times.aware(moment, name)
            return Span(utc, utc, 0.75, last, "event", exact=True, event=True)
    return None


def meanwhile(reader: _Reader, i: int) -> Span | None:
    """When Boston went live, …; while Priya was on call, …; at the time of the outage: the day it was told."""
    if reader.word(i) in lex.MEANWHILE and reader.then(i + 1) not in lex.AUXILIARIES:
        span = clause(reader, i + 1, closed=True)
        if span and not {reader.word(n) for n in range(i + 1, span.next)}.isdisjoint(lex.PRESENT):
            return None  # "when v1 is switched off" is ahead
    else:
        said = " ".join(reader.then(i + n) if n else reader.word(i) for n in range(4))
        span = event(reader, i + 4) if said in ("at the time of", "on the day of") else None
    if span is None or span.start is None:
        return None
    day = reader.cal.local(span.start)
    return reader.days(day, shift(day, "day", 1), span.sure, span.next, exact=True)


def before_last(reader: _Reader, span: Span | None) -> Span | None:
    """The same a year earlier, where it is the spring or the March before last."""
    if not span or not span.start or not span.end or span.grain not in lex.NAMED:
        return span
    if [reader.then(span.next), reader.then(span.next + 1)] != ["before", "last"]:
        return span
    first, after = (shift(reader.cal.local(end), "year", -1) for end in (span.start, span.end))
    return reader.days(first, after, span.sure, span.next + 2, span.grain)


def between(reader: _Reader, i: int) -> Ends | None:
    """The two events that are named from a token on, as moments in order."""
    start = i + (reader.then(i) in lex.DETERMINERS)
    if reader.then(start) in COUNTS:
        return _pair(reader, ("first", "second"), start + 1, start + 1)
    if reader.then(start) in lex.ORDINALS and reader.then(start + 1) in lex.AND:
        second = start + 2 + (reader.then(start + 2) in lex.DETERMINERS)
        if reader.then(second) in lex.ORDINALS:
            return _pair(reader, (reader.word(start), reader.word(second)), second + 1, second + 1)
    left = reader.event(i, lex.AND)
    right = reader.event(left.next + 1) if left and reader.then(left.next) in lex.AND else None
    if left is None or right is None or left.start is None or right.start is None:
        return None
    return min(left.start, right.start), max(left.start, right.start), right.next


def _pair(reader: _Reader, which: tuple[str, str], i: int, end: int) -> Ends | None:
    """Two events of one name, told apart by ordinals; the longest name that has both counts."""
    while end < len(reader.tokens) and end < i + 4 and (end == i or not reader.tokens[end - 1].stop):
        end += 1
    while end > i:
        name = " ".join(token.raw for token in reader.tokens[i:end])
        found = [reader.anchor(f"{one} {name}") for one in which]
        if found[0] and found[1]:
            first, last = sorted(times.aware(one, name) for one in found if one)
            return first, last, end
        end -= 1
    return None
