"""The graph of every store: which memories name an entity, and what they say of it. Derived from the texts of memories.

Entities are known by the keys of their names. A row is seen only together with the memory that proves it, so every read
takes the filter of the caller: nobody learns of an entity, an alias or an edge from a memory that they may not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import times
from ..types import Entity, Filter, Memory
from .mentions import Edge, Mentioned
from .reading import Reading
from .rows import columns
from .statements import MEMORIES, MEMORY_COLUMNS, NOUN

MOST = 400  # rows of one entity that are read: of one that is named everywhere the newest speak for all

_VISIBLE = (
    "join memory m on m.tenant = x.tenant and m.id = x.memory where x.tenant = :tenant and x.{column} = :key {where}"
)
_MENTION = "select x.key, x.memory, x.name, x.kind, x.short, x.confidence from mention x "
MENTIONS = {
    column: f"{_MENTION}{_VISIBLE.replace('{column}', column)}{extra} order by x.memory desc limit :limit"
    for column, extra in (("key", ""), ("memory", ""), ("short", " and x.short <> ''"))
}
EDGES = {
    column: f"""select x.head, x.relation, x.tail, x.memory, x.confidence, x.quote, m.valid_from, m.valid_to
        from edge x {_VISIBLE.replace("{column}", column)} order by x.memory desc limit :limit"""
    for column in ("head", "tail")
}
NAMED = NOUN[Entity] + " and lower(name) {among}"
UNREAD = f"""{MEMORIES} and m.id > :after and not exists (
    select 1 from extraction e where e.tenant = m.tenant and e.memory = m.id and e.version = :version)
    order by m.id limit :limit"""
SIZES = {
    "entities": "select count(distinct key) from mention where tenant = :tenant",
    "mentions": "select count(*) from mention where tenant = :tenant",
    "edges": "select count(*) from edge where tenant = :tenant",
    "unread": """select count(*) from memory m where m.tenant = :tenant and not exists (
        select 1 from extraction e where e.tenant = m.tenant and e.memory = m.id and e.version = :version)""",
}
MOST_NAMED = "select key from mention where tenant = :tenant group by key order by count(*) desc, key limit :limit"


class GraphReading(Reading):
    """The part of a store that keeps the graph."""

    def mentions(
        self, tenant: str, keys: Sequence[str], filter: Filter, column: str = "key", limit: int = MOST
    ) -> list[Mentioned]:
        return [Mentioned(*row) for row in self._of_keys(MENTIONS[column], tenant, keys, filter, limit)]

    def edges(self, tenant: str, keys: Sequence[str], filter: Filter, column: str, limit: int = MOST) -> list[Edge]:
        rows = self._of_keys(EDGES[column], tenant, keys, filter, limit)
        return [Edge(*row[:6], *(None if one is None else times.moment(one) for one in row[6:])) for row in rows]

    def _of_keys(self, sql: str, tenant: str, keys: Sequence[str], filter: Filter, limit: int) -> list[tuple[Any, ...]]:
        conditions, values = self._where(filter)
        statement = sql.format(where=conditions)
        return [
            row for key in dict.fromkeys(keys)
            for row in self._query(statement, tenant=tenant, key=key, limit=limit, **values)
        ]  # fmt: skip

    def entities_named(self, tenant: str, names: Sequence[str]) -> list[Entity]:
        """Entities that people or files made, by their names in lower case."""
        sql = NAMED.format(among=self.AMONG.format("wanted"))
        found = self._select(Entity, columns(Entity), sql, tenant=tenant, wanted=self._as_list(list(names)))
        return sorted(found, key=lambda entity: entity.id)

    def unread(self, tenant: str, version: str, limit: int, after: str = "") -> list[Memory]:
        values = {"tenant": tenant, "version": version, "limit": limit, "after": after}
        return self._select(Memory, MEMORY_COLUMNS, UNREAD, **values)

    def graph_size(self, tenant: str, version: str) -> dict[str, int]:
        """How large the graph is, and how many memories this version of the extractor has not read."""
        values = {"tenant": tenant, "version": version}
        return {name: int(self._query(sql, **values)[0][0]) for name, sql in SIZES.items()}

    def most_named(self, tenant: str, limit: int) -> list[str]:
        """The keys of the entities that most memories name."""
        return [str(key) for (key,) in self._query(MOST_NAMED, tenant=tenant, limit=limit)]
