"""The contract of a store. `tests/test_store.py` is its meaning; every implementation passes it.

Every method names the tenant first. Reads take a snapshot of their own. Writes happen only inside `transaction`, which
holds the write lock of the tenant: what is read there cannot change before it ends, and everything it did lands or
nothing does. A transaction (`changes.py`) changes knowledge only through `put`, `drop` and `purge`, and each of them
appends the journal row of that change; there is no other way in.

What is the same for every database is inherited; a database adds what stands here and in `Backend`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..types import Check, Filter
from .access import Access
from .answers import Answers
from .browsing import Browsing
from .changes import Changes
from .graph_reading import GraphReading
from .guard import Guard
from .jobs import Jobs
from .ledger import Ledger
from .trail import Trail

if TYPE_CHECKING:
    from ..vectors import Floats

Transaction = Changes


class Store(Jobs, Access, Ledger, Answers, Trail, Guard, GraphReading, Browsing):
    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def changed(self, tenant: str, after: int, timeout: float) -> int:
        """Wait until the journal has a row above the number `after`, or the seconds are over; the newest number."""

    @abstractmethod
    def match(self, tenant: str, terms: Sequence[str], filter: Filter, limit: int) -> list[tuple[str, float]]:
        """Full text: ids with their BM25, best first. How rare a word is, is counted in what the scope shows."""

    @abstractmethod
    def frequencies(self, tenant: str, terms: Sequence[str], filter: Filter) -> tuple[int, dict[str, int]]:
        """How many memories the filter's scope lets through, and in how many of them each term occurs."""

    @abstractmethod
    def nearest(self, tenant: str, model: str, query: Floats, filter: Filter, limit: int) -> list[tuple[str, float]]:
        """Vectors: ids with the cosine of their best chunk, best first."""

    def nearest_each(
        self, tenant: str, model: str, queries: Sequence[Floats], filter: Filter, limit: int
    ) -> list[list[tuple[str, float]]]:
        """The same for each of some queries; a backend may find them all at once."""
        return [self.nearest(tenant, model, query, filter, limit) for query in queries]

    @abstractmethod
    def vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Floats]]:
        """The vectors of memories by model, one row a chunk; memories that have none are left out."""

    @abstractmethod
    def cosines(self, tenant: str, model: str, query: Floats, ids: Sequence[str]) -> dict[str, float]: ...

    @abstractmethod
    def stats(self, tenant: str) -> dict[str, Any]: ...

    @abstractmethod
    def check(self, tenant: str) -> list[Check]: ...

    @abstractmethod
    def leftovers(self, tenant: str, texts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """Where texts were looked for after a purge, where one of them is still found, and where nobody can look."""

    @abstractmethod
    def mend(self) -> None:
        """Take damaged rows from the journal, and build again what is derived inside the store."""

    @abstractmethod
    def save(self) -> None:
        """Write what is derived and worth keeping for the next process."""

    @abstractmethod
    def tidy(self) -> dict[str, Any]:
        """Tend what the backend keeps for itself (statistics, free space, full text), and say what was done."""

    @abstractmethod
    def reindex(self, tenant: str, model: str) -> None:
        """Build the vector index of a model again."""

    @abstractmethod
    def drop_vectors(self, tenant: str, model: str) -> int:
        """Drop the vectors of a model, which is not in use any more; gives how many there were."""
