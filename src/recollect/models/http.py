"""Posting JSON to the server of a model: the one place where this package calls anybody else.

A request that the server had no time for (429, 5xx) or that broke off is tried again after `Retry-After`, or else twice
as long each time, with jitter. A key goes into a header, follows no redirect, and stands in no message.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ..errors import BadAnswer, ProviderRefused, ProviderUnavailable
from ..text import shorten

AGAIN = {408, 429, 500, 502, 503, 504, 529}
MAX_ANSWER = 64 * 2**20  # bytes
TOLD = 200  # characters of a server's own words


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an answer, how often to ask, and how long to wait in between."""

    timeout: float = 60.0
    tries: int = 4
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic

    def wait(self, attempt: int) -> float:
        """
        >>> [Patience(chance=lambda: 0.0).wait(attempt) for attempt in (0, 1, 2, 20)]
        [0.5, 1.0, 2.0, 30.0]
        """
        whole = min(self.first * float(1 << min(attempt, 20)), self.longest)
        return whole * (1 - self.chance() / 2)


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes
    wait: float | None  # seconds, where the server named them


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str], patience: Patience) -> dict[str, Any]:
    """The JSON object that the server answers with."""
    where = urlsplit(url).netloc
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    for attempt in range(patience.tries):
        wait = patience.wait(attempt)
        try:
            reply = _once(url, data, headers, patience.timeout)
        except (OSError, http.client.HTTPException) as error:
            problem = f"{where} {_why(error)}"
        else:
            if 200 <= reply.status < 300:
                return _object(reply.body, where)
            problem = f"{where} answered {reply.status}{_words(reply)}"
            # Some servers call it their own error when they do not like a request.
            if reply.status not in AGAIN or "validation error" in problem:
                raise ProviderRefused(f"{problem}.", answered=reply.status)
            wait = max(reply.wait or 0.0, wait)
            if wait > patience.longest:
                raise ProviderUnavailable(f"{problem}, and asks to wait {wait:.0f} seconds.")
        if attempt + 1 < patience.tries:
            patience.sleep(wait)
    raise ProviderUnavailable(f"{problem}{f' ({patience.tries} tries)' if patience.tries > 1 else ''}.")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A key is for the server that was named, and no other."""


def _once(url: str, data: bytes, headers: Mapping[str, str], timeout: float) -> _Reply:
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method="POST")
    handlers: list[Any] = [_NoRedirect()]
    if is_near(urlsplit(url).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    ends = time.monotonic() + timeout
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as response:
            return _Reply(response.status, _read(response, ends), None)
    except urllib.error.HTTPError as error:
        with error:
            return _Reply(error.code, _read(error, ends), _retry_after(error.headers.get("Retry-After")))


def _read(response: Any, ends: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(65_536):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_ANSWER:
            raise http.client.HTTPException(f"answered with more than {MAX_ANSWER >> 20} MB")
        if time.monotonic() > ends:
            raise TimeoutError
    if getattr(response, "length", None):
        raise http.client.IncompleteRead(b"")
    return b"".join(pieces)


def _retry_after(value: str | None) -> float | None:
    """Seconds, from a number or a date.

    >>> _retry_after("7"), _retry_after(None), _retry_after("soon"), _retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, None, None, 0.0)
    """
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _object(body: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"{where} answered with something that is no JSON.") from error
    if not isinstance(found, dict):
        raise BadAnswer(f"{where} answered with JSON that is no object.")
    return found


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return "did not answer in time"
    if isinstance(reason, http.client.HTTPException):
        return "broke off its answer"
    return f"cannot be reached: {shorten(getattr(reason, 'strerror', None) or type(reason).__name__, TOLD)}"


def _words(reply: _Reply) -> str:
    """What the server says of it, where that cannot hold the key."""
    if reply.status in (401, 403):
        return ": the key is missing or not good"
    try:
        told = json.loads(reply.body)
    except (ValueError, RecursionError):
        return ""
    error = told.get("error", told) if isinstance(told, dict) else told
    message = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return f": {shorten(message, TOLD).rstrip('.')}" if isinstance(message, str) and message else ""


def is_near(host: str) -> bool:
    """Whether a host is this machine or in its network, by its name alone.

    >>> [is_near(host) for host in ("localhost", "127.0.0.1", "::1", "10.1.2.3", "gpu", "box.local")]
    [True, True, True, True, True, True]
    >>> [is_near(host) for host in ("api.openai.com", "8.8.8.8", "")]
    [False, False, False]
    """
    import ipaddress

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith((".local", ".lan", ".internal", ".localhost")))
    return address.is_private or address.is_loopback or address.is_link_local
