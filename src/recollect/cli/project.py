"""The commands on a repository: `git` shows where it stands, `commits` searches it, `task` keeps what is at hand, and
`verify` looks whether what memories cite still stands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import GitUnavailable, NoRepository
from .present import Look, plural
from .program import App, cli, command, several
from .terminal import Moment, spoken

if TYPE_CHECKING:
    from ..engine import Engine
    from ..project.refresh import Refreshed
    from ..project.truth import Verified


def cited_here(refs: Sequence[str]) -> tuple[str, ...]:
    """References, told from the top of this folder's repository, with what the files among them are now."""
    from ..project.git import find
    from ..project.truth import cited, files_of

    here = Path.cwd()
    try:
        repository = find(here) if any(True for _ in files_of(refs)) else None
    except (NoRepository, GitUnavailable):
        repository = None
    if repository is None:
        return tuple(refs)
    named = []
    for ref in refs:
        path, mark, symbol = ref.partition("::")
        own = (here / path).is_file() and not (repository.root / path).is_file()
        named.append(f"{os.path.relpath(here / path, repository.root)}{mark}{symbol}" if own else ref)
    return cited(named, repository)


@command("git")
@click.option("--file", metavar="PATH", help="Also the history of this file, and who changed it.")
@click.option("-n", "--commits", type=click.IntRange(0, 200), default=10, help="So many of the last commits.")
@click.option("--refresh", is_flag=True, help="Take in new commits, follow branches and verify citations now.")
def git_(app: App, file: str | None, commits: int, refresh: bool) -> None:
    """Where the repository of this folder stands, and what is at hand."""
    from ..ops import project as project_verbs

    with app.open() as engine:
        if refresh:
            app.say(_refreshed(engine, app.caller(engine).home.project), _kept_up)
            return
        found = project_verbs.project_state(engine, app.caller(engine), commits=commits, file=file)
    app.skipped(found["skipped"])
    app.say(found, _state)
    if not found["state"]:
        raise click.exceptions.Exit(3)


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


def _state(found: dict[str, Any], out: Look) -> str:
    from ..ops import project as project_verbs

    lines = project_verbs.told(found["state"]) if found["state"] else ["No repository here."]
    lines += [f"history: {project_verbs.line(commit)}" for commit in found["history"]]
    lines += [f"changed by {one.name}: {one.commits} times, last {one.last:%Y-%m-%d}" for one in found["authors"]]
    return "\n".join([*lines, *([found["task"].content] if found["task"] else [])])


@command()
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@click.option("--author", help="Who made it.")
@click.option("--path", help="Only commits that changed this file or folder.")
@click.option("--since", type=Moment(), help="2026-03-01, 7d, 2h, or an ISO time with its zone.")
@click.option("--until", type=Moment(whole_day=True), help="The same; a day counts to its end.")
@click.option("-S", "--content", metavar="TEXT", help="A text that the commit added or removed.")
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=20, help="At most so many.")
def commits(
    app: App, words: tuple[str, ...], author: str | None, path: str | None, since: datetime | None,
    until: datetime | None, content: str | None, limit: int,
) -> None:  # fmt: skip
    """Search the commits of this repository.

    QUERY are words of the message; each must occur. Where none has them, commits that are remembered and come close
    are told.
    """
    from ..ops import project as project_verbs

    asked: dict[str, Any] = {"author": author, "path": path, "since": since, "until": until, "content": content}
    given = {name: value for name, value in asked.items() if value is not None}
    with app.open() as engine:
        found = project_verbs.search_commits(engine, app.caller(engine), query=" ".join(words), limit=limit, **given)
    app.skipped(found["skipped"])
    app.say(found, _searched)


def _searched(found: dict[str, Any], out: Look) -> str:
    from ..ops import project as project_verbs

    lines = [project_verbs.line(commit) for commit in found["commits"]]
    if found["memories"]:
        lines += ["No commit has these words; these come close:", *(one.title for one in found["memories"])]
    return "\n".join(lines) or "No commit fits."


@cli.group("task")
def task() -> None:
    """Keep what is being worked on from one session to the next."""


_BRANCH = click.option("--branch", metavar="NAME", help="Only of this branch.")


@command("set", group=task)
@click.argument("words", nargs=-1, metavar="TEXT...")
@several("--detail", "details", metavar="NAME=TEXT", help="Anything more; may be given several times.")
@_BRANCH
def set_(app: App, words: tuple[str, ...], details: tuple[str, ...], branch: str | None) -> None:
    """Set the task at hand; it takes the place of the one before."""
    from ..ops import project as project_verbs
    from . import present

    content = spoken(words, "task set")
    named = {name.strip(): value.strip() for one in details for name, _, value in [one.partition("=")]}
    with app.open() as engine:
        made = project_verbs.set_task_context(
            engine, app.caller(engine), task=content, details=named, **({"branch": branch} if branch else {})
        )
    app.say(made, present.remembered)


@command("get", group=task)
@_BRANCH
def get(app: App, branch: str | None) -> None:
    """The task at hand, where the repository stands, and what bears on it."""
    from ..ops import project as project_verbs

    with app.open() as engine:
        found = project_verbs.get_task_context(engine, app.caller(engine), **({"branch": branch} if branch else {}))
    app.say(found, _task)


def _task(found: dict[str, Any], out: Look) -> str:
    from ..ops import project as project_verbs

    if not found["task"]:
        return "No task is set."
    lines = [found["task"].content, *(project_verbs.told(found["state"]) if found["state"] else ())]
    return "\n".join([*lines, *(f"bears on it: {one.title or one.content}" for one in found["related"])])


@command()
@several("--accept", metavar="ID", help="Still true: cite the files as they are now. May be given several times.")
@click.option("--dry-run", is_flag=True, help="Only list; mark nothing.")
def verify(app: App, accept: tuple[str, ...], dry_run: bool) -> None:
    """Look whether what memories cite still stands.

    Files, symbols and commits are looked at again. What does not stand is marked stale and listed, and shown so
    wherever it is recalled. Ends with 1 if anything is.
    """
    from ..ops import project as project_verbs

    with app.open() as engine:
        found = project_verbs.verify(
            engine, app.caller(engine), accept=accept, dry_run=dry_run, project=app.given["project"]
        )  # fmt: skip
    app.say(found, _verified)
    if found.stale:
        raise click.exceptions.Exit(1)


def _verified(found: Verified, out: Look) -> str:
    from .. import ids

    head = f"{plural(found.checked, 'memory', 'memories')} looked at"
    if not found.stale:
        lines = [f"✓ {head}; everything they cite stands"]
    else:
        lines = [f"! {head}; {len(found.stale)} need a look"]
    for one in found.stale:
        lines.append(f"  {ids.short(one.id)} {one.title}: {out.paint('; '.join(one.reasons), 'yellow')}")
    return "\n".join([*lines, *(f"  {ids.short(id)} stands again" for id in found.recovered)])
