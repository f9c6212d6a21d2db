"""The question: what a caller asks of recall, checked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .. import text, times
from ..checks import MAX_TAG, MAX_TAGS, Cleaner, one_of, span, within
from ..errors import BadInput, TooLarge
from ..types import EVERYWHERE, KINDS, STATES, Filter

MAX_QUERY = 16384
MAX_LIMIT = 1000
MAX_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    filter: Filter
    limit: int
    as_of: datetime | None
    max_tokens: int | None
    fusion: str


def filter_of(
    *, now: datetime | None, scope: Any = EVERYWHERE, kinds: Any = (), tags: Any = (), since: Any = None,
    until: Any = None, min_importance: Any = 1, states: Any = ("active",), inside: bool = False,
) -> Filter:  # fmt: skip
    """A filter from a caller's words; `now` keeps what is valid and unexpired then, None keeps all."""
    cleaner = Cleaner(MAX_QUERY)
    first, last = span(since, until, ("since", "until"))
    return Filter(
        scope=cleaner.scope(scope),
        inside=inside,
        kinds=tuple(one_of(kind, KINDS, "kind") for kind in _several(kinds, "kinds")),
        tags=cleaner.texts(_several(tags, "tags"), "tags", MAX_TAGS, MAX_TAG),
        states=tuple(one_of(state, STATES, "state") for state in _several(states, "states")),
        since=first,
        until=last,
        min_importance=int(within(min_importance, 1, 10, "min_importance", whole=True)),
        current_at=now,
    )


def _several(values: Any, name: str) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, list | tuple | set | frozenset):
        raise BadInput(f"{name} must be a list of texts.")
    return tuple(values)


def parse(
    query: Any, now: datetime, *, limit: Any, as_of: Any = None, max_tokens: Any = None, fusion: Any = "sum",
    states: Any = None, **filters: Any,
) -> Query:  # fmt: skip
    """Check a question. Asking for other states than active also asks for what is expired or no longer valid."""
    if not isinstance(query, str):
        raise BadInput(f"query must be text, not {type(query).__name__}.")
    if len(query) > MAX_QUERY:
        raise TooLarge(f"query has {len(query)} characters; the limit is {MAX_QUERY}.", fix="Ask a shorter question.")
    if not (cleaned := text.clean(query)):
        raise BadInput("query is empty.", fix="Ask something, or see everything with: recollect list")
    moment = None if as_of is None else times.aware(as_of, "as_of")
    current = now if states is None and moment is None else None
    wanted = ("active",) if states is None else states
    return Query(
        text=cleaned,
        filter=filter_of(now=current, states=wanted, **filters),
        limit=int(within(limit, 1, MAX_LIMIT, "limit", whole=True)),
        as_of=moment,
        max_tokens=None if max_tokens is None else int(within(max_tokens, 1, MAX_TOKENS, "max_tokens", whole=True)),
        fusion=one_of(fusion, ("sum", "rrf"), "fusion"),
    )
