"""LangGraph's `SqliteStore` with a vector index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

from contract import Driver, Embeddings, Item, Options, serve


class LangGraph(Driver):
    def open(self, folder: Path, options: Options) -> None:
        embeddings = Embeddings(options)
        index: Any = {"dims": embeddings.dimension, "embed": embeddings.embed, "text_fields": ["text"]}
        connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
        self.store = SqliteStore(connection, index=index)
        self.store.setup()

    def add(self, items: Sequence[Item]) -> None:
        self.store.batch([PutOp(self._space(one), one["key"], {"text": one["text"]}) for one in items])

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        space = ("memories", user) if user else ("memories",)
        found = self.store.search(space, query=query, limit=limit)
        return [{"key": one.key, "text": one.value["text"]} for one in found]

    def keys(self) -> list[str]:
        return [one.key for one in self.store.search(("memories",), limit=100_000)]

    def delete(self, key: str) -> None:
        self.store.delete(("memories", "all"), key)

    @staticmethod
    def _space(item: Item) -> tuple[str, ...]:
        return "memories", item.get("user") or "all"


serve(LangGraph())
