"""Verbs: what each operation does with the engine for a caller.

A verb gets the tenant's engine and the caller, and parameters that `parameters.read` has checked. It holds the caller's
wall: what they read is narrowed to what they see, what they change to what they own. A memory behind someone else's
wall answers like one that does not exist.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import Ambiguous, BadInput, NotFound
from ..exchange import Imported
from ..history.asof import visible_rows
from ..recall.context import Context, Turn
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
from .folders import cited, left_out, seen, without_paths
from .parameters import PLACES

MAX_CHANGES = 1000
PIECE = 65_536


def split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that are places, apart from the others."""
    places = {name: values[name] for name in PLACES if name in values}
    rest = {name: value for name, value in values.items() if name not in PLACES}
    if "any" in rest.get("states", ()):
        rest["states"] = list(STATES)
    if isinstance(rest.get("source"), dict):  # without an id: a source is named by what it is, not by whose it was
        rest["source"] = Source("", **rest["source"])
    return rest, places


# -- writing ----------------------------------------------------------------------------------------------------------


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
    if places:
        fields["scope"] = caller.moved(memory, places)
    if fields.get("refs"):
        fields["refs"], _ = cited(engine, caller, fields["refs"], memory.scope.project)
    return engine.edit(memory.id, reason=reason, **fields)


def forget(
    engine: Engine, caller: Caller, *, id: str | list[str] | None = None, query: str | None = None, purge: bool = False,
    dry_run: bool = False, reason: str = "", derived: str = "purge", **places: Any,
) -> Forgotten:  # fmt: skip
    if purge:
        caller.may("admin", "Erasing for good")
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
    elif purge and not dry_run:
        return engine.forget(scope=caller.inside(places), purge=True, reason=reason, derived=derived)
    else:
        found = engine.forget(scope=caller.inside(places), purge=purge, dry_run=True).memories
    if not found:
        return Forgotten((), dry_run, purge)
    named = [memory.id for memory in found]
    return engine.forget(named, purge=purge, dry_run=dry_run, reason=reason, derived=derived)


def reject(engine: Engine, caller: Caller, *, id: str | list[str], reason: str = "", undo: bool = False) -> Forgotten:
    found = [caller.owned(find(engine, caller, one)).id for one in ([id] if isinstance(id, str) else id)]
    if not found:
        raise BadInput("No id was given.", fix="Name the memories to reject.")
    return engine.reject(found, reason=reason, undo=undo)


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
    found = [caller.owned(find(engine, caller, one)).id for one in ([id] if isinstance(id, str) else id)]
    if not found:
        raise BadInput("No id was given.", fix="Name the memories to approve.")
    target = caller.owned(find(engine, caller, into)).id if into else ""
    return engine.approve(found, into=target, reason=reason)


def link(engine: Engine, caller: Caller, *, origin: str, relation: str, target: str, reason: str = "") -> Link:
    first, second = find(engine, caller, origin), find(engine, caller, target)
    caller.owned(first)
    if relation == "supersedes":  # which takes the target out of recall
        caller.owned(second)
    return engine.link(first.id, relation, second.id, reason=reason)


# -- reading ----------------------------------------------------------------------------------------------------------


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
    scope = seen(engine, caller, places)
    with engine.watch.span("recollect.context"):
        made = engine.context(scope=scope, history=turns, **options)
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


def _visible(engine: Engine, caller: Caller, id: str) -> bool:
    try:
        return caller.sees(engine.get(id, peek=True))
    except NotFound:
        return False


# -- moving and keeping -----------------------------------------------------------------------------------------------


def export(engine: Engine, caller: Caller, *, journal: bool = False, reference: bool = False) -> Iterator[str]:
    """The lines, in pieces: written to a file first, so that they are of one moment."""
    caller.unwalled("An export")
    folder = tempfile.TemporaryDirectory(prefix="recollect-")
    path = Path(folder.name, "export.jsonl")
    try:
        engine.export(path, journal=journal, reference=reference)
    except BaseException:
        folder.cleanup()
        raise
    return _pieces(folder, path)


def _pieces(folder: tempfile.TemporaryDirectory[str], path: Path) -> Iterator[str]:
    with folder, path.open(encoding="utf-8") as lines:
        while piece := lines.read(PIECE):
            yield piece


def import_(
    engine: Engine, caller: Caller, *, lines: str, embed: bool = True, trust: str = "unverified"
) -> Imported:  # fmt: skip
    caller.unwalled("An import")
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        path = Path(folder, "import.jsonl")
        path.write_text(lines, "utf-8", errors="replace")
        try:
            return engine.import_(path, embed=embed, trust=trust)
        except BadInput as error:
            error.message = error.message.replace(f"{path}", "lines")
            raise


def embed(engine: Engine, caller: Caller) -> dict[str, Any]:
    caller.unwalled("Embedding")
    return {"embedded": engine.embed()}


def mend(engine: Engine, caller: Caller) -> dict[str, Any]:
    caller.unwalled("Mending")
    engine.mend()
    return {"mended": ["full text"]}


# -- access -----------------------------------------------------------------------------------------------------------


def token_create(engine: Engine, caller: Caller, *, can: list[str], name: str = "", **values: Any) -> dict[str, Any]:
    """A caller behind a wall makes tokens behind the same wall, with no right of which they have none."""
    places = {field: values.get(field, "") or getattr(caller.wall.stored(), field) for field in ("user", "project")}
    caller.inside(places)
    for right in can:
        caller.may(right, "Giving a right")
    token, secret = engine.tokens.create(name=name, can=can, expires_at=values.get("expires_at"), **places)
    return {"token": token, "secret": secret}


def token_list(engine: Engine, caller: Caller) -> dict[str, Any]:
    found = [one for one in engine.tokens.all() if caller.wall.contains(one.scope)]
    return {"tokens": found}


def token_revoke(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    return {"token": engine.tokens.revoke(id, inside=caller.wall)}


def webhook_add(
    engine: Engine, caller: Caller, *, url: str, operations: list[str] | None = None, secret: str = ""
) -> dict[str, Any]:
    caller.unwalled("A webhook")
    # Only the person at this machine may have it call what lies on this machine or its network.
    made = engine.webhooks.add(url, operations or (), secret, private=not caller.token)
    return {"webhook": made, "secret": made.secret}


def webhook_list(engine: Engine, caller: Caller) -> dict[str, Any]:
    caller.unwalled("A webhook")
    return {"webhooks": engine.webhooks.all()}


def webhook_remove(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    caller.unwalled("A webhook")
    return {"webhook": engine.webhooks.remove(id)}
