"""A cache of embeddings on disk, so that the second run of a benchmark costs seconds.

One file a model: records of a 16-byte hash of role and text, then the vector in float32. Only ever appended to, in one
write a batch; a record cut off by a crash is left out when the file is read. A text has one vector by the contract of
embedders, so a cached one is the same, bit for bit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recollect.models.embedder import Embedder, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARK = 16


class CachedEmbedder:
    """An embedder that asks another one only for what it has not seen before."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._lock = Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', inner.model)}-{inner.dimension}.vectors"
        self._known: dict[bytes, NDArray[np.float32]] = {}
        self._read()

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    def warm(self) -> None:
        """Nothing: the model is loaded when something new is asked of it."""

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        marks = [_mark(text, role) for text in texts]
        with self._lock:
            fresh = {mark: text for mark, text in zip(marks, texts, strict=True) if mark not in self._known}
            if fresh:
                self._append(list(fresh), self._inner.embed(list(fresh.values()), role))
            if not marks:
                return np.zeros((0, self.dimension), dtype=np.float32)
            return np.stack([self._known[mark] for mark in marks])

    def _read(self) -> None:
        if not self._path.exists():
            return
        size = MARK + 4 * self.dimension
        raw = self._path.read_bytes()
        whole = len(raw) // size * size
        if whole != len(raw):  # a record was cut off: what is appended next must start where a record starts
            with self._path.open("r+b") as file:
                file.truncate(whole)
        rows = np.frombuffer(raw[:whole], dtype=np.uint8).reshape(-1, size)
        vectors = np.ascontiguousarray(rows[:, MARK:]).view("<f4")
        self._known = {row[:MARK].tobytes(): vector for row, vector in zip(rows, vectors, strict=True)}

    def _append(self, marks: list[bytes], vectors: NDArray[np.float32]) -> None:
        records = b"".join(mark + row.astype("<f4").tobytes() for mark, row in zip(marks, vectors, strict=True))
        with self._path.open("ab", buffering=0) as file:
            file.write(records)
        self._known.update(zip(marks, vectors, strict=True))


def _mark(text: str, role: Role) -> bytes:
    return hashlib.blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=MARK).digest()
