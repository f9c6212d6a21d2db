"""Reading, for every backend: memories by filter and by id, nouns by column, the journal; figures that are kept."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from .. import times
from ..types import Entry, Filter, Kept, Memory
from . import filters
from .backend import Backend
from .rows import columns, entries, noun_name, quoted
from .statements import BY_TIME, ENTRIES, HEAD, MEMORIES, MEMORY_COLUMNS, NOUN

N = TypeVar("N", bound=Kept)
COUNT = "select count(*) from memory m where m.tenant = :tenant {where}"
NOUNS = {"memories": "memory", "sources": "source", "evidence": "evidence", "entities": "entity", "links": "link",
         "tombstones": "tombstone"}  # fmt: skip
STATS = {name: f"select count(*) from {table} where tenant = :tenant" for name, table in NOUNS.items()}
STATS["journal"] = HEAD
GROUPS = {
    "by_state": "select state, count(*) from memory where tenant = :tenant group by 1 order by 2 desc",
    "by_kind": "select kind, count(*) from memory where tenant = :tenant group by 1 order by 2 desc",
    "by_project": "select project, count(*) from memory where tenant = :tenant group by 1 order by 2 desc limit 50",
    "embedded": "select model, count(distinct memory) from embedding where tenant = :tenant group by 1",
}
MANY_CHANGES = 2000  # journal rows from which figures need not be exact
MAX_FIGURES = 20_000
BATCH = 1000  # rows read at a time


class Figures:
    """Counts of a tenant; in a large store they are taken again only when the journal has grown by a fiftieth."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def get(self, key: str, head: int, count: Callable[[], float]) -> float:
        with self._lock:
            at, figure = self._kept.get(key, (-1, 0.0))
        if head != at and not MANY_CHANGES < at < head < at * 1.02:
            figure = count()
            with self._lock:
                if len(self._kept) >= MAX_FIGURES:
                    self._kept.clear()
                self._kept[key] = head, figure
        return figure


MAX_TIME = 2**62  # later than any time, in microseconds


