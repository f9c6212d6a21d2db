"""Incident reports and post-mortems, whatever their headings are called. Pure.

A report becomes an incident, a lesson for each thing learnt, and a procedure with the action items. What is not stated
stays empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from .. import text as texts
from ..language import tables
from . import affected, markdown
from .markdown import Section
from .patterns import Patterns
from .piece import Piece

_RE = Patterns("incidents")
MAX_TIMELINE = 3000  # characters of a timeline that are kept with the incident
_NAMES = tables.named("records", "incident")
_ROLE = {name: role for role, names in _NAMES.items() for name in names}
_MINUTES = {"d": 1440.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
_FIELDS = tables.named("records", "incident fields")
_FIELD = frozenset(name for field, names in _FIELDS.items() if field not in ("titles", "ids") for name in names)

_LEVEL = {word: int(n) for n, words in tables.named("records", "severities").items() for word in words}
_LEVEL_WORD = re.compile(rf"\b(?:{'|'.join(_LEVEL)})\b", re.IGNORECASE)
IMPORTANCE = {"sev0": 10, "sev1": 10, "sev2": 9, "sev3": 7, "sev4": 5, "sev5": 4}


@dataclass(frozen=True, slots=True)
class Incident:
    """The fields of a report; `detection` and `recovery` are minutes."""

    title: str
    id: str = ""
    severity: str = ""
    status: str = ""
    services: tuple[str, ...] = ()
    started: datetime | None = None
    ended: datetime | None = None
    detection: float | None = None
    recovery: float | None = None
    summary: str = ""
    impact: str = ""
    cause: str = ""
    resolution: str = ""
    timeline: str = ""
    factors: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


def recognises(path: str, text: str) -> float:
    """How sure it is, from 0 to 1, that a text is an incident report."""
    front, body = markdown.front_matter(text)
    parts = markdown.sections(body)
    roles = {_role(part.title) for part in markdown.sections(markdown.labelled(body, _role, _is_field))}
    lowered = path.replace("\\", "/").lower()
    told = {*front, *markdown.fields(markdown.opening(parts))}
    severe = bool(told & set(_FIELDS["severities"][:4]))
    score = 0.0
    if re.search(r"post-?mortems?|incidents?|outages?|\brca\b|sev-?\d", lowered):
        score += 0.4
    if re.match(r"(?:pm|inc|ir|sev|pir)[-_ ]?\d", lowered.rpartition("/")[2]):
        score += 0.2
    title = next((part.title for part in parts if part.title), "")
    if re.search(r"\b(?:post-?mortem|incident|outage)\b", title, re.IGNORECASE):
        score += 0.25
    score += 0.2 * ("timeline" in roles) + 0.2 * ("cause" in roles) + 0.15 * ("lessons" in roles)
    score += 0.1 * ("actions" in roles) + 0.1 * ("impact" in roles) + 0.1 * ("resolution" in roles)
    if severe or "severity" in {part.title.lower() for part in parts}:
        score += 0.2
    if not roles & {"timeline", "cause", "lessons", "impact", "resolution"} and not severe:
        score = min(score, 0.4)
    return min(score, 1.0)


def parse(text: str, path: str) -> Incident:
    """The fields of a report; what it does not say is empty."""
    front, body = markdown.front_matter(text)
    parts = markdown.sections(body)
    head = next((part for part in parts if part.title), None)
    labelled = markdown.sections(markdown.labelled(body, _role, _is_field))
    by_role = markdown.by_role(
        labelled,
        _NAMES,
        lambda part, _: "" if part is labelled[0] and part.level == 1 else _role(part.title),
        "\n\n",
    )
    told = {**_stats(parts), **markdown.fields(markdown.opening(parts)), **front}
    told = {name.replace("_", " "): value for name, value in told.items()}
    stem = markdown.stem(path)
    heading = head.title if head and not _role(head.title) else _first_line(body) if not head else ""
    if not heading or _RE.no_title.fullmatch(heading):
        heading = _first(told, "titles") or heading
    id_, title = _named(stem, heading)
    if not id_ and (given := _RE.number.fullmatch(_first(told, "ids"))):
        id_ = given[0]
    days = _days(by_role["timeline"]) or list(markdown.days(_first(told, "started")))
    if not days and (dated := _RE.dated_name.match(stem)):
        days = list(markdown.days("-".join(dated.groups())))
    summary = by_role["summary"] or markdown.unlabelled(
        head.body if head else parts[0].body if parts else "", lambda name: _is_field(name) or bool(_role(name))
    )
    days = days or list(markdown.days(title)) or list(markdown.days(summary))
    ended = list(markdown.days(_first(told, "ended")))
    cause = by_role["cause"]
    services = affected.affected_services(title, told, labelled, f"{summary}\n{by_role['impact']}")
    return Incident(
        title=title, id=id_, severity=_severity(told, parts),
        status=markdown.plain(told.get("status", "")).lower()[:40], services=services,
        started=min(days) if days else None, ended=(ended or [max(days)])[-1] if days else None,
        detection=_minutes(_first(told, "detection")), recovery=_minutes(_first(told, "recovery")), summary=summary,
        impact=by_role["impact"] or told.get("impact", ""), cause=cause or told.get("root cause", ""),
        resolution=by_role["resolution"], timeline=by_role["timeline"], factors=tuple(markdown.items(cause)),
        lessons=tuple(_things(labelled, "lessons")), actions=tuple(_things(labelled, "actions")),
    )  # fmt: skip


def read(text: str, path: str) -> list[Piece]:
    """The incident, what was learnt from it, and what is to be done."""
    report = parse(text, path)
    name = (
        f"{report.id}: {report.title}" if report.id and report.id.lower() not in report.title.lower() else report.title
    )
    about = tuple(("mentions", f"service:{service}") for service in report.services)
    services = tuple(f"service:{service.lower()}"[:60] for service in report.services)
    refs = (report.id,) if report.id else ()
    found = []
    if content := _render(report):
        over = () if _RE.open.search(re.split(r"[,;(]", report.status)[0]) else ("resolved",)
        tags = ("incident", *((f"severity:{report.severity}",) if report.severity else ()), *services, *over)
        found.append(Piece(
            content=content, kind="incident", title=texts.shorten(name, 280),
            reasoning=texts.cut(_listed(report.cause, report.factors), 4000),
            context=texts.cut(report.timeline, MAX_TIMELINE), tags=tags, refs=refs, keywords=refs,
            importance=IMPORTANCE.get(report.severity, 7), valid_from=report.started,
            key="incident",
            links=tuple(("had_incident", f"service:{service}") for service in report.services),
        ))  # fmt: skip
    for number, lesson in enumerate(report.lessons):
        found.append(Piece(
            content=lesson, kind="lesson", title=texts.shorten(f"Lesson of {name}", 280),
            context=texts.cut(f"{name}\n{report.summary}", 2000),
            tags=("incident", *services), refs=refs, importance=6, valid_from=report.ended or report.started,
            key=f"lesson:{number}", links=(("derived_from", "incident"), *about),
        ))  # fmt: skip
    if report.actions:
        found.append(Piece(
            content="\n".join(f"- {one}" for one in report.actions), kind="procedure",
            title=texts.shorten(f"What to do after {name}", 280), context=texts.cut(f"{name}\n{report.summary}", 2000),
            tags=("incident", *services), refs=refs, importance=6, valid_from=report.ended or report.started,
            key="actions", links=(("derived_from", "incident"), *about),
        ))  # fmt: skip
    return found


def _render(report: Incident) -> str:
    """The incident in words: what happened, what it did, why, and how it ended."""
    parts = [report.summary]
    parts += [f"Impact: {report.impact}"] if report.impact and report.impact not in report.summary else []
    parts += [f"Cause: {report.cause}"] if report.cause and report.cause not in report.summary else []
    parts += [f"Resolution: {report.resolution}"] if report.resolution else []
    if not report.resolution and (rows := [row for row in markdown.rows(report.timeline) if len(row) > 1][1:]):
        parts.append(f"In the end: {rows[-1][0]} {rows[-1][1]}")
    taken = [
        f"{what} after {int(minutes)} minutes"
        for what, minutes in (("detected", report.detection), ("over", report.recovery))
        if minutes is not None
    ]
    parts += [f"It was {' and '.join(taken)}."] if taken else []
    return "\n\n".join(part for part in parts if part.strip()) or report.timeline


def _listed(cause: str, factors: tuple[str, ...]) -> str:
    return "\n".join(f"- {one}" for one in factors) if len(factors) > 1 else cause


def _role(title: str) -> str:
    bare = re.sub(r"\([^()]*\)|^[\d.)\s]+|['’?!:;]", "", title).strip().lower().replace("&", "and")
    bare = " ".join(re.sub(r"[^\w\s]", " ", bare).split())
    known = _ROLE.get(bare) or _ROLE.get(bare.removeprefix("the "))
    asked = bare.startswith(("how ", "what ")) and _RE.never_again.search(bare)
    return known or ("actions" if asked else "")


def _is_field(name: str) -> bool:
    """Whether a label names a value of the report as a whole, and not a part of its text."""
    bare = affected.label(name)
    return bare in _FIELD or affected.names_services(bare)


def _first_line(body: str) -> str:
    """The line that stands by itself at the top of a text without headings."""
    first, _, rest = body.strip().partition("\n")
    return "" if not rest.startswith("\n") or len(first) > 120 or first.endswith(".") else markdown.plain(first)


def _stats(parts: list[Section]) -> dict[str, str]:
    """Fields of sections that hold nothing else: statistics, details, metadata."""
    found: dict[str, str] = {}
    for part in parts:
        if re.search(
            r"\b(?:stat(?:istic)?s|metadata|details|facts|incident|overview|information|metrics)\b",
            part.title,
            re.IGNORECASE,
        ):
            found = {**markdown.fields(part.body), **found}
        elif part.title.lower() in ("date", "severity", "duration", "status") and part.body:
            first = part.body.split("\n")[0].removeprefix("- ").removeprefix("* ").removeprefix("+ ")
            found.setdefault(part.title.lower(), markdown.plain(first))
    return found


def _things(parts: list[Section], wanted: str) -> list[str]:
    """What a role lists, section by section: each may be bullets, a table or paragraphs."""
    found: list[str] = []
    role, depth = "", 0
    for part in parts:
        own = _role(part.title)
        if own or part.level <= depth:
            role, depth = own, part.level
        if role == wanted and part.body:
            rows = markdown.rows(part.body)
            listed = [markdown.plain(" — ".join(cell for cell in row if cell)) for row in rows[1:]]
            found += [one for one in listed if one] or markdown.items(part.body)
    found = [re.sub(r"^\[[ xX]\][ \t]+", "", one) for one in found]
    return [one for one in found if not _RE.unknown.fullmatch(one)]


def _named(stem: str, heading: str) -> tuple[str, str]:
    """The name others know it by, and its title."""
    in_name = _RE.number.match(stem)
    heading = re.sub(
        r"^(?:post-?mortem|incident report|incident)[ \t]*[:–—-]+[ \t]*(?=\S)", "", heading, flags=re.IGNORECASE
    )
    in_heading = _RE.number.match(heading)
    title = heading[in_heading.end() :].lstrip(" :–—-.|") if in_heading else heading
    if not title:
        bare = stem[in_name.end() :] if in_name else stem
        title = re.sub(r"[-_ ]+", " ", _RE.dated_name.sub("", bare)).strip()
    return (in_name or in_heading or [""])[0], title


def _days(timeline: str) -> list[datetime]:
    """The days that the rows of a timeline begin with; where none does, all that it names."""
    heads = [row[0] for row in markdown.rows(timeline) if row] or [
        line.strip(" -*+")[:30] for line in timeline.split("\n")
    ]
    found = [day for head in heads if (day := markdown.day(head))]
    return found or list(markdown.days(timeline))


def _severity(told: dict[str, str], parts: list[Section]) -> str:
    """
    >>> _severity({"severity": "SEV-2 (high)"}, []), _severity({"priority": "P1"}, []), _severity({}, [])
    ('sev2', 'sev1', '')
    """
    headed = [part.body.strip().split("\n")[0] for part in parts if part.title.lower() in _FIELDS["severities"][:4]]
    named = [found[0] for part in parts[:1] if (found := _RE.short.search(part.title))]
    return next((level for value in (_first(told, "severities"), *headed, *named) if (level := severity(value))), "")


def _first(told: dict[str, str], field: str) -> str:
    return next((told[name] for name in _FIELDS[field] if told.get(name)), "")


def _minutes(value: str) -> float | None:
    """
    >>> _minutes("19 hours 43 minutes."), _minutes("1h"), _minutes("?")
    (1183.0, 60.0, None)
    """
    found = [(float(m[1].replace(",", ".")), m[2][0].lower()) for m in _RE.duration.finditer(value)]
    return round(sum(number * _MINUTES[unit] for number, unit in found), 1) if found else None


def severity(told: str) -> str:
    """The severity that a text names; nothing where it names none, or several as a form to be filled in does.

    >>> [severity(one) for one in ("SEV-2", "sev 2", "Sev2/major", "P1", "S1", "2 - High", "priority: 3", "Critical")]
    ['sev2', 'sev2', 'sev2', 'sev1', 'sev1', 'sev2', 'sev3', 'sev1']
    >>> [severity(one) for one in ("P3, raised to P1", "SEV1 / SEV2 / SEV3", "high | medium", "very odd", "")]
    ['sev1', '', '', '', '']
    """
    levels = [int(one[1] or one[2]) for one in _RE.level_number.finditer(told)]
    levels = levels or [_LEVEL[word.lower()] for word in _LEVEL_WORD.findall(told)]
    if not levels or (len(set(levels)) > 1 and not _RE.changed.search(told)):
        return ""
    return f"sev{levels[-1]}"
