"""Chains: memories that answer a question only together, because one names what the next one tells of.

"Who leads the team behind Ferry?" is answered by "Ferry is run by Puffin" and "Puffin's boss is Tadeusz". A chain
starts at what fits the question, and goes on through rare words that its last memory has and the question has not:
names above all. How likely a chain is to end at the answer, a few numbers tell: what of the question it covers that no
single memory covers, its weakest link, how near its parts are, and whether its end has what is asked for (a person, a
time, a number). Before any of it is looked for, a gate decides whether the question wants a chain at all, from its form
and from what was found. Both are linear and fitted by `training/fit_chains.py`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import resources

from ..language import tables, terms
from ..language.entities import find as find_names
from ..store.contract import Store
from ..types import Filter, Memory
from .lexicon import BUILT_IN
from .select import Scored

STARTS = 6  # memories at which chains start
WIDTH = 7  # chains that are continued at each step
HOPS = 3  # links of a chain
READ = 16  # chains of each step whose end is searched for what is asked
BRIDGES = 6  # words of a memory through which a chain goes on
COMMON = 30  # memories that have a word from which it leads nowhere
KEPT, JOINED = 2, 3  # the places that stay as they are, and those that ends of chains take behind them
STEP = 1e-4  # by how much a score is less than the one before it
MAX_READ = 1200  # characters of a memory that are looked at
FEATURES = (
    "cos_first", "cos_end", "cos_least", "cos_mean", "covered", "covered_before", "covered_end", "gain", "beyond",
    "rarest", "rare", "named", "all_named", "position", "rank", "found", "place", "three", "four", "has", "had",
)  # fmt: skip
GATE = (
    "sure", "logit", "first", "covered", "best", "apart", "nested", "clauses", "joints", "length", "has", "comma",
    "who", "which", "what",
)  # fmt: skip
_WORD = re.compile(r"[\w./@-]*\w")
_ASKS = re.compile(
    r"\b(who|whom|whose|when|where|why|how (?:many|much|long|often|late|early)|how|which|what)\b(?:\s+(\w[\w-]*))?",
    re.I,
)
_CLAUSE = re.compile(r"\b(?:that|which|who|whose|whom|where|what|whatever)\b", re.I)
_JOINT = re.compile(r"\b(?:of|behind|by|for|from|in|on|at|to|with|after|before)\b|['’]s\b", re.I)
_NESTED = re.compile(
    r"\b(?:the|our|my|an?|its|their)\s+(?:\w+\s+){1,3}?"
    r"(?:of|behind|that|which|who|whose|where|responsible|\w+ing|\w+ed|for|in|by|under|with|we)\b",
    re.I,
)
_DATES = "|".join((*tables.MONTHS, *tables.WEEKDAYS))
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand)\b", re.I)
_TIME = re.compile(
    r"\b(?:\d{1,2}:\d\d|\d+ ?(?:ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?)|20\d\d|q[1-4]|spring|summer"
    r"|autumn|winter|nightly|daily|weekly|monthly|yearly|every|each|year|month|week|day"
    rf"|(?:{_DATES})s?)\b",
    re.I,
)
_WHY = re.compile(r"\b(?:because|since|due|after|so that|to avoid|causes?d?|reason|when|no longer|could ?n.t)\b", re.I)


@dataclass(frozen=True, slots=True)
class Chain:
    """Memories in order, the words that join each two, and how likely it ends at the answer."""

    memories: tuple[Memory, ...]
    score: float = 0.0
    bridges: tuple[str, ...] = ()
    named: tuple[bool, ...] = ()  # whether each of these words is a name

    @property
    def last(self) -> Memory:
        return self.memories[-1]

    def told(self) -> str:
        """The way to its last memory: "01kb… (puffin) -> 01kc…"."""
        steps = [f"{memory.id} ({word})" for memory, word in zip(self.memories, self.bridges, strict=False)]
        return " -> ".join((*steps, self.last.id))


@dataclass(frozen=True, slots=True)
class Fitted:
    """What each number adds to a score, and what all of them start from; `wanted` is added to the odds of the gate."""

    features: Mapping[str, float]
    gate: Mapping[str, float]
    usual: Mapping[str, float]  # the mean of each feature
    starts: tuple[float, float]

    def score(self, numbers: Mapping[str, float]) -> float:
        return self.starts[0] + sum(self.features[name] * value for name, value in numbers.items())

    def odds(self, numbers: Mapping[str, float]) -> float:
        """More than nothing: a question wants a chain."""
        return self.starts[1] + sum(self.gate[name] * value for name, value in numbers.items())


@cache
def load() -> Fitted:
    told = json.loads(resources.files(__package__).joinpath("chains.json").read_text("utf-8"))
    features, gated = (
        {name: told[part][name] for name in names} for part, names in (("features", FEATURES), ("gate", GATE))
    )
    slopes = [{name: weight / spread for name, (_, spread, weight) in one.items()} for one in (features, gated)]
    starts = [-sum(weight * mean / spread for mean, spread, weight in one.values()) for one in (features, gated)]
    usual = {name: mean for name, (mean, _, _) in features.items()}
    return Fitted(slopes[0], slopes[1], usual, (starts[0], starts[1] + told["bias"] - told["wanted"]))


@dataclass(slots=True)
class Chains:
    """The search for one question, from what was found for it, best first."""

    store: Store
    tenant: str
    filter: Filter
    question: str
    near: Callable[[Sequence[str]], Mapping[str, float]]  # cosines with the question
    allowed: Callable[[Memory], bool]
    found: Sequence[Scored]
    asked: Mapping[str, float] = field(default_factory=dict)  # the words of the question, and how rare each is
    numbers: dict[tuple[str, ...], dict[str, float]] = field(default_factory=dict)  # of each chain, for the fit
    _known: dict[str, Memory] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _holding: dict[str, list[str]] = field(default_factory=dict)  # word → ids
    _cosines: dict[str, float] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    _words_of: dict[str, set[str]] = field(default_factory=dict)  # of the question, that a memory has
    _total: int = 1
    _whole: float = 1.0
    _alone: float = 0.0  # the largest share that one memory covers

    def find(self) -> list[Chain]:
        """The best chain to each memory that ends one, the best first."""
        self._begin()
        beam = [Chain((one.memory,)) for one in self.found[:STARTS]]
        ended: list[Chain] = []
        for _ in range(HOPS):
            longer = sorted(self._continue(beam), key=_order)
            fresh: dict[frozenset[str], Chain] = {}
            for chain in longer:
                fresh.setdefault(frozenset(memory.id for memory in chain.memories), chain)
            read = [self._judge(chain, True) for chain in list(fresh.values())[:READ]]
            beam = sorted(read, key=_order)[:WIDTH]
            ended += read
        best: dict[str, Chain] = {}
        for chain in sorted(ended, key=_order):
            best.setdefault(chain.last.id, chain)
        return list(best.values())

    def _begin(self) -> None:
        asked = terms.of_query(self.question)
        self._total, counts = self.store.frequencies(self.tenant, asked, self.filter)
        self.asked = {word: math.log(1 + self._total / (1 + counts.get(word, 0))) for word in asked}
        self._whole = sum(self.asked.values()) or 1.0
        self._alone = max((self._covered([one.memory]) for one in self.found[:STARTS]), default=0.0)
        self._places = {one.memory.id: place for place, one in enumerate(self.found[:10])}
        self._known = {one.memory.id: one.memory for one in self.found}
        self._cosines = dict(self.near([one.memory.id for one in self.found[:STARTS]]))

    def _continue(self, beam: Sequence[Chain]) -> list[Chain]:
        """Every chain with one more memory, judged by what costs little."""
        ways = {chain: self._bridges(chain) for chain in beam}
        words = sorted({word for way in ways.values() for word in way} - self._counts.keys())
        if words:
            found = self.store.frequencies(self.tenant, words, self.filter)[1]
            self._counts |= {word: found.get(word, 0) for word in words}
        reached: dict[tuple[Chain, str], str] = {}
        for chain, way in ways.items():
            inside = {memory.id for memory in chain.memories}
            rare = sorted(
                (w for w in way if 1 < self._counts[w] <= COMMON), key=lambda w: (not way[w], self._counts[w])
            )
            for word in rare[:BRIDGES]:
                for id in self._with(word):
                    if id not in inside:
                        reached.setdefault((chain, id), word)
        self._load({id for _, id in reached})
        return [
            self._judge(
                replace(
                    chain, memories=(*chain.memories, self._known[id]), bridges=(*chain.bridges, word),
                    named=(*chain.named, ways[chain][word]),
                ),
                False,
            )
            for (chain, id), word in reached.items()
            if id in self._known
        ]  # fmt: skip

    def _bridges(self, chain: Chain) -> dict[str, bool]:
        """The words through which a chain may go on, and whether each is a name: of its last memory, and neither asked
        for nor walked through."""
        seen = self.asked.keys() | set().union(*(_terms(memory.content[:MAX_READ]) for memory in chain.memories[:-1]))
        names, others = _words(chain.last.content[:MAX_READ])
        return {word: False for word in others if word not in seen} | {word: True for word in names if word not in seen}

    def _with(self, word: str) -> list[str]:
        if word not in self._holding:
            self._holding[word] = [id for id, _ in self.store.match(self.tenant, [word], self.filter, COMMON)]
        return self._holding[word]

    def _load(self, ids: Iterable[str]) -> None:
        fresh = sorted(id for id in ids if id not in self._known or id not in self._cosines)
        found = self.store.memories(self.tenant, [id for id in fresh if id not in self._known])
        self._known |= {id: memory for id, memory in found.items() if self.allowed(memory)}
        self._cosines |= self.near(fresh)

    def _covered(self, memories: Sequence[Memory]) -> float:
        """The share of the question's words, rare ones counting more, that some memories have."""
        for memory in memories:
            if memory.id not in self._words_of:
                held = _terms(memory.content[:MAX_READ])
                self._words_of[memory.id] = {w for w in self.asked if w in held or not _alike(w).isdisjoint(held)}
        got = set[str]().union(*(self._words_of[memory.id] for memory in memories))
        return sum(self.asked[word] for word in got) / self._whole

    def _judge(self, chain: Chain, closely: bool) -> Chain:
        numbers = self._numbers(chain)
        if closely:
            before = set(self.asked).union(*(_terms(memory.content[:MAX_READ]) for memory in chain.memories[:-1]))
            numbers["has"] = _has(self.question, chain.last.content[:MAX_READ], before)
            numbers["had"] = max(
                _has(self.question, memory.content[:MAX_READ], set(self.asked)) for memory in chain.memories[:-1]
            )
            self.numbers[tuple(memory.id for memory in chain.memories)] = numbers
        return replace(chain, score=load().score(numbers))

    def _numbers(self, chain: Chain) -> dict[str, float]:
        near = [self._cosines.get(memory.id, 0.0) for memory in chain.memories]
        whole, before = self._covered(chain.memories), self._covered(chain.memories[:-1])
        rare = [math.log(1 + self._total / (1 + self._counts[word])) for word in chain.bridges]
        places = _places(chain.last.content[:MAX_READ])
        place, usual = self._places.get(chain.last.id, 10), load().usual
        return {
            "cos_first": near[0], "cos_end": near[-1], "cos_least": min(near), "cos_mean": sum(near) / len(near),
            "covered": whole, "covered_before": before, "covered_end": self._covered([chain.last]),
            "gain": whole - before, "beyond": whole - self._alone, "rarest": min(rare), "rare": rare[-1],
            "named": float(chain.named[-1]), "all_named": float(all(chain.named)),
            "position": places.get(chain.bridges[-1], 1.0),
            "rank": float(self._places.get(chain.memories[0].id, 0)), "found": float(place < 10), "place": place / 10,
            "three": float(len(near) == 3), "four": float(len(near) == 4), "has": usual["has"], "had": usual["had"],
        }  # fmt: skip


