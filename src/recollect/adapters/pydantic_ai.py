"""Pydantic AI: the messages of a conversation, for `message_history`.

history = RecollectHistory(recollect.open(), "conversation-1")
result = agent.run_sync("…", message_history=history.messages())
history.add(result.new_messages())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..types import Scope
from . import missing
from .history import History
from .records import Store, readable

try:
    from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
except ImportError as error:
    raise missing("pydantic-ai-slim", "pydantic-ai") from error


class RecollectHistory:
    def __init__(self, memory: Store, session: str, *, scope: Scope | None = None) -> None:
        self._history = History(memory, "pydantic-ai", session, scope)

    def messages(self, limit: int | None = None) -> list[ModelMessage]:
        """The last messages, oldest first; all of them unless told."""
        return ModelMessagesTypeAdapter.validate_python(self._history.newest(limit))

    def add(self, messages: Sequence[ModelMessage]) -> None:
        """Keep the messages of a run: `result.new_messages()`."""
        forms = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
        self._history.add([(form, *_said(form)) for form in forms])

    def clear(self) -> None:
        self._history.clear()


def _said(form: dict[str, Any]) -> tuple[str, str]:
    """Who speaks in a message, and its words. A request to the model may hold a prompt and what tools returned."""
    parts = [part for part in form["parts"] if part["part_kind"] not in ("system-prompt", "thinking")]
    kinds = {part["part_kind"] for part in parts}
    role = (
        "assistant"
        if form["kind"] == "response"
        else "user"
        if "user-prompt" in kinds
        else "tool"
        if kinds
        else "system"
    )
    words = (readable(part.get("content", part.get("args"))) for part in parts)
    return role, "\n".join(word for word in words if word)
