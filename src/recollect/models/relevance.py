"""Relevance: a small cross-encoder that reads a prompt and a note together and says whether the note bears on it.

It gives two probabilities: that the note answers the prompt, and that it helps with what the prompt asks for. Distances
between vectors say what two texts are about, and not whether one has what the other lacks: "who owns billing?" lies as
near to "billing listens on 7610" as to its answer.

The graph has no vocabulary of its own. It begins behind the embedder's, whose rows are read from the packaged
embedder's file at the place that the card (`model.json`) names; a checksum of that file makes sure that they are there.
How it was fitted, and on what: `training/fit_relevance.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .embedder import PACKAGED
from .onnx import Card, checksum, open_session, open_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

FOLDER = PACKAGED.parent / "relevance"
PROMPT, NOTE = 64, 160  # tokens that are read of each, as when it was fitted
LETTERS = 12  # characters read for each of these tokens; more cannot matter
ROWS, WIDE = 30522, 384


@dataclass(frozen=True, slots=True)
class Read:
    """What one reading gave: logits that the note answers, and that it helps."""

    answers: float
    helps: float


class Relevance:
    """The packaged model; its files are opened at the first use and shared by all threads."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    @cached_property
    def _card(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads((self._folder / "model.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"The relevance model cannot be read: {error}.") from error
        return told

    @cached_property
    def _session(self) -> Any:
        for path, wanted in (
            (self._folder / "model.onnx", self._card["sha256"]["model.onnx"]),
            (PACKAGED / "model.onnx", Card.read(PACKAGED).sha256["model.onnx"]),
        ):
            if checksum(path) != wanted:
                raise ModelUnavailable(f"{path} is not the file that its card describes: wrong sha256.")
        return open_session(self._folder / "model.onnx")

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return open_tokenizer(PACKAGED)

    @cached_property
    def _words(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.memmap(PACKAGED / "model.onnx", np.uint8, "r", self._card["words"], (ROWS, WIDE))

    def warm(self) -> None:
        self.read("a", ["b"])

    def sure_of_answer(self, logit: float) -> float:
        """How probable it is that a note answers that was read with this logit."""
        return self._sure("answers", {"answers": logit})

    def helps(self, prompt: str, notes: Sequence[str], about: Sequence[Mapping[str, float]]) -> list[float]:
        """How probable it is of each note that it helps with the prompt.

        `about` says of each what search knows: its `cosine`, and whether it `is_turn` or `is_code`.
        """
        read = zip(self.read(prompt, notes), about, strict=True)
        return [self._sure("helps", {**known, "helps": one.helps, "answers": one.answers}) for one, known in read]

    def _sure(self, what: str, known: Mapping[str, float]) -> float:
        """A probability: the weights were fitted on prompts of authors whom the model had not seen."""
        weights: dict[str, float] = self._card["calibration"][what]
        return 1 / (1 + math.exp(-sum(weight * known.get(name, 1.0) for name, weight in weights.items())))

    def read(self, prompt: str, notes: Sequence[str]) -> list[Read]:
        """One reading for each note, in their order. Texts are read one pair at a time: see `onnx`."""
        asked = self._tokens(prompt, PROMPT)
        return [self._read(asked, self._tokens(note, NOTE)) for note in notes]

    def _tokens(self, text: str, most: int) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text[: most * LETTERS]).ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _read(self, asked: list[int], note: list[int]) -> Read:
        import numpy as np

        row = np.array([asked + note[1:]], np.int64)
        sides = np.zeros_like(row)
        sides[0, len(asked) :] = 1
        feed = {
            "/embeddings/word_embeddings/Gather_output_0_quantized": self._words[row[0]][None],
            "input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": sides,
        }  # fmt: skip
        answers, helps = self._session.run(None, feed)[0][0].tolist()
        return Read(answers, helps)
