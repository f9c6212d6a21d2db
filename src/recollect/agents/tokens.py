"""Tokens: how a program or person from elsewhere is known.

A secret is `rcl_` and 256 random bits. It is told once, when it is made; the store keeps its SHA-256, which needs no
salt because nothing shorter than the secret itself can be guessed. A token names its tenant, a user and a project (the
wall), rights, and when it ends. Making and revoking one stands in the journal.

`Gatekeeper` is the look-up of every request: it remembers good secrets for a few seconds, so that a revocation counts
almost at once and a busy client costs no query, and it counts: each token, and each address that came with a wrong
secret, has a bucket of requests that refills steadily.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .. import ids, times
from ..checks import MAX_NAME, Cleaner, one_of
from ..errors import Ambiguous, BadInput, NotFound, RateLimited, StoreUnavailable, Unauthorised
from ..redact import redact
from ..store.contract import Store
from ..types import EVERYWHERE, Scope, Token
from .access import RIGHTS, Caller

PREFIX = "rcl_"
MAX_SECRET = 200
REMEMBERED = timedelta(seconds=5)
USED_EVERY = timedelta(minutes=1)
WRONG_A_MINUTE = 20
MOST_KNOWN = 4096
log = logging.getLogger("recollect")


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens of one tenant."""

    _store: Store
    _tenant: str
    _actor: str
    _now: Callable[[], datetime]
    _new_id: Callable[[datetime], str]

    def create(
        self, *, name: str = "", can: Sequence[str] = ("read",), user: str = "", project: str = "",
        expires_at: datetime | str | None = None,
    ) -> tuple[Token, str]:  # fmt: skip
        """A new token and its secret, which is nowhere else from now on."""
        cleaner = Cleaner(MAX_NAME, redact)
        scope = Scope(*(cleaner.text(value, what, MAX_NAME) for value, what in ((user, "user"), (project, "project"))))
        rights = tuple(right for right in RIGHTS if right in {one_of(given, RIGHTS, "right") for given in can})
        if not rights:
            raise BadInput("A token needs a right.", fix=f"Rights are: {', '.join(RIGHTS)}.")
        now = self._now()
        ends = None if expires_at is None else times.aware(expires_at, "expires_at")
        if ends and ends <= now:
            raise BadInput("The token would have ended already.", fix="Name a time to come, such as 30d.")
        label = cleaner.text(name, "name", MAX_NAME)
        token = Token(self._new_id(now), self._tenant, label, scope, rights, now, ends)
        secret = PREFIX + secrets.token_urlsafe(32)
        with self._store.transaction(self._tenant, self._actor, now) as changes:
            changes.put_token(token, digest(secret))
        return token, secret

    def all(self) -> list[Token]:
        return self._store.tokens(self._tenant)

    def revoke(self, id: str, *, inside: Scope = EVERYWHERE) -> Token:
        """End a token, by its id or the last characters of it; only one inside a scope."""
        within = [token for token in self.all() if inside.contains(token.scope)]
        found = [token for token in within if ids.plausible(id) and token.id.endswith(id)]
        if not found:
            raise NotFound(f"No token has the id {id!r:.60}.", fix="List them with: recollect token list")
        if len(found) > 1:
            raise Ambiguous(f"{id!r} is the end of several ids.")
        if found[0].revoked_at:
            return found[0]
        now = self._now()
        ended = replace(found[0], revoked_at=now)
        with self._store.transaction(self._tenant, self._actor, now) as changes:
            changes.put_token(ended)
        return ended

    def end(self, user: str) -> tuple[str, ...]:
        """End every token of a user; gives their ids."""
        theirs = [token for token in self.all() if token.scope.user == user and not token.revoked_at]
        return tuple(self.revoke(token.id).id for token in theirs)


@dataclass(slots=True)
class Bucket:
    """So many requests may come at once, and as many again a minute."""

    left: float
    at: datetime

    def waits(self, size: int, now: datetime) -> float:
        """The seconds until there is one to take."""
        rate = size / 60
        self.left = min(size, self.left + max(0.0, (now - self.at).total_seconds()) * rate)
        self.at = now
        return max(0.0, (1 - self.left) / rate)

    def take(self, size: int, now: datetime) -> float:
        """Take one; gives the seconds to wait when there is none."""
        wait = self.waits(size, now)
        if not wait:
            self.left -= 1
        return wait


class Gatekeeper:
    def __init__(self, store: Store, now: Callable[[], datetime], a_minute: int) -> None:
        self._store = store
        self._now = now
        self._a_minute = a_minute
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Token, datetime]] = OrderedDict()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def expected(self) -> bool:
        """Whether there is a token, of any tenant, with which somebody could come in."""
        now = self._now()
        good = (token for token in self._store.tokens(None) if token.revoked_at is None)
        return any(token.expires_at is None or token.expires_at > now for token in good)

    def caller(self, secret: str, address: str) -> Caller:
        """Who has this secret; raises when nobody has, or when too much was asked."""
        now = self._now()
        wrong = f"address {address}"
        if self._exhausted(wrong, now):
            raise RateLimited("Too many wrong tokens came from there.")
        token = self._token(secret, now)
        if token is None or token.revoked_at or (token.expires_at and token.expires_at <= now):
            self._count(wrong, WRONG_A_MINUTE, now)
            raise Unauthorised("The token is not known, has ended, or was revoked.")
        self._count(token.id, self._a_minute, now)
        self._note_use(token, now)
        name = token.name or ids.short(token.id)
        return Caller(
            token.tenant, f"token {name}", frozenset(token.can), token.scope, token.scope, token.id
        )  # fmt: skip

    def still_holds(self, caller: Caller) -> bool:
        """Whether the token that somebody came with is still good; asked anew, for answers that take long."""
        if not caller.token:
            return True
        now = self._now()
        found = next((token for token in self._store.tokens(caller.tenant) if token.id == caller.token), None)
        return found is not None and not found.revoked_at and (found.expires_at is None or found.expires_at > now)

    def _token(self, secret: str, now: datetime) -> Token | None:
        if not secret.startswith(PREFIX) or len(secret) > MAX_SECRET:
            return None
        hashed = digest(secret)
        with self._lock:
            token, seen = self._known.get(hashed, (None, now))
            if token and now - seen < REMEMBERED:
                return token
        found = self._store.token(hashed)
        if found is None or not hmac.compare_digest(found[1], hashed):
            return None
        with self._lock:
            self._known[hashed] = found[0], now
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return found[0]

    def _exhausted(self, key: str, now: datetime) -> bool:
        with self._lock:
            bucket = self._buckets.get(key)
            return bucket is not None and bucket.waits(WRONG_A_MINUTE, now) > 0

    def _count(self, key: str, a_minute: int, now: datetime) -> None:
        with self._lock:
            bucket = self._buckets.setdefault(key, Bucket(a_minute, now))
            self._buckets.move_to_end(key)
            while len(self._buckets) > MOST_KNOWN:
                self._buckets.popitem(last=False)
            wait = bucket.take(a_minute, now)
        if wait:
            raise RateLimited(f"More than {a_minute} requests a minute.", wait=wait)

    def _note_use(self, token: Token, now: datetime) -> None:
        if token.last_used_at and now - token.last_used_at < USED_EVERY:
            return
        used = replace(token, last_used_at=now)
        with self._lock:
            for hashed, (known, seen) in self._known.items():
                if known.id == token.id:
                    self._known[hashed] = used, seen
                    break
        try:
            self._store.moved(used)
        except StoreUnavailable as error:
            log.warning("when a token was last used was not written: %s", error)