class Reading(Backend):
    """The part of a store that is read."""

    KEY: ClassVar[str]  # the column of a memory that its tags know it by
    HEAD: ClassVar[str] = HEAD
    ENDING: ClassVar[str]
    UNEMBEDDED: ClassVar[str]
    SHARING: ClassVar[str]
    NAMING: ClassVar[str]  # the condition that a memory has some words

    @abstractmethod
    def _naming(self, tenant: str, words: Sequence[str]) -> dict[str, Any]:
        """The values of `NAMING`."""

    def _where(self, filter: Filter) -> tuple[str, dict[str, Any]]:
        """A filter as conditions on the memory `m`."""
        conditions, values = filters.where(filter, self.AMONG, self.KEY)
        return conditions, {name: self._as_list(one) if isinstance(one, list) else one for name, one in values.items()}

    def memories(self, tenant: str, ids: Sequence[str]) -> dict[str, Memory]:
        sql = f"{MEMORIES} and m.id {self.AMONG.format('ids')}"
        found = self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, ids=self._as_list(ids)) if ids else []
        return {memory.id: memory for memory in found}

    def ending(self, tenant: str, tail: str, limit: int) -> list[str]:
        """Ids of memories that end like this."""
        return [str(row[0]) for row in self._query(self.ENDING, tenant=tenant, tail=tail, limit=limit)]

    def page(self, tenant: str, filter: Filter, after: str | None, limit: int) -> list[Memory]:
        """Memories by id, newest first, below the id `after`."""
        conditions, values = self._where(filter)
        if after:
            conditions += " and m.id < :after"
            values["after"] = after
        sql = f"{MEMORIES}{conditions} order by m.id desc limit :limit"
        return self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, limit=limit, **values)

    def dated(
        self,
        tenant: str,
        filter: Filter,
        limit: int,
        words: Sequence[str] = (),
        below: tuple[datetime, str] | None = None,
    ) -> list[Memory]:
        """Memories by the time they are of (`valid_from`, else `created_at`), newest first; with all these words."""
        conditions, values = self._where(filter)
        if words:
            conditions += self.NAMING
            values |= self._naming(tenant, words)
        else:  # a bound makes the planner read the index of times from its end, and not sort every row
            conditions += " and coalesce(m.valid_from, m.created_at) <= :latest"
            values["latest"] = times.micros(below[0]) if below else MAX_TIME
        if below:
            conditions += " and (coalesce(m.valid_from, m.created_at), m.id) < (:below, :below_id)"
            values |= {"below": times.micros(below[0]), "below_id": below[1]}
        sql = f"{MEMORIES}{conditions}{BY_TIME}"
        return self._select(Memory, MEMORY_COLUMNS, sql, tenant=tenant, limit=limit, **values)

    def count(self, tenant: str, filter: Filter) -> int:
        conditions, values = self._where(filter)
        return int(self._query(COUNT.format(where=conditions), tenant=tenant, **values)[0][0])

    def passing(self, tenant: str, filter: Filter, ids: Sequence[str]) -> set[str]:
        """Those of some memories that a filter lets through."""
        conditions, values = self._where(filter)
        sql = f"select m.id from memory m where m.tenant = :tenant and m.id {self.AMONG.format('ids')}{conditions}"
        return {str(row[0]) for row in self._query(sql, tenant=tenant, ids=self._as_list(ids), **values)}

    def unembedded(self, tenant: str, model: str, limit: int, after: str = "") -> list[Memory]:
        """Memories without a vector of that model, in the order of their ids."""
        values = {"tenant": tenant, "model": model, "limit": limit, "after": after}
        return self._select(Memory, MEMORY_COLUMNS, self.UNEMBEDDED, **values)

    def of(self, tenant: str, kind: type[N], ids: Sequence[str], column: str = "id") -> list[N]:
        """Nouns of one kind whose `column` is among the ids, in the order of their own ids."""
        if column not in columns(kind):
            raise ValueError(f"{kind.__name__} has no column {column}")
        # Sorted here: asked to sort, SQLite walks all of the tenant's ids to look for a few.
        sql = f"{NOUN[kind]} and {column} {self.AMONG.format('ids')}"
        found = self._select(kind, columns(kind), sql, tenant=tenant, ids=self._as_list(ids)) if ids else []
        return sorted(found, key=lambda noun: noun.id)

    def matching(
        self, tenant: str, kind: type[N], equal: Mapping[str, str], *, limit: int = 1000, oldest: bool = False
    ) -> list[N]:
        """Nouns of one kind with these values in their columns, newest first unless told."""
        sql = f"{NOUN[kind]}{_equal(kind, equal)} order by id {'' if oldest else 'desc'} limit :limit"
        return self._select(kind, columns(kind), sql, tenant=tenant, limit=limit, **equal)

    def tally(self, tenant: str, kind: type[Kept], equal: Mapping[str, str]) -> int:
        """How many nouns of a kind have these values."""
        sql = f"select count(*) from {noun_name(kind)} where tenant = :tenant{_equal(kind, equal)}"
        return int(self._query(sql, tenant=tenant, **equal)[0][0])

    def all(self, tenant: str, kind: type[N], after: str, limit: int) -> list[N]:
        """Nouns of one kind in the order of their ids, above the id `after`."""
        sql = f"{NOUN[kind]} and id > :after order by id limit :limit"
        while not (found := self._select(kind, columns(kind), sql, tenant=tenant, after=after, limit=limit)):
            ids = f"select id from {noun_name(kind)} where tenant = :tenant and id > :after order by id limit :limit"
            if not (damaged := self._query(ids, tenant=tenant, after=after, limit=limit)):
                break
            after = str(damaged[-1][0])
        return found

    def each(self, tenant: str, kind: type[N]) -> Iterator[N]:
        """All nouns of one kind, in the order of their ids, read some at a time."""
        after = ""
        while batch := self.all(tenant, kind, after, BATCH):
            yield from batch
            after = batch[-1].id

    def walk(self, tenant: str, filter: Filter) -> Iterator[Memory]:
        """All memories that pass a filter, newest first, read some at a time."""
        after = None
        while batch := self.page(tenant, filter, after, BATCH):
            yield from batch
            after = batch[-1].id

    def sharing(self, tenant: str, ids: Sequence[str]) -> list[tuple[str, str, int]]:
        """Pairs of one of these memories and another that shares references with it, with how many."""
        rows = self._query(self.SHARING, tenant=tenant, ids=self._as_list(ids))
        return [(str(one), str(other), int(count)) for one, other, count in rows]

    def head(self, tenant: str) -> int:
        """The number of the newest journal row."""
        found = self._query(self.HEAD, tenant=tenant)
        return int(found[0][0]) if found else 0

    def journal(
        self, tenant: str, after: int = 0, limit: int = 1000, target: str | None = None, since: datetime | None = None
    ) -> list[Entry]:
        """Journal rows above a number, in order; of one target, or later than a time."""
        sql = ENTRIES
        values: dict[str, Any] = {"tenant": tenant, "after": after, "limit": limit}
        if target is not None:
            sql += " and target = :target"
            values["target"] = target
        if since is not None:
            sql += " and at > :since"
            values["since"] = times.micros(since)
        while rows := self._query(f"{sql} order by seq limit :limit", **values):
            if found := list(entries(rows)):
                return found
            values["after"] = rows[-1][0]
        return []


def _equal(kind: type[Kept], equal: Mapping[str, str]) -> str:
    """Conditions on columns of a noun, which must be its own."""
    if unknown := equal.keys() - set(columns(kind)):
        raise ValueError(f"{kind.__name__} has no column {', '.join(unknown)}")
    return "".join(f" and {quoted([name])[0]} = :{name}" for name in equal)
