"""The jobs of every store: durable work with a lease.

A job is claimed by one worker at a time, in one statement. From `claim` on it is the worker's until another claims it
after its lease has lapsed, or a person cancels it; then the worker can neither renew nor end it, and is told so by
False.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from .. import times
from ..types import Job, Kept
from .backend import Backend
from .rows import columns, from_row, to_json, to_row
from .statements import NOUN

N = TypeVar("N", bound=Kept)

LAPSED = "the worker stopped without a word"
COLUMNS = ", ".join(columns(Job))
ENQUEUE = f"""
    insert into job (tenant, {COLUMNS}) values (:tenant, {", ".join(f":{name}" for name in columns(Job))})
    on conflict (tenant, id) do nothing returning id"""
RESTORE = ENQUEUE.replace(
    "do nothing", f"do update set {', '.join(f'{name} = excluded.{name}' for name in columns(Job) if name != 'id')}"
)
DUE = """
    tenant = :tenant and state in ('queued', 'running') and run_at <= :now
    and (state = 'queued' or leased_until <= :now) and kind {kinds}"""
IS_DUE = f"select {COLUMNS} from job where {DUE} limit 1"
FAIL_LAPSED = f"""
    update job set state = 'failed', error = :error, finished_at = :now, leased_by = '', leased_until = null
    where {DUE} and state = 'running' and attempts >= max_attempts returning id"""
CLAIM = f"""
    update job set state = 'running', attempts = attempts + 1, leased_by = :worker, leased_until = :until
    where tenant = :tenant and id = (select id from job where {DUE} order by run_at, id limit 1 {{lock}})
    returning {COLUMNS}"""
HELD = "where tenant = :tenant and id = :id and state = 'running' and leased_by = :worker returning id"
RENEW = f"update job set leased_until = :until {HELD}"
RENEW_WITH = f"update job set leased_until = :until, progress = :progress {HELD}"
FINISH = f"""
    update job set state = 'done', error = '', finished_at = :now, leased_by = '', leased_until = null {HELD}"""
FAIL = f"""
    update job set state = 'failed', error = :error, finished_at = :now, leased_by = '', leased_until = null {HELD}"""
POSTPONE = f"""
    update job set state = 'queued', error = :error, run_at = :at, leased_by = '', leased_until = null {HELD}"""
RELEASE = f"""
    update job set state = 'queued', attempts = attempts - 1, run_at = :now, leased_by = '', leased_until = null
    {HELD}"""
CANCEL = """
    update job set state = 'cancelled', finished_at = :now, leased_by = '', leased_until = null
    where tenant = :tenant and id = :id and state in ('queued', 'running') returning id"""
RETRY = """
    update job set state = 'queued', attempts = 0, run_at = :now, finished_at = null
    where tenant = :tenant and id = :id and state in ('queued', 'failed', 'cancelled') returning id"""


class Jobs(Backend):
    """The part of a store that keeps jobs."""

    LOCK: ClassVar[str] = ""  # what makes the look for a job pass by those that others are taking

    def enqueue(self, tenant: str, job: Job) -> bool:
        """Add a job; False, and nothing changes, when there is one of that id."""
        return self._did(tenant, ENQUEUE, **to_row(job))

    def restore_jobs(self, tenant: str, jobs: Sequence[Job]) -> None:
        """Set jobs as they stand here (a copy of another store)."""
        self._alter(tenant, RESTORE, [{"tenant": tenant, **to_row(job)} for job in jobs])

    def claim(self, tenant: str, worker: str, kinds: Sequence[str], now: datetime, lease: timedelta) -> Job | None:
        """Take the job of these kinds that has been due longest: one that is queued, or whose worker's lease lapsed.

        Nobody else gets it before `now + lease`. A job whose last attempt lapsed fails instead.
        """
        if not kinds:
            return None
        values: dict[str, Any] = {"now": times.micros(now)}
        listed = self._among("kinds", kinds, values)
        # Looking costs no lock; a worker that finds nothing to do disturbs nobody.
        if not self._select(Job, columns(Job), IS_DUE.format(kinds=listed), tenant=tenant, **values):
            return None
        self._did(tenant, FAIL_LAPSED.format(kinds=listed), error=LAPSED, **values)
        own = {**values, "tenant": tenant, "worker": worker, "until": times.micros(now + lease)}
        rows = self._alter(tenant, CLAIM.format(kinds=listed, lock=self.LOCK), [own])
        return from_row(Job, columns(Job), rows[0]) if rows else None

    def renew(self, tenant: str, id: str, worker: str, until: datetime, progress: dict[str, Any] | None = None) -> bool:
        values = {"id": id, "worker": worker, "until": times.micros(until)}
        if progress is None:
            return self._did(tenant, RENEW, **values)
        return self._did(tenant, RENEW_WITH, progress=to_json(progress), **values)

    def finish(self, tenant: str, id: str, worker: str, now: datetime) -> bool:
        return self._did(tenant, FINISH, id=id, worker=worker, now=times.micros(now))

    def fail(self, tenant: str, id: str, worker: str, error: str, retry_at: datetime | None, now: datetime) -> bool:
        """End an attempt with an error: to be tried again then, or failed for good."""
        if retry_at is None:
            return self._did(tenant, FAIL, id=id, worker=worker, error=error, now=times.micros(now))
        return self._did(tenant, POSTPONE, id=id, worker=worker, error=error, at=times.micros(retry_at))

    def release(self, tenant: str, id: str, worker: str, now: datetime) -> bool:
        """Give a job back; the attempt does not count."""
        return self._did(tenant, RELEASE, id=id, worker=worker, now=times.micros(now))

    def cancel(self, tenant: str, id: str, now: datetime) -> bool:
        """Call off a job that is queued or running; False when it is neither."""
        return self._did(tenant, CANCEL, id=id, now=times.micros(now))

    def retry(self, tenant: str, id: str, now: datetime) -> bool:
        """Queue a job again that is waiting, failed or was cancelled, with all its attempts before it."""
        return self._did(tenant, RETRY, id=id, now=times.micros(now))

    def jobs(self, tenant: str, states: Sequence[str], limit: int) -> list[Job]:
        """Jobs in these states, or in any, newest first."""
        values: dict[str, Any] = {"tenant": tenant, "limit": limit}
        wanted = f" and state {self._among('states', states, values)}" if states else ""
        sql = f"{NOUN[Job]}{wanted} order by created_at desc, id desc limit :limit"
        return self._select(Job, columns(Job), sql, **values)

    def _did(self, tenant: str, sql: str, **values: Any) -> bool:
        """Run a statement; whether it changed anything."""
        return bool(self._alter(tenant, sql, [{"tenant": tenant, **values}]))
