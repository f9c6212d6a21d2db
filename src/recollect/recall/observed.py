"""Summaries of entities in recall, which never stand before or beside their parts unasked; and how opinions moved."""

from __future__ import annotations

from collections.abc import Sequence

from ..history.provenance import moves
from ..remember.belief import sums_up
from ..store.contract import Store
from ..store.trail import Trace
from ..types import Link, Memory


def without_summaries(store: Store, tenant: str, memories: list[Memory], networks: Sequence[str]) -> list[Memory]:
    """The candidates without summaries of entities; where observations are asked for, without those that are behind.

    One is behind when a memory that it was made of has changed, ended or gone since, and the job has not run yet.
    """
    if not (summaries := [memory for memory in memories if sums_up(memory)]):
        return memories
    kept = {one.id for one in summaries if is_fresh(store, tenant, one)} if "observation" in networks else set[str]()
    return [memory for memory in memories if memory.id in kept or not sums_up(memory)]


def is_fresh(store: Store, tenant: str, summary: Memory) -> bool:
    """Whether all that a summary was made of stands as it did then."""
    links = store.of(tenant, Link, [summary.id], "origin")
    parts = {link.target for link in links if link.relation == "derived_from"}
    found = store.memories(tenant, sorted(parts)).values()
    standing = [one for one in found if one.state == "active" and one.updated_at <= summary.updated_at]
    return bool(parts) and len(standing) == len(parts)


def opinions_moved(store: Store, tenant: str, memories: Sequence[Memory]) -> dict[str, str]:
    """How evidence moved the confidence of those memories that are opinions: "0.6 -> 0.8 after INC-12"."""
    ids = tuple(memory.id for memory in memories if memory.network == "opinion" and memory.confidence < 1)
    rows = list(store.each_entry(tenant, Trace(targets=ids, operations=("weigh",)))) if ids else []
    told = {id: moves(row for row in rows if row.target == id) for id in ids}
    return {id: ", ".join(some) for id, some in told.items() if some}
