"""LlamaIndex: a block of its `Memory`, which keeps what leaves the short-term memory and brings back what helps.

memory = Memory.from_defaults(session_id="s1", memory_blocks=[RecollectMemoryBlock(memory=recollect.open())])
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from ..models.tokens import Tokens
from ..recall.fence import fenced
from ..types import Message, Scope
from . import missing
from .records import scope_of

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from pydantic import Field
except ImportError as error:
    raise missing("llama-index-core", "llama-index") from error

_count = Tokens()
ROLE = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant", "tool": "tool"}


class RecollectMemoryBlock(BaseMemoryBlock[str]):
    """`options` are keyword arguments of `recall`; `window` is how many of the last messages it asks with."""

    name: str = "Recollect"
    memory: Any
    scope: Scope | None = None
    window: int = 3
    options: dict[str, Any] = Field(default_factory=lambda: {"recipe": "conversation", "limit": 5})

    async def _aget(self, messages: list[ChatMessage] | None = None, **given: Any) -> str:
        asked = "\n".join(filter(None, (one.content for one in (messages or ())[-self.window :])))
        if not asked.strip():
            return ""
        scope = scope_of(self.memory, self.scope)
        found = await asyncio.to_thread(self.memory.recall, asked, scope=scope, **self.options)
        return "\n".join(fenced(hit.memory.content, id=hit.memory.id, kind=hit.memory.kind) for hit in found.hits)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str, list[Message]] = {}
        for one in messages:
            session = str(one.additional_kwargs.get("session_id") or "llama-index")
            if one.content:
                said = Message(ROLE.get(str(one.role.value), "system"), one.content)
                sessions.setdefault(session, []).append(said)
        for session, talk in sessions.items():
            scope = replace(scope_of(self.memory, self.scope), session=session)
            await asyncio.to_thread(self.memory.capture, talk, origin="llama-index", session=session, scope=scope)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Without its last memories; each stays whole, with what marks it as data."""
        kept = content.split("\n<memory ")
        while kept and tokens_to_truncate > 0:
            tokens_to_truncate -= _count(kept.pop())
        return "\n<memory ".join(kept) or None
