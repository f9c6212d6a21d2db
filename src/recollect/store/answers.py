"""The answer cache of every store: questions, and the answers that are kept for some of them.

An answer can be computed again, so it is not in the journal. It is found by the hash of its question in exactly one
place (tenant, user, project), and carries what it was built from: a purge takes answers along that were made of what it
erases. Vectors of questions are read in the order of a number that grows with each change in a place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from .. import times
from ..types import Kept, Noun
from .backend import Backend

KINDS = ("computed", "timely", "given")
TIERS = ("cold", "warm", "hot", "core")
BATCH = 500  # rows read at a time


@dataclass(frozen=True, slots=True)
class Depends(Noun):
    """One thing that an answer was built from, as it stood then: a memory, a file, a repository, a setting."""

    kind: str
    target: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Kept):
    """A question that was asked, and its answer while one is kept.

    `seq` is the journal row up to which it is known to hold, `watched` whether new knowledge may end it, `stale` why it
    is not served any more, `retired` the hash of an answer that was turned down.
    """

    id: str
    question: str
    question_hash: str
    user: str = ""
    project: str = ""
    kind: str = "computed"
    answer: str | None = None
    sources: tuple[dict[str, Any], ...] = ()
    version: int = 0
    tier: str = "cold"
    pinned: bool = False
    asked: int = 0
    hits: int = 0
    compute_ms: int | None = None
    confidence: float | None = None
    liked: int = 0
    disliked: int = 0
    stale: str = ""
    retired: str = ""
    model: str = ""
    seq: int = 0
    watched: bool = False
    first_asked_at: datetime = times.EPOCH
    last_asked_at: datetime = times.EPOCH
    expires_at: datetime | None = None
    depends: tuple[Depends, ...] = ()


@dataclass(frozen=True, slots=True)
class Count:
    """How often a question was asked and served since it was last written, and what follows from it."""

    id: str
    asked: int
    hits: int
    tier: str
    version: int
    seq: int


NAMES = tuple(f.name for f in fields(Answer) if f.name != "depends")
QUOTED = tuple(f'"{name}"' if name == "user" else name for name in NAMES)
SELECT = f"select {', '.join(QUOTED)} from answer where tenant = :tenant"
OF = f'{SELECT} and question_hash = :hash and "user" = :user and project = :project'
DEPENDS = "select answer, kind, target, version from answer_dependency where tenant = :tenant and answer {ids}"
PUT = f"""
    insert into answer (tenant, {", ".join(QUOTED)}, vector, changed)
    values (:tenant, {", ".join(f":{name}" for name in NAMES)}, :vector,
      (select coalesce(max(changed), 0) + 1 from answer
       where tenant = :tenant and "user" = :user and project = :project and model = :model))
    on conflict (tenant, id) do update set
      {", ".join(f"{name} = excluded.{name}" for name in QUOTED if name != "id")}, changed = excluded.changed,
      vector = case when excluded.model = '' then null
        when excluded.model = answer.model then coalesce(excluded.vector, answer.vector) else excluded.vector end"""
DROP = "delete from answer where tenant = :tenant and id = :id"
UNTIE = "delete from answer_dependency where tenant = :tenant and answer = :id"
TIE = """
    insert into answer_dependency (tenant, answer, kind, target, version)
    values (:tenant, :id, :kind, :target, :version)"""
# What a purge erases stands in the answers that were built from it, and may be repeated by what somebody asked or gave.
DROP_BUILT = """
    delete from answer where tenant = :tenant and id in (select answer from answer_dependency
      where tenant = :tenant and kind = 'memory' and target = :id)"""
SAID = """select id, "user", question, coalesce(answer, '') from answer where tenant = :tenant"""
COUNT = """
    update answer set asked = asked + :asked, hits = hits + :hits, tier = :tier,
      last_asked_at = case when last_asked_at < :at then :at else last_asked_at end,
      seq = case when version = :version and seq < :seq then :seq else seq end
    where tenant = :tenant and id = :id"""
IN_PLACE = 'tenant = :tenant and "user" = :user and project = :project and model = :model'
SHELF = f"select id, changed, vector from answer where {IN_PLACE} and changed > :after order by changed"
SHELF_SIZE = f"select count(*) from answer where {IN_PLACE}"
VECTORS = "select id, vector from answer where tenant = :tenant and vector is not null and id {ids}"
LRU = """case tier when 'cold' then 0 when 'warm' then 1 when 'hot' then 2 else 3 end, last_asked_at, id"""
KEPT = """
    select count(*), coalesce(sum(case when answer is not null then 1 else 0 end), 0)
    from answer where tenant = :tenant"""
STATS = """
    select tier, count(*), sum(case when answer is not null and stale = '' then 1 else 0 end), sum(pinned), sum(asked),
      sum(hits), sum(case when stale <> '' then 1 else 0 end),
      coalesce(sum(cast(hits as bigint) * coalesce(compute_ms, 0)), 0),
      sum(case when answer is null then 0 else octet_length(answer) + octet_length(question) + octet_length(sources)
        + coalesce(octet_length(vector), 0) + 200 end)
    from answer where tenant = :tenant {where} group by tier"""
TIED = """
    select coalesce(sum(octet_length(d.target) + octet_length(d.version) + 60), 0)
    from answer_dependency d join answer a on a.tenant = d.tenant and a.id = d.answer
    where d.tenant = :tenant and a.answer is not null {where}"""


class Answers(Backend):
    """The part of a store that keeps answers."""

    def answer_of(self, tenant: str, hash: str, user: str, project: str) -> Answer | None:
        """The question of that hash in exactly that place."""
        found = self._answers(tenant, OF, hash=hash, user=user, project=project)
        return found[0] if found else None

    def answers(self, tenant: str, ids: Sequence[str]) -> list[Answer]:
        sql = f"{SELECT} and id {self.AMONG.format('ids')} order by id"
        return self._answers(tenant, sql, ids=self._as_list(ids)) if ids else []

    def all_answers(self, tenant: str, after: str, limit: int) -> list[Answer]:
        """Questions in the order of their ids, above the id `after`."""
        return self._answers(tenant, f"{SELECT} and id > :after order by id limit :limit", after=after, limit=limit)

    def each_answer(self, tenant: str) -> Iterator[Answer]:
        """All questions, in the order of their ids, read some at a time."""
        after = ""
        while batch := self.all_answers(tenant, after, BATCH):
            yield from batch
            after = batch[-1].id

    def answer_vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, bytes]:
        """The vectors of questions, in half precision; those that have none are left out."""
        sql = VECTORS.format(ids=self.AMONG.format("ids"))
        rows = self._query(sql, tenant=tenant, ids=self._as_list(ids)) if ids else []
        return {str(id): bytes(vector) for id, vector in rows}

    def answer_page(
        self, tenant: str, *, user: str | None = None, project: str | None = None, tiers: Sequence[str] = (),
        kept: bool | None = None, evictable: bool = False, limit: int = 100,
    ) -> list[Answer]:  # fmt: skip
        """Questions, last asked first; with `evictable` those not pinned, in the order in which they may go."""
        conditions, values = _where(user, project)
        if tiers:
            conditions += f" and tier {self._among('tiers', tiers, values)}"
        if kept is not None:
            conditions += f" and answer is {'not null' if kept else 'null'}"
        order = "last_asked_at desc, id desc"
        if evictable:
            conditions, order = f"{conditions} and pinned = 0", LRU
        return self._answers(tenant, f"{SELECT}{conditions} order by {order} limit :limit", limit=limit, **values)

    def shelf(
        self, tenant: str, user: str, project: str, model: str, after: int
    ) -> tuple[int, list[tuple[str, int, bytes]]]:  # fmt: skip
        """How many questions of a place have a vector of that model, and those that changed after a number."""
        place = {"tenant": tenant, "user": user, "project": project, "model": model}
        rows = self._query(SHELF, **place, after=after)
        size = int(self._query(SHELF_SIZE, **place)[0][0])
        return size, [(str(id), int(changed), bytes(vector)) for id, changed, vector in rows if vector is not None]

    def asked(self, tenant: str, counts: Sequence[Count], at: datetime) -> None:
        """Add to how often questions were asked and served."""
        moment = times.micros(at)
        rows = [
            {
                "tenant": tenant, "id": one.id, "asked": one.asked, "hits": one.hits, "tier": one.tier,
                "version": one.version, "seq": one.seq, "at": moment,
            }
            for one in sorted(counts, key=lambda one: one.id)
        ]  # fmt: skip
        self._alter(tenant, COUNT, rows)

    def answers_kept(self, tenant: str) -> tuple[int, int]:
        """How many questions there are, and how many of them have an answer."""
        tracked, kept = self._query(KEPT, tenant=tenant)[0]
        return int(tracked), int(kept)

    def answer_stats(self, tenant: str, user: str | None = None, project: str | None = None) -> dict[str, Any]:
        conditions, values = _where(user, project)
        names = ("questions", "answers", "pinned", "asked", "hits", "stale", "saved_ms", "bytes")
        by_tier = {
            row[0]: dict(zip(names, (int(number) for number in row[1:]), strict=True))
            for row in self._query(STATS.format(where=conditions), tenant=tenant, **values)
        }
        total = {name: sum(one[name] for one in by_tier.values()) for name in names}
        joined = conditions.replace(' and "user"', ' and a."user"').replace(" and project", " and a.project")
        tied = int(self._query(TIED.format(where=joined), tenant=tenant, **values)[0][0])
        return {**total, "bytes": total["bytes"] + tied, "by_tier": {tier: by_tier.get(tier, {}) for tier in TIERS}}

    def _answers(self, tenant: str, sql: str, **values: Any) -> list[Answer]:
        rows = self._query(sql, tenant=tenant, **values)
        tied: dict[str, list[Depends]] = {}
        sql, ids = DEPENDS.format(ids=self.AMONG.format("ids")), self._as_list([str(row[0]) for row in rows])
        for answer, *rest in self._query(sql, tenant=tenant, ids=ids) if rows else ():
            tied.setdefault(answer, []).append(Depends(*rest))
        return [from_row(row, tied.get(str(row[0]), [])) for row in rows]


def from_row(row: Sequence[Any], tied: Sequence[Depends]) -> Answer:
    values = dict(zip(NAMES, row, strict=True))
    for name in Answer.TIMES:
        values[name] = None if values[name] is None else times.moment(values[name])
    values["sources"] = tuple(json.loads(values["sources"]))
    values["pinned"], values["watched"] = bool(values["pinned"]), bool(values["watched"])
    return Answer(**values, depends=tuple(sorted(tied, key=lambda one: (one.kind, one.target))))


def to_row(answer: Answer) -> dict[str, Any]:
    row = {name: getattr(answer, name) for name in NAMES}
    for name in Answer.TIMES:
        row[name] = None if row[name] is None else times.micros(row[name])
    row["sources"] = json.dumps(row["sources"], ensure_ascii=False, separators=(",", ":"))
    return row | {"pinned": int(answer.pinned), "watched": int(answer.watched)}


def _where(user: str | None, project: str | None) -> tuple[str, dict[str, Any]]:
    given: dict[str, Any] = {name: value for name, value in (("user", user), ("project", project)) if value is not None}
    columns = {"user": '"user"', "project": "project"}
    return "".join(f" and {columns[name]} = :{name}" for name in given), given
