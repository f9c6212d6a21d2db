"""Summaries of entities: made of memories, renewed and ended with them, and never before or beside their parts."""

from __future__ import annotations

import json

import pytest

import recollect
from conftest import Clock, Opener
from providers import KEY, Server
from recollect.agents.access import local
from recollect.ops.catalogue import BY_NAME
from recollect.types import EVERYWHERE, Evidence, Link, Memory, Scope

ME = local("default", "test", EVERYWHERE)
NOTES = (
    "auth-service is owned by team Fjord.",
    "We raised the auth-service timeout from 5 s to 60 s after INC-12.",
    "The auth-service stores its sessions in Redis.",
    "I think the auth-service is badly designed.",
)


def tell(memory: recollect.Engine, clock: Clock, notes: tuple[str, ...] = NOTES, **given: object) -> list[Memory]:
    made = []
    for note in notes:
        made.append(memory.remember(note, **given).memory)  # type: ignore[arg-type]
        clock.forward(days=3)
    return [one for one in made if one]


def refresh(memory: recollect.Engine) -> int:
    memory.extract_entities()
    return memory.observer.refresh()


def summaries(memory: recollect.Engine, state: str = "active") -> list[Memory]:
    return [
        one for one in memory.list(networks=["observation"], states=[state]).memories if one.title == "auth-service"
    ]


def test_an_entity_is_summed_up_with_proof_and_without_opinions(memory: recollect.Engine, clock: Clock) -> None:
    made = tell(memory, clock)
    refresh(memory)
    (one,) = summaries(memory)
    lines = one.content.splitlines()
    assert lines[0] == "auth-service, by 3 memories from 2026-03-02 to 2026-03-08:"
    assert lines[1:] == [f"- 2026-03-{2 + 3 * n:02} {NOTES[n]} [{made[n].id[-6:]}]" for n in range(3)]
    assert (one.kind, one.network, one.trust) == ("summary", "observation", "derived")
    store = memory._store
    assert {link.target for link in store.of("default", Link, [one.id], "origin")} == {it.id for it in made[:3]}
    assert {proof.quote for proof in store.of("default", Evidence, [one.id], "memory")} == set(NOTES[:3])
    assert refresh(memory) == 0


def test_a_summary_stands_nowhere_before_its_parts(memory: recollect.Engine, clock: Clock) -> None:
    tell(memory, clock)
    before = memory.state("auth-service")
    refresh(memory)
    (one,) = summaries(memory)
    question = "what do we know about the auth-service?"
    assert one.id not in {hit.memory.id for hit in memory.recall(question, limit=20).hits}
    assert memory.recall(question, networks=["observation"]).hits[0].memory.id == one.id
    assert memory.state("auth-service").attributes == before.attributes
    again = memory.remember("The auth-service stores its sessions in Redis!")
    assert one.id not in {near.id for near in again.near}


def test_a_summary_follows_its_parts_and_goes_with_them(memory: recollect.Engine, clock: Clock) -> None:
    made = tell(memory, clock)
    refresh(memory)
    (one,) = summaries(memory)
    memory.remember("The auth-service moved from Heroku to Fly.io.")
    memory.edit(made[0].id, content="auth-service is owned by team Lagune.")
    assert not memory.recall("the auth-service", networks=["observation"]).hits  # behind, until the job has run
    refresh(memory)
    (renewed,) = summaries(memory)
    assert renewed.id == one.id
    assert "Lagune" in renewed.content
    assert "Fjord" not in renewed.content
    assert "Fly.io" in renewed.content
    memory.forget(made[1].id)
    memory.forget(made[2].id)
    refresh(memory)
    assert summaries(memory) == []
    assert [it.id for it in summaries(memory, "invalid")] == [one.id]
    memory.remember("The auth-service has two replicas.")
    refresh(memory)
    assert [it.id for it in summaries(memory)] == [one.id]


def test_what_is_erased_goes_from_the_summary_at_once(memory: recollect.Engine, clock: Clock) -> None:
    made = tell(memory, clock, (*NOTES, "The auth-service has two replicas."))
    refresh(memory)
    memory.forget(made[2].id, purge=True)
    assert summaries(memory) == []
    refresh(memory)
    (one,) = summaries(memory)
    assert "Redis" not in one.content


