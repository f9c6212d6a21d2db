"""The application: every surface of the server.

    /               the dashboard (`page`) and logging in
    /v1/…           the operations (`http`), events, the memory tool
    /v3/memories/…  mem0's interface (`mem0`), and below /v1/ with a slash at the end
    /mcp …          the Model Context Protocol (`mcp`)
    /hook           what assistants' hooks send (`ops.hooks`)
    /openapi.json   the operations for machines; /docs for people
    /healthz        the process answers; /readyz it has its store; /metrics

Every request passes the gate (`gate`), which sets `request.state.caller`.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from .. import __version__
from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, Forbidden, RecollectError, ServerUnavailable, StoreUnavailable
from ..ops import hooks
from . import events, http, mem0, metrics, openapi, page, reference, wire
from .deliveries import Deliveries
from .gate import Gate
from .metrics import Metrics
from .sessions import Sessions
from .tenants import Tenants

if TYPE_CHECKING:
    from .mcp import Endpoint

CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
READY = 3.0  # seconds that the store is waited for when somebody asks whether we are ready
log = logging.getLogger("recollect.mcp")
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


class Deferred:
    """MCP, loaded in the background with the start of the daemon, because importing the SDK takes half a second.

    Requests that come earlier wait: an assistant whose handshake is slow continues without its tools.
    """

    def __init__(self, tenants: Tenants, caller_of: Callable[[Request], Caller]) -> None:
        self._tenants = tenants
        self._caller_of = caller_of
        self._endpoint: Endpoint | None = None
        self._trouble = "it is not running"
        self._loaded = anyio.Event()
        self.routes = [Route("/mcp", self), Route("/mcp/{project:path}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._loaded.wait()
        if self._endpoint is None:
            raise ServerUnavailable(
                f"MCP cannot be served: {self._trouble}.", fix="Run: pip install 'recollect[server]'"
            )
        await self._endpoint(scope, receive, send)

    @asynccontextmanager
    async def run(self, app: object = None) -> AsyncIterator[None]:
        """What must be running while requests are served: part of the application's lifespan."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve)
            yield
            tasks.cancel_scope.cancel()

    async def _serve(self) -> None:
        try:
            endpoint = await anyio.to_thread.run_sync(self._load)
        except ImportError as error:  # everything else is served all the same, and whoever asks for MCP is told
            log.exception("MCP cannot be served")
            self._trouble = str(error)
            self._loaded.set()
            return
        async with endpoint.run():
            self._endpoint = endpoint
            self._loaded.set()
            await anyio.sleep_forever()

    def _load(self) -> Endpoint:
        from .mcp import Endpoint

        return Endpoint(self._tenants, self._caller_of)


def application(engine: Engine, stopping: threading.Event | None = None, secret: str = "") -> Starlette:
    """The server's application on an open engine; long answers end soon after `stopping` is set.

    `secret` is that of the home: who shows it over TCP is the owner.
    """
    tenants, measured, end = Tenants(engine), Metrics(), stopping or threading.Event()
    sessions = Sessions()
    mounted, lifespans = surfaces(tenants)
    app = Starlette(
        routes=[
            *http.routes(tenants),
            *mem0.routes(tenants),
            events.route(tenants, measured, end),
            *_about(tenants, measured),
            *page.routes(tenants, sessions, secret),
            *mounted,
        ],
        exception_handlers={HTTPException: _no_such_route, RecollectError: _our_error},
        lifespan=_lifespan(tenants, end, lifespans),
    )
    app.router.redirect_slashes = False  # an address with an empty id is a mistake, and not another address
    app.add_middleware(Gate, tenants=tenants, metrics=measured, sessions=sessions, secret=secret)
    app.state.tenants = tenants
    app.state.sessions = sessions
    app.state.stopping = end
    return app


def surfaces(tenants: Tenants) -> tuple[Sequence[BaseRoute], Sequence[Lifespan]]:
    """The surfaces beside HTTP, and what has to run while they do."""
    endpoint = Deferred(tenants, lambda request: request.state.caller)
    return [*endpoint.routes, Route("/hook", _hook(tenants), methods=["POST"], name="hook")], [endpoint.run]


def _hook(tenants: Tenants) -> Callable[[Request], Any]:
    async def hook(request: Request) -> Response:
        request.state.operation = "hook"
        caller: Caller = request.state.caller
        # An event names files of this machine, such as the transcript: not for other machines, and not for web pages.
        if caller.token or "origin" in request.headers:
            raise Forbidden("Hooks are taken from this machine alone.", fix="Run the daemon where the assistant runs.")
        envelope = wire.loads(await request.body())
        if not isinstance(envelope, dict):
            raise BadInput("A hook sends a JSON object.")
        engine, home = tenants.engine(caller), tenants.settings.home
        told = await anyio.to_thread.run_sync(lambda: hooks.answer(engine, caller, home, envelope))
        return Response(wire.dumps(told), media_type="application/json")

    return hook


def _lifespan(tenants: Tenants, end: threading.Event, lifespans: Sequence[Lifespan]) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        deliveries = Deliveries(tenants, lambda: datetime.now(UTC))
        deliveries.start()
        try:
            async with AsyncExitStack() as stack:
                for one in lifespans:
                    await stack.enter_async_context(one(app))
                yield
        finally:
            end.set()
            await anyio.to_thread.run_sync(deliveries.stop)
            await anyio.to_thread.run_sync(tenants.close)

    return lifespan


def _about(tenants: Tenants, measured: Metrics) -> list[Route]:
    """What the server tells about itself."""
    described = json.dumps(openapi.document(), ensure_ascii=False).encode()

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    asking = anyio.CapacityLimiter(1)  # of its own: a store that hangs must not take the threads of the others too

    async def readyz(_: Request) -> Response:
        try:
            with anyio.fail_after(READY):
                await anyio.to_thread.run_sync(lambda: tenants.first.head, abandon_on_cancel=True, limiter=asking)
        except TimeoutError:
            return wire.problem_of(StoreUnavailable(f"The store did not answer within {READY:g} seconds."))
        except StoreUnavailable as error:
            return wire.problem_of(error)
        model, missing = tenants.first.model()
        return JSONResponse({"status": "ready", "store": "ok", "model": model or missing})

    async def told(request: Request) -> Response:
        request.state.operation = "metrics"
        caller: Caller = request.state.caller
        caller.may("read", "Metrics")
        engine = tenants.engine(caller)

        def text() -> str:
            head = engine.head
            rate = measured.rate(head, time.monotonic())
            gauges = {
                "recollect_journal_seq": ("The newest change of the tenant.", float(head)),
                "recollect_journal_rate": ("Changes a second since the last look.", rate),
            }
            # What the whole tenant did is not for somebody who sees a part of it.
            more = () if caller.walled else metrics.families(engine, datetime.now(UTC))
            return measured.text(gauges, more)

        return Response(await anyio.to_thread.run_sync(text), media_type=metrics.TYPE)

    async def document(_: Request) -> Response:
        return Response(described, media_type="application/json")

    async def docs(request: Request) -> Response:
        page = reference.page(str(request.base_url).rstrip("/"))
        return HTMLResponse(page, headers={"Content-Security-Policy": CSP})

    return [
        Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", told),
        Route("/openapi.json", document), Route("/docs", docs),
    ]  # fmt: skip


async def _our_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RecollectError)
    return wire.problem_of(error)


async def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_input")
    words = f"{request.method} {request.url.path} is not here."
    return wire.problem(
        error.status_code, code, words, "See /docs for every address.", dict(error.headers or {})
    )  # fmt: skip
