"""The one list of operations. MCP, HTTP, the client and the commands are thin over it; tests/test_ops.py walks it."""

from __future__ import annotations

from . import access, answers, history, memories, memory_tool, page, project, upkeep
from .operation import Operation

NOUNS = (memories, upkeep, memory_tool, access, history, project, answers, page)
OPERATIONS: tuple[Operation, ...] = tuple(operation for noun in NOUNS for operation in noun.OPERATIONS)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
