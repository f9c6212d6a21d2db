"""Pools: what agents share with each other.

A share is a pointer into a pool, at a reach. The memory stays one memory: whatever becomes of it (changed, forgotten,
rejected, erased) holds for every member at once, and so does the leaving or deactivation of whoever shared it.

    reach           who of a pool's members sees it
    agent_private   the agent that shared it
    user            agents of the same owner
    project         agents of the same project, and those of none
    team, global    every member whose own reach goes so far

Nobody reads above their own reach, and nothing is shared above the reach of its pool or of who shares it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from .. import ids
from ..agent_types import PERMISSIONS, REACHES, Agent, Audience, Member, Pool, Share
from ..checks import MAX_NAME, Cleaner, one_of
from ..errors import Ambiguous, BadInput, Forbidden, NotFound, WrongState
from ..redact import redact
from ..store.contract import Store, Transaction
from ..types import Memory, Scope
from .access import Caller
from .registry import Registry, full

MAX_POOLS, MAX_MEMBERS, MAX_SHARED = 10_000, 1_000, 100_000
MAX_PURPOSE = 1000
LISTED = 200  # pools, and members of each, that a list tells


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of one tenant."""

    agents: Registry

    def create(
        self, agent: Agent, *, name: str, reach: str = "team", joining: str = "invited", purpose: str = ""
    ) -> Pool:
        """Make a pool; who makes it is its first member, and owns it."""
        cleaner = Cleaner(MAX_NAME, redact)
        label = cleaner.text(name, "name", MAX_NAME)
        if not label:
            raise BadInput("name is empty.", fix="Say what the pool is for.")
        _no_wider(one_of(reach, REACHES, "scope"), agent.reach, "you read")
        one_of(joining, ("open", "invited"), "joining")
        now, owner = self.agents.now(), Scope(agent.scope.user, agent.scope.project)
        made = Pool(
            self.agents.new_id(now), label, cleaner.text(purpose, "purpose", MAX_PURPOSE), owner, reach, joining, now
        )
        with self._changing() as changes:
            if self._store.matching(self._tenant, Pool, {"user": owner.user, "name": label}, limit=1):
                raise WrongState(f"There is a pool {label!r} already.", fix="Join it, or choose another name.")
            if self._store.tally(self._tenant, Pool, {}) >= MAX_POOLS:
                raise full(MAX_POOLS, "pools")
            changes.put(made, "create", _for(agent))
            changes.put(Member(_member(made, agent), made.id, agent.id, "admin", "joined", now), "join", _for(agent))
        return made

    def join(self, agent: Agent, id: str, permission: str = "") -> Member:
        """Become a member: by an invitation, as an agent of the owner, or because the pool is open."""
        pool = self.find(agent, id, joining=True)
        with self._changing() as changes:
            known = changes.get(Member, _member(pool, agent))
            most = self._most(pool, agent, known)
            wanted = one_of(permission or most, PERMISSIONS, "permission")
            if PERMISSIONS.index(wanted) > PERMISSIONS.index(most):
                raise Forbidden(f"You may {most} in {pool.name}, not {wanted}.", fix=f"Join with {most}.")
            self._room(pool, known)
            made = Member(_member(pool, agent), pool.id, agent.id, wanted, "joined", self.agents.now())
            changes.put(replace(made, created_at=known.created_at) if known else made, "join", _for(agent))
        return made

    @staticmethod
    def _most(pool: Pool, agent: Agent, known: Member | None) -> str:
        """The most an agent may do in a pool that it joins."""
        if _owns(agent, pool):
            return "admin"
        if known:
            return known.permission
        if pool.joining == "open" and _open_to(agent, pool):
            return "write"
        raise Forbidden(f"{pool.name} is for those who are invited.", fix="Ask an admin of the pool to invite you.")

    def invite(self, agent: Agent, id: str, other: Agent, permission: str = "read") -> Member:
        """Let an agent join, with at most this permission."""
        pool = self.find(agent, id)
        one_of(permission, PERMISSIONS, "permission")
        with self._changing() as changes:
            self._needs(changes, pool, agent, "admin", "Inviting")
            known = changes.get(Member, _member(pool, other))
            self._room(pool, known)
            fresh = Member(_member(pool, other), pool.id, other.id, permission, "invited", self.agents.now())
            made = replace(known, permission=permission) if known else fresh
            changes.put(made, "invite", _for(agent))
        return made

    def leave(self, agent: Agent, id: str, other: Agent | None = None) -> Member:
        """Be a member no longer, or let another be none; what they shared is shared no longer."""
        pool, gone = self.find(agent, id), other or agent
        with self._changing() as changes:
            if gone.id != agent.id:
                self._needs(changes, pool, agent, "admin", "Removing a member")
            known = changes.get(Member, _member(pool, gone))
            if known is None:
                raise WrongState(f"{gone.name} is not in {pool.name}.")
            changes.drop(Member, known.id, "leave", _for(agent))
        return known

    def share(self, caller: Caller, agent: Agent, id: str, memory: Memory, reach: str = "") -> Share:
        """Let the members of a pool see a memory; one that is shared already is seen as far as is said now."""
        pool = self.find(agent, id)
        wide = one_of(reach or min(pool.reach, agent.reach, key=REACHES.index), REACHES, "scope")
        _no_wider(wide, pool.reach, f"is shared in {pool.name}")
        _no_wider(wide, agent.reach, "you read")
        caller.owned(memory)
        if memory.state != "active":
            raise WrongState(f"Memory {memory.id} is {memory.state}.", fix="Share what is active.")
        place = Scope(agent.scope.user, memory.scope.project or agent.scope.project)
        made = Share(
            ids.derive("share", pool.id, memory.id), pool.id, memory.id, wide, agent.id, place.user, place.project,
            self.agents.now(),
        )  # fmt: skip
        with self._changing() as changes:
            self._needs(changes, pool, agent, "write", "Sharing")
            known = changes.get(Share, made.id)
            if known is None and self._store.tally(self._tenant, Share, {"pool": pool.id}) >= MAX_SHARED:
                raise full(MAX_SHARED, f"memories in {pool.name}")
            if known and known.shared_by != agent.id and self._is_in(changes, pool, known.shared_by):
                self._needs(changes, pool, agent, "admin", "Sharing anew what another shares")
            changes.put(made, "share", _for(agent))
        return made

    def unshare(self, agent: Agent, id: str, memory: str) -> Share:
        """Take a memory out of a pool: by who shared it, or an admin."""
        pool = self.find(agent, id)
        with self._changing() as changes:
            known = changes.get(Share, ids.derive("share", pool.id, memory.strip().lower()))
            if known is None:
                raise WrongState(f"Memory {memory!r:.60} is not shared in {pool.name}.")
            if known.shared_by != agent.id:
                self._needs(changes, pool, agent, "admin", "Taking back what another shared")
            changes.drop(Share, known.id, "unshare", _for(agent))
        return known

    def find(self, agent: Agent, id: str, *, joining: bool = False) -> Pool:
        """The pool of an id, its end or its name, that an agent is in or may join."""
        wanted = id.strip()
        whole = self._store.of(self._tenant, Pool, [wanted.lower()]) if ids.whole(wanted.lower()) else None
        mine = self.agents.pools_of(agent)
        found = [
            one for one in (self._all() if whole is None else whole)
            if (wanted.lower() == one.id[-len(wanted):] or wanted == one.name)
            and (one.id in mine or _owns(agent, one) or (joining and self._may_know(agent, one)))
        ]  # fmt: skip
        if len(found) > 1:
            raise Ambiguous(f"{id!r:.60} stands for several pools.")
        if not found:
            raise NotFound(f"No pool is {id!r:.60}.", fix="List them with: recollect pool list")
        return found[0]

    def _may_know(self, agent: Agent, pool: Pool) -> bool:
        invited = self._store.of(self._tenant, Member, [_member(pool, agent)])
        return bool(invited) or (pool.joining == "open" and _open_to(agent, pool))

    def known(self, caller: Caller, agent: Agent | None) -> list[dict[str, Any]]:
        """The pools that a caller may know of, newest first, with what is in each and what their agent is there."""
        found = []
        for pool in self._all():
            mine = self._store.of(self._tenant, Member, [_member(pool, agent)]) if agent else []
            if mine or caller.wall.contains(pool.scope) or (agent and self._may_know(agent, pool)):
                found.append({
                    **pool.as_dict(), "permission": mine[0].permission if mine else "",
                    "state": mine[0].state if mine else "", "members": self._members(pool),
                    "memories": self._store.tally(self._tenant, Share, {"pool": pool.id}),
                })  # fmt: skip
            if len(found) == LISTED:
                break
        return found

    def _members(self, pool: Pool) -> list[dict[str, str]]:
        members = self._store.matching(self._tenant, Member, {"pool": pool.id}, limit=LISTED)
        names = {one.id: one.name for one in self._store.of(self._tenant, Agent, [one.agent for one in members])}
        return [
            {"agent": one.agent, "name": names.get(one.agent, ""), "permission": one.permission, "state": one.state}
            for one in members
        ]

    def audience(self, caller: Caller, agent: Agent, id: str = "", reach: str = "") -> Audience:
        """What an agent reads of a pool, or of all it is in."""
        mine = self.agents.pools_of(agent)
        if id:
            pool = self.find(agent, id, joining=True)
            if pool.id not in mine:
                raise Forbidden(f"You are not in {pool.name}.", fix="Join it with join_pool.")
            mine = {pool.id}
        return caller.audience(agent, sorted(mine), one_of(reach, REACHES, "max_scope") if reach else "")

    @property
    def _store(self) -> Store:
        return self.agents.store

    @property
    def _tenant(self) -> str:
        return self.agents.tenant

    def _changing(self) -> AbstractContextManager[Transaction]:
        return self.agents.changing()

    def _all(self) -> list[Pool]:
        return self._store.matching(self._tenant, Pool, {}, limit=MAX_POOLS)

    def _is_in(self, changes: Transaction, pool: Pool, agent: str) -> bool:
        known = changes.get(Member, ids.derive("member", pool.id, agent))
        return known is not None and known.state == "joined"

    def _needs(self, changes: Transaction, pool: Pool, agent: Agent, permission: str, what: str) -> None:
        known = changes.get(Member, _member(pool, agent))
        have = known.permission if known and known.state == "joined" else ""
        if not have or PERMISSIONS.index(have) < PERMISSIONS.index(permission):
            raise Forbidden(f"{what} in {pool.name} needs the permission '{permission}'.", fix=(
                f"You have {have}; ask an admin of the pool." if have else "Join it with join_pool."
            ))  # fmt: skip

    def _room(self, pool: Pool, known: Member | None) -> None:
        if known is None and self._store.tally(self._tenant, Member, {"pool": pool.id}) >= MAX_MEMBERS:
            raise full(MAX_MEMBERS, f"members in {pool.name}")


def _member(pool: Pool, agent: Agent) -> str:
    return ids.derive("member", pool.id, agent.id)


def _for(agent: Agent) -> str:
    """In whose name, for the journal."""
    return f"for {agent.name} ({agent.id})"


def _owns(agent: Agent, pool: Pool) -> bool:
    """Whether an agent belongs to the owner of a pool."""
    return agent.scope.user == pool.scope.user and agent.scope.project in ("", pool.scope.project)


def _open_to(agent: Agent, pool: Pool) -> bool:
    """Whether a pool that needs no invitation is open to an agent: as far as its reach goes."""
    if pool.reach in ("team", "global"):
        return True
    return pool.reach == "project" and pool.scope.project in ("", agent.scope.project)


def _no_wider(reach: str, limit: str, what: str) -> None:
    if REACHES.index(reach) > REACHES.index(limit):
        raise Forbidden(f"{reach} is wider than {what} ({limit}).", fix=f"Choose {limit}, or less.")
