"""Turns: how a thing that was said is kept. Pure.

The id of a turn's source is made of what its own source calls it, or of the session, the speaker and the words where it
has no name. So the same turn is known again, whichever of the ways it comes.
"""

from __future__ import annotations

from datetime import datetime

from .. import ids, text
from ..types import Draft, Message, Scope, Source

MAX_TURN = 12_000  # characters of one thing said
IMPORTANCE = {"user": 4, "assistant": 4, "tool": 2, "system": 1}  # below what somebody meant to be remembered


def names(origin: str, session: str, message: Message) -> tuple[str, ...]:
    """The ids under which a thing said may be known, the best first.

    Claude Code copies records with their uuids into the transcript of a session that goes on from another; the names
    that others use are only good inside a session.
    """
    place = "" if origin == "claude" and message.role != "tool" else session
    named = [ids.derive(origin, place, message.id)] if message.id else []
    return (*named, ids.derive(origin, session, message.role, text.key(message.content)))


def draft(origin: str, message: Message, id: str, where: Scope, place: int, moment: datetime) -> Draft:
    """A turn as it is stored: a source of its own, and a memory that makes it readable at once."""
    at = message.at or moment
    source = Source(
        id, "turn", uri=f"{origin}:{where.session}", author=message.role, content=message.content,
        session=where.session, position=place, occurred_at=at,
    )  # fmt: skip
    return Draft(
        message.content, kind="turn", speaker=message.role, position=place, scope=where, valid_from=at, source=source,
        importance=IMPORTANCE[message.role], refs=message.refs, tags=("tool",) if message.role == "tool" else (),
    )  # fmt: skip


def fitting(words: str, limit: int) -> str:
    """At most as long as a memory may be in any script; a pasted file of a megabyte is not what was said."""
    most = min(MAX_TURN, limit // 4 - 2)
    return text.cut(words, most)
