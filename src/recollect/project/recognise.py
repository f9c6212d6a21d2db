"""Recognise what a file is by its name and text, and choose the parser that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from . import adr, documents, incidents
from .languages import BY_SUFFIX, OTHERS
from .markdown import is_form
from .piece import Piece

Kind = Literal["adr", "incident", "code", "docs"]
KINDS: tuple[Kind, ...] = ("adr", "incident", "code", "docs")
MAX_FILE = 1024 * 1024  # bytes
MAX_LINE = 20_000  # characters of a line on average beyond which nobody wrote it
NOT_READ = "of no kind that is read"
SURE = 0.5
HINTED = 0.3  # enough where somebody said what it is
_MADE = (
    ".min.js", ".min.css", ".map", ".lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "poetry.lock", "go.sum",
    ".svg", ".snap", ".pb.go", "_pb2.py", ".ipynb",
)  # fmt: skip
_NAMES = ("makefile", "dockerfile", "rakefile", "gemfile", "procfile", ".cursorrules", ".windsurfrules", ".clinerules")


@dataclass(frozen=True, slots=True)
class Recognised:
    """A text with what it was taken for and what it tells."""

    kind: Kind
    pieces: list[Piece]
    as_text: str = ""  # why code was read as plain text


def skip_reason(path: str, size: int, known: bool) -> str:
    """Why a file is not even opened, or nothing; what it is may be `known` already, because somebody said so."""
    name = path.rpartition("/")[2].lower()
    if size > MAX_FILE:
        return f"larger than {MAX_FILE // 1024} KB"
    if not size:
        return "empty"
    if name.endswith(_MADE):
        return "made by a program"
    if (
        known
        or _suffix(name) in documents.SUFFIXES
        or is_code(name)
        or name in (*_NAMES, *documents.PAPERS)
        or has_no_suffix(name)
    ):
        return ""
    return NOT_READ


def has_no_suffix(path: str) -> bool:
    """Whether only the text of a file can tell what it is.

    >>> has_no_suffix("incidents/2024-03-outage"), has_no_suffix(".gitignore"), has_no_suffix("a.md")
    (True, False, False)
    >>> has_no_suffix("NEWS")
    False
    """
    name = path.rpartition("/")[2].lower()
    return "." not in name and name not in (*_NAMES, *documents.PAPERS)


def may_be(path: str, text: str, kind: Kind) -> bool:
    """Whether a file of a folder that is said to be of a kind can be of it.

    Somebody who says that of a folder means the files in it that could be: its code, or what has anything of a record
    or a report about it, and not those that are surely something else.
    """
    if kind == "docs":
        return True
    if kind == "code" or is_code(path):
        return kind == "code" and is_code(path)
    own = _kind(path, text)
    judge = adr if kind == "adr" else incidents
    return own == kind or (own == "docs" and judge.recognises(path, text) >= HINTED and not is_form(path, text))


def is_code(path: str) -> bool:
    suffix = _suffix(path)
    return suffix in BY_SUFFIX or suffix in OTHERS


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    return f".{name.rpartition('.')[2]}" if "." in name[1:] else ""


def decoded(raw: bytes) -> str | None:
    """The text of a file, or nothing where it is none."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return raw.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\0" in raw[:8192]:
        return None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
        odd = sum(text.count(mark) for mark in ("\ufffd", "\x01", "\x02", "\x03"))
        return None if odd * 50 > len(text) else text


def recognise(path: str, text: str, kind: Kind | None = None) -> Recognised:
    """What a text is and what it tells; `kind` is what somebody said that it is."""
    chosen = kind or _kind(path, text)
    if chosen == "code":
        from . import code  # its grammars take time to load

        return Recognised(chosen, code.read(text, path), code.unparsed(path, text))
    read: dict[Kind, Callable[[str, str], list[Piece]]] = {"adr": adr.read, "incident": incidents.read}
    pieces = read.get(chosen, documents.read)(text, path)
    if kind is None and chosen == "docs" and is_form(path, text):
        pieces = [replace(piece, importance=2, tags=(*piece.tags, "template")) for piece in pieces]
    return Recognised(chosen, pieces)


def _kind(path: str, text: str) -> Kind:
    name = path.rpartition("/")[2].lower()
    if is_code(name) or (name in _NAMES and not name.startswith(".")):
        return "code"
    written = name.endswith((*documents.MARKDOWN, ".txt", ".text")) or has_no_suffix(name)
    if not written or documents.recognises(path, text) == 1.0:
        return "docs"
    sure: list[tuple[float, Kind]] = [
        (adr.recognises(path, text), "adr"),
        (incidents.recognises(path, text), "incident"),
    ]
    best, kind = max(sure)
    if best < SURE or is_form(path, text):
        return "docs"
    return kind
