"""LangChain: the history of a chat, and a retriever over everything that is remembered.

chain = RunnableWithMessageHistory(runnable, lambda session: RecollectChatMessageHistory(memory, session))
documents = RecollectRetriever(memory=memory).invoke("when do we deploy?")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..types import Scope
from . import missing
from .history import History
from .records import Store, readable

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field
except ImportError as error:
    raise missing("langchain-core", "langchain") from error


class RecollectChatMessageHistory(BaseChatMessageHistory):
    def __init__(self, memory: Store, session: str, *, scope: Scope | None = None, limit: int | None = None) -> None:
        """With a `limit`, `messages` are the last so many."""
        super().__init__()
        self._history, self._limit = History(memory, "langchain", session, scope), limit

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override, unused-ignore]
        return messages_from_dict(self._history.newest(self._limit))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._history.add([(message_to_dict(one), one.type, _text(one)) for one in messages])

    def clear(self) -> None:
        self._history.clear()


class RecollectRetriever(BaseRetriever):
    """Recall as a retriever: `k` documents; `options` are keyword arguments of `recall`, such as `scope`, `kinds`."""

    memory: Any
    k: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = {"limit": k or self.k} if k or self.k else {}
        return [
            Document(
                id=hit.memory.id,
                page_content=hit.memory.content,
                metadata={
                    "id": hit.memory.id, "kind": hit.memory.kind, "title": hit.memory.title, "score": hit.score,
                    "tags": list(hit.memory.tags), "trust": hit.memory.trust, "why": hit.why,
                    "created_at": hit.memory.created_at.isoformat(),
                },
            )
            for hit in self.memory.recall(query, **{**self.options, **most}).hits
        ]  # fmt: skip


def _text(message: BaseMessage) -> str:
    calls = [f"{call['name']} {readable(call['args'])}" for call in getattr(message, "tool_calls", ())]
    return "\n".join([readable(message.content), *calls])
