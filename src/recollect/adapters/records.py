"""Records: values of a framework, by path and key or in the order they came, each of them one memory.

The content of the memory is what a person would read of the value, so that it is searched and shown like any other.
The value itself stands beside it as JSON (the field `context`) and comes back as it was given, but for secrets. A
record is found again by its tags: one for its application and key, one for every path that it lies below.

Two memories of a place may not say the same, but two records may: the second then names its key in its content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..client import Client
from ..engine import Engine
from ..errors import BadInput, Refused
from ..recall.query import MAX_LIMIT
from ..redact import redact
from ..types import Memory, Scope, Source

Store = Engine | Client
Path = tuple[str, ...]
PAGE = 500
MAX_DEPTH = 28  # levels of a path: each is a tag, and a memory has at most 32
HIDDEN = "not-searched"  # the tag of what is read by its key alone
SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Record:
    """A value that was stored, where, and how well it fits what was asked."""

    id: str
    path: Path
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime
    position: int = 0
    minutes: float | None = None  # after its last use, until it expires
    hidden: bool = False
    score: float | None = None


def scope_of(memory: Store, scope: Scope | None = None) -> Scope:
    """Where an adapter keeps its records unless told: the user and project of an engine; a server knows its callers."""
    if scope is not None:
        return scope
    return Scope(memory.settings.user, memory.settings.project) if isinstance(memory, Engine) else Scope()


def readable(value: Any, name: str = "") -> str:
    """What a person would read of a value.

    >>> print(readable({"food": "pizza", "likes": {"sports": ["chess", "judo"]}}))
    food: pizza
    likes sports: chess
    likes sports: judo
    """
    if isinstance(value, Mapping):
        lines = [readable(one, f"{name} {key}".strip()) for key, one in value.items()]
    elif isinstance(value, list | tuple):
        lines = [readable(one, name) for one in value]
    else:
        told = "" if value is None else str(value).strip()
        lines = [f"{name}: {told}" if name and told else told]
    return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one application in one scope."""

    memory: Store
    app: str
    scope: Scope
    kind: str = "doc"

    def put(
        self, path: Path, key: str, value: Any, *, text: str = "", minutes: float | None = None, hidden: bool = False,
    ) -> None:  # fmt: skip
        """Store a value under a key; what stood there is changed, and stays in the history."""
        if len(path) > MAX_DEPTH:
            raise BadInput(f"A path may have {MAX_DEPTH} levels, not {len(path)}.")
        found = self._named(path, key)
        current = [one for one in found if not _is_over(one)]
        self._forget(one for one in found if one not in current[:1])
        fields = self._fields(path, key, value, minutes, hidden)
        self._write(current[0].id if current else "", text.strip() or key, fields)

    def append(self, path: Path, entries: Sequence[tuple[Any, str, str]]) -> None:
        """Store values behind those of a path, in order: each with who said it and what it says."""
        last = self._page(path, 1)
        first = (last[0].position or 0) + 1 if last else 0
        for position, (value, speaker, text) in enumerate(entries, first):
            fields = self._fields(path, str(position), value, None, False)
            source = Source("", "turn", f"{self.app}:{'/'.join(path)}", author=speaker, position=position)
            fields |= {"speaker": speaker, "position": position, "source": source}
            self._write("", text.strip() or f"({speaker})", fields)

    def get(self, path: Path, key: str, *, refresh: bool = False) -> Record | None:
        found = next((one for one in self._named(path, key) if not _is_over(one)), None)
        return None if found is None else self._refreshed([_record(found)], refresh)[0]

    def all(self, path: Path = (), *, newest: int | None = None) -> Iterator[Record]:
        """The records below a path, newest first."""
        cursor, left = None, newest
        while left is None or left > 0:
            page = self.memory.list(
                scope=self.scope,
                tags=[self._tag(path)],
                kinds=[self.kind],
                cursor=cursor,
                limit=min(PAGE, left or PAGE),
            )
            yield from (_record(one) for one in page.memories if not _is_over(one))
            left, cursor = None if left is None else left - len(page.memories), page.cursor
            if cursor is None:
                return

    def search(self, path: Path, query: str, limit: int) -> list[Record]:
        """The records below a path that bear on a query, best first; the score is how near they are in meaning."""
        found = self.memory.recall(
            query, scope=self.scope, tags=[self._tag(path)], kinds=[self.kind], limit=max(1, min(limit, MAX_LIMIT))
        )
        return [_record(hit.memory, hit.arms.get("vector", 0.0)) for hit in found.hits if HIDDEN not in hit.memory.tags]

    def delete(self, path: Path, key: str) -> None:
        self._forget(self._named(path, key))

    def clear(self, path: Path) -> None:
        """Delete what lies below a path."""
        while found := self._page(path, PAGE):
            self._forget(found)

    def drop(self, records: Iterable[Record]) -> None:
        if ids := [one.id for one in records]:
            self.memory.forget(ids, reason=f"deleted by {self.app}")

    def _forget(self, memories: Iterable[Memory]) -> None:
        if ids := [one.id for one in memories]:
            self.memory.forget(ids, reason=f"deleted by {self.app}")

    def refresh(self, records: Sequence[Record]) -> list[Record]:
        """The records; those that expire some time after their last use were used now."""
        return self._refreshed(records, True)

    def _refreshed(self, records: Sequence[Record], wanted: bool) -> list[Record]:
        for one in records:
            if wanted and one.minutes:
                self.memory.edit(one.id, expires_at=_over(one.minutes), reason=f"used by {self.app}")
        return list(records)

    def _named(self, path: Path, key: str) -> list[Memory]:
        page = self.memory.list(scope=self.scope, tags=[self._tag(path, key)], kinds=[self.kind], limit=PAGE)
        return list(page.memories)

    def _page(self, path: Path, limit: int) -> tuple[Memory, ...]:
        return self.memory.list(scope=self.scope, tags=[self._tag(path)], kinds=[self.kind], limit=limit).memories

    def _fields(self, path: Path, key: str, value: Any, minutes: float | None, hidden: bool) -> dict[str, Any]:
        kept = {"path": path, "key": key, "value": value, "minutes": minutes}
        above = [path[:depth] for depth in range(len(path) + 1)]
        tags = [self._tag(path, key), *(self._tag(one) for one in above), *([HIDDEN] if hidden else [])]
        return {
            "context": _as_json(kept), "title": "/".join((*path, key))[:200], "tags": tags,
            "expires_at": _over(minutes) if minutes else None,
        }  # fmt: skip

    def _write(self, id: str, text: str, fields: dict[str, Any]) -> None:
        mark = f"({fields['title']})"
        if id:
            try:
                self.memory.edit(id, content=text, reason=f"written by {self.app}", **fields)
            except BadInput:  # another memory says the same, or else this fails again in the same way
                self.memory.edit(id, content=f"{text}\n{mark}", reason=f"written by {self.app}", **fields)
            return
        fields = {"source": self.app, **fields, "kind": self.kind, "scope": self.scope}
        done = self.memory.remember(text, **fields)
        if done.action == "duplicate":
            done = self.memory.remember(f"{text}\n{mark}", **fields)
        if done.memory is None or fields["tags"][0] not in done.memory.tags:
            raise Refused(f"It is not stored: {done.reason or 'another memory says the same'}.")

    def _tag(self, path: Path, key: str | None = None) -> str:
        """A tag for what lies below a path, or for one key in it; short, so hashed where the words are long."""
        words = "/".join(path) if key is None else f"{'/'.join(path)}#{key}"
        plain = f"{self.app}:{words}"
        if len(plain) <= 64 and plain.isascii() and plain == plain.strip() and redact(plain)[0] == plain:
            return (
                plain if not any("/" in part or "#" in part for part in (*path, key or "")) else self._hashed(path, key)
            )
        return self._hashed(path, key)

    def _hashed(self, path: Path, key: str | None) -> str:
        told = SEPARATOR.join((*path, "" if key is None else f"#{key}"))
        return f"{self.app}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"


def _over(minutes: float) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


def _is_over(memory: Memory) -> bool:
    return memory.expires_at is not None and memory.expires_at <= datetime.now(UTC)


def _as_json(value: Any) -> str:
    """A value as JSON, of ASCII alone: cleaning changes nothing in it, and a secret in it can still be recognised."""
    try:
        told = json.dumps(value, separators=(",", ":"))
        json.loads(redact(told)[0])
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"The value cannot be stored as JSON: {error!s:.200}.", fix="Store text, numbers and lists."
        ) from error
    return told


def _record(memory: Memory, score: float | None = None) -> Record:
    kept = json.loads(memory.context)
    return Record(
        memory.id, tuple(kept["path"]), kept["key"], kept["value"], memory.created_at, memory.updated_at,
        memory.position or 0, kept["minutes"], HIDDEN in memory.tags, score,
    )  # fmt: skip
