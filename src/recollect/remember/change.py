"""Whether a statement says that something changed, and whether two held at the same time. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from .retraction import retraction

Span = tuple[datetime, datetime | None]  # since when something holds, and until when
_CHANGES = re.compile(
    r"\b(?:no longer|any ?more|instead of|switch(?:ed|ing)|migrat(?:ed|ing)|moved?|replaced?|dropped|from now on|as of|"
    r"changed?|not \S+[.!]?$|now uses?|renamed?)\b", re.IGNORECASE
)  # fmt: skip


def apart(one: Span, other: Span) -> bool:
    """Whether one ceased to hold before the other began: both were true in their time, whichever was noted first."""
    return any(end is not None and end <= begin for (_, end), (begin, _) in ((one, other), (other, one)))


def says_change(sentence: str) -> bool:
    """Whether a sentence says that something is otherwise from now on.

    >>> says_change("We moved to pnpm."), says_change("We use pnpm.")
    (True, False)
    """
    taken_back = retraction(sentence)
    return _CHANGES.search(sentence) is not None or (taken_back is not None and taken_back.is_sure)
