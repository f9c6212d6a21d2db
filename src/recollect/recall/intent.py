"""Intent: what kind of memory a question asks for. Pure.

«What broke in January?» asks for incidents and «how do I roll back?» for a procedure, whatever words the memories use.
It is a hint and no filter: a memory of the kind gains a little, and others are found as before.
"""

from __future__ import annotations

import re

KINDS_ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:incidents?|outages?|broke|broken|breaks?|crash(?:ed|es)?|went (?:wrong|down)|go(?:es)? wrong"
     r"|fail(?:ed|ures?)|post-?mortems?|root causes?|downtime)\b", ("incident", "lesson")),
    (r"\b(?:decid(?:e|ed|es|ing)|decisions?|agree[ds]?|chose|choose|chosen|settled?|picked|adopt(?:ed)?"
     r"|why (?:do|did|are|is|was|were|don't|didn't) (?:we|our|the|it))\b", ("decision",)),
    (r"\b(?:how (?:do|can|should|to)|steps?|procedure|runbook|command|what (?:do|should) (?:i|we) (?:do|run))\b",
     ("procedure",)),
    (r"\b(?:prefer(?:s|red|ence)?|likes?|dislikes?|favou?rites?|want(?:s|ed)?)\b", ("preference", "rule")),
    (r"\b(?:allowed|forbidden|must|may (?:i|we)|should (?:i|we)|rules?|policy|convention)\b", ("rule", "preference")),
    (r"\b(?:lessons?|learn(?:ed|t)?)\b", ("lesson", "insight")),
)  # fmt: skip
_ASKED = tuple((re.compile(pattern, re.IGNORECASE), kinds) for pattern, kinds in KINDS_ASKED)


def kinds(question: str) -> dict[str, float]:
    """The kinds a question asks for: the first of a line in full, the others by half.

    >>> kinds("What broke in January?"), kinds("Who owns billing?")
    ({'incident': 1.0, 'lesson': 0.5}, {})
    """
    found: dict[str, float] = {}
    for pattern, asked in _ASKED:
        if pattern.search(question):
            for place, kind in enumerate(asked):
                found[kind] = max(found.get(kind, 0.0), 0.5 if place else 1.0)
    return found
