"""Every tool takes every parameter that its schema shows, alone and together with the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Opener
from recollect import times
from recollect.agents.access import local
from recollect.agents.home import at_home
from recollect.graph import Node
from recollect.ops.catalogue import BY_NAME
from recollect.ops.operation import Operation
from recollect.ops.parameters import Parameter
from recollect.serve import tools
from recollect.types import EVERYWHERE, Message, Scope
from repositories import Repo

# What cannot be given together: the first set is left out of a call with everything.
APART = {
    "forget": {"query", "purge", "project", "user", "branch", "agent", "session"},
    "verify_memories": {"accept"},
    "initiate_handoff": {"needs"},
}


def soon() -> str:
    return times.iso(datetime.now(UTC) + timedelta(minutes=5))


class World:
    """A store with one of everything, and what a parameter may name there."""

    def __init__(self, engine: recollect.Engine, repo: Repo) -> None:
        self.engine, self.repo = engine, repo
        self.acting = False  # whether the call names another agent, in whose name it is
        self.caller = at_home(local("default", "test", EVERYWHERE), str(repo.path))
        self.here = Scope(project="shop")
        engine.checkpoints.create("start")
        engine.graph(self.here).create([Node("billing", "service", ("It sends invoices.",))])
        engine.graph(self.here).create([Node("ledger", "service", ())])

    def fresh(self, state: str = "active") -> recollect.Memory:
        """A memory that nothing was done to yet."""
        self.engine.answers.remember_answer("Who owns billing?", "Ana owns it.", scope=self.here)
        number = self.engine.stats()["memories"]
        if state == "pending":
            why = f"The build of part{number} fails because `lib{number}` changed its ABI."
            said = [Message("assistant", why), Message("user", "That worked.")]
            found = self.engine.capture(said, scope=self.here, session=f"s{number}").findings
            waiting = [one.memory for one in found if one.action == "pending"]
            return self.engine.get(waiting[0])
        memory = self.engine.remember(f"Note {number} speaks of thing{number}.", scope=self.here).memory
        assert memory is not None
        return memory

    def value(self, tool: str, one: Parameter, memory: recollect.Memory) -> Any:
        """A value that makes sense for a parameter."""
        special: dict[str, Callable[[], Any]] = {
            "recipe": lambda: "default",
            "id": lambda: memory.id, "origin": lambda: memory.id, "target": lambda: self.fresh().id,
            "into": lambda: self.fresh().id, "cursor": lambda: memory.id, "version": lambda: memory.version,
            "accept": lambda: [memory.id], "project": lambda: "shop", "entity": lambda: "billing", "user": lambda: "",
            "question": lambda: "Who owns billing?", "first": lambda: "start", "last": lambda: "start",
            "name": lambda: f"name of {memory.id}", "file": lambda: "README.md", "as_of": soon,
            "at": soon, "around": soon, "true_at": soon, "budget": lambda: 200, "branch": lambda: "main",
            "folder": lambda: str(self.repo.path), "state": lambda: "active", "undo": lambda: False,
            "path": lambda: "README.md" if tool == "search_commits" else str(self.repo.path),
            "severity": lambda: "SEV2", "entityNames": lambda: ["ledger"], "names": lambda: ["billing"],
            "calls": lambda: [{"tool": "memory_stats", "arguments": {}, "fields": ["memories"], "quiet": False}],
            "value": lambda: f"Billing moved {memory.id}.",
            "content": lambda: f"Billing moved {memory.id}.",
            "since": lambda: "2026-03-01", "until": lambda: "2026-03-02",
            "memory": lambda: memory.id, "agent": lambda: self.agent("codex"), "removed": lambda: self.agent("codex"),
            "pool": self.pool, "handoff": lambda: self.handoff(tool), "needs": lambda: "kb_search",
            "token": lambda: self.engine.tokens.create()[0].id, "owner": lambda: "",
            "timeline.cursor": lambda: f"{times.micros(memory.created_at)}-{memory.id}",
            "initiate_handoff.target": lambda: self.agent("gemini"),
            "initiate_handoff.state": lambda: {"done": "half"}, "initiate_handoff.memories": lambda: [memory.id],
        }  # fmt: skip
        made = special.get(f"{tool}.{one.name}") or special.get(one.name)
        return made() if made else _made(one)

    def run(self, operation: str, agent: str, **given: Any) -> Any:
        return BY_NAME[operation].call(self.engine, self.caller, {**given, "agent": agent})

    def agent(self, name: str) -> str:
        """An agent of that name."""
        known = self.engine.agents.enter(replace(self.caller, actor=name, model=True)).agent
        assert known is not None
        return known.id

    def pool(self) -> str:
        """A pool that everybody is in."""
        mine = self.engine.agents.acting(replace(self.caller, model=True))[1].id
        pool = self.run("create_pool", mine, name=f"pool {self.engine.head}").id
        self.run("join_pool", self.agent("codex"), pool=pool)
        return str(pool)

    def handoff(self, tool: str) -> str:
        """A handoff for who will call, taken already where it is to be completed."""
        mine = self.engine.agents.acting(replace(self.caller, model=True))[1].id
        target = self.agent("codex") if self.acting else mine
        made = self.run("initiate_handoff", self.agent("gemini"), task="Look at it.", target=target).id
        if tool == "complete_handoff":
            self.run("accept_handoff", target, handoff=made)
        return str(made)


def _made(one: Parameter) -> Any:
    match one.kind:
        case "text":
            return one.choices[0] if one.choices else "billing"
        case "texts":
            return [one.choices[0] if one.choices else "billing"]
        case "whole":
            return int(one.least or 1)
        case "number":
            return 0.5
        case "flag":
            return True
        case "time":
            return "2026-03-01"
        case "later":
            return "30d"
        case "map":
            return {"ticket": "SHOP-1"}
        case "wholes":
            return [1]
        case "source":
            return _filled(one)
        case "objects":
            return [_filled(one)]
    raise AssertionError(one.kind)


def _filled(one: Parameter) -> dict[str, Any]:
    return {field.name: _made(field) for field in one.fields}


@pytest.fixture
def world(opened: Opener, tmp_path: Path) -> World:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"README.md": "# Shop\n\nIt sells prints."})
    return World(opened(now=None), repo)


@pytest.fixture
def backend() -> str:
    return "sqlite"


def given_to(world: World, tool: Operation, names: set[str]) -> Mapping[str, Any]:
    world.acting = "agent" in names
    memory = world.fresh("pending" if tool.mcp == "approve_pending_memory" else "active")
    wanted = [one for one in tool.parameters if one.required or one.name in names]
    return {one.name: world.value(tool.mcp, one, memory) for one in wanted}


@pytest.mark.parametrize("tool", tools.TOOLS.values(), ids=lambda tool: tool.mcp)
def test_a_tool_takes_each_of_its_parameters(world: World, tool: Operation) -> None:
    optional = {one.name for one in tool.parameters if not one.required}
    together = optional - APART.get(tool.mcp, set())
    # What names nothing to forget, or to change, is refused on purpose.
    least = {"forget": {"query"}, "edit_memory": {"title"}, "initiate_handoff": {"target"}}
    needed = least.get(tool.mcp, set())
    alone = [{name} | (needed if name not in ("id", "needs") else set()) for name in sorted(optional)]
    for names in (needed, together, *alone):
        given = given_to(world, tool, names)
        result = tool.call(world.engine, replace(world.caller, model=True), given, loose=True)
        assert isinstance(tool.text(result), str), given


def test_a_memory_that_is_added_with_an_end_ends(world: World) -> None:
    tool = tools.TOOLS["memory_add"]
    made = tool.call(world.engine, world.caller, {"content": "The sale lasts a week.", "expires_at": "7d"})
    assert made.memory.expires_at - made.memory.created_at == pytest.approx(timedelta(days=7), abs=timedelta(minutes=1))
