"""Notes of basic-memory: Markdown files whose lists hold observations and relations.

    - [decision] Invoices are rounded half up #money (agreed with finance)      an observation: a memory about the note
    - depends_on [[Order queue]]                                                a relation of the note to another

A note is an entity. What else stands in it is a memory of its own, tied to the notes it is related to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from .. import times
from ..checks import MAX_NAME
from ..errors import BadInput
from ..project.markdown import front_matter, lines
from ..regular_files import files_inside, read_text
from .formats import Reader, Tally, moment, tie
from .shelves import Record

OBSERVATION = re.compile(r"\s*[-*] \[([^\]\[()]{2,60})\] (?!\()(.*\S)\s*")
RELATION = re.compile(r"\s*[-*] (?:\"([^\"]+)\"|'([^']+)'|([^\[\]]*?)) ?\[\[([^\]\[]+)\]\]\s*(?:\((.*)\))?\s*")
ASIDE = re.compile(r"\s*\(([^()]*)\)$")
TAG = re.compile(r"(?<!\S)#([\w/-]+)")
BARE = re.compile(r"^#{1,6} *(observations|relations)\s*$", re.IGNORECASE)
KINDS = {
    "decision": "decision", "preference": "preference", "rule": "rule", "lesson": "lesson", "learning": "lesson",
    "insight": "insight", "pattern": "pattern", "anti-pattern": "anti-pattern", "procedure": "procedure",
    "step": "procedure", "task": "task", "todo": "task", "issue": "incident", "problem": "incident",
}  # fmt: skip
MAX_NOTE = 4 * 2**20


@dataclass(slots=True)
class Note:
    path: str
    title: str
    kind: str
    tags: list[str]
    at: datetime | None
    extra: Record
    body: str = ""
    observations: list[tuple[str, str, list[str], str]] = field(default_factory=list)
    relations: list[tuple[str, str, str]] = field(default_factory=list)


def files_of(path: Path) -> list[Path]:
    found = files_inside(path, "**/*.md") if path.is_dir() else [path]
    return [one for one in found if not any(part.startswith(".") for part in one.relative_to(path).parts)]


def are_notes(path: Path) -> bool:
    """Whether there is a note with an observation, a relation or a permalink among the first files."""
    if not path.is_dir() and path.suffix != ".md":
        return False
    return any((note := read(one, path)).observations or "permalink" in note.extra for one in files_of(path)[:50])


def read(path: Path, root: Path) -> Note:
    try:
        front, text = front_matter(read_text(path, MAX_NOTE))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", fix="Move it away, or split it.") from error
    at = moment(front.get("created") or front.get("date"))
    named = {"title", "type", "tags", "created", "date", "modified"}
    note = Note(
        str(path.relative_to(root)) if path != root else path.name, (front.get("title") or path.stem)[:MAX_NAME],
        (front.get("type") or "note")[:MAX_NAME], [one.strip().lstrip("#") for one in front.get("tags", "").split(",")],
        at, {name: value for name, value in front.items() if name not in named and value},
    )  # fmt: skip
    kept = []
    for line, is_code in lines(text):
        if not is_code and (found := OBSERVATION.fullmatch(line)):
            said, aside = found[2], ASIDE.search(found[2])
            said = said[: aside.start()] if aside else said
            tags = TAG.findall(said)
            bare = re.sub(r"(\s*#[\w/-]+)+$", "", said).strip() or said
            note.observations.append((found[1].strip(), bare, tags, aside[1] if aside else ""))
        elif not is_code and (found := RELATION.fullmatch(line)):
            relation = (found[1] or found[2] or found[3] or "").strip() or "relates_to"
            note.relations.append((relation, found[4].partition("|")[0].strip()[:MAX_NAME], found[5] or ""))
        elif is_code or not BARE.match(line.strip()):
            kept.append(line)
    note.body = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    head = re.match(r"# +(.*)\n*", note.body)
    if head and head[1].strip() == note.title:
        note.body = note.body[head.end() :].strip()
    return note


def lines_of(path: Path, now: datetime, limit: int, tally: Tally) -> Iterator[Record]:
    """Every note as lines of an import."""
    reader = Reader("basic-memory", now, limit, tally)
    notes = [read(one, path) for one in files_of(path)]
    kinds = {note.title: note.kind for note in notes}
    for name in dict.fromkeys((*kinds, *(target for note in notes for _, target, _ in note.relations))):
        tally.made["entities"] += 1
        yield {"type": "entity", "name": name, "entityType": kinds.get(name, "note"), "observations": []}
    whole: dict[str, str] = {}
    for note in notes:
        for made in _memories(reader, note):
            if made["place"] == note.path:
                whole[note.title] = made["source"]["id"]
            tally.made[made["kind"]] += 1
            tally.unmapped.update(list(note.extra) if made["place"] == note.path else ())
            yield made
    for note in notes:
        for relation, target, aside in note.relations:
            tally.made["relations"] += 1
            yield {"type": "relation", "from": note.title, "to": target, "relationType": relation[:MAX_NAME]}
            if note.title in whole and target in whole:
                tally.made["links"] += 1
                yield tie(whole[note.title], relation, whole[target]) | ({"reason": aside[:200]} if aside else {})


def _memories(reader: Reader, note: Note) -> Iterator[Record]:
    at = {"valid_from": times.iso(note.at)} if note.at and note.at <= reader.now else {}
    about = {"about": [note.title], **at}
    tags = [tag for tag in note.tags if tag]
    if note.body:
        made = {"content": reader.cut(note.body), "kind": "doc", "title": note.title, "tags": tags, "place": note.path}
        yield {**made, **about, "source": reader.source(note.path, note.body, made | at, note.extra)}
    for number, (category, said, own, aside) in enumerate(note.observations, 1):
        kind = KINDS.get(category.lower(), "fact")
        made = {
            "content": reader.cut(said), "kind": kind, "context": ": ".join(filter(None, (note.title, aside))),
            "tags": list(dict.fromkeys((*([category] if kind == "fact" else []), *own))),
            "place": f"{note.path}#{number}",
        }  # fmt: skip
        yield {**made, **about, "source": reader.source(note.path, said, made | at, {})}
