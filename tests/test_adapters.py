"""Adapters: the real frameworks, over an engine of this process and over a client of a daemon."""

from __future__ import annotations

import asyncio
import doctest
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Opener
from recollect import BadInput, Client, Engine, Refused, Scope
from recollect.adapters import missing
from recollect.adapters.records import MAX_DEPTH, Records
from served import serving

# A client's connection in a thread of an event loop ends with that thread.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
Memory = Engine | Client
PAGE = Path(__file__).parents[1] / "docs" / "adapters.md"
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
# The sections of the page, with what must be installed for their examples.
NEEDED = {
    "LangGraph": "langgraph",
    "LangChain": "langchain_core",
    "OpenAI Agents SDK": "agents",
    "Pydantic AI": "pydantic_ai",
    "Anthropic SDK": "anthropic",
    "Google ADK": "google.adk",
    "LlamaIndex": "llama_index.core",
    "Claude Agent SDK": "recollect",
    "mem0": "recollect",
}
KEY = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def backend() -> str:
    return "sqlite"  # what adapters ask of a store is tested on both


@pytest.fixture(params=["engine", "client"])
def memory(request: pytest.FixtureRequest, opened: Opener) -> Iterator[Memory]:
    if request.param == "engine":
        yield opened(now=None)
        return
    with serving(opened(now=None)) as server, Client(server.url, token=server.secret) as client:
        yield client


def test_what_is_stored_twice_under_other_keys_is_two_records(memory: Memory) -> None:
    records = Records(memory, "test", Scope())
    for key in ("a", "b", "c"):
        for path in (("x",), ("x", "y")):
            records.put(path, key, {"says": "the very same"}, text="the very same")
    assert len(list(records.all(("x",)))) == 6
    assert [one.key for one in records.all(("x", "y"))] == ["c", "b", "a"]
    records.put(("x",), "a", {"says": "another"}, text="another")
    records.put(("x",), "a", {"says": "the very same"}, text="the very same")
    assert len(list(records.all(("x",)))) == 6
    records.clear(("x", "y"))
    assert {one.path for one in records.all()} == {("x",)}


def test_a_record_keeps_its_value_but_for_secrets_and_refuses_what_is_no_json(memory: Memory) -> None:
    records = Records(memory, "test", Scope())
    value = {
        "text": "  cafe\u0301 \x00\r\n",
        "list": [1, None, 2.5, {"deep": True}],
        "password": "s3cr3t-Value9",
        "key": KEY,
    }
    records.put(("x",), "a/b#c", value)
    found = records.get(("x",), "a/b#c")
    assert found is not None
    assert found.value["text"] == value["text"]
    assert found.value["list"] == value["list"]
    assert "s3cr3t" not in str(found.value) + str(memory.get(found.id))
    assert KEY not in str(found.value)
    assert records.get(("x", "a"), "b#c") is None
    with pytest.raises(BadInput, match="JSON"):
        records.put(("x",), "k", object())
    with pytest.raises(BadInput, match="levels"):
        records.put(("x",) * (MAX_DEPTH + 1), "k", 1)


def test_what_was_rejected_is_refused_by_an_adapter_too(memory: Memory) -> None:
    kept = memory.remember("The database runs on port 5433.")
    memory.reject(kept.id)
    with pytest.raises(Refused):
        Records(memory, "test", Scope()).put((), "k", {}, text="The database runs on port 5433.")


def test_records_of_another_project_are_not_seen(memory: Memory) -> None:
    Records(memory, "test", Scope(project="web")).put(("x",), "k", {"a": "one"})
    assert Records(memory, "test", Scope(project="shop")).get(("x",), "k") is None
    assert Records(memory, "other", Scope(project="web")).get(("x",), "k") is None


# -- LangGraph --------------------------------------------------------------------------------------------------------


def langgraph_store(memory: Memory, **given: Any) -> Any:
    pytest.importorskip("langgraph")
    from recollect.adapters.langgraph import RecollectStore

    return RecollectStore(memory, **given)


def test_langgraph_items_are_put_read_found_filtered_and_deleted(memory: Memory) -> None:
    store = langgraph_store(memory)
    store.put(("users", "ana"), "food", {"text": "Ana loves pizza", "stars": 5})
    store.put(("users", "ben"), "office", {"text": "Ben's office is in Berlin", "stars": 3})
    store.put(("users", "ben"), "hidden", {"text": "Ben's office is in Bern"}, index=False)
    assert store.get(("users", "ana"), "food").value == {"text": "Ana loves pizza", "stars": 5}
    assert store.get(("users", "ana"), "office") is None
    found = store.search(("users",), query="where is the office?", limit=3)
    assert [(one.key, one.score is None) for one in found][::2] == [("office", False), ("hidden", True)]
    assert [one.key for one in store.search(("users",), filter={"stars": {"$gte": 4}})] == ["food"]
    assert [one.key for one in store.search(("users",), filter={"stars": {"$ne": 5, "$lt": 9}})] == ["office"]
    assert len(store.search(("users",), limit=2)) == 2
    assert len(store.search(("users",), limit=2, offset=2)) == 1
    with pytest.raises(ValueError, match="operator"):
        store.search(("users",), filter={"stars": {"$in": 4}})
    store.put(("users", "ana"), "food", {"text": "Ana loves sushi"})
    assert store.get(("users", "ana"), "food").value["text"] == "Ana loves sushi"
    store.delete(("users", "ana"), "food")
    assert store.get(("users", "ana"), "food") is None
    # It is a memory like any other: recalled, and in the journal.
    assert "Ben's office is in Berlin" in memory.recall("Ben's office in Berlin").hits[0].memory.content
    assert any(entry.reason == "deleted by langgraph" for entry in memory.changes())


