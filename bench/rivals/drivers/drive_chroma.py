"""Chroma: a persistent client and one collection, as its documentation starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb

from contract import Driver, Embeddings, Item, Options, serve


class Remote(chromadb.EmbeddingFunction):
    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings

    def __call__(self, input: Any) -> Any:
        return self.embeddings.embed(list(input))

    def embed_query(self, input: Any) -> Any:
        return self.embeddings.embed(list(input), "query")

    @staticmethod
    def name() -> str:
        return "loopback"


class Chroma(Driver):
    def open(self, folder: Path, options: Options) -> None:
        client = chromadb.PersistentClient(path=str(folder / "chroma"))
        self.collection = client.get_or_create_collection("memories", embedding_function=Remote(Embeddings(options)))

    def add(self, items: Sequence[Item]) -> None:
        self.collection.add(
            ids=[one["key"] for one in items], documents=[one["text"] for one in items],
            metadatas=[{"user": one.get("user", "") or "all"} for one in items],
        )  # fmt: skip

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        where = {"where": {"user": user}} if user else {}
        found = self.collection.query(query_texts=[query], n_results=limit, **where)
        pairs = zip(found["ids"][0], found["documents"][0], strict=True)
        return [{"key": key, "text": text} for key, text in pairs]

    def keys(self) -> list[str]:
        return list(self.collection.get(include=[])["ids"])

    def delete(self, key: str) -> None:
        self.collection.delete(ids=[key])


serve(Chroma())
