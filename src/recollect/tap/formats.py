"""Formats: the memory of other programs as lines that an import takes, by the declarations in `formats.toml`.

A line is what `exchange` reads: a memory with a source that has an id of its own (made of the format and of what the
other program calls the record, so that a second import knows it), an entity, a relation, or a tie of two memories.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from .. import ids, times
from ..checks import MAX_NAME, MAX_TAG, MAX_TAGS
from ..errors import BadInput
from ..remember.drafts import MAX_KEYWORDS, MAX_REF, MAX_REFS, MAX_TITLE
from ..types import RELATIONS
from .shelves import Record, Shelves, parsed

WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}
LISTS = {"tags": (MAX_TAGS, MAX_TAG), "keywords": (MAX_KEYWORDS, MAX_TAG), "refs": (MAX_REFS, MAX_REF)}
PLACES = ("user", "agent", "session", "project")
TEXTS = {"title": MAX_TITLE, "reasoning": 4000, "context": 4000, "speaker": MAX_NAME}
MOMENTS = {"at": "valid_from", "until": "valid_to", "expires_at": "expires_at"}
LEAST_TIME, MOST_TIME = 1e8, 1e11  # seconds since 1970 that are no milliseconds, from 1973 to the year 5138


@dataclass(frozen=True, slots=True)
class Mapped:
    """One shelf of a format: which of its fields is which of ours."""

    name: str
    told: Mapping[str, Any]

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(self.told["needs"].split())

    @property
    def leave(self) -> tuple[str, ...]:
        return tuple(self.told.get("leave", "").split())


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    title: str
    where: str
    reader: str
    shelves: tuple[Mapped, ...]

    def fitting(self, found: Shelves) -> list[Mapped]:
        """The shelves of the format that are there, with the fields they need."""
        return [one for one in self.shelves if one.name in found and one.needs <= found[one.name].fields]


@dataclass(slots=True)
class Tally:
    """What was made of the records: how many became what, which were passed over, which fields have no place here."""

    made: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    unmapped: Counter[str] = field(default_factory=Counter)
    users: Counter[str] = field(default_factory=Counter)
    projects: Counter[str] = field(default_factory=Counter)
    cut: int = 0


@cache
def formats() -> dict[str, Format]:
    told = tomllib.loads((resources.files(__package__) / "formats.toml").read_text("utf-8"))
    return {name: _format(name, one) for name, one in told.items() if isinstance(one, dict)}


@cache
def never_told() -> frozenset[str]:
    """Fields that say nothing a person would miss, in whichever format."""
    told = tomllib.loads((resources.files(__package__) / "formats.toml").read_text("utf-8"))
    return frozenset(told["leave"].split())


def _format(name: str, told: Mapping[str, Any]) -> Format:
    shelves = {shelf: dict(one) for shelf, one in told.items() if isinstance(one, dict)}
    for one in shelves.values():
        if "like" in one:
            one.update({**shelves[one.pop("like")], **one})
    listed = tuple(Mapped(shelf, one) for shelf, one in shelves.items())
    return Format(name, told["title"], told["where"], told.get("reader", "shelves"), listed)


def lines(form: Format, found: Shelves, now: datetime, limit: int, tally: Tally) -> Iterator[Record]:
    """Every record of a format as a line of an import; entities first, then memories, relations and ties."""
    fitting = form.fitting(found)
    reader = Reader(form.name, now, limit, tally)
    for shelf in sorted(fitting, key=_order):
        if "first" in shelf.told:
            yield from reader.ties(shelf, found)
        else:
            names = reader.names(shelf, form, found)
            for record in _latest(found[shelf.name].rows(), shelf.told.get("last", "")):
                yield from reader.line(shelf, record, names)


def _order(shelf: Mapped) -> int:
    return 0 if "entity" in shelf.told else 2 if "first" in shelf.told else 1


def _latest(rows: Any, key: str) -> Iterator[Record]:
    """All records, or the last of each key where a format keeps every change."""
    if not key:
        yield from rows
        return
    found: dict[Any, Record] = {}
    for row in rows:
        first = found.get(row[key], row)
        found[row[key]] = {**row, "created_at": first.get("created_at") or row.get("created_at")}
    yield from found.values()


@dataclass(slots=True)
class Reader:
    """Reads the records of one format."""

    format: str
    now: datetime
    limit: int  # bytes of a text
    tally: Tally

    def names(self, shelf: Mapped, form: Format, found: Shelves) -> dict[str, str]:
        """What the entities are called that this shelf names by their ids."""
        named = shelf.told.get("named")
        if named not in found:
            return {}
        other = next((one for one in form.shelves if one.name == named), None)
        if other is None:
            return {}
        pairs = ((_at(row, other.told["id"]), _at(row, other.told["entity"])) for row in found[named].rows())
        return {_text(id): _text(name)[:MAX_NAME] for id, name in pairs if id and name}

    def line(self, shelf: Mapped, record: Record, names: Mapping[str, str]) -> Iterator[Record]:
        told = shelf.told
        if why := _passed(told, record):
            self.tally.passed[why] += 1
            return
        taken = _Taken(record)
        id = " ".join(_text(_at(record, path)) for path in told["id"].split())
        for path in told["id"].split():
            taken.take(path)
        about: list[str] = []
        if "entity" in told:
            name, kind = _text(taken.take(told["entity"]))[:MAX_NAME], _kind_of(taken.take(told["entity_kind"]))
            if not name:
                self.tally.passed["without a name"] += 1
                return
            yield {"type": "entity", "name": name, "entityType": kind, "observations": []}
            self.tally.made["entities"] += 1
            about = [name]
        if "from" in told:
            ends = [_text(taken.take(told[end])) for end in ("from", "to")]
            first, second = (names.get(end, end)[:MAX_NAME] for end in ends)
            relation = _text(taken.take(told["relation"]))[:MAX_NAME] or "related"
            if first and second:
                about = list(dict.fromkeys((first, second)))
                for name in about:
                    yield {"type": "entity", "name": name, "entityType": "thing", "observations": []}
                yield {"type": "relation", "from": first, "to": second, "relationType": relation}
                self.tally.made["relations"] += 1
        yield from self._memory(shelf, taken, id, about)

    def _memory(self, shelf: Mapped, taken: _Taken, id: str, about: list[str]) -> Iterator[Record]:
        told = shelf.told
        content = self.cut("\n".join(filter(None, (_said(taken.take(path)) for path in told["content"]))))
        if not content:
            if "entity" not in told:
                self.tally.passed["without a text"] += 1
            return
        made: Record = {"content": content, "kind": told.get("default", "fact")}
        tags: list[str] = []
        if "kind" in told and (word := _text(taken.take(told["kind"]))):
            made["kind"] = told["kinds"].get(word.lower(), made["kind"])
            tags = [] if word.lower() in told["kinds"] else [word]
        for name, (most, longest) in LISTS.items():
            found = [one for path in told.get(name, ()) for one in _list(taken.take(path))]
            found = [one[:longest] for one in dict.fromkeys((*(tags if name == "tags" else ()), *found)) if one]
            if found:
                made[name] = found[:most]
        for name, longest in TEXTS.items():
            if name in told and (text := _text(taken.take(told[name]))):
                made[name] = text[:longest]
        self._places(told, taken, made)
        self._numbers(told, taken, made)
        for name, ours in MOMENTS.items():
            if name in told and (then := moment(taken.take(told[name]))) is not None:
                made[ours] = times.iso(then)
        if made.get("valid_from", "") > times.iso(self.now):
            del made["valid_from"]
        if made.get("valid_to") and made["valid_to"] < made.get("valid_from", ""):
            del made["valid_from"]
        extra = taken.rest((*shelf.leave, *never_told()))
        self.tally.unmapped.update(list(extra))
        self.tally.made[made["kind"]] += 1
        yield {**made, "about": about, "source": self.source(id, content, made, extra)}

    def source(self, id: str, content: str, made: Record, extra: Record) -> Record:
        """Where a memory comes from: known again by its name there and its words, with what has no place here."""
        kept = json.dumps(extra, ensure_ascii=False, sort_keys=True, default=str) if extra else ""
        return {
            "id": ids.derive("import", self.format, id, content), "uri": f"import:{self.format}", "title": id[:MAX_REF],
            "author": made.get("user", ""), "session": made.get("session", ""), "content": self.cut(kept),
            "occurred_at": made.get("valid_from"),
        }  # fmt: skip

    def _places(self, told: Mapping[str, Any], taken: _Taken, made: Record) -> None:
        for name in PLACES:
            path, _, part = told.get(name, "").partition("#")
            if path and (value := _text(taken.take(path, keep=bool(part)))):
                pieces = value.split(".")
                if not part:
                    made[name] = value[:MAX_NAME]
                elif len(pieces) > 1:  # the end of a namespace, where it has more than one part
                    made[name] = pieces[int(part)][:MAX_NAME]
        self.tally.users.update([made["user"]] if "user" in made else [])
        self.tally.projects.update([made["project"]] if "project" in made else [])

    def _numbers(self, told: Mapping[str, Any], taken: _Taken, made: Record) -> None:
        if (number := _number(taken.take(told.get("importance", "")))) is not None:
            made["importance"] = max(1, min(10, round(number * 10 / told.get("of_importance", 10))))
        value = taken.take(told.get("confidence", ""))
        if (number := _number(WORDS.get(value, value) if isinstance(value, str) else value)) is not None:
            made["confidence"] = max(0.0, min(1.0, number))
        if (number := _number(taken.take(told.get("observed", "")))) is not None:
            made["observed"] = max(1, min(10**6, int(number)))
        if (number := _number(taken.take(told.get("position", "")))) is not None:
            made["position"] = max(0, int(number))

    def ties(self, shelf: Mapped, found: Shelves) -> Iterator[Record]:
        """Links between memories, which name them as the other program does."""
        told = shelf.told
        other = next(one for one in formats()[self.format].shelves if one.name == told["between"])
        quiet = Reader(self.format, self.now, self.limit, Tally())
        sources = {
            _text(_at(row, other.told["id"])): made["source"]["id"]
            for row in found[other.name].rows()
            for made in quiet.line(other, dict(row), {})
            if "source" in made
        }
        for row in found[shelf.name].rows():
            ends = [sources.get(_text(row[told[end]])) for end in ("first", "second")]
            if all(ends):
                yield tie(str(ends[0]), _text(row[told["relation"]]), str(ends[1]))
                self.tally.made["links"] += 1

    def cut(self, text: str) -> str:
        """A text that fits; what is longer is cut, and counted."""
        if len(text.encode("utf-8", "replace")) <= self.limit:
            return text
        self.tally.cut += 1
        return text.encode("utf-8", "replace")[: self.limit - 4].decode("utf-8", "ignore")


def tie(first: str, relation: str, second: str) -> Record:
    """A link of two memories by their sources; a relation that has no name here is kept as the reason."""
    word = re.sub(r"[ -]", "_", relation.strip().lower())
    known = word if word in RELATIONS else "related"
    reason = "" if known == word else relation[:200]
    return {"type": "tie", "from": first, "relation": known, "to": second, "reason": reason}


class _Taken:
    """A record whose fields are taken one by one, so that what nobody asked for is left in the end."""

    def __init__(self, record: Record) -> None:
        self._record = {name: parsed(value) for name, value in record.items()}
        self._used: set[str] = set()

    def take(self, paths: str, *, keep: bool = False) -> Any:
        """What stands at the first of some paths that holds something."""
        for path in filter(None, paths.split("|")):
            value = _at(self._record, path)
            if value not in (None, "", [], {}):
                if not keep:
                    self._used.add(path)
                return value
        return None

    def rest(self, leave: Sequence[str]) -> Record:
        """What is left, flat; what lies inside a field that was taken is taken too."""
        gone = (*self._used, *leave)
        flat = {
            (f"{name}.{inner}" if inner else name): kept
            for name, value in self._record.items()
            if name != "^"
            for inner, kept in (value.items() if isinstance(value, dict) else (("", value),))
        }
        return {
            name: kept
            for name, kept in flat.items()
            if kept not in (None, "", [], {}, 0, False) and not isinstance(kept, bytes)
            and not any(name == one or name.startswith(f"{one}.") or one.startswith(f"{name}.") for one in gone)
        }  # fmt: skip


def _passed(told: Mapping[str, Any], record: Record) -> str:
    if (field := told.get("skip")) and record.get(field):
        return "deleted there"
    for name, wanted in told.get("only", {}).items():
        if record.get(name) not in wanted:
            return f"{name} {record.get(name)}"
    return ""


def _at(record: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(record, list):
            record = [one.get(part) for one in record if isinstance(one, Mapping) and one.get(part)]
        else:
            record = parsed(record.get(part)) if isinstance(record, Mapping) else None
    return record


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict) or value is None or isinstance(value, bytes):
        return ""
    return str(value).strip()


def _said(value: Any) -> str:
    """A text of its own: a list as lines, an object as its fields."""
    if isinstance(value, list):
        return "\n".join(f"- {one}" if len(value) > 1 else one for one in filter(None, map(_said, value)))
    if isinstance(value, dict):
        return "\n".join(f"{name}: {said}" for name, one in value.items() if (said := _said(one)))
    return _text(value)


def _list(value: Any) -> list[str]:
    value = value.split(",") if isinstance(value, str) else value
    return [_text(one) for one in value] if isinstance(value, list) else [_text(value)] if value is not None else []


def _kind_of(value: Any) -> str:
    """The label that says most of an entity."""
    found = [one for one in _list(value) if one and one != "Entity"]
    return found[0][:MAX_NAME] if found else "thing"


def _number(value: Any) -> float | None:
    try:
        number = float(value) if not isinstance(value, bool) and value is not None else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def moment(value: Any) -> datetime | None:
    """A time as programs write one: ISO text with or without a zone, or seconds, milli- or microseconds since 1970.

    >>> [times.iso(moment(one)) for one in ("2026-03-01 09:30:00", 1772357400, 1772357400000, "1772357400.5")]
    ['2026-03-01T09:30:00Z', '2026-03-01T09:30:00Z', '2026-03-01T09:30:00Z', '2026-03-01T09:30:00.500000Z']
    """
    number = _number(value)
    if number is not None:
        while number > MOST_TIME:
            number /= 1000
        return datetime.fromtimestamp(number, UTC) if number > LEAST_TIME else None
    try:
        found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    try:
        return times.aware(found if found.tzinfo else found.replace(tzinfo=UTC))
    except BadInput:
        return None
