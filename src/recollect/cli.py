"""The command line: thin over the engine, a few lines a command.

Results go to standard output: as text for a person (`present`), or with `--json` in the one wire form of the nouns.
Everything else goes to standard error: errors with their fix, notes on what was skipped, progress bars, questions. An
error's class decides the exit code; 2 is a wrong use, 130 an interruption. Only a terminal gets colours, bars and
questions: what would ask without one stops instead and says which option answers.

Modules that cost time are imported where they are used: `recollect --help` loads no model and no numpy.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from . import __version__, present, terminal
from .errors import BadInput, RecollectError, Refused
from .present import Look
from .terminal import Moment, Notes, look, progress
from .types import KINDS, RELATIONS, STATES, Noun, Scope

if TYPE_CHECKING:
    from .engine import Engine

F = TypeVar("F", bound=Callable[..., Any])
EMPTY: dict[str, Any] = {"title": "", "reasoning": "", "tags": (), "keywords": (), "refs": (), "valid_from": None,
                         "valid_to": None, "expires_at": None}  # fmt: skip
SECTIONS = {
    "Begin": "remember recall tour",
    "Look": "list show history stats",
    "Change": "edit link forget reject",
    "Keep": "export import embed doctor",
    "Set up": "config completion version",
}


# -- what every command shares ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class App:
    """Where the store is, how to print, and what was noted."""

    given: dict[str, Any]
    notes: Notes
    argv: Sequence[str]  # as it was typed
    json: bool = False
    places: dict[str, str] = field(default_factory=dict)

    def open(self) -> Engine:
        from . import engine

        return engine.open(
            self.given["store"], tenant=self.given["tenant"], user=self.given["user"], project=self.given["project"],
            actor=terminal.actor(),
        )  # fmt: skip

    def scope(self, engine: Engine) -> dict[str, Any]:
        """The scope as an argument, where the command line narrows the one of the settings."""
        base = Scope(user=engine.settings.user, project=engine.settings.project)
        return {"scope": replace(base, **self.places)} if self.places else {}

    def inside(self) -> Scope:
        """The scope that the command line itself names; settings do not count where only what is inside is meant."""
        named = {name: value for name in ("user", "project") if (value := self.given[name])}
        return Scope(**named | self.places)

    def say(self, result: Any, render: Callable[[Any, Look], str], *, err: bool = False) -> None:
        if self.json:
            ascii = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
            click.echo(json.dumps(wire(result), ensure_ascii=ascii, indent=2), err=err)
        else:
            out = look(sys.stderr if err else sys.stdout)
            click.echo(render(result, out), err=err, color=out.colour)

    def skipped(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.notes.say(line)


class Program(click.Group):
    """The group of all commands: sections in its help, and our errors in our words."""

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
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(70)) for name in names.split()])


def complain(error: dict[str, str], code: int, argv: Sequence[str]) -> int:
    if "--json" in argv:
        click.echo(json.dumps({"error": error}), err=True)
    else:
        out = look(sys.stderr)
        click.echo(present.complaint(error, out), err=True, color=out.colour)
    return code


def wire(value: Any) -> Any:
    """The wire form of a result: nouns by themselves, and what holds them."""
    if isinstance(value, Noun):
        return value.as_dict()
    if isinstance(value, dict):
        return {name: wire(part) for name, part in value.items()}
    return [wire(part) for part in value] if isinstance(value, list | tuple) else value


# -- options ----------------------------------------------------------------------------------------------------------


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


def _json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        app = ctx.find_object(App)
        if app:
            app.json = app.notes.quiet = True


def _place(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    app = ctx.find_object(App)
    if app and value is not None and param.name:
        app.places[param.name] = value


def several(*names: str, **more: Any) -> Callable[[F], F]:
    return click.option(*names, multiple=True, **more)


def command(name: str | None = None, **more: Any) -> Callable[[F], click.Command]:
    """A command that takes `--json` and is given the `App`."""
    flag = click.option("--json", is_flag=True, expose_value=False, callback=_json, help="Print JSON.")
    return lambda function: cli.command(name, **more)(flag(click.pass_obj(function)))


placed = together(
    *(click.option(f"--{name}", expose_value=False, callback=_place, metavar="NAME", help=f"Of this {name}.")
      for name in ("project", "user", "branch", "agent", "session"))
)  # fmt: skip
drafted = together(
    click.option("--kind", type=click.Choice(KINDS), metavar="KIND", help="fact (default), decision, preference, …"),
    click.option("--title", help="A short name for it."),
    click.option("--reasoning", help="Why it is so."),
    several("--tag", "tags", metavar="TAG", help="May be given several times."),
    several("--keyword", "keywords", metavar="WORD", help="Words it should be found by."),
    several("--ref", "refs", metavar="REF", help="A file, commit, ticket or URL."),
    click.option("--importance", type=int, help="From 1 to 10; 5 when not told."),
    click.option("--confidence", type=float, help="From 0 to 1; 1 when not told."),
    click.option("--valid-from", type=Moment(), help="When it began to hold."),
    click.option("--valid-to", type=Moment(whole_day=True), help="When it ceased to hold."),
    click.option("--expires", "expires_at", type=Moment(ahead=True), help="When to drop it: a time, or 30d from now."),
)
filtered = together(
    several("--kind", "kinds", type=click.Choice(KINDS), metavar="KIND", help="Only these kinds."),
    several("--tag", "tags", metavar="TAG", help="Only with all these tags."),
    several("--state", "states", type=click.Choice((*STATES, "any")), metavar="STATE", help="active unless told; any."),
    click.option("--since", type=Moment(), help="2026-03-01, 7d, 2h, or an ISO time with its zone."),
    click.option("--until", type=Moment(whole_day=True), help="The same; a day counts to its end."),
    click.option("--min-importance", type=int, help="From 1 to 10."),
)


def chosen(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    told = {name: value for name, value in values.items() if value not in (None, ())}
    if "any" in told.get("states", ()):
        told["states"] = STATES
    return told


# -- the program ------------------------------------------------------------------------------------------------------


@click.group(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--store", metavar="PATH", help="The database file.")
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
        from . import settings

        path = settings.load(store=given["store"])[0].store_path
        data = {"version": __version__, "store": str(path), "commands": sorted(cli.commands)}
        ctx.obj.say(data, lambda _, out: present.welcome(str(path), path.exists(), out))


@command()
@click.argument("words", nargs=-1, metavar="TEXT...")
@drafted
@click.option("--source", metavar="URI", help="Where it comes from: a URL, file:… or commit:…, or a few words.")
@several("--evidence", metavar="QUOTE", help="The words that prove it.")
@click.option("--merge", is_flag=True, help="Join it with a memory that says nearly the same.")
@placed
def remember(app: App, words: tuple[str, ...], merge: bool, **fields: Any) -> None:
    """Remember one thing, said in TEXT or piped in."""
    content = terminal.spoken(words, "remember")
    with app.open() as engine:
        result = engine.remember(content, merge=merge, **chosen(fields), **app.scope(engine))
    app.skipped(result.skipped)
    app.say(result, present.remembered)
    if result.action == "refused":
        raise click.exceptions.Exit(Refused.exit)


@command()
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option("-n", "--limit", type=int, help="At most so many (default: the setting recall_limit).")
@filtered
@click.option("--as-of", type=Moment(), help="What was known and held then.")
@click.option("--max-tokens", type=int, help="At most so many tokens in all.")
@click.option("--fusion", type=click.Choice(["sum", "rrf"]), help="How the arms are put together.")
@click.option("--explain", is_flag=True, help="Show scores, arms and times.")
@placed
def recall(app: App, words: tuple[str, ...], explain: bool, **options: Any) -> None:
    """Find memories by meaning and by words, best first."""
    query = terminal.spoken(words, "recall")
    with app.open() as engine:
        result = engine.recall(query, **chosen(options), **app.scope(engine))
        empty = not result.hits and not engine.stats()["memories"]
    app.skipped(result.skipped)
    app.say(result, partial(present.recalled, explain=explain, empty=empty))


@command()
@click.argument("id", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="What a recall of this finds.")
@click.option("--all-in-scope", is_flag=True, help="All inside --project, --user, …")
@click.option("--purge", is_flag=True, help="Erase for good: content, vectors, history.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--reason", default="", help="Kept in the history.")
@placed
def forget(
    app: App, id: tuple[str, ...], query: str | None, all_in_scope: bool, purge: bool, dry_run: bool, yes: bool,
    reason: str,
) -> None:  # fmt: skip
    """Forget memories by id, by a query, or all inside a scope."""
    scope = app.inside() if all_in_scope else None
    with app.open() as engine:
        result = engine.forget(id or None, query=query, scope=scope, purge=purge, dry_run=True)
        if not dry_run and result.memories:
            if (purge or not id) and not yes:
                confirm(app, partial(present.forgotten, result))
            result = engine.forget([memory.id for memory in result.memories], purge=purge, reason=reason)
    app.say(result, present.forgotten)


def confirm(app: App, preview: Callable[[Look], str]) -> None:
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


@command()
@click.argument("id", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", default="", help="Why it is wrong; kept, and told when it is refused.")
@click.option("--undo", is_flag=True, help="Take a rejection back.")
def reject(app: App, id: tuple[str, ...], reason: str, undo: bool) -> None:
    """Forget memories and never let what they say come back."""
    with app.open() as engine:
        result = engine.reject(id, reason=reason, undo=undo)
    app.say(result, partial(present.rejected, undo=undo))


@command()
@click.argument("id")
@click.option("--content", metavar="TEXT", help="The new text; - reads standard input.")
@drafted
@click.option("--state", type=click.Choice(["active", "archived"]), help="Bring it back, or set it aside.")
@several("--clear", type=click.Choice([*EMPTY]), metavar="FIELD", help="Empty a field: tags, expires_at, …")
@click.option("--reason", default="", help="Kept in the history.")
@placed
def edit(app: App, id: str, clear: tuple[str, ...], reason: str, **fields: Any) -> None:
    """Change a memory; with no option, open its text in $EDITOR."""
    changes = {**chosen(fields), **{name: EMPTY[name] for name in clear}}
    if changes.get("content") == "-":
        changes["content"] = terminal.piped()
    with app.open() as engine:
        before = engine.get(id, peek=True)
        if app.places:
            changes["scope"] = replace(before.scope, **app.places)
        if not changes and terminal.asks():
            changes["content"] = click.edit(before.content, require_save=True) or before.content
        after = engine.edit(before.id, reason=reason, **changes)
    app.say(after, lambda _, out: present.changed(before, after, out))


@command()
@click.argument("id")
def show(app: App, id: str) -> None:
    """Show one memory whole: its source, evidence and links."""
    with app.open() as engine:
        memory = engine.get(id)
        source, evidence = engine.evidence(memory.id)
        links = engine.links(memory.id)
    data = {"memory": memory, "source": source, "evidence": evidence, "links": links}
    app.say(data, lambda _, out: present.shown(memory, source, evidence, links, out))


@command("list")
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="At most so many.")
@click.option("--cursor", help="Where the page before ended.")
@filtered
@placed
def list_(app: App, limit: int, cursor: str | None, **filters: Any) -> None:
    """List memories, newest first."""
    with app.open() as engine:
        page = engine.list(scope=app.inside(), limit=limit, cursor=cursor, **chosen(filters))
    app.say(page, lambda _, out: present.listed(page, out, next_page(app.argv, page.cursor)))


def next_page(argv: Sequence[str], cursor: str | None) -> str:
    """The command that was typed, with the cursor of the next page."""
    kept = [
        word for n, word in enumerate(argv) if not word.startswith("--cursor") and (n == 0 or argv[n - 1] != "--cursor")
    ]
    return shlex.join(["recollect", *kept, "--cursor", cursor]) if cursor else ""


@command()
@click.argument("origin", metavar="A")
@click.argument("relation", type=click.Choice(RELATIONS), metavar="RELATION")
@click.argument("target", metavar="B")
@click.option("--reason", default="", help="Kept with the link.")
def link(app: App, origin: str, relation: str, target: str, reason: str) -> None:
    """Tie two memories, such as NEW supersedes OLD.

    RELATION is related, supersedes, contradicts, elaborates, depends_on, uses, implements, calls, configures,
    had_incident, owned_by, caused_by, derived_from or mentions.
    """
    with app.open() as engine:
        result = engine.link(origin, relation, target, reason=reason)
    app.say(result, present.linked)


@command()
@click.argument("id")
def history(app: App, id: str) -> None:
    """Show every change of a memory: who, when, why, what it was."""
    with app.open() as engine:
        entries = engine.history(id)
    app.say(entries, present.history)


@command()
def stats(app: App) -> None:
    """Count the memories, and tell how large the store is."""
    with app.open() as engine:
        counts = engine.stats()
    app.say(counts, present.stats)


@command("export")
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write; - is standard output.")
@click.option("--journal", is_flag=True, help="With the whole history.")
def export(app: App, output: str, journal: bool) -> None:
    """Write everything to a file of JSON lines."""
    path = Path(output)
    if output != "-" and (path.is_relative_to("/dev") or (path.exists() and not path.is_file())):
        raise BadInput(f"{output} is not a file.", fix="Name a file, or - for standard output.")
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        target = Path(folder, "export.jsonl") if output == "-" else path
        with app.open() as engine, progress("exporting") as step:
            count = engine.export(target, journal=journal, progress=step)
        if output == "-":
            with target.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    data = {"memories": count, "path": output}
    words = f"✓ exported {present.memories(count)}" + ("" if output == "-" else f" to {output}")
    app.say(data, lambda _, out: words, err=output == "-")


@command("import")
@click.argument("file", metavar="FILE")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later: recollect embed.")
@placed
def import_(app: App, file: str, no_embed: bool) -> None:
    """Take in a file of JSON lines.

    FILE is an export of ours, or has one object with "content" a line; - is standard input.
    """
    for name in ("user", "project"):
        app.given[name] = app.places.get(name) or app.given[name]
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        path = Path(folder, "standard input") if file == "-" else Path(file)
        if file == "-" and sys.stdin is not None:
            with path.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        try:
            with app.open() as engine, progress("importing") as step:
                result = engine.import_(path, embed=not no_embed, progress=step)
        except BadInput as error:
            error.message = error.message.replace(f"{folder}{os.sep}", "")
            raise
    app.say(result, present.imported)


@command()
def embed(app: App) -> None:
    """Give a vector to every memory that has none of today's model."""
    with app.open() as engine, progress("embedding") as step:
        count = engine.embed(progress=step)
        if engine.settings.embedder == "off":
            app.notes.say("vector: switched off (embedder = off)")
    done = f"✓ {present.memories(count)} embedded" if count else "= nothing to embed"
    app.say({"embedded": count, "skipped": app.notes.said}, lambda _, out: done)


