"""Times: always UTC, always with a zone; the clock is an argument.

Inside the store a time is a whole number of microseconds since 1970, elsewhere an aware `datetime`, on the wire ISO
8601 with `Z`. A time without a zone is refused.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from .errors import BadTime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICRO = timedelta(microseconds=1)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_STEPS = (
    ("minute", 60.0, 3600.0),
    ("hour", 3600.0, 86_400.0),
    ("day", 86_400.0, 86_400.0 * 45),
    ("month", 86_400 * 30.44, 86_400 * 365.25 * 1.5),
    ("year", 86_400 * 365.25, float("inf")),
)
_AGO = re.compile(r"(\d{1,6})\s*([smhdw])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def micros(moment: datetime) -> int:
    """
    >>> micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - EPOCH) // MICRO


def moment(micros: int) -> datetime:
    """
    >>> moment(1000000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return EPOCH + timedelta(microseconds=micros)


def iso(value: datetime) -> str:
    """
    >>> iso(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    '2026-03-01T09:30:00Z'
    """
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def aware(value: datetime | str, name: str = "time") -> datetime:
    """Take a datetime or ISO text that carries a zone, and give it in UTC.

    >>> iso(aware("2026-03-01T10:30:00+01:00"))
    '2026-03-01T09:30:00Z'
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise BadTime(f"{name}: {value!r} is not an ISO 8601 time.") from error
    if not isinstance(value, datetime):
        raise BadTime(f"{name}: {value!r} is not a time.")
    if value.tzinfo is None or value.utcoffset() is None:
        raise BadTime(f"{name}: {value.isoformat()} has no time zone.")
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise BadTime(f"{name}: {value.isoformat()} is out of range.") from error


def parse_time(text: str, now: datetime, zone: tzinfo | None, name: str = "time") -> datetime:
    """What a person types: an ISO time with zone, a day in their own zone, or how long ago (`7d`, `2h`).

    >>> now = datetime(2026, 3, 8, tzinfo=UTC)
    >>> iso(parse_time("7d", now, UTC)), iso(parse_time("2026-03-01", now, UTC))
    ('2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z')
    """
    text = text.strip()
    if ago := _AGO.fullmatch(text):
        try:
            return now - timedelta(seconds=int(ago[1]) * _UNITS[ago[2]])
        except OverflowError as error:
            raise BadTime(f"{name}: {text!r} is out of range.") from error
    if _DATE.fullmatch(text):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise BadTime(f"{name}: {text!r} is not a day.") from error
    return aware(text, name)


def is_duration(text: str) -> bool:
    """Whether a text says how long (`7d`, `2h`), and not when."""
    return _AGO.fullmatch(text.strip()) is not None


def ago(then: datetime, now: datetime) -> str:
    """How long ago, for a person.

    >>> now = datetime(2026, 3, 8, tzinfo=UTC)
    >>> [ago(now - timedelta(seconds=s), now) for s in (5, 600, 86_400, 800_000, -7200)]
    ['just now', '10 minutes ago', 'yesterday', '9 days ago', 'in 2 hours']
    """
    seconds = (now - then).total_seconds()
    size = abs(seconds)
    if size < 45:
        return "just now"
    if 86_400 <= size < 172_800:
        return "yesterday" if seconds > 0 else "tomorrow"
    unit, length = next((unit, length) for unit, length, below in _STEPS if size < below)
    count = max(1, round(size / length))
    words = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{words} ago" if seconds > 0 else f"in {words}"
