"""The echo filter: what was said, without what was only put into somebody's mouth. Pure.

A memory that is injected, repeated by the assistant and captured again would look like new knowledge with a second
source, and grow stronger each time round. Three things keep it out:

- *marks*: what we inject stands in a fence (`recall/fence.py`), and comes out again by its tags;
- *what hosts write in*: reminders, boot files (CLAUDE.md, AGENTS.md), the output of commands and tools, the context of
  hooks, the summary of a folded conversation. Their tags and first words are known, and nobody has said any of it;
- *repeats*: what was injected into a session is remembered as shingles, runs of a few words. A sentence most of whose
  shingles were in one memory, and which adds no word, number or negation, is that memory again. A correction adds one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from .. import text as plain
from ..language.meaning import marks
from ..language.terms import STOP_WORDS, terms
from ..recall.fence import BEGIN, END, MARK, strip_fences
from .data import read
from .segment import public

_HOSTS = read("hosts")
_ELEMENT = re.compile(  # that hosts write into a turn on their own
    rf"<({'|'.join(_HOSTS['elements'].split())})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
# First words of a turn that nobody typed, and of a part that goes on to the end of its turn.
_NOT_SAID, _BOOT = re.compile(_HOSTS["not_said"]), re.compile(_HOSTS["boot"], re.MULTILINE)
_INJECTED = re.compile(r"<memory\s+id\s*=[^>]{0,600}>(.*?)</memory>", re.DOTALL)
_QUOTE_SIGNS = "> \t-*•\"'“”«»`_#:"
_WORD = re.compile(r"[^\W_]+")
_LEADS = re.compile(r"[,:;—–]\s+|\bthat\s+", re.IGNORECASE)  # where «as we said before» ends
MOST_LEADS = 4
SHINGLE = 3  # words; a sentence of fewer is too short to be told from chance, and must match whole
REPEATED = 0.7  # of the shingles of a sentence that stand in one memory
MOST = 2000  # memories a session's filter holds: what was shown longest ago goes first


def own_words(text: str) -> str:
    """What a person or assistant really said: without what we injected, and without what the host wrote in.

    >>> own_words("<system-reminder>Mind the cat.</system-reminder>\\nWhy Thursday?")
    'Why Thursday?'
    >>> own_words("Why?\\n\\nContents of /shop/CLAUDE.md (project instructions):\\n\\nUse pnpm.")
    'Why?'
    >>> own_words("---")
    ''
    """
    left = _ELEMENT.sub("", strip_fences(public(text))).strip()
    if boot := _BOOT.search(left):
        left = left[: boot.start()].rstrip()
    return "" if _NOT_SAID.match(left) or not _WORD.search(left) else left


def injected(text: str) -> list[str]:
    """The memories that stand in a text because we put them there.

    >>> injected('Recalled: <memory id="9r0c6d1e" kind="decision">We deploy on Thursdays.</memory>')
    ['We deploy on Thursdays.']
    """
    if "<memory" not in text:
        return []
    return [found for one in _INJECTED.findall(text) if (found := _unmarked(one).strip())]


def _unmarked(content: str) -> str:
    return content.replace(BEGIN + MARK, "").replace(END, "")


class Echoes:
    """What was injected into one session, so that a near-verbatim repeat of it is known for one.

    >>> echoes = Echoes(["We deploy on Thursdays because support is fully staffed then."])
    >>> echoes.without("As you noted, we deploy on Thursdays because support is fully staffed. The pipeline is red.")
    'The pipeline is red.'
    >>> echoes.without("We deploy on Fridays because 3 people are on call.")
    'We deploy on Fridays because 3 people are on call.'
    """

    def __init__(self, shown: Iterable[str] = ()) -> None:
        self._known: dict[str, tuple[str, frozenset[str]]] = {}  # by the key of a sentence: it, and its shingles
        self._where: dict[str, set[str]] = {}  # shingle → keys
        self._whose: dict[str, str] = {}  # key → the id of the memory, where it was told
        self.heard: set[str] = set()  # the ids of memories that were repeated
        self.add(shown)

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, shown: Iterable[str], memory: str = "") -> None:
        """Remember what was injected, of which memory; each sentence may come back on its own."""
        for content in shown:
            for sentence in plain.sentences(content):
                key, made = plain.key(sentence), _shingles(sentence)
                if key in self._known or not made:
                    continue
                while len(self._known) >= MOST:
                    self._drop(next(iter(self._known)))
                self._known[key] = sentence, made
                if memory:
                    self._whose[key] = memory
                for shingle in made:
                    self._where.setdefault(shingle, set()).add(key)

    def repeats(self, sentence: str) -> bool:
        """Whether a sentence says again, nearly word for word, what was injected; a few words may lead up to it."""
        said = sentence.strip(_QUOTE_SIGNS)
        if not said or not self._known:
            return False
        parts = [said, *(rest for lead in _LEADS.finditer(said) if (rest := said[lead.end() :].strip(_QUOTE_SIGNS)))]
        return any(self._known_as(part) for part in parts[:MOST_LEADS])

    def _known_as(self, said: str) -> bool:
        found = plain.key(said) if plain.key(said) in self._known else self._nearly(said)
        if found in self._whose:
            self.heard.add(self._whose[found])
        return bool(found)

    def _nearly(self, said: str) -> str:
        """The key of the sentence that another one is nearly, if there is one."""
        made = _shingles(said)
        shared = Counter(key for shingle in made for key in self._where.get(shingle, ()))
        fitting = (
            key
            for key, count in shared.items()
            if count >= REPEATED * len(made) and _adds_nothing(said, self._known[key][0])
        )
        return next(fitting, "") if len(made) > 1 else ""

    def without(self, text: str) -> str:
        """The text without the sentences that only repeat; unchanged, to the last character, where there are none."""
        if not self._known:
            return text
        for sentence in filter(self.repeats, plain.sentences(text)):
            text = re.sub(rf"\s*{re.escape(sentence)}", "", text, count=1).lstrip()
        return text if _WORD.search(text) else ""

    def _drop(self, key: str) -> None:
        self._whose.pop(key, None)
        for shingle in self._known.pop(key)[1]:
            self._where[shingle].discard(key)
            if not self._where[shingle]:
                del self._where[shingle]


def _shingles(sentence: str) -> frozenset[str]:
    """Runs of words, in the folded form; the whole of a sentence that is shorter than one run."""
    words = _WORD.findall(plain.fold(sentence))
    if len(words) < SHINGLE:
        return frozenset((" ".join(words),)) if words else frozenset()
    return frozenset(" ".join(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1))


def _adds_nothing(said: str, known: str) -> bool:
    """Whether every word that counts, every number and every negation is the memory's: a correction has a new one."""
    fresh = {term for term in terms(said) if term not in STOP_WORDS} - set(terms(known))
    return not fresh and marks(said).denies == marks(known).denies
