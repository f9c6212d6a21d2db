"""Copying a whole store into another, of either kind: every tenant, history and all.

Journal rows are replayed in order with the vectors of their memories, so the target is at any moment a store as the
source was once, and a copy that was killed goes on where its journal ends. What has no journal (use, sightings, jobs,
tokens, webhooks, ledger, answers) is brought level afterwards, until nothing is left to copy. At the end both stores
are read whole, and must agree in the count and the SHA-256 of everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from .. import times
from ..errors import BadInput, CopyDiffers
from ..history_types import Sighting
from ..types import USAGE_FIELDS, Job, Kept, Memory, Noun
from .answers import Answer
from .contract import Store
from .rows import NOUNS, noun_name, record
from .trail import Trace

N = TypeVar("N", bound=Kept)
Progress = Callable[[int, int], None]

ALL = 2**31
BATCH = 500  # rows read, and journal rows written, at a time
ROUNDS = 10  # how often a source that changes is followed before it is given up


@dataclass(frozen=True, slots=True)
class Part(Noun):
    """What a tenant has of one noun: how many, and the hash of them all."""

    tenant: str
    noun: str
    count: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Copied(Noun):
    """What was copied, as both stores agree that it is, and how many journal rows of it were written this time."""

    parts: tuple[Part, ...]
    written: int

    @property
    def sha256(self) -> str:
        """One hash for the whole store."""
        return hashlib.sha256(_canonical([part.as_dict() for part in self.parts])).hexdigest()


def copy(source: Store, target: Store, progress: Progress | None = None) -> Copied:
    """Bring the target to what the source is, from wherever it stands, and verify it."""
    refuse_others(source, target)
    step = progress or (lambda done, total: None)
    written, last = 0, None
    for _ in range(ROUNDS):
        for tenant in source.tenants():
            written += _follow(source, target, tenant, step)
            _level_usage(source, target, tenant)
            _level_sightings(source, target, tenant)
            _level_jobs(source, target, tenant)
            target.restore_doors(tenant, source.doors(tenant))
            target.restore_ledger(tenant, source.spent(tenant))
            _level_answers(source, target, tenant)
        there, here = tuple(parts(target, step)), tuple(parts(source, step))
        if here == there:
            return Copied(here, written)
        if here == last:  # nobody wrote to the source, so another round would end the same
            break
        last = here
    wrong = sorted({f"{part.noun} of {part.tenant}" for part in set(here) ^ set(there)})
    raise CopyDiffers(f"The copy is not what its source is: {', '.join(wrong)}.")


def refuse_others(source: Store, target: Store) -> None:
    """Raise where the target holds anything that is not a copy of the source's beginning."""
    for tenant in target.tenants():
        ours, theirs = (_row(store, tenant, target.head(tenant)) for store in (source, target))
        if ours != theirs or not all(source.of(tenant, Job, [job.id]) for job in target.each(tenant, Job)):
            raise BadInput(
                f"The target holds something else already (tenant {tenant}); nothing was changed.",
                fix="Name an empty store, or one that an earlier copy of the same store left unfinished.",
            )


def _row(store: Store, tenant: str, seq: int) -> tuple[Any, ...] | None:
    """What a purge leaves of a journal row: enough to tell two histories apart."""
    for row in store.journal(tenant, seq - 1, 1) if seq else ():
        return row.seq, row.at, row.actor, row.operation, row.noun, row.target
    return None


def _follow(source: Store, target: Store, tenant: str, step: Progress) -> int:
    """Replay what the target's journal lacks; how many rows that were."""
    head = begun = target.head(tenant)
    while entries := source.journal(tenant, head, BATCH):
        ids = {entry.target for entry in entries if entry.noun in ("memory", "embedding")}
        # A memory whose first rows a purge blanked comes with a later one, and its vectors with it.
        told = {entry.target for entry in entries if entry.noun == "memory" and entry.after is not None}
        there = told | target.memories(tenant, sorted(ids - told)).keys()
        vectors = source.vectors(tenant, sorted(there))
        with target.transaction(tenant, "copy", entries[-1].at) as changes:
            for entry in entries:
                changes.replay(entry)
            for id, by_model in vectors.items():
                for model, found in by_model.items():
                    changes.restore_vectors(id, model, found)
        head = entries[-1].seq
        step(head, max(head, source.head(tenant)))
    return head - begun


def _level_usage(source: Store, target: Store, tenant: str) -> None:
    for batch in _each(source, tenant, Memory):
        ids = [memory.id for memory in batch]
        here, there = source.memories(tenant, ids), target.memories(tenant, ids)
        both = sorted(here.keys() & there.keys())
        target.restore_usage(tenant, [here[id] for id in both if _usage(here[id]) != _usage(there[id])])


def _level_sightings(source: Store, target: Store, tenant: str) -> None:
    for batch in _each(source, tenant, Memory):
        ids = [memory.id for memory in batch]
        known = {_moment(one): one.helped for one in target.sightings(tenant, ids, limit=ALL)}
        here = source.sightings(tenant, ids, limit=ALL)
        target.saw(tenant, [one for one in here if _moment(one) not in known])
        for one in here:
            if known.get(_moment(one), one.helped) != one.helped:
                target.rate(tenant, one, one.helped)


