"""Counters of use, written together a little later by a thread, or when somebody reads them.

They are statistics: a crash may lose the last seconds of them, never knowledge.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from ..errors import StoreUnavailable
from ..history_types import Sighting
from ..store.contract import Store
from ..types import KINDS, STATES, Filter, Scope

DELAY = 2.0
log = logging.getLogger("recollect")


class Usage:
    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._recalled: Counter[str] = Counter()
        self._accessed: Counter[str] = Counter()
        self._sightings: list[Sighting] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def add(self, ids: Iterable[str], *, recalled: int = 0, accessed: int = 0) -> None:
        with self._lock:
            for id in ids:
                self._recalled[id] += recalled
                self._accessed[id] += accessed
            self._later()

    def saw(self, sightings: Iterable[Sighting]) -> None:
        with self._lock:
            self._sightings += sightings
            self._later()

    def _later(self) -> None:
        if self._timer is None and (self._recalled or self._sightings):
            self._timer = threading.Timer(DELAY, self.flush)
            self._timer.daemon = True
            self._timer.start()

    def flush(self) -> None:
        """Write what is noted. A store that cannot be written now keeps its memories; only the counters are lost."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            counts = {id: (count, self._accessed[id]) for id, count in self._recalled.items()}
            self._recalled.clear()
            self._accessed.clear()
            sightings, self._sightings = self._sightings, []
        if counts or sightings:
            try:
                self._store.used(self._tenant, counts, self._now())
                self._store.saw(self._tenant, sightings)
            except StoreUnavailable as error:
                log.warning("counters of use were not written: %s", error)


def counts(store: Store, tenant: str, scope: Scope) -> dict[str, Any]:
    """How many memories lie inside a scope, by state and by kind."""
    inside = Filter(scope=scope, inside=True, states=())
    by_state = {state: n for state in STATES if (n := store.count(tenant, inside.but(states=(state,))))}
    by_kind = {kind: n for kind in KINDS if (n := store.count(tenant, inside.but(kinds=(kind,))))}
    return {"memories": store.count(tenant, inside), "by_state": by_state, "by_kind": by_kind}
