"""What waits for the agent that calls, as a line in its context, its brief and the start of its session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import text
from ..agents.access import Caller
from ..engine import MIN_BUDGET, TOKENS, Engine
from ..project.brief import append_line
from ..recall.context import Context
from ..recall.fence import neutral

SHOWN, MAX_TASK = 5, 120  # handoffs that are named, and characters of each


def waiting_note(engine: Engine, caller: Caller) -> str:
    """The handoffs that wait for who calls; nothing where there is none, or they are no agent."""
    found = engine.handoffs.waiting(caller, caller.agent) if caller.agent else []
    if not found:
        return ""
    head = "1 handoff waits for you" if len(found) == 1 else f"{len(found)} handoffs wait for you"
    lines = [f"- {one.id}: {neutral(text.shorten(one.task, MAX_TASK)).replace(chr(10), ' ')}" for one in found[:SHOWN]]
    return "\n".join([f"**{head}** (accept_handoff takes one over):", *lines])


def noted(note: str, options: dict[str, Any], build: Callable[[], Context]) -> Context:
    """A context with a note at its end, within its budget; without it where there is no room."""
    room = int(options["budget"]) - TOKENS(f"\n{note}\n")
    if not note or room < MIN_BUDGET:
        return build()
    options["budget"] = room
    made = build()
    whole = append_line(made.text, note)
    return replace(made, text=whole, tokens=TOKENS(whole))
