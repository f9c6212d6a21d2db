"""Recollect through its Python interface. With `structured`, an item's own fields are given too, not its text alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recollect
from contract import Driver, Embeddings, Item, Options, serve
from recollect.types import Draft, Scope, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Remote:
    """The embedding server of the run as an embedder of Recollect's."""

    def __init__(self, embeddings: Embeddings, options: Options) -> None:
        self._embeddings = embeddings
        self.model: str = options["model"]
        self.dimension = embeddings.dimension

    def warm(self) -> None:
        pass

    def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> NDArray[np.float32]:
        rows = self._embeddings.embed(texts, role) if texts else []
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)


class Recollect(Driver):
    def open(self, folder: Path, options: Options) -> None:
        self.effort = options.get("effort", "balanced")
        self.structured = bool(options.get("structured"))
        embedder = Remote(Embeddings(options), options)
        self.engine = recollect.open(folder / "memory.db", embedder=embedder, actor="rivals")
        self.known: dict[str, list[str]] = {}
        self.ids: dict[str, str] = {}

    def add(self, items: Sequence[Item]) -> None:
        kept = self.engine.remember_many([self._draft(one) for one in items])
        for one, result in zip(items, kept, strict=True):
            if result.action == "refused":
                continue
            self.ids[one["key"]] = result.id
            self.known.setdefault(result.id, []).append(one["key"])

    def _draft(self, item: Item) -> Draft:
        scope = Scope(user=item.get("user", ""))
        source = Source("", uri=f"rivals:{item['key']}")
        if not self.structured or "content" not in item:
            return Draft(item["text"], scope=scope, source=source)
        fields: dict[str, Any] = {name: item[name] for name in ("kind", "title", "speaker", "reasoning") if item[name]}
        if item["session"]:
            fields["position"] = int(item["position"])
            scope = Scope(user=item.get("user", ""), session=item["session"])
        return Draft(item["content"], scope=scope, source=source, valid_from=item["date"], **fields)

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        found = self.engine.recall(query, limit=limit, effort=self.effort, scope=Scope(user=user))
        return [
            {"key": key, "text": hit.memory.content}
            for hit in found.hits
            for key in self.known.get(hit.memory.id, [""])
        ]

    def keys(self) -> list[str]:
        found, cursor = [], None
        while True:
            page = self.engine.list(limit=500, cursor=cursor)
            for memory in page.memories:
                source = self.engine.why(memory.id).source
                found.append(source.uri.removeprefix("rivals:") if source else "")
            if not (cursor := page.cursor):
                return found

    def delete(self, key: str) -> None:
        self.engine.forget(self.ids[key], purge=True)

    def reject(self, key: str) -> None:
        self.engine.reject(self.ids[key], reason="wrong")

    def handed(self, query: str) -> str:
        return self.engine.context(query).text

    def close(self) -> None:
        self.engine.close()


serve(Recollect())
