"""Dialects: the same operations under the names that prompts written for other memory systems use.

Each tool is a few lines over an operation, so that rights, walls, redaction and everything else hold here too. Four
vocabularies are spoken: `memory` (add, search, get, stats, delete), `capture` (store_memory, for learnings in the
middle of a session), `review` (what waits for somebody) and `project` (search, incidents, the task at hand,
provenance).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput
from ..recall.query import MAX_LIMIT
from ..types import KINDS, Memory, Remembered
from . import words
from .operation import DRAFT, FILTERS, ID, PLACED
from .ops import BY_NAME
from .parameters import Parameter
from .toolbox import Tool, of_operation

P = Parameter
CATEGORIES = {"anti-patterns": "anti-pattern", "patterns": "pattern", "heuristics": "heuristic"}
SEVERITIES = {"critical": 10, "high": 9, "medium": 7, "low": 5}
AT_HAND = "task-context"  # the tag of the task that is being worked on
_QUERY = P("query", "text", "What to look for, in plain words.", aliases=("q", "text", "question"))
_LIMIT = P("limit", "whole", "At most so many.", 10, aliases=("k", "top_k", "n"), least=1, most=MAX_LIMIT)
_PROJECT = PLACED[0]


def _draft(*names: str) -> tuple[P, ...]:
    known = {one.name: one for one in (*DRAFT, *FILTERS)}
    return tuple(replace(known[name], rare=False) for name in names)


def _now() -> datetime:
    return datetime.now(UTC)


def _done(engine: Engine, caller: Caller, operation: str, **given: Any) -> Any:
    return BY_NAME[operation].call(engine, caller, {name: value for name, value in given.items() if value is not None})


def _say(operation: str) -> Any:
    return BY_NAME[operation].text


# -- memory: add, search, get, stats, delete --------------------------------------------------------------------------


def _add(engine: Engine, caller: Caller, *, entry_type: str = "fact", **fields: Any) -> Remembered:
    found: Remembered = _done(engine, caller, "remember", kind=entry_type, **fields)
    return found


def _added(result: Remembered) -> str:
    told: dict[str, Any] = {
        "id": result.id or None, "created": result.action == "created", "duplicate": result.action == "duplicate",
    }  # fmt: skip
    if result.action == "refused":
        told["refused"] = result.reason
    if result.redacted:
        told["redacted"] = list(result.redacted)
    return json.dumps(told, ensure_ascii=False)


def _search(engine: Engine, caller: Caller, *, entry_types: list[str] | None = None, **given: Any) -> Any:
    return _done(engine, caller, "recall", kinds=entry_types, **given)


def _delete(engine: Engine, caller: Caller, *, id: str) -> bool:
    return bool(_done(engine, caller, "forget", id=id).memories)


MEMORY = (
    Tool(
        "memory_add", "Add a memory", "Store a fact, preference, decision or anything else worth keeping, with its "
        "type, importance and tags. The same content is stored once: the answer says whether it was new.",
        (DRAFT[0],
         P("entry_type", "text", "What it is.", "fact", choices=KINDS, aliases=("entryType", "type", "kind")),
         P("source", "text", "Where it comes from.", None),
         P("context", "text", "What stood around it.", None),
         *_draft("confidence", "importance", "tags", "expires_at", "project")),
        _add, _added, "write",
    ),
    Tool(
        "memory_search", "Search memory", "Find memories by meaning and words, best first. Use it before answering "
        "anything that may be known from earlier sessions.",
        (_QUERY, _LIMIT,
         P("entry_types", "texts", "Only these types.", None, choices=KINDS, aliases=("entryTypes", "types", "kinds")),
         P("min_importance", "whole", "At least so important.", None, least=1, most=10, aliases=("minImportance",)),
         *_draft("tags", "project")),
        _search, _say("recall"), read_only=True, idempotent=True,
    ),
    Tool("memory_get", "Get a memory", "Read one memory whole, by its id.", (ID,), BY_NAME["get"].run, _say("get"),
         read_only=True, idempotent=True),
    of_operation(BY_NAME["stats"]),
    Tool(
        "memory_delete", "Delete a memory", "Take a memory out of search, by its id. A person can bring it back.",
        (ID,), _delete, lambda gone: json.dumps({"deleted": gone}), "write", destructive=True, idempotent=True,
    ),
)  # fmt: skip


# -- capture: a learning in the middle of a session -------------------------------------------------------------------


def _store(
    engine: Engine, caller: Caller, *, name: str, description: str, reasoning: str, category: str, references: list[str]
) -> Remembered:
    for field, value in (("name", name), ("reasoning", reasoning)):
        if not value.strip():
            raise BadInput(f"{field} is empty.", fix="name, description and reasoning are all needed.")
    found: Remembered = _done(
        engine, caller, "remember", title=name, content=description, reasoning=reasoning, kind=CATEGORIES[category],
        refs=references,
    )  # fmt: skip
    return found


CAPTURE = (
    Tool(
        "store_memory", "Store a learning", "Save what was just learnt, while it is fresh: the cause of a bug, a "
        "pattern that worked, a trap to avoid. Say what was learnt and how it was found out.",
        (P("name", "text", "A short title."),
         P("description", "text", "What was learnt."),
         P("reasoning", "text", "Why it matters, or how it was found out."),
         P("category", "text", "What sort of learning it is.", choices=tuple(CATEGORIES)),
         P("references", "texts", "Files, features or projects it is about.", ())),
        _store, _say("remember"), "write",
    ),
)  # fmt: skip


# -- review: what waits for a person ----------------------------------------------------------------------------------

REVIEW = (
    of_operation(BY_NAME["pending"]),
    of_operation(BY_NAME["approve"]),
    replace(of_operation(BY_NAME["reject"]), name="reject_pending_memory", title="Reject a pending memory"),
)


# -- project: search, incidents, the task at hand, provenance ---------------------------------------------------------


def _incident(
    engine: Engine, caller: Caller, *, summary: str, severity: str, lessons: str = "", project: str | None = None
) -> Remembered:
    found: Remembered = _done(
        engine, caller, "remember", content=summary, kind="incident", tags=["incident", severity],
        importance=SEVERITIES[severity], reasoning=lessons or None, project=project,
    )  # fmt: skip
    return found


def _tasks(engine: Engine, caller: Caller, project: str | None) -> Sequence[Memory]:
    """The tasks at hand, newest first: of this project, and nobody else's."""
    own = project or caller.home.project or None
    found: Sequence[Memory] = _done(engine, caller, "list", kinds=["task"], tags=[AT_HAND], project=own).memories
    return [memory for memory in found if memory.scope.project == (own or "")]


