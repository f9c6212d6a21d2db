"""The client: the same code, with an engine here and with one on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from conftest import Opener
from recollect import Client, Draft, Engine, Scope, Source
from recollect.recall.context import Turn
from served import Server, serving

Opened = Callable[[], Engine | Client]


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as running:
        yield running


@pytest.fixture(params=["engine", "client"])
def memory(request: pytest.FixtureRequest, server: Server) -> Iterator[Engine | Client]:
    """The one line that differs."""
    if request.param == "engine":
        yield server.engine
    else:
        with Client(server.url, token=server.secret) as client:
            yield client


def test_the_same_day_is_lived_here_and_there(memory: Engine | Client, tmp_path: Path) -> None:
    held = datetime(2026, 3, 1, tzinfo=UTC)
    kept = memory.remember(
        "We deploy on Thursdays because support is staffed then.", kind="decision", tags=["ops"], importance=8,
        scope=Scope(project="web"), valid_from=held, evidence="deploys go out on Thursday", source="https://wiki/deploy",
    )  # fmt: skip
    assert (kept.action, kept.id) == ("created", kept.memory.id if kept.memory else "")
    assert isinstance(kept.memory, recollect.Memory)
    assert kept.memory.valid_from == held
    assert kept.memory.scope == Scope(project="web")
    turn = Source("", "turn", uri="session:1", content="user: we deploy on Thursdays", author="user", occurred_at=held)
    many = memory.remember_many(["The port is 80.", Draft("Ana owns billing.", tags=("people",), source=turn)])
    assert [one.action for one in many] == ["created", "created"]
    assert memory.remember("the port is 80").action == "duplicate"

    found = memory.recall("when do we deploy?", scope=Scope(project="web"), limit=5, kinds=["decision"], explain=True)
    assert [hit.memory.id for hit in found] == [kept.id]
    assert found.hits[0].memory.tags == ("ops",)
    assert isinstance(found.hits[0].arms, dict)
    assert found.explained is not None
    context = memory.context("deploy", scope=Scope(project="web"), budget=500, history=[Turn("user", "hello")])
    assert "Thursdays" in context.text
    assert context.blocks
    assert context.report.startswith(f"{context.tokens} tokens")

    same = memory.get(kept.id[-8:], peek=True)
    assert same.record() == kept.memory.record()
    assert same.version == kept.memory.version
    edited = memory.edit(kept.id, reason="moved", content="We deploy on Fridays.", valid_from=None, tags=["ops", "ci"])
    assert (edited.content, edited.valid_from, edited.tags) == ("We deploy on Fridays.", None, ("ops", "ci"))
    with pytest.raises(recollect.ChangedMeanwhile):
        memory.edit(kept.id, version=same.version, title="Late")
    source, quotes = memory.evidence(kept.id)
    assert source is not None
    assert (source.kind, source.uri) == ("url", "https://wiki/deploy")
    assert [quote.quote for quote in quotes] == ["deploys go out on Thursday"]
    said, _ = memory.evidence(many[1].id)
    assert said is not None
    assert (said.kind, said.content, said.occurred_at) == ("turn", "user: we deploy on Thursdays", held)

    link = memory.link(many[0].id, "related", kept.id, reason="both about the release")
    assert [one.id for one in memory.links(kept.id)] == [link.id]
    history = memory.history(kept.id)
    assert [entry.operation for entry in history] == ["create", "edit"]
    assert history[-1].reason == "moved"
    assert memory.changes(after=history[0].seq - 1, limit=1)[0] == history[0]

    page = memory.list(limit=2)
    assert len(page.memories) == 2
    rest = memory.list(limit=2, cursor=page.cursor)
    assert (len(rest.memories), rest.cursor) == (1, None)
    assert [m.id for m in memory.list(scope=Scope(project="web"), tags=["ops"]).memories] == [kept.id]

    looked = memory.forget(query="billing", dry_run=True)
    assert (looked.dry_run, len(looked.memories)) == (True, 1)
    assert memory.forget(many[1].id).memories[0].state == "archived"
    assert memory.reject([many[0].id], reason="it is 8080").memories[0].state == "rejected"
    assert memory.remember("The port is 80.").action == "refused"
    assert memory.reject(many[0].id, undo=True).memories[0].state == "active"
    assert memory.forget(scope=Scope(project="web"), purge=True).purged

    file = tmp_path / "export.jsonl"
    assert memory.export(file, journal=True) == 2
    taken = memory.import_(file)
    assert (taken.created, taken.known) == (0, 2)
    assert memory.stats()["memories"] == 2
    assert memory.embed() == 0
    memory.mend()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: m.get("zzzzzzzz"), recollect.NotFound),
        (lambda m: m.get(""), recollect.NotFound),
        (lambda m: m.remember(""), recollect.BadInput),
        (lambda m: m.remember("x", kind="nonsense"), recollect.BadInput),
        (lambda m: m.remember("x" * 70_000), recollect.TooLarge),
        (lambda m: m.remember_many("text"), recollect.BadInput),
        (lambda m: m.remember_many([1]), recollect.BadInput),
        (lambda m: m.recall("x", limit=0), recollect.BadInput),
        (lambda m: m.recall("x", since="soon"), recollect.BadTime),
        (lambda m: m.forget(), recollect.BadInput),
        (lambda m: m.edit("zzzzzzzz", title="x"), recollect.NotFound),
        (lambda m: m.import_("/nowhere/at/all"), recollect.BadInput),
    ],
)
def test_the_same_mistakes_raise_the_same_errors(
    memory: Engine | Client, call: Callable[[Engine | Client], object], error: type[recollect.RecollectError]
) -> None:
    with pytest.raises(error) as raised:
        call(memory)
    assert type(raised.value) is error
    assert raised.value.message
    assert raised.value.fix


def test_a_token_is_sent_and_its_wall_holds(server: Server) -> None:
    _, secret = server.engine.tokens.create(can=["read", "write"], user="ana")
    with Client(server.url, token=secret) as ana:
        kept = ana.remember("Ana likes short answers.", scope=Scope())
        assert kept.memory is not None
        assert kept.memory.scope == Scope(user="ana")
        with pytest.raises(recollect.Forbidden):
            ana.recall("answers", scope=Scope(user="ben"))
        with pytest.raises(recollect.Forbidden):
            ana.export("/dev/null")
    with Client(server.url, token="rcl_wrong") as nobody, pytest.raises(recollect.Unauthorised):
        nobody.stats()


def test_a_server_that_is_not_there_is_an_error_of_ours(server: Server) -> None:
    with pytest.raises(recollect.ServerUnavailable):
        Client("http://127.0.0.1:1").stats()
    with pytest.raises(recollect.BadInput):
        Client("ftp://example")


def test_a_connection_that_broke_is_opened_anew_and_nothing_is_done_twice(server: Server) -> None:
    with Client(server.url, token=server.secret) as client:
        client.remember("Kept before the break.")
        client._connection().sock.close()
        again = client.remember("Kept after the break.")
        assert again.memory is not None
        assert again.memory.observed == 1
