"""The OpenAI Agents SDK's `Session`: the history of a conversation, read and written by its runner.

await Runner.run(agent, "…", session=RecollectSession(recollect.open(), "conversation-1"))
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..types import Scope
from . import missing
from .history import History
from .records import Store, readable

try:
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error

SAID = ("content", "output", "arguments", "summary", "name")  # the fields of an item that a person would read


class RecollectSession(SessionABC):
    def __init__(
        self, memory: Store, session_id: str, *, scope: Scope | None = None, settings: SessionSettings | None = None
    ) -> None:
        self.session_id, self.session_settings = session_id, settings or SessionSettings()
        self._history = History(memory, "openai-agents", session_id, scope)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        wanted = resolve_session_limit(limit, self.session_settings)
        if wanted is not None and wanted <= 0:
            return []
        return await asyncio.to_thread(self._history.newest, wanted)

    async def add_items(self, items: list[Any]) -> None:
        said = [(item, _speaker(item), _text(item)) for item in items]
        await asyncio.to_thread(self._history.add, said)

    async def pop_item(self) -> Any | None:
        return await asyncio.to_thread(self._history.pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._history.clear)


def _speaker(item: dict[str, Any]) -> str:
    return str(item.get("role") or ("tool" if str(item.get("type", "")).endswith("_output") else "assistant"))


def _text(item: dict[str, Any]) -> str:
    return "\n".join(filter(None, (_words(item.get(name)) for name in SAID)))


def _words(value: Any) -> str:
    """The words of a field: of a list of parts, their texts."""
    if isinstance(value, list):
        return "\n".join(str(one.get("text") or one.get("refusal") or "") for one in value if isinstance(one, dict))
    return readable(value)
