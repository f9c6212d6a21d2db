"""The trail of every store: the journal as an audit reads it, and the sightings of memories.

A journal row says who changed what; `trail` gives the rows that fit. A sighting says that a memory was put before
somebody. It is a record of use and not knowledge, so it has no journal row: it goes with its memory, and a sighting of
one that is gone is not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar

from .. import times
from ..history_types import Sighting
from ..types import Entry
from .backend import Backend
from .changes import ENTRY_COLUMNS, MANY
from .rows import entries

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
TRAIL = f"select {ENTRY_COLUMNS} from journal where tenant = :tenant"
REACHED = "select coalesce(max(seq), 0) from journal where tenant = :tenant and at <= :moment"
OF_PROJECT = "target in (select id from memory where tenant = :tenant and project = :project)"


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

    SHARE: ClassVar[str] = ""  # what keeps a memory from being erased while its sighting is written

    def trail(self, tenant: str, trace: Trace, limit: int) -> list[Entry]:
        conditions, values = _conditions(trace)
        order = "seq desc" if trace.newest else "seq"
        sql = f"{TRAIL}{conditions} order by {order} limit :limit"
        return list(entries(self._query(sql, tenant=tenant, limit=limit, **values)))

    def reached(self, tenant: str, moment: datetime) -> int:
        return int(self._query(REACHED, tenant=tenant, moment=times.micros(moment))[0][0])

    def saw(self, tenant: str, sightings: Sequence[Sighting]) -> None:
        # In the order of the ids: two that note the same memories must lock them alike.
        rows = [_row(tenant, one) for one in sorted(sightings, key=lambda one: (one.memory, one.at))]
        if rows:
            self._alter(tenant, SAW.format(share=self.SHARE), rows)

    def sightings(
        self, tenant: str, memories: Sequence[str] = (), *, session: str = "", across: bool = False,
        since: datetime | None = None, until: datetime | None = None, limit: int = 1000,
    ) -> list[Sighting]:  # fmt: skip
        sql = SIGHTINGS
        values: dict[str, Any] = {"tenant": tenant, "limit": limit}
        if memories:
            sql += f" and memory in ({_named('m', memories[:MANY], values)})"
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
        return len(self._alter(tenant, OLD, [{"tenant": tenant, "before": times.micros(before)}]))


def _conditions(trace: Trace) -> tuple[str, dict[str, Any]]:
    parts: list[str] = ["seq > :after"]
    values: dict[str, Any] = {"after": trace.after}
    if trace.until_seq is not None:
        parts.append("seq <= :until_seq")
        values["until_seq"] = trace.until_seq
    if trace.since:
        parts.append("at > :since")
        values["since"] = times.micros(trace.since)
    if trace.until:
        parts.append("at <= :until")
        values["until"] = times.micros(trace.until)
    for column, wanted in (
        ("target", trace.targets), ("noun", trace.nouns), ("operation", trace.operations), ("actor", trace.actors)
    ):  # fmt: skip
        if wanted:
            parts.append(f"{column} in ({_named(column, wanted, values)})")
    if trace.project:
        parts.append(OF_PROJECT)
        values["project"] = trace.project
    return "".join(f" and {part}" for part in parts), values


def _named(name: str, wanted: Sequence[str], values: dict[str, Any]) -> str:
    """A list of values as names of their own, which every backend reads alike."""
    names = {f"{name}{number}": value for number, value in enumerate(wanted)}
    values |= names
    return ", ".join(f":{one}" for one in names)


def _row(tenant: str, sighting: Sighting) -> dict[str, Any]:
    told = {name: getattr(sighting, name) for name in NAMES}
    return {"tenant": tenant, **told, "at": times.micros(sighting.at)}
