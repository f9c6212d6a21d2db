"""What an operation is: one declaration from which every surface is made.

`memories.toml` declares the operations of a noun, `memories.py` has their functions; `call` is the one way to run one.
Nothing here imports the engine, so that the command line can read declarations quickly.

Keys of a declaration: `title`, `summary` and `description` (when a model should use it); `http` (one address or a
list); `run`, the function (default: the name; `engine.NAME` is the engine's own) and `say`, which words the result for
a model; `returns`, the type as `module:Name`; `right`, `destructive`, `idempotent`, `status`; `capability`, what an
agent needs beside the right (default: by the right); `unwalled`, what a caller behind a wall may not have (as the
subject of the error); `mcp` or `no_mcp` (why not); `cli`, `within` (a command that includes it) or `no_cli`; `help` for
the command; `tenant` if the command may name one; `parameters`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Forbidden, LimitReached, NotFound, WrongState
from .parameters import PACKAGE, Parameter, constant, declared, read, read_file, schema

if TYPE_CHECKING:
    from ..agents.access import Caller
    from ..engine import Engine

Right = Literal["read", "write", "review", "admin"]
CAPABILITY = {"read": "memory_read", "write": "memory_write", "review": "memory_write", "admin": "memory_delete"}
REFUSALS = (Forbidden, LimitReached, WrongState)  # what stands in the journal where an agent is concerned
AGENTS = "ops.agents"
_FIELDS = {"http": "addresses", "returns": "returned", "run": "verb", "say": "wording"}  # keys that are named otherwise
_PLAIN: dict[str, Any] = {"dict": dict, "str": str, "int": int, "bool": bool}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`module` has its functions; `returned` names the type of the result (`module:Name`), `returns` is that type."""

    name: str
    module: str
    parameters: tuple[Parameter, ...]
    addresses: tuple[tuple[str, str], ...] = ()
    returned: Any = "dict"
    verb: str
    wording: str = "words.plain"
    title: str = ""
    summary: str = ""
    description: str = ""
    help: str = ""
    right: Right = "read"
    capability: str = ""
    destructive: bool = False
    idempotent: bool = False
    status: int = 200
    mcp: str = ""
    no_mcp: str = ""
    cli: str = ""
    within: str = ""
    no_cli: str = ""
    tenant: bool = False
    output: str = ""
    unwalled: str = ""

    @property
    def method(self) -> str:
        return self.addresses[0][0] if self.addresses else ""

    @property
    def path(self) -> str:
        return self.addresses[0][1] if self.addresses else ""

    @property
    def read_only(self) -> bool:
        return (self.right == "read" or self.method == "GET") and not self.destructive

    @property
    def about(self) -> str:
        """What it does and when to use it, as a model is told."""
        return f"{self.summary} {self.description}".strip()

    @property
    def command(self) -> str:
        return self.cli or self.within

    @property
    def returns(self) -> Any:
        return _type(self.returned)

    @property
    def run(self) -> Callable[..., Any]:
        """The function that does it, for an engine, a caller and values."""
        owner, _, name = self.verb.partition(".")
        if owner == "engine":
            return lambda engine, caller, **values: attrgetter(name)(engine)(**values)
        found: Callable[..., Any] = self._function(self.verb)
        return found

    def _function(self, name: str) -> Any:
        module, _, last = name.rpartition(".")
        return getattr(import_module(f"{PACKAGE}.{f'ops.{module}' if module else self.module}"), last)

    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its result, for a tool that gives plain data beside the text."""
        found: dict[str, Any] | None = self._function(self.output) if self.output else None
        return found

    def schema(self, *, rare: bool = True) -> dict[str, Any]:
        return schema(self.parameters, rare=rare)

    def signature(self) -> str:
        """The tool's name and parameters in a line, with optional ones in brackets."""
        shown = [one.name if one.required else f"[{one.name}]" for one in self.parameters if not one.rare]
        return f"{self.mcp}({', '.join(shown)})"

    def call(
        self, engine: Engine, caller: Caller, given: Mapping[str, Any], *, loose: bool = False,
        now: datetime | None = None,
    ) -> Any:  # fmt: skip
        """Run it for a caller, after the right, the capability and every parameter were checked.

        What an agent, or anybody for an agent, is refused stands in the journal, and so does what they look up of
        agents, pools and handoffs; what is changed there is in it anyway.
        """
        try:
            caller.may(self.right, self.title)
            caller.able(self.capability, self.title)
            values = read(self.parameters, given, loose=loose, now=now)
            if self.unwalled:
                caller.unwalled(self.unwalled)
            found = self.run(engine, caller, **values)
        except (*REFUSALS, NotFound) as error:
            if self.module == AGENTS or (caller.agent and isinstance(error, REFUSALS)):
                engine.agents.refuse(caller.agent, self.title, error)
            raise
        if self.module == AGENTS and self.right == "read":
            engine.agents.looked(caller, self.title, values)
        return found

    def text(self, result: Any, now: datetime | None = None) -> str:
        """The result as a model reads it."""
        said: str = self._function(self.wording)(result, now or datetime.now(UTC))
        return said


def _type(named: Any) -> Any:
    if isinstance(named, list):
        return [_type(named[0])]
    if isinstance(named, dict):
        return {name: _type(one) for name, one in named.items()}
    if ":" not in named:
        return _PLAIN[named]
    found = constant(named.rstrip("?"))
    return found | None if named.endswith("?") else found


def load(module: str, file: str = "") -> tuple[Operation, ...]:
    """The operations that a TOML file declares: the one beside the module with their functions, unless named."""
    package, _, last = module.rpartition(".")
    told = read_file(package, file or f"{last}.toml")
    return tuple(_operation(name, module, one) for name, one in told.items() if name != "groups")


def _operation(name: str, module: str, told: Mapping[str, Any]) -> Operation:
    values = {_FIELDS.get(key, key): value for key, value in told.items()}
    listed = values.pop("addresses", [])
    addresses = tuple(tuple(one.split()) for one in ([listed] if isinstance(listed, str) else listed))
    reads = values.get("right", "read") == "read" or bool(addresses and addresses[0][0] == "GET")
    needed = CAPABILITY[values.get("right", "read")]
    values = {"module": module, "verb": name, "idempotent": reads, "capability": needed, **values}
    return Operation(name=name, addresses=addresses, parameters=declared(values.pop("parameters", {})), **values)
