"""Access: tokens that let others in, and webhooks that tell others of every change."""

from __future__ import annotations

from typing import Any

from ..agents.access import RIGHTS, Caller
from ..engine import Engine
from ..types import Token, Webhook
from . import words
from .operation import Operation, P


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
    return {"webhooks": engine.webhooks.all(), "head": engine.head}


def webhook_remove(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    caller.unwalled("A webhook")
    return {"webhook": engine.webhooks.remove(id)}


# -- operations -------------------------------------------------------------------------------------------------------

GROUPS = {
    "token": "Let a program or person from elsewhere in, and out again.",
    "webhook": "Have every change posted to an address.",
}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "token_create", "Create a token", "Make a token for another program or person.",
        "The secret is told once, in the answer.",
        (
            P("can", "texts", "The rights: read, write, review, admin.", ("read",), choices=RIGHTS),
            P("name", "text", "What it is for.", ""),
            P("user", "text", "Only this user's memories.", None),
            P("project", "text", "Only this project's memories.", None),
            P("expires_at", "later", "When it ends: a time with its zone, a day, or 30d from now.", None,
              aliases=("expires",), cli="--expires"),
        ),
        token_create, words.plain, "POST", "/v1/tokens", {"token": Token, "secret": str},
        right="admin", no_mcp="a model must not hand out access", cli="token create", status=201,
        tenant=True,
    ),
    Operation(
        "token_list", "List tokens", "The tokens there are, without their secrets.", "Revoked ones are among them.",
        (),
        token_list, words.plain, "GET", "/v1/tokens", {"tokens": [Token]},
        right="admin", read_only=True, idempotent=True, no_mcp="a model must not hand out access", cli="token list",
        tenant=True,
    ),
    Operation(
        "token_revoke", "Revoke a token", "End a token at once.", "The row stays, with the time.",
        (P("id", "text", "The id of the token, or at least its last 4 characters.", cli="ID"),),
        token_revoke, words.plain, "DELETE", "/v1/tokens/{id}", {"token": Token},
        right="admin", destructive=True, idempotent=True, no_mcp="a model must not hand out access",
        cli="token revoke", tenant=True,
    ),
    Operation(
        "webhook_add", "Add a webhook", "Have every change posted to an address, signed.",
        "Changes are sent in order, from now on, and retried until the address takes them.",
        (
            P("url", "text", "An http or https address.", cli="URL"),
            P("operations", "texts", "Only these operations: create, edit, forget, …", None, cli="--operation"),
            P("secret", "text", "The key of the signature; made when not told.", ""),
        ),
        webhook_add, words.plain, "POST", "/v1/webhooks", {"webhook": Webhook, "secret": str},
        right="admin", no_mcp="a model must not send memories elsewhere", cli="webhook add", status=201,
    ),
    Operation(
        "webhook_list", "List webhooks", "Where changes are posted to, and how far each has come.", "Without secrets.",
        (),
        webhook_list, words.plain, "GET", "/v1/webhooks", {"webhooks": [Webhook], "head": int},
        right="admin", read_only=True, idempotent=True, no_mcp="a model must not send memories elsewhere",
        cli="webhook list",
    ),
    Operation(
        "webhook_remove", "Remove a webhook", "Stop posting changes to an address.", "By the id of the webhook.",
        (P("id", "text", "The id of the webhook, or at least its last 4 characters.", cli="ID"),),
        webhook_remove, words.plain, "DELETE", "/v1/webhooks/{id}", {"webhook": Webhook},
        right="admin", destructive=True, idempotent=True, no_mcp="a model must not send memories elsewhere",
        cli="webhook remove",
    ),
)  # fmt: skip
