"""Records of use, written together a little later by a thread, or when somebody reads them.

Counters and sightings are statistics; what agents looked up goes into the journal. A crash may lose the last seconds of
them, never knowledge.
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
        self._looked: dict[str, list[tuple[str, str]]] = {}
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

    def looked(self, actor: str, target: str, reason: str) -> None:
        """Note that somebody looked something up: written later, because nobody who reads waits for the lock."""
        with self._lock:
            self._looked.setdefault(actor, []).append((target, reason))
            self._later()

    def _later(self) -> None:
        if self._timer is None and (self._recalled or self._sightings or self._looked):
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
            looked, self._looked = self._looked, {}
        if counts or sightings or looked:
            try:
                for actor, rows in looked.items():
                    with self._store.transaction(self._tenant, actor, self._now()) as changes:
                        for target, reason in rows:
                            changes.note("look up", target, reason)
                if counts or sightings:
                    self._store.used(self._tenant, counts, self._now())
                    self._store.saw(self._tenant, sightings)
            except StoreUnavailable as error:
                log.warning("records of use were not written: %s", error)


def counts(store: Store, tenant: str, scope: Scope) -> dict[str, Any]:
    """How many memories lie inside a scope, by state and by kind."""
    inside = Filter(scope=scope, inside=True, states=())
    by_state = {state: n for state in STATES if (n := store.count(tenant, inside.but(states=(state,))))}
    by_kind = {kind: n for kind in KINDS if (n := store.count(tenant, inside.but(kinds=(kind,))))}
    return {"memories": store.count(tenant, inside), "by_state": by_state, "by_kind": by_kind}
