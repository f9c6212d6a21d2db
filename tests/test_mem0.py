"""mem0's interface: its classes, and its wire format on the server, also with mem0's own client where it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import Opener
from recollect import BadInput, Refused, Scope
from recollect.adapters.mem0 import Memory, MemoryClient
from served import Server, serving


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as running:
        yield running


@pytest.fixture(params=["engine", "client"])
def mem0(request: pytest.FixtureRequest, server: Server) -> Iterator[Memory]:
    with Memory(server.engine) if request.param == "engine" else MemoryClient(server.secret, server.url) as memory:
        yield memory


def words(found: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in found["results"]]


def test_what_is_added_is_found_listed_changed_and_deleted(mem0: Memory) -> None:
    added = mem0.add("Ana is allergic to peanuts", user_id="ana", metadata={"area": "health", "n": 1}, infer=False)
    mem0.add("Ben plays chess", user_id="ben", run_id="r1", agent_id="coach", infer=False)
    one = added["results"][0]
    assert (one["memory"], one["event"], one["user_id"]) == ("Ana is allergic to peanuts", "ADD", "ana")
    assert mem0.add("ana is allergic to peanuts!", user_id="ana", infer=False)["results"][0]["event"] == "NONE"
    assert words(mem0.search("what is Ana allergic to?", filters={"user_id": "ana"}))[0] == one["memory"]
    assert words(mem0.search("chess", filters={"AND": [{"user_id": "ana"}]})) == []
    assert words(mem0.get_all(filters={"user_id": "ana", "metadata": {"area": "health"}})) == [one["memory"]]
    assert words(mem0.get_all(user_id="ana", area="work")) == []
    assert words(mem0.get_all(filters={"run_id": "r1", "user_id": "*"})) == ["Ben plays chess"]
    mem0.update(one["id"], text="Ana is allergic to walnuts")
    mem0.update(one["id"], metadata={"area": "food"})
    found = mem0.get(one["id"])
    assert found is not None
    assert (found["memory"], found["metadata"]) == ("Ana is allergic to walnuts", {"area": "food"})
    mem0.delete(one["id"])
    assert words(mem0.get_all(user_id="ana")) == []
    rows = mem0.history(one["id"])
    assert [row["event"] for row in rows] == ["ADD", "UPDATE", "DELETE"]
    assert [rows[1][name] for name in ("old_memory", "new_memory")] == [one["memory"], "Ana is allergic to walnuts"]
    assert mem0.get("0" * 26) is None
    mem0.delete_all(user_id="ben")
    assert words(mem0.get_all()) == []


def test_pages_and_users_are_counted(mem0: Memory) -> None:
    for number in range(5):
        mem0.add(f"Ana owns ticket {number}", user_id="ana", app_id="shop", infer=False)
    page = mem0.get_all(filters={"user_id": "ana"}, page=2, page_size=2)
    assert (page["count"], words(page)) == (5, ["Ana owns ticket 2", "Ana owns ticket 1"])
    assert mem0.users()["results"] == [
        {"name": "ana", "type": "user", "total_memories": 5},
        {"name": "shop", "type": "app", "total_memories": 5},
    ]


def test_what_was_said_is_captured_and_one_statement_alone_is_kept(mem0: Memory) -> None:
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "We decided to always deploy on Thursdays."},
        {"role": "assistant", "content": [{"type": "text", "text": "Understood."}]},
    ]
    assert words(mem0.add(said, user_id="ana", run_id="r1")) == ["We decided to always deploy on Thursdays."]
    assert words(mem0.add("hello there", user_id="ana")) == ["hello there"]
    assert len(words(mem0.get_all(user_id="ana"))) == 2  # turns are not memories of mem0


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("add", {"messages": 3}), ("add", {"messages": [{"role": "alien", "content": "x"}]}),
        ("add", {"messages": "x", "infer": False, "metadata": {"a": object()}}), ("delete_all", {}),
        ("get_all", {"filters": {"OR": [{"user_id": "ana"}]}}), ("get_all", {"page_size": 0}),
        ("search", {"query": "x", "filters": {"n": {"gt": 3}}}),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(mem0: Memory, verb: str, given: dict[str, Any]) -> None:
    mem0.add("Ana owns billing", user_id="ana", infer=False)
    with pytest.raises(BadInput):
        getattr(mem0, verb)(**given)
    assert len(words(mem0.get_all())) == 1


def test_the_server_speaks_mem0_s_wire_format_with_the_rights_of_the_token(server: Server) -> None:
    token = server.engine.tokens.create(name="m", user="ana", can=("read", "write"))[1]
    headers = {"Authorization": f"Token {token}"}

    def ask(method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = server.call(method, path, body, headers=headers)
        assert answer.status == status, answer.body
        return answer.data

    assert ask("GET", "/v1/ping/")["status"] == "ok"
    message = {"role": "user", "content": "Ana is allergic to peanuts"}
    made = ask("POST", "/v3/memories/add/", {"messages": [message], "user_id": "ana", "infer": False})
    id = made["results"][0]["id"]
    server.engine.remember("Ben is allergic to walnuts", scope=Scope(user="ben"))
    asked = {"query": "who is allergic?", "filters": {"user_id": "ana"}, "top_k": 5}
    for version in ("v1", "v2", "v3"):
        assert [one["id"] for one in ask("POST", f"/{version}/memories/search/", asked)["results"]] == [id]
    assert ask("GET", f"/v1/memories/{id}/")["memory"] == "Ana is allergic to peanuts"
    assert ask("PUT", f"/v1/memories/{id}/", {"text": "Ana is allergic to milk"})["memory"] == "Ana is allergic to milk"
    assert len(ask("GET", f"/v1/memories/{id}/history/")) == 2
    assert ask("POST", "/v3/memories/?page=1&page_size=1", {"filters": {"user_id": "ana"}})["count"] == 1
    ask("POST", "/v3/memories/", {"filters": {"user_id": "ben"}}, status=403)
    ask("GET", "/v1/memories/nothing/", status=404)
    ask("POST", "/v3/memories/add/", {"no": "messages"}, status=400)
    ask("POST", "/v3/memories/add/", [1], status=400)
    assert ask("PUT", "/v1/batch/", {"memories": [{"memory_id": id, "text": "Ana is fine"}]})
    ask("PUT", "/v1/batch/", {"memories": [1]}, status=400)
    assert ask("DELETE", "/v1/memories/?user_id=ana")
    assert ask("GET", "/v1/memories/?user_id=ana")["results"] == []
    headers = {"Authorization": "Token wrong"}
    ask("GET", "/v1/ping/", status=401)


def test_mem0_s_own_client_works_with_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    client = pytest.importorskip("mem0").MemoryClient(api_key=server.secret, host=server.url)
    added = client.add("Ana is allergic to peanuts", user_id="ana", metadata={"area": "health"}, infer=False)
    id = added["results"][0]["id"]
    found = client.search("what is Ana allergic to?", filters={"user_id": "ana"}, top_k=3)
    assert (found["results"][0]["id"], found["results"][0]["metadata"]) == (id, {"area": "health"})
    assert client.get_all(filters={"user_id": "ana"}, page=1, page_size=10)["count"] == 1
    client.update(id, text="Ana is allergic to walnuts")
    assert client.get(id)["memory"] == "Ana is allergic to walnuts"
    assert [one["event"] for one in client.history(id)] == ["ADD", "UPDATE"]
    assert client.users()["results"][0]["name"] == "ana"
    client.batch_update([{"memory_id": id, "text": "Ana eats everything"}])
    client.delete(id)
    client.delete_all(user_id="ana")
    assert client.get_all(filters={"user_id": "ana"})["results"] == []


def nested(depth: int = 500) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"a": made}
    return made


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memories/", {"messages": "x", "timestamp": 1e300}),
        ("/v1/memories/", {"messages": "x", "timestamp": -1e14}),
        ("/v1/memories/", {"messages": "x", "timestamp": "now"}),
        ("/v1/memories/", {"messages": "x", "metadata": nested(), "infer": False}),
        ("/v1/memories/", {"messages": [{"role": "user", "content": nested()}], "infer": False}),
        ("/v1/memories/", {"messages": "x", "filters": {"AND": [1]}}),
        ("/v2/memories/", {"filters": {"metadata": "x"}}),
        ("/v2/memories/", {"filters": {"metadata": ["x"]}}),
        ("/v2/memories/search/", {"query": "tea", "threshold": "x"}),
        ("/v2/memories/search/", {"query": "tea", "threshold": {}}),
        ("/v1/memories/?user_id=ana&page=" + "9" * 5000, None),
    ],
)
def test_an_odd_request_is_bad_input(server: Server, path: str, body: Any) -> None:
    answer = server.call("GET" if body is None else "POST", path, body, server.secret)
    assert (answer.status, json.loads(answer.body)["code"]) == (400, "bad_input")


def test_no_memory_breaks_the_lists_of_others(mem0: Memory, server: Server) -> None:
    for context in ('{"metadata": ' + "[" * 1900 + "]" * 1900 + "}", '{"metadata": "x"}', '{"metadata": 1} and more'):
        server.engine.remember(f"Ana likes tea: {len(context)}.", context=context)
    mem0.add("Ana likes cake.", metadata={"area": "food"}, infer=False)
    assert len(words(mem0.get_all())) == 4
    assert words(mem0.get_all(area="food")) == ["Ana likes cake."]
    assert len(mem0.search("What does Ana like?")["results"]) == 4


def test_a_rejected_value_does_not_come_back_as_metadata(mem0: Memory, server: Server) -> None:
    said = "Der Schl\u00fcssel zum Tresor liegt in K\u00f6ln."
    server.engine.reject(server.engine.remember(said).id)
    assert mem0.add("Ana likes tea.", metadata={"note": said}, infer=False) == {"results": []}
    kept = mem0.add("Ana likes cake.", infer=False)["results"][0]["id"]
    with pytest.raises(Refused):
        mem0.update(kept, metadata={"note": said})
