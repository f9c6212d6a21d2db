"""The commands of upkeep: `janitor run`, `top`, `backup`, `restore` and `eval`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path

import click

from ..errors import BadInput, DaemonRunning, ServerUnavailable
from ..ops.upkeep import cleaned
from ..upkeep.backup import Backup
from .commands import View
from .present import Look, again, memories, plural
from .program import App
from .terminal import progress

VIEWS = {"health": View(end=lambda found, asked: int(found.status == "alert"))}


def run_janitor(app: App, dry_run: bool, steps: Sequence[str] = ()) -> None:
    with app.open() as engine, progress("cleaning") as step:
        report = engine.janitor.run(dry_run=dry_run, steps=steps, progress=step)
    app.say(report, lambda found, out: cleaned(found))


def top(app: App, every: float, once: bool) -> None:
    from ..entrypoints import link
    from . import screen

    daemon = link.daemon()
    if daemon is None:
        raise ServerUnavailable("No daemon is running.", fix="Start one with: recollect serve --background")
    before = None
    while True:
        now = screen.look(daemon)
        if app.json:
            app.say(now.as_dict(), lambda found, out: "")
        else:
            clear = "\x1b[H\x1b[2J" if sys.stdout.isatty() and not once else ""
            click.echo(clear + screen.drawn(now, before))
        if once:
            return
        before = now
        time.sleep(every)


def backup(app: App, path: str) -> None:
    from ..settings import load
    from ..store import open_store
    from ..upkeep import backup as backups

    chosen = load(store=app.given["store"])[0]
    if not chosen.remote and not chosen.store_path.is_file():
        raise BadInput(f"There is no store at {chosen.place}.", fix="Check --store.")
    with (
        closing(open_store(chosen.place, chosen.busy_timeout, datetime.now(UTC))) as store,
        progress("copying") as step,
    ):
        made = backups.backup(store, Path(path), datetime.now(UTC), step)
    app.say(made, _backed_up)


def restore(app: App, path: str) -> None:
    from ..serve.lock import holder
    from ..settings import load
    from ..upkeep import backup as backups

    chosen = load(store=app.given["store"])[0]
    if running := holder(chosen.home):
        raise DaemonRunning(f"A daemon is running (process {running.get('pid', '?')}).", fix="End it: recollect stop")
    with progress("copying") as step:
        done = backups.restore(Path(path), chosen, datetime.now(UTC), step)
    app.say(done, _restored)


def _backed_up(made: Backup, out: Look) -> str:
    return (
        f"✓ {memories(made.memories)} of {plural(made.tenants, 'tenant')} in {made.path} "
        f"({made.bytes / 1e6:,.1f} MB)\n  verified: {made.verified}\n  sha256 {made.sha256}"
    )


def _restored(done: Backup, out: Look) -> str:
    aside = f"\n  what was there lies in {done.aside}" if done.aside else ""
    return f"✓ {memories(done.memories)} put back into {done.path}\n  verified: {done.verified}{aside}{again(done)}"


def evaluate(app: App, arguments: tuple[str, ...]) -> None:
    """Run the command of the distribution recollect-eval (`evaluation/` in the repository)."""
    found = list(entry_points(group="recollect.commands", name="eval"))
    if not found:
        raise BadInput("The evaluation is not installed.", fix="In a checkout, run: pip install -e ./evaluation")
    command: click.Command = found[0].load()
    command.main(list(arguments), "eval", standalone_mode=False, parent=click.get_current_context().parent)
