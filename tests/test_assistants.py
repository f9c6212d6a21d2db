"""Claude Code and Codex, the real programs, hand a task over through one memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistants import CLAUDE, Desk, needs_assistants
from test_clients import end_daemon

pytestmark = needs_assistants
ROOT = Path(__file__).parents[1]
TASK = "Mend the flaky login test"
NOTE = "The login test fails when the clock is wrong."


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    try:
        yield desk
    finally:
        end_daemon(desk.memory)


def id_in(text: str) -> str:
    """The first id in what a tool answered."""
    found = re.search(r"\b[0-9a-z]{26}\b", text)
    assert found, text
    return found[0]


def test_claude_code_hands_a_task_to_codex_which_completes_it(desk: Desk) -> None:
    memory = json.loads(desk.recollect("remember", "--everywhere", NOTE, "--json"))["memory"]["id"]
    desk.codex("Say hello.")  # it becomes known by connecting
    task = {
        "task": TASK,
        "target": "codex",
        "memories": [memory],
        "state": {"tried": "ntp"},
        "files": ["tests/login.py"],
    }
    offered = desk.claude(
        "Hand the login test over to Codex.",
        ("get_agents_for_user", lambda _: {}),
        ("initiate_handoff", lambda _: task),
    )
    assert "pending, from " in offered
    done = desk.codex(
        "Go on.",
        ("get_pending_handoffs", lambda _: {}),
        ("accept_handoff", lambda told: {"handoff": id_in(told[0])}),
        ("complete_handoff", lambda told: {"handoff": id_in(told[0]), "result": {"commit": "abc123"}}),
    )
    assert "1 handoff waits for you" in done, "the start of the session tells of it"
    assert NOTE in done
    assert "tried: ntp" in done
    [handoff] = json.loads(desk.recollect("handoff", "board", "--json"))["handoffs"]
    names = {one["id"]: one["kind"] for one in json.loads(desk.recollect("agent", "list", "--json"))["agents"]}
    assert (handoff["task"], handoff["state"], handoff["result"]) == (TASK, "completed", {"commit": "abc123"})
    assert (names[handoff["source"]], names[handoff["taken_by"]]) == ("claude_code", "codex")


def test_claude_code_finds_nothing_to_say_of_the_plugin(desk: Desk) -> None:
    for folder, more in ((ROOT / "plugin", ("--profile", "directory")), (ROOT, ())):
        told = desk.run(str(CLAUDE), "plugin", "validate", "--strict", *more, str(folder), DISABLE_AUTOUPDATER="1")
        assert "Validation passed" in told
        assert "warning" not in told
