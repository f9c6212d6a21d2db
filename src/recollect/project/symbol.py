"""Symbol and Outline: what is known of a file of code, whichever parser read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .imports import Import
from .languages import Language

Noun = Literal["function", "type"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or a type: its name with the names around it, what it promises, where it stands, what it calls.

    `source` is all of it with its comments and decorators; of a type, the bodies of its members are left out. `parent`
    are the names around it; `own` the words by which it speaks of what it belongs to (`self`, a receiver).
    """

    name: str
    noun: Noun
    signature: str
    doc: str
    source: str
    first: int
    last: int
    parent: str = ""
    calls: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A file: what it says of itself, what it needs, and what is in it, from top to bottom.

    `statements` are what stands outside of functions and types: constants, tables, what a script does.
    """

    language: Language
    doc: str
    imports: tuple[Import, ...]
    symbols: tuple[Symbol, ...]
    statements: tuple[str, ...] = ()
