"""Operations for people who look through everything; most feed the dashboard."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

from .. import __version__, times
from ..agents.access import Caller
from ..checks import filter_of
from ..engine import Engine
from ..errors import BadInput, RecollectError
from ..overview import Map, Pair
from ..remember.mention import known_in
from ..settings import PREFIX, Settings, load, shown
from ..store.browsing import Sieve
from ..store.census import Facets
from ..types import Entity, Memory, Page
from . import hooks, words
from .catalogue import OPERATIONS
from .folders import without_paths
from .memories import split


def sieve(caller: Caller, values: dict[str, Any]) -> Sieve:
    filters, places = split(values)
    trusts, sources = (tuple(filters.pop(name, None) or ()) for name in ("trusts", "sources"))
    return Sieve(filter_of(now=None, scope=caller.inside(places), inside=True, **filters), trusts, sources)


def whoami(engine: Engine, caller: Caller) -> dict[str, Any]:
    """Who asks, what they may do, and which operations this server has."""
    return {
        "actor": caller.actor, "tenant": caller.tenant, "can": sorted(caller.can), "wall": caller.wall,
        "home": caller.home, "token": bool(caller.token), "version": __version__, "head": engine.head,
        "operations": {one.name: one.path for one in OPERATIONS if one.right in caller.can},
    }  # fmt: skip


def browse(
    engine: Engine, caller: Caller, *, text: str = "", limit: int, cursor: str | None = None, **values: Any
) -> Page:
    return engine.overview.browse(sieve(caller, values), text, cursor, limit)


def facets(engine: Engine, caller: Caller, **values: Any) -> Facets:
    return engine.overview.facets(sieve(caller, values))


def recalled(engine: Engine, caller: Caller, *, limit: int, **places: Any) -> tuple[Memory, ...]:
    inside = filter_of(now=None, scope=caller.inside(places), inside=True, states=())
    return engine.overview.recalled(inside, limit)


def looks(engine: Engine, caller: Caller, *, after: int = 0, limit: int) -> dict[str, Any]:
    """The last looks from inside the caller's wall; `since` is when this server began to note them."""
    own = [one for one in engine.looks.after(after) if caller.asked(one.scope.user, one.scope.project)][-limit:]
    return {"since": times.iso(engine.looks.since), "looks": engine.overview.looked(own, caller.sees)}


def graph(
    engine: Engine, caller: Caller, *, focus: list[str] | None = None, depth: int, limit: int, **given: Any
) -> Map:
    def knows(entity: Entity) -> bool:
        return known_in(entity, caller.wall)

    return engine.overview.map(focus or [], depth, limit, given.get("as_of"), caller.sees, knows)


def disputes(engine: Engine, caller: Caller, *, limit: int) -> list[Pair]:
    return engine.overview.disputes(limit, caller.sees)


def twins(engine: Engine, caller: Caller, *, limit: int) -> list[Pair]:
    return engine.overview.twins(limit, caller.sees)


def secrets(engine: Engine, caller: Caller, *, limit: int) -> dict[str, Any]:
    return {"secrets": engine.overview.secrets(limit, caller.sees)}


def preview(engine: Engine, caller: Caller, *, prompt: str = "", said: list[str] | None = None, **places: Any) -> Any:
    return hooks.preview(engine, caller, caller.scope(places), prompt, said or [])


def checks(engine: Engine, caller: Caller) -> dict[str, Any]:
    return {"checks": without_paths(caller, engine.overview.checks(engine.model()[0]))}


def jobs(engine: Engine, caller: Caller, *, limit: int) -> dict[str, Any]:
    return {"jobs": without_paths(caller, list(engine.jobs.list(limit=limit)))}


def settings(engine: Engine, caller: Caller) -> dict[str, Any]:
    """Every setting as it is in force here, what it would be otherwise, and where it was set."""
    loaded, origin = load()
    found = []
    for one in fields(Settings):
        value, default = getattr(engine.settings, one.name), one.default
        given = value != getattr(loaded, one.name)
        found.append({
            "name": one.name, "value": shown(str(value)), "default": shown(str(default)),
            "origin": "argument" if given else origin[one.name], "meaning": one.metadata["sentence"],
            "variable": PREFIX + one.name.upper(),
        })  # fmt: skip
    return {"settings": without_paths(caller, found), "file": without_paths(caller, str(engine.settings.config_path))}


def assistants(engine: Engine, caller: Caller) -> dict[str, Any]:
    """Which assistants on this machine are connected."""
    from ..install import files, hosts
    from ..install.program import passed_on, script

    try:
        program, wrong = hosts.Program(script(), passed_on(*load())), ""
    except BadInput as error:
        program, wrong = hosts.Program(), error.message
    folders = hosts.Folders(os.environ, Path.home(), platform.system())
    found = []
    for host in hosts.HOSTS.values():
        try:
            state = "connected" if files.connected(host.name, program, folders, engine.settings.home) else ""
        except BadInput as error:
            state = error.message
        found.append({"host": host.name, "title": host.title, "state": state})
    return {"assistants": without_paths(caller, found), "problem": without_paths(caller, wrong)}


def try_models(engine: Engine, caller: Caller) -> dict[str, Any]:
    """Ask each model that is set up one short thing, and tell how long it took or what went wrong."""
    found = []
    for name, model, ask in (
        ("embedder", engine.settings.embedder, lambda: engine.recall("a question to try the model", limit=1).skipped),
        ("llm", engine.settings.llm, lambda: _complete(engine)),
    ):
        if not model or model == "off":
            found.append({"name": name, "model": model, "status": "off", "detail": "none is set up", "ms": 0.0})
            continue
        began = time.perf_counter()
        try:
            detail, status = ask(), "ok"
        except RecollectError as error:
            detail, status = f"{error.message} {error.fix}", "broken"
        missing = [one for one in detail if one.startswith("vector")] if isinstance(detail, tuple) else []
        told = detail if isinstance(detail, str) else "; ".join(missing)
        spent = round((time.perf_counter() - began) * 1000, 1)
        found.append({
            "name": name, "model": shown(model), "status": "broken" if missing else status, "detail": told, "ms": spent,
        })  # fmt: skip
    return {"models": without_paths(caller, found)}


def _complete(engine: Engine) -> str:
    llm = engine.spending.llm("extract", "test")
    if llm is None:
        return "none is set up"
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    llm.complete("Answer with one word as JSON.", [("user", "Say: ready")], schema, 50)
    return "it answered"


def _pairs(pairs: list[Pair], now: Any) -> str:
    return "\n\n".join(f"{words.plain(one.first, now)}\n{words.plain(one.second, now)}" for one in pairs)
