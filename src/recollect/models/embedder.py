"""Embedder: text in, one unit vector per text out.

Every vector is stamped with `model`, and vectors whose stamps differ are never compared. The stamp changes whenever the
numbers would. Retrieval models want an instruction in front of a question, so the role is an argument of `embed`.

For every embedder (tests/test_embedder.py): rows come in the order of the texts, in float32, with length 1; the vector
of a text depends on nothing else in the list, nor on thread or process; any `str` is accepted, also an empty or
overlong one.

Importing this module loads neither numpy nor a model; the first `embed`, or `warm`, does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from ..errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["query", "document"]
PACKAGED = Path(__file__).parent / "data" / "arctic-embed-s"
PACKAGED_MODEL = "arctic-embed-s-int8/2"
MULTILINGUAL = "multilingual/1"
SCALE = 1.328  # what the product of two multilingual vectors counts, to be on the scale of the packaged model


class Embedder(Protocol):
    """Turns texts into unit vectors; safe to share between threads."""

    @property
    def model(self) -> str:
        """The id stamped on every vector, such as `arctic-embed-s-int8/2`."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def warm(self) -> None:
        """Load the model now, in this thread, instead of at the first `embed`."""

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """One row per text, shape (len(texts), dimension)."""


def load(name: str = "default") -> Embedder:
    """The embedder of that name or URL, or the one whose model.onnx and tokenizer.json lie in that folder.

    >>> load("hashing").model
    'hashing/1'
    """
    if name == "hashing":
        from .hashing import HashingEmbedder

        return HashingEmbedder()
    if name == "multilingual":
        from .multilingual import MultilingualEmbedder

        return MultilingualEmbedder()
    if "://" in name:
        from . import remote

        return remote.load(name)
    folder = PACKAGED if name == "default" else Path(name).expanduser()
    if name != "default" and (not name or not folder.is_dir()):
        raise BadInput(
            f"{name!r} is neither a known embedder nor a folder.",
            fix="Use default, multilingual, hashing, a URL such as ollama://localhost/nomic-embed-text, or the path of "
            "a folder with model.onnx and tokenizer.json.",
        )
    from .onnx import OnnxEmbedder

    return OnnxEmbedder(folder)


def on_scale_of(model: str) -> str:
    """The model on whose scale the cosines of a model are, once `scale` is applied."""
    return PACKAGED_MODEL if model == MULTILINGUAL else model


def scale(model: str) -> float:
    """What the cosines of a model are multiplied with, to be on the scale that thresholds and rankers know."""
    return SCALE if model == MULTILINGUAL else 1.0


def checked(texts: Sequence[str], role: Role) -> list[str]:
    """The texts as they can be read: what each embedder does first.

    >>> checked(["caf\\u00e9", "half \\ud83d a face"], "query")
    ['café', 'half ? a face']
    """
    if role not in get_args(Role):
        raise BadInput(f"{role!r} is not a role.", fix="The role is query or document.")
    # A string is a sequence of strings too: without this, a forgotten pair of brackets embeds every letter.
    if isinstance(texts, str):
        raise BadInput("embed takes a list of texts, and got one text.", fix="Put it into a list.")
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
