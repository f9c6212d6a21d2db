"""Shelves: what other programs keep, whatever file it lies in, as named lists of records.

A table of a database, a list in a JSON document, the lines of one kind and the files of a folder are each a shelf.
Lists inside records are shelves of their own (`agents.messages`), whose records know the one they lie in as `^`. So a
format is told by the names of its shelves and fields alone, and `formats.toml` need not say how to read a file.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput, TooLarge
from ..regular_files import files_inside, is_bounded, parse_json
from ..store.foreign import MAGIC, ForeignFile

Record = dict[str, Any]
MAX_DOCUMENT = 512 * 2**20  # bytes of one JSON document
MAX_POINT = 2**20  # bytes of one pickled point
SEEN = 200  # records that are looked at to know the fields of a shelf
POINT = ("qdrant_client.http.models.models", "PointStruct")
INSIDE = (
    "claude-mem.db", "sqlite_vec.db", "chroma.sqlite3", "memory.jsonl", "memory.json", "state.vscdb",
    "globalStorage/state.vscdb", "history.db",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shelf:
    """Records of one sort: the fields some of them have, and a way to read them all, as often as wanted."""

    fields: frozenset[str]
    rows: Callable[[], Iterable[Record]]


Shelves = dict[str, Shelf]


def open_shelves(path: Path, scratch: Path) -> Shelves:
    """What lies in a file or folder; a file that is neither database nor JSON has no shelves."""
    if path.is_dir():
        return _folder(path, scratch)
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    if head == MAGIC:
        return _database(path, scratch)
    text = head.decode("utf-8-sig", "replace").lstrip()
    return _document(path) if text[:1] in ("{", "[") else {}


def _folder(path: Path, scratch: Path) -> Shelves:
    stored = files_inside(path, "collection/*/storage.sqlite")
    if stored:  # qdrant, without a server
        points = [ForeignFile(one, scratch) for one in stored]
        return {"points": _listed(lambda: (_point(row) for one in points for row in one.rows("points")))}
    if (path / "manifest.json").is_file():
        lines = {one.stem: one for one in files_inside(path, "*.jsonl")}
        return {name: shelf for stem, one in lines.items() for name, shelf in _nested(stem, list(_lines(one))).items()}
    found = next((one for name in INSIDE for one in files_inside(path, name)), None)
    return open_shelves(found, scratch) if found else {}


def _database(path: Path, scratch: Path) -> Shelves:
    file = ForeignFile(path, scratch)
    tables = file.tables()
    if tables.get("points", frozenset()) >= {"id", "point"}:
        return {"points": _listed(lambda: (_point(row) for row in file.rows("points")))}
    found = {name: Shelf(fields, lambda name=name: file.rows(name)) for name, fields in tables.items()}  # type: ignore[misc]
    if "embedding_metadata" in tables:  # Chroma
        found["chroma"] = _listed(lambda: _chroma(file))
    return found


def _chroma(file: ForeignFile) -> Iterator[Record]:
    names = {row["id"]: row["embedding_id"] for row in file.rows("embeddings")}
    records: dict[Any, Record] = {}
    for row in file.rows("embedding_metadata"):
        kept = next((row[name] for name in ("string_value", "int_value", "float_value") if row[name] is not None), None)
        if kept is None and row.get("bool_value") is not None:
            kept = bool(row["bool_value"])
        key = str(row["key"]).removeprefix("chroma:")
        records.setdefault(row["id"], {"id": names.get(row["id"])})[key] = kept
    yield from records.values()


class _Point:
    """In place of the class that a point was pickled from: it only takes what was kept."""

    def __setstate__(self, state: Any) -> None:
        self.kept = state.get("__dict__", {}) if isinstance(state, Mapping) else {}


class _Unpickler(pickle.Unpickler):
    """Reads points and plain values; whatever else a pickle would call is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == POINT:
            return _Point
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a point")


