"""Decision records (ADRs): MADR, Nygard's form, and free form. Pure.

A record is recognised by its sections, whatever they are called. Its number comes from the file name, because that is
what other records refer to. One record becomes one memory: the decision and its consequences as content, the context as
reasoning, valid from its date. A record that another replaced is superseded; one that was superseded or amended in part
stays active.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from .. import text as texts
from ..language import tables
from . import markdown
from .markdown import Section
from .patterns import Patterns
from .piece import Piece, State

_RE = Patterns("adr")
MAX_CONTEXT = 4000  # characters of what led to a decision that are kept as its reasoning
MAX_SENTENCE = 2000  # characters of a sentence that are looked at for what it says of other records
MAX_LINES = 40  # references of one sort that are looked at
_NAMES = tables.named("records", "decision")
_ROLE = {name: role for role, names in _NAMES.items() for name in names}
# Headings of a record only where its name or folder says that it is one.
_ASKING = (
    (re.compile(r"what (?:follows|changes|else|(?:it|this) (?:means|costs|changes))\b"), "consequences"),
    (re.compile(r"what (?:we|was|is|were|will) |how (?:we|it)\b"), "decision"),
    (re.compile(r"why\b"), "context"),
)
_USUAL = frozenset(("what", "why", "how"))
_FOLDERS = frozenset(
    """adr adrs decisions rfcs architecture-decisions architecture_decisions decision-records decision-log
    architecture-decision-records architecture_decision_records""".split()
)
_MADR = frozenset(("context", "context and problem statement", "decision drivers", "considered options"))
_STATUSES = tables.named("records", "decision status")
SETTLED, GONE = _STATUSES["settled"], _STATUSES["gone"]


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a decision record. Others are known by their numbers, or their files where they have none."""

    title: str
    number: int | None = None
    status: str = ""
    date: datetime | None = None
    context: str = ""
    decision: str = ""
    consequences: str = ""
    options: str = ""
    deciders: str = ""
    authors: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        if self.status == "superseded" or self.superseded_by:
            return "superseded"
        return "archived" if self.status in GONE else "active"


def recognises(path: str, text: str) -> float:
    """How sure it is, from 0 to 1, that a text is a decision record."""
    fields, body = markdown.front_matter(text)
    parts = markdown.sections(markdown.labelled(body, _role, _is_field))
    name = markdown.stem(path)
    folder = set(path.replace("\\", "/").lower().split("/")[:-1])
    called = bool(_RE.called_adr.match(name) or (parts and _RE.called_adr.match(parts[0].title)))
    sure = called or bool(folder & _FOLDERS)
    titles = [part.title for part in parts if part.level > 1 or part is parts[0]]
    roles = {_role(title) for title in titles if sure or _bare(title) not in _USUAL}
    roles |= {_asked(part) for part in parts} if sure else set()
    score = 0.0
    if "decision" in roles:
        score += 0.45
    if roles & {"context", "options"} and "decision" in roles:
        score += 0.2
    if "consequences" in roles:
        score += 0.15
    told = {**_details(parts), **fields, **_headed(parts)}
    status = told.get("status") or told.get("state") or ""
    if "status" in roles or status:
        score += 0.2
    signed = bool(_RE.status.search(status)) and any(told.get(name) for name in _NAMES["deciders"])
    if "status" in told and {_bare(title) for title in titles} & _MADR:
        score += 0.3
    if folder & _FOLDERS:
        score += 0.3
    if _RE.in_name.match(name) and not _RE.dated_name.match(name):
        score += 0.1
    if called:
        score += 0.4
    numbered = _RE.in_name.match(name) is not None or _RE.dated_name.match(name) is not None
    listing = name.lower() in ("readme", "index") and not roles & {"context", "consequences"}
    if listing:
        return 0.0
    if not (roles & {"decision", "status"} or (signed and folder & _FOLDERS)) and "status" not in (
        told if numbered else fields
    ):
        score = min(score, 0.4)
    return min(score, 1.0)


