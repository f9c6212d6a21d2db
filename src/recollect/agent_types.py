"""The nouns of agents that share a memory: who they are, what they share, and the work they hand over.

Agent    somebody who works on the memory, with capabilities and the widest sharing they read (`reach`)
Pool     what some agents share; its `reach` is the widest at which something can be shared in it
Member   an agent in a pool, invited or joined, with a permission
Share    a memory in a pool: a pointer, never a copy
Handoff  work that one agent passes to another
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from . import times
from .types import EVERYWHERE, Kept, Noun, Scope

AGENT_KINDS = (
    "claude_code", "codex", "gemini", "cursor", "vscode", "windsurf", "opencode", "qwen", "copilot", "cline", "zed",
    "junie", "kiro", "amp", "crush", "continue", "gpt_agent", "custom_pipeline", "human", "other",
)  # fmt: skip
CAPABILITIES = (
    "memory_read", "memory_write", "memory_delete", "kb_search", "decision_read", "incident_read", "handoff_initiate",
    "handoff_receive",
)  # fmt: skip
REACHES = ("agent_private", "user", "project", "team", "global")  # from the narrowest to the widest
PERMISSIONS = ("read", "write", "admin")  # each has those before it
HANDOFF_STATES = ("pending", "accepted", "completed", "rejected", "expired")
OPEN_STATES = ("pending", "accepted")


def default_capabilities(kind: str) -> tuple[str, ...]:
    """What an agent may do unless it is told: pipelines read and search, and only a person erases."""
    if kind == "human":
        return CAPABILITIES
    if kind == "custom_pipeline":
        return ("memory_read", "kb_search", "decision_read", "incident_read")
    return tuple(one for one in CAPABILITIES if one != "memory_delete")


def default_reach(kind: str) -> str:
    """How far an agent reads what is shared, unless it is told."""
    return {"human": "global", "custom_pipeline": "project"}.get(kind, "team")


def up_to(value: str, order: Sequence[str]) -> tuple[str, ...]:
    """A value and all below it.

    >>> up_to("project", REACHES)
    ('agent_private', 'user', 'project')
    """
    return tuple(order[: order.index(value) + 1])


@dataclass(frozen=True, slots=True)
class Agent(Kept):
    """`scope` has the user it belongs to and the project it works in; `key` is what a caller is known by."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("created_at", "retired_at"))

    id: str
    name: str
    kind: str = "other"
    scope: Scope = EVERYWHERE
    can: tuple[str, ...] = ()
    reach: str = "team"
    key: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: datetime = times.EPOCH
    retired_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AgentSession(Noun):
    """When an agent was there: a record of use, not journalled."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("started_at", "seen_at", "ended_at"))

    agent: str
    session: str
    started_at: datetime = times.EPOCH
    seen_at: datetime = times.EPOCH
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pool(Kept):
    """`scope` is that of its owner; `joining` says whether who may see it can join, or only who is invited."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("created_at",))

    id: str
    name: str
    purpose: str = ""
    scope: Scope = EVERYWHERE
    reach: str = "team"
    joining: str = "invited"
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Member(Kept):
    TIMES: ClassVar[frozenset[str]] = frozenset(("created_at",))

    id: str
    pool: str
    agent: str
    permission: str = "read"
    state: str = "joined"
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Share(Kept):
    """`user` is the owner of the agent that shared it, `project` where the memory belongs."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("created_at",))

    id: str
    pool: str
    memory: str
    reach: str = "team"
    shared_by: str = ""
    user: str = ""
    project: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Handoff(Kept):
    """`progress` is the state of the work; `taken_by` is who accepted it, also where no `target` was named."""

    TIMES: ClassVar[frozenset[str]] = frozenset(("created_at", "accepted_at", "closed_at", "expires_at"))

    id: str
    source: str
    target: str = ""
    taken_by: str = ""
    needs: str = ""
    task: str = ""
    progress: dict[str, Any] = field(default_factory=dict)
    memories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    state: str = "pending"
    result: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    attempts: int = 0
    scope: Scope = EVERYWHERE
    created_at: datetime = times.EPOCH
    accepted_at: datetime | None = None
    closed_at: datetime | None = None
    expires_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Audience:
    """To whom something must be shared to be seen: an agent, by its pools, at the reaches it may read."""

    agent: str
    user: str
    project: str
    pools: tuple[str, ...]
    reaches: tuple[str, ...]


AGENT_NOUNS: tuple[type[Kept], ...] = (Agent, Pool, Member, Share, Handoff)
