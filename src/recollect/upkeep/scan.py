"""Scan: secrets that are stored already, from before a rule knew them or from a store that was made elsewhere.

Nouns, the whole history, cached answers and the files of sessions are looked through. A redacted noun is written anew
and its history begins there, because every earlier row may hold the secret; what points at it is restated after it. A
value that was rejected stays rejected in its redacted form.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from .. import text
from ..entrypoints.system import open_private
from ..redact import redact
from ..remember import values
from ..store.contract import Store, Transaction
from ..store.rows import NOUNS
from ..store.trail import Trace
from ..text import key
from ..types import Entity, Evidence, Kept, Link, Memory, Noun, Source, Tombstone

ORDER: tuple[type[Kept], ...] = (Source, Memory, Evidence, Entity, Link, Tombstone)  # what is pointed at comes first
PAGE = 500
SESSIONS = "sessions"
_NAMES = frozenset(  # ids, hashes and words of ours: nothing that anybody wrote
    "id kind network trust state content_hash source memory key origin relation target origin_kind target_kind".split()
)
Progress = Callable[[int, int], None]
Found = dict[type[Kept], set[str]]


@dataclass(slots=True)
class Scanned(Noun):
    """Where secrets were found, and of which kinds: counts, never a value."""

    memories: int = 0
    sources: int = 0
    evidence: int = 0
    others: int = 0
    history: int = 0
    files: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    fixed: bool = False

    @property
    def places(self) -> int:
        return self.memories + self.sources + self.evidence + self.others + self.history + self.files

    def count(self, kind: type[Kept]) -> None:
        name = {Memory: "memories", Source: "sources", Evidence: "evidence"}.get(kind, "others")
        setattr(self, name, getattr(self, name) + 1)

    def saw(self, kinds: tuple[str, ...]) -> bool:
        for one in kinds:
            self.kinds[one] = self.kinds.get(one, 0) + 1
        return bool(kinds)


def scan(
    store: Store, tenant: str, actor: str, now: datetime, *, fix: bool, progress: Progress | None = None
) -> Scanned:  # fmt: skip
    """Look through a store; with `fix`, redact what is found, all of it or nothing."""
    result = Scanned(fixed=fix)
    dirty: Found = {kind: set() for kind in ORDER}
    gone: set[str] = set()
    done, total = 0, store.head(tenant) + store.stats(tenant)["memories"]
    for kind in ORDER:
        for noun in store.each(tenant, kind):
            if result.saw(safe(noun)[1]):
                result.count(kind)
                dirty[kind].add(noun.id)
            if kind is Memory and progress:
                done += 1
                progress(done, max(done, total))
    for entry in store.each_entry(tenant, Trace()):
        if result.saw(tuple(_kinds([entry.before, entry.after, entry.reason]))):
            result.history += 1
            kept = NOUNS.get(entry.noun)
            dirty[kept].add(entry.target) if kept in dirty else gone.add(entry.target)
        if progress and entry.seq % PAGE == 0:
            progress(done + entry.seq, max(done + entry.seq, total))
    every = store.each_answer(tenant)
    told = [one.id for one in every if result.saw(tuple(_kinds([one.question, one.answer or ""])))]
    result.others += len(told)
    if fix and (gone or told or any(dirty.values())):
        _close(store, tenant, dirty)
        with store.transaction(tenant, actor, now) as changes:
            _redact(changes, dirty, gone)
            for id in told:
                changes.drop_answer(id, erase=True)
    return result


def _kinds(value: Any) -> list[str]:
    return [found for said in text.strings(value) for found in redact(said)[1]]


def safe(noun: Kept) -> tuple[Kept, tuple[str, ...]]:
    """A noun without secrets, and the kinds of those it had."""
    kinds: list[str] = []
    clean: dict[str, Any] = {}
    for name in (f.name for f in fields(noun) if f.name not in _NAMES):  # type: ignore[arg-type]
        value = getattr(noun, name)
        if isinstance(value, str):
            clean[name], found = redact(value)
            kinds += found
        elif isinstance(value, tuple):
            parts = [redact(part) for part in value]
            clean[name] = tuple(part for part, _ in parts)
            kinds += [one for _, some in parts for one in some]
    if not kinds:
        return noun, ()
    made: Kept = replace(noun, **clean)  # type: ignore[type-var]
    if isinstance(made, Memory | Source) and made.content:
        made = replace(made, content_hash=key(made.content))
    return made, tuple(kinds)


def _close(store: Store, tenant: str, dirty: Found) -> None:
    """Add what points at what will be restated, and the rejections of its values."""

    def reach(kind: type[Kept], ids: set[str], *columns: str) -> None:
        for column in columns:
            dirty[kind].update(noun.id for noun in store.of(tenant, kind, sorted(ids), column))

    reach(Memory, dirty[Source], "source")
    reach(Evidence, dirty[Source], "source")
    reach(Evidence, dirty[Memory], "memory")
    reach(Link, dirty[Memory] | dirty[Entity], "origin", "target")
    said = store.memories(tenant, sorted(dirty[Memory])).values()
    reach(Tombstone, {key for memory in said for key in values.keys(memory.content)}, "key")


def _redact(changes: Transaction, dirty: Found, gone: set[str]) -> None:
    now_known_as: dict[str, str] = {}
    for kind in ORDER:
        for id in sorted(dirty[kind]):
            noun = changes.get(kind, id)
            if noun is None:
                gone.add(id)
                continue
            clean, _ = safe(noun)
            if isinstance(noun, Memory) and isinstance(clean, Memory):
                now_known_as[noun.content_hash] = clean.content_hash
                now_known_as[values.key(noun.content)] = values.key(clean.content)
            if isinstance(clean, Tombstone):
                clean = replace(clean, key=now_known_as.get(clean.key, clean.key))
            changes.restate(clean)
    for id in sorted(gone):
        changes.blank(id)


def files(home: Path, *, fix: bool) -> int:
    """The files of sessions in which a secret lies, from before prompts were redacted there; with `fix`, lay."""
    found = 0
    for path in sorted((home / SESSIONS).glob("*.json")):
        try:
            data = json.loads(path.read_text("utf-8"))
        except ValueError:  # damaged: the session begins anew
            continue
        said = data.get("said") if isinstance(data, dict) else None
        if not isinstance(said, list) or not any(redact(one)[1] for one in text.strings(said)):
            continue
        found += 1
        if fix:
            data["said"] = [redact(one)[0] for one in text.strings(said)]
            part = path.with_suffix(".part")
            with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
                json.dump(data, file)
            os.replace(part, path)
    return found
