"""Adapters of the larger frameworks, over an engine of this process and over a client of a daemon.

Google's ADK and LlamaIndex are the real ones. CrewAI, the Claude Agent SDK and the tests that LangChain ships are taken
where they are installed: the first two weigh half a gigabyte each, the last brings plugins of pytest. Without them the
tests call what they would call, as they would.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conftest import Opener
from recollect import BadInput, Client, Engine, NotFound, Scope
from recollect.adapters.claude_agent_sdk import RecollectSessionStore
from served import serving

pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
Memory = Engine | Client


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


# -- Google's Agent Development Kit -----------------------------------------------------------------------------------


def adk_event(author: str, text: str, id: str) -> Any:
    from google.adk.events.event import Event
    from google.genai.types import Content, Part

    return Event(id=id, author=author, content=Content(parts=[Part(text=text)]), timestamp=1_760_000_000.0)


def test_an_adk_session_is_taken_in_once_and_found_by_its_user_alone(memory: Memory) -> None:
    pytest.importorskip("google.adk.memory")
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part

    from recollect.adapters.google_adk import RecollectMemoryService

    service: Any = RecollectMemoryService(memory)
    events = [
        adk_event("user", "Remember: we deploy on Thursdays.", "e1"),
        adk_event("shop_agent", "Noted, deployments go out on Thursdays.", "e2"),
    ]
    session = Session(id="s1", app_name="shop", user_id="ana", events=events)

    async def live() -> None:
        async def ask(user: str, query: str, app: str = "shop") -> list[Any]:
            return (await service.search_memory(app_name=app, user_id=user, query=query)).memories

        await service.add_session_to_memory(session)
        before = len(memory.list(kinds=["turn"]).memories)
        await service.add_session_to_memory(session)
        await service.add_events_to_memory(app_name="shop", user_id="ana", session_id="s1", events=events)
        assert before == len(memory.list(kinds=["turn"]).memories) == 2
        found = await ask("ana", "on which day do we deploy?")
        assert "Thursdays" in found[0].content.parts[0].text
        assert found[0].timestamp.startswith("2025-")
        assert await ask("ben", "on which day do we deploy?") == []
        assert await ask("ana", "on which day do we deploy?", app="other") == []
        entry = MemoryEntry(content=Content(parts=[Part(text="The logo is green.")]))
        await service.add_memory(app_name="shop", user_id="ana", memories=[entry])
        (logo, *_) = await ask("ana", "which colour has the logo?")
        assert logo.content.parts[0].text == "The logo is green."
        with pytest.raises(NotFound):
            await service.delete_memory(app_name="shop", user_id="ben", memory_id=logo.id)
        await service.delete_memory(app_name="shop", user_id="ana", memory_id=logo.id)
        assert "green" not in str(await ask("ana", "which colour has the logo?"))

    asyncio.run(live())


def test_an_adk_agent_loads_what_an_earlier_session_said(memory: Memory) -> None:
    pytest.importorskip("google.adk.memory")
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools.preload_memory_tool import PreloadMemoryTool
    from google.genai.types import Content, Part

    from recollect.adapters.google_adk import RecollectMemoryService

    class Hears(BaseLlm):  # type: ignore[misc, unused-ignore]
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            told = str(llm_request.contents)
            yield LlmResponse(content=Content(role="model", parts=[Part(text=f"Thursdays: {'Thursdays' in told}")]))

    async def live() -> str:
        sessions: Any = InMemorySessionService()
        service = RecollectMemoryService(memory)
        agent = LlmAgent(name="shop_agent", model=Hears(model="none"), tools=[PreloadMemoryTool()])
        runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=service)
        before = await sessions.create_session(app_name="shop", user_id="ana")
        await sessions.append_event(before, adk_event("user", "Remember: we deploy on Thursdays.", "e1"))
        await service.add_session_to_memory(before)
        fresh = await sessions.create_session(app_name="shop", user_id="ana")
        said = Content(role="user", parts=[Part(text="On which day do we deploy?")])
        events: list[Any] = [
            one async for one in runner.run_async(user_id="ana", session_id=fresh.id, new_message=said)
        ]
        return str(events[-1].content.parts[0].text)

    assert asyncio.run(live()) == "Thursdays: True"


# -- LlamaIndex -------------------------------------------------------------------------------------------------------


def test_a_llama_index_memory_keeps_what_it_flushes_and_brings_it_back(memory: Memory) -> None:
    pytest.importorskip("llama_index.core.memory")
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import Memory as Short
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import StaticPool

    from recollect.adapters.llama_index import RecollectMemoryBlock

    scope = Scope(project="web")
    block = RecollectMemoryBlock(memory=memory, scope=scope, options={"limit": 3})

    async def live() -> None:
        engine = create_async_engine("sqlite+aiosqlite:///:memory:", poolclass=StaticPool)
        short = Short.from_defaults(
            session_id="s1", token_limit=60, chat_history_token_ratio=0.5, token_flush_size=10, memory_blocks=[block],
            tokenizer_fn=str.split, async_engine=engine,
        )  # fmt: skip
        await short.aput(ChatMessage(role="user", content="Remember: the staging server listens on port 7610."))
        for number in range(12):
            role = "user" if number % 2 else "assistant"
            await short.aput(ChatMessage(role=role, content=f"Step {number} of the build is done now."))
        await engine.dispose()
        turns = memory.list(scope=scope, kinds=["turn"], limit=100).memories
        assert any("7610" in one.content for one in turns)
        assert {one.scope.session for one in turns} == {"s1"}
        told = await block.aget([ChatMessage(role="user", content="Which port does the staging server use?")])
        assert "7610" in told
        assert told.startswith("<memory id=")
        assert await block.aget([]) == ""
        assert await block.atruncate(told, 10_000) is None
        first = told.split("\n<memory ")[0]
        assert await block.atruncate(told + '\n<memory id="x">more</memory>', 1) in (told, first)

    asyncio.run(live())


# -- LangChain's own tests of retrievers ------------------------------------------------------------------------------


def test_the_retriever_passes_the_tests_that_langchain_ships(memory: Memory) -> None:
    pytest.importorskip("langchain_core")
    suite = pytest.importorskip("langchain_tests.integration_tests.retrievers")
    from recollect.adapters.langchain import RecollectRetriever

    memory.remember_many([f"Note {number}: the deploy of service {number} runs on Thursdays." for number in range(5)])

    class Ours(suite.RetrieversIntegrationTests):  # type: ignore[misc, name-defined, unused-ignore]
        retriever_constructor = RecollectRetriever
        retriever_constructor_params = {"memory": memory}  # noqa: RUF012
        retriever_query_example = "when does the deploy run?"

    ours: Any = Ours()
    retriever = RecollectRetriever(memory=memory)
    ours.test_k_constructor_param()
    ours.test_invoke_with_k_kwarg(retriever)
    ours.test_invoke_returns_documents(retriever)
    asyncio.run(ours.test_ainvoke_returns_documents(retriever))


# -- the Claude Agent SDK ---------------------------------------------------------------------------------------------


def entry(**fields: Any) -> dict[str, Any]:
    return {"type": "user", **fields}


def test_transcripts_of_the_claude_agent_sdk_come_back_as_they_were(memory: Memory) -> None:
    store = RecollectSessionStore(memory)
    key, sub = (
        {"project_key": "p", "session_id": "s"},
        {"project_key": "p", "session_id": "s", "subpath": "subagents/a"},
    )
    said = [
        entry(uuid="b", message={"role": "user", "content": "Which port?"}),
        {"type": "assistant", "uuid": "a", "message": {"content": [{"type": "text", "text": "Port 7610."}]}},
        {"type": "mode", "mode": "plan"}, {"type": "mode", "mode": "plan"},
    ]  # fmt: skip

    async def live() -> None:
        assert await store.load(key) is None
        await store.append(key, said[:3])
        await store.append(key, [*said[:2], said[3]])
        await store.append(key, [])
        await store.append(sub, said[:1])
        await store.append({**key, "project_key": "q"}, said[:1])
        assert await store.load(key) == said
        assert await store.load(sub) == said[:1]
        assert [one["session_id"] for one in await store.list_sessions("p")] == ["s"]
        assert (await store.list_sessions("p"))[0]["mtime"] > 1e12
        assert await store.list_sessions("none") == []
        assert await store.list_subkeys(key) == ["subagents/a"]
        assert memory.recall("which port?").hits[0].memory.kind == "turn"
        await store.delete(sub)
        assert (await store.load(sub), await store.load(key)) == (None, said)
        await store.append(sub, said[:1])
        await store.delete(key)
        assert (await store.load(sub), await store.load(key), await store.list_sessions("p")) == (None, None, [])
        assert await store.load({**key, "project_key": "q"}) == said[:1]

    asyncio.run(live())


def test_the_session_store_keeps_the_contracts_that_the_sdk_ships(opened: Opener) -> None:
    testing = pytest.importorskip("claude_agent_sdk.testing")
    numbers = iter(range(100))
    asyncio.run(
        testing.run_session_store_conformance(
            lambda: RecollectSessionStore(opened(f"{next(numbers)}.db", now=None, embedder="off"))
        )
    )


# -- CrewAI -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`MemoryRecord` and `ScopeInfo` with the fields they have in crewai 1.15.30, unless the real ones are here."""
    if importlib.util.find_spec("crewai") is None:
        import pydantic

        record = pydantic.create_model(
            "MemoryRecord", id=(str, ...), content=(str, ...), scope=(str, "/"), categories=(list[str], []),
            metadata=(dict[str, Any], {}), importance=(float, 0.5), created_at=(datetime, ...),
            last_accessed=(datetime, ...), source=(str | None, None), private=(bool, False),
        )  # fmt: skip
        scope = pydantic.create_model(
            "ScopeInfo", path=(str, ...), record_count=(int, 0), categories=(list[str], []),
            oldest_record=(datetime | None, None), newest_record=(datetime | None, None), child_scopes=(list[str], []),
        )  # fmt: skip
        made = types.ModuleType("crewai.memory.types")
        made.MemoryRecord, made.ScopeInfo = record, scope  # type: ignore[attr-defined]
        for name in ("crewai", "crewai.memory"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, made.__name__, made)
        monkeypatch.delitem(sys.modules, "recollect.adapters.crewai", raising=False)
    from recollect.adapters import crewai as adapter

    yield adapter
    sys.modules.pop("recollect.adapters.crewai", None)


