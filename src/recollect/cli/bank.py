"""The commands of the knowledge bank, the brief and the watcher: `bank`, `brief`, `watch`."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import settings
from ..capture import events
from ..errors import BadInput, DaemonRunning, Refused, StoreUnavailable
from ..nouns import remake
from ..types import Scope
from . import terminal, warm
from .present import Look, plural
from .program import App
from .terminal import existing, interruptible, progress

BRIEF = "brief of a folder"  # what the daemon calls this question
IN_A_HOOK = 0.8  # seconds that a brief may take where a hook makes it by itself

if TYPE_CHECKING:
    from ..project.bank import Bank, BankImport
    from ..project.brief import Brief
    from ..project.retro import Retro


def import_files(app: App, dry_run: bool, folder: str | None = None) -> None:
    from ..project import bank as banks

    with app.open() as engine, progress("reading") as step:
        done = banks.import_files(
            engine,
            _bank(app, engine.settings, existing(folder, folder=True) if folder else None),
            dry_run=dry_run,
            progress=step,
        )
        if not dry_run:
            banks.BankWriter(engine).run()
    app.say(done, _taken_in)


def rebuild(app: App, dry_run: bool) -> None:
    from ..project import bank as banks
    from ..serve import lock

    chosen = settings.load(**app.given)[0]
    if lock.holder(chosen.home.absolute()):
        raise DaemonRunning("A daemon works with this database.", fix="End it first: recollect stop")
    with progress("reading") as step:
        done = banks.rebuild(chosen, _bank(app, chosen, None), dry_run=dry_run, progress=step)
    app.say(done, _taken_in)


def show_path(app: App) -> None:
    found = _bank(app, settings.load(**app.given)[0], None)
    files = [str(path) for path, _, _ in found.files()]
    data = {"own": str(found.own), "local": str(found.local or ""), "files": files}
    app.say(data, lambda _, out: "\n".join([str(found.own), *([str(found.local)] if found.local else [])]))


def add(
    app: App, name: str, category: str, description: str, reasoning: str, confidence: str, refs: Sequence[str] = (),
    keywords: Sequence[str] = (),
) -> None:  # fmt: skip
    from ..agents.home import project_of
    from ..project import bank as banks
    from ..project.learning import Learning

    chosen = settings.load(**app.given)[0]
    here = os.getcwd()
    one = Learning(
        name, description, category, reasoning, tuple(refs) or banks.changed_on_branch(here), tuple(keywords),
        confidence=confidence, project=chosen.project or project_of(here),
    )  # fmt: skip
    if banks.reason_disabled(chosen):
        place = banks.add_to_files(chosen, one, datetime.now(UTC))
        app.say({"file": str(place), "id": one.id}, lambda _, out: f"✓ written to {place}")
        return
    with app.open() as engine:
        kept = banks.add_learning(engine, one)
    if kept is None:
        raise Refused("That was rejected before.")
    app.say({"memory": kept, "id": one.id}, lambda _, out: f"✓ learnt {out.dim(kept.id)}")


def retro(app: App, dry_run: bool, since: datetime | None = None) -> None:
    from ..agents.home import project_of
    from ..project import retro as retros

    now = datetime.now(UTC)
    with app.open() as engine:
        project = app.places.get("project") or engine.settings.project or project_of(os.getcwd())
        scope = Scope(user=engine.settings.user, project=project)
        found = retros.retro(engine, since or now - timedelta(days=7), scope, now, dry_run=dry_run)
    app.say(found, _retro)


def _retro(found: Retro, out: Look) -> str:
    lines = [f"{one.kind}: {one.content} {out.dim(one.id)}" for one in found.proposed] or list(found.drafts)
    known = f"; {found.known} were proposed before" if found.known else ""
    if not lines:
        return f"= nothing new was learnt{known}"
    last = "would wait" if found.drafts else "wait"
    return "\n".join([*lines, f"✓ {len(lines)} {last} for you{known}: recollect review"])


def _bank(app: App, chosen: settings.Settings, folder: Path | None) -> Bank:
    from ..agents.home import project_of
    from ..project import bank as banks

    here = os.getcwd()
    project = app.places.get("project") or chosen.project
    if folder:
        return banks.Bank(folder.absolute(), None, project)
    return banks.bank(chosen, here, project or project_of(here))


def _taken_in(done: BankImport, out: Look) -> str:
    verb = "would be learnt" if done.dry_run else "learnt"
    edited = f" {done.edited} changed by hand," if done.edited else ""
    lines = [f"{' ' if done.dry_run else '✓'} {done.created} {verb},{edited} {done.known} known already, from "
             f"{plural(done.files, 'file')}"]  # fmt: skip
    if done.aside:
        lines.append(f"  the broken database {'would be' if done.dry_run else 'is'} put aside: {done.aside}")
    if done.refused:
        lines.append(f"  {done.refused} refused: rejected before")
    if done.redacted:
        lines.append(f"  secrets redacted in {done.redacted}")
    if not done.files:
        lines.append(out.dim("  no anti-patterns.md, patterns.md or heuristics.md was found: recollect bank path"))
    return "\n".join(lines)


def brief(app: App, hook: bool, folder: str | None = None, limit: int | None = None) -> None:
    from ..agents.home import project_of
    from ..project import brief as briefs
    from ..project import signals

    chosen = settings.load(**app.given)[0]
    event = _event() if hook else None
    here = os.path.abspath((event and event.cwd) or folder or os.getcwd())
    base = Scope(user=chosen.user, project=chosen.project or project_of(here))
    scope = Scope(**{**base.as_dict(), **app.places})
    wanted = briefs.BriefRequest(here, scope, limit=limit or chosen.brief_limit)
    made = briefs.without_store(chosen, here, wanted)
    seconds = IN_A_HOOK if hook else briefs.BUDGET
    if made is None and not hook:  # a hook is here because the daemon does not answer
        asked = {"wanted": asdict(wanted), "seconds": seconds}
        if told := warm.ask(chosen, terminal.actor(), here, BRIEF, asked):
            made = remake(briefs.Brief, told[0])
    with ExitStack() as stack:
        if made is None:
            try:
                engine = stack.enter_context(app.open())
            except StoreUnavailable as error:
                made = briefs.from_files(chosen, wanted, f"unavailable ({error.message.rstrip('.')})")
            else:
                made = briefs.build(engine, wanted, signals.Deadline(seconds))
    if event:
        click.echo(events.answer(event, made.text))
        return
    app.skipped(made.skipped)
    app.say(made, _brief)


def _event() -> events.Event:
    """What a hook was told, where there is no daemon to tell it to."""
    try:
        told = json.load(sys.stdin)
        return events.read(str(told["host"]), str(told["event"]), told["input"], str(told.get("cwd") or ""))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(f"That is not what a hook is told: {error}.") from error


def _brief(made: Brief, out: Look) -> str:
    return f"{made.text}\n\n{made.line}" if made.text else "= nothing to tell yet"


def watch(app: App, poll: bool, once: bool, folders: Sequence[str] = ()) -> None:
    from ..project.watch import Watcher, watched_folders

    with app.open() as engine:
        places = [Path(folder).absolute() for folder in folders] or watched_folders(engine.settings)
        if not places:
            raise BadInput("There is nothing to watch.", fix='Name a folder, or set: watch = "/path/to/notes"')
        watcher = Watcher(engine, places, project=app.places.get("project"), poll=poll, said=app.notes.say)
        if once:
            app.say(watcher.scan().as_dict(), _watched)
            return
        stopping = threading.Event()
        with interruptible(lambda _: stopping.set()):
            app.notes.say(f"watching {', '.join(map(str, places))}; Ctrl-C ends it")
            done = watcher.run(stopping)
        app.say(done.as_dict(), _watched)


def _watched(done: dict[str, Any], out: Look) -> str:
    head = f"✓ {plural(done['files'], 'file')} taken in, {done['retired']} memories retired"
    return "\n".join([head, *(f"! {line}" for line in done["skipped"])])
