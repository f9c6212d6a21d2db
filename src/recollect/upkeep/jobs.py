"""Jobs: background work that survives the process which requested it.

A worker claims one job and renews its lease while the handler runs; if it dies, another takes over, so a handler must
be able to resume. A failed attempt is retried with exponential backoff, an error that no retry can fix fails at once,
and a spent budget postpones the job.
"""

from __future__ import annotations

import hashlib
import logging
import os
import random
import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from .. import ids
from ..checks import one_of
from ..errors import Ambiguous, BadInput, BudgetSpent, NotFound, Refused, StoreUnavailable
from ..store.contract import Store
from ..store.rows import to_json
from ..types import JOB_STATES, Job

LEASE = timedelta(seconds=60)
IDLE = 2.0  # seconds between two looks for work
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(hours=1)
HOPELESS = (BadInput, NotFound, Refused)  # trying again changes nothing
MAX_ERROR = 1000  # characters of an error that are kept
LISTED = 1000  # jobs among which a shortened id is looked for
log = logging.getLogger("recollect")


def backoff(attempt: int, chance: float) -> timedelta:
    """How long to wait after an attempt: what failed together must not come back together.

    >>> [backoff(attempt, 0.0).total_seconds() for attempt in (1, 2, 3, 50)]
    [5.0, 10.0, 20.0, 3600.0]
    >>> backoff(2, 1.0).total_seconds()
    5.0
    """
    whole = min(FIRST_WAIT * (1 << min(attempt - 1, 20)), LONGEST_WAIT)
    return whole * (1 - chance / 2)


def retry_time(job: Job, error: Exception, now: datetime, chance: float) -> datetime | None:
    """When to try a job again that failed with an error, or None for never.

    >>> from recollect.times import EPOCH
    >>> str(retry_time(Job("1", "embed", attempts=1), OSError(), EPOCH, 0.0) - EPOCH)
    '0:00:05'
    >>> retry_time(Job("1", "embed", attempts=5), OSError(), EPOCH, 0.0)  # no attempt is left
    >>> retry_time(Job("1", "embed", attempts=1), BadInput("no"), EPOCH, 0.0)  # and here none would help
    """
    if isinstance(error, HOPELESS) or job.attempts >= job.max_attempts:
        return None
    return now + backoff(job.attempts, chance)


class Interrupted(Exception):
    """Raised in a handler whose attempt must end: the job is no longer its own, or the worker stops now."""


class Run:
    """One attempt at a job, as its handler sees it."""

    def __init__(self, job: Job, at_once: threading.Event) -> None:
        self.job = job
        self.lost = threading.Event()
        self.progress: dict[str, Any] | None = None
        self._at_once = at_once

    def step(self, done: int, total: int) -> None:
        """Tell how far the work is; the place where it may be interrupted, so nothing may be half done here."""
        self.progress = {"done": done, "total": total}
        if self.lost.is_set() or self._at_once.is_set():
            raise Interrupted


Handler = Callable[[Run], object]


