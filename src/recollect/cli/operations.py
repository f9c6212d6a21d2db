"""Commands made from operations: options and words by their parameters, and one way to run them.

What the commands are is read from `operations.json`, which `make docs` writes from the one list of operations: so
neither `--help` nor a question that a daemon answers loads the engine. A command asks a daemon that runs, if it only
reads, and else runs `Operation.call` in this process; both do the same for the same caller. How a result looks to a
person is in the module of the noun (`VIEWS`); what has no view is told as a model reads it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from .. import settings, times
from . import terminal, warm
from .contents import FILE
from .present import Look
from .program import EVERYWHERE, JSON, App, cli, place
from .terminal import Moment

if TYPE_CHECKING:
    from ..engine import Engine
    from ..ops.operation import Operation

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic only in click's later versions

SHOWN_CHOICES = 120  # characters of a list of choices that a help still names
Spec = Mapping[str, Any]


@dataclass(slots=True)
class Asked:
    """One call of a command: the operation it is of, and what was given for it."""

    app: App
    spec: Spec
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def operation(self) -> Operation:
        noun = import_module(f"..ops.{self.spec['noun']}", __package__)
        return cast("Operation", next(one for one in noun.OPERATIONS if one.name == self.spec["name"]))

    def answer(self) -> Any:
        """The result: of a daemon where one may be asked, else of this process."""
        if self.spec["read"]:
            chosen = settings.load(**self.app.given)[0]
            told = warm.ask(chosen, terminal.actor(), os.getcwd(), self.spec["name"], self.given)
            if told is not None:
                return made(self.spec["returns"], told[0])
        with self.app.open() as engine:
            return self.call(engine)

    def call(self, engine: Engine, **instead: Any) -> Any:
        """The result of this process, with some parameters replaced; None leaves one out."""
        given = {name: value for name, value in {**self.given, **instead}.items() if value is not None}
        return self.operation.call(engine, self.app.caller(engine), given)


@dataclass(frozen=True, slots=True)
class View:
    """How a result looks to a person, with what it begins; and how the command ends."""

    render: Callable[[Any, Look, Asked], str] | None = None
    end: Callable[[Any, Asked], int] = lambda result, asked: 0
    lead: str = ""

    def show(self, asked: Asked, result: Any, out: Look) -> str:
        if self.render:
            return self.render(result, out, asked)
        return self.lead + asked.operation.text(result, datetime.now(UTC))


def show(asked: Asked, result: Any) -> None:
    """Print a result, say what was left out, and end as the view has it."""
    view: View = import_module(f".{asked.spec['noun']}", __package__).VIEWS.get(asked.spec["name"], View())
    left = result.get("skipped", ()) if isinstance(result, dict) else getattr(result, "skipped", ())
    asked.app.skipped(left if isinstance(left, list | tuple) else ())
    asked.app.say(result, lambda _, out: view.show(asked, result, out))
    if code := view.end(result, asked):
        raise click.exceptions.Exit(code)


@cache
def specs() -> dict[str, Spec]:
    return cast("dict[str, Spec]", json.loads(FILE.read_text("utf-8"))["operations"])


@cache
def groups() -> dict[str, str]:
    return cast("dict[str, str]", json.loads(FILE.read_text("utf-8"))["groups"])


# -- making commands --------------------------------------------------------------------------------------------------


def load(name: str) -> None:
    """Make the command of a name, or the group of commands."""
    if name in groups():
        group(name)
        return
    cli.add_command(_made(next(spec for spec in specs().values() if spec["command"] == name)), name)


def group(name: str) -> click.Group:
    """The group of a name, with the commands that are made from operations."""
    if (known := cli.made(name)) is not None:
        return cast(click.Group, known)
    found = click.Group(name, help=groups()[name])
    for spec in specs().values():
        if spec["command"].startswith(f"{name} "):
            found.add_command(_made(spec), spec["command"].split()[1])
    cli.add_command(found, name)
    return found


def operation(name: str, *extra: click.Parameter, help: str = "") -> Callable[[Callable[..., None]], click.Command]:
    """A command with the options of an operation and a body of its own, given the `Asked` and what is extra."""

    def wrap(body: Callable[..., None]) -> click.Command:
        spec = specs()[name]
        first, _, last = spec["command"].partition(" ")
        command = _made(spec, body, extra, help)
        (group(first) if last else cli).add_command(command, last or first)
        return command

    return wrap


def _made(
    spec: Spec, body: Callable[..., None] | None = None, extra: Sequence[click.Parameter] = (), help: str = ""
) -> click.Command:
    params = [*(one for told in spec["parameters"] for one in _parameters(told)), *extra]
    if any(told["place"] and told["name"] == "project" for told in spec["parameters"]):
        params.append(EVERYWHERE())
    if spec["tenant"]:
        params.append(click.Option(["--tenant"], metavar="NAME", help="Whose; the setting's tenant unless told."))
    names = {one.name for one in extra}

    def run(app: App, **values: Any) -> None:
        app.given["tenant"] = values.pop("tenant", None) or app.given["tenant"]
        own = {name: values.pop(name) for name in names if name in values}
        asked = Asked(app, spec, _given(app, spec, values))
        if body is None:
            show(asked, asked.answer())
        else:
            body(asked, **own)

    return click.Command(
        spec["command"].split()[-1], params=[*params, JSON()], callback=click.pass_obj(run), help=help or spec["help"]
    )


def _given(app: App, spec: Spec, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that were given, as they may be sent anywhere; what the program itself was told counts too."""
    given: dict[str, Any] = {}
    for told in spec["parameters"]:
        name, value = told["name"], values.get(told["name"])
        if told["cli"].endswith("...") and told["kind"] == "text":
            value = terminal.spoken(value or (), spec["command"]) if told["required"] else " ".join(value or ()) or None
        elif told["kind"] == "map" and value:
            value = {key.strip(): word.strip() for one in value for key, _, word in [one.partition("=")]}
        elif isinstance(value, datetime):
            value = times.iso(value)
        elif isinstance(value, tuple):
            value = [part for one in value for part in (one if isinstance(one, list) else [one])] or None
        if told["place"]:
            value = app.places.get(name)
        if value is None and name in ("user", "project") and not told["empty"]:
            value = app.given[name]
        if value is not None and not (value is False and "/" not in told["cli"]):
            given[name] = value
    return given


