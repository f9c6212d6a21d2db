"""The review queue from outside: the command line, HTTP, MCP tools and the client, on one store."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from conftest import Opener
from recollect import Client, Engine, Forbidden, Scope
from recollect.agents.access import Caller, local
from recollect.cli import cli, review
from recollect.ops.catalogue import BY_NAME
from recollect.serve import tools
from recollect.types import EVERYWHERE, Message
from served import Server, serving

ME = local("default", "test", EVERYWHERE)
CAUSE = "The build fails because `numpy` 2 changed its ABI."
LIMIT = "The `sync` job never runs on Sundays."


def wait_for(memory: Engine, *statements: str) -> list[str]:
    talk = []
    for number, one in enumerate(statements):
        talk += [Message("assistant", one), Message("user", f"That worked, {number}.")]
    done = memory.capture(talk, session="s")
    assert [one.action for one in done.findings] == ["pending"] * len(statements)
    return [one.memory for one in done.findings]


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as running:
        yield running


def test_a_conversation_is_captured_over_http_and_reviewed(server: Server) -> None:
    said = [
        {"role": "user", "text": "We use pnpm because npm is slow.", "id": "1"},
        {"role": "assistant", "content": CAUSE},
        {"role": "user", "content": "That worked."},
    ]
    done = server.call("POST", "/v1/capture", {"messages": said, "project": "shop", "session": "s1"})
    assert done.status == 200
    assert [one["action"] for one in done.data["findings"]] == ["created", "pending"]
    again = server.call("POST", "/v1/capture", {"messages": said, "project": "shop", "session": "s1"})
    assert (again.data["turns"], again.data["known"]) == (0, 3)
    waiting = server.call("GET", "/v1/pending?project=shop").data["memories"]
    assert [one["content"] for one in waiting] == [CAUSE]
    approved = server.call("POST", "/v1/approve", {"id": waiting[0]["id"], "reason": "seen it"})
    assert [one["state"] for one in approved.data] == ["active"]
    bad = server.call("POST", "/v1/capture", {"messages": [{"role": "robot", "content": "x"}]})
    assert (bad.status, bad.data["code"]) == (400, "bad_input")


def test_the_client_captures_and_reviews_as_the_engine_does(server: Server) -> None:
    with Client(server.url, token=server.secret) as client:
        talk = [Message("assistant", CAUSE), Message("user", "That worked.")]
        done = client.capture(talk, session="s1", scope=Scope(project="shop"))
        assert [one.action for one in done.findings] == ["pending"]
        page = client.pending(scope=Scope(project="shop"))
        assert client.approve(page.memories[0].id)[0].state == "active"
        assert client.pending().memories == ()


def test_a_model_reviews_with_the_tools_of_their_names(memory: Engine) -> None:
    first, second = wait_for(memory, CAUSE, LIMIT)
    found = {tool.mcp: tool for tool in tools.listed("review")}
    assert set(found) == {"get_pending_memories", "approve_pending_memory", "reject_pending_memory"}
    assert CAUSE.split("`")[0] in found["get_pending_memories"].text(found["get_pending_memories"].call(memory, ME, {}))
    found["approve_pending_memory"].call(memory, ME, {"memory_id": first})
    found["reject_pending_memory"].call(memory, ME, {"memory_id": second, "reason": "not so"})
    assert (memory.get(first).state, memory.get(second).state) == ("active", "rejected")
    assert memory.remember(LIMIT).action == "refused"


def test_reading_is_not_enough_to_approve(memory: Engine) -> None:
    (id,) = wait_for(memory, CAUSE)
    reader = Caller("default", "guest", can=frozenset({"read"}), token="t")
    with pytest.raises(Forbidden):
        BY_NAME["approve"].call(memory, reader, {"id": id})
    assert memory.get(id).state == "pending"


def test_joining_gives_the_evidence_to_the_memory_that_stands(memory: Engine) -> None:
    (id,) = wait_for(memory, CAUSE)
    stands = memory.remember("Builds break with numpy 2.").id
    assert memory.approve(id, into=stands)[0].observed == 2
    assert CAUSE in [quote.quote for quote in memory.evidence(stands)[1]]
    assert memory.get(id).state == "superseded"


def command(*words: str, stdin: str = "", code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["review", *words], input=stdin)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "off")


def test_review_without_a_terminal_lists_and_decides(home: None) -> None:
    import recollect

    with recollect.open(embedder="off") as memory:
        first, second, third = wait_for(memory, CAUSE, LIMIT, "The `api` tests need `redis` on port 6390.")
    assert "Nothing was named" in command("--approve", code=2).output
    listed = json.loads(command("--json").output)["memories"]
    assert {one["id"] for one in listed} == {first, second, third}
    assert "approved" in command(first[-8:], "--approve").output
    assert "rejected" in command(second, "--reject", "--reason", "no").output
    command(third, "--into", first)
    assert "Nothing waits" in command().output


def test_review_at_a_terminal_asks_about_each(monkeypatch: pytest.MonkeyPatch, home: None) -> None:
    import recollect

    monkeypatch.setattr(review, "asks", lambda: True)  # the runner's input is no terminal
    with recollect.open(embedder="off") as memory:
        wait_for(memory, CAUSE, LIMIT)
    told = command(stdin="w\nr\na\n").output
    assert "said by assistant" in told
    assert "reject 1, approve 1" in told
    with recollect.open(embedder="off") as memory:
        assert memory.pending().memories == ()
        assert [one.content for one in memory.list().memories if one.kind != "turn"] == [CAUSE]
