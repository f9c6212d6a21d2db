"""Sessions of the dashboard: a cookie that stands for a token or for the secret of the home.

A browser sends the cookie to every port of the host. So each request must also carry a proof, which only our page
knows, and a write must have our Origin. A login link holds a code that works once, for ten minutes.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

COOKIE = "recollect_session"
PROOF = "x-recollect-page"  # a header of its own makes a browser ask before it sends one from elsewhere, and we refuse
LASTS = 12 * 3600.0
MOST = 1000
LINK_LASTS = 600.0


@dataclass(frozen=True, slots=True)
class Session:
    """Whom a cookie stands for, until when, and the hash of what the page proves itself with."""

    token: str
    until: float
    proof: str

    def proves(self, given: str) -> bool:
        return hmac.compare_digest(_digest(given), self.proof)


class Sessions:
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._codes: OrderedDict[str, float] = OrderedDict()

    def begin(self, token: str) -> tuple[str, str]:
        """The value of a cookie that stands for a token from now on, and the proof that must come with it."""
        value, proof = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[_digest(value)] = Session(token, self._now() + LASTS, _digest(proof))
            while len(self._sessions) > MOST:
                self._sessions.popitem(last=False)
        return value, proof

    def find(self, value: str) -> Session | None:
        """The session of a cookie, unless it has ended."""
        key = _digest(value)
        with self._lock:
            found = self._sessions.get(key)
            if found and found.until <= self._now():
                del self._sessions[key]
                return None
            return found

    def end(self, value: str) -> None:
        with self._lock:
            self._sessions.pop(_digest(value), None)

    def make_code(self) -> str:
        """The code of a login link."""
        code = secrets.token_urlsafe(16)
        with self._lock:
            self._codes[_digest(code)] = self._now() + LINK_LASTS
            while len(self._codes) > MOST:
                self._codes.popitem(last=False)
        return code

    def redeem(self, code: str) -> bool:
        """Whether a code is one of ours that nobody used and that has not ended; from now on it counts no more."""
        with self._lock:
            return self._codes.pop(_digest(code), 0.0) > self._now()


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
