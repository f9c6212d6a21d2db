"""Resources: what an assistant may read by address.

`memory://…` are memories, `project://memory/…` is what a project decided, suffered and agreed on, seen from the home of
the connection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import NotFound
from ..ops import words
from ..ops.catalogue import BY_NAME
from ..recall.fence import HEADER, neutral, neutral_data
from ..recall.query import MAX_LIMIT
from ..types import Memory

ITEM = "memory://items/"
SHOWN = 20
CONVENTIONS = ("rule", "preference", "pattern", "anti-pattern")
OVER = {"resolved", "closed", "fixed"}  # tags of an incident that is no longer open
DEPENDENCIES = ("depends_on", "uses", "implements", "calls", "configures", "owned_by", "caused_by", "had_incident")


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Engine, Caller], str]


def _visible(engine: Engine, caller: Caller, most: int, **filters: Any) -> list[Memory]:
    """The newest memories that hold where the caller is at home."""
    own, cursor = caller.home.project, None
    seen: list[Memory] = []
    while len(seen) < most:
        page = BY_NAME["list"].call(engine, caller, {"project": "", "limit": MAX_LIMIT, "cursor": cursor, **filters})
        seen += [memory for memory in page.memories if not own or memory.scope.project in ("", own)]
        cursor = page.cursor
        if not cursor:
            break
    return seen[:most]


def _listed(memories: Sequence[Memory], nothing: str) -> str:
    return "\n".join([HEADER, *(words.memory_line(memory, 600) for memory in memories)]) if memories else nothing


def _recent(engine: Engine, caller: Caller) -> str:
    found = _visible(engine, caller, SHOWN)
    now = datetime.now(UTC)
    return "\n".join([HEADER, *(words.title_line(memory, now) for memory in found)]) if found else "No memories yet."


def _decisions(engine: Engine, caller: Caller) -> str:
    return _listed(_visible(engine, caller, SHOWN, kinds=["decision"]), "No decisions are remembered.")


def _incidents(engine: Engine, caller: Caller) -> str:
    found = [one for one in _visible(engine, caller, 200, kinds=["incident"]) if not OVER & set(one.tags)]
    return _listed(found[:SHOWN], "No open incidents are remembered.")


def _conventions(engine: Engine, caller: Caller) -> str:
    found = sorted(_visible(engine, caller, 200, kinds=list(CONVENTIONS)), key=lambda memory: -memory.importance)
    return _listed(found[:50], "No conventions are remembered.")


def _dependencies(engine: Engine, caller: Caller) -> str:
    caller.may("read", "Reading")
    ties = engine.graph(caller.scope({}), caller.wall).ties(DEPENDENCIES)
    lines = [neutral(f"{one.origin} {one.relation} {one.target}").replace("\n", " ") for one in ties]
    return "\n".join([HEADER, *lines]) if lines else "No dependencies are remembered."


def _task(engine: Engine, caller: Caller) -> str:
    operation = BY_NAME["get_task_context"]
    return operation.text(operation.call(engine, caller, {}))


def _state(engine: Engine, caller: Caller) -> str:
    operation = BY_NAME["project_state"]
    return operation.text(operation.call(engine, caller, {"commits": SHOWN}))


RESOURCES = (
    Resource("memory://recent", "recent", "Recent memories", "The newest memories, a line each.", _recent),
    Resource(
        "project://memory/recent_decisions", "recent_decisions", "Recent decisions",
        "What was decided lately, and why.", _decisions,
    ),
    Resource(
        "project://memory/active_incidents", "active_incidents", "Open incidents",
        "Incidents that are not tagged resolved, with what was learnt.", _incidents,
    ),
    Resource(
        "project://memory/conventions", "conventions", "Conventions",
        "Rules, preferences and patterns to keep to, the most important first.", _conventions,
    ),
    Resource(
        "project://memory/dependency_graph", "dependency_graph", "Dependency graph",
        "What depends on, uses or calls what, as remembered links say.", _dependencies,
    ),
    Resource(
        "project://memory/task_context", "task_context", "The task at hand",
        "What is being worked on, where the repository stands, and what bears on it.", _task,
    ),
    Resource(
        "project://memory/repository", "repository", "The repository",
        "Branch, what is staged and what is not, and the last commits.", _state,
    ),
)  # fmt: skip
_BY_URI = {resource.uri: resource for resource in RESOURCES}


def read(engine: Engine, caller: Caller, uri: str) -> tuple[str, str]:
    """The text at an address, and its type."""
    if resource := _BY_URI.get(uri):
        return resource.read(engine, caller), "text/plain"
    if not uri.startswith(ITEM):
        raise NotFound(f"There is no resource {uri!r:.200}.", fix=f"There are: {', '.join(_BY_URI)}, {ITEM}ID.")
    memory: Memory = BY_NAME["get"].call(engine, caller, {"id": uri.removeprefix(ITEM)})
    return json.dumps(neutral_data(memory.as_dict()), ensure_ascii=False, indent=2), "application/json"
