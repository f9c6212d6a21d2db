"""The janitor: it finds what was planted, touches nothing else, and a second run changes nothing; on every store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import START, Clock, Opener, Places
from nouns import memory as noun
from planted import Planted, fill, planted, scored
from planted_life import planted_life
from recollect import Draft, Engine, Link, Message, Refused, Scope
from recollect.cli import cli
from recollect.ids import make
from recollect.models.embedder import Embedder, load
from recollect.models.relation import LINK, MERGE, RESOLVE, relation
from recollect.remember.write import opposed
from recollect.types import Memory
from recollect.upkeep.janitor import janitor
from recollect.upkeep.jobs import Worker

SIZE = 800  # the 10,000 and 100,000 are in bench/janitor.py
OLD = START - timedelta(days=600)


class Known:
    """The default model, which makes each vector once: both stores hold the same texts."""

    def __init__(self, model: Embedder) -> None:
        self.model, self.dimension, self._inner = model.model, model.dimension, model
        self._made: dict[tuple[str, str], Any] = {}

    def embed(self, texts: Any, role: Any) -> Any:
        import numpy as np

        fresh = [text for text in texts if (text, role) not in self._made]
        if fresh:
            self._made.update(zip(((text, role) for text in fresh), self._inner.embed(fresh, role), strict=True))
        return np.stack([self._made[text, role] for text in texts])

    def warm(self) -> None:
        self._inner.warm()


@pytest.fixture(scope="module")
def model() -> Known:
    return Known(load("default"))


@pytest.fixture(autouse=True)
def _all_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor, "TOLD", 10**9)


def acts(report: janitor.Report, step: str) -> tuple[dict[str, str], ...]:
    return next(one.acts for one in report.steps if one.step == step)


def pairs(report: janitor.Report, step: str) -> set[object]:
    return {frozenset((act["id"], act["other"])) for act in acts(report, step)}


def everything(engine: Engine) -> dict[str, dict[str, Any]]:
    found = engine._store.all("default", Memory, "", 10**6)
    return {one.id: one.record() for one in found}


# -- what was planted -------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(opened: Opener, model: Known) -> tuple[Engine, Planted]:
    engine, wanted = opened(embedder=model), planted(SIZE, START)
    fill(engine._store, "default", wanted.memories, model, START)
    return engine, wanted


def test_it_finds_what_was_planted_touches_nothing_else_and_a_second_run_changes_nothing(
    filled: tuple[Engine, Planted],
) -> None:
    engine, wanted = filled
    before = everything(engine)
    rehearsed = engine.janitor.run(dry_run=True)
    assert everything(engine) == before, "a dry run changes nothing"
    report = engine.janitor.run()
    right: dict[str, tuple[set[object], set[object]]] = {
        "duplicates": ({frozenset(pair) for pair in wanted.same.items()}, pairs(report, "duplicates")),
        "contradictions": (set(wanted.opposed), pairs(report, "contradictions")),
        "expired": (set(wanted.expired), {act["id"] for act in acts(report, "expired")}),
        "decayed": (set(wanted.decayed), {act["id"] for act in acts(report, "decayed")}),
    }
    for step, (planted_, found) in right.items():
        precision, recall = scored(planted_, found)
        assert precision >= 0.95, (step, precision)
        assert recall >= (0.6 if step in ("duplicates", "contradictions") else 0.9), (step, recall)
    assert rehearsed.changed >= 0.95 * report.changed
    after = everything(engine)
    planned = {id for one in wanted.same.items() for id in one} | {id for pair in wanted.opposed for id in pair}
    spared = before.keys() - planned - wanted.expired - wanted.decayed
    touched = [id for id in spared if after[id]["state"] != before[id]["state"]]
    assert len(touched) <= 0.003 * len(spared), touched
    for id in before:  # nothing is deleted, and nobody is moved
        assert after[id]["scope"] == before[id]["scope"]
        assert after[id]["content"] == before[id]["content"]
    active = [one for one in wanted.memories if after[one.id]["state"] == "active"]
    left = sum(after[id]["state"] == after[of]["state"] == "active" for id, of in wanted.same.items())
    assert left < 0.10 * len(active)

    head = engine.head
    assert engine.janitor.run().changed == 0
    jobs = engine._store.jobs("default", (), 100)
    engine._store.restore_jobs("default", [replace(job, progress={}) for job in jobs])  # as if it had never looked
    again = engine.janitor.run()
    assert again.changed == 0, [one.acts for one in again.steps if one.changed]
    assert engine.head == head


def test_what_it_was_not_made_on_is_told_apart_by_its_words_as_well() -> None:
    made = planted_life(1500, START)
    said = {memory.id: memory.content for memory in made.memories}
    same = [relation(said[one], said[other]).is_sure("same", MERGE) for one, other in made.same.items()]
    cannot = [opposed(said[min(pair)], said[max(pair)], RESOLVE) for pair in made.opposed]
    assert sum(same) >= 0.4 * len(same)
    assert sum(cannot) >= 0.5 * len(cannot)
    ever = [one.content for one in made.memories if one.valid_from is None and one.valid_to is None]
    neighbours = list(pairwise(sorted(ever)))  # the nearest by the alphabet
    right = {frozenset((said[one], said[other])) for one, other in (*made.same.items(), *map(tuple, made.opposed))}
    wrong = [
        pair for pair in neighbours if frozenset(pair) not in right and (pair[0] != pair[1]) and opposed(*pair, RESOLVE)
    ]  # fmt: skip
    assert len(wrong) <= 0.003 * len(neighbours), wrong


# -- what is the same, and what is opposed ----------------------------------------------------------------------------

SAME = [
    ("Deploys go out on Thursdays.", "deploys always go out on Thursday!"),
    ("Ana owns the billing service.", "The billing service is owned by Ana."),
    ("FYI, the wiki's search is switched off.", "Search of the wiki is disabled."),
    ("Ana is responsible for the 2 ovens.", "Note: Ana looks after the two ovens"),
    ("We use Packer to build images.", "Images are built with Packer."),
    ("Lifts are serviced after 1,000 trips.", "After 1000 trips the lifts are serviced."),
    ("Requests time out after 30 seconds.", "A request times out after 30s."),
    ("Bo does not eat eggs.", "Bo never eats eggs."),
    ("Lind Foods's ovens need two fuses.", "The ovens of Lind Foods require 2 fuses."),
    ("On Fridays we freeze the main branch.", "We freeze the main branch on Fridays."),
    ("The database runs in Frankfurt.", "The db is currently running in Frankfurt."),
    ("We use pnpm for packages.", "We use pnpm for packages because it is fast."),
    ("The timeout of the gateway is 30 seconds.", "The gateway timeout is 30 seconds."),
]
OTHER = [
    ("Ana reports to Bo.", "Bo reports to Ana."),
    ("Retry 3 times.", "Retry 5 times."),
    ("Deploy on Fridays.", "Never deploy on Fridays."),
    ("The billing service uses Redis.", "The search service uses Redis."),
    ("Run the migration before the deploy.", "Run the migration after the deploy."),
    ("Turn the flag on in staging.", "Turn the flag off in staging."),
    ("Copy from staging to production.", "Copy from production to staging."),
    ("Scale the workers up at night.", "Scale the workers down at night."),
    ("Only admins may delete.", "Admins may delete."),
    ("Step 3 of the rollout needs a review.", "Step 4 of the rollout needs a review."),
    ("The internal gateway is slow.", "The interval gateway is slow."),
]


def test_the_same_claim_is_known_again_in_other_words() -> None:
    found = [relation(one, other).kind == "same" for one, other in SAME]
    assert sum(found) >= 0.75 * len(found), found


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_claim_is_not_taken_for_the_same(one: str, other: str) -> None:
    assert not relation(one, other).is_sure("same", LINK)


def test_what_is_only_alike_is_hardly_ever_opposed() -> None:
    contrary = ("before the deploy", "flag on", "workers up")
    alike = [pair for pair in (*SAME, *OTHER[3:], OTHER[0]) if not any(one in pair[0] for one in contrary)]
    assert sum(opposed(*pair) for pair in alike) <= 2


# -- merging ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def engine(opened: Opener, model: Known) -> Engine:
    return opened(embedder=model)


def plant(engine: Engine, model: Known, *memories: Memory) -> None:
    fill(engine._store, "default", [replace(one, source=make(1, 1)) for one in memories], model, START)


def test_a_merge_keeps_the_evidence_tags_references_and_links_of_both(engine: Engine, model: Known) -> None:
    one = noun(1, "Ana owns the billing service.", tags=("people",), observed=2)
    two = noun(2, "The billing service is owned by Ana.", tags=("billing",), refs=("ADR-7",), reasoning="She wrote it.")
    far = noun(3, "Deploys go out on Thursdays.")
    plant(engine, model, one, two, far)
    engine.link(two.id, "elaborates", far.id)
    report = engine.janitor.run(steps=["duplicates"])
    assert [(act["id"], act["other"]) for act in acts(report, "duplicates")] == [(two.id, one.id)]
    kept, gone = engine.get(one.id), engine.get(two.id)
    assert (kept.observed, kept.tags, kept.refs) == (3, ("people", "billing"), ("ADR-7",))
    assert kept.reasoning == "She wrote it."
    assert (gone.state, kept.state) == ("superseded", "active")
    assert [quote.quote for quote in engine.evidence(one.id)[1]] == [two.content]
    assert {(link.relation, link.target) for link in engine.links(one.id)} == {
        ("supersedes", two.id), ("elaborates", far.id)
    }  # fmt: skip
    assert [entry.actor for entry in engine.history(two.id)][-1] == "janitor"


def test_words_that_are_the_same_to_the_letter_are_merged_without_any_model(opened: Opener) -> None:
    engine = opened(embedder="off")
    fill(engine._store, "default", [noun(n, "Use pnpm.", source=make(1, 1)) for n in (1, 2, 3)], None, START)
    assert engine.janitor.run(steps=["duplicates"]).changed == 2
    assert len(engine.list().memories) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": Scope(project="other")}, {"scope": Scope(user="ana")}, {"scope": Scope(session="s1")},
        {"valid_to": START + timedelta(days=9)}, {"speaker": "Bo"}, {"kind": "incident"},
    ],
)  # fmt: skip
def test_what_is_of_another_scope_time_or_person_is_never_merged(
    engine: Engine, model: Known, fields: dict[str, Any]
) -> None:
    plant(engine, model, noun(1, "Use pnpm for packages."), noun(2, "Always use pnpm for packages.", **fields))
    assert engine.janitor.run().changed == 0


def test_memories_of_different_entities_are_not_merged(engine: Engine, model: Known) -> None:
    plant(engine, model, noun(1, "It listens on port 80."), noun(2, "It is listening on port 80."))
    graph = engine.graph()
    graph.create([recollect.graph.Node("gateway", "service"), recollect.graph.Node("mailer", "service")])
    ids = {entity.name: entity.id for entity in engine._store.all("default", recollect.types.Entity, "", 10)}
    with engine._store.transaction("default", "test", START) as changes:
        for n, name in ((1, "gateway"), (2, "mailer")):
            link = Link(make(90 + n, n), make(n, n), "mentions", ids[name], target_kind="entity", created_at=START)
            changes.put(link, "link")
    assert engine.janitor.run(steps=["duplicates"]).changed == 0


# -- contradictions ---------------------------------------------------------------------------------------------------


def later(memory: Memory, days: int = 5) -> Memory:
    at = memory.created_at + timedelta(days=days)
    return replace(memory, created_at=at, updated_at=at)


def test_what_is_newer_and_says_that_it_changed_stands_for_the_older(engine: Engine, model: Known) -> None:
    old = noun(1, "We use yarn for packages.")
    new = later(noun(2, "We switched from yarn to pnpm for packages."))
    plant(engine, model, old, new)
    engine.janitor.run()
    assert engine.get(old.id).state == "superseded"
    assert engine.get(new.id).state == "active"


def test_what_is_better_supported_stands_and_what_is_only_newer_is_flagged_once(engine: Engine, model: Known) -> None:
    weak = noun(1, "Deploys go out on Thursdays.", trust="unverified")
    strong = later(noun(2, "Deploys go out on Mondays.", trust="stated"))
    one, other = noun(3, "Backups are kept for 30 days."), later(noun(4, "Backups are kept for 90 days."))
    plant(engine, model, weak, strong, one, other)
    engine.janitor.run()
    assert engine.get(weak.id).state == "superseded"
    assert [engine.get(id).state for id in (one.id, other.id)] == ["active", "active"]
    [link] = engine.links(one.id)
    assert (link.origin, link.relation, link.target) == (other.id, "contradicts", one.id)
    assert engine.janitor.run().changed == 0


def test_what_held_each_in_its_time_is_no_contradiction(engine: Engine, model: Known) -> None:
    old = noun(1, "The gateway listens on port 8080.", valid_to=START + timedelta(days=1))
    plant(engine, model, old, later(noun(2, "The gateway listens on port 8443.")))
    assert engine.janitor.run().changed == 0


# -- what a person did ------------------------------------------------------------------------------------------------


def test_pins_and_edits_are_sacred(engine: Engine, model: Known, clock: Clock) -> None:
    aged: dict[str, Any] = {"created_at": OLD, "updated_at": OLD}
    texts = ("Bo likes tea.", "Eva sits in Rome.")
    kept = [noun(1, texts[0], tags=("pinned",), importance=2, **aged), noun(2, texts[1], importance=2, **aged)]
    over = noun(3, "The sprint ends soon.", tags=("pinned",), expires_at=START - timedelta(days=1))
    old = noun(4, "Backups are kept for 30 days.", trust="unverified")
    new = later(noun(5, "Backups are kept for 90 days."))
    pair = [noun(6, "Ana owns billing.", tags=("pinned",)), noun(7, "Billing is owned by Ana.", tags=("pinned",))]
    plant(engine, model, *kept, over, old, new, *pair)
    for one in (kept[1], old):
        engine.edit(one.id, keywords=["mine"])
    before = everything(engine)
    report = engine.janitor.run()
    assert {act["what"] for one in report.steps for act in one.acts} == {"flagged"}
    assert everything(engine) == before


def test_what_was_brought_back_stays(engine: Engine, model: Known) -> None:
    one = noun(1, "Bo likes tea.", importance=2, created_at=OLD, updated_at=OLD)
    plant(engine, model, one)
    assert engine.janitor.run().changed == 1
    assert engine.get(one.id).state == "archived"
    engine.edit(one.id, state="active")
    assert engine.janitor.run().changed == 0


def test_a_pinned_memory_takes_in_a_duplicate_and_stays_as_it_is(engine: Engine, model: Known) -> None:
    pinned = noun(2, "Billing is owned by Ana.", tags=("pinned",), importance=3)
    plant(engine, model, noun(1, "Ana owns billing.", importance=9, tags=("people",), trust="stated"), pinned)
    engine.janitor.run(steps=["duplicates"])
    kept = engine.get(pinned.id)
    assert (kept.state, kept.tags, kept.importance, kept.observed) == ("active", ("pinned",), 3, 2)


# -- age --------------------------------------------------------------------------------------------------------------


def test_what_is_used_does_not_decay(engine: Engine, model: Known, clock: Clock) -> None:
    aged: dict[str, Any] = {"created_at": OLD, "updated_at": OLD}
    plant(engine, model, noun(1, "Bo likes tea.", **aged), noun(2, "Eva sits in Rome.", **aged))
    engine.get(make(1, 1))
    engine.stats()  # which writes what is noted
    engine.janitor.run()
    assert [engine.get(make(n, n), peek=True).state for n in (1, 2)] == ["active", "archived"]
    clock.forward(days=500)
    engine.janitor.run()
    assert engine.get(make(1, 1), peek=True).state == "archived"


def test_decay_and_compaction_can_be_switched_off(
    opened: Opener, model: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DECAY_DAYS", "0")
    monkeypatch.setenv("RECOLLECT_COMPACT_DAYS", "0")
    engine = opened(embedder=model)
    said = (
        "Bo likes tea.",
        "Eva sits in Rome.",
        "The lift is painted blue.",
        "Lunch is at noon.",
        "Holidays are listed.",
    )
    plant(engine, model, *(noun(n, one, created_at=OLD, updated_at=OLD) for n, one in enumerate(said, 1)))
    assert engine.janitor.run().changed == 0


def test_what_waited_too_long_leaves_the_review(engine: Engine, model: Known) -> None:
    over, waits = (START + timedelta(days=days) for days in (-1, 1))
    plant(engine, model, noun(1, "Maybe tea.", state="pending", expires_at=over),
          noun(2, "Maybe milk.", state="pending", expires_at=waits))  # fmt: skip
    engine.janitor.run(steps=["review"])
    assert [one.id for one in engine.pending().memories] == [make(2, 2)]
    assert engine.get(make(1, 1)).state == "expired"


def test_what_was_observed_often_matters_more(engine: Engine, model: Known) -> None:
    plant(engine, model, noun(1, "Use tabs.", observed=5), noun(2, "Use spaces in YAML.", observed=2))
    engine.janitor.run(steps=["promoted"])
    assert [engine.get(make(n, n)).importance for n in (1, 2)] == [7, 5]
    assert engine.janitor.run().changed == 0


# -- compaction, links, orphans ---------------------------------------------------------------------------------------


def test_old_turns_become_a_summary_that_cites_them(engine: Engine, clock: Clock) -> None:
    said = ["The invoice job fails at night.", "The invoice job needs a lock.", "Put the lock into Redis.",
            "The lock in Redis works.", "The invoice job is green again.", "What shall we eat?"]  # fmt: skip
    where = Scope(project="shop")
    engine.capture([Message("user", one) for one in said], session="s1", scope=where)
    engine.capture([Message("user", f"Other {n} talk goes on.") for n in range(3)], session="s2", scope=where)
    assert engine.janitor.run(steps=["compacted"]).changed == 0, "they are new"
    clock.forward(days=200)
    assert engine.janitor.run(steps=["compacted"]).changed == 1, "three turns are no reason for a summary"
    [summary] = engine.list(kinds=["summary"]).memories
    assert summary.scope == Scope(project="shop", session="s1")
    assert (summary.trust, summary.state) == ("derived", "active")
    turns = {one.id: one for one in engine.list(kinds=["turn"], states=["archived"]).memories}
    assert len(turns) == len(said)
    for quote in engine.evidence(summary.id)[1]:
        assert quote.quote in turns[quote.place].content
        assert f"{quote.quote} [{quote.place[-6:]}]" in summary.content
    assert {link.target for link in engine.links(summary.id)} == turns.keys()
    assert engine.janitor.run(steps=["compacted"]).changed == 0


def test_a_rejected_value_does_not_come_back_in_a_summary(engine: Engine, clock: Clock) -> None:
    wrong = "The invoice job runs on Friday nights."
    said = [wrong, *(f"The invoice job has fault number {n}." for n in range(6))]
    engine.capture([Message("assistant", one) for one in said], session="s1")
    clock.forward(days=200)
    [turn] = [one for one in engine.list(kinds=["turn"]).memories if one.content == wrong]
    other = engine.remember(wrong)
    engine.reject(other.id)
    assert engine.get(turn.id).state == "rejected"
    engine.janitor.run(steps=["compacted"])
    [summary] = engine.list(kinds=["summary"]).memories
    assert "Friday" not in summary.content


def test_names_and_shared_references_become_links(engine: Engine, model: Known) -> None:
    engine.graph().create([recollect.graph.Node("Billing Gateway", "service")])
    plant(engine, model, noun(1, "Deploy the Billing Gateway on Mondays.", refs=("ADR-1",)),
          noun(2, "We deploy the Billing Gateway by hand on Mondays.", refs=("ADR-1",)))  # fmt: skip
    engine.janitor.run(steps=["links"])
    relations = sorted(link.relation for link in engine.links(make(1, 1)))
    assert relations == ["mentions", "related"]
    assert engine.janitor.run(steps=["links"]).changed == 0


# -- running ----------------------------------------------------------------------------------------------------------


def test_one_janitor_at_a_time(opened: Opener, model: Known, clock: Clock) -> None:
    engine, other = opened(embedder=model), opened(embedder=model)
    plant(engine, model, noun(1, "Use pnpm."))
    job = engine.janitor.later()
    assert engine._store.claim("default", "somebody", ["janitor"], clock(), timedelta(minutes=5)) is not None
    with pytest.raises(Refused, match="at work"):
        other.janitor.run()
    with pytest.raises(Refused, match="at work"):
        other.janitor.later()
    clock.forward(minutes=6)  # whoever had it died
    assert other.janitor.run().state == "done"
    assert engine._store.of("default", recollect.Job, [job.id])[0].state == "cancelled"


def test_two_who_ask_at_once_ask_for_the_same_run(opened: Opener, model: Known) -> None:
    engine, other = opened(embedder=model), opened(embedder=model)
    plant(engine, model, noun(1, "Use pnpm."))
    first = engine.janitor.later()
    for one in (engine, other):
        one.janitor.schedule(24)
    assert [job.id for job in engine.jobs.list(states=["queued"])] == [first.id]


def test_the_next_run_waits_until_it_is_due(engine: Engine, model: Known, clock: Clock) -> None:
    plant(engine, model, noun(1, "Use pnpm.", expires_at=START + timedelta(hours=1)))
    engine.janitor.schedule(24)
    engine.janitor.schedule(24)
    worker = engine.jobs.worker()
    worker.start(stay=False)
    worker.join()
    assert [job.state for job in engine.jobs.list()] == ["queued"]
    clock.forward(hours=25)
    worker = engine.jobs.worker()
    worker.start(stay=False)
    worker.join()
    last = engine.janitor.last()
    assert last is not None
    assert janitor.Report.of(last).changed == 1
    engine.janitor.schedule(24)
    [waits] = engine.jobs.list(states=["queued"])
    assert waits.run_at > clock() + timedelta(hours=23)


def test_a_run_that_was_cut_off_goes_on_where_it_was(
    engine: Engine, model: Known, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = START - timedelta(days=1)
    plant(engine, model, noun(1, "Old tea.", expires_at=over), noun(2, "Ana owns billing."),
          noun(3, "Billing is owned by Ana."))  # fmt: skip

    def broken(room: Any) -> Iterator[list[Any]]:
        raise OSError("the disk went away")

    whole = dict(janitor.STEPS)
    monkeypatch.setitem(janitor.STEPS, "duplicates", broken)
    with pytest.raises(OSError, match="went away"):
        engine.janitor.run()
    assert engine.get(make(1, 1)).state == "expired"
    monkeypatch.setitem(janitor.STEPS, "duplicates", whole["duplicates"])
    [job] = engine.jobs.list()
    assert [one["step"] for one in job.progress["steps"]] == ["retention", "expired", "review", "decayed", "compacted"]
    clock.forward(minutes=10)
    Worker(engine._store, "default", {"janitor": engine.janitor.work}, clock)._one()
    last = engine.janitor.last()
    assert last is not None
    report = janitor.Report.of(last)
    assert [one.step for one in report.steps] == list(janitor.NAMES)
    assert report.changed == 2


def test_what_changed_since_it_was_planned_is_left_alone(
    engine: Engine, model: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(engine, model, noun(1, "Old tea.", expires_at=START - timedelta(days=1)))
    plan = janitor.STEPS["expired"]

    def meddled(room: Any) -> Iterator[list[Any]]:
        for lot in plan(room):
            engine.edit(make(1, 1), expires_at=None)
            yield lot

    monkeypatch.setitem(janitor.STEPS, "expired", meddled)
    report = engine.janitor.run(steps=["expired"])
    assert (report.changed, report.left) == (0, 1)
    assert engine.get(make(1, 1)).state == "active"


def test_tenants_are_cleaned_apart(opened: Opener, model: Known) -> None:
    engine = opened(embedder=model)
    other = engine.for_caller(tenant="globex")
    plant(engine, model, noun(1, "Use pnpm for packages."))
    fill(other._store, "globex", [noun(2, "Always use pnpm for packages.", source=make(1, 1))], model, START)
    assert engine.janitor.run().changed == other.janitor.run().changed == 0


def test_the_command_tells_what_it_would_do_and_what_it_did(place: Places, opened: Opener, model: Known) -> None:
    engine = opened()
    fill(engine._store, "default", [noun(n, "Use pnpm.", source=make(1, 1)) for n in (1, 2)], None, START)
    engine.close()
    runner = CliRunner(env={"RECOLLECT_EMBEDDER": "off"})

    def told(*words: str) -> Any:
        result = runner.invoke(cli, ["--store", place(), "--json", "janitor", *words])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert told("run", "--dry-run")["changed"] == 1
    done = told("run", "--step", "duplicates")
    assert (done["changed"], done["state"]) == (1, "done")
    assert told("report")["report"]["changed"] == 1
    assert told("run")["changed"] == 0
    assert runner.invoke(cli, ["--store", place(), "janitor", "run", "--step", "sweep"]).exit_code == 2


def test_a_draft_in_a_list_is_a_memory_like_any_other(engine: Engine) -> None:
    """What comes in by the write path is clean already: the janitor has nothing to do after it."""
    engine.remember_many([Draft("Ana owns billing."), Draft("Deploys go out on Thursdays."), Draft("Use pnpm.")])
    assert engine.janitor.run().changed == 0


def test_corrections_hold_through_the_janitor(opened: Opener, model: Known, clock: Clock) -> None:
    """Replacement, denial, retraction, a part that changed, and what held for a time: none of it comes back."""
    engine = opened(embedder=model)

    def said(words: str, **fields: Any) -> str:
        clock.forward(hours=1)
        return engine.remember(words, **fields).id

    replaced = said("We use yarn for packages.")
    now = said("We switched from yarn to pnpm for packages.")
    denied = said("The gateway supports batch requests.")
    denial = said("The gateway no longer supports batch requests.")
    wrong = said("Deploys go out on Fridays.")
    engine.reject(wrong)
    whole = said("The mailer uses Redis for storage.")
    part = said("The mailer listens on port 8025.")
    engine.link(said("The mailer listens on port 8026 instead of 8025."), "supersedes", part)
    bounded = said("The freeze lasts until Easter.", valid_to=START + timedelta(days=1))
    before = {
        id: engine.get(id, peek=True).state for id in (replaced, now, denied, denial, wrong, whole, part, bounded)
    }
    assert (before[replaced], before[denied], before[wrong], before[part]) == (
        "superseded", "superseded", "rejected", "superseded"
    )  # fmt: skip
    asked = ("packages", "gateway batch requests", "when do deploys go out", "mailer storage", "mailer port", "freeze")
    for _ in range(2):
        clock.forward(days=2)
        engine.janitor.run()
        assert {id: engine.get(id, peek=True).state for id in before} == before
        assert engine.remember("Deploys go out on Fridays!").action == "refused"
        hits = {hit.memory.id for question in asked for hit in engine.recall(question, limit=20)}
        assert {now, denial, whole} <= hits
        assert not {replaced, denied, wrong, part, bounded} & hits
    engine.close()
    again = opened(embedder=model)
    again.mend()
    assert {id: again.get(id, peek=True).state for id in before} == before
