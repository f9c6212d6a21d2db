"""Summaries of sessions: what was done, each line with its proof, replaced when the session goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Clock
from recollect.agents import access
from recollect.entrypoints import spool
from recollect.ops import hooks
from recollect.tap.backfill import Backfill, Wanted
from recollect.types import Memory, Message, Scope

SHOP = Scope(project="shop")
TRANSCRIPTS = Path(__file__).parents[2] / "shared" / "data" / "transcripts"
ME = access.local("default", "hook", Scope())


def summaries(memory: recollect.Engine, *states: str) -> list[Memory]:
    return list(memory.list(kinds=("summary",), states=states or ("active",)).memories)


def proved(memory: recollect.Engine, summary: Memory) -> None:
    """Every quote stands in the summary and in what it is quoted from, and every line but the first has one."""
    proofs = memory.evidence(summary.id)[1]
    turns = {one.source: one.content for one in memory.list(kinds=("turn",), limit=1000).memories}
    assert all(one.quote in summary.content and one.quote in turns[one.source] for one in proofs)
    for line in summary.content.splitlines()[1:]:
        assert any(one.quote in line for one in proofs), line


def worked(memory: recollect.Engine) -> None:
    worker = memory.jobs.worker()
    worker.start(stay=False)
    assert worker.join(60)


class Hooks:
    """A session of an assistant that calls our hooks."""

    def __init__(self, memory: recollect.Engine, home: Path, session: str, host: str = "claude") -> None:
        self.memory, self.home, self.session, self.host = memory, home, session, host

    def __call__(self, event: str, **given: Any) -> str:
        told = {"session_id": self.session, "cwd": "/nowhere/shop", "hook_event_name": event, **given}
        at = self.memory._now().timestamp()
        envelope = {"id": spool.new_id(), "at": at, "host": self.host, "event": event, "input": told}
        return str(hooks.answer(self.memory, ME, self.home, {**envelope, "project": "shop"})["print"])

    def ran(self, id: str, command: str, said: str) -> None:
        self("PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_response=said, tool_use_id=id)

    def wrote(self, id: str, path: str) -> None:
        asked = {"file_path": path, "new_string": "retry(3)"}
        self("PostToolUse", tool_name="Edit", tool_input=asked, tool_response="ok", tool_use_id=id)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "home"


def mended(memory: recollect.Engine, home: Path, session: str = "s1", host: str = "claude") -> Hooks:
    """A session in which a test failed, a file was changed, and the test passed."""
    hook = Hooks(memory, home, session, host)
    hook("UserPromptSubmit", prompt="Please make the payment client retry.")
    hook.ran("t1", "pytest -q tests/test_pay.py", "E   AssertionError: no retry\n1 failed, 3 passed")
    hook.wrote("t2", "/nowhere/shop/src/pay.py")
    hook.ran("t3", "pytest -q tests/test_pay.py", "4 passed")
    hook.ran("t4", "git commit -qam 'Retry'", "[main 1a2b3c4] Retry payments three times")
    return hook


def test_a_session_that_ends_is_summed_up_with_proofs(memory: recollect.Engine, home: Path) -> None:
    hook = mended(memory, home)
    hook("SessionEnd")
    worked(memory)
    [summary] = summaries(memory)
    assert summary.content.splitlines()[1:] == [
        '- Asked: "Please make the payment client retry."',
        "- Changed: /nowhere/shop/src/pay.py",
        "- Committed: Retry payments three times",
        "- Failed, then passed, after a change of pay.py: `pytest -q tests/test_pay.py` (E   AssertionError: no retry)",
    ]
    assert (summary.network, summary.trust, summary.scope.session) == ("bank", "derived", "")
    proved(memory, summary)


def test_the_next_session_is_told_also_where_the_host_ends_none(memory: recollect.Engine, home: Path) -> None:
    mended(memory, home, host="codex")
    told = Hooks(memory, home, "s2", "codex")("SessionStart", source="startup")
    assert "Failed, then passed, after a change of pay.py" in told


def test_a_session_that_goes_on_has_one_summary(memory: recollect.Engine, home: Path, clock: Clock) -> None:
    hook = mended(memory, home)
    hook("PreCompact")
    worked(memory)
    clock.forward(hours=1)
    hook("UserPromptSubmit", prompt="No, don't retry refunds at all.")
    hook.ran("t5", "git checkout -- src/refund.py", "")
    hook("SessionEnd")
    worked(memory)
    hook("SessionEnd")  # nothing new was said
    worked(memory)
    [summary] = summaries(memory)
    [old] = summaries(memory, "superseded")
    assert "Undone: `git checkout -- src/refund.py`" in summary.content
    assert 'Turned down: "No, don\'t retry refunds at all."' in summary.content
    assert "Undone" not in old.content
    proved(memory, summary)


def test_what_is_erased_takes_its_line_along(memory: recollect.Engine, home: Path) -> None:
    mended(memory, home)("SessionEnd")
    worked(memory)
    [commit] = [one for one in memory.list(kinds=("turn",)).memories if "git commit" in one.content]
    memory.forget(commit.id, purge=True)
    [summary] = summaries(memory)
    assert "Committed" not in summary.content
    assert "Changed: /nowhere/shop/src/pay.py" in summary.content


def test_talk_in_which_nothing_was_done_is_not_summed_up(memory: recollect.Engine) -> None:
    memory.capture([Message("user", "How do I list files?"), Message("assistant", "With ls.")], session="s", scope=SHOP)
    assert memory.summaries.write("api", "s", SHOP) is None


def test_decisions_of_the_session_are_in_its_summary(memory: recollect.Engine) -> None:
    said = [Message("user", "Remember: deploys are on Thursday."), Message("assistant", "Noted. Anything else?")]
    memory.capture(said, session="s", scope=SHOP)
    summary = memory.summaries.write("api", "s", SHOP)
    assert summary
    assert 'Kept: "Remember: deploys are on Thursday."' in summary.content
    assert 'Left open: "Anything else?"' in summary.content


def test_a_rollout_of_codex_is_summed_up_from_its_file(memory: recollect.Engine, tmp_path: Path) -> None:
    def item(second: int, **payload: Any) -> str:
        return json.dumps({"timestamp": f"2026-03-02T09:00:{second:02}Z", "type": "response_item", "payload": payload})

    def ran(second: int, said: str, code: int) -> list[str]:
        asked = json.dumps({"command": ["bash", "-lc", "cargo test --all"]})
        output = json.dumps({"output": said, "metadata": {"exit_code": code}})
        return [
            item(second, type="function_call", name="shell", arguments=asked, call_id=f"c{second}"),
            item(second + 1, type="function_call_output", call_id=f"c{second}", output=output),
        ]

    patch = "*** Begin Patch\n*** Update File: src/lib.rs\n@@\n+retry\n*** End Patch"
    lines = [
        json.dumps({"type": "session_meta", "payload": {"id": "r1", "cwd": "/nowhere/shop"}}),
        item(1, type="message", role="user", content=[{"type": "input_text", "text": "Make the tests pass again."}]),
        *ran(2, "test retry ... FAILED", 101),
        item(4, type="custom_tool_call", name="apply_patch", input=patch, call_id="p"),
        item(5, type="custom_tool_call_output", call_id="p", output="Success."),
        *ran(6, "test result: ok", 0),
        item(8, type="message", role="assistant", content=[{"type": "output_text", "text": "All tests pass."}]),
    ]
    path = tmp_path / "rollout-1.jsonl"
    path.write_text("\n".join(lines) + "\n")
    Backfill(memory, Wanted(scope=SHOP)).run([path])
    [summary] = summaries(memory)
    assert "Changed: src/lib.rs" in summary.content
    assert "Failed, then passed, after a change of lib.rs: `cargo test --all`" in summary.content
    proved(memory, summary)


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="the transcripts are not here")
def test_a_real_session_is_summed_up(memory: recollect.Engine) -> None:
    Backfill(memory, Wanted(scope=SHOP)).run([next(TRANSCRIPTS.glob("258c*"))])
    [summary] = summaries(memory)
    assert 'Asked: "Implement spotter-gqc"' in summary.content
    assert "Committed: feat: launch project review conversation" in summary.content
    assert "`mix test test/spotter_web/live/project_review_live_test.exs 2>&1` (5 tests, 4 failures)" in summary.content
    assert len(summary.content) < 2000
    proved(memory, summary)
    before = memory.head
    memory.summaries.write("claude", "258c7280-ae70-4798-800f-63464d01a85d", SHOP)
    assert memory.head == before, "nothing changed, so nothing is written"
