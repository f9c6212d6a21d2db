"""Full text in SQLite: BM25 over the words of a question, a word's rarity counted in what the caller may see.

FTS5's own ranking counts the words of every tenant, so it is asked for one word at a time, where it is how often the
word stands in a memory (`spread`) times how rare it is in the whole file; how rare it is in what the caller may see is
counted here, and takes its place. Where the words of a question stand in very many memories, those that hold a rare
one are found first, and its common words are looked for in them alone.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import apsw

from ..types import Filter
from . import filters, sqlite_file, words
from .reading import COUNT, MANY_CHANGES, Figures
from .rows import to_json
from .sqlite_tending import Tending
from .statements import HEAD

SPREAD = "select f.rowid, -f.rank from memory_fts f where f.memory_fts match :match"
SPREAD_BEHIND_WALL = """
    select f.rowid, -f.rank from memory_fts f cross join memory m on m.n = f.rowid
    where f.memory_fts match :match and m.tenant = :tenant {where}"""
NEWEST = " order by f.rowid desc limit :most"
HOLDING = "select count(*) from memory_fts f where f.memory_fts match :match"
HOLDING_BEHIND_WALL = """
    select count(*) from memory_fts f cross join memory m on m.n = f.rowid
    where f.memory_fts match :match and m.tenant = :tenant {where}"""
OTHERS = """
    select exists (select 1 from memory where tenant < :tenant)
      or exists (select 1 from memory where tenant > :tenant)"""
CHOSEN = (
    "select m.n, m.id from memory m where m.n in (select value from json_each(:rows)) and m.tenant = :tenant {where}"
)
LENGTHS = "select id, sz from memory_fts_docsize where id in (select value from json_each(?))"
AVERAGES = "select block from memory_fts_data where id = 1"
SHARE = "select (select count(*) from memory where tenant = :tenant) * 1.0 / max(1, (select count(*) from memory))"

FIRST_LOOK = 200  # matches of a full text query that are scored by their length too
COMMON = 20_000  # memories in which the words of a question stand, from which not all are looked at
POSTINGS = 3000  # those that are looked at then, from the rarest word on
PAIRED = 3  # common words that are looked for two at a time


@dataclass(frozen=True, slots=True)
class Seen:
    """What a caller's scope shows of the full text index."""

    spread: str  # the statement that gives rows and ranks
    count: str
    values: dict[str, Any]
    within: str  # what keeps a query to the tenant or the project

    def about(self, said: str) -> dict[str, Any]:
        """The values of a statement that asks for these words."""
        return {**self.values, "match": f"{self.within}({said})"}


