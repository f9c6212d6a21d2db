"""Walls: what a caller with a user, a project, both or neither is told, on every way there is.

`attacks.sees` is the promise; here every operation and every tool is held to it, for memories in each place and for
those that were moved from one to another.
"""

from __future__ import annotations

import pytest

import attacks
import recollect
from conftest import Opener
from recollect import NotFound, Scope
from recollect.agents.access import Caller
from recollect.ops.catalogue import BY_NAME
from recollect.serve import resources
from recollect.serve.wire import wire

WALLS = (Scope(user="ana"), Scope(project="web"), Scope(user="ana", project="web"))
MACHINE = ("doctor", "try_models", "assistants")  # these ask programs of this machine, and only without a wall
ASKED = "Where does the key of the safe lie?"


def caller(wall: Scope, *can: str) -> Caller:
    return Caller("default", "test", frozenset(can or ("read", "write", "admin")), wall, wall, "token")


@pytest.mark.parametrize("wall", WALLS, ids=str)
def test_no_way_of_reading_shows_what_lies_behind_another_wall(opened: Opener, wall: Scope) -> None:
    engine = opened(embedder="hashing")
    ids = attacks.plant(engine)
    who = caller(wall)
    hidden = [place for place in attacks.PLACES if not attacks.sees(wall, place)]
    aims = [ASKED, ids[hidden[0]], "ben"]
    seen = set()
    addresses = [*(one.uri for one in resources.RESOURCES), *(f"{resources.ITEM}{aim}" for aim in aims)]
    for way in attacks.WAYS:
        if not way.read_only or way.name in MACHINE:
            continue
        for given in attacks.calls(way.parameters, addresses if way.of is None else aims):
            answer = way.told(engine, who, given)
            for place in hidden:
                assert attacks.mark(place) not in answer, (way.name, given, answer[:3000])
            seen |= {place for place in attacks.PLACES if attacks.mark(place) in answer}
    assert seen == {place for place in attacks.PLACES if attacks.sees(wall, place)}  # else nothing was tested


@pytest.mark.parametrize("wall", WALLS, ids=str)
def test_what_one_cannot_see_one_cannot_change(opened: Opener, wall: Scope) -> None:
    engine = opened(embedder="hashing")
    ids = attacks.plant(engine)
    who = caller(wall)
    owned = [p for p in attacks.PLACES if p.user == wall.user and (not wall.project or p.project == wall.project)]
    for place, id in ids.items():
        if place in owned:
            BY_NAME["edit"].call(engine, who, {"id": id, "importance": 9})
        else:
            error = recollect.Forbidden if attacks.sees(wall, place) else NotFound
            for name, given in (("edit", {"importance": 9}), ("forget", {}), ("reject", {}), ("approve", {})):
                with pytest.raises(error):
                    BY_NAME[name].call(engine, who, {"id": id, **given})
    everything = {"query": "key safe", "project": wall.project or "web"}
    gone = BY_NAME["forget"].call(engine, who, everything).memories
    assert {memory.scope for memory in gone} == {p for p in owned if p.project == everything["project"]}


def test_a_token_of_a_project_writes_what_everybody_in_it_sees(opened: Opener) -> None:
    engine = opened(embedder="off")
    who = caller(Scope(project="web"))
    kept = BY_NAME["remember"].call(engine, who, {"content": "The build takes four minutes."})
    assert kept.memory.scope == Scope(project="web")
    moved = BY_NAME["edit"].call(engine, who, {"id": kept.id, "branch": "main"})
    assert moved.scope == Scope(project="web", branch="main")
    with pytest.raises(recollect.Forbidden, match="no user"):
        BY_NAME["recall"].call(engine, who, {"query": "build", "user": "ben"})
    assert str(who.wall) == "project=web"


def test_an_answer_is_kept_for_those_behind_one_wall(opened: Opener) -> None:
    engine = opened(embedder="hashing")
    attacks.plant(engine)
    everybody, project = Caller("default", "me", home=Scope(project="web")), caller(Scope(project="web"))
    BY_NAME["ask"].call(engine, everybody, {"question": ASKED})
    told = wire(BY_NAME["ask"].call(engine, project, {"question": ASKED}))
    assert not told["cached"]
    assert wire(BY_NAME["ask"].call(engine, project, {"question": ASKED}))["why"]
    assert len(BY_NAME["answers"].call(engine, project, {})) == 1


@pytest.mark.parametrize("wall", WALLS, ids=str)
def test_a_memory_that_was_moved_into_sight_keeps_its_past_to_itself(opened: Opener, wall: Scope) -> None:
    engine = opened(embedder="off")
    private = Scope(user="ben", project="web")
    id = engine.remember("The safe is opened by zanzibar.", reasoning="zanzibar", scope=private).id
    engine.edit(id, content="The safe is opened by zanzibar twice.", reason="zanzibar said so")
    shared = Scope(project="web")
    engine.edit(id, content="The safe is in the office.", reasoning="", scope=shared, reason="not zanzibar")
    engine.edit(id, importance=8, reason="It matters.")
    who = caller(wall)
    history = BY_NAME["history"].call(engine, who, {"id": id})
    assert [(entry.before is None, entry.reason) for entry in history] == [(True, ""), (False, "It matters.")]
    assert history[0].after["content"] == "The safe is in the office."
    changes = BY_NAME["changes"].call(engine, who, {"limit": 1000})["changes"]
    assert [entry.seq for entry in changes] == [entry.seq for entry in history]
    for way in attacks.WAYS:
        if way.read_only and way.name not in MACHINE:
            for given in attacks.calls(way.parameters, [id]):
                assert "zanzibar" not in (answer := way.told(engine, who, given)), (way.name, given, answer[:2000])
    engine.edit(id, scope=private, reason="zanzibar again")
    assert BY_NAME["changes"].call(engine, who, {"limit": 1000})["changes"] == ()
    with pytest.raises(NotFound):
        BY_NAME["history"].call(engine, who, {"id": id})
    assert len(BY_NAME["history"].call(engine, Caller("default", "me"), {"id": id})) == 5
