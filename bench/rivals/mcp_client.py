"""A client of MCP over standard input and output, with the standard library alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

VERSION = "2025-06-18"


class ToolFailed(Exception):
    """The server answered with an error; the message is its own."""


class McpClient:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(environment)
        )
        self._id = 0
        who = {"name": "rivals", "version": "1"}
        self.server = self.ask("initialize", protocolVersion=VERSION, capabilities={}, clientInfo=who)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        return self._process.pid

    def tools(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("tools/list")["tools"]
        return found

    def call(self, tool: str, **arguments: Any) -> str:
        """The text that the tool gives back."""
        told = self.ask("tools/call", name=tool, arguments=arguments)
        said = "\n".join(part.get("text", "") for part in told.get("content", []))
        if told.get("isError"):
            raise ToolFailed(said[:1000])
        return said

    def ask(self, method: str, **params: Any) -> Any:
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            line = self._process.stdout.readline() if self._process.stdout else ""
            if not line:
                raise ToolFailed("The server ended.")
            told = json.loads(line) if line.startswith("{") else {}
            if told.get("id") == self._id and "method" not in told:
                if "error" in told:
                    raise ToolFailed(str(told["error"].get("message"))[:1000])
                return told["result"]

    def _write(self, message: dict[str, Any]) -> None:
        if self._process.stdin is None:
            raise ToolFailed("The server has no input.")
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
