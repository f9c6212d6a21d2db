"""Agents of two tenants and three users who call at random, and what each of them may see and do, kept beside.

`tests/test_agent_lives.py` and `bench/agents.py` share it. The rules are written down here a second time, as
docs/agents.md tells them: whatever a call gives or does beyond them is in `wrong`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect import Engine, RecollectError
from recollect.agent_types import CAPABILITIES, PERMISSIONS, REACHES, Handoff, Member, Pool
from recollect.agents.access import Caller
from recollect.ops.catalogue import BY_NAME
from recollect.serve.wire import dumps

USERS = ("", "ana", "ben")
NEEDS = {
    "remember": ("write", "memory_write"), "recall": ("read", "memory_read"), "list": ("read", "memory_read"),
    "get": ("read", "memory_read"), "forget": ("write", "memory_write"), "create_pool": ("write", "memory_write"),
    "join_pool": ("write", "memory_read"), "leave_pool": ("write", ""),
    "share_memory_to_scope": ("write", "memory_write"),
    "query_shared": ("read", "memory_read"), "initiate_handoff": ("write", "handoff_initiate"),
    "accept_handoff": ("write", "handoff_receive"), "complete_handoff": ("write", "handoff_receive"),
    "reject_handoff": ("write", "handoff_receive"), "get_pending_handoffs": ("read", "handoff_receive"),
    "get_agents_for_user": ("read", ""), "get_agent_info": ("read", ""), "register_agent": ("write", ""),
    "search_decisions": ("read", "decision_read"), "search_incidents": ("read", "incident_read"),
    "search_code_kb": ("read", "kb_search"), "list_pools": ("read", "memory_read"),
    "list_handoffs": ("read", "memory_read"),
    "context": ("read", "memory_read"), "invite_to_pool": ("write", "memory_write"),
}  # fmt: skip
ACTING = frozenset(name for name in NEEDS if any(one.name == "agent" for one in BY_NAME[name].parameters)) - {
    "get_agent_info", "register_agent", "remember", "recall", "list", "context", "forget"
}  # fmt: skip


LIVELY = [name for name in NEEDS if name.endswith(("_pool", "_handoff", "_to_scope"))]  # called three times as often


@dataclass
class Actor:
    tenant: str
    user: str
    caller: Caller
    id: str
    can: frozenset[str]
    reach: str
    retired: bool = False
    left: bool = False  # it was deactivated once


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class World:
    """`act` makes one random call and compares what came of it with the rules; `forward` lets time pass."""

    engines: dict[str, Engine]
    chance: random.Random
    now: Callable[[], datetime] = now
    forward: Callable[..., Any] | None = None
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.actors: dict[str, Actor] = {}
        self.memories: dict[str, tuple[str, str, str, bool]] = {}  # tenant, user, mark, active
        self.pools: dict[str, Pool] = {}
        self.members: dict[tuple[str, str], Member] = {}
        self.shares: dict[tuple[str, str], tuple[str, str]] = {}  # pool, memory → reach, by
        self.handoffs: dict[str, Handoff] = {}
        self.tenants: dict[str, str] = {}  # of everything that has an id
        for tenant, engine in self.engines.items():
            for user in USERS:
                for number in range(3):
                    self._join(tenant, engine, user, full=not number)

    def _join(self, tenant: str, engine: Engine, user: str, *, full: bool) -> None:
        def some(of: Sequence[str]) -> list[str]:
            return [one for one in of if full or self.chance.random() < 0.7]

        rights = [*some(("write", "orchestrate")), "read"]
        token, _ = engine.tokens.create(name=user, can=rights, user=user)
        caller = Caller(tenant, f"token {user}", frozenset(token.can), token.scope, token.scope, token.id)
        can, reach = some(CAPABILITIES), self.chance.choice(REACHES[2 if full else 0 :])
        given = {"agent_type": "other", "token": token.id, "owner": user, "can": can, "scope": reach}
        made = BY_NAME["register_agent"].call(engine, Caller(tenant, "cli"), given)
        self.actors[made.id] = Actor(tenant, user, caller, made.id, frozenset(can), reach)
        self.tenants[made.id] = tenant

    def shows(self, who: Actor, memory: str) -> bool:
        """Whether a memory is shared with an agent."""
        tenant, _, _, active = self.memories[memory]
        for (pool, shared), (reach, by) in self.shares.items():
            sharer = self.actors[by]
            if (
                shared == memory and active and tenant == who.tenant and self._may(pool, who.id, "read")
                and self._may(pool, by, "read") and not sharer.retired
                and REACHES.index(reach) <= REACHES.index(who.reach)
                and (reach != "agent_private" or by == who.id) and (reach != "user" or sharer.user == who.user)
            ):  # fmt: skip
                return True
        return False

    def sees(self, who: Actor, memory: str) -> bool:
        tenant, user, _, _ = self.memories[memory]
        return tenant == who.tenant and (who.user in ("", user) or user == "" or self.shows(who, memory))

    def act(self) -> None:
        actor = self.chance.choice(list(self.actors.values()))
        if self.chance.random() < 0.02:
            self._turn(actor)
            return
        if self.forward and self.chance.random() < 0.02:
            self.forward(minutes=self.chance.choice((1, 20, 40, 1500)))
        name = self.chance.choice([*NEEDS, *LIVELY, *LIVELY])
        given = self._given(name, actor)
        engine = self.engines[actor.tenant]
        try:
            result = BY_NAME[name].call(engine, engine.agents.enter(actor.caller), given, loose=True)
        except RecollectError as error:
            self.counts[error.code] += 1
            if error.status >= 500:
                self.wrong.append(f"{name} {given}: {error!r}")
            self._told(actor, actor, name, str(error.as_dict()))
            if name == "accept_handoff" and self._is_due(actor, given):
                self.wrong.append(f"{actor} was not let accept {given}: {error!r}")
            return
        self.counts["done"] += 1
        subject = self.actors.get(given.get("agent", ""), actor) if name in ACTING else actor
        self._allowed(actor, subject, name)
        self._note(name, subject, given, result)
        self._told(actor, subject, name, dumps(result).decode() + BY_NAME[name].text(result))
        if name == "query_shared" and not given.get("query") and not given.get("pool") and not given.get("max_scope"):
            found = {hit.memory.id for hit in result.hits}
            wanted = {id for id in self.memories if self.shows(subject, id)}
            if found != wanted and len(wanted) < 100:
                self.wrong.append(f"{subject.id} is shown {found ^ wanted} too much or too little")

    def _turn(self, actor: Actor) -> None:
        verb = "activate_agent" if actor.retired else "deactivate_agent"
        BY_NAME[verb].call(self.engines[actor.tenant], Caller(actor.tenant, "cli"), {"agent": actor.id})
        actor.retired, actor.left = not actor.retired, True

    def _allowed(self, actor: Actor, subject: Actor, name: str) -> None:
        right, capability = NEEDS[name]
        other = subject.id != actor.id
        lacks = right not in actor.caller.can or (capability and capability not in subject.can)
        if lacks or actor.retired or subject.retired or (other and "orchestrate" not in actor.caller.can):
            self.wrong.append(f"{name} was done by {actor} for {subject}")
        if subject.tenant != actor.tenant or (other and actor.user and subject.user not in ("", actor.user)):
            self.wrong.append(f"{actor} acted for {subject}")

    def _told(self, actor: Actor, subject: Actor, name: str, answer: str) -> None:
        """Nothing of another tenant, and no word of a memory that neither of the two may see."""
        for id, (tenant, _, mark, _) in self.memories.items():
            if mark in answer and not (self.sees(subject, id) or self.sees(actor, id)):
                self.wrong.append(f"{name} told {actor} of {id} of {tenant}")
        for id, one in self.handoffs.items():
            if self.tenants[id] != actor.tenant and one.task in answer:
                self.wrong.append(f"{name} told {actor} of handoff {id}")

    def _given(self, name: str, actor: Actor) -> dict[str, Any]:
        def pick(some: Iterable[str]) -> str:
            near = [one for one in some if self.tenants[one] == actor.tenant or self.chance.random() < 0.1]
            return self.chance.choice(near or ["0" * 26])

        given: dict[str, Any] = {}
        for one in BY_NAME[name].parameters:
            if not one.required and self.chance.random() < 0.6:
                continue
            match one.name:
                case "agent" if name in ACTING:
                    given["agent"] = pick(self.actors)
                case "pool":
                    given["pool"] = pick(self.pools)
                case "memory" | "id":
                    given[one.name] = pick(self.memories)
                case "memories":
                    given["memories"] = [pick(self.memories)]
                case "handoff":
                    given["handoff"] = pick(self.handoffs)
                case "target" | "invited" | "removed":
                    given[one.name] = pick(self.actors)
                case "scope" | "max_scope" if name != "register_agent":
                    given[one.name] = self.chance.choice(REACHES)
                case "key":
                    given["key"] = self.chance.choice("abc")
                case "permission":
                    given["permission"] = self.chance.choice(("read", "write", "admin"))
                case "open":
                    given["open"] = self.chance.random() < 0.7
                case "needs":
                    given["needs"] = self.chance.choice(CAPABILITIES)
                case "query":
                    given["query"] = "what lies in the safe?"
                case "limit":
                    given["limit"] = 100
        if name == "query_shared":
            given.setdefault("limit", 100)
        mark = f"{actor.tenant} {given['key']}" if "key" in given else f"zw{self.chance.getrandbits(48):x}"
        fixed: dict[str, dict[str, Any]] = {
            "remember": {"content": f"The safe holds zq{self.chance.getrandbits(48):x}.",
                         "kind": self.chance.choice(("fact", "decision", "incident", "code"))},
            "create_pool": {"name": f"pool {self.chance.getrandbits(32):x}"}, "reject_handoff": {"reason": "No."},
            "initiate_handoff": {"task": f"Some work {mark}."}, "register_agent": {"agent_type": "other"},
        }  # fmt: skip
        keep = {"remember", "register_agent"}
        return fixed[name] if name in keep else given | fixed.get(name, {})

    def _note(self, name: str, subject: Actor, given: dict[str, Any], result: Any) -> None:
        match name:
            case "remember" if result.action == "created":
                mark = given["content"].split()[-1].rstrip(".")
                self.memories[result.id] = subject.tenant, subject.user, mark, True
                self.tenants[result.id] = subject.tenant
            case "forget":
                for memory in result.memories:
                    if not result.dry_run and memory.id in self.memories:
                        self.memories[memory.id] = (*self.memories[memory.id][:3], False)
            case "create_pool":
                self.pools[result.id], self.tenants[result.id] = result, subject.tenant
                self.members[result.id, subject.id] = Member("", result.id, subject.id, "admin")
            case "join_pool" | "invite_to_pool" | "leave_pool" | "share_memory_to_scope":
                if not self._may_pool(name, subject, result):
                    self.wrong.append(f"{subject} was let {name}: {result}")
                self._note_pool(name, result)
            case "initiate_handoff" | "accept_handoff" | "complete_handoff" | "reject_handoff":
                made: Handoff = result["handoff"] if name == "accept_handoff" else result
                if not self._follows(name, subject, made):
                    self.wrong.append(f"{name} by {subject.id} of {self.handoffs.get(made.id)} gave {made}")
                self.handoffs[made.id], self.tenants[made.id] = made, subject.tenant

    # -- the rules of pools and of handoffs

    def _note_pool(self, name: str, result: Any) -> None:
        if name == "share_memory_to_scope":
            self.shares[result.pool, result.memory] = result.reach, result.shared_by
        elif name == "leave_pool":
            del self.members[result.pool, result.agent]
        else:
            self.members[result.pool, result.agent] = result

    def _may(self, pool: str, agent: str, permission: str) -> bool:
        known = self.members.get((pool, agent))
        joined = known is not None and known.state == "joined"
        return joined and PERMISSIONS.index(known.permission) >= PERMISSIONS.index(permission) if known else False

    def _may_pool(self, name: str, who: Actor, result: Any) -> bool:
        pool, known = self.pools[result.pool], self.members.get((result.pool, who.id))
        if name == "invite_to_pool":
            return self._may(pool.id, who.id, "admin")
        if name == "leave_pool":
            return known is not None if result.agent == who.id else self._may(pool.id, who.id, "admin")
        if name == "share_memory_to_scope":
            widest = min(REACHES.index(pool.reach), REACHES.index(who.reach))
            owner = self.memories[result.memory][1]
            mine = who.user in ("", owner) and REACHES.index(result.reach) <= widest
            return mine and self._may(pool.id, who.id, "write")
        open = pool.joining == "open" and pool.reach in ("project", "team", "global")
        most = "admin" if pool.scope.user == who.user else known.permission if known else "write" if open else ""
        return bool(most) and PERMISSIONS.index(result.permission) <= PERMISSIONS.index(most)

    def _is_for(self, who: Actor, one: Handoff) -> bool:
        """Whether a handoff is offered to an agent."""
        if one.target:
            return one.target == who.id
        near = self.tenants[one.id] == who.tenant and (not who.user or one.scope.user in ("", who.user))
        return one.needs in who.can and one.source != who.id and near

    def _is_back(self, one: Handoff) -> bool:
        """Whether the queue may have got something back because whoever took it is gone."""
        if one.state != "accepted" or one.accepted_at is None:
            return False
        return self.actors[one.taken_by].left or self.now() - one.accepted_at > timedelta(minutes=30)

    def _follows(self, name: str, who: Actor, made: Handoff) -> bool:
        """Whether what a handoff has become may follow what it was."""
        was = self.handoffs.get(made.id)
        if name == "initiate_handoff":  # with a key, the same again
            return (was is None and made.state == "pending") or (
                was is not None and was.source == made.source == who.id
            )
        if was is None or was.state in ("completed", "rejected", "expired"):
            return False
        waits, mine = was.state == "pending" or self._is_back(was), was.state == "accepted" and was.taken_by == who.id
        match name:
            case "accept_handoff":
                fresh = waits and self._is_for(who, was) and self.now() < was.expires_at
                return (mine or fresh) and (made.state, made.taken_by) == ("accepted", who.id)
            case "complete_handoff":
                return mine and made.state == "completed"
        return (mine or (waits and self._is_for(who, was))) and made.state == "rejected"

    def _is_due(self, who: Actor, given: dict[str, Any]) -> bool:
        """Whether an agent that calls for itself must be let accept what it names."""
        was = self.handoffs.get(given["handoff"])
        able = "write" in who.caller.can and "handoff_receive" in who.can and not who.retired
        waits = was is not None and was.state == "pending" and self._is_for(who, was) and self.now() < was.expires_at
        return able and waits and given.get("agent", who.id) == who.id
