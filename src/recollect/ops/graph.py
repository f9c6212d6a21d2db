"""The graph: what relates to an entity, which names are one, and recall in steps.

A verb holds the caller's wall: the graph is made of the memories that they see, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..graph import Node as Made
from ..graph import Relation
from ..language.relations import SAME_AS
from ..recall.fence import HEADER, neutral
from ..recall.graph import DIFFERS, Node, Subgraph, checked
from ..recall.steps import NextRecall
from ..types import Scope
from . import words
from .folders import seen
from .memories import looked, split

READ_AT_ONCE = 500  # memories whose entities are read before a question about the graph is answered


def graph_query(
    engine: Engine, caller: Caller, *, entity: str, to: str = "", relation: str = "", direction: str = "both",
    depth: int = 1, types: Sequence[str] = (), **values: Any,
) -> Subgraph:  # fmt: skip
    moments, places = split(values)
    relations = checked(relation, direction, types, depth)
    if relation in ("dependents", "dependencies"):
        direction = "in" if relation == "dependents" else "out"
    with engine.watch.span("recollect.graph_query"):
        if engine.has_unread():  # where no daemon reads them in the background
            engine.extract_entities(most=READ_AT_ONCE)
        known = engine.knowledge(seen(engine, caller, places), **moments)
        if to:
            return known.path(entity, to)
        return known.query(entity, relations=relations, direction=direction, depth=depth, kinds=types)


def entity_merge(engine: Engine, caller: Caller, *, entity: str, other: str, **places: Any) -> Node:
    return _state(engine, caller, entity, other, places, SAME_AS, DIFFERS)


def entity_split(engine: Engine, caller: Caller, *, entity: str, other: str, **places: Any) -> Node:
    return _state(engine, caller, entity, other, places, DIFFERS, SAME_AS)


def entity_summaries(engine: Engine, caller: Caller) -> dict[str, int]:
    engine.extract_entities()
    return {"summaries": engine.observer.refresh()}


def _state(
    engine: Engine, caller: Caller, entity: str, other: str, places: dict[str, Any], relation: str, opposite: str
) -> Node:
    """Write that two names are one entity, or are not; what was said before to the contrary goes."""
    scope: Scope = caller.scope(places)
    kinds = {name: engine.knowledge(scope).query(name).nodes[0].kind for name in (entity, other)}
    graph = engine.graph(scope, caller.wall)
    graph.create([Made(name, kind or "entity") for name, kind in kinds.items()])
    graph.unrelate([Relation(entity, opposite, other), Relation(other, opposite, entity)])
    graph.relate([Relation(entity, relation, other)])
    engine.forget_recalls()
    return engine.knowledge(scope).query(entity).nodes[0]


def recall_next(
    engine: Engine, caller: Caller, *, question: str, thoughts: Sequence[str] = (), shown: Sequence[str] = (),
    limit: int = 5, networks: Sequence[str] = (), **places: Any,
) -> NextRecall:  # fmt: skip
    scope = seen(engine, caller, places)
    found = engine.recall_next(question, thoughts=thoughts, shown=shown, scope=scope, limit=limit, networks=networks)
    looked(engine, caller, [hit.memory for hit in found.hits], "recall")
    return found


# -- wording ----------------------------------------------------------------------------------------------------------


def say_query(result: Subgraph, now: datetime) -> str:
    if not result.nodes:
        return "No path within four steps."
    lines = [f"path: {' -> '.join(map(neutral, result.path))}"] if result.path else []
    lines += [_node(node) for node in result.nodes]
    for tie in result.ties:
        proof = f" [{tie.memory}] {neutral(tie.quote)}" if tie.memory else ""
        lines.append(f"{neutral(tie.head)} {tie.relation} {neutral(tie.tail)}{proof}")
    return "\n".join([HEADER, *lines])


def _node(node: Node) -> str:
    also = f", also {', '.join(map(neutral, node.aliases))}" if node.aliases else ""
    return f"{'  ' * node.hops}{neutral(node.name)} ({node.kind or 'unknown'}{also})"


def say_summaries(result: dict[str, int], now: datetime) -> str:
    return f"{result['summaries']} summaries made, renewed or ended."


def say_merged(result: Node, now: datetime) -> str:
    return f"One entity: {_node(result)}"


def say_split(result: Node, now: datetime) -> str:
    return f"Apart now: {_node(result)}"


def say_next(result: NextRecall, now: datetime) -> str:
    lines = [words.memory_line(hit.memory) for hit in result.hits] or ["Nothing new."]
    lines += [f"Still open: {', '.join(map(neutral, result.open))}"] if result.open else []
    lines.append("Another step may help." if result.helps else "Another step will probably not help.")
    return "\n".join([HEADER, *lines])
