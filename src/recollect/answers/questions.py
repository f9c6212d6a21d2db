"""Questions: the one spelling by which the same question is found again, and the place where it was asked. Pure.

Only what never changes the meaning is folded: case, width, spacing, quotation marks, contractions, a greeting in front,
a "please" or a question mark behind. Numbers, names, the order of the words, flags, names as in code and everything
between backticks stay.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from ..language.tables import joined, lines
from ..store.answers import Answer
from ..types import Scope

_QUOTES = str.maketrans("‘’‚‛“”„‟‐‑‒–—−\u00a0", "''''\"\"\"\"------ ")  # noqa: RUF001
_CODE = re.compile(r"(`+[^`]*`+)")
_SPACE = re.compile(r"\s+")
_GREETING = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|so|please|thanks|quick question)\b[ ,:!.-]*"
    r"(?:there|all|everyone|team|folks)?[ ,:!.-]+)+"
)
_FAREWELL = re.compile(r"[ ,]+(?:please|thanks|thank you|thx|pls)(?:[ ,]+(?:a lot|so much|in advance))?$")
_PREFACE = re.compile(
    rf"^(?:{joined('questions', 'preface')})[ ,:]+(?:about )?"
    r"(?=(?:how|what|why|when|where|who|which|whose|if|whether)\b)", re.IGNORECASE
)  # fmt: skip
_ENDS = " \t\n?!.,;:"
_LONE = re.compile(r"(?<=\w )\.{1,2}[?! ]*$")  # "git add .": no full stop, since that stands at its word
# Where a capital makes another name even without backticks: flags, names with an underscore, camelCase, a.B.
_CASED = re.compile(r"((?<![\w-])-[A-Za-z]\w*|\b\w*[A-Za-z]_\w+|\b[a-z]{2,}(?:[A-Z][a-z0-9]+)+\b|\b[a-z]\w*\.[A-Z]\w*)")
_CONTRACTIONS = tuple(
    (re.compile(short, re.IGNORECASE), long)
    for short, _, long in (line.partition(" = ") for line in lines("questions", "contractions"))
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was read: its normal form's hash and its place."""

    question: str
    hash: str
    scope: Scope
    narrow: bool  # asked in a branch, session or by an agent: what is seen there is not seen by others
    networks: tuple[str, ...] = ()  # asked of these alone

    @property
    def place(self) -> tuple[str, str, str]:
        return self.hash, self.scope.user, self.scope.project

    @property
    def around(self) -> list[tuple[str, str]]:
        """The users and projects whose answers are looked at: its own first, then those that enclose it."""
        user, project = self.scope.user, self.scope.project
        return list(dict.fromkeys(((user, project), (user, ""), ("", project), ("", ""))))

    def served_by(self, answer: Answer) -> bool:
        """Whether an answer is meant for this place: it was computed for it, or was given for all that encloses it."""
        own = not self.narrow and (answer.user, answer.project) == (self.scope.user, self.scope.project)
        return own or answer.kind == "given"


def plain(question: str) -> str:
    """One line in common characters, contractions written out; letter case stays.

    >>> plain("What’s  new?\\nDoesn't it work?")
    'What is new? Does not it work?'
    """
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", question).translate(_QUOTES)).strip()
    return "".join(part if part.startswith("`") else _spell_out(part) for part in _CODE.split(text))


def _spell_out(text: str) -> str:
    for pattern, long in _CONTRACTIONS:
        text = pattern.sub(long, text)
    return text


def bare(question: str) -> str:
    """A question without what is said before it begins.

    >>> bare("Can you tell me how to run it?"), bare("Can you run it?")
    ('how to run it?', 'Can you run it?')
    """
    return _PREFACE.sub("", question)


def normal(question: str) -> str:
    """
    >>> normal("Hi, what's   the default port?"), normal("What is the default port please?!")
    ('what is the default port', 'what is the default port')
    >>> normal("Does `Foo` take 5 items?"), normal(".env or env?")
    ('does `Foo` take 5 items', '.env or env')
    >>> normal("What does -V do?"), normal("What does git add .?"), normal("How do I use GitHub.")
    ('what does -V do', 'what does git add .', 'how do i use github')
    """
    folded = "".join(part if part.startswith("`") else _fold_prose(part) for part in _CODE.split(plain(question)))
    lone = found[0].rstrip(" ?!") if (found := _LONE.search(folded)) else ""
    folded = _FAREWELL.sub("", folded.rstrip(_ENDS))
    return " ".join(filter(None, (bare(_GREETING.sub("", folded)).rstrip(_ENDS), lone))) or folded or question.strip()


def _fold_prose(text: str) -> str:
    """In small letters, but for what is written as in code."""
    return "".join(part if n % 2 else part.casefold() for n, part in enumerate(_CASED.split(text)))


def key(question: str) -> str:
    """The hash of the normal form: equal keys are the same question.

    >>> key("What is CI?") == key("what is ci"), key("what is ci") == key("what is cd")
    (True, False)
    """
    return hashlib.sha256(normal(question).encode("utf-8", "replace")).hexdigest()
