"""Proposals: what a model asks for and only a person may do, waiting in the review queue.

A proposal is a pending memory beside the memory it is about. Approving it does what its text says, word for word. Once
rejected, it is refused when it is made again.
"""

from __future__ import annotations

import re
from typing import Any

from .. import ids
from ..errors import Refused
from ..types import Draft, Memory
from .drafts import prepare
from .write import Writer

ACTS = {"purge": "Erase for good the memory {}.", "unreject": "Lift the rejection of the memory {}."}
_ID = rf"([0-9A-Za-z]{{{ids.LENGTH}}})"
_SAID = {act: re.compile(re.escape(said).replace(r"\{\}", _ID)) for act, said in ACTS.items()}


def propose(writer: Writer, memory: Memory, act: str, reason: str) -> Memory:
    """Put a proposal into the review queue, once."""
    made, _ = queue(writer, Draft(ACTS[act].format(memory.id), kind="task", reasoning=reason, scope=memory.scope))
    if made is None:
        raise Refused("A person has turned this proposal down.", fix="Do not propose it again; ask the person.")
    return made


def queue(writer: Writer, draft: Draft, **given: Any) -> tuple[Memory | None, bool]:
    """What waits for a person, and whether it is new; nothing where a person has turned it down."""
    item = prepare(draft, writer.content_limit, writer.actor, writer.labels)
    with writer.changing() as changes:
        if writer.rejected(changes, item.draft, writer.tombstoned([item.draft])):
            return None, False
        if same := changes.same(item.key, item.draft.scope):
            return same, False
        return writer.create(changes, item, writer.source(changes, item.source), state="pending", **given), True


def proposed(memory: Memory) -> tuple[str, str] | None:
    """What a pending memory proposes and for which memory, if it is a proposal."""
    found = {act: said.fullmatch(memory.content) for act, said in _SAID.items()}
    return next(((act, match[1]) for act, match in found.items() if match), None)
