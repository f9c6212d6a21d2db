"""GPTCache with SQLite and FAISS, as its documentation sets it up: a cache of answers, asked for what is nearest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from contract import Driver, Embeddings, Item, Options, serve


class GPTCache(Driver):
    def open(self, folder: Path, options: Options) -> None:
        os.chdir(folder)
        from gptcache.manager import CacheBase, VectorBase, get_data_manager

        self.embeddings = Embeddings(options)
        vectors = VectorBase("faiss", dimension=self.embeddings.dimension, top_k=50)
        self.manager = get_data_manager(CacheBase("sqlite"), vectors)

    def add(self, items: Sequence[Item]) -> None:
        rows = np.array(self.embeddings.embed([one["text"] for one in items]), dtype=np.float32)
        self.manager.import_data(
            [one["text"] for one in items], [one["key"] for one in items], list(rows), [None] * len(items)
        )
        self.manager.flush()

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        row = np.array(self.embeddings.embed([query], "query")[0], dtype=np.float32)
        found = []
        for near in self.manager.search(row, top_k=limit):
            entry = self.manager.get_scalar_data(near)
            if entry is not None:
                found.append({"key": str(entry.answers[0].answer), "text": str(entry.question)})
        return found

    def close(self) -> None:
        self.manager.close()


serve(GPTCache())
