"""How tokens and webhooks look to a person."""

from __future__ import annotations

from typing import Any

from .. import ids, settings
from ..types import Token
from .commands import Asked, View
from .present import Look, plural


def _created(found: dict[str, Any], out: Look, asked: Asked) -> str:
    made: Token = found["token"]
    return "\n".join(
        [
            f"{out.paint('✓', 'green')} token {out.id(made.id)}: {_reach(made, out)}",
            "",
            f"  {out.paint(found['secret'], bold=True)}",
            "",
            *out.wrap("Keep it: it is not shown again. Send it as: Authorization: Bearer …", "  "),
        ]
    )


def _reach(made: Token, out: Look) -> str:
    where = [f"tenant {made.tenant}", *(f"{name} {value}" for name, value in made.scope.as_dict().items())]
    ends = f", ends {out.when(made.expires_at)}" if made.expires_at else ""
    return f"may {', '.join(made.can)} in {', '.join(where)}{ends}"


def _tokens(found: dict[str, Any], out: Look, asked: Asked) -> str:
    lines = []
    for one in found["tokens"]:
        state = f"revoked {out.ago(one.revoked_at)}" if one.revoked_at else _reach(one, out)
        used = f"last used {out.ago(one.last_used_at)}" if one.last_used_at else "never used"
        lines += out.wrap(f"{state} · {used}", " " * 10, first=f"{ids.short(one.id)}  {one.name or '(no name)'} · ")
    tenant = settings.load(**asked.app.given)[0].tenant
    return "\n".join(lines) or f"Tenant {tenant} has no token. Make one with: recollect token create"


def _revoked(found: dict[str, Any], out: Look, asked: Asked) -> str:
    return f"{out.paint('✓', 'green')} token {out.id(found['token'].id)} is revoked"


def _added(found: dict[str, Any], out: Look, asked: Asked) -> str:
    made = found["webhook"]
    key = [] if asked.given.get("secret") else [f"  the key of its signatures, which is not shown again: {made.secret}"]
    return "\n".join([f"{out.paint('✓', 'green')} webhook {out.id(made.id)}: {made.url}", *key])


def _webhooks(found: dict[str, Any], out: Look, asked: Asked) -> str:
    lines, head = [], found["head"]
    for one in found["webhooks"]:
        lines.append(f"{out.id(one.id)}  {one.url}")
        state = f"{plural(head - one.cursor, 'change')} to come" if head > one.cursor else "has everything"
        trouble = f"; failed {plural(one.failures, 'time')}: {one.error}" if one.failures else ""
        lines += out.wrap(f"{state}{trouble}", "          ")
    return "\n".join(lines) or "There is no webhook. Add one with: recollect webhook add URL"


def _removed(found: dict[str, Any], out: Look, asked: Asked) -> str:
    return f"{out.paint('✓', 'green')} no more changes go to {found['webhook'].url}"


VIEWS = {
    "token_create": View(_created),
    "token_list": View(_tokens),
    "token_revoke": View(_revoked),
    "webhook_add": View(_added),
    "webhook_list": View(_webhooks),
    "webhook_remove": View(_removed),
}