def wants_chain(question: str, found: Sequence[Memory], logits: Sequence[float], sure: float) -> float:
    """The odds that a question needs several memories: more than nothing, it does."""
    return load().odds(gate(question, found, logits, sure))


def gate(question: str, found: Sequence[Memory], logits: Sequence[float], sure: float) -> dict[str, float]:
    """What the form of a question and the best that was found for it tell of whether it needs several memories."""
    asked = terms.of_query(question)
    held = [_terms(memory.content[:MAX_READ]) for memory in found[:5]]
    of_each = [{word for word in asked if word in one or not _alike(word).isdisjoint(one)} for one in held]
    shares = [len(one) / max(1, len(asked)) for one in of_each] or [0.0]
    every = len(set().union(*of_each)) / max(1, len(asked))
    begins = question.lower()
    return {
        "sure": sure, "logit": max(logits, default=-6.0), "first": shares[0], "covered": every, "best": max(shares),
        "apart": every - max(shares), "nested": float(len(_NESTED.findall(question))),
        "clauses": float(max(0, len(_CLAUSE.findall(question)) - 1)), "joints": float(len(_JOINT.findall(question))),
        "length": len(question.split()) / 10,
        "has": _has(question, found[0].content[:MAX_READ], set(asked)) if found else 0.0,
        "comma": float("," in question), "who": float(begins.startswith("who")),
        "which": float(begins.startswith("which")),
        "what": float(bool(re.match(r"(?:what|how|can|is|do|does|are)\b", begins))),
    }  # fmt: skip


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


