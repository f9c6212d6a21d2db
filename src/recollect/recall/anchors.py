"""Anchors: when an event was that a question names ("before the re-org", "after the second ledger incident").

The event is a memory whose name (its kind, its title or first words, and its references) has every word that the
question calls it by. A single word names an event where it is a name of its own or most of the event's; its first
mention counts, of those that share most with the question. A question in the past tense may also tell of the event in a
clause ("before we found the missing index", "when Boston went live, …").
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from ..history.asof import HELD_ONCE
from ..language import calendar, terms
from ..language.when import Anchor
from ..remember.belief import sums_up
from ..store.contract import Store
from ..types import Filter, Memory, Scope
from . import intent

NAMED_IN = 160  # characters of a memory without a title in which an event is named
LOOKED_AT = 20
FEW = 4  # terms of a name of which one word is most
COVERED = 0.6  # which share of the words of a clause, the rarer the more, its memory must have
NO_EVENTS = ("code", "doc")
MEANT = 0.3  # the least cosine of a clause and the memory that tells of it in other words
ASKED, WORDS, KIND = 0.5, 0.1, 0.15  # what count beside it the cosine of the question, the share of words, the kind
POINTS_BACK = re.compile(r"(?:it|he|she|they|that|this)\b", re.IGNORECASE)
Near = Callable[[str], Mapping[str, tuple[float, float]]]  # memories, by the cosines of a clause and of the question


def anchors(store: Store, tenant: str, scope: Scope, question: str, near: Near | None = None) -> tuple[Anchor, Anchor]:
    """How the events of a question are looked up: by a name, and by a clause that tells of one, in its words or, with
    `near`, in others."""
    return (
        partial(moment_of, store, tenant, scope, question=question),
        partial(told_by, store, tenant, scope, near=near),
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


def told_by(store: Store, tenant: str, scope: Scope, clause: str, near: Near | None = None) -> datetime | None:
    """When something was that a clause tells of in words of its own: "we found the missing index".

    The memory has nearly all that the store knows of its words. Else the memory counts that is nearest to the clause
    and the question by meaning, or without vectors the only one that has a single word of it.
    """
    words = sorted(set(terms.of_query(clause)))
    total, counts = store.frequencies(tenant, words, Filter(scope, states=HELD_ONCE)) if words else (0, {})
    rarity = {word: math.log(1 + total / counts[word]) for word in words if counts.get(word)}
    found = _naming(store, tenant, scope, set(rarity)) if rarity else []
    covers = {one.id: sum(rarity[word] for word in terms_of(one) & rarity.keys()) for one in found}
    best = max(covers.values(), default=0.0)
    if found and best >= COVERED * sum(rarity.values()) and (len(rarity) > 1 or (len(found) == 1 and not near)):
        return min(_told_at(one) for one in found if covers[one.id] == best)
    return _meant(store, tenant, near(clause), clause, words) if near and words else None


def _meant(
    store: Store, tenant: str, near: Mapping[str, tuple[float, float]], clause: str, words: Sequence[str]
) -> datetime | None:
    """When the memory was told that is nearest to a clause and its question; a word of the clause counts, too, and the
    kind that it tells of. One that points back ("it moved") says too little by itself."""
    memories, kinds, alone = store.memories(tenant, list(near)), intent.kinds(clause), not POINTS_BACK.match(clause)

    def fit(memory: Memory) -> float:
        cosine, question = near[memory.id]
        shared = len(terms_of(memory).intersection(words)) / len(words)
        return alone * cosine + ASKED * question + WORDS * shared + KIND * kinds.get(memory.kind, 0.0)

    able = [one for one in memories.values() if _may_tell(one) and (not alone or near[one.id][0] >= MEANT)]
    return _told_at(max(able, key=fit)) if able else None


def _naming(store: Store, tenant: str, scope: Scope, words: set[str]) -> list[Memory]:
    """Memories that could tell of an event of these words, the best first."""
    found = store.match(tenant, sorted(words), Filter(scope, states=HELD_ONCE), LOOKED_AT)
    memories = store.memories(tenant, [id for id, _ in found])
    some = (memories[id] for id, _ in found if id in memories)
    return [one for one in some if _may_tell(one)]


def _may_tell(memory: Memory) -> bool:
    """Whether a memory can be the one that tells of an event."""
    return memory.kind not in NO_EVENTS and not memory.scope.session and not sums_up(memory)


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
