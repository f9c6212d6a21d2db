"""Words as the judge knows them: what means the same, what means the opposite, what names a thing.

The tables are data, in `language/data`; groups are parted by semicolons.
"""

from __future__ import annotations

from ..language import tables


def _text(file: str, section: str) -> str:
    return "\n".join(tables.lines(file, section))


PHRASES = _text("questions", "phrases")
IRREGULAR = _text("questions", "irregular")
ACTIONS = _text("questions", "actions")
THINGS = _text("questions", "things")
NAMES = _text("questions", "names")
ENVIRONMENTS = _text("questions", "environments")
SHORT = _text("synonyms", "short")
SYNONYMS = _text("synonyms", "questions")
OPPOSITES = _text("opposites", "questions")
GRADED = _text("opposites", "graded")
SCOPE = _text("questions", "scope")
