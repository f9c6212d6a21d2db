"""The nine tools of the reference knowledge-graph memory server, on our store, with its names, arguments and results.

What differs is behind them. Observations are memories, so recall finds them, secrets are taken out of them and a
person can look up where they came from. What is deleted leaves the graph and recall and stays in the history. A
relation needs both of its entities. When no name, type or observation has the words of a search in it, `search_nodes`
gives the entities that fit its meaning. `tests/test_graph.py` runs the same calls against the original.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..graph import Found, Graph, Node, Relation
from ..ops.parameters import Parameter
from ..recall.fence import neutral_data
from .toolbox import Tool

P = Parameter
_ENTITY = (
    P("name", "text", "What it is called, such as Ana or billing-service."),
    P("entityType", "text", "What sort of thing it is, such as person or service."),
    P("observations", "texts", "What is known of it, one statement each."),
)
_RELATION = (
    P("from", "text", "The entity that does or has it."),
    P("to", "text", "The entity it is done to."),
    P("relationType", "text", "What ties them, in the active voice: owns, depends on."),
)
Json = dict[str, Any]


def _listed(item: Json) -> Json:
    return {"type": "array", "items": item}


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TEXT: Json = {"type": "string"}
_NODE = _object(name=_TEXT, entityType=_TEXT, observations=_listed(_TEXT))
_TIE = _object(**{"from": _TEXT, "to": _TEXT, "relationType": _TEXT})
_GRAPH = _object(entities=_listed(_NODE), relations=_listed(_TIE))
_DONE = _object(success={"type": "boolean"}, message=_TEXT)


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


def _pretty(name: str = "") -> Callable[[Json], str]:
    """The data as text; where it is one list under a name, the list."""
    return lambda found: json.dumps(found[name] if name else found, ensure_ascii=False, indent=2)


def _message(found: Json) -> str:
    return str(found["message"])


def _success(message: str) -> Json:
    return {"success": True, "message": message}


# -- telling ----------------------------------------------------------------------------------------------------------


def _create_entities(engine: Engine, caller: Caller, *, entities: Sequence[Json]) -> Json:
    nodes = [Node(one["name"], one["entityType"], tuple(one["observations"])) for one in entities]
    return {"entities": [_node(node) for node in _graph(engine, caller).create(nodes)]}


def _create_relations(engine: Engine, caller: Caller, *, relations: Sequence[Json]) -> Json:
    return {"relations": [_tie(one) for one in _graph(engine, caller).relate(_ties(relations))]}


def _add_observations(engine: Engine, caller: Caller, *, observations: Sequence[Json]) -> Json:
    told = _graph(engine, caller).observe([(one["entityName"], one["contents"]) for one in observations])
    pairs = zip(observations, told, strict=True)
    return {"results": [{"entityName": one["entityName"], "addedObservations": said} for one, said in pairs]}


# -- taking back ------------------------------------------------------------------------------------------------------


def _delete_entities(engine: Engine, caller: Caller, **given: Sequence[str]) -> Json:
    _graph(engine, caller).remove(given["entityNames"])
    return _success("Entities deleted successfully")


def _delete_observations(engine: Engine, caller: Caller, *, deletions: Sequence[Json]) -> Json:
    _graph(engine, caller).unsay([(one["entityName"], one["observations"]) for one in deletions])
    return _success("Observations deleted successfully")


def _delete_relations(engine: Engine, caller: Caller, *, relations: Sequence[Json]) -> Json:
    _graph(engine, caller).unrelate(_ties(relations))
    return _success("Relations deleted successfully")


# -- reading ----------------------------------------------------------------------------------------------------------


def _read_graph(engine: Engine, caller: Caller) -> Json:
    return _told(_graph(engine, caller).read())


def _search_nodes(engine: Engine, caller: Caller, *, query: str) -> Json:
    return _told(_graph(engine, caller).find(query))


def _open_nodes(engine: Engine, caller: Caller, *, names: Sequence[str]) -> Json:
    return _told(_graph(engine, caller).open(names))


TOOLS = (
    Tool(
        "create_entities", "Create Entities",
        "Put people, services and other things into the knowledge graph, with what is known of each.",
        (P("entities", "objects", "The entities; names that are there already are passed over.", fields=_ENTITY),),
        _create_entities, _pretty("entities"), "write", output=_object(entities=_listed(_NODE)),
    ),
    Tool(
        "create_relations", "Create Relations",
        "Tie entities of the knowledge graph to one another, in the active voice: Ana owns billing.",
        (P("relations", "objects", "The relations; known ones are passed over.", fields=_RELATION),),
        _create_relations, _pretty("relations"), "write", output=_object(relations=_listed(_TIE)),
    ),
    Tool(
        "add_observations", "Add Observations", "Tell more of entities that are in the knowledge graph already.",
        (P("observations", "objects", "What to add, by entity.", fields=(
            P("entityName", "text", "The entity it is about."),
            P("contents", "texts", "What is new, one statement each."))),),
        _add_observations, _pretty("results"), "write",
        output=_object(results=_listed(_object(entityName=_TEXT, addedObservations=_listed(_TEXT)))),
    ),
    Tool(
        "delete_entities", "Delete Entities",
        "Take entities out of the knowledge graph, with their relations.",
        (P("entityNames", "texts", "What they are called."),),
        _delete_entities, _message, "write", destructive=True, idempotent=True, output=_DONE,
    ),
    Tool(
        "delete_observations", "Delete Observations",
        "Take back what was told of entities, and keep the entities.",
        (P("deletions", "objects", "What to take back, by entity.", fields=(
            P("entityName", "text", "The entity it was told of."),
            P("observations", "texts", "The statements, word for word."))),),
        _delete_observations, _message, "write", destructive=True, idempotent=True, output=_DONE,
    ),
    Tool(
        "delete_relations", "Delete Relations", "Untie entities of the knowledge graph.",
        (P("relations", "objects", "The relations, as they were told.", fields=_RELATION),),
        _delete_relations, _message, "write", destructive=True, idempotent=True, output=_DONE,
    ),
    Tool(
        "read_graph", "Read Graph",
        "The whole knowledge graph: every entity, what is known of it, and every relation.",
        (), _read_graph, _pretty(), read_only=True, idempotent=True, output=_GRAPH,
    ),
    Tool(
        "search_nodes", "Search Nodes",
        "Find entities of the knowledge graph by a word of their name, type or observations, else by meaning.",
        (P("query", "text", "The word or question."),),
        _search_nodes, _pretty(), read_only=True, idempotent=True, output=_GRAPH,
    ),
    Tool(
        "open_nodes", "Open Nodes", "Look up entities of the knowledge graph by name, with the relations among them.",
        (P("names", "texts", "What they are called."),),
        _open_nodes, _pretty(), read_only=True, idempotent=True, output=_GRAPH,
    ),
)  # fmt: skip
