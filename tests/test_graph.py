"""The graph: entities, observations that are memories, relations; and the reference server's tools on top of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import recollect
from node_clients import SERVER_MEMORY, needs_npm, node
from recollect import BadInput, NotFound, Scope
from recollect.agents.access import Caller
from recollect.errors import Forbidden
from recollect.graph import Node, Relation
from recollect.serve.tools import PROFILES
from replay import replayed, state_of

ANA = Node("Ana", "person", ("owns billing", "likes tea"))
BILLING = Node("billing", "service", ("speaks gRPC",))


@pytest.fixture
def told(memory: recollect.Engine) -> recollect.Engine:
    graph = memory.graph()
    graph.create([ANA, BILLING])
    graph.relate([Relation("Ana", "maintains", "billing")])
    return memory


def test_what_is_told_comes_back_in_the_order_it_was_told(told: recollect.Engine) -> None:
    found = told.graph().read()
    assert found.nodes == (ANA, BILLING)
    assert found.relations == (Relation("Ana", "maintains", "billing"),)
    told.graph().observe([("Ana", ["moved to Lisbon", "likes tea"])])
    assert told.graph().open(["Ana"]).nodes[0].observations == ("owns billing", "likes tea", "moved to Lisbon")


def test_an_observation_is_a_memory_like_any_other(told: recollect.Engine) -> None:
    hits = told.recall("who owns billing?").hits
    assert hits[0].memory.content == "Ana: owns billing"
    told.forget(hits[0].memory.id)
    assert told.graph().open(["Ana"]).nodes[0].observations == ("likes tea",)
    told.edit(hits[0].memory.id, state="active")
    assert told.graph().open(["Ana"]).nodes[0].observations == ANA.observations


def test_two_entities_may_have_the_same_said_of_them(memory: recollect.Engine) -> None:
    graph = memory.graph()
    graph.create([Node("Ana", "person", ("lives in Lisbon",)), Node("Bea", "person", ("lives in Lisbon",))])
    graph.unsay([("Ana", ["lives in Lisbon"])])
    assert [node.observations for node in graph.read().nodes] == [(), ("lives in Lisbon",)]


def test_a_secret_is_taken_out_of_an_observation(memory: recollect.Engine) -> None:
    secret = "ghp_" + "a1B2" * 9
    made = memory.graph().create([Node("ci", "system", (f"uses the token {secret}",))])
    assert secret not in made[0].observations[0]
    assert secret not in memory.graph().read().nodes[0].observations[0]


def test_what_was_rejected_does_not_come_back_as_an_observation(told: recollect.Engine) -> None:
    wrong = told.recall("likes tea").hits[0].memory
    told.reject(wrong.id)
    assert told.graph().observe([("Ana", ["likes tea"])]) == [[]]


def test_deleting_an_entity_takes_its_relations_and_what_is_known_of_it_alone(told: recollect.Engine) -> None:
    assert told.graph().remove(["Ana", "nobody"]) == 1
    found = told.graph().read()
    assert [node.name for node in found.nodes] == ["billing"]
    assert found.relations == ()
    assert [hit.memory.content for hit in told.recall("tea").hits if "tea" in hit.memory.content] == []
    assert told.stats()["entities"] == 1


def test_a_search_finds_by_letters_and_where_there_are_none_by_meaning(told: recollect.Engine) -> None:
    assert [node.name for node in told.graph().find("GRPC").nodes] == ["billing"]
    assert [node.name for node in told.graph().find("PERSON").nodes] == ["Ana"]
    assert told.graph().find("who is fond of tea?").nodes[0].name == "Ana"
    assert told.graph().find("Ana").relations == (Relation("Ana", "maintains", "billing"),)


def test_a_relation_needs_both_entities_and_an_observation_one(told: recollect.Engine) -> None:
    with pytest.raises(NotFound, match="Entity with name nobody not found"):
        told.graph().relate([Relation("Ana", "knows", "billing"), Relation("Ana", "knows", "nobody")])
    with pytest.raises(NotFound, match="nobody"):
        told.graph().observe([("Ana", ["new"]), ("nobody", ["new"])])
    assert len(told.graph().read().relations) == 1
    assert told.graph().open(["Ana"]).nodes == (ANA,)


@pytest.mark.parametrize(
    "node", [Node("", "person"), Node("x" * 201, "person"), Node("Ana", ""), Node("Ana", "person", (7,))]  # type: ignore[arg-type]
)  # fmt: skip
def test_bad_nodes_are_refused(memory: recollect.Engine, node: Node) -> None:
    with pytest.raises(BadInput):
        memory.graph().create([node])


def test_users_and_projects_have_entities_of_their_own(memory: recollect.Engine) -> None:
    ana, bob = (memory.graph(Scope(user=user), Scope(user=user)) for user in ("ana", "bob"))
    assert ana.create([Node("auth", "service", ("is mine",))])
    assert bob.read().nodes == ()
    assert bob.create([Node("auth", "service", ("is bob's",))])
    assert ana.read().nodes == (Node("auth", "service", ("is mine",)),)
    assert bob.remove(["auth"]) == 1
    assert len(ana.read().nodes) == 1
    memory.graph(Scope(project="shop")).create([Node("cart", "service")])
    assert memory.graph(Scope(project="bank")).open(["cart"]).nodes == ()
    assert memory.graph(Scope(project="shop")).open(["cart"]).nodes == (Node("cart", "service"),)


def test_what_holds_everywhere_is_seen_and_not_changed_from_behind_a_wall(told: recollect.Engine) -> None:
    wall = Scope(user="bob")
    walled = told.graph(wall, wall)
    assert len(walled.read().nodes) == 2
    walled.observe([("Ana", ["sits next to bob"])])
    for change in (
        lambda: walled.remove(["Ana"]),
        lambda: walled.relate([Relation("Ana", "knows", "billing")]),
        lambda: walled.unrelate([Relation("Ana", "maintains", "billing")]),
        lambda: walled.unsay([("Ana", ["likes tea"])]),
    ):
        with pytest.raises(Forbidden):
            change()
    assert told.graph(Scope(user="cy")).open(["Ana"]).nodes == (ANA,)
    assert walled.open(["Ana"]).nodes[0].observations == (*ANA.observations, "sits next to bob")


def test_the_history_leads_to_the_same_graph(told: recollect.Engine, tmp_path: Path) -> None:
    told.graph().remove(["billing"])
    again = replayed(told._store, "default", str(tmp_path / "again.db"))
    assert state_of(again, "default") == state_of(told._store, "default")
    again.close()


def test_an_export_of_ours_carries_the_graph(told: recollect.Engine, tmp_path: Path, opened: Any) -> None:
    told.export(tmp_path / "all.jsonl")
    other = opened("other.db")
    other.import_(tmp_path / "all.jsonl")
    assert other.graph().read() == told.graph().read()


# -- the reference server's form --------------------------------------------------------------------------------------


def test_the_file_of_the_reference_server_comes_in_and_goes_out(memory: recollect.Engine, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["owns billing"]},
        {"type": "entity", "name": "billing", "entityType": "service", "observations": []},
        {"type": "relation", "from": "Ana", "to": "billing", "relationType": "maintains"},
        {"type": "relation", "from": "Ana", "to": "gone", "relationType": "maintains"},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    result = memory.import_(file)
    assert (result.created, result.others, len(result.notes)) == (1, 3, 1)
    assert memory.import_(file).created == 0
    assert memory.recall("who owns billing?").hits[0].memory.trust == "unverified"
    assert memory.export(tmp_path / "out.jsonl", reference=True) == 2
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == lines[:3]


def test_a_broken_line_is_named_and_nothing_is_taken_in(memory: recollect.Engine, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    good = {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["x"]}
    file.write_text(json.dumps(good) + "\n" + json.dumps({**good, "observations": [1]}))
    with pytest.raises(BadInput, match="line 2"):
        memory.import_(file)
    assert memory.graph().read().nodes == ()


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_graph", {}),
    ("create_entities", {"entities": [
        {"name": "Ana", "entityType": "person", "observations": ["owns billing", "likes tea"]},
        {"name": "billing", "entityType": "service", "observations": []}]}),
    ("create_entities", {"entities": [{"name": "billing", "entityType": "x", "observations": []}]}),
    ("create_relations", {"relations": [
        {"from": "Ana", "to": "billing", "relationType": "maintains"},
        {"from": "billing", "to": "Ana", "relationType": "pages"}]}),
    ("create_relations", {"relations": [{"from": "Ana", "to": "billing", "relationType": "maintains"}]}),
    ("add_observations", {"observations": [{"entityName": "Ana", "contents": ["likes tea", "moved to Lisbon"]}]}),
    ("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}),
    ("search_nodes", {"query": "LISBON"}),
    ("search_nodes", {"query": "service"}),
    ("open_nodes", {"names": ["billing", "nobody"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ana", "observations": ["likes tea", "never said"]}]}),
    ("delete_relations", {"relations": [{"from": "billing", "to": "Ana", "relationType": "pages"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Ana", "nobody"]}),
    ("read_graph", {}),
]  # fmt: skip


@needs_npm
def test_the_nine_tools_answer_as_the_reference_server_does(memory: recollect.Engine, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]  # fmt: skip
    said: dict[int, Any] = {}
    with subprocess.Popen(
        [node(), SERVER_MEMORY], env={"MEMORY_FILE_PATH": str(tmp_path / "m.jsonl"), "PATH": ""}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as original:  # fmt: skip
        assert original.stdin
        assert original.stdout
        # One at a time: the original reads its file at each call and does not take turns.
        for number, (name, arguments) in enumerate(CALLS, start=10):
            lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                          "params": {"name": name, "arguments": arguments}})  # fmt: skip
        for line in lines:
            original.stdin.write(json.dumps(line) + "\n")
            original.stdin.flush()
            if "id" in line:
                answer = json.loads(original.stdout.readline())
                said[answer["id"]] = answer["result"]
        original.stdin.close()
    tools = {tool.mcp: tool for tool in PROFILES["reference"]}
    assert list(tools) == [tool["name"] for tool in said[1]["tools"]]
    for theirs in said[1]["tools"]:
        ours = tools[theirs["name"]]
        assert ours.title == theirs["title"]
        hints = theirs["annotations"]
        assert (ours.read_only, ours.destructive) == (hints["readOnlyHint"], hints["destructiveHint"])
        assert ours.schema().get("required", []) == theirs["inputSchema"].get("required", [])
        output = ours.output_schema()
        assert output
        assert output["required"] == theirs["outputSchema"]["required"]
    caller = Caller("default", "test")
    for number, (name, arguments) in enumerate(CALLS, start=10):
        theirs = said[number]
        if theirs.get("isError"):
            with pytest.raises(NotFound, match=r"Entity with name nobody not found"):
                tools[name].call(memory, caller, arguments)
        else:
            result = tools[name].call(memory, caller, arguments)
            assert result == theirs["structuredContent"], name
            assert tools[name].text(result) == theirs["content"][0]["text"], name
