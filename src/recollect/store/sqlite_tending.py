"""What the SQLite store does for its own good: statistics, full text, free pages, the vector index, backups."""

from __future__ import annotations

import logging
import os
import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import apsw

from ..entrypoints.system import open_private
from ..errors import StoreCorrupt
from ..types import Check
from . import sqlite_file
from .contract import Store
from .guard import check_halves
from .mark import RESTORE, Mark
from .rows import make_check
from .sqlite_file import fetch

if TYPE_CHECKING:
    from .index import VectorIndex

log = logging.getLogger("recollect")

DROP_VECTORS = "delete from embedding where tenant = :tenant and model = :model returning n"
COUNTED = ("memory", "embedding", "journal", "evidence", "link")
LARGE = 5000  # rows from which a table's own statistics are better than the ones it was made with
SPARE, WORTH = 0.25, 1000  # the part of free pages, and how many, from which making the file smaller pays
STEP = 512  # pages that a backup copies at a time, so that writers get their turn

# What must never be: each finds rows that have lost their other half.
ORPHANS = {
    "full text rows without a memory": "select count(*) from memory_fts_docsize where id not in (select n from memory)",
    "memories without full text": "select count(*) from memory where n not in (select id from memory_fts_docsize)",
    "vectors without a memory": "select count(*) from embedding where memory not in (select n from memory)",
    "memories without a source": """select count(*) from memory m where not exists
        (select 1 from source s where s.tenant = m.tenant and s.id = m.source)""",
    "broken references": "select count(*) from pragma_foreign_key_check",
    **{
        f"{name} that differ from their memories": f"""select count(*) from (
            select * from (select n, {value} from memory, json_each({name}) where json_valid({name})
              except select memory, {table} from memory_{table})
            union all select * from (select memory, {table} from memory_{table}
              except select n, {value} from memory, json_each({name}) where json_valid({name})))"""
        for name, table, value in (("tags", "tag", "value"), ("refs", "ref", "lower(value)"))
    },
}
CHECKED_VECTORS = "select n, vector, checksum from embedding where checksum is not null"
REBUILD = """
    insert into memory_fts (rowid, wall, title, content, keywords, reasoning, tags, context)
    select n, wall(tenant, project), terms(title), terms(content), terms_of_list(keywords), terms(reasoning),
      terms_of_list(tags), terms(around(context, speaker, valid_from, refs)) from memory"""

RETAG = (
    "delete from memory_tag",
    "insert into memory_tag (tenant, tag, memory) select distinct tenant, value, n from memory, json_each(tags)",
    "delete from memory_ref",
    "insert into memory_ref (tenant, ref, memory) select distinct tenant, lower(value), n from memory, json_each(refs)",
)


