"""HTTP: every operation at its address, as JSON.

HTTP adds versions as ETags, links to the next page, idempotency keys, JSON lines for long results, and the numbers of
the changes that a write made.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlencode

import anyio
import anyio.to_thread
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ..agents.access import Caller
from ..agents.home import FOLDER, at_home
from ..engine import Engine
from ..errors import BadInput, ChangedMeanwhile, TooSlow
from ..ops import memories
from ..ops.catalogue import OPERATIONS
from ..ops.operation import Operation
from ..store.changes import WRITTEN
from ..types import Memory, Page, Remembered
from . import wire
from .tenants import Tenants

LINES = "application/x-ndjson"
CHANGES = "Recollect-Changes"  # the numbers of the journal rows that a request wrote; undo takes them
MAX_QUERY = 200  # parameters in one query string
MAX_KEPT = 4096  # answers to requests with an idempotency key
MAX_KEPT_BYTES = 65_536  # of an answer that is kept
KEPT_FOR = timedelta(days=1)
MAX_KEY = 200
log = logging.getLogger("recollect.http")


@dataclass(slots=True)
class Kept:
    """The answer to a request with an idempotency key."""

    request: str
    at: datetime
    lock: threading.Lock = field(default_factory=threading.Lock)
    answer: tuple[int, dict[str, str], bytes] | None = None


class Answers:
    """Answers to writes by their idempotency key: sent again, a write is answered again and not done again."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, str], Kept] = OrderedDict()

    def once(
        self, who: tuple[str, str], key: str, request: tuple[str, str, bytes], act: Callable[[], Response]
    ) -> Response:
        """The answer of the first request with that key; `act` runs only when there is none."""
        if not 1 <= len(key) <= MAX_KEY:
            raise BadInput(f"Idempotency-Key must have from 1 to {MAX_KEY} characters.")
        method, path, body = request
        told = hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()
        kept = self._entry((*who, key), told)
        if kept.request != told:
            raise BadInput("That Idempotency-Key was used for another request.", fix="Use a fresh key.")
        with kept.lock:
            if kept.answer is None:
                response = act()
                # A failure is not an outcome: sent again, it is tried again.
                if response.status_code < 400 and len(response.body) <= MAX_KEPT_BYTES:
                    kept.answer = response.status_code, dict(response.headers), bytes(response.body)
                return response
            status, headers, content = kept.answer
        return Response(content, status, headers | {"Idempotency-Replayed": "true"})

    def _entry(self, key: tuple[str, str, str], told: str) -> Kept:
        now = self._now()
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or now - kept.at > KEPT_FOR:
                kept = self._kept[key] = Kept(told, now)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            return kept


def routes(tenants: Tenants) -> list[Route]:
    """One route an address; those with a fixed path come before those with an id in it."""
    answers = Answers(lambda: datetime.now(UTC))
    found = [
        Route(path, _endpoint(operation, tenants, answers), methods=[method], name=f"{operation.name} {method}")
        for operation in OPERATIONS
        for method, path in operation.addresses
    ]
    return sorted(found, key=lambda route: "{" in route.path)


def _endpoint(operation: Operation, tenants: Tenants, answers: Answers) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        request.state.operation = operation.name
        came: Caller = request.state.caller
        seconds = tenants.settings.request_timeout
        try:
            with anyio.fail_after(seconds):
                body = await request.body()
                given, loose = _given(request, operation, body)

                def act() -> Response:
                    caller = at_home(came, unquote(request.headers.get(FOLDER, "")))
                    engine = tenants.engine(caller)
                    caller = engine.agents.enter(caller)
                    _if_match(request, operation, engine, caller, given)
                    written: list[tuple[int, int]] = []
                    WRITTEN.set(written)  # in this thread's context alone
                    result = operation.call(engine, caller, given, loose=loose)
                    answer = _answer(request, operation, result)
                    if written:
                        answer.headers[CHANGES] = ", ".join(f"{first}-{last}" for first, last in written)
                    return answer

                key = request.headers.get("idempotency-key")
                if key is None or operation.read_only:
                    return await anyio.to_thread.run_sync(act, abandon_on_cancel=True)
                sent = request.method, str(request.url.path) + "?" + request.url.query, body
                who = came.tenant, came.token or came.actor
                return await anyio.to_thread.run_sync(lambda: answers.once(who, key, sent, act), abandon_on_cancel=True)
        except TimeoutError as error:
            raise TooSlow(f"{operation.title} took longer than {seconds:g} seconds.") from error
        except ClientDisconnect:
            return Response(status_code=400)

    return endpoint


