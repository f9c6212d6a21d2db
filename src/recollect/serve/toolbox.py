"""Tools: what an assistant may call. Most are operations; a dialect may speak of the same things in other words.

A tool takes plain arguments and gives a result, which is told to a model as short text and to programs as plain data.
Text alone is sent unless the tool has an `output` schema: assistants that are given both show a model only the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..ops.operation import Operation, Right
from ..ops.parameters import Parameter, read, schema


@dataclass(frozen=True, slots=True)
class Tool:
    """`run` does it for a caller who has the right; `say` tells a model what came of it."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., Any]
    say: Callable[[Any], str]
    right: Right = "read"
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    output: dict[str, Any] | None = None

    def schema(self) -> dict[str, Any]:
        return schema(self.parameters, rare=False)

    def call(self, engine: Engine, caller: Caller, given: Mapping[str, Any]) -> Any:
        """Run it; nothing is done before the right and every parameter are found good."""
        caller.may(self.right, self.title)
        return self.run(engine, caller, **read(self.parameters, given, loose=True))

    def signature(self) -> str:
        """Its name and parameters in a line; those that may be left out are in brackets."""
        shown = [one.name if one.required else f"[{one.name}]" for one in self.parameters if not one.rare]
        return f"{self.name}({', '.join(shown)})"


def of_operation(operation: Operation) -> Tool:
    """The tool of an operation."""
    return Tool(
        operation.mcp, operation.title, f"{operation.summary} {operation.description}", operation.parameters,
        operation.run, operation.text, operation.right, operation.read_only, operation.destructive,
        operation.idempotent,
    )  # fmt: skip
