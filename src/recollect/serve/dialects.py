"""Dialects: the same operations under the names that prompts written for other memory systems use.

Each tool is a few lines over an operation, so that rights, walls, redaction and everything else hold here too. Three
vocabularies are spoken: `memory` (add, search, get, stats, delete), `capture` (store_memory, for learnings in the
middle of a session) and `review` (what waits for somebody).
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput
from ..ops.catalogue import BY_NAME
from ..ops.operation import DRAFT, FILTERS, ID, LOOKED
from ..ops.parameters import Parameter
from ..recall.query import MAX_LIMIT
from ..types import KINDS, Remembered
from .toolbox import Tool, of_operation

P = Parameter
CATEGORIES = {"anti-patterns": "anti-pattern", "patterns": "pattern", "heuristics": "heuristic"}
_QUERY = P("query", "text", "What to look for, in plain words.", aliases=("q", "text", "question"))
_LIMIT = P("limit", "whole", "At most so many.", 10, aliases=("k", "top_k", "n"), least=1, most=MAX_LIMIT)


def _draft(*names: str) -> tuple[P, ...]:
    known = {one.name: one for one in (*DRAFT, *FILTERS)}
    return tuple(replace(known[name], rare=False) for name in names)


def _now() -> datetime:
    return datetime.now(UTC)


def _done(engine: Engine, caller: Caller, operation: str, **values: Any) -> Any:
    """Run an operation with values that the tool has read already, for a caller who has its right."""
    return BY_NAME[operation].run(engine, caller, **{name: one for name, one in values.items() if one is not None})


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
         *_draft("tags"), LOOKED[0]),
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
