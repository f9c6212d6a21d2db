"""The Claude Agent SDK's `SessionStore`: the transcripts of sessions, which another machine resumes from here.

    options = ClaudeAgentOptions(session_store=RecollectSessionStore(memory), resume=session_id)

The SDK asks for no class of its own, so nothing of it is imported. An entry of a transcript is a turn; it is known by
its `uuid`, and one that says nothing (a title, a mode) by its place.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ..types import Scope
from .history import SPEAKERS
from .records import Path, Record, Records, Store, readable, scope_of

MAIN = "main"  # the last part of the path of a session's own transcript; that of a subagent's begins with a slash


class RecollectSessionStore:
    def __init__(self, memory: Store, *, scope: Scope | None = None) -> None:
        self._records = Records(memory, "claude-agent-sdk", scope_of(memory, scope), "turn")
        self._lock = threading.Lock()

    async def append(self, key: Mapping[str, str], entries: Sequence[Mapping[str, Any]]) -> None:
        await asyncio.to_thread(self._append, _path(key), entries)

    async def load(self, key: Mapping[str, str]) -> list[Any] | None:
        found = await asyncio.to_thread(self._all, _path(key))
        return [one.value for one in sorted(found, key=lambda one: one.position)] or None

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        times: dict[str, int] = {}
        for one in await asyncio.to_thread(self._all, (project_key,)):
            if one.path[2] == MAIN:
                changed = int(one.updated_at.timestamp() * 1000)
                times[one.path[1]] = max(changed, times.get(one.path[1], 0))
        return [{"session_id": session, "mtime": changed} for session, changed in times.items()]

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        found = await asyncio.to_thread(self._all, (key["project_key"], key["session_id"]))
        return sorted({one.path[2].removeprefix("/") for one in found} - {MAIN})

    async def delete(self, key: Mapping[str, str]) -> None:
        whole = () if key.get("subpath") else (_path(key)[:2],)
        await asyncio.to_thread(self._records.clear, whole[0] if whole else _path(key))

    def _append(self, path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
        with self._lock:
            known = {str(one.value.get("uuid")) for one in self._all(path)} if entries else set()
            fresh = []
            for entry in entries:
                if not (uuid := entry.get("uuid")) or uuid not in known:
                    fresh.append((dict(entry), *_said(entry)))
                    known.add(str(uuid))
            self._records.append(path, fresh)

    def _all(self, path: Path) -> list[Record]:
        return list(self._records.all(path))


def _path(key: Mapping[str, str]) -> Path:
    return key["project_key"], key["session_id"], f"/{key['subpath']}" if key.get("subpath") else MAIN


def _said(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Who speaks in an entry, and its words."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, Mapping) else message
    parts = content if isinstance(content, list) else [content]
    words = (readable(one.get("text") or "" if isinstance(one, Mapping) else one) for one in parts)
    kind = str(entry.get("type"))
    return SPEAKERS.get(kind, "system"), "\n".join(filter(None, words)) or f"({kind})"
