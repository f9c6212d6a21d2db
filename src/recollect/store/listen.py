"""Waiting for news from PostgreSQL: one connection listens for all who wait in this process.

A lost `NOTIFY` does no harm: who waits also looks for itself every few seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg

from .postgres_changes import TOLD

log = logging.getLogger("recollect")
LOOK = 5.0  # seconds between two looks at the journal, whatever was heard
PATIENCE = 5  # seconds for connecting: who closes the store waits for it


class Listener:
    def __init__(self, url: str) -> None:
        self._url = url
        self._news = threading.Condition()
        self._calls: Counter[str] = Counter()  # how often each tenant was called out
        self._connected = 0
        self._thread: threading.Thread | None = None
        self._closed = False

    def wait(self, tenant: str, after: int, timeout: float, head: Callable[[str], int]) -> int:
        """The newest number of the journal, as soon as it is above `after`, or when the time is over."""
        deadline = time.monotonic() + timeout
        self._start()
        while True:
            heard = self._calls_of(tenant)  # before the look: a call that comes in between is not lost
            newest = head(tenant)
            left = deadline - time.monotonic()
            if newest > after or left <= 0 or self._closed:
                return newest
            with self._news:
                until = time.monotonic() + min(left, LOOK)
                while not self._closed and self._calls_of(tenant) == heard and (rest := until - time.monotonic()) > 0:
                    self._news.wait(rest)

    def _calls_of(self, tenant: str) -> tuple[int, int]:
        """Changes whenever it is worth looking. What was called out is only a hint: stores in other schemas of the same
        database call on the same channel, and who only believed a number could wait for one that never comes."""
        return self._calls[tenant], self._connected

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
                how: dict[str, Any] = {"application_name": "recollect listen", "connect_timeout": PATIENCE}
                with psycopg.connect(self._url, autocommit=True, **how) as con:
                    con.execute(f"listen {TOLD}")
                    with self._news:
                        self._connected += 1  # what was called out before was not heard
                        self._news.notify_all()
                    self._hear(con)
            except psycopg.OperationalError as error:
                log.info("not listening to the database for the moment: %s", error)
                with self._news:
                    self._news.wait(1.0)

    def _hear(self, con: psycopg.Connection[tuple[object, ...]]) -> None:
        while not self._closed:
            for call in con.notifies(timeout=0.5):
                with self._news:
                    self._calls[call.payload.partition(" ")[2]] += 1
                    self._news.notify_all()
