"""The registry: which agents work on the memory of a tenant.

Who calls is told by their token, or on this machine by the program that calls, never by an argument alone. One token is
one agent, whatever the program that sends it says of itself. Assistants that are known register themselves when they
call for the first time; whoever else calls becomes an agent when they do something that only agents do. Acting for
another agent needs the right `orchestrate`, and happens behind that agent's wall.

What an agent does stands in the journal with who did it and for whom; so does every refusal.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from .. import ids
from ..agent_types import (
    AGENT_KINDS,
    CAPABILITIES,
    REACHES,
    Agent,
    AgentSession,
    Member,
    default_capabilities,
    default_reach,
)
from ..checks import MAX_NAME, Cleaner, one_of
from ..errors import (
    Ambiguous,
    Forbidden,
    LimitReached,
    NotFound,
    RateLimited,
    RecollectError,
    StoreUnavailable,
    TooLarge,
    WrongState,
)
from ..redact import redact
from ..store.contract import Store, Transaction
from ..types import Scope
from .access import Caller
from .tokens import Bucket

MAX_AGENTS, MAX_SESSIONS = 10_000, 50_000
MAX_METADATA = 10_000  # characters
SEEN_EVERY = timedelta(minutes=1)
KEPT = timedelta(days=90)  # how long a session that ended is known
MOST_KNOWN = 20_000
# What the programs of assistants call themselves, by how the name begins: like their kind, but for these.
PROGRAMS = {"claude": "claude_code", "visual-studio-code": "vscode", "github-copilot": "copilot"} | {
    kind: kind for kind in AGENT_KINDS[1 : AGENT_KINDS.index("gpt_agent")]
}
ACTIVATE = "A person can activate it: recollect agent activate ID"
log = logging.getLogger("recollect")


def kind_of(program: str) -> str:
    """The kind of agent that a program is, or nothing for one that is not known.

    >>> kind_of("claude-code"), kind_of("codex-mcp-client"), kind_of("curl")
    ('claude_code', 'codex', '')
    """
    return next((kind for name, kind in PROGRAMS.items() if program.lower().startswith(name)), "")


@dataclass(slots=True)
class Presence:
    """What a process remembers of the agents it serves: how much each has asked, and when that it is there was kept."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    buckets: OrderedDict[str, Bucket] = field(default_factory=OrderedDict)
    noted: OrderedDict[tuple[str, str], datetime] = field(default_factory=OrderedDict)

    def count(self, agent: str, a_minute: int, now: datetime) -> float:
        """Take one of an agent's calls; gives the seconds to wait when there is none."""
        with self.lock:
            bucket = self.buckets.setdefault(agent, Bucket(a_minute, now))
            self.buckets.move_to_end(agent)
            while len(self.buckets) > MOST_KNOWN:
                self.buckets.popitem(last=False)
            return bucket.take(a_minute, now)

    def due(self, agent: str, session: str, now: datetime) -> bool:
        """Whether it is time to note that an agent is there."""
        with self.lock:
            last = self.noted.get((agent, session))
            if last and now - last < SEEN_EVERY:
                return False
            self.noted[agent, session] = now
            while len(self.noted) > MOST_KNOWN:
                self.noted.popitem(last=False)
            return True


