"""Migrations: numbered, append-only, checked by hash.

Missing ones are applied in one transaction when a database is opened; a changed hash or an unknown number is an error,
and the database stays as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from ..errors import MigrationChanged, NewerSchema


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def available(backend: str) -> list[Migration]:
    """The migrations that come with the package, in order."""
    folder = resources.files(__package__).joinpath("sql", backend)
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if number.isdigit():
            found.append(Migration(int(number), name, file.read_text("utf-8")))
    return found


def missing(applied: Mapping[int, str], available: Sequence[Migration]) -> list[Migration]:
    """The migrations a database still needs, given the hashes of those it has had.

    >>> one = Migration(1, "spine", "create table t (x)")
    >>> missing({}, [one]) == [one], missing({1: one.sha256}, [one])
    (True, [])
    """
    known = {migration.version: migration for migration in available}
    for version, sha256 in sorted(applied.items()):
        if version not in known:
            raise NewerSchema(f"The database has schema version {version}; this program knows {max(known)}.")
        if known[version].sha256 != sha256:
            raise MigrationChanged(f"Migration {version} ({known[version].name}) was changed after it was applied.")
    return [migration for migration in available if migration.version not in applied]
