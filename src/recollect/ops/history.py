"""History: why something is known, who did what, checkpoints, holds and retention.

A verb holds the caller's wall. What it gives is told to a person and to a model alike, with recalled text as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from .. import ids, text, times
from ..agents.access import Caller
from ..engine import Engine
from ..errors import Ambiguous, NotFound
from ..history.checkpoints import MOST
from ..history.policies import MAX_DAYS
from ..history.provenance import MAX_COUNT, MAX_DEPTH
from ..history.room import MAX_ROWS
from ..history_types import (
    ACTIONS,
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
from ..recall.fence import HEADER, fenced, neutral
from ..types import EVERYWHERE, KINDS, Scope
from . import words
from .folders import seen
from .memories import find, split
from .operation import ID, LOOKED, PLACED, REASON, WHEN, Operation, P

FOR_A_PERSON = "what may be erased is for a person to say"
POINT = "A checkpoint, now, a time with its zone, how long ago (1d, 2h, yesterday), or #NUMBER of a change."


# -- verbs ------------------------------------------------------------------------------------------------------------
def why(engine: Engine, caller: Caller, *, id: str, depth: int, limit: int) -> Provenance:
    bounds: dict[str, Any] = {"sees": caller.sees} if caller.walled else {}
    return engine.why(find(engine, caller, id).id, depth=depth, limit=limit, **bounds)


def rate(engine: Engine, caller: Caller, *, id: str, helped: bool, session: str = "") -> Sighting:
    return engine.rate(find(engine, caller, id).id, helped=helped, session=session)


def state(engine: Engine, caller: Caller, *, entity: str, **values: Any) -> EntityState:
    times, places = split(values)
    return engine.state(entity, scope=seen(engine, caller, places), **times)


def audit(engine: Engine, caller: Caller, **asked: Any) -> Audit:
    caller.unwalled("The audit log")
    return engine.audit(**asked)


# -- checkpoints ------------------------------------------------------------------------------------------------------


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


# -- holds and retention ----------------------------------------------------------------------------------------------


def hold_add(engine: Engine, caller: Caller, *, name: str, reason: str = "", **places: Any) -> Hold:
    caller.unwalled("A hold")
    return engine.policies.hold(name, scope=caller.inside(places), reason=reason)


def hold_list(engine: Engine, caller: Caller) -> list[Hold]:
    caller.unwalled("A hold")
    return engine.policies.holds()


def hold_release(engine: Engine, caller: Caller, *, name: str, reason: str = "") -> Hold:
    caller.unwalled("A hold")
    return engine.policies.release(name, reason=reason)


def retention_set(
    engine: Engine, caller: Caller, *, days: int, kind: str = "", action: str = "archive", reason: str = "",
    **places: Any,
) -> Retention:  # fmt: skip
    caller.unwalled("A retention policy")
    return engine.policies.retain(days, kind=kind, action=action, reason=reason, scope=caller.inside(places))


def retention_list(engine: Engine, caller: Caller) -> list[Retention]:
    caller.unwalled("A retention policy")
    return engine.policies.policies()


def retention_remove(engine: Engine, caller: Caller, *, id: str) -> Retention:
    caller.unwalled("A retention policy")
    named = [one.id for one in engine.policies.policies() if one.id.endswith(id.lower())]
    if len(named) > 1:
        raise Ambiguous(f"{id!r} is the end of several ids.")
    return engine.policies.drop(named[0] if named else id)


def retention_apply(engine: Engine, caller: Caller, *, dry_run: bool = False) -> Retained:
    caller.unwalled("A retention policy")
    return engine.policies.apply(dry_run=dry_run)


# -- words ------------------------------------------------------------------------------------------------------------

SHOWN = 100  # characters of a memory in a list


def _said(content: str, most: int = SHOWN) -> str:
    return neutral(text.shorten(" ".join(content.split()), most))


def _quoted(id: str, content: str, most: int = SHOWN) -> str:
    """The beginning of a memory as an element."""
    return fenced(text.shorten(" ".join(content.split()), most), id=ids.short(id))


def _where(scope: Scope) -> str:
    return neutral(str(scope)) if scope.as_dict() else "everything"


# -- provenance -------------------------------------------------------------------------------------------------------


def say_why(told: Provenance, now: datetime) -> str:
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
    lines = [f"{neutral(told.entity.name)} ({neutral(told.entity.kind)}), as it was known {times.iso(told.at)}:"]
    lines += [f"- {_quoted(memory.id, memory.content, 300)}" for memory in told.memories] or ["- nothing was known"]
    lines += [f"- {neutral(f'{origin} {relation} {target}')}" for origin, relation, target in told.relations]
    return "\n".join(lines)


# -- checkpoints ------------------------------------------------------------------------------------------------------


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


# -- holds and retention ----------------------------------------------------------------------------------------------


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


# -- operations -------------------------------------------------------------------------------------------------------

GROUPS = {
    "checkpoint": "Name a state, see what changed since, and go back.",
    "hold": "Keep things from being erased.",
    "retention": "Say how long things are kept.",
}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "why", "Provenance of a memory", "Why a memory is there: source, quotes, trust, changes, uses.",
        "Use it when asked how something is known, why it is believed, or what became of it: where it came from, on "
        "whose word, what it was derived from and stands for, each change, into which sessions it was put and whether "
        "that helped.",
        (
            P("id", "text", "The id, or at least its last 4 characters.", aliases=("memory_id", "key"), cli="ID"),
            P("depth", "whole", "How far to follow what it goes back to.", 3, least=0, most=MAX_DEPTH),
            P("limit", "whole", "At most so many of each thing.", 50, least=1, most=MAX_COUNT, cli="-n --limit"),
        ),
        why, say_why, "GET", "/v1/memories/{id}/why", Provenance,
        read_only=True, idempotent=True, mcp="get_memory_provenance", cli="why",
    ),
    Operation(
        "rate", "Rate a memory", "Say whether a memory helped where it was shown.",
        "Use it when the user says that something remembered was of use, or was not. It counts for the last time the "
        "memory was shown, in the session if one is named.",
        (
            ID,
            P("helped", "flag", "Whether it helped.", aliases=("helpful", "useful"),
              cli="--helped/--did-not-help=true"),
            P("session", "text", "The session it was shown in.", "", aliases=("session_id",)),
        ),
        rate, rated, "POST", "/v1/memories/{id}/rating", Sighting,
        right="write", idempotent=True, mcp="rate_memory", cli="rate",
    ),
    Operation(
        "state", "State of an entity", "What was known of an entity at a time, and how it was tied to others.",
        "Use it when asked how something was, or what was thought of it, at an earlier time.",
        (
            P("entity", "text", "Its name, as it is written.", aliases=("name",), cli="ENTITY"),
            P("at", "time", f"What was known then; now unless told. {WHEN}", None, aliases=("as_of",)),
            P("true_at", "time", f"What held then; the same time unless told. {WHEN}", None),
            *LOOKED,
        ),
        state, say_state, "GET", "/v1/state", EntityState,
        read_only=True, idempotent=True, mcp="entity_state", cli="state",
    ),
    Operation(
        "audit", "Audit log", "Who did what, newest first, and who read across projects.",
        "Every change of the tenant with who made it, when, why, before and after; and each look that somebody at home "
        "in one project had at what another owns.",
        (
            P("actors", "texts", "Only what these did.", None, aliases=("actor",), cli="--actor"),
            P("operations", "texts", "Only these operations: create, edit, forget, …", None, aliases=("operation",),
              cli="--operation"),
            P("nouns", "texts", "Only changes of these: memory, source, link, …", None, aliases=("noun",),
              cli="--noun"),
            P("targets", "texts", "Only changes of these ids.", None, aliases=("target",), cli="--target"),
            P("project", "text", "Only memories of this project.", None, aliases=("service",)),
            P("since", "time", f"Not older than. {WHEN}", None),
            P("until", "time", f"Not newer than. {WHEN}", None),
            P("reads", "flag", "With the reads across projects.", True, cli="--reads/--no-reads"),
            P("limit", "whole", "At most so many changes.", 100, least=1, most=MAX_ROWS, cli="-n --limit"),
            P("cursor", "whole", "Where the page before ended.", None, least=1, most=2**53),
        ),
        audit, audited, "GET", "/v1/audit", Audit,
        right="admin", read_only=True, idempotent=True, no_mcp="a log for people; a model asks get_memory_provenance",
        cli="audit",
    ),
    Operation(
        "checkpoint_create", "Create a checkpoint", "Name the present state of a scope, to compare or go back to.",
        "Use it before a large change: much is to be forgotten, merged or taken in. It copies nothing and costs "
        "nothing.",
        (P("name", "text", "What to call it.", cli="NAME"), REASON, *PLACED),
        checkpoint_create, checkpoint, "POST", "/v1/checkpoints", Checkpoint,
        right="write", mcp="create_checkpoint", cli="checkpoint create", status=201,
    ),
    Operation(
        "checkpoint_list", "List checkpoints", "The checkpoints there are, newest first.",
        "Those set by themselves before an import, a clean-up, a rollback or much forgetting begin with «before-».",
        (),
        checkpoint_list, checkpoints, "GET", "/v1/checkpoints", [Checkpoint],
        read_only=True, idempotent=True, mcp="list_checkpoints", cli="checkpoint list",
    ),
    Operation(
        "checkpoint_diff", "What changed", "What was added, changed, removed and superseded between two moments.",
        "Use it when asked what is new, or what changed since a time or a checkpoint.",
        (
            P("first", "text", POINT, aliases=("a", "from", "since"), cli="A"),
            P("last", "text", POINT, "now", aliases=("b", "to", "until"), cli="[B]"),
            P("limit", "whole", "At most so many of each sort.", 100, least=1, most=MOST, cli="-n --limit"),
            *PLACED,
        ),
        checkpoint_diff, differences, "GET", "/v1/checkpoints/diff", Differences,
        read_only=True, idempotent=True, mcp="what_changed", cli="checkpoint diff",
        help=f"Show what changed between A and B.\n\nA and B: {POINT}",
    ),
    Operation(
        "rollback", "Go back", "Bring a scope back to how it was at a checkpoint or time.",
        "What came since is archived, what changed is put back, what was rejected stays rejected and what was erased "
        "stays erased. The answer names the checkpoint that takes it back. See first what would happen: dry_run.",
        (
            P("to", "text", POINT, aliases=("name", "checkpoint"), cli="NAME"),
            P("kinds", "texts", "Only memories of these kinds.", None, choices=KINDS, aliases=("kind",),
              cli="--kind"),
            P("tags", "texts", "Only with one of these tags.", None, aliases=("tag",), cli="--tag"),
            P("sources", "texts", "Only from these sources, by id or address.", None, aliases=("source",),
              cli="--source"),
            P("agents", "texts", "Only what these agents remembered.", None, cli="--by-agent"),
            P("dry_run", "flag", "Only show what would happen.", False),
            REASON, *PLACED,
        ),
        rollback, rolled_back, "POST", "/v1/rollback", RolledBack,
        right="admin", destructive=True, no_mcp="going back is for a person to decide", cli="checkpoint rollback",
    ),
    Operation(
        "undo", "Take back", "Undo changes by their numbers, so that everything they touched is as it was.",
        "A write names the numbers of its changes in the header Recollect-Changes. All of them are taken back or none: "
        "where something was changed since, nothing happens. What was erased stays erased.",
        (P("changes", "texts", "Numbers of changes: 120, or 120-124 for several.", aliases=("change", "seq")), REASON),
        undo, taken_back, "POST", "/v1/undo", TakenBack,
        right="write", destructive=True, no_mcp="taking back is for a person to decide",
        no_cli="recollect checkpoint rollback '#NUMBER' goes back to a change",
    ),
    Operation(
        "checkpoint_delete", "Delete a checkpoint", "Forget a name; what it named stays in the journal.",
        "By its name or id.",
        (P("name", "text", "The name of the checkpoint.", cli="NAME"),),
        checkpoint_delete, checkpoint, "DELETE", "/v1/checkpoints/{name}", Checkpoint,
        right="write", destructive=True, idempotent=True, no_mcp="a model has no need to", cli="checkpoint delete",
    ),
    Operation(
        "hold_add", "Put on hold", "Keep everything inside a scope from being erased.",
        "While it stands, a purge of anything inside fails, whoever asks. Forgetting, editing and correcting go on.",
        (P("name", "text", "What to call it, such as the matter.", cli="NAME"), REASON, *PLACED),
        hold_add, hold, "POST", "/v1/holds", Hold,
        right="admin", no_mcp=FOR_A_PERSON, cli="hold add", status=201,
    ),
    Operation(
        "hold_list", "List holds", "What may not be erased now.", "By name, with the scope and the reason.", (),
        hold_list, holds, "GET", "/v1/holds", [Hold],
        right="admin", read_only=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="hold list",
    ),
    Operation(
        "hold_release", "Release a hold", "End a hold.", "By its name or id.",
        (P("name", "text", "The name of the hold.", cli="NAME"), REASON),
        hold_release, hold, "DELETE", "/v1/holds/{name}", Hold,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="hold release",
    ),
    Operation(
        "retention_set", "Set a retention policy", "Say how long memories of a kind are kept in a scope.",
        "Of several policies that fit a memory the narrowest counts. What is tagged pinned, or on hold, is left alone. "
        "One for the same kind and scope is replaced.",
        (
            P("days", "whole", "How many days after it was made.", least=1, most=MAX_DAYS, cli="DAYS"),
            P("kind", "text", "Only of this kind.", "", choices=("", *KINDS), aliases=("type",)),
            P("action", "text", "What happens then.", "archive", choices=ACTIONS),
            REASON, *PLACED,
        ),
        retention_set, policy, "POST", "/v1/retention", Retention,
        right="admin", idempotent=True, no_mcp=FOR_A_PERSON, cli="retention set", status=201,
    ),
    Operation(
        "retention_list", "List retention policies", "How long what is kept.", "By kind and scope.", (),
        retention_list, policies, "GET", "/v1/retention", [Retention],
        right="admin", read_only=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention list",
    ),
    Operation(
        "retention_remove", "Remove a retention policy", "End a retention policy.", "By its id.",
        (P("id", "text", "The id of the policy, or at least its last 4 characters.", cli="ID"),),
        retention_remove, policy, "DELETE", "/v1/retention/{id}", Retention,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention remove",
    ),
    Operation(
        "retention_apply", "Apply retention policies", "Archive or erase what has been kept long enough.",
        "See first what would happen: dry_run.",
        (P("dry_run", "flag", "Only show what would happen.", False),),
        retention_apply, retained, "POST", "/v1/retention/apply", Retained,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention apply",
    ),
)  # fmt: skip
