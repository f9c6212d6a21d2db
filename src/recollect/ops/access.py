"""Access: tokens that let others in, and webhooks that tell others of every change."""

from __future__ import annotations

from typing import Any

from ..agents.access import Caller
from ..engine import Engine


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
    # Only the person at this machine may have it call what lies on this machine or its network.
    made = engine.webhooks.add(url, operations or (), secret, private=not caller.token)
    return {"webhook": made, "secret": made.secret}


def webhook_list(engine: Engine, caller: Caller) -> dict[str, Any]:
    return {"webhooks": engine.webhooks.all(), "head": engine.head}


def webhook_remove(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    return {"webhook": engine.webhooks.remove(id)}
