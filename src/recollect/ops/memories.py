"""Memories: remembering, finding, changing and forgetting them.

Each verb applies the caller's wall: reads are narrowed to what they see, changes to what they own. A memory behind
somebody else's wall does not exist for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..agents.access import Caller
from ..checks import filter_of
from ..engine import Engine
from ..errors import Ambiguous, BadInput, NotFound
from ..history.asof import visible_rows
from ..recall.context import Context, Turn
from ..recall.fence import neutral
from ..remember.proposals import proposed
from ..store.browsing import Sieve
from ..types import (
    STATES,
    Captured,
    Draft,
    Entry,
    Forgotten,
    Link,
    Memory,
    Message,
    Page,
    Recall,
    Remembered,
    Source,
)
from . import words
from .folders import cited, left_out, seen, without_paths
from .parameters import PLACES
from .waiting import noted, waiting_note

MAX_CHANGES = 1000
MAX_PROPOSED = 20


def split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that are places, apart from the others."""
    places = {name: values[name] for name in PLACES if name in values}
    rest = {name: value for name, value in values.items() if name not in PLACES}
    if "any" in rest.get("states", ()):
        rest["states"] = list(STATES)
    if isinstance(rest.get("source"), dict):  # without an id: a source is named by what it is, not by whose it was
        rest["source"] = Source("", **rest["source"])
    return rest, places


def remember(engine: Engine, caller: Caller, *, content: str, merge: bool = False, **values: Any) -> Remembered:
    fields, places = split(values)
    if merge:
        caller.unwalled("Merging")
    scope = caller.place(places)
    if fields.get("refs"):
        fields["refs"], project = cited(engine, caller, fields["refs"], scope.project)
        scope = replace(scope, project=project)
    return engine.remember(content, merge=merge, scope=scope, **fields)


def remember_many(engine: Engine, caller: Caller, *, memories: Sequence[dict[str, Any]]) -> tuple[Remembered, ...]:
    drafts = []
    for given in memories:
        fields, places = split(given)
        if fields.pop("merge", False):
            raise BadInput("merge is for one memory at a time.", fix="Use remember for it.")
        scope = caller.place(places)
        if fields.get("refs"):
            fields["refs"], project = cited(engine, caller, fields["refs"], scope.project)
            scope = replace(scope, project=project)
        listed: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
        }
        drafts.append(Draft(scope=scope, **listed))
    return engine.remember_many(drafts)


def edit(engine: Engine, caller: Caller, *, id: str, reason: str = "", **values: Any) -> Memory:
    memory = caller.owned(find(engine, caller, id))
    fields, places = split(values)
    if fields.get("state") == "active" and memory.state in ("pending", "rejected"):
        caller.may("review", "Approving what waits, or was rejected,")
    if places:
        fields["scope"] = caller.moved(memory, places)
    if fields.get("refs"):
        fields["refs"], _ = cited(engine, caller, fields["refs"], memory.scope.project)
    return engine.edit(memory.id, reason=reason, **fields)


def forget(
    engine: Engine, caller: Caller, *, id: str | list[str] | None = None, query: str | None = None, purge: bool = False,
    dry_run: bool = False, reason: str = "", derived: str = "purge", **places: Any,
) -> Forgotten:  # fmt: skip
    if purge and not caller.model:
        caller.may("admin", "Erasing for good")
        caller.able("memory_delete", "Erasing for good")
    if id is not None and (query is not None or places):
        raise BadInput("Name what to forget: ids, or a query and a scope, not both.")
    if id is not None:
        given = [id] if isinstance(id, str) else id
        found: Sequence[Memory] = [caller.owned(find(engine, caller, one)) for one in given]
    elif query is not None:
        said = engine.forget(query=query, purge=purge, dry_run=True).memories
        inside = caller.listing(places)
        found = [memory for memory in said if inside.contains(memory.scope)]
    elif not any(places.values()):
        raise BadInput("Nothing to forget was named.", fix="Name ids, a query, or a project, branch, agent or session.")
    elif purge and not dry_run and not caller.model:
        return engine.forget(scope=caller.inside(places), purge=True, reason=reason, derived=derived)
    else:
        found = engine.forget(scope=caller.inside(places), purge=purge, dry_run=True).memories
    if not found:
        return Forgotten((), dry_run, purge)
    if purge and caller.model and not dry_run:
        return _propose(engine, "purge", found, reason)
    named = [memory.id for memory in found]
    return engine.forget(named, purge=purge, dry_run=dry_run, reason=reason, derived=derived)