def parse(text: str, path: str) -> Record:
    """The fields of a record; what it does not say is empty."""
    front, body = markdown.front_matter(text)
    parts = markdown.sections(body)
    head = next((part.title for part in parts if part.title), "")
    number, title = _named(path, front.get("title", "") if not head or _role(head) else head)
    told = {**_headed(parts), **_details(parts), **front}
    by_role = _by_role(markdown.sections(markdown.labelled(body, _role, _is_field)))
    status_text = by_role["status"] or told.get("status") or told.get("state") or ""
    status = _status(status_text)
    lines = markdown.opening(parts).split("\n")
    bare = [line for line in lines if len(line) < 30 and not line.lstrip().startswith("|")]
    dated = [told.get(name, "") for name in _NAMES["date"]] + [by_role["date"], told.get("created", ""), *bare]
    date = next((day for value in dated if (day := markdown.day(value) or markdown.month(value))), None)
    date = date or _day_of(path) or markdown.day(status_text)
    people = {
        role: _people(next((value for name in _NAMES[role] if (value := told.get(name, ""))), by_role[role]))
        for role in ("deciders", "authors")
    }
    links = _links(status_text, told, body, status)
    decision = by_role["decision"] or _free(parts)
    return Record(
        title or texts.title_of(decision), number, status, date, by_role["context"], decision, by_role["consequences"],
        by_role["options"], people["deciders"], people["authors"],
        **{name: tuple(one for one in found if one != str(number)) for name, found in links.items()},
    )  # fmt: skip


def read(text: str, path: str) -> list[Piece]:
    """The decision that a record holds, or nothing where nothing was decided."""
    record = parse(text, path)
    content = "\n\n".join(
        part for part in (_lead(record), record.decision, _below("Consequences", record.consequences)) if part
    )
    if not content.strip():
        return []
    content += f"\n\nDecided by {record.deciders}." if record.deciders else ""
    content += f"\n\nWritten by {record.authors}." if record.authors else ""
    settled = record.status in ("", *SETTLED)
    name = f"ADR {record.number}" if record.number is not None else ""
    status = "" if settled else f" ({record.status})"
    links = [("supersedes", f"adr:{one}") for one in record.supersedes]
    links += [("superseded_by", f"adr:{one}") for one in record.superseded_by]
    links += [("elaborates", f"adr:{one}") for one in record.amends]
    return [
        Piece(
            content=content,
            kind="decision",
            title=texts.shorten(f"{name}{status}: {record.title}" if name else f"{record.title}{status}", 280),
            reasoning=texts.cut(record.context, MAX_CONTEXT),
            context=texts.cut(markdown.plain(" ".join(record.options.split())), 1000),
            tags=tuple(tag for tag in ("adr", f"status:{record.status}"[:60] if record.status else "") if tag),
            keywords=(f"ADR-{record.number:04}",) if record.number is not None else (),
            importance=7 if settled else 5,
            valid_from=record.date,
            key=f"adr:{record.number}" if record.number is not None else "adr",
            state=record.state,
            links=tuple(links),
        )
    ]


def _lead(record: Record) -> str:
    return record.title if not texts.fold(record.decision).startswith(texts.fold(record.title)) else ""


def _below(name: str, text: str) -> str:
    return f"{name}: {text}" if text else ""


def _details(parts: list[Section]) -> dict[str, str]:
    """The fields of the opening, and of sections that hold nothing else."""
    found = markdown.fields(markdown.opening(parts))
    for part in parts:
        if _bare(part.title) in ("metadata", "details", "info", "information", "document information", "notes"):
            found = {**markdown.fields(part.body), **found}
    return found


def _people(told: str) -> str:
    """Who decided, as one line: names that are listed, without what their links lead to.

    >>> _people("- [@ana](https://example.org/ana)\\n- Ben Lee"), _people("[name]"), _people("{list everyone}")
    ('@ana, Ben Lee', '', '')
    """
    if markdown.unnamed(told) or markdown.holes([told]) or _RE.nobody.fullmatch(told):
        return ""
    names = [markdown.plain(line.strip().lstrip("-*+ ")) for line in re.split(r"\n|<br\s*/?>", told)]
    return texts.shorten(", ".join(name.strip(" ,.") for name in names if name.strip(" ,.-")), 200)


def _headed(parts: list[Section]) -> dict[str, str]:
    """Fields that are written as headings: `## Status: accepted`, or `## Superseded by` above a record's name."""
    found: dict[str, str] = {}
    for part in parts:
        name, colon, value = part.title.partition(":")
        if colon and value.strip() and _role(name) in ("status", "date"):
            found.setdefault(_role(name), value.strip())
        elif _RE.linking.fullmatch(re.sub(r"[ _-]+", "_", name.strip().lower())):
            found.setdefault(name.strip().lower(), value.strip() or part.body[: markdown.MAX_VALUE])
    return found


def _bare(title: str) -> str:
    bare = re.sub(r"^[\d.)\s]+|[^\w&\s/-]", "", title).strip().lower().replace("&", "and")
    return " ".join(bare.split())


def _role(title: str) -> str:
    return _ROLE.get(_bare(title), "")


