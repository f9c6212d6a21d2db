"""Holds and retention: what may not be erased, and how long things are kept.

While a hold stands, the store refuses to purge what lies inside its scope. A retention policy says after how many days
memories of a kind and a scope are archived or erased; of several that fit, the one that names most counts. What a
person pinned (the tag `pinned`) and what is on hold is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from .. import checks
from ..checks import MAX_NAME, Cleaner, one_of
from ..errors import BadInput, NotFound
from ..history_types import ACTIONS, Hold, Retained, Retention
from ..redact import redact
from ..remember.write import Writer
from ..types import EVERYWHERE, KINDS, Filter, Kept, Memory, Scope
from .erase import Eraser

N = TypeVar("N", bound=Kept)
PINNED = "pinned"
BATCH = 256
MAX_DAYS = 36_500
SIGHTINGS_KEPT = timedelta(days=400)
KEPT_STATES = ("active", "pending", "superseded", "invalid", "expired")  # what an archiving policy looks at


@dataclass(frozen=True, slots=True)
class Policies:
    """Holds and retention of a tenant."""

    writer: Writer
    home: Path

    def hold(self, name: str, *, scope: Scope = EVERYWHERE, reason: str = "") -> Hold:
        """Keep everything inside a scope from being erased, until it is released."""
        cleaner, writer = Cleaner(MAX_NAME, redact), self.writer
        name, reason = cleaner.text(name, "name", MAX_NAME), cleaner.text(reason, "reason", 1000)
        if not name:
            raise BadInput("name is empty.", fix="Name the hold, such as the matter it is for.")
        with self.writer.changing() as changes:
            if any(one.name == name for one in self.holds()):
                raise BadInput(f"There is a hold {name!r} already.", fix="Choose another name.")
            now = writer.now()
            made = Hold(writer.new_id(now), name, cleaner.scope(scope), reason, now)
            changes.put(made, "hold", reason)
        return made

    def release(self, name: str, *, reason: str = "") -> Hold:
        """End a hold."""
        said = Cleaner(MAX_NAME, redact).text(reason, "reason", 1000)
        with self.writer.changing() as changes:
            found = _one(self.holds(), name, "hold")
            changes.drop(Hold, found.id, "release", said)
        return found

    def holds(self) -> list[Hold]:
        return list(self.writer.store.each(self.writer.tenant, Hold))

    def retain(
        self, days: int, *, kind: str = "", scope: Scope = EVERYWHERE, action: str = "archive", reason: str = ""
    ) -> Retention:
        """Say how long memories of a kind are kept in a scope; one for the same kind and scope is replaced."""
        cleaner, writer = Cleaner(MAX_NAME, redact), self.writer
        checks.within(days, 1, MAX_DAYS, "days", whole=True)
        one_of(action, ACTIONS, "action")
        if kind:
            one_of(kind, KINDS, "kind")
        where, said = cleaner.scope(scope), cleaner.text(reason, "reason", 1000)
        with self.writer.changing() as changes:
            now = writer.now()
            known = [one for one in self.policies() if (one.kind, one.scope) == (kind, where)]
            id, made = (known[0].id, known[0].created_at) if known else (writer.new_id(now), now)
            policy = Retention(id, kind, days, action, where, said, made)
            changes.put(policy, "retain", said)
        return policy

    def drop(self, id: str) -> Retention:
        """End a retention policy."""
        with self.writer.changing() as changes:
            found = _one(self.policies(), id, "retention policy")
            changes.drop(Retention, found.id, "drop")
        return found

    def policies(self) -> list[Retention]:
        return list(self.writer.store.each(self.writer.tenant, Retention))

    def apply(self, *, dry_run: bool = False, beat: Callable[[], None] = lambda: None) -> Retained:
        """Archive or erase what has been kept long enough, a batch in a transaction: stopped, it can be run again.

        `beat` is called between two batches, and may raise to break off.
        """
        policies = self.policies()
        done: dict[str, list[str]] = {"archived": [], "purged": [], "held": []}
        for policy in policies:
            due = [
                one.id for one in self._older(policy) if PINNED not in one.tags and narrowest(policies, one) == policy
            ]
            for start in range(0, len(due), BATCH):
                beat()
                self._batch(policy, due[start : start + BATCH], done, dry_run)
        old = self.writer.now() - SIGHTINGS_KEPT
        gone = 0 if dry_run else self.writer.store.forget_sightings(self.writer.tenant, old)
        lists: dict[str, Any] = {name: tuple(ids) for name, ids in done.items()}
        return Retained(**lists, sightings=gone, dry_run=dry_run)

    def _older(self, policy: Retention) -> Iterator[Memory]:
        """What the policy may speak of: memories that came to be longer ago than it keeps them."""
        before = self.writer.now() - timedelta(days=policy.days)
        states = () if policy.action == "purge" else KEPT_STATES
        kinds = (policy.kind,) if policy.kind else ()
        filter = Filter(policy.scope, inside=True, kinds=kinds, states=states)
        every = self.writer.store.walk(self.writer.tenant, filter)
        return (memory for memory in every if memory.created_at < before)

    def _batch(self, policy: Retention, ids: Sequence[str], done: dict[str, list[str]], dry_run: bool) -> None:
        """What a policy is about, as it stands now: an erasure takes others along, and a hold may have come since."""
        found = self.writer.store.memories(self.writer.tenant, ids)
        due = [found[id] for id in ids if id in found and PINNED not in found[id].tags]
        why = f"kept for {policy.days} days"
        if policy.action == "purge":
            holds = self.holds()
            held = {memory.id for memory in due if any(hold.scope.contains(memory.scope) for hold in holds)}
            due = [memory for memory in due if memory.id not in held]
            done["held"] += sorted(held)
            done["purged"] += [memory.id for memory in due]
            if due and not dry_run:
                # How long turns are kept says nothing about what was learnt from them.
                Eraser(self.writer, self.home).erase(due, why, keep=True)
            return
        done["archived"] += [memory.id for memory in due]
        if not dry_run:
            with self.writer.changing() as changes:
                for memory in due:
                    current = changes.get(Memory, memory.id)
                    if current is not None and current.state in KEPT_STATES:
                        changes.put(replace(current, state="archived"), "expire", why)


def narrowest(policies: Sequence[Retention], memory: Memory) -> Retention | None:
    """The policy that counts for a memory: of those that fit, the one that names most; the latest of equals."""
    fitting = [one for one in policies if one.kind in ("", memory.kind) and one.scope.contains(memory.scope)]
    return max(fitting, key=lambda one: (len(one.scope.as_dict()), bool(one.kind), one.id), default=None)


def _one(found: Sequence[N], name: str, what: str) -> N:
    for one in found:
        if name in (one.id, getattr(one, "name", one.id)):
            return one
    raise NotFound(f"There is no {what} {str(name)[:60]!r}.", fix=f"See them with: recollect {what.split()[0]} list")
