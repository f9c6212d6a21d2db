"""SQLite files of other programs: which tables they have, and their rows. The file itself is never written to.

A database in use has its newest changes in a second file (`-wal`), which SQLite only reads together with a third that
it makes beside it; such a database is read from a copy in a folder of the caller's.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote

import apsw

from ..errors import BadInput

MAGIC = b"SQLite format 3\0"
TABLES = (
    "select name from sqlite_schema where type = 'table' and sql not like 'create virtual%' "
    "and name not like 'sqlite_%' order by name"
)


class ForeignFile:
    """A database of somebody else's, opened for reading; `scratch` is where a copy may lie meanwhile."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self._path = path
        place = path
        wal = path.with_name(f"{path.name}-wal")
        if wal.is_file() and wal.stat().st_size:
            place = Path(mkdtemp(dir=scratch)) / path.name  # other collections are called the same
            for one in (path, wal):
                shutil.copyfile(one, place.with_name(one.name))
        fixed = "" if place is not path else "&immutable=1"
        self._uri = f"file:{quote(str(place.resolve()))}?mode={'rwc' if not fixed else 'ro'}{fixed}"

    def tables(self) -> dict[str, frozenset[str]]:
        """The columns of each table that holds rows of its own."""
        with closing(self._open()) as connection:
            names = [str(row[0]) for row in self._run(connection, TABLES)]
            return {
                name: frozenset(str(row[1]) for row in self._run(connection, f"pragma table_info({_quoted(name)})"))
                for name in names
            }

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        with closing(self._open()) as connection:
            names = [str(row[1]) for row in self._run(connection, f"pragma table_info({_quoted(table)})")]
            for row in self._run(connection, f"select {', '.join(map(_quoted, names))} from {_quoted(table)}"):
                yield dict(zip(names, row, strict=True))

    def _open(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(self._uri, flags=flags)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)  # what its schema says runs no code of its own
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        return connection

    def _run(self, connection: apsw.Connection, sql: str) -> Iterator[tuple[Any, ...]]:
        try:
            yield from connection.execute(sql)
        except (apsw.Error, UnicodeDecodeError) as error:
            raise BadInput(
                f"{self._path} cannot be read: {error}.", fix="Close the program that uses it, or copy the file."
            ) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
