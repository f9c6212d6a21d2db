"""Windows: a conversation cut into pieces that can be looked at on their own. Pure.

A window holds about 500 tokens and begins about 100 tokens before the end of the one before it, so that what is said
across a cut is whole in one of them. Cuts lie between turns: half a turn says something else than a whole one. A turn
that is too long for a window by itself is cut at its paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .. import text

SIZE, OVERLAP = 500, 100  # tokens


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said, as capture looks at it: by whom, the source it is kept as, and what the other said before it."""

    role: str
    content: str
    source: str = ""
    at: datetime | None = None
    refs: tuple[str, ...] = ()
    before: Turn | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Turns that are looked at together. The first `repeated` of them were in the window before."""

    turns: tuple[Turn, ...]
    repeated: int = 0

    @property
    def fresh(self) -> tuple[Turn, ...]:
        return self.turns[self.repeated :]


def in_reply(turns: Iterable[Turn], before: Turn | None = None) -> Iterator[Turn]:
    """The turns, each of the user's with what the assistant said just before it."""
    for turn in turns:
        yield replace(turn, before=before) if turn.role == "user" else turn
        before = turn if turn.role == "assistant" else None


def windows(turns: Sequence[Turn], size: int = SIZE, overlap: int = OVERLAP) -> list[Window]:
    """
    >>> talk = [Turn("user", "word " * 150), Turn("assistant", "short"), Turn("user", "word " * 300)]
    >>> [(len(window.turns), window.repeated) for window in windows(talk, 400)]
    [(2, 0), (2, 1)]
    """
    made: list[Window] = []
    held: list[Turn] = []
    costs: list[int] = []
    repeated = 0
    for turn in (piece for whole in turns for piece in _pieces(whole, size)):
        cost = text.tokens(turn.content)
        if len(held) > repeated and sum(costs) + cost > size:
            made.append(Window(tuple(held), repeated))
            kept = sum(sum(costs[-count:]) <= overlap for count in range(1, len(costs) + 1))  # of its last turns
            held, costs = held[len(held) - kept :], costs[len(costs) - kept :]
            repeated = kept
        held.append(turn)
        costs.append(cost)
    if len(held) > repeated:
        made.append(Window(tuple(held), repeated))
    return made


def _pieces(turn: Turn, size: int) -> Iterator[Turn]:
    """The turn, or its paragraphs put together into pieces that fit."""
    if text.tokens(turn.content) <= size:
        yield turn
        return
    held: list[str] = []
    total = 0
    for paragraph in turn.content.split("\n\n"):
        cost = text.tokens(paragraph)
        if held and total + cost > size:
            yield replace(turn, content="\n\n".join(held))
            held, total = [], 0
        held.append(paragraph)
        total += cost
    if held:
        yield replace(turn, content="\n\n".join(held))
