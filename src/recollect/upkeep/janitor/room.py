"""What a step of the janitor works with: the store, what may not be touched, and what lies around a memory.

A step yields `Act`s in small lots and changes nothing itself. The janitor makes each lot in one transaction, where each
act looks again at what it is about. In a dry run the same acts are only told.

A memory with the tag `pinned`, and one that a person edited, approved, brought back or rolled back to, is never
retired, merged away or changed. It may still take others in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...language import terms
from ...remember.write import Writer
from ...store.contract import Store, Transaction
from ...store.trail import Trace
from ...types import Filter, Link, Memory

if TYPE_CHECKING:
    from ...answers.service import Answers
    from ...models.embedder import Embedder
    from ...vectors import Floats

PAGE = 500  # memories read at a time
AROUND = 12  # memories nearest to one that it is held against
FAR = 0.5  # the cosine below which nothing is held against anything
PINNED = "pinned"
ACTOR = "janitor"
PERSONAL = frozenset(
    ("edit", "approve", "unreject", "rollback", "undo")
)  # operations of the journal that are somebody's word


@dataclass(frozen=True, slots=True)
class Act:
    """One change that a step wants: what becomes of which memory, why, and how it is made under the lock."""

    what: str
    target: str
    why: str
    do: Callable[[Transaction], bool]
    other: str = ""
    retires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """After how many days a memory that nobody uses counts half, and old turns are summed up; 0 is never."""

    decay_days: int
    compact_days: int


@dataclass(slots=True)
class Room:
    """One run's view of one tenant. `since`: the journal number up to which a step has looked before."""

    writer: Writer
    embedder: Embedder | None
    now: datetime
    rules: Rules
    cache: Answers
    since: int = 0
    only: tuple[str, ...] | None = None  # the memories to look at again, instead of what is new
    looked: int = 0
    gone: set[str] = field(default_factory=set)
    met: set[frozenset[str]] = field(default_factory=set)  # pairs that were settled in this run, from either side
    own: dict[str, dict[str, Any]] = field(default_factory=dict)  # memories as acts of this run left them
    _near: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    _sacred: dict[str, bool] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return self.writer.store

    @property
    def tenant(self) -> str:
        return self.writer.tenant

    def pages(self, *, kinds: Iterable[str] = (), states: tuple[str, ...] = ("active",)) -> Iterator[list[Memory]]:
        """All memories of these kinds and states that are not gone, newest first, a page at a time."""
        filter, after = Filter(kinds=tuple(kinds), states=states), None
        while page := self.store.page(self.tenant, filter, after, PAGE):
            after = page[-1].id
            self.looked += len(page)
            yield [memory for memory in page if memory.id not in self.gone]

    def fresh(self, kinds: frozenset[str]) -> Iterator[list[Memory]]:
        """Active memories of these kinds that changed since the last look: a new pair has one of them in it."""
        if not self.since and self.only is None:
            yield from self.pages(kinds=sorted(kinds))
            return
        changed = sorted(self._read_changed() if self.only is None else self.only)
        for start in range(0, len(changed), PAGE):
            found = self.store.memories(self.tenant, changed[start : start + PAGE]).values()
            page = [m for m in found if m.kind in kinds and m.state == "active" and m.id not in self.gone]
            self.looked += len(page)
            yield sorted(page, key=lambda memory: memory.id, reverse=True)

    def _read_changed(self) -> set[str]:
        rows = self.store.each_entry(self.tenant, Trace(after=self.since, nouns=("memory", "embedding")))
        return {row.target for row in rows}

    def around(self, page: Sequence[Memory]) -> Iterator[tuple[Memory, list[tuple[Memory, float]]]]:
        """Each memory with its neighbours of exactly the same scope that are active, and how near they are."""
        self._look(page)
        ids = {id for memory in page for id, _ in self._near[memory.id]}
        known = self.store.memories(self.tenant, sorted(ids))
        for memory in page:
            if memory.id in self.gone:
                continue
            others = [(known[id], score) for id, score in self._near[memory.id] if id in known and id not in self.gone]
            yield memory, [(m, s) for m, s in others if m.state == "active" and m.scope == memory.scope]

    def crowded(self) -> tuple[str, ...]:
        """Memories that looked at some that are gone now: others, which those stood before, may be their neighbours."""
        found = [id for id, near in self._near.items() if id not in self.gone and any(o in self.gone for o, _ in near)]
        for id in found:
            del self._near[id]
        return tuple(found)

    def _look(self, page: Sequence[Memory]) -> None:
        missing = [memory for memory in page if memory.id not in self._near]
        vectors = self.store.vectors(self.tenant, [memory.id for memory in missing]) if self.embedder else {}
        for memory in missing:
            own = vectors.get(memory.id, {}).get(self.embedder.model) if self.embedder else None
            found = self._by_meaning(memory, own) if own is not None else self._by_words(memory)
            kept = (one for one in found if one[0] != memory.id and one[1] >= FAR)
            self._near[memory.id] = tuple((sys.intern(id), round(score, 4)) for id, score in kept)

    def _by_meaning(self, memory: Memory, vectors: Floats) -> list[tuple[str, float]]:
        model = self.embedder.model if self.embedder else ""
        return self.store.nearest(self.tenant, model, vectors[0], Filter(scope=memory.scope), AROUND)

    def _by_words(self, memory: Memory) -> list[tuple[str, float]]:
        """Without a vector the words propose; how near something is cannot be told then, and only words decide."""
        asked = terms.of_query(memory.content)
        found = self.store.match(self.tenant, asked, Filter(scope=memory.scope), AROUND)
        return [(id, 1.0) for id, _ in found]

    def sacred(self, memory: Memory) -> bool:
        """Whether a person pinned a memory or set it right."""
        if memory.id not in self._sacred:
            self._sacred[memory.id] = PINNED in memory.tags or any(
                entry.operation in PERSONAL and entry.actor != ACTOR
                for entry in self.store.journal(self.tenant, target=memory.id)
            )
        return self._sacred[memory.id]

    def used_at(self, memory: Memory) -> datetime:
        """When a memory was last written, found or looked at."""
        moments = (memory.updated_at, memory.created_at, memory.last_recalled_at, memory.last_accessed_at)
        return max(moment for moment in moments if moment is not None)

    def idle(self, memory: Memory) -> float:
        """Days since then."""
        return max(0.0, (self.now - self.used_at(memory)) / timedelta(days=1))

    def links(self, ids: Sequence[str]) -> list[Link]:
        """The links from and to some memories."""
        found = {
            link.id: link
            for column in ("origin", "target")
            for link in self.store.of(self.tenant, Link, list(ids), column)
        }
        return list(found.values())

    def tied(self, origin: str, relation: str, target: str) -> bool:
        """Whether there is such a link by now: another process may have made it since the act was planned."""
        held = self.store.of(self.tenant, Link, [origin], "origin")
        return any((link.relation, link.target) == (relation, target) for link in held)

    def unchanged(self, changes: Transaction, planned: Memory) -> Memory | None:
        """A memory under the lock, if it stands as it did when an act was planned, or as this run left it."""
        current = changes.get(Memory, planned.id)
        as_known = current is not None and current.record() in (planned.record(), self.own.get(planned.id))
        return current if as_known else None


def lots(acts: Iterable[Act], size: int = 100) -> Iterator[list[Act]]:
    """Acts in lots that are short enough for one transaction."""
    lot: list[Act] = []
    for act in acts:
        lot.append(act)
        if len(lot) >= size:
            yield lot
            lot = []
    if lot:
        yield lot