def test_a_crew_stores_finds_moves_counts_and_deletes(crew: Any, memory: Memory) -> None:
    storage, start = crew.RecollectStorage(memory), datetime(2026, 3, 1, tzinfo=UTC)

    def record(id: str, content: str, scope: str, days: int, *categories: str, **metadata: Any) -> Any:
        made = start + timedelta(days=days)
        return crew.MemoryRecord(
            id=id, content=content, scope=scope, categories=list(categories), metadata=metadata, created_at=made,
            last_accessed=made,
        )  # fmt: skip

    storage.save([
        record("a", "Deploys go out on Thursdays.", "/team/release", 0, "process", area="web"),
        record("b", "Ana owns the billing service.", "/team/people", 1, "people"),
        record("c", "The office is in Berlin.", "/", 2),
    ])  # fmt: skip
    (asked,) = storage.embed(["on which day do deploys go out?"])
    found = storage.search(asked, scope_prefix="/team", limit=2)
    assert (found[0][0].id, found[0][0].categories) == ("a", ["process"])
    assert 0 < found[0][1] <= 1
    assert storage.search(asked, categories=["people"])[0][0].id == "b"
    assert [one.id for one, _ in storage.search(asked, metadata_filter={"area": "web"})] == ["a"]
    assert storage.search(asked, min_score=1.1) == []
    assert asyncio.run(storage.asearch(asked, limit=1))[0][0].id == "a"
    with pytest.raises(BadInput, match="another embedder"):
        storage.search([0.5] * 32)
    assert [one.id for one in storage.list_records("/team")] == ["b", "a"]
    assert [one.id for one in storage.list_records(limit=1, offset=1)] == ["b"]
    assert storage.list_scopes("/team") == ["/team/people", "/team/release"]
    assert storage.list_scopes() == ["/team"]
    assert storage.list_categories() == {"process": 1, "people": 1}
    info = storage.get_scope_info("/team")
    assert (info.record_count, info.categories, info.oldest_record) == (2, ["people", "process"], start)
    storage.update(record("a", "Deploys go out on Fridays.", "/team/process", 3))
    assert storage.get_record("a").content == "Deploys go out on Fridays."
    assert storage.count("/team/release") == 0
    assert storage.get_record("x") is None
    assert storage.delete(older_than=start + timedelta(days=2)) == 1
    assert storage.delete(record_ids=["c", "x"]) == 1
    assert (storage.count(), storage.delete(metadata_filter={"area": "web"})) == (1, 0)
    storage.reset("/team")
    assert storage.count() == 0
