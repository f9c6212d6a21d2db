"""Durability: how probable it is that a statement is worth keeping beyond the task at hand, and of which kind it is.

A fitted decision, no rules. The packaged reader reads a statement together with what was said around it; beside that
count its words and pairs of words (hashed), its vector from the packaged embedder, and its shape and place: how long it
is, whether it answers a question of the assistant, whether it stands alone. `training/fit_reader.py` and
`training/fit_durable.py` fit the weights on real sessions that people marked and on written ones.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..models.embedder import load
from ..models.reader import DURABLE, shared
from ..vectors import Floats
from .data import read, weights
from .segment import Statement

if TYPE_CHECKING:
    from ..models.embedder import Embedder

BUCKETS = 1 << 13
MAX_WORDS = 80
HIGHEST, UNREAD = 4.5, -3.0  # the reader's highest logit, and what it says of most statements
LAST_WORDS = 300  # characters of what the assistant said before
KINDS = ("preference", "rule", "decision", "fact", "correction", "lesson", "procedure")
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)?|[?!:;,.]")


@dataclass(frozen=True, slots=True)
class InContext:
    """A statement with what surrounds it: what the assistant said before, its turn, and its neighbours."""

    text: str
    before: str = ""
    turn: str = ""
    place: int = 0
    many: int = 1
    number: int = 0
    previous: str = ""
    following: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The decision about one statement: its probability, its kind, and the words that spoke for it most."""

    probability: float
    kind: str
    words: tuple[str, ...] = ()


def in_context(said: Sequence[Statement], turn: str, before: str) -> list[InContext]:
    """The statements of a turn, each with what surrounds it."""
    texts = ["", *(one.text for one in said), ""]
    return [
        InContext(one.text, before.strip(), turn, place, len(said), one.number, texts[place], texts[place + 2])
        for place, one in enumerate(said)
    ]


def surroundings(one: InContext) -> str:
    """What the reader is shown beside a statement: the assistant's last words, and the sentences around it."""
    return " | ".join((one.before[-160:], one.previous[-110:], one.following[:80]))


def hashed(one: InContext) -> dict[int, str]:
    """The buckets that a statement falls into, and the word of the statement that each stands for."""
    words = _words(one.text)[:MAX_WORDS]
    found = {f"u{word}": word for word in words}
    found |= {f"b{first} {second}": f"{first} {second}" for first, second in pairwise(words)}
    found |= {f"t{place}{word}": word for place, word in enumerate(words[:3])}
    found |= {f"last{words[-1] if words else ''}": "", f"s2 {' '.join(words[:2])}": " ".join(words[:2])}
    asked = _words(one.before[-LAST_WORDS:])[-12:]
    found |= {f"p{word}": "" for word in asked if word in "?:"} | {f"pl{asked[-1] if asked else 'none'}": ""}
    for name, text in (("q", one.previous), ("n", one.following)):
        found |= {f"{name}{word}": "" for word in _words(text)[:2]}
    return {zlib.crc32(name.encode()) % BUCKETS: word for name, word in found.items()}


def _words(text: str) -> list[str]:
    return ["0" if word.isdigit() else word.lower() for word in _TOKEN.findall(text)]


def shape(one: InContext) -> list[float]:
    """Its length, its place in the turn, what surrounds it, and which signs it is made of."""
    text, many = one.text, max(1, len(one.text))
    unspaced = sum("\u3040" <= char <= "\u9fff" for char in text)
    words = np.log1p(len(text.split()) + 0.6 * unspaced)
    return [
        words, words**2, np.log1p(len(one.turn)), one.place == 0, one.place == one.many - 1, one.many == 1,
        np.log1p(one.many), text.endswith(("?", "？")), "?" in one.turn, "?" in one.before[-LAST_WORDS:],  # noqa: RUF001
        not one.before, np.log1p(len(one.before)), one.number > 0, sum(map(str.isdigit, text)) / many, "`" in text,
        text[:1].isupper(), text.endswith((".", "!", "。")), ":" in text, "," in text, unspaced > 0,
        sum(char in "/_.-" for char in text) / many, one.turn.count("\n") > 7,
    ]  # fmt: skip


class Durability:
    """The fitted decision. `embedder` is used where it is the packaged one, which is loaded otherwise."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        packaged = _packaged()
        self._embedder = embedder if embedder is not None and embedder.model == packaged.model else packaged
        self._weights, self._bias = _weights(), float(read("durable")["bias"])
        self._reading = float(read("durable")["reading"])  # what the reader's logit counts
        self.threshold = float(read("durable")["threshold"])  # from which on a statement is kept as an active memory

    def judge(self, statements: Sequence[InContext]) -> list[Judged]:
        if not statements:
            return []
        fitted = self._weights
        vectors = self._embedder.embed([one.text for one in statements], "document")
        shapes = (np.array([shape(one) for one in statements], np.float32) - fitted["mean"]) / fitted["spread"]
        judged = []
        for one, vector, row in zip(statements, vectors, shapes, strict=True):
            buckets = hashed(one)
            table = fitted["table"][list(buckets)] / np.sqrt(len(buckets))
            logit = float(table.sum() + vector @ fitted["vector"] + row @ fitted["shape"]) + self._bias
            logit += self._reading * self._read(one, logit)
            dense = np.concatenate((vector, row))
            kind = KINDS[int(np.argmax(fitted["kinds"] @ dense + fitted["kind_bias"]))]
            spoke = sorted(zip(table, buckets.values(), strict=True), reverse=True)
            words = dict.fromkeys(word for weight, word in spoke if weight > 0 and any(map(str.isalnum, word)))
            judged.append(Judged(1 / (1 + float(np.exp(-logit))), kind, tuple(words)[:3]))
        return judged

    def _read(self, one: InContext, logit: float) -> float:
        """What the reader says of a statement; it does not read what it could not lift above the threshold."""
        if logit + self._reading * HIGHEST < np.log(self.threshold / (1 - self.threshold)):
            return UNREAD
        return shared(DURABLE).durable(one.text, surroundings(one))


@cache
def _packaged() -> Embedder:
    return load()


@cache
def _weights() -> dict[str, Floats]:
    """What was fitted, on the scale of a logit that is calibrated; `kinds` are seven rows over vector and shape."""
    told = read("durable")
    fitted = {
        name: weights(told, name) for name in ("table", "vector", "shape", "mean", "spread", "kinds", "kind_bias")
    }
    return fitted | {"kinds": fitted["kinds"].reshape(len(KINDS), -1)}
