"""Run the daemon in the background: fork, detach from the terminal, and tell the parent through a pipe how it went.

Windows has no fork: there the same command runs again without `--background`, and daemon.json says when it is ready.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import errors
from ..entrypoints import link
from ..errors import DaemonRunning, RecollectError, ServerUnavailable
from . import listen

PATIENCE = 60.0  # seconds; a migration of a large store takes some
STEP = 0.05


def run_detached(run: Callable[[Callable[[dict[str, Any]], None]], None], home: Path) -> dict[str, Any]:
    """Call `run` in a process of its own; gives what it says when it is ready, or raises what stopped it."""
    if not hasattr(os, "fork"):
        return _run_again(home)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        _child(run, writer)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], PATIENCE)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        told = pipe.readline() if ready else ""
    if not told:
        raise ServerUnavailable("The daemon did not come up.", fix="See why with: recollect logs")
    answer: dict[str, Any] = json.loads(told)
    if error := answer.get("error"):
        raise errors.of(error["code"])(error["message"], fix=error["fix"])
    return answer


def _run_again(home: Path) -> dict[str, Any]:
    if found := link.daemon(str(home)):
        raise DaemonRunning(f"A daemon for {home} is already running: process {found.pid}.")
    words = [word for word in sys.argv[1:] if word != "--background"]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "recollect", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=said, creationflags=getattr(subprocess, "DETACHED_PROCESS", 0), cwd=home.anchor,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while child.poll() is None and time.monotonic() < deadline:
            if found := link.daemon(str(home)):
                child.returncode = 0  # it stays, and nobody waits for it
                code = found.request("POST", "/login/code").json()["code"]
                return {**found.info, "dashboard": listen.login_link(found.info, code)}
            time.sleep(STEP)
        said.seek(0)
        why = said.read().decode("utf-8", "replace").strip() or "The daemon did not come up."
    raise ServerUnavailable(why, fix="See why with: recollect logs")


def _child(run: Callable[[Callable[[dict[str, Any]], None]], None], writer: int) -> None:
    os.setsid()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)

    said = False

    def say(told: dict[str, Any]) -> None:
        nonlocal said
        said = True
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(told) + "\n")

    try:
        run(say)
    except RecollectError as error:
        if not said:
            say({"error": error.as_dict()})
        sys.exit(error.exit)
    sys.exit(0)
