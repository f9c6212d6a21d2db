"""Switching models: which model serves a store, and which one answers while memories are embedded again.

A question is only compared with vectors of the model that embedded it. After a change the old model keeps answering, if
it can be had, until the new one has as many vectors; otherwise words alone answer until most memories have a new
vector. One model serves a store, by a row of the journal. A person switches with `recollect embed`; the daemon switches
by itself only to a model that never served this store.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ..recall.read import Models
from ..remember.write import embed_drafts
from ..store.contract import Store
from ..types import Memory

if TYPE_CHECKING:
    from ..models.embedder import Embedder

AGAIN = 2.0  # seconds between two looks at how far the change has come
MOST = 0.9  # the part of all memories from which vectors are worth more than they distort
TARGET = "embedder"  # what the rows of the journal about it are about
Change = Literal["always", "new", "never"]  # whether to change over: a person's word, only to a new model, or not
log = logging.getLogger("recollect")


@dataclass(frozen=True, slots=True)
class Serving:
    """The model that serves a store, and those that did before it."""

    model: str = ""
    before: frozenset[str] = frozenset()

    @classmethod
    def told(cls, store: Store, tenant: str) -> Serving:
        """As the journal tells; nothing where the model was never changed."""
        models = [row.reason for row in store.journal(tenant, target=TARGET)]
        return cls(models[-1], frozenset(models[:-1]) - {models[-1]}) if models else cls()

    @classmethod
    def of(cls, store: Store, tenant: str) -> Serving:
        """As the journal tells; else the model that has read most."""
        told = cls.told(store, tenant)
        return told if told.model else cls(_most(store.stats(tenant)["embedded"])[0])

    def another(self, model: str) -> str:
        """What is to be said where a model is set that does not serve; nothing where it does."""
        return f"{self.model} serves this store, and {model} is set here" if self.model not in ("", model) else ""


FIX = "Set embedder to the one that serves, or change over for everybody with: recollect embed"


def begin_switch(store: Store, tenant: str, actor: str, now: datetime, model: str, change: Change) -> bool:
    """Whether a model may give vectors here: it serves, or the store is changed over to it now."""
    serving = Serving.of(store, tenant)
    if not (another := serving.another(model)):
        return True
    if change == "never" or (change == "new" and model in serving.before):
        log.warning("no vectors are given: %s. %s", another, FIX)
        return False
    with store.transaction(tenant, actor, now) as changes:
        if not Serving.told(store, tenant).model:
            changes.note("serve", TARGET, serving.model)
        changes.note("serve", TARGET, model)
    return True


def _most(embedded: Mapping[str, int]) -> tuple[str, int]:
    return max(embedded.items(), key=lambda one: one[1], default=("", 0))


class Switch:
    """The state of one tenant's change of model; `known` gives the embedder of a model's id, if it can be had."""

    def __init__(self, store: Store, tenant: str, known: Callable[[str], Embedder | None]) -> None:
        self._store = store
        self._tenant = tenant
        self._known = known
        self._lock = threading.Lock()
        self._settled = ""  # the model that answers for good
        self._answers: tuple[Embedder | None, str] | None = None
        self._looked = 0.0

    def serving(self, models: Models) -> Models:
        """The models to ask with now."""
        wanted = models.embedder
        if wanted is None or (wanted.model == self._settled and self._still()):
            return models
        with self._lock:
            if self._answers is None or time.monotonic() - self._looked > AGAIN:
                self._answers, self._looked = self._look(wanted), time.monotonic()
            embedder, why = self._answers
        return replace(models, embedder=embedder, skipped=(*models.skipped, why) if why else models.skipped)

    def _still(self) -> bool:
        """Whether nobody has changed the store over to another model since it was settled."""
        if time.monotonic() - self._looked > AGAIN:
            self._looked = time.monotonic()
            if Serving.told(self._store, self._tenant).another(self._settled):
                self._settled, self._answers = "", None
        return bool(self._settled)

    def _look(self, wanted: Embedder) -> tuple[Embedder | None, str]:
        counts = self._store.stats(self._tenant)
        total, embedded = counts["memories"], counts["embedded"]
        done = embedded.get(wanted.model, 0)
        old, most = _most(embedded)
        if old in ("", wanted.model) or most <= done:
            if total and done >= total:
                self._settled = wanted.model
            return wanted, ""
        if before := self._known(old):
            return before, ""
        if done >= MOST * total:
            return wanted, ""
        return None, f"vector: {wanted.model} has read {done} of {total} memories, and {old} cannot be had any more"


def drop_others(store: Store, tenant: str, model: str) -> int:
    """Drop the vectors of every other model, if this one serves and has read every memory; gives how many."""
    if store.unembedded(tenant, model, 1) or Serving.of(store, tenant).another(model):
        return 0
    gone = 0
    for other in store.stats(tenant)["embedded"]:
        if other != model:
            gone += (dropped := store.drop_vectors(tenant, other))
            log.info("the change of model is done: %d vectors of %s dropped, %s answers", dropped, other, model)
    return gone


def embed_missing(
    store: Store, tenant: str, actor: str, now: Callable[[], datetime], embedder: Embedder,
    progress: Callable[[int, int], None] | None, batch_size: int = 50, change: Change = "always",
) -> int:  # fmt: skip
    """Embed memories that have no vector of the model; gives how many there were.

    Each batch is committed by itself, so it can be interrupted anywhere. A memory that changed meanwhile is left to the
    next run.
    """
    if not begin_switch(store, tenant, actor, now(), embedder.model, change):
        return 0
    done, last = 0, ""
    counts = store.stats(tenant)
    total = counts["memories"] - counts["embedded"].get(embedder.model, 0)
    while batch := store.unembedded(tenant, embedder.model, batch_size, last):
        vectors = embed_drafts(batch, embedder)
        with store.transaction(tenant, actor, now()) as changes:
            for memory, found in zip(batch, vectors, strict=True):
                current = changes.get(Memory, memory.id)
                if found is not None and current and current.content_hash == memory.content_hash:
                    changes.embed(memory.id, embedder.model, found)
        done, last = done + len(batch), batch[-1].id
        if progress:
            progress(done, max(done, total))
    dropped = drop_others(store, tenant, embedder.model)
    if done or dropped:
        store.save()
    return done
