"""A connection: uvicorn's HTTP protocol, with two additions.

The user id of the process at the other end of a Unix socket is in `scope["state"]`. The head of a request must arrive
within some seconds, so that half-sent heads cannot use up all file handles.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..entrypoints.system import user_id

HEAD = 10.0  # seconds for the head of a request
PEER = "peer_uid"


def configure(app: ASGIApp, **options: Any) -> uvicorn.Config:
    """The configuration of a server of ours."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        **options,
    )


def peer_uid(connection: socket.socket) -> int | None:
    """The user id of the process at the other end of a Unix socket; None where the system does not tell.

    Linux has SO_PEERCRED (pid, uid, gid). macOS and the BSDs have LOCAL_PEERCRED, which is what `getpeereid` asks for:
    a `struct xucred` of a version number, the uid, and groups.
    """
    try:
        if hasattr(socket, "SO_PEERCRED"):
            found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", found)[1])
        if sys.platform == "darwin" or "bsd" in sys.platform:
            found = connection.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED
            return int(struct.unpack("=II", found[:8])[1])
    except OSError:
        return None
    return None


def is_owner(scope: Scope) -> bool:
    """Whether a request came over a Unix socket from the account that runs this process, or from root."""
    return scope.get("state", {}).get(PEER) in (user_id(), 0)


class Connection(H11Protocol):
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        made = transport.get_extra_info("socket")
        if made is not None and made.family == getattr(socket, "AF_UNIX", None):
            self.app_state = {**self.app_state, PEER: peer_uid(made)}
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        """Count the time while the head of a request is awaited; once it is there, no more."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEAD, self.transport.close)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