def reject(engine: Engine, caller: Caller, *, id: str | list[str], reason: str = "", undo: bool = False) -> Forgotten:
    found = [caller.owned(find(engine, caller, one)) for one in ([id] if isinstance(id, str) else id)]
    if not found:
        raise BadInput("No id was given.", fix="Name the memories to reject.")
    if undo and caller.model:
        return _propose(engine, "unreject", [one for one in found if one.state == "rejected"], reason)
    if undo:
        caller.may("review", "Lifting a rejection")
    return engine.reject([one.id for one in found], reason=reason, undo=undo)


def _propose(engine: Engine, act: str, memories: Sequence[Memory], reason: str) -> Forgotten:
    """What a model may do instead of it: put it before a person."""
    if len(memories) > MAX_PROPOSED:
        raise BadInput(f"{len(memories)} proposals at once; the limit is {MAX_PROPOSED}.", fix="Name fewer memories.")
    return engine.propose(act, memories, reason=reason)


def capture(
    engine: Engine, caller: Caller, *, messages: Sequence[dict[str, Any]], origin: str = "api", later: bool = False,
    **places: Any,
) -> Captured:  # fmt: skip
    where = caller.place(places)
    if caller.walled:  # the names that others gave their turns say nothing about this caller's
        origin = "/".join((origin, *caller.wall.stored().places()[:2]))
    said = [Message(**{**one, "refs": tuple(one.get("refs") or ())}) for one in messages]
    return engine.capture(said, origin=origin, session=where.session, scope=where, later=later)


def pending(engine: Engine, caller: Caller, *, limit: int, cursor: str | None = None, **places: Any) -> Page:
    return engine.pending(scope=caller.inside(places), limit=limit, cursor=cursor)


def approve(
    engine: Engine, caller: Caller, *, id: str | list[str], into: str = "", reason: str = ""
) -> tuple[Memory, ...]:
    found = [caller.owned(find(engine, caller, one)) for one in ([id] if isinstance(id, str) else id)]
    if not found:
        raise BadInput("No id was given.", fix="Name the memories to approve.")
    if any((proposed(one) or ("",))[0] == "purge" for one in found):
        caller.may("admin", "Erasing for good")
        caller.able("memory_delete", "Erasing for good")
    target = caller.owned(find(engine, caller, into)).id if into else ""
    return engine.approve([one.id for one in found], into=target, reason=reason)


def link(engine: Engine, caller: Caller, *, origin: str, relation: str, target: str, reason: str = "") -> Link:
    first, second = find(engine, caller, origin), find(engine, caller, target)
    caller.owned(first)
    if relation == "supersedes":  # which takes the target out of recall
        caller.owned(second)
    return engine.link(first.id, relation, second.id, reason=reason)


def find(engine: Engine, caller: Caller, id: str) -> Memory:
    """The memory of an id that the caller sees; the look is not counted."""
    try:
        return caller.seen(engine.get(id, peek=True))
    except Ambiguous as error:
        if caller.walled:  # the ids it is the end of may be someone else's
            raise Ambiguous(f"{id!r} is the end of several ids.") from error
        raise


def looked(engine: Engine, caller: Caller, memories: Sequence[Memory | str], way: str) -> None:
    """Note a look at what another project owns, for who is at home elsewhere than the engine, which notes its own."""
    if caller.home.project != engine.settings.project:
        engine.saw(memories, way, here=caller.home, session=caller.home.session)


def recall(engine: Engine, caller: Caller, *, query: str, peek: bool = False, **values: Any) -> Recall:
    options, places = split(values)
    scope = seen(engine, caller, places)
    found = engine.recall(query, scope=scope, peek=peek, **options)
    if not peek:
        looked(engine, caller, [hit.memory for hit in found.hits], "recall")
    return replace(found, skipped=(*found.skipped, *left_out(engine, caller, places, scope)))


