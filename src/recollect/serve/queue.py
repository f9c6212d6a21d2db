"""The queue of requests: some run, some wait, and the rest are refused at once with `Retry-After`.

Each caller and each tenant has a limited part of the places (429 beyond it); if all are taken, everybody gets 503. All
of it runs in the event loop, so nothing is locked.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from ..errors import Busy, RateLimited
from .metrics import Metrics

# Requests that are worked on, and that wait for it: in all, of one tenant, and of one caller.
RUNNING, RUNNING_TENANT, RUNNING_EACH = 32, 28, 24
WAITING, WAITING_TENANT, WAITING_EACH = 96, 80, 64
PATIENCE = 5.0  # seconds that one waits
RETRY = 1.0  # seconds after which whoever was refused may try again
Who = tuple[str, str]  # tenant and caller


class Queue:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._running: Counter[Who] = Counter()
        self._waiting: OrderedDict[Who, deque[anyio.Event]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, caller: Who) -> AsyncIterator[None]:
        """Wait for a turn, and have it; raises when there are too many."""
        if caller in self._waiting or not self._is_free(caller):
            await self._wait(caller)
        else:
            self._running[caller] += 1
        try:
            yield
        finally:
            self._leave(caller)

    def _is_free(self, caller: Who) -> bool:
        tenant = sum(count for (tenant, _), count in self._running.items() if tenant == caller[0])
        return self._running.total() < RUNNING and tenant < RUNNING_TENANT and self._running[caller] < RUNNING_EACH

    async def _wait(self, caller: Who) -> None:
        own = self._waiting.get(caller, deque())
        tenant = sum(len(places) for (tenant, _), places in self._waiting.items() if tenant == caller[0])
        if len(own) >= WAITING_EACH or tenant >= WAITING_TENANT:
            self._metrics.shed["caller"] += 1
            raise RateLimited("Too many requests of yours wait already.", wait=RETRY)
        if sum(map(len, self._waiting.values())) >= WAITING:
            self._metrics.shed["full"] += 1
            raise Busy(f"{WAITING} requests wait already.", wait=RETRY)
        place = anyio.Event()
        self._waiting.setdefault(caller, own).append(place)
        self._metrics.waiting += 1
        try:
            with anyio.fail_after(PATIENCE):
                await place.wait()
        except BaseException as error:
            if place.is_set():  # the turn came together with the end
                self._leave(caller)
            else:
                own.remove(place)
                if not own:
                    del self._waiting[caller]
            if isinstance(error, TimeoutError):
                self._metrics.shed["waited"] += 1
                raise Busy(f"No turn came within {PATIENCE:g} seconds.", wait=RETRY) from error
            raise
        finally:
            self._metrics.waiting -= 1

    def _leave(self, caller: Who) -> None:
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        while (following := next(filter(self._is_free, self._waiting), None)) is not None:
            own = self._waiting[following]
            self._running[following] += 1
            own.popleft().set()
            self._waiting.move_to_end(following)
            if not own:
                del self._waiting[following]