def _order(chain: Chain) -> tuple[float, int, str]:
    return -chain.score, len(chain.memories), chain.last.id


def _has(question: str, text: str, before: set[str]) -> float:
    """Whether a text has what a question asks for (a person, a time, a number, the noun after "which") beside what was
    known `before`."""
    asks = _ASKS.search(question)
    word, noun = (asks[1].lower(), (asks[2] or "").lower()) if asks else ("", "")
    if word == "when" or word in ("how long", "how often", "how late", "how early"):
        return float(bool(_TIME.search(text)))
    if word in ("how many", "how much"):
        return float(bool(_NUMBER.search(text)))
    if word == "why":
        return float(bool(_WHY.search(text)))
    if word == "where":
        return 0.5 * float(not before.issuperset(_words(text)[0]))
    if word in ("which", "what") and noun and noun not in terms.STOP_WORDS:
        own = terms.stem(noun)
        if own in _terms(text) or not _alike(own).isdisjoint(_terms(text)):
            return 1.0
        return 0.7 * float(any(kind == noun and not before.issuperset(words) for kind, words in _named(text)))
    if word in ("who", "whom", "whose"):
        fresh = {kind for kind, words in _named(text) if not before.issuperset(words)}
        return 1.0 if "person" in fresh else 0.5 if fresh & {"", "team"} else 0.0
    return 0.0


@lru_cache(maxsize=2048)
def _named(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (one.kind, tuple(terms.terms(one.name))) for one in find_names(text) if one.name[0].isupper() or one.kind
    )


@lru_cache(maxsize=4096)
def _places(text: str) -> dict[str, float]:
    """How far into a text each of its terms first stands."""
    said = terms.terms(text)
    return {term: place / len(said) for place, term in reversed(list(enumerate(said)))}


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms.terms(text)) - terms.STOP_WORDS


@lru_cache(maxsize=4096)
def _alike(word: str) -> frozenset[str]:
    """Terms that mean what this one means, or answer it."""
    return _same().get(word, frozenset())


@cache
def _same() -> dict[str, frozenset[str]]:
    groups = [[terms.stem(word) for word in line.split()] for line in tables.lines("synonyms", "senses")]
    groups += [[key, *others] for key, others in BUILT_IN.items()]
    found: dict[str, set[str]] = {}
    for group in groups:
        single = {told[0] for told in map(terms.terms, group) if len(told) == 1}
        for word in single:
            found.setdefault(word, set()).update(single - {word})
    return {word: frozenset(others) for word, others in found.items()}


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
