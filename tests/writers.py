"""Processes that write to one store, for the tests of crashes and of concurrency. They report through a plain file."""

from __future__ import annotations

import multiprocessing
import os
import random
from pathlib import Path

import recollect

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["recollect", "recollect.models.hashing", "recollect.store.index"])


def acknowledge(log: int, line: str) -> None:
    os.write(log, f"{line}\n".encode())


def write_for_ever(path: Path, log_path: Path, seed: int) -> None:
    """Create, edit, forget and purge until killed; each line of the log is a change that was acknowledged."""
    chance = random.Random(seed)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    memory = recollect.open(path, embedder="hashing", actor=f"writer {seed}")
    mine: list[str] = []
    for number in range(1_000_000):
        action = chance.random()
        if action < 0.7 or not mine:
            result = memory.remember(f"writer {seed} says {number} about {chance.random()}", tags=["crash"])
            mine.append(result.id)
            acknowledge(log, f"created {result.id}")
        elif action < 0.85:
            edited = chance.choice(mine)
            memory.edit(edited, content=f"writer {seed} corrects {edited} at {number}")
            acknowledge(log, f"edited {edited} {number}")
        elif action < 0.95:
            drafts = [recollect.Draft(f"writer {seed} batch {number} line {n} {chance.random()}") for n in range(5)]
            for result in memory.remember_many(drafts):
                mine.append(result.id)
                acknowledge(log, f"created {result.id}")
        else:
            purged = mine.pop(chance.randrange(len(mine)))
            acknowledge(log, f"purging {purged}")
            memory.forget(purged, purge=True)


def write_some(path: Path, log_path: Path, seed: int, count: int) -> None:
    """Write `count` memories one by one, recalling another writer's words now and then."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with recollect.open(path, embedder="hashing", actor=f"writer {seed}") as memory:
            for number in range(count):
                result = memory.remember(f"writer{seed} note number {number} of subject{number % 7}")
                acknowledge(log, f"created {result.id}")
                if number % 50 == 0:
                    own = f"writer{seed} note number {number} of subject{number % 7}"
                    if result.id not in {hit.memory.id for hit in memory.recall(own, limit=20)}:
                        acknowledge(log, f"error own write not seen {own}")
    except Exception as error:  # noqa: BLE001 - whatever happens in a writer is the test's finding
        acknowledge(log, f"error {type(error).__name__}: {error}")


def write_as_nobody(path: Path, log_path: Path) -> None:
    """Open a store and write to it as a user who may not; the log says how that ended."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.environ["RECOLLECT_HOME"] = "/nonexistent"
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        with recollect.open(path, embedder="off") as memory:
            memory.remember("Another fact.")
        acknowledge(log, "written")
    except recollect.RecollectError as error:
        acknowledge(log, error.code)


def lines(log_path: Path) -> list[list[str]]:
    """The whole lines of a log: a process killed while it wrote may leave half a line behind."""
    text = log_path.read_text() if log_path.exists() else ""
    return [line.split(" ", 2) for line in text[: text.rfind("\n") + 1].splitlines()]
