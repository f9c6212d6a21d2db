"""Pieces: what a parser finds in one file, before any of it is a memory.

A parser is a pure function `read(text, path) -> list[Piece]` that never raises. The `key` names a piece inside its file
(a heading path, a symbol, an ADR number), so that a changed piece replaces the older one. The target of a link is the
key of a piece in the same file, `file:PATH` or `file:PATH#KEY`, `adr:NUMBER`, `module:NAME#NAMES`, or an entity
(`service:billing`).
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
