"""Switch: which model questions are asked with while the memories are embedded anew.

Every vector carries the id of its model, and a question is only ever compared with vectors of the model that embedded
it. So when the model was changed, the old one goes on answering, as long as it can still be had (the packaged one and
hashing always can), until the new one has as many vectors: then the next question is asked with the new one, and the
old vectors are dropped. Where the old model cannot be had, words alone answer until most memories have a new vector,
because vectors of some memories alone would push the others down.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..recall.read import Models
from ..store.contract import Store

if TYPE_CHECKING:
    from ..models.embedder import Embedder

AGAIN = 2.0  # seconds between two looks at how far the change has come
MOST = 0.9  # the part of all memories from which vectors are worth more than they distort
log = logging.getLogger("recollect")


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
        if wanted is None or wanted.model == self._settled:
            return models
        with self._lock:
            if self._answers is None or time.monotonic() - self._looked > AGAIN:
                self._answers, self._looked = self._look(wanted), time.monotonic()
            embedder, why = self._answers
        return replace(models, embedder=embedder, skipped=(*models.skipped, why) if why else models.skipped)

    def _look(self, wanted: Embedder) -> tuple[Embedder | None, str]:
        counts = self._store.stats(self._tenant)
        total, embedded = counts["memories"], counts["embedded"]
        done = embedded.get(wanted.model, 0)
        old, most = max(embedded.items(), key=lambda one: one[1], default=("", 0))
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
    """Drop the vectors of every other model, if this one has read every memory; gives how many there were."""
    if store.unembedded(tenant, model, 1):
        return 0
    gone = 0
    for other in store.stats(tenant)["embedded"]:
        if other != model:
            gone += (dropped := store.drop_vectors(tenant, other))
            log.info("the change of model is done: %d vectors of %s dropped, %s answers", dropped, other, model)
    return gone
