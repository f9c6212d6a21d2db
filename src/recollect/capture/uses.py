"""Uses of tools in a transcript: each call put together with what it gave back, as a hook tells it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..regular_files import parse_json
from .events import tool_use

_CALLS = {"tool_use": "input", "function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
_RESULTS = {
    "tool_result": "content", "function_call_output": "output", "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
}  # fmt: skip


@dataclass(slots=True)
class Uses:
    """Collects the uses of a transcript, record by record; what only read, and our own tools, are left out."""

    _called: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    def see(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The id and the text of each use that this record completes."""
        message, inside = record.get("message"), record.get("payload")
        parts = message.get("content") if isinstance(message, Mapping) else [inside if inside else record]
        for part in parts if isinstance(parts, list) else []:
            kind = str(part.get("type")) if isinstance(part, Mapping) else ""
            id = str(part.get("call_id") or part.get("tool_use_id") or part.get("id") or "") if kind else ""
            if kind in _CALLS:
                name = str(part.get("name") or part.get("namespace") or "shell")
                self._called[id] = name, _asked(part.get(_CALLS[kind]))
            elif kind in _RESULTS and id in self._called:
                name, asked = self._called.pop(id)
                if used := tool_use(name, asked, _outcome(part.get(_RESULTS[kind])), id):
                    yield used.id, used.text


def _asked(given: Any) -> Mapping[str, Any]:
    """What a tool was asked: an object, or text that holds one, or is the command itself."""
    if isinstance(given, str):
        with suppress(ValueError):
            given = parse_json(given)
    return given if isinstance(given, Mapping) else {"command": given}


def _outcome(given: Any) -> Any:
    """What a tool gave back, with the exit code in front where it is told apart."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            told = parse_json(given)
        except ValueError:
            return given
        code = told.get("metadata", {}).get("exit_code") if isinstance(told.get("metadata"), Mapping) else None
        return [*([f"Exit code: {code}"] if code is not None else []), told]
    return given
