"""Reading by way of a running daemon: the same answers as without one, and none missing when it does not answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.entrypoints import link
from recollect.serve import lock

NOTES = (
    "We deploy on Thursdays because support is fully staffed then.",
    "Ana owns the billing service.",
    "The parser reads logs line by line.",
)
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("recall", "when do releases go out?"),
    ("recall", "who owns billing", "--explain", "--since", "7d", "--kind", "fact", "-n", "2"),
    ("recall", "nothing of the kind", "--project", "elsewhere", "--abstain"),
    ("context", "when do releases go out?", "--budget", "500"),
    ("ask", "Who owns the billing service?", "--fresh"),
    ("brief",),
    ("recall", "x", "--recipe", "nonsense"),
    ("recall", "x", "-n", "0"),
)
# Of a folder on the branch main, where something is known of another branch, another user and another project.
PLACED: tuple[tuple[str, ...], ...] = (
    ("recall", "which port does the gateway listen on?"),
    ("recall", "which port does the gateway listen on?", "--everywhere"),
    ("recall", "which port does the gateway listen on?", "--project", "other"),
    ("recall", "which port does the gateway listen on?", "--branch", "feature"),
    ("recall", "which port does the gateway listen on?", "--user", "ana"),
    ("context", "which port does the gateway listen on?"),
    ("context", "which port does the gateway listen on?", "--everywhere"),
    ("ask", "Which port does the gateway listen on?", "--fresh"),
    ("ask", "Which port does the gateway listen on?", "--fresh", "--everywhere"),
    ("list",),
    ("list", "--everywhere"),
)
# A model that cannot be loaded: whoever answers by meaning all the same has asked the daemon.
BROKEN = "raise ImportError('not here')"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "onnxruntime.py").write_text(BROKEN)
    folder = tmp_path / "project" / "docs" / "features" / "parser"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text(json.dumps({"slug": "parser", "status": "active"}))

    def runner(*words: str, model: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **environment} | ({} if model else {"PYTHONPATH": str(tmp_path / "without")})
        command = [sys.executable, "-m", "recollect", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=given,
                              cwd=tmp_path / "project")  # fmt: skip

    for note in NOTES:
        assert runner("remember", note, RECOLLECT_EMBEDDER="off").returncode == 0
    assert runner("embed").returncode == 0
    yield runner
    if found := link.daemon():
        os.kill(found.pid, signal.SIGCONT)
        runner("stop")
    assert lock.holder(tmp_path / "home") is None


@pytest.fixture
def daemon(run: Run) -> link.Link:
    done = run("serve", "--background", "--port", "0")
    assert done.returncode == 0, done.stderr
    found = link.daemon()
    assert found
    return found


COUNTED = "ask_count cache_tier recalled accessed last_recalled_at last_accessed_at"
PASSING = f"computed_ms timings updated_at why {COUNTED}".split()


def lasting(told: Any) -> Any:
    """What was printed, without how long it took, how often something was looked at and the age in a score."""
    if isinstance(told, float):
        return round(told, 2)
    if isinstance(told, dict):
        return {name: lasting(value) for name, value in told.items() if name not in PASSING}
    return [lasting(value) for value in told] if isinstance(told, list) else told


def test_a_running_daemon_gives_the_same_answers(run: Run) -> None:
    alone = [run(*words, "--json") for words in QUESTIONS]
    assert run("serve", "--background", "--port", "0").returncode == 0
    by_daemon = [run(*words, "--json", model=False) for words in QUESTIONS]
    for words, one, other in zip(QUESTIONS, alone, by_daemon, strict=True):
        if "took longer than" in one.stdout + one.stderr:
            continue  # on a busy machine a brief that loads the model itself answers by words, as it must
        assert (one.returncode, one.stderr) == (other.returncode, other.stderr), words
        assert lasting(json.loads(one.stdout or "{}")) == lasting(json.loads(other.stdout or "{}")), words
    assert [done.returncode for done in alone] == [0, 0, 0, 0, 0, 0, 2, 2]


def test_a_running_daemon_looks_in_the_same_places(run: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "project"], check=True)
    for port, place in ((8443, ("--project", "other")), (8444, ("--branch", "feature")), (8445, ("--user", "ana"))):
        assert run("remember", f"The gateway listens on port {port}.", *place).returncode == 0
    alone = [run(*words, "--json") for words in PLACED]
    assert run("serve", "--background", "--port", "0").returncode == 0
    by_daemon = [run(*words, "--json", model=False) for words in PLACED]
    for words, one, other in zip(PLACED, alone, by_daemon, strict=True):
        assert (one.returncode, one.stderr) == (other.returncode, other.stderr) == (0, ""), words
        assert lasting(json.loads(one.stdout)) == lasting(json.loads(other.stdout)), words
        elsewhere = bool({"--everywhere", "other"} & {*words})
        assert ("8443" in other.stdout, "memories elsewhere" in other.stdout) == (elsewhere, not elsewhere), words


def test_a_daemon_that_does_not_answer_is_done_without(run: Run, daemon: link.Link) -> None:
    os.kill(daemon.pid, signal.SIGSTOP)
    assert NOTES[0] in run("recall", "when do releases go out?").stdout
    assert NOTES[1] in run("ask", "Who owns the billing service?").stdout
    assert NOTES[2] in run("brief").stdout


def test_a_daemon_that_would_answer_differently_is_not_asked(run: Run, daemon: link.Link, tmp_path: Path) -> None:
    question = ("recall", "deploy", "--json")
    assert json.loads(run(*question, model=False).stdout)["skipped"] == []
    limited = json.loads(run(*question, RECOLLECT_RECALL_LIMIT="1").stdout)
    assert len(limited["hits"]) == 1
    elsewhere = run(*question, RECOLLECT_STORE=str(tmp_path / "other.db"))
    assert json.loads(elsewhere.stdout)["hits"] == []


def test_a_look_through_the_daemon_is_the_persons(run: Run, daemon: link.Link) -> None:
    run("remember", "The gateway listens on port 8443.", "--project", "other")
    assert run("recall", "gateway port", "--project", "other", RECOLLECT_PROJECT="mine", USER="ana").returncode == 0
    run("stop")
    seen = json.loads(run("audit", "--json").stdout)
    assert "cli:ana" in json.dumps(seen)
