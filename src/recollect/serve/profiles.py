"""Profiles: which tools a connection lists, and the two tools that reach all the others.

A model pays for every tool it is shown, so a connection lists `core` unless it asks for others by `?tools=core,memory`,
by the header `Recollect-Tools`, or by `recollect mcp --tools`. Nothing is out of reach for that: `find_tools` searches
the tools of all profiles and tells how one is called, and `batch` calls any of them, several in one round trip,
giving back only what was asked for. A later call of a batch may take a value from an earlier one: `$0.memory.id`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, RecollectError
from ..language import terms
from ..ops import answers, history, memories, project
from ..ops.advice import for_model
from ..ops.catalogue import BY_NAME
from ..ops.parameters import Parameter, read
from ..recall.fence import neutral_data
from . import dialects, entities
from .toolbox import Tool, of_operation
from .wire import wire

P = Parameter
MAX_CALLS = 50
MAX_LISTED = 12  # tools of the default profile, these two among them
_LATER = re.compile(r"\$(\d+)((?:\.\w+)*)")

# -- finding tools ----------------------------------------------------------------------------------------------------


def _find(engine: Engine, caller: Caller, *, query: str, limit: int, schemas: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for tool in ranked(query, [tool for tool in TOOLS.values() if tool.name not in ("find_tools", "batch")])[:limit]:
        told = {"name": tool.name, "call": tool.signature(), "what": tool.description, "profiles": _profiles_of(tool)}
        found.append(told | ({"schema": tool.schema()} if schemas else {}))
    return found


def ranked(query: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools that share words with the query, best first: a word counts by its rarity, and twice in a name."""
    wanted = set(terms.of_query(query))
    names = {tool.name: set(terms.of_query(f"{tool.name} {tool.title}")) for tool in tools}
    texts = {tool.name: names[tool.name] | set(terms.of_query(tool.description)) for tool in tools}
    weight = {word: math.log(1 + len(tools) / (1 + sum(word in one for one in texts.values()))) for word in wanted}
    scores = {
        tool.name: sum(weight[word] * (2 if word in names[tool.name] else 1) for word in wanted & texts[tool.name])
        for tool in tools
    }
    return sorted((tool for tool in tools if scores[tool.name] > 0), key=lambda tool: -scores[tool.name])


def _profiles_of(tool: Tool) -> list[str]:
    return [name for name, tools in PROFILES.items() if tool in tools]


def _found(tools: list[dict[str, Any]]) -> str:
    if not tools:
        return f"No tool fits. The profiles are: {', '.join(PROFILES)}."
    lines = []
    for tool in tools:
        lines.append(f"{tool['call']} [{', '.join(tool['profiles'])}]: {tool['what']}")
        if "schema" in tool:
            lines.append(f"  schema: {json.dumps(tool['schema'], ensure_ascii=False, separators=(',', ':'))}")
    return "\n".join([*lines, "Call one that is not listed with batch."])


# -- several calls in one ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one call of a batch."""

    number: int
    tool: str
    text: str
    failed: bool = False


class Batch:
    """The calls of one batch, one after the other; iterate to run them, and look at `done` for what came of them."""

    def __init__(self, engine: Engine, caller: Caller, given: Mapping[str, Any]) -> None:
        values = read(BATCH.parameters, given, loose=True)
        self.calls: list[dict[str, Any]] = values["calls"]
        if not 1 <= len(self.calls) <= MAX_CALLS:
            raise BadInput(f"calls must have from 1 to {MAX_CALLS} entries, not {len(self.calls)}.")
        self._tools = [tool_named(call["tool"]) for call in self.calls]
        if any(tool.name == "batch" for tool in self._tools):
            raise BadInput("A batch cannot call batch.")
        self._go_on: bool = values["keep_going"]
        self._engine = engine
        self._caller = caller
        self._results: list[Any] = []
        self.done: list[Done] = []

    def __iter__(self) -> Iterator[Done]:
        for number, (call, tool) in enumerate(zip(self.calls, self._tools, strict=True)):
            done = self._one(number, call, tool)
            self.done.append(done)
            yield done
            if done.failed and not self._go_on:
                return

    def _one(self, number: int, call: dict[str, Any], tool: Tool) -> Done:
        try:
            given = {name: self._earlier(value) for name, value in (call.get("arguments") or {}).items()}
            result = tool.call(self._engine, self._caller, given)
            self._results.append(wire(result))
            if fields := call.get("fields"):
                picked = {field: _pick(self._results[-1], field.split(".")) for field in fields}
                return Done(number, tool.name, json.dumps(neutral_data(picked), ensure_ascii=False))
            return Done(number, tool.name, tool.say(result))
        except RecollectError as error:
            self._results.append(None)
            return Done(number, tool.name, f"failed ({error.code}): {for_model(error)}", failed=True)

    def _earlier(self, value: Any) -> Any:
        """The value, or what an earlier call gave where it says so."""
        if isinstance(value, list):
            return [self._earlier(one) for one in value]
        if not isinstance(value, str) or not (later := _LATER.fullmatch(value)):
            return value
        number, path = int(later[1]), later[2].split(".")[1:]
        if number >= len(self._results):
            raise BadInput(f"{value}: call {number} does not come before this one.")
        found = _pick(self._results[number], path)
        if found is None:
            raise BadInput(f"{value}: call {number} gave nothing of that name.")
        return found

    def text(self) -> str:
        """What was asked for: results that are not quiet, every failure, and how many calls were not made."""
        told = [
            f"{one.number} {one.tool}: {one.text}"
            for one in self.done
            if one.failed or not self.calls[one.number].get("quiet")
        ]
        if left := len(self.calls) - len(self.done):
            told.append(f"{left} more not called, because of the failure.")
        return "\n".join(told) or f"{len(self.done)} done."

    @property
    def failed(self) -> bool:
        return any(one.failed for one in self.done)


