"""mem0 without a language model: `infer=False`, Qdrant on disk (its default), embeddings by OpenAI's protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from contract import Driver, Embeddings, Item, Options, serve


class Mem0(Driver):
    def open(self, folder: Path, options: Options) -> None:
        os.environ.update(MEM0_DIR=str(folder / "mem0"), MEM0_TELEMETRY="False", OPENAI_API_KEY="none")
        from mem0 import Memory

        remote = Embeddings(options)
        embedder = {"model": remote.model, "openai_base_url": remote.url, "embedding_dims": remote.dimension}
        place = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": remote.dimension}
        self.memory = Memory.from_config({
            "embedder": {"provider": "openai", "config": embedder},
            "vector_store": {"provider": "qdrant", "config": {"collection_name": "memories", **place}},
            "history_db_path": str(folder / "history.db"),
        })  # fmt: skip
        self.ids: dict[str, str] = {}

    def add(self, items: Sequence[Item]) -> None:
        for one in items:
            told = self.memory.add(
                one["text"], user_id=one.get("user") or "all", infer=False, metadata={"key": one["key"]}
            )
            for result in told["results"]:
                self.ids[one["key"]] = result["id"]

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        found = self.memory.search(query, top_k=limit, filters={"user_id": user or "all"}, threshold=0.0)
        return [{"key": one["metadata"]["key"], "text": one["memory"]} for one in found["results"]]

    def keys(self) -> list[str]:
        found = self.memory.get_all(filters={"user_id": "all"}, top_k=100_000)
        return [one["metadata"]["key"] for one in found["results"]]

    def delete(self, key: str) -> None:
        self.memory.delete(self.ids[key])


serve(Mem0())
