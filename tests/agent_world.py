"""Agents of two tenants and three users who call at random, and what each of them may see and do, kept beside.

`tests/test_agent_lives.py` and `bench/agents.py` share it. The rules are written down here a second time, as
docs/agents.md tells them: whatever a call gives or does beyond them is in `wrong`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect import Engine, RecollectError
from recollect.agent_types import CAPABILITIES, REACHES
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


@dataclass
class Actor:
    tenant: str
    user: str
    caller: Caller
    id: str
    can: frozenset[str]
    reach: str
    retired: bool = False


@dataclass
class World:
    """`act` makes one random call and compares what came of it with the rules."""

    engines: dict[str, Engine]
    chance: random.Random
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.actors: dict[str, Actor] = {}
        self.memories: dict[str, tuple[str, str, str, bool]] = {}  # tenant, user, mark, active
        self.pools: dict[str, tuple[str, str]] = {}  # tenant, user
        self.members: dict[tuple[str, str], str] = {}
        self.shares: dict[tuple[str, str], tuple[str, str]] = {}  # pool, memory → reach, by
        self.handoffs: dict[str, str] = {}
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

    def shows(self, who: Actor, memory: str) -> bool:
        """Whether a memory is shared with an agent."""
        tenant, _, _, active = self.memories[memory]
        for (pool, shared), (reach, by) in self.shares.items():
            sharer = self.actors[by]
            if (
                shared == memory and active and tenant == who.tenant and self.members.get((pool, who.id)) == "joined"
                and self.members.get((pool, by)) == "joined" and not sharer.retired
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
        name = self.chance.choice(list(NEEDS))
        given = self._given(name, actor)
        engine = self.engines[actor.tenant]
        try:
            result = BY_NAME[name].call(engine, engine.agents.enter(actor.caller), given, loose=True)
        except RecollectError as error:
            self.counts[error.code] += 1
            if error.status >= 500:
                self.wrong.append(f"{name} {given}: {error!r}")
            self._told(actor, actor, name, str(error.as_dict()))
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
        actor.retired = not actor.retired

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
        for id, tenant in self.handoffs.items():
            if tenant != actor.tenant and f"work {id[-6:]}" in answer:
                self.wrong.append(f"{name} told {actor} of handoff {id}")

    def _given(self, name: str, actor: Actor) -> dict[str, Any]:
        def pick(some: Iterable[str]) -> str:
            return self.chance.choice([*some] or ["0" * 26])

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
        fixed: dict[str, dict[str, Any]] = {
            "remember": {"content": f"The safe holds zq{self.chance.getrandbits(48):x}.",
                         "kind": self.chance.choice(("fact", "decision", "incident", "code"))},
            "create_pool": {"name": f"pool {self.chance.getrandbits(32):x}"}, "reject_handoff": {"reason": "No."},
            "initiate_handoff": {"task": "Some work."}, "register_agent": {"agent_type": "other"},
        }  # fmt: skip
        keep = {"remember", "register_agent"}
        return fixed[name] if name in keep else given | fixed.get(name, {})

    def _note(self, name: str, subject: Actor, given: dict[str, Any], result: Any) -> None:
        match name:
            case "remember" if result.action == "created":
                mark = given["content"].split()[-1].rstrip(".")
                self.memories[result.id] = subject.tenant, subject.user, mark, True
            case "forget":
                for memory in result.memories:
                    if not result.dry_run and memory.id in self.memories:
                        self.memories[memory.id] = (*self.memories[memory.id][:3], False)
            case "create_pool":
                self.pools[result.id] = subject.tenant, subject.user
                self.members[result.id, subject.id] = "joined"
            case "join_pool" | "invite_to_pool":
                self.members[result.pool, result.agent] = result.state
            case "leave_pool":
                del self.members[result.pool, result.agent]
            case "share_memory_to_scope":
                self.shares[result.pool, result.memory] = result.reach, result.shared_by
            case "initiate_handoff":
                self.handoffs[result.id] = subject.tenant
