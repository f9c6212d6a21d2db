"""The PostgreSQL server: connecting, waiting for it, upgrading its schema, and its errors in our words.

A connection that died in the pool, and a server that is just starting, are waited for before anything was sent; once a
transaction has begun, its loss is an error.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
import psycopg.conninfo
from pgvector.psycopg import register_vector
from psycopg import errors, sql
from psycopg_pool import ConnectionPool, PoolTimeout

from ..errors import (
    BadInput,
    NotADatabase,
    RecollectError,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
)
from ..settings import shown
from . import migrate

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")

CONNECTIONS = 16  # at most, for one process
RECONNECT = 5.0  # seconds at most between two tries to reach a server that is away
MIGRATING = 0x52434C54  # the advisory lock of the one who upgrades the schema, and of the one who builds an index
BUILDING = MIGRATING + 1
OLDEST, OLDEST_VECTOR = 150000, (0, 7)
ONLINE = "-- online"  # the first line of a migration that must not lock: its statements run one by one
BUILDS = re.compile(r"create index concurrently if not exists (\w+)")
LOST = "The connection to the database was lost"
_ERRORS: tuple[tuple[tuple[type[psycopg.Error], ...], type[RecollectError], str], ...] = (
    ((errors.LockNotAvailable,), StoreLocked, "Another process holds the write lock"),
    ((errors.DeadlockDetected, errors.SerializationFailure), StoreLocked, "Two writers stood in each other's way"),
    ((errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction), StoreReadOnly, "The database cannot be written"),
    ((errors.DiskFull, errors.OutOfMemory), StoreFull, "The database server has no room left"),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt, "The database is damaged"),
    ((errors.TooManyConnections,), StoreUnavailable, "The database server takes no more connections"),
    ((errors.DuplicatePreparedStatement,), StoreUnavailable, "A pool between us and the server mixes up statements"),
    ((psycopg.OperationalError, psycopg.InterfaceError), StoreUnavailable, LOST),
)
REACH = "Look whether the server runs, and whether the address, user and password in the URL are right."
# Where a text may still stand after it was purged; `strpos` takes it as it is, without patterns.
LEFTOVERS = {
    table: f"""select exists (select 1 from {table} t, unnest(:texts::text[]) as wanted (words)
        where t.tenant = :tenant and strpos({said}, wanted.words) > 0)"""
    for table, said in {
        "memory": "concat_ws(' ', t.title, t.content, t.reasoning, t.context)",
        "source": "concat_ws(' ', t.title, t.content)",
        "evidence": "t.quote",
        "link": "t.reason",
        "handoff": "concat_ws(' ', t.task, t.progress, t.result, t.reason, t.files)",
        "answer": "concat_ws(' ', t.question, t.answer, t.sources)",
        "journal": "concat_ws(' ', t.before, t.after, t.reason)",
    }.items()
}


def named(statement: str) -> str:
    """A statement of the house style in psycopg's: `:name` becomes `%(name)s`.

    >>> named("select '%' where tenant = :tenant and vector::halfvec is null")
    "select '%%' where tenant = %(tenant)s and vector::halfvec is null"
    """
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement.replace("%", "%%"))


@contextmanager
def our_errors(url: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours, with the address; anything unexpected goes through untouched."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreUnavailable(f"No connection became free in time: {shown(url)}.", fix=REACH) from error
    except psycopg.Error as error:
        for theirs, ours, message in _ERRORS:
            if isinstance(error, theirs):
                fix = REACH if message is LOST else None
                raise ours(f"{message}: {shown(url)} ({_brief(error)}).", fix=fix) from error
        if isinstance(error, psycopg.DataError) and "NUL" in str(error):
            raise BadInput("A text holds a NUL character, which PostgreSQL cannot keep.") from error
        raise


def _brief(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def pool(url: str, patience: float) -> ConnectionPool[Connection]:
    def configure(con: Connection) -> None:
        # A write waits for its tenant's lock as long as a caller is ready to wait, and no longer.
        con.execute(sql.SQL("set lock_timeout = {}").format(max(1, int(patience * 1000))))
        # A machine that vanished inside a transaction holds its tenant's lock until the server misses it.
        con.execute("set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3")
        register_vector(con)

    return ConnectionPool(
        url,
        connection_class=Connection,
        kwargs={"autocommit": True, "application_name": "recollect", "connect_timeout": max(2, int(patience))},
        min_size=1,
        max_size=CONNECTIONS,
        timeout=patience,
        reconnect_timeout=RECONNECT,
        configure=configure,
        open=False,
    )


def begun(pool: ConnectionPool[Connection], patience: float, start: Callable[[Connection], T]) -> tuple[Connection, T]:
    """A connection on which `start` succeeded: a dead one is replaced, and a server that is away is waited for."""
    deadline = time.monotonic() + patience
    while True:
        con = pool.getconn(max(0.1, deadline - time.monotonic()))
        try:
            return con, start(con)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            waiting = isinstance(error, errors.LockNotAvailable)
            back(pool, con)
            if waiting or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.01, 0.1))
        except BaseException:
            back(pool, con)
            raise


def back(pool: ConnectionPool[Connection], con: Connection) -> None:
    """Give a connection back, with nothing left open on it."""
    if not con.closed and con.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        try:
            con.execute("rollback")
        except psycopg.Error:
            con.close()
    pool.putconn(con)


def within(tenant: str, mode: str) -> sql.Composed:
    """The beginning of a transaction that sees one tenant."""
    begin = sql.SQL(f"begin {mode}")
    return sql.SQL("{}; set local recollect.tenant = {}").format(begin, sql.Literal(tenant))


def prepare(url: str, patience: float, now: int) -> str:
    """Make sure that the database has today's schema; the store's identity."""
    _readable(url)
    deadline = time.monotonic() + patience
    while True:
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=max(2, int(patience))) as con:
                return _upgrade(con, url, now)
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            if time.monotonic() > deadline:
                raise
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline or not _passing(error):
                raise StoreUnavailable(
                    f"The database server cannot be reached: {shown(url)} ({_brief(error)}).", fix=REACH
                ) from error
        time.sleep(random.uniform(0.05, 0.3))


def _readable(url: str) -> None:
    """Refuse an address that libpq cannot read or reads otherwise than meant: its errors would show the password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        parts = None
    # A password with an @ or a / in it ends too early, and its rest is taken for the host or the database.
    if parts is None or any("@" in str(parts.get(name) or "")[1:] for name in ("host", "port", "dbname")):
        raise BadInput(
            "The address of the database cannot be read.",
            fix="Write it as postgresql://user:password@host:5432/database, with what is special in the password"
            " percent-encoded (@ is %40, / is %2F), or keep the password in PGPASSWORD.",
        )


