"""Nothing leaves this machine, and nothing is written outside RECOLLECT_HOME: proved by the system calls themselves.

Each program runs under strace in a network namespace of its own that holds nothing but loopback, with `CI` unset,
because a library that reports home keeps quiet where it sees that variable. Whatever it would look up, connect to or
write is in the trace, whether it succeeded or not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repositories import Repo

CALLS = (
    "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,"
    "bind,connect,sendto,sendmsg,sendmmsg"
)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
BEHIND = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>")
HARMLESS = ("/dev/null", "/dev/tty")
# Files by which a name is looked up. Whoever only asks who the user is does not read these.
RESOLVER = ("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf")
# Where no namespace may be made, as in some containers, attempts are in the trace all the same.
NAMESPACES: tuple[list[str], ...] = (["unshare", "--net"], ["unshare", "--net", "--map-root-user"], [])
INSIDE = """
import fcntl, os, socket, struct, sys
with socket.socket() as any:
    try:
        fcntl.ioctl(any, 0x8914, struct.pack("16sh", b"lo", 0x1))  # loopback up: where the daemon listens
    except PermissionError:  # it is up already, outside a namespace of our own
        pass
os.execvp(sys.argv[1], sys.argv[1:])
"""
FIRST = "We deploy on Thursdays because support is fully staffed then."
ASKED = "when do releases go out?"


@dataclass
class Trap:
    """Runs programs in the namespace, and tells what they tried that they must not."""

    folder: Path
    namespace: list[str]

    @property
    def home(self) -> Path:
        return self.folder / "recollect"

    @property
    def trace(self) -> Path:
        return self.folder / "trace"

    def command(self, *words: str) -> list[str]:
        strace = ["strace", "-f", "-ff", "-qq", "-y", "-s", "4096", "--seccomp-bpf", "-e", f"trace={CALLS}"]
        return [*self.namespace, sys.executable, "-c", INSIDE, *strace, "-o", str(self.trace / "of"), *words]

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
        # Python's own compiled files, written beside the source when a checkout runs for the first time.
        return kept | {"HOME": str(self.folder / "person"), "RECOLLECT_HOME": str(self.home), "USER": "ana",
                       "TMPDIR": str(self.folder / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

    def run(self, *words: str, said: str = "") -> str:
        done = subprocess.run(
            self.command(*words), input=said, capture_output=True, text=True, check=False, env=self.environment(),
            cwd=self.folder / "project",
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def caught(self) -> list[str]:
        """The calls that reach for the network, or would make or change a file outside the home."""
        lines = [line for file in self.trace.iterdir() for line in file.read_text("utf-8", "replace").splitlines()]
        return sorted({line for line in lines if line[:1].isalpha() and self._forbidden(line)})

    def _forbidden(self, line: str) -> bool:
        call = line.partition("(")[0]
        if call in ("bind", "connect", "sendto", "sendmsg", "sendmmsg"):
            if "AF_INET" in line:
                return call != "bind" or "127.0.0.1" not in line
            paths = re.findall(r'sun_path="([^"]*)"', line)
            return any(not self._ours(path) for path in paths)
        paths = [path for path in QUOTED.findall(line) if path]
        if any(path in RESOLVER for path in paths):
            return True
        if call in ("open", "openat") and not re.search("O_CREAT|O_WRONLY|O_RDWR", line):
            return False
        bases = BEHIND.findall(line)
        whole = [os.path.join(bases[min(n, len(bases) - 1)] if bases else "", path) for n, path in enumerate(paths)]
        made = whole[-1:] if call.startswith("symlink") else whole  # before it stands where the link leads
        return any(not self._ours(path) for path in made)

    def _ours(self, path: str) -> bool:
        return path in HARMLESS or os.path.normpath(path).startswith(f"{self.home}")


def works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def trap() -> Iterator[Trap]:
    able = [
        way for way in NAMESPACES if shutil.which("strace") and works([*way, "strace", "-qq", "-e", "none", "true"])
    ]
    if not able:
        why = "WHAT LEAVES THIS MACHINE WAS NOT TESTED: strace is missing or forbidden (as root, make test installs it)"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="recollect-", dir="/tmp") as folder:  # short: a socket's path must fit
        made = Trap(Path(folder), able[0])
        for name in ("person", "temporary", "trace"):
            (made.folder / name).mkdir()
        Repo(made.folder / "project").put("Say when it runs", {"NOTES.md": "# Notes\n\nThe importer runs at night.\n"})
        yield made


RECOLLECT = (sys.executable, "-m", "recollect")


@pytest.mark.parametrize(
    "code",
    [
        "import socket\ntry: socket.getaddrinfo('example.org', 443)\nexcept OSError: pass",
        "import socket\ntry: socket.create_connection(('192.0.2.1', 443), 1)\nexcept OSError: pass",
        "import os; os.mkdir(os.path.expanduser('~/.cache'))",
        "import tempfile; tempfile.mkdtemp()",
    ],
)
def test_the_trap_springs(trap: Trap, code: str) -> None:
    trap.run(sys.executable, "-c", code)
    assert trap.caught()


def test_the_command_line_reaches_for_nothing_and_writes_only_at_home(trap: Trap) -> None:
    trap.run(*RECOLLECT, "remember", FIRST)
    assert "Thursdays" in trap.run(*RECOLLECT, "recall", ASKED, "--json")
    trap.run(*RECOLLECT, "ingest", ".")
    for words in (("ask", ASKED), ("brief",), ("context", ASKED), ("doctor",), ("stats",), ("list",)):
        trap.run(*RECOLLECT, *words)
    assert trap.caught() == []


def test_the_daemon_and_what_assistants_start_reach_for_nothing_and_write_only_at_home(trap: Trap) -> None:
    with serving(trap):
        trap.run(*RECOLLECT, "remember", FIRST)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        calls: list[dict[str, Any]] = [
            {"method": "initialize", "id": 1, "params": hello},
            {"method": "notifications/initialized"},
            {
                "method": "tools/call",
                "id": 2,
                "params": {"name": "remember", "arguments": {"content": "Ana owns billing."}},
            },
            {"method": "tools/call", "id": 3, "params": {"name": "recall", "arguments": {"query": "deploy Thursdays"}}},
        ]
        said = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)
        assert "Thursdays" in trap.run(*RECOLLECT, "mcp", said=said)
        event = {"session_id": "s", "cwd": str(trap.folder / "project"), "prompt": ASKED}
        for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            trap.run(*RECOLLECT, "hook", name, "--host", "claude", said=json.dumps({**event, "hook_event_name": name}))
        until(lambda: bool(json.loads(trap.run(*RECOLLECT, "status", "--json"))["model"]))  # and what it does then
        trap.run(*RECOLLECT, "recall", ASKED)
    assert trap.caught() == []


def test_a_server_without_a_daemon_reaches_for_nothing_and_writes_only_at_home(trap: Trap) -> None:
    (trap.home / "daemon.lock").mkdir(parents=True)  # so that no daemon can be had
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + "\n"
    assert "remember" in trap.run(*RECOLLECT, "mcp", said=said)
    assert trap.caught() == []
    assert not list(trap.home.glob("recollect-*"))


@contextmanager
def serving(trap: Trap) -> Iterator[None]:
    """A daemon in the trap, which is stopped by a command in the trap."""
    log = trap.folder / "log"
    with log.open("w") as out:  # no pipe: a daemon that outlived its strace would keep it open
        process = subprocess.Popen(trap.command(*RECOLLECT, "serve"), env=trap.environment(), stdout=out, stderr=out)
    try:
        until(lambda: (trap.home / "daemon.json").exists() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield
    finally:
        trap.run(*RECOLLECT, "stop")
    assert process.wait(60) == 0


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)