@dataclass(frozen=True, slots=True)
class Registry:
    """The agents of one tenant."""

    store: Store
    tenant: str
    actor: str
    now: Callable[[], datetime]
    new_id: Callable[[datetime], str]
    presence: Presence
    note: Callable[[str, str, str], None]  # what somebody looked up, for the journal
    a_minute: int  # calls of one agent
    owner: str = ""  # the user whose machine this is

    def enter(self, caller: Caller, session: str = "") -> Caller:
        """The caller, with the agent they are; raises where it was deactivated or calls too often."""
        if not caller.token and not caller.model:
            return caller  # the person at this machine
        agent = self._keyed(_key(caller))
        if agent is None and caller.model and (kind := kind_of(caller.actor)):
            agent = self._add(Agent("", kind, kind, self._place(caller), key=_key(caller)), "connected")
        return caller if agent is None else self._entered(caller, agent, session)

    def attend(self, caller: Caller, program: str, session: str, *, ended: bool = False) -> Caller:
        """The caller that an assistant's hook is, in a session of the assistant."""
        known = self.enter(replace(caller, actor=program, model=True), session) if kind_of(program) else caller
        if known.agent and session and ended:
            now = self.now()
            self.store.attend(self.tenant, AgentSession(known.agent.id, session, now, now, now))
        return replace(caller, agent=known.agent)

    def acting(self, caller: Caller, named: str = "") -> tuple[Caller, Agent]:
        """The caller as the agent in whose name they do something: their own, or another if they may act for it."""
        if named:
            agent = self.find(caller, named)
            if caller.agent is None or caller.agent.id != agent.id:
                self._may_act_for(caller, agent)
                wall = Scope(agent.scope.user or caller.wall.user, agent.scope.project or caller.wall.project)
                caller = replace(caller, agent=agent, wall=wall, home=caller.home if wall == caller.wall else wall)
        elif caller.agent is None:
            kind = "human" if not caller.token and not caller.model else "custom_pipeline"
            kind = (kind_of(caller.actor) or "other") if caller.model else kind
            made = self._keyed(_key(caller)) or self._add(
                Agent("", _name(caller), kind, self._place(caller), key=_key(caller)), "first call"
            )
            caller = self._entered(caller, made, "")
        if caller.agent is None or caller.agent.retired_at:
            raise Forbidden(f"Agent {caller.agent.name if caller.agent else named} was deactivated.", fix=ACTIVATE)
        return caller, caller.agent

    @staticmethod
    def _may_act_for(caller: Caller, agent: Agent) -> None:
        caller.may("orchestrate", f"Acting for {agent.name}")
        if not caller.wall.sees(agent.scope):
            raise Forbidden(f"{agent.name} is not yours to act for.")

    def _entered(self, caller: Caller, agent: Agent, session: str) -> Caller:
        if agent.retired_at:
            raise self.refuse(agent, "call", Forbidden(f"Agent {agent.name} was deactivated.", fix=ACTIVATE))
        now = self.now()
        if wait := self.presence.count(agent.id, self.a_minute, now):
            error = RateLimited(f"{agent.name} makes more than {self.a_minute} calls a minute.", wait=wait)
            # Once a minute: a program that calls too often must not fill the journal with that.
            raise self.refuse(agent, "call", error) if self.presence.due(agent.id, "(refused)", now) else error
        if self.presence.due(agent.id, session, now):
            self._note_presence(agent, session, now)
        return replace(caller, agent=agent)

    def _note_presence(self, agent: Agent, session: str, now: datetime) -> None:
        try:
            if session:
                self._make_room(agent, session)
            self.store.attend(self.tenant, AgentSession(agent.id, session, now, now))
        except StoreUnavailable as error:
            log.warning("that an agent is there was not written: %s", error)

    def _make_room(self, agent: Agent, session: str) -> None:
        if any(one.session == session for one in self.store.attended(self.tenant, agent.id)):
            return
        self.store.forget_sessions(self.tenant, self.now() - KEPT)
        if sum(count for _, count in self.store.last_seen(self.tenant).values()) >= MAX_SESSIONS:
            raise self.refuse(agent, "begin a session", full(MAX_SESSIONS, "open sessions"))

    def _place(self, caller: Caller) -> Scope:
        wall = caller.wall.stored()
        return Scope(wall.user or ("" if caller.token else self.owner), wall.project)

    def register(
        self, caller: Caller, *, kind: str, name: str = "", owner: str | None = None, agent: str = "",
        token: str = "", can: Sequence[str] | None = None, reach: str = "", metadata: Mapping[str, Any] | None = None,
    ) -> Agent:  # fmt: skip
        """Make the caller known, or another agent if they may act for others; what is known already is changed.

        By itself an agent has what its kind has and no more. Who may act for others sets capabilities, reach and owner,
        and ties an agent to a token.
        """
        one_of(kind, AGENT_KINDS, "agent_type")
        if kind == "human" and caller.model:
            raise Forbidden("A model is not a person.", fix="Register as what you are, such as claude_code.")
        cleaner = Cleaner(MAX_NAME, redact)
        told = plain_object(metadata, "metadata", MAX_METADATA)
        label = cleaner.text(name, "name", MAX_NAME)
        for_other = any((agent, token, can is not None, reach)) or owner not in (None, self._place(caller).user)
        if not for_other and (caller.token or caller.model):
            return self._register_self(caller, kind, label, told)
        caller.may("orchestrate", "Registering another agent")
        place = caller.inside({"user": cleaner.text(owner or "", "owner", MAX_NAME)}).stored()
        key = f"token {self._token(caller, token)}" if token else ""
        known = self.find(caller, agent) if agent else self._keyed(key) if key else None
        made = Agent(
            "", label or (known.name if known else kind), kind, known.scope if known and owner is None else
            Scope(place.user, place.project),
            _ordered(can, CAPABILITIES, "capability") if can is not None else default_capabilities(kind),
            one_of(reach, REACHES, "scope") if reach else default_reach(kind),
            key or (known.key if known else ""), told,
        )  # fmt: skip
        if known and not caller.wall.contains(known.scope):
            raise Forbidden(f"{known.name} is not yours to change.")
        if known is None:
            return self._add(made, f"by {caller.actor}", defaults=False)
        return self._put(replace(made, id=known.id, created_at=known.created_at, retired_at=known.retired_at), "change")

    def _register_self(self, caller: Caller, kind: str, name: str, metadata: Mapping[str, Any]) -> Agent:
        if known := self._keyed(_key(caller)):
            told = replace(known, name=name or known.name, metadata={**known.metadata, **metadata})
            return self._put(told, "change") if told != known else known
        made = Agent("", name or _name(caller), kind, self._place(caller), key=_key(caller), metadata=dict(metadata))
        return self._add(made, "registered itself")

    def _add(self, agent: Agent, why: str, *, defaults: bool = True) -> Agent:
        now = self.now()
        made = replace(agent, id=self.new_id(now), created_at=now)
        if defaults:
            made = replace(made, can=default_capabilities(agent.kind), reach=default_reach(agent.kind))
        with self.store.transaction(self.tenant, self.actor, now) as changes:
            if made.key and (known := self._keyed(made.key)):
                return known  # somebody was faster
            if self.store.tally(self.tenant, Agent, {}) >= MAX_AGENTS:
                raise full(MAX_AGENTS, "agents")
            changes.put(made, "register", why)
        return made

    def _put(self, agent: Agent, operation: str, reason: str = "") -> Agent:
        with self.changing() as changes:
            changes.put(agent, operation, reason)
        return agent

    def find(self, caller: Caller, id: str) -> Agent:
        """The agent of an id, its end, or its name, that the caller may know of."""
        wanted = id.strip()
        whole = self.store.of(self.tenant, Agent, [wanted.lower()]) if ids.whole(wanted.lower()) else []
        named = whole or self.store.matching(self.tenant, Agent, {"name": wanted}, limit=MAX_AGENTS)
        seen = [one for one in named if self.knows(caller, one)]
        if wanted and not seen:  # the end of an id: every agent is looked at
            ends = (one for one in self._all() if one.id.endswith(wanted.lower()))
            seen = [one for one in ends if self.knows(caller, one)]
        if len(seen) > 1:
            raise Ambiguous(f"{id!r:.60} stands for several agents.")
        if not seen:
            raise NotFound(f"No agent is {id!r:.60}.", fix="List them with: recollect agent list")
        return seen[0]

    def knows(self, caller: Caller, agent: Agent) -> bool:
        """Whether a caller may know of an agent: one behind their wall, or a member of a pool of theirs."""
        if caller.wall.sees(agent.scope) or (caller.agent and caller.agent.id == agent.id):
            return True
        return bool(caller.agent and self.pools_of(caller.agent) & self.pools_of(agent))

    def pools_of(self, agent: Agent) -> set[str]:
        """The pools that an agent has joined."""
        found = self.store.matching(self.tenant, Member, {"agent": agent.id, "state": "joined"}, limit=MAX_AGENTS)
        return {one.pool for one in found}

    def all(self, caller: Caller, user: str | None = None) -> list[tuple[Agent, datetime | None, int]]:
        """The agents a caller may know of, with when each was last there and its open sessions; newest first."""
        found = self._all() if user is None else self.store.matching(
            self.tenant, Agent, {"user": user}, limit=MAX_AGENTS
        )  # fmt: skip
        seen = self.store.last_seen(self.tenant)
        return [(one, *seen.get(one.id, (None, 0))) for one in found if self.knows(caller, one)]

    def sessions(self, agent: Agent) -> list[AgentSession]:
        return self.store.attended(self.tenant, agent.id, limit=100)

    def deactivate(self, caller: Caller, id: str, reason: str = "", *, undo: bool = False) -> Agent:
        """Let an agent do nothing from now on, or something again; by itself it can only stop."""
        agent = self.find(caller, id)
        if undo or caller.agent is None or caller.agent.id != agent.id:
            self._may_act_for(caller, agent)
            if not caller.wall.contains(agent.scope):
                raise Forbidden(f"{agent.name} is not yours to change.")
        if bool(agent.retired_at) != undo:
            raise WrongState(f"Agent {agent.name} is {'active' if undo else 'deactivated'} already.")
        ended = replace(agent, retired_at=None if undo else self.now())
        return self._put(ended, "activate" if undo else "deactivate", reason)

    def refuse(self, agent: Agent | None, what: str, error: RecollectError) -> RecollectError:
        """Note in the journal that something was refused, for whom and why; gives the error to raise."""
        try:
            with self.changing() as changes:
                changes.note("refuse", agent.id if agent else "agents", f"{what}: {error.message}"[:1000])
        except StoreUnavailable as trouble:
            log.warning("a refusal was not written: %s", trouble)
        return error

    def looked(self, caller: Caller, what: str, values: Mapping[str, Any]) -> None:
        """Note in the journal that somebody looked something up, and of whom; never the words of a question.

        The person at this machine owns the store and looks at all of it, so that is noted only where they act for an
        agent.
        """
        whom = str(values.get("agent") or (f"{caller.agent.name} ({caller.agent.id})" if caller.agent else ""))
        if whom or caller.token or caller.model:
            place = "".join(f", {name} {values[name]}" for name in ("pool", "user") if values.get(name))
            reason = f"{what} for {whom or 'all'}{place}"[:1000]
            self.note(self.actor, caller.agent.id if caller.agent else "agents", reason)

    def changing(self) -> AbstractContextManager[Transaction]:
        """A change in the name of who calls."""
        return self.store.transaction(self.tenant, self.actor, self.now())

    def _all(self) -> list[Agent]:
        return self.store.matching(self.tenant, Agent, {}, limit=MAX_AGENTS)

    def _keyed(self, key: str) -> Agent | None:
        return next(iter(self.store.matching(self.tenant, Agent, {"key": key}, limit=1)), None)

    def _token(self, caller: Caller, id: str) -> str:
        found = [one.id for one in self.store.tokens(self.tenant)
                 if ids.plausible(id) and one.id.endswith(id) and caller.wall.contains(one.scope)]  # fmt: skip
        if len(found) != 1:
            raise NotFound(f"No token has the id {id!r:.60}.", fix="List them with: recollect token list")
        return found[0]


def _key(caller: Caller) -> str:
    """What a caller is known by."""
    if caller.token:
        return f"token {caller.token}"
    return f"program {kind_of(caller.actor) or caller.actor}" if caller.model else "person"


def _name(caller: Caller) -> str:
    return (kind_of(caller.actor) if caller.model else "") or caller.actor


def _ordered(values: Sequence[str], order: Sequence[str], name: str) -> tuple[str, ...]:
    given = {one_of(value, order, name) for value in values}
    return tuple(one for one in order if one in given)


def plain_object(told: Mapping[str, Any] | None, name: str, most: int) -> dict[str, Any]:
    """An object of a caller as it is kept: of a size, and without secrets."""
    text = json.dumps(dict(told or {}), ensure_ascii=False)
    if len(text) > most:
        raise TooLarge(f"{name} has {len(text)} characters as JSON; the limit is {most}.")
    found: dict[str, Any] = _redacted(json.loads(text))
    return found


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, list):
        return [_redacted(one) for one in value]
    return {name: _redacted(one) for name, one in value.items()} if isinstance(value, dict) else value


def full(limit: int, what: str) -> LimitReached:
    return LimitReached(f"There are {limit:,} {what}, which is the limit.")