@command()
@click.option("--fix", is_flag=True, help="Mend what can be mended safely: permissions, full text, missing vectors.")
def doctor(app: App, fix: bool) -> None:
    """Look at every part, and say how to mend what is broken."""
    from .upkeep import doctor as doctors

    diagnosis, fixed = doctors.examine(__version__, datetime.now(UTC), **app.given), []
    if fix:
        fixed = doctors.close_to_others(diagnosis.exposed)
        if diagnosis.unindexed:
            with app.open() as engine:
                engine.mend()
            fixed.append("full text built again")
        if diagnosis.unembedded:
            with app.open() as engine, progress("embedding") as step:
                fixed.append(f"{present.memories(engine.embed(progress=step))} embedded")
        diagnosis = doctors.examine(__version__, datetime.now(UTC), **app.given)
    data = {"checks": diagnosis.checks, "fixed": fixed}
    app.say(data, lambda _, out: present.diagnosis(diagnosis.checks, fixed, out))
    if diagnosis.broken:
        raise click.exceptions.Exit(1)


@command()
@click.argument("name", required=False)
def config(app: App, name: str | None) -> None:
    """Show the settings, and where each comes from.

    NAME gives the value of one of them; `path` gives the file to write them into.
    """
    from dataclasses import fields

    from . import settings

    now, origin = settings.load(**app.given)
    rows = [
        {"name": f.name, "value": wire(getattr(now, f.name)), "source": origin[f.name],
         "sentence": f.metadata["sentence"]}
        for f in fields(now)
    ]  # fmt: skip
    for row in rows:
        row["value"] = str(row["value"]) if isinstance(row["value"], Path) else row["value"]
    values = {str(row["name"]): row["value"] for row in rows} | {"path": str(now.config_path)}
    if name is not None and name not in values:
        raise BadInput(f"There is no setting {name!r}.", fix=f"The settings are: {', '.join(values)}.")
    if name is not None:
        app.say({"name": name, "value": values[name]}, lambda _, out: str(values[name]))
    else:
        data = {"settings": rows, "file": str(now.config_path)}
        app.say(data, lambda _, out: present.configured(rows, str(now.config_path), out))