def context(engine: Engine, caller: Caller, *, history: Sequence[dict[str, Any]] = (), **values: Any) -> Context:
    options, places = split(values)
    turns = [Turn(turn["role"], turn["text"]) for turn in history]
    scope, note = seen(engine, caller, places), waiting_note(engine, caller)
    with engine.watch.span("recollect.context"):
        made = noted(note, options, lambda: engine.context(scope=scope, history=turns, **options))
    looked(engine, caller, [id for block in made.blocks for id in block.memories], "context")
    return replace(made, skipped=(*made.skipped, *left_out(engine, caller, places, scope)))


def get(engine: Engine, caller: Caller, *, id: str, peek: bool = False, **back: Any) -> Memory:
    # Where it was then may have been another's: what was seen is asked again.
    found = caller.seen(engine.get(find(engine, caller, id).id, peek=peek, **back))
    looked(engine, caller, [found], "get")
    return found


def list_(engine: Engine, caller: Caller, *, limit: int, cursor: str | None = None, **values: Any) -> Page:
    filters, places = split(values)
    scope = caller.listing(places)
    page = engine.list(scope=scope, limit=limit, cursor=cursor, **filters)
    looked(engine, caller, page.memories, "list")
    return replace(page, skipped=(*page.skipped, *left_out(engine, caller, places, scope, inside=True)))


def links(engine: Engine, caller: Caller, *, id: str) -> tuple[Link, ...]:
    found = engine.links(find(engine, caller, id).id)
    if not caller.walled:
        return found
    return tuple(one for one in found if _visible(engine, caller, one.origin) and _visible(engine, caller, one.target))


def evidence(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    source, quotes = engine.evidence(find(engine, caller, id).id)
    return {"source": source, "evidence": quotes}


def history(engine: Engine, caller: Caller, *, id: str) -> tuple[Entry, ...]:
    # What was purged has no place any more: only those without a wall may look at its blanked history.
    if not caller.walled:
        return engine.history(id)
    return tuple(visible_rows(engine.history(find(engine, caller, id).id), caller.wall.sees))


def changes(engine: Engine, caller: Caller, *, after: int, limit: int) -> dict[str, Any]:
    entries = engine.changes(after=after, limit=limit)
    last = entries[-1].seq if entries else after
    return {"changes": visible_changes(engine, caller, entries), "after": last}


def visible_changes(engine: Engine, caller: Caller, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The rows a caller may be told of: all of them, or those of memories they see and saw then."""
    if not caller.walled:
        return tuple(entries)
    named = {one.target for one in entries if one.noun == "memory" and not one.purged}
    ids = [id for id in named if _visible(engine, caller, id)]
    told = {row.seq: row for id in ids for row in visible_rows(engine.history(id), caller.wall.sees)}
    return tuple(told[one.seq] for one in entries if one.seq in told)


def stats(engine: Engine, caller: Caller) -> dict[str, Any]:
    told: dict[str, Any] = without_paths(caller, engine.stats(scope=caller.wall if caller.walled else None))
    return told


def tags(engine: Engine, caller: Caller, *, limit: int, **places: Any) -> dict[str, int]:
    inside = filter_of(now=None, scope=caller.listing(places), inside=True)
    return _most_used(engine.overview.facets(Sieve(inside)).tags, limit)


def projects(engine: Engine, caller: Caller, *, limit: int) -> dict[str, int]:
    inside = filter_of(now=None, scope=caller.inside({}), inside=True)
    return _most_used(engine.overview.facets(Sieve(inside)).projects, limit)


def _most_used(found: Mapping[str, int], limit: int) -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit])


def counted_projects(found: Mapping[str, int], now: datetime) -> str:
    return (
        counted_tags({name or "(no project)": count for name, count in found.items()}, now) if found else "No memories."
    )


def counted_tags(found: Mapping[str, int], now: datetime) -> str:
    return "\n".join(f"{count} {neutral(tag)}" for tag, count in found.items()) or "No tags."


def changed_rows(result: dict[str, Any], now: datetime) -> str:
    return words.history(result["changes"], now)


def _visible(engine: Engine, caller: Caller, id: str) -> bool:
    try:
        return caller.sees(engine.get(id, peek=True))
    except NotFound:
        return False
