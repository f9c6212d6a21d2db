"""The operations on a project, over HTTP, MCP and the command line: and whose files they read for whom."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Opener
from recollect import BadInput, Forbidden, Scope
from recollect.agents.access import Caller, local
from recollect.agents.places import Places
from recollect.cli import cli
from recollect.errors import NoRepository
from recollect.install import git_hooks
from recollect.install.hosts import Program
from recollect.ops import hooks
from recollect.ops.catalogue import BY_NAME
from recollect.project.git import find
from recollect.serve.work import Stopped, Work
from recollect.types import EVERYWHERE
from repositories import Repo
from served import Server, serving
from test_mcp import calls

ME = local("default", "test", EVERYWHERE)
ALL = frozenset(("read", "write", "admin"))


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"src/pool.py": "size = 5\n", "docs/adr/0001-use-x.md": "# 1. Use X\n\n## Status\n\nAccepted\n"})
    repo.put("Raise the pool size\n\nBecause of the outage.", {"src/pool.py": "size = 50\n"}, author="Ben")
    return repo


@pytest.fixture
def here(repo: Repo) -> Caller:
    return replace(ME, folder=str(repo.path)).at({"project": "shop"})


def do(engine: recollect.Engine, caller: Caller, name: str, **given: Any) -> Any:
    return BY_NAME[name].call(engine, caller, given)


def said(engine: recollect.Engine, caller: Caller, name: str, **given: Any) -> str:
    return BY_NAME[name].text(do(engine, caller, name, **given))


# -- the state and commits --------------------------------------------------------------------------------------------


def test_the_state_is_told_with_the_history_of_a_file(memory: recollect.Engine, here: Caller, repo: Repo) -> None:
    repo.write("src/pool.py", "size = 500\n")
    found = do(memory, here, "project_state", file="src/pool.py", commits=1)
    assert (found["state"].branch, len(found["state"].commits)) == ("main", 1)
    assert [one.name for one in found["authors"]] == ["Ben", "Ana"]
    told = said(memory, here, "project_state", file="src/pool.py")
    assert "M src/pool.py +1 -1" in told
    assert "Raise the pool size" in told


def test_the_current_diff_is_told_within_a_budget_and_without_secrets(
    memory: recollect.Engine, here: Caller, repo: Repo
) -> None:
    repo.write("src/pool.py", "size = 500\nkey = '" + "gh" + "p_" + "a1B2" * 9 + "'\n")
    repo.write("notes.md", "".join(f"line {number} of many\n" for number in range(400)))
    repo.git("add", "notes.md")
    whole = do(memory, here, "project_state", patch=50_000)["patch"]
    assert "+size = 500" in whole.text
    assert "+line 399 of many" in whole.text
    assert whole.left_out == ()
    assert "a1B2" not in whole.text
    short = do(memory, here, "project_state", patch=200)["patch"]
    assert "+size = 500" in short.text
    assert "line 399" not in short.text
    assert short.tokens <= 200
    assert short.left_out == ("notes.md",)
    assert "no room for the changes of: notes.md" in said(memory, here, "project_state", patch=200)
    assert do(memory, here, "project_state")["patch"] is None


def test_without_a_repository_the_answer_says_so(memory: recollect.Engine, tmp_path: Path) -> None:
    lost = replace(ME, folder=str(tmp_path))
    assert do(memory, lost, "project_state")["state"] is None
    assert "not inside a git repository" in said(memory, lost, "project_state")
    assert "No folder" in said(memory, ME, "project_state")
    with pytest.raises(NoRepository):
        do(memory, lost, "verify")


def test_commits_are_found_in_the_history_or_in_memory(memory: recollect.Engine, here: Caller, repo: Repo) -> None:
    assert [one.subject for one in do(memory, here, "search_commits", query="pool")["commits"]] == [
        "Raise the pool size"
    ]
    assert "Because of the outage" in said(memory, here, "search_commits", content="size = 50")
    assert said(memory, here, "search_commits", query="nothing of the sort").startswith("No commit fits.")
    hooks.answer(memory, ME, Path(), {"host": "git", "event": "post-commit", "cwd": str(repo.path), "input": {}})
    elsewhere = ME.at({"project": "shop"})
    Places(memory.settings)._change(dict.clear)  # nobody knows where the project lies
    found = do(memory, elsewhere, "search_commits", query="pool size", author="ben", path="src/pool.py")
    assert [one.title for one in found["memories"]] == ["Raise the pool size"]
    assert found["skipped"]


# -- the task at hand -------------------------------------------------------------------------------------------------


def test_a_task_outlives_the_session_and_one_takes_the_place_of_another(opened: Opener, here: Caller) -> None:
    first = opened()
    do(first, here, "set_task_context", task="Pool connections", details={"ticket": "SHOP-7"})
    do(first, here, "set_task_context", task="Measure the pool")
    again = do(first, here, "set_task_context", task="Measure the pool")
    assert again.action == "duplicate"
    first.close()
    second = opened()
    found = do(second, here, "get_task_context")
    assert found["task"].content == "Current task: Measure the pool"
    assert found["state"].branch == "main"
    active = second.list(kinds=("task",)).memories
    assert [one.content for one in active] == ["Current task: Measure the pool"]
    [old] = second.list(kinds=("task",), states=("superseded",)).memories
    assert "SHOP-7" in old.content


def test_a_task_is_told_once(memory: recollect.Engine, here: Caller) -> None:
    do(memory, here, "set_task_context", task="Pool connections")
    project = memory.list(kinds=("task",)).memories[0].scope.project
    memory.remember("The pool holds five connections.", importance=8, scope=Scope(project=project))
    told = memory.context("what next?", scope=Scope(project=project), hits=[]).text
    assert told.count("Pool connections") == 1
    assert "five connections" in told


def test_a_list_in_a_task_reads_as_a_list(memory: recollect.Engine, here: Caller) -> None:
    details = {"steps": ["read it", {"do": "fix it", "done": True}], "owner": {"name": "Ana"}, "due": None}
    do(memory, here, "set_task_context", task="Pool connections", details=details)
    told = "Current task: Pool connections\nsteps:\n- read it\n- do: fix it, done: yes\nowner: name: Ana\ndue: none"
    assert do(memory, here, "get_task_context")["task"].content == told


def test_users_projects_and_branches_have_tasks_of_their_own(
    memory: recollect.Engine, here: Caller, repo: Repo
) -> None:
    ana, ben = (replace(ME, wall=Scope(user=name), home=Scope(user=name)) for name in ("ana", "ben"))
    do(memory, ana, "set_task_context", task="Ana's task", project="shop")
    do(memory, ben, "set_task_context", task="Ben's task", project="shop")
    assert "Ana's" in do(memory, ana, "get_task_context", project="shop")["task"].content
    assert "Ben's" in do(memory, ben, "get_task_context", project="shop")["task"].content
    do(memory, here, "set_task_context", task="The project's task")
    do(memory, here, "set_task_context", task="The side's task", branch="side")
    assert "project's" in do(memory, here, "get_task_context")["task"].content
    repo.git("checkout", "-q", "-b", "side")
    assert "side's" in do(memory, here, "get_task_context")["task"].content
    assert len(memory.list(kinds=("task",)).memories) == 4


@pytest.mark.parametrize("given", [{"task": "  "}, {"task": "x", "details": {str(n): 1 for n in range(51)}}, {}])
def test_a_task_that_says_nothing_is_refused(memory: recollect.Engine, here: Caller, given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        do(memory, here, "set_task_context", **given)
    assert memory.list().memories == ()


# -- whose files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def known(memory: recollect.Engine, repo: Repo) -> Caller:
    """Somebody elsewhere, with a token, and a project that was worked in on this machine."""
    Places(memory.settings).note("shop", repo.path)
    return Caller("default", "remote", ALL, token="t1")


def test_a_caller_from_elsewhere_reaches_only_projects_that_were_worked_in_here(
    memory: recollect.Engine, known: Caller, repo: Repo, tmp_path: Path
) -> None:
    assert do(memory, known, "project_state", project="shop")["state"].branch == "main"
    assert do(memory, known, "search_commits", query="pool", project="shop")["commits"]
    assert do(memory, known, "ingest_adr", path="docs/adr", project="shop", dry_run=True).files == 1
    assert do(memory, known, "project_state", project="other")["state"] is None
    Repo(tmp_path / "secret").put("Secret", {"s": "1"})
    (repo.path / "way_out").symlink_to(tmp_path / "secret")
    for path in ("/etc/passwd", "../secret", str(tmp_path / "secret"), "way_out", "way_out/s", "docs/../../secret"):
        for name in ("ingest_code", "ingest_adr", "ingest_files"):
            with pytest.raises(Forbidden):
                do(memory, known, name, path=path, project="shop")
        for name, parameter in (("project_state", "path"), ("search_commits", "folder"), ("verify", "path")):
            with pytest.raises(Forbidden):
                do(memory, known, name, **{parameter: path, "project": "shop"})
    with pytest.raises(BadInput):
        do(memory, known, "project_state", file="../secret/s", project="shop")
    assert memory.list().memories == ()


def test_a_folder_that_a_header_names_counts_only_on_this_machine(
    memory: recollect.Engine, known: Caller, tmp_path: Path
) -> None:
    other = Repo(tmp_path / "other")
    other.put("Other", {"x": "1"})
    forged = replace(known, folder=str(other.path))
    assert do(memory, forged, "project_state")["state"] is None
    assert do(memory, forged, "project_state", project="shop")["state"].root.endswith("shop")


def test_walls_hold_for_projects_and_users(memory: recollect.Engine, known: Caller) -> None:
    bank = replace(known, wall=Scope(project="bank"), home=Scope(project="bank"))
    for name, given in (
        ("project_state", {}),
        ("search_commits", {}),
        ("ingest_code", {"path": "src"}),
        ("verify", {}),
        ("set_task_context", {"task": "x"}),
    ):
        with pytest.raises(Forbidden):
            do(memory, bank, name, project="shop", **given)
    shop = replace(known, wall=Scope(project="shop"), home=Scope(project="shop"))
    assert do(memory, shop, "project_state")["state"].branch == "main"
    ana = replace(known, wall=Scope(user="ana"), home=Scope(user="ana"))
    for name, given in (("ingest_code", {"path": "src"}), ("verify", {})):
        with pytest.raises(Forbidden):
            do(memory, ana, name, project="shop", **given)
    reader = replace(known, can=frozenset(("read",)))
    with pytest.raises(Forbidden):
        do(memory, reader, "ingest_code", path="src", project="shop")


def test_another_tenant_does_not_find_the_project_by_its_name(memory: recollect.Engine, known: Caller) -> None:
    other = memory.for_caller(tenant="other")
    theirs = replace(known, tenant="other")
    assert do(other, theirs, "project_state", project="shop")["state"] is None
    with pytest.raises(NoRepository):
        do(other, theirs, "ingest_code", path="src", project="shop")


def test_the_content_of_commits_is_searched_only_on_this_machine(memory: recollect.Engine, known: Caller) -> None:
    with pytest.raises(Forbidden):
        do(memory, known, "search_commits", content="size", project="shop")


# -- truth ------------------------------------------------------------------------------------------------------------


def test_what_is_remembered_with_files_cites_them_as_they_are(
    memory: recollect.Engine, here: Caller, known: Caller, repo: Repo
) -> None:
    made = do(memory, here, "remember", content="The pool has fifty.", refs=["src/pool.py"]).memory
    blob = repo.git("rev-parse", "HEAD:src/pool.py")
    assert made.refs == ("src/pool.py", f"blob:src/pool.py@{blob}")
    remote = do(memory, known, "remember", content="Fifty are in the pool.", refs=["src/pool.py"], project="shop")
    assert remote.memory.refs == made.refs
    repo.put("Lower it", {"src/pool.py": "size = 1\n"})
    assert f"{made.id} The pool has fifty.: src/pool.py changed since" in said(memory, here, "verify", dry_run=True)
    assert memory.get(made.id).tags == ()
    assert len(do(memory, here, "verify").stale) == 2
    assert [one.id for one in do(memory, here, "verify", accept=[made.id]).stale] == [remote.id]


def test_what_cites_a_repository_is_of_its_project(memory: recollect.Engine, repo: Repo) -> None:
    at_home = replace(ME, folder=str(repo.path))
    one = do(memory, at_home, "remember", content="The pool has fifty.", refs=["src/pool.py"]).memory
    told = [{"content": "The pool is never shared.", "refs": ["src/pool.py"]}, {"content": "Tea is served at four."}]
    two, three = (made.memory for made in do(memory, at_home, "remember_many", memories=told))
    assert [one.scope.project, two.scope.project, three.scope.project] == ["shop", "shop", ""]
    assert two.refs[1].startswith("blob:src/pool.py@")
    repo.put("Lower it", {"src/pool.py": "size = 1\n"})
    assert {found.id for found in do(memory, at_home, "verify").stale} == {one.id, two.id}


def test_recall_on_a_branch_does_not_see_what_is_staged_on_another(
    memory: recollect.Engine, here: Caller, repo: Repo
) -> None:
    do(memory, here, "remember", content="On the side, the cache is off.", branch="side")
    do(memory, here, "remember", content="The cache is on.")

    def found(**given: Any) -> set[str]:
        return {hit.memory.content for hit in do(memory, here, "recall", query="cache", **given).hits}

    assert found() == {"The cache is on."}
    assert len(found(branch="side")) == 2
    repo.git("checkout", "-q", "-b", "side")
    assert len(found()) == 2


def test_a_session_on_a_branch_stages_what_it_learns_there(
    memory: recollect.Engine, repo: Repo, tmp_path: Path
) -> None:
    repo.git("checkout", "-q", "-b", "side")
    told = {
        "session_id": "s1", "cwd": str(repo.path),
        "prompt": "We decided to use SQLite for the queue because it needs no server. I prefer tabs over spaces.",
    }  # fmt: skip
    for event in ("SessionStart", "UserPromptSubmit"):
        envelope = {"host": "claude", "event": event, "input": told, "at": 1772442001.0, "cwd": str(repo.path)}
        hooks.answer(memory, ME, tmp_path / "home", envelope)
    worker = memory.jobs.worker()
    worker.start(stay=False)
    worker.join(60)
    kept = {one.kind: one.scope for one in memory.list(limit=100).memories}
    assert kept["turn"].branch == "side"
    assert kept["decision"] == Scope(project="shop", branch="side")
    assert kept["preference"].branch == "", "what somebody likes does not wait for a merge"
    assert Places(memory.settings).folders("shop") == [repo.path.resolve()]


# -- HTTP and MCP -----------------------------------------------------------------------------------------------------


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as server:
        yield server


def test_every_operation_answers_over_http(server: Server, repo: Repo) -> None:
    Places(server.engine.settings).note("shop", repo.path)
    task = server.call("POST", "/v1/project/task", {"task": "Pool connections", "service": "shop"})
    assert (task.status, task.data["action"]) == (201, "created")
    got = server.call("GET", "/v1/project/task?project=shop").data
    assert got["task"]["content"] == "Current task: Pool connections"
    assert got["state"]["commits"][0]["subject"] == "Raise the pool size"
    state = server.call("GET", f"/v1/project/state?path={repo.path}&file=src/pool.py&commits=1").data
    assert (state["state"]["branch"], len(state["history"])) == ("main", 2)
    assert server.call("GET", "/v1/project/commits?q=pool&project=shop").data["commits"][0]["author"] == "Ben"
    incident = server.call("POST", "/v1/project/incidents", {"summary": "The pool ran dry.", "service": "shop"})
    id = incident.data["memory"]["id"]
    assert server.call("POST", "/v1/project/search", {"query": "pool ran dry", "service": "shop"}).data["hits"]
    replaced = server.call("PUT", f"/v1/memories/{id}/content", {"value": "The pool ran dry twice.", "source": "Ana"})
    assert replaced.data["content"] == "The pool ran dry twice."
    provenance = server.call("GET", f"/v1/memories/{id}/why").data
    assert "source: Ana" in [change["reason"] for change in provenance["changes"]]
    gone = server.call("POST", f"/v1/memories/{id}/invalidate", {"reason": "fixed"})
    assert gone.data["memories"][0]["state"] == "invalid"
    assert server.call("POST", "/v1/project/verify", {"project": "shop"}).data["stale"] == []
    wrong = server.call("POST", "/v1/project/code", {"path": "nowhere", "project": "shop"})
    assert (wrong.status, wrong.data["code"]) == (400, "bad_input")


def test_the_folder_an_assistant_works_in_is_its_repository(server: Server, repo: Repo) -> None:
    told, committed, cited = calls(
        server,
        [
            ("project_state", {}),
            ("search_commits", {"query": "pool"}),
            ("remember", {"content": "The pool has fifty.", "refs": ["src/pool.py"]}),
        ],
        **{"Recollect-Folder": str(repo.path / "src")},
    )
    assert "on branch main" in told
    assert "Raise the pool size" in committed
    assert cited.startswith("Remembered")
    assert any(ref.startswith("blob:") for ref in server.engine.list().memories[0].refs)


# -- the command line -------------------------------------------------------------------------------------------------


def run(place: str, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["--store", place, *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_the_commands_do_the_same(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    monkeypatch.chdir(repo.path / "src")
    place = str(tmp_path / "cli.db")
    assert "on branch main" in run(place, "git")[1]
    assert "changed by Ben" in run(place, "git", "--file", "src/pool.py")[1]
    assert json.loads(run(place, "git", "--json")[1])["state"]["branch"] == "main"
    assert "Raise the pool size" in run(place, "commits", "pool", "size")[1]
    assert "Begin" in run(place, "commits", "-S", "size = 5\n")[1]
    run(place, "task", "set", "Pool", "connections", "--detail", "ticket=SHOP-7")
    assert "ticket: SHOP-7" in run(place, "task", "get")[1]
    assert "2 commits taken in" in run(place, "git", "--refresh")[1]
    run(place, "remember", "The pool has fifty.", "--ref", "src/pool.py")
    assert "everything they cite stands" in run(place, "verify")[1]
    repo.put("Lower it", {"src/pool.py": "size = 1\n"})
    code, told = run(place, "verify", "--json")
    assert (code, [one["reasons"] for one in json.loads(told)["stale"]]) == (1, [["src/pool.py changed since"]])
    id = json.loads(told)["stale"][0]["id"]
    assert run(place, "verify", "--accept", id)[0] == 0
    monkeypatch.chdir(tmp_path)
    assert run(place, "git")[0] == 3


# -- git's own hooks --------------------------------------------------------------------------------------------------


def hooked(repo: Repo, home: Path, *, leave: bool = False) -> list[Path]:
    from datetime import UTC, datetime

    found = find(repo.path)
    changes = git_hooks.plan(found, Program("/opt/recollect", {"RECOLLECT_HOME": str(home)}), leave=leave)
    git_hooks.change(found, changes, home, datetime.now(UTC), leave=leave)
    return [change.path for change in changes]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}


BINARY = b"\x7fELF\x00 not text \xff\xfe"


@pytest.mark.parametrize(
    "before",
    [
        {},
        {"post-commit": (b"#!/bin/sh\necho mine >> ../log\nexit 3\n", 0o755)},
        {"post-commit": (b"#!/usr/bin/env python3\r\nprint(1)", 0o750), "post-merge": (BINARY, 0o644)},
    ],
    ids=["none", "a script", "others"],
)
def test_hooks_are_chained_and_taken_out_byte_for_byte(
    repo: Repo, tmp_path: Path, before: dict[str, tuple[bytes, int]]
) -> None:
    folder = repo.path / ".git" / "hooks"
    for name, (content, mode) in before.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(mode)
    were = files(folder)
    hooked(repo, tmp_path / "home")
    assert {name for name in git_hooks.HOOKS if os.access(folder / name, os.X_OK)} == set(git_hooks.HOOKS)
    assert hooked(repo, tmp_path / "home") == [], "once is enough"
    hooked(repo, tmp_path / "home", leave=True)
    assert files(folder) == were
    assert hooked(repo, tmp_path / "home", leave=True) == []


def test_the_hook_that_was_there_runs_first_and_ours_tells_the_daemon(repo: Repo, tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "my tools" / "recollect"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\npwd >> "{said}"\necho "$@" >> "{said}.part"\nmv "{said}.part" "{said}.told"\n')
    program.chmod(0o755)
    folder = repo.path / ".git" / "hooks"
    (folder / "post-commit").write_text(f"#!/bin/sh\necho before > {tmp_path}/before\n")
    (folder / "post-commit").chmod(0o755)
    found = find(repo.path)
    from datetime import UTC, datetime

    changes = git_hooks.plan(found, Program(str(program)))
    git_hooks.change(found, changes, tmp_path / "home", datetime.now(UTC))
    repo.put("Hooked", {"x": "1"})
    assert (tmp_path / "before").read_text() == "before\n"
    for _ in range(200):
        if Path(f"{said}.told").exists():
            break
        subprocess.run(["sleep", "0.05"], check=True)
    assert Path(f"{said}.told").read_text().split() == ["hook", "post-commit", "--host", "git", "--no-start"]
    assert said.read_text().strip() == str(repo.path.resolve())


def test_hooks_go_where_the_repository_says(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "core.hooksPath", ".githooks")
    assert {path.parent for path in hooked(repo, tmp_path / "home")} == {repo.path / ".githooks"}
    hooked(repo, tmp_path / "home", leave=True)
    assert not list((repo.path / ".githooks").glob("*")) if (repo.path / ".githooks").exists() else True


def test_a_hook_that_somebody_else_put_in_since_is_not_lost(repo: Repo, tmp_path: Path) -> None:
    folder = repo.path / ".git" / "hooks"
    (folder / "post-commit").write_bytes(b"#!/bin/sh\necho first\n")
    hooked(repo, tmp_path / "home")
    (folder / "post-commit").write_bytes(b"#!/bin/sh\necho second\n")
    with pytest.raises(BadInput, match="in the way"):
        hooked(repo, tmp_path / "home")
    hooked(repo, tmp_path / "home", leave=True)
    assert (folder / "post-commit").read_bytes() == b"#!/bin/sh\necho second\n"


def test_the_commands_put_hooks_in_and_take_them_out(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    place = str(tmp_path / "cli.db")
    were = files(repo.path / ".git" / "hooks")
    assert "would change" in run(place, "install", "git-hooks", "--dry-run")[1]
    assert files(repo.path / ".git" / "hooks") == were
    assert "tells of its commits" in run(place, "install", "git-hooks")[1]
    assert "in place already" in run(place, "install", "git-hooks")[1]
    assert "no longer" in run(place, "uninstall", "git-hooks")[1]
    assert files(repo.path / ".git" / "hooks") == were
    monkeypatch.chdir(tmp_path)
    assert run(place, "install", "git-hooks")[0] == 3


def test_what_git_tells_is_taken_in_once_however_often_it_comes(memory: recollect.Engine, repo: Repo) -> None:
    envelope = {"host": "git", "event": "post-commit", "cwd": str(repo.path), "input": {}, "at": 1772442001.0}
    for _ in range(2):
        hooks.answer(memory, ME, Path(), envelope)
    assert len(memory.list(kinds=("commit",)).memories) == 2
    head = memory.head
    hooks.answer(memory, Caller("default", "remote", ALL, token="t"), Path(), envelope)
    hooks.answer(memory, ME, Path(), envelope | {"cwd": "/nowhere"})
    assert memory.head == head
    assert Places(memory.settings).folders("shop") == [repo.path.resolve()]


def test_what_git_tells_waits_for_a_daemon_that_is_not_there(
    memory: recollect.Engine, repo: Repo, tmp_path: Path
) -> None:
    home = tmp_path / "spooled"
    environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(tmp_path)}
    words = ["hook", "post-commit", "--host", "git", "--no-start", "--home", str(home)]
    done = subprocess.run(
        [sys.executable, "-m", "recollect", *words], cwd=repo.path, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == b""
    assert hooks.take_in(memory, home) == 1
    assert {one.scope.project for one in memory.list(kinds=("commit",)).memories} == {"shop"}


def test_the_daemon_follows_the_repositories_that_were_worked_in(
    memory: recollect.Engine, repo: Repo, tmp_path: Path
) -> None:
    gone = Repo(tmp_path / "gone")
    for name, folder in (("gone", gone.path), ("shop", repo.path)):
        Places(memory.settings).note(name, folder)
    shutil.rmtree(gone.path / ".git")
    work = Work(memory, tmp_path / "home", threading.Event())
    work._follow()
    assert len(memory.list(kinds=("commit",)).memories) == 2
    head = memory.head
    work._follow()
    assert memory.head == head
    repo.put("Go on", {"x": "1"})
    work._follow()
    assert "Go on" in {one.title for one in memory.list(kinds=("commit",)).memories}
    work.stop(1)
    with pytest.raises(Stopped):
        work._follow()


def test_a_project_of_several_folders_is_found_in_the_latest(
    memory: recollect.Engine, repo: Repo, tmp_path: Path
) -> None:
    places = Places(memory.settings)
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.path), str(clone))
    places.note("shop", repo.path)
    places.note("shop", clone)
    places.note("", clone)
    assert places.folders("shop") == [clone.resolve(), repo.path.resolve()]
    shutil.rmtree(clone)
    assert places.projects() == {"shop": [repo.path.resolve()]}
    (memory.settings.home / "projects.json").write_text("{damaged")
    assert Places(memory.settings).projects() == {}
    places.note("shop", repo.path)
    assert (memory.settings.home / "projects.json").stat().st_mode & 0o777 == 0o600
