"""Anchors: when an event was that a question names ("before the re-org", "after the second ledger incident").

The event is a memory whose name (its kind, its title or first words, and its references) has every word that the
question calls it by. A single word names an event where it is a name of its own or most of the event's; its first
mention counts.
"""

from __future__ import annotations

from datetime import datetime

from ..history.asof import HELD_ONCE
from ..language import calendar, terms
from ..remember.belief import sums_up
from ..store.contract import Store
from ..types import Filter, Memory, Scope

NAMED_IN = 160  # characters of a memory without a title in which an event is named
LOOKED_AT = 20
FEW = 4  # terms of a name of which one word is most
NO_EVENTS = ("code", "doc")


def moment_of(store: Store, tenant: str, scope: Scope, event: str) -> datetime | None:
    """When an event was, by its name; None where no memory tells."""
    spoken = event.split()
    order = next((calendar.ORDINALS[word.lower()] for word in spoken if word.lower() in calendar.ORDINALS), 0)
    rest = " ".join(word for word in spoken if word.lower() not in calendar.ORDINALS)
    words = set(terms.of_query(rest))
    if not words:
        return None
    found = store.match(tenant, sorted(words), Filter(scope, states=HELD_ONCE), LOOKED_AT)
    memories = store.memories(tenant, [id for id, _ in found])
    fitting = [memories[id] for id, _ in found if id in memories and _names(memories[id], words, _is_name(rest))]
    if not fitting:
        return None
    moments = sorted(memory.valid_from or memory.created_at for memory in fitting)
    if order:
        return moments[order - 1] if order <= len(moments) else None
    best = fitting[0]
    return moments[0] if len(words) == 1 else best.valid_from or best.created_at


def _names(memory: Memory, words: set[str], proper: bool) -> bool:
    if memory.kind in NO_EVENTS or memory.scope.session or sums_up(memory):
        return False
    name = set(terms.terms(" ".join((memory.kind, memory.title or memory.content[:NAMED_IN], *memory.refs))))
    return words <= name and (len(words) > 1 or proper or len(name) <= FEW)


def _is_name(text: str) -> bool:
    """Whether one word is a name of its own: it has a capital or a figure in it."""
    word = text.split()[-1] if text.split() else ""
    return word != "I" and any(letter.isupper() or letter.isdigit() for letter in word)