class Tending(Store):
    """The part of the SQLite store that tends the file."""

    path: Path
    mark: Mark
    _patience: float
    _indexing: threading.RLock
    _indexes: dict[tuple[str, str], VectorIndex]

    @abstractmethod
    def _connect(self) -> apsw.Connection: ...

    @abstractmethod
    def _locked(self) -> AbstractContextManager[apsw.Connection]: ...

    @abstractmethod
    def _reading(self) -> AbstractContextManager[apsw.Connection]: ...

    @abstractmethod
    def _copy(self, tenant: str, model: str) -> Path: ...

    def tidy(self) -> dict[str, Any]:
        """Count large tables for the planner, merge the full text index, give free pages back, shorten the log."""
        with sqlite_file.our_errors(self.path), self._own() as con:
            before = self.path.stat().st_size
            counted = [name for name in COUNTED if con.execute(f"select count(*) from {name}").get >= LARGE]
            for name in counted:
                con.execute(f"analyze {name}")
            con.execute("insert into memory_fts (memory_fts) values ('optimize')")
            free, pages = int(con.pragma("freelist_count")), int(con.pragma("page_count"))
            vacuumed = free >= WORTH and free > SPARE * pages
            if vacuumed:
                con.execute("vacuum")
            try:
                con.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                log.info("another process is reading: the write-ahead log is shortened by the next run")
            return {
                "analyzed": counted, "full_text": "merged", "free_pages": free, "vacuumed": vacuumed,
                "bytes_freed": max(0, before - self.path.stat().st_size),
            }  # fmt: skip

    @contextmanager
    def _own(self) -> Iterator[apsw.Connection]:
        """A connection that nobody else uses: `vacuum` runs in no transaction, and would wait for our own writer."""
        with closing(self._connect()) as con:
            yield con

    def reindex(self, tenant: str, model: str) -> None:
        """Throw the vector index of a model away, with its copy beside the database; the next search builds it."""
        with self._indexing:
            self._indexes.pop((tenant, model), None)
            self._copy(tenant, model).unlink(missing_ok=True)

    def drop_vectors(self, tenant: str, model: str) -> int:
        """Drop a model's vectors: they can be made again, so they are not in the journal."""
        gone = len(self._alter(tenant, DROP_VECTORS, [{"tenant": tenant, "model": model}]))
        self.reindex(tenant, model)
        return gone

    def backup(self, path: Path, *, store: bool = False) -> None:
        """Write a copy of the whole database while others go on, and make sure that it can be read.

        It is one file, with no log beside it, unless it is to be a store that is worked with.
        """
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            os.close(open_private(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL))
            with sqlite_file.our_errors(self.path), self._own() as con, closing(apsw.Connection(str(fresh))) as target:
                with target.backup("main", con, "main") as copying:
                    while not copying.done:
                        copying.step(STEP)
                target.pragma("journal_mode", "wal" if store else "delete")
                damage = [str(row[0]) for row in target.execute("pragma integrity_check(5)")]
            if damage != ["ok"]:
                raise StoreCorrupt(f"The backup is damaged: {'; '.join(damage)}.")
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)

    def mend(self) -> None:
        """Take damaged rows from the journal, and build full text, tags and references again from the rows."""
        for tenant in self.tenants():
            self.heal(tenant)
        with self._locked() as con:
            for statement in RETAG:
                con.execute(statement)
            con.execute("insert into memory_fts (memory_fts) values ('delete-all')")
            con.execute(REBUILD)
            bad = [n for n, vector, checksum in con.execute(CHECKED_VECTORS) if crc32(vector) != checksum]
            con.executemany("delete from embedding where n = ?", [(n,) for n in bad])

    def check(self, tenant: str) -> list[Check]:
        # On a connection of its own: one that has searched before keeps parts of the full text index in mind, and holds
        # what other processes have merged away since for lost.
        with sqlite_file.our_errors(self.path), self._own() as fresh:
            damage = [str(row[0]) for row in fetch(fresh, "pragma integrity_check(5)", ())[0]]
        found = [make_check("mark", not self.mark.wrong, self.mark.wrong or "the journal is where it was", RESTORE)]
        found += [make_check("database", damage == ["ok"], f"{self.path}: {'; '.join(damage)}", StoreCorrupt.fix)]
        if damage != ["ok"]:
            return found  # what lies in broken pages cannot be looked at any closer
        found += self.damage(tenant).checks()
        with self._reading() as con:
            orphans = {name: count for name, sql in ORPHANS.items() if (count := con.execute(sql).get)}
            found.append(self._check_vectors(con))
        try:
            with self._locked() as con:
                con.execute("insert into memory_fts (memory_fts, rank) values ('integrity-check', 0)")
        except StoreCorrupt as error:
            found.append(make_check("full text", False, error.message, "Run: recollect doctor --fix"))
        else:
            found.append(make_check("full text", True, "the index is whole", ""))
        found.append(check_halves(orphans))
        return found

    @staticmethod
    def _check_vectors(con: apsw.Connection) -> Check:
        bad = sum(crc32(vector) != checksum for _, vector, checksum in con.execute(CHECKED_VECTORS))
        told = f"{bad} are damaged" if bad else "every vector is what was written"
        return make_check("vector rows", not bad, told, "Run: recollect doctor --fix")
