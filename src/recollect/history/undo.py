"""Undoing single changes by the numbers of their journal rows.

All rows of a change (memory, links, evidence, tombstones) are undone in one transaction, or none: where somebody has
changed one of these since, nothing happens and the error says so. What was erased cannot be had back. A memory that
came by such a change is archived.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..agent_types import AGENT_NOUNS
from ..errors import BadInput, ChangedMeanwhile, Forbidden, NotFound
from ..history_types import TakenBack
from ..remember.write import Writer
from ..store.contract import Transaction
from ..store.rows import noun_name, record
from ..store.trail import Trace
from ..types import Entry, Evidence, Kept, Link, Memory, Tombstone
from .asof import Past, Rows, undone

SHARING = {noun_name(kind): kind for kind in AGENT_NOUNS}
KINDS: dict[str, type[Kept]] = {
    "memory": Memory, "link": Link, "evidence": Evidence, "tombstone": Tombstone, **SHARING
}  # fmt: skip
BEHIND = ("source", "embedding", "note", "checkpoint")  # rows that go along with others: what they say stays true
LIVE = ("active", "pending")
MOST_SPANS, MOST_ROWS = 1000, 5000
_SPAN = re.compile(r"\s*(\d{1,15})(?:\s*-\s*(\d{1,15}))?\s*")
N = TypeVar("N", bound=Kept)
May = Callable[[Memory], object]  # raises for a memory that is not the caller's to change


def spans(named: Sequence[str]) -> list[tuple[int, int]]:
    """Numbers of changes, such as 120 or 120-124, as pairs of first and last.

    >>> spans(["7", "9-11, 14"])
    [(7, 7), (9, 11), (14, 14)]
    """
    found = []
    for one in (part for text in named for part in text.split(",")):
        if not (match := _SPAN.fullmatch(one)):
            raise BadInput(f"{one!r:.40} is not the number of a change.", fix="Such as 120, or 120-124 for several.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last or last - first > MOST_ROWS:
            raise BadInput(f"{one!r:.40} is not a span of changes.", fix="First the smaller number.")
        found.append((first, last))
    if not 1 <= len(found) <= MOST_SPANS:
        raise BadInput(f"From 1 to {MOST_SPANS} numbers of changes can be taken back at once, not {len(found)}.")
    return found


@dataclass(frozen=True, slots=True)
class Undo:
    writer: Writer

    def run(self, changes: Sequence[str], *, by: str, may: May, reason: str) -> TakenBack:
        """Undo changes by their numbers; with `by`, only those that this actor made."""
        writer, wanted = self.writer, spans(changes)
        why = reason or "taken back"
        with writer.changing() as changing:
            rows = self._rows(wanted)
            if wrong := next((row for row in rows if by and row.actor != by), None):
                raise Forbidden(
                    f"Change {wrong.seq} was made by {wrong.actor}.", fix="Take back what you did yourself."
                )
            if by and any(row.noun in SHARING for row in rows):
                raise Forbidden(
                    "Who takes part, and what is shared, is taken back by a person who may do everything.",
                    fix="Use the command line, or a token with admin and without a wall.",
                )
            self._untouched_since(rows)
            return _Work(writer, changing, may, why).run(_by_noun(rows))

    def _rows(self, wanted: Sequence[tuple[int, int]]) -> list[Entry]:
        found: dict[int, Entry] = {}
        for first, last in wanted:
            trace = Trace(after=first - 1, until_seq=last)
            found |= {row.seq: row for row in self.writer.store.trail(self.writer.tenant, trace, MOST_ROWS + 1)}
        rows = [row for row in found.values() if row.noun not in BEHIND]
        if not rows or len(rows) > MOST_ROWS:
            raise NotFound(
                "No change that could be taken back has these numbers.", fix="See them with: recollect audit"
            )
        gone = (row for row in rows if row.purged or row.noun not in KINDS or row.operation in ("purge", "restate"))
        if wrong := next(gone, None):
            raise BadInput(f"Change {wrong.seq} cannot be taken back: {wrong.operation} of a {wrong.noun}.")
        return rows

    def _untouched_since(self, rows: Sequence[Entry]) -> None:
        """Raise where something that these rows changed stands differently now; what was taken back since does not."""
        writer, mine = self.writer, {row.seq: row for row in rows}
        last = {row.target: row for row in sorted(rows, key=lambda row: row.seq)}
        trace = Trace(after=min(mine), targets=tuple(sorted(last)), nouns=tuple(KINDS))
        later = Past(writer.store, writer.tenant).later(trace)
        for id, since in later.items():
            if not (others := [row for row in since if row.seq not in mine]):
                continue
            found = writer.store.of(writer.tenant, KINDS[last[id].noun], [id])
            now = record(found[0]) if found else None
            if others[0].seq < last[id].seq or undone(now, others) != now:
                who = others[-1].actor
                raise ChangedMeanwhile(f"The {last[id].noun} {id} was changed since, by {who}.")


def _by_noun(rows: Sequence[Entry]) -> dict[str, Rows]:
    found: dict[str, Rows] = {noun: {} for noun in KINDS}
    for row in rows:
        found[row.noun].setdefault(row.target, []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class _Work:
    """One undo under the write lock."""

    writer: Writer
    changes: Transaction
    may: May
    why: str

    def run(self, rows: dict[str, Rows]) -> TakenBack:
        # Tombstones first: what they forbid may stand again then.
        for stone in rows["tombstone"]:
            self._back(Tombstone, stone, rows["tombstone"][stone])
        restored, archived = [], []
        before = {id: self._before(Memory, id, some) for id, some in rows["memory"].items()}
        for id in sorted(before, key=lambda one: (_lives(before[one]), one)):  # what leaves makes room for its twin
            memory, then = self.changes.get(Memory, id), before[id]
            if memory is None:
                raise NotFound(f"Memory {id} is gone.")
            self.may(memory)
            if then is None:
                self.changes.put(replace(memory, state="archived"), "undo", self.why)
                archived.append(id)
                continue
            self.may(then)
            if _lives(then):
                self.writer.may_stand(self.changes, then)
            self.changes.put(then, "undo", self.why)
            restored.append(id)
        evidence = sum(self._back(Evidence, id, some) for id, some in rows["evidence"].items())
        links = sum(self._tie(id, some, archived) for id, some in rows["link"].items())
        for noun, kind in SHARING.items():
            for id, some in rows[noun].items():
                self._back(kind, id, some)
        return TakenBack(tuple(restored), tuple(archived), links, evidence)

    def _before(self, kind: type[N], id: str, rows: Sequence[Entry]) -> N | None:
        now = self.changes.get(kind, id)
        fields = undone(record(now) if now else None, rows)
        return kind.from_dict(fields) if fields is not None else None

    def _back(self, kind: type[Kept], id: str, rows: Sequence[Entry]) -> bool:
        """Something that came goes, and what went comes back."""
        then = self._before(kind, id, rows)
        self._whose(then or self.changes.get(kind, id))
        if then is None:
            return self.changes.drop(kind, id, "undo", self.why)
        return self.changes.put(then, "undo", self.why)

    def _whose(self, noun: Kept | None) -> None:
        """Raise where what hangs on a memory is not the caller's to change."""
        owner = noun.origin if isinstance(noun, Link) else getattr(noun, "memory", "")
        if memory := self.changes.get(Memory, owner):
            self.may(memory)

    def _tie(self, id: str, rows: Sequence[Entry], archived: Sequence[str]) -> bool:
        """What an archived memory mentions stays tied to it, in case it is brought back."""
        link = self.changes.get(Link, id)
        if link and link.relation == "mentions" and link.origin in archived:
            return False
        return self._back(Link, id, rows)


def _lives(memory: Memory | None) -> bool:
    return memory is not None and memory.state in LIVE
