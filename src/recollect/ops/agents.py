"""Agents: who takes part, what they share, and the work they hand over.

Every verb is done in the name of an agent: the one that calls, or another if the caller may act for it. The rules are
in `agents/`; here stand what is asked of the engine beside them, and the words for a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .. import times
from ..agent_types import HANDOFF_STATES, Agent, AgentSession, Handoff, Member, Pool, Share
from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, NotFound
from ..project.incidents import severity as severity_of
from ..recall.context import Context
from ..recall.fence import HEADER, neutral
from ..types import Hit, Memory, Recall
from . import memories as memory_verbs

WIDER = 5  # how many times more is looked at where hits are held against a topic afterwards


def register_agent(
    engine: Engine, caller: Caller, *, agent_type: str, name: str = "", owner: str | None = None,
    metadata: Mapping[str, Any] | None = None, agent: str = "", token: str = "", can: Sequence[str] | None = None,
    scope: str = "",
) -> Agent:  # fmt: skip
    return engine.agents.register(
        caller, kind=agent_type, name=name, owner=owner, agent=agent, token=token, can=can, reach=scope,
        metadata=metadata,
    )  # fmt: skip


def get_agent_info(engine: Engine, caller: Caller, *, agent: str = "") -> dict[str, Any]:
    registry = engine.agents
    found = registry.find(caller, agent) if agent else registry.acting(caller)[1]
    sessions = registry.sessions(found)
    last = max((one.seen_at for one in sessions), default=None)
    return {
        "agent": found, "last_seen": times.iso(last) if last else "", "sessions": sessions,
        "pools": sorted(registry.pools_of(found)),
    }  # fmt: skip


def get_agents_for_user(
    engine: Engine, caller: Caller, *, user: str | None = None, active: bool = False
) -> dict[str, Any]:
    found = engine.agents.all(caller, user)
    return {
        "agents": [
            {**one.as_dict(), "last_seen": times.iso(seen) if seen else "", "sessions": sessions}
            for one, seen, sessions in found
            if not (active and one.retired_at)
        ]
    }


def deactivate_agent(engine: Engine, caller: Caller, *, agent: str, reason: str = "") -> Agent:
    return engine.agents.deactivate(caller, agent, reason)


def activate_agent(engine: Engine, caller: Caller, *, agent: str, reason: str = "") -> Agent:
    return engine.agents.deactivate(caller, agent, reason, undo=True)


def create_pool(
    engine: Engine, caller: Caller, *, name: str, scope: str, open: bool = False, purpose: str = "", agent: str = ""
) -> Pool:
    caller, who = _acting(engine, caller, agent, "memory_write", "Create a pool")
    return engine.pools.create(who, name=name, reach=scope, joining="open" if open else "invited", purpose=purpose)


def list_pools(engine: Engine, caller: Caller) -> dict[str, Any]:
    return {"pools": engine.pools.known(caller, caller.agent)}


def join_pool(engine: Engine, caller: Caller, *, pool: str, permission: str = "", agent: str = "") -> Member:
    caller, who = _acting(engine, caller, agent, "memory_read", "Join a pool")
    return engine.pools.join(who, pool, permission)


def invite_to_pool(
    engine: Engine, caller: Caller, *, pool: str, invited: str, permission: str, agent: str = ""
) -> Member:
    other = engine.agents.find(caller, invited)
    caller, who = _acting(engine, caller, agent, "memory_write", "Invite to a pool")
    return engine.pools.invite(who, pool, other, permission)


def leave_pool(engine: Engine, caller: Caller, *, pool: str, removed: str = "", agent: str = "") -> Member:
    caller, who = _acting(engine, caller, agent, "", "Leave a pool")
    return engine.pools.leave(who, pool, engine.agents.find(caller, removed) if removed else None)


def share_memory_to_scope(
    engine: Engine, caller: Caller, *, pool: str, memory: str, scope: str = "", agent: str = ""
) -> Share:
    caller, who = _acting(engine, caller, agent, "memory_write", "Share a memory")
    return engine.pools.share(caller, who, pool, memory_verbs.find(engine, caller, memory), scope)


def unshare_memory(engine: Engine, caller: Caller, *, pool: str, memory: str, agent: str = "") -> Share:
    caller, who = _acting(engine, caller, agent, "memory_write", "Stop sharing a memory")
    return engine.pools.unshare(who, pool, memory)


def query_shared(
    engine: Engine, caller: Caller, *, query: str = "", pool: str = "", max_scope: str = "", limit: int, agent: str = ""
) -> Recall:
    caller, who = _acting(engine, caller, agent, "memory_read", "Search what is shared")
    return engine.shared(engine.pools.audience(caller, who, pool, max_scope), query, limit=limit)


def initiate_handoff(
    engine: Engine, caller: Caller, *, task: str, target: str = "", needs: str = "",
    state: Mapping[str, Any] | None = None, memories: Sequence[str] = (), files: Sequence[str] = (), ttl_seconds: int,
    key: str = "", agent: str = "",
) -> Handoff:  # fmt: skip
    caller, who = _acting(engine, caller, agent, "handoff_initiate", "Hand work over")
    found = [memory_verbs.find(engine, caller, one) for one in memories]
    return engine.handoffs.initiate(
        caller, who, task=task, target=target, needs=needs, progress=state, memories=found, files=files,
        ttl=ttl_seconds, key=key,
    )  # fmt: skip


def accept_handoff(engine: Engine, caller: Caller, *, handoff: str, budget: int, agent: str = "") -> dict[str, Any]:
    caller, who = _acting(engine, caller, agent, "handoff_receive", "Accept a handoff")
    taken = engine.handoffs.accept(caller, who, handoff)
    seen, left = _visible(engine, caller, who, taken.memories)
    lines = [taken.task, *(f"{name}: {value}" for name, value in taken.progress.items())]
    if taken.files:
        lines.append(f"files: {', '.join(taken.files)}")
    hits = [Hit(memory, 1.0, {}, "handed over") for memory in seen]
    made = engine.context(scope=caller.scope({}), budget=budget, task="\n".join(lines), hits=hits)
    return {"handoff": taken, "context": made, "left_out": left}


def _visible(engine: Engine, caller: Caller, who: Agent, ids: Sequence[str]) -> tuple[list[Memory], int]:
    """The memories of a handoff that the one who takes it may see: by their wall, or because they are shared."""
    found = []
    for id in ids:
        try:
            found.append(engine.get(id, peek=True))
        except NotFound:
            continue  # it was erased since
    shared = engine.shows(engine.pools.audience(caller, who), [one.id for one in found]) if found else set()
    seen = [one for one in found if one.state == "active" and (caller.sees(one) or one.id in shared)]
    return seen, len(ids) - len(seen)


def complete_handoff(
    engine: Engine, caller: Caller, *, handoff: str, result: Mapping[str, Any] | None = None, agent: str = ""
) -> Handoff:
    caller, who = _acting(engine, caller, agent, "handoff_receive", "Complete a handoff")
    return engine.handoffs.complete(caller, who, handoff, result)


def reject_handoff(engine: Engine, caller: Caller, *, handoff: str, reason: str, agent: str = "") -> Handoff:
    caller, who = _acting(engine, caller, agent, "handoff_receive", "Reject a handoff")
    return engine.handoffs.reject(caller, who, handoff, reason)


def get_pending_handoffs(engine: Engine, caller: Caller, *, agent: str = "") -> dict[str, Any]:
    caller, who = _acting(engine, caller, agent, "handoff_receive", "List waiting handoffs")
    return {"handoffs": engine.handoffs.waiting(caller, who)}


def list_handoffs(engine: Engine, caller: Caller, *, states: Sequence[str] = (), limit: int) -> dict[str, Any]:
    return {"handoffs": engine.handoffs.known(caller, states or HANDOFF_STATES, limit)}


def _acting(engine: Engine, caller: Caller, named: str, capability: str, what: str) -> tuple[Caller, Agent]:
    """The agent in whose name something is done, which must have the capability itself."""
    caller, who = engine.agents.acting(caller, named)
    caller.able(capability, what)
    return caller, who


def search_code_kb(engine: Engine, caller: Caller, *, query: str, service: str = "", limit: int) -> Recall:
    place: dict[str, Any] = {"project": service} if service else {}
    return memory_verbs.recall(engine, caller, query=query, kinds=["code", "doc"], limit=limit, **place)


def search_decisions(engine: Engine, caller: Caller, *, query: str, topic: str = "", limit: int) -> Recall:
    """A topic is a tag, or words in the decision."""
    wide = limit * WIDER if topic else limit
    found = memory_verbs.recall(engine, caller, query=query, kinds=["decision"], limit=wide)
    return _only(found, limit, lambda memory: topic.casefold() in _said(memory)) if topic else found


def search_incidents(
    engine: Engine, caller: Caller, *, query: str, service: str = "", severity: str = "", limit: int
) -> Recall:
    tags = [f"service:{service.lower()}"[:60]] if service else []
    if severity:
        if not (level := severity_of(severity)):
            raise BadInput(f"severity {severity!r:.60} is not known.", fix="Write it like SEV-2, P1, critical or low.")
        tags.append(f"severity:{level}")
    return memory_verbs.recall(engine, caller, query=query, kinds=["incident"], tags=tags, project="", limit=limit)


def _said(memory: Memory) -> str:
    return " ".join((*memory.tags, memory.title, memory.content)).casefold()


def _only(found: Recall, limit: int, fits: Callable[[Memory], bool]) -> Recall:
    return replace(found, hits=tuple(hit for hit in found.hits if fits(hit.memory))[:limit])


def _line(value: str) -> str:
    return neutral(value).replace("\n", " ")


def agent_told(agent: Agent, now: datetime) -> str:
    off = ", deactivated" if agent.retired_at else ""
    whose = f" of {_line(agent.scope.user)}" if agent.scope.user else ""
    return f"{agent.id}: {_line(agent.name)}, {agent.kind}{whose}{off}; can {', '.join(agent.can) or 'nothing'}; " \
           f"reads up to {agent.reach}"  # fmt: skip


def info_told(found: Mapping[str, Any], now: datetime) -> str:
    sessions: Sequence[AgentSession] = found["sessions"]
    last = f"last there {found['last_seen']}" if found["last_seen"] else "not there yet"
    open = sum(1 for one in sessions if one.session and not one.ended_at)
    return f"{agent_told(found['agent'], now)}\n{last}; {open} open sessions; in {len(found['pools'])} pools"


def agents_told(found: Mapping[str, Any], now: datetime) -> str:
    lines = [
        f"{one['id']}: {_line(one['name'])}, {one['kind']}; "
        + (
            "deactivated"
            if one["retired_at"]
            else f"last there {one['last_seen']}"
            if one["last_seen"]
            else "not there yet"
        )
        for one in found["agents"]
    ]
    return "\n".join(lines) or "No agents are known."


def pool_told(pool: Pool, now: datetime) -> str:
    return f"{pool.id}: {_line(pool.name)}, shares up to {pool.reach}, {pool.joining}"


def pools_told(found: Mapping[str, Any], now: datetime) -> str:
    lines = [
        f"{pool_told(Pool.from_dict(one), now)}; {len(one['members'])} members, {one['memories']} memories"
        + (
            f"; you may {one['permission']}"
            if one["state"] == "joined"
            else "; you are invited"
            if one["state"]
            else ""
        )
        for one in found["pools"]
    ]
    return "\n".join(lines) or "There are no pools."


def member_told(member: Member, now: datetime) -> str:
    return f"{member.state}: {member.agent} may {member.permission} in {member.pool}"


def share_told(share: Share, now: datetime) -> str:
    return f"memory {share.memory} in pool {share.pool}, up to {share.reach}"


def handoff_told(one: Handoff, now: datetime) -> str:
    to = one.taken_by or one.target or f"whoever has {one.needs}"
    said = f"{one.id} {one.state}, from {one.source} to {to}: {_line(one.task)}"
    if one.result:
        said += f"\n  result: {_line(str(one.result))}"
    return f"{said}\n  reason: {_line(one.reason)}" if one.reason else said


def handoffs_told(found: Mapping[str, Any], now: datetime) -> str:
    lines = [handoff_told(one, now) for one in found["handoffs"]]
    return "\n".join([HEADER, *lines]) if lines else "Nothing waits."


def accepted_told(found: Mapping[str, Any], now: datetime) -> str:
    context: Context = found["context"]
    left = f"\n{found['left_out']} of its memories are not yours to see, or are gone." if found["left_out"] else ""
    return f"{found['handoff'].id} is yours now.{left}\n{context.text}"
