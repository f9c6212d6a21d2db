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
    r"^(?:(?:can|could|would|will) (?:you|someone|anyone|somebody|anybody) (?:please |kindly )?"
    r"(?:tell|explain|show|remind)(?: to)?"
    r"(?: me| us)?|(?:do|does) (?:you|anyone|anybody|someone|somebody) know|(?:please )?(?:tell|remind|show) (?:me|us)"
    r"|i (?:want|need|would like|wanted) to know|i (?:am|was) wondering|any idea)[ ,:]+(?:about )?"
    r"(?=(?:how|what|why|when|where|who|which|whose|if|whether)\b)",
    re.IGNORECASE,
)
_ENDS = " \t\n?!.,;:"
_LONE = re.compile(r"(?<=\w )\.{1,2}[?! ]*$")  # "git add .": no full stop, since that stands at its word
# Where a capital makes another name even without backticks: flags, names with an underscore, camelCase, a.B.
_CASED = re.compile(r"((?<![\w-])-[A-Za-z]\w*|\b\w*[A-Za-z]_\w+|\b[a-z]{2,}(?:[A-Z][a-z0-9]+)+\b|\b[a-z]\w*\.[A-Z]\w*)")
_CONTRACTIONS = (
    (re.compile(r"\b(can)(?:'t|not)\b|\bcant\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b|\bwont\b", re.IGNORECASE), "will not"),
    (re.compile(r"\bshan't\b", re.IGNORECASE), "shall not"),
    (
        re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should|must|might|need)n'?t\b", re.I),
        r"\1 not",
    ),
    (re.compile(r"\b(what|who|where|when|why|how|that|there|here|it|he|she|let)'?s\b(?<!lets)", re.I), r"\1 is"),
    (re.compile(r"\b(what|who|where|when|why|how|they|we|you)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\bi'm\b", re.IGNORECASE), "i am"),
    (re.compile(r"\b(\w+)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(\w+)'ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(i|you|he|she|we|they|who|what|how|where)'d\b", re.IGNORECASE), r"\1 would"),
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
