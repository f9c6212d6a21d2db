"""The hashing embedder: likeness of letters, not of meaning, in microseconds and without any weights.

Each word and each trigram of its letters is hashed to one of 384 places and a sign. Words of up to three letters count
half. It rests on crc32 alone, so a vector is the same on every machine. It serves tests and stores that want no model.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from .embedder import Role, checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_LETTERS = 32_768  # what is read of a text: as much as a model with 512 tokens could ever see


class HashingEmbedder:
    """Deterministic, dependency-free, good for near-identical texts only."""

    model = "hashing/1"
    dimension = 384

    def warm(self) -> None:
        """Nothing to load but numpy."""
        import numpy  # noqa: F401  (the import is the point)

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        import numpy as np

        texts = checked(texts, role)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                place = zlib.crc32(feature.encode())
                # The top bit gives the sign, as the low ones already chose the place.
                row[place % self.dimension] += weight if place >> 31 else -weight
            row /= np.linalg.norm(row)
        return rows.astype(np.float32)


def _features(text: str) -> Iterator[tuple[str, float]]:
    """
    >>> sorted(feature for feature, _ in _features("No, no!"))
    ['3: no', '3:no ', 'w:no']
    """
    words = Counter(_WORD.findall(text[:_LETTERS].lower()))
    if not words:
        yield "nothing", 1.0  # a unit vector for a text without words
    grams: Counter[str] = Counter()
    shares: dict[str, float] = {}
    for word, count in words.items():
        share = 0.5 if len(word) <= 3 else 1.0
        yield f"w:{word}", 0.8 * share * (1 + log(count))
        padded = f" {word} "
        for start in range(len(word)):
            gram = padded[start : start + 3]
            grams[gram] += count
            shares[gram] = max(share, shares.get(gram, 0.0))
    for gram, count in grams.items():
        yield f"3:{gram}", 0.4 * shares[gram] * (1 + log(count))
