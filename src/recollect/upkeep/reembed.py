"""Giving vectors to memories that have none of a model: after an import, a change of model, or writing without one.

In batches, each committed on its own, so that it can be broken off anywhere and goes on there. A memory that was
changed while its vector was made is left to the next run. A server that has no time (429) is waited for as it asks
(`models/http`); when that is too long, the run ends with what it has and the next one goes on. Meanwhile `switch` says
which model answers, and which one serves; when every memory has its new vector, those of other models are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ..models.embedder import Embedder
from ..remember.write import embed_drafts
from ..store.contract import Store
from ..types import Memory
from .switch import Change, begin_switch, drop_others


def run(
    store: Store, tenant: str, actor: str, now: Callable[[], datetime], embedder: Embedder,
    progress: Callable[[int, int], None] | None, batch_size: int = 50, change: Change = "always",
) -> int:  # fmt: skip
    """Embed what has no vector; how many there were."""
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
