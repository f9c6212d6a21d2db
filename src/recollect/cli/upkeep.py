"""The commands of upkeep: `janitor run`, `top`, `backup` and `restore`."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from ..errors import BadInput, DaemonRunning, ServerUnavailable
from ..ops.upkeep import cleaned
from ..upkeep.backup import Backup
from ..upkeep.janitor.janitor import NAMES
from .operations import View, group
from .present import Look, again, memories, plural
from .program import App, command, several
from .terminal import progress

VIEWS = {"health": View(end=lambda found, asked: int(found.status == "alert"))}


@command("run", group=group("janitor"))
@click.option("--dry-run", is_flag=True, help="Change nothing, tell what would be done.")
@several("--step", "steps", type=click.Choice(NAMES), metavar="NAME", help=f"Only this step: {', '.join(NAMES)}.")
def run(app: App, dry_run: bool, steps: tuple[str, ...]) -> None:
    """Clean up now.

    Each step is on its own and can be cut off; what a person pinned (tag pinned) or edited is never touched.
    """
    with app.open() as engine, progress("cleaning") as step:
        report = engine.janitor.run(dry_run=dry_run, steps=steps, progress=step)
    app.say(report, lambda found, out: cleaned(found))


@command()
@click.option("--every", type=click.FloatRange(min=0.2), default=2.0, help="Seconds between two looks.")
@click.option("--once", is_flag=True, help="Look once and end.")
def top(app: App, every: float, once: bool) -> None:
    """Watch a daemon at work: requests, recall, queue, index, cost."""
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


@command()
@click.argument("path", type=click.Path(path_type=Path))
def backup(app: App, path: Path) -> None:
    """Write the whole store to a file at PATH, and verify it.

    Others go on meanwhile. The file is a store of its own, with every tenant and the whole history. Nothing is written
    over.
    """
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
        made = backups.backup(store, path, datetime.now(UTC), step)
    app.say(made, _backed_up)


@command()
@click.argument("path", type=click.Path(path_type=Path))
def restore(app: App, path: Path) -> None:
    """Put the backup at PATH in the place of the store.

    A file that lies there is set aside under another name; a database on a server must be empty. No daemon may run.
    """
    from ..serve.lock import holder
    from ..settings import load
    from ..upkeep import backup as backups

    chosen = load(store=app.given["store"])[0]
    if running := holder(chosen.home):
        raise DaemonRunning(f"A daemon is running (process {running.get('pid', '?')}).", fix="End it: recollect stop")
    with progress("copying") as step:
        done = backups.restore(path, chosen, datetime.now(UTC), step)
    app.say(done, _restored)


def _backed_up(made: Backup, out: Look) -> str:
    return (
        f"✓ {memories(made.memories)} of {plural(made.tenants, 'tenant')} in {made.path} "
        f"({made.bytes / 1e6:,.1f} MB)\n  verified: {made.verified}\n  sha256 {made.sha256}"
    )


def _restored(done: Backup, out: Look) -> str:
    aside = f"\n  what was there lies in {done.aside}" if done.aside else ""
    return f"✓ {memories(done.memories)} put back into {done.path}\n  verified: {done.verified}{aside}{again(done)}"
