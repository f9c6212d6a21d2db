"""The daemon: one process for each home that holds the store, the model and the vector index.

Holding the lock, it binds a port and a Unix socket, opens the engine, answers, and only then writes `daemon.json`. A
stop takes the same steps back. `/daemon/status` and `/daemon/read` are answered here, on the Unix socket only, for the
account that runs the daemon.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import __version__, engine, times
from ..agents.access import local
from ..agents.home import at_home
from ..entrypoints import secret
from ..entrypoints.link import INFO, READ, TRIED
from ..entrypoints.private import write_private
from ..errors import BadInput, RecollectError
from ..ops import hooks
from ..ops.catalogue import BY_NAME
from ..ops.operation import Operation
from ..project import brief, signals
from ..recall.loading import LOADING
from ..settings import Settings, shown
from ..types import Noun
from ..types import Scope as Place
from . import app, connection, listen, logs
from .metrics import resident
from .wire import dumps
from .work import Work

DRAIN = 10  # seconds that running requests are given to end
# Threads that work at the same time. Each has a connection with a cache of its own, and more of them only take turns.
THREADS = 8
STATUS = "/daemon/status"
BRIEF = "brief of a folder"  # which the operation `brief` is not: here the command line says what it wants
# Seconds that a question waits for a model that is being loaded; a brief must not take long.
PATIENCE = {"recall": 20.0, "context": 20.0, "ask": 20.0, BRIEF: 1.0}
STEP = 0.05  # seconds between two looks whether the model is loaded
log = logging.getLogger("recollect.daemon")
Ready = Callable[[dict[str, Any]], None]


def run(settings: Settings, exactly: bool, ready: Ready) -> None:
    """Serve until told to stop, holding the lock of the home; `ready` is called with what `daemon.json` says.

    The port of the settings is taken `exactly`, or else the next that is free.
    """
    began = datetime.now(UTC)
    writing = logs.begin(settings.home, settings.log_level)
    try:
        _serve(settings, exactly, began, ready)
        log.info("stopped")
    except Exception:
        log.exception("ended by an error")
        raise
    finally:
        logs.end(writing)


def _serve(settings: Settings, exactly: bool, began: datetime, ready: Ready) -> None:
    stopping = threading.Event()
    chosen = {name: getattr(settings, name) for name in ("tenant", "user", "project", "embedder")}
    with listening(settings, exactly) as sockets, engine.open(settings.place, **chosen, actor="daemon") as memory:
        guard(settings.host, memory)
        port, path = sockets[0].getsockname()[1], sockets[1].getsockname() if sockets[1:] else ""
        info = {
            "pid": os.getpid(),
            "host": settings.host,
            "port": port,
            "socket": path,
            "version": __version__,
            "started": times.iso(began),
            "store": shown(settings.standing),
        }
        work = Work(memory, settings.home, stopping)

        def serving() -> None:
            log.info("serving", extra={"fields": info})
            write_private(settings.home / INFO, json.dumps(info) + "\n")
            (settings.home / TRIED).unlink(missing_ok=True)
            work.start()
            ready({**info, "dashboard": listen.login_link(info, inner.state.sessions.make_code())})

        inner = app.application(memory, stopping, _secret(settings.home))
        config = connection.configure(
            Control(inner, memory, info, settings.home), timeout_graceful_shutdown=DRAIN, backlog=listen.BACKLOG
        )
        try:
            asyncio.run(Server(config, serving, stopping).serve(sockets))
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)  # a second one must not break off the leaving
            (settings.home / INFO).unlink(missing_ok=True)
            if not work.stop(DRAIN):
                log.warning("background work did not end in time; the next start goes on with it")


def _secret(home: Path) -> str:
    found, was_open = secret.ensure(home)
    if was_open:
        log.warning("%s could be read by others: there is a new secret", home / secret.FILE)
    return found


class Server(uvicorn.Server):
    """uvicorn that says when it serves, and tells everybody in the process when it is to stop."""

    def __init__(self, config: uvicorn.Config, serving: Callable[[], None], stopping: threading.Event) -> None:
        super().__init__(config)
        self._serving = serving
        self._stopping = stopping

    async def startup(self, sockets: Any = None) -> None:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        await super().startup(sockets)
        self._serving()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not remembered as uvicorn would: it raises the signal once more afterwards, which would end us half-way out.
        self.force_exit = self.should_exit
        self.should_exit = True
        self._stopping.set()


class Control:
    """Answers what is asked of the daemon itself, and passes everything else on."""

    def __init__(self, inner: ASGIApp, memory: engine.Engine, info: dict[str, Any], home: Path) -> None:
        self._inner = inner
        self._memory = memory
        self._info = info
        self._home = home

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == STATUS and self._asked_by_owner(scope):
            told = await anyio.to_thread.run_sync(status, self._memory, self._info, self._home)
            await JSONResponse(told)(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == READ and self._asked_by_owner(scope):
            await self._read(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _asked_by_owner(self, scope: Scope) -> bool:
        """Whether the owner of the home asks: the socket tells, and where there are no such sockets, the secret."""
        if hasattr(socket, "AF_UNIX"):
            return connection.is_owner(scope)
        shown, own = Headers(scope=scope).get("authorization", ""), secret.read(self._home)
        return bool(own) and hmac.compare_digest(shown.encode(), f"Bearer {own}".encode())

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A question of the command line. The head of the answer goes first: who asks sees that somebody is at work."""
        asked = alike(self._memory, await Request(scope, receive).body())
        if asked is None:
            await Response(status_code=409)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        told = await anyio.to_thread.run_sync(answer, self._memory, asked)
        await send({"type": "http.response.body", "body": told})


