"""The gate: who is calling, may they come in, is it too much.

A bearer token names the caller. The owner of the home needs none: over the Unix socket the kernel names the account,
over TCP the secret of the home does (`entrypoints/secret.py`). The secret counts only from a loopback address, with a
loopback Host, no foreign Origin, and not forwarded. Bodies are limited, and requests take turns (`queue`).
"""

from __future__ import annotations

import hmac
import logging
import re
import time
from collections.abc import Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..agents.access import Caller
from ..errors import Forbidden, RecollectError, TooLarge, Unauthorised
from . import wire
from .connection import is_owner
from .listen import loopback
from .metrics import Metrics
from .queue import Queue
from .sessions import COOKIE, PROOF, Session, Sessions
from .tenants import Tenants

# They tell nothing about anybody: the page is the same for all, and what it shows it has to ask for.
OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs", "/", "/login", "/logout")
OPEN_BELOW = "/app/"
UNQUEUED = re.compile(
    r"/v1/events|/mcp(?:/.*)?|/metrics"
)  # GET: streams that last, and what must answer when all is full
NAMES = ("localhost", "127.0.0.1", "::1")
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
log = logging.getLogger("recollect.http")


class Gate:
    def __init__(self, app: ASGIApp, tenants: Tenants, metrics: Metrics, sessions: Sessions, secret: str = "") -> None:
        """Without a `secret` nobody comes in over TCP but with a token."""
        self._app = app
        self._tenants = tenants
        self._sessions = sessions
        self._secret = secret.encode()
        self._metrics = metrics
        self._queue = Queue(metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, state = time.perf_counter(), scope.setdefault("state", {})
        answering = _Answer(send)
        self._metrics.in_flight += 1
        try:
            await self._enter(scope, state, receive, answering)
        except RecollectError as error:
            if answering.status:
                raise
            await wire.problem_of(error)(scope, receive, answering)
        except Exception:
            log.exception("a request failed: %s %s", scope["method"], scope["path"])
            if answering.status:
                raise
            words = "Something went wrong here; the log of the server tells what."
            await wire.problem(500, "error", words, RecollectError.fix)(scope, receive, answering)
        finally:
            self._metrics.in_flight -= 1
            spent = time.perf_counter() - started
            self._metrics.done(state.get("operation", "other"), scope["method"], answering.status, spent)

    async def _enter(self, scope: Scope, state: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        limit, length = self._tenants.settings.request_limit, headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            sent = f" and has {int(length):,}" if length.isdecimal() else ""
            raise TooLarge(f"A request may have {limit:,} bytes{sent}.", fix="Send less, or raise request_limit.")
        if scope["path"] not in OPEN and not scope["path"].startswith(OPEN_BELOW):
            state["caller"] = caller = await self._caller(scope, headers)
            state["still_holds"] = self._holder(caller, headers)
            if scope["method"] != "GET" or not UNQUEUED.fullmatch(scope["path"]):
                async with self._queue.turn((caller.tenant, caller.token or caller.actor)):
                    await self._app(scope, _Limited(receive, limit), send)
                return
        await self._app(scope, _Limited(receive, limit), send)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        host = scope["client"][0] if scope.get("client") else ""
        _same_place(scope["method"], headers)
        shown = self._shown(scope["method"], headers)
        if shown is None and not is_owner(scope):
            raise Unauthorised("Who calls is not known: this needs a token, or the secret of the home.")
        secret = self._secret and hmac.compare_digest((shown or "").encode("utf-8", "replace"), self._secret)
        if shown is not None and not secret:
            return await anyio.to_thread.run_sync(self._tenants.gatekeeper.caller, shown, host)
        if sent := [name for name in FORWARDED if name in headers]:
            raise Unauthorised(f"A forwarded request ({sent[0]}) needs a token.")
        if not is_owner(scope) and not loopback(host):
            raise Unauthorised("From beyond this machine a token is needed; the secret of the home counts here alone.")
        if not is_owner(scope) and _name(headers.get("host", "")) not in NAMES:
            raise Forbidden(
                f"Host {headers.get('host', '')!r:.60} is not this machine.", fix="Use 127.0.0.1, or send a token."
            )
        return self._tenants.local(_agent(headers))

    def _holder(self, caller: Caller, headers: Headers) -> Callable[[], bool]:
        """What tells, later, whether the caller's token or session has not ended meanwhile."""
        cookie = "" if "authorization" in headers else cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        came_by_cookie = self._sessions.find(cookie) is not None

        def still_holds() -> bool:
            if came_by_cookie and self._sessions.find(cookie) is None:
                return False
            return self._tenants.gatekeeper.still_holds(caller)

        return still_holds

    def _shown(self, method: str, headers: Headers) -> str | None:
        """The token or secret that a request shows, by itself or by a cookie that stands for it."""
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() in ("bearer", "token"):  # the second is how mem0's client says it
            return shown.strip()
        if kind:
            raise Unauthorised(f"Authorization must be a bearer token, not {kind!r:.20}.")
        session = self._sessions.find(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))
        if session is None:
            return None
        _ours(session, method, headers)
        return session.token


def _same_place(method: str, headers: Headers) -> None:
    """Raise when a browser says that another site's page is asking, or another port's and for more than a look."""
    origin = headers.get("origin")
    if origin is not None:
        name = _name(urlsplit(origin).netloc) if "://" in origin else origin
        if name not in NAMES and name != _name(headers.get("host", "")):
            raise Forbidden(f"Origin {origin!r:.60} may not call.", fix="Call from this machine's own pages.")
    strange = ("cross-site",) if method in ("GET", "HEAD") else ("cross-site", "same-site")
    if headers.get("sec-fetch-site") in strange:
        raise Forbidden("A page of another site may not call.", fix="Call from this machine's own pages.")


def _ours(session: Session, method: str, headers: Headers) -> None:
    """Raise when a request that came with a cookie was not sent by our own page."""
    origin = "" if method in ("GET", "HEAD") else headers.get("origin", "")
    if not session.proves(headers.get(PROOF, "")) or (origin and urlsplit(origin).netloc != headers.get("host", "")):
        raise Forbidden("What comes with a cookie must come from the page.", fix="Use the page, or send a token.")


def _name(netloc: str) -> str:
    """
    >>> _name("localhost:7733"), _name("[::1]:7733"), _name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    try:
        return (urlsplit(f"//{netloc}").hostname or "").lower()
    except ValueError:
        return ""


def _agent(headers: Headers) -> str:
    """The program that calls, for the journal: `claude-code` of `claude-code/2.1 (…)`."""
    name = headers.get("user-agent", "").split("/")[0].split(" ")[0]
    return name[:40] if name.isascii() and name.replace("-", "").replace("_", "").isalnum() else "local"


class _Answer:
    """The answer on its way: its status is noted, and what every answer carries is added."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SAFE.items():
                headers.setdefault(name, value)
        await self._send(message)


class _Limited:
    """A body that may not grow beyond the limit, whatever its headers said."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._come = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._come += len(message.get("body", b""))
            if self._come > self._limit:
                raise TooLarge(f"A request may have {self._limit:,} bytes.", fix="Send less, or raise request_limit.")
        return message
