"""Chains: memories that answer a question only together, because one names what the next one tells of.

"Who leads the team behind Ferry?" is answered by "Ferry is run by Puffin" and "Puffin's boss is Tadeusz". A chain
starts at what fits the question, and goes on through rare words that its last memory has and the question has not:
names above all. The relevance model reads the whole chain; a link counts when it makes an answer clearly more probable.
The search is bounded: so many starts, so many continuations that are read at each step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ..language import terms
from ..store.contract import Store
from ..types import Filter, Memory
from .printing import read_text
from .select import Scored

if TYPE_CHECKING:
    from ..models.reader import PairReader

STARTS = 8  # memories at which chains start
WIDTH = 6  # chains that are continued at each step
TRIED = (12, 8, 6)  # continuations of each step that are read
OF_ONE = 5  # of these, those of one chain
BRIDGES = 6  # words of a memory through which a chain goes on
COMMON = 30  # memories that have a word from which it leads nowhere
ANSWERED = 4.0  # the logit from which one memory answers alone, and nothing need be joined to it
READING = 0.6  # what a logit of the relevance model counts beside one of the ranker
KEPT, JOINED = 2, 3  # the places that stay as they are, and those that ends of chains take behind them
STEP = 1e-4  # by how much a score is less than the one before it
GAIN = 0.1  # what a link must add to the logit of an answer
MAX_READ = 2000  # characters of a memory in which names are looked for
_WORD = re.compile(r"[\w./@-]*\w")


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories in order, the words that join each two, and the logit that together they answer."""

    memories: tuple[Memory, ...]
    logit: float
    start: float  # the score of its first memory
    bridges: tuple[str, ...] = ()

    @property
    def last(self) -> Memory:
        return self.memories[-1]

    def told(self) -> str:
        """The way to its last memory: "01kb… (puffin) -> 01kc…"."""
        steps = [f"{memory.id} ({word})" for memory, word in zip(self.memories, self.bridges, strict=False)]
        return " -> ".join((*steps, self.last.id))


@dataclass(slots=True)
class Chains:
    """The search for one question."""

    store: Store
    tenant: str
    filter: Filter
    question: str
    reader: PairReader
    near: Callable[[Sequence[str]], Mapping[str, float]]  # cosines with the question
    allowed: Callable[[Memory], bool]
    _asked: frozenset[str] = frozenset()
    _known: dict[str, Memory] = field(default_factory=dict)
    _holding: dict[str, list[str]] = field(default_factory=dict)  # word → ids
    _tried: set[frozenset[str]] = field(default_factory=set)

    def find(self, starts: Sequence[Chain]) -> dict[str, Chain]:
        """The best chain to each memory that ends one, the best first; nothing where one memory answers alone."""
        if max((chain.logit for chain in starts), default=0.0) >= ANSWERED:
            return {}
        self._asked = frozenset(terms.of_query(self.question))
        self._known |= {chain.last.id: chain.last for chain in starts}
        beam, found = list(starts[:STARTS]), []
        for most in TRIED:
            longer = self._continue(beam, most)
            found += [new for new, gained in longer if gained >= GAIN]
            beam = sorted((new for new, _ in longer), key=_order)[:WIDTH]
        best: dict[str, Chain] = {}
        for chain in sorted(found, key=_worth):
            best.setdefault(chain.last.id, chain)
        return best

    def _continue(self, beam: Sequence[Chain], most: int) -> list[tuple[Chain, float]]:
        """The chains with one more memory that are worth reading, read; with what the last link added."""
        rarity = self._rarities(beam)
        tried: list[tuple[float, Chain, str, str]] = []
        for chain in beam:
            own = [(word, rarity[word]) for word in self._bridges(chain) if word in rarity]
            own = sorted(own, key=lambda one: (-one[1], one[0]))[:BRIDGES]
            inside = {memory.id for memory in chain.memories}
            shared: dict[str, tuple[float, str]] = {}
            for word, weight in own:
                for id in self._with(word):
                    if id not in inside:
                        before = shared.get(id, (0.0, word))
                        shared[id] = before[0] + weight, before[1]
            near = self.near(list(shared))
            best = sorted(
                ((math.sqrt(weight) + 6 * near.get(id, 0.0), id, word) for id, (weight, word) in shared.items()),
                key=lambda one: (-one[0], one[1]),
            )
            tried += [(fit + chain.logit / 4, chain, id, word) for fit, id, word in best[:OF_ONE]]
        tried = [one for one in sorted(tried, key=lambda one: (-one[0], one[2])) if self._is_new(one[1], one[2])][:most]
        self._load([id for _, _, id, _ in tried])
        ready = [(chain, self._known[id], word) for _, chain, id, word in tried if id in self._known]
        if not ready:
            return []
        texts = [" ".join(read_text(m, self.question) for m in (*chain.memories, new)) for chain, new, _ in ready]
        logits = [one["answers"] for one in self.reader.read(self.question, texts)]
        return [
            (Chain((*chain.memories, new), logit, chain.start, (*chain.bridges, word)), logit - chain.logit)
            for (chain, new, word), logit in zip(ready, logits, strict=True)
        ]

    def _is_new(self, chain: Chain, id: str) -> bool:
        together = frozenset((*(memory.id for memory in chain.memories), id))
        fresh = together not in self._tried
        self._tried.add(together)
        return fresh

    def _bridges(self, chain: Chain) -> list[str]:
        """The words through which a chain may go on: of its last memory, and neither asked for nor walked through.

        They are its names; where it has no new one, its other words.
        """
        seen = self._asked.union(*(terms.terms(memory.content) for memory in chain.memories[:-1]))
        names, others = _words(chain.last.content[:MAX_READ])
        return [word for word in names if word not in seen] or [word for word in others if word not in seen]

    def _rarities(self, beam: Sequence[Chain]) -> dict[str, float]:
        """How much each word says that leads anywhere: one that few memories have."""
        words = {word for chain in beam for word in self._bridges(chain)}
        total, counts = self.store.frequencies(self.tenant, sorted(words), self.filter)
        return {word: math.log(1 + total / count) for word, count in counts.items() if 1 < count <= COMMON}

    def _with(self, word: str) -> list[str]:
        if word not in self._holding:
            self._holding[word] = [id for id, _ in self.store.match(self.tenant, [word], self.filter, COMMON)]
        return self._holding[word]

    def _load(self, ids: Sequence[str]) -> None:
        fresh = [id for id in dict.fromkeys(ids) if id not in self._known]
        found = self.store.memories(self.tenant, fresh)
        self._known |= {id: memory for id, memory in found.items() if self.allowed(memory)}


