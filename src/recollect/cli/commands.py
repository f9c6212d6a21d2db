"""Commands, made from declarations: those of operations (`ops/*.toml`) and those of this package (`commands.toml`).

A command that only reads asks a running daemon; otherwise `Operation.call` runs in this process. `VIEWS` in the module
of a noun says how a result looks to a person; without a view, it is shown as a model reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from .. import times
from ..ops.catalogue import BY_NAME, GROUPS, OPERATIONS
from ..ops.operation import Operation
from ..ops.parameters import Parameter, declared, read, read_file, shared
from . import terminal
from .present import Look
from .program import JSON, App
from .terminal import Moment

if TYPE_CHECKING:
    from ..engine import Engine

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic only in click's later versions

MAX_CHOICES = 120  # characters of a list of choices that a help text still shows
PLACED = (*shared("placed"), *shared("looked"))


@dataclass(slots=True)
class Asked:
    """One call of an operation's command: the operation, and what was given for it."""

    app: App
    operation: Operation
    given: dict[str, Any] = field(default_factory=dict)

    def answer(self) -> Any:
        """The result: from a daemon where one may be asked, otherwise from this process."""
        if self.operation.read_only and self.operation.returned != "str":
            from .. import settings
            from . import warm

            chosen = settings.load(**self.app.given)[0]
            told = warm.ask(chosen, terminal.actor(), os.getcwd(), self.operation.name, self.given)
            if told is not None:
                from ..nouns import from_wire

                return from_wire(self.operation.returned, told[0])
        with self.app.open() as engine:
            return self.call(engine)

    def call(self, engine: Engine, **instead: Any) -> Any:
        """The result from this process, with some parameters replaced; None leaves one out."""
        given = {name: value for name, value in {**self.given, **instead}.items() if value is not None}
        return self.operation.call(engine, self.app.caller(engine), given)


@dataclass(frozen=True, slots=True)
class View:
    """How a result looks to a person, the text it begins with, and the exit code of the command."""

    render: Callable[[Any, Look, Asked], str] | None = None
    end: Callable[[Any, Asked], int] = lambda result, asked: 0
    lead: str = ""

    def show(self, asked: Asked, result: Any, out: Look) -> str:
        if self.render:
            return self.render(result, out, asked)
        return self.lead + asked.operation.text(result, datetime.now(UTC))


def show(asked: Asked, result: Any) -> None:
    """Print a result and what was skipped, and end with the exit code of the view."""
    noun = asked.operation.module.rpartition(".")[2]
    view: View = import_module(f".{noun}", __package__).VIEWS.get(asked.operation.name, View())
    skipped = result.get("skipped", ()) if isinstance(result, dict) else getattr(result, "skipped", ())
    asked.app.skipped(skipped if isinstance(skipped, list | tuple) else ())
    asked.app.say(result, lambda _, out: view.show(asked, result, out))
    if code := view.end(result, asked):
        raise click.exceptions.Exit(code)


@dataclass(frozen=True)
class Command:
    """A command as it is declared: of an operation, with a function (`run`), or both."""

    path: str
    help: str
    run: str = ""
    operation: Operation | None = None
    own: tuple[Parameter, ...] = ()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        named = {one.name: one for one in (*(self.operation.parameters if self.operation else ()), *self.own)}
        return tuple(named.values())

    @property
    def raw(self) -> bool:
        """True if it passes on everything that follows."""
        return any(str(one.kind) == "raw" for one in self.own)

    def __call__(self, app: App, **values: Any) -> None:
        app.take(values, [one.name for one in self.parameters if one in PLACED])
        module, _, name = self.run.partition(".")
        body: Any = getattr(import_module(f".{module}", __package__), name) if name else None
        if self.raw:
            body(app, **values)
            return
        own = _given(app, self, [one for one in self.own if one not in PLACED], values)
        own = read(self.own, own) if self.own else {}
        if self.operation is None:
            body(app, **own)
            return
        asked = Asked(app, self.operation, _given(app, self, self.operation.parameters, values))
        if body:
            body(asked, **own)
        else:
            show(asked, asked.answer())


@cache
def commands() -> dict[str, Command]:
    """Every command, by its words."""
    found = {one.cli: Command(one.cli, one.help or one.summary, operation=one) for one in OPERATIONS if one.cli}
    for path, told in read_file("cli", "commands.toml")["commands"].items():
        of = BY_NAME[told["of"]] if "of" in told else None
        help = told.get("help") or (of and (of.help or of.summary)) or ""
        found[path] = Command(path, help, told["run"], of, declared(told.get("parameters", {})))
    return found


@cache
def groups() -> dict[str, str]:
    """Commands that hold others, with their help."""
    return {**GROUPS, **read_file("cli", "commands.toml")["groups"]}


