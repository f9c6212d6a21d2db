"""The guard of every store: whether rows and journal are what was written, and repairing what the journal knows.

Rows are compared with what their journal rows lead to, so a lost, stale or added row is found as well as a damaged one.
The journal is compared with its own hashes and chain.
"""

from __future__ import annotations

import itertools
import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .. import times
from ..errors import RecollectError, StoreCorrupt
from ..types import Check, Kept, Source
from .changes import Changes
from .checksums import link, noticing
from .reading import Reading
from .rows import NOUNS, SUMMED, entries, is_sound, is_whole, make_check, replayed, to_summed_row
from .statements import DONE, ENTRIES, ENTRY_COLUMNS, META, NOUN, SUMMING

log = logging.getLogger("recollect")

CHAINED = ENTRIES.replace(ENTRY_COLUMNS, f"{ENTRY_COLUMNS}, chain") + " order by seq limit :limit"
BY_TARGET = f"""
    select {ENTRY_COLUMNS} from journal where tenant = :tenant and (target, seq) > (:target, :seq)
    order by target, seq limit :limit"""
STEP = 500  # rows of older versions that get their checksums after a write
BATCH = 2000  # rows read at a time
SHOWN = 5  # damaged rows that are named


@dataclass(slots=True)
class Damage:
    """What is not as it was written: nouns by kind and id, and changes of the journal by number."""

    nouns: dict[tuple[type[Kept], str], str] = field(default_factory=dict)
    changes: dict[int, str] = field(default_factory=dict)

    def checks(self) -> list[Check]:
        rows = [f"{kind.__name__.lower()} {id} {why}" for (kind, id), why in self.nouns.items()]
        told = [f"change {seq} {why}" for seq, why in self.changes.items()]
        fix = f"Run: recollect doctor --fix, which takes them from the journal. {StoreCorrupt.fix}"
        return [
            make_check("rows", not rows, _name_some(rows) or "every row is what was written", fix),
            make_check("journal", not told, _name_some(told) or "no change is missing or altered", StoreCorrupt.fix),
        ]


def _name_some(told: list[str]) -> str:
    more = f", and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more


def check_halves(orphans: Mapping[str, int]) -> Check:
    """Whether every row has its other half; `orphans` counts what has none, by its name."""
    detail = ", ".join(f"{count} {name}" for name, count in orphans.items())
    whole = "every row has its other half"
    return make_check("consistency", not orphans, detail or whole, "Run: recollect doctor --fix")


class Guard(Reading):
    """The part of a store that tells whether it is whole."""

    _summed: set[str]  # tenants whose rows all have their checksums, or are being given them

    @abstractmethod
    def transaction(self, tenant: str, actor: str, now: datetime) -> AbstractContextManager[Changes]: ...

    def sum_rows(self, tenant: str, *, everything: bool = False) -> None:
        """Go on giving rows of older versions their checksums; what fails now is done after the next write."""
        if tenant in self._summed:
            return
        self._summed.add(tenant)
        try:
            done = (DONE,) in self._query(META, tenant=tenant, key=f"{SUMMING} {tenant}")
            while not done:
                with self.transaction(tenant, "backfill", times.EPOCH) as changes:
                    done = changes.backfill(STEP)
                if not everything:
                    break
        except RecollectError as error:
            log.info("older rows did not get their checksums: %s", error)
            done = False
        if not done:
            self._summed.discard(tenant)

    def damage(self, tenant: str) -> Damage:
        """Read everything that is knowledge, and the journal twice: by number, and by what it tells of."""
        self.sum_rows(tenant, everything=True)
        found = Damage()
        with noticing():
            self._look_at_journal(tenant, found)
            held = {kind: dict(self._held_rows(tenant, kind, found)) for kind in SUMMED}
            for (noun, id), told in itertools.groupby(self._by_target(tenant), key=lambda row: (row[4], row[5])):
                if (kind := NOUNS.get(noun)) is None:
                    continue
                checksum = held[kind].pop(id, None)
                if why := _differs(kind, tenant, list(told), checksum):
                    found.nouns.setdefault((kind, id), why)
        for kind, left in held.items():
            found.nouns |= {(kind, id): "is in no change" for id in left if (kind, id) not in found.nouns}
        return found

    def heal(self, tenant: str) -> int:
        """Take rows that are damaged or lost from the journal; how many could be."""
        found = self.damage(tenant)
        healed = 0
        for kind, id in sorted(found.nouns, key=lambda one: one[0] is not Source):
            try:
                with self.transaction(tenant, "doctor", datetime.now(UTC)) as changes:
                    healed += changes.heal(kind, id, drop=not found.changes)
            except RecollectError as error:
                log.warning("%s %s could not be restored: %s", kind.__name__.lower(), id, error)
        return healed

    def _held_rows(self, tenant: str, kind: type[Kept], found: Damage) -> Iterator[tuple[str, int]]:
        sql, after = f"{NOUN[kind]} and id > :after order by id limit :limit", ""
        while rows := self._query(sql, tenant=tenant, after=after, limit=BATCH):
            for row in rows:
                if not is_sound(kind, tenant, row) or (row[-1] is None and tenant in self._summed):
                    found.nouns[kind, str(row[0])] = "is damaged"
                yield str(row[0]), row[-1]
            after = rows[-1][0]

    def _look_at_journal(self, tenant: str, found: Damage) -> None:
        last, before, starts = 0, None, 0
        while rows := self._query(CHAINED, tenant=tenant, after=last, limit=BATCH):
            for row in rows:
                seq, chain = int(row[0]), row[-1]
                if seq != last + 1:
                    found.changes[last + 1] = "is missing" if seq == last + 2 else f"to {seq - 1} are missing"
                    before = None
                if not is_whole(row[:-1]):
                    found.changes[seq] = "is damaged"
                elif chain is None and tenant in self._summed:
                    found.changes[seq] = "has no hash"
                elif chain is not None and seq > 1 and bytes(chain) != link(before, tenant, row, bytes(row[11])):
                    # The first change after an upgrade begins a chain of its own; there can be no second one.
                    starts += 1
                    if starts > 1 or bytes(chain) != link(None, tenant, row, bytes(row[11])):
                        found.changes[seq] = "does not follow the one before"
                elif seq == 1 and chain is not None and bytes(chain) != link(None, tenant, row, bytes(row[11])):
                    found.changes[seq] = "is altered"
                last, before = seq, None if chain is None else bytes(chain)
        if (head := self.head(tenant)) > last:
            found.changes[last + 1] = f"to {head} cannot be read"

    def _by_target(self, tenant: str) -> Iterator[tuple[Any, ...]]:
        target, seq = "", 0
        while rows := self._query(BY_TARGET, tenant=tenant, target=target, seq=seq, limit=BATCH):
            yield from sorted(rows, key=lambda row: (row[5], row[4], row[0]))
            target, seq = rows[-1][5], rows[-1][0]


def _differs(kind: type[Kept], tenant: str, rows: list[tuple[Any, ...]], checksum: int | None) -> str:
    """Why a row is not what its journal rows lead to; nothing where it is, or where they cannot tell."""
    told = list(entries(rows))
    if len(told) < len(rows):
        return ""
    noun = replayed(kind, told)
    if noun is None:
        gone = told[-1].after is None and (told[-1].operation == "purge" or not told[-1].purged)
        return "was removed and is there again" if gone and checksum is not None else ""
    if checksum is None:
        return "is lost"
    return "" if to_summed_row(noun, tenant)["checksum"] == checksum else "is not what the journal tells"
