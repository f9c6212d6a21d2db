"""The ledger of every store: what models cost, by day, project, operation and model.

Rows are sums: a booking adds to the row of its day, a correction may be negative. Money is counted in billionths of a
dollar. It is not knowledge, and not in the journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from ..types import Noun
from .backend import Backend

DOLLAR = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Spent(Noun):
    """What one day (UTC) cost of one operation with one model in one project."""

    day: str
    project: str
    operation: str
    model: str
    calls: int = 0
    refused: int = 0  # calls that were put off because a budget was spent
    tokens_in: int = 0
    tokens_out: int = 0
    nanos: int = 0  # billionths of a dollar
    estimated: int = 0  # how many of the calls told no tokens, so that they were estimated


KEYS = ("day", "project", "operation", "model")
NAMES = tuple(f.name for f in fields(Spent))
SUMS = tuple(name for name in NAMES if name not in KEYS)
COLUMNS = ", ".join(NAMES)
ROW = f"insert into ledger (tenant, {COLUMNS}) values (:tenant, {', '.join(f':{name}' for name in NAMES)})"
KEY = f"on conflict (tenant, {', '.join(KEYS)}) do update set"
BOOK = f"{ROW} {KEY} {', '.join(f'{name} = ledger.{name} + excluded.{name}' for name in SUMS)}"
RESTORE = f"{ROW} {KEY} {', '.join(f'{name} = excluded.{name}' for name in SUMS)}"
SPENT = f"""
    select {COLUMNS} from ledger where tenant = :tenant and day >= :since and day <= :until
    order by {", ".join(KEYS)}"""
TOTAL = """
    select coalesce(sum(nanos), 0), coalesce(sum(case when day = :until then nanos else 0 end), 0),
      coalesce(sum(case when day = :until then tokens_in + tokens_out else 0 end), 0)
    from ledger where tenant = :tenant and day >= :since and day <= :until"""


class Ledger(Backend):
    """The part of a store that keeps the ledger."""

    def book(self, tenant: str, spent: Spent) -> None:
        """Add to the sums of a day; a correction may be negative."""
        self._alter(tenant, BOOK, [_row(tenant, spent)])

    def spent(self, tenant: str, since: str = "", until: str = "9999-12-31") -> list[Spent]:
        """The sums of the days from `since` to `until`, both included, in order."""
        return [Spent(*row) for row in self._query(SPENT, tenant=tenant, since=since, until=until)]

    def spending(self, tenant: str, since: str, day: str) -> tuple[int, int, int]:
        """The money since a day, the money of `day`, and the tokens of `day`."""
        month, today, tokens = self._query(TOTAL, tenant=tenant, since=since, until=day)[0]
        return int(month), int(today), int(tokens)

    def restore_ledger(self, tenant: str, rows: Sequence[Spent]) -> None:
        """Set sums as they stand here (a copy of another store)."""
        self._alter(tenant, RESTORE, [_row(tenant, spent) for spent in rows])


def _row(tenant: str, spent: Spent) -> dict[str, Any]:
    return {"tenant": tenant, **dict(zip(NAMES, astuple(spent), strict=True))}
