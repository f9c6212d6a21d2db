"""The time that a question speaks of: "last week", "since ADR-005", "between March and May". Pure.

A small grammar is tried at each word and looks a bounded number of words ahead, so the cost is linear. A *period* ("in
March", "2 days ago") has two ends; a connector ("since", "before", "between … and …") makes a range; an *event*
("before the release") is looked up by the caller, and not used if unknown.

Days begin in the zone of `now`; the result is in UTC. What names no year is the latest that has begun. A word that is
time only sometimes ("may", "second") needs a preposition, a day, a year or a capital; what stays doubtful has a low
confidence. Quoted words are not parsed. Arithmetic stops at the ends of the calendar.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from .. import times
from . import calendar as lex
from .anchors import before_last, between, event, meanwhile
from .calendar import Amount, floor, shift
from .calendar import Span as _Span

MAX_TEXT = 16384  # characters looked at
MAX_FOUND = 32  # expressions read in one text
MAX_ASKED = 24  # questions to `anchor` about one text

Anchor = Callable[[str], datetime | None]


@dataclass(frozen=True, slots=True)
class When:
    """A range of time, aware and in UTC, with an exclusive end; None is open. `words` is the slice of the text."""

    start: datetime | None
    end: datetime | None
    confidence: float
    words: str


def unknown(words: str) -> datetime | None:
    """The anchor of those who know no events."""
    return None


def find(text: str, now: datetime, anchor: Anchor = unknown, told: Anchor = unknown) -> When | None:
    """The time a text speaks of; None when it speaks of none. `told` knows events by a clause that tells of them.

    >>> now = datetime(2026, 2, 18, 12, tzinfo=UTC)
    >>> found = find("what broke in March?", now)
    >>> found.words, times.iso(found.start), times.iso(found.end), found.confidence
    ('in March', '2025-03-01T00:00:00Z', '2025-04-01T00:00:00Z', 0.85)
    >>> find("may I march past the second line?", now)
    """
    text = text[:MAX_TEXT]
    tokens = lex.tokens(text)
    here = now.tzinfo or UTC
    reader = _Reader(
        tokens,
        times.aware(now, "now"),
        lex.Calendar(here),
        now.date(),
        anchor,
        [MAX_ASKED],
        told if lex.PAST.search(text) else unknown,
    )
    found: list[tuple[int, _Span]] = []
    at = 0
    while at < len(tokens) and len(found) < MAX_FOUND:
        span = reader.expression(at)
        if span is None:
            at += 1
        else:
            found.append((at, span))
            at = span.next
    best = max(_combined(tokens, found), key=lambda one: one[1].sure, default=None)
    if best is None:
        return None
    first, span = best
    words = text[tokens[first].start : tokens[span.next - 1].end]
    return When(span.start, span.end, round(span.sure, 2), words)


def _combined(tokens: list[lex.Token], found: list[tuple[int, _Span]]) -> list[tuple[int, _Span]]:
    """Neighbours that form one range: "after May but before June"."""
    merged: list[tuple[int, _Span]] = []
    for first, span in found:
        if merged and (one := _joined(tokens, merged[-1][1], first, span)):
            merged[-1] = (merged[-1][0], one)
        else:
            merged.append((first, span))
    return merged


def _joined(tokens: list[lex.Token], left: _Span, first: int, right: _Span) -> _Span | None:
    gap = [token.word for token in tokens[left.next : first]]
    if len(gap) > 1 or any(word not in lex.JOINS for word in gap) or tokens[left.next - 1].stop == ".":
        return None
    sure = min(left.sure, right.sure)
    if left.end is None and right.start is None and left.start and right.end and left.start < right.end:
        return _Span(left.start, right.end, sure, right.next)
    if right.end is None and left.start is None and right.start and left.end and right.start < left.end:
        return _Span(right.start, left.end, sure, right.next)
    return None


@dataclass(frozen=True, slots=True)
class _Reader:
    """The grammar. Each method reads at a token and gives a span or None; `led`: a preposition came before."""

    tokens: list[lex.Token]
    instant: datetime  # now, in UTC
    cal: lex.Calendar
    today: date  # what "the latest March" is counted back from
    anchor: Anchor
    asked: list[int]  # how often the anchor may still be asked
    told: Anchor = unknown

    def word(self, i: int) -> str:
        return self.tokens[i].word if 0 <= i < len(self.tokens) else ""

    def then(self, i: int, comma: bool = False) -> str:
        """The word at `i`, if it belongs to the phrase of the word before it."""
        stop = self.tokens[i - 1].stop if 0 < i <= len(self.tokens) else ""
        return "" if stop == "." or (stop == "," and not comma) else self.word(i)

    def opens(self, i: int) -> bool:
        """Whether a sentence begins at `i`, where a capital says nothing."""
        return i == 0 or self.tokens[i - 1].stop == "."

    def capital(self, i: int) -> bool:
        return self.tokens[i].raw[:1].isupper()

    def days(self, first: date, after: date, sure: float, i: int, grain: str = "day", exact: bool = False) -> _Span:
        return _Span(self.cal.midnight(first), self.cal.midnight(after), sure, i, grain, exact)

    def unit(self, first: date, unit: str, sure: float, i: int, exact: bool = False) -> _Span:
        return self.days(first, shift(first, unit, 1), sure, i, unit, exact)

    # -- expressions: periods, events and what connects them

    def expression(self, i: int) -> _Span | None:
        if not lex.begins(self.word(i)) or self.word(i - 1) in ("every", "each", "per"):
            return None
        word = self.word(i)
        if word in ("between", "from") and self.then(i + 1) and (left := self.period(i + 1, led=True)):
            joints = lex.TO if word == "from" else lex.AND
            if span := self.span(i + 1, left, joints):
                return span
        if word == "after" and self.word(i - 1) in lex.WITH_AFTER:
            return None  # "who looks after it" speaks of no time
        if (
            span := (word == "between" and self.events(i + 1))
            or meanwhile(self, i)
            or self.offset(i)
            or self.bounded(i)
        ):
            return span
        if word in lex.LEADS:
            return self.led(i)
        span = self.period(i, led=self.word(i - 1) == "of")
        if span and self.word(i - 1) == "by" and not span.exact:
            return None  # "due by Friday" is ahead, "written by May" is a person
        return self.ranged(i, span) if span else None

    def led(self, i: int) -> _Span | None:
        """In March, on Friday, over the past year, around Christmas."""
        word, j = self.word(i), i + 1
        if word == "from" and self.word(i - 1).startswith("different") and (span := self.period(j, led=True)):
            return span._replace(start=span.end, end=None)  # it asks what came after that
        if word in ("in", "from", "at", "on") and (self.then(j) in ("last", "next") or self.ago(j)):
            return None  # the preposition belongs to what was said before: "the race I took part in a month ago"
        span = self.period(j, led=True) if self.then(j) else None
        if span is None and self.then(j) == "the" and word not in ("at", "on"):
            span = self.period(j + 1, led=True)
        if span is None and word in ("around", "during", "at", "on"):
            day_of = 3 if word == "on" and [self.then(j + n) for n in range(3)] == ["the", "day", "of"] else 0
            span = self.event(j + day_of) if word != "on" or day_of else None
        if span is None or span.start is None or span.end is None:
            return span
        if word == "from" and self.then(span.next) in ("on", "onward", "onwards"):
            return span._replace(end=None, next=span.next + 1)
        if word in ("around", "circa") or span.event:
            days = 0 if word in ("on", "at") else max(3, (span.end - span.start).days // 4)
            first = self.cal.local(span.start)
            last = first if span.event else self.cal.local(self.cal.moved(span.end, -1))
            wide = self.days(shift(first, "day", -days), shift(last, "day", days + 1), span.sure - 0.05, span.next)
            return span if span.grain == "ago" else wide
        return self.ranged(j, span._replace(sure=span.sure * (0.8 if word == "for" and not span.exact else 1)))

    def bounded(self, i: int) -> _Span | None:
        """Since March, until Friday, before incident-123, prior to the migration, older than two weeks."""
        word, j, pair = self.word(i), i + 1, f"{self.word(i)} {self.then(i + 1)}"
        if pair in ("prior to", "ahead of", "up to", "older than", "earlier than", "newer than", "later than"):
            word = {"up": "until", "newer": "after", "later": "after"}.get(word, "before")
            j += 1
        known = word in lex.FROM_START | lex.FROM_END | lex.TO_START | lex.TO_END
        if not known or self.then(j) in ("", "when", "by") or (word in ("through", "following") and self.opens(i)):
            return None
        if pair in ("older than", "newer than") and (amount := self.amount(j)):
            edge = self.cal.rolled(self.instant, amount, -1)
            return _Span(edge, None, 0.9, amount.next) if word == "after" else _Span(None, edge, 0.9, amount.next)
        span = self.period(j, led=True) or (self.then(j) == "the" and self.period(j + 1, led=True)) or self.event(j)
        past = word == "by" and self.told is not unknown  # "due by Friday" is ahead, "by Easter we had" is not
        if not span or (word in ("through", "by") and (span.event or not (span.exact or past))):
            return None
        if word in lex.FROM_START and (both := self.span(j, span, lex.TO)):
            return both
        named = self.then(j + (self.then(j) == "the"))  # "before the end of May" names the edge that it means
        if word in lex.FROM_START | lex.FROM_END:
            after = word in lex.FROM_END and named not in ("start", "beginning")
            return _Span(span.end if after else span.start, None, span.sure, span.next)
        return _Span(None, span.end if word in lex.TO_END or named == "end" else span.start, span.sure, span.next)

    def ranged(self, i: int, left: _Span) -> _Span:
        """March to May, 2026-01-01 – 2026-02-01, March and April; or the period alone."""
        return self.span(i, left, lex.TO) or self.span(i, left, lex.AND, led=False) or left

    def span(self, i: int, left: _Span, joints: frozenset[str], led: bool = True) -> _Span | None:
        """Two periods as one range; the one that names no year takes the year that fits the other."""
        j = left.next + 1
        right = self.period(j, led) if self.then(j - 1) in joints and self.then(j) else None
        if not (right and left.start and right.start) or not (led or left.grain == right.grain):
            return None
        first, second = left.start, right.start
        if left.exact and not right.exact and second < first:
            right = replace(self, today=shift(self.cal.local(first), "year", 1)).period(j, led) or right
        elif not left.exact and (right.exact or second < first):
            left = replace(self, today=self.cal.local(second)).period(i, led=True) or left
        ends = [end for one in (left, right) for end in one[:2] if end]
        sure = min(left.sure, right.sure) if led else max(left.sure, right.sure) * 0.9
        return _Span(min(ends), max(ends), sure, right.next, left.grain, left.exact)

    def offset(self, i: int) -> _Span | None:
        """Two days before the release, the week after the outage, shortly before Christmas."""
        article = self.word(i) in ("the", "within", "in")
        j = i + (2 if article and self.then(i + 1) == "the" else 1 if article else 0)
        amount = self.amount(j)
        first = j + (self.then(j) == "first")
        if amount is None and article and (unit := lex.UNITS.get(self.then(first))):
            amount = Amount(1, 1, unit, first + 1)
        if amount is None and self.word(i) in ("shortly", "right", "just", "immediately", "soon"):
            amount, article = Amount(1, 1, "week", i + 1), True
        if amount is None or (sign := lex.SIDES.get(self.then(amount.next), 0)) == 0:
            return None
        k = amount.next + 1 + (self.then(amount.next + 1) in ("of", "to"))
        base = (self.period(k, led=True) or self.event(k)) if self.then(k) else None
        if base is None or base.start is None or base.end is None:
            return None
        point = base.start if sign < 0 or base.event else self.cal.moved(base.end, -1)
        if not article or (amount.unit == "day" and amount.high == 1):
            return _Span(*self.cal.window(point, amount, sign), base.sure, base.next, "ago", base.exact)
        edge = base.start if sign < 0 else base.end
        ends = sorted((edge, self.cal.rolled(edge, amount, sign)))
        return _Span(ends[0], ends[1], base.sure, base.next, "ago", base.exact)

    def event(self, i: int, joints: frozenset[str] = frozenset()) -> _Span | None:
        return event(self, i, joints)

    def events(self, i: int) -> _Span | None:
        return _Span(*ends[:2], 0.8, ends[2], exact=True) if (ends := between(self, i)) else None

    # -- periods

    def period(self, i: int, led: bool) -> _Span | None:
        return before_last(self, self.whole(i, led) or self.part(i))

    def whole(self, i: int, led: bool) -> _Span | None:
        if not self.word(i):
            return None
        return (
            self.written(i)
            or self.ago(i)
            or self.dated(i, led)
            or self.fourth(i, led)
            or self.turn(i)
            or self.named_day(i, led)
            or self.month(i, led)
            or self.season(i, led)
            or self.holiday(i, led)
            or self.year(i, led)
            or self.vague(i)
        )

    def written(self, i: int) -> _Span | None:
        """Dates and moments in figures."""
        if (at := lex.moment(self.word(i), self.cal.zone)) is not None:
            return _Span(at[0], self.cal.moved(*at), 1.0, i + 1, "moment", True)
        if (found := lex.figures(self.word(i))) is None:
            return None
        first, unit, sure = found
        return self.hour(first, i + 1, sure, True) if unit == "day" else self.unit(first, unit, sure, i + 1, True)

    def hours(self, day: date, part: str, sure: float, i: int, exact: bool = True) -> _Span:
        start, end = lex.HOURS[part]
        return _Span(self.cal.midnight(day, start), self.cal.midnight(day, end), sure, i, "hours", exact)

    def hour(self, day: date, i: int, sure: float, exact: bool = False) -> _Span:
        """A day, or its morning, or the hour after "at"."""
        if self.then(i) in lex.HOURS:
            return self.hours(day, self.then(i), sure, i + 1, exact)
        j = i + (self.then(i) == "at")
        clock = lex.CLOCK.fullmatch(self.then(j))
        if clock and (clock[2] or (clock[3] and j > i)) and int(clock[1]) < 24 and int(clock[2] or 0) < 60:
            hours = int(clock[1]) % 12 + 12 * (clock[3] == "pm") if clock[3] else int(clock[1])
            start = self.cal.midnight(day, hours + int(clock[2] or 0) / 60)
            return _Span(start, self.cal.moved(start, 60 if clock[2] else 3600), sure, j + 1, "hours", exact)
        return self.unit(day, "day", sure, i, exact)

    def amount(self, i: int) -> Amount | None:
        """Two weeks, a few days, 24h."""
        word = self.word(i)
        if brief := lex.BRIEF.fullmatch(word):
            return Amount(int(brief[1]), int(brief[1]), lex.LETTERS[brief[2]], i + 1)
        j = i + (word == "a" and self.then(i + 1) in lex.VAGUE)
        word = self.word(j)
        figure = word.isascii() and word.isdigit() and len(word) < 5
        number = (int(word), int(word)) if figure else lex.NUMBERS.get(word)
        if number is None:
            return None
        j += 1 + (word in lex.VAGUE and self.then(j + 1) == "of")
        unit = lex.UNITS.get(self.then(j).removesuffix("s"))
        return Amount(*number, unit, j + 1) if unit else None

    def ago(self, i: int) -> _Span | None:
        amount = self.amount(i)
        said = self.then(amount.next) if amount else ""
        ahead = said == "from" and self.then(amount.next + 1) == "now" if amount else False
        if not amount or not (said in ("ago", "back") or ahead):
            return None
        sure = 0.9 if amount.low == amount.high else 0.7
        start, end = self.cal.window(self.instant, amount, 1 if ahead else -1)
        return _Span(start, end, sure, amount.next + 1 + ahead, "ago", exact=True)

    def part(self, i: int) -> _Span | None:
        """Early March, the end of last year, the first week of May; earlier this year."""
        j = i + (self.word(i) == "the")
        if self.word(j) in ("earlier", "later") and self.then(j + 1):
            in_the = [self.then(j + 1), self.then(j + 2)] == ["in", "the"]
            span = self.current(j + 3) if in_the else self.whole(j + 1, led=False)
            if not span or not span.start or not span.end or not span.start <= self.instant < span.end:
                return None
            earlier = self.word(j) == "earlier"
            return span._replace(end=self.instant) if earlier else span._replace(start=self.instant)
        for size in (1, 2, 3):
            name = " ".join(self.then(j + n) if n else self.word(j) for n in range(size))
            if name in lex.PARTS:
                k = j + size + (self.then(j + size) == "in")
                of = name.endswith("of") and self.then(k) == "the"
                span = (self.current(k + 1) if of else None) or (self.whole(k, led=True) if self.then(k) else None)
                if span and name == "week of" and span.start and span.grain == "day":
                    monday = floor(self.cal.local(span.start), "week")
                    return self.unit(monday, "week", span.sure, span.next, span.exact)
                return self.fraction(span, name) if span else None
        return None

    def current(self, i: int) -> _Span | None:
        """The week, the year: only as the whole of a part."""
        unit = lex.UNITS.get(self.then(i), "")
        return self.unit(floor(self.today, unit), unit, 0.65, i + 1) if unit in lex.SLACK and unit != "day" else None

    def fraction(self, span: _Span, name: str) -> _Span | None:
        if span.start is None or span.end is None or span.grain not in lex.SLACK:
            return None
        (low, high), first, days = lex.PARTS[name], self.cal.local(span.start), max(1, (span.end - span.start).days)
        if span.grain == "year" and (months := lex.YEAR_PARTS.get(name)):
            edges = [shift(first, "month", number) for number in months]
            return self.days(edges[0], edges[1], span.sure - 0.05, span.next, "part", span.exact)
        begin = days + low if low < 0 else low if low > 1 else days * low
        finish = math.ceil(high if high > 1 else days * high)
        last = shift(first, "day", min(days, max(1, finish)))
        found = self.days(shift(first, "day", max(0, int(begin))), last, 0, span.next)
        return found._replace(sure=span.sure - 0.05, grain="part", exact=span.exact)

    def year_of(self, month: int, turn: int | None = None) -> int:
        """The year of the latest such month that has begun; of the one before, this year's, or the next, by `turn`."""
        year = self.today.year
        if turn is None:
            return year - (month > self.today.month)
        return year + (0, 0 if month > self.today.month else 1, -1 if month >= self.today.month else 0)[turn]

    def said_year(self, i: int) -> tuple[int | None, int]:
        """The year that follows a month or a season: 2025, of 2025, last year."""
        j = i + (self.then(i) in ("of", "in"))
        if lex.YEAR_RE.fullmatch(word := self.then(j, comma=True)):
            return int(word), j + 1
        if short := lex.SHORT_YEAR.fullmatch(word):
            return 2000 + int(short[1] or short[2]) % 100, j + 1
        if (turn := lex.TURNS.get(word)) is not None and word != "past" and self.then(j + 1) == "year":
            return self.today.year + turn, j + 2
        return None, i

    def month(self, i: int, led: bool, turn: int | None = None) -> _Span | None:
        word = self.word(i)
        if not (month := lex.MONTHS.get(word)):
            return None
        year, j = self.said_year(i + 1)
        if year is not None:
            return self.unit(lex.first_of(year, month), "month", 0.95, j, exact=True)
        unsure = word in lex.UNSURE_MONTHS
        paired = self.then(i + 1) in lex.TO | lex.AND and self.then(i + 2) in lex.MONTHS
        alone = not led and turn is None and not paired
        if unsure and (self.then(i + 1) in lex.AFTER_MAY or (alone and (self.opens(i) or not self.capital(i)))):
            return None
        if alone and len(word) < 4 and not self.capital(i):
            return None
        sure = 0.85 if not alone else 0.45 if word in lex.NAMES or unsure else 0.6
        return self.unit(lex.first_of(self.year_of(month, turn), month), "month", sure, i + 1)

    def day_number(self, i: int) -> tuple[int, bool]:
        """1, 1st or first, and whether it was an ordinal; 0 for anything else."""
        found = lex.DAY_RE.fullmatch(self.word(i))
        day = int(found[1]) if found and self.word(i).isascii() else 0
        return (day, bool(found and found[2])) if day else (lex.ORDINALS.get(self.word(i), 0), True)

    def dated(self, i: int, led: bool) -> _Span | None:
        """1 March 2026, March 1st, the 5th of May; on the 5th."""
        month = lex.MONTHS.get(self.word(i))
        j, k = (i, i + 1) if month else (i + (self.word(i) == "the"), i)
        if not month:
            k, j = j, j + 1 + (self.then(j + 1) == "of")
            month = lex.MONTHS.get(self.then(j))
        day, ordinal = self.day_number(k) if self.word(k) == self.then(k) or k == i else (0, False)
        if not day or (self.word(k) in lex.ORDINALS and j != k + 2):
            return None
        if not month:
            alone = led and ordinal and k == i + 1 and (k + 1 == len(self.tokens) or self.tokens[k].stop != "")
            back = lex.real(self.today.year, self.today.month, day) if alone else None
            if alone and (back is None or back > self.today):
                before = shift(self.today.replace(day=1), "month", -1)
                back = lex.real(before.year, before.month, day)
            return self.unit(back, "day", 0.6, k + 1) if back else None
        end = max(j, k) + 1
        year, after = self.said_year(end)
        clear = led or ordinal or year is not None or self.capital(j) or self.word(j) not in lex.UNSURE_MONTHS
        if not clear or (year is None and self.then(end) in lex.COUNTED):
            return None
        guess = self.today.year - ((month, day) > (self.today.month, self.today.day))
        real = lex.real(year or guess, month, day) or (lex.real(guess // 4 * 4, month, day) if year is None else None)
        sure = 0.98 if year else 0.9
        return self.hour(real, after, sure, exact=year is not None) if real else None

    def fourth(self, i: int, led: bool) -> _Span | None:
        """Q4 2025, 2025 Q4, in Q1, H1 2026."""
        first = int(self.word(i)) if lex.YEAR_RE.fullmatch(self.word(i)) else None
        j = i + (first is not None)
        found = lex.FOURTH.fullmatch(self.then(j) if first else self.word(j))
        if not found or (found[2] == "h" and found[3] > "2"):
            return None
        year, after = self.said_year(j + 1)
        for said in (first, found[1], found[4]):
            year, after = (int(said), j + 1) if said else (year, after)
        months = 3 if found[2] == "q" else 6
        month = (int(found[3]) - 1) * months + 1
        if year is None and not (self.capital(j) and (found[2] == "q" or (led and self.word(j - 1) != "the"))):
            return None
        start = lex.first_of(year or self.year_of(month), month)
        sure = 0.95 if year else 0.8 if led else 0.6
        return self.days(start, shift(start, "month", months), sure, after, "quarter", year is not None)

    def turn(self, i: int) -> _Span | None:
        """Last week, the past 3 days, next Friday, this March, last summer, last night."""
        j = i + (self.word(i) == "the")
        word = self.word(j)
        rolling = j > i or word == "past"
        if word == "this" and self.then(j + 1) in ("past", "last"):
            j, word, rolling = j + 1, self.then(j + 1), True
        turn, k = lex.TURNS.get(word), j + 1
        said = self.then(k)
        if turn is None or not said:
            return None
        if turn and word != "previous" and (amount := self.amount(k)):
            ends = sorted((self.instant, self.cal.rolled(self.instant, amount, turn)))
            return _Span(ends[0], ends[1], 0.9 if amount.low == amount.high else 0.7, amount.next, "ago", True)
        if said in ("night", "evening", "morning", "afternoon"):
            night = turn == 0 or (turn == -1 and said in ("night", "evening"))
            return self.hours(shift(self.today, "day", turn), said, 0.9, k + 1) if night else None
        if unit := lex.UNITS.get(said):
            return self.turned(turn, unit, rolling, k)
        if said == "weekend":
            return self.weekend(turn, 0.85, k + 1)
        if said in lex.WEEKDAYS:
            return self.weekday(k, turn, 0.9)
        if word == "past":
            return None
        return self.month(k, True, turn) or self.season(k, True, turn) or self.holiday(k, True, turn)

    def turned(self, turn: int, unit: str, rolling: bool, k: int) -> _Span | None:
        if rolling and turn < 0 and unit != "second" and self.then(k + 1) != "of":
            start = self.cal.rolled(self.instant, Amount(1, 1, unit, k), -1)
            return _Span(start, self.instant, 0.85, k + 1, "ago", True)
        if unit in lex.ELAPSED or unit in ("day", "fortnight") or self.then(k + 1) == "of":
            return None
        whole = self.unit(shift(floor(self.today, unit), unit, turn), unit, 0.9, k + 1, True)
        on = k + 1 + (self.then(k + 1) == "on")
        if unit == "week" and self.then(on) in lex.WEEKDAYS and len(self.word(on)) > 4 and whole.start:
            day = shift(self.cal.local(whole.start), "day", lex.WEEKDAYS[self.word(on)] - 1)
            return self.hour(day, on + 1, 0.9, exact=True)
        return whole

    def named_day(self, i: int, led: bool) -> _Span | None:
        """Yesterday, tonight, Friday, the weekend."""
        word = self.word(i)
        if word in lex.DAYS and self.capital(i) and not self.opens(i):
            return None  # "The Tonight Show"
        if word == "tonight":
            return self.hours(self.today, "night", 0.9, i + 1)
        if word in lex.DAYS:
            sure = 0.6 if word == "today" else 0.95  # "how does it work today" means now
            return self.hour(shift(self.today, "day", lex.DAYS[word]), i + 1, sure, exact=True)
        if word == "the" and self.then(i + 1) == "weekend":
            return self.weekend(None, 0.75, i + 2)
        return self.weekday(i, None, 0.8 if led else 0.5) if word in lex.WEEKDAYS else None

    def weekday(self, i: int, turn: int | None, sure: float) -> _Span | None:
        word, wanted = self.word(i), lex.WEEKDAYS[self.word(i)] - 1
        short = len(word) < 6 or word == "thurs"
        if self.word(i - 1) in lex.NOT_WEEKDAY or (short and (sure < 0.8 or not self.capital(i))):
            return None
        if self.then(i + 1) in lex.MANY_HOURS:
            return None
        j = i + 1 + (self.then(i + 1) == "of")
        week = lex.TURNS.get(self.then(j)) if self.then(j + 1) == "week" else None
        if turn == 0 or week is not None:
            day = shift(shift(floor(self.today, "week"), "day", wanted), "week", week or 0)
            return self.hour(day, i + 1 if week is None else j + 2, 0.9, exact=True)
        distance = (wanted - self.today.weekday() - 1) % 7 + 1
        day = shift(self.today, "day", distance if turn == 1 else distance - 7 - 7 * (distance == 7))
        return self.hour(day, i + 1, sure - 0.2 * short, exact=turn is not None)

    def weekend(self, turn: int | None, sure: float, i: int) -> _Span:
        week = floor(self.today, "week")
        back = turn if turn is not None else -(self.today.weekday() < 5)
        saturday = shift(shift(week, "week", back), "day", 5)
        return self.days(saturday, shift(saturday, "day", 2), sure, i, "day", True)

    def years(self, said: int | None) -> list[int]:
        """The years in which a season or a feast can be meant; away from the ends of the calendar."""
        around = range(self.today.year - 2, self.today.year + 3) if said is None else (said,)
        return [year for year in around if 1 < year < 9999]

    def season(self, i: int, led: bool, turn: int | None = None) -> _Span | None:
        if not (month := lex.SEASONS.get(self.word(i))):
            return None
        year, j = self.said_year(i + 1)
        loose = year is None and turn is None
        named = self.capital(i) and (self.word(i - 1) != "the" or (self.then(i + 1) and self.capital(i + 1)))
        if loose and (not led or named):
            return None
        starts = [date(y, month, 1) for y in self.years(year)]
        ends = [shift(start, "month", 3) for start in starts]
        start = lex.pick(self.today, starts, ends, turn if year is None else 0)
        sure = 0.6 if loose else 0.8
        return self.days(start, shift(start, "month", 3), sure, j, "quarter", year is not None) if start else None

    def holiday(self, i: int, led: bool, turn: int | None = None) -> _Span | None:
        word = self.word(i)
        name = f"{word} {self.then(i + 1)}" if word == "new" else word
        if name not in lex.HOLIDAYS or not led:
            return None
        end = i + 1 + (word == "new")
        eve = self.then(end) == "eve"
        year, after = self.said_year(end + (eve or self.then(end) == "day"))
        days = [shift(lex.holiday(name, y), "day", -eve) for y in self.years(year)]
        day = lex.pick(self.today, days, [shift(day, "day", 1) for day in days], turn if year is None else 0)
        return (
            self.unit(day, "day", 0.9 if year else 0.6 if turn is None else 0.8, after, year is not None)
            if day
            else None
        )

    def year(self, i: int, led: bool) -> _Span | None:
        word, before, then = self.word(i), self.word(i - 1), self.then(i + 1)
        if not lex.YEAR_RE.fullmatch(word) or then in lex.COUNTED or not 1970 <= int(word) <= self.today.year + 5:
            return None
        if before in ("on", "at", "over", "within") or (before in ("around", "circa") and then):
            return None
        many = then.endswith("s") and then not in ("was", "is", "has", "vs", "versus", "this")
        if not led and (many or not (self.opens(i) or before in lex.BEFORE_YEAR)):
            return None
        if int(word) % 100 == 0 and (many or not led):
            return None
        return self.unit(date(int(word), 1, 1), "year", 0.9 if led else 0.7, i + 1, exact=True)

    def vague(self, i: int) -> _Span | None:
        word, two = self.word(i), [self.then(i + 1), self.then(i + 2)]
        days = 30 if word in ("recently", "lately") and self.word(i - 1) not in ("most", "more", "least") else 0
        if other := word == "the" and two == ["other", "day"]:
            days = 10
        if days:
            start = self.cal.midnight(shift(self.today, "day", -days))
            return _Span(start, self.instant, 0.5 if other else 0.4, i + 1 + 2 * other, "ago", True)
        if word == "recent" and (unit := lex.UNITS.get(two[0].removesuffix("s"))) and two[0].endswith("s"):
            start = self.cal.rolled(self.instant, Amount(1, 4, unit, i), -1)
            return _Span(start, self.instant, 0.6, i + 2, "ago", True)
        return None
