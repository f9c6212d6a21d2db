"""The erasure ledger: what was erased here, as keyed hashes, so that an older copy does not bring it back.

It lies in the home folder, because a restore replaces the store. Each line is one erasure: its time, and hashes of the
ids of memories and sources that went, of what was said and where, and of a user who was erased as a whole. The hashes
are HMACs with a key of this home (0600): without it nobody can test whether something was erased. An erased id stays
out for good; the same words may be said anew after the erasure.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from .. import times
from ..entrypoints.private import make_folder, make_key
from ..entrypoints.system import open_private
from ..errors import BadInput, StoreCorrupt
from ..types import Memory, Scope

FILE, KEY_FILE = "erasures.jsonl", "erasures.key"
SIZE = 16  # bytes of a hash


@dataclass(frozen=True, slots=True)
class Erasure:
    """What one erasure is to be remembered by: ids and contents, never words."""

    memories: Sequence[Memory] = ()
    kin: Sequence[str] = ()  # memories that went along, by their ids
    sources: Sequence[str] = ()
    restated: Sequence[str] = ()  # memories that only lost the words
    left: Sequence[Memory] = ()  # memories that say the same and were left standing
    user: str = ""


@dataclass(slots=True)
class Erasures:
    """The ledger of one tenant, as it was when it was loaded."""

    home: Path
    tenant: str
    _known: dict[str, datetime] = field(default_factory=dict)
    _key: bytes = b""

    @classmethod
    def load(cls, home: Path, tenant: str) -> Erasures:
        """Read the ledger of a home; one whose key is lost is an error, because it no longer keeps anything out."""
        found = cls(home, tenant)
        path = home / FILE
        if not path.exists():
            return found
        if not (home / KEY_FILE).is_file():
            raise StoreCorrupt(
                f"The key of the erasure ledger is missing ({home / KEY_FILE}), so nothing can be held against it.",
                fix=f"Put the key back; or move {path} away, if what was erased may come back.",
            )
        found._key = make_key(home, KEY_FILE)
        for line in path.read_bytes().splitlines():
            try:
                told = json.loads(line)
                at = times.aware(told["at"])
                hashes = [str(one) for one in told["erased"]]
            except (
                ValueError,
                KeyError,
                TypeError,
                BadInput,
            ):  # cut off in the middle by a crash, which ended that erasure too
                continue
            for one in hashes:
                found._known[one] = max(at, found._known.get(one, at))
        return found

    def record(self, at: datetime, erased: Erasure) -> None:
        """Add one erasure, on the disk before this returns."""
        self._key = self._key or make_key(self.home, KEY_FILE)
        stays = {_said(one.content_hash, one.scope) for one in erased.left}
        said = {_said(one.content_hash, one.scope) for one in erased.memories} - stays
        named = [("memory", one.id) for one in erased.memories] + [("memory", id) for id in erased.kin]
        named += [("source", id) for id in erased.sources] + [("restated", id) for id in erased.restated]
        named += [("said", one) for one in sorted(said)] + ([("user", erased.user)] if erased.user else [])
        line = json.dumps({"at": times.iso(at), "erased": [self._hash(*one) for one in named]})
        make_folder(self.home)
        file = open_private(self.home / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(file, f"\n{line}\n".encode())  # a line that was cut off before ends here
            os.fsync(file)
        finally:
            os.close(file)

    @property
    def is_empty(self) -> bool:
        return not self._known

    def covers(self, memory: Memory) -> bool:
        """True if a memory was erased: itself, or what it says, or everything of its user, and it is no newer."""
        at = memory.updated_at
        said = self.has_said(memory.content_hash, memory.scope, at)
        return self.has("memory", memory.id) or said or self.has_user(memory.scope.user, at)

    def has(self, kind: str, id: str) -> bool:
        """True if this id was erased (`memory`, `source`), or lost words (`restated`)."""
        return bool(self._known) and self._hash(kind, id) in self._known

    def has_said(self, content_hash: str, scope: Scope, at: datetime | None = None) -> bool:
        """True if what was erased said this there; at a time after the erasure it counts as said anew."""
        return self._until("said", _said(content_hash, scope), at)

    def has_user(self, user: str, at: datetime | None) -> bool:
        return bool(user) and self._until("user", user, at)

    def covered(self, memories: Iterable[Memory]) -> list[Memory]:
        return [memory for memory in memories if self.covers(memory)] if self._known else []

    def _until(self, kind: str, value: str, at: datetime | None) -> bool:
        erased = self._known.get(self._hash(kind, value)) if self._known else None
        return erased is not None and (at is None or at <= erased)

    def _hash(self, kind: str, value: str) -> str:
        said = json.dumps([self.tenant, kind, value]).encode()
        return hmac.new(self._key, said, hashlib.sha256).hexdigest()[: 2 * SIZE]


def _said(content_hash: str, scope: Scope) -> str:
    return json.dumps([content_hash, scope.user, scope.project])
