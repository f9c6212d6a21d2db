"""The commands that connect assistants: `install` and `uninstall`."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import settings
from ..entrypoints import link
from ..errors import BadInput
from ..install.program import passed_on, refuse_passwords, script
from .program import App

if TYPE_CHECKING:
    from ..install.files import Change

GIT_HOOKS = "git-hooks"
PATIENCE = 60.0  # seconds that a daemon may take to start
NAMES = (
    "claude", "codex", "gemini", "cursor", "vscode", "windsurf", "opencode", "qwen", "copilot", "cline", "zed", "junie",
    "kiro", "amp", "crush", "continue", GIT_HOOKS,
)  # fmt: skip


def install(app: App, dry_run: bool, every: bool, tools: str = "", host: str | None = None) -> None:
    if every and host:
        raise BadInput("--all and HOST exclude each other.", fix="Give one of the two.")
    if tools:
        from ..serve.tools import listed

        listed(tools)  # which names what is not known
    if every:
        _install_all(app, dry_run, tools)
    elif host is None:
        overview(app)
    else:
        change(app, host, dry_run, leave=False, tools=tools)


def _install_all(app: App, dry_run: bool, tools: str) -> None:
    """Connect every assistant whose folder is there."""
    from ..install import hosts

    _, folders, _ = here(app)
    found = [host.name for host in hosts.HOSTS.values() if host.is_here(folders)]
    if not found:
        raise BadInput("No assistant is found here.", fix=f"Name one: {', '.join(hosts.HOSTS)}.")
    for name in found:
        change(app, name, dry_run, leave=False, tools=tools)


def uninstall(app: App, host: str, dry_run: bool) -> None:
    change(app, host, dry_run, leave=True)


def change(app: App, name: str, dry_run: bool, *, leave: bool, tools: str = "") -> None:
    if name == GIT_HOOKS:
        change_git(app, dry_run, leave=leave)
        return
    from ..install import files, hosts

    program, folders, home = here(app)
    program = replace(program, tools=tools)
    if not leave:
        refuse_passwords(program, home)
    changes = files.plan(name, program, folders, home, leave=leave)
    saved = None if dry_run else files.carry_out(name, changes, home, datetime.now(UTC), leave=leave)
    runs = not (dry_run or leave) and started(program, home)
    remarks = files.remarks(name, program, folders, leave=leave)
    if not (dry_run or leave or runs):
        remarks.append("The daemon does not come up, so sessions begin without memories. See why: recollect serve")
    found = hosts.host(name)
    more = "".join(f"\n! {remark}" for remark in remarks)
    nothing = f"= {found.title} is {'not connected' if leave else 'connected already'}; nothing to change{more}"
    note, up = f" {found.note}" if found.note else "", " The daemon runs." if runs else ""
    then = "" if leave else f"\n {up} Start a new session of {found.title} to use it.{note}"
    done = f"✓ {found.title} is {'disconnected' if leave else 'connected'}; the files as they were: {saved}{then}{more}"
    _say(app, name, changes, saved, dry_run, nothing, done, more, remarks=remarks, daemon=runs)


def change_git(app: App, dry_run: bool, *, leave: bool) -> None:
    """Put our hooks into the repository of this folder, or take them out."""
    from ..agents.home import project_of
    from ..agents.places import Places
    from ..install import git_hooks
    from ..project.git import find

    program, _, home = here(app)
    if not leave:
        refuse_passwords(program, home)
    repository = find(Path.cwd())
    changes = git_hooks.plan(repository, program, leave=leave)
    saved = None if dry_run else git_hooks.change(repository, changes, home, datetime.now(UTC), leave=leave)
    if not dry_run and not leave:
        Places(settings.load(**app.given)[0]).note(project_of(str(repository.root)), repository.root)
    nothing = f"= no hook of ours is in {repository.root}" if leave else "= the hooks are in place already"
    told = "no longer tells of its commits" if leave else "tells of its commits from now on"
    done = f"✓ {repository.root} {told}; the files as they were: {saved}"
    _say(app, GIT_HOOKS, changes, saved, dry_run, nothing, done)


def _say(
    app: App, name: str, changes: Sequence[Change], saved: Path | None, dry_run: bool, nothing: str, done: str,
    more: str = "", **extra: Any,
) -> None:  # fmt: skip
    """Show what changed or would change."""
    shown = "".join(change.diff() for change in changes)
    would = f"{len(changes)} file{'s' * (len(changes) > 1)} would change; nothing was touched.{more}"
    text = nothing if not changes else f"{shown}\n{would if dry_run else done}"
    data = {
        "host": name,
        "dry_run": dry_run,
        "changes": [{"path": str(change.path), "diff": change.diff()} for change in changes],
        "backup": str(saved) if saved else None,
        **extra,
    }
    app.say(data, lambda _, out: text)


def started(program: Any, home: Path) -> bool:
    """Whether a daemon runs, which is started if need be: the first session is not to wait for it."""
    os.environ |= program.settings  # what was chosen by an option, too
    return link.start(str(home.absolute()), wait=PATIENCE)


def overview(app: App) -> None:
    from ..install import files, hosts

    program, folders, home = here(app)
    rows = []
    for host in hosts.HOSTS.values():
        try:
            state = "connected" if files.connected(host.name, program, folders, home) else "not connected"
            state = "; ".join([state, *files.remarks(host.name, program, folders)])
        except BadInput as error:
            state = error.message
        rows.append({"host": host.name, "title": host.title, "state": state})
    app.say(rows, lambda _, out: "\n".join(f"{row['host']:10} {row['title']:12} {row['state']}" for row in rows))


def connected(app: App) -> list[tuple[str, bool, list[str]]]:
    """The assistants that have something of ours, whether their hooks capture, and what keeps them from it."""
    from ..install import files, hosts

    program, folders, home = here(app)
    return [
        (host.name, host.captures, files.remarks(host.name, program, folders))
        for host in hosts.HOSTS.values() if files.has_ours(host.name, home)
    ]  # fmt: skip


def here(app: App) -> tuple[Any, Any, Path]:
    """The program as hosts should call it, the folders of the hosts, and our own."""
    from ..install import hosts

    chosen, origin = settings.load(**app.given)
    folders = hosts.Folders(os.environ, Path.home(), platform.system())
    return hosts.Program(script(), passed_on(chosen, origin)), folders, chosen.home