@cache
def contents() -> dict[str, dict[str, str]]:
    """The sections of the help: the commands of each, with a line about it."""
    sections: dict[str, dict[str, str]] = {
        title: dict.fromkeys(names.split(), "")
        for title, names in read_file("cli", "commands.toml")["sections"].items()
    }
    listed = {name for names in sections.values() for name in names}
    for path, one in commands().items():
        if (name := path.split()[0]) not in listed:
            sections["Look" if one.operation and one.operation.read_only else "Change"].setdefault(name, "")
    for names in sections.values():
        for name in names:
            help = groups().get(name) or commands()[name].help
            names[name] = click.Command(name, help=help).get_short_help_str(70)
    return sections


def make(name: str) -> click.Command | None:
    """The command of a name, or the group of commands."""
    if name in groups():
        inner = [one for path, one in commands().items() if path.startswith(f"{name} ")]
        return click.Group(name, {one.path.split()[1]: _made(one) for one in inner}, help=groups()[name])
    return _made(commands()[name]) if name in commands() else None


def _made(one: Command) -> click.Command:
    name = one.path.split()[-1]
    if one.raw:
        metavar = one.own[0].cli
        words = click.Argument([one.own[0].name], nargs=-1, type=click.UNPROCESSED, metavar=metavar)
        plain: dict[str, Any] = {"context_settings": {"ignore_unknown_options": True}, "add_help_option": False}
        return click.Command(name, params=[words], callback=click.pass_obj(one), help=one.help, **plain)
    params = [made for parameter in one.parameters for made in _parameter(parameter)]
    if any(told in PLACED and told.name == "project" for told in one.parameters):
        params.append(
            click.Option(["--everywhere"], is_flag=True, help="Of every project; without it, of this folder's.")
        )
    if one.operation and one.operation.tenant:
        params.append(click.Option(["--tenant"], metavar="NAME", help="Whose; the setting's tenant unless given."))
    return click.Command(name, params=[*params, JSON()], callback=click.pass_obj(one), help=one.help)


def _given(app: App, command: Command, parameters: Sequence[Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that were given, as they may be sent anywhere; options of the program itself count too."""
    given: dict[str, Any] = {}
    for told in parameters:
        name, value = told.name, values.get(told.name)
        if told.cli.endswith("...") and told.kind == "text":
            value = terminal.spoken(value or (), command.path) if told.required else " ".join(value or ()) or None
        elif told.kind == "map" and value:
            value = {key.strip(): word.strip() for one in value for key, _, word in [one.partition("=")]}
        elif isinstance(value, datetime):
            value = times.iso(value)
        elif isinstance(value, tuple):
            value = [part for one in value for part in (one if isinstance(one, list) else [one])] or None
        if told in PLACED:
            value = app.places.get(name)
        if value is None and name in ("user", "project") and not told.empty:
            value = app.given[name]
        if value is not None and not (value is False and "/" not in told.cli):
            given[name] = value
    return given


class Several(_Choice):
    """Some of several words, one by one or with commas between them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return [super(Several, self).convert(one.strip(), param, ctx) for one in value.split(",")]


def _parameter(told: Parameter) -> Sequence[click.Parameter]:
    spelled = told.cli or f"--{told.name.replace('_', '-')}"
    if spelled == "-":
        return []
    if not spelled.startswith("-"):
        many = spelled.endswith("...")
        need = told.required and (not many or told.kind != "text")
        return [click.Argument([told.name], nargs=-1 if many else 1, required=need, metavar=spelled, type=_type(told))]
    if told in PLACED:
        return [click.Option([f"--{told.name}"], metavar="NAME", help=f"Of this {told.name}.")]
    spelled, _, default = spelled.partition("=")
    flags = [word for word in spelled.split() if word.startswith("-")]
    more: dict[str, Any] = {"help": _help(told), "required": told.required and not default, "hidden": told.hidden}
    if told.kind == "flag":
        pair = "/" in spelled
        more |= {"is_flag": True, "default": {"": None if pair else False}.get(default, default == "true")}
    else:
        listed = told.kind in ("texts", "paths", "wholes", "map")
        metavar = spelled.split()[-1] if len(flags) < len(spelled.split()) else ""
        if not metavar and (listed or told.choices):
            metavar = "NAME=TEXT" if told.kind == "map" else flags[-1].lstrip("-").upper()
        more |= {"type": _type(told), "multiple": listed, "metavar": metavar or None}
        if told.default and not told.required:
            more |= {"default": told.default, "show_default": True}
    return [click.Option([*flags, told.name], **more)]


def _type(told: Parameter) -> Any:
    if told.choices:
        return (Several if told.kind == "texts" else click.Choice)(list(told.choices))
    if told.kind in ("time", "later"):
        return Moment(ahead=told.kind == "later", whole_day=told.name in ("until", "valid_to"))
    return {"whole": int, "number": float}.get(told.kind, str)


def _help(told: Parameter) -> str:
    choices = ", ".join(one for one in told.choices if one)
    if choices and len(choices) < MAX_CHOICES:
        return f"{told.description} One of: {choices}."
    return told.description
