"""Taking back: what a merge, an approval, a rejection or an edit touched is as it was, to the last field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recollect
from conftest import Clock
from recollect import Message, Scope
from recollect.store.rows import record
from recollect.types import Evidence, Link, Memory, Tombstone
from served import Answer, Server, serving


@pytest.fixture
def server(memory: recollect.Engine) -> Iterator[Server]:
    with serving(memory) as running:
        yield running


def _state(memory: recollect.Engine) -> dict[str, Any]:
    """All that is known, to the last field."""
    store = memory._store
    return {
        noun.id: record(noun)
        for kind in (Memory, Link, Evidence, Tombstone)
        for noun in store.all("default", kind, "", 1000)
    }


def _changes(answer: Answer) -> list[str]:
    assert answer.status in (200, 201), answer.body
    return answer.headers["recollect-changes"].split(", ")


def _undo(server: Server, *changes: str, **options: Any) -> Answer:
    return server.call("POST", "/v1/undo", {"changes": list(changes)}, **options)


def _pair(memory: recollect.Engine) -> tuple[str, str]:
    ids = [memory.remember(words, tags=["gateway"]).id for words in ("It times out after 30 s.", "It never times out.")]
    return ids[0], ids[1]


def _waiting(memory: recollect.Engine, clock: Clock) -> tuple[str, str]:
    """What waits, and what it contradicts."""
    for port in (8080, 8443):
        said = [Message("user", f"The gateway listens on port {port}.")]
        done = memory.capture(said, session=f"about {port}", scope=Scope(project="shop"))
        clock.forward(days=1)
    (waits,) = done.findings
    assert (waits.action, len(waits.conflicts)) == ("pending", 1)
    return waits.memory, waits.conflicts[0]


ACTS: dict[str, Callable[[Server, tuple[str, str], tuple[str, str]], Answer]] = {
    "merge": lambda server, pair, _: server.call(
        "POST", "/v1/links", {"origin": pair[0], "relation": "supersedes", "target": pair[1]}
    ),
    "forget": lambda server, pair, _: server.call("POST", "/v1/forget", {"id": list(pair), "reason": "of no use"}),
    "reject": lambda server, pair, _: server.call("POST", "/v1/reject", {"id": list(pair)}),
    "edit": lambda server, pair, _: server.call(
        "PATCH", f"/v1/memories/{pair[0]}", {"content": "It times out after 5 s.", "tags": ["pinned"], "project": "web"}
    ),
    "approve": lambda server, _, waiting: server.call("POST", "/v1/approve", {"id": waiting[0]}),
    "join": lambda server, _, waiting: server.call("POST", "/v1/approve", {"id": waiting[0], "into": waiting[1]}),
    "reject what waits": lambda server, _, waiting: server.call("POST", "/v1/reject", {"id": waiting[0]}),
}


def test_everything_is_as_it_was_to_the_last_field(server: Server, clock: Clock) -> None:
    memory = server.engine
    pair, waiting = _pair(memory), _waiting(memory, clock)
    before = _state(memory)
    for name, act in ACTS.items():
        clock.forward(minutes=1)
        changes = _changes(act(server, pair, waiting))
        assert _state(memory) != before, name
        done = _undo(server, *changes)
        assert done.status == 200, (name, done.body)
        assert _state(memory) == before, name
        assert "undo" in {row.operation for row in memory.history(done.data["restored"][0])}
    (hit,) = (one for one in memory.recall("It times out after 30 s.").hits if one.memory.id == pair[0])
    assert "vector" in hit.arms, "what was edited has its vector again"
    assert memory.remember("It never times out.").action == "duplicate", "no tombstone is left"


def test_many_that_were_forgotten_at_once_are_back(server: Server) -> None:
    made = server.engine.remember_many([f"Lamp number {number} is lit." for number in range(12)])
    done = server.call("POST", "/v1/forget", {"id": [one.id for one in made]})
    assert server.engine.checkpoints.all(), "before so many a moment is named, which is a change too"
    assert len(_undo(server, *_changes(done)).data["restored"]) == 12
    assert {server.engine.get(one.id).state for one in made} == {"active"}


def test_what_came_is_archived_and_can_be_brought_back(server: Server) -> None:
    made = server.call("POST", "/v1/memories", {"content": "The quota is 5."})
    id = made.data["memory"]["id"]
    assert _undo(server, *_changes(made)).data["archived"] == [id]
    assert server.engine.get(id).state == "archived"
    assert server.call("PATCH", f"/v1/memories/{id}", {"state": "active"}).status == 200


def test_several_steps_are_taken_back_one_after_the_other(server: Server) -> None:
    first, _ = _pair(server.engine)
    before = _state(server.engine)
    steps = [
        _changes(server.call("PATCH", f"/v1/memories/{first}", fields))
        for fields in ({"importance": 9}, {"tags": ["pinned"]}, {"content": "It times out after 7 s."})
    ]
    assert _undo(server, *steps[0]).status == 412, "first what came later"
    for changes in reversed(steps):
        assert _undo(server, *changes).status == 200
    assert _state(server.engine) == before
    again = _undo(server, *steps[0])
    assert again.status == 412, "what was taken back cannot be taken back again"


def test_what_was_changed_since_or_erased_is_not_taken_back(server: Server) -> None:
    memory = server.engine
    first, second = _pair(memory)
    changes = _changes(server.call("POST", "/v1/forget", {"id": [first, second]}))
    memory.edit(second, importance=9)
    before = _state(memory)
    answer = _undo(server, *changes)
    assert (answer.status, answer.data["code"]) == (412, "changed_meanwhile")
    assert _state(memory) == before, "not even the one that could be"
    gone = _changes(server.call("POST", "/v1/forget", {"id": first, "purge": True}))
    assert _undo(server, *gone).status == 400
    for wrong in ("x", "5-3", "1-900000", "", "-4"):
        assert _undo(server, wrong).status == 400, wrong
    assert _undo(server, "999999").status == 404
    assert _undo(server).status == 400


def test_one_takes_back_what_one_did_behind_ones_wall(server: Server) -> None:
    memory = server.engine
    kept = memory.remember("The queue is long.", scope=Scope(project="web"))
    _, mine = memory.tokens.create(name="ana", can=["read", "write"], project="web")
    _, other = memory.tokens.create(name="ben", can=["read", "write"])
    _, walled = memory.tokens.create(name="ana", can=["read", "write"], project="shop")
    done = server.call("PATCH", f"/v1/memories/{kept.id}", {"importance": 9}, token=mine)
    (change,) = _changes(done)
    assert _undo(server, change, token=other).status == 403
    assert _undo(server, change, token=walled).status in (403, 404), "a name does not open a wall"
    assert memory.get(kept.id).importance == 9
    assert _undo(server, change, token=mine).status == 200
    assert memory.get(kept.id).importance == kept.memory.importance  # type: ignore[union-attr]
