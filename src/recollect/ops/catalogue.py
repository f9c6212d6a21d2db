"""The one list of operations, from which every surface is made; tests/test_ops.py walks it."""

from __future__ import annotations

from .operation import Operation, load
from .parameters import read_file

NOUNS = ("memories", "upkeep", "memory_tool", "access", "history", "project", "answers", "graph", "page", "agents")
BY_NOUN: dict[str, tuple[Operation, ...]] = {noun: load(f"ops.{noun}") for noun in NOUNS}
OPERATIONS: tuple[Operation, ...] = tuple(operation for noun in NOUNS for operation in BY_NOUN[noun])
BY_NAME = {operation.name: operation for operation in OPERATIONS}
GROUPS: dict[str, str] = {
    name: help for noun in NOUNS for name, help in read_file("ops", f"{noun}.toml").get("groups", {}).items()
}
