"""History: why something is known, who did what, checkpoints, holds and retention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from .. import ids, text, times
from ..agents.access import Caller
from ..engine import Engine
from ..errors import Ambiguous, NotFound
from ..history_types import (
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
    Timeline,
)
from ..recall.fence import HEADER, fenced, neutral
from ..types import EVERYWHERE, Scope
from . import words
from .folders import seen
from .memories import find, split


def why(engine: Engine, caller: Caller, *, id: str, depth: int, limit: int) -> Provenance:
    bounds: dict[str, Any] = {"sees": caller.sees} if caller.walled else {}
    return engine.why(find(engine, caller, id).id, depth=depth, limit=limit, **bounds)


def rate(engine: Engine, caller: Caller, *, id: str, helped: bool, session: str = "") -> Sighting:
    return engine.rate(find(engine, caller, id).id, helped=helped, session=session)


def state(engine: Engine, caller: Caller, *, entity: str, **values: Any) -> EntityState:
    times, places = split(values)
    return engine.state(entity, scope=seen(engine, caller, places), **times)


def timeline(engine: Engine, caller: Caller, *, entity: str = "", **values: Any) -> Timeline:
    options, places = split(values)
    return engine.timeline(entity, scope=caller.listing(places), **options)


def checkpoint_create(engine: Engine, caller: Caller, *, name: str, reason: str = "", **places: Any) -> Checkpoint:
    return engine.checkpoints.create(name, scope=caller.inside(places).stored(), reason=reason)


def checkpoint_list(engine: Engine, caller: Caller) -> list[Checkpoint]:
    return [one for one in engine.checkpoints.all() if caller.wall.contains(one.scope)]


def checkpoint_diff(
    engine: Engine, caller: Caller, *, first: str, last: str, limit: int, **places: Any
) -> Differences:  # fmt: skip
    for name in (first, last):
        _seen_point(engine, caller, name)
    return engine.checkpoints.diff(first, last, scope=_asked(caller, places), limit=limit)


def rollback(engine: Engine, caller: Caller, *, to: str, **values: Any) -> RolledBack:
    _seen_point(engine, caller, to)
    chosen, places = split(values)
    done = engine.checkpoints.rollback(to, scope=_asked(caller, places), **chosen)
    if done.restored and not done.dry_run:
        engine.embed(change="never")  # what says something else again needs its vectors
    return done


def undo(engine: Engine, caller: Caller, *, changes: list[str], reason: str = "") -> TakenBack:
    by = "" if "admin" in caller.can and not caller.walled else caller.actor
    done = engine.checkpoints.undo(changes, by=by, may=caller.owned, reason=reason)
    if done.restored:
        engine.embed(change="never")  # what says something else again needs its vectors
    return done


def checkpoint_delete(engine: Engine, caller: Caller, *, name: str) -> Checkpoint:
    return engine.checkpoints.delete(name, inside=caller.wall)


def _asked(caller: Caller, places: dict[str, Any]) -> Scope | None:
    """The scope that was named, or the caller's own; None leaves it to the checkpoint."""
    where = caller.inside(places)
    return None if where == EVERYWHERE else where


def _seen_point(engine: Engine, caller: Caller, name: str) -> None:
    """Raise for a checkpoint behind another's wall as for one that does not exist; one of everything is everybody's."""
    for one in engine.checkpoints.all() if caller.walled else ():
        if name in (one.name, one.id) and one.scope != EVERYWHERE and not caller.wall.contains(one.scope):
            raise NotFound(f"There is no checkpoint {name!r:.60}.", fix="See them with: recollect checkpoint list")


def hold_add(engine: Engine, caller: Caller, *, name: str, reason: str = "", **places: Any) -> Hold:
    return engine.policies.hold(name, scope=caller.inside(places), reason=reason)


def retention_set(
    engine: Engine, caller: Caller, *, days: int, kind: str = "", action: str = "archive", reason: str = "",
    **places: Any,
) -> Retention:  # fmt: skip
    return engine.policies.retain(days, kind=kind, action=action, reason=reason, scope=caller.inside(places))


def retention_remove(engine: Engine, caller: Caller, *, id: str) -> Retention:
    named = [one.id for one in engine.policies.policies() if one.id.endswith(id.lower())]
    if len(named) > 1:
        raise Ambiguous(f"{id!r} is the end of several ids.")
    return engine.policies.drop(named[0] if named else id)


