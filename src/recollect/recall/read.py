"""The read path: question → candidates from independent arms → fuse → weigh → select. Each hit says why it is there.

The arms know nothing of each other, and any of them may be missing: the answer then names what was skipped and why. A
candidate that only the text arm found is given its cosine too, so that the sum compares like with like.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from .. import rank, terms, text, times
from ..history.asof import as_of
from ..store.contract import Store
from ..types import STATES, Hit, Memory, Recall
from .query import Query

if TYPE_CHECKING:
    from ..models.embedder import Embedder

WEIGHTS = {"text": 0.5, "vector": 0.5}
DEPTH = 100  # candidates an arm gives
POOL = 60  # candidates whose memories are read and weighed, at least


@dataclass(slots=True)
class Stopwatch:
    """CPU-blind milliseconds of each stage, for `--explain` and the benchmark."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = round(self.spent.get(name, 0.0) + (time.perf_counter() - began) * 1000, 3)


@dataclass(frozen=True, slots=True)
class Reader:
    """What the read path needs: a store, perhaps an embedder, and the clock."""

    store: Store
    tenant: str
    now: Callable[[], datetime]

    def recall(self, query: Query, embedder: Embedder | None, skipped: tuple[str, ...]) -> Recall:
        watch = Stopwatch()
        arms = self._arms(query, embedder, watch)
        with watch.stage("rank"):
            order = self._fuse(query, arms)
            hits = self._weigh(query, order, arms)
            chosen, used = select(hits, query.limit, query.max_tokens)
        return Recall(query.text, chosen, tuple(arms), skipped, used, watch.spent)

    def _arms(self, query: Query, embedder: Embedder | None, watch: Stopwatch) -> dict[str, dict[str, float]]:
        # Looking back, today's state says nothing about the state then: candidates of every state are looked at.
        filter = query.filter.but(states=()) if query.as_of else query.filter
        depth = max(DEPTH, 3 * query.limit)
        arms: dict[str, dict[str, float]] = {}
        with watch.stage("text"):
            arms["text"] = dict(self.store.match(self.tenant, terms.of_query(query.text), filter, depth))
        if embedder is not None:
            with watch.stage("embed"):
                vector = embedder.embed([query.text], "query")[0]
            with watch.stage("vector"):
                near = dict(self.store.nearest(self.tenant, embedder.model, vector, filter, depth))
                missing = [id for id in arms["text"] if id not in near]
                arms["vector"] = near | self.store.cosines(self.tenant, embedder.model, vector, missing)
        return arms

    @staticmethod
    def _fuse(query: Query, arms: dict[str, dict[str, float]]) -> dict[str, float]:
        if query.fusion == "rrf":
            fused = rank.stretch(rank.rrf([rank.order(scores) for scores in arms.values()]))
        else:
            fused = rank.add(arms, WEIGHTS)
        return {id: fused[id] for id in rank.order(fused)[: max(POOL, 3 * query.limit)]}

    def _weigh(self, query: Query, fused: dict[str, float], arms: dict[str, dict[str, float]]) -> list[Hit]:
        now = query.as_of or self.now()
        asked = set(terms.of_query(query.text))
        hits = []
        for memory in self._memories(query, list(fused)):
            days = (now - (memory.valid_from or memory.created_at)).total_seconds() / 86400
            score = fused[memory.id] * rank.weight(memory.importance, days, memory.confidence)
            scores = {arm: round(found[memory.id], 4) for arm, found in arms.items() if memory.id in found}
            hits.append((score, memory, scores))
        hits.sort(key=lambda hit: (-hit[0], hit[1].id))
        return [Hit(memory, round(score, 4), scores, why(memory, scores, asked, now)) for score, memory, scores in hits]

    def _memories(self, query: Query, ids: list[str]) -> list[Memory]:
        found = self.store.memories(self.tenant, ids)
        memories = [found[id] for id in ids if id in found]
        if query.as_of is None:
            return memories
        past = (
            as_of(m, self.store.journal(self.tenant, target=m.id, since=query.as_of), query.as_of) for m in memories
        )
        states = query.filter.states or STATES
        return [m for m in past if m and m.state in states and held(m, query.as_of)]


def held(memory: Memory, moment: datetime) -> bool:
    """Whether a memory was valid and unexpired at a time."""
    ends = [end for end in (memory.valid_to, memory.expires_at) if end]
    return (memory.valid_from is None or memory.valid_from <= moment) and all(moment < end for end in ends)


def why(memory: Memory, scores: dict[str, float], asked: set[str], now: datetime) -> str:
    """One line: how well it fits by meaning, which words it shares, and what else spoke for it."""
    parts = []
    if "vector" in scores:
        parts.append(f"meaning {scores['vector']:.2f}")
    if "text" in scores:
        words = shared_words(memory, asked)
        parts.append(f"words {', '.join(words)}" if words else "words")
    if memory.importance != 5:
        parts.append(f"importance {memory.importance}")
    if memory.confidence < 1:
        parts.append(f"confidence {memory.confidence:g}")
    parts.append(times.ago(memory.valid_from or memory.created_at, now))
    return " · ".join(parts)


def shared_words(memory: Memory, asked: set[str], most: int = 5) -> list[str]:
    """The words of the memory, as they are written there, that the question asked for."""
    words: dict[str, str] = {}
    for part in (memory.title, memory.content[:4000], " ".join(memory.tags), " ".join(memory.keywords)):
        for word in part.split():
            for term in terms.terms(word):
                if term in asked:
                    words.setdefault(term, word.strip(".,;:!?()[]{}\"'`*"))
    return list(dict.fromkeys(words.values()))[:most]


def select(hits: list[Hit], limit: int, max_tokens: int | None) -> tuple[tuple[Hit, ...], int]:
    """The first hits that fit: at most `limit`, and together at most `max_tokens` as they are printed."""
    chosen: list[Hit] = []
    used = 0
    for hit in hits:
        if len(chosen) == limit:
            break
        cost = text.tokens(printed(hit.memory))
        if max_tokens is not None and used + cost > max_tokens:
            continue
        chosen.append(hit)
        used += cost
    return tuple(chosen), used


def printed(memory: Memory) -> str:
    """A memory as it is handed to a reader: what a token budget counts."""
    return f"[{memory.id}] {memory.title}\n{memory.content}" if memory.title else f"[{memory.id}] {memory.content}"
