"""Lexicon: the words of time, how a text is cut into words, and which days the words stand for. Pure.

The grammar that reads them is `when`; the synonyms of developers are in `recall.lexicon`. A word is what stands between
spaces, without the punctuation around it: `src/2024/a.py`, `3.11` and `incident-123` are one word each, so the numbers
inside them are never mistaken for dates. Only a dash that means «to», and the hyphen of «mid-March», cut a word in two.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

MAX_WORD = 40  # characters of a word that can be time
NEAR = 0.1  # «80 days ago» is that day, give or take a tenth


class Token(NamedTuple):
    word: str  # in lower case, without «’s»; empty when it is quoted or too long
    raw: str
    start: int
    end: int
    stop: str  # "" · "," · "." for anything that ends a phrase


class Amount(NamedTuple):
    low: int
    high: int
    unit: str
    next: int


def _table(words: str) -> dict[str, int]:
    """
    >>> _table("jan january, feb february")
    {'jan': 1, 'january': 1, 'feb': 2, 'february': 2}
    """
    return {word: n for n, group in enumerate(words.split(","), start=1) for word in group.split()}


MONTHS = _table(
    "jan january, feb february, mar march, apr april, may, jun june, jul july, aug august, sep sept september,"
    "oct october, nov november, dec december"
)
WEEKDAYS = _table(
    "mon monday, tue tues tuesday, wed wednesday, thu thur thurs thursday, fri friday, sat saturday, sun sunday"
)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
HOLIDAYS = {"christmas": (12, 25), "xmas": (12, 25), "halloween": (10, 31), "new year": (1, 1), "easter": (0, 0),
             "thanksgiving": (11, 0)}  # fmt: skip
NUMBERS = {word: (n, n) for word, n in _table(
    "a an one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen"
).items()} | {"twenty": (20, 20), "thirty": (30, 30), "couple": (2, 3), "few": (2, 5), "several": (3, 8)}  # fmt: skip
VAGUE = ("couple", "few", "several")
ORDINALS = _table("first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth")
UNITS = {"second": "second", "sec": "second", "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour",
          "day": "day", "week": "week", "fortnight": "fortnight", "month": "month", "quarter": "quarter",
          "year": "year", "yr": "year"}  # fmt: skip
LETTERS = {"s": "second", "min": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week",
            "mo": "month", "y": "year", "yr": "year"}  # fmt: skip
ELAPSED = {"second": 1, "minute": 60, "hour": 3600}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
DAYS_IN = {"day": 1, "week": 7, "fortnight": 14}
SLACK = {"day": 0, "week": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 183}  # days, either way
TURNS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
DAYS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
HOURS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
MANY_HOURS = frozenset(f"{part}s" for part in HOURS)
# Of a period: up to 1 a share of it, beyond that days.
PARTS = {"early": (0.0, 0.34), "mid": (0.3, 0.7), "late": (0.66, 1.0), "beginning of": (0.0, 0.3),
          "start of": (0.0, 0.3), "middle of": (0.3, 0.7), "end of": (0.7, 1.0), "first half of": (0.0, 0.5),
          "second half of": (0.5, 1.0), "first week of": (0.0, 7.0), "second week of": (7.0, 14.0),
          "third week of": (14.0, 21.0), "fourth week of": (21.0, 28.0), "last week of": (-7.0, 1.0),
          "first quarter of": (0.0, 0.25), "last quarter of": (0.75, 1.0), "week of": (0.0, 1.0),
          "month of": (0.0, 1.0)}  # fmt: skip
LEADS = frozenset("in on during over within around at for throughout from across circa".split())
FROM_START, FROM_END = frozenset(("since", "starting")), frozenset(("after", "following"))
TO_START, TO_END = frozenset(("before", "preceding")), frozenset(("until", "till", "through", "by"))
TO = frozenset(("to", "until", "till", "through", "–"))
AND = frozenset(("and", "or", "&", "–", "vs", "versus"))
JOINS = frozenset(("and", "but"))
DETERMINERS = frozenset("the our my your their his her its that this".split())
NOT_EVENTS = frozenset(
    """a about am an and any are as at be been being but by can could did do does doing for from had has have having he
    her him how i if in into is it me no not of on or she should so than then there these they those to too up us was
    we were what when where which while who whom whose why will with would you""".split()
)
AFTER_MAY = frozenset("i we you he she it they be have not also the a an through to into toward towards on".split())
UNSURE_MONTHS = frozenset("mar march may jan jun sep dec august aug".split())
NAMES = frozenset("april may june august jan".split())
BEFORE_YEAR = frozenset(
    "the our my this that all year years since until till before after by between and or to vs fiscal – in".split()
)
COUNTED = frozenset(
    """ms kb mb gb px bytes byte lines line rows row tokens token records items files users requests errors times
    characters chars steps points dollars percent dimensions words hz rpm qps""".split()
)
NOT_WEEKDAY = frozenset("ash black good easter cyber palm fat every each per a any some".split())

_BEGINS = frozenset(
    """between from prior up older earlier newer later shortly right just immediately soon the within recently lately
    recent new week month""".split()
).union(
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
    """One run as words: split at dashes that mean «to», without the «’s» of a possessive."""
    if comma := COMMA.fullmatch(said):  # the date of «December 1,2023»
        middle = start + comma.end(1)
        day = Token(comma[1].lower(), comma[1], start, middle, ",")
        return [day, Token(comma[2], comma[2], middle + 1, start + len(said), stop)]
    pieces: list[tuple[str, int]] = []
    at = 0
    months = said.lower().split("-")
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
            word = "–" if word in ("-", "–", "—", "..", "...") else word
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
