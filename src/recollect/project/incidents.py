"""Incident reports and post-mortems, whatever their headings are called. Pure.

A report becomes one incident (what happened, what it did, why, how it ended), a lesson for each thing that was learnt
and a procedure for what is to be done about it, each linked to the services it speaks of. What is not stated is empty:
a severity that is mentioned in passing is not this incident's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from .. import text as texts
from . import affected, markdown
from .markdown import Section
from .piece import Piece
from .severity import IMPORTANCE, severity

MAX_TIMELINE = 3000  # characters of a timeline that are kept with the incident
_NAMES: dict[str, tuple[str, ...]] = {
    "summary": (
        "summary", "executive summary", "overview", "what happened", "description", "incident summary",
        "issue summary", "incident description", "abstract", "tldr", "tl dr", "synopsis", "background",
        "high level summary", "introduction",
    ),
    "impact": (
        "impact", "user impact", "customer impact", "business impact", "effect", "who was affected", "scope of impact",
        "affected users", "symptoms", "consequences", "damage",
    ),
    "cause": (
        "root cause", "root causes", "cause", "causes", "contributing factors", "contributing factor", "trigger", "why",
        "root cause analysis", "root cause and trigger", "analysis", "five whys", "5 whys", "underlying cause", "rca",
        "contributing causes", "why it happened", "why did it happen", "technical details", "contributing conditions",
        "whys", "why did this happen", "why this happened",
    ),
    "resolution": (
        "resolution", "resolution and recovery", "recovery", "mitigation", "fix", "remediation", "how we fixed it",
        "mitigation and resolution", "response", "solution", "how it was resolved", "recovery steps", "workaround",
        "how did we fix it", "how was it fixed", "how it was fixed", "how did we resolve it", "how was it resolved",
    ),
    "detection": ("detection", "how we detected it", "discovery", "detected by"),
    "lessons": (
        "lessons learned", "lessons learnt", "lessons", "learnings", "what we learned", "what we learnt", "takeaways",
        "what went well", "what went wrong", "where we got lucky", "what went poorly", "what could be improved",
        "what could have gone better", "key learnings", "retrospective", "what didnt go so well", "what went badly",
    ),
    "actions": (
        "action items", "actions", "follow ups", "follow up", "followup", "followups", "corrective actions",
        "next steps", "preventive measures", "preventative measures", "prevention",
        "corrective and preventative measures", "todo", "action plan", "follow up actions", "followup actions",
        "remediation items", "improvements", "tasks", "corrective and preventive actions", "what we are doing",
        "what we are doing about it", "future work", "what will we do to prevent this", "how will we prevent this",
        "how do we prevent this",
    ),
    "timeline": ("timeline", "time line", "incident timeline", "chronology", "timeline of events", "log", "events"),
}  # fmt: skip
_ROLE = {name: role for role, names in _NAMES.items() for name in names}
_NEVER_AGAIN = re.compile(r"\b(?:prevent|again\b)", re.IGNORECASE)  # «How we keep it from happening again»
_NUMBER = re.compile(
    r"((?:PM|INC|IR|SEV|RCA|PIR|incident|post-?mortem)[-_ #]?\d[\d-]*\d|\d{4}-\d{3,4}(?!-))", re.IGNORECASE
)
_DATED_NAME = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?=[-_. ]|$)")
_SHORT = re.compile(r"\bSEV[-_ ]?([0-5])\b")
_DURATION = re.compile(
    r"(\d+(?:[.,]\d+)?)[ \t]*(d(?:ays?)?|h(?:ou)?rs?|h|min(?:ute)?s?|m|s(?:ec(?:ond)?s?)?)\b", re.IGNORECASE
)
_MINUTES = {"d": 1440.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
_UNKNOWN = re.compile(r"\W*|n/?a|tb[da]|xxx|yyy|zzz|unknown|none|-+", re.IGNORECASE)
_STARTED = (
    "date", "incident date", "started", "start", "start time", "date of incident", "started at", "start date",
    "began", "detected at", "incident start", "when", "opened", "occurred",
)  # fmt: skip
_ENDED = ("ended", "end", "end time", "resolved", "resolved at", "ended at", "end date", "incident end", "closed")
_SEVERITIES = ("severity", "sev", "severity level", "incident severity", "priority", "severity/priority")
_DETECTION = ("time to detection", "time to detect", "ttd", "mttd", "detection time", "time to discovery")
_RECOVERY = (
    "time to recovery", "time to recover", "ttr", "mttr", "duration", "time to resolution", "time to resolve",
    "time to mitigate", "time to mitigation", "incident duration", "outage duration", "downtime", "total duration",
)  # fmt: skip
_FIELDS = frozenset((
    *_STARTED, *_ENDED, *_SEVERITIES, *_DETECTION, *_RECOVERY, "title", "status", "author", "authors", "owner", "team",
    "category", "type", "id", "incident id", "reporter", "commander", "lead", "environment", "region",
))  # fmt: skip
_NO_TITLE = re.compile(r"(?:the )?(?:incident|outage|post-?mortem|rca)?[ -]*(?:report|review|analysis|record)?", re.I)
_OPEN = re.compile(r"\b(?:open|ongoing|active|investigating|monitoring|unresolved|in progress)\b", re.IGNORECASE)


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
    severe = bool(told & set(_SEVERITIES[:4]))
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


def template(path: str, text: str) -> bool:
    """Whether it is what reports are made of: called so, or with a title that is still to be given."""
    _, body = markdown.front_matter(text)
    stem = path.replace("\\", "/").rpartition("/")[2].rsplit(".", 1)[0]
    head = next((part.title for part in markdown.sections(body) if part.title), "")
    if markdown.is_template(stem) or markdown.unnamed(head):
        return True
    return "template" in stem.lower() and markdown.holes([body]) > 0


def parse(text: str, path: str) -> Incident:
    """The fields of a report; what it does not say is empty."""
    front, body = markdown.front_matter(text)
    parts = markdown.sections(body)
    head = next((part for part in parts if part.title), None)
    labelled = markdown.sections(markdown.labelled(body, _role, _is_field))
    by_role = _by_role(labelled)
    told = {**_stats(parts), **markdown.fields(markdown.opening(parts)), **front}
    told = {name.replace("_", " "): value for name, value in told.items()}
    name = path.replace("\\", "/").rpartition("/")[2]
    stem = name.rsplit(".", 1)[0]
    heading = head.title if head and not _role(head.title) else _first_line(body) if not head else ""
    if not heading or _NO_TITLE.fullmatch(heading):
        heading = _first(told, ("title", "incident title", "subject")) or heading
    id_, title = _named(stem, heading)
    if not id_ and (given := _NUMBER.fullmatch(_first(told, ("incident id", "incident", "id", "incident number")))):
        id_ = given[0]
    days = _days(by_role["timeline"]) or list(markdown.days(_first(told, _STARTED)))
    if not days and (dated := _DATED_NAME.match(stem)):
        days = list(markdown.days("-".join(dated.groups())))
    summary = by_role["summary"] or markdown.unlabelled(
        head.body if head else parts[0].body if parts else "", lambda name: _is_field(name) or bool(_role(name))
    )
    days = days or list(markdown.days(title)) or list(markdown.days(summary))
    ended = list(markdown.days(_first(told, _ENDED)))
    cause = by_role["cause"]
    services = affected.services(title, told, labelled, f"{summary}\n{by_role['impact']}")
    return Incident(
        title=title, id=id_, severity=_severity(told, parts),
        status=markdown.plain(told.get("status", "")).lower()[:40], services=services,
        started=min(days) if days else None, ended=(ended or [max(days)])[-1] if days else None,
        detection=_minutes(_first(told, _DETECTION)), recovery=_minutes(_first(told, _RECOVERY)), summary=summary,
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
    if content := _told(report):
        over = () if _OPEN.search(re.split(r"[,;(]", report.status)[0]) else ("resolved",)
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


def _told(report: Incident) -> str:
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


# -- parts of a file --------------------------------------------------------------------------------------------------


def _role(title: str) -> str:
    bare = re.sub(r"\([^()]*\)|^[\d.)\s]+|['’?!:;]", "", title).strip().lower().replace("&", "and")
    bare = " ".join(re.sub(r"[^\w\s]", " ", bare).split())
    known = _ROLE.get(bare) or _ROLE.get(bare.removeprefix("the "))
    asked = bare.startswith(("how ", "what ")) and _NEVER_AGAIN.search(bare)
    return known or ("actions" if asked else "")


def _is_field(name: str) -> bool:
    """Whether a label names a value of the report as a whole, and not a part of its text."""
    bare = affected.label(name)
    return bare in _FIELDS or affected.names_services(bare)


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


def _by_role(parts: list[Section]) -> dict[str, str]:
    found: dict[str, list[str]] = {role: [] for role in _NAMES}
    role, depth = "", 0
    for part in parts[:]:
        own = "" if part is parts[0] and part.level == 1 else _role(part.title)
        if own:
            role, depth = own, part.level
            found[role].append(part.body)
        elif role and part.level > depth:
            found[role].append(f"{part.title}\n\n{part.body}".strip())
        else:
            role = ""
    return {name: "\n\n".join(body for body in bodies if body) for name, bodies in found.items()}


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
    return [one for one in found if not _UNKNOWN.fullmatch(one)]


def _named(stem: str, heading: str) -> tuple[str, str]:
    """The name others know it by, and its title."""
    in_name = _NUMBER.match(stem)
    heading = re.sub(
        r"^(?:post-?mortem|incident report|incident)[ \t]*[:–—-]+[ \t]*(?=\S)", "", heading, flags=re.IGNORECASE
    )
    in_heading = _NUMBER.match(heading)
    title = heading[in_heading.end() :].lstrip(" :–—-.|") if in_heading else heading
    if not title:
        bare = stem[in_name.end() :] if in_name else stem
        title = re.sub(r"[-_ ]+", " ", _DATED_NAME.sub("", bare)).strip()
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
    headed = [part.body.strip().split("\n")[0] for part in parts if part.title.lower() in _SEVERITIES[:4]]
    named = [found[0] for part in parts[:1] if (found := _SHORT.search(part.title))]
    return next((level for value in (_first(told, _SEVERITIES), *headed, *named) if (level := severity(value))), "")


def _first(told: dict[str, str], names: tuple[str, ...]) -> str:
    return next((told[name] for name in names if told.get(name)), "")


def _minutes(value: str) -> float | None:
    """
    >>> _minutes("19 hours 43 minutes."), _minutes("1h"), _minutes("?")
    (1183.0, 60.0, None)
    """
    found = [(float(m[1].replace(",", ".")), m[2][0].lower()) for m in _DURATION.finditer(value)]
    return round(sum(number * _MINUTES[unit] for number, unit in found), 1) if found else None
