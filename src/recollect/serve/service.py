"""The daemon as a service of systemd or launchd, or a task of Windows, started when its user logs in."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from codecs import BOM_UTF16
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

from ..entrypoints.system import user_id
from ..errors import DaemonRunning, StoreReadOnly
from ..settings import DEFAULT_HOME

Kind = Literal["systemd", "launchd", "schtasks"]
LABEL = "dev.recollect.daemon"
UNIT = "recollect.service"


@dataclass(frozen=True, slots=True)
class Service:
    """A file, what to run once it is there, and what to run before it goes."""

    path: Path
    content: bytes
    install: tuple[tuple[str, ...], ...]
    uninstall: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        return self.content.decode("utf-16" if self.content.startswith(BOM_UTF16) else "utf-8")


def usual() -> Kind:
    return "schtasks" if os.name == "nt" else "launchd" if sys.platform == "darwin" else "systemd"


def of(kind: Kind, home: Path, user: Path) -> Service:
    """The service for a home, in the folders of a user."""
    if kind == "launchd":
        path = user / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{user_id()}"
        return Service(
            path, plist(sys.executable, home),
            (("launchctl", "bootstrap", domain, str(path)),),
            (("launchctl", "bootout", f"{domain}/{LABEL}"),),
        )  # fmt: skip
    if kind == "schtasks":
        path = home / "task.xml"
        return Service(
            path, task(sys.executable, home),
            (("schtasks", "/Create", "/F", "/TN", LABEL, "/XML", str(path)), ("schtasks", "/Run", "/TN", LABEL)),
            (("schtasks", "/End", "/TN", LABEL), ("schtasks", "/Delete", "/F", "/TN", LABEL)),
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


def task(python: str, home: Path) -> bytes:
    """A task for the Windows scheduler, which reads XML in UTF-16."""
    run = subprocess.list2cmdline([python, "-P", "-m", "recollect", "serve"])
    return f"""\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions><Exec>
    <Command>cmd.exe</Command>
    <Arguments>{escape(f'/d /s /c "set "RECOLLECT_HOME={home}" && {run}"')}</Arguments>
  </Exec></Actions>
</Task>
""".encode("utf-16")


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
