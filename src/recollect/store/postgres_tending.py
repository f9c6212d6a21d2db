"""What the PostgreSQL store does for its own good: planner's knowledge, dead rows, the vector index."""

from __future__ import annotations

import logging
from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Any

import psycopg
from psycopg import sql as compose
from psycopg_pool import ConnectionPool

from .. import text
from ..settings import shown
from ..types import Check
from . import postgres_server as server
from .contract import Store
from .guard import check_halves
from .postgres_server import Connection, named
from .rows import make_check

log = logging.getLogger("recollect")

DROP_VECTORS = "delete from embedding where tenant = :tenant and model = :model returning 1"
TENDED = ("memory", "posting", "memory_terms", "embedding", "memory_ref", "memory_tag", "journal", "evidence", "link")
TIDYING = server.BUILDING + 1

# What must never be: each finds rows that have lost their other half. Foreign keys see to the rest.
ORPHANS = {
    "memories without full text": """select count(*) from memory m where m.tenant = :tenant and not exists
        (select 1 from memory_terms t where t.tenant = m.tenant and t.memory = m.id)""",
    "memories with more or fewer words than their text": """select count(*) from memory_terms t
        where t.tenant = :tenant and cardinality(t.terms) <> (select count(*) from posting p
          where p.tenant = :tenant and p.memory = t.memory and p.term = any(t.terms))""",
    "wrong counts of memories or words": """select count(*) from head h where h.tenant = :tenant
        and (h.memories, h.words) <> (select count(*), coalesce(sum(length), 0) from memory_terms t
          where t.tenant = :tenant)""",
    "gaps in the journal": """select count(*) from head h where h.tenant = :tenant
        and h.seq <> (select count(*) from journal j where j.tenant = :tenant)""",
}
ABOVE_THE_WALL = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user"


class Tending(Store):
    """The part of the PostgreSQL store that tends the database."""

    url: str
    _pool: ConnectionPool[Connection]

    @abstractmethod
    def _build_indexes(self, tenant: str) -> None: ...

    @abstractmethod
    def _reading(self, tenant: str) -> AbstractContextManager[Connection]: ...

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

    def check(self, tenant: str) -> list[Check]:
        with self._reading(tenant) as con:
            orphans = {}
            for name, sql in ORPHANS.items():
                row = con.execute(named(sql), {"tenant": tenant}).fetchone()
                if row and row[0]:
                    orphans[name] = row[0]
            above = con.execute(ABOVE_THE_WALL).fetchone()
            number = con.info.server_version
        version = f"PostgreSQL {number // 10000}.{number % 10000}"
        found = [make_check("database", True, f"{shown(self.url)}: {version}", ""), *self.damage(tenant).checks()]
        found.append(check_halves(orphans))
        if above and above[0]:
            found.append(Check(
                "wall", "warning", "this role is above row-level security: only our own statements keep tenants apart",
                "Connect as a role that is no superuser and has no bypassrls.",
            ))  # fmt: skip
        else:
            found.append(make_check("wall", True, "row-level security keeps tenants apart", ""))
        return found


def index_name(model: str) -> str:
    """The name of a model's vector index."""
    return f"embedding_{text.key(model)[:12]}"
