"""The memory tool: its commands over memories, and paths that stay inside."""

from __future__ import annotations

from typing import Any

import pytest

import recollect
from conftest import Opener
from recollect import BadInput, Scope
from recollect.agents.access import Caller, local
from recollect.serve.ops import BY_NAME
from recollect.types import EVERYWHERE

ME = local("default", "test", EVERYWHERE)


def tool(memory: recollect.Engine, command: str, caller: Caller = ME, **given: Any) -> tuple[str, bool]:
    told = BY_NAME["memory_tool"].call(memory, caller, {"command": command, **given})
    return told["content"], told["is_error"]


def text(memory: recollect.Engine, path: str) -> str:
    shown, wrong = tool(memory, "view", path=path)
    assert not wrong, shown
    return "\n".join(line.split("\t", 1)[1] for line in shown.split("\n")[1:])


def test_a_file_is_written_read_edited_renamed_and_deleted(memory: recollect.Engine) -> None:
    assert tool(memory, "view", path="/memories") == ("In /memories, two levels deep, with sizes:\n0\t/memories", False)
    assert not tool(memory, "create", path="/memories/notes/todo.md", file_text="one\ntwo\nthree")[1]
    assert text(memory, "/memories/notes/todo.md") == "one\ntwo\nthree"
    shown, _ = tool(memory, "view", path="/memories/notes/todo.md", view_range=[2, -1])
    assert shown.split("\n")[1:] == ["     2\ttwo", "     3\tthree"]
    assert not tool(memory, "str_replace", path="/memories/notes/todo.md", old_str="two", new_str="2")[1]
    assert not tool(memory, "insert", path="/memories/notes/todo.md", insert_line=0, insert_text="zero\n")[1]
    assert text(memory, "/memories/notes/todo.md") == "zero\none\n2\nthree"
    assert not tool(memory, "create", path="/memories/notes/todo.md", file_text="anew")[1]
    assert text(memory, "/memories/notes/todo.md") == "anew"
    assert not tool(memory, "rename", old_path="/memories/notes", new_path="/memories/old/notes")[1]
    listing = tool(memory, "view", path="/memories")[0]
    assert "\t/memories/old/notes" in listing
    assert text(memory, "/memories/old/notes/todo.md") == "anew"
    assert not tool(memory, "delete", path="/memories/old")[1]
    assert tool(memory, "view", path="/memories/old")[1]


def test_a_file_is_a_memory_with_a_source_and_a_history(memory: recollect.Engine) -> None:
    tool(memory, "create", path="/memories/billing.md", file_text="The billing service runs on port 8080.")
    tool(memory, "str_replace", path="/memories/billing.md", old_str="8080", new_str="9090")
    hit = memory.recall("which port does billing use?").hits[0].memory
    assert (hit.title, hit.kind, hit.tags) == ("/memories/billing.md", "doc", ("memory-file",))
    source, _ = memory.evidence(hit.id)
    assert source is not None
    assert source.uri == "file:/memories/billing.md"
    assert [entry.operation for entry in memory.history(hit.id)] == ["create", "edit"]


def test_two_files_may_hold_the_same_text_and_one_may_be_empty(memory: recollect.Engine) -> None:
    for path in ("/memories/a.md", "/memories/b.md"):
        assert not tool(memory, "create", path=path, file_text="same")[1]
    assert not tool(memory, "create", path="/memories/empty.md", file_text="")[1]
    assert text(memory, "/memories/b.md") == "same"
    assert text(memory, "/memories/empty.md") == ""


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "memories/a", "/memories/../etc/passwd", "/memories/./a", "/memories//a", "/memories/..", "/",
        "/memories/a/../../b", "/memories/%2e%2e/b", "/memories\\..\\b", "/memories/a\x00b", "/memories/a\nb",
        "/memoriesx/a", "/memories/" + "a" * 300, "", "/memories/ .. /a", "~/a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["view", "create", "delete", "rename"])
def test_a_path_that_leads_elsewhere_is_refused(memory: recollect.Engine, command: str, path: str) -> None:
    given: dict[str, Any] = (
        {"old_path": "/memories/a", "new_path": path} if command == "rename" else {"path": path, "file_text": "x"}
    )
    content, wrong = tool(memory, command, **given)
    assert wrong
    assert "plain path below /memories" in content
    assert memory.stats()["memories"] == 0


def test_a_mistake_of_the_model_is_told_to_the_model(memory: recollect.Engine) -> None:
    tool(memory, "create", path="/memories/a.md", file_text="x\ny\nx")
    for command, given, told in (
        ("view", {"path": "/memories/none.md"}, "no file or directory"),
        ("view", {"path": "/memories/a.md", "view_range": [0, 2]}, "view_range"),
        ("view", {"path": "/memories/a.md", "view_range": [2]}, "view_range"),
        ("view", {}, "path is missing"),
        ("create", {"path": "/memories/b.md"}, "file_text is missing"),
        ("create", {"path": "/memories/a.md/b.md", "file_text": "x"}, "is a file"),
        ("str_replace", {"path": "/memories/a.md", "old_str": "x", "new_str": "z"}, "occurs 2 times"),
        ("str_replace", {"path": "/memories/a.md", "old_str": "q", "new_str": "z"}, "occurs 0 times"),
        ("str_replace", {"path": "/memories/a.md", "old_str": "", "new_str": "z"}, "occurs 0 times"),
        ("insert", {"path": "/memories/a.md", "insert_line": 9, "insert_text": "z"}, "insert_line"),
        ("delete", {"path": "/memories"}, "cannot be deleted"),
        ("delete", {"path": "/memories/none"}, "no file or directory"),
        ("rename", {"old_path": "/memories/none", "new_path": "/memories/c"}, "to rename"),
        ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/a.md"}, "there already"),
        ("create", {"path": "/memories/big.md", "file_text": "x" * 70_000}, "limit"),
    ):
        content, wrong = tool(memory, command, **given)
        assert wrong, (command, given)
        assert told in content
    with pytest.raises(BadInput):
        tool(memory, "format_disk")


def test_files_lie_where_the_caller_is_at_home(opened: Opener) -> None:
    memory = opened()
    ana = Caller("default", "ana", frozenset(("read", "write")), Scope(user="ana"), Scope(user="ana"))
    ben = Caller("default", "ben", frozenset(("read", "write")), Scope(user="ben"), Scope(user="ben"))
    tool(memory, "create", ana, path="/memories/diary.md", file_text="mine")
    assert tool(memory, "view", ben, path="/memories/diary.md")[1]
    assert tool(memory, "view", path="/memories/diary.md")[1]
    assert not tool(memory, "create", ben, path="/memories/diary.md", file_text="also mine")[1]
    assert "\tmine" in tool(memory, "view", ana, path="/memories/diary.md")[0]
    assert not tool(memory, "create", ana, path="/memories/diary.md", file_text="of the web", project="web")[1]
    assert "\tmine" in tool(memory, "view", ana, path="/memories/diary.md")[0]
