"""A driver as the harness sees it: a process to which requests are sent, and what it and its children cost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import environments
from contract import Item, Options
from environments import Rival

DRIVERS = Path(__file__).parent / "drivers"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
QUIET = {  # nothing is sent anywhere and nothing is looked up at a hub
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False",
    "TELEMETRY_DISABLED": "1", "GRAPHITI_TELEMETRY_ENABLED": "false", "DO_NOT_TRACK": "1", "NO_COLOR": "1",
}  # fmt: skip


class Failed(Exception):
    """The rival refused, or its process ended; the message is what it said."""


class NotOffered(Exception):
    """The rival has no such function."""


class Process:
    """One rival with its data in `folder`."""

    def __init__(self, rival: Rival, folder: Path, options: Options, *, limit: float = 600) -> None:
        self.rival, self.folder, self._limit = rival, folder, limit
        folder.mkdir(parents=True, exist_ok=True)
        own = {name: value.format(folder=folder, **options) for name, value in rival.settings.items()}
        paths = f"{Path(__file__).parent}"
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": paths, "RECOLLECT_HOME": str(folder),
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"), "LANG": "C.UTF-8", **QUIET, **own,
        }  # fmt: skip
        self._errors = (folder / "driver.log").open("ab")
        self._process = subprocess.Popen(
            [environments.python(rival), str(DRIVERS / f"drive_{rival.driver}.py"), rival.name], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment, cwd=folder, start_new_session=True,
        )  # fmt: skip
        try:
            self.ask("open", folder=str(folder), options={**options, "install": str(rival.folder)})
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def ask(self, do: str, **given: Any) -> Any:
        if self._process.stdout is None:
            raise Failed("The process has no output.")
        timer = threading.Timer(self._limit, self.kill)
        timer.start()
        began = time.monotonic()
        try:
            self.send(do, **given)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            if time.monotonic() - began >= self._limit:
                raise Failed(f"No answer to {do!r} within {self._limit:.0f} s.")
            raise Failed(f"The process ended: {self.last_words()}")
        reply = json.loads(line)
        if "error" in reply:
            raise Failed(reply["error"])
        if "not_offered" in reply:
            raise NotOffered(do)
        return reply["ok"]

    def send(self, do: str, **given: Any) -> None:
        """Ask without waiting for the answer."""
        if self._process.stdin is None:
            raise Failed("The process has no input.")
        self._process.stdin.write(json.dumps({"do": do, **given}) + "\n")
        self._process.stdin.flush()

    def add(self, items: Sequence[Item]) -> None:
        self.ask("add", items=list(items))

    def search(self, query: str, limit: int, user: str = "") -> list[Item]:
        found: list[Item] = self.ask("search", query=query, limit=limit, user=user)
        return found

    def keys(self) -> list[str]:
        found: list[str] = self.ask("keys")
        return found

    def last_words(self) -> str:
        said = (self.folder / "driver.log").read_text("utf-8", "replace").strip().splitlines()
        return said[-1][:500] if said else "it said nothing"

    def cpu(self) -> float:
        """Processor seconds of the process and its descendants so far."""
        return sum(spent(pid) for pid in descendants(self._process.pid))

    def resident(self) -> float:
        """Megabytes of resident memory, all its processes together."""
        return sum(_resident(pid) for pid in descendants(self._process.pid)) / 1e6

    def kill(self) -> None:
        """As a power cut for the process: SIGKILL to it and to all that it started."""
        for pid in descendants(self._process.pid):
            _signal(pid)
        self._end()

    def close(self) -> None:
        if self._process.poll() is None:
            try:
                self.ask("close")
                self._process.wait(30)
            except (Failed, subprocess.TimeoutExpired):
                pass  # it is ended below
        self.kill()

    def _end(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


def descendants(pid: int) -> list[int]:
    """The process and all below it."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue  # it has ended
    return found


def spent(pid: int) -> float:
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in told[11:15]) / TICKS  # its own and those of children that have ended


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
