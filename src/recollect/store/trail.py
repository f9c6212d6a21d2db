"""The trail of every store: the journal as an audit reads it, sightings of memories and counters of their use.

A sighting says that a memory was put before somebody. Sightings and counters are records of use and not knowledge: they
have no journal row and go with their memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from .. import times
from ..history_types import Sighting
from ..types import Entry, Memory
from .backend import Backend
from .rows import entries, to_row
from .statements import ENTRY_COLUMNS

NAMES = tuple(f.name for f in fields(Sighting))
COLUMNS = ", ".join(NAMES)
SAW = f"""
    insert into sighting (tenant, {COLUMNS})
    select tenant, id, :at, :session, :way, :actor, :project, :owner, :helped
    from memory where tenant = :tenant and id = :memory {{share}} on conflict do nothing"""
SIGHTINGS = f"select {COLUMNS} from sighting where tenant = :tenant"
RATE = """
    update sighting set helped = :helped where tenant = :tenant and memory = :memory and at = :at
    and session = :session and way = :way"""
OLD = "delete from sighting where tenant = :tenant and at < :before returning at"
USED = """
    insert into usage (tenant, memory, recalled, accessed, last_recalled_at, last_accessed_at)
    select tenant, id, :recalled, :accessed, :recalled_at, :accessed_at
    from memory where tenant = :tenant and id = :memory {share}
    on conflict (tenant, memory) do update set recalled = usage.recalled + excluded.recalled,
      accessed = usage.accessed + excluded.accessed,
      last_recalled_at = coalesce(excluded.last_recalled_at, usage.last_recalled_at),
      last_accessed_at = coalesce(excluded.last_accessed_at, usage.last_accessed_at)"""
RESTORE_USAGE = """
    insert into usage (tenant, memory, recalled, accessed, last_recalled_at, last_accessed_at)
    values (:tenant, :id, :recalled, :accessed, :last_recalled_at, :last_accessed_at)
    on conflict (tenant, memory) do update set recalled = excluded.recalled, accessed = excluded.accessed,
      last_recalled_at = excluded.last_recalled_at, last_accessed_at = excluded.last_accessed_at"""
TRAIL = f"select {ENTRY_COLUMNS} from journal where tenant = :tenant"
REACHED = "select coalesce(max(seq), 0) from journal where tenant = :tenant and at <= :moment"
OF_PROJECT = "target in (select id from memory where tenant = :tenant and project = :project)"
BATCH = 1000  # rows read at a time


@dataclass(frozen=True, slots=True)
class Trace:
    """Which journal rows are wanted; what is empty does not narrow. `since` itself is not included, `until` is."""

    after: int = 0
    until_seq: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    targets: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    project: str = ""
    newest: bool = False


class Trail(Backend):
    """The part of a store that tells what happened."""

    def trail(self, tenant: str, trace: Trace, limit: int) -> list[Entry]:
        """The journal rows that fit, in order, or newest first."""
        conditions, values = self._conditions(trace)
        order = "seq desc" if trace.newest else "seq"
        sql = f"{TRAIL}{conditions} order by {order} limit :limit"
        return list(entries(self._query(sql, tenant=tenant, limit=limit, **values)))

    def each_entry(self, tenant: str, trace: Trace) -> Iterator[Entry]:
        """All journal rows that fit, in order, read some at a time."""
        while batch := self.trail(tenant, trace, BATCH):
            yield from batch
            trace = replace(trace, after=batch[-1].seq)

    def reached(self, tenant: str, moment: datetime) -> int:
        """How far the journal had come at a time."""
        return int(self._query(REACHED, tenant=tenant, moment=times.micros(moment))[0][0])

    def saw(self, tenant: str, sightings: Sequence[Sighting]) -> None:
        """Note where memories were shown; what is gone meanwhile is passed over."""
        # In the order of the ids: two that note the same memories must lock them alike.
        rows = [_row(tenant, one) for one in sorted(sightings, key=lambda one: (one.memory, one.at))]
        if rows:
            self._alter(tenant, SAW.format(share=self.SHARE), rows)

    def used(self, tenant: str, counts: dict[str, tuple[int, int]], at: datetime) -> None:
        """Add to the counters of use: memory id → (recalled, accessed)."""
        moment = times.micros(at)
        rows = [
            {
                "tenant": tenant, "memory": id, "recalled": recalled, "accessed": accessed,
                "recalled_at": moment if recalled else None, "accessed_at": moment if accessed else None,
            }
            for id, (recalled, accessed) in sorted(counts.items())
        ]  # fmt: skip
        self._alter(tenant, USED.format(share=self.SHARE), rows)

    def restore_usage(self, tenant: str, memories: Sequence[Memory]) -> None:
        """Set the counters of use as they stand in these memories (an import)."""
        self._alter(tenant, RESTORE_USAGE, [{"tenant": tenant, **to_row(memory)} for memory in memories])

    def sightings(
        self, tenant: str, memories: Sequence[str] = (), *, session: str = "", across: bool = False,
        since: datetime | None = None, until: datetime | None = None, limit: int = 1000,
    ) -> list[Sighting]:  # fmt: skip
        """Sightings, newest first; `across` keeps those in which one project looked at what another owns."""
        sql = SIGHTINGS
        values: dict[str, Any] = {"tenant": tenant, "limit": limit}
        if memories:
            sql += f" and memory {self._among('memories', memories, values)}"
        if session:
            sql += " and session = :session"
            values["session"] = session
        if across:
            sql += " and owner <> '' and owner <> project"
        if since:
            sql += " and at > :since"
            values["since"] = times.micros(since)
        if until:
            sql += " and at <= :until"
            values["until"] = times.micros(until)
        rows = self._query(f"{sql} order by at desc, memory, session, way limit :limit", **values)
        return [Sighting(row[0], times.moment(row[1]), *row[2:]) for row in rows]

    def rate(self, tenant: str, sighting: Sighting, helped: int) -> None:
        self._alter(tenant, RATE, [{**_row(tenant, sighting), "helped": helped}])

    def forget_sightings(self, tenant: str, before: datetime) -> int:
        """Drop what is older; gives how many there were."""
        return len(self._alter(tenant, OLD, [{"tenant": tenant, "before": times.micros(before)}]))

    def _conditions(self, trace: Trace) -> tuple[str, dict[str, Any]]:
        values: dict[str, Any] = {"after": trace.after}
        parts = ["seq > :after"]
        if trace.until_seq is not None:
            parts.append("seq <= :until_seq")
            values["until_seq"] = trace.until_seq
        if trace.since:
            # The index of times tells where that time begins, so that no earlier row is read. SQLite uses one lower
            # bound alone, and without the sum it would look for the least number by walking through all of them.
            first = "seq >= (select min(seq + 0) from journal where tenant = :tenant and at > :since)"
            parts = [*parts, "at > :since"] if trace.after else [first, "at > :since", *parts[1:]]
            values["since"] = times.micros(trace.since)
        if trace.until:
            parts.append("at <= :until")
            values["until"] = times.micros(trace.until)
        for column in ("target", "noun", "operation", "actor"):
            if wanted := getattr(trace, f"{column}s"):
                parts.append(f"{column} {self._among(column, wanted, values)}")
        if trace.project:
            parts.append(OF_PROJECT)
            values["project"] = trace.project
        return "".join(f" and {part}" for part in parts), values


def _row(tenant: str, sighting: Sighting) -> dict[str, Any]:
    told = {name: getattr(sighting, name) for name in NAMES}
    return {"tenant": tenant, **told, "at": times.micros(sighting.at)}
