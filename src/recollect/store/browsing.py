"""Browsing, for every backend: pages of memories with more filters than recall has, and counts of each sort.

People look at a store by trust, by the kind of source and by day too. The vector index knows nothing of these, so they
are no part of `Filter`: they stand in `Sieve`, which only these reads understand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

from .. import times
from ..types import Filter, Kept, Link, Memory, Noun
from .changes import MEMORIES, MEMORY_COLUMNS, NOUN
from .rows import columns

N = TypeVar("N", bound=Kept)
DAY = 86_400_000_000  # microseconds
MOST_TAGS, MOST_PROJECTS = 40, 60

GROUPED = """
    select m.kind, m.trust, m.project, count(*) from memory m where m.tenant = :tenant{where}
    group by 1, 2, 3"""
STATED = "select m.state, count(*) from memory m where m.tenant = :tenant{where} group by 1"
TAGGED = """
    select g.tag, count(*) from memory_tag g join memory m on m.{key} = g.memory and m.tenant = g.tenant
    where g.tenant = :tenant{where} group by 1 order by 2 desc, 1 limit :limit"""
SOURCED = """
    select s.kind, count(*) from memory m join source s on s.tenant = m.tenant and s.id = m.source
    where m.tenant = :tenant{where} group by 1"""
DAYS = f"""
    select m.created_at / {DAY}, count(*) from memory m where m.tenant = :tenant{{where}} group by 1 order by 1"""
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


@dataclass(frozen=True, slots=True)
class Facets(Noun):
    """How many memories there are of each sort; of states also those that are filtered out."""

    total: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    trusts: dict[str, int] = field(default_factory=dict)
    projects: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)


class Browsing(ABC):
    """The part of a store that is browsed. `MEMORY_KEY` is the column of a memory that its tags name."""

    MEMORY_KEY: ClassVar[str] = "id"

    @abstractmethod
    def _query(self, sql: str, **values: Any) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _select(self, kind: type[N], names: Sequence[str], sql: str, **values: Any) -> list[N]: ...

    @abstractmethod
    def _conditions(self, filter: Filter) -> tuple[str, dict[str, Any]]: ...

    def browse(self, tenant: str, sieve: Sieve, after: str | None, limit: int) -> list[Memory]:
        """Memories that pass, newest first, below the id `after`."""
        where, values = self._sieved(sieve)
        if after:
            where += " and m.id < :after"
            values["after"] = after
        sql = f"{MEMORIES}{where} order by m.id desc limit :limit"
        return self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, limit=limit, **values)

    def facets(self, tenant: str, sieve: Sieve) -> Facets:
        """How many of those that pass there are, in all and of each sort."""
        where, values = self._sieved(sieve)
        counts: list[dict[str, int]] = [{}, {}, {}]
        total = 0
        for *names, number in self._query(GROUPED.format(where=where), tenant=tenant, **values):
            total += number
            for count, name in zip(counts, names, strict=True):
                count[name] = count.get(name, 0) + number
        kinds, trusts, projects = (_largest(count) for count in counts)
        states = self._states(tenant, sieve)
        tagged = TAGGED.format(where=where, key=self.MEMORY_KEY)
        tags = self._query(tagged, tenant=tenant, limit=MOST_TAGS, **values)
        sources = self._query(SOURCED.format(where=where), tenant=tenant, **values)
        days = self._query(DAYS.format(where=where), tenant=tenant, **values)
        return Facets(
            total, kinds, states, trusts, dict(list(projects.items())[:MOST_PROJECTS]),
            {tag: int(number) for tag, number in tags}, _largest({kind: int(number) for kind, number in sources}),
            {date(int(day)): int(number) for day, number in days},
        )  # fmt: skip

    def _states(self, tenant: str, sieve: Sieve) -> dict[str, int]:
        """How many there are of each state, those that were not asked for too: they are what could be asked for."""
        where, values = self._sieved(replace(sieve, filter=sieve.filter.but(states=())))
        rows = self._query(STATED.format(where=where), tenant=tenant, **values)
        return _largest({state: int(number) for state, number in rows})

    def recalled_last(self, tenant: str, filter: Filter, limit: int) -> list[Memory]:
        """What was recalled last, newest first."""
        where, values = self._conditions(filter)
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

    def _sieved(self, sieve: Sieve) -> tuple[str, dict[str, Any]]:
        where, values = self._conditions(sieve.filter)
        if sieve.trusts:
            names = _named("trust", sieve.trusts, values)
            where += f" and m.trust in ({names})"
        if sieve.sources:
            names = _named("origin", sieve.sources, values)
            of = "from source o where o.tenant = m.tenant and o.id = m.source"
            where += f" and exists (select 1 {of} and o.kind in ({names}))"
        return where, values


def date(day: int) -> str:
    """A day, counted from the first of 1970.

    >>> date(20517)
    '2026-03-05'
    """
    return times.moment(day * DAY).date().isoformat()


def _named(name: str, wanted: Sequence[str], values: dict[str, Any]) -> str:
    """Placeholders for a list of values, which are added under their names."""
    values |= {f"{name}{number}": value for number, value in enumerate(wanted)}
    return ", ".join(f":{name}{number}" for number in range(len(wanted)))


def _largest(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
