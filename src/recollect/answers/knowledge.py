"""The knowledge behind the cache: recall, and an answer composed of what it found, by sentences or by a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from .. import text
from ..errors import BadAnswer, BudgetSpent, ModelUnavailable
from ..recall.select import tells
from ..recall.understand import Understood, understand
from ..store.answers import Answer
from ..store.contract import Store
from ..types import KINDS, Memory, Recall
from . import compose
from .compose import Composed
from .freshness import Freshness, Parts
from .policy import Policy
from .questions import Asked

TOLD = tuple(kind for kind in KINDS if kind != "code")  # what people wrote for people
CLEARLY = 0.15  # how much more probable it must be that code answers, for it to be preferred


@dataclass(frozen=True, slots=True)
class Knowledge:
    _store: Store
    _tenant: str
    _now: Callable[[], datetime]
    _policy: Policy
    _freshness: Freshness
    _parts: Parts

    def recall(self, asked: Asked, shown: Sequence[str] = ()) -> Recall:
        """What is found; where code is, what is found without it, unless that answers clearly less probably."""
        options = {"scope": asked.scope, "limit": compose.COVERED, "shown": tuple(shown), "networks": asked.networks}
        found = self._parts.recall(asked.question, options)
        if found.fits < 1 and not found.groups and any(hit.memory.kind == "code" for hit in found.hits[: compose.HITS]):
            told = self._parts.recall(asked.question, options | {"kinds": TOLD})
            return told if told.hits and told.fits >= found.fits - CLEARLY else found
        return found

    def understood(self, asked: Asked) -> Understood:
        return understand(asked.question, self._now())

    def compose(self, asked: Asked, found: Recall, retired: str = "") -> tuple[Composed | None, tuple[str, ...]]:
        """An answer of what was found; instead of one that was turned down, one without what that was made of."""
        made, skipped = self._compose_once(asked, found)
        if made is None or not retired or text.key(made.text) != retired:
            return made, skipped
        cited = [memory.id for memory, _ in made.cited]
        return self._compose_once(asked, self.recall(asked, shown=cited))

    def _compose_once(self, asked: Asked, found: Recall) -> tuple[Composed | None, tuple[str, ...]]:
        whole = bool(found.groups)
        hits = [hit for hit in found.hits if tells(hit.memory, asked.question)]
        hits = hits[: compose.COVERED if whole else compose.HITS]
        if found.fits < compose.LEAST or not hits:
            return None, ()
        rarity = self._freshness.rarity(asked.question, asked.scope)
        llm = self._parts.llm("extract", "ask", asked.scope.project)
        if llm is None:
            return compose.extract(asked.question, hits, found.fits, rarity, everything=whole), ()
        prompt = compose.prompt(asked.question, hits)
        try:
            done = llm.complete(compose.SYSTEM, [("user", prompt)], compose.SCHEMA, compose.TOKENS)
        except (BadAnswer, ModelUnavailable, BudgetSpent) as error:
            made = compose.extract(asked.question, hits, found.fits, rarity, everything=whole)
            return made, (f"llm: {error}",)
        return compose.read(done.data, hits, rarity, llm.model), ()

    def made(self, asked: Asked, made: Composed | None, head: int, took: float) -> Answer:
        """What is to be kept of a computed answer, if it is kept."""
        bare = Answer("", asked.question, asked.hash, asked.scope.user, asked.scope.project, compute_ms=round(took))
        if made is None:
            return bare
        kind = "timely" if self.understood(asked).when is not None else "computed"
        later = self._freshness.first_later(asked.scope)
        return replace(
            bare, kind=kind, answer=made.text, sources=cited(made), confidence=made.confidence, seq=head, watched=True,
            depends=self._freshness.tied(made.made_of),
            expires_at=self._policy.ends(kind, self._now(), *ends(made.made_of), later),
        )  # fmt: skip

    def fresh(self, asked: Asked) -> Answer:
        """An answer computed now, to be kept though nobody asked."""
        head = self._store.head(self._tenant)
        began = time.perf_counter()
        found = self.recall(asked)
        made, _ = self.compose(asked, found)
        return self.made(asked, made, head, (time.perf_counter() - began) * 1000)


def cited(made: Composed) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "memory": memory.id, "title": text.shorten(memory.title or text.title_of(memory.content), 80),
            "quote": text.shorten(quote, 240), "trust": memory.trust, "network": memory.network,
            "date": f"{memory.valid_from or memory.created_at:%Y-%m-%d}",
        }
        for memory, quote in made.cited
    )  # fmt: skip


def ends(memories: Sequence[Memory]) -> list[datetime | None]:
    return [end for memory in memories for end in (memory.valid_to, memory.expires_at)]
