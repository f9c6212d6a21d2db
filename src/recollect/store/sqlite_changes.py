"""The SQLite store's transaction. Triggers keep the full text and tag indexes in step with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zlib import crc32

import apsw

from .changes import Changes
from .sqlite_file import fetch, wall
from .statements import NEWEST

if TYPE_CHECKING:
    from ..vectors import Floats

HELD = "select exists (select 1 from memory_fts where memory_fts match :match)"


class SQLiteChanges(Changes):
    EMBED = """
        insert into embedding (tenant, memory, model, chunk, vector, checksum) values
          (:tenant, (select n from memory where tenant = :tenant and id = :id), :model, :chunk, :vector, :checksum)"""
    UNEMBED = """
        delete from embedding where tenant = :tenant and model = :model
          and memory = (select n from memory where tenant = :tenant and id = :id)"""
    STALE = """
        delete from embedding where tenant = :tenant
          and memory = (select n from memory where tenant = :tenant and id = :id)"""

    def __init__(self, con: apsw.Connection, tenant: str, actor: str, now: datetime) -> None:
        self._con = con
        super().__init__(tenant, actor, now)

    def _head(self) -> tuple[int, bytes | None]:
        found: Any = self._con.execute(NEWEST, {"tenant": self._tenant}).fetchone()
        return found or (0, None)

    def _run(self, sql: str, **values: Any) -> None:
        self._con.execute(sql, {"tenant": self._tenant, **values})

    def _value(self, sql: str, **values: Any) -> Any:
        return self._con.execute(sql, {"tenant": self._tenant, **values}).get

    def _records(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        return list(self._con.execute(sql, {"tenant": self._tenant, **values}))

    def _readable(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        return fetch(self._con, sql, {"tenant": self._tenant, **values})[0]

    def _holds_term(self, term: str) -> bool:
        house = wall(self._tenant, "").split()[0]
        return bool(self._value(HELD, match=f'wall : {house} AND "{term}"'))

    def _write_vectors(self, memory: str, model: str, vectors: Floats) -> None:
        from .. import vectors as codec

        whose = {"tenant": self._tenant, "id": memory, "model": model}
        rows = [
            {**whose, "chunk": chunk, "vector": half, "checksum": crc32(half)}
            for chunk, half in enumerate(codec.halves(vectors))
        ]
        self._con.executemany(self.EMBED, rows)
