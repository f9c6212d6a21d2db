"""Bringing memory from other programs: what a file or folder is, what is in it, and taking it in.

Everything is first turned into the lines that an import takes (`formats.py`, `notes.py`), so it goes through the one
write path, with no more trust than the importer grants. Talk is captured like any other (`backfill.py`). A checkpoint
is set before the first change; what was taken in before is known by its name in the other program, and stays as it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..capture.transcripts import MAX_LINE
from ..engine import Engine
from ..errors import BadInput
from ..exchange import Imported, read
from ..regular_files import check_path, files_inside, parse_json
from ..scratch import scratch
from ..store.foreign import MAGIC
from ..types import SCOPE_FIELDS, Noun, Scope
from . import notes, talks
from .backfill import Backfill, Report, Wanted
from .formats import Format, Tally, formats, lines
from .shelves import Record, Shelves, open_shelves

SAMPLES, SHOWN = 3, ("kind", "content", "user", "project", "valid_from")
OURS = "recollect"
NAMES = (OURS, *formats())
Progress = Callable[[int, int], None]
LINES = ("header", "source", "memory", "evidence", "entity", "link", "tombstone", "entry", "seal", "relation")
SIGNS = {
    b"\x89PNG": "a picture", b"%PDF": "a PDF document", b"PK\3\4": "a zip archive", b"\x1f\x8b": "a gzip archive",
    MAGIC: "an SQLite database",
}  # fmt: skip


@dataclass(slots=True)
class Brought(Noun):
    """What was found in a file, and what became of it; nothing became of it in a dry run."""

    format: str
    title: str
    made: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    unmapped: dict[str, int] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)
    projects: dict[str, int] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    cut: int = 0
    imported: Imported | None = None
    talk: Report | None = None
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be brought: of which format, where it belongs, and how far it is trusted."""

    path: Path
    given: str = ""
    places: dict[str, str] = field(default_factory=dict)  # named by whoever imports: they go before those of the file
    trust: str = "unverified"
    embed: bool = True
    dry_run: bool = False


def bring(engine: Engine, asked: Asked, progress: Progress | None = None) -> Brought:
    """Take in what another program keeps, or only tell what is there."""
    with scratch(engine.settings.home) as folder:
        form, found = recognise(asked.path, asked.given, folder)
        if form is None:
            return _own(engine, asked, progress)
        if form.reader == "talk":
            return _talk(engine, asked, form, progress)
        brought = Brought(form.name, form.title)
        tally = Tally()
        now, limit = datetime.now(UTC), engine.settings.content_limit
        if form.reader == "notes":
            made = notes.lines_of(asked.path, now, limit, tally)
        else:
            made = lines(form, found, now, limit, tally)
        target = folder / f"{form.name}.jsonl"
        with target.open("w", encoding="utf-8", errors="replace") as file:
            for line in made:
                _sample(brought, line)
                line.pop("place", None)
                if "content" in line:
                    line.update(asked.places)
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        for name in ("made", "passed", "unmapped", "users", "projects"):
            setattr(brought, name, dict(getattr(tally, name).most_common()))
        brought.cut = tally.cut
        if not asked.dry_run:
            brought.imported = engine.import_(target, embed=asked.embed, trust=asked.trust, progress=progress)
            brought.checkpoint = brought.imported.checkpoint
        return brought


def _sample(brought: Brought, line: Record) -> None:
    if "content" in line and len(brought.samples) < SAMPLES:
        brought.samples.append({name: line[name] for name in SHOWN if name in line})


def _own(engine: Engine, asked: Asked, progress: Progress | None) -> Brought:
    """A file of lines: an export of ours, one memory a line, or the reference server's."""
    kinds: Counter[str] = Counter()
    brought = Brought(OURS, "JSON lines")

    for _, line in read(asked.path):
        kind = line.get("type")
        kinds[kind if isinstance(kind, str) and kind in LINES else "memory"] += 1
        _sample(brought, {"content": line["text"], **line} if "text" in line else line)
    if kinds["relation"] or (kinds["entity"] and not kinds["header"]):
        brought.format, brought.title = "server-memory", formats()["server-memory"].title
    brought.made = {name: count for name, count in kinds.most_common() if name not in ("header", "seal")}
    if not asked.dry_run:
        brought.imported = engine.import_(asked.path, embed=asked.embed, trust=asked.trust, progress=progress)
        brought.checkpoint = brought.imported.checkpoint
    return brought


def _talk(engine: Engine, asked: Asked, form: Format, progress: Progress | None) -> Brought:
    """Talk becomes turns, and what is worth keeping of it memories, as when it is captured."""
    home = Scope(engine.settings.user, engine.settings.project)
    scope = replace(home, **{name: value for name, value in asked.places.items() if name in SCOPE_FIELDS})
    wanted = Wanted(dry_run=asked.dry_run, scope=scope)
    with engine.checkpoints.around("import") as made:
        report = Backfill(engine.for_caller(most=asked.trust), wanted).run([_place_of_talk(asked.path)], progress)
    brought = Brought(form.name, form.title, {"turn": report.turns}, dict(report.skipped), dict(report.unknown))
    brought.talk = report
    brought.checkpoint = next((one.name for one in made), "")
    if report.failed:
        raise BadInput("; ".join(report.failed.values()))
    return brought


