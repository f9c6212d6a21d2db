"""Janitor: the steps, one after the other.

Each lot of acts of a step is one transaction, so a run can be cut off anywhere and the next finds the rest. A
checkpoint is made before the first change of a run.

A run is a job, and a tenant never has two that are not over: the id of the next follows from the id of the last. The
job keeps the report, the steps that are done and how far each step has looked (`through`), so that the next run looks
only at what is new. The daemon keeps one job waiting that is due `janitor_hours` after the last; asking for a run
replaces it.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import ids
from ...checks import one_of
from ...errors import Refused
from ...history.checkpoints import Checkpoints
from ...history.policies import Policies
from ...history_types import Retained
from ...remember.write import Writer
from ...store.contract import Store
from ...types import Job, Noun
from ..jobs import Run, Worker
from . import ageing, compaction, pairs
from .room import ACTOR, Act, Room, Rules

if TYPE_CHECKING:
    from ...answers.service import Answers
    from ...models.embedder import Embedder

Step = Callable[[Room], Iterator[list[Act]]]
STEPS: dict[str, Step] = {
    "expired": ageing.expired,
    "review": ageing.review,
    "decayed": ageing.decayed,
    "compacted": compaction.compacted,
    "duplicates": pairs.duplicates,
    "contradictions": pairs.contradictions,
    "promoted": ageing.promoted,
    "orphans": ageing.orphans,
    "links": pairs.links,
    "answers": ageing.answers,
}
RETENTION = "retention"  # a person's own word on how long things are kept, so it comes first; see history/policies
UPKEEP = "maintenance"  # the database's own business
NAMES = (RETENTION, *STEPS, UPKEEP)
DERIVED = ("answers",)  # steps that change no knowledge, and need no checkpoint to go back to
PAIRS = ("duplicates", "contradictions")
INCREMENTAL = ("duplicates", "contradictions", "links")
KIND = "janitor"
TOLD = 50  # acts of a step that a report names; all are counted
LISTED = 1000
ROUNDS = 20  # how often neighbours are looked at again; two or three times is usual
OVER = ("done", "failed", "cancelled")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Done(Noun):
    """What one step did, or would do: how many memories or links it looked at, what became of how many, and some."""

    step: str
    looked: int = 0
    changed: int = 0
    by: dict[str, int] = field(default_factory=dict)
    acts: tuple[dict[str, str], ...] = ()
    detail: dict[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Report(Noun):
    """What a run did. `left`: acts that were planned and not made, because something changed meanwhile."""

    dry_run: bool
    steps: tuple[Done, ...]
    changed: int = 0
    left: int = 0
    checkpoint: str = ""
    job: str = ""
    state: str = "done"

    @classmethod
    def of(cls, job: Job) -> Report:
        """What a job tells of its run."""
        told = job.progress.get("steps", [])
        steps = tuple(Done.from_dict(one) for one in told)
        return cls(
            False, steps, sum(one.changed for one in steps), int(job.progress.get("left", 0)),
            str(job.progress.get("checkpoint", "")), job.id, job.state,
        )  # fmt: skip


class Janitor:
    """The janitor of one tenant."""

    def __init__(
        self, writer: Writer, home: Path, rules: Rules, answers: Answers, embedder: Callable[[], Embedder | None]
    ) -> None:
        self._writer = replace(writer, actor=ACTOR)
        self._checkpoints = Checkpoints(writer)
        self._policies = Policies(self._writer, home)
        self._rules = rules
        self._answers = answers
        self._embedder = embedder

    @property
    def _store(self) -> Store:
        return self._writer.store

    @property
    def _tenant(self) -> str:
        return self._writer.tenant

    def run(self, *, dry_run: bool = False, steps: Sequence[str] = (), progress: Progress | None = None) -> Report:
        """Clean up now and tell what was done; with `dry_run`, only what would be."""
        wanted = self._check_steps(steps)
        if dry_run:
            return self._rehearse(wanted, progress)
        job = self.later(steps=wanted)
        failed: list[Exception] = []

        def handle(attempt: Run) -> None:
            try:
                self.work(attempt, progress)
            except Exception as error:
                failed.append(error)
                raise

        worker = Worker(self._store, self._tenant, {KIND: handle}, self._writer.now)
        worker.start(stay=False)
        worker.join()
        job = self._job(job.id)
        while job.state == "running":  # the daemon was quicker
            time.sleep(0.2)
            job = self._job(job.id)
        if failed:
            raise failed[0]
        return Report.of(job)

    def later(self, *, steps: Sequence[str] = (), due: datetime | None = None) -> Job:
        """The job of the next run, due now unless told; raises when one is running."""
        wanted, now = self._check_steps(steps), self._writer.now()
        last = self.last()
        if last is not None and last.state == "running" and last.leased_until and last.leased_until > now:
            raise Refused(f"The janitor is at work (job {last.id}).", fix=f"Wait for it: recollect jobs show {last.id}")
        if last is not None and last.state not in OVER:
            self._store.cancel(self._tenant, last.id, now)
        payload = {"steps": list(wanted)} if wanted != NAMES else {}
        before = last.id if last else ""
        while True:
            id = hashlib.sha256(f"{KIND} {self._tenant} {before}".encode()).hexdigest()[: ids.LENGTH]
            if self._store.enqueue(self._tenant, Job(id, KIND, payload, run_at=due or now, created_at=now)):
                return self._job(id)
            if (job := self._job(id)).state not in OVER:  # somebody else asked at the same moment
                return job
            before = id

    def schedule(self, hours: float) -> None:
        """Keep one run waiting, due so long after the last."""
        last, now = self.last(), self._writer.now()
        if last is None or last.state in OVER:
            finished = last.finished_at if last and last.finished_at else now
            self.later(due=max(now, finished + timedelta(hours=hours)))

    def last(self) -> Job | None:
        """The newest run: over, under way or waiting."""
        jobs = [job for job in self._store.jobs(self._tenant, (), LISTED) if job.kind == KIND]
        live = [job for job in jobs if job.state not in OVER]
        return next(iter([*live, *sorted(jobs, key=lambda job: job.created_at, reverse=True)]), None)

    def _job(self, id: str) -> Job:
        return self._store.of(self._tenant, Job, [id])[0]

    @staticmethod
    def _check_steps(steps: Sequence[str]) -> tuple[str, ...]:
        for step in steps:
            one_of(step, NAMES, "step")
        return tuple(name for name in NAMES if not steps or name in steps)

    def work(self, run: Run, progress: Progress | None = None) -> None:
        """Do a job: the steps that are not done yet; an attempt takes up where the one before was cut off."""
        wanted = self._check_steps(run.job.payload.get("steps", ()))
        fresh = {"steps": [], "left": 0, "checkpoint": "", "through": self._through()}
        kept: dict[str, Any] = {**fresh, **run.job.progress}
        run.progress = kept
        room = self._room()
        head = self._store.head(self._tenant)
        for number, name in enumerate(wanted):
            if name in [one["step"] for one in kept["steps"]]:
                continue
            room.since = kept["through"].get(name, 0)
            beat = partial(self._beat, run, kept, number, len(wanted), progress)
            done, left = self._step(room, name, kept, beat)
            kept["steps"] = [*kept["steps"], done.as_dict()]
            kept["left"] += left
            if name in PAIRS and not set(wanted[number + 1 :]) & set(PAIRS):
                self._again(room, [one for one in wanted if one in PAIRS], kept)
            if name in INCREMENTAL:
                kept["through"] = {**kept["through"], name: head}
            self._beat(run, kept, number + 1, len(wanted), progress)

    def _again(self, room: Room, names: Sequence[str], kept: dict[str, Any]) -> None:
        """Look again at what had neighbours that are gone now, so that a second run finds nothing."""
        for _ in range(ROUNDS):
            if not (again := room.crowded()):
                break
            room.only = again
            for name in names:
                more, left = self._step(room, name, kept, lambda: None)
                kept["left"] += left
                kept["steps"] = [_sum(one, more) if one["step"] == name else one for one in kept["steps"]]
        room.only = None

    @staticmethod
    def _beat(run: Run, kept: dict[str, Any], done: int, total: int, progress: Progress | None) -> None:
        try:
            run.step(done, total)
        finally:
            run.progress = {**kept, "done": done, "total": total}
        if progress:
            progress(done, total)

    def _through(self) -> dict[str, int]:
        """How far each step had looked when the last run ended."""
        over = [job for job in self._store.jobs(self._tenant, ("done",), LISTED) if job.kind == KIND]
        newest = max(over, key=lambda job: job.finished_at or job.created_at, default=None)
        return dict(newest.progress.get("through", {})) if newest else {}

    def _room(self) -> Room:
        return Room(self._writer, self._embedder(), self._writer.now(), self._rules, self._answers)

    def _step(self, room: Room, name: str, kept: dict[str, Any], beat: Callable[[], None]) -> tuple[Done, int]:
        began, room.looked = time.process_time(), 0
        if name == UPKEEP:
            return Done(name, detail=self._store.tidy(), cpu_seconds=round(time.process_time() - began, 2)), 0
        if name == RETENTION:
            due = self._policies.apply(dry_run=True, beat=beat)
            if due.archived or due.purged:
                self._make_checkpoint(kept)
            return _report_retention(self._policies.apply(beat=beat), began), 0
        made: list[Act] = []
        left = 0
        for lot in STEPS[name](room):
            if lot:
                if name not in DERIVED:
                    self._make_checkpoint(kept)
                with self._store.transaction(self._tenant, ACTOR, self._writer.now()) as changes:
                    done = [act for act in lot if act.do(changes)]
                made += done
                left += len(lot) - len(done)
                room.gone |= {id for act in done for id in act.retires}
                room.gone -= {id for act in lot if act not in done for id in act.retires}
            beat()
        return _report(name, room, made, began), left

    def _make_checkpoint(self, kept: dict[str, Any]) -> None:
        """Make one to go back to, before the first change of a run."""
        made = None if kept["checkpoint"] else self._checkpoints.automatic("janitor")
        kept["checkpoint"] = made.name if made else kept["checkpoint"]

    def _rehearse(self, wanted: Sequence[str], progress: Progress | None) -> Report:
        room, through, steps = self._room(), self._through(), []
        for number, name in enumerate(wanted):
            began, room.looked, room.since = time.process_time(), 0, through.get(name, 0)
            steps.append(self._plan(room, name, began))
            if progress:
                progress(number + 1, len(wanted))
        return Report(True, tuple(steps), sum(one.changed for one in steps))

    def _plan(self, room: Room, name: str, began: float) -> Done:
        if name == RETENTION:
            due = self._policies.apply(dry_run=True)
            room.gone |= {*due.archived, *due.purged}
            return _report_retention(due, began)
        acts: list[Act] = []
        for lot in STEPS[name](room) if name in STEPS else ():
            acts += lot
            room.gone |= {id for act in lot for id in act.retires}
        return _report(name, room, acts, began)


def _report(name: str, room: Room, acts: Sequence[Act], began: float) -> Done:
    told = tuple({"what": act.what, "id": act.target, "other": act.other, "why": act.why} for act in acts[:TOLD])
    by = dict(Counter(act.what for act in acts))
    return Done(name, room.looked, len(acts), by, told, cpu_seconds=round(time.process_time() - began, 2))


def _report_retention(done: Retained, began: float) -> Done:
    """What the retention policies did, or would do."""
    kept = {"archived": done.archived, "purged": done.purged, "held": done.held}
    told = [{"what": what, "id": id, "other": "", "why": "a policy"} for what, ids in kept.items() for id in ids]
    counts = {what: len(ids) for what, ids in kept.items()} | {"sightings": done.sightings}
    by = {what: count for what, count in counts.items() if count}
    changed = len(done.archived) + len(done.purged)
    cpu = round(time.process_time() - began, 2)
    return Done(RETENTION, len(told), changed, by, tuple(told[:TOLD]), cpu_seconds=cpu)


def _sum(one: dict[str, Any], more: Done) -> dict[str, Any]:
    """A step's report with what another pass of it did."""
    return {
        **one, "looked": one["looked"] + more.looked, "changed": one["changed"] + more.changed,
        "by": dict(Counter(one["by"]) + Counter(more.by)), "acts": [*one["acts"], *more.acts][:TOLD],
        "cpu_seconds": round(one["cpu_seconds"] + more.cpu_seconds, 2),
    }  # fmt: skip
