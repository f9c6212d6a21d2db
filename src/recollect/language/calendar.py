"""The calendar of the time parser: its words (`data/time.txt`), how text is split into them, and date arithmetic. Pure.

A word is what stands between spaces, without the punctuation around it: `src/2024/a.py` and `3.11` are one word each,
so the numbers inside them are never mistaken for dates. Only a dash that means "to", and the hyphen of "mid-March",
split a word.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from . import tables

MAX_WORD = 40  # characters of a word that can be time
NEAR = 0.1  # "80 days ago" is that day, give or take a tenth


class Token(NamedTuple):
    word: str  # in lower case, without "’s"; empty when it is quoted or too long
    raw: str
    start: int
    end: int
    stop: str  # "" · "," · "." for anything that ends a phrase


class Amount(NamedTuple):
    low: int
    high: int
    unit: str
    next: int


class Span(NamedTuple):
    start: datetime | None
    end: datetime | None
    sure: float
    next: int  # the token after it
    grain: str = "day"
    exact: bool = False  # it says which year, or how long ago
    event: bool = False


def _set(name: str) -> frozenset[str]:
    return frozenset(tables.words("time", name))


def _whole(name: str) -> dict[str, int]:
    return {word: int(value) for word, value in tables.pairs("time", name).items()}


def _ranges(name: str) -> dict[str, tuple[float, float]]:
    """Each word with its two numbers, or one number twice."""
    told = {word: [float(part) for part in value.split()] for word, value in tables.pairs("time", name).items()}
    return {word: (numbers[0], numbers[-1]) for word, numbers in told.items()}


def _whole_ranges(name: str) -> dict[str, tuple[int, int]]:
    return {word: (int(low), int(high)) for word, (low, high) in _ranges(name).items()}


MONTHS, WEEKDAYS, ORDINALS = (tables.numbered("time", name) for name in ("months", "weekdays", "ordinals"))
SEASONS, TURNS, DAYS = (_whole(name) for name in ("seasons", "turns", "days"))
HOLIDAYS, NUMBERS, HOURS = (_whole_ranges(name) for name in ("holidays", "numbers", "hours"))
PARTS = _ranges("parts")  # of a period: up to 1 a share of it, beyond that days
YEAR_PARTS = _whole_ranges("parts of a year")  # in months
UNITS, LETTERS = (tables.pairs("time", name) for name in ("units", "letters"))
ELAPSED = {"second": 1, "minute": 60, "hour": 3600}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
DAYS_IN = {"day": 1, "week": 7, "fortnight": 14}
SLACK = {"day": 0, "week": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 183}  # days, either way
LOOSE = ("at", "around", "circa", "on", "by")  # after these a clause is hardly an event: "all at once"
PRESENT = ("is", "are", "will", "does", "do", "can")
NAMED = ("month", "quarter")  # grains that come once a year
SIDES = {"before": -1, "prior": -1, "ahead": -1, "after": 1, "following": 1}
MANY_HOURS = frozenset(f"{part}s" for part in HOURS)
VAGUE, LEADS, JOINS, TO, AND = (_set(name) for name in ("vague", "leads", "joins", "to", "and"))
FROM_START, FROM_END, TO_START, TO_END = (_set(name) for name in ("from start", "from end", "to start", "to end"))
DETERMINERS, NOT_EVENTS, NOT_WEEKDAY = (_set(name) for name in ("determiners", "not events", "not weekday"))
AFTER_MAY, UNSURE_MONTHS, NAMES = (_set(name) for name in ("after may", "unsure months", "names"))
WITH_AFTER, MEANWHILE, TURNS_TO, AUXILIARIES = (
    _set(name) for name in ("with after", "meanwhile", "turns to", "auxiliaries")
)
PAST = re.compile(rf"\b(?:{tables.joined('time', 'past')})\b", re.IGNORECASE)
BEFORE_YEAR, COUNTED = (_set(name) for name in ("before year", "counted"))
_BEGINS = _set("begins").union(
    MONTHS, WEEKDAYS, SEASONS, HOLIDAYS, NUMBERS, ORDINALS, TURNS, DAYS, LEADS, FROM_START, FROM_END, TO_START, TO_END,
    (name.split()[0] for name in PARTS),
)  # fmt: skip

_WORD = re.compile(r"\S+")
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`")
_DASH = re.compile(r"–|—|\.\.+|(?<=^mid)-|(?<=^late)-|(?<=^early)-", re.IGNORECASE)

COMMA = re.compile(r"([0-9]{1,2}(?:st|nd|rd|th)?),((?:19|20|21)[0-9]{2})", re.IGNORECASE)
ISO = re.compile(r"((?:19|20|21)[0-9]{2})([-/])([0-9]{1,2})\2([0-9]{1,2})")
MONTH_RE = re.compile(r"((?:19|20|21)[0-9]{2})-([0-9]{2})")
WEEK = re.compile(r"((?:19|20|21)[0-9]{2})-?w([0-9]{2})")
MOMENT = re.compile(r"(?:19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}t[0-9]{2}:[0-9]{2}(:[0-9]{2}(?:\.[0-9]{1,9})?)?"
                     r"(z|[+-][0-9]{2}:?[0-9]{2})?")  # fmt: skip
SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/((?:19|20|21)?[0-9]{2})")
DOTTED = re.compile(r"([0-9]{2})\.([0-9]{2})\.((?:19|20|21)[0-9]{2})")
FOURTH = re.compile(r"((?:19|20|21)[0-9]{2})?-?([qh])([1-4])(?:[-/']?((?:19|20|21)[0-9]{2}))?")
YEAR_RE = re.compile(r"(?:19|20|21)[0-9]{2}")
SHORT_YEAR = re.compile(r"['’]([0-9]{2})|((?:20)?[0-9]{2})/[0-9]{2}")  # '24, and the winter 24/25
DAY_RE = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
BRIEF = re.compile(r"([0-9]{1,4})(s|min|h|hrs?|d|w|mo|y|yr)")
CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(am|pm)?")


def begins(word: str) -> bool:
    """Whether an expression of time can begin with the word: what spares ordinary prose the grammar.

    >>> begins("last"), begins("2024"), begins("q4"), begins("deploy")
    (True, True, True, False)
    """
    return word in _BEGINS or word[:1].isdigit() or (word[:1] in ("q", "h") and word[1:2].isdigit())


def tokens(text: str) -> list[Token]:
    """The words, without the punctuation around them but with what it means: a comma, or the end of a phrase."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    tokens: list[Token] = []
    within = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while within < len(quoted) and quoted[within][1] <= start:
            within += 1
        bare = match[0].lstrip('([{"“*_')
        if bare != match[0] and tokens:
            tokens[-1] = tokens[-1]._replace(stop=".")
        start = end - len(bare)
        said = bare.rstrip(".,;:!?)]}\"”’'*_…")
        tail = bare[len(said) :].strip("'’\"”*_")
        stop = "" if not tail else "," if tail == "," else "."
        if not said:
            tokens[-1:] = [token._replace(stop=stop or ".") for token in tokens[-1:]]
        elif (within < len(quoted) and quoted[within][0] < end) or len(said) > MAX_WORD:
            tokens.append(Token("", said, start, start + len(said), stop or "."))
        else:
            tokens.extend(_cut(said, start, stop))
    return tokens


