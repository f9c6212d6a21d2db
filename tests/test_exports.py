"""Chat exports: every form of them gives what was said, in order, and nothing that was not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import BadInput
from recollect.capture import exports
from recollect.capture.transcripts import Tally


def read(document: Any) -> tuple[list[tuple[str, str, str]], Tally]:
    tally = Tally()
    said = exports.read([json.dumps(document)], "loose", tally)
    return [(one.session, one.speaker, one.text) for one in said], tally


def node(id: str, parent: str | None, role: str, parts: list[Any], **more: Any) -> dict[str, Any]:
    kind = more.pop("kind", "text")
    content = {"content_type": kind, "parts": parts}
    message = {"id": f"m-{id}", "author": {"role": role}, "content": content, "create_time": 1740906000.5, **more}
    return {"id": id, "parent": parent, "children": [], "message": message}


def test_of_chatgpt_the_branch_that_was_kept_is_read() -> None:
    nodes = {
        "root": {"id": "root", "parent": None, "children": ["sys"], "message": None},
        "sys": node("sys", "root", "system", [""]),
        "set": node("set", "sys", "user", ["I like tabs."], kind="user_editable_context"),
        "a": node("a", "set", "user", ["We deploy on Thursdays.", {"asset_pointer": "file-service://x"}]),
        "dropped": node("dropped", "a", "assistant", ["A first answer."]),
        "call": node("call", "a", "assistant", ["search()"], recipient="browser"),
        "tool": node("tool", "call", "tool", ["a page"]),
        "b": node("b", "tool", "assistant", ["Noted."]),
    }
    said, tally = read([{"conversation_id": "c1", "title": "Deploys", "mapping": nodes, "current_node": "b"}])
    assert said == [("c1", "user", "We deploy on Thursdays."), ("c1", "assistant", "Noted.")]
    assert tally.skipped == {"written by the host": 2, "tool call": 1, "tool output": 1}
    assert tally.accounted == tally.lines == 6


def test_a_tree_that_goes_in_circles_ends() -> None:
    nodes = {"a": node("a", "b", "user", ["One."]), "b": node("b", "a", "assistant", ["Two."])}
    assert len(read([{"id": "c", "mapping": nodes, "current_node": "b"}])[0]) == 2


def test_of_claude_the_texts_of_the_messages_are_read() -> None:
    messages = [
        {"uuid": "1", "sender": "human", "text": "Use pnpm.", "content": [], "created_at": "2026-03-02T09:00:00Z"},
        {"uuid": "2", "sender": "assistant", "text": "", "content": [
            {"type": "text", "text": "Will do."}, {"type": "tool_use", "name": "x"}]},
        {"uuid": "3", "sender": "somebody"},
    ]  # fmt: skip
    said, tally = read([{"uuid": "c1", "name": "Tools", "chat_messages": messages}])
    assert said == [("c1", "user", "Use pnpm."), ("c1", "assistant", "Will do.")]
    assert tally.unknown == {"message": 1}


PLAIN = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Use pnpm."},
    {"role": "assistant", "content": [{"type": "text", "text": "Will do."}]},
    {"role": "tool", "content": "ok"},
]


@pytest.mark.parametrize(
    ("document", "session"),
    [
        (PLAIN, "loose"),
        ([{"id": "c1", "messages": PLAIN}], "c1"),
        ({"id": "c1", "messages": PLAIN}, "c1"),
        ({"conversations": [{"id": "c1", "messages": PLAIN}]}, "c1"),
    ],
)
def test_plain_lists_are_read_in_every_wrapping(document: Any, session: str) -> None:
    said, tally = read(document)
    assert said == [(session, "user", "Use pnpm."), (session, "assistant", "Will do.")]
    assert tally.accounted == tally.lines == 4


def test_a_conversation_without_a_name_has_always_the_same() -> None:
    assert read([{"messages": PLAIN}]) == read([{"messages": PLAIN}])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from("mapping current_node message author role content parts chat_messages sender messages".split()),
        inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(json_values, max_size=4))
def test_whatever_a_file_holds_is_counted_and_raises_nothing(document: list[Any]) -> None:
    said, tally = read(document)
    assert tally.accounted == tally.lines
    assert len(said) == tally.said


@given(st.lists(json_values, max_size=4), st.integers(1, 7))
def test_the_pieces_a_document_comes_in_do_not_matter(document: list[Any], size: int) -> None:
    text = json.dumps(document, indent=1)
    pieces = [text[n : n + size] for n in range(0, len(text), size)]
    assert list(exports.items(pieces)) == document


@pytest.mark.parametrize("text", ['[{"a": 1}, {"b"', "[1, 2", "nonsense", '{"a"', "[" * 100_000])
def test_a_document_that_is_not_whole_is_an_error(text: str) -> None:
    with pytest.raises(BadInput):
        list(exports.items([text]))
