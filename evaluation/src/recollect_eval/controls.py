"""Controls: what plain methods find in the same memories, in the same run. An engine has to beat them.

- `bm25`: Lucene's BM25 (k1 1.2, b 0.75) over title, content, reasons and tags, Snowball stems, Lucene's 33 stop words;
- `vectors`: the cosine of the best chunk, with the embedder under test;
- `sum`: the two, each stretched to 0…1 over all memories, added; `rrf`: their ranks, fused with k = 60;
- `grep`: how many of the question's words occur as substrings; `recency`: newest first.

None of them knows that a memory was superseded. They do keep to the question's scope. Ties go to the newer memory.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import islice
from math import log
from typing import TYPE_CHECKING, Protocol

import numpy as np
import snowballstemmer

from recollect import text

from . import metrics
from .corpus import Answer, Corpus, Item, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.models.embedder import Embedder

    Floats = NDArray[np.float64]

STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with""".split()
)
K1, B = 1.2, 0.75
BATCH = 256
MOST = 1000  # the longest ranking anybody asks for
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_stemmer = snowballstemmer.stemmer("english")


class System(Protocol):
    """Whatever answers questions about a corpus."""

    name: str

    def answer(self, question: Question, limit: int, max_tokens: int | None = None) -> Answer:
        """At most `limit` keys, best first, that cost at most `max_tokens`."""


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word))


def words(told: str) -> list[str]:
    """
    >>> words("The deploys are failing")
    ['deploy', 'fail']
    """
    return [_stem(word) for word in _WORD.findall(told.lower()) if word not in STOP_WORDS]


class Control(ABC):
    """One method: a score of every item for a question, and the ranking that follows."""

    name = ""

    def __init__(self, corpus: Corpus) -> None:
        self.items = corpus.items
        self._costs = {item.key: item.cost for item in corpus.items}
        newest = sorted(range(len(self.items)), key=lambda n: self.items[n].moment)
        self.age = np.empty(len(self.items))
        self.age[newest] = np.arange(len(self.items))
        self._last: tuple[str, list[str]] = ("", [])

    @abstractmethod
    def scores(self, question: Question) -> Floats:
        """How well each item fits; higher is better."""

    def answer(self, question: Question, limit: int, max_tokens: int | None = None) -> Answer:
        if self._last[0] != question.key:  # the same question is asked with several limits
            self._last = question.key, self._ranked(question)
        ranked = self._last[1][:limit]
        taken = ranked if max_tokens is None else metrics.fitting(ranked, self._costs, max_tokens)
        return Answer(tuple(taken), sum(self._costs[key] for key in taken))

    def _ranked(self, question: Question) -> list[str]:
        scores = self.scores(question)
        order = (self.items[n] for n in np.lexsort((-self.age, -scores)) if scores[n] > -np.inf)
        return [item.key for item in islice((item for item in order if visible(item, question)), MOST)]


def visible(item: Item, question: Question) -> bool:
    """Whether a question asked in a scope may see an item: of the same project, or of none."""
    return not question.scope.project or item.draft.scope.project in ("", question.scope.project)


class Bm25(Control):
    name = "bm25"

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus)
        counted = [Counter(words(item.text)) for item in corpus.items]
        lengths = np.array([sum(counts.values()) for counts in counted], dtype=np.float64)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, counts in enumerate(counted):
            for word, count in counts.items():
                postings[word].append((row, count))
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        self._postings: dict[str, tuple[NDArray[np.int64], Floats]] = {}
        for word, found in postings.items():
            rows, tf = np.array([row for row, _ in found]), np.array([count for _, count in found], dtype=np.float64)
            rarity = log(1 + (len(counted) - len(found) + 0.5) / (len(found) + 0.5))
            self._postings[word] = rows, rarity * tf / (tf + norm[rows])

    def scores(self, question: Question) -> Floats:
        total = np.zeros(len(self.items))
        for word in words(question.text):
            if word in self._postings:
                rows, gains = self._postings[word]
                total[rows] += gains
        return np.where(total > 0, total, -np.inf)  # what shares no word is not found


class Vectors(Control):
    name = "vectors"

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        super().__init__(corpus)
        self._embedder = embedder
        pieces: list[str] = []
        starts: list[int] = []
        for item in corpus.items:
            starts.append(len(pieces))
            draft = item.draft
            head = (f"{draft.title}\n" if draft.title else "") + (f"{draft.speaker}: " if draft.speaker else "")
            pieces.extend(head + chunk for chunk in text.chunks(draft.content))
        batches = [embedder.embed(pieces[n : n + BATCH], "document") for n in range(0, len(pieces), BATCH)]
        self._rows, self._starts = np.concatenate(batches), np.array(starts)

    def scores(self, question: Question) -> Floats:
        likeness = self._rows @ self._embedder.embed([question.text], "query")[0]
        return np.asarray(np.maximum.reduceat(likeness, self._starts), dtype=np.float64)


class Fused(Control):
    """BM25 and vectors together, by rank or by score."""

    def __init__(self, corpus: Corpus, bm25: Bm25, vectors: Vectors, name: str) -> None:
        super().__init__(corpus)
        self.name = name
        self._arms = (bm25, vectors)

    def scores(self, question: Question) -> Floats:
        found = [arm.scores(question) for arm in self._arms]
        if self.name == "rrf":
            return np.asarray(sum(self._by_rank(scores) for scores in found))
        return np.asarray(sum(_stretched(scores) for scores in found))

    def _by_rank(self, scores: Floats) -> Floats:
        points = np.zeros(len(scores))
        order = np.lexsort((-self.age, -scores))
        points[order] = 1 / (60 + 1 + np.arange(len(scores)))
        return np.where(scores > -np.inf, points, 0.0)


def _stretched(scores: Floats) -> Floats:
    """From 0, the worst or not found, to 1, the best."""
    found = scores > -np.inf
    if not found.any():
        return np.zeros(len(scores))
    low = scores[found].min() if found.all() else 0.0
    span = scores[found].max() - low
    return np.where(found, (scores - low) / span if span else 1.0, 0.0)


class Grep(Control):
    name = "grep"

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus)
        self._texts = [item.text.lower() for item in corpus.items]

    def scores(self, question: Question) -> Floats:
        asked = {word for word in _WORD.findall(question.text.lower()) if word not in STOP_WORDS and len(word) > 2}
        counts = np.array([sum(word in told for word in asked) for told in self._texts], dtype=np.float64)
        return np.where(counts > 0, counts, -np.inf)


class Recency(Control):
    name = "recency"

    def scores(self, question: Question) -> Floats:
        return self.age


def controls(corpus: Corpus, embedder: Embedder | None) -> list[Control]:
    """All of them; without an embedder, those that need none."""
    bm25 = Bm25(corpus)
    plain: list[Control] = [Grep(corpus), Recency(corpus)]
    if embedder is None:
        return [bm25, *plain]
    vectors = Vectors(corpus, embedder)
    return [bm25, vectors, *(Fused(corpus, bm25, vectors, name) for name in ("rrf", "sum")), *plain]
