"""Checks: a caller's values, cleaned or refused with an error that names the field and the limit. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any

from . import text, times
from .errors import BadInput, BadTime, TooLarge
from .language import when
from .types import EVERYWHERE, KINDS, NETWORKS, OLD_NETWORKS, SCOPE_FIELDS, STATES, Filter, Scope

MAX_NAME = 200
MAX_QUERY = 16384
MAX_TAGS, MAX_TAG = 32, 64


def _as_it_is(value: str) -> tuple[str, tuple[str, ...]]:
    return value, ()


class Cleaner:
    """Cleans the texts of one request; given a `redact`, it takes secrets out and collects which."""

    def __init__(self, limit: int, redact: Callable[[str], tuple[str, tuple[str, ...]]] = _as_it_is) -> None:
        self._limit = limit
        self._redact = redact
        self.redacted: set[str] = set()

    def text(self, value: Any, name: str, limit: int | None = None) -> str:
        """A text of at most `limit` characters; without one, of the content limit in bytes."""
        if not isinstance(value, str):
            raise BadInput(f"{name} must be text, not {type(value).__name__}.")
        if not value:
            return value
        # Measured before anything else is done with it: a hundred megabytes should cost nothing.
        if len(value) > 4 * max(self._limit, limit or 0):
            raise TooLarge(f"{name} has {len(value)} characters; the limit is {limit or self._limit}.")
        safe, kinds = self._redact(text.clean(value))
        self.redacted.update(kinds)
        size = len(safe) if limit else len(safe.encode("utf-8"))
        if size > (limit or self._limit):
            unit = "characters" if limit else "bytes"
            raise TooLarge(f"{name} has {size} {unit}; the limit is {limit or self._limit}.")
        return safe

    def texts(self, values: Any, name: str, most: int, limit: int) -> tuple[str, ...]:
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise BadInput(f"{name} must be a list of texts.")
        if len(values) > most:
            raise TooLarge(f"{name} has {len(values)} entries; the limit is {most}.")
        found = (self.text(value, name, limit) for value in values)
        return tuple(dict.fromkeys(value for value in found if value))

    def scope(self, scope: Any) -> Scope:
        if not isinstance(scope, Scope):
            raise BadInput(f"scope must be a Scope, not {type(scope).__name__}.")
        return Scope(*(self.text(getattr(scope, name), f"scope.{name}", MAX_NAME) for name in SCOPE_FIELDS))

    def content(self, value: Any) -> str:
        content = self.text(value, "content")
        if not content or not text.fold(content):
            raise BadInput("content is empty.", fix="Say what is to be remembered.")
        return content


def one_of(value: Any, allowed: Sequence[str], name: str) -> str:
    if value not in allowed:
        raise BadInput(f"{name} {value!r} is not known.", fix=f"It is one of: {', '.join(allowed)}.")
    return str(value)


def within(value: Any, low: float, high: float, name: str, whole: bool) -> float:
    fits = isinstance(value, int) if whole else isinstance(value, int | float)
    if not fits or isinstance(value, bool) or not low <= value <= high:
        raise BadInput(
            f"{name} must be {'a whole number' if whole else 'a number'} from {low} to {high}, not {value!r}."
        )
    return float(value)


def span(start: Any, end: Any, names: tuple[str, str]) -> tuple[datetime | None, datetime | None]:
    """Two times, either of which may be missing, in their order."""
    first, last = (None if v is None else times.aware(v, n) for v, n in zip((start, end), names, strict=True))
    if first and last and first > last:
        raise BadTime(f"{names[0]} ({times.iso(first)}) is after {names[1]} ({times.iso(last)}).", fix="Swap them.")
    return first, last


def filter_of(
    *, now: datetime | None, scope: Any = EVERYWHERE, kinds: Any = (), networks: Any = (), tags: Any = (),
    since: Any = None, until: Any = None, min_importance: Any = 1, states: Any = ("active",), inside: bool = False,
    shared: Any = None,
) -> Filter:  # fmt: skip
    """A filter from a caller's words; `now` keeps what is valid and unexpired then, None keeps all."""
    cleaner = Cleaner(MAX_QUERY)
    first, last = span(since, until, ("since", "until"))
    return Filter(
        scope=cleaner.scope(scope),
        inside=inside,
        kinds=tuple(one_of(kind, KINDS, "kind") for kind in several(kinds, "kinds")),
        networks=tuple(network(one) for one in several(networks, "networks")),
        tags=cleaner.texts(several(tags, "tags"), "tags", MAX_TAGS, MAX_TAG),
        states=tuple(one_of(state, STATES, "state") for state in several(states, "states")),
        since=first,
        until=last,
        min_importance=int(within(min_importance, 1, 10, "min_importance", whole=True)),
        current_at=now,
        shared=shared,
    )


def network(name: Any) -> str:
    """A network by its name, or by the one it had before."""
    return one_of(OLD_NETWORKS.get(name, name) if isinstance(name, str) else name, NETWORKS, "network")


def several(values: Any, name: str) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, list | tuple | set | frozenset):
        raise BadInput(f"{name} must be a list of texts.")
    return tuple(values)


def moment(text: str, now: datetime, zone: tzinfo | None, name: str = "time", *, end: bool = False) -> datetime:
    """A moment as a person types it: all that `times.spoken` takes, or an end of a range in words.

    >>> from datetime import UTC
    >>> now = datetime(2026, 2, 18, 12, tzinfo=UTC)
    >>> times.iso(moment("last week", now, UTC)), times.iso(moment("yesterday", now, UTC, end=True))
    ('2026-02-09T00:00:00Z', '2026-02-17T23:59:59.999999Z')
    """
    try:
        found = times.parse_time(text, now, zone, name)
    except BadTime:
        told = None if text.strip()[:4].isdigit() else when.find(text, now.astimezone(zone))
        if told is None or told.start is None or told.end is None or told.words != text.strip():
            raise
        return told.end - timedelta(microseconds=1) if end else told.start
    is_day = end and len(text.strip()) == len("2026-03-01")
    return found + timedelta(days=1, microseconds=-1) if is_day else found
