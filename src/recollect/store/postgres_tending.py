"""What the PostgreSQL store does for its own good: planner's knowledge, dead rows, the vector index."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql as compose
from psycopg_pool import ConnectionPool

from .. import text
from . import postgres_server as server
from .postgres_server import Connection

log = logging.getLogger("recollect")

DROP_VECTORS = "delete from embedding where tenant = :tenant and model = :model returning 1"
TENDED = ("memory", "posting", "memory_terms", "embedding", "memory_ref", "memory_tag", "journal", "evidence", "link")
TIDYING = server.BUILDING + 1


class Tending(ABC):
    """The part of the PostgreSQL store that tends the database."""

    url: str
    _pool: ConnectionPool[Connection]

    @abstractmethod
    def _alter(self, tenant: str, sql: str, many: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]: ...

    @abstractmethod
    def _build_indexes(self, tenant: str) -> None: ...

    def tidy(self) -> dict[str, Any]:
        """Sweep dead rows out and count the tables; where another process is at it, that is enough."""
        with server.our_errors(self.url), psycopg.connect(self.url, autocommit=True) as con:
            locked = con.execute("select pg_try_advisory_lock(%s)", (TIDYING,)).fetchone()
            if not (locked and locked[0]):
                return {"skipped": "another process is tidying"}
            for table in TENDED:
                con.execute(compose.SQL("vacuum (analyze, skip_locked) {}").format(compose.Identifier(table)))
        return {"analyzed": list(TENDED), "vacuumed": True}

    def reindex(self, tenant: str, model: str) -> None:
        """Build the vector index of a model again, beside the one that serves."""
        name = index_name(model)
        with server.our_errors(self.url), psycopg.connect(self.url, autocommit=True) as con:
            con.execute("set lock_timeout = '10min'")
            if con.execute("select 1 from pg_class where relname = %s", (name,)).fetchone():
                con.execute(compose.SQL("reindex index concurrently {}").format(compose.Identifier(name)))
                return
        self._build_indexes(tenant)

    def drop_vectors(self, tenant: str, model: str) -> int:
        """Drop a model's vectors of one tenant; its index, which other tenants may use, stays."""
        return len(self._alter(tenant, DROP_VECTORS, [{"tenant": tenant, "model": model}]))


def index_name(model: str) -> str:
    """The name of a model's vector index."""
    return f"embedding_{text.key(model)[:12]}"