def _point(row: Record) -> Record:
    kept = row["point"]
    if not isinstance(kept, bytes) or len(kept) > MAX_POINT:
        return {}
    try:
        # The unpickler makes a list as long as the highest number under which a value is put aside.
        numbers = (number for code, number, _ in pickletools.genops(kept) if "PUT" in code.name)
        is_small = all(number is None or number <= len(kept) for number in numbers)
        point = _Unpickler(io.BytesIO(kept)).load() if is_small else None
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
        raise BadInput(f"A point of the vector store cannot be read: {error}.") from error
    values = getattr(point, "kept", {})
    if point is None or not is_bounded(values, MAX_POINT):
        raise BadInput("A point of the vector store is nested too deeply, or grows as it is read.")
    return {"id": values.get("id"), "payload": values.get("payload")}


def _document(path: Path) -> Shelves:
    if path.stat().st_size > MAX_DOCUMENT:
        raise TooLarge(f"{path} has more than {MAX_DOCUMENT // 2**20} MiB.", fix="Export it in parts.")
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        try:
            data = parse_json(file.read())
        except ValueError as error:
            if path.suffix not in (".jsonl", ".ndjson") and not _is_lines(path):
                raise BadInput(f"{path} is not JSON: {error}.", fix="Export it again.") from error
            data = None
    if data is None or (isinstance(data, dict) and path.suffix in (".jsonl", ".ndjson")):
        return _by_kind(_lines(path))
    if isinstance(data, list):
        records = [one for one in data if isinstance(one, dict)]
        return {**_nested("list", records), **{k: v for k, v in _by_kind(records).items() if k != "lines"}}
    found = {"document": _listed(lambda: [data])}
    for name, value in data.items():
        if isinstance(value, list) and (records := [one for one in value if isinstance(one, dict)]):
            found |= _nested(name, records)
        elif isinstance(value, dict):  # one level of wrapping: {"data": {"nodes": [...]}}
            for inner, listed in value.items():
                if isinstance(listed, list) and (records := [one for one in listed if isinstance(one, dict)]):
                    found.setdefault(inner, _listed(lambda records=records: records))  # type: ignore[misc]
    return found


def _by_kind(records: Iterable[Record]) -> Shelves:
    """The lines of a file, a shelf for each kind that they name."""
    sorts: dict[str, list[Record]] = {}
    for one in records:
        kind = one.get("kind") if isinstance(one.get("kind"), str) else one.get("type")
        sorts.setdefault(kind if isinstance(kind, str) else "lines", []).append(one)
    return {name: shelf for kind, listed in sorts.items() for name, shelf in _nested(kind, listed).items()}


def _nested(name: str, records: list[Record]) -> Shelves:
    found = {name: _listed(lambda: records)}
    inner = {field for one in records[:SEEN] for field, value in one.items() if _holds_records(value)}
    for field in sorted(inner):
        found[f"{name}.{field}"] = _listed(lambda field=field: _inside(records, field))  # type: ignore[misc]
    return found


def _inside(records: Iterable[Record], field: str) -> Iterator[Record]:
    for one in records:
        above = {key: value for key, value in one.items() if key != field}
        for number, inner in enumerate(one.get(field) or ()):
            if isinstance(inner, dict):
                yield {**inner, "^": {**above, "number": number}}


def _holds_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _listed(rows: Callable[[], Iterable[Record]]) -> Shelf:
    fields: set[str] = set()
    for number, record in enumerate(rows()):
        fields.update(name for name in record if name != "^")
        for name, value in record.items():
            if isinstance(value, dict) and name != "^":
                fields.update(f"{name}.{inner}" for inner in value)
        if number >= SEEN:
            break
    return Shelf(frozenset(fields), rows)


def _is_lines(path: Path) -> bool:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        try:
            return isinstance(parse_json(file.readline()), dict)
        except ValueError:
            return False


def _lines(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    record = parse_json(line)
                except ValueError as error:
                    raise BadInput(f"{path}, line {number} is not JSON: {error}.") from error
                if isinstance(record, dict):
                    yield record


def parsed(value: Any) -> Any:
    """A value as it was meant: JSON in a text or in bytes is what it says."""
    if isinstance(value, bytes) and value[:1] in (b"{", b"["):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value
