"""Hooks: what an assistant tells reaches the store once, whatever happens on the way, and what is known comes back."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import START, Opener
from recollect.agents import access
from recollect.agents.access import Caller
from recollect.agents.home import project_of
from recollect.capture import events, transcripts
from recollect.capture.sessions import session
from recollect.entrypoints import link, spool
from recollect.errors import BadInput, Forbidden
from recollect.models.tokens import Tokens
from recollect.ops import hooks
from recollect.recall.fence import fenced
from recollect.types import Scope

ME = access.local("default", "hook", Scope())
FLEXIBLE = "Releases go out on Thursdays because support is staffed then."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "home"


class Assistant:
    """An assistant's session, seen from its hooks."""

    def __init__(self, engine: recollect.Engine, home: Path, host: str = "claude", session: str = "s1") -> None:
        self.engine, self.home, self.host, self.session = engine, home, host, session
        self.caller = ME

    def envelope(self, event: str, **given: Any) -> dict[str, Any]:
        told = {"session_id": self.session, "cwd": "/nowhere/shop", "hook_event_name": event, **given}
        return {"id": spool.new_id(), "at": START.timestamp(), "host": self.host, "event": event, "input": told}

    def hook(self, event: str, **given: Any) -> dict[str, Any]:
        return hooks.answer(self.engine, self.caller, self.home, self.envelope(event, **given))

    def told(self, event: str, **given: Any) -> str:
        """The context that the model is given."""
        said = self.hook(event, **given)["print"]
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""

    def turns(self) -> list[tuple[str, str]]:
        found = self.engine.list(kinds=("turn",), limit=100).memories
        return [(turn.speaker, turn.content) for turn in sorted(found, key=lambda turn: turn.position or 0)]


@pytest.fixture
def claude(memory: recollect.Engine, home: Path) -> Assistant:
    return Assistant(memory, home)


def record(uuid: str, kind: str, text: str, **more: Any) -> str:
    message = {"role": kind, "content": text if kind == "user" else [{"type": "text", "text": text}]}
    return json.dumps({"type": kind, "uuid": uuid, "message": message, "isSidechain": False, **more}) + "\n"


# -- what is given ----------------------------------------------------------------------------------------------------


def test_a_session_starts_with_the_standing_rules_of_its_project(claude: Assistant) -> None:
    claude.engine.remember("Indent with tabs.", kind="rule", scope=Scope(project="shop"))
    claude.engine.remember("Indent with two spaces.", kind="rule", scope=Scope(project="other"))
    said = claude.told("SessionStart", source="startup")
    assert "Indent with tabs." in said
    assert "two spaces" not in said
    assert claude.told("SessionStart", source="startup") == "", "a second copy of the hook says nothing again"


def test_a_prompt_brings_what_bears_on_it_once_in_a_session(claude: Assistant) -> None:
    claude.engine.remember(FLEXIBLE, kind="decision", importance=9, scope=Scope(project="shop"))
    claude.engine.remember("Cats like warm windows.", importance=9, scope=Scope(project="shop"))
    said = claude.told("UserPromptSubmit", prompt="Do releases go out on Thursdays?")
    assert FLEXIBLE in said
    assert "Cats" not in said
    assert said.startswith("<recollect>")
    assert claude.told("UserPromptSubmit", prompt="So releases go out on Thursdays then?") == ""
    again = Assistant(claude.engine, claude.home, session="s2")
    assert FLEXIBLE in again.told("UserPromptSubmit", prompt="Do releases go out on Thursdays?")


