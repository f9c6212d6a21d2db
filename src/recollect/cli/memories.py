"""The commands around memories. Modules that take time to load are imported where they are used."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..errors import BadInput, Refused
from ..nouns import wire
from ..types import DERIVED, EVERYWHERE, SCOPE_FIELDS, Page, Recall
from . import present, terminal
from .commands import Asked, View, show
from .present import Look
from .program import App, cli, confirm
from .terminal import progress

EMPTY: dict[str, Any] = {"title": "", "reasoning": "", "tags": [], "keywords": [], "refs": [], "valid_from": None,
                         "valid_to": None, "expires_at": None}  # fmt: skip


def _recalled(result: Recall, out: Look, asked: Asked) -> str:
    empty = False
    if not result.hits:
        with asked.app.open() as engine:
            empty = not engine.stats()["memories"]
    return present.recalled(result, out, explain=asked.given.get("explain", False), empty=empty)


def _listed(page: Page, out: Look, asked: Asked) -> str:
    return present.listed(page, out, next_page(asked.app.argv, page.cursor))


def _reported(made: Any, asked: Asked) -> int:
    asked.app.skipped([made.report])
    return 0


VIEWS = {
    "remember": View(
        lambda made, out, asked: present.remembered(made, out),
        lambda made, asked: Refused.exit if made.action == "refused" else 0,
    ),
    "recall": View(_recalled),
    "context": View(lambda made, out, asked: made.text, _reported),
    "list": View(_listed),
    "link": View(lambda made, out, asked: present.linked(made, out)),
    "history": View(lambda found, out, asked: present.history(found, out)),
    "stats": View(lambda found, out, asked: present.stats(found, out)),
    "forget": View(lambda gone, out, asked: present.forgotten(gone, out)),
    "reject": View(lambda gone, out, asked: present.rejected(gone, out, asked.given.get("undo", False))),
}


def forget(asked: Asked, all_in_scope: bool, yes: bool, when_derived: str) -> None:
    derived = when_derived
    ids, purge, scope = asked.given.get("id"), asked.given.get("purge", False), asked.app.inside()
    whole = all_in_scope or (purge and not ids and "query" not in asked.given and scope != EVERYWHERE)
    if sum((whole, bool(ids), "query" in asked.given)) != 1:
        raise BadInput("Name what to forget: an id, a query or a scope.", fix="Give exactly one of the three.")
    # An id is an id, whatever the program was told of places; a query looks where the command names, or at home.
    places = scope.as_dict() if whole else {} if ids else asked.app.places
    asked.given = {name: value for name, value in asked.given.items() if name not in SCOPE_FIELDS} | places
    with asked.app.open() as engine:
        gone = asked.call(engine, dry_run=True, derived=DERIVED[derived == "keep"])
        if not asked.given.get("dry_run") and (gone.memories or (whole and purge)):
            if (purge or not ids) and not yes:
                confirm(partial(present.forgotten, gone))
                if derived == "ask" and gone.derived:
                    derived = DERIVED[not click.confirm("Erase what was derived from it too?", default=True, err=True)]
            if not (whole and purge):  # what was shown goes, and nothing that came since
                names = {name: value for name, value in asked.given.items() if name in ("purge", "reason")}
                asked.given = {**names, "id": [memory.id for memory in gone.memories]}
            gone = asked.call(engine, derived=DERIVED[derived == "keep"])
    show(asked, gone)


def edit(asked: Asked, clear: Sequence[str] = ()) -> None:
    changes = asked.given | {name: EMPTY[name] for name in clear}
    if changes.get("content") == "-":
        changes["content"] = terminal.piped()
    with asked.app.open() as engine:
        before = engine.get(changes.pop("id"), peek=True)
        if not changes.keys() - {"reason"} and terminal.asks():
            changes["content"] = click.edit(before.content, require_save=True) or before.content
        after = asked.operation.call(engine, asked.app.caller(engine), {**changes, "id": before.id})
    asked.app.say(after, lambda _, out: present.changed(before, after, out))


def show_whole(asked: Asked) -> None:
    with asked.app.open() as engine:
        memory = asked.call(engine)
        source, evidence = engine.evidence(memory.id)
        links = engine.links(memory.id)
    data = {"memory": memory, "source": source, "evidence": evidence, "links": links}
    asked.app.say(data, lambda _, out: present.shown(memory, source, evidence, links, out))


def next_page(argv: Sequence[str], cursor: str | None) -> str:
    """The command that was typed, with the cursor of the next page."""
    kept = [
        word for n, word in enumerate(argv) if not word.startswith("--cursor") and (n == 0 or argv[n - 1] != "--cursor")
    ]
    return shlex.join(["recollect", *kept, "--cursor", cursor]) if cursor else ""


def embed(app: App, later: bool) -> None:
    if later:
        with app.open() as engine:
            job = engine.embed_later()
        app.say(job, present.job)
        return
    with app.open() as engine, progress("embedding") as step:
        count = engine.embed(progress=step)
        if engine.settings.embedder == "off":
            app.notes.say("vector: switched off (embedder = off)")
    done = f"✓ {present.memories(count)} embedded" if count else "= nothing to embed"
    app.say({"embedded": count, "skipped": app.notes.said}, lambda _, out: done)


def jobs(
    app: App, limit: int, run: bool, stay: bool, states: Sequence[str] = (), retry: str | None = None,
    cancel: str | None = None,
) -> None:  # fmt: skip
    if sum(map(bool, (retry, cancel, run))) > 1 or (stay and not run):
        raise BadInput("Give one of --retry, --cancel and --run; --stay goes with --run.")
    with app.open() as engine:
        if run:
            worker = engine.jobs.worker()
            terminal.work(worker, stay=stay)
            app.say({"done": worker.done, "failed": worker.failed}, present.worked)
        elif retry:
            app.say(engine.jobs.retry(retry), present.job)
        elif cancel:
            app.say(engine.jobs.cancel(cancel), present.job)
        else:
            app.say(engine.jobs.list(states=tuple(states), limit=limit), present.jobs)


def migrate_store(app: App, source: str, target: str) -> None:
    from .. import settings
    from ..history.replay import replay
    from ..store import open_store
    from ..store.copy import copy
    from ..store.mark import Mark
    from ..store.sqlite_file import is_empty

    places = [settings.load(store=given)[0] for given in (source, target)]
    if not places[0].remote and not places[0].store_path.is_file():
        raise BadInput(f"There is no store at {places[0].place}.", fix="Check FROM; only TO is made if need be.")
    if len({one.place if one.remote else str(one.store_path.resolve()) for one in places}) == 1:
        raise BadInput("FROM and TO are the same store.", fix="Name another store to copy into.")
    if not places[1].remote and is_empty(places[1].store_path):
        Mark(places[1].store_path).clear()
    with ExitStack() as opened:
        old, new = (
            opened.enter_context(closing(open_store(one.place, one.busy_timeout, datetime.now(UTC)))) for one in places
        )
        result = copy(old, new, opened.enter_context(progress("copying and comparing")))
        again = replay(new, places[1], lambda: datetime.now(UTC))
        new.save()
    shown = [settings.shown(one.place) for one in places]
    data = {"from": shown[0], "to": shown[1], "sha256": result.sha256, **result.as_dict(), **again.as_dict()}
    app.say(data, lambda _, out: present.copied(result, shown[1], out) + present.again(again))


def doctor(app: App, fix: bool, accept: bool) -> None:
    from ..upkeep import doctor as doctors
    from . import install, probe

    fixed = doctors.accept(datetime.now(UTC), **app.given) if accept else []
    diagnosis = doctors.diagnose(__version__, datetime.now(UTC), **app.given)
    if fix:
        fixed += doctors.fix_permissions(diagnosis.exposed)
        if diagnosis.unindexed:
            with app.open() as engine:
                engine.mend()
            fixed.append("damaged rows taken from the journal, full text built again")
            diagnosis = doctors.diagnose(__version__, datetime.now(UTC), **app.given)
        if diagnosis.unembedded:
            with app.open() as engine, progress("embedding") as step:
                fixed.append(f"{present.memories(engine.embed(progress=step, change='never'))} embedded")
        diagnosis = doctors.diagnose(__version__, datetime.now(UTC), **app.given)
    checks = list(diagnosis.checks)
    if not diagnosis.broken:  # what is broken already would only be said twice
        checks.append(probe.capture(**app.given))
        checks += [probe.by_host(*told, **app.given) for told in install.connected(app)]
    app.say({"checks": checks, "fixed": fixed}, lambda _, out: present.diagnosis(checks, fixed, out))
    if any(check.status == "broken" for check in checks):
        raise click.exceptions.Exit(1)


def config(app: App, name: str | None = None) -> None:
    from dataclasses import fields

    from .. import settings

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


def version(app: App) -> None:
    from ..upkeep import doctor as doctors

    found = doctors.versions(__version__)
    app.say(found, lambda _, out: f"recollect {__version__} (Python {found['python']}, SQLite {found['sqlite']})")


def completion(app: App, shell: str) -> None:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    script = kind(cli, {}, "recollect", "_RECOLLECT_COMPLETE").source() if kind else ""
    app.say({"shell": shell, "script": script}, lambda _, out: script)
