"""Browsing, for every backend: pages of memories with more filters than recall has, and what they are counted by.

The vector index knows nothing of trust, the kind of source and the day, so these are in `Sieve` and not in `Filter`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .. import times
from ..types import SCOPE_FIELDS, Filter, Kept, Link, Memory, Source
from .reading import Reading
from .rows import columns, quoted
from .statements import MEMORIES, MEMORY_COLUMNS, NOUN

N = TypeVar("N", bound=Kept)
BATCH = 20_000
DAY = 86_400_000_000  # microseconds
WORDS = ("kind", "network", "state", "trust", *SCOPE_FIELDS, "source")
TIMES = ("created_at", "valid_from", "valid_to", "expires_at")
COLUMNS = ("id", *WORDS, "importance", *TIMES, "tags")  # what memories are counted by, in this order
ORIGIN = COLUMNS.index("source")
COUNTED = f"select {', '.join(f'm.{name}' for name in quoted(COLUMNS))} from memory m where m.tenant = :tenant"
IN_ORDER = " and m.id > :after order by m.id limit :limit"
SOURCES = "select id, kind from source where tenant = :tenant order by kind, uri"
WORK = f"""
    select at / {DAY}, operation, count(*) from journal
    where tenant = :tenant and noun = 'memory' and at >= :since group by 1, 2 order by 1, 2"""
USED_LAST = f"{MEMORIES} and u.last_recalled_at is not null{{where}} order by u.last_recalled_at desc limit :limit"
NEWEST_LINKS = f"{NOUN[Link]} and relation <> 'mentions' order by id desc limit :limit"
NEWEST_MENTIONS = f"{NOUN[Link]} and relation = 'mentions' order by id desc limit :limit"
RELATED = f"{NOUN[Link]} and relation = :relation order by id desc limit :limit"


@dataclass(frozen=True, slots=True)
class Sieve:
    """A filter, and what only people who browse ask for beside it."""

    filter: Filter
    trusts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class Browsing(Reading):
    """The part of a store that is browsed."""

    def browse(self, tenant: str, sieve: Sieve, after: str | None, limit: int) -> list[Memory]:
        """Memories that pass, newest first, below the id `after`."""
        where, values = self._sieve_where(sieve)
        if after:
            where += " and m.id < :after"
            values["after"] = after
        sql = f"{MEMORIES}{where} order by m.id desc limit :limit"
        return self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, limit=limit, **values)

    def counted(self, tenant: str, only: Sequence[str] | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """What memories are counted by, as `COLUMNS` names it: of some, or of all in the order of their ids."""
        if only is not None:
            rows = self._query(f"{COUNTED} and m.id {self.AMONG.format('ids')}", tenant=tenant, ids=self._as_list(only))
            kinds = {one.id: one.kind for one in self.of(tenant, Source, sorted({row[ORIGIN] for row in rows}))}
            yield _with_source_kind(kinds, rows)
            return
        kinds = dict(self._query(SOURCES, tenant=tenant))  # one walk through an index is less than a look for each
        after = ""
        while rows := self._query(f"{COUNTED}{IN_ORDER}", tenant=tenant, after=after, limit=BATCH):
            yield _with_source_kind(kinds, rows)
            after = rows[-1][0]

    def recalled_last(self, tenant: str, filter: Filter, limit: int) -> list[Memory]:
        """What was recalled last, newest first."""
        where, values = self._where(filter)
        sql = USED_LAST.format(where=where)
        return self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, limit=limit, **values)

    def work(self, tenant: str, since: int) -> list[tuple[int, str, int]]:
        """How many changes of memories there were: day, operation, number; from a time in microseconds on."""
        return [(int(day), str(name), int(n)) for day, name, n in self._query(WORK, tenant=tenant, since=since)]

    def newest_links(self, tenant: str, limit: int) -> list[Link]:
        """The newest links, and beside them the newest mentions, which are many and would hide the others."""
        found = self._select(Link, columns(Link), NEWEST_LINKS, tenant=tenant, limit=limit)
        left = max(0, limit - len(found))
        return [*found, *self._select(Link, columns(Link), NEWEST_MENTIONS, tenant=tenant, limit=left)]

    def related(self, tenant: str, relation: str, limit: int) -> list[Link]:
        """The newest links of one type."""
        return self._select(Link, columns(Link), RELATED, tenant=tenant, relation=relation, limit=limit)

    def _sieve_where(self, sieve: Sieve) -> tuple[str, dict[str, Any]]:
        where, values = self._where(sieve.filter)
        if sieve.trusts:
            where += f" and m.trust {self._among('trusts', sieve.trusts, values)}"
        if sieve.sources:
            of = "from source o where o.tenant = m.tenant and o.id = m.source"
            where += f" and exists (select 1 {of} and o.kind {self._among('origins', sieve.sources, values)})"
        return where, values


def _with_source_kind(kinds: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in which the kind of the source stands for the source."""
    return [(*row[:ORIGIN], kinds.get(row[ORIGIN], ""), *row[ORIGIN + 1 :]) for row in rows]


def date(day: int) -> str:
    """A day, counted from the first of 1970.

    >>> date(20517)
    '2026-03-05'
    """
    return times.moment(day * DAY).date().isoformat()
