"""Languages: how the syntax trees of each language are read (`languages.toml`; node names as in the grammars)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import PurePosixPath
from typing import Any


@dataclass(frozen=True, slots=True)
class Language:
    """How one language's trees are read.

    `functions` are not looked into for further symbols; `types` have members; `spaces` only lend their name to what is
    in them. `bound` are nodes that give a name to one of `values` (`const f = () => …`): the fields of the name and of
    the value. `wrappers` belong to the one symbol in them (`export`, a decorator); `attached` stand before a symbol and
    belong to it. `calls` is a query for what is called; `own` are the words for what a method belongs to, which is
    `implied` where a bare name may mean it. `prototypes` are declarations without a body, which count in headers only.
    """

    name: str
    suffixes: tuple[str, ...]
    package: str
    functions: frozenset[str]
    types: frozenset[str]
    imports: frozenset[str]
    calls: str
    entry: str = "language"
    spaces: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    prototypes: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset(("comment",))
    joint: str = "."
    own: tuple[str, ...] = ("this",)
    implied: bool = False


_LISTS = ("suffixes", "own")
_SETS = ("functions", "types", "imports", "values", "wrappers", "attached", "prototypes", "comments")


def _language(name: str, table: Mapping[str, Mapping[str, Any]]) -> Language:
    given: dict[str, Any] = {}
    row: Mapping[str, Any] | None = table[name]
    while row is not None:  # a row goes before the one that it is like
        given = {**row, **given}
        row = table.get(row.get("like", ""))
    given = {field: value for field, value in given.items() if field != "like"}
    given |= {field: tuple(given[field].split()) for field in _LISTS if field in given}
    given |= {field: frozenset(given[field].split()) for field in _SETS if field in given}
    given["bound"] = {node: tuple(names.split()) for node, names in given.get("bound", {}).items()}
    return Language(name, **given)


_TABLE = tomllib.loads(resources.files(__package__).joinpath("languages.toml").read_text("utf-8"))
LANGUAGES = tuple(_language(name, _TABLE["languages"]) for name in _TABLE["languages"])
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
PYTHON = BY_SUFFIX[".py"]
OTHERS = {suffix: name for name, suffixes in _TABLE["others"].items() for suffix in suffixes.split()}
_CPP_ONLY = ("class ", "namespace ", "template", "public:", "private:", "std::", "constexpr ")


def language_of(path: str, text: str = "") -> Language | None:
    """The language of a file, by its name; a `.h` file that speaks C++ is read as such.

    >>> [found.name for p in ("a/b.py", "x.tsx", "y.h") if (found := language_of(p))], language_of("z.rb")
    (['python', 'tsx', 'c'], None)
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".h" and any(word in text for word in _CPP_ONLY):
        suffix = ".hpp"
    return BY_SUFFIX.get(suffix)
