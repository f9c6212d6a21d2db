"""Overview: what a person sees who looks through everything that is remembered, and not for one answer.

It only reads. `sees` says of a memory whether the reader may know of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import times
from .language import terms
from .language.vetoes import share_words
from .remember.change import apart
from .remember.write import span
from .store.browsing import DAY, Sieve, date
from .store.checksums import noticing
from .store.contract import Store
from .store.rows import to_row
from .store.words import weigh_terms
from .text import shorten, title_of
from .types import Check, Entity, Evidence, Filter, Link, Memory, Noun, Page, Scope, Source
from .upkeep.recent_recalls import RecentRecall
from .upkeep.scan import safe

if TYPE_CHECKING:
    from .store.census import Census, Facets

MOST_FOUND = 200  # memories that a search by words gives: who wants more should say more
LABEL = 140  # characters of a memory that a look tells
LOOKED_AT = 150  # memories, newest first, whose near duplicates are looked for
PER_NODE = 40  # links of one node that are followed
Sees = Callable[[Memory], bool]


Knows = Callable[[Entity], bool]


def everybody(_: Memory) -> bool:
    return True


def anything(_: Entity) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Dot(Noun):
    """A memory or an entity in the graph. `ties` says how many links it has, also to what is not shown."""

    id: str
    noun: str
    label: str
    kind: str
    state: str = ""
    project: str = ""
    at: datetime | None = None
    ties: int = 0


@dataclass(frozen=True, slots=True)
class Map(Noun):
    """Some of the graph: dots, the links between them, and whether there is more."""

    dots: tuple[Dot, ...]
    links: tuple[Link, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Looked(Noun):
    """One time that memories were put before somebody, and those of them that the reader may know of."""

    look: RecentRecall
    given: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Pair(Noun):
    """Two memories that cannot both hold, or say nearly the same."""

    first: Memory
    second: Memory
    reason: str = ""
    likeness: float = 0.0


class Overview:
    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime], alike: float) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._alike = alike
        self._hidden: tuple[int, dict[tuple[Scope, Scope, bool], int]] = -1, {}

    @cached_property
    def _census(self) -> Census:
        from .store.census import Census  # and numpy, which only who counts should wait for

        return Census(self._store, self._tenant)

    def browse(self, sieve: Sieve, words: str, cursor: str | None, limit: int) -> Page:
        """A page, newest first; with words, at most 200 that have some, those with most of them first."""
        with noticing() as damaged:
            if words.strip():
                return Page(tuple(self._matching(sieve, words)[:limit]), skipped=tuple(damaged))
            found = self._store.browse(self._tenant, sieve, cursor, limit + 1)
        return Page(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None, tuple(damaged))

    def _matching(self, sieve: Sieve, words: str) -> list[Memory]:
        asked = list(dict.fromkeys(terms.terms(words)))[:64]
        if not asked:
            return []
        ranked = self._store.match(self._tenant, asked, sieve.filter, MOST_FOUND)
        found = self._store.memories(self._tenant, [id for id, _ in ranked])
        memories = _by_words([found[id] for id, _ in ranked if id in found], asked)
        if sieve.trusts:
            memories = [memory for memory in memories if memory.trust in sieve.trusts]
        if sieve.sources:
            of = {one.id: one.kind for one in self._store.of(self._tenant, Source, [m.source for m in memories])}
            memories = [memory for memory in memories if of.get(memory.source) in sieve.sources]
        return memories

    def facets(self, sieve: Sieve) -> Facets:
        """How many there are of each sort."""
        return self._census.facets(sieve)

    def hidden(self, scope: Scope, among: Scope, *, inside: bool = False) -> int:
        """How many active memories one sees from one scope and not from another; or that lie inside it and not there.

        The numbers are kept until the journal moves.
        """
        head = self._store.head(self._tenant)
        if self._hidden[0] != head:
            self._hidden = head, {}
        known, key = self._hidden[1], (scope, among, inside)
        if key not in known:
            most, seen = (self._store.count(self._tenant, Filter(one, inside=inside)) for one in (among, scope))
            known[key] = most - seen
        return known[key]

    def recalled(self, filter: Filter, limit: int) -> tuple[Memory, ...]:
        """What was recalled last."""
        return tuple(self._store.recalled_last(self._tenant, filter, limit))

    def looked(self, looks: Sequence[RecentRecall], sees: Sees = everybody) -> list[Looked]:
        """Looks with what the memories that were given are called."""
        found = self._store.memories(self._tenant, list(dict.fromkeys(id for one in looks for id in one.memories)))
        return [
            Looked(one, tuple(
                Dot(id, "memory", memory.title or shorten(" ".join(memory.content.split()), LABEL), memory.kind,
                    memory.state, memory.scope.project, memory.happened_at)
                for id in one.memories if (memory := found.get(id)) and sees(memory)
            ))
            for one in looks
        ]  # fmt: skip

    def growth(self, days: int) -> dict[str, Any]:
        """How many memories were made on each day, and what was done to them."""
        begin = times.micros(self._now() - timedelta(days=days))
        work: dict[int, dict[str, int]] = {}
        for day, operation, number in self._store.work(self._tenant, begin):
            work.setdefault(day, {})[operation] = number
        made, first = self.facets(Sieve(Filter(states=()))).days, date(begin // DAY)
        return {
            "made": [[day, number] for day, number in made.items() if day >= first],
            "before": sum(number for day, number in made.items() if day < first),
            "work": [[date(day), counts] for day, counts in work.items()],
        }

    def map(
        self, focus: Sequence[str], depth: int, limit: int, as_of: datetime | None, sees: Sees = everybody,
        knows: Knows = anything,
    ) -> Map:  # fmt: skip
        """What is tied to a memory or an entity, so many links away; without one, what was tied last.

        No way leads through what the reader may not know of, neither memories nor entities.
        """
        known = _Known(self._store, self._tenant, sees, knows)
        begun = [id for one in focus if known.of([id := self._place(one)])]
        newest = self._store.newest_links
        links = self._around(begun, depth, limit, known) if focus else newest(self._tenant, 2 * limit)
        if as_of:
            links = [link for link in links if _holds_at(link, as_of)]
        ends = list(dict.fromkeys([*begun, *(end for one in links for end in (one.origin, one.target))]))
        nouns = known.of(ends)
        links = [link for link in links if link.origin in nouns and link.target in nouns]
        dots = [dot for dot in _dots(nouns, links) if not (as_of and nouns[dot.id].created_at > as_of)]
        shown = {dot.id for dot in dots[:limit]}
        between = tuple(link for link in links if link.origin in shown and link.target in shown)
        return Map(tuple(dots[:limit]), between, len(dots) > limit)

    def _place(self, name: str) -> str:
        """The id of an entity that is called so, or else what was given, which is an id."""
        found = self._store.of(self._tenant, Entity, [name], "name")
        return found[0].id if found else name

    def _around(self, ids: list[str], depth: int, limit: int, known: _Known) -> list[Link]:
        links: dict[str, Link] = {}
        seen, front = set(ids), ids
        for _ in range(depth):
            fresh: list[str] = []
            for one in self._ties(front):
                links[one.id] = one
                fresh += [end for end in (one.origin, one.target) if end not in seen]
                seen.update(fresh)
            front = list(known.of(fresh[:limit]))
            if not front or len(seen) > 2 * limit:
                break
        return list(links.values())

    def _ties(self, ids: Sequence[str]) -> Iterable[Link]:
        counts: dict[str, int] = {}
        for column in ("origin", "target"):
            for link in self._store.of(self._tenant, Link, ids, column):
                end = getattr(link, column)
                counts[end] = counts.get(end, 0) + 1
                if counts[end] <= PER_NODE:
                    yield link

    def disputes(self, limit: int, sees: Sees = everybody) -> list[Pair]:
        """Pairs of memories that contradict each other while both stand or wait, and hold at the same time."""
        links = self._store.related(self._tenant, "contradicts", 5 * limit)
        found = self._store.memories(self._tenant, [end for link in links for end in (link.origin, link.target)])
        pairs = []
        for link in links:
            first, second = found.get(link.origin), found.get(link.target)
            if not first or not second or apart(span(first), span(second)):
                continue
            if all(one.state in ("active", "pending") and sees(one) for one in (first, second)):
                pairs.append(Pair(first, second, link.reason))
        return pairs[:limit]

    def twins(self, limit: int, sees: Sees = everybody) -> list[Pair]:
        """Pairs among the newest memories and all others that say nearly the same."""
        active = Filter(states=("active",))
        newest = [one for one in self._store.page(self._tenant, active, None, LOOKED_AT) if one.kind != "turn"]
        vectors = self._store.vectors(self._tenant, [memory.id for memory in newest])
        likest: dict[tuple[str, str], float] = {}
        for memory in newest:
            for model, rows in vectors.get(memory.id, {}).items():
                for id, cosine in self._store.nearest(self._tenant, model, rows[0], active, 4):
                    if id != memory.id and cosine >= self._alike:
                        pair = min(id, memory.id), max(id, memory.id)
                        likest[pair] = max(cosine, likest.get(pair, 0.0))
        found = self._store.memories(self._tenant, [id for pair in likest for id in pair])
        pairs = [
            Pair(found[new], found[old], "", round(cosine, 4))
            for (old, new), cosine in likest.items()
            if old in found and new in found and found[old].scope == found[new].scope
            and share_words(found[old].content, found[new].content) and sees(found[old]) and sees(found[new])
        ]  # fmt: skip
        return sorted(pairs, key=lambda pair: -pair.likeness)[:limit]

    def secrets(self, limit: int, sees: Sees = everybody) -> list[dict[str, Any]]:
        """Memories and quotes that hold what looks like a secret, by kind; the secret itself is not told."""
        found: list[dict[str, Any]] = []
        for kind in (Memory, Evidence):
            dirty = ((noun, kinds) for noun in self._store.each(self._tenant, kind) if (kinds := safe(noun)[1]))
            for noun, kinds in dirty:
                if len(found) == limit:
                    return found
                owner = noun.memory if isinstance(noun, Evidence) else noun.id
                memory = self._store.memories(self._tenant, [owner]).get(owner)
                if memory and sees(memory):
                    found.append({"memory": memory.id, "in": kind.__name__.lower(), "kinds": sorted(set(kinds))})
        return found

    def checks(self, model: str) -> list[Check]:
        """Whether the store is whole, and whether every memory has its vector."""
        found = self._store.check(self._tenant)
        if not model:
            return [
                *found,
                Check("vectors", "warning", "No model is loaded: only words are searched.", "recollect doctor"),
            ]
        missing = len(self._store.unembedded(self._tenant, model, 1001))
        if missing:
            number = "more than 1000" if missing > 1000 else str(missing)
            detail = f"{number} memories have no vector of {model} and are found by words only."
            return [*found, Check("vectors", "warning", detail, "recollect embed")]
        return [*found, Check("vectors", "ok", f"Every memory has its vector of {model}.")]


@dataclass(slots=True)
class _Known:
    """Memories and entities that the reader may know of, each looked up once."""

    store: Store
    tenant: str
    sees: Sees
    knows: Knows
    _found: dict[str, Memory | Entity | None] = field(default_factory=dict)

    def of(self, ids: Sequence[str]) -> dict[str, Memory | Entity]:
        """Those of these ids that there are for the reader, in the same order."""
        if fresh := [id for id in ids if id not in self._found]:
            memories = self.store.memories(self.tenant, fresh)
            entities = {one.id: one for one in self.store.of(self.tenant, Entity, fresh)}
            for id in fresh:
                memory, entity = memories.get(id), entities.get(id)
                seen = memory if memory and self.sees(memory) else entity if entity and self.knows(entity) else None
                self._found[id] = seen
        return {id: noun for id in ids if (noun := self._found[id]) is not None}


def _dots(nouns: Mapping[str, Memory | Entity], links: Sequence[Link]) -> Iterator[Dot]:
    ties = Counter(end for link in links for end in (link.origin, link.target))
    for id, one in nouns.items():
        if isinstance(one, Memory):
            label, since = one.title or title_of(one.content), one.valid_from or one.created_at
            yield Dot(id, "memory", label, one.kind, one.state, one.scope.project, since, ties[id])
        else:
            yield Dot(id, "entity", one.name, one.kind, "", one.project, one.created_at, ties[id])


def _holds_at(link: Link, moment: datetime) -> bool:
    began = link.valid_from or link.created_at
    return began <= moment and (link.valid_to is None or moment < link.valid_to)


def _by_words(memories: Sequence[Memory], asked: Sequence[str]) -> list[Memory]:
    """Those with most of the words first, then the newest; what others have stored does not count."""
    had = {memory.id: len(weigh_terms(to_row(memory))[0].keys() & set(asked)) for memory in memories}
    return sorted(memories, key=lambda m: (had[m.id], m.created_at, m.id), reverse=True)
