"""Alike: whether two texts that lie close together also say the same. Pure.

Vectors cannot tell: a changed number or a «not» moves a text less than a typo does (measured with the default model:
median cosine 0.990 and 0.994 against 0.983). So a near duplicate must share most of its words, and may be merged
without a person only when numbers and negations agree as well.
"""

from __future__ import annotations

import re

from ..terms import STOP_WORDS, terms

SHARED = 0.5
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|without|cannot|neither|nor|avoid|stop|disable[ds]?|\w+n['’]t)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def near(one: str, other: str) -> bool:
    """Whether two texts share at least half of their words.

    >>> near("Deploys go out on Thursday.", "Deploys go out on Thursdays!"), near("Use pnpm.", "Ana owns billing.")
    (True, False)
    """
    first, second = ({term for term in terms(text) if term not in STOP_WORDS} for text in (one, other))
    return len(first & second) >= SHARED * max(1, len(first | second))


def agree(one: str, other: str) -> bool:
    """Whether two texts name the same numbers and are negated the same way.

    >>> agree("Retry 3 times.", "Retries: 3"), agree("Retry 3 times.", "Retry 5 times.")
    (True, False)
    """
    return _claims(one) == _claims(other)


def negated(text: str) -> bool:
    """Whether a text denies something; two denials are none.

    >>> negated("We never deploy on Fridays."), negated("We deploy on Fridays.")
    (True, False)
    """
    return len(_NEGATION.findall(text)) % 2 == 1


def _claims(text: str) -> tuple[list[str], bool]:
    return sorted(_NUMBER.findall(text)), negated(text)
