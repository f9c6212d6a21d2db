"""What full text search sees of a memory: its words, and how much a word weighs where it stands. Pure.

SQLite weighs columns in its own ranking function; PostgreSQL ranks weighted counts by the same formula. Both must
answer alike.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from .. import times
from ..language import terms

TITLE, CONTENT, KEYWORDS, REASONING, TAGS, AROUND = 2.0, 1.0, 2.0, 0.5, 1.5, 1.0
WALL = 2  # words that SQLite keeps beside these, for the tenant and the project; they count in the length


def around(context: str, speaker: str, valid_from: int | None, refs: str) -> str:
    """What is searched beside a memory's own words: what stood before it, who said it, its day and its references."""
    day = times.moment(valid_from).strftime("%A %-d %B %Y") if valid_from is not None else ""
    return " ".join(part for part in (speaker, day, context, "" if refs == "[]" else refs) if part)


def weigh_terms(row: dict[str, Any]) -> tuple[dict[str, float], int]:
    """How often each term occurs in a memory's row, weighted by where, and how many there are in all."""
    beside = around(row["context"], row["speaker"], row["valid_from"], row["refs"])
    parts = (
        (row["title"], TITLE), (row["content"], CONTENT), (row["keywords"], KEYWORDS), (row["reasoning"], REASONING),
        (row["tags"], TAGS), (beside, AROUND),
    )  # fmt: skip
    weights: Counter[str] = Counter()
    length = WALL
    for text, weight in parts:
        found = terms.terms(text) if text and text != "[]" else []
        length += len(found)
        for term in found:
            weights[term] += weight  # type: ignore[assignment]
    return dict(weights), length


# BM25. The average length is a constant: one that is counted would tell of what a caller may not see.
SATURATION, BY_LENGTH, AVERAGE = 1.2, 0.75, 40.0


def rarity(total: int, holding: int) -> float:
    """How rare a word is that some of all memories hold."""
    return math.log(1 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def score(told: list[tuple[float, float]], length: int, average: float) -> float:
    """The score of a memory, from the rarity of each word in it and how FTS5 says it is spread.

    A spread is w·2.2 / (w + k), where w is how often the word occurs, weighted, and k grows with the length; FTS5 holds
    the length against the `average` of the whole file.
    """
    theirs, ours = (SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / mean) for mean in (average, AVERAGE))
    whole, found = 1 + SATURATION, 0.0
    for rare, spread in told:
        weight = spread * theirs / (whole - spread)
        found += rare * weight * whole / (weight + ours)
    return round(found, 9)  # what is left of their average by rounding
