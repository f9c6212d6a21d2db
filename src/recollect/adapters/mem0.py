"""mem0: its classes and results, over memories.

    from recollect.adapters.mem0 import Memory  # in place of: from mem0 import Memory

`Memory` works on the store of this machine, `MemoryClient` on a daemon, and the daemon answers mem0's own client too
(`serve/mem0.py`). mem0 itself is not needed. Users are users, agents agents, runs sessions and apps projects. What is
said is captured as everywhere: what nobody stated waits for review and is not in the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from ..checks import one_of
from ..client import Client
from ..engine import open as open_engine
from ..errors import BadInput, NotFound
from ..recall.query import MAX_LIMIT
from ..regular_files import is_bounded, parse_json
from ..types import KINDS, ROLES, Captured, Entry, Message, Scope
from ..types import Memory as Kept
from .records import Store, readable

IDS = {"user_id": "user", "agent_id": "agent", "run_id": "session", "app_id": "project"}
# Options of mem0 that have no meaning here, or are settings of Recollect.
IGNORED = frozenset("""
    agent_custom_instructions async_mode custom_categories custom_instructions enable_graph explain fields includes
    excludes keyword_search latest_only memory_type org_id output_format project_id prompt rerank reference_date
    show_expired start_date end_date structured_data_schema version
