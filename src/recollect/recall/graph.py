"""The knowledge graph as one caller sees it: entities by name, what relates them, and the memories that prove it.

Every edge is read together with the memory that says so, through the caller's filter, so no path leads through what
they may not see. Names that mean the same are one entity: by spelling (`language/entities.py`), by what memories state
("Blaze is our billing service"), by a first name that only one person has here, and by what people have merged; what
they have split stays apart. Relations that people or files made are in the graph too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..errors import BadInput, NotFound
from ..history.asof import Past, held
from ..language.entities import KINDS, key_of
from ..language.relations import RELATIONS, SAME_AS, extract
from ..remember.mention import known_in
from ..store.contract import Store
from ..store.mentions import Edge, Mentioned
from ..types import Entity, Filter, Link, Noun, Scope

DIFFERS = "differs"  # a split: what would be taken for one entity is two
DIRECTIONS = ("out", "in", "both")
MAX_DEPTH, MAX_NODES = 4, 200
DEPENDENCIES = ("depends_on", "uses", "calls")  # what "dependents" and "dependencies" follow


@dataclass(frozen=True, slots=True)
class Node(Noun):
    """An entity: its name, other names, kind, how sure that is, how far from what was asked for, and what proves it."""

    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    confidence: float = 1.0
    hops: int = 0
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tie(Noun):
    """One relation with its proof: the memory that says so, and its words. What people made by hand has none."""

    TIMES = frozenset(("valid_from", "valid_to"))

    head: str
    relation: str
    tail: str
    confidence: float
    memory: str = ""
    quote: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Subgraph(Noun):
    """What a question to the graph gives: entities, nearest first, and relations with their proofs."""

    nodes: tuple[Node, ...]
    ties: tuple[Tie, ...]
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Knowledge:
    """The graph seen from a scope, now or as of a time; with `since` and `until`, what memories of that time say."""

    store: Store
    tenant: str
    scope: Scope
    now: datetime
    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    networks: tuple[str, ...] = ()
    timed: Callable[[int, float, int], None] = lambda hop, seconds, candidates: None
    _mentions: dict[str, list[Mentioned]] = field(default_factory=dict)
    _groups: dict[str, frozenset[str]] = field(default_factory=dict)
    _made: dict[str, list[Entity]] = field(default_factory=dict)

    # -- asking -------------------------------------------------------------------------------------------------------

    def query(
        self, entity: str, *, relations: Sequence[str] = (), direction: str = "both", depth: int = 1,
        kinds: Sequence[str] = (), limit: int = MAX_NODES,
    ) -> Subgraph:  # fmt: skip
        """What is related to an entity, up to so many steps away."""
        start = self._start(entity)
        hops = {start: 0}
        ties: dict[tuple[str, str, str, str], Edge] = {}
        frontier = [start]
        for step in range(1, depth + 1):
            reached: dict[str, None] = {}
            began, edges = time.perf_counter(), self._edges(frontier, direction, relations)
            for edge in edges:
                ends = self.root(edge.head), self.root(edge.tail)
                other = ends[1] if ends[0] in hops and hops[ends[0]] == step - 1 else ends[0]
                if ends[0] == ends[1] or (other not in hops and len(hops) >= limit):
                    continue
                ties.setdefault((ends[0], edge.relation, ends[1], edge.memory), edge)
                if other not in hops:
                    hops[other] = step
                    reached.setdefault(other)
            frontier = list(reached)
            self.timed(step, time.perf_counter() - began, len(edges))
        return self._told(hops, ties, kinds, start)

    def path(self, entity: str, to: str, *, depth: int = MAX_DEPTH) -> Subgraph:
        """The shortest way between two entities; empty where there is none within so many steps."""
        start, goal = self._start(entity), self._start(to)
        before: dict[str, tuple[str, Edge]] = {}
        frontier, seen = [start], {start}
        for _ in range(depth):
            if goal in seen:
                break
            reached: dict[str, None] = {}
            for edge in self._edges(frontier, "both", ()):
                head, tail = self.root(edge.head), self.root(edge.tail)
                for one, other in ((head, tail), (tail, head)):
                    if one in frontier and other not in seen:
                        seen.add(other)
                        before[other] = one, edge
                        reached.setdefault(other)
            frontier = list(reached)
        if goal not in seen:
            return Subgraph((), ())
        keys, ties = [goal], {}
        while keys[-1] != start:
            one, edge = before[keys[-1]]
            ties[self.root(edge.head), edge.relation, self.root(edge.tail), edge.memory] = edge
            keys.append(one)
        hops = {key: number for number, key in enumerate(reversed(keys))}
        told = self._told(hops, dict(reversed(ties.items())), (), start)
        return replace(told, path=tuple(self._node(key, 0).name for key in hops))

    def root(self, key: str) -> str:
        """The key that stands for all that mean the same."""
        return min(self.group(key), key=lambda one: (-len(self._mentioned(one)), one))

    def group(self, key: str) -> frozenset[str]:
        if key not in self._groups:
            found, todo = {key}, [key]
            while todo and len(found) < 20:
                one = todo.pop()
                fresh = self._alike(one) - found
                found |= fresh
                todo += sorted(fresh)
            whole = frozenset(found)
            self._groups |= dict.fromkeys(whole, whole)
        return self._groups[key]

    def _alike(self, key: str) -> set[str]:
        edges = [
            edge for column in ("head", "tail")
            for edge in self._visible(self.store.edges(self.tenant, [key], self._filter, column))
            if edge.relation == SAME_AS
        ]  # fmt: skip
        same = {end for edge in edges for end in (edge.head, edge.tail)} | self._by_short(key)
        for link, one, other in self._links([key]):
            if link.relation == SAME_AS:
                same |= {one, other}
            elif link.relation == DIFFERS:
                same -= {one, other} - {key}
        return same - {key}

    def _by_short(self, key: str) -> set[str]:
        """A first name that one person has, the bare name of one team; and the other way round."""
        own = self._mentioned(key)
        short = next((one.short for one in own if one.short), "") or key
        if own and not any(one.short or one.kind in ("person", "team", "") for one in own):
            return set()
        whole = {one.key for one in self.store.mentions(self.tenant, [short], self._filter, "short")}
        return whole | {short} if len(whole) == 1 else set()

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def _filter(self) -> Filter:
        when = {"since": self.since, "until": self.until, "networks": self.networks}
        return Filter(self.scope, states=(), **when) if self.as_of else Filter(self.scope, current_at=self.now, **when)  # type: ignore[arg-type]

    def _start(self, entity: str) -> str:
        key = key_of(entity)
        for one in (key, key_of(entity, "team"), key_of(entity, "person")):
            if self._mentioned(one) or self._made_of([one]):
                return self.root(one)
        if whole := self._by_short(key):
            return self.root(sorted(whole)[0])
        raise NotFound(f"Nothing here names {entity!r}.", fix="Look for it with: recollect recall")

    def _mentioned(self, key: str) -> list[Mentioned]:
        if key not in self._mentions:
            found = self.store.mentions(self.tenant, [key], self._filter, limit=20)
            if self.as_of and found:
                then = self._then([one.memory for one in found])
                found = [one for one in found if one.memory in then and key in then[one.memory][0]]
            self._mentions[key] = found
        return self._mentions[key]

    def _edges(self, roots: Sequence[str], direction: str, relations: Sequence[str]) -> list[Edge]:
        keys = sorted({key for root in roots for key in self.group(root)})
        found = []
        for column, way in (("head", "out"), ("tail", "in")):
            if direction in (way, "both"):
                found += self._visible(self.store.edges(self.tenant, keys, self._filter, column))
                for link, one, other in self._links(keys):
                    if (one if column == "head" else other) in keys:
                        found.append(Edge(one, link.relation, other, "", link.weight, link.reason))
        wanted = [edge for edge in found if edge.relation not in (SAME_AS, DIFFERS)]
        return [edge for edge in wanted if not relations or edge.relation in relations]

    def _visible(self, edges: list[Edge]) -> list[Edge]:
        """As of a time: what a memory said then, if it was known and held."""
        if self.as_of is None or not edges:
            return edges
        then = self._then([edge.memory for edge in edges])
        return [e for e in edges if e.memory in then and (e.head, e.relation, e.tail) in then[e.memory][1]]

    def _then(self, ids: Sequence[str]) -> dict[str, tuple[set[str], set[tuple[str, str, str]]]]:
        assert self.as_of is not None
        found = {}
        for id, memory in Past(self.store, self.tenant).memories(sorted(set(ids)), self.as_of).items():
            if memory.state == "active" and held(memory, self.as_of) and self.scope.sees(memory.scope):
                read = extract(f"{memory.title}\n{memory.content}")
                ties = {(tie.head, tie.relation, tie.tail) for tie in read.relations}
                found[id] = {one.key for one in read.entities}, ties
        return found

    def _made_of(self, keys: Sequence[str]) -> list[Entity]:
        """Entities of these keys that people or files made, and that are seen from here."""
        fresh = [key for key in keys if key not in self._made]
        if fresh:
            spelt = {name: key for key in fresh for name in spellings(key)}
            for key in fresh:
                self._made[key] = []
            for entity in self.store.entities_named(self.tenant, list(spelt)):
                if known_in(entity, self.scope) and (not self.as_of or entity.created_at <= self.as_of):
                    self._made[spelt[entity.name.lower()]].append(entity)
        return [entity for key in keys for entity in self._made[key]]

    def _links(self, keys: Sequence[str]) -> list[tuple[Link, str, str]]:
        """Relations between entities that people or files made, with the keys of both ends."""
        own = {entity.id: entity for entity in self._made_of(keys)}
        if not own:
            return []
        links = {
            link.id: link for column in ("origin", "target")
            for link in self.store.of(self.tenant, Link, list(own), column)
            if link.origin_kind == link.target_kind == "entity"
        }  # fmt: skip
        ends = [end for link in links.values() for end in (link.origin, link.target) if end not in own]
        own |= {e.id: e for e in self.store.of(self.tenant, Entity, ends) if known_in(e, self.scope)}
        return [
            (link, _key(own[link.origin]), _key(own[link.target]))
            for link in links.values()
            if link.origin in own and link.target in own and (not self.as_of or link.created_at <= self.as_of)
        ]  # fmt: skip

    # -- telling ------------------------------------------------------------------------------------------------------

    def _told(
        self, hops: dict[str, int], ties: dict[tuple[str, str, str, str], Edge], kinds: Sequence[str], start: str
    ) -> Subgraph:
        nodes = {key: self._node(key, number) for key, number in hops.items()}
        kept = {key for key, node in nodes.items() if not kinds or node.kind in kinds or key == start}
        return Subgraph(
            tuple(nodes[key] for key in hops if key in kept),
            tuple(
                Tie(
                    nodes[head].name, relation, nodes[tail].name, round(edge.confidence, 2), memory, edge.quote,
                    edge.valid_from, edge.valid_to,
                )
                for (head, relation, tail, memory), edge in ties.items()
                if head in kept and tail in kept
            ),
        )  # fmt: skip

    def _node(self, key: str, hops: int) -> Node:
        found = [one for own in self.group(key) for one in self._mentioned(own)]
        made = self._made_of(sorted(self.group(key)))
        names = {one.name: one.confidence for one in sorted(found, key=lambda one: (one.confidence, one.name))}
        names |= {entity.name: 1.0 for entity in made}
        name = max(names, key=lambda one: (key_of(one) == key, names[one], one), default=key)
        kinds = [one.kind for one in found if one.kind] or [entity.kind for entity in made]
        kind = max(sorted(set(kinds)), key=kinds.count, default="")
        memories = tuple(dict.fromkeys(one.memory for one in found))
        others = tuple(sorted({one for one in names if one != name}))
        return Node(name, kind, others, round(max(names.values(), default=1.0), 2), hops, memories[:10])


def _key(entity: Entity) -> str:
    return key_of(entity.name, entity.kind)


def spellings(key: str) -> list[str]:
    """How people may have written the name of an entity that they made by hand, in lower case.

    >>> spellings("auth")[:3]
    ['auth', 'auth-service', 'auth service']
    """
    words = key.split(" ")
    base = list(dict.fromkeys(joint.join(words) for joint in (" ", "-", "_", "")))
    team = [" ".join((*words[1:], "team"))] if words[0] == "team" and len(words) > 1 else []
    return [f"{one}{end}" for one in base for end in ("", "-service", " service", "service", "s")] + team


def checked(relation: str | None, direction: str, kinds: Sequence[str], depth: int) -> tuple[str, ...]:
    """The relations that a question names: one of ours, `dependents` or `dependencies`, or any a person made."""
    if direction not in DIRECTIONS:
        raise BadInput(f"direction must be one of {', '.join(DIRECTIONS)}, not {direction!r}.")
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise BadInput(f"There is no kind {unknown[0]!r}.", fix=f"It is one of: {', '.join(KINDS)}.")
    if not 1 <= depth <= MAX_DEPTH:
        raise BadInput(f"depth must be from 1 to {MAX_DEPTH}, not {depth}.")
    if not relation:
        return ()
    named = relation.strip().lower().replace(" ", "_")
    return DEPENDENCIES if named in ("dependents", "dependencies") else (named,) if named in RELATIONS else (relation,)