def _given(request: Request, operation: Operation, body: bytes) -> tuple[dict[str, Any], bool]:
    """What the caller sent, and whether it came as text."""
    path = dict(request.path_params)
    if request.method in ("GET", "HEAD", "DELETE"):
        found: dict[str, Any] = {}
        pairs = request.query_params.multi_items()
        if len(pairs) > MAX_QUERY:
            raise BadInput(f"The query string has more than {MAX_QUERY} parameters.")
        for name, value in pairs:
            found[name] = value if name not in found else [*_listed(found[name]), value]
        return _joined(found, path), True
    if request.query_params:
        raise BadInput("Parameters of a write belong into the body.", fix="Send them as a JSON object.")
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if operation.name == "import" and kind == LINES:
        return {"lines": body.decode("utf-8", "replace")}, False
    if body and kind != "application/json":
        raise BadInput("Content-Type must be application/json.", fix="Send a JSON object with that header.")
    data = wire.loads(body) if body else {}
    if not isinstance(data, dict):
        raise BadInput("The body must be a JSON object.", fix='Such as {"query": "…"}.')
    return _joined(data, path), False


def _joined(found: dict[str, Any], path: dict[str, Any]) -> dict[str, Any]:
    if twice := [name for name in path if name in found]:
        raise BadInput(f"{twice[0]} stands in the address already.", fix=f"Leave {twice[0]} out.")
    return {**found, **path}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _if_match(request: Request, operation: Operation, engine: Engine, caller: Caller, given: dict[str, Any]) -> None:
    """Only the version that was named: an edit looks under the write lock, a deletion just before."""
    wanted = request.headers.get("if-match")
    if wanted is None or wanted.strip() == "*" or not isinstance(given.get("id"), str):
        return
    versions = _tags(wanted)
    if operation.name == "edit" and len(versions) == 1:
        given.setdefault("version", versions[0])
    elif operation.name in ("edit", "forget"):
        memory = memories.find(engine, caller, given["id"])
        if memory.version not in versions:
            raise ChangedMeanwhile(f"Memory {memory.id} is no longer as it was read.")


def _tags(header: str) -> list[str]:
    """
    >>> _tags('"abc", W/"def"')
    ['abc', 'def']
    """
    return [part.strip().removeprefix("W/").strip('"') for part in header.split(",")]


def _answer(request: Request, operation: Operation, result: Any) -> Response:
    if isinstance(result, Iterator):
        return StreamingResponse(iterate_in_threadpool(result), media_type=LINES)
    headers: dict[str, str] = {}
    status = operation.status
    if isinstance(result, Memory):
        headers["ETag"] = f'"{result.version}"'
        known = request.headers.get("if-none-match")
        if request.method in ("GET", "HEAD") and known and (known.strip() == "*" or result.version in _tags(known)):
            return Response(status_code=304, headers=headers)
    if isinstance(result, Remembered):
        status = 201 if result.action == "created" else 200
        if result.memory:
            headers |= {"ETag": f'"{result.memory.version}"', "Location": f"/v1/memories/{result.id}"}
    if isinstance(result, Page) and result.cursor:
        kept = [pair for pair in request.query_params.multi_items() if pair[0] != "cursor"]
        headers["Link"] = f'<{operation.path}?{urlencode([*kept, ("cursor", result.cursor)])}>; rel="next"'
    return Response(wire.dumps(result), status, headers, "application/json")
