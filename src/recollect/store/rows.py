"""Rows: how a noun lies in a table, the same for every store.

A noun's fields are its columns, except that a scope takes five columns, times are microseconds, and lists and objects
are JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from .. import times
from ..agent_types import AGENT_NOUNS, Agent, Handoff, Pool
from ..history_types import Checkpoint, Hold, Retention
from ..types import (
    SCOPE_FIELDS,
    USAGE_FIELDS,
    Check,
    Entity,
    Entry,
    Evidence,
    Job,
    Kept,
    Link,
    Memory,
    Noun,
    Scope,
    Source,
    Tombstone,
)
from .checksums import notice, row_checksum, row_digest

N = TypeVar("N", bound=Kept)
UNREADABLE = (ValueError, TypeError, KeyError, OverflowError, OSError)  # what reading a damaged row may raise

NOUNS: dict[str, type[Kept]] = {
    "memory": Memory,
    "source": Source,
    "evidence": Evidence,
    "entity": Entity,
    "link": Link,
    "tombstone": Tombstone,
    "checkpoint": Checkpoint,
    "hold": Hold,
    "retention": Retention,
    **{kind.__name__.lower(): kind for kind in AGENT_NOUNS},
}
SCOPED = (Memory, Tombstone, Checkpoint, Hold, Retention, Agent, Pool, Handoff)
LISTS = ("keywords", "tags", "refs", "can", "memories", "files")
OBJECTS = ("payload", "progress", "metadata", "result")


def noun_name(noun: Noun | type[Noun]) -> str:
    return (noun if isinstance(noun, type) else type(noun)).__name__.lower()


def columns(kind: type[Kept]) -> tuple[str, ...]:
    """The columns of a noun's own table, in the order of its fields."""
    return COLUMNS[kind]


def quoted(names: Sequence[str]) -> list[str]:
    """Column names as SQL: "user" is a word of PostgreSQL's own."""
    return ['"user"' if name == "user" else name for name in names]


def _columns(kind: type[Kept]) -> Iterator[str]:
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name == "scope":
            yield from SCOPE_FIELDS
        elif not (kind is Memory and f.name in USAGE_FIELDS):
            yield f.name


TABLES: tuple[type[Kept], ...] = (*NOUNS.values(), Job)
SUMMED: dict[type[Kept], tuple[str, ...]] = dict.fromkeys(NOUNS.values(), ("checksum",))
REALS = ("confidence", "weight")
FIELDS = {kind: tuple(f.name for f in fields(kind)) for kind in TABLES}  # type: ignore[arg-type]
COLUMNS = {kind: tuple(_columns(kind)) for kind in TABLES}


def to_row(noun: Kept) -> dict[str, Any]:
    """The values of a noun by column."""
    row: dict[str, Any] = {}
    for name in FIELDS[type(noun)]:
        value = getattr(noun, name)
        kind = type(value)
        if kind is datetime:
            row[name] = times.micros(value)
        elif kind is tuple:
            row[name] = to_json(value) if value else "[]"
        elif kind is dict:
            row[name] = to_json(value)
        elif kind is Scope:
            row["user"], row["project"], row["branch"], row["agent"], row["session"] = value.places()
        else:
            row[name] = value
    return row


def to_summed_row(noun: Kept, tenant: str) -> dict[str, Any]:
    """The values of a noun by column, with their checksum."""
    row = to_row(noun)
    for name in REALS:
        if name in row:
            row[name] = float(row[name])  # as it is read again
    row["checksum"] = row_checksum(tenant, [row[name] for name in COLUMNS[type(noun)]])
    return row


def is_sound(kind: type[Kept], tenant: str, row: Sequence[Any]) -> bool:
    """Whether a row that ends with its checksum fits it; one of an older version has none yet."""
    return row[-1] is None or row_checksum(tenant, row[: len(COLUMNS[kind])]) == row[-1]


def from_rows(kind: type[N], names: Sequence[str], tenant: str, rows: Iterable[Sequence[Any]]) -> Iterator[N]:
    """The nouns of rows; one that is damaged is left out and noticed."""
    if kind not in SUMMED:
        yield from (from_row(kind, names, row) for row in rows)
        return
    for row in rows:
        try:
            if is_sound(kind, tenant, row):
                yield from_row(kind, names, row[:-1])
                continue
        except UNREADABLE:
            pass
        notice(noun_name(kind), row[0])


def from_row(kind: type[N], names: Sequence[str], values: Sequence[Any]) -> N:
    """A noun from the values of a row."""
    row = dict(zip(names, values, strict=True))
    if "project" in row and kind in SCOPED:
        row["scope"] = Scope(*(row.pop(name) for name in SCOPE_FIELDS))
    for name in kind.TIMES & row.keys():
        if row[name] is not None:
            row[name] = times.moment(row[name])
    for name in LISTS:
        if name in row:
            row[name] = tuple(json.loads(row[name])) if row[name] != "[]" else ()
    for name in OBJECTS:
        if name in row:
            row[name] = json.loads(row[name])
    return kind(**row)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def record(noun: Noun) -> dict[str, Any]:
    """What the journal keeps of a noun: its wire form, without counters of use."""
    return noun.record() if isinstance(noun, Memory) else noun.as_dict()


def compact(data: dict[str, Any]) -> dict[str, Any]:
    """A created noun's record without the fields that are empty, which reading fills in again."""
    return {name: value for name, value in data.items() if value not in (None, "", [], {})}


def changed(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, before and after.

    >>> changed({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ({'b': 2}, {'b': 3})
    """
    names = [name for name in new if old.get(name) != new[name]]
    return {name: old.get(name) for name in names}, {name: new[name] for name in names}


def entries(rows: Iterable[Sequence[Any]]) -> Iterator[Entry]:
    """Journal rows, from their columns up to the digest; one that is damaged is left out and noticed."""
    for row in rows:
        try:
            if is_whole(row):
                yield _entry(row)
                continue
        except UNREADABLE:
            pass
        notice("change", row[0])


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a journal row is what was written; one that was blanked or is of an older version has no proof."""
    *content, purged, salt, digest = row
    if purged:
        return content[6:] == [None, None, ""] and salt is None
    return digest is None or (salt is not None and row_digest(content, bytes(salt)) == bytes(digest))


def _entry(row: Sequence[Any]) -> Entry:
    seq, at, actor, operation, noun, target, before, after, reason, purged, *_ = row
    old, new = (None if value is None else json.loads(value) for value in (before, after))
    return Entry(seq, times.moment(at), actor, operation, noun, target, old, new, reason, bool(purged))


def replayed(kind: type[N], told: Iterable[Entry]) -> N | None:
    """A noun as its own journal rows lead to it; nothing where it was removed, or where its beginning is missing."""
    noun: N | None = None
    for entry in told:
        if entry.after is not None:
            if entry.before is None:
                noun = kind.from_dict(entry.after)
            elif noun is not None:
                noun = kind.from_dict({**record(noun), **entry.after})
        elif entry.operation == "purge" or not entry.purged:
            noun = None
    return noun


def make_check(name: str, good: bool, detail: str, fix: str) -> Check:
    return Check(name, "ok" if good else "broken", detail, "" if good else fix)
