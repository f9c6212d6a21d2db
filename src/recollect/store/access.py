"""Tokens and webhooks of every store: who may come in, and where changes are posted to.

They are not knowledge: no export holds them and no replay makes them. The journal has a note when one was made, changed
or removed.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .. import times
from ..types import Scope, Token, Webhook
from .attendance import ATTEND, Attendance, session_row
from .rows import to_json

TOKEN_COLUMNS = 'tenant, id, name, "user", project, can, created_at, expires_at, revoked_at, last_used_at'
TOKENS = f"select {TOKEN_COLUMNS} from token where tenant = :tenant order by id"
TOKEN = f"select sha256, {TOKEN_COLUMNS} from token where sha256 = :sha256"
PUT_TOKEN = """
    insert into token (tenant, id, sha256, name, "user", project, can, created_at, expires_at, revoked_at)
    values (:tenant, :id, :sha256, :name, :user, :project, :can, :created_at, :expires_at, :revoked_at)
    on conflict (tenant, id) do update set name = excluded.name, revoked_at = excluded.revoked_at"""
WHOLE_TOKENS = f"select sha256, {TOKEN_COLUMNS} from token where tenant = :tenant order by id"
TOKEN_USED = "update token set last_used_at = :last_used_at where tenant = :tenant and id = :id"

WEBHOOK_COLUMNS = "tenant, id, url, operations, secret, private, cursor, failures, error, next_at, created_at"
WEBHOOKS = f"select {WEBHOOK_COLUMNS} from webhook where tenant = :tenant order by id"
PUT_WEBHOOK = """
    insert into webhook (tenant, id, url, operations, secret, private, cursor, failures, error, next_at, created_at)
    values (:tenant, :id, :url, :operations, :secret, :private, :cursor, :failures, :error, :next_at, :created_at)"""
WEBHOOK_MOVED = """
    update webhook set cursor = :cursor, failures = :failures, error = :error, next_at = :next_at
    where tenant = :tenant and id = :id"""
DROP_WEBHOOK = "delete from webhook where tenant = :tenant and id = :id"
RESTORE = {
    "token": """
        insert into token (tenant, id, sha256, name, "user", project, can, created_at, expires_at, revoked_at,
          last_used_at)
        values (:tenant, :id, :sha256, :name, :user, :project, :can, :created_at, :expires_at, :revoked_at,
          :last_used_at)
        on conflict (tenant, id) do update set name = excluded.name, revoked_at = excluded.revoked_at,
          last_used_at = excluded.last_used_at""",
    "webhook": f"""{PUT_WEBHOOK}
        on conflict (tenant, id) do update set cursor = excluded.cursor, failures = excluded.failures,
          error = excluded.error, next_at = excluded.next_at""",
    "session": ATTEND.replace("do update set", "do update set started_at = excluded.started_at,"),
}
ALL = 2**31


class Access(Attendance):
    """The part of a store that keeps tokens and webhooks."""

    @abstractmethod
    def _find_token(self, sha256: str) -> list[tuple[Any, ...]]:
        """The row of a token by its hash, whatever its tenant."""

    def tokens(self, tenant: str | None) -> list[Token]:
        """The tokens of a tenant; None is all of them, for whoever opens a door."""
        return [_token(row) for one in self._whose(tenant) for row in self._query(TOKENS, tenant=one)]

    def token(self, sha256: str) -> tuple[Token, str] | None:
        """The token of a secret's hash, of whichever tenant, with the hash as it is stored."""
        for row in self._find_token(sha256):
            return _token(row[1:]), str(row[0])
        return None

    def webhooks(self, tenant: str | None) -> list[Webhook]:
        """The webhooks of a tenant; None is all of them, for whoever delivers."""
        return [_webhook(row) for one in self._whose(tenant) for row in self._query(WEBHOOKS, tenant=one)]

    def moved(self, noun: Token | Webhook) -> None:
        """Write when a token was last used, or how far a webhook has come: not journalled."""
        if isinstance(noun, Token):
            values = {"tenant": noun.tenant, "id": noun.id, "last_used_at": _micros(noun.last_used_at)}
            self._alter(noun.tenant, TOKEN_USED, [values])
        else:
            row = webhook_row(noun)
            names = ("tenant", "id", "cursor", "failures", "error", "next_at")
            self._alter(noun.tenant, WEBHOOK_MOVED, [{name: row[name] for name in names}])

    def doors(self, tenant: str) -> list[dict[str, Any]]:
        """Tokens, webhooks and sessions of agents as they lie here, with hashes and secrets: for a copy of it."""
        tokens = ({"door": "token", **token_row(_token(row[1:]), str(row[0])), "last_used_at": row[-1]}
                  for row in self._query(WHOLE_TOKENS, tenant=tenant))  # fmt: skip
        webhooks = ({"door": "webhook", **webhook_row(one)} for one in self.webhooks(tenant))
        sessions = ({"door": "session", **session_row(tenant, one)} for one in self.attended(tenant, limit=ALL))
        return [*tokens, *webhooks, *sessions]

    def restore_doors(self, tenant: str, doors: Sequence[Mapping[str, Any]]) -> None:
        """Set tokens and webhooks as they lie in another store, and drop the webhooks that do not."""
        for door, statement in RESTORE.items():
            self._alter(tenant, statement, [row for row in doors if row["door"] == door])
        there = {row["id"] for row in doors if row["door"] == "webhook"}
        gone = [{"tenant": tenant, "id": one.id} for one in self.webhooks(tenant) if one.id not in there]
        self._alter(tenant, DROP_WEBHOOK, gone)

    def _whose(self, tenant: str | None) -> list[str]:
        return self.tenants() if tenant is None else [tenant]


def token_row(token: Token, sha256: str) -> dict[str, Any]:
    return {
        "tenant": token.tenant, "id": token.id, "sha256": sha256, "name": token.name, "user": token.scope.user,
        "project": token.scope.project, "can": to_json(token.can), "created_at": times.micros(token.created_at),
        "expires_at": _micros(token.expires_at), "revoked_at": _micros(token.revoked_at),
    }  # fmt: skip


def webhook_row(webhook: Webhook) -> dict[str, Any]:
    return {
        "tenant": webhook.tenant, "id": webhook.id, "url": webhook.url, "operations": to_json(webhook.operations),
        "secret": webhook.secret, "private": int(webhook.private), "cursor": webhook.cursor,
        "failures": webhook.failures, "error": webhook.error, "next_at": _micros(webhook.next_at),
        "created_at": times.micros(webhook.created_at),
    }  # fmt: skip


def _token(row: Sequence[Any]) -> Token:
    tenant, id, name, user, project, can, *moments = row
    created, expires, revoked, used = (None if value is None else times.moment(value) for value in moments)
    rights = tuple(json.loads(can))
    return Token(id, tenant, name, Scope(user, project), rights, created or times.EPOCH, expires, revoked, used)


def _webhook(row: Sequence[Any]) -> Webhook:
    tenant, id, url, operations, secret, private, cursor, failures, error, next_at, created = row
    due = None if next_at is None else times.moment(next_at)
    return Webhook(
        id, tenant, url, tuple(json.loads(operations)), secret, bool(private), cursor, failures, error, due,
        times.moment(created),
    )  # fmt: skip


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else times.micros(moment)
