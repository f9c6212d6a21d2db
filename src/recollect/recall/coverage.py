"""Coverage: questions that want everything on a subject, and how such an answer is laid out. Pure.

"List the decisions on the cache", "in what order did we migrate?", "tell me everything about Marta": the best few hits
do not answer these. A linear model over the words of a question, and its vector where the packaged model made one,
says how probable it is that all is wanted (`training/fit_coverage.py`). The answer is then longer, says nothing twice,
and is laid out by topic, each topic in the order of time; `hits` stay best first.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..language import terms
from ..types import Group, Memory

if TYPE_CHECKING:
    from ..vectors import Floats
    from .query import Query
    from .select import Scored

WANTED = 0.5  # how probable it must be that everything is wanted
LEAST = 10  # so many are given in any case; further ones lie no more than this below the best logit, or sum of the arms
MARGIN_LOGIT, MARGIN_SUM = 9.0, 0.6
ALIKE = 0.75  # the share of common terms from which one of two memories is left out
FEW = 6  # hits that are one list, without topics
NAMED = 2.0  # what a tag or a name counts as a topic beside a plain word
_WORD = re.compile(r"[^\W\d_]+")
_PAIRS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_NAME = re.compile(r"[^\W\d_][\w.-]*[\w]")


@dataclass(frozen=True, slots=True)
class Model:
    """The fitted weights: of words alone, and of both where there is a vector of the model they were fitted with."""

    model: str
    bias: float
    words: dict[str, float]
    both_bias: float
    of_words: float
    vector: tuple[float, ...]

    def probability(self, question: str, vector: Floats | None) -> float:
        """How probable it is that a question wants everything on its subject."""
        odds = self.bias + sum(self.words.get(mark, 0.0) for mark in marks(question))
        if vector is not None:
            meant = sum(a * b for a, b in zip(self.vector, vector.tolist(), strict=True))
            odds = self.both_bias + self.of_words * odds + meant
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def load() -> Model:
    told: dict[str, Any] = json.loads(resources.files(__package__).joinpath("coverage.json").read_text("utf-8"))
    return Model(**{name: told[name] for name in Model.__dataclass_fields__})


def marks(question: str) -> set[str]:
    """The words and pairs of words of a question, and its first ones.

    >>> sorted(marks("List all jobs"))
    ['^list', '^list all', '^list all jobs', 'all', 'all jobs', 'jobs', 'list', 'list all']
    """
    words = [word.lower() for word in _WORD.findall(question[:1000])]
    found = {*words, *(f"{a} {b}" for a, b in pairwise(words))}
    for run in _PAIRS.findall(question[:1000]):
        found.update(run[n : n + 2] for n in range(len(run) - 1))
    return found | {"^" + " ".join(words[:n]) for n in (1, 2, 3) if len(words) >= n}


def worth(scored: Sequence[Scored], logits: bool, query: Query) -> list[Scored]:
    """Of candidates, best first, those that may belong to everything on a subject; all where the caller set a limit."""
    bar = scored[0].score - (MARGIN_LOGIT if logits else MARGIN_SUM) if scored and query.free else -math.inf
    return [one for place, one in enumerate(scored) if place < LEAST or one.score >= bar]


def grouped(memories: Sequence[Memory], asked: AbstractSet[str], *, in_order: bool = False) -> tuple[Group, ...]:
    """Memories, given best first, by topic: a word that several have and the question does not. Each topic in the
    order of time, the topic of the best memory first; what shares no topic comes last. With `in_order`, all are one."""
    words = {memory.id: _topics(memory, asked) for memory in memories}
    left = dict.fromkeys(memory.id for memory in memories)
    made: list[tuple[str, list[str]]] = []
    while len(memories) > FEW and not in_order:
        weights: dict[str, float] = defaultdict(float)
        for id in left:
            for word, weight in words[id].items():
                weights[word] += weight
        counts = Counter(word for id in left for word in words[id])
        shared = [word for word, count in counts.items() if 1 < count <= max(2, len(memories) // 2)]
        if not shared:
            break
        topic = max(shared, key=lambda word: (weights[word], word))
        made.append((topic, [id for id in left if topic in words[id]]))
        for id in made[-1][1]:
            del left[id]
    places = {memory.id: place for place, memory in enumerate(memories)}
    made.sort(key=lambda one: places[one[1][0]])
    told = {memory.id: (memory.valid_from or memory.created_at, memory.id) for memory in memories}
    rest = [("", list(left))] if left else []
    return tuple(Group(topic, tuple(sorted(ids, key=told.__getitem__))) for topic, ids in (*made, *rest))


def _topics(memory: Memory, asked: AbstractSet[str]) -> dict[str, float]:
    """The words by which a memory may stand with others, and how well each names a topic."""
    found: dict[str, float] = {}
    text = f"{memory.title}. {memory.content[:1000]}"
    for match in _NAME.finditer(text):
        word, before = match[0], text[: match.start()].rstrip()
        named = word[:1].isupper() and before[-1:] not in ("", ".", "!", "?", ":")
        if not asked.isdisjoint(terms.terms(word)) or word.lower() in terms.STOP_WORDS or len(word) < 3:
            continue
        found[word.lower()] = max(found.get(word.lower(), 0.0), NAMED if named else 1.0)
    return found | {tag.lower(): NAMED for tag in memory.tags if asked.isdisjoint(terms.terms(tag))}
