"""Vectors: sign codes and the three-stage scan, in plain numpy. Pure.

A vector is kept in half precision and as sign bits in memory, column by column. A search narrows in three stages:
Hamming distance of the bits over everything, the float query against the bits of the survivors, and the exact product
on a few hundred. Small products go through einsum, because the threads of BLAS cost more than they save here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

SECOND, THIRD = 2000, 400  # how many survive the first and the second stage
CHUNKS = 8  # vectors looked at for each memory that is wanted, because one may have several
SPARSE = 4  # rows for each one that a mask lets through, from which those alone are compared
SAMPLED = 16  # rows of which one is counted to guess a cut
BLOCK = 16384  # rows a block: the distances of one block stay in the first-level cache


def halves(vectors: Floats) -> list[bytes]:
    """Each row in half precision, as it is stored."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def floats(blobs: list[bytes]) -> Floats:
    """The stored form read back."""
    if not blobs:
        return np.empty((0, 0), np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), -1).astype(np.float32)


def codes(vectors: Floats) -> NDArray[np.uint8]:
    """The sign bits of each row, padded to whole 64-bit words.

    >>> codes(np.array([[1, -1, 0.5, -2]], np.float32))[0, 0]
    np.uint8(5)
    """
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))


def dots(rows: Floats, query: Floats) -> Floats:
    return np.asarray(np.einsum("ij,j->i", rows, query), np.float32)


def nearest_each(
    ids: list[str], vectors: list[NDArray[np.float16]], queries: Sequence[Floats], limit: int
) -> list[list[tuple[str, float]]]:
    """For each query, the ids with the highest product of one of their vectors, best first."""
    if not ids:
        return [[] for _ in queries]
    scores = np.asarray(queries, np.float32) @ np.array(vectors, np.float32).T
    found: list[list[tuple[str, float]]] = []
    for row in scores:
        few: dict[str, float] = {}
        for n in best(row, min(len(row), CHUNKS * limit)).tolist():
            few.setdefault(ids[n], float(row[n]))
        found.append(list(few.items())[:limit])
    return found


class Bits:
    """Sign codes of many vectors, column by column, growing at the end."""

    def __init__(self, packed: NDArray[np.uint64] | None = None) -> None:
        self._words = np.empty((0, 0), np.uint64) if packed is None else packed
        self.count = self._words.shape[1]

    @property
    def packed(self) -> NDArray[np.uint64]:
        """The words in use, one row a column of 64 bits."""
        return self._words[:, : self.count]

    def append(self, codes: NDArray[np.uint8]) -> None:
        if not len(codes):
            return
        new = np.ascontiguousarray(codes).view(np.uint64).T
        if self.count + new.shape[1] > self._words.shape[1]:
            grown = np.empty((new.shape[0], max(1024, (self.count + new.shape[1]) * 9 // 8)), np.uint64)
            if self.count:
                grown[:, : self.count] = self.packed
            self._words = grown
        self._words[:, self.count : self.count + new.shape[1]] = new
        self.count += new.shape[1]

    def keep(self, rows: Rows) -> None:
        self._words = np.ascontiguousarray(self.packed[:, rows])
        self.count = len(rows)

    def distances(self, query: Floats, rows: Rows | None = None) -> NDArray[np.uint16]:
        """The Hamming distance of the query's signs to every code, or to those of some rows."""
        probe = codes(query[None, :]).view(np.uint64)[0]
        total = np.zeros(self.count if rows is None else len(rows), np.uint16)
        if rows is not None:
            for column, word in zip(self._words, probe, strict=True):
                total += np.bitwise_count(column[rows] ^ word)
            return total
        for start in range(0, self.count, BLOCK):
            block = total[start : start + BLOCK]
            for column, word in zip(self._words, probe, strict=True):
                block += np.bitwise_count(column[start : min(start + BLOCK, self.count)] ^ word)
        return total

    def likeness(self, rows: Rows, query: Floats) -> Floats:
        """The float query against the signs of some rows: finer than Hamming, coarser than the product."""
        packed = np.ascontiguousarray(self._words[:, rows].T).view(np.uint8)
        signs = np.unpackbits(packed, axis=1, count=len(query), bitorder="little")
        return dots(signs.astype(np.float32), query)


def nearest(distances: NDArray[np.uint16], count: int) -> Rows:
    """At least `count` rows with the smallest distances (all rows of the last distance taken), unordered.

    Distances are small whole numbers, so counting them finds the cut without sorting.

    >>> nearest(np.array([3, 1, 2, 9], np.uint16), 2)
    array([1, 2])
    """
    if count >= len(distances):
        return np.arange(len(distances))
    if len(distances) > 4 * BLOCK:  # where every sixteenth shows about where the cut is, the rest need no counting
        sample = distances[::SAMPLED]
        guess = int(np.searchsorted(np.cumsum(np.bincount(sample)), 1.5 * count / SAMPLED + SAMPLED))
        few = np.flatnonzero(distances <= guess)
        if count <= len(few) < len(distances):
            return few[nearest(distances[few], count)]
    cut = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
    return np.flatnonzero(distances <= cut)


def best(scores: Floats, count: int) -> Rows:
    """The rows of the `count` highest scores, best first.

    >>> best(np.array([0.1, 0.9, 0.5], np.float32), 2)
    array([1, 2])
    """
    if count < len(scores):
        some = np.argpartition(-scores, count)[:count]
        return some[np.argsort(-scores[some], kind="stable")]
    return np.argsort(-scores, kind="stable")


def shortlist(bits: Bits, mask: Mask | None, query: Floats, third: int = THIRD, center: Floats | float = 0.0) -> Rows:
    """The rows worth an exact look: the first two stages, over the rows that the mask lets through.

    The codes are signs around the centre. For one query, the product with a vector and with the vector less the
    centre differ by a constant, so the second stage takes the query as it is.
    """
    allowed = bits.count if mask is None else int(mask.sum())
    if allowed <= SECOND:
        rows = np.arange(bits.count) if mask is None else np.flatnonzero(mask)
        return rows if allowed <= third else rows[best(bits.likeness(rows, query), third)]
    probe, wanted = np.asarray(query - center, np.float32), max(SECOND, min(4 * SECOND, allowed // 50))
    if mask is not None and allowed * SPARSE < bits.count:
        rows = np.flatnonzero(mask)
        survivors = rows[nearest(bits.distances(probe, rows), wanted)]
    else:
        distances = bits.distances(probe)
        if mask is not None:
            distances[~mask] = 8 * 8 * len(bits.packed) + 1
        survivors = nearest(distances, wanted)
    return survivors[best(bits.likeness(survivors, query), third)]
