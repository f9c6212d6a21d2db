"""Ranges between two events: "between the Adyen outage and the spike", "between the two ledger incidents". Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from .. import times
from . import calendar as lex

if TYPE_CHECKING:
    from .when import _Reader

Ends = tuple[datetime, datetime, int]  # two moments, and the token after them
COUNTS = ("two", "both")


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
