"""What the SQLite store does for its own good: statistics, full text, free pages, the vector index, backups."""

from __future__ import annotations

import logging
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ..errors import StoreCorrupt
from . import sqlite_file

if TYPE_CHECKING:
    from .index import VectorIndex

log = logging.getLogger("recollect")

DROP_VECTORS = "delete from embedding where tenant = :tenant and model = :model returning n"
COUNTED = ("memory", "embedding", "journal", "evidence", "link")
LARGE = 5000  # rows from which a table's own statistics are better than the ones it was made with
SPARE, WORTH = 0.25, 1000  # the part of free pages, and how many, from which making the file smaller pays
STEP = 512  # pages that a backup copies at a time, so that writers get their turn


class Tending(ABC):
    """The part of the SQLite store that tends the file."""

    path: Path
    _patience: float
    _indexing: threading.RLock
    _indexes: dict[tuple[str, str], VectorIndex]

    @abstractmethod
    def _connect(self) -> apsw.Connection: ...

    @abstractmethod
    def _locked(self) -> AbstractContextManager[apsw.Connection]: ...

    @abstractmethod
    def _copy(self, tenant: str, model: str) -> Path: ...

    @abstractmethod
    def _alter(self, tenant: str, sql: str, many: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]: ...

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
            os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
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