def test_langgraph_namespaces_are_listed_by_prefix_suffix_wildcard_and_depth(memory: Memory) -> None:
    store = langgraph_store(memory)
    for namespace in (("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "f"), ("z",)):
        store.put(namespace, "k", {"in": "/".join(namespace)})
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d", "e")]
    assert store.list_namespaces(prefix=("a", "*", "f")) == [("a", "x", "f")]
    assert store.list_namespaces(suffix=("e",)) == [("a", "b", "d", "e")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d", "e")]


def test_langgraph_items_expire_after_their_last_use(memory: Memory) -> None:
    store = langgraph_store(memory, ttl={"refresh_on_read": True, "default_ttl": 60.0})
    store.put(("t",), "short", {"text": "gone soon"}, ttl=0.001)
    store.put(("t",), "long", {"text": "stays a while"})
    before = memory.list(tags=["langgraph:t#long"]).memories[0].expires_at
    assert store.get(("t",), "long") is not None
    after = memory.list(tags=["langgraph:t#long"]).memories[0].expires_at
    assert before is not None
    assert after is not None
    assert after > before
    time.sleep(0.08)
    assert store.get(("t",), "short") is None
    assert [one.key for one in store.search(("t",))] == ["long"]
    store.put(("t",), "short", {"text": "back again"})
    assert store.get(("t",), "short").value == {"text": "back again"}


def test_langgraph_namespaces_may_have_scopes_of_their_own(memory: Memory) -> None:
    store = langgraph_store(
        memory, scope=lambda path: Scope(user=path[1]) if path[:1] == ("users",) and path[1:] else Scope()
    )
    store.put(("users", "ana"), "food", {"text": "Ana loves pizza"})
    kept = memory.list(scope=Scope(user="ana")).memories
    assert [one.content for one in kept] == ["text: Ana loves pizza"]
    assert store.get(("users", "ana"), "food") is not None
    assert store.list_namespaces() == [("users", "ana")]


def test_langgraph_batches_read_before_they_write_and_run_beside_a_loop(memory: Memory) -> None:
    store = langgraph_store(memory, index=["text"])
    from langgraph.store.base import GetOp, PutOp

    put = PutOp(("n",), "k", {"text": "first", "more": "not searched"})
    assert store.batch([put, GetOp(("n",), "k"), PutOp(("n",), "k", {"text": "last"})]) == [None, None, None]
    assert asyncio.run(store.aget(("n",), "k")).value == {"text": "last"}
    assert [one.key for one in asyncio.run(store.asearch(("n",), query="last"))] == ["k"]


def test_a_graph_remembers_across_threads(memory: Memory) -> None:
    pytest.importorskip("langgraph.graph")
    from langgraph.config import get_store
    from langgraph.graph import START, StateGraph

    def note(state: dict[str, Any]) -> dict[str, Any]:
        store = get_store()
        store.put(("notes",), "said", {"text": state["said"]})
        return {"said": store.search(("notes",), query="what was said?")[0].value["text"]}

    builder: Any = StateGraph(dict)  # type: ignore[type-var, unused-ignore]
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    graph = builder.compile(store=langgraph_store(memory))
    assert graph.invoke({"said": "We deploy on Thursdays."}) == {"said": "We deploy on Thursdays."}


# -- histories --------------------------------------------------------------------------------------------------------


def test_a_langchain_history_keeps_every_message_as_it_was(memory: Memory) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    from recollect.adapters.langchain import RecollectChatMessageHistory, RecollectRetriever

    said = [
        HumanMessage("yes", id="1"), AIMessage("", tool_calls=[{"name": "deploy", "args": {"to": "prod"}, "id": "c1"}]),
        ToolMessage("Deployed to prod on Thursday", tool_call_id="c1"),
        HumanMessage("yes", additional_kwargs={"a": [1]}),
        HumanMessage([{"type": "text", "text": "And the invoices?"}]),
    ]  # fmt: skip
    chat, other = (RecollectChatMessageHistory(memory, name) for name in ("one", "two"))
    chat.add_messages(said[:2])
    chat.add_messages(said[2:])
    other.add_user_message("yes")
    assert chat.messages == said
    assert asyncio.run(chat.aget_messages()) == said
    assert RecollectChatMessageHistory(memory, "one", limit=2).messages == said[-2:]
    assert len(other.messages) == 1
    turns = memory.list(scope=Scope(session="one"), kinds=["turn"]).memories
    assert {one.speaker for one in turns} == {"user", "assistant", "tool"}
    assert {one.trust for one in turns} == {"cited"}
    found = RecollectRetriever(memory=memory, options={"scope": Scope(session="one")}).invoke(
        "deployed to prod on Thursday"
    )
    assert found[0].page_content.startswith("Deployed to prod")
    assert found[0].metadata["kind"] == "turn"
    chat.clear()
    assert (chat.messages, len(other.messages)) == ([], 1)


def test_an_openai_agents_session_is_read_added_to_popped_and_cleared(memory: Memory) -> None:
    pytest.importorskip("agents")
    from agents.memory import Session

    from recollect.adapters.openai_agents import RecollectSession

    items: list[Any] = [
        {"role": "user", "content": "Which port?"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"file": "a.py"}'},
        {"type": "function_call_output", "call_id": "c", "output": "port = 8080"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 8080."}]},
    ]

    async def live() -> None:
        session = RecollectSession(memory, "s1")
        assert isinstance(session, Session)
        await session.add_items(items[:1])
        await session.add_items(items[1:])
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[-2:]
        assert await session.get_items(limit=0) == []
        assert await RecollectSession(memory, "s2").get_items() == []
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == items[:-1]
        await session.clear_session()
        assert (await session.get_items(), await session.pop_item()) == ([], None)

    asyncio.run(live())


def test_the_openai_agents_runner_goes_on_from_a_session(memory: Memory) -> None:
    agents: Any = pytest.importorskip("agents")
    model: Any = agents.Model
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    from recollect.adapters.openai_agents import RecollectSession

    class Counts(model):
        async def get_response(self, *rest: Any, **more: Any) -> Any:
            input = more["input"] if "input" in more else rest[1]
            text = ResponseOutputText(
                text=f"{len(input)} items so far", type="output_text", annotations=[], logprobs=[]
            )
            said = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            return agents.ModelResponse(output=[said], usage=agents.Usage(), response_id=None)

        def stream_response(self, *given: Any, **more: Any) -> Any:
            raise NotImplementedError

    async def live() -> list[str]:
        session = RecollectSession(memory, "s1")
        agent = agents.Agent(name="Counter", model=Counts())
        return [(await agents.Runner.run(agent, said, session=session)).final_output for said in ("one", "two")]

    agents.set_tracing_disabled(True)
    assert asyncio.run(live()) == ["1 items so far", "3 items so far"]


def test_a_pydantic_ai_conversation_goes_on_from_its_history(memory: Memory) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from recollect.adapters.pydantic_ai import RecollectHistory

    def count(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(f"{len(messages)} messages so far")])

    agent, history = Agent(FunctionModel(count)), RecollectHistory(memory, "p1")
    first = asyncio.run(agent.run("We deploy on Thursdays.", message_history=history.messages()))
    history.add(first.new_messages())
    second = asyncio.run(agent.run("When do we deploy?", message_history=history.messages()))
    history.add(second.new_messages())
    assert (first.output, second.output) == ("1 messages so far", "3 messages so far")
    assert history.messages() == second.all_messages()
    assert history.messages(1) == second.new_messages()[-1:]
    told = [one.content for one in memory.list(scope=Scope(session="p1")).memories]
    assert "We deploy on Thursdays." in told
    history.clear()
    assert history.messages() == []


def test_claude_s_memory_tool_writes_files_as_memories(memory: Memory) -> None:
    pytest.importorskip("anthropic")
    from anthropic.lib.tools import ToolError

    from recollect.adapters.anthropic import RecollectAsyncMemoryTool, RecollectMemoryTool

    tool = RecollectMemoryTool(memory, scope=Scope(project="web"))
    assert tool.to_dict()["type"] == "memory_20250818"
    path = "/memories/deploys.md"
    tool.call({"command": "create", "path": path, "file_text": "We deploy on Thursdays.\n"})
    tool.call({"command": "str_replace", "path": path, "old_str": "Thursdays", "new_str": "Fridays"})
    assert "We deploy on Fridays." in str(tool.call({"command": "view", "path": path}))
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/other.md"})
    with pytest.raises(ToolError):
        RecollectMemoryTool(memory, scope=Scope(project="shop")).call({"command": "view", "path": path})
    again = RecollectAsyncMemoryTool(memory, scope=Scope(project="web"))
    assert "deploys.md" in str(asyncio.run(again.call({"command": "view", "path": "/memories"})))
    assert [one.title for one in memory.list(scope=Scope(project="web")).memories] == [path]


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, text in SECTIONS.items() if "```py\n" in text])
def test_the_examples_of_the_page_do_what_it_says(name: str) -> None:
    pytest.importorskip(NEEDED[name])
    code = "\n".join(re.findall(r"^```py\n(.*?)^```", SECTIONS[name], re.MULTILINE | re.DOTALL))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(doctest.DocTestParser().get_doctest(code, {}, name, str(PAGE), 0))
    assert (runner.failures, runner.tries > 0) == (0, True)


def test_a_missing_framework_says_what_to_install() -> None:
    assert "pip install 'recollect[langgraph]'" in str(missing("langgraph", "langgraph"))
