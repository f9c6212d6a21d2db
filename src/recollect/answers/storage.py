"""Storage: the vectors of the questions of one user and project, in memory, for finding those that mean nearly the
same.

Derived. Before each look a place asks the store for what changed since its last number, and counts: where a row is
gone, or came in out of order, it is read anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..store.contract import Store

if TYPE_CHECKING:
    from ..vectors import Floats

PLACES = 64  # places that are held at once; the one not looked at for longest goes


class Place:
    def __init__(self) -> None:
        self._ids: list[str] = []
        self._at: dict[str, int] = {}
        self._rows: Floats | None = None
        self.after = 0

    def __len__(self) -> int:
        return len(self._ids)

    def take(self, rows: list[tuple[str, int, bytes]]) -> None:
        """Put new and changed vectors in their place."""
        import numpy as np

        from ..vectors import floats

        if not rows:
            return
        made = floats([vector for *_, vector in rows])
        for (id, changed, _), vector in zip(rows, made, strict=True):
            at = self._at.setdefault(id, len(self._ids))
            if at == len(self._ids):
                self._ids.append(id)
            if self._rows is None or at >= len(self._rows):
                grown = np.zeros((max(64, 2 * len(self._ids)), made.shape[1]), np.float32)
                if self._rows is not None:
                    grown[: len(self._rows)] = self._rows
                self._rows = grown
            self._rows[at] = vector
            self.after = max(self.after, changed)

    def near(self, query: Floats, most: int, least: float) -> list[tuple[str, float]]:
        from ..vectors import best, dots

        if self._rows is None:
            return []
        cosines = dots(self._rows[: len(self._ids)], query)
        return [(self._ids[at], float(cosines[at])) for at in best(cosines, most).tolist() if cosines[at] >= least]


class QuestionVectors:
    """The vectors of all places of a tenant."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str, str], Place] = OrderedDict()

    def near(
        self, user: str, project: str, model: str, query: Floats, most: int, least: float
    ) -> list[tuple[str, float]]:  # fmt: skip
        """The ids of the questions nearest to a vector, with their cosines, best first."""
        where = user, project, model
        with self._lock:
            held = self._held.setdefault(where, Place())
            self._held.move_to_end(where)
            while len(self._held) > PLACES:
                self._held.popitem(last=False)
            size, rows = self._store.shelf(self._tenant, *where, held.after)
            held.take(rows)
            if len(held) != size:
                held = self._held[where] = Place()
                held.take(self._store.shelf(self._tenant, *where, 0)[1])
            return held.near(query, most, least)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