class Worker:
    """Does jobs of the kinds it has handlers for, one after the other, in a thread of its own."""

    def __init__(
        self, store: Store, tenant: str, handlers: Mapping[str, Handler], now: Callable[[], datetime], *,
        lease: timedelta = LEASE, idle: float = IDLE,
    ) -> None:  # fmt: skip
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.done = self.failed = 0
        self._store = store
        self._tenant = tenant
        self._handlers = handlers
        self._now = now
        self._lease = lease
        self._idle = idle
        self._stopping = threading.Event()
        self._at_once = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def start(self, *, stay: bool = True) -> None:
        """Begin; with `stay`, wait for more when nothing is due, else end then."""
        self._thread = threading.Thread(target=self._work, args=(stay,), name="recollect-worker", daemon=True)
        self._thread.start()

    def stop(self, *, at_once: bool = False) -> None:
        """Take no more jobs; with `at_once`, also leave off the one that runs."""
        self._stopping.set()
        if at_once:
            self._at_once.set()

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the end, and tell whether it came; the error that ended a worker is raised here."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def _work(self, stay: bool) -> None:
        while not self._stopping.is_set():
            try:
                worked = self._one()
            except Exception as error:  # raised by `join`; a worker that stays must not die of it
                if not stay:
                    self._error = error
                    return
                log.warning("a worker could not get at its jobs and will look again: %s", error, exc_info=error)
                worked = False
            if not worked and not stay:
                return
            if not worked:
                self._stopping.wait(self._idle * random.uniform(0.5, 1.5))

    def _one(self) -> bool:
        """Do one job; False when none is due."""
        job = self._store.claim(self._tenant, self.name, list(self._handlers), self._now(), self._lease)
        if job is None:
            return False
        run = Run(job, self._at_once)
        try:
            # Told to stop while it claimed, the worker gives back what it has not begun.
            held = self._settle(run, Interrupted() if self._stopping.is_set() else self._handle(run))
        except StoreUnavailable as unavailable:
            log.warning("how job %s ended could not be written, it will be done again: %s", job.id, unavailable)
        else:
            if not held:
                log.warning("job %s was cancelled or taken over while it ran", job.id)
        return True

    def _handle(self, run: Run) -> Exception | None:
        """Run the handler under the lease; what it raised."""
        ended = threading.Event()
        heart = threading.Thread(target=self._hold, args=(run, ended), name="recollect-lease", daemon=True)
        heart.start()
        try:
            self._handlers[run.job.kind](run)
        except Exception as error:  # noqa: BLE001 - whatever ends an attempt is written down with the job
            return error
        finally:
            ended.set()
            heart.join()
        return None

    def _hold(self, run: Run, ended: threading.Event) -> None:
        """Renew the lease until the attempt has ended or the job is another's."""
        while not ended.wait(self._lease.total_seconds() / 3):
            try:
                until = self._now() + self._lease
                if not self._store.renew(self._tenant, run.job.id, self.name, until, run.progress):
                    run.lost.set()
                    return
            except StoreUnavailable as error:
                log.warning("the lease of job %s could not be renewed yet: %s", run.job.id, error)

    def _settle(self, run: Run, error: Exception | None) -> bool:
        """Write down how an attempt ended; False when the job was no longer ours."""
        job, now = run.job, self._now()
        if run.progress is not None:
            self._store.renew(self._tenant, job.id, self.name, now + self._lease, run.progress)
        if error is None:
            held = self._store.finish(self._tenant, job.id, self.name, now)
            self.done += held
            return held
        if isinstance(error, Interrupted):
            return self._store.release(self._tenant, job.id, self.name, now)
        if isinstance(error, BudgetSpent):  # no failure of the job, and no attempt
            log.warning("job %s (%s) waits: %s", job.id, job.kind, error)
            return self._store.release(self._tenant, job.id, self.name, max(now, error.until))
        self.failed += 1
        retry_at = retry_time(job, error, now, random.random())
        after = "will be tried again" if retry_at else "failed for good"
        log.warning("job %s (%s) %s: %s", job.id, job.kind, after, error, exc_info=error)
        words = f"{type(error).__name__}: {error}"[:MAX_ERROR]
        return self._store.fail(self._tenant, job.id, self.name, words, retry_at, now)


class Jobs:
    """The jobs of a tenant: seen, added, called off, tried again, and done."""

    def __init__(
        self, store: Store, tenant: str, now: Callable[[], datetime], handlers: Callable[[], Mapping[str, Handler]]
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._handlers = handlers

    def list(self, *, states: Sequence[str] = (), limit: int = 50) -> tuple[Job, ...]:
        """Jobs, newest first."""
        for state in states:
            one_of(state, JOB_STATES, "state")
        if not isinstance(limit, int) or limit < 1:
            raise BadInput(f"limit must be a whole number above zero, not {limit!r}.")
        return tuple(self._store.jobs(self._tenant, states, limit))

    def get(self, id: str) -> Job:
        """One job, by its id or the last characters of it."""
        wanted = id.strip().lower() if isinstance(id, str) else ""
        found = self._store.of(self._tenant, Job, [wanted])
        if not found and len(wanted) >= 4:
            found = [job for job in self._store.jobs(self._tenant, (), LISTED) if job.id.endswith(wanted)]
        if len(found) > 1:
            raise Ambiguous(f"{wanted!r} is the end of several ids: {', '.join(job.id for job in found[:3])}.")
        if not found:
            raise NotFound(f"No job has the id {id!r}.", fix="List ids with: recollect jobs")
        return found[0]

    def add(self, kind: str, payload: dict[str, Any] | None = None) -> Job:
        """Ask for work, and give the job that will do it.

        Asked again before it is done, or before anything was learnt since, it is the same job: several processes that
        find the same thing to do ask for it once.
        """
        one_of(kind, tuple(self._handlers()), "kind")
        payload = payload or {}
        for job in self._store.jobs(self._tenant, ("queued", "running"), LISTED):
            if (job.kind, job.payload) == (kind, payload):
                return job
        now = self._now()
        same = f"{kind} {to_json(payload)} {self._store.head(self._tenant)}"
        id = hashlib.sha256(same.encode()).hexdigest()[: ids.LENGTH]
        self._store.enqueue(self._tenant, Job(id, kind, payload, run_at=now, created_at=now))
        return self.get(id)

    def cancel(self, id: str) -> Job:
        """Call a job off; one that runs ends at its next step."""
        job = self.get(id)
        if not self._store.cancel(self._tenant, job.id, self._now()):
            raise BadInput(f"Job {job.id} is {self.get(job.id).state}; only one that waits or runs can be cancelled.")
        return self.get(job.id)

    def retry(self, id: str) -> Job:
        """Queue a job again, due now."""
        job = self.get(id)
        if not self._store.retry(self._tenant, job.id, self._now()):
            raise BadInput(f"Job {job.id} is {self.get(job.id).state}; there is nothing to try again.")
        return self.get(job.id)

    def worker(self, *, lease: timedelta = LEASE, idle: float = IDLE) -> Worker:
        return Worker(self._store, self._tenant, self._handlers(), self._now, lease=lease, idle=idle)
