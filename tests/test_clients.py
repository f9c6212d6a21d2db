"""Real clients of others against our server: the TypeScript SDKs of both eras, the Inspector, the conformance suite."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

import recollect
from node_clients import CONFORMANCE, INSPECTOR, TALK, needs_npm, run, told
from recollect.entrypoints.link import INFO
from served import SECRET, Server, serving

pytestmark = needs_npm
COMMAND = [sys.executable, "-m", "recollect", "mcp"]
# What needs no tools of the suite's own, for servers of each version.
SCENARIOS = {
    "2025-11-25": "server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection",
    "2026-07-28": "tools-list resources-list prompts-list dns-rebinding-protection caching http-header-validation "
    "sep-2164-resource-not-found server-sse-multiple-streams",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with (
        recollect.open(tmp_path_factory.mktemp("store") / "s.db", embedder="hashing", actor="test") as engine,
        serving(engine) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that takes everybody for the owner: the suite has no way to send a token."""

    def trusting(app: ASGIApp) -> ASGIApp:
        async def asked(scope: Scope, receive: Receive, send: Send) -> None:
            shown = (b"authorization", f"Bearer {SECRET}".encode())
            await app({**scope, "headers": [*scope.get("headers", []), shown]}, receive, send)

        return asked

    with (
        recollect.open(tmp_path_factory.mktemp("open") / "s.db", embedder="hashing", actor="test") as engine,
        serving(engine, before=trusting) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a home whose daemon the first client starts, and which is ended afterwards."""
    folder = tmp_path_factory.mktemp("home")
    yield {"RECOLLECT_HOME": str(folder), "RECOLLECT_EMBEDDER": "hashing"}
    end_daemon(folder)


def end_daemon(home: Path) -> None:
    if (home / INFO).exists():
        os.kill(json.loads((home / INFO).read_text())["pid"], signal.SIGTERM)


def understood(said: dict[str, Any], era: str) -> None:
    assert len(said["tools"]) == 12
    assert "Look before you answer" in said["instructions"]
    assert said["remembered"].startswith("Remembered as ")
    assert f"The {era} era deploys on Thursdays." in said["recalled"]
    assert said["wrong"] is True
    assert said["batch"] == "3 done."
    # What arrives in one piece with the answer is lost on this client: it stops listening before it has looked at it.
    assert said["progress"]
    assert said["progress"] == [1, 2, 3][: len(said["progress"])]
    assert f"{era} three" in said["resource"]
    assert "deploys on Thursdays" in said["prompt"]


@pytest.mark.parametrize("era", ["old", "new"])
def test_typescript_over_http(server: Server, era: str) -> None:
    understood(told(TALK, era, f"{server.url}/mcp/{era}", TOKEN=server.secret), era)


@pytest.mark.parametrize("era", ["old", "new"])
def test_typescript_over_stdio(home: dict[str, str], era: str) -> None:
    understood(told(TALK, era, "--", *COMMAND, "--project", era, **home), era)


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_inspector_lists_and_calls(server: Server, home: dict[str, str], transport: str) -> None:
    shown = ["--header", f"Authorization: Bearer {server.secret}"]
    over = {"http": [f"{server.url}/mcp", "--transport", "http", *shown], "stdio": COMMAND}
    # It hands a server it starts nothing of its own environment.
    told_env = [word for name, value in home.items() for word in ("-e", f"{name}={value}")]
    inspect = [INSPECTOR, "--cli", *over[transport], *told_env, "--format", "json", "--method"]
    listed = told(*inspect, "tools/list", "--strict", **home)
    assert len(listed["result"]["tools"]) == 12
    call = [*inspect, "tools/call", "--tool-name"]
    kept = told(*call, "remember", "--tool-arg", f"content=Inspected over {transport}.", **home)
    assert kept["result"]["content"][0]["text"].startswith("Remembered as ")
    found = told(*call, "recall", "--tool-arg", "query=what was inspected?", **home)
    assert f"Inspected over {transport}." in found["result"]["content"][0]["text"]
    assert run(*call, "recall", **home).returncode == 5, "a tool that fails says so"


@pytest.mark.parametrize("version", SCENARIOS)
def test_the_conformance_suite_of_a_version(open_server: Server, version: str) -> None:
    wanted = SCENARIOS[version].split()
    which = ["--requirements", version] if version == "2026-07-28" else ["--suite", "active", "--spec-version", version]
    done = run(CONFORMANCE, "server", "--url", f"{open_server.url}/mcp", *which)
    results = {name: mark for mark, name in re.findall(r"^(✓|✗) ([\w-]+): \d+ passed", done.stdout, re.MULTILINE)}
    assert {name: results.get(name) for name in wanted} == dict.fromkeys(wanted, "✓"), done.stdout[-3000:]


def test_the_stateless_scenario_fails_only_for_want_of_the_suites_own_tools(open_server: Server) -> None:
    done = run(
        CONFORMANCE, "server", "--url", f"{open_server.url}/mcp", "--scenario", "server-stateless", "--spec-version",
        "2026-07-28",
    )  # fmt: skip
    errors = re.findall(r"^\s+Error: (.*)$", done.stdout, re.MULTILINE)
    assert [error for error in errors if not error.startswith("Not testable: server does not list")] == []
    assert re.search(r"Passed: 21/25", done.stdout), done.stdout[-2000:]
