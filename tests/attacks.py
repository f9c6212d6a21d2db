"""Calls that are aimed at what a caller must not see: every operation, tool and address of mem0, every text in them.

`tests/test_walls.py` and `bench/fuzz.py` share it. `WAYS` are all operations, tools, resources and addresses of mem0.
`calls` makes their arguments: each parameter that takes a text gets each aim in turn. `plant` puts a memory in each
place; the word that marks it stands nowhere else and is never asked for, so wherever it shows up, it was told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect import Engine, RecollectError, Scope, Source
from recollect.adapters.mem0 import IDS
from recollect.agents.access import Caller
from recollect.graph import Node
from recollect.ops.catalogue import OPERATIONS
from recollect.ops.operation import Operation
from recollect.ops.parameters import Parameter
from recollect.serve import mem0, resources
from recollect.serve.tools import TOOLS
from recollect.serve.wire import dumps

USERS, PROJECTS = ("", "ana", "ben"), ("", "web", "vault")
PLACES = tuple(Scope(user, project) for user in USERS for project in PROJECTS)
AIMED = ("text", "texts", "ids", "source")
URI = Parameter("uri", "text", "The address of a resource.")


@dataclass(frozen=True)
class Way:
    """One way in: what it takes, whether it only reads, and how it is gone."""

    name: str
    parameters: tuple[Parameter, ...]
    read_only: bool
    of: Operation | None
    act: mem0.Act | None = None

    @property
    def is_resource(self) -> bool:
        return self.of is None and self.act is None

    def told(self, engine: Engine, caller: Caller, given: Mapping[str, Any]) -> str:
        """What comes back, as data and in words; an error too, because it could tell something."""
        try:
            if self.act:
                return dumps(mem0.told(engine, caller, self.act, dict(given))).decode()
            if self.of is None:
                return resources.read(engine, caller, str(given["uri"]))[0]  # an address is text on the wire
            result = self.of.call(engine, caller, given, loose=self.name.startswith("tool "))
        except RecollectError as error:
            return str(error.as_dict())
        if isinstance(result, Iterator):
            return "".join(map(str, result))
        return dumps(result).decode() + self.of.text(result)


def _of_mem0(method: str, path: str, act: mem0.Act) -> Way:
    """An address of mem0, with what its own client sends to it."""
    needs = ["memory_id"] if "memory_id" in path else ["query"] if "search" in path else []
    needs += ["messages"] if path.endswith("/add/") or (method, path) == ("POST", "/v1/memories/") else []
    told = () if needs == ["memory_id"] else (*IDS, "categories")
    parameters = [Parameter(name, "text", name) for name in needs]
    parameters += [Parameter(name, "texts" if name == "categories" else "text", name, None) for name in told]
    if "batch" in path:
        one = Parameter("memory_id", "text", "The memory.")
        parameters = [Parameter("memories", "objects", "Memories.", fields=(one,))]
    return Way(f"mem0 {method} {path}", tuple(parameters), method == "GET" or not needs or "query" in needs, None, act)


WAYS = (
    *(_of_mem0(*one) for one in mem0.ACTS if one[0] != "DELETE"),
    *(Way(one.name, one.parameters, one.read_only, one) for one in OPERATIONS),
    *(Way(f"tool {one.mcp}", one.parameters, one.read_only, one) for one in TOOLS.values()),
    Way("resource", (URI,), True, None),
)


def mark(place: Scope) -> str:
    """The word of a place."""
    return f"mark{PLACES.index(place)}zanzibar"


def plant(engine: Engine) -> dict[Scope, str]:
    """A memory in each place, all of one thing; each has a source, evidence, a link and an entity of its own."""
    made: dict[Scope, str] = {}
    for place in PLACES:
        word = mark(place)
        source = Source("", "document", f"file:{word}.md", f"Source {word}", f"All of {word}.")
        made[place] = engine.remember(
            f"The key of the safe lies in {word}.", title=f"Key {word}", kind="decision", tags=[f"tag-{word}"],
            reasoning=f"Because {word}.", scope=place, evidence=f"{word} said so", refs=[f"ADR-{word}"], source=source,
        ).id  # fmt: skip
        engine.graph(place, place).create([Node(f"Entity {word}", "thing", (f"{word} is observed",))])
    first, *others = made.values()
    for id in others:
        engine.link(first, "related", id, reason="they speak of one thing")
    return made


def sees(wall: Scope, place: Scope) -> bool:
    """What a wall shows, written down a second time and apart from the code: the table in the docs."""
    if wall == Scope():
        return True
    return place.user in ("", wall.user) and (not wall.project or place.project in ("", wall.project))


def calls(parameters: Sequence[Parameter], aims: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Arguments for one operation or tool."""
    required = [{one.name: value(one, aim) for one in parameters if one.required} for aim in aims]
    yield from required if required[0] else [{}]
    for one in parameters:
        if one.kind in AIMED and not one.required and not one.choices:
            yield from (required[0] | {one.name: value(one, aim)} for aim in aims)


def value(one: Parameter, aim: str) -> Any:
    if one.kind == "objects":
        return [{field.name: value(field, aim) for field in one.fields if field.required}]
    if one.choices:
        return [one.choices[0]] if one.kind == "texts" else one.choices[0]
    least = int(one.least or 0)
    plain: Mapping[str, Any] = {
        "flag": True, "whole": max(least, 1), "number": least, "texts": [aim], "wholes": [1, 2], "time": "2026-03-01",
        "later": "30d", "map": {},
    }  # fmt: skip
    return plain.get(one.kind, aim)
