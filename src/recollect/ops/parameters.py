"""Parameters: what an operation takes, declared once in the TOML files.

From them come JSON Schemas, command options, client arguments and the checks of what a caller sent. With `loose`,
numbers, flags and lists may be sent as text, as in a query string and by models.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any, Literal, overload

from .. import times
from ..errors import BadInput, TooLarge
from ..regular_files import check_path

Kind = Literal[
    "source", "text", "path", "paths", "whole", "number", "flag", "texts", "wholes", "time", "later", "ids", "objects",
    "map",
]  # fmt: skip
MAX_TEXT = 1_000_000
MAX_ITEMS = 1000
PLACES = ("project", "user", "branch", "agent", "session")
REQUIRED: Any = object()
WHEN = "A time with its zone (2026-03-01T09:30:00Z), a day (2026-03-01), or how long ago (7d, 2h)."
PACKAGE = __package__.partition(".")[0]
PARSED = "parsed.json"  # the declarations that the command line reads, with the hash of each file

_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "path": {"type": "string"},
    "paths": {"type": "array", "items": {"type": "string"}},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "wholes": {"type": "array", "items": {"type": "integer"}},
    "time": {"type": "string"},
    "later": {"type": "string"},
    "ids": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ITEMS}]},
    "objects": {"type": "array"},
    "source": {},
    "map": {"type": "object"},
}
LISTS = ("texts", "paths", "wholes", "objects")
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def constant(reference: str) -> Any:
    """The value that `module:NAME` stands for, in a module of this package."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"{PACKAGE}.{module}"), name)


class Choices(Sequence[str]):
    """The values a parameter may have. `module:NAME` stands for a list in the code, imported when first needed."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = named
        self._found: tuple[str, ...] | None = None

    def _all(self) -> tuple[str, ...]:
        if self._found is None:
            self._found = tuple(v for one in self._named for v in (constant(one) if ":" in one else (one,)))
        return self._found

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        return self._all()[at]

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return bool(self._named)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `rare` ones are accepted everywhere, but not listed where space is short (a model's tools).

    `empty` means that an empty text is a value, even where every value is sent as text. `most` may be the name of a
    constant (`module:NAME`).

    `cli` is the spelling on the command line, by default an option of the same name: "-n --limit" are flags, a word in
    capitals after them is shown for the value; "--on/--off" is a pair, with the default after "="; "ID" is a positional
    argument, "[B]" an optional one, "TEXT..." takes all remaining words; "-" leaves it out.
    """

    name: str
    kind: Kind
    description: str
    default: Any = REQUIRED
    aliases: tuple[str, ...] = ()
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | str | None = None
    rare: bool = False
    nullable: bool = False
    empty: bool = False
    cli: str = ""
    hidden: bool = False
    fields: tuple[Parameter, ...] = field(default=())

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def limit(self) -> float:
        """The largest value."""
        if isinstance(self.most, str):
            return float(constant(self.most)) if self.kind == "number" else int(constant(self.most))
        return 1e15 if self.most is None else self.most

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        made: dict[str, Any] = {**_TYPES[self.kind], "description": self.description}
        if self.choices and self.kind == "texts":
            made["items"] = {"type": "string", "enum": list(self.choices)}
        elif self.choices:
            made["enum"] = [*self.choices, None] if self.nullable else list(self.choices)
        if self.kind == "source":
            made["anyOf"] = [{"type": "string"}, schema(self.fields)]
        elif self.fields:
            made["items"] = schema(self.fields)
            made["maxItems"] = MAX_ITEMS
        if self.least is not None:
            made["minimum"] = self.least
        if self.most is not None:
            made["maximum"] = self.limit
        if self.nullable:
            made["type"] = [made["type"], "null"]
        if not self.required and self.default not in (None, (), ""):
            made["default"] = self.default
        return made

    def left_out(self, value: Any, *, loose: bool) -> bool:
        """True if a value means that nothing was given: null, or an empty text where every value is sent as text."""
        if self.required or self.nullable:
            return False
        unsaid = loose and not self.empty and (self.kind != "text" or self.name in PLACES)
        return value is None or (unsaid and value == "")

    def read(self, value: Any, *, loose: bool, now: datetime) -> Any:
        """The value as the engine takes it, or an error that names the parameter."""
        if value is None and self.nullable:
            return None
        if loose and isinstance(value, str):
            value = self._from_text(value)
        if self.kind in LISTS or (self.kind == "ids" and not isinstance(value, str)):
            return [self._read_one(item, loose=loose, now=now) for item in self._items(value)]
        return self._read_one(value, loose=loose, now=now)

    def _read_one(self, value: Any, *, loose: bool, now: datetime) -> Any:
        from ..checks import within

        low = -1e15 if self.least is None else self.least
        match self.kind:
            case "path" | "paths":
                return check_path(self._text(value))
            case "whole" | "wholes":
                return int(within(value, int(low), int(self.limit), self.name, whole=True))
            case "number":
                return within(value, low, self.limit, self.name, whole=False)
            case "time" | "later":
                return self._time(self._text(value), now)
            case "flag" if not isinstance(value, bool):
                raise BadInput(f"{self.name} must be true or false, not {value!r:.60}.")
            case "map" if not isinstance(value, Mapping):
                raise BadInput(f"{self.name} must be an object, not {type(value).__name__}.")
            case "objects" | "source" if not isinstance(value, str) or self.kind == "objects":
                return self._object(value, loose=loose, now=now)
            case "flag" | "map":
                return value
        return self._text(value)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise BadInput(f"{self.name} must be text, not {type(value).__name__}.")
        if len(value) > MAX_TEXT:
            raise TooLarge(f"{self.name} has {len(value)} characters; the limit is {MAX_TEXT}.")
        from ..checks import one_of

        return one_of(value, self.choices, self.name) if self.choices else value

    def _items(self, value: Any) -> Sequence[Any]:
        if not isinstance(value, list | tuple):
            raise BadInput(f"{self.name} must be a list, not {type(value).__name__}.")
        if len(value) > MAX_ITEMS:
            raise TooLarge(f"{self.name} has {len(value)} entries; the limit is {MAX_ITEMS}.")
        return value

    def _object(self, value: Any, *, loose: bool, now: datetime) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise BadInput(f"{self.name} must hold objects, not {type(value).__name__}.")
        return read(self.fields, value, loose=loose, now=now)

    def _time(self, value: str, now: datetime) -> datetime:
        from .. import checks

        found = checks.moment(value, now, UTC, self.name, end=self.name in ("until", "valid_to"))
        if self.kind == "later" and times.is_duration(value):  # "7d" means in seven days
            return times.aware(now + (now - found), self.name)
        return found

    def _from_text(self, value: str) -> Any:
        """What a text stands for where only texts can be sent."""
        match self.kind:
            case "whole" | "number":
                try:
                    return int(value) if self.kind == "whole" else float(value)
                except ValueError:
                    return value
            case "flag":
                low = value.strip().lower()
                return True if low in _TRUE else False if low in _FALSE else value
            case "texts" | "paths":
                return [part.strip() for part in value.split(",") if part.strip()]
        return value


