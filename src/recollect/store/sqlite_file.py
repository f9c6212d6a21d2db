"""The SQLite file: creating, opening and connecting, and SQLite's errors in our words.

A file that is no database, belongs to another program or has a newer schema is left byte for byte as it was. Files are
0600 and folders we make 0700. Waiting for the write lock is our own, with jitter: SQLite's back-off starves writers
(measured: one of eight got a single write in 2.5 s).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw

from .. import text
from ..entrypoints.private import make_folder
from ..entrypoints.system import open_private
from ..errors import (
    NotADatabase,
    RecollectError,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
)
from ..language import terms
from . import migrate, words
from .rows import to_json

APPLICATION = 0x52434C54  # "RCLT" in the file's header: this database is ours
_ERRORS: tuple[tuple[type[apsw.Error], type[RecollectError], str], ...] = (
    (apsw.BusyError, StoreLocked, "The database is locked by another process."),
    (apsw.LockedError, StoreLocked, "The database is locked by another connection."),
    (apsw.ReadOnlyError, StoreReadOnly, "The database cannot be written."),
    (apsw.PermissionsError, StoreReadOnly, "The database cannot be written."),
    (apsw.FullError, StoreFull, "The disk is full."),
    (apsw.NotADBError, NotADatabase, "The file is not a database."),
    (apsw.CorruptError, StoreCorrupt, "The database is damaged."),
    (apsw.CantOpenError, StoreUnavailable, "The database cannot be opened."),
    (apsw.ConnectionClosedError, StoreUnavailable, "The store was closed."),
    (apsw.InterruptError, StoreUnavailable, "The store was closed."),
    (apsw.IOError, StoreUnavailable, "The disk failed while the database was read or written."),
)
# What SQLite says of a header or a schema that it did not write.
_FOREIGN = ("unsupported file format", "malformed database schema", "no such table", "no such column")


@contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the path; anything unexpected goes through untouched."""
    try:
        yield
    except apsw.Error as error:
        for theirs, ours, message in _ERRORS:
            if isinstance(error, theirs):
                raise ours(f"{message[:-1]}: {path}.") from error
        if "memory_fts" in str(error):  # its table is not there, or is something else
            raise StoreCorrupt(f"The full text index cannot be read: {path}.") from error
        if str(error).startswith(_FOREIGN):
            raise StoreCorrupt(f"The tables of the database cannot be read: {path} ({error}).") from error
        raise
    except UnicodeDecodeError as error:
        raise StoreCorrupt(f"A text in the database is not UTF-8: {path}.") from error


def fetch(con: apsw.Connection, sql: str, values: Any) -> tuple[list[Any], bool]:
    """The rows of a statement, and whether rows were left out because a text in them is not UTF-8."""
    try:
        return con.execute(sql, values).fetchall(), False
    except UnicodeDecodeError:
        rows, cursor = [], con.execute(sql, values)
        while True:
            try:
                rows.append(next(cursor))
            except StopIteration:
                return rows, True
            except UnicodeDecodeError:
                continue


def connect(path: Path, patience: float) -> apsw.Connection:
    """A connection with our functions and settings, to a file that exists."""
    con = set_up(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))
    con.set_busy_handler(_wait(patience))
    # Plans must not depend on bound values: statements with a left join would be prepared anew on every call.
    con.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    con.pragma("foreign_keys", 1)
    con.pragma("synchronous", "full")
    con.pragma("temp_store", "memory")
    # Each thread has a connection, so each connection is kept small. Mapping the file instead takes a quarter off the
    # reading of vectors, and counts the whole file once for every connection that has read it.
    con.pragma("cache_size", -8192)
    con.pragma("mmap_size", 0)
    con.pragma("secure_delete", 1)
    return con


def set_up(con: apsw.Connection) -> apsw.Connection:
    """A connection that knows the functions of our schema."""
    functions: tuple[tuple[str, Any, int], ...] = (
        ("terms", terms.joined, 1),
        ("terms_of_list", _terms_of_list, 1),
        ("other_language", terms.other_language, 1),
        ("wall", wall, 2),
        ("around", words.around, 4),
    )
    for name, function, arguments in functions:
        con.create_scalar_function(name, function, arguments, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
    return con


def end(con: apsw.Connection, patience: float) -> None:
    """Close a connection, also one on which another thread still reads: its reading is broken off."""
    deadline = time.monotonic() + patience
    while True:
        try:
            con.close()
        except apsw.ThreadingViolationError:
            if time.monotonic() > deadline:
                raise
            con.interrupt()
            time.sleep(0.001)
        else:
            return


@lru_cache(maxsize=1024)
def wall(tenant: str, project: str) -> str:
    """The tokens by which full text search keeps to a tenant, or to one project of it."""
    house = "t" + text.key(f"tenant {tenant}")[:12]
    return f"{house} {house}p{text.key(f'project {project}')[:12]}"


def _terms_of_list(array: str) -> str:
    return "" if array == to_json([]) else terms.joined(array)


def _wait(patience: float) -> Callable[[int], bool]:
    began = 0.0

    def busy(tries: int) -> bool:
        nonlocal began
        now = time.monotonic()
        if tries == 0:
            began = now
        if now - began > patience:
            return False
        time.sleep(random.uniform(0.0002, 0.003))
        return True

    return busy


def is_empty(path: Path) -> bool:
    """Whether there is nothing at a path, or a file of no length with no log beside it."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return not any(file.exists() and file.stat().st_size for file in files)


def prepare(path: Path, patience: float, now: int) -> None:
    """Make sure that a database of today's schema lies at the path."""
    if not path.exists():
        _create(path)
    with our_errors(path):
        con = connect(path, patience)
        try:
            _upgrade(con, path, now)
        finally:
            con.close()


def _create(path: Path) -> None:
    try:
        make_folder(path.parent)
        # Only where there is none: a file that another thread has just opened would lose its locks by our closing it.
        os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    except PermissionError as error:
        raise StoreReadOnly(f"The database cannot be created: {path}.") from error
    except OSError as error:
        ours = StoreReadOnly if error.errno == 30 else StoreUnavailable  # 30: read-only file system
        raise ours(f"The database cannot be created: {path} ({error.strerror}).") from error


def _applied(con: apsw.Connection, path: Path) -> dict[int, str]:
    """The migrations a file has had; an error when the file is not ours."""
    if not con.execute("select count(*) from sqlite_schema").get:
        return {}
    if con.pragma("application_id") != APPLICATION:
        raise NotADatabase(f"The file is the database of another program: {path}.")
    rows: list[Any] = con.execute("select version, sha256 from migration").fetchall()
    return dict(rows)


def _upgrade(con: apsw.Connection, path: Path, now: int) -> None:
    migrations = migrate.available("sqlite")
    if migrate.missing(_applied(con, path), migrations):
        con.pragma("journal_mode", "wal")
        con.execute("begin immediate")
        try:
            for migration in migrate.missing(_applied(con, path), migrations):
                con.execute(migration.sql).fetchall()
                con.execute(
                    "insert into migration (version, name, sha256, applied_at) values (?, ?, ?, ?)",
                    (migration.version, migration.name, migration.sha256, now),
                )
            con.pragma("application_id", APPLICATION)
            con.execute(
                "insert or ignore into meta (key, value) values ('store', ?)", (f"{random.getrandbits(128):032x}",)
            )
        except BaseException:
            con.execute("rollback")
            raise
        con.execute("commit")
