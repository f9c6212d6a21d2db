"""CrewAI: the storage of its `Memory`.

    storage = RecollectStorage(recollect.open())
    crew = Crew(agents=agents, tasks=tasks, memory=Memory(storage=storage, embedder=storage.embed))

CrewAI asks its storage with vectors alone. `embed` gives it vectors that stand for their text, so that Recollect is
asked with the text: a search is a recall, and no other embedding model is needed.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..errors import BadInput
from ..types import Scope
from . import missing
from .records import Path, Record, Records, Store, scope_of

try:
    from crewai.memory.types import MemoryRecord, ScopeInfo
except ImportError as error:
    raise missing("crewai", "crewai") from error

SIZE = 32  # numbers of a vector that stands for a text
REMEMBERED = 10_000  # texts that were last asked for


class RecollectStorage:
    def __init__(self, memory: Store, *, scope: Scope | None = None) -> None:
        self._records = Records(memory, "crewai", scope_of(memory, scope))
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, by which it is known again here."""
        made = []
        for text in texts:
            digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
            vector = tuple(byte / 128 - 1 for byte in digest[:SIZE])
            self._texts[vector] = text
            self._texts.move_to_end(vector)
            made.append(list(vector))
        while len(self._texts) > REMEMBERED:
            self._texts.popitem(last=False)
        return made

    def save(self, records: list[MemoryRecord]) -> None:
        for one in records:
            self._records.put(_path(one.scope), one.id, one.model_dump(mode="json"), text=one.content)

    def update(self, record: MemoryRecord) -> None:
        for old in self._by_id(record.id):
            if old.path != _path(record.scope):
                self._records.drop([old])
        self.save([record])

    def search(
        self, query_embedding: list[float], scope_prefix: str | None = None, categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None, limit: int = 10, min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:  # fmt: skip
        if (asked := self._texts.get(tuple(query_embedding))) is None:
            raise BadInput(
                "That vector is of another embedder.", fix="Use Memory(storage=storage, embedder=storage.embed)."
            )
        found = self._records.search(_path(scope_prefix), asked, limit * 3 if categories or metadata_filter else limit)
        scored = [
            (_memory(one), max(0.0, one.score or 0.0)) for one in found if _fits(one.value, categories, metadata_filter)
        ]
        return sorted((one for one in scored if one[1] >= min_score), key=lambda one: -one[1])[:limit]

    def delete(
        self, scope_prefix: str | None = None, categories: list[str] | None = None,
        record_ids: list[str] | None = None, older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:  # fmt: skip
        over = [
            one for one in self._records.all(_path(scope_prefix))
            if (record_ids is None or one.key in record_ids) and _fits(one.value, categories, metadata_filter)
            and (older_than is None or _made(one) < _utc(older_than))
        ]  # fmt: skip
        self._records.drop(over)
        return len(over)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        return next((_memory(one) for one in self._by_id(record_id)), None)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        found = sorted(self._records.all(_path(scope_prefix)), key=_made, reverse=True)
        return [_memory(one) for one in found[offset : offset + limit]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        found = list(self._records.all(_path(scope)))
        times, named = [_made(one) for one in found], {name for one in found for name in one.value["categories"]}
        return ScopeInfo(
            path=scope, record_count=len(found), categories=sorted(named),
            oldest_record=min(times, default=None), newest_record=max(times, default=None),
            child_scopes=_children(found, scope),
        )  # fmt: skip

    def list_scopes(self, parent: str = "/") -> list[str]:
        return _children(self._records.all(_path(parent)), parent)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return dict(Counter(name for one in self._records.all(_path(scope_prefix)) for name in one.value["categories"]))

    def count(self, scope_prefix: str | None = None) -> int:
        return sum(1 for _ in self._records.all(_path(scope_prefix)))

    def reset(self, scope_prefix: str | None = None) -> None:
        self._records.clear(_path(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], **options: Any) -> list[tuple[MemoryRecord, float]]:
        return await asyncio.to_thread(self.search, query_embedding, **options)

    async def adelete(self, **options: Any) -> int:
        return await asyncio.to_thread(self.delete, **options)

    def _by_id(self, id: str) -> Iterator[Record]:
        return (one for one in self._records.all() if one.key == id)


def _path(scope: str | None) -> Path:
    return tuple(part for part in (scope or "").split("/") if part)


def _memory(one: Record) -> MemoryRecord:
    return MemoryRecord(**one.value)


def _utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _made(one: Record) -> datetime:
    return _utc(datetime.fromisoformat(one.value["created_at"]))


def _fits(value: Mapping[str, Any], categories: list[str] | None, metadata: dict[str, Any] | None) -> bool:
    return (not categories or not set(categories).isdisjoint(value["categories"])) and all(
        value["metadata"].get(name) == wanted for name, wanted in (metadata or {}).items()
    )


def _children(found: Any, parent: str) -> list[str]:
    depth = len(_path(parent))
    return sorted({"/" + "/".join(one.path[: depth + 1]) for one in found if len(one.path) > depth})