@command()
def version(app: App) -> None:
    """Show the versions of the program and of what it runs on."""
    from .upkeep import doctor as doctors

    found = doctors.versions(__version__)
    app.say(found, lambda _, out: f"recollect {__version__} (Python {found['python']}, SQLite {found['sqlite']})")


@command()
@click.option("--no-pause", is_flag=True, help="Do not wait for Enter between the steps.")
def tour(app: App, no_pause: bool) -> None:
    """See every verb once, in a store that is removed afterwards."""
    from . import tour as tours

    wait = terminal.asks() and not no_pause and not app.json
    fresh, steps = partial(look, sys.stdout), []
    if not app.json:
        click.echo(tours.opening(fresh()), color=fresh().colour)
    with (
        tempfile.TemporaryDirectory(prefix="recollect-tour-") as folder,
        closing(tours.steps(Path(folder), fresh)) as made,
    ):
        for number, step in enumerate(made, start=1):
            steps.append(step)
            if wait and number > 1:
                click.echo(fresh().dim("\n    … Enter for the next step, Ctrl-C to leave"), err=True)
                click.getchar()
            if not app.json:
                acts = zip(step.commands, step.outputs, strict=True)
                click.echo("\n" + present.step(number, step.says, acts, fresh()), color=fresh().colour)
    app.say({"steps": steps}, lambda _, out: tours.closing(out))


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(app: App, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash   eval "$(recollect completion bash)"   in ~/.bashrc
    zsh    eval "$(recollect completion zsh)"    in ~/.zshrc
    fish   recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    script = kind(cli, {}, "recollect", "_RECOLLECT_COMPLETE").source() if kind else ""
    app.say({"shell": shell, "script": script}, lambda _, out: script)


def main() -> None:
    cli.main(prog_name="recollect")