class Several(_Choice):
    """Some of several words, one by one or with commas between them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return [super(Several, self).convert(one.strip(), param, ctx) for one in value.split(",")]


def _parameters(told: Spec) -> Sequence[click.Parameter]:
    name, spelled = told["name"], told["cli"] or f"--{told['name'].replace('_', '-')}"
    if spelled == "-":
        return []
    if not spelled.startswith("-"):
        many = spelled.endswith("...")
        need = told["required"] and (not many or told["kind"] != "text")
        return [click.Argument([name], nargs=-1 if many else 1, required=need, metavar=spelled, type=_type(told))]
    if told["place"]:
        return [place(name)]
    flags, _, default = spelled.partition("=")
    more: dict[str, Any] = {"help": _help(told), "required": told["required"] and not default}
    if told["kind"] == "flag":
        pair = "/" in flags
        more |= {"is_flag": True, "default": {"": None if pair else False}.get(default, default == "true")}
    else:
        word = flags.split()[-1].lstrip("-").upper()
        listed = told["kind"] in ("texts", "paths", "wholes", "map")
        more |= {"type": _type(told), "multiple": listed}
        if listed or told["choices"]:
            more["metavar"] = "NAME=TEXT" if told["kind"] == "map" else word
        if told["default"] not in (None, "", []):
            more["show_default"] = str(told["default"])
    return [click.Option([*flags.split(), name], **more)]


def _type(told: Spec) -> Any:
    if told["choices"]:
        return (Several if told["kind"] == "texts" else click.Choice)(told["choices"])
    if told["kind"] in ("time", "later"):
        return Moment(ahead=told["kind"] == "later", whole_day=told["name"] in ("until", "valid_to"))
    return {"whole": int, "number": float}.get(told["kind"], str)


def _help(told: Spec) -> str:
    choices = ", ".join(one for one in told["choices"] if one)
    return f"{told['help']} One of: {choices}." if choices and len(choices) < SHOWN_CHOICES else told["help"]


# -- results of another process ---------------------------------------------------------------------------------------


def made(kind: Any, data: Any) -> Any:
    """The result that its wire form stands for; `kind` names nouns as `module:Name`, alone, in lists or by names."""
    if isinstance(kind, list):
        return [made(kind[0], one) for one in data]
    if isinstance(kind, dict):
        return {name: made(kind.get(name), part) for name, part in data.items()}
    if not kind:
        return data
    from ..nouns import remade

    module, _, name = kind.partition(":")
    return remade(getattr(import_module(f"..{module}", __package__), name), data)
