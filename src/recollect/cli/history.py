"""The commands of history: why, audit, state, rate, checkpoint, hold and retention."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput, StoreReadOnly
from ..ops import history_words as words
from ..past import ACTIONS, Differences
from ..types import EVERYWHERE, KINDS, Scope
from .present import Look
from .program import App, chosen, cli, command, confirm, placed, several, wire
from .terminal import Moment

if TYPE_CHECKING:
    from ..engine import Engine

EXPORTED = 1000  # rows that are read at a time for an export


def _told(say: Callable[[Any, datetime], str], lead: str = "") -> Callable[[Any, Look], str]:
    """Words that a model reads too, for a person."""
    return lambda result, out: lead + say(result, datetime.now(UTC))


def _ask(app: App, verb: Callable[[Engine], Any], say: Callable[[Any, datetime], str], lead: str = "") -> None:
    """What most of these commands are: one verb of an engine, and its result in words."""
    with app.open() as engine:
        result = verb(engine)
    app.say(result, _told(say, lead))


@command()
@click.argument("id")
@click.option("--depth", type=int, default=3, show_default=True, help="How far to follow what it goes back to.")
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="At most so many of each thing.")
def why(app: App, id: str, depth: int, limit: int) -> None:
    """Show why a memory is there: source, trust, changes, uses."""
    _ask(app, lambda engine: engine.why(id, depth=depth, limit=limit), words.why)


@command()
@click.argument("id")
@click.option("--helped/--did-not-help", default=True, help="Whether it helped.")
@click.option("--session", default="", metavar="NAME", help="The session it was shown in.")
def rate(app: App, id: str, helped: bool, session: str) -> None:
    """Say whether a memory helped where it was shown last."""
    _ask(app, lambda engine: engine.rate(id, helped=helped, session=session), words.rated)


@command()
@click.argument("entity")
@click.option("--at", type=Moment(), help="What was known then; now unless told.")
@click.option("--true-at", type=Moment(), help="What held then; the same time unless told.")
@placed
def state(app: App, entity: str, at: datetime | None, true_at: datetime | None) -> None:
    """Show what was known of an entity at a time."""
    from ..ops import history_verbs

    asked = {"entity": entity, "at": at, "true_at": true_at, **app.places}
    _ask(app, lambda engine: history_verbs.state(engine, app.caller(engine), **asked), words.state)


@command()
@several("--actor", "actors", metavar="NAME", help="Only what these did.")
@several("--operation", "operations", metavar="NAME", help="Only these operations: create, edit, forget, …")
@several("--noun", "nouns", metavar="NAME", help="Only changes of these: memory, source, link, …")
@several("--target", "targets", metavar="ID", help="Only changes of these ids.")
@click.option("--project", metavar="NAME", help="Only memories of this project.")
@click.option("--since", type=Moment(), help="2026-03-01, 7d, 2h, or an ISO time with its zone.")
@click.option("--until", type=Moment(whole_day=True), help="The same; a day counts to its end.")
@click.option("--reads/--no-reads", default=True, help="With or without the reads across projects.")
@click.option("-n", "--limit", type=int, default=100, show_default=True, help="At most so many changes.")
@click.option("--cursor", type=int, help="Where the page before ended.")
@click.option(
    "--export", type=click.Path(path_type=Path), metavar="FILE", help="Write all of it to a file of JSON lines."
)
def audit(app: App, export: Path | None, limit: int, cursor: int | None, **asked: Any) -> None:
    """Show who did what, and who read across projects."""
    asked = chosen(asked)
    with app.open() as engine:
        if export is not None:
            count = _export(engine, export, asked)
            app.say({"path": str(export), "rows": count}, lambda _, out: f"✓ {count} rows written to {export}")
            return
        found = engine.audit(limit=limit, cursor=cursor, **asked)
    app.say(found, _told(words.audited))


def _export(engine: Engine, path: Path, asked: dict[str, Any]) -> int:
    """Every row that fits, newest first, readable by its owner alone."""
    count, cursor = 0, None
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            while True:
                page = engine.audit(limit=EXPORTED, cursor=cursor, **asked)
                for kind, rows in (("entry", page.entries), ("read", page.reads)):
                    for row in rows:
                        file.write(json.dumps({"type": kind, **wire(row)}, ensure_ascii=False) + "\n")
                        count += 1
                if (cursor := page.cursor) is None:
                    return count
    except OSError as error:
        raise StoreReadOnly(f"{path} cannot be written: {error.strerror}.", fix="Choose another file.") from error


# -- checkpoints ------------------------------------------------------------------------------------------------------


@cli.group()
def checkpoint() -> None:
    """Name a state, see what changed since, and go back."""


@command("create", group=checkpoint)
@click.argument("name")
@click.option("--reason", default="", help="What it is for.")
@placed
def create(app: App, name: str, reason: str) -> None:
    """Name the present state, of everything or of a scope."""
    _ask(app, lambda engine: engine.checkpoints.create(name, scope=app.inside(), reason=reason), words.checkpoint)


@command("list", group=checkpoint)
def list_(app: App) -> None:
    """Show the checkpoints, newest first."""
    _ask(app, lambda engine: engine.checkpoints.all(), words.checkpoints)


@command("diff", group=checkpoint)
@click.argument("first", metavar="A")
@click.argument("last", metavar="[B]", default="now")
@click.option("-n", "--limit", type=int, default=100, show_default=True, help="At most so many of each sort.")
@placed
def diff(app: App, first: str, last: str, limit: int) -> None:
    """Show what changed between A and B.

    A and B are checkpoints, times (2026-03-01, 7d, or ISO with its zone), #NUMBER of a change, or now.
    """

    def told(engine: Engine) -> Differences:
        return engine.checkpoints.diff(first, last, scope=_asked(app), limit=limit)

    _ask(app, told, words.differences)


@command("rollback", group=checkpoint)
@click.argument("to", metavar="NAME")
@several("--kind", "kinds", type=click.Choice(KINDS), metavar="KIND", help="Only memories of these kinds.")
@several("--tag", "tags", metavar="TAG", help="Only with one of these tags.")
@several("--source", "sources", metavar="SOURCE", help="Only from these sources, by id or address.")
@several("--by-agent", "agents", metavar="NAME", help="Only what these agents remembered.")
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--reason", default="", help="Kept in the history.")
@placed
def rollback(app: App, to: str, dry_run: bool, yes: bool, reason: str, **only: Any) -> None:
    """Bring everything, or a scope, back to how it was.

    NAME is a checkpoint, a time or #NUMBER of a change. What came since is archived, what changed is put back. What was
    rejected stays rejected, what was erased stays erased. A checkpoint is set first, which takes it back.
    """
    with app.open() as engine:
        preview = engine.checkpoints.rollback(to, scope=_asked(app), dry_run=True, **only)
        if dry_run:
            app.say(preview, _told(words.rolled_back))
            return
        if not yes and (preview.restored or preview.archived):
            confirm(app, lambda out: words.rolled_back(preview, datetime.now(UTC)))
        done = engine.checkpoints.rollback(to, scope=_asked(app), reason=reason, **only)
        if done.restored:
            engine.embed(change="never")
    app.say(done, _told(words.rolled_back))


@command("delete", group=checkpoint)
@click.argument("name")
def delete(app: App, name: str) -> None:
    """Forget a checkpoint; what it named stays in the journal."""
    _ask(app, lambda engine: engine.checkpoints.delete(name), words.checkpoint, "✓ deleted: ")


def _asked(app: App) -> Scope | None:
    where = app.inside()
    return None if where == EVERYWHERE else where


# -- holds and retention ----------------------------------------------------------------------------------------------


@cli.group()
def hold() -> None:
    """Keep things from being erased."""


@command("add", group=hold)
@click.argument("name")
@click.option("--reason", default="", help="Why; kept in the history.")
@placed
def hold_add(app: App, name: str, reason: str) -> None:
    """Keep everything, or what lies in a scope, from being erased."""
    _ask(app, lambda engine: engine.policies.hold(name, scope=app.inside(), reason=reason), words.hold)


@command("list", group=hold)
def hold_list(app: App) -> None:
    """Show what may not be erased."""
    _ask(app, lambda engine: engine.policies.holds(), words.holds)


@command("release", group=hold)
@click.argument("name")
@click.option("--reason", default="", help="Why; kept in the history.")
def hold_release(app: App, name: str, reason: str) -> None:
    """End a hold."""
    _ask(app, lambda engine: engine.policies.release(name, reason=reason), words.hold, "✓ released: ")


@cli.group()
def retention() -> None:
    """Say how long things are kept."""


@command("set", group=retention)
@click.argument("days", type=int)
@click.option("--kind", default="", type=click.Choice(("", *KINDS)), metavar="KIND", help="Only of this kind.")
@click.option("--action", default="archive", type=click.Choice(ACTIONS), show_default=True, help="What happens then.")
@click.option("--reason", default="", help="Why; kept in the history.")
@placed
def retention_set(app: App, days: int, kind: str, action: str, reason: str) -> None:
    """Keep memories for so many DAYS, by kind and scope."""
    asked: dict[str, Any] = {"kind": kind, "action": action, "reason": reason, "scope": app.inside()}
    _ask(app, lambda engine: engine.policies.retain(days, **asked), words.policy)


@command("list", group=retention)
def retention_list(app: App) -> None:
    """Show how long what is kept."""
    _ask(app, lambda engine: engine.policies.policies(), words.policies)


@command("remove", group=retention)
@click.argument("id")
def retention_remove(app: App, id: str) -> None:
    """End a retention policy."""
    with app.open() as engine:
        named = [one.id for one in engine.policies.policies() if one.id.endswith(id.lower())]
        if len(named) > 1:
            raise BadInput(f"{id!r} is the end of several ids.")
        gone = engine.policies.drop(named[0] if named else id)
    app.say(gone, _told(words.policy, "✓ removed: "))


@command("apply", group=retention)
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
def retention_apply(app: App, dry_run: bool) -> None:
    """Archive or erase what has been kept long enough."""
    _ask(app, lambda engine: engine.policies.apply(dry_run=dry_run), words.retained)