def status(memory: engine.Engine, info: dict[str, Any], home: Path) -> dict[str, Any]:
    """How the daemon is."""
    model, without = memory.model()
    counts = memory.stats()
    return {
        **info,
        "running": True,
        "uptime_s": round((datetime.now(UTC) - times.aware(info["started"])).total_seconds(), 1),
        "memories": counts["memories"],
        "model": model,
        "skipped": [without] if without else [],
        "receipts": hooks.receipts(memory, home),
        "rss_mb": round(resident() / 1e6, 1),
    }


def guard(host: str, memory: engine.Engine) -> None:
    """Beyond this machine everybody needs a token, so without one there is nobody to serve."""
    if not listen.loopback(host) and not memory.gatekeeper().expected():
        raise BadInput(
            f"{host} can be reached from other machines, and there is no token that could be asked for.",
            fix="Make one first: recollect token create --user NAME --can read,write",
        )


@contextmanager
def listening(settings: Settings, exactly: bool) -> Iterator[list[Any]]:
    """The port, and after it the socket where the system has such; both gone afterwards."""
    sockets: list[Any] = [listen.tcp(settings.host, settings.port, exactly=exactly)]
    try:
        if own := listen.unix(settings.home):
            sockets.append(own)
        yield sockets
    finally:
        for made in sockets:
            made.close()
        listen.clear(settings.home)


def _brief(memory: engine.Engine, *, wanted: dict[str, Any], seconds: float) -> Noun:
    asked = brief.BriefRequest(**{**wanted, "scope": Place(**wanted["scope"])})
    return brief.build(memory, asked, signals.Deadline(seconds))


def _operation(name: str) -> Operation | None:
    found = BY_NAME.get(name)
    return found if found and found.read_only and found.returned != "str" else None


def alike(memory: engine.Engine, body: bytes) -> dict[str, Any] | None:
    """The question, if it is answered here as it would be by a process of its own."""
    asked: dict[str, Any] = json.loads(body)
    known = asked.get("verb") == BRIEF or _operation(str(asked.get("verb")))
    return asked if known and asked.get("settings") == memory.settings.fingerprint() else None


def answer(memory: engine.Engine, asked: dict[str, Any]) -> bytes:
    """What the operation gives, or the error it ends in, as it is sent."""
    verb, place = asked["verb"], Place(user=asked["user"], project=asked["project"])
    _wait(memory, PATIENCE.get(verb, 0.0))
    try:
        caller = at_home(local(asked["tenant"], asked["actor"], place), asked["folder"])
        own = memory.for_caller(tenant=asked["tenant"], actor=asked["actor"], at=place)
        operation = _operation(verb)
        found = operation.call(own, caller, asked["given"]) if operation else _brief(own, **asked["given"])
        return dumps({"result": found})
    except RecollectError as error:
        return json.dumps({"error": error.as_dict()}).encode()


def _wait(memory: engine.Engine, seconds: float) -> None:
    """Until the model is there: a process of its own would wait for it too."""
    deadline = time.monotonic() + seconds
    while memory.model()[1] == LOADING and time.monotonic() < deadline:
        time.sleep(STEP)
