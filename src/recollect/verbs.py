"""The verbs of the client, made from the declarations of operations.

Their signatures are in `verbs.pyi`, which `make docs` writes from the same declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .ops.catalogue import OPERATIONS
from .ops.operation import Operation


class Verbs:
    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        raise NotImplementedError


def name_of(operation: Operation) -> str:
    """The name of its verb."""
    return "import_" if operation.name == "import" else operation.name


def positional(operation: Operation) -> list[str]:
    """The parameters that may be given without their name: those that are words of the command, too."""
    return [one.name for one in operation.parameters if one.required or (one.cli and not one.cli.startswith("-"))]


def _verb(operation: Operation) -> Any:
    names = positional(operation)

    def verb(self: Verbs, *words: Any, **given: Any) -> Any:
        if len(words) > len(names):
            raise TypeError(f"{verb.__name__} takes at most {len(names)} positional arguments.")
        return self._call(operation, {**dict(zip(names, words, strict=False)), **given})

    verb.__name__, verb.__doc__ = name_of(operation), f"{operation.summary} {operation.description}"
    return verb


for _one in OPERATIONS:
    setattr(Verbs, name_of(_one), _verb(_one))
