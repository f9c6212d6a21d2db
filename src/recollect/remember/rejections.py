"""Rejections that come in with a file, held against what stands here: of the two, the later word counts.

A value that was said or confirmed here after it was rejected there stands; one that was said before is rejected here
too. A rejection that was taken back here does not return. Only the very user and project of a rejection is touched, and
only what is trusted no more than the file.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..store.contract import Transaction
from ..types import TRUSTS, Filter, Memory, Scope, Tombstone
from . import values
from .write import Writer

BELIEVED = ("active", "pending")
AFFIRMS = frozenset(("edit", "observe", "merge", "approve", "unreject", "rollback"))  # journal rows that say it again
TOLD = 5  # ids that a note names


@dataclass(slots=True)
class Rejections:
    """The rejections of one file. `since` is when the file's rejected memories were rejected, by their id."""

    writer: Writer
    since: dict[str, datetime] = field(default_factory=dict)
    trust: str = "stated"  # of the file
    _said: dict[str, list[str]] | None = None  # by the key of a value: the memories that say it
    _outlived: list[str] = field(default_factory=list)
    _outranked: list[str] = field(default_factory=list)
    _obeyed: list[str] = field(default_factory=list)
    _taken_back: int = 0

    def outlived(self, changes: Transaction, memory: Memory) -> bool:
        """Whether what a rejected memory of the file says was said here since."""
        moment = self.since.get(memory.id, memory.updated_at)
        return bool(self._newer(changes, values.key(memory.content), memory.scope, moment))

    def take(self, changes: Transaction, stone: Tombstone) -> bool:
        """Take a rejection in; whether it is new here and holds."""
        store, tenant = self.writer.store, self.writer.tenant
        if changes.get(Tombstone, stone.id):
            return False
        if store.journal(tenant, target=stone.id, limit=1):
            self._taken_back += 1
            return False
        if newer := self._newer(changes, stone.key, stone.scope, stone.created_at):
            self._outlived += newer
            return False
        standing, most = self._standing(changes, stone.key, stone.scope), TRUSTS.index(self.trust)
        if better := [memory.id for memory in standing if TRUSTS.index(memory.trust) > most]:
            self._outranked += better
            return False
        if any(known.scope == stone.scope for known in store.of(tenant, Tombstone, [stone.key], "key")):
            return False
        changes.put(stone, "import")
        for memory in self._standing(changes, stone.key, stone.scope):
            changes.put(replace(memory, state="rejected"), "reject", "rejected in a file that was imported")
            self._obeyed.append(memory.id)
        return True

    def notes(self) -> list[str]:
        """What somebody should hear of."""
        told = []
        if self._obeyed:
            told.append(f"rejected in the file, and now here too: {_some(self._obeyed)}")
        if self._outlived:
            told.append(f"rejected in the file, but said here since, so they stand: {_some(self._outlived)}")
        if self._outranked:
            told.append(f"rejected in the file, but trusted more here, so they stand: {_some(self._outranked)}")
        if self._taken_back:
            told.append(f"rejections left out that were taken back here: {self._taken_back}")
        return told

    def _newer(self, changes: Transaction, key: str, scope: Scope, moment: datetime) -> list[str]:
        then = min(moment, self.writer.now())
        return [one.id for one in self._standing(changes, key, scope) if self._affirmed_at(one) > then]

    def _affirmed_at(self, memory: Memory) -> datetime:
        """When a memory was last said to hold."""
        rows = self.writer.store.journal(self.writer.tenant, target=memory.id)
        return max(memory.created_at, memory.updated_at, *(row.at for row in rows if row.operation in AFFIRMS))

    def _standing(self, changes: Transaction, key: str, scope: Scope) -> list[Memory]:
        if self._said is None:
            self._said = self._walk()
        found = [changes.get(Memory, id) for id in self._said.get(key, ())]
        place = scope.user, scope.project
        return [m for m in found if m and m.state in BELIEVED and (m.scope.user, m.scope.project) == place]

    def _walk(self) -> dict[str, list[str]]:
        said: dict[str, list[str]] = defaultdict(list)
        for memory in self.writer.store.walk(self.writer.tenant, Filter(states=BELIEVED)):
            said[values.key(memory.content)].append(memory.id)
        return dict(said)


def _some(ids: list[str]) -> str:
    named = ", ".join(ids[:TOLD])
    return f"{named} and {len(ids) - TOLD} more" if len(ids) > TOLD else named
