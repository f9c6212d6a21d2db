"""Walls: what a caller with a user, a project, both or neither is told, on every way there is.

`attacks.sees` is the promise; here every operation and every tool is held to it, for memories in each place and for
those that were moved from one to another.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import attacks
import recollect
from conftest import Opener, Places
from recollect import Message, NotFound, Scope, Source
from recollect.agents.access import PERSONAL, RIGHTS, Caller
from recollect.nouns import wire
from recollect.ops.catalogue import BY_NAME, OPERATIONS
from recollect.serve import resources
from recollect.serve.tools import TOOLS

WALLS = (Scope(user="ana"), Scope(project="web"), Scope(user="ana", project="web"))
MACHINE = ("doctor", "try_models", "assistants")  # these ask programs of this machine, and only without a wall
ASKED = "Where does the key of the safe lie?"


def caller(wall: Scope, *can: str) -> Caller:
    return Caller("default", "test", frozenset(can or RIGHTS), wall, wall, "token")


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
        for given in attacks.calls(way.parameters, addresses if way.is_resource else aims):
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


# -- what is for a person to decide -----------------------------------------------------------------------------------

PERSON = Caller("default", "me")


def test_a_model_proposes_to_erase_and_a_person_does(opened: Opener, place: Places) -> None:
    engine = opened(embedder="off")
    kept = engine.remember("The code of the gate is zanzibar.", scope=Scope(project="web"))
    model = PERSON.for_model()
    tool = TOOLS["forget"]
    made = tool.call(engine.for_caller(model=True), model, {"id": kept.id, "purge": True, "reason": "zanzibar is old"})
    assert made.proposed
    assert "for a person to decide" in tool.text(made)
    assert engine.get(kept.id).state == "active"
    (waiting,) = engine.pending().memories
    assert waiting.content == f"Erase for good the memory {kept.id}."
    assert waiting.scope == Scope(project="web")
    with pytest.raises(recollect.Forbidden, match="person"):
        TOOLS["approve_pending_memory"].call(engine, model, {"id": waiting.id})
    reviewer = caller(Scope(project="web"), "read", "write", "review")
    with pytest.raises(recollect.Forbidden, match="admin"):
        BY_NAME["approve"].call(engine, reviewer, {"id": waiting.id})
    BY_NAME["approve"].call(engine, PERSON, {"id": waiting.id})
    for id in (kept.id, waiting.id):
        with pytest.raises(NotFound):
            engine.get(id)
    engine.close()
    assert b"zanzibar" not in place.everything()


def test_a_model_cannot_lift_a_rejection_and_a_rejected_proposal_is_not_made_again(opened: Opener) -> None:
    engine = opened(embedder="off")
    first, second = (engine.remember(f"The office is in {city}.").id for city in ("Rome", "Oslo"))
    engine.reject([first, second])
    model = PERSON.for_model()
    made = [TOOLS["reject"].call(engine, model, {"id": id, "undo": True}).memories[0] for id in (first, second)]
    with pytest.raises(recollect.Forbidden, match="person"):
        TOOLS["edit_memory"].call(engine, model, {"id": first, "state": "active"})
    assert engine.get(first).state == "rejected"
    BY_NAME["approve"].call(engine, PERSON, {"id": made[0].id})
    assert engine.get(first).state == "active"
    engine.reject(made[1].id)
    with pytest.raises(recollect.Refused):
        TOOLS["reject"].call(engine, model, {"id": second, "undo": True})
    assert engine.get(second).state == "rejected"


def test_a_token_without_the_right_to_review_decides_nothing(opened: Opener) -> None:
    engine = opened(embedder="off")
    said = "We decided to use Postgres for the billing service."
    engine.capture([Message("assistant", said)], session="s1")
    program = caller(Scope(), "read", "write")
    rejected = engine.remember("The office is in Rome.").id
    engine.reject(rejected)
    for name, given in (("reject", {"id": rejected, "undo": True}), ("approve", {"id": rejected})):
        with pytest.raises(recollect.Forbidden, match="review"):
            BY_NAME[name].call(engine, program, given)
    for waiting in engine.pending().memories:
        with pytest.raises(recollect.Forbidden, match="review"):
            BY_NAME["edit"].call(engine, program, {"id": waiting.id, "state": "active"})


def test_no_tool_needs_a_right_that_no_model_has_but_approve() -> None:
    assert [name for name, tool in TOOLS.items() if tool.right in PERSONAL] == ["approve_pending_memory"]
    assert all(not one.mcp or one.right not in PERSONAL or one.name == "approve" for one in OPERATIONS)


def test_naming_the_address_of_another_users_source_tells_nothing_of_it(opened: Opener) -> None:
    engine = opened(embedder="off")
    address, when = "https://example.com/plans", datetime(2026, 2, 3, tzinfo=UTC)
    told = Source("", "url", address, "Zanzibar", author="zanzibar", session="zanzibar", position=7, occurred_at=when)
    theirs = engine.remember("The plan changes in May.", source=told, scope=Scope(user="ben"))
    who = caller(Scope(user="ana"))
    for source in (address, {"kind": "url", "uri": address}):
        kept = BY_NAME["remember"].call(engine, who, {"content": f"The plan is public: {source}.", "source": source})
        found = BY_NAME["evidence"].call(engine, who, {"id": kept.id})["source"]
        assert (found.uri, found.title, found.session, found.position, found.occurred_at) == (
            address,
            "",
            "",
            None,
            None,
        )
        assert "zanzibar" not in found.author
    again = engine.remember("The plan is long.", source=told, scope=Scope(user="ben"))
    sources = {engine.get(one.id).source for one in (theirs, again)}
    assert len(sources) == 1  # what is told alike is still one source


def test_what_another_tenant_stores_does_not_change_the_order_of_a_search_by_words(opened: Opener) -> None:
    engine = opened(embedder="off")
    for said in ("Ada likes tea.", "The mill grinds.", "The mill is old.", "Ben rows.", "Cy sings.", "Dan runs."):
        engine.remember(said)
    who = caller(Scope())

    def found() -> list[str]:
        return [one.content for one in BY_NAME["browse"].call(engine, who, {"text": "tea mill old"}).memories]

    before = found()
    assert before == ["The mill is old.", "The mill grinds.", "Ada likes tea."]
    other = engine.for_caller(tenant="other")
    for n in range(40):
        other.remember(f"Tea number {n}, an old one.")
    assert found() == before
