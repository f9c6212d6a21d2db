"""Nouns for the tests of stores, and putting them there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conftest import START
from recollect import Evidence, Link, Memory, Source
from recollect.ids import make
from recollect.language.terms import of_query
from recollect.store.contract import Store
from recollect.text import key
from recollect.types import Filter
from recollect.vectors import Floats

A, B = "acme", "globex"


def unit(*numbers: float) -> Floats:
    vector = np.zeros(64, np.float32)
    vector[: len(numbers)] = numbers
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def source(number: int = 1, **fields: object) -> Source:
    return replace(Source(make(number, 7), uri=f"test:{number}", created_at=START), **fields)  # type: ignore[arg-type]


def memory(number: int, content: str, **fields: object) -> Memory:
    base = Memory(
        make(number, number), content, created_at=START, updated_at=START, content_hash=key(content), source=source().id
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def put(store: Store, *memories: Memory, tenant: str = A, operation: str = "create") -> None:
    with store.transaction(tenant, "test", START) as changes:
        if not changes.get(Source, source().id):
            changes.put(source(), "create")
        for one in memories:
            changes.put(one, operation)


def found(store: Store, question: str, filter: Filter | None = None, tenant: str = A) -> list[str]:
    return [id for id, _ in store.match(tenant, of_query(question), filter or Filter(), 10)]


def purge_a_secret(store: Store) -> Memory:
    """Put a memory with everything that hangs on it beside a harmless one, and purge it."""
    secret, other = memory(1, "xyzzy-plugh the cave", source=source(3).id), memory(2, "harmless")
    with store.transaction(A, "test", START) as changes:
        changes.put(source(3, content="raw xyzzy-plugh turn", kind="turn"), "create")
    put(store, secret, other)
    with store.transaction(A, "test", START) as changes:
        changes.put(Evidence(make(9, 9), secret.id, source(3).id, "xyzzy-plugh", created_at=START), "create")
        changes.put(Link(make(8, 8), secret.id, "related", other.id, reason="xyzzy-plugh", created_at=START), "link")
        changes.embed(secret.id, "m", unit(1)[None, :])
    with store.transaction(A, "test", START) as changes:
        changes.purge(secret.id)
    return secret
