"""Handoffs: work that one agent passes to another.

    pending ──accept──> accepted ──complete──> completed
       │  ^                 │
       │  └──target silent──┤
       │                    └──reject──> rejected
       ├──reject──> rejected
       └──its time is over──> expired

It is offered to one agent, or to whoever has a capability and sees the place it comes from. Only the one it is offered
to accepts or rejects it, and only the one who accepted completes it. Where the agent that accepted has not been there
for a while, it goes back to the queue. With a key of the source, the same handoff offered twice is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from .. import ids
from ..agent_types import CAPABILITIES, OPEN_STATES, Agent, Handoff
from ..checks import MAX_NAME, Cleaner, one_of, within
from ..errors import Ambiguous, BadInput, Forbidden, NotFound, TooLarge, WrongState
from ..redact import redact
from ..store.contract import Transaction
from ..types import Memory
from .access import Caller
from .registry import SEEN_EVERY, Registry, full, plain_object

MAX_HANDOFFS, MAX_PENDING = 50_000, 100  # open ones of a tenant, and offered to one agent
MAX_TASK, MAX_OBJECT, MAX_FILES, MAX_MEMORIES = 20_000, 100_000, 200, 200
DAY = 24 * 3600
TTL, MIN_TTL, MAX_TTL = DAY, 60, 30 * DAY  # seconds
SILENT = timedelta(minutes=30)  # after which an agent that accepted something is taken for gone


@dataclass(frozen=True, slots=True)
class Handoffs:
    """The handoffs of one tenant."""

    agents: Registry

    def initiate(
        self, caller: Caller, agent: Agent, *, task: str, target: str = "", needs: str = "",
        progress: Mapping[str, Any] | None = None, memories: Sequence[Memory] = (), files: Sequence[str] = (),
        ttl: int = TTL, key: str = "",
    ) -> Handoff:  # fmt: skip
        """Offer work to an agent, or to whoever has a capability."""
        if bool(target) == bool(needs):
            raise BadInput("Name a target agent or the capability that is needed, one of the two.")
        cleaner = Cleaner(MAX_TASK, redact)
        said = cleaner.text(task, "task", MAX_TASK)
        if not said:
            raise BadInput("task is empty.", fix="Say what is to be done.")
        to = self._receiver(caller, agent, target) if target else None
        now = self.agents.now()
        made = Handoff(
            ids.derive("handoff", agent.id, key) if key else self.agents.new_id(now), agent.id, to.id if to else "", "",
            one_of(needs, CAPABILITIES, "capability") if needs else "", said,
            plain_object(progress, "state", MAX_OBJECT),
            tuple(dict.fromkeys(one.id for one in memories))[: MAX_MEMORIES + 1],
            cleaner.texts(list(files), "files", MAX_FILES, 1000), scope=caller.place({}), created_at=now,
            expires_at=now + timedelta(seconds=within(ttl, MIN_TTL, MAX_TTL, "ttl_seconds", whole=True)),
        )  # fmt: skip
        if len(made.memories) > MAX_MEMORIES:
            raise TooLarge(f"memories has more than {MAX_MEMORIES} entries.")
        self.settle()
        with self.agents.changing() as changes:
            if known := changes.get(Handoff, made.id):
                if (known.task, known.target, known.needs) != (made.task, made.target, made.needs):
                    raise BadInput(f"The key {key!r:.60} stands for another handoff.", fix="Choose another key.")
                changes.note("hand over again", known.id, _by(agent))
                return known
            self._room(made)
            changes.put(made, "hand over", _by(agent))
        return made

    def accept(self, caller: Caller, agent: Agent, id: str) -> Handoff:
        """Take over what is offered."""
        self.settle()
        with self.agents.changing() as changes:
            found = self._offered(changes, caller, agent, id)
            if found.state == "accepted" and found.taken_by == agent.id:
                changes.note("accept again", found.id, _by(agent))
                return found
            self._must_be(found, ("pending",), "accepted")
            if (now := self.agents.now()) >= found.expires_at:
                raise WrongState(f"Handoff {found.id} is expired, and cannot be accepted.")
            taken = replace(found, state="accepted", taken_by=agent.id, accepted_at=now)
            changes.put(taken, "accept", _by(agent))
        return taken

    def complete(self, caller: Caller, agent: Agent, id: str, result: Mapping[str, Any] | None = None) -> Handoff:
        """Say that it is done, and what came of it."""
        with self.agents.changing() as changes:
            found = self._offered(changes, caller, agent, id)
            self._must_be(found, ("accepted",), "completed")
            if found.taken_by != agent.id:
                raise Forbidden("Only who accepted a handoff completes it.")
            done = replace(
                found, state="completed", result=plain_object(result, "result", MAX_OBJECT), closed_at=self.agents.now()
            )
            changes.put(done, "complete", _by(agent))
        return done

    def reject(self, caller: Caller, agent: Agent, id: str, reason: str) -> Handoff:
        """Say that one does not do it, and why."""
        why = Cleaner(MAX_NAME, redact).text(reason, "reason", 1000)
        if not why:
            raise BadInput("reason is empty.", fix="Say why, for who offered it.")
        with self.agents.changing() as changes:
            found = self._offered(changes, caller, agent, id)
            self._must_be(found, OPEN_STATES, "rejected")
            if found.state == "accepted" and found.taken_by != agent.id:
                raise Forbidden("Only who accepted a handoff gives it back.")
            done = replace(found, state="rejected", reason=why, taken_by=agent.id, closed_at=self.agents.now())
            changes.put(done, "reject", _by(agent))
        return done

    def waiting(self, caller: Caller, agent: Agent) -> list[Handoff]:
        """What waits for an agent, oldest first; nothing for one that may not receive."""
        if "handoff_receive" not in agent.can:
            return []
        self.settle()
        store, tenant = self.agents.store, self.agents.tenant
        mine = store.matching(tenant, Handoff, {"state": "pending", "target": agent.id}, limit=MAX_PENDING, oldest=True)
        mine += store.matching(tenant, Handoff, {"state": "pending", "target": ""}, oldest=True)
        now = self.agents.now()
        fitting = [one for one in mine if now < one.expires_at and self._is_offered(caller, agent, one)]
        return sorted(fitting, key=lambda one: (one.created_at, one.id))[:MAX_PENDING]

    def known(self, caller: Caller, states: Sequence[str], limit: int) -> list[Handoff]:
        """Handoffs that a caller may know of, newest first: those of their agent, and those inside their wall."""
        self.settle()
        own = {caller.agent.id} if caller.agent else set()
        found: list[Handoff] = []
        for state in states:
            some = self.agents.store.matching(self.agents.tenant, Handoff, {"state": state}, limit=limit)
            found += [
                one for one in some
                if caller.wall.contains(one.scope) or own & {one.source, one.target, one.taken_by}
            ]  # fmt: skip
        return sorted(found, key=lambda one: one.created_at, reverse=True)[:limit]

    def settle(self) -> int:
        """Expire what nobody took in time, and put back what was taken by somebody who is gone; how many.

        Once a minute: whoever accepts something is told of its end at once all the same.
        """
        store, tenant, now = self.agents.store, self.agents.tenant, self.agents.now()
        if not self.agents.presence.due("(handoffs)", "", now):
            return 0  # it was looked at a moment ago
        late = [one for one in self._open("pending") if one.expires_at <= now]
        seen = store.last_seen(tenant) if (taken := self._open("accepted")) else {}
        silent = [one for one in taken if _last(one, seen.get(one.taken_by)) < now - SILENT - SEEN_EVERY]
        retired = {one.id for one in store.of(tenant, Agent, [one.taken_by for one in taken]) if one.retired_at}
        gone = [one.id for one in taken if one in silent or one.taken_by in retired]
        if not late and not gone:
            return 0
        with self.agents.changing() as changes:
            for old in late:
                if (one := changes.get(Handoff, old.id)) and one.state == "pending":
                    changes.put(replace(one, state="expired", closed_at=now), "expire", "nobody took it in time")
            for id in gone:
                if (one := changes.get(Handoff, id)) and one.state == "accepted":
                    back = replace(one, state="pending", taken_by="", accepted_at=None, attempts=one.attempts + 1)
                    if one.expires_at <= now:
                        back = replace(back, state="expired", closed_at=now)
                    changes.put(back, "put back", f"{one.taken_by} is gone")
        return len(late) + len(gone)

    def _open(self, state: str) -> list[Handoff]:
        """The open ones that end first; what is read here is looked at again under the lock."""
        store = self.agents.store
        return store.matching(self.agents.tenant, Handoff, {"state": state}, limit=MAX_HANDOFFS)

    def _receiver(self, caller: Caller, agent: Agent, target: str) -> Agent:
        to = self.agents.find(caller, target)
        if to.id == agent.id:
            raise BadInput("An agent hands nothing over to itself.")
        if to.retired_at or "handoff_receive" not in to.can:
            why = "was deactivated" if to.retired_at else "does not receive handoffs"
            raise Forbidden(f"{to.name} {why}.", fix="Name another agent, or the capability that is needed.")
        return to

    def _room(self, made: Handoff) -> None:
        store, tenant = self.agents.store, self.agents.tenant
        if sum(store.tally(tenant, Handoff, {"state": state}) for state in OPEN_STATES) >= MAX_HANDOFFS:
            raise full(MAX_HANDOFFS, "open handoffs")
        if made.target and store.tally(tenant, Handoff, {"target": made.target, "state": "pending"}) >= MAX_PENDING:
            raise full(MAX_PENDING, f"handoffs waiting for {made.target}")

    def _offered(self, changes: Transaction, caller: Caller, agent: Agent, id: str) -> Handoff:
        """The handoff of an id, or the end of one, that is offered to an agent; whoever else may know of it is told."""
        wanted = id.strip().lower()
        if not ids.plausible(wanted):
            raise NotFound(f"{id!r:.60} is not an id.", fix="List them with: recollect handoff list")
        if not ids.whole(wanted):
            near = [one.id for state in OPEN_STATES for one in self._open(state) if one.id.endswith(wanted)]
            if len(near) > 1:
                raise Ambiguous(f"{id!r:.60} is the end of several ids.")
            wanted = near[0] if near else wanted
        found = changes.get(Handoff, wanted)
        if found is None or not (self._is_offered(caller, agent, found) or caller.wall.contains(found.scope)):
            raise NotFound(f"No handoff has the id {id!r:.60}.", fix="List them with: recollect handoff list")
        if not self._is_offered(caller, agent, found):
            raise Forbidden("The handoff is for another agent.")
        return found

    @staticmethod
    def _is_offered(caller: Caller, agent: Agent, one: Handoff) -> bool:
        if one.target or one.taken_by == agent.id:
            return agent.id in (one.target, one.taken_by)
        return one.needs in agent.can and one.source != agent.id and caller.wall.sees(one.scope)

    @staticmethod
    def _must_be(one: Handoff, states: Sequence[str], wanted: str) -> None:
        if one.state not in states:
            raise WrongState(f"Handoff {one.id} is {one.state}, and cannot be {wanted}.")


def _last(one: Handoff, seen: tuple[datetime, int] | None) -> datetime:
    """When the one who took something was last there."""
    return max(moment for moment in (one.accepted_at, one.created_at, seen[0] if seen else None) if moment)


def _by(agent: Agent) -> str:
    return f"for {agent.name} ({agent.id})"
