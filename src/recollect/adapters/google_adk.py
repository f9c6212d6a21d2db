"""Google's Agent Development Kit: a `MemoryService`.

    service = RecollectMemoryService(recollect.open())
    runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=service)

What a session said is captured, once: as turns, and as what is worth keeping of them. A search finds whatever is
remembered of the user, wherever it was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..errors import NotFound
from ..types import Memory, Message, Scope
from . import missing
from .records import Store

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
except ImportError as error:
    raise missing("google-adk", "google-adk") from error


class RecollectMemoryService(BaseMemoryService):
    """A user of ADK is a user; an app is a project, unless `scope` names another."""

    def __init__(self, memory: Store, *, scope: Scope | None = None, limit: int = 10) -> None:
        self._memory, self._scope, self._limit = memory, scope, limit

    async def add_session_to_memory(self, session: Session) -> None:
        await asyncio.to_thread(self._capture, session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Event], session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        await asyncio.to_thread(self._capture, app_name, user_id, session_id or "", events)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        for one in memories:
            if text := _text(one.content):
                await asyncio.to_thread(self._memory.remember, text, scope=self._place(app_name, user_id))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        found = await asyncio.to_thread(
            self._memory.recall, query, scope=self._place(app_name, user_id), limit=self._limit
        )
        return SearchMemoryResponse(memories=[_entry(hit.memory) for hit in found.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        if memory_id:
            await asyncio.to_thread(self._delete, self._place(app_name, user_id), memory_id)

    def _delete(self, place: Scope, id: str) -> None:
        where = self._memory.get(id).scope
        if (where.user, where.project) != (place.user, place.project):
            raise NotFound(f"No memory of this user has the id {id!r:.60}.")
        self._memory.forget(id, reason="deleted by google-adk")

    def _capture(self, app: str, user: str, session: str, events: Iterable[Event]) -> None:
        said = [
            Message(_role(one), text, one.id, datetime.fromtimestamp(one.timestamp, UTC))
            for one in events if (text := _text(one.content))
        ]  # fmt: skip
        name = session or "google-adk"
        place = replace(self._place(app, user), session=name)
        self._memory.capture(said, origin="google-adk", session=name, scope=place)

    def _place(self, app: str, user: str) -> Scope:
        return replace(self._scope or Scope(project=app), user=user)


def _role(event: Event) -> str:
    return "user" if event.author == "user" else "assistant"


def _text(content: Any) -> str:
    return "\n".join(part.text for part in (content.parts if content else None) or () if part.text and not part.thought)


def _entry(memory: Memory) -> MemoryEntry:
    return MemoryEntry(
        id=memory.id,
        content=types.Content(
            role="model" if memory.speaker == "assistant" else "user", parts=[types.Part(text=memory.content)]
        ),
        author=memory.speaker or None,
        timestamp=(memory.valid_from or memory.created_at).isoformat(),
    )