def test_a_summary_that_a_person_put_away_stays_away(memory: recollect.Engine, clock: Clock) -> None:
    tell(memory, clock)
    refresh(memory)
    memory.forget(summaries(memory)[0].id)
    memory.remember("The auth-service has two replicas.")
    refresh(memory)
    assert summaries(memory) == []


def test_summaries_are_made_within_one_scope(memory: recollect.Engine, clock: Clock) -> None:
    tell(memory, clock, NOTES[:2], scope=Scope(project="web"))
    tell(memory, clock, NOTES[2:3], scope=Scope(project="shop"))
    refresh(memory)
    assert summaries(memory) == []
    tell(memory, clock, ("The auth-service has two replicas.",), scope=Scope(project="web"))
    refresh(memory)
    (one,) = summaries(memory)
    assert one.scope.project == "web"
    assert "Redis" not in one.content


def test_the_job_looks_only_at_what_changed(memory: recollect.Engine, clock: Clock) -> None:
    tell(memory, clock)
    for _ in range(2):
        memory.jobs.add("observations")
        worker = memory.jobs.worker()
        worker.start(stay=False)
        assert worker.join(60)
    done = [job for job in memory.jobs.list(states=("done",)) if job.kind == "observations"]
    assert [job.state for job in done] == ["done", "done"]
    assert 0 < done[1].progress["through"] < done[0].progress["through"] <= memory.head
    assert len(summaries(memory)) == 1
    assert BY_NAME["entity_summaries"].call(memory, ME, {}) == {"summaries": 0}


def test_a_language_model_words_only_what_the_notes_bear_out(
    opened: Opener, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server() as server:
        monkeypatch.setenv("RECOLLECT_LLM", f"openai://gpt-4.1-nano?base=http://{server.host}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        memory = opened()
        tell(memory, clock)
        server.says = json.dumps({"sentences": [
            {"said": "Team Fjord owns the auth-service, which stores sessions in Redis.", "notes": [1, 3]},
            {"said": "The auth-service timeout is 90 s.", "notes": [2]},
            {"said": "It is run by Ana in Oslo.", "notes": [1]},
            {"said": "The timeout was raised to 60 s after INC-12.", "notes": [9]},
        ]})  # fmt: skip
        refresh(memory)
        (one,) = summaries(memory)
        assert len(one.content.splitlines()) == 2
        assert "Team Fjord owns the auth-service, which stores sessions in Redis." in one.content
        proofs = memory._store.of("default", Evidence, [one.id], "memory")
        assert {proof.quote for proof in proofs} == {NOTES[0], NOTES[2]}
        asked = len(server.asked)
        assert refresh(memory) == 0
        assert len(server.asked) == asked


def test_an_erasure_takes_a_summary_along_and_no_other_memory_that_it_quotes(
    memory: recollect.Engine, clock: Clock
) -> None:
    notes = [
        memory.remember(note, source=recollect.Source("", "document", f"file:{n}.md", content=f"{note} And so on.")).id
        for n, note in enumerate(NOTES)
    ]
    refresh(memory)
    (one,) = summaries(memory)
    receipt = memory.forget(notes[2], purge=True).receipt
    assert (receipt["memories"], receipt["derived"], receipt["kin"]) == ([notes[2]], [one.id], [])
    assert receipt["verified"] or receipt["unsearched"]
    assert {it.id for it in memory.list().memories} == {*notes} - {notes[2]}
    memory.remember("The auth-service is deployed by Ana.")
    refresh(memory)
    (again,) = summaries(memory)
    assert "Redis" not in again.content
    assert memory.forget(again.id, purge=True).receipt["kin"] == []
    assert len(memory.list().memories) == 4


def test_a_rejected_sentence_leaves_a_summary_at_once(memory: recollect.Engine, clock: Clock) -> None:
    made = tell(memory, clock)
    refresh(memory)
    memory.reject(made[0].id)
    (one,) = summaries(memory)
    assert "Fjord" not in one.content
    assert NOTES[2] in one.content
