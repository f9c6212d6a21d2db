"""Jobs: done once, kept over crashes, tried again, and given back; the same on every store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import START, Clock, Opener, Places
from nouns import A, B
from recollect import Ambiguous, BadInput, Job, ModelUnavailable, NotFound, StoreUnavailable
from recollect.cli import cli
from recollect.ids import make
from recollect.store.contract import Store
from recollect.store.jobs import LAPSED
from recollect.upkeep.jobs import Run, Worker
from workers import LEASE, do_jobs, never_end_a_job, now
from writers import context, lines

MINUTE = timedelta(minutes=1)


def job(number: int = 1, kind: str = "count", **fields: Any) -> Job:
    return Job(make(number, number), kind, **({"run_at": START, "created_at": START} | fields))


def claim(store: Store, worker: str = "w", at: timedelta = MINUTE, **more: Any) -> Job | None:
    return store.claim(more.get("tenant", A), worker, more.get("kinds", ["count"]), START + at, MINUTE)


def the(store: Store, number: int = 1) -> Job:
    return store.of(A, Job, [make(number, number)])[0]


# -- what a store promises --------------------------------------------------------------------------------------------


def test_a_job_comes_back_as_it_was_put_and_only_once(store: Store) -> None:
    asked = job(payload={"model": "m", "ids": [1, 2], "name": "Ünïcode"}, max_attempts=2)
    assert store.enqueue(A, asked)
    assert not store.enqueue(A, job(payload={"model": "another"}))
    assert store.jobs(A, [], 10) == [asked]
    assert store.head(A) == 0, "a job is not knowledge"


def test_claims_go_by_what_was_due_first_and_not_before_it_is_due(store: Store) -> None:
    for number, due in ((1, 30), (2, 10), (3, 600), (4, 10)):
        store.enqueue(A, job(number, run_at=START + timedelta(seconds=due)))
    taken = [claimed.id for _ in range(5) if (claimed := claim(store))]
    assert taken == [make(2, 2), make(4, 4), make(1, 1)]
    assert the(store, 3).state == "queued"


def test_a_claim_is_of_its_tenant_and_of_its_kinds(store: Store) -> None:
    store.enqueue(A, job())
    assert claim(store, tenant=B) is None
    assert claim(store, kinds=["other"]) is None
    assert claim(store, kinds=[]) is None
    assert claim(store, kinds=["other", "count"]) == the(store)
    assert store.jobs(B, [], 10) == []
    assert store.tenants() == [A]
    for of_another in (store.cancel(B, job().id, START), store.retry(B, job().id, START)):
        assert not of_another


def test_a_claimed_job_is_nobody_elses_until_its_lease_lapses(store: Store) -> None:
    store.enqueue(A, job())
    first = claim(store, "one")
    assert first is not None
    assert (first.state, first.attempts, first.leased_by) == ("running", 1, "one")
    assert first.leased_until == START + 2 * MINUTE
    assert claim(store, "two", 1.5 * MINUTE) is None
    second = claim(store, "two", 2 * MINUTE)
    assert second is not None
    assert (second.leased_by, second.attempts) == ("two", 2)


def test_a_worker_that_lost_its_lease_can_do_nothing_with_the_job(store: Store) -> None:
    store.enqueue(A, job())
    claim(store, "one")
    claim(store, "two", 3 * MINUTE)
    before = the(store)
    assert not store.renew(A, job().id, "one", START + 9 * MINUTE, {"done": 1})
    assert not store.finish(A, job().id, "one", START)
    assert not store.fail(A, job().id, "one", "late", None, START)
    assert not store.fail(A, job().id, "one", "late", START, START)
    assert not store.release(A, job().id, "one", START)
    assert the(store) == before
    assert store.finish(A, job().id, "two", START + 4 * MINUTE)
    assert not store.finish(A, job().id, "two", START + 5 * MINUTE)
    assert the(store).finished_at == START + 4 * MINUTE


def test_a_renewed_lease_lasts_and_keeps_the_progress(store: Store) -> None:
    store.enqueue(A, job())
    claim(store, "one")
    assert store.renew(A, job().id, "one", START + 5 * MINUTE, {"done": 3, "total": 9})
    assert store.renew(A, job().id, "one", START + 6 * MINUTE)
    assert claim(store, "two", 5.5 * MINUTE) is None
    assert the(store).progress == {"done": 3, "total": 9}


def test_a_job_that_took_its_workers_down_each_time_fails(store: Store) -> None:
    store.enqueue(A, job(max_attempts=2))
    assert claim(store, "one") is not None
    assert claim(store, "two", 5 * MINUTE) is not None
    assert claim(store, "three", 9 * MINUTE) is None
    ended = the(store)
    assert (ended.state, ended.error, ended.leased_by, ended.leased_until) == ("failed", LAPSED, "", None)
    assert ended.finished_at == START + 9 * MINUTE


def test_a_failed_attempt_waits_or_is_the_last(store: Store) -> None:
    store.enqueue(A, job())
    claim(store)
    assert store.fail(A, job().id, "w", "no network", START + 5 * MINUTE, START + MINUTE)
    waiting = the(store)
    assert (waiting.state, waiting.error, waiting.attempts) == ("queued", "no network", 1)
    assert claim(store, at=4 * MINUTE) is None
    assert claim(store, at=5 * MINUTE) is not None
    assert store.fail(A, job().id, "w", "no hope", None, START + 6 * MINUTE)
    assert (the(store).state, the(store).error, the(store).finished_at) == ("failed", "no hope", START + 6 * MINUTE)


def test_a_released_job_was_not_tried(store: Store) -> None:
    store.enqueue(A, job())
    claim(store)
    assert store.release(A, job().id, "w", START + MINUTE)
    assert (the(store).state, the(store).attempts, the(store).leased_by) == ("queued", 0, "")


def test_jobs_are_cancelled_and_tried_again(store: Store) -> None:
    for number in (1, 2, 3):
        store.enqueue(A, job(number))
    claim(store)
    assert store.cancel(A, make(1, 1), START)  # running
    assert not store.renew(A, make(1, 1), "w", START + 9 * MINUTE)
    assert store.cancel(A, make(2, 2), START)  # waiting
    assert not store.cancel(A, make(2, 2), START)
    claim(store)
    store.finish(A, make(3, 3), "w", START)
    assert not store.cancel(A, make(3, 3), START)
    assert not store.retry(A, make(3, 3), START)
    assert store.retry(A, make(1, 1), START + MINUTE)
    again = the(store)
    assert (again.state, again.attempts, again.run_at, again.finished_at) == ("queued", 0, START + MINUTE, None)


def test_jobs_are_listed_newest_first(store: Store) -> None:
    for number in (2, 1, 3):
        store.enqueue(A, job(number, created_at=START + number * MINUTE))
    store.cancel(A, make(2, 2), START)
    assert [one.id for one in store.jobs(A, [], 2)] == [make(3, 3), make(2, 2)]
    assert [one.id for one in store.jobs(A, ["queued", "failed"], 9)] == [make(3, 3), make(1, 1)]
    assert [one.id for one in store.all(A, Job, make(1, 1), 9)] == [make(2, 2), make(3, 3)]


def test_restored_jobs_are_as_they_are_told(store: Store) -> None:
    store.enqueue(A, job())
    done = job(state="done", attempts=3, error="", progress={"done": 1}, finished_at=START + MINUTE)
    running = job(2, state="running", leased_by="another", leased_until=START + MINUTE)
    store.restore_jobs(A, [done, running])
    assert store.all(A, Job, "", 9) == [done, running]


# -- a worker ---------------------------------------------------------------------------------------------------------


def worked(store: Store, handler: Callable[[Run], None], clock: Callable[[], Any]) -> Worker:
    """Do what is due, to the end."""
    worker = Worker(store, A, {"count": handler}, clock)
    worker.start(stay=False)
    assert worker.join()
    return worker


def eventually(told: Callable[[], Any]) -> Any:
    """Wait for something that must come about."""
    deadline = time.monotonic() + 60
    while not (value := told()):
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)
    return value


def test_a_worker_does_what_is_due_and_leaves_the_rest(store: Store, clock: Clock) -> None:
    for number in range(5):
        store.enqueue(A, job(number, payload={"n": number}))
    store.enqueue(A, job(8, kind="other"))
    store.enqueue(A, job(9, run_at=START + 99 * MINUTE))
    seen: list[int] = []

    def handler(run: Run) -> None:
        seen.append(run.job.payload["n"])
        run.step(1, 1)

    worker = worked(store, handler, clock)
    assert (worker.done, worker.failed, sorted(seen)) == (5, 0, [0, 1, 2, 3, 4])
    assert len(store.jobs(A, ["done"], 99)) == 5
    assert the(store, 3).progress == {"done": 1, "total": 1}
    assert [one.id for one in store.jobs(A, ["queued"], 9)] == [make(9, 9), make(8, 8)]


def test_what_fails_is_tried_again_later_each_time_until_it_is_given_up(store: Store, clock: Clock) -> None:
    store.enqueue(A, job(max_attempts=3))

    def handler(run: Run) -> None:
        raise OSError(f"attempt {run.job.attempts} met a full pipe")

    waits = []
    for attempt in (1, 2):
        assert worked(store, handler, clock).failed == 1
        waiting = the(store)
        assert (waiting.state, waiting.attempts) == ("queued", attempt)
        assert waiting.error == f"OSError: attempt {attempt} met a full pipe"
        waits.append((waiting.run_at - clock.moment).total_seconds())
        assert worked(store, handler, clock).failed == 0, "not before its time"
        clock.moment = waiting.run_at
    assert 2.4 < waits[0] < 5.1
    assert 4.9 < waits[1] < 10.1
    worked(store, handler, clock)
    assert (the(store).state, the(store).attempts) == ("failed", 3)


def test_an_error_that_no_attempt_mends_fails_at_once(store: Store, clock: Clock) -> None:
    store.enqueue(A, job())

    def handler(run: Run) -> None:
        raise BadInput("There is no such thing.", fix="")

    worked(store, handler, clock)
    assert (the(store).state, the(store).attempts) == ("failed", 1)
    assert the(store).error == "BadInput: There is no such thing."


def test_a_worker_keeps_its_lease_while_the_handler_runs(stores: Callable[[], Store]) -> None:
    store, another = stores(), stores()
    store.enqueue(A, job())
    done = threading.Event()
    worker = Worker(store, A, {"count": lambda run: assert_true(done.wait(60))}, now, lease=timedelta(seconds=3))
    worker.start(stay=False)
    first = eventually(lambda: the(store).leased_until)
    # The lease that it was claimed with has lapsed, and nobody else gets the job.
    eventually(lambda: now() > first + timedelta(seconds=0.5))
    assert another.claim(A, "thief", ["count"], now(), MINUTE) is None
    assert the(store).leased_until > first
    done.set()
    assert worker.join()
    assert (the(store).state, the(store).attempts) == ("done", 1)


def assert_true(value: bool) -> None:
    assert value


def test_a_cancelled_job_ends_at_its_next_step(stores: Callable[[], Store]) -> None:
    store, another = stores(), stores()
    store.enqueue(A, job())
    began, after = threading.Event(), threading.Event()

    def handler(run: Run) -> None:
        began.set()
        for number in range(6000):
            run.step(number, 6000)
            time.sleep(0.01)
        after.set()

    worker = Worker(store, A, {"count": handler}, now, lease=timedelta(seconds=0.3))
    worker.start(stay=False)
    assert began.wait(60)
    assert another.cancel(A, job().id, now())
    assert worker.join()
    assert not after.is_set()
    assert (the(store).state, worker.done, worker.failed) == ("cancelled", 0, 0)


def test_told_to_stop_a_worker_ends_the_job_it_has_and_begins_no_other(store: Store) -> None:
    store.enqueue(A, job(1))
    store.enqueue(A, job(2))
    began, go_on = threading.Event(), threading.Event()

    def handler(run: Run) -> None:
        began.set()
        assert go_on.wait(60)
        run.step(1, 1)

    worker = Worker(store, A, {"count": handler}, now, idle=0.01)
    worker.start()
    assert began.wait(60)
    worker.stop()
    assert not worker.join(0.05)
    go_on.set()
    assert worker.join()
    assert [the(store, number).state for number in (1, 2)] == ["done", "queued"]
    assert the(store, 2).attempts == 0


def test_told_to_stop_at_once_a_worker_gives_the_job_back(store: Store) -> None:
    store.enqueue(A, job())
    began, go_on = threading.Event(), threading.Event()

    def handler(run: Run) -> None:
        began.set()
        assert go_on.wait(60)
        run.step(1, 2)

    worker = Worker(store, A, {"count": handler}, now)
    worker.start()
    assert began.wait(60)
    worker.stop(at_once=True)
    go_on.set()
    assert worker.join()
    back = the(store)
    assert (back.state, back.attempts, back.leased_by, back.progress) == ("queued", 0, "", {"done": 1, "total": 2})


def test_a_worker_whose_store_is_gone_says_so(store: Store, place: Places, clock: Clock) -> None:
    place.remove("store.db")
    worker = Worker(store, A, {"count": lambda run: None}, clock)
    worker.start(stay=False)
    with pytest.raises(StoreUnavailable):
        worker.join(60)


# -- several processes ------------------------------------------------------------------------------------------------

JOBS, WORKERS = 120, 4


def test_several_processes_do_every_job_once(store: Store, place: Places, tmp_path: Path) -> None:
    for number in range(JOBS):
        store.enqueue(A, job(number))
    log = tmp_path / "done"
    workers = [context.Process(target=do_jobs, args=(place(), log, A), daemon=True) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    said = lines(log)
    assert [line for line in said if line[0] == "error"] == []
    assert sorted(line[1] for line in said) == sorted(make(number, number) for number in range(JOBS))
    assert {one.attempts for one in store.jobs(A, ["done"], 2 * JOBS)} == {1}
    assert len(store.jobs(A, ["done"], 2 * JOBS)) == JOBS


def test_the_job_of_a_killed_worker_is_done_by_another(store: Store, place: Places, tmp_path: Path) -> None:
    store.enqueue(A, job())
    log = tmp_path / "begun"
    victim = context.Process(target=never_end_a_job, args=(place(), log, A), daemon=True)
    victim.start()
    eventually(lambda: lines(log))
    victim.kill()
    victim.join()
    held = the(store)
    assert (held.state, held.attempts) == ("running", 1)
    heir = Worker(store, A, {"count": lambda run: None}, now, lease=LEASE, idle=0.05)
    heir.start()
    eventually(lambda: the(store).state == "done")
    heir.stop()
    assert heir.join()
    assert the(store).attempts == 2


# -- the engine and the command line ----------------------------------------------------------------------------------


def test_a_new_model_is_embedded_in_the_background(opened: Opener) -> None:
    with opened(embedder="off") as before:
        kept = [before.remember(f"The service number {number} deploys on Thursdays.").id for number in range(3)]
        with pytest.raises(ModelUnavailable):
            before.embed_later()
    memory = opened()
    asked = memory.embed_later()
    assert asked.kind == "embed:hashing/1"
    assert memory.embed_later() == asked, "asked for twice, it is the same job"
    worker = memory.jobs.worker()
    worker.start(stay=False)
    worker.join()
    ended = memory.jobs.get(asked.id[-8:])
    assert (ended.state, ended.progress) == ("done", {"done": 3, "total": 3})
    assert memory._store.unembedded("default", "hashing/1", 9) == []
    assert memory._store.vectors("default", kept).keys() == set(kept)


def test_a_worker_with_another_model_leaves_the_job_to_others(opened: Opener) -> None:
    memory = opened()
    memory.remember("The service deploys on Thursdays.")
    memory._store.enqueue("default", job(kind="embed:another/1"))
    worker = memory.jobs.worker()
    worker.start(stay=False)
    worker.join()
    (waiting,) = memory.jobs.list(states=["queued"])
    assert (waiting.attempts, waiting.error) == (0, "")


def test_jobs_of_an_engine_are_checked(memory: recollect.Engine) -> None:
    with pytest.raises(BadInput, match="kind"):
        memory.jobs.add("fly", {})
    with pytest.raises(BadInput, match="state"):
        memory.jobs.list(states=["asleep"])
    with pytest.raises(BadInput, match="limit"):
        memory.jobs.list(limit=0)
    with pytest.raises(NotFound, match="recollect jobs"):
        memory.jobs.get("nothing")
    for number in range(9):
        memory.jobs.add("embed:hashing/1", {"number": number})
    ends = [one.id[-4:] for one in memory.jobs.list()]
    memory._store.enqueue("default", Job("f" * 22 + ends[0], "embed"))
    with pytest.raises(Ambiguous):
        memory.jobs.get(ends[0])
    called_off = memory.jobs.cancel(memory.jobs.list()[1].id)
    assert called_off.state == "cancelled"
    with pytest.raises(BadInput, match="cancelled"):
        memory.jobs.cancel(called_off.id)
    assert memory.jobs.retry(called_off.id).state == "queued"


def run(place: Places, *words: str, code: int = 0) -> str:
    environment = {"RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_STORE": place()}
    result = CliRunner(env=environment).invoke(cli, words)
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_line_shows_and_does_jobs(place: Places) -> None:
    assert run(place, "jobs").strip() == "No jobs."
    run(place, "remember", "We deploy on Thursdays.")
    asked = json.loads(run(place, "embed", "--later", "--json"))
    assert "embed:hashing/1  queued  not tried yet" in run(place, "jobs")
    assert "cancelled" in run(place, "jobs", "--cancel", asked["id"][-8:])
    assert "nothing was due" in run(place, "jobs", "--run")
    assert "cancelled" in run(place, "jobs", "--cancel", asked["id"], code=2)
    assert "queued" in run(place, "jobs", "--retry", asked["id"])
    assert json.loads(run(place, "jobs", "--run", "--json")) == {"done": 1, "failed": 0}
    assert "done  attempt 1 of 5" in run(place, "jobs", "--state", "done")
    assert json.loads(run(place, "jobs", "--state", "failed", "--json")) == []
    assert "--stay goes with --run" in run(place, "jobs", "--stay", code=2)
    assert "No job has the id" in run(place, "jobs", "--retry", "zzzzzzzz", code=3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_stays_does_what_comes_and_leaves_when_asked(
    opened: Opener, place: Places, number: signal.Signals
) -> None:
    memory = opened(embedder="off", now=now)
    memory.remember("We deploy on Thursdays.")
    environment = os.environ | {"RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_STORE": place()}
    command = [sys.executable, "-m", "recollect", "jobs", "--run", "--stay"]
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        asked = job(kind="embed:hashing/1")
        memory._store.enqueue("default", asked)
        eventually(lambda: memory.jobs.get(asked.id).state == "done")
        worker.send_signal(number)
        out, err = worker.communicate(timeout=60)
    finally:
        worker.kill()
    assert (worker.returncode, err) == (0, "")
    assert "1 job done" in out
