"""The MCP server inside another process, on a private socket: the fallback of `recollect mcp` if no daemon can run."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import __version__, settings
from ..entrypoints import secret
from ..errors import RecollectError, StoreReadOnly
from . import listen
from .listen import LONGEST

log = logging.getLogger("recollect")
PATIENCE = 30.0
SOCKET = "mcp.sock"
Started = tuple[Mapping[str, Any] | None, Callable[[], None], str]


def start() -> Started:
    """Where it listens, how to end it, and a sentence for the log; or nothing, and why."""
    try:
        import uvicorn

        from . import app, connection
    except ImportError as error:
        return None, _nothing, f"The server is not installed ({error}). Run: pip install 'recollect[server]'"
    from ..engine import open as open_engine

    try:
        chosen, _ = settings.load()
        engine = open_engine(chosen.place, actor="mcp")
    except RecollectError as error:
        return None, _nothing, str(error)
    try:
        folder = _folder(chosen.home.absolute())
    except StoreReadOnly as error:
        engine.close()
        return None, _nothing, str(error)
    listening, port = _listen(folder)
    stopping = threading.Event()
    made = app.application(engine, stopping, shown := secret.ensure(folder)[0] if port else "")
    server = uvicorn.Server(connection.configure(made))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="recollect-solo", daemon=True)
    thread.start()
    engine.warm()

    def leave() -> None:
        stopping.set()
        server.should_exit = True
        thread.join(5.0)
        engine.close()
        listening.close()
        shutil.rmtree(folder, ignore_errors=True)

    deadline = time.monotonic() + PATIENCE
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            leave()
            return None, _nothing, "The server could not be started in this process either."
        time.sleep(0.01)
    path = "" if port else str(folder / SOCKET)
    info = {"pid": os.getpid(), "port": port, "socket": path, "version": __version__, "secret": shown}
    return info, leave, "no daemon could be had; serving from this process"


def _listen(folder: Path) -> tuple[socket.socket, int]:
    """A socket in the folder; where the system has no such sockets, a port of this machine."""
    if not hasattr(socket, "AF_UNIX"):
        made = listen.tcp("127.0.0.1", 0, exactly=True)
        return made, made.getsockname()[1]
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(str(folder / SOCKET))
    return made, 0


def _folder(home: Path) -> Path:
    """A folder for the socket that only its owner may enter."""
    for place in (home, Path(tempfile.gettempdir()), Path("/tmp")):
        if len(os.fsencode(place / "recollect-12345678" / SOCKET)) > LONGEST:
            continue
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix="recollect-", dir=place))
        except OSError as error:
            log.info("no socket in %s: %s", place, error)
    raise StoreReadOnly("There is no folder in which a socket could be made.", fix="Use a shorter RECOLLECT_HOME.")


def _nothing() -> None:
    """There is nothing to end."""
