"""Forgetting: which memories a query or a scope means, and taking them out of recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import text
from ..checks import filter_of
from ..errors import BadInput
from ..language import terms
from ..types import EVERYWHERE, Memory, Scope
from .write import Writer, present

OUT = ("archived", "rejected")  # forgotten already; a person's "no" outweighs a later "forget"
MAX_SAYING = 10_000  # memories that one query can forget


def meant(writer: Writer, query: str | None, here: Scope, scope: Scope, purge: bool) -> Sequence[Memory]:
    """The memories that a query means, seen from here, or all that lie inside a scope."""
    return inside(writer, scope, purge) if query is None else saying(writer, query, here, purge)


def saying(writer: Writer, query: str, scope: Scope, purge: bool) -> Sequence[Memory]:
    """Memories in which every word of the query occurs: likeness is good enough to find, never to forget by."""
    if not isinstance(query, str) or not text.clean(query):
        raise BadInput("query is empty.", fix="Give the words that the memories to forget must contain.")
    if not (wanted := set(terms.of_query(text.clean(query)))):
        return []
    filter = filter_of(now=None, scope=scope, states=() if purge else ("active", "pending"))
    ids = [id for id, _ in writer.store.match(writer.tenant, sorted(wanted), filter, MAX_SAYING)]
    found = writer.store.memories(writer.tenant, ids)
    return [found[id] for id in ids if id in found and wanted <= set(terms.of_memory(found[id]))]


def inside(writer: Writer, scope: Scope, purge: bool) -> Sequence[Memory]:
    """Every memory inside a scope."""
    if scope == EVERYWHERE:
        raise BadInput("The scope is empty: that would be everything.", fix="Name a user, project or session.")
    filter = filter_of(now=None, scope=scope, inside=True, states=() if purge else ("active", "pending"))
    return list(writer.store.walk(writer.tenant, filter))


def retire(writer: Writer, memories: Sequence[Memory], reason: str) -> Sequence[Memory]:
    """Take memories out of recall; erasing them for good is `history/erase.py`. Gives those that were not out yet."""
    gone = []
    with writer.changing() as changes:
        for given in memories:
            memory = present(changes, given.id)
            if memory.state in OUT:
                continue
            gone.append(replace(memory, state="archived"))
            changes.put(gone[-1], "forget", reason)
    return gone
