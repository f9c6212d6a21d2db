"""The echo filter: what was injected, written in by a host, or only repeated is never taken for news."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.echo import Echoes, injected, own_words
from recollect.capture.transcripts import MAX_LINE, Talk
from recollect.recall.fence import fenced

SHOWN = "The staging database runs PostgreSQL 16 on port 5433 because the old cluster still holds 5432."


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<system-reminder>Use pnpm.</system-reminder>Why?", "Why?"),
        ("<system-reminder>\nContents of CLAUDE.md: Use pnpm.", ""),
        ("Why?\n<local-command-stdout>ok\n</local-command-stdout>", "Why?"),
        ("# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>Use pnpm.</INSTRUCTIONS>", ""),
        ("<user_instructions>\nUse pnpm.\n</user_instructions>", ""),
        ("<environment_context><cwd>/shop</cwd></environment_context>", ""),
        ("SessionStart hook additional context: We use pnpm.", ""),
        ("SessionStart:startup hook success: We use pnpm.", ""),
        ("This session is being continued from a previous conversation that ran out of context. We use pnpm.", ""),
        ("Contents of /home/me/CLAUDE.md (private instructions):\n\nUse pnpm.", ""),
        ("# CLAUDE.md\n\nThis file provides guidance to assistants.\n\nUse pnpm.", ""),
        ("Why?\n\n# AGENTS.md\n\nUse pnpm.", "Why?"),
        ("[Request interrupted by user]", ""),
        (f"Look:\n{fenced(SHOWN, id='9r0c6d1e')}\nWhat now?", "Look:\nWhat now?"),
        ("<tool_result>the build failed</tool_result>\nLook at that.", "Look at that."),
        ("We always use <Button> here, and List<User>.", "We always use <Button> here, and List<User>."),
        ("The instructions are in docs/setup.md.", "The instructions are in docs/setup.md."),
    ],
)
def test_what_nobody_said_goes(written: str, said: str) -> None:
    assert own_words(written) == said


@pytest.mark.parametrize(
    "repeat",
    [
        SHOWN,
        SHOWN.upper().rstrip("."),
        "> " + SHOWN,
        "As noted, the staging database runs PostgreSQL 16 on port 5433 because the old cluster still holds 5432.",
        "I remember that the staging database runs PostgreSQL 16 on port 5433.",
        "The staging database runs PostgreSQL 16 on port 5433.",
    ],
)
def test_a_repeat_of_what_was_shown_is_known_for_one(repeat: str) -> None:
    assert Echoes([SHOWN]).without(repeat) == ""


@pytest.mark.parametrize(
    "news",
    [
        "The staging database runs PostgreSQL 17 on port 5433 because the old cluster still holds 5432.",
        "The staging database no longer runs PostgreSQL 16 on port 5433 because the old cluster still holds 5432.",
        "The production database runs PostgreSQL 16 on port 5433 because the old cluster still holds 5432.",
        "The staging database runs PostgreSQL 16 on port 5433 because the firewall blocks 5432.",
        "Yes.",
        "Which port does the staging database run on?",
    ],
)
def test_a_correction_is_no_repeat(news: str) -> None:
    assert Echoes([SHOWN]).without(news) == news


def test_only_the_sentences_that_repeat_go() -> None:
    said = f"Good question.\n\n{SHOWN} I changed the pool size to 20.\n\nDone."
    assert Echoes([SHOWN]).without(said) == "Good question. I changed the pool size to 20.\n\nDone."


@given(
    st.lists(st.lists(st.sampled_from("we deploy on thursdays not 5 pnpm Ana owns".split()), min_size=1), max_size=9)
)
def test_whatever_was_shown_is_known_again(words: list[list[str]]) -> None:
    shown = [" ".join(one) + "." for one in words]
    assert Echoes(shown).without("\n".join(shown)) == ""


@given(st.text(max_size=400), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_keeps_the_order_of_what_is_left(said: str, shown: list[str]) -> None:
    left = Echoes(shown).without(own_words(said))
    place = 0
    for letter in left:
        place = said.index(letter, place) + 1 if letter in said[place:] else len(said) + 1
    assert place <= len(said) or not left


def line(**record: Any) -> bytes:
    return json.dumps(record).encode()


def claude(text: Any, kind: str = "assistant", **more: Any) -> bytes:
    return line(type=kind, uuid=f"u{hash(str(text))}", sessionId="s", message={"role": kind, "content": text}, **more)


def test_what_a_hook_injected_is_not_heard_from_the_assistant_afterwards() -> None:
    block = fenced(SHOWN, id="9r0c6d1e", date="2026-03-02")
    assert injected(block) == [SHOWN]
    talk = Talk()
    said = talk.read([
        line(type="attachment", uuid="a", attachment={"type": "hook_additional_context", "content": [block]}),
        claude(f"As the notes say, {SHOWN[0].lower()}{SHOWN[1:]} I will use that port."),
        claude(SHOWN),
        claude(SHOWN, "user"),
    ])  # fmt: skip
    assert [one.text for one in said] == ["I will use that port.", SHOWN]  # a person who says it again has said it
    assert talk.tally.echoes == 1


def test_every_line_is_counted_once_whatever_it_is() -> None:
    lines = [
        claude("Hello.", "user"),
        claude("Done.", isSidechain=True),
        claude("Summary.", "user", isCompactSummary=True),
        claude("Caveat.", "user", isMeta=True),
        claude([{"type": "tool_result", "content": "3 passed"}], "user"),
        claude([{"type": "tool_use", "name": "Bash", "input": {}}]),
        claude([{"type": "thinking", "thinking": "hm"}]),
        claude(["wow"], "user"),
        claude(None, "user"),
        line(type="user", message="error"),
        line(type="never-seen-before", uuid="x"),
        line(silly="this"),
        line(type=["list"]),
        line(type="event_msg", payload={"type": "agent_message", "message": "Hello."}),
        line(type="response_item", payload={"type": "function_call_output", "output": "3 passed"}),
        line(type="response_item", payload={"type": "unheard_of"}),
        b"42", b'"massive error"', b"[1]", b"{half", b"\xff\xfe", b"", b"[" * 100_000,
        b" " * (MAX_LINE + 1) + b"{}",
    ]  # fmt: skip
    talk = Talk()
    assert [one.text for one in talk.read(lines)] == ["Hello."]
    assert talk.tally.accounted == talk.tally.lines == len(lines)
    assert talk.tally.unknown == {"never-seen-before": 1, "no type": 1, "['list']": 1, "response_item": 1}
    assert talk.tally.malformed == 6
    assert talk.tally.skipped["tool output"] == 2


def test_sidechains_and_tools_come_when_they_are_asked_for() -> None:
    lines = [
        claude("Searched.", isSidechain=True),
        claude([{"type": "tool_result", "content": [{"type": "text", "text": "3 passed"}]}], "user"),
        line(type="session_meta", payload={"id": "r1", "cwd": "/shop"}),
        line(type="response_item", payload={"type": "function_call_output", "call_id": "c", "output": "4 passed"}),
    ]
    said = list(Talk(sidechains=True, tools=True).read(lines))
    assert [(one.speaker, one.text, one.session) for one in said] == [
        ("assistant", "Searched.", "s"), ("tool", "3 passed", "s"), ("tool", "4 passed", "r1"),
    ]  # fmt: skip


def test_rollouts_of_either_age_are_read() -> None:
    text = [{"type": "input_text", "text": "Why Thursday?"}]
    new = [
        line(type="session_meta", timestamp="2026-03-02T09:00:00Z", payload={"id": "r1", "cwd": "/shop"}),
        line(type="response_item", payload={"type": "message", "role": "developer", "content": text}),
        line(type="response_item", timestamp="2026-03-02T09:00:01Z",
             payload={"type": "message", "role": "user", "content": text}),
    ]  # fmt: skip
    old = [
        line(id="r0", timestamp="2025-03-02T09:00:00Z", instructions=None),
        line(record_type="state"),
        line(type="message", role="user", content=text),
        line(type="reasoning", summary=[]),
    ]
    for lines, session in ((new, "r1"), (old, "r0")):
        talk = Talk()
        assert [(one.text, one.session, one.host) for one in talk.read(lines)] == [("Why Thursday?", session, "codex")]
        assert talk.tally.unknown == {}


def queued(operation: str, content: str | None = None, **more: Any) -> bytes:
    said = {} if content is None else {"content": content}
    return line(
        type="queue-operation", operation=operation, timestamp="2026-03-02T09:00:00Z", sessionId="s", **said, **more
    )


def handed(prompt: Any, **more: Any) -> bytes:
    return line(
        type="attachment", uuid="q1", sessionId="s", attachment={"type": "queued_command", "prompt": prompt, **more}
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([queued("enqueue", "Use pnpm."), queued("remove")], ["Use pnpm."]),
        ([queued("enqueue", "Use pnpm."), queued("remove", reason="absorbed_mid_turn")], ["Use pnpm."]),
        ([queued("enqueue", "Use pnpm."), queued("remove", reason="cancelled")], []),
        ([queued("enqueue", "Use pnpm."), queued("dequeue"), claude("Use pnpm.", "user")], ["Use pnpm."]),
        ([queued("enqueue", "Use pnpm."), queued("remove"), handed("Use pnpm.")], ["Use pnpm."]),
        ([queued("enqueue", "Use pnpm."), handed("Use pnpm."), queued("remove")], ["Use pnpm."]),
        (
            [queued("enqueue", "Use npm."), queued("popAll"), queued("enqueue", "Use pnpm."), queued("remove")],
            ["Use pnpm."],
        ),
        (
            [queued("enqueue", "First."), queued("enqueue", "Second."), queued("remove", "Second.")],
            ["Second.", "First."],
        ),
        ([queued("enqueue", "Use pnpm.")], ["Use pnpm."]),
        ([queued("enqueue", "<task-notification>x</task-notification>"), queued("dequeue")], []),
        ([queued("enqueue"), queued("dequeue"), queued("remove"), queued("popAll")], []),
        ([handed("Use pnpm.", commandMode="prompt", origin={"kind": "human"})], ["Use pnpm."]),
        ([handed([{"type": "text", "text": "Use pnpm."}, {"type": "image", "source": {}}])], ["Use pnpm."]),
        ([handed("Task 7 is done.", commandMode="task-notification")], []),
        ([handed("Another agent speaks.", origin={"kind": "peer"})], []),
        ([handed(None), handed(5), line(type="attachment", attachment="x")], []),
    ],
)
def test_what_is_typed_while_the_assistant_works_is_heard_once(lines: list[bytes], said: list[str]) -> None:
    talk = Talk()
    assert [(one.speaker, one.text, one.session) for one in talk.read(lines)] == [("user", one, "s") for one in said]
    assert talk.tally.accounted == talk.tally.lines == len(lines)
    assert talk.tally.unknown == {}
