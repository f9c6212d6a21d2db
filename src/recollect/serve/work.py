"""What the daemon does by itself: load the model, read the spool, follow repositories, compute vectors, renew core
answers, schedule the janitor, measure the index, and run jobs.

Each piece can be interrupted between two steps, and the next daemon continues it. A piece that fails is logged and
tried again in the next round.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

from ..agents.places import Places
from ..engine import Engine
from ..errors import GitUnavailable, NoRepository, ProviderUnavailable
from ..ops import hooks
from ..project.bank import Bank, BankWriter, bank, import_changed
from ..project.journal import DailyLog
from ..project.refresh import Refreshed, counts, refresh
from ..project.watch import Watcher, watched_folders

EVERY = 2.0  # seconds between two rounds
STEP = 0.1  # seconds between two looks whether the model is loaded
SOME = 50  # jobs of another tenant that are looked at for one that is due
VISIT = 5  # rounds between two looks for jobs of other tenants
FOLLOW = 30  # rounds between two looks at the repositories that are worked in
TEND = 30  # rounds between two looks whether a run of the janitor waits
LOOK = 300  # rounds between two looks for memories without a vector, which somebody else may have written
LOOK_AT_ANSWERS = 15  # rounds between two looks for core answers that no longer hold
log = logging.getLogger("recollect.work")


class Stopped(Exception):
    """Raised inside a piece of work that is to be broken off."""


class Work:
    """The thread; `stop` ends it after the step it is in."""

    def __init__(self, engine: Engine, home: Path, stopping: threading.Event) -> None:
        self._engine = engine
        self._home = home
        self._stopping = stopping
        self._extracted: dict[str, int] = {}  # the newest change of each tenant when entities were last looked for
        self._observed: dict[str, int] = {}  # the same for summaries of entities
        self._seen = -1  # the newest change when vectors were last looked for
        self._written = -1  # the newest change when the files beside the store were last written
        # The newest change when core answers were last looked at, and those that no longer held.
        self._answered: tuple[int, frozenset[str]] = -1, frozenset()
        self._worker = engine.jobs.worker()
        self._watching = threading.Thread(target=self._watch, name="recollect-watch", daemon=True)
        self._thread = threading.Thread(target=self._rounds, name="recollect-work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float) -> bool:
        """End it, if it ever began; says whether it ended in time."""
        self._stopping.set()
        self._worker.stop()
        if self._thread.ident is not None:
            self._thread.join(patience)
        if self._watching.ident is not None:
            self._watching.join(patience)
        if not self._worker.join(patience):  # what it was at is released, and done by the next daemon
            self._worker.stop(at_once=True)
        return self._worker.join(patience) and not self._thread.is_alive() and not self._watching.is_alive()

    def _rounds(self) -> None:
        # First of all, and in a thread of its own: whatever writes waits for the model, and whoever asks must not.
        loading = self._engine.warm()
        self._attempt("spool", self._take_in)
        while loading.is_alive() and not self._stopping.is_set():
            loading.join(STEP)
        if not self._stopping.is_set():
            self._worker.start()
            self._watching.start()
        for number in count():
            if number % TEND == 0:
                self._attempt("janitor", self._schedule)
            if number % LOOK == 0:
                self._attempt("vectors", self._embed)
            if number and number % LOOK == 0:  # not at the start, when others wait
                self._attempt("health", self._measure)
            if number % LOOK_AT_ANSWERS == LOOK_AT_ANSWERS - 1:
                self._attempt("answers", self._renew)
                self._attempt("observations", self._observe)
            if self._stopping.wait(EVERY):
                return
            self._attempt("spool", self._take_in)
            self._attempt("entities", self._extract)
            if number % VISIT == 0:
                self._attempt("other_tenants", self._other_tenants)
            self._attempt("files", self._write)
            if number % FOLLOW == 0:
                self._attempt("bank", self._learn)
                self._attempt("repositories", self._follow)

    def _attempt(self, name: str, piece: Callable[[], object]) -> None:
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

    def _other_tenants(self) -> None:
        """The jobs of the other tenants of this store, one tenant after the other, until none is due."""
        for engine in self._engine.other_tenants():
            jobs = engine.jobs.list(states=("queued", "running"), limit=SOME)
            if len(jobs) < SOME and not any(job.run_at <= datetime.now(UTC) for job in jobs):
                continue
            worker = engine.jobs.worker()
            worker.start(stay=False)
            while not worker.join(EVERY):
                if self._stopping.is_set():  # what it is at is released, and done by the next daemon
                    worker.stop(at_once=True)

    def _follow(self) -> None:
        """Commits and branches that no hook told of; where nothing moved, nothing is done."""
        for project, folders in Places(self._engine.settings).projects().items():
            for folder in folders:
                if self._stopping.is_set():
                    raise Stopped
                try:
                    done = refresh(self._engine, folder, project)
                except (NoRepository, GitUnavailable) as error:  # no repository any more, or no git on this machine
                    log.debug("not followed: %s", error, extra={"fields": {"folder": str(folder)}})
                    continue
                if done != Refreshed(project):
                    log.info("kept up with a repository", extra={"fields": counts(done)})

    def _renew(self) -> None:
        """Have core answers computed again that no longer hold, before somebody asks."""
        ended = self._engine.head, frozenset(one.id for one in self._engine.answers.ended())
        if ended[1] and ended != self._answered:  # by the clock or a file, too, and not again what cannot be answered
            self._engine.jobs.add("answers")
        self._answered = ended

    def _embed(self) -> None:
        """What was written while no model could be had, or by somebody who had none."""

        def step(done: int, total: int) -> None:
            if self._stopping.is_set():
                raise Stopped

        if (head := self._engine.head) == self._seen:
            return
        try:
            done, self._seen = self._engine.embed(progress=step, change="new"), head
        except ProviderUnavailable as error:  # what is done is kept, and the next look goes on
            log.warning("giving vectors pauses", extra={"fields": {"why": str(error)}})
            return
        if done:
            log.info("given vectors", extra={"fields": {"memories": done}})

    def _extract(self) -> None:
        """Have the entities of new memories read, of every tenant whose journal has moved."""
        for engine in (self._engine, *self._engine.other_tenants()):
            if (head := engine.head) != self._extracted.get(engine.tenant):
                if engine.has_unread():
                    engine.jobs.add("entities")
                self._extracted[engine.tenant] = head

    def _observe(self) -> None:
        """Have summaries of entities made anew, of every tenant whose journal has moved."""
        for engine in (self._engine, *self._engine.other_tenants()):
            if (head := engine.head) != self._observed.get(engine.tenant):
                engine.jobs.add("observations")
                self._observed[engine.tenant] = head

    def _schedule(self) -> None:
        """One run of the janitor waits for each tenant; the worker makes it when it is due."""
        hours = self._engine.settings.janitor_hours
        for engine in (self._engine, *self._engine.other_tenants()) if hours else ():
            if engine.head:  # a tenant that has nothing yet is left without a job, too
                engine.janitor.schedule(hours)

    def _measure(self) -> None:
        """The recall of each tenant's index, when the last measurement is old."""
        hours = self._engine.settings.health_hours
        if not hours or not self._engine.model()[0]:
            return
        for engine in (self._engine, *self._engine.other_tenants()):
            if not self._stopping.is_set() and engine.health.due(hours):
                found = engine.health.run()
                log.info("recall measured", extra={"fields": {"status": found.status, **found.recall}})

    def _learn(self) -> None:
        """Knowledge banks are taken in when their files changed: one's own, and the projects'."""
        settings = self._engine.settings
        places = [
            bank(settings, folder, project)
            for project, folders in Places(settings).projects().items()
            for folder in folders
        ]
        for place in (Bank(settings.bank_path), *(place for place in places if place.local)):
            if (done := import_changed(self._engine, place)) and (done.created or done.edited):
                log.info(
                    "taken in from the knowledge bank", extra={"fields": {"learnings": done.created + done.edited}}
                )

    def _write(self) -> None:
        """The trail of what is learnt, and the daily log."""
        if (head := self._engine.head) == self._written:
            return
        settings = self._engine.settings
        BankWriter(self._engine).run()
        if settings.daily_log:
            DailyLog(self._engine, Path(settings.daily_log).expanduser()).run()
        self._written = head

    def _watch(self) -> None:
        """The folders of the setting `watch`, in a thread of their own, because reading them may take long."""
        folders = watched_folders(self._engine.settings)
        there = [folder for folder in folders if folder.is_dir()]
        for folder in folders:
            if folder not in there:
                log.warning("there is no folder to watch", extra={"fields": {"folder": str(folder)}})
        if there:
            watcher = Watcher(self._engine, there, said=log.warning)
            self._attempt("watch", partial(watcher.run, self._stopping))
