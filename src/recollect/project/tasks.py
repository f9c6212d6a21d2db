"""The current task of a user and project (and branch): a memory of kind `task` that supersedes the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..engine import Engine
from ..errors import BadInput
from ..recall.task import AT_HAND, LEAD, MOST, task_of
from ..types import Memory, Remembered, Scope

MAX_DETAILS = 50


def set_task(engine: Engine, scope: Scope, task: str, details: Mapping[str, Any] | None = None) -> Remembered:
    """Keep a task as the one at hand in a scope."""
    if not task.strip():
        raise BadInput("task is empty.", fix="Say what is being worked on.")
    if details and len(details) > MAX_DETAILS:
        raise BadInput(f"details has {len(details)} entries; the limit is {MAX_DETAILS}.")
    where = replace(scope, agent="", session="")
    before = of(engine, where)
    lines = [f"{LEAD}{task.strip()}", *(_line(name, value) for name, value in (details or {}).items())]
    made = engine.remember("\n".join(lines), kind="task", tags=[AT_HAND], importance=8, scope=where)
    if made.memory:
        for old in before:
            if old.id != made.id:
                engine.link(made.id, "supersedes", old.id, reason="another task is at hand")
    return made


def _line(name: str, value: Any) -> str:
    """A detail as a person writes it down.

    >>> print(_line("steps", ["read", {"do": "fix", "done": True}]))
    steps:
    - read
    - do: fix, done: yes
    """
    if isinstance(value, list | tuple):
        return "\n".join([f"{name}:", *(f"- {_words(one)}" for one in value)])
    return f"{name}: {_words(value)}"


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def get_task(engine: Engine, scope: Scope) -> Memory | None:
    """The task at hand: that of the branch where there is one, else that of the project."""
    return task_of(_all(engine, Scope(scope.user, scope.project)), scope)


def of(engine: Engine, scope: Scope) -> list[Memory]:
    """The tasks of just this user, project and branch, newest first."""
    return [memory for memory in _all(engine, scope) if memory.scope == scope]


def _all(engine: Engine, scope: Scope) -> Sequence[Memory]:
    return engine.list(scope=scope, kinds=("task",), tags=(AT_HAND,), limit=MOST).memories