""".split())  # fmt: skip
LISTED = tuple(kind for kind in KINDS if kind != "turn")
EVENTS = {"created": "ADD", "merged": "UPDATE", "superseded": "UPDATE", "duplicate": "NONE"}
BESIDE = '{"metadata": '  # how the field `context` begins where it holds metadata
MAX_PARTS = 10_000  # of the metadata
Result = dict[str, Any]


class Memory:
    """mem0's verbs. Without a store, the one of the settings is opened."""

    def __init__(self, memory: Store | None = None) -> None:
        self._memory = open_engine() if memory is None else memory

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | None = None) -> Self:
        """The store of the settings: models and stores of a mem0 configuration are not used."""
        return cls()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._memory.close()

    def add(
        self, messages: str | Result | Sequence[Result], *, metadata: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None, infer: bool | None = True,
        timestamp: float | None = None, expiration_date: str | None = None, **given: Any,
    ) -> Result:  # fmt: skip
        """Learn from what was said; with `infer=False`, or where it is one statement alone, keep it as it is."""
        scope, _ = _asked({**(filters or {}), **given})
        said = _messages(messages)
        fields: dict[str, Any] = {"context": _beside(metadata)} if metadata else {}
        if expiration_date:
            fields["expires_at"] = expiration_date
        if timestamp is not None:
            fields["valid_from"] = _moment(timestamp)
        heard = [one for one in said if one.role == "user"]
        found = [] if infer is False else self._captured(said, scope, fields)
        if infer is False or (not found and len(said) == len(heard) == 1):
            where = scope if infer is False else replace(scope, session="")
            done = [self._memory.remember(one.content, scope=where, speaker=one.role, **fields) for one in said]
            found = [(one.memory, EVENTS[one.action]) for one in done if one.memory]
        return {"results": [{**_form(memory), "event": event} for memory, event in found]}

    def _captured(self, said: list[Message], scope: Scope, fields: dict[str, Any]) -> list[tuple[Kept, str]]:
        done: Captured = self._memory.capture(said, origin="mem0", session=scope.session or "mem0", scope=scope)
        found = []
        for one in done.findings:
            if one.memory and one.action in EVENTS:
                changed = self._memory.edit(one.memory, **fields) if fields else self._memory.get(one.memory, peek=True)
                found.append((changed, EVENTS[one.action]))
        return found

    def search(
        self, query: str, *, filters: Mapping[str, Any] | None = None, top_k: int | None = None,
        limit: int | None = None, threshold: float | None = None, categories: Sequence[str] | None = None, **given: Any,
    ) -> Result:  # fmt: skip
        """What bears on a query, best first; the score is how near it is in meaning."""
        scope, wanted = _asked({**(filters or {}), **given})
        found = self._memory.recall(
            query, scope=scope, kinds=list(LISTED), tags=list(categories or ()), limit=_most(top_k, limit, 10)
        )
        scored = [_form(hit.memory, hit.arms.get("vector", 0.0)) for hit in found.hits]
        least = 0.0 if threshold is None else _number(threshold, "threshold")
        return {"results": [one for one in scored if _has(one, wanted) and one["score"] >= least]}

    def get_all(
        self, *, filters: Mapping[str, Any] | None = None, top_k: int | None = None, limit: int | None = None,
        page: int | None = None, page_size: int | None = None, categories: Sequence[str] | None = None, **given: Any,
    ) -> Result:  # fmt: skip
        """Everything of a user, an agent, a run or an app, newest first."""
        scope, wanted = _asked({**(filters or {}), **given})
        size = _most(page_size, top_k, limit, 100)
        first = size * (max(1, page or 1) - 1)
        found = [one for one in map(_form, self._all(scope, list(categories or ()))) if _has(one, wanted)]
        return {"count": len(found), "next": None, "previous": None, "results": found[first : first + size]}

    def get(self, memory_id: str) -> Result | None:
        try:
            return _form(self._memory.get(memory_id))
        except NotFound:
            return None

    def update(
        self, memory_id: str, text: str | None = None, metadata: Mapping[str, Any] | None = None, *,
        data: str | None = None, **given: Any,
    ) -> Result:  # fmt: skip
        fields: dict[str, Any] = {"content": text or data} if text or data else {}
        fields |= {"context": _beside(metadata)} if metadata is not None else {}
        fields |= {"expires_at": given.pop("expiration_date")} if "expiration_date" in given else {}
        _asked(given)
        changed = self._memory.edit(memory_id, reason="updated by mem0", **fields)
        return {**_form(changed), "message": "Memory updated successfully!"}

    def delete(self, memory_id: str, **given: Any) -> Result:
        self._memory.forget(memory_id, reason="deleted by mem0")
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, *, filters: Mapping[str, Any] | None = None, **given: Any) -> Result:
        scope, wanted = _asked({**(filters or {}), **given})
        if scope == Scope():
            raise BadInput("Whose memories are to be deleted?", fix="Give a user_id, agent_id, run_id or app_id.")
        found = [one.id for one in self._all(scope, []) if _has(_form(one), wanted)]
        for start in range(0, len(found), MAX_LIMIT):
            self._memory.forget(found[start : start + MAX_LIMIT], reason="deleted by mem0")
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Result]:
        """What became of a memory, oldest first."""
        rows: list[Result] = []
        old = None
        for entry in self._memory.history(memory_id):
            if entry.noun == "memory":
                row = _change(entry, old)
                rows += [row] if row["event"] else []
                old = row["new_memory"]
        return rows

    def users(self) -> Result:
        """The users, agents, runs and apps that there are memories of."""
        names: dict[tuple[str, str], int] = {}
        for memory in self._all(Scope(), []):
            for id, place in IDS.items():
                if name := getattr(memory.scope, place):
                    names[id, name] = names.get((id, name), 0) + 1
        found = [{"name": name, "type": id.removesuffix("_id"), "total_memories": n} for (id, name), n in names.items()]
        return {"count": len(found), "next": None, "previous": None, "results": found}

    def _all(self, scope: Scope, tags: list[str]) -> list[Kept]:
        found: list[Kept] = []
        cursor = None
        while True:
            page = self._memory.list(scope=scope, kinds=list(LISTED), tags=tags, cursor=cursor, limit=500)
            found += page.memories
            if not (cursor := page.cursor):
                return found


class MemoryClient(Memory):
    """The same on a daemon; the key is one of its tokens, and without one the daemon of this home is meant."""

    def __init__(self, api_key: str | None = None, host: str = "http://127.0.0.1:7733") -> None:
        super().__init__(Client(host, token=api_key))


def _most(*asked: int | None) -> int:
    """The first limit that was given."""
    limit = next(one for one in asked if one is not None)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise BadInput(f"The limit must be a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")
    return limit