def _asked(part: Section) -> str:
    """The role of a section whose heading asks, such as "Why now?" and "What we do"."""
    bare = _bare(part.title) if part.level > 1 else ""
    return next((role for shape, role in _ASKING if shape.match(bare)), "")


def _is_field(name: str) -> bool:
    """Whether a label names a value of the record as a whole, and not a part of its text."""
    return _role(name) in ("status", "date", "deciders", "authors") or bool(_RE.linking.fullmatch(_bare(name)))


def _by_role(parts: list[Section]) -> dict[str, str]:
    """The text of each role: sections of that name with what stands below them, less what has a role of its own."""
    flat = sum(part.level == 1 and bool(_role(part.title)) for part in parts) > 1  # every section has the title's level

    def own(part: Section, decided: bool) -> str:
        role = (_role(part.title) or _asked(part)) if part.level > 1 or flat or not decided else ""
        titled = part.level == 1 and part is parts[0]
        return role if not titled or role in ("status", "context", "date") else ""

    return markdown.by_role(parts, _NAMES, own, "\n")


def _free(parts: list[Section]) -> str:
    """All that a record without a decision says beside the sections that it has."""
    kept = [part for part in parts if part.level == 1 or not _role(part.title)]
    kept = kept if any(part.level > 1 for part in kept) or not any(_role(part.title) for part in parts) else []
    return "\n\n".join(f"{part.title}\n{part.body}".strip() if part.level > 1 else part.body for part in kept).strip()


def _named(path: str, heading: str) -> tuple[int | None, str]:
    """The number and the title of a record."""
    stem = markdown.stem(path)
    in_name = None if _RE.dated_name.match(stem) else _RE.in_name.match(stem)
    in_heading = _RE.in_heading.match(heading)
    title = heading[in_heading.end() :].strip() if in_heading else heading
    if not title.strip(" -:_") or (in_name and _RE.no_title.search(title)):
        title = re.sub(r"[-_]+", " ", stem[in_name.end() :] if in_name else stem).strip()
    if in_name:
        return int(in_name[1]), title
    return (int(in_heading[1] or in_heading[2]) if in_heading else None), title


def _day_of(path: str) -> datetime | None:
    found = _RE.dated_name.match(markdown.stem(path))
    return markdown.day("-".join(found.groups())) if found else None


def _status(text: str) -> str:
    """The word for where a decision stands.

    >>> [_status(one) for one in ("Superseded by [9](9-x.md)", "Partly superseded", "On hold", "2020-01-02: accepted")]
    ['superseded', 'partly superseded', 'on hold', 'accepted']
    >>> [_status(one) for one in ("- [ ] Proposed\\n- [x] Accepted", "Not accepted", "Accepted, to be replaced by #9")]
    ['accepted', 'rejected', 'accepted']
    """
    told = _RE.planned.sub("", re.sub(r"~~.*?~~", "", markdown.prose(text)))
    ticked = [line for line in told.split("\n") if _RE.ticked.match(line)]
    lines = [_RE.unticked.sub("", line) for line in ticked or told.split("\n")]
    lines = [markdown.plain(line.strip().lstrip("-*+> ")) for line in lines if line.strip().strip("-*_")]
    lines = _latest_first(lines)
    if not lines:
        return ""
    whole = [m for line in lines for m in _RE.status.finditer(line) if re.match(r"super|replaced", m[2], re.IGNORECASE)]
    if any(not m[1] and re.match(r"[ \t]*(?:by|with)\b", m.string[m.end() :], re.IGNORECASE) for m in whole):
        return "superseded"
    for found in map(_RE.status.search, lines):
        if found:
            if re.search(r"\bnot[ \t]+(?:been[ \t]+)?$", found.string[: found.start()], re.IGNORECASE):
                return "rejected" if found[2].lower() in SETTLED else "proposed"
            word = re.sub(r"^(?:super[sc]ee?ded|replaced)$", "superseded", found[2].lower())
            return f"partly {word}" if found[1] else word
    return re.split(r"[.,;:(]", lines[0])[0].strip().lower()[:40]


def _latest_first(lines: list[str]) -> list[str]:
    """The lines of a history by their days, the latest first; other lines as they are."""
    dated = [(day, line) for line in lines if (day := markdown.day(line)) and _RE.status.search(line)]
    if len(dated) < 2:
        return lines
    latest = max(day for day, _ in dated)
    last = [line for day, line in dated if day == latest][-1]
    return [last, *(line for line in lines if line is not last)]


