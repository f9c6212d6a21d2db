"""Processes that do jobs or copy stores, for the tests that kill them. They report through a plain file."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect
from recollect.store import copy, open_store
from recollect.store.contract import Store
from recollect.upkeep.jobs import Run, Worker
from writers import acknowledge

LEASE = timedelta(seconds=2)


def now() -> datetime:
    return datetime.now(UTC)


def do_jobs(place: str, log_path: Path, tenant: str) -> None:
    """Do every job that is due; each line of the log is one that was done."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def count(run: Run) -> None:
        acknowledge(log, f"did {run.job.id}")

    store = open_store(place, 30, now())
    try:
        worker = Worker(store, tenant, {"count": count}, now, lease=timedelta(seconds=60))
        worker.start(stay=False)
        worker.join()
    except Exception as error:  # noqa: BLE001 - whatever happens in a worker is the test's finding
        acknowledge(log, f"error {type(error).__name__}: {error}")
    finally:
        store.close()


def never_end_a_job(place: str, log_path: Path, tenant: str) -> None:
    """Begin a job, say so, and hold it until killed."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hold(run: Run) -> None:
        acknowledge(log, f"began {run.job.id}")
        time.sleep(3600)

    worker = Worker(open_store(place, 30, now()), tenant, {"count": hold}, now, lease=LEASE)
    worker.start()
    worker.join()


def copy_slowly(source: str, target: str, log_path: Path) -> None:
    """Copy a store in small steps; each line of the log is a step that was committed."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    copy.BATCH = 3
    stores: list[Store] = [open_store(place, 30, now()) for place in (source, target)]

    def step(done: int, total: int) -> None:
        acknowledge(log, f"step {done} {total}")
        time.sleep(0.05)

    copy.copy(stores[0], stores[1], step)


def change_model(place: str, log_path: Path, model: str) -> None:
    """Give every memory a vector of another model; each line of the log is a batch that was kept."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def step(done: int, total: int) -> None:
        acknowledge(log, f"step {done} {total}")
        time.sleep(0.02)

    with recollect.open(place, embedder=model, actor="changer") as memory:
        memory.embed(progress=step)
    acknowledge(log, "done 0 0")