def test_what_hooks_tell_can_be_switched_off_and_what_they_hear_is_kept(
    opened: Opener, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {}
    for inject in ("on", "start", "off"):
        monkeypatch.setenv("RECOLLECT_INJECT", inject)
        claude = Assistant(opened(f"{inject}.db"), home, session=inject)
        claude.engine.remember(FLEXIBLE, kind="rule", scope=Scope(project="shop"))
        start = claude.told("SessionStart", source="startup")
        prompt = claude.told("UserPromptSubmit", prompt="On which day do releases go out?")
        told[inject] = (FLEXIBLE in start, bool(prompt), len(claude.turns()))
    assert told["start"] == (True, False, 1)
    assert told["off"] == (False, False, 1)
    assert told["on"][0]


def test_what_was_shown_is_not_heard_again_from_the_assistant(claude: Assistant) -> None:
    known = claude.engine.remember(FLEXIBLE, kind="decision", importance=9, scope=Scope(project="shop"))
    claude.told("UserPromptSubmit", prompt="Do releases go out on Thursdays?")
    claude.hook("Stop", last_assistant_message="I do not know.")
    assert [one.way for one in claude.engine.why(known.id).shown] == ["prompt"]
    claude.hook("Stop", last_assistant_message=f"As I recall, {FLEXIBLE[0].lower()}{FLEXIBLE[1:]} I tagged 2.4.")
    assert claude.turns()[1:] == [("assistant", "I do not know."), ("assistant", "I tagged 2.4.")]
    why = claude.engine.why(known.id)
    assert {(one.way, one.session) for one in why.shown} == {("prompt", "s1"), ("repeated", "s1")}
    assert why.helped == 0, "that it was said again does not say so"


def test_a_secret_in_a_prompt_does_not_reach_the_sessions_file(claude: Assistant) -> None:
    secret = "ghp_" + "a1B2" * 9
    claude.hook("UserPromptSubmit", prompt=f"Push with {secret}, please.")
    files = [path.read_text("utf-8") for path in (claude.home / "sessions").iterdir()]
    assert any("Push with" in text for text in files)
    assert not any(secret in text for text in files)


def test_after_a_compaction_what_was_shown_may_come_again(claude: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    claude.engine.remember(FLEXIBLE, kind="decision", importance=9)
    asked = "Do releases go out on Thursdays?"
    assert FLEXIBLE in claude.told("UserPromptSubmit", prompt=asked)
    assert claude.told("UserPromptSubmit", prompt=asked) == ""
    claude.told("SessionStart", source="compact")
    with session(claude.home, *hooks.names("default", "claude", "s1")) as known:
        known.shown = []  # the brief itself may have shown it
    assert FLEXIBLE in claude.told("UserPromptSubmit", prompt=asked)


def test_a_question_is_understood_by_what_was_said_before_it(claude: Assistant) -> None:
    claude.engine.remember("The invoices service runs on port 8123 of host anna.", importance=9)
    claude.hook("UserPromptSubmit", prompt="Look at the invoices service on host anna")
    claude.hook("UserPromptSubmit", prompt="and the tests")
    with session(claude.home, *hooks.names("default", "claude", "s1")) as known:
        assert known.said == ["Look at the invoices service on host anna", "and the tests"]


def test_what_is_given_keeps_to_its_budget(claude: Assistant) -> None:
    for n in range(60):
        words = f"The service number {n} listens on port {8000 + n} and is owned by team {n}. " * 4
        claude.engine.remember(words, importance=10)
    said = claude.told("UserPromptSubmit", prompt="The service number listens on port and is owned by team")
    assert 0 < Tokens()(said) <= 500
    for n in range(60):
        rule = f"Rule {n}: " + "always write the plan down before you start, and keep it short. " * 8
        claude.engine.remember(rule, kind="rule")
    other = Assistant(claude.engine, claude.home, session="s2")
    assert 0 < len(other.told("SessionStart", source="startup")) < 10_000


def test_questions_and_this_very_session_are_not_recalled(claude: Assistant) -> None:
    asked = "Which port does the invoices service of host anna use?"
    claude.hook("UserPromptSubmit", prompt=asked)
    assert claude.told("UserPromptSubmit", prompt=f"Again: {asked}") == ""
    assert Assistant(claude.engine, claude.home, session="s2").told("UserPromptSubmit", prompt=asked) == ""


# -- what is kept -----------------------------------------------------------------------------------------------------


def test_a_talk_is_kept_as_turns_with_their_places_and_sources(claude: Assistant) -> None:
    claude.hook("UserPromptSubmit", prompt="Which port does invoices use?")
    tool = {"tool_name": "Bash", "tool_input": {"command": "grep port app.py"}, "tool_use_id": "t1"}
    claude.hook("PostToolUse", tool_response={"stdout": "port = 8123"}, **tool)
    claude.hook("Stop", last_assistant_message="It uses port 8123.")
    assert claude.turns() == [
        ("user", "Which port does invoices use?"),
        ("tool", "Bash: grep port app.py\n→ port = 8123"),
        ("assistant", "It uses port 8123."),
    ]
    turn = max(claude.engine.list(kinds=("turn",)).memories, key=lambda turn: turn.position or 0)
    assert (turn.scope.project, turn.scope.session, turn.trust, turn.position) == ("shop", "s1", "cited", 2)
    source, _ = claude.engine.evidence(turn.id)
    assert source is not None
    assert (source.kind, source.author, source.content) == ("turn", "assistant", "It uses port 8123.")


def test_the_same_delivery_again_stores_nothing(claude: Assistant) -> None:
    one = claude.envelope("Stop", last_assistant_message="It uses port 8123.")
    two = {**one, "id": spool.new_id()}
    for envelope in (one, one, two):
        hooks.answer(claude.engine, ME, claude.home, envelope)
    (turn,) = claude.engine.list(kinds=("turn",)).memories
    assert turn.observed == 1


def test_a_transcript_gives_each_record_once_whatever_came_before_it(claude: Assistant, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(record("u1", "user", "Why Thursday?") + record("u2", "assistant", "Let me look."))
    claude.hook("UserPromptSubmit", prompt="Why Thursday?", transcript_path=str(talk))
    claude.hook("Stop", last_assistant_message="Support is staffed.", transcript_path=str(talk))
    with talk.open("a") as file:  # the assistant writes late, and one record twice
        file.write(record("u3", "assistant", "Support is staffed.") * 2)
        file.write(
            record("u4", "user", "Thanks, and Friday?", timestamp="2026-03-02T09:00:00Z") + '{"type": "user", "uu'
        )
    claude.hook("PreCompact", transcript_path=str(talk))
    claude.hook("SessionEnd", transcript_path=str(talk))
    assert claude.turns() == [
        ("user", "Why Thursday?"),
        ("assistant", "Let me look."),
        ("assistant", "Support is staffed."),
        ("user", "Thanks, and Friday?"),
    ]
    fork = tmp_path / "fork.jsonl"
    fork.write_text(record("u4", "user", "Thanks, and Friday?") + record("u5", "assistant", "Never on Fridays."))
    assert {turn.observed for turn in claude.engine.list(kinds=("turn",)).memories} == {1}
    forked = Assistant(claude.engine, claude.home, session="s2")
    forked.hook("Stop", transcript_path=str(fork))
    assert forked.turns().count(("user", "Thanks, and Friday?")) == 1
    assert ("assistant", "Never on Fridays.") in forked.turns()


def test_a_reply_that_the_transcript_has_too_is_one_turn(claude: Assistant, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(record("u1", "user", "Why Thursday?") + record("u2", "assistant", "Support is staffed."))
    for _ in range(2):  # the plugin and the settings both have the hook
        claude.hook("UserPromptSubmit", prompt="Why Thursday?", transcript_path=str(talk))
        claude.hook("Stop", last_assistant_message="Support is staffed.", transcript_path=str(talk))
    claude.hook("SessionEnd", transcript_path=str(talk))
    assert claude.turns() == [("user", "Why Thursday?"), ("assistant", "Support is staffed.")]
    assert {turn.observed for turn in claude.engine.list(kinds=("turn",)).memories} == {1}


def test_what_we_injected_is_not_captured_as_new(claude: Assistant) -> None:
    block = f"<recollect>\n{fenced(FLEXIBLE, id='9r0c6d1e')}\n</recollect>"
    claude.hook("UserPromptSubmit", prompt=f"{block}\nWhy is that so?")
    claude.hook("Stop", last_assistant_message=block)
    escaped = block.replace("<", "&lt;").replace(">", "&gt;")  # as Gemini puts what a hook said before a prompt
    Assistant(claude.engine, claude.home, "gemini").hook(
        "BeforeAgent", prompt=f"<hook_context>{escaped}</hook_context>\n\nWhy is that so?"
    )
    ours = {"tool_name": "mcp__plugin_recollect_recollect__recall", "tool_input": {"command": "x"}}
    claude.hook("PostToolUse", tool_response=FLEXIBLE, **ours)
    assert set(claude.turns()) == {("user", "Why is that so?")}


def test_secrets_are_taken_out_before_anything_is_stored(claude: Assistant) -> None:
    key = "AKIA" + "IOSFODNN7REALKEY"
    claude.hook("UserPromptSubmit", prompt=f"Use the key {key} for the bucket")
    (turn,) = claude.engine.list(kinds=("turn",)).memories
    source, _ = claude.engine.evidence(turn.id)
    assert source is not None
    assert key not in turn.content + source.content


def test_a_helper_inside_the_session_is_not_the_talk(claude: Assistant) -> None:
    claude.hook("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t", agent_id="a1")
    assert claude.turns() == []


def test_a_caller_from_elsewhere_names_no_files_and_stays_behind_its_wall(claude: Assistant, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(record("u1", "user", "A private word."))
    wall = Scope(project="web")
    claude.caller = Caller("default", "hook", frozenset(("read", "write")), wall, wall, token="t1")
    claude.hook("Stop", last_assistant_message="Done.", transcript_path=str(talk))
    assert claude.turns() == [("assistant", "Done.")]
    assert claude.engine.list(kinds=("turn",)).memories[0].scope.project == "web"
    claude.caller = Caller("default", "hook", frozenset(("read",)), wall, wall, token="t1")
    with pytest.raises(Forbidden):
        claude.hook("Stop", last_assistant_message="More.")


def test_a_transcript_must_be_the_users_own(tmp_path: Path, home: Path) -> None:
    mine = tmp_path / "talk.jsonl"
    mine.write_text(record("u1", "user", "Hello"))
    assert len(transcripts.read(str(mine))[0]) == 1
    (tmp_path / "talk.txt").write_text(record("u1", "user", "Hello"))
    (tmp_path / "way.jsonl").symlink_to("/etc/passwd")
    for wrong in (tmp_path / "talk.txt", tmp_path / "way.jsonl", Path("/etc/passwd"), tmp_path / "none.jsonl"):
        assert transcripts.read(str(wrong)) == ([], 0)


def test_rollouts_of_codex_are_read_without_what_codex_says_itself(tmp_path: Path, home: Path) -> None:
    def item(role: str, text: str, id: str) -> str:
        kind = "output_text" if role == "assistant" else "input_text"
        inside = {"type": "message", "role": role, "id": id, "content": [{"type": kind, "text": text}]}
        return json.dumps({"timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": inside}) + "\n"

    path = tmp_path / "rollout-x.jsonl"
    path.write_text(
        json.dumps({"type": "session_meta", "payload": {"id": "s"}}) + "\n"
        + item("developer", "Be brief.", "m0")
        + item("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "m1")
        + item("user", "Why tabs?", "m2") + item("assistant", "Because.", "m3")
    )  # fmt: skip
    said, end = transcripts.read(str(path))
    assert [(one.speaker, one.text) for one in said] == [("user", "Why tabs?"), ("assistant", "Because.")]
    assert transcripts.read(str(path), end) == ([], end)


# -- hosts ------------------------------------------------------------------------------------------------------------

PAYLOADS = [
    ("codex", "UserPromptSubmit", {"session_id": "s", "turn_id": "t", "prompt": "Why?"}, "prompt", "Why?"),
    ("gemini", "BeforeAgent", {"session_id": "s", "prompt": "Why?"}, "prompt", "Why?"),
    ("gemini", "AfterAgent", {"session_id": "s", "prompt": "Why?", "prompt_response": "So."}, "reply", "So."),
    ("cursor", "beforeSubmitPrompt", {"conversation_id": "s", "prompt": "Why?"}, "prompt", "Why?"),
    ("cursor", "afterAgentResponse", {"conversation_id": "s", "text": "So."}, "reply", "So."),
    ("windsurf", "pre_user_prompt", {"trajectory_id": "s", "tool_info": {"user_prompt": "Why?"}}, "prompt", "Why?"),
    ("windsurf", "post_cascade_response", {"trajectory_id": "s", "tool_info": {"response": "So."}}, "reply", "So."),
    ("copilot", "userPromptSubmitted", {"sessionId": "s", "prompt": "Why?"}, "prompt", "Why?"),
    ("opencode", "stop", {"session_id": "s", "last_assistant_message": "So."}, "reply", "So."),
]


@pytest.mark.parametrize(("host", "event", "given", "name", "wanted"), PAYLOADS)
def test_every_host_is_understood_in_its_own_words(
    host: str, event: str, given: dict[str, Any], name: str, wanted: str
) -> None:
    read = events.read(host, event, given)
    assert read.session == "s"
    assert getattr(read, name) == wanted


TOOLS = [
    ("cursor", "afterShellExecution", {"command": "make test", "output": "ok"}, "make test"),
    ("cursor", "afterFileEdit", {"file_path": "a.py", "edits": [{"new_string": "x = 1"}]}, "a.py"),
    ("windsurf", "post_run_command", {"tool_info": {"command_line": "make test"}}, "make test"),
    ("windsurf", "post_write_code", {"tool_info": {"file_path": "a.py", "edits": []}}, "a.py"),
    ("gemini", "AfterTool", {"tool_name": "write_file", "tool_input": {"file_path": "a.py"}}, "a.py"),
    ("codex", "PostToolUse", {"tool_name": "shell", "tool_input": {"command": ["make", "test"]}}, "make test"),
    ("copilot", "postToolUse", {"toolName": "edit", "toolArgs": '{"path": "a.py"}'}, "a.py"),
]


@pytest.mark.parametrize(("host", "event", "given", "wanted"), TOOLS)
def test_tools_that_ran_or_changed_something_are_told(
    host: str, event: str, given: dict[str, Any], wanted: str
) -> None:
    tool = events.read(host, event, {"session_id": "s", **given}).tool
    assert tool is not None
    assert wanted in tool.text


@pytest.mark.parametrize(
    ("host", "event", "wanted"),
    [
        ("claude", "SessionStart", {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}}),
        ("gemini", "BeforeAgent", {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "x"}}),
        ("cursor", "sessionStart", {"additional_context": "x"}),
        ("cursor", "beforeSubmitPrompt", {"continue": True}),
        ("copilot", "sessionStart", {"additionalContext": "x"}),
        ("opencode", "prompt", {"context": "x"}),
        ("windsurf", "pre_user_prompt", None),
    ],
)
def test_every_host_is_answered_in_its_own_shape(host: str, event: str, wanted: Any) -> None:
    said = events.answer(events.read(host, event, {"session_id": "s", "prompt": "Why?"}), "x")
    assert (json.loads(said) if said else None) == wanted


def test_a_plugin_of_two_hosts_knows_which_one_calls() -> None:
    assert events.read("plugin", "Stop", {"session_id": "s", "transcript_path": "/c/rollout-1.jsonl"}).host == "codex"
    assert events.read("plugin", "Stop", {"session_id": "s", "transcript_path": "/c/1.jsonl"}).host == "claude"


@pytest.mark.parametrize(
    "envelope",
    [
        {}, {"host": "claude", "event": "Stop", "input": []}, {"host": "nobody", "event": "Stop", "input": {}},
        {"host": "claude", "event": "Dance", "input": {"session_id": "s"}},
        {"host": "claude", "event": "Stop", "input": {"session_id": {"a": 1}}},
    ],
)  # fmt: skip
def test_what_is_no_event_is_refused_and_changes_nothing(claude: Assistant, envelope: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        hooks.answer(claude.engine, ME, claude.home, envelope)
    assert claude.turns() == []


def test_the_project_is_the_repository_of_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "shop" / "src"
    inside.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    assert project_of(str(inside)) == "shop"
    worktree = tmp_path / "shop-fix"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {tmp_path}/shop/.git/worktrees/shop-fix\n")
    assert project_of(str(worktree)) == "shop"
    assert [project_of(cwd) for cwd in ("", "relative", "/", str(Path.home()))] == [""] * 4


# -- the spool --------------------------------------------------------------------------------------------------------


def fill(home: str, name: str, count: int) -> None:
    for n in range(count):
        spool.add(home, {"writer": name, "n": n})


def test_many_processes_add_while_another_takes_and_nothing_is_lost(home: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=fill, args=(str(home), str(w), 50)) for w in range(4)]
    for writer in writers:
        writer.start()
    found: list[Any] = []

    def take() -> None:
        for path in spool.take(str(home)):
            found.extend(spool.records(path))
            spool.done(path)

    while any(writer.is_alive() for writer in writers):
        take()
        time.sleep(0.01)
    for writer in writers:
        writer.join()
    take()
    assert len(found) == 200
    assert len({(one["writer"], one["n"]) for one in found}) == 200
    assert len({one["id"] for one in found}) == 200
    assert [one["n"] for one in found if one["writer"] == "2"] == list(range(50))


def test_a_torn_line_costs_only_itself(home: Path, memory: recollect.Engine) -> None:
    spool.add(str(home), {"n": 1})
    queue = home / "spool" / "queue.jsonl"
    with queue.open("ab") as file:
        file.write(b'{"n": 2, "half')
    good = Assistant(memory, home).envelope("Stop", last_assistant_message="Still here.")
    spool.add(str(home), good)
    assert hooks.take_in(memory, home) == 3
    assert [turn.content for turn in memory.list(kinds=("turn",)).memories] == ["Still here."]
    assert [one["refused"] for one in spool.refused(str(home))][1] == "not a record"
    assert spool.waiting(str(home)) == []
    assert oct(queue.parent.stat().st_mode)[-3:] == "700"


def test_the_spool_is_taken_in_once_even_when_a_daemon_died_on_the_way(claude: Assistant) -> None:
    home = str(claude.home)
    sent = [claude.envelope("UserPromptSubmit", prompt=f"Word number {n}.") for n in range(5)]
    for envelope in sent:
        spool.add(home, envelope)
    (taken,) = spool.take(home)
    for envelope in sent[:2]:  # a daemon stored two of them, and was killed before it removed the file
        hooks.answer(claude.engine, ME, claude.home, envelope)
    spool.add(home, claude.envelope("UserPromptSubmit", prompt="Word number 5."))
    assert [one["state"] for one in hooks.receipts(claude.engine, claude.home, 10)["latest"]].count("queued") >= 4
    hooks.take_in(claude.engine, claude.home)
    assert claude.turns() == [("user", f"Word number {n}.") for n in range(6)]
    assert {turn.observed for turn in claude.engine.list(kinds=("turn",)).memories} == {1}
    assert not Path(taken).exists()


def test_a_receipt_goes_from_queued_to_readable_and_tells_when_it_is_no_longer(claude: Assistant) -> None:
    spool.add(str(claude.home), claude.envelope("Stop", last_assistant_message="It uses port 8123."))

    def state() -> tuple[int, str]:
        told = hooks.receipts(claude.engine, claude.home)
        return told["queued"], told["latest"][0]["state"]

    assert state() == (1, "queued")
    hooks.take_in(claude.engine, claude.home)
    assert state() == (0, "readable")
    assert claude.engine.recall("Which port does it use: 8123?").hits
    claude.engine.forget(query="port 8123")
    assert state() == (0, "stored")


def test_what_comes_late_shows_nothing(claude: Assistant) -> None:
    claude.engine.remember(FLEXIBLE, kind="decision", importance=9)
    asked = "Do releases go out on Thursdays?"
    spool.add(str(claude.home), claude.envelope("UserPromptSubmit", prompt=asked))
    hooks.take_in(claude.engine, claude.home)
    assert FLEXIBLE in claude.told("UserPromptSubmit", prompt=f"Again: {asked}")


# -- the process ------------------------------------------------------------------------------------------------------


def run(home: Path, event: str, given: Any, host: str = "claude", **more: Any) -> subprocess.CompletedProcess[str]:
    text = given if isinstance(given, str) else json.dumps(given)
    command = [sys.executable, "-m", "recollect", "hook", event, "--host", host, "--home", str(home)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60, **more)


def without_daemon(home: Path) -> None:
    """Somebody else has just tried to start one, in vain: the hook does not."""
    home.mkdir(exist_ok=True)
    (home / link.TRIED).write_bytes(link.FAILED)


def test_without_a_daemon_what_was_said_is_in_the_spool(home: Path, memory: recollect.Engine) -> None:
    without_daemon(home)
    done = run(home, "UserPromptSubmit", {"session_id": "s", "prompt": "Why?", "cwd": "/nowhere/shop"})
    assert (done.returncode, done.stdout) == (0, "")
    (waiting,) = spool.waiting(str(home))
    assert (waiting["host"], waiting["event"], waiting["input"]["prompt"]) == ("claude", "UserPromptSubmit", "Why?")
    hooks.take_in(memory, home)
    assert [turn.content for turn in memory.list(kinds=("turn",)).memories] == ["Why?"]


@pytest.mark.parametrize(
    "given", ["", "not json", "[1, 2]", '{"session_id": "s", "prompt": "' + "x" * 300_000 + '"}', "\ud83d"]
)
@pytest.mark.parametrize(("host", "nothing"), [("claude", ""), ("gemini", "{}\n")])
def test_the_hook_ends_well_whatever_it_is_given(home: Path, given: str, host: str, nothing: str) -> None:
    without_daemon(home)
    command = [sys.executable, "-m", "recollect", "hook", "prompt", "--host", host, "--home", str(home)]
    done = subprocess.run(command, input=given.encode("utf-8", "surrogatepass"), capture_output=True, check=False)
    assert (done.returncode, done.stdout.decode()) == (0, nothing)


def test_the_hook_ends_well_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(tmp_path / "file" / "below", "Stop", {"session_id": "s"})
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("given", ['{"session_id": "s", "last_assistant_message": "Done."}', "not json"])
def test_a_host_that_no_longer_listens_is_told_nothing_and_loses_nothing(home: Path, given: str) -> None:
    without_daemon(home)
    command = [sys.executable, "-m", "recollect", "hook", "AfterAgent", "--host", "gemini", "--home", str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()
        process.stdin.write(given.encode())
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert len(spool.waiting(str(home))) == (given != "not json")


def test_a_host_that_leaves_its_end_open_is_not_waited_for(home: Path) -> None:
    without_daemon(home)
    command = [sys.executable, "-m", "recollect", "hook", "stop", "--host", "claude", "--home", str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"session_id": "s", "last_assistant_message": "Done."}')
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
    assert spool.waiting(str(home))[0]["input"]["last_assistant_message"] == "Done."


def test_a_daemon_that_never_answers_is_not_waited_for(home: Path) -> None:
    home.mkdir()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(home / "d.sock"))
        silent.listen()
        info = {"pid": os.getpid(), "port": 1, "socket": str(home / "d.sock"), "version": "0"}
        (home / link.INFO).write_text(json.dumps(info))
        done = run(home, "Stop", {"session_id": "s", "last_assistant_message": "Done."})
    assert (done.returncode, done.stdout) == (0, "")
    assert [one["input"]["last_assistant_message"] for one in spool.waiting(str(home))] == ["Done."]


def test_a_daemon_that_was_stopped_is_said_and_the_start_is_told_without_it(daemon: Path) -> None:
    with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
        engine.remember("Indent with tabs.", kind="rule")
    found = serve(daemon)
    os.kill(found.pid, signal.SIGSTOP)
    try:
        begun = run(daemon, "SessionStart", {"session_id": "s", "cwd": "/nowhere/shop", "source": "startup"})
        asked = run(daemon, "UserPromptSubmit", {"session_id": "s", "cwd": "/nowhere/shop", "prompt": "Why tabs?"})
    finally:
        os.kill(found.pid, signal.SIGCONT)
    assert "Indent with tabs." in begun.stdout
    for done in (begun, asked):
        assert f"The daemon, process {found.pid}, does not answer" in done.stderr
    until(lambda: ("Why tabs?", 1) in turns_of(daemon))


def test_the_first_prompt_waits_for_a_daemon_that_starts(daemon: Path) -> None:
    with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
        engine.remember(FLEXIBLE, kind="decision", importance=9)
    prompt = {"session_id": "s", "cwd": "/nowhere/shop", "prompt": "Do releases go out on Thursdays?"}
    done = run(daemon, "UserPromptSubmit", prompt)
    assert done.stderr == ""
    assert FLEXIBLE in done.stdout
    assert spool.waiting(str(daemon)) == []


def test_the_settings_that_a_hook_is_given_reach_the_daemon_it_starts(daemon: Path) -> None:
    command = [sys.executable, "-m", "recollect", "hook", "SessionStart", "--host", "claude", "--home", str(daemon)]
    chosen = ["--env", f"RECOLLECT_STORE={daemon / 'other.db'}", "--env=RECOLLECT_TENANT=team"]
    done = subprocess.run([*command, *chosen], input='{"session_id": "s"}', capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found = link.daemon(str(daemon))
    assert found
    assert found.info["store"] == str(daemon / "other.db")


def test_a_start_that_nobody_can_answer_in_time_shows_no_command_line(home: Path) -> None:
    without_daemon(home)
    (home / "recollect.db").write_bytes(b"")
    os.mkfifo(home / "config.toml")  # reading it never ends
    done = run(home, "SessionStart", {"session_id": "s", "cwd": "/nowhere/shop"})
    assert (done.returncode, done.stdout) == (0, "")
    assert "took more than" in done.stderr
    assert sys.executable not in done.stderr


def test_a_secret_never_reaches_the_spool(home: Path) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    said = {"session_id": "s1", "prompt": f"The token is {token}", "nested": [{"text": f"use {token}"}]}
    without_daemon(home)
    assert run(home, "UserPromptSubmit", said).returncode == 0
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"The token is" in written
    assert token.encode() not in written


def test_a_spool_that_hangs_is_not_waited_for(home: Path) -> None:
    without_daemon(home)
    spool.add(str(home), {"n": 1})
    with (home / "spool" / "queue.jsonl").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run(home, "SessionEnd", {"session_id": "s"})
    assert (done.returncode, done.stdout) == (0, "")


# -- with the daemon --------------------------------------------------------------------------------------------------


@pytest.fixture
def daemon(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose daemon, whoever starts it, needs no model, and is stopped in the end."""
    for name, value in {"HOME": home, "EMBEDDER": "hashing"}.items():
        monkeypatch.setenv(f"RECOLLECT_{name}", str(value))
    yield home
    if found := link.daemon(str(home)):
        os.kill(found.pid, signal.SIGTERM)
        until(lambda: link.daemon(str(home)) is None)


def serve(home: Path) -> link.Link:
    command = [sys.executable, "-m", "recollect", "serve", "--background"]
    subprocess.run(command, check=False, capture_output=True, timeout=120)  # unless one of the hooks was first
    until(lambda: link.daemon(str(home)) is not None)
    found = link.daemon(str(home))
    assert found is not None
    return found


def until(true: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def turns_of(home: Path) -> list[tuple[str, int]]:
    with recollect.open(home / "recollect.db", embedder="hashing") as engine:
        return [(turn.content, turn.observed) for turn in engine.list(kinds=("turn",), limit=1000).memories]


def test_the_hook_carries_to_the_daemon_and_back(daemon: Path) -> None:
    with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
        engine.remember("Indent with tabs.", kind="rule")
        engine.remember(FLEXIBLE, kind="decision", importance=9)
    serve(daemon)
    about = {"session_id": "s", "cwd": "/nowhere/shop"}
    start = run(daemon, "SessionStart", {**about, "hook_event_name": "SessionStart", "source": "startup"})
    assert "Indent with tabs." in json.loads(start.stdout)["hookSpecificOutput"]["additionalContext"]

    def recalled() -> bool:  # until the model is there, only words are searched
        prompt = {**about, "session_id": str(time.time()), "prompt": "Do releases go out on Thursdays?"}
        said = run(daemon, "UserPromptSubmit", prompt).stdout
        return bool(said) and FLEXIBLE in json.loads(said)["hookSpecificOutput"]["additionalContext"]

    until(recalled)
    done = run(daemon, "Stop", {**about, "last_assistant_message": "It uses port 8123."})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert ("It uses port 8123.", 1) in turns_of(daemon)
    assert spool.waiting(str(daemon)) == []


def test_a_queue_that_is_taken_in_while_it_is_counted_is_not_missed(tmp_path: Path, monkeypatch: Any) -> None:
    home = str(tmp_path)
    spool.add(home, {"input": {"last_assistant_message": "Done."}})
    read = spool.records

    def taken_meanwhile(path: str) -> Any:
        monkeypatch.setattr(spool, "records", read)
        spool.take(home)
        return read(path)

    monkeypatch.setattr(spool, "records", taken_meanwhile)
    assert len(spool.waiting(home)) == 1


def test_a_daemon_killed_during_capture_loses_nothing_and_stores_nothing_twice(daemon: Path) -> None:
    found = serve(daemon)
    said = [f"Sentence number {n} of the talk." for n in range(24)]
    command = [sys.executable, "-m", "recollect", "hook", "Stop", "--host", "claude", "--home", str(daemon)]
    running = []
    for n, words in enumerate(said):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(json.dumps({"session_id": f"s{n % 3}", "last_assistant_message": words}).encode())
        process.stdin.close()
        running.append(process)
        if n == 12:
            until(lambda: len(turns_of(daemon)) >= 2)
            os.kill(found.pid, signal.SIGKILL)
    assert [process.wait(timeout=60) for process in running] == [0] * len(said)
    serve(daemon)
    until(lambda: not spool.waiting(str(daemon)))
    assert sorted(turns_of(daemon)) == sorted((words, 1) for words in said)


def doctor(home: Path) -> dict[str, Any]:
    """What the doctor finds of capture."""
    command = [sys.executable, "-m", "recollect", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    found: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    return next(check for check in found if check["name"] == "capture")


def test_the_doctor_proves_that_capture_works_and_leaves_nothing(daemon: Path) -> None:
    with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
        engine.remember("Indent with tabs.")
    for way in ("the spool", "the daemon"):
        check = doctor(daemon)
        assert (check["status"], way in check["detail"]) == ("ok", True), check
        with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
            assert engine.stats()["memories"] == 1
            told = hooks.receipts(engine, daemon)
        assert (told["queued"], told["latest"]) == (0, [])
        assert list((daemon / "sessions").iterdir()) == []
        serve(daemon)


def test_the_doctor_says_when_capture_is_broken(daemon: Path) -> None:
    with recollect.open(daemon / "recollect.db", embedder="hashing") as engine:
        engine.remember("Indent with tabs.")
    (daemon / "spool").write_text("in the way")
    assert doctor(daemon)["status"] == "broken"
