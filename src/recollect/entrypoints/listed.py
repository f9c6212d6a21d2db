"""MCP answers that need no daemon: the handshake and the lists, packaged in `listed.json` (`scripts/listed.py`).

An assistant asks for them first, and if it has to wait, it continues without our tools. The daemon answers every
request that differs from what is expected here.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = os.path.join(os.path.dirname(__file__), "listed.json")
META = "io.modelcontextprotocol/"
OWN = {"core", "full"}  # the profiles with the tools that the first of the two instructions names


class Listed:
    """The answers for one connection, which lists the tools of some profiles."""

    def __init__(self, profiles: str) -> None:
        self._chosen = [name.strip().lower() for name in profiles.split(",") if name.strip()] or ["core"]
        self._known: dict[str, Any] = {}

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a request, where it is known without a server."""
        method, params = message["method"], message.get("params")
        params = {} if params is None else params
        meta = params.get("_meta", {}) if isinstance(params, dict) else None
        if not isinstance(meta, dict) or not isinstance(method, str):
            return None
        if not self._known:
            with open(FILE, encoding="utf-8") as file:
                self._known = json.load(file)
        if method == "initialize":
            return self._greeting(params)
        version = meta.get(f"{META}protocolVersion")
        is_modern = version is not None
        if is_modern and not (version == self._known["modern"] and _is_client(meta)):
            return None
        if method == "server/discover" and is_modern:
            found: dict[str, Any] = self._known["discover"] | {"instructions": self._instructions()}
        elif method in self._known["lists"] and not params.keys() - {"_meta"}:
            found = self._known["lists"][method]
        elif method == "tools/list" and not params.keys() - {"_meta"} and self._tools() is not None:
            found = {"tools": self._tools()}
        else:
            return None
        return {**found, **self._known["around"]} if is_modern else found

    def _greeting(self, params: dict[str, Any]) -> dict[str, Any] | None:
        wanted, who = params.get("protocolVersion"), params.get("clientInfo")
        if not isinstance(wanted, str) or not isinstance(params.get("capabilities"), dict) or not isinstance(who, dict):
            return None
        if not isinstance(who.get("name"), str) or not isinstance(who.get("version"), str):
            return None
        versions = self._known["versions"]
        agreed = wanted if wanted in versions else versions[-1]
        return {**self._known["initialize"], "instructions": self._instructions(), "protocolVersion": agreed}

    def _instructions(self) -> str:
        return str(self._known["instructions"][0 if OWN & set(self._chosen) else 1])

    def _tools(self) -> list[Any] | None:
        """The tools of the profiles, each once; None where a profile is not known."""
        profiles = self._known["profiles"]
        if any(name not in profiles for name in self._chosen):
            return None
        names = dict.fromkeys(tool for name in self._chosen for tool in profiles[name])
        return [self._known["tools"][name] for name in names]


def _is_client(meta: Mapping[str, Any]) -> bool:
    """Whether a client of the newer protocol told who it is and what it can do."""
    who = meta.get(f"{META}clientInfo")
    named = isinstance(who, dict) and isinstance(who.get("name"), str) and isinstance(who.get("version"), str)
    return named and isinstance(meta.get(f"{META}clientCapabilities"), dict)
