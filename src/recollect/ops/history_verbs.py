"""Verbs of history: what each of its operations does with the engine for a caller, behind the caller's wall."""

from __future__ import annotations

from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import NotFound
from ..past import (
    Audit,
    Checkpoint,
    Differences,
    EntityState,
    Hold,
    Provenance,
    Retained,
    Retention,
    RolledBack,
    Sighting,
    TakenBack,
)
from ..types import EVERYWHERE, Scope
from .folders import seen
from .parameters import PLACES
from .verbs import find


def _split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    places = {name: values[name] for name in PLACES if name in values}
    return {name: value for name, value in values.items() if name not in PLACES}, places


def why(engine: Engine, caller: Caller, *, id: str, depth: int, limit: int) -> Provenance:
    bounds: dict[str, Any] = {"sees": caller.sees} if caller.walled else {}
    return engine.why(find(engine, caller, id).id, depth=depth, limit=limit, **bounds)


def rate(engine: Engine, caller: Caller, *, id: str, helped: bool, session: str = "") -> Sighting:
    return engine.rate(find(engine, caller, id).id, helped=helped, session=session)


def state(engine: Engine, caller: Caller, *, entity: str, **values: Any) -> EntityState:
    times, places = _split(values)
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
        _visible(engine, caller, name)
    return engine.checkpoints.diff(first, last, scope=_asked(caller, places), limit=limit)


def rollback(engine: Engine, caller: Caller, *, to: str, **values: Any) -> RolledBack:
    _visible(engine, caller, to)
    chosen, places = _split(values)
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


def _visible(engine: Engine, caller: Caller, name: str) -> None:
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
    return engine.policies.drop(id)


def retention_apply(engine: Engine, caller: Caller, *, dry_run: bool = False) -> Retained:
    caller.unwalled("A retention policy")
    return engine.policies.apply(dry_run=dry_run)
