"""The lock: one daemon for each home. The kernel releases it however the holder ends."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from .. import times
from ..entrypoints.private import make_folder
from ..entrypoints.system import lock, open_private
from ..errors import DaemonRunning, StoreReadOnly

NAME = "daemon.lock"
PATIENCE = 1.0  # seconds: somebody who only looks holds it for a moment
STEP = 0.02


class Lock:
    """The right to be the daemon of a home, held inside `with`; entering raises when another one has it."""

    def __init__(self, home: Path, now: datetime) -> None:
        self._path = home / NAME
        self._now = now
        self._file = -1

    def __enter__(self) -> Self:
        deadline = time.monotonic() + PATIENCE
        while not self._try():
            if time.monotonic() > deadline:
                told = holder(self._path.parent) or {}
                who = f"process {told['pid']} on {told['host']}" if told.get("pid") else "another process"
                raise DaemonRunning(f"A daemon for {self._path.parent} is already running: {who}.")
            time.sleep(STEP)
        told = {"pid": os.getpid(), "host": socket.gethostname(), "since": times.iso(self._now)}
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, json.dumps(told).encode())
        return self

    def _try(self) -> bool:
        try:
            make_folder(self._path.parent)
            file = open_private(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StoreReadOnly(f"{self._path} cannot be written: {error.strerror}.") from error
        try:
            lock(file, wait=False)
            if os.fstat(file).st_ino == os.stat(self._path).st_ino:
                self._file = file
                return True
        except (BlockingIOError, FileNotFoundError):  # somebody holds it, or let go and took the file along just now
            pass
        os.close(file)
        return False

    def __exit__(self, *_: object) -> None:
        with suppress(PermissionError):  # Windows keeps a file that is open; whoever locks it next has it
            self._path.unlink(missing_ok=True)  # while it is still held: nobody can lock what nobody can find
        os.close(self._file)


def holder(home: Path) -> dict[str, Any] | None:
    """Who holds the lock of a home (`pid`, `host`, `since`), or None when nobody does."""
    try:
        file = open_private(home / NAME, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreReadOnly(f"{home / NAME} cannot be read: {error.strerror}.") from error
    try:
        lock(file, shared=True, wait=False)
    except BlockingIOError:
        told = os.read(file, 4096)
        return json.loads(told) if told else {}
    else:
        return None
    finally:
        os.close(file)
