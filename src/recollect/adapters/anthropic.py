"""Anthropic's SDK: the memory tool `memory_20250818`, its files kept as memories.

    tool = RecollectMemoryTool(recollect.open())
    client.beta.messages.run_tools(model=…, messages=…, tools=[tool]).until_done()

What Claude writes is its own conclusion: trusted as derived, in the scope that was given here and in no other.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..agents.access import local
from ..client import Client
from ..ops import memory_tool
from ..types import Scope
from . import missing
from .records import Store, scope_of

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise missing("anthropic", "anthropic") from error


class _Files:
    def __init__(self, memory: Store, scope: Scope | None) -> None:
        self._memory, self._scope = memory, scope_of(memory, scope)

    def run(self, command: Any) -> str:
        """Do one command; a mistake of the model is raised as the SDK's own error, which tells it."""
        given = command.model_dump(exclude_none=True) if hasattr(command, "model_dump") else dict(command)
        if isinstance(self._memory, Client):
            told = self._memory.memory_tool(**given, **self._scope.as_dict())
        else:
            engine = self._memory.for_caller(actor="memory-tool", model=True)
            caller = local(engine.tenant, "memory-tool", self._scope).for_model()
            told = memory_tool.run(engine, caller, **given)
        if told["is_error"]:
            raise ToolError(told["content"])
        return str(told["content"])


class RecollectMemoryTool(BetaAbstractMemoryTool):
    def __init__(self, memory: Store, *, scope: Scope | None = None, **given: Any) -> None:
        super().__init__(**given)
        self._files = _Files(memory, scope)

    def execute(self, command: Any) -> str:
        return self._files.run(command)

    view = create = str_replace = insert = delete = rename = execute


class RecollectAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    def __init__(self, memory: Store, *, scope: Scope | None = None, **given: Any) -> None:
        super().__init__(**given)
        self._files = _Files(memory, scope)

    async def execute(self, command: Any) -> str:
        return await asyncio.to_thread(self._files.run, command)

    view = create = str_replace = insert = delete = rename = execute
