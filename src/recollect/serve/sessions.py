"""Sessions of people who look at the page with a token: a cookie that scripts cannot read stands for the token.

A session lives in this process alone and ends with it, after half a day, or when somebody logs out. The cookie's
value is random and kept as a hash. The token is asked about anew at every request, so that revoking it ends its
sessions too.

A browser sends the cookie along whoever made it ask. So a write that comes with it must also carry a header that only
our own page can set, and an Origin that is ours: what another site makes a browser send has neither.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

COOKIE = "recollect_session"
PROOF = "x-recollect-page"  # a header of its own makes a browser ask before it sends one from elsewhere, and we refuse
LASTS = 12 * 3600.0
MOST = 1000


class Sessions:
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._tokens: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def begin(self, token: str) -> str:
        """The value of a cookie that stands for a token from now on."""
        value = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens[_digest(value)] = token, self._now() + LASTS
            while len(self._tokens) > MOST:
                self._tokens.popitem(last=False)
        return value

    def token(self, value: str) -> str | None:
        """The token that a cookie stands for, unless it has ended."""
        key = _digest(value)
        with self._lock:
            token, until = self._tokens.get(key, ("", 0.0))
            if token and until <= self._now():
                del self._tokens[key]
                return None
            return token or None

    def end(self, value: str) -> None:
        with self._lock:
            self._tokens.pop(_digest(value), None)


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
