"""Asking: what a question wants to know, and of which time. Pure.

«Why» and «what is the reason» want the same; «how many» and «how» do not. The first question word decides; where two
readings begin at the same place, the narrower one, which stands earlier in the table.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from .lexicon import IRREGULAR

_TABLE = r"""
how many    how (?:many|much(?! time))
how many    (?:what|which) is the (?:\w+ ){0,2}(?:number|count|amount|quantity) of
how many    what (?:number|percentage|share) of
how long    how long|what is the (?:duration|length)|how much time
how often   how (?:often|frequently)|at what (?:interval|frequency)
how far     how (?:far|fast|large|big|old|tall|deep|high|heavy|expensive|hard|difficult|easy)
how far     how (?:good|bad|safe|reliable|important|accurate)
why         why|how come|for what reason|reasons? (?:for|behind|why)
why         (?:what|which) (?:is|are|was|were) the (?:\w+ )?(?:reasons?|causes?|rationale|motivation)
why         what (?:causes|caused|is causing|makes|made)
when        when (?:is|are|was|were|will|do|does|did|can|should|would|has|have|had)|since when
when        (?:at )?what (?:time|date|day|year)|(?:on )?which (?:day|date|year)
when        what is the (?:\w+ )?(?:date|deadline)
where       where|which (?:file|folder|directory)
where       in (?:which|what) (?:file|folder|directory|place|repo|repository|module|path|country|city)
where       what (?:is the )?(?:\w+ )?(?:file|folder|directory|location) (?:is|are|of|for|contains|holds|do|does)
who         who|whom|whose|which (?:person|team|engineer|developer|people)
who         what is the name of the (?:person|team|owner)
how         (?:what|which) (?:is|are|would be|might be) (?:the |some |a |our |your )?(?:\w+ ){0,3}WAY (?:to|for|of)
how         what (?:should|must|can|could|do|would) (?:i|we|you|one) (?:need to |have to )?do (?:to|if|for|about)
how         (?:is|are) there (?:a|any|some)(?: \w+){0,2} ways?|ways? to|steps? to|what does it take to
how         what do (?:i|we|you) (?:need|have) to do|how
what        what|which
whether     whether|is it|is there|are there|can (?:i|we|you)|should (?:i|we|you)|do (?:i|we|you)|does (?:it|the)
"""
_WAY = "(?:ways?|steps?|process|procedure|method|approach|tips?|command)"
_KINDS = tuple(
    (line[:12].strip(), re.compile(rf"\b(?:{line[12:].replace('WAY', _WAY)})\b"))
    for line in _TABLE.strip().splitlines()
)
_OPENS = re.compile(
    r"^(?:(?:so|and|but|if|hi|also) )*(?:is|are|am|was|were|do|does|did|can|could|will|would|should|shall|may|might"
    r"|must|has|have|had)\b"
)
_LIKE_WHAT = re.compile(
    r"\bhow (?:is|are|was|does|do|did) (?:.+ )?(?:differ\w*|feel|look like|compare\w*|defined|called)\b|\bhow about\b"
)
# Kinds of which none can be answered by another's answer, in any talk.
APART = frozenset(("who", "when", "where", "why", "how many", "how long", "how often", "how far"))
_MODALS = {
    word: group
    for group, words in {
        "can": "can could may might possible allowed permitted able",
        "should": "should shall ought recommended advisable advised",
        "must": "must required mandatory obliged",
        "would": "would",
    }.items()
    for word in words.split()
}
_DUTY = frozenset(("have", "has", "had", "need", "needs"))
_ABOUT = r"(?:who|whom|what(?: \w+){0,2}|which(?: \w+){1,2}|how many(?: \w+){1,2})"
# «Who did Ana call»: what is asked for is behind the verb. A pronoun or a thing of ours asks of no one else's doing.
_OBJECT = re.compile(rf"^{_ABOUT} (?:do|does|did) (?!i\b|we\b|you\b|one\b|it\b|they\b)\w+")
_AUXILIARY = re.compile(
    r"\b(?:do|does|did|is|are|was|were|am|be|can|could|will|would|should|shall|may|might|must|has|have|had)\b"
)
_SUBJECT = re.compile(rf"^{_ABOUT}\b")
_DEED = re.compile(r"^(?:who|what|which \w+) (\w{3,})\b")  # «who approved it»: the verb alone tells the time
_PASTS = frozenset(pair.split()[0] for line in IRREGULAR.strip().splitlines() for pair in line.split(";"))
_FUTURE = re.compile(r"\b(?:will|shall|going to|gonna|plan(?:s|ning|ned)? to|upcoming|about to)\b")
_PAST = re.compile(r"\b(?:did|was|were|had|used to|formerly|originally)\b")
_ONGOING = re.compile(r"\b(?:is|are|am)\b(?: \w+){0,2}? (?!(?:any|some|every|no)?thing\b|during\b)\w{2,}ing\b")
_PERFECT = re.compile(r"\b(?:has|have)\b(?: \w+){0,4}? (?:been|\w+ed|gone|done|made|written|become)\b")


@lru_cache(maxsize=8192)
def kind(question: str) -> str:
    """What a question, in plain spelling, wants to know; nothing where it does not say.

    >>> kind("What is the reason for it?"), kind("What is the best way to do it?"), kind("reset it")
    ('why', 'how', '')
    """
    text = question.casefold()
    if _LIKE_WHAT.search(text):
        return "what"
    found = [(match.start(), n, name) for n, (name, pattern) in enumerate(_KINDS) if (match := pattern.search(text))]
    if match := _OPENS.search(text):
        found.append((match.start(), len(_KINDS), "whether"))
    return min(found)[2] if found else ""


def modals(words: Sequence[str]) -> frozenset[str]:
    """What it asks of: what can be, what should be, or what must be."""
    duty = any(a in _DUTY and b == "to" for a, b in itertools.pairwise(words))
    return frozenset(_MODALS[word] for word in words if word in _MODALS) | ({"must"} if duty else set())


def ongoing(question: str) -> bool:
    """Whether it asks of what is still going on: «is being moved», «are we moving»."""
    return bool(_ONGOING.search(question.casefold()))


def after_object(question: str) -> bool | None:
    """Whether what is asked for is what the deed is done to; nothing where its form does not say.

    >>> after_object("who did Plato teach"), after_object("who taught Plato"), after_object("where is Plato")
    (True, False, None)
    """
    text = question.casefold()
    if _OBJECT.search(text):
        return True
    return False if _SUBJECT.search(text) and not _AUXILIARY.search(text) else None


def tense(question: str) -> str:
    """
    >>> tense("What did we use?"), tense("What do we use?"), tense("What will we use?"), tense("Has it been used?")
    ('past', 'present', 'future', 'perfect')
    """
    text = question.casefold()
    if (deed := _DEED.search(text)) and not _AUXILIARY.search(text):
        return "past" if deed[1].endswith("ed") or deed[1] in _PASTS else "present"
    for name, pattern in (("future", _FUTURE), ("past", _PAST), ("perfect", _PERFECT)):
        if pattern.search(text):
            return name
    return "present"
