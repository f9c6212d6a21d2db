"""The timeline and the state of an entity: events, changes, pages, anchors, and a replay of the journal."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

import recollect
from conftest import START, Clock, Opener
from recollect.agents.access import local
from recollect.errors import NotFound
from recollect.history.timeline import Chronicle
from recollect.language import changes
from recollect.ops.catalogue import BY_NAME
from recollect.types import EVERYWHERE, Filter

ME = local("default", "test", EVERYWHERE)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("gateway", "We raised the gateway timeout from 5 s to 60 s after INC-12.", ["timeout: 5 s -> 60 s (INC-12)"]),
        ("gateway", "raised the timeout to 60 s in the gateway", ["timeout: 60 s"]),
        ("api", "The API moved from Heroku to Fly.io because of cost.", ["place: Heroku -> Fly.io (cost)"]),
        ("billing", "billing goes to team Lagune and ledger goes to team Speicher.", ["owner: team Lagune"]),
        ("playback", "Dana Whitfield takes over playback from Oleg.", ["owner: Oleg -> Dana Whitfield"]),
        ("grader", "grader: prefetch submissions, workers 4 -> 16", ["workers: 4 -> 16"]),
        ("auth-service", "The auth service is fully healthy again.", ["status: healthy"]),
        ("auth", "The author is happy.", []),
    ],
)
def test_changes_are_read_from_text(name: str, text: str, told: list[str]) -> None:
    assert [str(one) for one in changes.read(text, name)] == told


def remember_life(memory: recollect.Engine, clock: Clock) -> list[str]:
    made = []
    for text, kind in (
        ("auth-service is owned by team Fjord.", "fact"),
        ("We raised the auth-service timeout from 5 s to 60 s after INC-12.", "decision"),
        ("The auth-service is degraded because of the certificate.", "incident"),
        ("auth-service is owned by team Lagune.", "fact"),
        ("billing is owned by Ana.", "fact"),
        ("I think the auth-service is doomed.", "fact"),
    ):
        made.append(memory.remember(text, kind=kind).id)
        clock.forward(days=10)
    return made


def test_a_timeline_pages_through_what_names_an_entity(memory: recollect.Engine, clock: Clock) -> None:
    made = remember_life(memory, clock)
    whole = memory.timeline("auth-service")
    assert [one.memory for one in whole.events] == [made[n] for n in (5, 3, 2, 1, 0)]
    assert whole.events[3].changes == ("timeout: 5 s -> 60 s (INC-12)",)
    first = memory.timeline("auth-service", limit=2)
    second = memory.timeline("auth-service", limit=2, cursor=first.cursor)
    last = memory.timeline("auth-service", limit=2, cursor=second.cursor)
    assert (*first.events, *second.events, *last.events) == whole.events
    assert last.cursor is None
    assert [one.memory for one in memory.timeline(networks=["opinion"]).events] == [made[5]]
    assert [one.memory for one in memory.timeline("auth-service", kinds=["incident"]).events] == [made[2]]


def test_events_tell_how_far_they_are_from_an_anchor(memory: recollect.Engine, clock: Clock) -> None:
    remember_life(memory, clock)
    told = memory.timeline("auth-service", around="the certificate incident").events
    assert [one.distance for one in told] == [
        "30 days after", "10 days after", "at the same time", "10 days before", "20 days before",
    ]  # fmt: skip
    with pytest.raises(NotFound, match="No event"):
        memory.timeline(around="the big bang")


def test_the_state_of_an_entity_has_a_proof_for_each_attribute(memory: recollect.Engine, clock: Clock) -> None:
    made = remember_life(memory, clock)
    state = {one.name: one for one in memory.state("auth-service").attributes}
    assert {name: (one.value, one.memory) for name, one in state.items()} == {
        "owner": ("team Lagune", made[3]), "timeout": ("60 s", made[1]), "status": ("degraded", made[2]),
    }  # fmt: skip
    assert (state["owner"].before, state["status"].cause) == ("team Fjord", "the certificate")
    then = memory.state("auth-service", at=START.replace(day=20)).attributes
    assert [(one.name, one.value) for one in then] == [("owner", "team Fjord"), ("timeout", "60 s")]
    said = BY_NAME["state"].text(memory.state("auth-service"), clock())
    assert "owner: team Lagune (since 2026-04-01, before: team Fjord)" in said


def test_a_timeline_reads_the_same_on_every_surface(memory: recollect.Engine, clock: Clock) -> None:
    made = remember_life(memory, clock)
    operation = BY_NAME["timeline"]
    told = operation.call(memory, ME, {"entity": "auth-service", "limit": 1})
    assert [one.memory for one in told.events] == [made[5]]
    assert operation.text(told, clock()).splitlines()[-1] == f"More: cursor {told.cursor}"


def test_the_state_at_any_time_equals_a_replay_of_the_journal(opened: Opener, clock: Clock) -> None:
    memory, chance = opened(), random.Random(7)
    values, moments, ids = ("1 s", "5 s", "60 s", "two minutes"), [], list[str]()
    for _ in range(40):
        choice = chance.random()
        if choice < 0.6 or not ids:
            service = chance.choice(("gateway", "ledger"))
            ids.append(memory.remember(f"The timeout of the {service} is {chance.choice(values)}, note {len(ids)}.").id)
        elif choice < 0.8:
            memory.edit(
                chance.choice(ids), content=f"The timeout of the gateway is {chance.choice(values)}, {clock()}."
            )
        elif choice < 0.9:
            memory.forget(chance.choice(ids))
        else:
            memory.edit(chance.choice(ids), state="invalid")
        moments.append(clock.forward(hours=7))
    entries = memory.changes(limit=1000)
    for moment in [*chance.sample(moments, 5), datetime(2020, 1, 1, tzinfo=UTC)]:
        copy = opened(f"copy{moment:%d%H%M%f}.db")
        for entry in (one for one in entries if one.at <= moment):
            with copy._store.transaction("default", "test", entry.at) as transaction:
                transaction.replay(entry)
        for service in ("gateway", "ledger"):
            told = Chronicle(memory._store, "default").attributes(service, moment, moment, Filter())
            assert told == Chronicle(copy._store, "default").attributes(service, moment, moment, Filter()), moment
