"""Lines: which lines of a turn its author typed, and which were pasted. Pure.

Most of the characters in a user's turns are logs, traces, diffs, listings and code. Only what the user wrote may become
a memory. A line is told by its shape, not by its words, so that it works in any language: letters become `a`, capitals
`A`, digits `0`, other scripts `c`, and a linear model weighs pairs, triples and fours of these signs. A second linear
model looks at the neighbours, because a line of a log is seldom alone. Fenced code and quotes are told by their marks.

Fitted by `training/fit_lines.py` on real sessions. The first model needed no labels: short messages are what people
type, the output of tools and code blocks are what people paste. The second learned from turns that people had marked.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from ..vectors import Floats
from .data import read, weights

BUCKETS = 1 << 13
MAX_CHARS = 300  # of a line; its beginning tells what it is
MAX_LOGIT = 6.0
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTE = re.compile(r"^\s*>")
_RUNS = (re.compile(r"(a)\1{2,}"), r"\1\1"), (re.compile(r"([A0c \-=*_#~.])\1{2,}"), r"\1\1\1")
_REQUEST = re.compile(r"(?<!\w)#remember\b:?\s*")  # its sign looks like that of a comment
_PUNCTUATION = frozenset("，。！？：；、“”‘’（）…—–•")  # noqa: RUF001 - the signs of other scripts
_STEPS = {
    "length": (0, 5, 15, 30, 60, 100, 160, 300), "words": (0, 1, 2, 4, 8, 15, 30),
    "letters": (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85), "digits": (0, 0.02, 0.05, 0.1, 0.2, 0.4),
    "signs": (0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.4), "longest": (5, 9, 13, 18, 25, 40),
    "lower": (0, 0.2, 0.4, 0.6, 0.75, 0.9), "short": (0, 0.1, 0.2, 0.3, 0.45, 0.6), "indent": (0, 1, 3, 7),
}  # fmt: skip


def typed(content: str) -> str:
    """The lines of a turn that its author typed; the others are left empty, so that paragraphs stay apart.

    >>> typed("why does this fail?\\n\\n  File \\"/app/x.py\\", line 12, in run\\n    raise ValueError(x[0])").strip()
    'why does this fail?'
    """
    lines = without_marked(content)
    _, _, context, bias = _weights()
    places, rows = context_rows([_REQUEST.sub("", line) for line in lines])
    pasted = {
        place for place, z in zip(places, rows @ context + bias, strict=True)
        if z <= 0 and not _REQUEST.search(lines[place])  # nobody pastes a request
    }  # fmt: skip
    return "\n".join("" if number in pasted else line for number, line in enumerate(lines))


def without_marked(content: str) -> list[str]:
    """The lines of a turn, those that are marked as code or as a quote left empty."""
    lines = content.split("\n")
    inside = False
    for number, line in enumerate(lines):
        fence = bool(_FENCE.match(line))
        if fence or inside or _QUOTE.match(line):
            lines[number] = ""
        inside ^= fence
    return lines


def features(line: str) -> list[int]:
    """The buckets that a line falls into."""
    shape = "".join(map(_sign, line[:MAX_CHARS]))
    for pattern, kept in _RUNS:
        shape = pattern.sub(kept, shape)
    edged = f"^{shape}$"
    found = {f"{n}{edged[i : i + n]}" for n in (2, 3, 4) for i in range(len(edged) - n + 1)}
    found |= {f"start{shape[:6]}", f"end{shape[-4:]}"}
    found |= {f"{name}{sum(value > step for step in _STEPS[name])}" for name, value in _measures(line)}
    return sorted({zlib.crc32(one.encode()) % BUCKETS for one in found})


def _measures(line: str) -> Iterator[tuple[str, float]]:
    length, words = len(line.rstrip()), line.split()
    letters, digits = sum(map(str.isalpha, line)), sum(map(str.isdigit, line))
    spaces, lower = sum(map(str.isspace, line)), [word for word in words if word.isalpha() and word.islower()]
    total, many = max(length, 1), max(len(words), 1)
    yield from (("length", length), ("words", len(words)), ("letters", letters / total), ("digits", digits / total))
    yield "signs", (length - letters - digits - spaces) / total if length else 0
    yield "longest", max(map(len, words), default=0)
    yield from (("lower", len(lower) / many), ("short", sum(len(word) <= 4 for word in lower) / many))
    yield "indent", len(line) - len(line.lstrip())


def _sign(char: str) -> str:
    if char.isdigit():
        return "0"
    if char.isalpha():
        latin = ord(char) < 0x250 or 0x370 <= ord(char) < 0x530
        return "c" if not latin else "A" if char.isupper() else "a"
    if char == "\t":
        return "t"
    if char.isspace():
        return " "
    return char if ord(char) < 128 else "." if char in _PUNCTUATION else "~"


def context_rows(lines: Sequence[str]) -> tuple[list[int], Floats]:
    """The places of the lines that are not blank, and what the second model is told of each."""
    places = [number for number, line in enumerate(lines) if line.strip()]
    table, bias, _, _ = _weights()
    z = np.array([table[features(lines[place])].sum() + bias for place in places]).clip(-MAX_LOGIT, MAX_LOGIT)
    block = np.cumsum(np.diff(places, prepend=-2) != 1)
    many = len(places)
    rows = []
    for k, place in enumerate(places):
        own = z[block == block[k]]
        near = [z[k + step] if 0 <= k + step < many else 0.0 for step in (-1, 1, -2, 2)]
        size = np.log1p(len(own))
        alone = float(many == 1)
        leads = place > 0 and lines[place - 1].rstrip().endswith(":")
        rows.append(
            (z[k], own.mean(), own.min(), own.max(), *near, z[max(0, k - 5) : k + 6].mean(), size, np.log1p(many),
             k == 0, k == many - 1, block[k] == block[0], block[k] == block[-1], leads,
             alone, z[k] * alone, z[k] * size, own.mean() * size)
        )  # fmt: skip
    return places, np.array(rows, np.float32).reshape(many, 20)


@cache
def _weights() -> tuple[Floats, float, Floats, float]:
    """What was fitted: a weight for each bucket and the bias, and the same of the second model."""
    told = read("lines")
    return weights(told, "table"), told["bias"], np.array(told["context"], np.float32), told["context_bias"]