def with_chains(scored: Sequence[Scored], chains: Iterable[Chain]) -> list[Scored]:
    """What was found, with the ends of the best chains behind the first few, which answer most questions alone."""
    first = {one.memory.id for one in scored[:KEPT]}
    ends = [chain.last for chain in chains if chain.last.id not in first][:JOINED]
    if not ends or len(scored) <= KEPT:
        return list(scored)
    joined = {memory.id for memory in ends}
    least = scored[KEPT - 1].score
    placed = [Scored(memory, least - STEP * number) for number, memory in enumerate(ends, start=1)]
    rest = [one for one in scored[KEPT:] if one.memory.id not in joined]
    below = least - STEP * (len(ends) + 1)
    return [*scored[:KEPT], *placed, *(replace(one, score=min(one.score, below)) for one in rest)]


def _worth(chain: Chain) -> tuple[float, str]:
    """What ends a chain stands where its start would, were it as probable an answer as the chain."""
    return -(chain.start + READING * chain.logit), chain.last.id


def _order(chain: Chain) -> tuple[float, int, str]:
    return -chain.logit, len(chain.memories), chain.last.id


@lru_cache(maxsize=2048)
def _words(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The terms of the names in a text, each name as a whole, and of its other words.

    >>> _words("Behind INC-81 was a frozen scheduler in fx-quotes.")
    (('behind', 'inc81', 'fxquot'), ('frozen', 'schedul'))
    """
    names: dict[str, None] = {}
    others: dict[str, None] = {}
    for found in _WORD.finditer(text):
        word = found[0]
        term = terms.terms(word)[-1:]  # of a compound the last term is the whole
        if not term or term[0] in terms.STOP_WORDS or len(term[0]) < 2 or term[0].isdigit():
            continue
        named = word[0].isupper() or len(terms.terms(word)) > 1 or any(letter.isdigit() for letter in word)
        (names if named else others).setdefault(term[0])
    return tuple(names), tuple(others)


def names_in(text: str) -> tuple[str, ...]:
    """The terms of the names in a text."""
    return _words(text[:MAX_READ])[0]
