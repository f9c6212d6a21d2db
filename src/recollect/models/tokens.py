"""Tokens: how much of a prompt a text takes, counted by the vocabulary that is shipped with the embedder.

On English and code it gives rather more tokens than the tokenizers of today's assistants, so a budget kept here is kept
there. What the tokenizer gives up on counts one token for two bytes; what it drops counts one token each; a run of
white space counts one token, and one more for every 16 characters. Without the library, `text.tokens` estimates, and
`name` says so. About 1.2 microseconds a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from .. import text as plain
from .embedder import PACKAGED

Counter = Callable[[str], int]
ESTIMATE = "estimate"
_RUN = re.compile(r"\s*\n\s*|\s{2,}")
_LONG = 16  # white space that one token of a prompt holds
_PIECE = re.compile(r"\S(?:.{0,1000}(?!\S)|\S*)", re.DOTALL)  # the library takes four times as long on long texts


class Tokens:
    """A counter to be called with a text; the file is opened at the first call and shared by all threads.

    >>> count = Tokens()
    >>> count("The deploy failed."), count.name
    (4, 'arctic-embed-s')
    >>> Tokens(own=len, name="letters")("four")
    4
    """

    def __init__(self, folder: Path = PACKAGED, *, own: Counter | None = None, name: str = "own") -> None:
        self._file = folder / "tokenizer.json"
        self._lock = Lock()
        self._count = own
        self._name = name if own else ""

    @property
    def name(self) -> str:
        """Which tokenizer counts: the name of the model it came with, or `estimate`."""
        self._ready()
        return self._name

    def __call__(self, text: str) -> int:
        return self._ready()(text) if text else 0

    def _ready(self) -> Counter:
        if self._count is None:
            with self._lock:
                if self._count is None:
                    found = _open_counter(self._file)
                    # The name first: whoever sees the counter without the lock must see its name too.
                    self._name = self._file.parent.name if found else ESTIMATE
                    self._count = found or plain.tokens
        return self._count


def _open_counter(file: Path) -> Counter | None:
    """A counter by that file, or None where the file or the library is missing."""
    if not file.is_file():
        return None
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = tokenizer.token_to_id("[UNK]")

    def words(text: str) -> int:
        found = tokenizer.encode(text, add_special_tokens=False)
        ids, spans = found.ids, found.offsets
        unread = max(0, sum(map(len, text.split())) - sum(end - start for start, end in spans))
        given_up = 0
        if unknown in ids:
            pieces = (text[start:end] for id, (start, end) in zip(ids, spans, strict=True) if id == unknown)
            given_up = sum((len(piece.encode()) - 1) // 2 for piece in pieces)
        return len(ids) + unread + given_up

    def count(text: str) -> int:
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate would be refused
        spaces = sum(1 + (len(run) - 1) // _LONG for run in _RUN.findall(text))
        return spaces + sum(map(words, _PIECE.findall(text)))

    return count
