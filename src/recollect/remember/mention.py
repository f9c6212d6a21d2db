"""Mentions: a memory tied to the entities it names.

Only entities that are there are tied to: a word that happens to be written with a capital makes none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta

from ..store.contract import Transaction
from ..types import Entity, Link, Memory, Scope
from .write import Writer

ABOUT = "mentions"


def entity_key(user: str, name: str) -> str:
    """What makes two entities the same: whose they are, and the name exactly as it is written."""
    return hashlib.sha256(f"{len(user)}:{user}:{name}".encode("utf-8", "replace")).hexdigest()[:32]


def known_in(entity: Entity, scope: Scope) -> bool:
    """Whether an entity can be seen from a scope: it is everybody's, or of that user and project."""
    own = (entity_key("", entity.name), entity_key(scope.user, entity.name))
    return (not scope.project or entity.project in ("", scope.project)) and (not scope.user or entity.key in own)


def mention(writer: Writer, changes: Transaction, memory: Memory, names: Sequence[str]) -> int:
    """Tie a new memory to the entities of these names that can be seen from where it holds; gives how many."""
    keys = sorted({entity_key(user, name) for name in names for user in ("", memory.scope.user)})
    found = writer.store.of(writer.tenant, Entity, keys, "key") if keys else []
    seen = [entity for entity in found if entity.project in ("", memory.scope.project)]
    for order, entity in enumerate(seen):
        moment = writer.now() + timedelta(microseconds=order)
        link = Link(writer.new_id(moment), memory.id, ABOUT, entity.id, target_kind="entity", created_at=moment)
        changes.put(link, "link")
    return len(seen)