def _links(status_text: str, told: dict[str, str], body: str, status: str) -> dict[str, list[str]]:
    """What a record supersedes, amends, and was superseded or amended by: from its status, its fields and its text."""
    found: dict[str, list[str]] = {name: [] for name in ("supersedes", "superseded_by", "amends", "amended_by")}
    for name, value in told.items():
        field = re.sub(r"[ _-]+", "_", name).replace("supercede", "supersede")
        partly = "part" in field or re.match(r"\W*(?:in[ -])?part", value, re.IGNORECASE) is not None
        if re.fullmatch(r"(?:superseded|replaced)(?:_in_part)?_?by|part(?:ly|ially)_superseded_by", field):
            _add(found["amended_by" if partly else "superseded_by"], _targets(value, True))
        elif field in ("supersedes", "replaces", "supersedes_in_part", "partly_supersedes", "partially_supersedes"):
            _add(found["amends" if partly else "supersedes"], _targets(value, True))
        elif field in ("amends", "amended_by"):
            _add(found[field], _targets(value, True))
    said = _RE.planned.sub("", markdown.prose(status_text))
    for line in said.split("\n"):
        for name, others in _said_of(line, True):
            _add(found[name], others)
    if status == "superseded" and not any(found.values()):
        _add(found["superseded_by"], _targets(said, True))  # "Superseded → ADR-5"
    for line in _RE.planned.sub("", markdown.prose(body)).split("\n"):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\[*])", line):
            for name, others in _said_of(sentence):
                if name == "superseded_by" and status != "superseded":
                    name = "amended_by"  # of something in it: as a whole it stands
                elif name == "supersedes" and not (
                    _RE.own.search(sentence) or sentence.lstrip(" -*_>").lower().startswith("super")
                ):
                    continue  # one thing superseded another; the record only tells of it
                if others and not any(other in found[kind] for kind in found for other in others):
                    _add(found[name], others)
    return found


def _said_of(line: str, field: bool = False) -> list[tuple[str, list[str]]]:
    """Relations that a line names, each with the records that stand behind it; files count in a `field` alone."""
    line = line[:MAX_SENTENCE]
    spans = list(_RE.relation.finditer(line))
    told = []
    for number, span in enumerate(spans):
        end = spans[number + 1].start() if number + 1 < len(spans) else len(line)
        others = _targets(line[span.end() : end], False, field)
        partly = bool(span["part"] or span["part2"] or span["part3"])
        word = (span["past"] or span["now"] or span["field"]).lower()
        whole = word.startswith(("super", "replac", "obsolet", "deprecat")) and not partly
        past = bool(span["past"] or span["field"])
        name = ("superseded_by" if past else "supersedes") if whole else ("amended_by" if past else "amends")
        if others:
            told.append((name, others))
    return told


def _targets(text: str, field: bool, files: bool = False) -> list[str]:
    """The records that a text refers to, by number where they have one.

    >>> _targets("[DNS](0015-dns.md), ADR-7 and [notes](../notes.md)", False)
    ['15', '7']
    >>> _targets("[20210401-htmx](20210401-htmx.md)", True), _targets("3, ADR-4", True)
    (['file:20210401-htmx.md'], ['4', '3'])
    """
    found: list[str] = []
    text = _RE.url.sub("", text)  # the number of an issue or a page is no record's
    for one in list(_RE.target.finditer(text))[:MAX_LINES]:
        if one["file"] is not None:
            name = markdown.stem(one["file"].partition("#")[0])
            page = "://" in one["file"] and not one["file"].partition("#")[0].endswith(".md")
            number = None if page or _RE.dated_name.match(name) else _RE.in_name.match(name)
            told = None if _RE.dated_name.match(one["told"].strip("` ")) else re.search(r"\d{1,6}", one["told"])
            if number:
                _add(found, [str(int(number[1]))])
            elif told and re.search(r"adr|^\W*\d", one["told"], re.IGNORECASE):
                _add(found, [str(int(told[0]))])
            elif one["file"].endswith(".md") and "://" not in one["file"] and (field or files):
                _add(found, [f"file:{one['file']}"])
        else:
            _add(found, [str(int(one["name"] or one["hash"] or one["bare"] or one["listed"]))])
    if field and found:  # a list may name some by their bare number
        _add(found, [str(int(part.strip(" #"))) for part in text.split(",") if re.fullmatch(r" *#?\d{1,6} *", part)])
    if field and _RE.only_numbers.fullmatch(text):
        _add(found, [str(int(number)) for number in re.findall(r"\d{1,6}", text)])
    return found


def _add(into: list[str], others: list[str]) -> None:
    into.extend(one for one in others if one not in into)
