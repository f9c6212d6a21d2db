"""The regular expressions in `patterns.toml`, compiled when first used."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

_TABLES = tomllib.loads(resources.files(__package__).joinpath("patterns.toml").read_text("utf-8"))


class Patterns:
    """The expressions of one table, as attributes."""

    def __init__(self, table: str) -> None:
        self._table: dict[str, str | list[str]] = _TABLES[table]

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in self._table:
            raise AttributeError(name)
        found = re.compile(self._expand(name))
        setattr(self, name, found)
        return found

    def _expand(self, name: str) -> str:
        return re.sub(r"%(\w+)%", lambda part: self._expand(part[1]), "".join(self._table[name]))
