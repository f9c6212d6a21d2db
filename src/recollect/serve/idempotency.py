"""Idempotency keys: a write sent again with the same key is answered again, not done again. In memory, for a day."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from starlette.responses import Response

from ..errors import BadInput

MOST = 4096
LARGEST = 65_536  # bytes of an answer that is kept whole
LIFE = timedelta(days=1)
MAX_KEY = 200


@dataclass(slots=True)
class Kept:
    request: str
    at: datetime
    lock: threading.Lock = field(default_factory=threading.Lock)
    answer: tuple[int, dict[str, str], bytes] | None = None


class Answers:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, str], Kept] = OrderedDict()

    def once(
        self, who: tuple[str, str], key: str, request: tuple[str, str, bytes], act: Callable[[], Response]
    ) -> Response:
        """The answer of the first request with that key; `act` runs only when there is none."""
        if not 1 <= len(key) <= MAX_KEY:
            raise BadInput(f"Idempotency-Key must have from 1 to {MAX_KEY} characters.")
        method, path, body = request
        told = hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()
        kept = self._entry((*who, key), told)
        if kept.request != told:
            raise BadInput("That Idempotency-Key was used for another request.", fix="Use a fresh key.")
        with kept.lock:
            if kept.answer is None:
                response = act()
                # A failure is not an outcome: sent again, it is tried again.
                if response.status_code < 400 and len(response.body) <= LARGEST:
                    kept.answer = response.status_code, dict(response.headers), bytes(response.body)
                return response
            status, headers, content = kept.answer
        return Response(content, status, headers | {"Idempotency-Replayed": "true"})

    def _entry(self, key: tuple[str, str, str], told: str) -> Kept:
        now = self._now()
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or now - kept.at > LIFE:
                kept = self._kept[key] = Kept(told, now)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept
