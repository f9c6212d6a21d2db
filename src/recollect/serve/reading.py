"""What the command line asks of the daemon over the Unix socket (`cli.warm`), so that it need not load the model."""

from __future__ import annotations

import json
import time
from typing import Any

from ..agents.access import local
from ..agents.home import at_home
from ..engine import Engine
from ..errors import RecollectError
from ..ops.catalogue import BY_NAME
from ..ops.operation import Operation
from ..project import brief, signals
from ..recall.loading import LOADING
from ..types import Noun, Scope
from .wire import dumps

BRIEF = "brief of a folder"  # which the operation `brief` is not: here the command line says what it wants
# Seconds that a question waits for a model that is being loaded; a brief must not take long.
PATIENCE = {"recall": 20.0, "context": 20.0, "ask": 20.0, BRIEF: 1.0}
STEP = 0.05


def _brief(engine: Engine, *, wanted: dict[str, Any], seconds: float) -> Noun:
    asked = brief.BriefRequest(**{**wanted, "scope": Scope(**wanted["scope"])})
    return brief.build(engine, asked, signals.Deadline(seconds))


def _operation(name: str) -> Operation | None:
    found = BY_NAME.get(name)
    return found if found and found.read_only and found.returned != "str" else None


def alike(memory: Engine, body: bytes) -> dict[str, Any] | None:
    """The question, if it is answered here as it would be by a process of its own."""
    asked: dict[str, Any] = json.loads(body)
    known = asked.get("verb") == BRIEF or _operation(str(asked.get("verb")))
    return asked if known and asked.get("settings") == memory.settings.fingerprint() else None


def answer(memory: Engine, asked: dict[str, Any]) -> bytes:
    """What the operation gives, or the error it ends in, as it is sent."""
    verb, place = asked["verb"], Scope(user=asked["user"], project=asked["project"])
    _wait(memory, PATIENCE.get(verb, 0.0))
    try:
        caller = at_home(local(asked["tenant"], asked["actor"], place), asked["folder"])
        engine = memory.for_caller(tenant=asked["tenant"], actor=asked["actor"], at=place)
        operation = _operation(verb)
        found = operation.call(engine, caller, asked["given"]) if operation else _brief(engine, **asked["given"])
        return dumps({"result": found})
    except RecollectError as error:
        return json.dumps({"error": error.as_dict()}).encode()


def _wait(memory: Engine, seconds: float) -> None:
    """Until the model is there: a process of its own would wait for it too."""
    deadline = time.monotonic() + seconds
    while memory.model()[1] == LOADING and time.monotonic() < deadline:
        time.sleep(STEP)
