"""One store, every surface, the same questions: the command line, HTTP, MCP and the Python client agree.

The questions are operations with their parameters. How each surface asks them is derived from the one list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from click.testing import CliRunner

import recollect
from recollect import Client, RecollectError, Scope
from recollect.agents.access import local
from recollect.cli import cli
from recollect.nouns import wire
from recollect.ops.catalogue import BY_NAME
from recollect.types import EVERYWHERE
from served import Server, serving
from test_mcp import call

ME = local("default", "test", EVERYWHERE)
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": "when do we deploy?", "limit": 2, "peek": True}),
    ("recall", {"query": "deploy", "kinds": ["decision"], "tags": ["release"], "since": "7d", "peek": True}),
    ("recall", {"query": "deploy", "states": ["any"], "project": "", "peek": True}),
    ("list", {"limit": 1}),
    ("list", {"kinds": ["fact", "decision"], "project": ""}),
    ("history", {"id": "KEPT"}),
    ("why", {"id": "KEPT", "depth": 1}),
    ("stats", {}),
    ("tags", {}),
    ("tags", {"limit": 1, "project": "elsewhere"}),
    ("projects", {}),
    ("projects", {"limit": 0}),
    ("usage", {"since": "2026-03-01"}),
    ("checkpoint_list", {}),
    ("checkpoint_diff", {"first": "before", "limit": 5}),
    ("hold_list", {}),
    ("retention_list", {}),
    ("answers", {"limit": 5}),
    ("answer_stats", {}),
    ("token_list", {}),
    ("webhook_list", {}),
    ("history", {"id": "zzzzzzzz"}),
    ("why", {"id": "no id"}),
    ("recall", {"query": "deploy", "limit": 0}),
    ("checkpoint_diff", {"first": "nowhere"}),
]
COUNTED = "recalled accessed last_recalled_at last_accessed_at shown"
PASSING = f"recall_cache timings computed_ms updated_at bytes at {COUNTED}".split()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    store = str(tmp_path / "store.db")
    monkeypatch.setenv("RECOLLECT_STORE", store)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    monkeypatch.chdir(Path("/"))
    with recollect.open(store) as engine, serving(engine) as server:
        engine.checkpoints.create("before")
        engine.remember("We deploy on Thursdays.", kind="decision", tags=["release"])
        engine.remember("Nobody may deploy on Fridays.", kind="rule")
        engine.policies.hold("case 7")
        engine.policies.retain(30, kind="turn")
        engine.answers.remember_answer("When do we deploy?", "On Thursdays.")
        yield server


def lasting(told: Any) -> Any:
    """A result without what passes: how long it took, how often something was looked at."""
    if isinstance(told, dict):
        return {name: lasting(value) for name, value in told.items() if name not in PASSING}
    return [lasting(value) for value in told] if isinstance(told, list) else told


def by_call(server: Server, name: str, given: dict[str, Any]) -> Any:
    try:
        return wire(BY_NAME[name].call(server.engine, ME, given))
    except RecollectError as error:
        return error.code


def by_cli(name: str, given: dict[str, Any]) -> Any:
    words = BY_NAME[name].cli.split()
    for told in BY_NAME[name].parameters:
        if (value := given.get(told.name)) is None:
            continue
        flag = (told.cli or f"--{told.name.replace('_', '-')}").split()[-1]
        if not flag.startswith("-"):
            words.append(value)
        elif told.name == "project" and value == "":
            words.append("--everywhere")
        elif value is True:
            words.append(flag)
        else:
            words += [part for one in (value if isinstance(value, list) else [value]) for part in (flag, str(one))]
    done = CliRunner().invoke(cli, [*words, "--json"])
    return json.loads(done.stdout) if done.exit_code == 0 else json.loads(done.stderr)["error"]["code"]


def by_http(server: Server, name: str, given: dict[str, Any]) -> Any:
    one = BY_NAME[name]
    path = one.path.replace("{id}", quote(str(given.get("id", "")), safe=""))
    rest = {key: value for key, value in given.items() if f"{{{key}}}" not in one.path}
    if one.method == "GET":
        answer = server.call("GET", f"{path}?{urlencode(rest, doseq=True)}" if rest else path)
    else:
        answer = server.call(one.method, path, rest)
    return answer.data if answer.status < 400 else answer.data["code"]


def by_client(server: Server, name: str, given: dict[str, Any]) -> Any:
    with Client(server.url, token=server.secret) as client:
        try:
            return wire(getattr(client, name)(**given))
        except RecollectError as error:
            return error.code


@pytest.mark.parametrize(("name", "asked"), QUESTIONS, ids=[f"{name}{n}" for n, (name, _) in enumerate(QUESTIONS)])
def test_every_surface_answers_the_same(server: Server, name: str, asked: dict[str, Any]) -> None:
    kept = server.engine.list(kinds=["decision"]).memories[0].id
    given = {key: kept if value == "KEPT" else value for key, value in asked.items()}
    wanted = lasting(json.loads(json.dumps(by_call(server, name, given))))
    assert lasting(by_cli(name, given)) == wanted
    assert lasting(by_http(server, name, given)) == wanted
    assert lasting(json.loads(json.dumps(by_client(server, name, given)))) == wanted
    if (one := BY_NAME[name]).mcp:
        said = call(server, one.mcp, given, path="/mcp?tools=full")
        if isinstance(wanted, str):
            assert said.startswith("failed: ")
        else:
            assert said == one.text(one.call(server.engine, ME, given), datetime.now(UTC))


def test_tags_are_counted_most_used_first_of_what_lies_in_the_project(server: Server) -> None:
    server.engine.remember("The build is green.", tags=["release", "ci"])
    server.engine.remember("Elsewhere it is not.", tags=["ci"], scope=Scope(project="elsewhere"))
    assert list(by_cli("tags", {"project": "elsewhere"}).items()) == [("ci", 1)]
    assert list(by_cli("tags", {}).items()) == [("ci", 2), ("release", 2)]
    assert list(by_cli("tags", {"limit": 1}).items()) == [("ci", 2)]


def test_projects_are_counted_largest_first_behind_the_wall_of_the_caller(server: Server) -> None:
    for number, project in enumerate(("web", "web", "api")):
        server.engine.remember(f"The {project} answers in {number} ms.", scope=Scope(project=project))
    assert list(by_cli("projects", {}).items()) == [("", 2), ("web", 2), ("api", 1)]
    assert list(by_cli("projects", {"limit": 1}).items()) == [("", 2)]
    walled = replace(ME, wall=Scope(project="web"))
    assert BY_NAME["projects"].call(server.engine, walled, {}) == {"web": 2}
    assert BY_NAME["projects"].text({"": 2, "web": 1}) == "2 (no project)\n1 web"
