"""The program as an assistant calls it: its command, and the settings that are passed on."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import settings
from ..errors import BadInput

CREDENTIAL = re.compile(r"://[^/?@]*:[^/?]*@|password=")


def passed_on(chosen: settings.Settings, origin: Mapping[str, str]) -> dict[str, str]:
    """The settings of the environment and the command line, as an assistant must have them to reach the same store.

    The file of settings needs no passing on. The project is that of the folder an assistant works in.
    """
    found = {}
    for name, source in origin.items():
        if source in ("default", str(chosen.config_path)) or name == "project":
            continue
        value = str(getattr(chosen, name))
        if name == "home" and chosen.home == settings.DEFAULT_HOME.expanduser():
            continue
        if name == "store":
            value = chosen.standing
        elif name in ("home", "bank", "daily_log") and value:
            value = str(Path(value).expanduser().resolve())
        found[f"{settings.PREFIX}{name.upper()}"] = value
    return dict(sorted(found.items()))


def refuse_passwords(program: Any, home: Path) -> None:
    """Raise where a setting that would be passed on holds a password: those files are copied and shared."""
    for name, value in program.settings.items():
        if CREDENTIAL.search(value):
            raise BadInput(
                f"{name} holds a password, which does not belong into the files of an assistant.",
                fix=f"Write it into {home / 'config.toml'} and leave it out of the environment.",
            )


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
