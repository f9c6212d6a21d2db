"""The graph: entities by name, observations about them, and relations between them.

An observation is a memory that mentions the entity ("name: observation"), so it is found by recall, has a source and a
history, and can be forgotten. A relation is a link between two entities, of any type. An entity belongs to a user or
everybody, and to a project or all, as a memory does; its key is made of user and name, so one user never sees
another's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from .checks import MAX_NAME, Cleaner
from .errors import BadInput, Forbidden, NotFound, TooLarge
from .redact import redact
from .remember.mention import ABOUT, entity_key, known_in
from .remember.write import present
from .store.contract import Store, Transaction
from .text import title_of
from .types import Draft, Entity, Link, Memory, Noun, Recall, Remembered, Scope, Source

HAD_INCIDENT = "had_incident"  # the one relation of an entity to a memory
MAX_READ = 10_000  # entities that are read at once
MAX_GIVEN = 1000  # nodes, relations or observations in one request


@dataclass(frozen=True, slots=True)
class Node(Noun):
    """An entity with what is known of it."""

    name: str
    kind: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation(Noun):
    origin: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Found(Noun):
    """Some of the graph: nodes, and every relation that touches one of them."""

    nodes: tuple[Node, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Verbs:
    """What the graph needs of the engine: the one write path, the one read path, and fresh ids."""

    remember: Callable[[list[Draft]], Sequence[Remembered]]
    recall: Callable[[str], Recall]
    new_id: Callable[[datetime], str]


@dataclass(frozen=True, slots=True)
class Graph:
    _store: Store
    _tenant: str
    _actor: str
    _now: Callable[[], datetime]
    _scope: Scope
    _inside: Scope
    _verbs: Verbs
    _cleaner: Cleaner = field(default_factory=lambda: Cleaner(MAX_NAME, redact))

    # -- telling ------------------------------------------------------------------------------------------------------

    def create(self, nodes: Sequence[Node], source: Source | None = None) -> list[Node]:
        """Make entities of names that are not there yet, with what is known of them; gives the new ones."""
        given = [Node(self._name(n.name), self._name(n.kind, "entityType"), n.observations) for n in _bounded(nodes)]
        fresh: dict[str, tuple[Entity, Node]] = {}
        with self._changing() as changes:
            taken = {entity.name for entity in self._named([node.name for node in given])}
            for number, node in enumerate(given):
                if node.name not in taken and node.name not in fresh:
                    moment = self._now() + timedelta(microseconds=number)
                    key = entity_key(self._scope.stored().user, node.name)
                    entity = Entity(
                        self._verbs.new_id(moment), node.kind, node.name, key, self._scope.project, moment
                    )  # fmt: skip
                    changes.put(entity, "create")
                    fresh[node.name] = entity, node
        told = self._tell([(entity, node.observations) for entity, node in fresh.values()], source)
        return [
            Node(entity.name, entity.kind, tuple(said)) for (entity, _), said in zip(fresh.values(), told, strict=True)
        ]

    def observe(
        self, observations: Sequence[tuple[str, Sequence[str]]], source: Source | None = None
    ) -> list[list[str]]:
        """Say more of entities that are there; gives what was new of each. When one is missing, nothing is said."""
        entities = [self._one(name) for name, _ in _bounded(observations)]
        return self._tell([(entity, said) for entity, (_, said) in zip(entities, observations, strict=True)], source)

    def _tell(self, sayings: Sequence[tuple[Entity, Sequence[str]]], source: Source | None) -> list[list[str]]:
        pairs = [(number, entity, words) for number, (entity, said) in enumerate(sayings) for words in _bounded(said)]
        if not pairs:
            return [[] for _ in sayings]
        drafts = []
        for _, entity, words in pairs:
            if not isinstance(words, str):
                raise BadInput(f"An observation must be text, not {type(words).__name__}.")
            drafts.append(Draft(f"{entity.name}: {words}", scope=self._scope, source=source))
        results = self._verbs.remember(drafts)
        told: list[list[str]] = [[] for _ in sayings]
        with self._changing() as changes:
            known = {(link.origin, link.target) for link in self._links([e.id for e, _ in sayings], "target")}
            for order, ((number, entity, _), result) in enumerate(zip(pairs, results, strict=True)):
                if result.memory is None or (result.id, entity.id) in known:
                    continue
                moment = self._now() + timedelta(microseconds=order)
                link = Link(
                    self._verbs.new_id(moment), result.id, ABOUT, entity.id, target_kind="entity", created_at=moment
                )
                changes.put(link, "link")
                known.add((result.id, entity.id))
                told[number].append(_said(entity, result.memory))
        return told

    def relate(self, relations: Sequence[Relation]) -> list[Relation]:
        """Tie entities together; gives the relations that are new. When an entity is missing, nothing is tied."""
        ends = [
            (self._owned(self._one(one.origin)), self._name(one.relation, "relationType"), self._one(one.target))
            for one in _bounded(relations)
        ]
        fresh = []
        with self._changing() as changes:
            known = {
                (link.origin, link.relation, link.target) for link in self._links([end[0].id for end in ends], "origin")
            }
            for order, (origin, relation, target) in enumerate(ends):
                if (origin.id, relation, target.id) in known:
                    continue
                moment = self._now() + timedelta(microseconds=order)
                link = Link(
                    self._verbs.new_id(moment), origin.id, relation, target.id, "entity", "entity", created_at=moment
                )  # fmt: skip
                changes.put(link, "link")
                known.add((origin.id, relation, target.id))
                fresh.append(Relation(origin.name, relation, target.name))
        return fresh

    def attach(self, ties: Sequence[tuple[str, str, str]]) -> int:
        """Tie entities to memories: `(name, relation, memory's id)`; gives how many ties are new.

        A service had an incident; of every other relation the memory is the origin. What is not there is passed over.
        """
        named = {entity.name: entity.id for entity in reversed(self._named([name for name, _, _ in ties]))}
        fresh = 0
        with self._changing() as changes:
            known = {
                (link.origin, link.relation, link.target): link.id
                for column in ("origin", "target")
                for link in self._links(list(named.values()), column)
            }
            for order, (name, relation, memory) in enumerate(ties):
                if name not in named or changes.get(Memory, memory) is None:
                    continue
                ends = [(memory, "memory"), (named[name], "entity")]
                (origin, one), (target, other) = reversed(ends) if relation == HAD_INCIDENT else ends
                if wrong := known.pop((target, relation, origin), ""):  # as an older version wrote it
                    changes.drop(Link, wrong, "unlink", "it was the wrong way round")
                if (origin, relation, target) not in known:
                    moment = self._now() + timedelta(microseconds=order)
                    link = Link(self._verbs.new_id(moment), origin, relation, target, one, other, created_at=moment)
                    changes.put(link, "link")
                    known[origin, relation, target] = link.id
                    fresh += 1
        return fresh

    # -- taking back --------------------------------------------------------------------------------------------------

    def remove(self, names: Sequence[str]) -> int:
        """Forget entities with what is known of them alone, and their relations; gives how many there were."""
        gone = [self._owned(entity) for entity in self._named(_bounded(names))]
        ids = {entity.id for entity in gone}
        with self._changing() as changes:
            links = [*self._links(list(ids), "target"), *self._links(list(ids), "origin")]
            about = {link.origin for link in links if link.origin_kind == "memory" and link.relation == ABOUT}
            shared = {link.origin for link in self._links(list(about), "origin") if link.target not in ids}
            for memory in about - shared:
                self._archive(changes, memory, passing=True)
            for link in {link.id: link for link in links}.values():
                changes.drop(Link, link.id, "unlink")
            for entity in gone:
                changes.drop(Entity, entity.id, "forget")
        return len(gone)

    def unsay(self, observations: Sequence[tuple[str, Sequence[str]]]) -> int:
        """Forget single observations; names and observations that are not there are passed over."""
        wanted: dict[str, set[str]] = {}
        for name, said in _bounded(observations):
            wanted.setdefault(name, set()).update(_bounded(said))
        entities = self._named(list(wanted))
        gone = [
            memory
            for entity, memories in self._known(entities)
            for memory in memories
            if _said(entity, memory) in wanted[entity.name]
        ]
        with self._changing() as changes:
            for memory in gone:
                self._archive(changes, memory.id)
        return len(gone)

    def unrelate(self, relations: Sequence[Relation]) -> int:
        """Untie entities; relations that are not there are passed over."""
        origins = [self._owned(entity) for entity in self._named([one.origin for one in _bounded(relations)])]
        names = {entity.id: entity.name for entity in origins}
        names |= {entity.id: entity.name for entity in self._named([one.target for one in relations])}
        wanted = {(one.origin, one.relation, one.target) for one in relations}
        with self._changing() as changes:
            gone = [
                link for link in self._links([entity.id for entity in origins], "origin")
                if (names[link.origin], link.relation, names.get(link.target)) in wanted
            ]  # fmt: skip
            for link in gone:
                changes.drop(Link, link.id, "unlink")
        return len(gone)

    def _archive(self, changes: Transaction, id: str, *, passing: bool = False) -> None:
        """Take a memory out of recall; another's is left alone in passing, and refused where it was meant."""
        memory = present(changes, id)
        if not self._inside.contains(memory.scope):
            if passing:
                return
            raise Forbidden(f"Memory {memory.id} is not yours to forget.")
        if memory.state in ("active", "pending"):
            changes.put(replace(memory, state="archived"), "forget")

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, most: int = MAX_READ) -> Found:
        """The whole graph that can be seen here."""
        seen = self._all()
        if len(seen) > most:
            raise TooLarge(
                f"The graph has {len(seen)} entities; at most {most} are read at once.",
                fix="Search it, or write it to a file: recollect export --reference",
            )
        return self._found(seen)

    def open(self, names: Sequence[str]) -> Found:
        """The entities of these names; names that are not there are passed over."""
        return self._found(self._named(_bounded(names)))

    def find(self, query: str) -> Found:
        """The entities whose name, kind or observations have the query in them; when none has, those that fit it."""
        words = self._cleaner.text(query, "query", 10_000).lower()
        seen = self._all()
        known = self._known(seen)
        fitting = [
            entity for entity, memories in known
            if words in entity.name.lower() or words in entity.kind.lower()
            or any(words in _said(entity, memory).lower() for memory in memories)
        ]  # fmt: skip
        if not fitting and words:
            answer = self._verbs.recall(query)
            hits = [] if answer.weak else [hit.memory.id for hit in answer.hits]
            ranks: dict[str, int] = {}
            for link in self._links(hits, "origin"):
                ranks[link.target] = min(ranks.get(link.target, len(hits)), hits.index(link.origin))
            fitting = sorted((e for e in seen if e.id in ranks), key=lambda entity: ranks[entity.id])
        return self._found(fitting)

    def ties(self, relations: Sequence[str]) -> list[Relation]:
        """Every tie of these sorts between things that can be seen here: entities by name, memories by title."""
        found: list[Link] = []
        after = ""
        while len(found) < MAX_READ and (batch := self._store.all(self._tenant, Link, after, 1000)):
            found.extend(link for link in batch if link.relation in relations)
            after = batch[-1].id
        ends = {link.origin for link in found} | {link.target for link in found}
        names = {e.id: e.name for e in self._store.of(self._tenant, Entity, sorted(ends)) if self._sees(e)}
        for memory in self._store.memories(self._tenant, sorted(ends)).values():
            if memory.state == "active" and self._scope.sees(memory.scope):
                names[memory.id] = memory.title or title_of(memory.content)
        return [
            Relation(names[link.origin], link.relation, names[link.target])
            for link in sorted(found, key=_when)
            if link.origin in names and link.target in names
        ]

    def _found(self, entities: Sequence[Entity]) -> Found:
        nodes = [
            Node(e.name, e.kind, tuple(_said(e, memory) for memory in known)) for e, known in self._known(entities)
        ]
        ids = [entity.id for entity in entities]
        links = {link.id: link for column in ("origin", "target") for link in self._links(ids, column)}
        ties = [link for link in links.values() if link.origin_kind == "entity" and link.target_kind == "entity"]
        ends = self._store.of(self._tenant, Entity, [end for link in ties for end in (link.origin, link.target)])
        names = {entity.id: entity.name for entity in ends if self._sees(entity)}
        relations = [
            Relation(names[link.origin], link.relation, names[link.target])
            for link in sorted(ties, key=_when)
            if link.origin in names and link.target in names
        ]
        return Found(tuple(nodes), tuple(relations))

    def _known(self, entities: Sequence[Entity]) -> list[tuple[Entity, list[Memory]]]:
        """Each entity with the memories about it that can be seen here, in the order they were told."""
        links = sorted(self._links([entity.id for entity in entities], "target"), key=_when)
        about = [link for link in links if link.origin_kind == "memory" and link.relation == ABOUT]
        memories = self._store.memories(self._tenant, [link.origin for link in about])
        known: dict[str, list[Memory]] = {entity.id: [] for entity in entities}
        for link in about:
            memory = memories.get(link.origin)
            if memory and memory.state == "active" and self._scope.sees(memory.scope):
                known[link.target].append(memory)
        return [(entity, known[entity.id]) for entity in entities]

    def _all(self) -> list[Entity]:
        seen: list[Entity] = []
        after = ""
        while batch := self._store.all(self._tenant, Entity, after, 1000):
            seen.extend(entity for entity in batch if self._sees(entity))
            after = batch[-1].id
        return sorted(seen, key=_when)

    def _named(self, names: Sequence[str]) -> list[Entity]:
        """The entities of these names that can be seen here, each once."""
        wanted = {name for name in names if isinstance(name, str)}
        if not self._scope.user:  # whose they are does not matter, so the key is not known
            return [entity for entity in self._all() if entity.name in wanted]
        keys = [entity_key(user, name) for name in wanted for user in ("", self._scope.user)]
        return sorted((e for e in self._store.of(self._tenant, Entity, keys, "key") if self._sees(e)), key=_when)

    def _one(self, name: str) -> Entity:
        found = self._named([self._name(name)])
        if not found:
            raise NotFound(f"Entity with name {name} not found.", fix="Create it first with create_entities.")
        return found[0]

    def _sees(self, entity: Entity) -> bool:
        return known_in(entity, self._scope)

    def _owned(self, entity: Entity) -> Entity:
        project, users = self._inside.project, self._inside.allowed("user", inside=True)
        keys = [entity_key(user, entity.name) for user in users]
        if (project and entity.project != project) or (keys and entity.key not in keys):
            raise Forbidden(
                f"The entity {entity.name} is not yours to change.", fix="Say what is new in one of your own."
            )
        return entity

    # -- small parts --------------------------------------------------------------------------------------------------

    def _links(self, ids: Sequence[str], column: str) -> list[Link]:
        return self._store.of(self._tenant, Link, ids, column) if ids else []

    def _changing(self) -> AbstractContextManager[Transaction]:
        return self._store.transaction(self._tenant, self._actor, self._now())

    def _name(self, value: Any, what: str = "name") -> str:
        name = self._cleaner.text(value, what, MAX_NAME)
        if not name:
            raise BadInput(f"{what} is empty.")
        return name


def _said(entity: Entity, memory: Memory) -> str:
    return memory.content.removeprefix(f"{entity.name}:").strip()


def _when(noun: Entity | Link) -> tuple[datetime, str]:
    return noun.created_at, noun.id


def _bounded(given: Iterable[Any]) -> Sequence[Any]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadInput("A list is wanted here.")
    if len(given) > MAX_GIVEN:
        raise TooLarge(f"{len(given)} at once; the limit is {MAX_GIVEN}.")
    return given
