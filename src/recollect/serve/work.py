"""What the daemon does by itself: load the model, take in the spool, give vectors to what has none, and do jobs.

Each round is short and each piece of work can be broken off between two steps, so that a stop never waits long; what is
not done then is done by the next daemon, because everything that is to be done can be told from the store and the
spool. A piece of work that fails is logged with its traceback and tried again in the next round: it must not take the
others down with it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ..engine import Engine
from . import hooks

EVERY = 2.0  # seconds between two rounds
VISIT = 5  # rounds between two looks for jobs of other tenants
LOOK = 300  # rounds between two looks for memories without a vector, which somebody else may have written
log = logging.getLogger("recollect.work")


class Stopped(Exception):
    """Raised inside a piece of work that is to be broken off."""


class Work:
    """The thread; `stop` ends it after the step it is in."""

    def __init__(self, engine: Engine, home: Path, stopping: threading.Event) -> None:
        self._engine = engine
        self._home = home
        self._stopping = stopping
        self._seen = -1  # the newest change when vectors were last looked for
        self._worker = engine.jobs.worker()
        self._thread = threading.Thread(target=self._rounds, name="recollect-work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float) -> bool:
        """End it, if it ever began; says whether it ended in time."""
        self._stopping.set()
        self._worker.stop()
        if self._thread.ident is not None:
            self._thread.join(patience)
        if not self._worker.join(patience):  # what it was at is released, and done by the next daemon
            self._worker.stop(at_once=True)
        return self._worker.join(patience) and not self._thread.is_alive()

    def _rounds(self) -> None:
        # First of all, and in a thread of its own: whatever writes waits for the model, and whoever asks must not.
        loading = self._engine.warm()
        self._attempt("spool", self._take_in)
        loading.join()
        if not self._stopping.is_set():
            self._worker.start()
        for number in count():
            if number % LOOK == 0:
                self._attempt("vectors", self._embed)
            if self._stopping.wait(EVERY):
                return
            self._attempt("spool", self._take_in)
            if number % VISIT == 0:
                self._attempt("neighbours", self._neighbours)

    def _attempt(self, name: str, piece: Callable[[], None]) -> None:
        if self._stopping.is_set():
            return
        try:
            piece()
        except Stopped:
            log.info("broken off, to be continued by the next start", extra={"fields": {"work": name}})
        except Exception:
            log.exception("this piece of work failed", extra={"fields": {"work": name}})

    def _take_in(self) -> None:
        if taken := hooks.take_in(self._engine, self._home):
            log.info("taken in from the spool", extra={"fields": {"turns": taken}})

    def _neighbours(self) -> None:
        """The jobs of the other tenants of this store, one tenant after the other, until none is due."""
        for engine in self._engine.neighbours():
            if not engine.jobs.list(states=("queued", "running"), limit=1):
                continue
            worker = engine.jobs.worker()
            worker.start(stay=False)
            while not worker.join(EVERY):
                if self._stopping.is_set():  # what it is at is released, and done by the next daemon
                    worker.stop(at_once=True)

    def _embed(self) -> None:
        """What was written while no model could be had, or by somebody who had none."""

        def step(done: int, total: int) -> None:
            if self._stopping.is_set():
                raise Stopped

        if (head := self._engine.head) == self._seen:
            return
        done, self._seen = self._engine.embed(progress=step), head
        if done:
            log.info("given vectors", extra={"fields": {"memories": done}})
