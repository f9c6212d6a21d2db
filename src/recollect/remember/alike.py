"""Alike: whether two texts that lie close together also say the same. Pure.

Vectors cannot tell: a changed number or a "not" moves a text less than a typo does (measured with the default model:
median cosine 0.990 and 0.994 against 0.983). So a near duplicate must share most of its words. Where a
person asks for it, two are merged when numbers, negations and conditions agree. What was only heard is merged when both
say the same words in the same order, so that nothing is lost; the janitor, which knows synonyms, finds other wordings.
"""

from __future__ import annotations

import re

from ..language.meaning import marks
from ..language.terms import STOP_WORDS, terms

SHARED = 0.5
_NUMBER_IN_NAME = re.compile(r"(?<=[^\W\d])\d+")
# What makes a statement hold in some cases only; the other conditions are often a matter of wording.
RESTRICTING = frozenset(
    "if unless only until except wenn falls nur bis si seulement sauf solo sólo salvo se só exceto".split()
)


def near(one: str, other: str) -> bool:
    """Whether two texts share at least half of their words.

    >>> near("Deploys go out on Thursday.", "Deploys go out on Thursdays!"), near("Use pnpm.", "Ana owns billing.")
    (True, False)
    """
    first, second = ({term for term in terms(text) if term not in STOP_WORDS} for text in (one, other))
    return len(first & second) >= SHARED * max(1, len(first | second))


def agree(one: str, other: str) -> bool:
    """Whether two texts name the same numbers, are negated the same way and hold under the same condition.

    >>> agree("Retry 3 times.", "Retries: 3"), agree("Retry 3 times.", "Retry 5 times.")
    (True, False)
    >>> agree("We keep it in queue zq0.", "We keep it in queue zq1.")
    False
    >>> agree("Wir nutzen Kafka.", "Wir nutzen Kafka nicht."), agree("We deploy daily.", "We deploy daily if asked.")
    (False, False)
    """
    first, second = marks(one), marks(other)
    return (
        first.numbers == second.numbers
        and sorted(_NUMBER_IN_NAME.findall(one)) == sorted(_NUMBER_IN_NAME.findall(other))  # v2 is not v3
        and first.denies == second.denies
        and first.conditions & RESTRICTING == second.conditions & RESTRICTING
    )


def repeats(one: str, other: str) -> bool:
    """Whether two texts differ in nothing that tells something: not in a word, a number or the order of words.

    >>> repeats("Deploys go out on Thursday.", "Also, the deploys go out on Thursdays!")
    True
    >>> repeats("Ana reviews the code.", "Tom reviews the code."), repeats("Ana pays Tom.", "Tom pays Ana.")
    (False, False)
    """
    return agree(one, other) and marks(one).order == marks(other).order


def negated(text: str) -> bool:
    """Whether a text denies something; two denials are none.

    >>> negated("We never deploy on Fridays."), negated("We deploy on Fridays.")
    (True, False)
    """
    return marks(text).denies
