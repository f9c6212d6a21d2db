"""The timeline and the state of an entity: events, changes, pages, anchors, and a replay of the journal."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from conftest import START, Clock, Opener
from recollect.agents.access import local
from recollect.errors import NotFound
from recollect.history.timeline import Chronicle
from recollect.language import changes
from recollect.ops.catalogue import BY_NAME
from recollect.project.ingest import ingest
from recollect.types import EVERYWHERE, Filter, Scope
from repositories import Repo

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


SERVICES, VALUES = ("gateway", "ledger"), ("1 s", "5 s", "60 s", "two minutes")
STEP = st.tuples(
    st.sampled_from(("remember", "remember", "remember", "edit", "forget", "invalid", "back")),
    st.sampled_from(SERVICES), st.sampled_from(("timeout", "owner")), st.sampled_from(VALUES),
    st.integers(0, 9), st.one_of(st.none(), st.integers(-40, 5)), st.one_of(st.none(), st.integers(1, 40)),
)  # fmt: skip
LIVES, STEPS = (int(n) for n in os.environ.get("RECOLLECT_LIVES", "4x14").split("x"))  # more of them: 60x40


def live(memory: recollect.Engine, clock: Clock, steps: list[Any]) -> list[datetime]:
    """Do the steps, seven hours apart; gives when each was done."""
    ids, moments = list[str](), []
    for number, (verb, service, attribute, value, which, since, days) in enumerate(steps):
        said = f"The {attribute} of the {service} is {value}, note {number}."
        now = clock()
        begin = None if since is None else now + timedelta(days=since)
        until = None if days is None else (begin or now) + timedelta(days=days)
        one = ids[which % len(ids)] if ids else ""
        if verb == "remember" or not one:
            ids.append(memory.remember(said, valid_from=begin, valid_to=until).id)
        elif verb == "edit":
            memory.edit(one, content=said)
        elif verb == "forget":
            memory.forget(one)
        else:
            memory.edit(one, state="invalid" if verb == "invalid" else "active")
        moments.append(clock.forward(hours=7))
    return moments


def test_the_state_at_any_time_equals_a_replay_of_the_journal(opened: Opener, clock: Clock) -> None:
    store, lives = opened(embedder="off"), iter(range(10**6))

    @settings(max_examples=LIVES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(STEP, min_size=4, max_size=STEPS), st.data())
    def holds(steps: list[Any], data: st.DataObject) -> None:
        name = f"life {next(lives)}"
        memory = store.for_caller(tenant=name)
        moments = [datetime(2020, 1, 1, tzinfo=UTC), *live(memory, clock, steps)]
        entries = memory.changes(limit=1000)
        for turn in range(3):
            at, true_at, again = (
                data.draw(st.sampled_from(moments)),
                data.draw(st.sampled_from(moments)),
                f"{name} {turn}",
            )
            for entry in (one for one in entries if one.at <= at):
                with store._store.transaction(again, "test", entry.at) as transaction:
                    transaction.replay(entry)
            for service in SERVICES:
                told = Chronicle(store._store, name).attributes(service, at, true_at, Filter())
                assert told == Chronicle(store._store, again).attributes(service, at, true_at, Filter()), (at, true_at)

    holds()


def test_events_are_read_from_commits_incidents_and_decision_records(memory: recollect.Engine, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    repo.put(
        "Raise the gateway timeout from 5 s to 60 s",
        {
            "incidents/2026-02-01-cards.md": "# Gateway refused cards\n\nDate: 2026-02-01\nSeverity: SEV-1\n"
            "Service: gateway\n\n## Summary\n\nThe gateway is degraded because of an old certificate.\n",
            "docs/adr/0001-fly.md": "# 1. Leave Heroku\n\nDate: 2026-01-15\n\n## Status\n\nAccepted\n\n## Context\n\n"
            "Cost.\n\n## Decision\n\nThe gateway moves from Heroku to Fly.io.\n",
        },
    )
    ingest(memory, repo.path)
    place = Scope(project="shop")
    told = {event.action: event for event in memory.timeline("gateway", scope=place).events}
    assert [told[kind].changes for kind in ("commit", "incident", "decision")] == [
        ("timeout: 5 s -> 60 s",), ("status: degraded (an old certificate)",), ("place: Heroku -> Fly.io",),
    ]  # fmt: skip
    assert [f"{told[kind].at:%Y-%m-%d}" for kind in ("commit", "incident", "decision")] == [
        "2026-02-28", "2026-02-01", "2026-01-15",
    ]  # fmt: skip
    state = {one.name: one for one in memory.state("gateway", scope=place).attributes}
    assert {name: one.value for name, one in state.items()} == {
        "place": "Fly.io", "status": "degraded", "timeout": "60 s",
    }  # fmt: skip
    assert all(memory.get(one.memory).kind in told for one in state.values())
