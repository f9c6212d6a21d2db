"""LangGraph's `BaseStore` over memories: for long-term memory of graphs and for its memory tools.

    store = RecollectStore(recollect.open())
    graph = builder.compile(store=store)

A namespace is a path below the scope of the store; a callable as `scope` gives namespaces scopes of their own. Search
is Recollect's recall, so no embedding function is configured; the score is the similarity in meaning. What a question
does not find follows without a score. As in the library's own store, a batch answers its reads from before its writes.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..types import Scope
from . import missing
from .records import Path, Record, Records, Store, readable, scope_of

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as error:
    raise missing("langgraph", "langgraph") from error

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt,
    "$lte": operator.le,
}  # fmt: skip
MORE = 5  # times as many hits as wanted are looked at where some are filtered out


class RecollectStore(BaseStore):
    """`index` are the fields that are searched, as paths; the whole item unless told. `ttl` is LangGraph's own."""

    supports_ttl = True

    def __init__(
        self, memory: Store, *, scope: Scope | Callable[[Path], Scope] | None = None,
        index: Sequence[str] | None = None, ttl: TTLConfig | None = None,
    ) -> None:  # fmt: skip
        self._memory = memory
        self._where = scope if callable(scope) else None
        self._scope = scope_of(memory, None if callable(scope) else scope)
        self._index = list(index) if index else None
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        found = [self._read(op) for op in asked]
        for write in {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}.values():
            self._put(write)
        return found

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._records(op.namespace).get(op.namespace, op.key, refresh=op.refresh_ttl)
            return _item(found) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise TypeError(f"Unknown operation: {type(op).__name__}")

    def _put(self, op: PutOp) -> None:
        records = self._records(op.namespace)
        if op.value is None:
            records.delete(op.namespace, op.key)
            return
        value = dict(op.value)
        fields = op.index if isinstance(op.index, list) else self._index
        told = readable(value) if fields is None else "\n".join(_texts(value, fields))
        records.put(op.namespace, op.key, value, text=told, minutes=op.ttl, hidden=op.index is False)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        records, wanted = self._records(op.namespace_prefix), op.offset + op.limit
        found = islice(self._found(op, records, wanted), op.offset, wanted)
        kept = list(found)
        return [_search_item(one) for one in (records.refresh(kept) if op.refresh_ttl else kept)]

    def _found(self, op: SearchOp, records: Records, wanted: int) -> Iterator[Record]:
        """What is found, best first; behind it, as in the library, what the question does not concern."""
        seen = set()
        if op.query:
            for one in records.search(op.namespace_prefix, op.query, wanted * (MORE if op.filter else 1)):
                if _fits(one.value, op.filter):
                    seen.add(one.id)
                    yield one
        rest = (one for one in records.all(op.namespace_prefix) if one.id not in seen and _fits(one.value, op.filter))
        yield from sorted(rest, key=lambda one: one.hidden) if op.query else rest

    def _namespaces(self, op: ListNamespacesOp) -> list[Path]:
        found = {one.path for one in self._records(()).all()}
        kept = {one[: op.max_depth] for one in found if all(_matches(one, each) for each in op.match_conditions or ())}
        return sorted(kept)[op.offset : op.offset + op.limit]

    def _records(self, namespace: Path) -> Records:
        return Records(self._memory, "langgraph", self._where(namespace) if self._where else self._scope)


def _texts(value: dict[str, Any], fields: Sequence[str]) -> list[str]:
    return [text for field in fields for text in get_text_at_path(value, tokenize_path(field))]


def _item(one: Record) -> Item:
    return Item(
        value=one.value, key=one.key, namespace=one.path, created_at=one.created_at, updated_at=one.updated_at
    )  # fmt: skip


def _search_item(one: Record) -> SearchItem:
    return SearchItem(one.path, one.key, one.value, one.created_at, one.updated_at, one.score)


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_equals(value.get(name), one) for name, one in (wanted or {}).items())


def _equals(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and any(name.startswith("$") for name in wanted):
        return all(_compares(found, name, one) for name, one in wanted.items())
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and _fits(found, wanted)
    return bool(found == wanted)


def _compares(found: Any, name: str, wanted: Any) -> bool:
    if name not in COMPARED:
        raise ValueError(f"Unsupported operator: {name}")
    if name in ("$eq", "$ne"):
        return COMPARED[name](found, wanted)
    try:
        return COMPARED[name](float(found), float(wanted))
    except (TypeError, ValueError):
        return False


def _matches(path: Path, condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    own = path[: len(wanted)] if condition.match_type == "prefix" else path[max(0, len(path) - len(wanted)) :]
    return len(own) == len(wanted) and all(one in ("*", part) for part, one in zip(own, wanted, strict=True))
