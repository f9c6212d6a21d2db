"""Run the daemon in the background: fork, detach from the terminal, and tell the parent through a pipe how it went."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from typing import Any

from .. import errors
from ..errors import RecollectError, ServerUnavailable

PATIENCE = 60.0  # seconds; a migration of a large store takes some


def run_detached(run: Callable[[Callable[[dict[str, Any]], None]], None]) -> dict[str, Any]:
    """Call `run` in a process of its own; gives what it says when it is ready, or raises what stopped it."""
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