def _cut(said: str, start: int, stop: str) -> list[Token]:
    """One run as words: split at dashes that mean "to", without the "’s" of a possessive."""
    if comma := COMMA.fullmatch(said):  # the date of "December 1,2023"
        middle = start + comma.end(1)
        day = Token(comma[1].lower(), comma[1], start, middle, ",")
        return [day, Token(comma[2], comma[2], middle + 1, start + len(said), stop)]
    pieces: list[tuple[str, int]] = []
    at = 0
    months = re.split("[-/]", said.lower())
    dashes = [len(months[0])] if len(months) == 2 and all(m in MONTHS for m in months) else []
    joints = [(m.start(), m.end()) for m in _DASH.finditer(said)] + [(d, d + 1) for d in dashes]
    for left, right in joints:
        pieces += [(said[at:left], at), (said[left:right], left)]
        at = right
    pieces.append((said[at:], at))
    tokens = []
    for piece, offset in pieces:
        word = piece.lower()
        if word.endswith(("'s", "’s")):
            piece, word = piece[:-2], word[:-2]
        if piece and not (word == "-" and months[0] in ("mid", "early", "late")):
            word = "–" if word in ("-", "/", "–", "—", "..", "...") else word
            tokens.append(Token(word, piece, start + offset, start + offset + len(piece), ""))
    if tokens and not (stop == "." and tokens[-1].word in MONTHS and tokens[-1].word not in ("may", "march")):
        tokens[-1] = tokens[-1]._replace(stop=stop)
    return tokens


