"""Pieces: what a parser finds in one file, before any of it is a memory.

A parser is a pure function `read(text, path) -> list[Piece]`; it takes any text and never raises. The `key` of a piece
is its stable name inside its file (a heading path, a symbol, an ADR's number): when the file changes, the piece of the
same key with other content takes the place of the older one.

A link names a relation and a target: the key of another piece of the same file, another file (`file:PATH` or
`file:PATH#KEY`, relative to the file or to the root, or `adr:NUMBER`), or an entity (`KIND:NAME`, such as
`service:billing`). A module (`module:NAME`, or `module:NAME#NAMES` with what is imported from it) may be a file of the
project.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

State = Literal["active", "superseded", "archived"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing a file tells, with the fields of a memory and what ties it to others."""

    content: str
    kind: str
    title: str = ""
    reasoning: str = ""
    context: str = ""
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    importance: int = 5
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    key: str = ""
    state: State = "active"
    links: tuple[tuple[str, str], ...] = ()
