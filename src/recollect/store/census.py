"""The census: what every memory of a tenant is counted by, as columns of small numbers in memory.

Counting by kind, state, trust, project, tag, source and day takes milliseconds here however the filter is set. It is
derived: when the journal is ahead, only the memories named there are read again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import ids
from ..types import Noun
from .browsing import COLUMNS, DAY, TIMES, WORDS, Sieve, date
from .index import ALWAYS, NEVER, is_among, passing
from .trail import Trace

if TYPE_CHECKING:
    from .contract import Store

MOST_TAGS, MOST_PROJECTS = 40, 60
MISSING = {"valid_from": ALWAYS, "valid_to": NEVER, "expires_at": NEVER}
MANY = 5000  # changed memories, above which all are read
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Facets(Noun):
    """How many memories there are of each sort; of states also those that are filtered out."""

    total: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    networks: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    trusts: dict[str, int] = field(default_factory=dict)
    projects: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)


class Census:
    """The counts of one tenant, as of the newest row of its journal."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self._lock = threading.Lock()
        self._forget()

    def facets(self, sieve: Sieve) -> Facets:
        """How many memories pass, in all and of each sort."""
        with self._lock:
            self._catch_up()
            return self._count(sieve)

    def _forget(self) -> None:
        self._seq = -1
        self._dead = self._sorted = 0
        self._names: dict[str, dict[str, int]] = {word: {} for word in (*WORDS, "tag")}
        self._ids = np.empty(0, f"S{ids.LENGTH}")
        self._late: dict[str, int] = {}  # rows of what came or changed since all were read, which was in order
        self._columns: dict[str, Array] = {name: np.empty(0, np.int64) for name in ("importance", *TIMES)}
        self._columns |= {word: np.empty(0, np.int32) for word in WORDS}
        self._columns |= {"happened": np.empty(0, np.int64), "alive": np.empty(0, np.bool_)}
        self._tagged, self._tags = np.empty(0, np.int64), np.empty(0, np.int32)  # row and tag of each pair

    def _catch_up(self) -> None:
        head = self._store.head(self._tenant)  # asked first: what is written meanwhile is read once more later
        if head == self._seq:
            return
        changed = self._read_changed() if 0 <= self._seq < head else None
        if changed is None or self._dead + len(changed) > max(1000, len(self._ids) // 4):
            self._forget()
            for batch in self._store.counted(self._tenant):
                self._append(batch)
            self._sorted, self._late = len(self._ids), {}
        elif changed:
            for id in changed:
                if (row := self._row(id)) is not None and self._columns["alive"][row]:
                    self._columns["alive"][row] = False
                    self._dead += 1
            for batch in self._store.counted(self._tenant, sorted(changed)):
                self._append(batch)
        self._seq = head

    def _read_changed(self) -> set[str] | None:
        """The memories that the journal names since; None where they are too many to look at one by one."""
        found: set[str] = set()
        trace = Trace(after=self._seq, nouns=("memory",))
        rows = self._store.trail(self._tenant, trace, MANY + 1)
        found.update(row.target for row in rows)
        return found if len(rows) <= MANY else None

    def _row(self, id: str) -> int | None:
        if (late := self._late.get(id)) is not None:
            return late
        at = int(np.searchsorted(self._ids[: self._sorted], id.encode()))
        return at if at < self._sorted and self._ids[at] == id.encode() else None

    def _append(self, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        values = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
        first = len(self._ids)
        self._ids = np.concatenate([self._ids, np.array([id.encode() for id in values["id"]], self._ids.dtype)])
        for word in WORDS:
            codes = np.array(self._encode(word, values[word]), np.int32)
            self._columns[word] = np.concatenate([self._columns[word], codes])
        for name in ("importance", *TIMES):
            given = [MISSING.get(name, 0) if value is None else value for value in values[name]]
            self._columns[name] = np.concatenate([self._columns[name], np.array(given, np.int64)])
        pairs = [
            (first + at, tag) for at, told in enumerate(values["tags"]) if told != "[]" for tag in json.loads(told)
        ]
        self._tagged = np.concatenate([self._tagged, np.array([row for row, _ in pairs], np.int64)])
        named = np.array(self._encode("tag", [tag for _, tag in pairs]), np.int32)
        self._tags = np.concatenate([self._tags, named])
        known = [
            one if one is not None else made
            for one, made in zip(values["valid_from"], values["created_at"], strict=True)
        ]
        self._columns["happened"] = np.concatenate([self._columns["happened"], np.array(known, np.int64)])
        self._columns["alive"] = np.concatenate([self._columns["alive"], np.ones(len(rows), np.bool_)])
        if self._sorted:
            self._late |= {id: first + at for at, id in enumerate(values["id"])}

    def _encode(self, word: str, values: Iterable[str]) -> list[int]:
        names = self._names[word]
        return [names.setdefault(value, len(names)) for value in values]

    def _count(self, sieve: Sieve) -> Facets:
        found = self._mask(sieve)
        states = self._sums("state", found)  # those too that were not asked for: they are what could be asked for
        if sieve.filter.states:
            found &= is_among(self._columns["state"], self._names["state"], sieve.filter.states)
        tags = _largest(self._names["tag"], self._tags[found[self._tagged]])
        projects = self._sums("project", found)
        days, numbers = np.unique(self._columns["created_at"][found] // DAY, return_counts=True)
        sources = self._sums("source", found)
        sources.pop("", None)
        return Facets(
            int(found.sum()), self._sums("kind", found), self._sums("network", found), states,
            self._sums("trust", found),
            dict(list(projects.items())[:MOST_PROJECTS]), dict(list(tags.items())[:MOST_TAGS]), sources,
            {date(int(day)): int(number) for day, number in zip(days, numbers, strict=True)},
        )  # fmt: skip

    def _mask(self, sieve: Sieve) -> Array:
        """Which rows pass, whatever their state."""
        more = {"trust": sieve.trusts, "source": sieve.sources}
        mask = passing(sieve.filter, self._columns.__getitem__, self._names, more)
        for tag in sieve.filter.tags:
            has = np.zeros(len(mask), np.bool_)
            has[self._tagged[self._tags == self._names["tag"].get(tag, -1)]] = True
            mask &= has
        return mask

    def _sums(self, word: str, passing: Array) -> dict[str, int]:
        return _largest(self._names[word], self._columns[word][passing])


def _largest(names: dict[str, int], codes: Array) -> dict[str, int]:
    """How often each name occurs, the most frequent first; those that do not are left out."""
    counts = np.bincount(codes, minlength=len(names)).tolist()
    found = {name: counts[code] for name, code in names.items() if counts[code]}
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))
