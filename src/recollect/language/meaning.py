"""Meaning: what a wording must not lose, and the one way in which words are made shorter. Pure.

Every path that makes a claim shorter than its quote asks `faithful`, which gives the shorter wording only where it has
every negation, number, name and condition of the quote, no negation or condition more, and the shared words in the same
order. Otherwise it gives the quote. English, German, French, Spanish and Portuguese are known by their words; of other
scripts every word must stay.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from . import tables
from .tables import NEGATIONS, STOP_WORDS
from .terms import words

_DENYING = frozenset(tables.words("words", "denying"))
_PROHIBITING = frozenset("avoid avoids stop stops disable disables disabled".split())
_DENYING_SHAPE = re.compile(r"(?:un(?!i|de|til)\w{4,}|dis(?!k|pl|tr|cu|co)\w{4,}|\w{3,}less)$")
_CONDITIONS = frozenset(tables.words("words", "conditions"))
_NUMBER_WORDS = {word: n for n, names in tables.pairs("words", "numbers").items() for word in names.split()}
_QUIET = frozenset(tables.words("words", "quiet"))
# A "no" that answers somebody, and denies nothing of what follows: "No, the port is 8081."
_REPLY = re.compile(
    r"(?:^|(?<=[,.;:!])|(?<=\bactually)|(?<=\bsorry)|(?<=\bbut)|(?<=\boh)|(?<=\bwell))\s*"
    r"(?:(?:no|nope|nah|nein|non|não)(?:\s*[,.!;](?=\s|$)|(?=\s+(?:actually|wait|sorry)\b))"
    r"|(?:that['’]?s (?:not (?:right|true|correct)|wrong)|not quite)\s*[,.!;:-])",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^\W*(?:so|but)\b(?! (?:that|long|far|for)\b)", re.IGNORECASE)
_USED_TO = re.compile(r"\bused to\s", re.IGNORECASE)
_TOKEN = re.compile(
    r"`[^`]+`|(?<![\w.])[-+\u2212]\d[\d.,:]*\d?|\w+(?:[-_./:@#+\\]+\w+)*(?:['’]\w+)?|[<>=≤≥≠]=?|!=|[%‰€$£]"
)
RELATES = frozenset("from to by before after than over under until without".split())  # these tell who did what to whom
_APOSTROPHE = re.compile(r"['’]")
_LATIN = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")
_NAMED = re.compile(r"\w[A-Z]|[%‰€$£]|[\d_./:@#+\\]|\w-\w")


@dataclass(slots=True)
class Marks:
    """What a text says that a shorter wording of it must say too."""

    negations: int = 0
    denying: set[str] = field(default_factory=set)
    numbers: Counter[str] = field(default_factory=Counter)
    conditions: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    order: list[str] = field(default_factory=list)  # all of them and the other words that tell something

    @property
    def denies(self) -> bool:
        """Whether it denies something; two denials are none."""
        return (self.negations + len(self.denying & _PROHIBITING)) % 2 == 1

    @property
    def bound(self) -> bool:
        """Whether something in it decides what the rest means, so that no word may be left out."""
        return bool(self.negations or self.denying or self.conditions)


def faithful(shorter: str, quote: str) -> str:
    """The shorter wording of a quote where it keeps what the quote says, and else the quote.

    >>> faithful("Production data is allowed in staging.", "No production data is allowed in staging.")
    'No production data is allowed in staging.'
    >>> faithful("The port is 8081.", "No, actually: the port is 8081.")
    'The port is 8081.'
    """
    return shorter if keeps(shorter, quote) else " ".join(quote.split())


def keeps(shorter: str, quote: str) -> bool:
    """Whether a wording has every negation, number, name and condition of a quote, and sets none of its own.

    >>> keeps("Wir nutzen Kafka.", "Wir nutzen Kafka nicht."), keeps("We deploy.", "We deploy on 3 nodes.")
    (False, False)
    >>> keeps("We use SQS, not Kafka.", "We use Kafka, not SQS."), keeps("We deploy daily.", "So, we deploy daily.")
    (False, True)
    """
    told, meant = marks(shorter), marks(quote)
    if (told.negations, told.denying, told.conditions) != (meant.negations, meant.denying, meant.conditions):
        return False
    if meant.numbers - told.numbers or meant.names - told.names:
        return False
    if meant.bound and not set(meant.order) <= set(told.order):
        return False
    shared = set(told.order) & set(meant.order)
    return [word for word in told.order if word in shared] == [word for word in meant.order if word in shared]


def marks(said: str) -> Marks:
    """The negations, numbers, names and conditions of a text, and the order of its words."""
    found = Marks()
    for token in _TOKEN.findall(_USED_TO.sub("formerly ", _OPENING.sub("", _REPLY.sub(" ", said).lstrip()))):
        for part in _parts(token):
            _mark(part, found)
    return found


def _parts(token: str) -> list[str]:
    """A token with its negation apart: "don't", "n'utilise", "qu'aucun"."""
    if token.startswith("`") or not _APOSTROPHE.search(token):
        return [token]
    head, tail = _APOSTROPHE.split(token, maxsplit=1)
    if tail.lower() == "t":
        return ["not"] if head.lower() != "can" else ["cannot"]
    return [head] if tail.lower() in ("s", "re", "ve", "ll", "d", "m") else [head, tail]


def _mark(token: str, found: Marks) -> None:
    word = token.lower()
    number = _NUMBER_WORDS.get(word) or (token.replace("\u2212", "-").rstrip(".,:") if token[-1].isdigit() else "")
    if word in NEGATIONS:
        found.negations += 1
        word = "not"
    elif word in _DENYING or _DENYING_SHAPE.match(word):
        found.denying.add(word)
    elif word in _CONDITIONS or word[0] in "<>=≤≥≠!":
        found.conditions.add(word)
    elif number and not re.search(r"[^\W\d]", number):
        found.numbers[number] += 1
        word = number
    elif token.startswith("`") or _LATIN.search(token) or _NAMED.search(token):
        word = token.strip("`").lower()
        found.names.add(word)
    elif word in RELATES:
        found.names.add(word)
    elif word in _QUIET or word in STOP_WORDS:
        return
    elif token[0].isupper():
        word = " ".join(words(token))
        found.names.add(word)
    else:
        word = " ".join(words(token)) or word
    found.order.append(word)
