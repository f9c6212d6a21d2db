"""Waiting for news from PostgreSQL: one connection listens for all who wait in this process.

Who writes to the journal calls out its tenant and number (`NOTIFY`). A lost call does no harm: who waits also looks
for itself every few seconds, and everything that is derived asks the journal before use.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import psycopg

from .postgres_changes import TOLD

log = logging.getLogger("recollect")
LOOK = 5.0  # seconds between two looks at the journal, whatever was heard


class Listener:
    def __init__(self, url: str) -> None:
        self._url = url
        self._news = threading.Condition()
        self._heads: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def wait(self, tenant: str, after: int, timeout: float, head: Callable[[str], int]) -> int:
        """The newest number of the journal, as soon as it is above `after`, or when the time is over."""
        deadline = time.monotonic() + timeout
        self._start()
        while True:
            newest = head(tenant)
            left = deadline - time.monotonic()
            if newest > after or left <= 0 or self._closed:
                return newest
            with self._news:
                self._news.wait_for(lambda: self._closed or self._heads.get(tenant, 0) > after, timeout=min(left, LOOK))

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread:
            self._thread.join()

    def _start(self) -> None:
        with self._news:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._listen, name="recollect-listen", daemon=True)
                self._thread.start()

    def _listen(self) -> None:
        while not self._closed:
            try:
                with psycopg.connect(self._url, autocommit=True, application_name="recollect listen") as con:
                    con.execute(f"listen {TOLD}")
                    self._hear(con)
            except psycopg.OperationalError as error:
                log.info("not listening to the database for the moment: %s", error)
                with self._news:
                    self._news.wait(1.0)

    def _hear(self, con: psycopg.Connection[tuple[object, ...]]) -> None:
        while not self._closed:
            for call in con.notifies(timeout=0.5):
                seq, _, tenant = call.payload.partition(" ")
                with self._news:
                    self._heads[tenant] = max(int(seq), self._heads.get(tenant, 0))
                    self._news.notify_all()
