"""The janitor's upkeep of the answer cache, and retention policies on its schedule."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Clock, Opener, Places
from recollect import Engine, Scope
from recollect.serve.work import Work
from recollect.store.answers import Answer
from recollect.upkeep.janitor.janitor import Done, Report
from recollect.upkeep.jobs import Interrupted
from replay import entries_of, replayed, state_of

TENANT = "default"
SECRET = "The vault opens with quixotic-marzipan-771."


def step(report: Report, name: str) -> Done:
    return next(one for one in report.steps if one.step == name)


def kept(engine: Engine) -> set[str]:
    return {one.question for one in engine.answers.questions(kept=True, limit=1000)}


def asked(engine: Engine) -> set[str]:
    return {one.question for one in engine.answers.questions(limit=1000)}


def filled(engine: Engine, clock: Clock, tmp_path: Path) -> None:
    """A cache with a question for each way to leave it, and some that stay."""
    put, ids = engine.answers.put, {name: engine.remember(f"It is {name}.").id for name in ("old", "edited", "same")}
    engine.answers.ask("What did nobody ask again?")
    put("Which is old?", "It is.", memories=[ids["old"]], hours=9000)
    put("What is pinned?", "This.", hours=1, pin=True)
    put("What did not help?", "Nothing.", hours=9000)
    for _ in range(2):
        engine.answers.feedback("What did not help?", False)
    clock.forward(days=100)
    engine.answers.ask("What was asked lately?")
    for name in ("edited", "same"):
        put(f"Which is {name}?", "It is.", memories=[ids[name]], hours=9000)
    (tmp_path / "notes.md").write_text("one")
    put("What is in the file?", "One.", files=[str(tmp_path / "notes.md")], hours=9000)
    put("What is over soon?", "This.", hours=1)
    engine.edit(ids["edited"], content="It is another.")
    engine.forget(ids["old"])
    (tmp_path / "notes.md").write_text("two")
    clock.forward(hours=2)


def test_what_has_ended_or_was_not_asked_for_long_leaves_the_cache(
    memory: Engine, clock: Clock, tmp_path: Path
) -> None:
    filled(memory, clock, tmp_path)
    before, head = memory.answers.stats(), memory.head
    plan = step(memory.janitor.run(dry_run=True, steps=["answers"]), "answers")
    assert (memory.answers.stats(), memory.head) == (before, head), "a dry run changes nothing"
    report = memory.janitor.run(steps=["answers"])
    done = step(report, "answers")
    assert done.by == {"ended": 3, "forgotten": 2}
    assert (done.looked, done.changed) == (9, 5)
    assert (plan.by, plan.acts) == (done.by, done.acts)
    assert report.checkpoint == "", "no knowledge changed, so there is nothing to go back to"
    assert kept(memory) == {"Which is same?", "What is pinned?"}
    left = {
        "What did not help?",
        "What was asked lately?",
        "What is over soon?",
        "What is in the file?",
        "Which is edited?",
    }
    assert asked(memory) == left | kept(memory), "questions are counted on, and what was turned down is not forgotten"
    notes = [entry for entry in entries_of(memory._store, TENANT) if entry.seq > head]
    assert [(one.actor, one.operation) for one in notes] == [("janitor", "tidy")] * 5
    assert not any(word in f"{notes}{report.as_dict()}" for word in ("nobody ask again", "Which is"))
    again = step(memory.janitor.run(steps=["answers"]), "answers")
    assert again.changed == 0
    copy_of = memory.janitor.last()
    assert copy_of is not None
    assert Report.of(copy_of).steps[0].step == "answers", "the report is kept with the job"


def test_no_room_means_that_the_coldest_go_and_what_is_pinned_stays(
    opened: Opener, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    for number in range(12):
        memory.answers.put(f"What is number {number} like?", f"It is {number}.", hours=9000, pin=number < 2)
    for number in range(30):
        memory.answers.ask(f"Who is person {number} there?")
    memory.close()
    monkeypatch.setenv("RECOLLECT_ANSWERS_MOST", "10")
    memory = opened()
    plan = step(memory.janitor.run(dry_run=True, steps=["answers"]), "answers")
    assert step(memory.janitor.run(steps=["answers"]), "answers").by == plan.by == {"let go": 3}
    assert kept(memory) == {f"What is number {number} like?" for number in (0, 1, *range(5, 12))}
    assert step(memory.janitor.run(steps=["answers"]), "answers").changed == 0
    memory.close()
    monkeypatch.setenv("RECOLLECT_ANSWERS_MOST", "2")
    memory = opened()
    done = step(memory.janitor.run(steps=["answers"]), "answers")
    assert kept(memory) == {"What is number 0 like?", "What is number 1 like?"}, "pinned, though it is one too many"
    assert done.by == {"let go": 7, "forgotten": 22}
    assert len(asked(memory)) == 2 + 18


def test_asked_again_meanwhile_it_stays_and_cut_off_it_goes_on(
    opened: Opener, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = opened(), opened()
    with memory._store.transaction(TENANT, "answers", clock()) as changes:
        for number in range(250):
            made = Answer(f"{number:026d}", f"Question {number}?", f"h{number}", last_asked_at=clock())
            changes.put_answer(made)
    clock.forward(days=100)
    leaving = memory.answers.leaving

    def meanwhile() -> Any:
        for looked, page in leaving():
            with other._store.transaction(TENANT, "answers", clock()) as changes:
                first = page[0].answer
                changes.put_answer(replace(first, asked=first.asked + 1, last_asked_at=clock()))
            yield looked, page

    monkeypatch.setattr(memory.answers, "leaving", meanwhile)
    calls = 0

    def progress(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        memory.janitor.run(steps=["answers"], progress=progress)
    # Cut off after two lots, the job was taken up again at once, and the first of each look was asked meanwhile.
    assert asked(other) == {"Question 0?", "Question 200?"}
    job = memory.janitor.last()
    assert job is not None
    assert (job.state, Report.of(job).left) == ("done", 1)
    assert sum(entry.operation == "tidy" for entry in entries_of(memory._store, TENANT)) == 248


# -- retention --------------------------------------------------------------------------------------------------------


def test_the_janitor_applies_retention_policies_and_leaves_what_is_held_or_pinned(
    memory: Engine, clock: Clock, place: Places
) -> None:
    web, legal = Scope(project="web"), Scope(project="legal")
    secret = memory.remember(SECRET, scope=web).id
    held = memory.remember("The contract is signed.", scope=legal).id
    pinned = memory.remember("Keep this.", scope=web, tags=["pinned"]).id
    turn = memory.remember("Good morning.", kind="turn").id
    memory.policies.retain(30, kind="fact", action="purge")
    memory.policies.retain(30, kind="turn")
    memory.policies.hold("case 7", scope=legal)
    clock.forward(days=40)
    young = memory.remember("A young fact.", scope=web).id
    head = memory.head
    plan = step(memory.janitor.run(dry_run=True), "retention")
    assert memory.head == head
    report = memory.janitor.run()
    done = step(report, "retention")
    assert done.by == plan.by == {"archived": 1, "purged": 1, "held": 1}
    assert report.steps[0].step == "retention", "a person's word comes first"
    assert report.checkpoint
    assert memory.get(turn).state == "archived"
    assert {memory.get(id).state for id in (held, pinned, young)} == {"active"}
    with pytest.raises(recollect.NotFound):
        memory.get(secret)
    assert b"marzipan" not in place.everything()
    actors = {one.actor for one in entries_of(memory._store, TENANT) if one.operation in ("purge", "expire", "erase")}
    assert actors == {"janitor"}
    assert step(memory.janitor.run(), "retention").changed == 0
    memory.policies.release("case 7")
    assert step(memory.janitor.run(steps=["retention"]), "retention").by == {"purged": 1}
    copy = replayed(memory._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(memory._store, TENANT)
    copy.close()


def test_what_an_erasure_took_along_or_a_hold_covers_since_is_left_out_of_the_next_batch(
    memory: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.history.policies.BATCH", 1)
    ids = []
    for number in range(4):
        clock.forward(seconds=1)
        ids.append(memory.remember(f"Fact number {number}.", scope=Scope(user=f"u{number}")).id)
    memory.policies.retain(1, action="purge")
    clock.forward(days=3)
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats == 2:  # after the first batch, which is the newest
            memory.forget(ids[2], purge=True)
            memory.policies.hold("late", scope=Scope(user="u0"))

    told = memory.policies.apply(beat=beat)
    assert (told.purged, told.held) == ((ids[3], ids[1]), (ids[0],))
    assert [m.id for m in memory.list(states=[]).memories] == [ids[0]]


def test_the_daemon_applies_them_on_the_janitors_schedule(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real time: a policy of one day, a memory of the day before yesterday, and the daemon's own worker."""
    old = datetime.now(UTC) - timedelta(days=3)
    opened(now=lambda: old).remember("An old fact.")
    engine = opened(now=lambda: datetime.now(UTC))
    engine.policies.retain(1, kind="fact")
    work = Work(engine, engine.settings.home, threading.Event())
    work._schedule()
    (job,) = [job for job in engine.jobs.list() if job.kind == "janitor"]
    assert job.run_at > datetime.now(UTC) + timedelta(hours=20), "the first run is janitor_hours away"
    engine.janitor.later(due=datetime.now(UTC))
    worker = engine.jobs.worker()
    worker.start(stay=False)
    worker.join()
    last = engine.janitor.last()
    assert last is not None
    assert step(Report.of(last), "retention").by == {"archived": 1}
    assert engine.list(states=["archived"]).memories
