"""Tools: what an assistant may call over MCP, and in which profiles they are listed.

Most tools are operations. `tools.toml` declares the others: the vocabularies of other memory systems, the nine tools of
the reference knowledge-graph server, and `find_tools` and `batch`, which reach all the rest. A connection lists `core`
unless it asks for other profiles, because a model pays for every tool it is shown. A result is short text; data is sent
only if a tool declares an `output` schema, because assistants then show the model only the data.

Observations of the graph are memories, so recall finds them. `tests/test_graph.py` runs the same calls against the
reference server.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, RecollectError
from ..graph import Found, Graph, Node, Relation
from ..language import terms
from ..language.keywords import keywords as found_in
from ..nouns import wire
from ..ops.advice import for_model
from ..ops.catalogue import BY_NAME, BY_NOUN
from ..ops.operation import Operation, load
from ..ops.parameters import read
from ..recall.fence import neutral_data
from ..types import Remembered

CATEGORIES = {"anti-patterns": "anti-pattern", "patterns": "pattern", "heuristics": "heuristic"}
MAX_CALLS = 50
MAX_LISTED = 12  # tools of the default profile, these two among them
_LATER = re.compile(r"\$(\d+)((?:\.\w+)*)")
Json = dict[str, Any]


def _run(engine: Engine, caller: Caller, operation: str, **values: Any) -> Any:
    """Run an operation with values that the tool has read already, for a caller who has its right."""
    return BY_NAME[operation].run(engine, caller, **{name: one for name, one in values.items() if one is not None})


def _add(engine: Engine, caller: Caller, *, entry_type: str = "fact", **fields: Any) -> Remembered:
    found: Remembered = _run(engine, caller, "remember", kind=entry_type, **fields)
    return found


def _added(result: Remembered, now: datetime) -> str:
    told: dict[str, Any] = {
        "id": result.id or None, "created": result.action == "created", "duplicate": result.action == "duplicate",
    }  # fmt: skip
    if result.action == "refused":
        told["refused"] = result.reason
    if result.redacted:
        told["redacted"] = list(result.redacted)
    return json.dumps(told, ensure_ascii=False)


def _search(engine: Engine, caller: Caller, *, entry_types: list[str] | None = None, **given: Any) -> Any:
    return _run(engine, caller, "recall", kinds=entry_types, **given)


def _delete(engine: Engine, caller: Caller, *, id: str) -> bool:
    return bool(_run(engine, caller, "forget", id=id).memories)


def _deleted(gone: bool, now: datetime) -> str:
    return json.dumps({"deleted": gone})


def _store(
    engine: Engine,
    caller: Caller,
    *,
    name: str,
    description: str,
    reasoning: str,
    category: str,
    references: list[str],
    keywords: list[str],
) -> Remembered:
    for field, value in (("name", name), ("reasoning", reasoning)):
        if not value.strip():
            raise BadInput(f"{field} is empty.", fix="name, description and reasoning are all needed.")
    found: Remembered = _run(
        engine, caller, "remember", title=name, content=description, reasoning=reasoning, kind=CATEGORIES[category],
        refs=references, keywords=keywords or found_in(description),
    )  # fmt: skip
    return found


def _array(item: Json) -> Json:
    return {"type": "array", "items": item}


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TEXT: Json = {"type": "string"}
_NODE = _object(name=_TEXT, entityType=_TEXT, observations=_array(_TEXT))
_TIE = _object(**{"from": _TEXT, "to": _TEXT, "relationType": _TEXT})
GRAPH = _object(entities=_array(_NODE), relations=_array(_TIE))
ENTITIES, RELATIONS = _object(entities=_array(_NODE)), _object(relations=_array(_TIE))
RESULTS = _object(results=_array(_object(entityName=_TEXT, addedObservations=_array(_TEXT))))
DONE = _object(success={"type": "boolean"}, message=_TEXT)


def _graph(engine: Engine, caller: Caller) -> Graph:
    return engine.graph(caller.scope({}), caller.wall)


def _node(node: Node) -> Json:
    told = {"name": node.name, "entityType": node.kind, "observations": list(node.observations)}
    return dict(neutral_data(told))


def _tie(one: Relation) -> Json:
    return dict(neutral_data({"from": one.origin, "to": one.target, "relationType": one.relation}))


def _told(found: Found) -> Json:
    return {"entities": [_node(node) for node in found.nodes], "relations": [_tie(one) for one in found.relations]}


def _ties(given: Sequence[Json]) -> list[Relation]:
    return [Relation(one["from"], one["relationType"], one["to"]) for one in given]


def _pretty(found: Json, now: datetime) -> str:
    """The data as text; one list without its name."""
    return json.dumps(found if len(found) > 1 else next(iter(found.values())), ensure_ascii=False, indent=2)


def _message(found: Json, now: datetime) -> str:
    return str(found["message"])


def _success(message: str) -> Json:
    return {"success": True, "message": message}


def _create_entities(engine: Engine, caller: Caller, *, entities: Sequence[Json]) -> Json:
    nodes = [Node(one["name"], one["entityType"], tuple(one["observations"])) for one in entities]
    return {"entities": [_node(node) for node in _graph(engine, caller).create(nodes)]}


def _create_relations(engine: Engine, caller: Caller, *, relations: Sequence[Json]) -> Json:
    return {"relations": [_tie(one) for one in _graph(engine, caller).relate(_ties(relations))]}


def _add_observations(engine: Engine, caller: Caller, *, observations: Sequence[Json]) -> Json:
    told = _graph(engine, caller).observe([(one["entityName"], one["contents"]) for one in observations])
    pairs = zip(observations, told, strict=True)
    return {"results": [{"entityName": one["entityName"], "addedObservations": said} for one, said in pairs]}


def _delete_entities(engine: Engine, caller: Caller, **given: Sequence[str]) -> Json:
    _graph(engine, caller).remove(given["entityNames"])
    return _success("Entities deleted successfully")


def _delete_observations(engine: Engine, caller: Caller, *, deletions: Sequence[Json]) -> Json:
    _graph(engine, caller).unsay([(one["entityName"], one["observations"]) for one in deletions])
    return _success("Observations deleted successfully")


def _delete_relations(engine: Engine, caller: Caller, *, relations: Sequence[Json]) -> Json:
    _graph(engine, caller).unrelate(_ties(relations))
    return _success("Relations deleted successfully")


def _read_graph(engine: Engine, caller: Caller) -> Json:
    return _told(_graph(engine, caller).read())


def _search_nodes(engine: Engine, caller: Caller, *, query: str) -> Json:
    return _told(_graph(engine, caller).find(query))


def _open_nodes(engine: Engine, caller: Caller, *, names: Sequence[str]) -> Json:
    return _told(_graph(engine, caller).open(names))


def _find(engine: Engine, caller: Caller, *, query: str, limit: int, schemas: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for tool in ranked(query, [tool for tool in TOOLS.values() if tool.mcp not in ("find_tools", "batch")])[:limit]:
        told = {"name": tool.mcp, "call": tool.signature(), "what": tool.about, "profiles": _profiles_of(tool)}
        found.append(told | ({"schema": tool.schema(rare=False)} if schemas else {}))
    return found


def ranked(query: str, tools: Sequence[Operation]) -> list[Operation]:
    """The tools that share words with the query, best first: a word counts by its rarity, and twice in a name."""
    wanted = set(terms.of_query(query))
    names = {tool.mcp: set(terms.of_query(f"{tool.mcp} {tool.title}")) for tool in tools}
    texts = {tool.mcp: names[tool.mcp] | set(terms.of_query(tool.about)) for tool in tools}
    weight = {word: math.log(1 + len(tools) / (1 + sum(word in one for one in texts.values()))) for word in wanted}
    scores = {
        tool.mcp: sum(weight[word] * (2 if word in names[tool.mcp] else 1) for word in wanted & texts[tool.mcp])
        for tool in tools
    }
    return sorted((tool for tool in tools if scores[tool.mcp] > 0), key=lambda tool: -scores[tool.mcp])


def _profiles_of(tool: Operation) -> list[str]:
    return [name for name, tools in PROFILES.items() if tool in tools]


def _found(tools: list[dict[str, Any]], now: datetime) -> str:
    if not tools:
        return f"No tool fits. The profiles are: {', '.join(PROFILES)}."
    lines = []
    for tool in tools:
        lines.append(f"{tool['call']} [{', '.join(tool['profiles'])}]: {tool['what']}")
        if "schema" in tool:
            lines.append(f"  schema: {json.dumps(tool['schema'], ensure_ascii=False, separators=(',', ':'))}")
    return "\n".join([*lines, "Call one that is not listed with batch."])


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
        if any(tool.mcp == "batch" for tool in self._tools):
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

    def _one(self, number: int, call: dict[str, Any], tool: Operation) -> Done:
        try:
            given = {name: self._earlier(value) for name, value in (call.get("arguments") or {}).items()}
            result = tool.call(self._engine, self._caller, given, loose=True)
            self._results.append(wire(result))
            if fields := call.get("fields"):
                picked = {field: _pick(self._results[-1], field.split(".")) for field in fields}
                return Done(number, tool.mcp, json.dumps(neutral_data(picked), ensure_ascii=False))
            return Done(number, tool.mcp, tool.text(result))
        except RecollectError as error:
            self._results.append(None)
            return Done(number, tool.mcp, f"failed ({error.code}): {for_model(error)}", failed=True)

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


def _batched(batch: Batch, now: datetime) -> str:
    return batch.text()


def _tools(noun: str, *others: str) -> tuple[Operation, ...]:
    return tuple(one for one in (*BY_NOUN[noun], *(BY_NAME[name] for name in others)) if one.mcp)


# Left to the profile `full`: what a model asks for less often.
_RARE = ("evidence", "stats", "usage", "pending", "approve")
_EXTRA = {one.name: replace(one, mcp=one.name) for one in load("serve.tools")}
_REACHING = (_EXTRA["find_tools"], BATCH := _EXTRA["batch"])
_OWN = _tools("memories", "usage")
PROFILES: dict[str, tuple[Operation, ...]] = {
    "core": (*(one for one in _OWN if one.name not in _RARE), *_REACHING),
    "full": (*_OWN, *_tools("history"), *_tools("answers"), BY_NAME["reject_handoff"], *_tools("graph"), *_REACHING),
    "memory": tuple(
        BY_NAME["stats"] if name == "stats" else _EXTRA[f"memory_{name}"]
        for name in ("add", "search", "get", "stats", "delete")
    ),
    "capture": (_EXTRA["store_memory"],),
    "review": (
        BY_NAME["pending"],
        BY_NAME["approve"],
        replace(BY_NAME["reject"], mcp="reject_pending_memory", title="Reject a pending memory"),
    ),
    "project": _tools("project", "why"),
    "reference": tuple(one for one in _EXTRA.values() if one.output),
    "librarian": _tools("answers"),
    "history": _tools("history"),
    "agents": tuple(one for one in _tools("agents") if one.name != "reject_handoff"),
    "graph": _tools("graph"),
}
TOOLS: dict[str, Operation] = {one.mcp: one for tools in PROFILES.values() for one in tools}


def _named(names: str) -> list[str]:
    return [name.strip().lower() for name in names.split(",") if name.strip()] or ["core"]


def own(names: str) -> bool:
    """Whether the profiles, named with commas between, have the tools of `core` among them."""
    return not {"core", "full"}.isdisjoint(_named(names))


def listed(names: str) -> list[Operation]:
    """The tools of profiles, named with commas between; of `core` when none is named."""
    chosen = _named(names)
    if unknown := [name for name in chosen if name not in PROFILES]:
        raise BadInput(f"There is no tool profile {unknown[0]!r:.60}.", fix=f"The profiles are: {', '.join(PROFILES)}.")
    return list({tool.mcp: tool for name in chosen for tool in PROFILES[name]}.values())


def tool_named(name: str) -> Operation:
    if name not in TOOLS:
        raise BadInput(f"There is no tool {name!r:.60}.", fix="Look for one with find_tools.")
    return TOOLS[name]
