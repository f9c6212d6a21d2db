"""The engine's verbs that look back: why something is known, who did what, and what was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..checks import MAX_NAME, Cleaner
from ..errors import BadInput
from ..history_types import Audit, EntityState, Provenance, Sighting
from ..remember import proposals
from ..types import Forgotten, Memory, Scope
from . import provenance
from .checkpoints import Checkpoints
from .facade import History
from .policies import Policies
from .provenance import Sees, everybody
from .usage import Usage


class Hindsight(ABC):
    """What an engine can tell of the past; it has the memories, the history and the counters of use."""

    _usage: Usage
    _scope: Scope

    @property
    @abstractmethod
    def _past(self) -> History: ...

    @abstractmethod
    def _find(self, id: str) -> Memory: ...

    @abstractmethod
    def forget(self, *given: Any, **options: Any) -> Forgotten: ...

    @abstractmethod
    def reject(self, *given: Any, **options: Any) -> Forgotten: ...

    def propose(self, act: str, memories: Iterable[Memory], *, reason: str = "") -> Forgotten:
        """Ask a person to erase memories for good (`purge`) or to lift their rejection (`unreject`): see `approve`."""
        made = (proposals.propose(self._past.writer, memory, act, reason) for memory in memories)
        return Forgotten(tuple(made), proposed=True)

    def _confirmed(self, waiting: Sequence[Memory], reason: str) -> tuple[list[Memory], list[Memory]]:
        """Do what was proposed among memories that wait; gives these proposals, and the others."""
        for memory in waiting:
            if memory.state != "pending":
                raise BadInput(f"Memory {memory.id} does not wait for review; it is {memory.state}.")
        done = [self._confirm(*asked, memory, reason) for memory in waiting if (asked := proposals.proposed(memory))]
        return done, [memory for memory in waiting if not proposals.proposed(memory)]

    def _confirm(self, act: str, id: str, proposal: Memory, reason: str) -> Memory:
        """Do what was proposed; the proposal goes with it, because it may repeat the words that are erased."""
        if act == "unreject":
            self.reject(id, undo=True, reason=reason)
        self.forget([id, proposal.id] if act == "purge" else proposal.id, purge=act == "purge", reason=reason)
        return replace(proposal, state="archived")

    def why(self, id: str, *, depth: int = 3, limit: int = 50, sees: Sees = everybody) -> Provenance:
        """Why a memory is there: source, quotes, path of trust, what it goes back to, changes, uses, and what helped.

        Bounded: ties are followed `depth` far, and at most `limit` of each thing are told. `sees` hides other memories.
        """
        self._usage.flush()
        writer = self._past.writer
        return provenance.why(writer.store, writer.tenant, self._find(id), depth=depth, limit=limit, sees=sees)

    def audit(self, *, reads: bool = True, limit: int = 100, cursor: int | None = None, **asked: Any) -> Audit:
        """Who did what, newest first, and who read across projects.

        Takes `actors`, `operations`, `nouns` and `targets` (lists), `project`, `since` and `until`.
        """
        self._usage.flush()
        return self._past.audit(reads=reads, limit=limit, cursor=cursor, **asked)

    def state(
        self, entity: str, *, at: datetime | str | None = None, true_at: datetime | str | None = None,
        scope: Scope | None = None,
    ) -> EntityState:  # fmt: skip
        """What was known of an entity at a time, of what held then."""
        return self._past.state(entity, at, true_at, Cleaner(MAX_NAME).scope(scope or self._scope))

    def rate(self, id: str, *, helped: bool, session: str = "") -> Sighting:
        """Say whether a memory helped where it was shown last, in a session or anywhere."""
        self._usage.flush()
        return self._past.rate(self._find(id), helped, session)

    def saw(
        self, memories: Iterable[Memory | str], way: str, *, here: Scope | None = None, session: str = "",
        every: bool = False,
    ) -> None:  # fmt: skip
        """Note that memories (or ids) were put before somebody: all of them, or only what another project owns."""
        self._usage.saw(self._past.seen(memories, way, here or self._scope, session, every=every))

    @property
    def checkpoints(self) -> Checkpoints:
        """Names for places in the journal: create, all, diff, rollback, delete."""
        return self._past.checkpoints

    @property
    def policies(self) -> Policies:
        """What may not be erased, and how long things are kept."""
        return self._past.policies
