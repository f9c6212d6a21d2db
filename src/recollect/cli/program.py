"""The program: what every command shares.

Results go to standard output, as text or with `--json`; everything else goes to standard error. The class of an error
decides the exit code. Only a terminal gets colours, progress bars and questions.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import __version__
from ..errors import BadInput, RecollectError
from . import present, terminal
from .present import Look
from .terminal import Notes, look

if TYPE_CHECKING:
    from ..agents.access import Caller
    from ..engine import Engine
    from ..types import Scope

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class App:
    """Where the store is, how to print, and what was noted."""

    given: dict[str, Any]
    notes: Notes
    argv: Sequence[str]  # as it was typed
    json: bool = False
    places: dict[str, Any] = field(default_factory=dict)

    def open(self) -> Engine:
        from .. import engine

        return engine.open(
            self.given["store"], tenant=self.given["tenant"], user=self.given["user"], project=self.given["project"],
            actor=terminal.actor(),
        )  # fmt: skip

    def caller(self, engine: Engine) -> Caller:
        """The person at this terminal, at home in the project that was named, or in that of this folder."""
        from ..agents.access import local
        from ..agents.home import at_home
        from ..types import Scope

        chosen = engine.settings
        return at_home(local(chosen.tenant, terminal.actor(), Scope(chosen.user, chosen.project)), os.getcwd())

    def scope(self, engine: Engine) -> dict[str, Any]:
        """The scope as an argument: where the person is at home, narrowed by what the command line names."""
        return {"scope": self.caller(engine).scope(self.places)}

    def inside(self) -> Scope:
        """The scope that the command line itself names; settings do not count where only what is inside is meant."""
        from ..types import Scope

        named = {name: value for name in ("user", "project") if (value := self.given[name])}
        return Scope(**named | self.places)

    def take(self, values: dict[str, Any], placed: Sequence[str]) -> None:
        """Take out of a command's values what every command shares: --json, --tenant, and where to look."""
        if values.pop("json", False):
            self.json = self.notes.quiet = True
        self.given["tenant"] = values.pop("tenant", None) or self.given["tenant"]
        self.places |= {name: value for name in placed if (value := values.pop(name, None)) is not None}
        if values.pop("everywhere", False):
            if self.places.get("project") or self.given["project"]:
                raise BadInput("--everywhere and --project exclude each other.", fix="Give one of the two.")
            self.places["project"] = ""

    def say(self, result: Any, render: Callable[[Any, Look], str], *, err: bool = False) -> None:
        if self.json:
            from ..nouns import wire

            ascii = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
            click.echo(json.dumps(wire(result), ensure_ascii=ascii, indent=2), err=err)
        else:
            out = look(sys.stderr if err else sys.stdout)
            click.echo(render(result, out), err=err, color=out.colour)

    def skipped(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.notes.say(line)


class Program(click.Group):
    """The group of all commands, each loaded when it is called: sections in its help, and our errors in our words."""

    @property
    def commands(self) -> MutableMapping[str, click.Command]:
        """All of them, loaded."""
        return {name: found for name in self.list_commands(None) if (found := self.get_command(None, name))}

    @commands.setter
    def commands(self, made: MutableMapping[str, click.Command]) -> None:
        self._made = dict(made)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._made:
            from .commands import make

            if (found := make(cmd_name)) is None:
                return None
            self._made[cmd_name] = found
        return self._made[cmd_name]

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        from .commands import contents

        return sorted(name for section in contents().values() for name in section)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> Any:
        argv = list(sys.argv[1:] if args is None else args)
        for stream in (sys.stdout, sys.stderr):  # a path or a terminal that is not UTF-8 must not end in a traceback
            getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
        extra |= {"standalone_mode": False, "obj": argv}
        try:
            code = super().main(argv, prog_name or "recollect", **extra)
        except RecollectError as error:
            code = complain(error.as_dict(), error.exit, argv)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            fix = f"See: {context.command_path} --help" if context else "See: recollect --help"
            code = complain(
                {"code": "usage", "message": error.format_message(), "fix": fix}, error.exit_code, argv
            )  # fmt: skip
        except click.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from .commands import contents

        for title, section in contents().items():
            with formatter.section(title):
                formatter.write_dl(list(section.items()))


def complain(error: dict[str, str], code: int, argv: Sequence[str]) -> int:
    if "--json" in argv:
        click.echo(json.dumps({"error": error}), err=True)
    else:
        out = look(sys.stderr)
        click.echo(present.complaint(error, out), err=True, color=out.colour)
    return code


def confirm(preview: Callable[[Look], str]) -> None:
    """Show what would go and ask; without a terminal, stop."""
    click.echo(preview(look(sys.stderr)), err=True)
    if not terminal.asks():
        raise BadInput(
            "This needs a yes, and there is no terminal to ask on.",
            fix="Add --yes to go ahead, or --dry-run to only look.",
        )
    if not click.confirm("Go ahead?", err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(0)


def command(name: str, *, group: click.Group) -> Callable[[F], click.Command]:
    """A command of another distribution: it takes `--json` and is given the `App`."""

    def wrap(function: F) -> click.Command:
        def run(app: App, **values: Any) -> None:
            app.take(values, ())
            function(app, **values)

        made = group.command(name, help=function.__doc__)(click.pass_obj(run))
        made.params = [*getattr(function, "__click_params__", [])[::-1], JSON()]
        return made

    return wrap


JSON = partial(click.Option, ["--json"], is_flag=True, help="Print JSON.")


@click.group(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--store", metavar="PATH", help="The database file, or postgresql://….")
@click.option("--tenant", metavar="NAME", help="Whose memories.")
@click.option("--project", metavar="NAME", help="The project.")
@click.option("--user", metavar="NAME", help="The user.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.version_option(__version__, "--version", prog_name="recollect", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """Memory for AI assistants that write code: one file, no API key, nothing believed without a source.

    Everything lies in ~/.recollect; RECOLLECT_HOME moves it.
    """
    notes = Notes()
    notes.quiet = as_json
    logger = logging.getLogger("recollect")
    logger.addHandler(notes)
    ctx.call_on_close(lambda: logger.removeHandler(notes))
    ctx.obj = App(given, notes, ctx.obj, as_json)
    if ctx.invoked_subcommand is None:
        from .. import settings

        chosen = settings.load(store=given["store"])[0]
        place, there = settings.shown(chosen.place), chosen.remote or chosen.store_path.exists()
        data = {"version": __version__, "store": place, "commands": cli.list_commands(ctx)}
        ctx.obj.say(data, lambda _, out: present.welcome(place, there, out))
