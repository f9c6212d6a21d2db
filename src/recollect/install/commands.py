"""The commands that connect assistants: `install` and `uninstall`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from .. import settings
from ..errors import BadInput
from ..present import Look
from ..program import App, command

GIT_HOOKS = "git-hooks"
HOSTS = ("claude", "codex", "gemini", "cursor", "vscode", "windsurf", "opencode")


@command()
@click.argument("host", metavar="[HOST]", type=click.Choice((*HOSTS, GIT_HOOKS)), required=False)
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def install(app: App, host: str | None, dry_run: bool) -> None:
    """Connect an assistant: its hooks and its MCP server.

    HOST is claude, codex, gemini, cursor, vscode, windsurf or opencode. Its configuration files get what they need and
    keep everything else; each is saved first. Without HOST, tells which assistants are connected. With git-hooks, the
    repository you are in tells of its commits; hooks that are there go on running.
    """
    if host is None:
        overview(app)
    elif host == GIT_HOOKS:
        change_git(app, dry_run, leave=False)
    else:
        change(app, host, dry_run, leave=False)


@command()
@click.argument("host", metavar="HOST", type=click.Choice((*HOSTS, GIT_HOOKS)))
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def uninstall(app: App, host: str, dry_run: bool) -> None:
    """Take out what install put in, and leave everything else as it was.

    HOST is claude, codex, gemini, cursor, vscode, windsurf or opencode; git-hooks are those of the repository you are
    in, and what was there before comes back byte for byte.
    """
    if host == GIT_HOOKS:
        change_git(app, dry_run, leave=True)
    else:
        change(app, host, dry_run, leave=True)


def change(app: App, name: str, dry_run: bool, *, leave: bool) -> None:
    from . import files, hosts

    program, folders, home = here(app)
    changes = files.plan(name, program, folders, home, leave=leave)
    saved = None if dry_run else files.carry_out(name, changes, home, datetime.now(UTC), leave=leave)
    data = {
        "host": name,
        "dry_run": dry_run,
        "changes": [{"path": str(change.path), "diff": change.diff()} for change in changes],
        "backup": str(saved) if saved else None,
    }
    note = hosts.host(name).note

    def words(_: Any, out: Look) -> str:
        title = hosts.host(name).title
        if not changes:
            return f"= {title} is {'not connected' if leave else 'connected already'}; nothing to change"
        shown = "".join(change.diff() for change in changes)
        if dry_run:
            return f"{shown}\n{len(changes)} file{'s' * (len(changes) > 1)} would change; nothing was touched."
        told = f"✓ {title} is {'disconnected' if leave else 'connected'}; the files as they were: {saved}"
        more = "" if leave else f"\n  Start a new session of {title} to use it.{f' {note}' if note else ''}"
        return f"{shown}\n{told}{more}"

    app.say(data, words)


def change_git(app: App, dry_run: bool, *, leave: bool) -> None:
    """Put our hooks into the repository of this folder, or take them out."""
    from ..agents.home import project_of
    from ..project.git import find
    from ..project.places import Places
    from . import git_hooks

    program, _, home = here(app)
    repository = find(Path.cwd())
    changes = git_hooks.plan(repository, program, leave=leave)
    saved = None if dry_run else git_hooks.change(repository, changes, home, datetime.now(UTC), leave=leave)
    if not dry_run and not leave:
        Places(settings.load(**app.given)[0]).note(project_of(str(repository.root)), repository.root)
    data = {
        "host": GIT_HOOKS,
        "dry_run": dry_run,
        "changes": [{"path": str(change.path), "diff": change.diff()} for change in changes],
        "backup": str(saved) if saved else None,
    }

    def words(_: Any, out: Look) -> str:
        if not changes:
            return f"= no hook of ours is in {repository.root}" if leave else "= the hooks are in place already"
        shown = "".join(change.diff() for change in changes)
        if dry_run:
            return f"{shown}\n{len(changes)} file{'s' * (len(changes) > 1)} would change; nothing was touched."
        done = "no longer tells of its commits" if leave else "tells of its commits from now on"
        return f"✓ {repository.root} {done}; the files as they were: {saved}"

    app.say(data, words)


def overview(app: App) -> None:
    from . import files, hosts

    program, folders, home = here(app)
    rows = []
    for host in hosts.HOSTS.values():
        try:
            state = "connected" if files.connected(host.name, program, folders, home) else "not connected"
        except BadInput as error:
            state = error.message
        rows.append({"host": host.name, "title": host.title, "state": state})
    app.say(rows, lambda _, out: "\n".join(f"{row['host']:10} {row['title']:12} {row['state']}" for row in rows))


def here(app: App) -> tuple[Any, Any, Path]:
    """The program as hosts should call it, the folders of the hosts, and our own."""
    from . import hosts

    chosen, origin = settings.load(**app.given)
    folders = hosts.Folders(os.environ, Path.home(), platform.system())
    usual = origin["home"] == "default"
    return hosts.Program(script(), "" if usual else str(chosen.home.resolve())), folders, chosen.home


def script() -> str:
    """The installed command: beside the interpreter, or where the shell would find it."""
    beside = Path(sys.executable).parent / "recollect"
    found = str(beside) if beside.exists() else shutil.which("recollect")
    if not found:
        raise BadInput(
            "The command recollect is not installed where assistants could find it.",
            fix="Install it with: uv tool install 'recollect[server]', or with pipx.",
        )
    return found
