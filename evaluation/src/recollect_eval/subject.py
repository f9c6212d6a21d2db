"""The subject: the engine under test, behind its public verbs. The one place of this room that knows the engine.

A fresh store is filled in the order of time, the clock standing at each item's moment, and asked with the clock at the
question's. Everything that is counted (keys, tokens, whether the engine says it does not know) is read here from what
`recall` gives back; when the engine learns to say more, this is the file to change.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import recollect
from recollect.checks import MAX_NAME
from recollect.errors import BadInput
from recollect.models.embedder import Embedder
from recollect.settings import shown
from recollect.types import Recall

from .corpus import Answer, Corpus, Question, by_moment

Filled = Callable[[int], None]


class Clock:
    """Stands where it is put, and moves by a microsecond at each look, so that no two moments are the same."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        self.moment += timedelta(microseconds=1)
        return self.moment


class Subject:
    """The engine, with one corpus in it."""

    name = "recollect"

    def __init__(self, corpus: Corpus, place: str | Path, embedder: Embedder | str, **options: Any) -> None:
        self._clock = Clock(corpus.moment)
        self._asked_at = corpus.moment
        self._options = options
        self._keys: dict[str, list[str]] = {}
        tenant = f"evaluation {corpus.name}"[:MAX_NAME]
        self._engine = recollect.open(place, tenant=tenant, embedder=embedder, actor="evaluate", now=self._clock)
        if self._engine.stats()["journal"]:
            self._engine.close()
            raise BadInput(f"{shown(str(place))} has been measured in before.", fix="Name a new, empty database.")
        self._fill(corpus)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._engine.close()

    def _fill(self, corpus: Corpus) -> None:
        """Every item becomes a memory; of two that say the same in one scope, one, which then stands for both keys."""
        ids: dict[str, str] = {}
        for together in by_moment(corpus.items):
            self._clock.moment = together[0].moment
            kept = self._engine.remember_many([item.draft for item in together])
            for item, result in zip(together, kept, strict=True):
                ids[item.key] = result.id
                self._keys.setdefault(result.id, []).append(item.key)
            for item in together:
                for older in item.supersedes:
                    self._engine.link(ids[item.key], "supersedes", ids[older])

    def answer(self, question: Question, limit: int, max_tokens: int | None = None) -> Answer:
        self._clock.moment = self._asked_at if question.moment is None else question.moment
        found = self._engine.recall(
            question.text, scope=question.scope, limit=limit, max_tokens=max_tokens, **self._options
        )
        keys = tuple(key for hit in found.hits for key in self._keys[hit.memory.id])
        return Answer(keys, found.tokens, unsure(found), max((hit.arms.get("vector", 0.0) for hit in found), default=0))


def unsure(found: Recall) -> bool:
    """Whether the engine says that it does not know: it gives nothing back, or marks the answer as weak."""
    return not found.hits or found.weak