def shift(day: date, unit: str, n: int) -> date:
    """
    >>> shift(date(2024, 2, 29), "year", 1), shift(date(2026, 3, 31), "month", -1)
    (datetime.date(2025, 2, 28), datetime.date(2026, 2, 28))
    """
    if unit in DAYS_IN:
        return date.fromordinal(min(max(day.toordinal() + n * DAYS_IN[unit], 1), date.max.toordinal()))
    year, month = divmod(day.year * 12 + day.month - 1 + n * MONTHS_IN[unit], 12)
    if not 1 <= year <= 9999:
        return date.min if year < 1 else date.max
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def real(year: int, month: int, day: int) -> date | None:
    """The day, if the calendar has it."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def first_of(year: int, month: int) -> date:
    return date(max(1, min(year, 9999)), month, 1)


def floor(day: date, unit: str) -> date:
    """The first day of the week, month, quarter or year."""
    if unit in DAYS_IN:
        return shift(day, "day", -day.weekday()) if unit != "day" else day
    months = MONTHS_IN[unit]
    return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def _easter(year: int) -> date:
    """The Gregorian Easter Sunday (Meeus, Jones, Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, day = divmod(h + k - 7 * ((a + 11 * h + 22 * k) // 451) + 114, 31)
    return date(year, month, day + 1)


def holiday(name: str, year: int) -> date:
    month, day = HOLIDAYS[name]
    if name == "easter":
        return _easter(year)
    if name == "thanksgiving":  # the fourth Thursday
        return date(year, 11, 22 + (3 - date(year, 11, 22).weekday()) % 7)
    return date(year, month, day)


def pick(today: date, starts: list[date], ends: list[date], turn: int | None) -> date | None:
    """The latest that has begun; or the latest that is over, the one that is not over, the next, by `turn`."""
    begun = [start for start in starts if start <= today]
    over = [start for start, end in zip(starts, ends, strict=True) if end <= today]
    if turn is None or turn < 0:
        return max(begun if turn is None else over, default=None)
    left = [start for start in starts if start not in (over if turn == 0 else begun)]
    return min(left or starts, default=None)


def figures(word: str) -> tuple[date, str, float] | None:
    """A date in figures: its first day, its length, and how sure that is. The month comes first where both could.

    >>> figures("3/1/2026"), figures("2026-02-30")
    ((datetime.date(2026, 3, 1), 'day', 0.7), None)
    """
    unit, day = "day", None
    if found := ISO.fullmatch(word):
        day, sure = real(int(found[1]), int(found[3]), int(found[4])), 1.0
    elif found := SLASHED.fullmatch(word):
        first, second, short = int(found[1]), int(found[2]), len(found[3]) == 2
        year = int(found[3]) + 2000 * short
        day = real(year, first, second) or real(year, second, first)
        sure = (0.95 if first > 12 or second > 12 or first == second else 0.7) - 0.2 * short
    elif found := DOTTED.fullmatch(word):
        day, sure = real(int(found[3]), int(found[2]), int(found[1])), 0.8
    elif found := MONTH_RE.fullmatch(word):
        day, unit, sure = real(int(found[1]), int(found[2]), 1), "month", 0.95
    elif (found := WEEK.fullmatch(word)) and 0 < int(found[2]) < 54:
        day, unit, sure = shift(floor(date(int(found[1]), 1, 4), "week"), "week", int(found[2]) - 1), "week", 0.95
    return (day, unit, sure) if day else None


def moment(word: str, zone: tzinfo) -> tuple[datetime, int] | None:
    """An ISO time, and the seconds it stands for: a minute, or a second where seconds are given."""
    if not (found := MOMENT.fullmatch(word)):
        return None
    try:
        at = datetime.fromisoformat(word.upper())
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC), 1 if found[1] else 60
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Calendar:
    """From days to moments, in one zone. Nothing raises: what lies beyond the calendar is its first or last moment."""

    zone: tzinfo

    def midnight(self, day: date, hours: float = 0) -> datetime:
        wall = datetime(day.year, day.month, day.day)
        try:
            return (wall + timedelta(hours=hours)).replace(tzinfo=self.zone).astimezone(UTC)
        except OverflowError:
            return (datetime.max if day.year > 5000 else datetime.min).replace(tzinfo=UTC)

    def local(self, moment: datetime) -> date:
        try:
            return moment.astimezone(self.zone).date()
        except OverflowError:
            return moment.date()

    def moved(self, moment: datetime, seconds: float) -> datetime:
        try:
            return moment + timedelta(seconds=seconds)
        except OverflowError:
            return (datetime.max if seconds > 0 else datetime.min).replace(tzinfo=UTC)

    def rolled(self, base: datetime, amount: Amount, sign: int) -> datetime:
        """The end of a stretch of time that begins or ends at `base`: to the second, or to the day."""
        if amount.unit in ELAPSED:
            return self.moved(base, sign * amount.high * ELAPSED[amount.unit])
        return self.midnight(shift(self.local(base), amount.unit, sign * amount.high))

    def window(self, base: datetime, amount: Amount, sign: int) -> tuple[datetime, datetime]:
        """About so long before or after: half a unit either way, or a tenth of the distance."""
        if amount.unit in ELAPSED:
            size = ELAPSED[amount.unit]
            slack = max(size / 2, NEAR * amount.high * size)
            ends = sorted((sign * amount.low * size, sign * amount.high * size))
            return self.moved(base, ends[0] - slack), self.moved(base, ends[1] + slack)
        day = self.local(base)
        near, far = (shift(day, amount.unit, sign * n) for n in (amount.low, amount.high))
        pad = max(SLACK[amount.unit], int(NEAR * abs((far - day).days)))
        first, last = min(near, far), max(near, far)
        return self.midnight(shift(first, "day", -pad)), self.midnight(shift(last, "day", pad + 1))
