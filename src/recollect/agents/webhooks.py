"""Webhooks: the addresses of a tenant that changes are posted to. `serve/deliveries.py` does the posting."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from .. import ids
from ..checks import MAX_NAME, Cleaner
from ..errors import Ambiguous, BadInput, NotFound, TooLarge
from ..store.contract import Store
from ..types import Webhook

MAX_URL = 2000
MAX_WEBHOOKS = 20
MIN_SECRET = 16


@dataclass(frozen=True, slots=True)
class Webhooks:
    _store: Store
    _tenant: str
    _actor: str
    _now: Callable[[], datetime]
    _new_id: Callable[[datetime], str]

    def add(self, url: str, operations: Sequence[str] = (), secret: str = "", *, private: bool = True) -> Webhook:
        """Post every change from now on to an address; the secret that signs is made when not given."""
        cleaner = Cleaner(MAX_URL)
        address = cleaner.text(url, "url", MAX_URL)
        _check(address)
        wanted = cleaner.texts(list(operations), "operations", 50, MAX_NAME)
        if secret and not MIN_SECRET <= len(secret) <= MAX_NAME:
            raise BadInput(f"secret must have from {MIN_SECRET} to {MAX_NAME} characters.")
        if len(self.all()) >= MAX_WEBHOOKS:
            raise TooLarge(f"There are {MAX_WEBHOOKS} webhooks, which is the limit.", fix="Remove one first.")
        now = self._now()
        with self._store.transaction(self._tenant, self._actor, now) as changes:
            key = cleaner.text(secret, "secret", MAX_NAME) or secrets.token_urlsafe(32)
            head = self._store.head(self._tenant)
            webhook = Webhook(
                self._new_id(now), self._tenant, address, wanted, key, private, cursor=head, created_at=now
            )  # fmt: skip
            changes.put_webhook(webhook)
        return webhook

    def all(self) -> list[Webhook]:
        return self._store.webhooks(self._tenant)

    def everyone(self) -> list[Webhook]:
        """Those of every tenant, for whoever delivers."""
        return self._store.webhooks(None)

    def moved(self, webhook: Webhook) -> None:
        """Keep how far one has come."""
        self._store.moved(webhook)

    def remove(self, id: str) -> Webhook:
        found = [webhook for webhook in self.all() if ids.plausible(id) and webhook.id.endswith(id)]
        if not found:
            raise NotFound(f"No webhook has the id {id!r:.60}.", fix="List them with: recollect webhook list")
        if len(found) > 1:
            raise Ambiguous(f"{id!r} is the end of several ids.")
        with self._store.transaction(self._tenant, self._actor, self._now()) as changes:
            changes.drop_webhook(found[0].id)
        return found[0]


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise BadInput(f"url {url!r:.100} is not an address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"url {url!r:.100} is not an http or https address.")
    if parts.username or parts.password:
        raise BadInput("url must not hold a name or password.", fix="The signature tells who sends.")
    if not url.isascii() or any(letter.isspace() for letter in url):
        raise BadInput("url may hold only ASCII, without blanks.", fix="Encode it as a browser does.")
