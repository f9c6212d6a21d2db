"""Salvage: everything of a SQLite store that can still be read, page by page and without SQLite.

Every page is taken apart by itself, and a record counts as a row when its checksum fits. What lies in no table any more
is taken from the journal; what the journal says was removed stays out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path
from struct import unpack, unpack_from
from typing import Any

import apsw

from .. import ids
from ..types import Entry, Kept, Memory, Source
from . import sqlite_file
from .checksums import UNREADABLE, noticing
from .contract import Store
from .mark import Mark
from .rows import COLUMNS, NOUNS, REALS, entries, from_row, is_sound, is_whole, noun_name, replayed
from .rows import UNREADABLE as BAD
from .trail import Trace

OLDEST = 10**15  # microseconds; a number below is no time at which a row was made
PAGE = 4096  # where the header does not tell
LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02
WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8}  # bytes of a number by its type
REAL = 7
WAL_HEADER, FRAME = 32, 24  # bytes
JOURNAL = ("seq", "at", "actor", "operation", "noun", "target", "before", "after", "reason", "purged", "salt", "digest")


@dataclass(slots=True)
class Salvaged:
    """What was found of one tenant: nouns, journal rows, and in words what could not be had."""

    nouns: list[Kept] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def from_file(path: Path, tenant: str) -> Salvaged:
    """What a file still holds of a tenant, whatever happened to it."""
    held: dict[tuple[type[Kept], str], Kept] = {}
    told: dict[int, Entry] = {}
    for values in _records(path):
        if values[0] != tenant:
            continue
        for kind, names in _tables().items():
            added = 3 if kind is None else 1  # columns that rows of older versions lack
            if len(values) not in (len(names), len(names) - added):
                continue
            row = dict(zip(names, (*values, *(None,) * (len(names) - len(values))), strict=True))
            if kind is None:
                _take_entry(row, told)
            else:
                _take_noun(kind, tenant, row, held)
    marked, _ = Mark(path).read().get("heads", {}).get(tenant, (0, ""))
    return _merge(held, sorted(told.values(), key=lambda entry: entry.seq), marked)


def from_store(store: Store, tenant: str) -> Salvaged:
    """What a store that can be opened still holds of a tenant."""
    held = {(kind, noun.id): noun for kind in NOUNS.values() for noun in store.each(tenant, kind)}
    return _merge(held, list(store.each_entry(tenant, Trace())))


def _merge(held: dict[tuple[type[Kept], str], Kept], told: list[Entry], marked: int = 0) -> Salvaged:
    """The rows and what the journal tells, as one state; `marked` changes at least were made."""
    found = Salvaged(entries=told)
    missing = max(marked, told[-1].seq if told else 0) - len(told)
    if missing:
        found.skipped.append(f"{missing} changes of the journal: {UNREADABLE}")
    by_noun = sorted((entry for entry in told if entry.noun in NOUNS), key=lambda one: (one.noun, one.target, one.seq))
    for (name, id), history in groupby(by_noun, key=lambda entry: (entry.noun, entry.target)):
        kind, rows = NOUNS[name], list(history)
        try:
            noun = replayed(kind, rows)
        except BAD:
            noun = None
        if rows[-1].after is None and (rows[-1].operation == "purge" or not rows[-1].purged):
            held.pop((kind, id), None)
        elif noun is not None and (not missing or (kind, id) not in held):
            held[kind, id] = noun
        elif (kind, id) not in held:
            found.skipped.append(f"{name} {id}: {UNREADABLE}")
    for memory in [noun for noun in held.values() if isinstance(noun, Memory)]:
        # Nothing is believed without a source: where it is lost, that is what the source says.
        lost = Source(memory.source, "import", title="lost; salvaged without it", created_at=memory.created_at)
        held.setdefault((Source, memory.source), lost)
    found.nouns = list(held.values())
    return found


def _take_noun(kind: type[Kept], tenant: str, row: dict[str, Any], held: dict[tuple[type[Kept], str], Kept]) -> None:
    names = COLUMNS[kind]
    try:
        for name in REALS:
            if name in row:
                row[name] = float(row[name])  # whole numbers are stored as such
        values = [row[name] for name in names]
        if row["checksum"] is None and row["created_at"] < OLDEST:
            return
        if not is_sound(kind, tenant, [*values, row["checksum"]]) or not ids.whole(str(row["id"])):
            return
        noun = from_row(kind, names, values)
    except BAD:
        return
    old = held.setdefault((kind, noun.id), noun)
    if isinstance(noun, Memory) and isinstance(old, Memory) and noun.updated_at > old.updated_at:
        held[kind, noun.id] = noun


def _take_entry(row: dict[str, Any], told: dict[int, Entry]) -> None:
    values = [row[name] for name in JOURNAL]
    try:
        if isinstance(row["seq"], int) and isinstance(row["operation"], str) and is_whole(values):
            with noticing():
                for entry in entries([values]):
                    # Of two, the one that was blanked is the newer.
                    if entry.seq not in told or entry.purged:
                        told[entry.seq] = entry
    except BAD:
        return


@cache
def _tables() -> dict[type[Kept] | None, tuple[str, ...]]:
    """The columns of each table of knowledge, and of the journal, in the order in which a record has them."""
    schema = resources.files(__package__).joinpath("sql/sqlite/schema.sql").read_text("utf-8")
    con = sqlite_file.set_up(apsw.Connection(":memory:"))
    con.execute(schema).fetchall()
    wanted: dict[type[Kept] | None, str] = {**{kind: noun_name(kind) for kind in NOUNS.values()}, None: "journal"}
    found = {}
    for kind, table in wanted.items():
        names = [str(row[1]) for row in con.execute(f"pragma table_info({table})")]
        found[kind] = tuple(names[1:] if kind is Memory else names)  # a memory's number is no part of its record
    con.close()
    return found


def _records(path: Path) -> Iterator[Sequence[Any]]:
    """Every record of every page, of the file and of the log beside it, whichever table it belongs to."""
    data = path.read_bytes() if path.exists() else b""
    log = path.with_name(f"{path.name}-wal")
    wal = log.read_bytes() if log.exists() else b""
    size = _page_size(data, wal)
    base = {number + 1: data[number * size : (number + 1) * size] for number in range((len(data) + size - 1) // size)}
    newer = dict(_frames(wal, size))
    pages = {**base, **newer}
    for number in sorted(pages):
        yield from _cells(pages[number], number, pages, size)
    for number in sorted(newer.keys() & base.keys()):
        yield from _cells(base[number], number, base, size)


def _page_size(data: bytes, wal: bytes) -> int:
    for told in (data[16:18], wal[10:12]):
        size = int.from_bytes(told, "big")
        size = 65536 if size == 1 else size
        if size >= 512 and size & (size - 1) == 0:
            return size if size == PAGE or len(data) % size == 0 else PAGE
    return PAGE


def _frames(wal: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """The pages of the log, up to the last commit; frames of an earlier round have another salt."""
    found: list[tuple[int, bytes]] = []
    salt = wal[16:24]
    for start in range(WAL_HEADER, len(wal) - FRAME - size + 1, FRAME + size):
        number, commit = unpack_from(">II", wal, start)
        if wal[start + 8 : start + 16] == salt and number:
            found.append((number, wal[start + FRAME : start + FRAME + size]))
        if commit:
            yield from found
            found = []


def _cells(page: bytes, number: int, pages: dict[int, bytes], size: int) -> Iterator[Sequence[Any]]:
    head = 100 if number == 1 else 0
    if len(page) < head + 12 or page[head] not in (LEAF, INDEX_LEAF, INDEX_INTERIOR):
        return
    kind, count = page[head], int.from_bytes(page[head + 3 : head + 5], "big")
    first = head + (12 if kind == INDEX_INTERIOR else 8)
    for at in range(first, min(first + 2 * count, len(page) - 1), 2):
        try:
            start = int.from_bytes(page[at : at + 2], "big") + (4 if kind == INDEX_INTERIOR else 0)
            length, start = _varint(page, start)
            if kind == LEAF:
                _, start = _varint(page, start)
            values = _decode(_payload(page, start, length, pages, size, is_table=kind == LEAF))
            values = values[1:] if kind == LEAF and values and values[0] is None else values
        except (IndexError, ValueError, KeyError):
            continue
        if values:
            yield values


def _payload(page: bytes, start: int, length: int, pages: dict[int, bytes], size: int, *, is_table: bool) -> bytes:
    """What a cell holds, with the part that lies in pages of its own."""
    if length > size * len(pages):
        raise ValueError("the record is longer than the file")
    most = size - 35 if is_table else (size - 12) * 64 // 255 - 23
    least = (size - 12) * 32 // 255 - 23
    if length <= most:
        return page[start : start + length]
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts, left = [page[start : start + local]], length - local
    after = int.from_bytes(page[start + local : start + local + 4], "big")
    while left > 0:
        more = pages[after]
        parts.append(more[4 : 4 + min(left, size - 4)])
        left -= size - 4
        after = int.from_bytes(more[:4], "big")
    return b"".join(parts)


def _decode(record: bytes) -> list[Any]:
    """The values of a record; a text that is not UTF-8 makes it unreadable."""
    end, at = _varint(record, 0)
    values: list[Any] = []
    body = end
    while at < end:
        kind, at = _varint(record, at)
        width = (kind - 12) // 2 if kind >= 12 else WIDTHS.get(kind, 0)
        piece = record[body : body + width]
        if len(piece) < width:
            raise ValueError("the record is cut off")
        if kind >= 12:
            values.append(piece.decode() if kind % 2 else piece)
        elif kind == REAL:
            values.append(unpack(">d", piece)[0])
        else:
            values.append(int.from_bytes(piece, "big", signed=True) if width else {8: 0, 9: 1}.get(kind))
        body += width
    return values


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | data[at + 8], at + 9
