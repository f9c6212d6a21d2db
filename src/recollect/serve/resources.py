"""Resources: what an assistant may read by address.

`memory://…` are memories, `project://memory/…` is what a project decided, suffered and agreed on, seen from the home of
the connection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import NotFound
from ..ops import words
from ..ops.catalogue import BY_NAME
from ..ops.parameters import read_file
from ..recall.fence import HEADER, neutral, neutral_data
from ..recall.query import MAX_LIMIT
from ..types import Memory

ITEM = "memory://items/"
LOOKED = 200  # memories that are looked at
DEPENDENCIES = ("depends_on", "uses", "implements", "calls", "configures", "owned_by", "caused_by", "had_incident")


@dataclass(frozen=True, slots=True)
class Resource:
    """What `mcp.toml` declares: the text of an operation, or a list of memories of some kinds without some tags."""

    uri: str
    name: str
    title: str
    description: str
    operation: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    most: int = 20
    titles: bool = False
    by_importance: bool = False
    nothing: str = ""

    def read(self, engine: Engine, caller: Caller) -> str:
        if self.operation:
            operation = BY_NAME[self.operation]
            return operation.text(operation.call(engine, caller, self.given))
        if self.name == "dependency_graph":
            lines = _dependencies(engine, caller)
        else:
            found = [one for one in _visible(engine, caller, self.kinds) if not {*self.without} & {*one.tags}]
            found = sorted(found, key=lambda one: -one.importance) if self.by_importance else found
            now = datetime.now(UTC)
            lines = [
                words.title_line(one, now) if self.titles else words.memory_line(one, 600) for one in found[: self.most]
            ]
        return "\n".join([HEADER, *lines]) if lines else self.nothing


def _visible(engine: Engine, caller: Caller, kinds: tuple[str, ...]) -> list[Memory]:
    """The newest memories that apply where the caller is at home."""
    own, seen = caller.home.project, list[Memory]()
    given: dict[str, Any] = {"project": "", "limit": MAX_LIMIT, "cursor": None, "kinds": list(kinds) or None}
    while len(seen) < LOOKED:
        page = BY_NAME["list"].call(engine, caller, given)
        seen += [memory for memory in page.memories if not own or memory.scope.project in ("", own)]
        given["cursor"] = page.cursor
        if not page.cursor:
            break
    return seen[:LOOKED]


def _dependencies(engine: Engine, caller: Caller) -> list[str]:
    caller.may("read", "Reading")
    ties = engine.graph(caller.scope({}), caller.wall).ties(DEPENDENCIES)
    return [neutral(f"{one.origin} {one.relation} {one.target}").replace("\n", " ") for one in ties]


RESOURCES = tuple(Resource(uri, **told) for uri, told in read_file("serve", "mcp.toml")["resources"].items())
_BY_URI = {resource.uri: resource for resource in RESOURCES}


def read(engine: Engine, caller: Caller, uri: str) -> tuple[str, str]:
    """The text at an address, and its type."""
    if resource := _BY_URI.get(uri):
        return resource.read(engine, caller), "text/plain"
    if not uri.startswith(ITEM):
        raise NotFound(f"There is no resource {uri!r:.200}.", fix=f"There are: {', '.join(_BY_URI)}, {ITEM}ID.")
    memory: Memory = BY_NAME["get"].call(engine, caller, {"id": uri.removeprefix(ITEM)})
    return json.dumps(neutral_data(memory.as_dict()), ensure_ascii=False, indent=2), "application/json"
