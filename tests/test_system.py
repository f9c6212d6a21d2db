"""Without what only POSIX has: the program runs as it would on Windows, over TCP and with that system's locks.

A real Windows was not to be had. A `sitecustomize` takes the names away in every process that the test starts, and
puts a stand-in for `msvcrt` in their place, which locks with what the real system has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.entrypoints import system

WITHOUT_POSIX = """
import asyncio, errno, fcntl, multiprocessing, os, select, shutil, signal, socket, subprocess, sys, tempfile, types
if "serve" in sys.orig_argv:
    import mcp.server.stdio, uvicorn, watchfiles  # they ask for the names of their own system

def locking(file, how, size, flock=fcntl.lockf, own=fcntl):
    at = os.lseek(file, 0, os.SEEK_CUR)
    assert at == 1 << 30, "what is locked there cannot be read by others"
    try:
        own.flock(file, own.LOCK_EX | own.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "locked")

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
sys.modules["fcntl"] = sys.modules["resource"] = sys.modules["pwd"] = None
os.supports_dir_fd.discard(os.open)
pair, family = socket.socketpair, socket.AF_UNIX
socket.socketpair = lambda *given: pair(*(given or (family,)))  # the event loop of this system wants one
for module, names in (
    (os, "fork setsid getuid pread pwrite O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_CLOEXEC O_NOCTTY O_PATH"),
    (socket, "AF_UNIX SO_PEERCRED"),
    (signal, "SIGALRM setitimer SIGCONT"),
    (select, "poll"),
):
    for name in names.split():
        delattr(module, name)
"""


def run(*words: str, home: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    with_site = os.pathsep.join([str(home.parent / "site"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": with_site, "RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words], env=environment, input=given, text=True, capture_output=True,
        timeout=120, check=False, cwd=home.parent,
    )  # fmt: skip


def told(*words: str, home: Path, given: str = "") -> Any:
    done = run(*words, "--json", home=home, given=given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT_POSIX)
    return tmp_path / "home"


def test_without_posix_the_daemon_serves_commands_hooks_and_mcp_by_its_port_and_secret(home: Path) -> None:
    assert run("remember", "Ana owns the billing service.", home=home).returncode == 0
    info = told("serve", "--background", "--port", "0", home=home)
    try:
        assert info["socket"] == ""
        assert told("status", home=home)["running"]
        assert told("recall", "who owns billing?", home=home)["hits"][0]["memory"]["content"].startswith("Ana owns")
        again = run("serve", "--background", home=home)
        assert again.returncode != 0
        assert "already running" in again.stderr
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "who owns the billing service?"}
        hook = run("hook", "UserPromptSubmit", "--host", "claude", home=home, given=json.dumps(prompt))
        assert (hook.returncode, hook.stderr) == (0, "")
        asked: list[dict[str, object]] = [
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "billing"}}},
        ]  # fmt: skip
        lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
        assert "Ana owns the billing service." in run("mcp", home=home, given=lines).stdout
    finally:
        assert told("stop", home=home)["stopped"]
    assert run("status", home=home).returncode == 3


def test_without_posix_files_are_ingested_and_exports_leave_nothing_behind(home: Path) -> None:
    project = home.parent / "project"
    project.mkdir()
    (project / "notes.md").write_text("# Release\n\nReleases leave on Thursdays.\n")
    assert run("ingest", str(project), home=home).returncode == 0
    assert "Thursdays" in run("export", "-o", "-", home=home).stdout
    assert not list((home / "scratch").glob("*"))


def test_a_lock_that_another_process_holds_is_said_at_once(tmp_path: Path) -> None:
    first, second = (system.open_private(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    system.lock(first)
    with pytest.raises(BlockingIOError):
        system.lock(second, wait=False)
    os.close(first)
    system.lock(second, wait=False)
    os.close(second)