def _passing(error: psycopg.OperationalError) -> bool:
    """Whether waiting may help: the server is starting, or has just gone."""
    return isinstance(error, (errors.CannotConnectNow, errors.AdminShutdown, errors.CrashShutdown)) or (
        "starting up" in str(error) or "shutting down" in str(error)
    )


def _applied(con: Connection, url: str) -> dict[int, str]:
    """The migrations a database has had; an error when it is not ours."""
    found = con.execute(
        "select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
    ).fetchall()
    tables = {str(row[0]) for row in found}
    if "migration" in tables and "journal" in tables:
        return {int(version): str(sha256) for version, sha256 in con.execute("select version, sha256 from migration")}
    if taken := tables & {"memory", "source", "journal", "migration", "head", "meta"}:
        raise NotADatabase(
            f"The schema belongs to another program: {shown(url)} has a table {min(taken)!r}.",
            fix="Give Recollect a database or a schema of its own (…?options=-csearch_path%3Drecollect,public).",
        )
    return {}


def _upgrade(con: Connection, url: str, now: int) -> str:
    migrations = migrate.available("postgres")
    _schema(con, url)
    if migrate.missing(_applied(con, url), migrations):
        _take(con, MIGRATING)
        try:
            # Never stand in the queue for a table: everybody who comes later would stand behind us.
            con.execute("set lock_timeout = '3s'")
            _requirements(con, url)
            for migration in migrate.missing(_applied(con, url), migrations):
                _apply(con, migration, now)
        finally:
            con.execute("select pg_advisory_unlock(%s)", (MIGRATING,))
    row = con.execute("select value from meta where key = 'store'").fetchone()
    return str(row[0]) if row else ""


def _take(con: Connection, lock: int) -> None:
    """Take an advisory lock by asking again and again.

    A statement that waits for it holds a snapshot, and an index that is built without locking waits for every snapshot.
    """
    while not (row := con.execute("select pg_try_advisory_lock(%s)", (lock,)).fetchone()) or not row[0]:
        time.sleep(random.uniform(0.05, 0.15))


def _apply(con: Connection, migration: migrate.Migration, now: int) -> None:
    record = """insert into migration (version, name, sha256, applied_at) values (%s, %s, %s, %s)"""
    values = (migration.version, migration.name, migration.sha256, now)
    if migration.sql.startswith(ONLINE):
        for statement in migration.sql.split(";\n"):
            if index := BUILDS.search(statement):
                _drop_broken(con, index.group(1))
            con.execute(statement)
        con.execute(record, values)
        return
    with con.transaction():
        con.execute(migration.sql)
        con.execute(record, values)
        if migration.version == 1:
            con.execute("insert into meta (key, value) values ('store', %s)", (f"{random.getrandbits(128):032x}",))


def _drop_broken(con: Connection, index: str) -> None:
    """Drop an index whose building was broken off: `if not exists` would take it for one that can be used."""
    broken = con.execute("select 1 from pg_index where indexrelid = to_regclass(%s) and not indisvalid", (index,))
    if broken.fetchone():
        con.execute(sql.SQL("drop index concurrently {}").format(sql.Identifier(index)))


def _schema(con: Connection, url: str) -> None:
    """Refuse where the schema that the address names is not there: the next one on the path would be used instead."""
    row = con.execute("select current_schema(), current_setting('search_path')").fetchone() or (None, "")
    wanted = str(row[1]).partition(",")[0].strip().strip('"')
    if wanted not in ("$user", row[0] or ""):
        raise StoreUnavailable(f"There is no schema {wanted!r}: {shown(url)}.", fix=f"Run: create schema {wanted}")


def _requirements(con: Connection, url: str) -> None:
    if con.info.server_version < OLDEST:
        raise StoreUnavailable(
            f"The server is PostgreSQL {con.info.server_version // 10000}: {shown(url)}.",
            fix="Recollect needs PostgreSQL 15 or newer.",
        )
    try:
        con.execute("create extension if not exists vector")
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise StoreUnavailable(
            f"The extension pgvector is missing and cannot be created: {shown(url)} ({_brief(error)}).",
            fix="Install pgvector 0.7 or newer on the server and have its owner run: create extension vector",
        ) from error
    row = con.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    version = str(row[0]) if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_VECTOR:
        raise StoreUnavailable(
            f"The extension pgvector is {version}: {shown(url)}.",
            fix="Update it to 0.7 or newer on the server, then run: alter extension vector update",
        )
    if not (con.execute("select to_regtype('halfvec')").fetchone() or (None,))[0]:
        raise StoreUnavailable(
            f"The extension pgvector lies in a schema that is not on the search path: {shown(url)}.",
            fix="Name its schema last in the address: …?options=-csearch_path%3Drecollect,public",
        )
