"""What a memory was at an earlier time, by undoing the journal. Pure.

A journal row holds the changed fields before and after, so walking back from today and putting the «before» values
in place gives the memory as it stood. A memory created later did not exist; a purged one cannot be had any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..types import Entry, Memory


def as_of(memory: Memory, later: Sequence[Entry], moment: datetime) -> Memory | None:
    """The memory as it stood at `moment`, given the journal rows about it that are later than that."""
    if memory.created_at > moment:
        return None
    fields = memory.record()
    for entry in sorted(later, key=lambda entry: -entry.seq):
        if entry.noun != "memory" or entry.at <= moment:
            continue
        if entry.before is None:
            return None
        fields |= entry.before
    return Memory.from_dict(fields)