SHOWN = 100  # characters of a memory in a list


def _said(content: str, most: int = SHOWN) -> str:
    return neutral(text.shorten(" ".join(content.split()), most))


def _quoted(id: str, content: str, most: int = SHOWN) -> str:
    """The beginning of a memory as an element."""
    return fenced(text.shorten(" ".join(content.split()), most), id=ids.short(id))


def _where(scope: Scope) -> str:
    return neutral(str(scope)) if scope.as_dict() else "everything"


def say_why(told: Provenance, now: datetime) -> str:
    memory = told.memory
    lines = [words.memory_line(memory), *_where_from(told)]
    lines += [
        f"trust: {step.trust} · {step.state}, {times.iso(step.at)} by {neutral(step.actor)} ({step.operation})"
        f"{neutral(f' because {step.reason}') if step.reason else ''}"
        for step in told.trust
    ]
    lines += [neutral(f"confidence: {one}") for one in told.confidence]
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
    return f"{name}: ({one.relation}, {one.state}{far}) {_quoted(one.id, one.content)}{neutral(reason)}"


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


def say_state(told: EntityState, now: datetime) -> str:
    kind = f" ({neutral(told.entity.kind)})" if told.entity.kind else ""
    lines = [f"{neutral(told.entity.name)}{kind}, as it was known {times.iso(told.at)}:"]
    for one in told.attributes:
        before = f", before: {one.before}" if one.before else ""
        cause = f", because {one.cause}" if one.cause else ""
        said = neutral(f"{one.name}: {one.value} (since {one.since:%Y-%m-%d}{before}{cause})")
        lines.append(f"- {said} [{ids.short(one.memory)}]")
    lines += [f"- {_quoted(memory.id, memory.content, 300)}" for memory in told.memories]
    lines += [] if told.attributes or told.memories else ["- nothing was known"]
    lines += [f"- {neutral(f'{origin} {relation} {target}')}" for origin, relation, target in told.relations]
    return "\n".join(lines)


def say_timeline(told: Timeline, now: datetime) -> str:
    lines = []
    for one in told.events:
        more = [*one.changes, f"until {one.until}" if one.until else "", one.distance]
        rest = f" ({neutral('; '.join(part for part in more if part))})" if any(more) else ""
        lines.append(f"{one.at:%Y-%m-%d %H:%M} {one.network} {one.action}: {_quoted(one.memory, one.title)}{rest}")
    more = [f"More: cursor {told.cursor}"] if told.cursor else []
    return "\n".join([HEADER, *lines, *more]) if lines else "Nothing happened here."


def checkpoint(one: Checkpoint, now: datetime) -> str:
    reason = f"  {one.reason}" if one.reason else ""
    return neutral(f"{one.name}  #{one.seq}  {times.iso(one.created_at)}  {_where(one.scope)}{reason}")


def checkpoints(found: Sequence[Checkpoint], now: datetime) -> str:
    return "\n".join(checkpoint(one, now) for one in found) or "No checkpoints."


def differences(told: Differences, now: datetime) -> str:
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in told.counts.items() if count)
    lines = [HEADER, f"#{told.first} to #{told.last}, {_where(told.scope)}: {counts or 'nothing changed'}"]
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
    yield f"{sign} ({one.kind}{state}{by}) {_quoted(one.id, one.content)}"
    for name, (before, after) in one.fields.items():
        yield f"    {name}: {_value(before)} → {_value(after)}"


def _value(value: Any) -> str:
    return _said("nothing" if value in (None, "", [], {}) else str(value))


def rolled_back(told: RolledBack, now: datetime) -> str:
    would = "would be " if told.dry_run else ""
    lines = [
        f"{_where(told.scope)}, back to {neutral(told.to)} (#{told.seq}): {len(told.restored)} {would}restored, "
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


def hold(one: Hold, now: datetime) -> str:
    return neutral(f"{one.name}  {_where(one.scope)}  since {times.iso(one.created_at)}  {one.reason}".rstrip())


def holds(found: Sequence[Hold], now: datetime) -> str:
    return "\n".join(hold(one, now) for one in found) or "Nothing is on hold."


def policy(one: Retention, now: datetime) -> str:
    what = f"{one.kind or 'every kind'}, {_where(one.scope)}"
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