def _moment(one: Sighting) -> tuple[Any, ...]:
    return one.memory, one.at, one.session, one.way


def _level_jobs(source: Store, target: Store, tenant: str) -> None:
    for batch in _each(source, tenant, Job):
        known = {job.id: job for job in target.of(tenant, Job, [job.id for job in batch])}
        target.restore_jobs(tenant, [job for job in batch if known.get(job.id) != job])


def _level_answers(source: Store, target: Store, tenant: str) -> None:
    for here, there in ((source, target), (target, source)):
        for batch in _answers(here, tenant):
            ids = [one.id for one in batch]
            known = {one.id: one for one in there.answers(tenant, ids)}
            other = [one for one in batch if known.get(one.id) != one]
            if not other:
                continue
            vectors = source.answer_vectors(tenant, ids)
            with target.transaction(tenant, "copy", times.EPOCH) as changes:
                for one in other:
                    if here is target:
                        changes.drop_answer(one.id)
                    else:
                        # Another question may stand in its place since the last round.
                        old = changes.answer(one.question_hash, one.user, one.project)
                        if old is not None and old.id != one.id:
                            changes.drop_answer(old.id)
                        changes.put_answer(one, vectors.get(one.id))


def _answers(store: Store, tenant: str) -> Iterator[list[Answer]]:
    after = ""
    while batch := store.all_answers(tenant, after, BATCH):
        yield batch
        after = batch[-1].id


def _usage(memory: Memory) -> dict[str, Any]:
    whole = memory.as_dict()
    return {name: whole[name] for name in USAGE_FIELDS}


def _each(store: Store, tenant: str, kind: type[N]) -> Iterator[list[N]]:
    """All nouns of a kind, some at a time."""
    after = ""
    while batch := store.all(tenant, kind, after, BATCH):
        yield batch
        after = batch[-1].id


class _Digest:
    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._count = 0

    def add(self, row: Any, *blobs: bytes) -> None:
        for piece in (_canonical(row), b"\n", *blobs):
            self._hash.update(piece)
        self._count += 1

    def part(self, tenant: str, noun: str) -> Part:
        return Part(tenant, noun, self._count, self._hash.hexdigest())


def parts(store: Store, step: Progress) -> Iterator[Part]:
    """Everything a store holds, counted and hashed."""
    for tenant in store.tenants():
        for kind in NOUNS.values():
            if kind is not Memory:
                yield _hash_rows(tenant, noun_name(kind), (noun.as_dict() for noun in store.each(tenant, kind)))
        yield from _memories(store, tenant, step)
        yield _journal(store, tenant, step)
        yield _sightings(store, tenant)
        yield _hash_rows(tenant, "job", (job.as_dict() for job in store.each(tenant, Job)))
        yield _hash_rows(tenant, "door", store.doors(tenant))
        yield _hash_rows(tenant, "ledger", (spent.as_dict() for spent in store.spent(tenant)))
        yield _hash_rows(tenant, "answer", (one.as_dict() for one in store.each_answer(tenant)))


def _sightings(store: Store, tenant: str) -> Part:
    digest = _Digest()
    for batch in _each(store, tenant, Memory):
        for one in store.sightings(tenant, [memory.id for memory in batch], limit=ALL):
            digest.add(one.as_dict())
    return digest.part(tenant, "sighting")


def _hash_rows(tenant: str, noun: str, rows: Iterable[dict[str, Any]]) -> Part:
    digest = _Digest()
    for row in rows:
        digest.add(row)
    return digest.part(tenant, noun)


def _memories(store: Store, tenant: str, step: Progress) -> Iterator[Part]:
    """Memories, their counters of use and their vectors, in one walk."""
    from ..vectors import halves

    rows, usage, vectors = _Digest(), _Digest(), _Digest()
    done, total = 0, int(store.stats(tenant)["memories"])
    for batch in _each(store, tenant, Memory):
        ids = [memory.id for memory in batch]
        known, embedded = store.memories(tenant, ids), store.vectors(tenant, ids)
        for memory in batch:
            rows.add(record(memory))
            used = _usage(known.get(memory.id, memory))
            if any(used.values()):
                usage.add([memory.id, used])
            for model, found in sorted(embedded.get(memory.id, {}).items()):
                for chunk, half in enumerate(halves(found)):
                    vectors.add([memory.id, model, chunk], half)
        done += len(batch)
        step(done, max(done, total))
    yield rows.part(tenant, "memory")
    yield usage.part(tenant, "usage")
    yield vectors.part(tenant, "vector")


def _journal(store: Store, tenant: str, step: Progress) -> Part:
    digest, head = _Digest(), store.head(tenant)
    for entry in store.each_entry(tenant, Trace()):
        digest.add(entry.as_dict())
        if entry.seq % BATCH == 0:
            step(entry.seq, max(entry.seq, head))
    return digest.part(tenant, "journal")


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
