"""What is said of the past, to a person and to a model alike: plain lines, with recalled text as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from .. import ids, text, times
from ..past import (
    Audit,
    Checkpoint,
    Difference,
    Differences,
    EntityState,
    Hold,
    Provenance,
    Relative,
    Retained,
    Retention,
    RolledBack,
    Sighting,
    TakenBack,
)
from ..recall.fence import neutral
from ..types import Scope
from . import words

SHOWN = 100  # characters of a memory in a list


def _said(content: str, most: int = SHOWN) -> str:
    return neutral(text.shorten(" ".join(content.split()), most))


def _place(scope: Scope) -> str:
    return neutral(str(scope)) if scope.as_dict() else "everything"


# -- provenance -------------------------------------------------------------------------------------------------------


def why(told: Provenance, now: datetime) -> str:
    memory = told.memory
    lines = [words.memory_line(memory), *_where_from(told)]
    lines += [
        f"trust: {step.trust} · {step.state}, {times.iso(step.at)} by {neutral(step.actor)} ({step.operation})"
        f"{neutral(f' because {step.reason}') if step.reason else ''}"
        for step in told.trust
    ]
    for name, found in (
        ("derived from", told.derived_from), ("stands for", told.superseded),
        ("superseded by", told.superseded_by), ("tied to", told.ties),
    ):  # fmt: skip
        lines += [_relative(name, one) for one in found]
    lines += [f"shown: {_sighting(one)}" for one in told.shown]
    if told.shown:
        lines.append(f"helped {told.helped} times, did not {told.did_not_help} times")
    lines += ["changes, newest first:", words.history(told.changes, now)]
    if told.left_out:
        lines.append("left out: " + ", ".join(f"{count} more {name}" for name, count in told.left_out.items()))
    return "\n".join(lines)


def _where_from(told: Provenance) -> list[str]:
    proof = words.proved({"source": told.source, "evidence": told.evidence}, told.memory.created_at)
    others = [
        f"also from: {neutral(' · '.join(p for p in (one.kind, one.title, one.uri, one.author) if p))}"
        for one in told.sources
    ]
    return [proof, *others]


def _relative(name: str, one: Relative) -> str:
    far = f", {one.depth} away" if one.depth > 1 else ""
    reason = f" because {one.reason}" if one.reason else ""
    return f"{name}: {ids.short(one.id)} ({one.relation}, {one.state}{far}) {_said(one.content)}{neutral(reason)}"


def _sighting(one: Sighting) -> str:
    rated = {1: ", helped", -1: ", did not help"}.get(one.helped, "")
    session = f" in session {one.session}" if one.session else ""
    project = f" from project {one.project}" if one.project else ""
    return neutral(f"{times.iso(one.at)} {one.way}{session}{project} by {one.actor}{rated}")


def rated(one: Sighting, now: datetime) -> str:
    return f"Noted: {ids.short(one.memory)} {'helped' if one.helped > 0 else 'did not help'}."


def audited(found: Audit, now: datetime) -> str:
    lines = [words.history(found.entries, now)]
    lines += [f"read {ids.short(one.memory)} of project {neutral(one.owner)}: {_sighting(one)}" for one in found.reads]
    if found.cursor is not None:
        lines.append(f"more with cursor {found.cursor}")
    return "\n".join(lines)


def state(told: EntityState, now: datetime) -> str:
    lines = [f"{neutral(told.entity.name)} ({neutral(told.entity.kind)}), as it was known {times.iso(told.at)}:"]
    lines += [f"- {_said(memory.content, 300)}" for memory in told.memories] or ["- nothing was known"]
    lines += [f"- {neutral(f'{origin} {relation} {target}')}" for origin, relation, target in told.relations]
    return "\n".join(lines)


# -- checkpoints ------------------------------------------------------------------------------------------------------


def checkpoint(one: Checkpoint, now: datetime) -> str:
    reason = f"  {one.reason}" if one.reason else ""
    return neutral(f"{one.name}  #{one.seq}  {times.iso(one.created_at)}  {_place(one.scope)}{reason}")


def checkpoints(found: Sequence[Checkpoint], now: datetime) -> str:
    return "\n".join(checkpoint(one, now) for one in found) or "No checkpoints."


def differences(told: Differences, now: datetime) -> str:
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in told.counts.items() if count)
    lines = [f"#{told.first} to #{told.last}, {_place(told.scope)}: {counts or 'nothing changed'}"]
    for sign, found in (("+", told.added), ("~", told.changed), ("-", told.removed), (">", told.superseded)):
        for one in found:
            lines += _difference(sign, one)
    for name, found in (("added", told.added), ("changed", told.changed), ("removed", told.removed),
                        ("superseded", told.superseded)):  # fmt: skip
        if (left := told.counts[name] - len(found)) > 0:
            lines.append(f"… {left} more {name}")
    return "\n".join(lines)


def _difference(sign: str, one: Difference) -> Iterable[str]:
    by = f", by {ids.short(one.by)}" if one.by else ""
    state = f", {one.state}" if sign in "->" else ""
    yield f"{sign} {ids.short(one.id)} ({one.kind}{state}{by}) {_said(one.content)}"
    for name, (before, after) in one.fields.items():
        yield f"    {name}: {_value(before)} → {_value(after)}"


def _value(value: Any) -> str:
    return _said("nothing" if value in (None, "", [], {}) else str(value))


def rolled_back(told: RolledBack, now: datetime) -> str:
    would = "would be " if told.dry_run else ""
    lines = [
        f"{_place(told.scope)}, back to {neutral(told.to)} (#{told.seq}): {len(told.restored)} {would}restored, "
        f"{len(told.archived)} {would}archived, {told.links} links, {told.evidence} quotes and {told.entities} "
        f"entities {would}put back"
    ]
    lines += [f"left as it is: {ids.short(id)}, {neutral(why)}" for id, why in sorted(told.skipped.items())]
    if told.undo:
        lines.append(f"to take it back: recollect checkpoint rollback {told.undo}")
    return "\n".join(lines)


def taken_back(told: TakenBack, now: datetime) -> str:
    return (
        f"{len(told.restored)} restored, {len(told.archived)} archived, {told.links} links and {told.evidence} quotes "
        "put back"
    )


# -- holds and retention ----------------------------------------------------------------------------------------------


def hold(one: Hold, now: datetime) -> str:
    return neutral(f"{one.name}  {_place(one.scope)}  since {times.iso(one.created_at)}  {one.reason}".rstrip())


def holds(found: Sequence[Hold], now: datetime) -> str:
    return "\n".join(hold(one, now) for one in found) or "Nothing is on hold."


def policy(one: Retention, now: datetime) -> str:
    what = f"{one.kind or 'every kind'}, {_place(one.scope)}"
    return neutral(f"{ids.short(one.id)}  {what}: {one.action} after {one.days} days  {one.reason}".rstrip())


def policies(found: Sequence[Retention], now: datetime) -> str:
    return "\n".join(policy(one, now) for one in found) or "Everything is kept until it is forgotten."


def retained(told: Retained, now: datetime) -> str:
    would = "would be " if told.dry_run else ""
    lines = [f"{len(told.archived)} {would}archived, {len(told.purged)} {would}erased for good"]
    if told.held:
        lines.append(f"{len(told.held)} on hold and left as they are")
    if told.sightings:
        lines.append(f"{told.sightings} old records of use dropped")
    return "\n".join(lines)
