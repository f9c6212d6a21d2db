"""Processes that write to one store, for the tests of crashes and of concurrency. They report through a plain file."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

import recollect

context = multiprocessing.get_context("forkserver")
# Everything a process of ours may need: one that has become nobody cannot read Python's own files any more.
context.set_forkserver_preload(
    ["recollect.engine", "recollect.models.hashing", "recollect.store.index", "recollect.store.sqlite",
     "recollect.store.postgres"]
)  # fmt: skip


def acknowledge(log: int, line: str) -> None:
    os.write(log, f"{line}\n".encode())


def write_for_ever(place: str, log_path: Path, seed: int) -> None:
    """Create, edit, forget and purge until killed; each line of the log is a change that was acknowledged."""
    chance = random.Random(seed)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    memory = recollect.open(place, embedder="hashing", actor=f"writer {seed}")
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


def write_some(place: str, log_path: Path, seed: int, count: int, embedder: str = "hashing") -> None:
    """Write `count` memories one by one, recalling another writer's words now and then."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with recollect.open(place, embedder=embedder, actor=f"writer {seed}") as memory:
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


def write_until(place: str, log_path: Path, seed: int, stop: Path) -> None:
    """Write until a file appears, whatever happens to the server; the log tells apart what landed and what failed."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with recollect.open(place, embedder="hashing", actor=f"writer {seed}") as memory:
            number = 0
            while not stop.exists():
                number += 1
                try:
                    result = memory.remember(f"writer{seed} goes on with number {number}")
                    acknowledge(log, f"created {result.id}")
                except recollect.RecollectError as error:
                    acknowledge(log, f"failed {error.code}")
    except Exception as error:  # noqa: BLE001 - whatever happens in a writer is the test's finding
        acknowledge(log, f"error {type(error).__name__}: {error}")


def watch(watcher: recollect.Engine, log_path: Path, writers: Sequence[BaseProcess]) -> int:
    """While they write: whatever was acknowledged before we ask must be in our very next answer. How much that was."""
    seen = 0
    while any(writer.is_alive() for writer in writers):
        acknowledged = [line[1] for line in lines(log_path) if line[0] == "created"]
        if len(acknowledged) > seen:
            newest = watcher.get(acknowledged[-1])
            assert newest.id in {hit.memory.id for hit in watcher.recall(newest.content, limit=20)}
            seen = len(acknowledged)
        time.sleep(0.02)
    return seen


def read_until(place: str, log_path: Path, seed: int, stop: Path) -> None:
    """Ask until a file appears; each line of the log is a round of questions."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with recollect.open(place, embedder="hashing", actor=f"reader {seed}") as memory:
            while not stop.exists():
                found = memory.recall(f"writer{seed} note of subject{seed % 7}", limit=20)
                listed = memory.list(limit=20).memories
                for one in (*(hit.memory for hit in found.hits[:3]), *listed[:3]):
                    assert memory.get(one.id).content == one.content
                acknowledge(log, f"read {len(found)}")
                time.sleep(0.3)  # a reader reads what it found, and leaves the machine to the writers meanwhile
    except Exception as error:  # noqa: BLE001 - whatever happens in a reader is the test's finding
        acknowledge(log, f"error {type(error).__name__}: {error}")


def stay_in_a_transaction(place: str, log_path: Path) -> None:
    """Change things under the write lock, say so, and never come to the end."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    memory = recollect.open(place, embedder="hashing", actor="sleeper")
    with memory._store.transaction("default", "sleeper", memory._now()) as changes:
        changes.put(recollect.Source("0" * 26, uri="never"), "create")
        changes.note("try", "never", "never")
        acknowledge(log, "inside")
        time.sleep(3600)


def open_and_write(place: str, log_path: Path, seed: int, together: Barrier) -> None:
    """Open a store in the same moment as others do, and write one memory."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    together.wait()
    try:
        with recollect.open(place, embedder="hashing", actor=f"writer {seed}") as memory:
            acknowledge(log, f"created {memory.remember(f'The first words of writer {seed}.').id}")
    except Exception as error:  # noqa: BLE001 - whatever happens in a writer is the test's finding
        acknowledge(log, f"error {type(error).__name__}: {error}")


def write_one(place: str, content: str) -> None:
    with recollect.open(place, embedder="off", actor="neighbour") as memory:
        memory.remember(content)