def _place_of_talk(path: Path) -> Path:
    if not path.is_dir():
        return path
    names = ("globalStorage/state.vscdb", "state.vscdb", talks.HISTORY)
    history = path / ".specstory/history"
    inside = [one for name in names for one in files_inside(path, name)]
    return next(iter(inside), history if history.is_dir() else path)


# -- what it is -------------------------------------------------------------------------------------------------------


def recognise(path: Path, given: str, folder: Path) -> tuple[Format | None, Shelves]:
    """The format of a file or folder, as it is named or by its content; none for lines that are ours."""
    check_path(str(path))
    if not path.is_dir() and not path.is_file():
        why = "it is neither a file nor a folder" if path.exists() else "there is no such file"
        raise BadInput(f"{path} cannot be read: {why}.", fix="Check the path.")
    if given in ("", OURS, "server-memory") and path.is_file() and _are_lines(path):
        return None, {}
    found: Shelves = {}
    if given not in formats() or formats()[given].reader != "notes":
        found = open_shelves(path, folder)
    fitting = list(_fitting(path, found, given))
    if given and given not in fitting:
        others = [name for name in _fitting(path, found or open_shelves(path, folder), "") if name != given]
        raise _not_that(path, given, others, found)
    if not fitting:
        raise _unknown(path, found)
    return formats()[given or fitting[0]], found


def _fitting(path: Path, found: Shelves, given: str) -> Iterator[str]:
    """The formats that a file may be, the surest first."""
    for form in formats().values():
        if form.reader == "shelves" and form.fitting(found):
            yield form.name
    if talk := _talk_of(path, found):
        yield talk
    if given in ("chatgpt", "claude") and talk in ("chatgpt", "claude"):
        yield given
    if path.is_file() and _are_lines(path):
        yield OURS
    named = given == "basic-memory" and path.is_dir() and bool(notes.files_of(path))
    if not found and (named or notes.are_notes(path)):
        yield "basic-memory"


def _talk_of(path: Path, found: Shelves) -> str:
    """Whose talk it is, if it is talk."""
    if path.is_dir():
        place = _place_of_talk(path)
        if place.is_file():
            return "cursor" if place.suffix == ".vscdb" else _talk_of(place, {})
        if (export := path / "conversations.json").is_file():
            return _talk_of(export, open_shelves(export, path))
        return next((name for one in files_inside(place, "*.md")[:20] if (name := talks.told_by(one))), "")
    if path.suffix == ".md":
        return talks.told_by(path)
    if talks.is_cursor(found):
        return "cursor"
    fields = {field for shelf in found.values() for field in shelf.fields}
    if "document" in found and {"requests", "sessionId"} <= found["document"].fields:
        return "copilot"
    if any(name.startswith(("user.message", "session.start")) for name in found):
        return "copilot"
    if path.suffix == ".zip":
        return "chatgpt"
    return "chatgpt" if "mapping" in fields else "claude" if "chat_messages" in fields else ""


def _are_lines(path: Path) -> bool:
    """Whether the first line is one that an import of ours takes."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        try:
            first = parse_json(file.readline(MAX_LINE) or "null")
        except ValueError:
            return False
    if not isinstance(first, dict):
        return False
    return first.get("type") in LINES or "content" in first or "text" in first


def _what(path: Path, found: Shelves) -> str:
    """What a file is, as far as that can be told."""
    if path.is_dir():
        listed = sorted(one.name for one in path.iterdir())[:6]
        return f"a folder with {', '.join(listed) or 'nothing in it'}"
    with path.open("rb") as file:
        head = file.read(16)
    told = next((what for sign, what in SIGNS.items() if head.startswith(sign)), "")
    names = ", ".join(sorted(found)[:8])
    if found:
        return f"{told or 'JSON'} with {names}"
    return told or ("an empty file" if not head else "a text file" if b"\0" not in head else "a binary file")


def _not_that(path: Path, given: str, others: list[str], found: Shelves) -> BadInput:
    if others:
        return BadInput(
            f"{path} is not a file of {given}: it looks like one of {others[0]}.",
            fix=f"Leave --from out, or give --from {others[0]}.",
        )
    where = formats()[given].where if given in formats() else "an export of Recollect, or a file of JSON lines"
    return BadInput(f"{path} is {_what(path, found)}, and not what {given} keeps.", fix=f"Name {where}.")


def _unknown(path: Path, found: Shelves) -> BadInput:
    return BadInput(
        f"{path} is {_what(path, found)}: no format that is known here.",
        fix=f"Known are {', '.join(NAMES)} (see docs/importing.md). Anything else: write one JSON object "
        'with "content" a line, and import that.',
    )
