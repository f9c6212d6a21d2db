"""A real server on a real port, for the tests of every surface: uvicorn in a thread, an engine on a temporary file."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

import recollect
from recollect.serve.app import application


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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(
        self, method: str, path: str, data: Any = None, token: str = "", headers: dict[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        sent = {"Content-Type": "application/json"} if data is not None else {}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        body = data if isinstance(data, bytes) or data is None else json.dumps(data).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, sent | (headers or {}))
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()


@contextmanager
def serving(engine: recollect.Engine) -> Iterator[Server]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = Server(engine, listener.getsockname()[1])
        config = uvicorn.Config(application(engine, server.stopping), log_level="error", lifespan="on", ws="none")
        running = uvicorn.Server(config)
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
