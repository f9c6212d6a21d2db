"""The answer cache: what has had its time leaves it.

It is derived, so no checkpoint is made for it and nothing has to be brought back; each act is a note in the journal all
the same, by the id of the question and without a word of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...answers.eviction import Leaving
from ...store.contract import Transaction
from .room import Act, Room, lots


def answers(room: Room) -> Iterator[list[Act]]:
    """Answers that ended, questions long unasked, and what there is no room for."""
    for looked, page in room.cache.leaving():
        room.looked += looked
        yield from lots(Act(one.what, one.answer.id, one.why, _leave(one)) for one in page)


def _leave(one: Leaving) -> Callable[[Transaction], bool]:
    def do(changes: Transaction) -> bool:
        if not one.go(changes):
            return False
        changes.note("tidy", one.answer.id, f"{one.what}: {one.why}")
        return True

    return do
