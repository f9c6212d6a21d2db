"""MCP, loaded in the background, because importing the SDK takes half a second.

Requests that come earlier wait. Loading begins with the daemon, because an assistant whose handshake is slow continues
without its tools.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..agents.access import Caller
from ..errors import ServerUnavailable
from .tenants import Tenants

if TYPE_CHECKING:
    from .mcp import Endpoint

log = logging.getLogger("recollect.mcp")


class Deferred:
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