def _set_task(
    engine: Engine, caller: Caller, *, task: str, details: dict[str, Any] | None = None, project: str | None = None
) -> Remembered:
    told = "" if not details else "\n" + "\n".join(f"{name}: {value}" for name, value in details.items())
    before = _tasks(engine, caller, project)
    made: Remembered = _done(
        engine, caller, "remember", content=f"Current task: {task}{told}", kind="task", tags=[AT_HAND], importance=8,
        project=project,
    )  # fmt: skip
    for old in before:
        if made.memory and old.id != made.id:
            _done(engine, caller, "link", origin=made.id, relation="supersedes", target=old.id)
    return made


def _get_task(engine: Engine, caller: Caller, *, project: str | None = None) -> list[Memory]:
    return list(_tasks(engine, caller, project)[:1])


def _update(engine: Engine, caller: Caller, *, id: str, value: str, source: str) -> Memory:
    found: Memory = _done(engine, caller, "edit", id=id, content=value, reason=f"source: {source}")
    return found


def _provenance(engine: Engine, caller: Caller, *, id: str) -> dict[str, Any]:
    proof = _done(engine, caller, "evidence", id=id)
    return {**proof, "history": _done(engine, caller, "history", id=id)}


def _proved(found: dict[str, Any]) -> str:
    return f"{words.proved(found, _now())}\n{words.history(found['history'], _now())}"


_KEY = P("id", "text", "The id of the memory.", aliases=("key", "memory_id"))
PROJECT = (
    Tool(
        "semantic_search", "Search the project's memory", "Find decisions, incidents, conventions and anything else "
        "that bears on a question, by meaning. Use it before designing, changing or explaining something.",
        (_QUERY, _LIMIT, FILTERS[0], _PROJECT),
        BY_NAME["recall"].run, _say("recall"), read_only=True, idempotent=True,
    ),
    Tool(
        "ingest_incident", "Record an incident", "Keep what went wrong in production and what was learnt from it, so "
        "that the same change is not made again.",
        (P("summary", "text", "What happened, and the cause."),
         P("severity", "text", "How bad it was.", "medium", choices=tuple(SEVERITIES)),
         P("lessons", "text", "What was learnt.", ""), _PROJECT),
        _incident, _say("remember"), "write",
    ),
    Tool(
        "set_task_context", "Set the task at hand", "Keep what is being worked on, so that the next session can go on "
        "with it. A new task takes the place of the one before.",
        (P("task", "text", "What is being worked on."), P("details", "map", "Anything more, by name.", None), _PROJECT),
        _set_task, _say("remember"), "write", idempotent=True,
    ),
    Tool(
        "get_task_context", "Get the task at hand", "What was being worked on. Use it at the start of a session.",
        (_PROJECT,), _get_task,
        lambda found: "\n".join(words.memory_line(memory) for memory in found) or "No task is set.",
        read_only=True, idempotent=True,
    ),
    Tool(
        "update_memory", "Replace a memory", "Replace what a memory says; its history keeps what it said before and "
        "where the new text comes from.",
        (_KEY, P("value", "text", "What it says from now on."), P("source", "text", "Where that comes from.")),
        _update, _say("edit"), "write", idempotent=True,
    ),
    Tool(
        "invalidate_memory", "Invalidate a memory", "Take what no longer holds out of search, with the reason.",
        (_KEY, P("reason", "text", "Why it no longer holds.")),
        BY_NAME["forget"].run, _say("forget"), "write", destructive=True, idempotent=True,
    ),
    Tool(
        "get_memory_provenance", "Provenance of a memory", "Where a memory came from and every change of it. Use it "
        "when asked how something is known.",
        (_KEY,), _provenance, _proved, read_only=True, idempotent=True,
    ),
)  # fmt: skip