def schema(parameters: Sequence[Parameter], *, rare: bool = True) -> dict[str, Any]:
    """The JSON Schema of an object with these parameters; with `rare=False` only of those in common use."""
    shown = [one for one in parameters if rare or not one.rare]
    made: dict[str, Any] = {"type": "object", "properties": {one.name: one.schema() for one in shown}}
    if required := [one.name for one in shown if one.required]:
        made["required"] = required
    return {**made, "additionalProperties": False}


def read(
    parameters: Sequence[Parameter], given: Mapping[str, Any], *, loose: bool = False, now: datetime | None = None
) -> dict[str, Any]:
    """The values a caller sent, by name and checked, with the defaults of those that were left out and have one.

    >>> limit = Parameter("limit", "whole", "At most so many.", 10, aliases=("k",), least=1, most=50)
    >>> read([limit], {}), read([limit], {"k": "5"}, loose=True)
    ({'limit': 10}, {'limit': 5})
    """
    moment = now or datetime.now(UTC)
    known = {name: one for one in parameters for name in (one.name, *one.aliases)}
    if unknown := [str(name)[:60] for name in given if name not in known]:
        raise BadInput(
            f"There is no parameter {', '.join(map(repr, unknown[:5]))}.",
            fix=f"The parameters are: {', '.join(one.name for one in parameters) or 'none'}.",
        )
    found: dict[str, Any] = {}
    for name, value in given.items():
        one = known[name]
        if one.name in found:
            raise BadInput(f"{one.name} was given twice, once as {name}.", fix=f"Give {one.name} alone.")
        if one.left_out(value, loose=loose):
            continue
        found[one.name] = one.read(value, loose=loose, now=moment)
    if missing := [one.name for one in parameters if one.required and one.name not in found]:
        raise BadInput(f"{', '.join(missing)} is missing.", fix=f"Give {', '.join(missing)}.")
    defaults = {one.name: one.default for one in parameters if not one.required and one.default is not None}
    return defaults | found


@cache
def read_file(package: str, name: str) -> dict[str, Any]:
    """A TOML file of a package of ours, as it was parsed when `scripts/listed.py` last ran, unless it changed since."""
    with open(os.path.join(os.path.dirname(__file__), "..", package, name), "rb") as file:
        text = file.read()
    digest, parsed = _parsed_files().get(f"{package}/{name}", ("", None))
    if digest == hashlib.sha256(text).hexdigest():
        return dict(parsed)
    import tomllib  # takes ten times as long

    return tomllib.loads(text.decode("utf-8"))


@cache
def _parsed_files() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), PARSED), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


@cache
def shared(group: str) -> tuple[Parameter, ...]:
    """A group of parameters that several operations take."""
    return declared(read_file("ops", "shared.toml")["groups"][group])


def declared(table: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a table: `name = {…}`, `name = "SHARED"`, or `GROUP = "*"` for all of a group."""
    return tuple(one for name, told in table.items() for one in _declared(name, told))


def _declared(name: str, told: Any) -> Iterator[Parameter]:
    if told == "*":
        yield from shared(name)
        return
    if isinstance(told, str):
        told = read_file("ops", "shared.toml")["parameters"][told]
    values = dict(told)
    kind, help = values.pop("kind", "text"), values.pop("help")
    choices = values.pop("choices", ())
    default = REQUIRED if values.pop("required", False) else values.pop("default", None)
    yield Parameter(
        name,
        kind,
        f"{help} {WHEN}" if kind == "time" else help,
        tuple(default) if isinstance(default, list) else default,
        tuple(values.pop("aliases", ())),
        Choices([choices] if isinstance(choices, str) else choices) if choices else (),
        fields=declared(values.pop("fields", {})),
        **values,
    )