class FullText(Tending):
    _figures: Figures

    @abstractmethod
    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        """This thread's own connection, inside one snapshot."""

    def match(self, tenant: str, terms: Sequence[str], filter: Filter, limit: int) -> list[tuple[str, float]]:
        if not terms:
            return []
        with self._reading() as con:
            rows, *sizes = _varints(con.execute(AVERAGES).get) or [0]
            told, rarity = self._told(con, tenant, terms, filter, rows, limit)
            rough = {n: sum(rarity[term] * part for term, part in parts.items()) for n, parts in told.items()}
            best = sorted(rough, key=lambda n: (-rough[n], n))
            chosen = self._chosen(con, tenant, best, filter, max(FIRST_LOOK, 4 * limit))
            sized: list[Any] = con.execute(LENGTHS, (to_json(list(chosen)),)).fetchall()
        average, scored = sum(sizes) / max(rows, 1), []
        for n, size in sized:
            parts = [(rarity[term], part) for term, part in told[n].items()]
            scored.append((chosen[n], words.score(parts, sum(_varints(size)), average)))
        return sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]

    def _told(
        self, con: apsw.Connection, tenant: str, terms: Sequence[str], filter: Filter, rows: int, limit: int
    ) -> tuple[dict[int, dict[str, float]], dict[str, float]]:
        """The memories that hold the words, with how each is spread in them, and how rare each is."""
        seen, total = self._seen(con, tenant, filter), self._breadth(con, tenant, filters.wall(filter))
        everywhere = {term: self._count_everywhere(con, term, rows) for term in terms}
        theirs = {term: max(math.log((rows - n + 0.5) / (n + 0.5)), 1e-6) for term, n in everywhere.items()}
        most, common = max(POSTINGS, 20 * limit), list[str]()
        if sum(everywhere.values()) > max(COMMON, most):
            held = {term: self._count_kept(con, tenant, HOLDING, seen.about(f'"{term}"')) for term in everywhere}
            common = _common(held, most)
        told: dict[int, dict[str, float]] = {}
        rarity: dict[str, float] = {}
        rare = [term for term in everywhere if term not in common]
        for term in rare:
            spread: list[Any] = con.execute(seen.spread, seen.about(f'"{term}"')).fetchall()
            rarity[term] = words.rarity(total, len(spread))
            for n, score in spread:
                told.setdefault(n, {})[term] = score / theirs[term]
        if common:
            rarity |= {term: words.rarity(total, self._holding(con, tenant, seen, term)) for term in common}
            for said, meant, newest in _bounded(rare, common, most, len(told) < limit):
                values = seen.about(said) | ({"most": newest} if newest else {})
                found: list[Any] = con.execute(seen.spread + (NEWEST if newest else ""), values).fetchall()
                # FTS5 gives the sum over all words: what the known ones leave of it is of the others, spread evenly.
                weight = sum(theirs[term] for term in meant)
                for n, score in found:
                    parts = told.setdefault(n, {})
                    left = score - (sum(theirs[term] * parts.get(term, 0.0) for term in rare) if not newest else 0.0)
                    parts.update(dict.fromkeys(meant, max(0.0, left) / weight))
        return told, rarity

    def _seen(self, con: apsw.Connection, tenant: str, filter: Filter) -> Seen:
        conditions, values = self._where(filters.wall(filter))
        values["tenant"] = tenant
        alone = not conditions and not con.execute(OTHERS, values).get
        # The wall costs more than it saves where the tenant is most of the store and no project is asked for.
        walled = filter.scope.project or self._count_kept(con, tenant, SHARE, {}) <= 0.5
        within = f"wall : ({self._wall(tenant, filter)}) AND " if walled else ""
        spread, count = (SPREAD, HOLDING) if alone else (SPREAD_BEHIND_WALL, HOLDING_BEHIND_WALL)
        return Seen(spread.format(where=conditions), count.format(where=conditions), values, within)

    def _holding(self, con: apsw.Connection, tenant: str, seen: Seen, term: str) -> int:
        """How many memories that the caller may see hold a word."""
        return int(self._count_kept(con, tenant, seen.count, seen.about(f'"{term}"')))

    def _chosen(
        self, con: apsw.Connection, tenant: str, best: Sequence[int], filter: Filter, limit: int
    ) -> dict[int, str]:  # fmt: skip
        """The best that pass a filter, with their ids."""
        conditions, values = self._where(filter)
        chosen: dict[int, str] = {}
        for start in range(0, len(best), limit):
            values |= {"tenant": tenant, "rows": to_json(best[start : start + limit])}
            rows: list[Any] = con.execute(CHOSEN.format(where=conditions), values).fetchall()
            passed = dict(rows)
            chosen |= {n: passed[n] for n in best[start : start + limit] if n in passed}
            if len(chosen) >= limit:
                break
        return dict(itertools.islice(chosen.items(), limit))

    def frequencies(self, tenant: str, terms: Sequence[str], filter: Filter) -> tuple[int, dict[str, int]]:
        with self._reading() as con:
            seen = self._seen(con, tenant, filter)
            found = {term: self._holding(con, tenant, seen, term) for term in terms}
            total = self._breadth(con, tenant, filters.wall(filter))
        found = {term: count for term, count in found.items() if count}
        return max(total, *found.values(), 1), found

    def _wall(self, tenant: str, filter: Filter) -> str:
        if not filter.scope.project:
            return sqlite_file.wall(tenant, "").split()[0]
        projects = [filter.scope.project] if filter.inside else [filter.scope.project, ""]
        return " OR ".join(sqlite_file.wall(tenant, project).split()[1] for project in projects)

    def _breadth(self, con: apsw.Connection, tenant: str, filter: Filter) -> int:
        """How many memories pass a filter."""
        conditions, values = self._where(filter)
        return int(self._count_kept(con, tenant, COUNT.format(where=conditions), values))

    def _count_everywhere(self, con: apsw.Connection, term: str, rows: int) -> float:
        """How many memories of all tenants hold a word. FTS5 ranks by it, so a small file is always counted anew."""

        def count() -> float:
            return float(con.execute(HOLDING, {"match": f'"{term}"'}).get)

        return self._figures.get(f"{HOLDING}\0{term}", rows, count) if rows > MANY_CHANGES else count()

    def _count_kept(self, con: apsw.Connection, tenant: str, sql: str, values: dict[str, Any]) -> float:
        values = {"tenant": tenant, **values}
        head = int(con.execute(HEAD, values).get)
        return self._figures.get(f"{sql}\0{values}", head, lambda: float(con.execute(sql, values).get))


def _common(held: dict[str, float], most: int) -> list[str]:
    """The words that are left, the rarest first, when those before them stand in as many places as may be looked at.

    >>> _common({"the": 900, "of": 500, "gateway": 3, "zebra": 0}, 100)
    ['of', 'the']
    """
    order = sorted(held, key=lambda term: (held[term], term))
    places = list(itertools.accumulate(held[term] for term in order))
    return [term for term, place in zip(order, places, strict=True) if place > most]


def _bounded(
    rare: list[str], common: list[str], most: int, few: bool
) -> Iterator[tuple[str, list[str], int]]:  # fmt: skip
    """Where common words are looked for: the expression, the words whose score it tells, and how many at most, or all.

    In the memories that hold a rare word; where they are few, also in the newest that hold two of the rarest common
    ones, or one.
    """
    if rare:
        yield f"({_any(rare)}) AND ({_any(common)})", common, 0
    if few:
        yield _any(common[:1]), common[:1], most // 2
        for pair in itertools.combinations(common[:PAIRED], 2):
            yield " AND ".join(f'"{term}"' for term in pair), list(pair), most // 2


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _varints(packed: bytes) -> list[int]:
    """The numbers in a record of FTS5: seven bits a byte, the highest first, the last byte below 128."""
    numbers, value = [], 0
    for byte in packed:
        value = value << 7 | byte & 127
        if byte < 128:
            numbers.append(value)
            value = 0
    return numbers
