"""Segments: a turn cut into statements, each with its place in the turn. Pure.

A statement is a sentence, a point of a list or a numbered reply. Code, quotes and headings are none, and of a user's
turn only the lines that the user typed are cut (`lines.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 600  # characters of one statement; what is longer is a text, not a statement
_SKIPPED_LINE = re.compile(r"^\s*(?:>|\||#{1,6}\s).*$")
_PRIVATE = re.compile(r"<\s*(?P<end>/?)\s*private\b[^>\n]{0,200}>", re.IGNORECASE)
_SKIP = re.compile(r"(?<!\w)#skip\b", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•+]\s+|(?P<number>\d{1,2})[.)、:]\s*(?=\D))?")
_END = re.compile(r"(?<=[.!?…])[\"'”)*_]*\s+|(?<=[。！？])(?=\S)")  # noqa: RUF001 - of other scripts
_NUMBER = re.compile(r"(?<=[\s,;])(?=(\d{1,2})[.)]\s*[^\W\d])")
# A question that follows a statement in one breath: "it is slow, can you look?".
_THEN_ASKS = re.compile(
    r"(?:[,;]|\s[-–—])\s+(?=(?:(?:and|but|so)\s+)?"
    r"(?:can|could|would|any|is|are|do|does|did|what|which|how|why)\b[^.!?;]*\?)", re.IGNORECASE
)  # fmt: skip
# A dash or a semicolon between two statements; what limits or turns round the first of them stays with it.
_APART = re.compile(
    r"(?<=\S{2})(?:\s[-–—]\s+|;\s+)(?!(?:but|except|unless|only|if|when|not|no|nor|or|never|without|so|as|because|which|"
    r"until|aber|außer|nur|wenn|nicht|mais|sauf|si|pas|pero|salvo|mas|exceto)\b)(?=\w+(?:[^\S\n]+\S+){4})",
    re.IGNORECASE,
)
LONG = 40  # characters of a line before which no dash parts two statements
_SPAN = re.compile(r"`[^`\n]+`")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|ca|dr|mrs?|prof|fig|z\.B|d\.h|bzw)|^\W*\d+)\.$", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of a turn, word for word, and where it stands; `number` is that of a numbered reply."""

    text: str
    start: int
    number: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def public(content: str) -> str:
    """What a person lets us keep: without what is `<private>`, and nothing of a turn that says `#skip`.

    >>> public("<private>secret</private> go on"), public("#skip this one")
    ('go on', '')
    """
    if _SKIP.search(content):
        return ""
    kept, depth, place = [], 0, 0
    for mark in _PRIVATE.finditer(content):  # one inside of another ends only itself; one without an end is the rest
        if depth == 0:
            kept.append(content[place : mark.start()])
        depth = max(0, depth - 1) if mark["end"] else depth + 1
        place = mark.end()
    return "".join(kept if depth else [*kept, content[place:]]).strip()


def statements(content: str, *, typed: bool = False) -> list[Statement]:
    """The statements of a turn in their order; with `typed` only of the lines that its author typed.

    >>> [one.text for one in statements("Hi! Use `a.b. c` here.\\n- see e.g. docs\\n1. yes 2. postgres")]
    ['Hi!', 'Use `a.b. c` here.', 'see e.g. docs', 'yes', 'postgres']
    >>> [(one.start, one.number) for one in statements("1. yes 2. postgres")]
    [(3, 1), (10, 2)]
    >>> [one.text for one in statements("The tests take nine minutes, can you split them?")]
    ['The tests take nine minutes', 'can you split them?']
    """
    return [one for start, line in _own_lines(content, typed) for one in _of_line(line, start)]


def _own_lines(content: str, typed: bool) -> Iterator[tuple[int, str]]:
    from . import lines  # which needs numpy; a cached answer must not wait for that

    bare = "\n".join(map(str.rstrip, content.split("\n")))
    own = lines.typed(bare).split("\n") if typed else lines.without_marked(bare)
    start = 0
    for line, kept in zip(content.split("\n"), own, strict=True):
        if kept.strip() and not _SKIPPED_LINE.match(line):
            yield start, line
        start += len(line) + 1


def _of_line(line: str, start: int) -> Iterator[Statement]:
    hidden = _SPAN.sub(lambda found: "x" * len(found[0]), line)  # a dot inside of code ends no sentence
    bullet = _BULLET.match(hidden)
    place = bullet.end() if bullet else 0
    number = int((bullet and bullet["number"]) or 0)
    for first, last, own in _cuts(hidden, place, number):
        text = line[first:last].strip()
        if any(map(str.isalnum, text)):
            yield Statement(text, start + first + line[first:last].index(text), own)


def _cuts(line: str, place: int, number: int) -> Iterator[tuple[int, int, int]]:
    """Where each statement of a line begins and ends, and the number of the reply that it is part of."""
    ends: Sequence[tuple[int, int, int]] = sorted(
        [(found.start(), found.end(), 0) for found in (*_END.finditer(line, place), *_THEN_ASKS.finditer(line, place))]
        + [(found.start(), found.end(), 0) for found in _APART.finditer(line, place + LONG)]
        + ([(found.start(), found.start(), int(found[1])) for found in _NUMBER.finditer(line, place)] if number else [])
    )
    for end, after, following in ends:
        if end < place or (not following and _ABBREVIATION.search(line[place:end])):
            continue
        if following and following != number + 1:
            continue
        yield place, end, number
        place = after
        if following:
            number = following
            place += len(str(following)) + 1
    yield place, len(line), number
