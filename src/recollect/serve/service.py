"""The daemon as a service of systemd or launchd, started when its user logs in."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import DaemonRunning, StoreReadOnly
from ..settings import DEFAULT_HOME

Kind = Literal["systemd", "launchd"]
LABEL = "dev.recollect.daemon"
UNIT = "recollect.service"


@dataclass(frozen=True, slots=True)
class Service:
    """A file, what to run once it is there, and what to run before it goes."""

    path: Path
    content: bytes
    install: tuple[tuple[str, ...], ...]
    uninstall: tuple[tuple[str, ...], ...]


def usual() -> Kind:
    return "launchd" if sys.platform == "darwin" else "systemd"


def of(kind: Kind, home: Path, user: Path) -> Service:
    """The service for a home, in the folders of a user."""
    if kind == "launchd":
        path = user / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        return Service(
            path, plist(sys.executable, home),
            (("launchctl", "bootstrap", domain, str(path)),),
            (("launchctl", "bootout", f"{domain}/{LABEL}"),),
        )  # fmt: skip
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or user / ".config")
    control = ("systemctl", "--user")
    return Service(
        folder / "systemd" / "user" / UNIT, unit(sys.executable, home),
        ((*control, "daemon-reload"), (*control, "enable", "--now", UNIT)),
        ((*control, "disable", "--now", UNIT),),
    )  # fmt: skip


def unit(python: str, home: Path) -> bytes:
    """The unit of systemd.

    That another daemon was first (9) is no failure: there is one, which is what the unit is for.
    """
    own = "" if home == DEFAULT_HOME.expanduser() else f"Environment={_quoted(f'RECOLLECT_HOME={home}')}\n"
    return f"""\
[Unit]
Description=Recollect, memory for AI assistants that write code

[Service]
ExecStart={_quoted(python).replace("$", "$$")} -P -m recollect serve
{own}Restart=on-failure
RestartSec=5
SuccessExitStatus={DaemonRunning.exit}
RestartPreventExitStatus={DaemonRunning.exit}
TimeoutStopSec=30

[Install]
WantedBy=default.target
""".encode()


def _quoted(word: str) -> str:
    """A word as a unit file wants it: in quotes, and with the signs that mean something there made plain."""
    for sign, plain in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        word = word.replace(sign, plain)
    return f'"{word}"'


def plist(python: str, home: Path) -> bytes:
    """The property list of launchd."""
    told: dict[str, object] = {
        "Label": LABEL,
        "ProgramArguments": [python, "-P", "-m", "recollect", "serve"],
        "EnvironmentVariables": {"RECOLLECT_HOME": str(home)},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 60,
        "ProcessType": "Background",
    }
    return plistlib.dumps(told, sort_keys=False)


def write(service: Service) -> bool:
    """Write the file; says whether it was not there like this before."""
    try:
        if service.path.exists() and service.path.read_bytes() == service.content:
            return False
        service.path.parent.mkdir(parents=True, exist_ok=True)
        service.path.write_bytes(service.content)
    except OSError as error:
        raise StoreReadOnly(f"{service.path} cannot be written: {error.strerror}.") from error
    return True


def execute(commands: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Run them where the program for it is there; gives those that could not be run or failed."""
    left = []
    for command in commands:
        if shutil.which(command[0]) is None:
            left.append(tuple(command))
            continue
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        if done.returncode:
            left.append(tuple(command))
    return left
