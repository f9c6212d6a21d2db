"""Anchors: when an event was that a question names ("before the re-org", "after the second ledger incident").

The event is a memory whose name (its kind, its title or first words, and its references) has every word that the
question calls it by. A single word names an event where it is a name of its own or most of the event's; its first
mention counts, of those that share most with the question. A question in the past tense may also tell of the event in a
clause ("before we found the missing index", "when Boston went live, …").
"""

from __future__ import annotations

import math
from datetime import datetime
from functools import partial

from ..history.asof import HELD_ONCE
from ..language import calendar, terms
from ..language.when import Anchor
from ..remember.belief import sums_up
from ..store.contract import Store
from ..types import Filter, Memory, Scope

NAMED_IN = 160  # characters of a memory without a title in which an event is named
LOOKED_AT = 20
FEW = 4  # terms of a name of which one word is most
COVERED = 0.6  # which share of the words of a clause, the rarer the more, its memory must have
NO_EVENTS = ("code", "doc")


def anchors(store: Store, tenant: str, scope: Scope, question: str) -> tuple[Anchor, Anchor]:
    """How the events of a question are looked up: by a name, and by a clause that tells of one."""
    return (
        partial(moment_of, store, tenant, scope, question=question),
        partial(told_by, store, tenant, scope),
    )


def moment_of(store: Store, tenant: str, scope: Scope, event: str, question: str = "") -> datetime | None:
    """When an event was, by its name; None where no memory tells. Of several, the one that fits the question best."""
    spoken = event.split()
    order = next((calendar.ORDINALS[word.lower()] for word in spoken if word.lower() in calendar.ORDINALS), 0)
    rest = " ".join(word for word in spoken if word.lower() not in calendar.ORDINALS)
    words = set(terms.of_query(rest))
    if not words:
        return None
    fitting = [memory for memory in _naming(store, tenant, scope, words) if _names(memory, words, _is_name(rest))]
    if not fitting:
        return None
    moments = sorted(map(_told_at, fitting))
    if order:
        return moments[order - 1] if order <= len(moments) else None
    asked = set(terms.of_query(question))
    shared = {memory.id: len(asked & terms_of(memory)) for memory in fitting}
    best = [one for one in fitting if shared[one.id] == max(shared.values())]
    return _told_at(best[0]) if len(words) > 1 else min(map(_told_at, best))


def told_by(store: Store, tenant: str, scope: Scope, clause: str) -> datetime | None:
    """When something was that a clause tells of in words of its own: "we found the missing index".

    The memory has nearly all that the store knows of its words; a single word counts where one memory alone has it.
    """
    words = sorted(set(terms.of_query(clause)))
    total, counts = store.frequencies(tenant, words, Filter(scope, states=HELD_ONCE)) if words else (0, {})
    rarity = {word: math.log(1 + total / counts[word]) for word in words if counts.get(word)}
    found = _naming(store, tenant, scope, set(rarity)) if rarity else []
    if not found or (len(rarity) == 1 and len(found) > 1):
        return None
    covers = {one.id: sum(rarity[word] for word in terms_of(one) & rarity.keys()) for one in found}
    best = max(covers.values())
    if best < COVERED * sum(rarity.values()):
        return None
    return min(_told_at(one) for one in found if covers[one.id] == best)


def _naming(store: Store, tenant: str, scope: Scope, words: set[str]) -> list[Memory]:
    """Memories that could tell of an event of these words, the best first."""
    found = store.match(tenant, sorted(words), Filter(scope, states=HELD_ONCE), LOOKED_AT)
    memories = store.memories(tenant, [id for id, _ in found])
    some = (memories[id] for id, _ in found if id in memories)
    return [one for one in some if one.kind not in NO_EVENTS and not one.scope.session and not sums_up(one)]


def _told_at(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


def terms_of(memory: Memory) -> set[str]:
    """The terms of what a memory begins with, in which it names what it tells of."""
    return set(terms.terms(" ".join((memory.kind, memory.title or memory.content[:NAMED_IN], *memory.refs))))


def _names(memory: Memory, words: set[str], proper: bool) -> bool:
    name = terms_of(memory)
    return words <= name and (len(words) > 1 or proper or len(name) <= FEW)


def _is_name(text: str) -> bool:
    """Whether one word is a name of its own: it has a capital or a figure in it."""
    word = text.split()[-1] if text.split() else ""
    return word != "I" and any(letter.isupper() or letter.isdigit() for letter in word)
