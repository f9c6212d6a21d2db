"""Extraction by rules: the statements of a window, as candidates for memories. Pure.

A candidate says where it comes from word for word (`quote`), so that it can be held against its source, and carries the
version of the rules that found it, so that turns can be looked at again when the rules are better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ..grounding import citations
from ..language.meaning import faithful
from ..language.statements import is_question
from ..language.terms import STOP_WORDS, terms
from ..remember.conflict import changes
from ..remember.disguises import REJECTED
from ..remember.retraction import retraction
from ..text import strip_quotes
from . import sentences as rules
from .windows import Turn, Window

VERSION = "rules 2"
MAX_KEYWORDS = 10
MAX_NAMES = 8
MAX_REFS, LONGEST_REF, LONGEST_KEYWORD = 16, 400, 60
LONGEST = 600  # characters of one statement; what is longer is a text, not a statement
_WORD = re.compile(r"`([^`\n]{2,60})`|([A-Za-z][\w./+-]*\w|\w)")
_NAME = re.compile(r"`([^`\n]{2,60})`|(?<=[a-z,;:] )([A-Z][\w-]+(?: [A-Z][\w-]+){0,2})")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may become a memory.

    `corrects` says that it sets something right; `forgets` is what it takes back without saying anything instead.
    """

    content: str
    kind: str
    rule: str
    quote: str
    role: str
    source: str
    at: datetime | None = None
    importance: int = 5
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    reasoning: str = ""
    refs: tuple[str, ...] = ()
    corrects: bool = False
    forgets: str = ""
    lead: str = ""  # the sentence before, where the quote alone does not say what it is about
    entities: tuple[str, ...] = ()  # what it names, as it is written
    version: str = VERSION

    def __post_init__(self) -> None:
        """However it was found, it says what its quote says."""
        said = f"{self.lead} {self.quote}" if self.lead else self.quote
        object.__setattr__(self, "content", strip_quotes(faithful(self.content, said)))
        object.__setattr__(self, "reasoning", strip_quotes(self.reasoning))


def extract(window: Window) -> list[Candidate]:
    """The statements of the turns that were not in the window before.

    >>> found = extract(Window((Turn("user", "Hi! We use pnpm because npm is slow. Run the tests."),)))
    >>> [(one.content, one.kind, one.reasoning) for one in found]
    [('We use pnpm because npm is slow.', 'fact', 'npm is slow')]
    """
    return [found for turn in window.fresh for found in _of_turn(turn)]


def _of_turn(turn: Turn) -> list[Candidate]:
    found: list[Candidate] = []
    before = ""
    for sentence in own_sentences(turn):
        kind = rules.classify(" ".join(sentence.split()), turn.role) if len(sentence) <= LONGEST else None
        if kind is not None and (made := _candidate(turn, sentence, before, kind)) is not None:
            found.append(made)
        before = sentence
    return found


def own_sentences(turn: Turn) -> Iterator[str]:
    """The sentences of a turn; of a user's turn only what the user typed, not what was pasted."""
    from .lines import typed  # which needs numpy; a cached answer must not wait for that

    content = turn.content.replace(REJECTED, "").strip()  # the mark at the start of a line looks like that of a log
    return rules.sentences(typed(content) if turn.role == "user" else content)


def _candidate(turn: Turn, sentence: str, before: str, kind: rules.Class) -> Candidate | None:
    content, lead = rules.plain(" ".join(sentence.split())), ""
    if rules.PRONOUN.match(content) and not rules.forgets(sentence):
        # «It takes nine seconds» says nothing without what «it» is.
        if not before or is_question(before) or rules.CHATTER.search(before) or len(before) > LONGEST:
            return None
        content, lead = f"{rules.plain(before)} {content}", before
    corrects = kind.name in ("correction", "retraction") or changes(sentence) or rules.sets_right(sentence)
    if (taken_back := retraction(content)) and not taken_back.is_sure:
        corrects = False  # a person decides
    asked = kind.name == "marked" and (rules.classify(content, turn.role) or kind)
    return Candidate(
        content, (asked or kind).kind, kind.name, sentence, turn.role, turn.source, turn.at, kind.importance,
        ("captured", *kind.tags), keywords(content), rules.reason(sentence),
        refs(turn, sentence),
        corrects, rules.forgets(sentence), lead, names(content),
    )  # fmt: skip


def refs(turn: Turn, said: str) -> tuple[str, ...]:
    """What a statement cites, and what its turn refers to; an address that goes on for lines helps nobody."""
    found = dict.fromkeys((*turn.refs, *citations(said)))
    return tuple(one for one in found if len(one) <= LONGEST_REF)[:MAX_REFS]


def names(content: str) -> tuple[str, ...]:
    """What a statement calls by its name: words in backticks, and capitals inside of a sentence.

    >>> names("Since March, `billing-api` is owned by Ana Ruiz.")
    ('March', 'billing-api', 'Ana Ruiz', 'Ana', 'Ruiz')
    """
    found = [code or word for code, word in _NAME.findall(content)]
    parts = [part for name in found if " " in name for part in name.split()]
    return tuple(dict.fromkeys((*found, *parts)))[:MAX_NAMES]


def keywords(content: str) -> tuple[str, ...]:
    """Up to ten words a statement is about: names first, then the longer and more frequent ones.

    >>> keywords("The `billing-api` talks to Postgres over the pooler, and the pooler restarts nightly.")
    ('billing-api', 'postgres', 'pooler', 'restarts', 'nightly', 'talks')
    """
    weights: Counter[str] = Counter()
    for code, word in _WORD.findall(content):
        name = (code or word).strip().lower()
        if not 3 <= len(name) <= LONGEST_KEYWORD or set(terms(name)) <= STOP_WORDS:
            continue
        named = bool(code) or (not word.islower() and not content.startswith(word)) or re.search(r"[_./\d-]", word)
        weights[name] += 100 if named and name not in weights else 0
        weights[name] += 10 + min(len(name), 9)
    order = sorted(weights, key=lambda name: (-weights[name], content.lower().find(name)))
    return tuple(order[:MAX_KEYWORDS])
