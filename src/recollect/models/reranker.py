"""Rerankers: a closer look at a question and a few candidates together.

`LateInteraction` needs no weights of its own: it compares the question's token vectors with each candidate's, by the
model that embeds them anyway, and takes for each word of the question the best match. `CrossEncoder` is any ONNX model
in a folder that reads a pair of texts and gives a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ..errors import BadInput, ModelUnavailable
from .embedder import Embedder
from .onnx import OnnxEmbedder


class Reranker(Protocol):
    name: str

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question; higher is better, and only the order means anything."""


class LateInteraction:
    def __init__(self, embedder: OnnxEmbedder) -> None:
        self._embedder = embedder
        self.name = f"late interaction, {embedder.model}"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = self._embedder.tokens(question, "query")
        return [float((asked @ self._embedder.tokens(text, "document").T).max(axis=1).mean()) for text in texts]


class CrossEncoder:
    def __init__(self, folder: Path) -> None:
        self._model = OnnxEmbedder(folder)
        self.name = f"cross-encoder, {folder.name}"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [self._model.pair(question, text) for text in texts]


def load(name: str, embedder: Embedder) -> Reranker | None:
    """The reranker of that name: `late` works with the embedder, `off` is none, else the folder of a cross-encoder."""
    if name == "off":
        return None
    if name == "late":
        if not isinstance(embedder, OnnxEmbedder):
            raise ModelUnavailable(
                f"{embedder.model} gives no token vectors.", fix="Use the packaged model, or set reranker to off."
            )
        return LateInteraction(embedder)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise BadInput(f"reranker {name!r} is neither late, off nor a folder.")
    return CrossEncoder(folder)
