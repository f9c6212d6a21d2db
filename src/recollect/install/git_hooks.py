"""Git hooks: have a repository tell the daemon when it moved.

Each hook first runs the hook that was there before and ends with its exit code, then notifies the daemon in the
background. Uninstalling restores the earlier hook byte for byte.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path

from ..errors import BadInput
from ..project.git import Repository
from .files import Change, carry_out, read
from .hosts import NAME, Program

HOST = "git-hooks"
HOOKS = ("post-commit", "post-merge", "post-rewrite")
BEFORE = f".before-{NAME}"
MARK = f"# >>> {NAME} >>>"


def folder(repository: Repository) -> Path:
    """Where the hooks of a repository lie: its own folder, or the one its configuration names."""
    told = repository.ask("config", "--path", "--get-all", "core.hooksPath", fine=(0, 1)).splitlines()
    own = told[:-1]  # the last is what we switch hooks off with when we ask
    return repository.root / own[-1] if own else repository.common / "hooks"


def script(program: Program, hook: str) -> bytes:
    """What stands in a hook."""
    call = f"{program.hook(hook, 'git')} --no-start"
    text = resources.files(__package__).joinpath("git-hook.sh").read_text("utf-8")
    return text.format(mark=MARK, name=NAME, before=BEFORE, call=call).encode()


def plan(repository: Repository, program: Program, *, leave: bool = False) -> list[Change]:
    """What would change; empty when everything is as it should be."""
    changes: list[Change] = []
    for hook in HOOKS:
        path = folder(repository) / hook
        aside = path.with_name(hook + BEFORE)
        now, kept = read(path), read(aside)
        ours = now is not None and MARK.encode() in now
        if leave and ours:
            changes.append(Change(path, now, kept, kept))
            changes += [Change(aside, kept, None, None)] if kept is not None else []
        elif not leave and ours and now != script(program, hook):
            changes.append(Change(path, now, script(program, hook), kept))
        elif not leave and not ours:
            if kept is not None:
                raise BadInput(
                    f"{aside} is in the way: {path} was changed by somebody else since.",
                    fix=f"Keep one of the two as {path.name}, remove the other, and try again.",
                )
            changes += [Change(aside, None, now, None)] if now is not None else []
            changes.append(Change(path, now, script(program, hook), now))
    return changes


def change(
    repository: Repository, changes: Sequence[Change], home: Path, now: datetime, *, leave: bool = False
) -> Path | None:
    """Make the changes, with the modes that belong to them; gives the folder with what the files were before."""
    modes = {change.path: _mode(change.path) for change in changes}
    saved = carry_out(HOST, changes, home, now, leave=leave)
    for one in changes:
        aside = one.path.with_name(one.path.name + BEFORE)
        if one.after is None:
            continue
        if one.path.name.endswith(BEFORE):  # the hook that was there
            one.path.chmod(modes.get(one.path.with_name(one.path.name.removesuffix(BEFORE)), 0o755))
        elif leave:
            one.path.chmod(modes.get(aside, 0o755))
        else:
            one.path.chmod(0o755)
    return saved


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o755
