"""Replaying a journal into an empty store, and the whole state of a store for comparison."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from conftest import open_store
from recollect.store.contract import Store
from recollect.store.rows import NOUNS, record
from recollect.types import Entry


def entries_of(store: Store, tenant: str) -> list[Entry]:
    entries: list[Entry] = []
    while batch := store.journal(tenant, entries[-1].seq if entries else 0):
        entries.extend(batch)
    return entries


def state_of(store: Store, tenant: str) -> dict[str, list[dict[str, Any]]]:
    """Every noun that is knowledge, in its wire form."""
    return {name: [record(noun) for noun in store.all(tenant, kind, "", 100_000)] for name, kind in NOUNS.items()}


def replayed(store: Store, tenant: str, place: str) -> Store:
    """A new store made of nothing but the other's journal."""
    copy = open_store(place, datetime.now(UTC))
    with copy.transaction(tenant, "replay", datetime.now(UTC)) as changes:
        for entry in entries_of(store, tenant):
            changes.replay(entry)
    return copy
