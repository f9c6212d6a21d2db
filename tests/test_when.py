"""When: which words are time, which are not, and what they mean."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import BadTime, checks
from recollect.language import when
from recollect.language.when import When, find

NOW = datetime(2026, 2, 18, 12, tzinfo=UTC)  # a Wednesday
EVENTS = {
    "the release": datetime(2026, 2, 10, 9, tzinfo=UTC),
    "incident-123": datetime(2026, 1, 20, 9, tzinfo=UTC),
    "the migration": datetime(2025, 11, 3, 15, tzinfo=UTC),
    "ADR-005": datetime(2025, 6, 1, tzinfo=UTC),
    "the outage": datetime(2026, 2, 3, 22, 30, tzinfo=UTC),
}

# What is said, and the range: days, or moments, or «…» for an open end.
CASES = """
    in Oct/Nov 2025 | 2025-10-01 | 2025-12-01
    in winter 24/25 | 2024-12-01 | 2025-03-01
    in September '24 | 2024-09-01 | 2024-10-01
    in the spring before last | 2024-03-01 | 2024-06-01
2026-03-01 | 2026-03-01 | 2026-03-02
2026-03 | 2026-03-01 | 2026-04-01
2026-03-01T10:00Z | 2026-03-01 10:00 | 2026-03-01 10:01
2026-03-01T10:00:30+01:00 | 2026-03-01 09:00:30 | 2026-03-01 09:00:31
1 March 2026 | 2026-03-01 | 2026-03-02
March 1st | 2025-03-01 | 2025-03-02
3/1/2026 | 2026-03-01 | 2026-03-02
13/1/2026 | 2026-01-13 | 2026-01-14
in March | 2025-03-01 | 2025-04-01
in March 2025 | 2025-03-01 | 2025-04-01
since March | 2025-03-01 | …
until Friday | … | 2026-02-14
before June 2025 | … | 2025-06-01
after the 5th of May | 2025-05-06 | …
Q4 2025 | 2025-10-01 | 2026-01-01
in Q1 | 2026-01-01 | 2026-04-01
H1 2026 | 2026-01-01 | 2026-07-01
in 2024 | 2024-01-01 | 2025-01-01
yesterday | 2026-02-17 | 2026-02-18
today | 2026-02-18 | 2026-02-19
tonight | 2026-02-18 18:00 | 2026-02-19 06:00
this morning | 2026-02-18 04:00 | 2026-02-18 12:00
tomorrow | 2026-02-19 | 2026-02-20
last week | 2026-02-09 | 2026-02-16
this week | 2026-02-16 | 2026-02-23
next month | 2026-03-01 | 2026-04-01
last 3 days | 2026-02-15 | 2026-02-18 12:00
past two weeks | 2026-02-04 | 2026-02-18 12:00
over the past year | 2025-02-18 | 2026-02-18 12:00
two days ago | 2026-02-16 | 2026-02-17
a week ago | 2026-02-08 | 2026-02-15
three months ago | 2025-11-03 | 2025-12-04
last Monday | 2026-02-16 | 2026-02-17
on Friday | 2026-02-13 | 2026-02-14
last year | 2025-01-01 | 2026-01-01
earlier this year | 2026-01-01 | 2026-02-18 12:00
early January | 2026-01-01 | 2026-01-12
mid January | 2026-01-10 | 2026-01-23
late January | 2026-01-21 | 2026-02-01
mid-March | 2025-03-10 | 2025-03-23
beginning of March | 2025-03-01 | 2025-03-11
end of March | 2025-03-22 | 2025-04-01
before the end of March | … | 2025-04-01
before the beginning of March | … | 2025-03-01
after the start of March | 2025-03-01 | …
after the end of March | 2025-04-01 | …
over the weekend | 2026-02-14 | 2026-02-16
the weekend | 2026-02-14 | 2026-02-16
recently | 2026-01-19 | 2026-02-18 12:00
lately | 2026-01-19 | 2026-02-18 12:00
between March and May | 2025-03-01 | 2025-06-01
from 2026-01-01 to 2026-02-01 | 2026-01-01 | 2026-02-02
around Christmas | 2025-12-22 | 2025-12-29
last summer | 2025-06-01 | 2025-09-01
two days before the release | 2026-02-08 | 2026-02-09
before incident-123 | … | 2026-01-20 09:00
after the migration | 2025-11-03 15:00 | …
since ADR-005 | 2025-06-01 | …
the week after the outage | 2026-02-03 22:30 | 2026-02-10
the day before the release | 2026-02-09 | 2026-02-10
two days before Christmas | 2025-12-23 | 2025-12-24
the day before yesterday | 2026-02-16 | 2026-02-17
in the last month | 2026-01-18 | 2026-02-18 12:00
last month | 2026-01-01 | 2026-02-01
the last 24h | 2026-02-17 12:00 | 2026-02-18 12:00
a few months ago | 2025-09-03 | 2026-01-03
in the past few months | 2025-09-18 | 2026-02-18 12:00
last night | 2026-02-17 18:00 | 2026-02-18 06:00
Friday morning | 2026-02-13 04:00 | 2026-02-13 12:00
yesterday at 3pm | 2026-02-17 15:00 | 2026-02-17 16:00
yesterday at 15:30 | 2026-02-17 15:30 | 2026-02-17 15:31
monday of last week | 2026-02-09 | 2026-02-10
last week on Friday | 2026-02-13 | 2026-02-14
in March last year | 2025-03-01 | 2025-04-01
summer of 2024 | 2024-06-01 | 2024-09-01
in the summer | 2025-06-01 | 2025-09-01
Jan-Mar | 2025-01-01 | 2025-04-01
Jan – Mar 2025 | 2025-01-01 | 2025-04-01
after March 1st but before June | 2025-03-02 | 2025-06-01
March and April 2025 | 2025-03-01 | 2025-05-01
between November and February | 2025-11-01 | 2026-03-01
from November to January 2025 | 2024-11-01 | 2025-02-01
2025-W10 | 2025-03-03 | 2025-03-10
2025 Q4 | 2025-10-01 | 2026-01-01
Q4-2025 | 2025-10-01 | 2026-01-01
on the 5th. | 2026-02-05 | 2026-02-06
the first week of May | 2025-05-01 | 2025-05-08
second half of 2025 | 2025-07-01 | 2026-01-01
third quarter of 2025 | 2025-07-01 | 2025-10-01
start of 2025 | 2025-01-01 | 2025-03-01
end of last month | 2026-01-22 | 2026-02-01
since the beginning of the year | 2026-01-01 | …
Aug 15th | 2025-08-15 | 2025-08-16
August 11 | 2025-08-11 | 2025-08-12
between August 11 and August 15 2023 | 2023-08-11 | 2023-08-16
31 October, 2022 | 2022-10-31 | 2022-11-01
on December 4, 2023 | 2023-12-04 | 2023-12-05
earlier in the week | 2026-02-16 | 2026-02-18 12:00
the other day | 2026-02-08 | 2026-02-18 12:00
in recent weeks | 2026-01-21 | 2026-02-18 12:00
a couple of weeks ago | 2026-01-25 | 2026-02-08
next Friday | 2026-02-20 | 2026-02-21
this Friday | 2026-02-20 | 2026-02-21
last March | 2025-03-01 | 2025-04-01
next March | 2026-03-01 | 2026-04-01
this past weekend | 2026-02-14 | 2026-02-16
by 2024 | … | 2025-01-01
older than 30 days | … | 2026-01-19
around 5 May | 2025-05-02 | 2025-05-09
during the outage | 2026-01-31 | 2026-02-07
on the day of the release | 2026-02-10 | 2026-02-11
shortly after the outage | 2026-02-03 22:30 | 2026-02-10
prior to the migration | … | 2025-11-03 15:00
in the three weeks before the release | 2026-01-20 | 2026-02-10 09:00
around the release | 2026-02-07 | 2026-02-14
from March onwards | 2025-03-01 | …
last winter | 2024-12-01 | 2025-03-01
this winter | 2025-12-01 | 2026-03-01
next summer | 2026-06-01 | 2026-09-01
Feb 29 | 2024-02-29 | 2024-03-01
10 minutes ago | 2026-02-18 11:49 | 2026-02-18 11:51
past hour | 2026-02-18 11:00 | 2026-02-18 12:00
on Sat | 2026-02-14 | 2026-02-15
the 2024 roadmap | 2024-01-01 | 2025-01-01
2026-03-01 10:00 | 2026-03-01 10:00 | 2026-03-01 10:01
this quarter | 2026-01-01 | 2026-04-01
last quarter | 2025-10-01 | 2026-01-01
on New Year's Eve | 2025-12-31 | 2026-01-01
at Easter 2025 | 2025-04-20 | 2025-04-21
over Thanksgiving | 2025-11-27 | 2025-11-28
2 weeks from now | 2026-03-01 | 2026-03-08
March 2025 to June | 2025-03-01 | 2025-07-01
week of March 5 | 2025-03-03 | 2025-03-10
May 5 | 2025-05-05 | 2025-05-06
in may | 2025-05-01 | 2025-06-01
early may | 2025-05-01 | 2025-05-12
the May release | 2025-05-01 | 2025-06-01
since 3 days ago | 2026-02-15 | …
the month of March | 2025-03-01 | 2025-04-01
"""

NOT_TIME = """
may I
march through the code
March through the code
the second argument
he sat down
the sun is up
python 3.11
version 2.0.1
port 8080
port 2024
status 404
500 errors
ISO 8601
room 2024
commit 20240101abc
ratio 1/2
the last line
past the end of the buffer
when did X happen
when was it deployed
on Fridays
every Friday
each March
last minute changes
the last commit
Cyberpunk 2077
may be wrong
it may 5 times fail
2000 rows
in 2000 rows
after 2000 requests
a two-week trip
one-year-old child
how many days ago did I
most recently
recent publications
the first week
the day
week
second
a day
in a day
in two weeks
each day
Spring Boot
in Spring Security
fall back
the fall-through
early return
late binding
mid level
end of the file
end of line
start of the loop
next page
this line
this function
src/2024/03/a.py
https://x.y/2024/01/01
`last week`
"last week"
2026-13-45
10.0.0.1
2.2024
error 2024
v2024
RFC 2822
SHA 2019
by Friday
due by May
written by April
May I ask
dec ax
mar the surface
sep the words
jan
the past tense
this is past due
before lunch
after the meeting
before I got
after receiving it
since it broke
until done
from a to b
between a and b
up to 5
over 2000
at 5
on 5
1/2/3/4
5 of 10
the 5th element
on the 2nd floor
in the 1st place
first of all
second of two
the last of them
3-day trip
days
all day
24/7
9 to 5
12:30
last name
next.js
last() of list
wed the two
the 90s
2020s
decade
h1 tag
the H1 tag
q1 variable
thirty two
Black Friday sale
Turbocharged Tuesdays
2024 errors
top 5 may fail
The Tonight Show
Legends Of Tomorrow
on a Sunday
on Saturday mornings
in the Spring Fling Market
top 2000 queries
from 500 to 1000
years ago
a while ago
day of the week
how many weeks ago was it
the last few commits
the past two releases
next two lines
last 3 lines
at the end of the season
"""


def cases(table: str) -> list[tuple[str, str, str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(said, start, end) for said, start, end in rows]


def shown(moment: datetime | None) -> str:
    return "…" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00").removesuffix(" 00:00")


@pytest.mark.parametrize(("said", "start", "end"), cases(CASES))
def test_words_of_time_become_a_range(said: str, start: str, end: str) -> None:
    found = find(f"what changed {said}", NOW, EVENTS.get)
    assert found is not None
    assert (shown(found.start), shown(found.end)) == (start, end)
    assert found.words in said


def test_what_differs_from_a_time_came_after_it() -> None:
    found = find("is the kit handled differently from last year?", NOW)
    assert found is not None
    assert (shown(found.start), shown(found.end)) == ("2026-01-01", "…")


def test_only_the_past_was_done_by_a_day_that_names_no_year() -> None:
    assert find("it is due by midsummer", NOW) is None
    found = find("by midsummer we had an explanation", NOW, told=lambda clause: None)
    assert found is not None
    assert (shown(found.start), shown(found.end)) == ("…", "2025-06-22")


@pytest.mark.parametrize("said", NOT_TIME.strip().splitlines())
def test_words_that_only_look_like_time_are_left_alone(said: str) -> None:
    assert find(said, NOW, EVENTS.get) is None
    assert find(f"what about {said}", NOW, EVENTS.get) is None


@pytest.mark.parametrize(
    ("surer", "less"),
    [
        ("2026-03-01", "last week"),
        ("last week", "recently"),
        ("13/1/2026", "3/1/2026"),
        ("in March 2025", "in March"),
        ("in March", "the March release"),
        ("on Friday", "the Friday standup"),
        ("two weeks ago", "a few weeks ago"),
        ("yesterday", "today"),
        ("since May", "ask May about it"),
    ],
)
def test_the_plainer_the_words_the_higher_the_confidence(surer: str, less: str) -> None:
    one, other = find(f"see {surer}", NOW), find(f"see {less}", NOW)
    assert one is not None
    assert other is not None
    assert 0 < other.confidence < one.confidence <= 1


def test_the_surest_of_several_expressions_is_taken() -> None:
    found = find("what did we decide recently, on 2026-01-05, or was it the Friday before?", NOW)
    assert found is not None
    assert found.words == "on 2026-01-05"


def test_an_open_end_and_an_open_start_beside_each_other_meet() -> None:
    words = "after 2026-01-01 but before 2026-02-01"
    found = find(f"commits {words}", NOW)
    assert found == When(datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), 1.0, words)


def test_an_event_nobody_knows_makes_no_range() -> None:
    for said in ("before the release", "two days after incident-9", "the week after the outage", "since ADR-005"):
        assert find(said, NOW) is None


def test_an_unknown_event_does_not_hide_a_time_beside_it() -> None:
    found = find("what broke after the deploy yesterday?", NOW)
    assert found is not None
    assert found.words == "yesterday"


def test_the_longest_name_that_the_caller_knows_is_the_event() -> None:
    known = {"the api": EVENTS["ADR-005"], "the api outage": EVENTS["the outage"]}
    found = find("what changed since the api outage in prod?", NOW, known.get)
    assert found is not None
    assert (found.start, found.words) == (EVENTS["the outage"], "since the api outage")


def test_the_caller_is_asked_a_bounded_number_of_times() -> None:
    asked: list[str] = []
    find("before the alpha beta gamma delta epsilon zeta " * 300, NOW, lambda words: asked.append(words))
    assert 0 < len(asked) <= when.MAX_ASKED


def test_an_event_time_without_a_zone_is_refused() -> None:
    with pytest.raises(BadTime):
        find("since the release", NOW, lambda _: datetime(2026, 1, 1))


@pytest.mark.parametrize(
    ("zone", "start", "end"),
    [
        ("UTC", "2026-02-17", "2026-02-18"),
        ("Europe/Berlin", "2026-02-16 23:00", "2026-02-17 23:00"),
        ("America/Los_Angeles", "2026-02-16 08:00", "2026-02-17 08:00"),
        ("Pacific/Kiritimati", "2026-02-16 10:00", "2026-02-17 10:00"),
    ],
)
def test_a_day_begins_in_the_zone_of_the_speaker(zone: str, start: str, end: str) -> None:
    now = datetime(2026, 2, 18, 1, 30, tzinfo=UTC).astimezone(ZoneInfo(zone))
    found = find("yesterday", now)
    assert found is not None
    assert (shown(found.start), shown(found.end)) == (start, end)


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-03-29", 23), ("2026-10-25", 25), ("2026-03-28", 24)],
)
def test_a_day_is_as_long_as_the_clocks_make_it(day: str, hours: int) -> None:
    found = find(f"on {day}", datetime(2026, 11, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")))
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    assert found.end - found.start == timedelta(hours=hours)


def test_hours_are_counted_across_a_change_of_clocks() -> None:
    now = datetime(2026, 3, 29, 4, tzinfo=ZoneInfo("Europe/Berlin"))  # an hour after 02:00 became 03:00
    found = find("in the last 3 hours", now)
    assert found is not None
    assert found.end is not None
    assert found.start == found.end - timedelta(hours=3)


@pytest.mark.parametrize(
    ("now", "said", "start", "end"),
    [
        ("2026-01-01", "yesterday", "2025-12-31", "2026-01-01"),
        ("2026-01-01", "last week", "2025-12-22", "2025-12-29"),
        ("2026-01-01", "last month", "2025-12-01", "2026-01-01"),
        ("2026-01-01", "last quarter", "2025-10-01", "2026-01-01"),
        ("2026-01-01", "in December", "2025-12-01", "2026-01-01"),
        ("2025-12-31", "tomorrow", "2026-01-01", "2026-01-02"),
        ("2025-12-31", "next month", "2026-01-01", "2026-02-01"),
        ("2025-12-31", "this week", "2025-12-29", "2026-01-05"),
        ("2024-02-29", "a year ago", "2022-08-29", "2023-08-31"),
        ("2024-02-29", "last year", "2023-01-01", "2024-01-01"),
        ("2024-03-01", "yesterday", "2024-02-29", "2024-03-01"),
        ("2024-03-31", "a month ago", "2024-02-14", "2024-03-16"),
        ("2026-03-10", "on February 29", "2024-02-29", "2024-03-01"),
        ("2026-02-20", "on Friday", "2026-02-13", "2026-02-14"),
        ("2026-02-22", "over the weekend", "2026-02-21", "2026-02-23"),
        ("2026-01-10", "this winter", "2025-12-01", "2026-03-01"),
        ("2026-07-10", "last summer", "2025-06-01", "2025-09-01"),
        ("2026-10-10", "last summer", "2026-06-01", "2026-09-01"),
        ("2026-12-25", "last Christmas", "2025-12-25", "2025-12-26"),
        ("2026-04-10", "between March and May", "2025-03-01", "2025-06-01"),
        ("2026-02-17", "from Monday to Wednesday", "2026-02-09", "2026-02-12"),
    ],
)
def test_ends_of_years_leap_days_and_the_day_itself(now: str, said: str, start: str, end: str) -> None:
    found = find(said, datetime.fromisoformat(now).replace(hour=12, tzinfo=UTC))
    assert found is not None
    assert (shown(found.start), shown(found.end)) == (start, end)


@pytest.mark.parametrize("said", [row[0] for row in cases(CASES)])
def test_the_ends_of_the_calendar_stop_arithmetic_without_an_error(said: str) -> None:
    for year, month, day in ((1, 1, 2), (1, 6, 15), (2, 1, 1), (9998, 12, 31), (9999, 6, 15), (9999, 12, 30)):
        for hours in (0, 14, -12):
            moment = datetime(year, month, day, 12, tzinfo=timezone(timedelta(hours=hours)))
            found = find(said, moment, EVENTS.get)
            assert found is None or found.start is None or found.end is None or found.start <= found.end


WORDS = """last next this the past early late mid end of beginning march May friday sat 2024 2026-03-01 3 5th two few
    weeks days ago before after since until between and from to in on Q4 H1 summer christmas yesterday , . – " a week
    month year incident-123 release weekend at 10:00 around earlier first shortly 9999 99999 0 1/2 3/1/2026""".split()
phrases = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
moments = st.datetimes(
    min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/Sao_Paulo")]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), phrases), moments)
def test_any_text_at_any_time_gives_a_range_in_order_with_its_words(said: str, now: datetime) -> None:
    found = find(said, now, EVENTS.get)
    if found is not None:
        assert found.words in said
        assert found.words.strip() == found.words != ""
        assert 0 < found.confidence <= 1
        assert found.start is not None or found.end is not None
        for end in (found.start, found.end):
            assert end is None or end.utcoffset() == timedelta(0)
        assert found.start is None or found.end is None or found.start <= found.end


@given(
    st.sampled_from([row[0] for row in cases(CASES)]),
    st.sampled_from(["why did it break", "we looked at the logs:", "Anna asked"]),
    st.sampled_from(["?", ", please", ". And why?", " (see notes)"]),
)
def test_what_stands_around_an_expression_does_not_change_it(said: str, before: str, after: str) -> None:
    alone, inside = find(f"see {said}", NOW, EVENTS.get), find(f"{before} {said}{after}", NOW, EVENTS.get)
    assert alone is not None
    assert inside is not None
    assert (inside.start, inside.end) == (alone.start, alone.end)


@pytest.mark.parametrize(
    "unit", ["1", "1 ", "last ", '"', "early ", "the end of ", "before the ", "– ", "a few ", "“", "'s"]
)
def test_time_is_linear_in_the_text_whatever_the_text(unit: str) -> None:
    began = time.process_time()
    find((unit * 16384)[:16384], NOW, EVENTS.get)
    assert time.process_time() - began < 1.5


@pytest.mark.parametrize(
    ("text", "end", "moment"),
    [
        ("yesterday", False, "2026-02-17"), ("last week", False, "2026-02-09"), ("7d", False, "2026-02-11T12:00"),
        ("in March", True, "2025-03-31T23:59:59.999999"), ("tomorrow", False, "2026-02-19"),
        ("2026-02-01", True, "2026-02-01T23:59:59.999999"), ("2026-02-01", False, "2026-02-01"),
    ],
)  # fmt: skip
def test_a_moment_may_be_said_in_words(text: str, end: bool, moment: str) -> None:
    now = datetime(2026, 2, 18, 12, tzinfo=UTC)
    assert checks.moment(f" {text} ", now, UTC, end=end) == datetime.fromisoformat(moment).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "soon", "the talk of yesterday", "since March", "whenever", "2026-03-01T10:00", "2026"]
)
def test_other_words_are_no_moment(text: str) -> None:
    with pytest.raises(BadTime):
        checks.moment(text, datetime(2026, 2, 18, 12, tzinfo=UTC), UTC)
