"""The commands of a project: `ingest`, `git`, and how a repository looks to a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import ids
from ..ops import project as words
from . import present
from .commands import Asked, View, show
from .present import Look, plural, tally
from .program import App
from .terminal import progress

if TYPE_CHECKING:
    from ..engine import Engine
    from ..project.ingest import Report
    from ..project.refresh import Refreshed
    from ..project.truth import Verified


def git(asked: Asked, refresh: bool) -> None:
    if not refresh:
        show(asked, asked.answer())
        return
    with asked.app.open() as engine:
        asked.app.say(_refreshed(engine, asked.app.caller(engine).home.project), _kept_up)


def _refreshed(engine: Engine, project: str) -> Refreshed:
    from ..agents.places import Places
    from ..project.git import find
    from ..project.refresh import refresh

    repository = find(Path.cwd())
    Places(engine.settings).note(project, repository.root)
    return refresh(engine, repository, project)


def _kept_up(done: Refreshed, out: Look) -> str:
    told = [f"{plural(done.commits, 'commit')} taken in"]
    told += [f"{plural(done.files, 'file')} read again"] if done.files else []
    for name in ("promoted", "archived", "stale", "recovered"):
        if found := getattr(done, name):
            told.append(f"{len(found)} {name}")
    return f"✓ {', '.join(told)}"


def _state(found: dict[str, Any], out: Look, asked: Asked) -> str:
    lines = words.told(found["state"]) if found["state"] else ["No repository here."]
    lines += [f"history: {words.line(commit)}" for commit in found["history"]]
    lines += [f"changed by {one.name}: {one.commits} times, last {one.last:%Y-%m-%d}" for one in found["authors"]]
    lines += words.changed(found["patch"]) if found["patch"] else []
    return "\n".join([*lines, *([found["task"].content] if found["task"] else [])])


def _searched(found: dict[str, Any], out: Look, asked: Asked) -> str:
    lines = [words.line(commit) for commit in found["commits"]]
    if found["memories"]:
        lines += ["No commit has these words; these come close:", *(one.title for one in found["memories"])]
    return "\n".join(lines) or "No commit fits."


def _task(found: dict[str, Any], out: Look, asked: Asked) -> str:
    if not found["task"]:
        return "No task is set."
    lines = [found["task"].content, *(words.told(found["state"]) if found["state"] else ())]
    return "\n".join([*lines, *(f"bears on it: {one.title or one.content}" for one in found["related"])])


def _verified(found: Verified, out: Look, asked: Asked) -> str:
    head = f"{plural(found.checked, 'memory', 'memories')} looked at"
    if not found.stale:
        lines = [f"✓ {head}; everything they cite stands"]
    else:
        lines = [f"! {head}; {len(found.stale)} need a look"]
    for one in found.stale:
        lines.append(f"  {ids.short(one.id)} {one.title}: {out.paint('; '.join(one.reasons), 'yellow')}")
    return "\n".join([*lines, *(f"  {ids.short(id)} stands again" for id in found.recovered)])


def ingest(app: App, path: str, dry_run: bool, project: str | None = None, kind: Any = None) -> None:
    from ..project.ingest import ingest as run
    from ..project.ingest import note_place

    with app.open() as engine:
        with progress("reading") as step:
            report = run(engine, Path(path), project=project, kind=kind, dry_run=dry_run, progress=step)
        if not dry_run:
            note_place(engine, Path(path), report.project)
        app.say(report, _ingested)
        if report.created or report.commits:  # it may be interrupted: the daemon goes on with it, or recollect embed
            with progress("giving vectors") as step:
                engine.embed(progress=step, change="never")
    if report.failed:
        raise click.exceptions.Exit(1)


def _ingested(report: Report, out: Look) -> str:
    """What a run did, in a few lines."""
    would = "would be " if report.dry_run else ""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.kinds.items()))
    mark = " " if report.dry_run else "✓"
    where = f"project {report.project}" if report.project else "no project"
    where += f", branch {report.branch}" if report.branch else ""
    lines = [f"{mark} {plural(report.files, 'file')} read{f' ({kinds})' if kinds else ''}, {where}"]
    lines += [f"  {plural(report.commits, 'commit')} remembered"] if report.commits else []
    done = [
        f"{count} {would}{what}"
        for count, what in (
            (report.created, "remembered"), (report.kept, "kept"), (report.edited, "brought up to date"),
            (report.superseded, "superseded"), (report.retired, "retired"), (report.refused, "refused"),
        )
        if count
    ]  # fmt: skip
    lines += [f"  {', '.join(done)}"] if done else []
    if report.unchanged:
        lines.append(out.dim(f"  {plural(report.unchanged, 'file')} unchanged"))
    if report.deleted:
        lines.append(out.dim(f"  {plural(report.deleted, 'file')} gone"))
    if report.skipped:
        lines.append(out.dim(f"  passed over: {tally(report.skipped)}"))
    lines += [f"! {plural(count, 'file')} of code read as text: {why}" for why, count in report.as_text.items()]
    if report.secrets:
        lines.append(f"  secrets taken out: {tally(report.secrets)}")
    lines += [f"! {name}: {why}" for name, why in report.failed.items()]
    return "\n".join(lines)


VIEWS = {
    "project_state": View(_state, lambda found, asked: 0 if found["state"] else 3),
    "search_commits": View(_searched),
    "set_task_context": View(lambda made, out, asked: present.remembered(made, out)),
    "get_task_context": View(_task),
    "verify": View(_verified, lambda found, asked: int(bool(found.stale))),
}
