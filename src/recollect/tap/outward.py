"""Handing memory out: as a folder of Markdown notes that Obsidian and basic-memory read, or as a table (CSV).

Both are made of an export, so they hold what stood there at one moment: every active memory, without the turns of talk.
A note links to what its memory is tied to; each entity has a note of its own, so that the links lead somewhere.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine import Engine
from ..errors import BadInput, StoreReadOnly
from ..exchange import read, whole_file
from ..ids import short
from ..scratch import scratch
from ..text import title_of

FORMS = ("jsonl", "markdown", "csv", "server-memory")
COLUMNS = (
    "id", "content", "kind", "title", "reasoning", "tags", "keywords", "refs", "user", "project", "branch", "agent",
    "session", "importance", "confidence", "trust", "network", "valid_from", "valid_to", "created_at", "updated_at",
    "observed", "source",
)  # fmt: skip
FRONT = (
    "kind", "tags", "user", "project", "importance", "confidence", "trust", "valid_from", "valid_to", "created_at",
    "source",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would carry out
MAX_FILE_NAME = 80
Record = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Held:
    """What an export holds, as far as it is written here."""

    memories: dict[str, Record] = field(default_factory=dict)
    entities: dict[str, Record] = field(default_factory=dict)
    links: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))  # by where they begin


def write(engine: Engine, form: str, path: Path, progress: Progress | None = None) -> int:
    """Write what holds in one of the forms; gives the number of memories, or of entities."""
    if form in ("jsonl", "server-memory"):
        return engine.export(path, reference=form == "server-memory", progress=progress)
    with scratch(engine.settings.home) as folder:
        whole = folder / "export.jsonl"
        engine.export(whole, progress=progress)
        held = _read(whole)
    (_as_csv if form == "csv" else _as_markdown)(held, path)
    return len(held.memories)


def _read(path: Path) -> _Held:
    held, sources = _Held(), dict[str, str]()
    for _, line in read(path):
        kind = line.get("type")
        if kind == "source":
            sources[line["id"]] = line.get("uri", "")
        elif kind == "memory" and line.get("state", "active") == "active" and line.get("kind") != "turn":
            places = line.pop("scope", None) or {}
            held.memories[line["id"]] = {**line, **places, "source": sources.get(line.get("source", ""), "")}
        elif kind == "entity":
            held.entities[line["id"]] = line
        elif kind == "link":
            held.links[line["origin"]].append(line)
    return held


def _as_csv(held: _Held, path: Path) -> None:
    """One memory a row; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    with whole_file(path) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for memory in held.memories.values():
            table.writerow([_cell(memory.get(name)) for name in COLUMNS])


def _cell(value: Any) -> str:
    said = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return f"'{said}" if said.startswith(FORMULA) else said


def _as_markdown(held: _Held, folder: Path) -> None:
    """A folder of notes, whole or not at all."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already.", fix="Name a folder that is empty or not there yet.")
    names = {id: _file_name(one.get("title") or title_of(one["content"]), id) for id, one in held.memories.items()}
    taken: set[str] = set()
    for id, entity in held.entities.items():
        name = _file_name(entity["name"], "")
        names[id] = _file_name(entity["name"], id) if name.lower() in taken else name
        taken.add(name.lower())
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    try:
        (fresh / "entities").mkdir(parents=True)
        for id, one in held.memories.items():
            (fresh / f"{names[id]}.md").write_text(_note(one, _ties(held, id, names)), "utf-8")
        for id, one in held.entities.items():
            told = {"title": one["name"], "type": one.get("kind", "entity")}
            note = f"{_front(told)}\n# {one['name']}\n{_ties(held, id, names)}"
            (fresh / "entities" / f"{names[id]}.md").write_text(note, "utf-8")
        with suppress(FileNotFoundError):
            folder.rmdir()
        os.replace(fresh, folder)
    except OSError as error:
        raise StoreReadOnly(
            f"{folder} cannot be written: {error.strerror}.", fix="Choose a folder in one that you can write."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _note(memory: Record, ties: str) -> str:
    title = memory.get("title") or title_of(memory["content"])
    told = {"id": memory["id"], "title": title, **{name: memory[name] for name in FRONT if memory.get(name)}}
    reason = f"\nBecause: {memory['reasoning']}\n" if memory.get("reasoning") else ""
    return f"{_front(told)}\n{memory['content']}\n{reason}{ties}"


def _front(told: Record) -> str:
    """YAML that any reader takes: each value as JSON, which YAML holds."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in told.items()]
    return "\n".join(["---", *lines, "---", ""])


def _ties(held: _Held, id: str, names: dict[str, str]) -> str:
    lines = [f"- {link['relation']} [[{names[link['target']]}]]" for link in held.links[id] if link["target"] in names]
    return "\n".join(["", "## Relations", "", *dict.fromkeys(lines), ""]) if lines else ""


def _file_name(title: str, id: str) -> str:
    """A name that every file system and a link between notes can hold.

    >>> _file_name('Use "pnpm": not npm/yarn', "01kb3vq4zt7m8w2n5x9r0c6d1e")
    'Use pnpm not npm yarn 9r0c6d1e'
    """
    plain = re.sub(r"[^\w .,()'&+-]+", " ", title).strip(" .")
    plain = re.sub(r"\s+", " ", plain)[:MAX_FILE_NAME].strip(" .") or "memory"
    return f"{plain} {short(id)}" if id else plain
