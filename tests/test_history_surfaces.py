"""History from outside: commands, addresses and tools, and the wall in front of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Clock, Opener, Places
from recollect import Client, Forbidden, NotFound, Scope
from recollect.agents.access import Caller, local
from recollect.cli import cli
from recollect.ops.catalogue import BY_NAME
from recollect.types import EVERYWHERE, Message
from served import serving
from test_mcp import call

ME = local("default", "test", EVERYWHERE)
ANA = Caller("default", "ana", frozenset(("read", "write", "admin")), Scope(user="ana"), Scope(user="ana"))


@pytest.fixture
def backend() -> str:
    return "sqlite"


def do(engine: recollect.Engine, caller: Caller, name: str, /, **given: Any) -> Any:
    operation = BY_NAME[name]
    result = operation.call(engine, caller, given)
    assert operation.text(result)
    return result


def run(place: str, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["--store", place, *words])
    assert (result.exit_code, result.exception is None or code) == (code, True if code == 0 else code), result.output
    return result.output


def told(place: str, *words: str) -> Any:
    return json.loads(run(place, *words, "--json"))


def test_the_commands_tell_go_back_hold_and_erase(
    place: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    store = place()
    one = told(store, "remember", "We deploy on Thursdays.", "--project", "web")["memory"]["id"]
    assert "before" in run(store, "checkpoint", "create", "before", "--reason", "to try")
    run(store, "edit", one, "--content", "We deploy on Mondays.")
    two = told(store, "remember", "A later thing.", "--project", "web")["memory"]["id"]
    assert "before" in run(store, "checkpoint", "list")
    text = run(store, "checkpoint", "diff", "before")
    assert "We deploy on Thursdays. → We deploy on Mondays." in text
    assert f"+ {two[-8:]}" in text or "A later thing." in text
    assert told(store, "checkpoint", "diff", "before", "now")["counts"]["changed"] == 1
    assert told(store, "checkpoint", "diff", "1h", "--project", "web")["counts"]["added"] == 2
    assert "would be restored" in run(store, "checkpoint", "rollback", "before", "--dry-run")
    assert run(store, "checkpoint", "rollback", "before", code=2)
    done = told(store, "checkpoint", "rollback", "before", "--yes")
    assert (done["restored"], done["archived"]) == ([one], [two])
    assert told(store, "show", one)["memory"]["content"] == "We deploy on Thursdays."
    assert "rollback" in run(store, "why", one)
    assert "helped" in run(store, "rate", one, "--helped", "--session", "s")
    assert told(store, "why", one)["helped"] == 1
    run(store, "checkpoint", "rollback", done["undo"], "--yes")
    assert told(store, "show", one)["memory"]["content"] == "We deploy on Mondays."
    assert "create" in run(store, "audit", "--operation", "create")
    exported = tmp_path / "audit.jsonl"
    rows = told(store, "audit", "--export", str(exported))["rows"]
    assert rows == len(exported.read_text().splitlines()) > 5
    assert exported.stat().st_mode & 0o777 == 0o600
    run(store, "checkpoint", "delete", "before")
    run(store, "checkpoint", "diff", "before", code=3)
    assert "keep" in run(store, "hold", "add", "keep", "--project", "web")
    assert "hold" in run(store, "forget", one, "--purge", "--yes", code=4)
    assert "keep" in run(store, "hold", "list")
    run(store, "hold", "release", "keep")
    policy = told(store, "retention", "set", "90", "--kind", "turn")["id"]
    assert "turn" in run(store, "retention", "list")
    assert "0 would be archived" in run(store, "retention", "apply", "--dry-run")
    run(store, "retention", "remove", policy[-8:])
    assert "kept until" in run(store, "retention", "list")
    run(store, "remember", "Ana likes marzipan.", "--user", "ana")
    text = run(store, "forget", "--user", "ana", "--purge", "--yes")
    assert "receipt" in text
    assert "found nowhere" in text
    assert told(store, "list", "--user", "ana")["memories"] == []
    then = told(store, "audit", "--operation", "create", "--noun", "memory")["entries"][-1]["at"]
    listed = told(store, "list", "--as-of", then, "--project", "web")["memories"]
    assert [memory["content"] for memory in listed] == ["We deploy on Thursdays."]
    run(store, "state", "nobody", code=3)


def test_http_the_client_and_the_tools_reach_the_same(opened: Opener, clock: Clock) -> None:
    memory = opened()
    one = memory.remember("We deploy on Thursdays.")
    then = clock.forward(days=1)
    with serving(memory) as server, Client(server.url, token=server.secret) as client:
        memory.edit(one.id, content="We deploy on Mondays.")
        assert client.why(one.id) == memory.why(one.id)
        assert client.get(one.id, as_of=then).content == "We deploy on Thursdays."
        assert [m.content for m in client.list(as_of=then).memories] == ["We deploy on Thursdays."]
        assert client.recall("deploy", as_of=then).hits[0].memory.content == "We deploy on Thursdays."
        assert client.rate(one.id, helped=False).helped == -1
        assert client.audit(operations=["edit"]).entries == memory.audit(operations=["edit"]).entries
        with pytest.raises(NotFound):
            client.state("nobody")
        text = str(call(server, "get_memory_provenance", {"id": one.id}))
        assert "did not help" in text
        assert "edit" in text
        call(server, "create_checkpoint", {"name": "c"})
        memory.edit(one.id, content="We deploy on Sundays.")
        assert "Sundays" in str(call(server, "what_changed", {"first": "c"}))
        assert server.call("POST", "/v1/rollback", {"to": "c"}).status == 200
        assert memory.get(one.id).content == "We deploy on Mondays."
        memory.capture([Message("user", "We decided to use pnpm for everything.", id="1")], session="s")
        turn = memory.list(kinds=["turn"]).memories[0].id
        assert len(client.forget(turn, purge=True, dry_run=True).derived) == 1
        assert client.forget(turn, purge=True, dry_run=True, derived="keep").derived == ()
        said = call(server, "forget", {"id": turn, "purge": True, "dry_run": True, "derived": "purge"})
        assert "Derived from it" in str(said)
        asked = {"id": turn, "purge": True, "derived": "ask"}
        assert server.call("POST", "/v1/forget", asked).status == 400
        assert server.call("POST", "/v1/holds", {"name": "h"}).status == 201
        assert server.call("POST", "/v1/forget", {"id": one.id, "purge": True}).status == 423


def test_a_wall_stands_before_history_too(memory: recollect.Engine, clock: Clock) -> None:
    mine = memory.remember("Ana says hello.", scope=Scope(user="ana")).id
    theirs = memory.remember("Ben says hello.", scope=Scope(user="ben")).id
    memory.link(mine, "contradicts", theirs)
    memory.checkpoints.create("ben's", scope=Scope(user="ben"))
    memory.checkpoints.create("all")
    assert do(memory, ANA, "why", id=mine).ties == ()
    for name in ("why", "rate"):
        with pytest.raises(NotFound):
            do(memory, ANA, name, id=theirs, **({"helped": True} if name == "rate" else {}))
    do(memory, ANA, "checkpoint_create", name="ana's")
    assert [one.name for one in do(memory, ANA, "checkpoint_list")] == ["ana's"]
    for given in ({"first": "ben's"}, {"first": "ana's", "last": "ben's"}):
        with pytest.raises(NotFound):
            do(memory, ANA, "checkpoint_diff", **given)
    with pytest.raises(NotFound):
        do(memory, ANA, "checkpoint_delete", name="ben's")
    memory.edit(mine, content="Ana says goodbye.")
    memory.edit(theirs, content="Ben says goodbye.")
    told = do(memory, ANA, "checkpoint_diff", first="all")
    assert [one.id for one in told.changed] == [mine]
    with pytest.raises(Forbidden):
        do(memory, ANA, "checkpoint_diff", first="all", user="ben")
    done = do(memory, ANA, "rollback", to="all")
    assert done.restored == (mine,)
    assert memory.get(theirs).content == "Ben says goodbye."
    forbidden: tuple[tuple[str, dict[str, Any]], ...] = (
        ("audit", {}), ("hold_add", {"name": "x"}), ("hold_list", {}), ("retention_list", {}),
        ("retention_set", {"days": 3}), ("retention_apply", {}),
    )  # fmt: skip
    for name, given in forbidden:
        with pytest.raises(Forbidden):
            do(memory, ANA, name, **given)
    reader = Caller("default", "r", frozenset(("read",)), Scope(), Scope())
    unable: tuple[tuple[str, dict[str, Any]], ...] = (
        ("rollback", {"to": "all"}), ("checkpoint_create", {"name": "y"}), ("audit", {}),
    )  # fmt: skip
    for name, given in unable:
        with pytest.raises(Forbidden):
            do(memory, reader, name, **given)


def test_who_is_at_home_elsewhere_is_logged_when_looking_across(memory: recollect.Engine) -> None:
    caller = Caller("default", "web bot", home=Scope(project="web"))
    theirs = memory.remember("The API is versioned.", scope=Scope(project="api")).id
    memory.remember("The shop uses Vue.", scope=Scope(project="web"))
    do(memory, caller, "get", id=theirs)
    do(memory, caller, "recall", query="what is versioned?", project="api")
    do(memory, caller, "list", project="api")
    do(memory, caller, "recall", query="shop")
    do(memory, caller, "context", query="what is versioned?", project="api")
    reads = do(memory, ME, "audit").reads
    assert {(one.memory, one.owner, one.project) for one in reads} == {(theirs, "api", "web")}
    assert {one.way for one in reads} == {"get", "recall", "list", "context"}
