"""The reader: a small cross-encoder that reads two texts together and says how they belong together.

One reading gives a logit for each head that the card (`model.json`) names:

    answers, helps                    a note answers a prompt, or helps with what it asks for
    same, opposed, narrower, other    how two statements relate; `relation.py` is the way to ask
    asks_same                         two questions ask for the same
    durable                           a statement is worth keeping beyond the talk in which it was made

The graph has no vocabulary: it reads the rows of the packaged embedder's file at the place that the card names, and a
checksum of that file makes sure that they are there. How it was fitted: `training/README.md`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .embedder import PACKAGED
from .onnx import Card, checksum, open_session, open_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

FOLDER = PACKAGED.parent / "reader"
DURABLE = PACKAGED.parent / "durable"  # the same network, fitted further on what is worth keeping alone
PROMPT, NOTE, STATEMENT = 64, 160, 96  # tokens that are read of each, as when it was fitted
LETTERS = 12  # characters read for each of these tokens; more cannot matter
ROWS, WIDE = 30522, 384
UNLIKELY = -3.0  # the odds below which a second reading, in the other order, is not worth its time
RELATIONS = ("same", "opposed", "narrower", "other")
Logits = Mapping[str, float]


class PairReader:
    """The packaged model; its files are opened at the first use and shared by all threads."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    @cached_property
    def card(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads((self._folder / "model.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"The reader cannot be read: {error}.") from error
        return told

    @cached_property
    def _session(self) -> Any:
        for path, wanted in (
            (self._folder / "model.onnx", self.card["sha256"]["model.onnx"]),
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

        return np.memmap(PACKAGED / "model.onnx", np.uint8, "r", self.card["words"], (ROWS, WIDE))

    def warm(self) -> None:
        self.read("a", ["b"])

    def sure_of_answer(self, logits: Sequence[float]) -> float:
        """How probable it is that one of some notes answers; given the logit of each, in the order of recall."""
        return self._probability("answers", {"answers": max(logits), "first": logits[0]}) if logits else 0.0

    def helps(self, prompt: str, notes: Sequence[str], about: Sequence[Mapping[str, float]]) -> list[float]:
        """How probable it is of each note that it helps with the prompt.

        `about` says of each what search knows: its `cosine`, and whether it `is_turn` or `is_code`.
        """
        read = zip(self.read(prompt, notes), about, strict=True)
        return [self._probability("helps", {**known, **logits}) for logits, known in read]

    def durable(self, statement: str, context: str = "") -> float:
        """The logit that a statement is worth keeping; `context` is what was said around it."""
        return self._read(*self._both(statement, context))["durable"]

    def relation(self, a: str, b: str, known: Mapping[str, float] | None = None) -> dict[str, float]:
        """How probable each relation between two statements is; `known` is what else is seen of them (`likeness`)."""
        odds = {**self.odds(a, b), **(known or {})}
        return {name: self._probability(name, odds) for name in RELATIONS}

    def odds(self, a: str, b: str) -> dict[str, float]:
        """The logarithm of the odds of each relation. Which text comes first says nothing."""
        one, other = self._both(a, b)
        known = _odds(self._compare(one, other))
        if max(known["same"], known["opposed"]) > UNLIKELY:
            again = _odds(self._compare(other, one))
            known = {name: (known[name] + again[name]) / 2 for name in RELATIONS}
        return known

    def asks_same(self, a: str, b: str, known: Mapping[str, float] | None = None) -> float:
        """How probable it is that two questions ask for the same."""
        return self._probability("asks_same", {"asks_same": self.asks_same_logit(a, b), **(known or {})})

    def asks_same_logit(self, a: str, b: str) -> float:
        one, other = self._both(a, b)
        return (self._compare(one, other)["asks_same"] + self._compare(other, one)["asks_same"]) / 2

    def holds(self, text: str) -> bool:
        """Whether the whole of a text is read when it is compared with another."""
        return len(text) <= STATEMENT * LETTERS and len(self._ids(text)) <= STATEMENT

    def cut(self, name: str, risk: float) -> float:
        """The probability from which a relation is wrong at most so often, as measured on texts that were held out."""
        cuts: dict[str, float] = self.card["cuts"].get(name, {})
        return min((cut for allowed, cut in cuts.items() if float(allowed) <= risk), default=math.inf)

    def _probability(self, what: str, known: Mapping[str, float]) -> float:
        """A probability: the weights were fitted on texts that the model was not fitted on."""
        weights: dict[str, float] = self.card["calibration"][what]
        total = sum(weight * known.get(name, 1.0) for name, weight in weights.items())
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))

    def read(self, prompt: str, notes: Sequence[str]) -> list[dict[str, float]]:
        """The logits for each note, in their order. Texts are read one pair at a time: see `onnx`."""
        asked = self._tokens(prompt, PROMPT)
        return [self._read(asked, self._tokens(note, NOTE)) for note in notes]

    def _both(self, a: str, b: str) -> tuple[list[int], list[int]]:
        return self._tokens(a, STATEMENT), self._tokens(b, STATEMENT)

    def _tokens(self, text: str, most: int) -> list[int]:
        ids = self._ids(text[: most * LETTERS])
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _ids(self, text: str) -> list[int]:
        """The tokens of a text; half a character, which no tokenizer takes, is read as a question mark."""
        return list(self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8")).ids)

    def _compare(self, first: list[int], second: list[int]) -> dict[str, float]:
        """A reading in which the tokens that both texts have are marked."""
        return self._read(first, second, frozenset(first[1:-1]) & frozenset(second[1:-1]))

    def _read(self, first: list[int], second: list[int], both: Collection[int] = ()) -> dict[str, float]:
        import numpy as np

        row = np.array([first + second[1:]], np.int64)
        sides = np.array(
            [[(n >= len(first)) + 2 * (token in both) for n, token in enumerate(row[0].tolist())]], np.int64
        )
        feed = {
            "/embeddings/word_embeddings/Gather_output_0_quantized": self._words[row[0]][None],
            "input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": sides,
        }  # fmt: skip
        return dict(zip(self.card["heads"], self._session.run(None, feed)[0][0].tolist(), strict=True))


def _odds(logits: Logits) -> dict[str, float]:
    """The logarithm of the odds of each relation against all others."""
    found = {}
    for name in RELATIONS:
        rest = [logits[other] for other in RELATIONS if other != name]
        top = max(rest)
        found[name] = logits[name] - top - math.log(sum(math.exp(one - top) for one in rest))
    return found


@cache
def shared(folder: Path = FOLDER) -> PairReader:
    """The one reader of this process for a folder of weights."""
    return PairReader(folder)
