"""A real server on a real port, for the tests of every surface: uvicorn in a thread, an engine on a temporary file.

Who calls without a token is the owner of the home and shows its secret, unless the call says who else it is.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

import uvicorn
from starlette.types import ASGIApp

import recollect
from recollect.serve.app import application
from recollect.serve.connection import configure
from recollect.serve.sessions import COOKIE

SECRET = "rclh_" + "5e" * 32
ANONYMOUS = {"Authorization": ""}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    engine: recollect.Engine
    port: int
    stopping: threading.Event = field(default_factory=threading.Event)
    secret: str = SECRET

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(
        self, method: str, path: str, data: Any = None, token: str = "", headers: dict[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        sent = {"Content-Type": "application/json"} if data is not None else {}
        if token or "Cookie" not in (headers or {}):
            sent["Authorization"] = f"Bearer {token or self.secret}"
        body = data if isinstance(data, bytes) or data is None else json.dumps(data).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {k: v for k, v in (sent | (headers or {})).items() if v})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def cookie(self) -> tuple[str, str]:
        """The session of a browser that came by a login link: the value of its cookie, and its proof."""
        code = self.call("POST", "/login/code").data["code"]
        told = self.call("POST", "/login", {"code": code}, headers={"X-Recollect-Page": "none", **ANONYMOUS})
        return SimpleCookie(told.headers["set-cookie"])[COOKIE].value, told.data["proof"]


@contextmanager
def serving(engine: recollect.Engine, before: Callable[[ASGIApp], ASGIApp] = lambda app: app) -> Iterator[Server]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = Server(engine, listener.getsockname()[1])
        running = uvicorn.Server(configure(before(application(engine, server.stopping, server.secret))))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not running.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield server
        finally:
            server.stopping.set()
            running.should_exit = True
            thread.join(20)