def _number(given: Any, name: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise BadInput(f"{name} must be a number, not {given!r:.60}.")
    return float(given)


def _moment(seconds: Any) -> datetime:
    try:
        return datetime.fromtimestamp(_number(seconds, "timestamp"), UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadInput(f"timestamp must be seconds since 1970, not {seconds!r:.60}.") from error


def _messages(given: Any) -> list[Message]:
    given = {"role": "user", "content": given} if isinstance(given, str) else given
    listed = [given] if isinstance(given, Mapping) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(one, Mapping) for one in listed):
        raise BadInput("messages must be a text, a message or a list of messages.")
    return [
        Message(one_of(one.get("role", "user"), ROLES, "role"), _words(one.get("content")))
        for one in listed if _words(one.get("content"))
    ]  # fmt: skip


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(one["text"]) for one in content if isinstance(one, Mapping) and one.get("text"))
    return readable(content)


def _asked(given: Mapping[str, Any]) -> tuple[Scope, dict[str, Any]]:
    """The place and the metadata that filters ask for: fields that all must be equal."""
    places: dict[str, str] = {}
    wanted: dict[str, Any] = {}
    for part in (given, *(given.get("AND") or ())):
        if not isinstance(part, Mapping):
            raise BadInput("AND must be a list of objects.", fix="Name fields and the values they must have.")
        for name, value in part.items():
            if name in ("OR", "NOT") or (isinstance(value, Mapping) and name != "metadata"):
                raise BadInput(f"The filter {name} is not supported.", fix="Name fields and the values they must have.")
            if name in IDS:
                places |= {IDS[name]: str(value)} if value not in (None, "*") else {}
            elif name == "metadata":
                wanted |= _object(value)
            elif name not in IGNORED and name != "AND" and value is not None:
                wanted[name] = value
    return Scope(**places), wanted


def _has(form: Result, wanted: Mapping[str, Any]) -> bool:
    return all((form["metadata"] or {}).get(name) == value for name, value in wanted.items())


def _object(metadata: Any) -> dict[str, Any]:
    if metadata is not None and not (isinstance(metadata, Mapping) and is_bounded(metadata, MAX_PARTS)):
        raise BadInput("metadata must be an object of JSON, and not nested too deeply.")
    return dict(metadata or {})


def _beside(metadata: Mapping[str, Any] | None) -> str:
    try:
        return f"{BESIDE}{json.dumps(_object(metadata))}}}"
    except (TypeError, ValueError) as error:
        raise BadInput(f"metadata must be an object of JSON: {error!s:.200}.") from error


def _metadata(context: str) -> dict[str, Any] | None:
    """The metadata of a memory; none where its context is something else, or a secret in it was redacted."""
    try:
        found = parse_json(context)["metadata"] if context.startswith(BESIDE) else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _form(memory: Kept, score: float | None = None) -> Result:
    told = {
        "id": memory.id, "memory": memory.content, "hash": memory.content_hash, "metadata": _metadata(memory.context),
        "categories": list(memory.tags), "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "expiration_date": memory.expires_at.date().isoformat() if memory.expires_at else None,
        **{id: getattr(memory.scope, place) or None for id, place in IDS.items()},
    }  # fmt: skip
    return told if score is None else {**told, "score": score}


def _change(entry: Entry, old: str | None) -> Result:
    """A row of the journal, which tells what changed, as mem0 tells it; `old` is what the memory said before."""
    told = entry.after or {}
    new, gone = told.get("content", old), told.get("state", "active") not in ("active", "pending")
    event = "DELETE" if gone else "ADD" if old is None else "UPDATE" if old != new else ""
    return {
        "id": str(entry.seq), "memory_id": entry.target, "old_memory": old, "new_memory": None if gone else new,
        "event": event, "created_at": entry.at.isoformat(), "updated_at": entry.at.isoformat(), "is_deleted": gone,
        "actor_id": entry.actor,
    }  # fmt: skip
