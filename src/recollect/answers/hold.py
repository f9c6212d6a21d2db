"""Holding: whether a kept answer still holds, and what it is tied to so that this can be told.

An answer carries the memories, files, commits and settings it was built from, and the journal row it was computed at.
When the journal has moved since, its rows are looked through (`news`): a change of what it was built from ends it; so
does a memory that is new or another and that recall, asked again, puts among the hits that bear on the question. An
answer is made of these hits, so nothing else can make it another. What no journal row tells, because it happens
by the clock alone, is its time: it ends when a memory it was built from does, or when one begins to hold.

So a stale answer is noticed on the next look, whoever changed what, in whichever process.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..language import terms
from ..recall.loading import LOADING
from ..store.answers import Answer, Depends
from ..store.contract import Store
from ..types import Filter, Memory, Recall, Scope, Source
from . import compose, news, outside

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.llm import LLM

FUTURE = 200  # memories that begin to hold later, looked through for the first of them
FEW = 200  # changes that are looked at one by one before recall is asked
OUTSIDE = frozenset(("file", "commit"))
FILES = 20  # files that an answer is tied to, at most
_PATH = re.compile(r"(?:file:(?://)?)?(/.*)")


@dataclass(frozen=True, slots=True)
class Parts:
    """What the cache needs of the engine it belongs to. `model` is the id of the embedder, told without loading it."""

    recall: Callable[[str, dict[str, Any]], Recall]
    embedder: Callable[[], Embedder | None]
    model: Callable[[], str]
    llm: Callable[..., LLM | None]
    forbids: Callable[[str, Scope], bool]
    recipe: Callable[[], str]
    folders: Callable[[str], Sequence[Path]]  # in which a person worked on a project, on this machine


class Hold:
    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime], parts: Parts) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._parts = parts
        self.files = outside.Files()
        self._news = news.News(store, tenant)
        self._known: dict[str, tuple[int, int]] = {}  # id → version, and the journal row up to which it holds
        self._bars: dict[str, tuple[int, compose.Bars]] = {}  # id → version, and what a memory must pass to bear on it
        self._lock = threading.Lock()

    def ended(self, answer: Answer) -> tuple[str, int]:
        """Why an answer no longer holds, or nothing and the journal row up to which it does."""
        head = self._store.head(self._tenant)
        why = self._timed(answer) or self._beside(answer, OUTSIDE | {"setting"})
        why, events = (why, ()) if why else self._events(answer, self._seen(answer), head)
        if why:
            return why, 0
        place = Scope(answer.user, answer.project)
        changed = news.others(events, _built_from(answer), place) if answer.watched else ()
        if changed and (why := self._newer(answer, place, changed)):
            return why, 0
        with self._lock:
            self._known[answer.id] = answer.version, head
        return "", head

    def over(self, answer: Answer) -> str:
        """Why no process can ever serve an answer again, as far as that is told without asking recall or a model."""
        why = self._timed(answer) or self._beside(answer, OUTSIDE)
        return why or self._events(answer, answer.seq, self._store.head(self._tenant))[0]

    def _timed(self, answer: Answer) -> str:
        if answer.stale or answer.expires_at is None or answer.expires_at > self._now():
            return answer.stale
        return f"its time ended {answer.expires_at:%Y-%m-%d %H:%M} UTC"

    def _beside(self, answer: Answer, kinds: Collection[str]) -> str:
        changed = (one for one in answer.depends if one.kind in kinds and self._current(one) != one.version)
        return next((f"{one.kind} {one.target} is another" for one in changed), "")

    def _seen(self, answer: Answer) -> int:
        """The journal row up to which an answer is known to hold."""
        version, seq = self._known.get(answer.id, (-1, 0))
        return max(answer.seq, seq) if version == answer.version else answer.seq

    def _events(self, answer: Answer, seq: int, head: int) -> tuple[str, Sequence[news.Event]]:
        """What changed since a journal row; and why that ends the answer, if it does."""
        if head < seq:
            return "the store is older than the answer", ()
        events = self._news.since(seq, head) if head > seq else []
        if events is None:
            return f"more than {news.MOST} changes since", ()
        return news.ended(events, _built_from(answer)), events

    def _newer(self, answer: Answer, place: Scope, changed: Collection[str]) -> str:
        """Whether what changed is among the hits that an answer would be made of now: then it is another answer."""
        rarity = self.rarity(answer.question, place)
        if len(changed) <= FEW and self._far(answer, changed, rarity):
            return ""
        found = self._parts.recall(answer.question, {"scope": place, "limit": compose.HITS})
        if LOADING in found.skipped:  # words alone may miss what changed
            return "it cannot be checked while the model is loading"
        bars = compose.bars(found.hits, rarity)
        near = compose.bearing(found.hits, rarity)
        new = next((memory.id for memory in near if memory.id in changed), "")
        with self._lock:
            self._bars[answer.id] = answer.version, bars
        return f"memory {new} is newer and bears on it" if new else ""

    def _far(self, answer: Answer, changed: Collection[str], rarity: Mapping[str, float]) -> bool:
        """Whether nothing of what changed can bear on a question, by the bars that the last recall for it set.

        What bears on it passes one of them, so what passes none is not worth a recall.
        """
        if answer.kind == "timely":  # what is of the time asked for bears on it, whatever it says
            return False
        version, bars = self._bars.get(answer.id, (-1, None))
        vectors = self._store.answer_vectors(self._tenant, [answer.id]) if version == answer.version else {}
        if bars is None or not vectors or answer.model != self._parts.model():
            return False
        from ..vectors import floats

        ids = sorted(changed)
        cosines = self._store.cosines(self._tenant, answer.model, floats([vectors[answer.id]])[0], ids)
        memories = self._store.memories(self._tenant, ids).values()
        return not any(compose.bears(memory, cosines.get(memory.id, 0.0), bars, rarity) for memory in memories)

    def rarity(self, question: str, place: Scope) -> dict[str, float]:
        """The words of a question, each with how rare it is in what can be seen from a place."""
        words = terms.of_query(question)
        total, counts = self._store.frequencies(self._tenant, words, Filter(scope=place))
        return {word: math.log(1 + total / (1 + counts.get(word, 0))) for word in words}

    def _current(self, one: Depends) -> str:
        if one.kind == "file":
            return self.files.hash(one.target)
        if one.kind == "commit":
            return outside.commit(one.target)
        return self._settings().get(one.target, "")

    def _settings(self) -> dict[str, str]:
        """What an answer depends on beside knowledge: the model that finds, how it is scored, and who writes."""
        llm = self._parts.llm("extract", "ask", "")
        return {
            "embedder": self._parts.model(),
            "llm": "rules" if llm is None else llm.model,
            "recipe": self._parts.recipe(),
        }

    def tied(self, memories: Sequence[Memory], *, settings: bool = True) -> tuple[Depends, ...]:
        """The memories, the files here that they come from or speak of, and the settings that found them.

        A memory can name any file; only those in a folder of its project are looked at.
        """
        tied = {("memory", memory.id): Depends("memory", memory.id) for memory in memories}
        sources = self._store.of(self._tenant, Source, [memory.source for memory in memories])
        uris = {one.id: one.uri for one in sources}
        for memory in memories:
            for name in (uris.get(memory.source, ""), *memory.refs):
                path = self._file(name, memory.scope.project)
                if path and len(tied) < len(memories) + FILES and (version := self.files.hash(path)) != outside.GONE:
                    tied["file", path] = Depends("file", path, version)
        if settings:
            for name, value in self._settings().items():
                tied["setting", name] = Depends("setting", name, value)
        return tuple(tied.values())

    def _file(self, name: str, project: str) -> str:
        """The path that a reference names, if it lies in a folder of the project."""
        match = _PATH.fullmatch(name)
        path = os.path.realpath(match[1]) if match and project and "\0" not in name else ""
        folders = self._parts.folders(project) if path else ()
        return path if any(Path(path).is_relative_to(folder) for folder in folders) else ""

    def first_later(self, scope: Scope) -> datetime | None:
        """When the first memory begins to hold that does not yet: no journal row will tell of that."""
        now = self._now()
        later = self._store.dated(self._tenant, Filter(scope, since=now), FUTURE)
        starts = [memory.valid_from for memory in later if memory.valid_from is not None and memory.valid_from > now]
        if len(later) == FUTURE:
            return now + timedelta(hours=1)
        return min(starts, default=None)


def _built_from(answer: Answer) -> set[str]:
    return {one.target for one in answer.depends if one.kind == "memory"}