def _pick(value: Any, path: Sequence[str]) -> Any:
    """What lies at a path of names and numbers; `*` is every item.

    >>> _pick({"hits": [{"id": "a"}, {"id": "b"}]}, ["hits", "*", "id"])
    ['a', 'b']
    """
    for place, name in enumerate(path):
        if name == "*" and isinstance(value, list):
            return [_pick(one, path[place + 1 :]) for one in value]
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _run_batch(engine: Engine, caller: Caller, **values: Any) -> Batch:
    batch = Batch(engine, caller, values)
    for _ in batch:
        pass
    return batch


FIND_TOOLS = Tool(
    "find_tools", "Find tools", "Search every tool of this server, also those that are not listed: knowledge graph, "
    "provenance, incidents, the task at hand, statistics. Use it when the listed tools do not do what is needed; then "
    "call what was found with batch.",
    (
        P("query", "text", "What the tool should do, in plain words.", aliases=("q", "text")),
        P("limit", "whole", "At most so many.", 5, aliases=("k", "top_k"), least=1, most=50),
        P("schemas", "flag", "With the JSON Schema of the arguments.", False),
    ),
    _find, _found, read_only=True, idempotent=True,
)  # fmt: skip
BATCH = Tool(
    "batch", "Several calls at once", "Call several tools in one round trip, in order, and get back only what is "
    "needed: nothing of a `quiet` call, and of any other only its `fields`. A string argument `$0.memory.id` is taken "
    "from the result of call 0. Use it to store several things, to recall several topics, or to call a tool that "
    "find_tools found.",
    (
        P("calls", "objects", "The calls, at most 50.", fields=(
            P("tool", "text", "The name of the tool.", aliases=("name",)),
            P("arguments", "map", "Its arguments.", None, aliases=("args", "input")),
            P("fields", "texts", "Only these of the result, such as hits.*.memory.content.", None),
            P("quiet", "flag", "Give nothing of the result back unless it fails.", False))),
        P("keep_going", "flag", "Go on after a call that failed.", False),
    ),
    _run_batch, Batch.text, "read", destructive=True,
)  # fmt: skip

# -- the profiles -----------------------------------------------------------------------------------------------------

_SHOWN = (*memories.OPERATIONS, BY_NAME["usage"])
_OWN = {operation.name: of_operation(operation) for operation in _SHOWN if operation.mcp}
# Left to the profile `full`: what a model asks for less often.
_RARE = ("evidence", "stats", "usage", "pending", "approve")
_LIBRARIAN = tuple(of_operation(operation) for operation in answers.OPERATIONS if operation.mcp)
_HISTORY = tuple(of_operation(operation) for operation in history.OPERATIONS if operation.mcp)
PROFILES: dict[str, tuple[Tool, ...]] = {
    "core": (*(tool for name, tool in _OWN.items() if name not in _RARE), FIND_TOOLS, BATCH),
    "full": (*_OWN.values(), *_HISTORY, *_LIBRARIAN, FIND_TOOLS, BATCH),
    "memory": dialects.MEMORY,
    "capture": dialects.CAPTURE,
    "review": dialects.REVIEW,
    "project": (*(of_operation(operation) for operation in project.OPERATIONS), of_operation(BY_NAME["why"])),
    "reference": entities.TOOLS,
    "librarian": _LIBRARIAN,
    "history": _HISTORY,
}
TOOLS: dict[str, Tool] = {tool.name: tool for tools in PROFILES.values() for tool in tools}


def _named(names: str) -> list[str]:
    return [name.strip().lower() for name in names.split(",") if name.strip()] or ["core"]


def own(names: str) -> bool:
    """Whether the profiles, named with commas between, have the tools of `core` among them."""
    return not {"core", "full"}.isdisjoint(_named(names))


def listed(names: str) -> list[Tool]:
    """The tools of profiles, named with commas between; of `core` when none is named."""
    chosen = _named(names)
    if unknown := [name for name in chosen if name not in PROFILES]:
        raise BadInput(f"There is no tool profile {unknown[0]!r:.60}.", fix=f"The profiles are: {', '.join(PROFILES)}.")
    return list({tool.name: tool for name in chosen for tool in PROFILES[name]}.values())


def tool_named(name: str) -> Tool:
    if name not in TOOLS:
        raise BadInput(f"There is no tool {name!r:.60}.", fix="Look for one with find_tools.")
    return TOOLS[name]
