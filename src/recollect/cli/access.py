"""The commands that let others in and tell others: `token` and `webhook`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from .. import ids
from ..types import Token, Webhook
from .present import Look, plural
from .program import App, cli, command, several
from .terminal import Moment


@cli.group()
def token() -> None:
    """Let a program or person from elsewhere in, and out again."""


def _tenant(app: App, tenant: str | None) -> None:
    app.given["tenant"] = tenant or app.given["tenant"]


@command("create", group=token)
@click.option("--tenant", metavar="NAME", help="Whose memories; the setting's unless told.")
@click.option("--user", metavar="NAME", help="Only this user's memories.")
@click.option("--project", metavar="NAME", help="Only this project's memories.")
@click.option(
    "--can", default="read", show_default=True, metavar="RIGHTS", help="read, write, admin: several by commas."
)
@click.option("--expires", "expires_at", type=Moment(ahead=True), help="When it ends: a time, or 30d from now.")
@click.option("--name", default="", help="What it is for.")
def create(
    app: App,
    tenant: str | None,
    user: str | None,
    project: str | None,
    can: str,
    expires_at: datetime | None,
    name: str,
) -> None:
    """Make a token and show its secret, once."""
    _tenant(app, tenant)
    rights = [right.strip() for right in can.split(",") if right.strip()]
    with app.open() as engine:
        made, secret = engine.tokens.create(
            name=name, can=rights, user=user or app.given["user"] or "", project=project or app.given["project"] or "",
            expires_at=expires_at,
        )  # fmt: skip
    app.say({"token": made, "secret": secret}, lambda _, out: _created(made, secret, out))


def _created(made: Token, secret: str, out: Look) -> str:
    return "\n".join(
        [
            f"{out.paint('✓', 'green')} token {out.id(made.id)}: {_reach(made, out)}",
            "",
            f"  {out.paint(secret, bold=True)}",
            "",
            *out.wrap("Keep it: it is not shown again. Send it as: Authorization: Bearer …", "  "),
        ]
    )


def _reach(made: Token, out: Look) -> str:
    where = [f"tenant {made.tenant}", *(f"{name} {value}" for name, value in made.scope.as_dict().items())]
    ends = f", ends {out.when(made.expires_at)}" if made.expires_at else ""
    return f"may {', '.join(made.can)} in {', '.join(where)}{ends}"


@command("list", group=token)
@click.option("--tenant", metavar="NAME", help="Whose tokens; the setting's tenant unless told.")
def list_(app: App, tenant: str | None) -> None:
    """Show the tokens, without their secrets."""
    _tenant(app, tenant)
    with app.open() as engine:
        found, whose = engine.tokens.all(), engine.settings.tenant
    app.say({"tokens": found}, lambda _, out: _tokens(found, whose, out))


def _tokens(found: Sequence[Token], tenant: str, out: Look) -> str:
    lines = []
    for one in found:
        state = f"revoked {out.ago(one.revoked_at)}" if one.revoked_at else _reach(one, out)
        used = f"last used {out.ago(one.last_used_at)}" if one.last_used_at else "never used"
        lines += out.wrap(f"{state} · {used}", " " * 10, first=f"{ids.short(one.id)}  {one.name or '(no name)'} · ")
    return "\n".join(lines) or f"Tenant {tenant} has no token. Make one with: recollect token create"


@command("revoke", group=token)
@click.argument("id")
@click.option("--tenant", metavar="NAME", help="Whose token; the setting's tenant unless told.")
def revoke(app: App, id: str, tenant: str | None) -> None:
    """End a token at once."""
    _tenant(app, tenant)
    with app.open() as engine:
        ended = engine.tokens.revoke(id)
    app.say({"token": ended}, lambda _, out: f"{out.paint('✓', 'green')} token {out.id(ended.id)} is revoked")


@cli.group()
def webhook() -> None:
    """Have every change posted to an address."""


@command("add", group=webhook)
@click.argument("url")
@several("--operation", "operations", metavar="NAME", help="Only these: create, edit, forget, …")
@click.option("--secret", default="", help="The key of the signature; made when not told.")
def add(app: App, url: str, operations: tuple[str, ...], secret: str) -> None:
    """Post every change from now on to URL, signed."""
    with app.open() as engine:
        made = engine.webhooks.add(url, operations, secret)
    data: dict[str, Any] = {"webhook": made, "secret": made.secret}
    key = [f"  the key of its signatures, which is not shown again: {made.secret}"] if not secret else []
    app.say(data, lambda _, out: "\n".join([f"{out.paint('✓', 'green')} webhook {out.id(made.id)}: {made.url}", *key]))


@command("list", group=webhook)
def hooks(app: App) -> None:
    """Show where changes are posted to, and how far each has come."""
    with app.open() as engine:
        found, head = engine.webhooks.all(), engine.head
    app.say({"webhooks": found, "head": head}, lambda _, out: _webhooks(found, head, out))


def _webhooks(found: Sequence[Webhook], head: int, out: Look) -> str:
    lines = []
    for one in found:
        lines.append(f"{out.id(one.id)}  {one.url}")
        state = f"{plural(head - one.cursor, 'change')} to come" if head > one.cursor else "has everything"
        trouble = f"; failed {plural(one.failures, 'time')}: {one.error}" if one.failures else ""
        lines += out.wrap(f"{state}{trouble}", "          ")
    return "\n".join(lines) or "There is no webhook. Add one with: recollect webhook add URL"


@command("remove", group=webhook)
@click.argument("id")
def remove(app: App, id: str) -> None:
    """Stop posting changes to an address."""
    with app.open() as engine:
        gone = engine.webhooks.remove(id)
    app.say({"webhook": gone}, lambda _, out: f"{out.paint('✓', 'green')} no more changes go to {gone.url}")
