"""What the command line asks of the daemon, so that it need not load the model itself: the other end of `warm`.

It is asked over the Unix socket only, whose file mode says who may, and knows no wall: whoever may use the socket may
open the store as well. A question that a process of its own would answer differently is refused, and then that process
answers it by itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from ..agents.access import Caller, local
from ..agents.home import at_home
from ..engine import Engine
from ..errors import RecollectError
from ..ops import answers as answer_ops
from ..ops import verbs
from ..project import brief, signals
from ..recall.loading import LOADING
from ..types import Noun, Scope

LOADED = 20.0  # seconds that a question waits for a model that is being loaded
SOON = 1.0  # seconds that a brief does, which must not take long
STEP = 0.05


def _brief(engine: Engine, caller: Caller, *, wanted: dict[str, Any], seconds: float) -> Noun:
    asked = brief.Wanted(**{**wanted, "scope": Scope(**wanted["scope"])})
    return brief.make(engine, asked, signals.Deadline(seconds))


VERBS: dict[str, Callable[..., Noun]] = {
    "recall": verbs.recall,
    "context": verbs.context,
    "ask": answer_ops.ask,
    "brief": _brief,
}


def alike(memory: Engine, body: bytes) -> dict[str, Any] | None:
    """The question, if it is answered here as it would be by a process of its own."""
    asked: dict[str, Any] = json.loads(body)
    return asked if asked.get("verb") in VERBS and asked.get("settings") == memory.settings.fingerprint() else None


def answer(memory: Engine, asked: dict[str, Any]) -> bytes:
    """What the verb gives, or the error it ends in, as it is sent."""
    _wait(memory, SOON if asked["verb"] == "brief" else LOADED)
    place = Scope(user=asked["user"], project=asked["project"])
    try:
        caller = at_home(local(asked["tenant"], asked["actor"], place), asked["folder"])
        engine = memory.beside(tenant=asked["tenant"], actor=asked["actor"], at=place)
        told = {"result": VERBS[asked["verb"]](engine, caller, **asked["given"]).as_dict()}
    except RecollectError as error:
        return json.dumps({"error": error.as_dict()}).encode()
    return json.dumps(told).encode()


def _wait(memory: Engine, seconds: float) -> None:
    """Until the model is there: a process of its own would wait for it too."""
    deadline = time.monotonic() + seconds
    while memory.model()[1] == LOADING and time.monotonic() < deadline:
        time.sleep(STEP)
