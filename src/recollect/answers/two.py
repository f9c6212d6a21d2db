"""Two questions side by side: which words of theirs stand for each other, and what is left over. Pure."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property

from .reading import Reading, Word, opposites, table


@dataclass(frozen=True, slots=True)
class Objection:
    """What a guard has found. `firm`: it forbids in any talk; else only in technical talk (see `strict`)."""

    text: str
    firm: bool = False


@dataclass(frozen=True)
class Two:
    """Two readings side by side: which words answer each other, and what is left over on either side."""

    asked: Reading
    known: Reading

    @property
    def sides(self) -> tuple[Reading, Reading]:
        return self.asked, self.known

    @cached_property
    def left(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words of content that have no partner: of the asked question, of the known one."""
        return unmatched(self.asked, self.known), unmatched(self.known, self.asked)

    @cached_property
    def stems(self) -> tuple[frozenset[str], frozenset[str]]:
        return (frozenset(word.stem for word in self.asked.words), frozenset(word.stem for word in self.known.words))

    @cached_property
    def lone(self) -> tuple[frozenset[str], frozenset[str]]:
        """Every stem, function words too, that only one of them has."""
        one, other = self.stems
        return one - other, other - one


def unmatched(one: Reading, other: Reading) -> tuple[Word, ...]:
    """The words of content in `one` that nothing in `other` stands for."""
    stems = {word.stem for word in other.words}
    joined = "".join(other.texts)
    return tuple(
        word
        for word in one.content
        if word.stem not in stems
        and not (len(word.text) > 4 and word.text in joined and word.kind != "number")
        and not any(_joined(word, one, text) for text in other.texts)
        and not any(same(word, partner) for partner in other.words)
    )


def _joined(word: Word, reading: Reading, whole: str) -> bool:
    """Whether a word and its neighbour make up one word of the other question: «data base», «database»."""
    if len(whole) < 6 or (not whole.startswith(word.text) and not whole.endswith(word.text)):
        return False
    texts = reading.texts
    return any(a + b == whole for a, b in itertools.pairwise(texts) if word.text in (a, b))


def same(one: Word, other: Word) -> bool:
    """Whether two words may stand for each other: by the lexicon, or as two spellings of one.

    >>> from recollect.answers.reading import stem
    >>> delete, remove, create = (Word(word, stem(word), "word") for word in ("delete", "remove", "create"))
    >>> same(delete, remove), same(delete, create)
    (True, False)
    """
    if one.kind in ("number", "date") or other.kind in ("number", "date"):
        return False
    if (one.stem, other.stem) in opposites():
        return False
    for name in ("ACTIONS", "THINGS", "SYNONYMS", "ENVIRONMENTS"):
        groups = table(name)
        if groups.get(one.stem, frozenset()) & groups.get(other.stem, frozenset()):
            return True
    return one.kind == other.kind == "word" and _skeleton(one.stem) == _skeleton(other.stem) != ""


def _skeleton(word: str) -> str:
    """A long word without what is misspelt most: doubled letters and inner vowels; nothing for a short one.

    >>> _skeleton("recommend") == _skeleton("reccomend"), _skeleton("file")
    (True, '')
    """
    if len(word) < 7:
        return ""
    return word[0] + re.sub(r"(.)\1", r"\1", re.sub(r"[aeiou]", "", word[1:].replace("z", "s"))) + word[-1]
