"""Selection: from scored candidates to the few that are handed back. Pure.

In this order: what the session has seen already and what scores too low goes; then either every category gets its
share or the best are spread out; of near duplicates the first stays; `limit` and the token budget cut the rest.
Everything that is left out is told with the reason, so that a recall can explain itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..grounding import stale
from ..language import terms
from ..language.statements import is_reply
from ..types import TRUSTS, Memory
from .recipes import Recipe

SESSION = 0.25  # what the best of a session adds to its other turns, where no ranker looks at them
TAKEN = 0.6  # the share of a turn's score from which what was learnt from it stands in its place
ALIKE = 0.9  # the share of common terms from which two memories are one for the reader
FEW = 4  # so few words are no proof of saying the same
SHARE = 3  # places that each category has at least, when there are nine or more
SPREAD_OVER = 30  # how far down diversity looks


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its final score."""

    memory: Memory
    score: float


def tells(memory: Memory, asked: str) -> bool:
    """Whether a memory tells what a question does not say itself: no turn that only asks, greets, guesses, repeats what
    is asked or shows what a tool printed."""
    return memory.kind != "turn" or (memory.speaker != "tool" and is_reply(memory.content, asked))


@dataclass(slots=True)
class Selection:
    chosen: list[Scored] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    tokens: int = 0


def select(
    candidates: Sequence[Scored], recipe: Recipe, limit: int, max_tokens: int | None, shown: Collection[str],
    cost: Callable[[Memory], int], alike: float = ALIKE,
) -> Selection:  # fmt: skip
    """Choose among candidates given best first; of two that have the share `alike` of their terms in common, one."""
    result = Selection()
    left = _fitting(candidates, recipe, shown, result)
    if recipe.balance and limit >= 3 * SHARE:
        left = balanced(left, limit)
    elif recipe.diversity:
        left = spread(left, recipe.diversity)
    told: list[tuple[frozenset[str], str]] = []
    for one in left:
        reason, words, price = "", frozenset[str](), 0
        if len(result.chosen) == limit:
            reason = f"over the limit of {limit}"
        else:
            words = _words(one.memory)
            twin = next((id for other, id in told if overlap(words, other) >= alike), "")
            price = cost(one.memory)
            if twin:
                reason = f"says the same as {twin}"
            elif max_tokens is not None and result.tokens + price > max_tokens:
                reason = f"over the budget of {max_tokens} tokens"
        if reason:
            result.dropped.append((one.memory.id, reason))
            continue
        result.chosen.append(one)
        result.tokens += price
        told.append((words, one.memory.id))
    result.chosen.sort(key=lambda one: (-one.score, one.memory.id))
    return result


def newer_first(candidates: Sequence[Scored], pairs: Iterable[tuple[str, str]]) -> list[Scored]:
    """Of two that cannot both hold, told as older and newer, the newer has the better place, unless the older is
    trusted more."""
    ranked = list(candidates)
    places = {one.memory.id: place for place, one in enumerate(ranked)}
    for old, new in pairs:
        if places[new] < places[old]:
            continue
        upper, lower = ranked[places[old]], ranked[places[new]]
        if TRUSTS.index(lower.memory.trust) >= TRUSTS.index(upper.memory.trust):
            ranked[places[old]], ranked[places[new]] = (
                Scored(lower.memory, upper.score),
                Scored(upper.memory, lower.score),
            )
            places[new], places[old] = places[old], places[new]
    return ranked


def by_age(memories: Mapping[str, Memory], pair: tuple[str, str]) -> tuple[str, str]:
    """Two memories, the older first."""
    one, other = sorted(pair, key=lambda one: memories[one].valid_from or memories[one].created_at)
    return one, other


def has_words_of(memories: Mapping[str, Memory], pair: tuple[str, str], asked: set[str]) -> bool:
    """Whether the newer of two has every word of a question that the older has."""
    old, new = (asked.intersection(terms.of_memory(memories[id])) for id in pair)
    return old <= new


def with_sessions(memories: Sequence[Memory], fused: dict[str, float]) -> dict[str, float]:
    """A turn gains from how well the best of its session fits: what belongs together is told together."""
    best: dict[str, float] = {}
    for memory in memories:
        if memory.scope.session:
            best[memory.scope.session] = max(best.get(memory.scope.session, 0.0), fused.get(memory.id, 0.0))
    return {m.id: fused.get(m.id, 0.0) + SESSION * best.get(m.scope.session, 0.0) for m in memories}


def once_each(candidates: Sequence[Scored]) -> list[Scored]:
    """A turn and what was learnt from it say the same twice: the memory stands in the turn's place, unless the turn
    fits far better, because it says more than was learnt from it. Candidates come best first, and stay so."""
    # Only a turn of a session has a source of its own; what somebody states as a turn shares the source of the speaker.
    turns = {
        one.memory.source: one for one in reversed(candidates) if one.memory.kind == "turn" and one.memory.scope.session
    }
    learnt: dict[str, Scored] = {}
    for one in candidates:
        if one.memory.kind != "turn" and one.memory.source in turns and one.memory.source:
            learnt.setdefault(one.memory.source, one)
    left = []
    for one in candidates:
        turn, best = turns.get(one.memory.source), learnt.get(one.memory.source)
        if turn is None or best is None:
            left.append(one)
        elif best.score >= TAKEN * turn.score:
            if one.memory.kind != "turn":
                left.append(Scored(one.memory, max(one.score, turn.score)) if one is best else one)
        elif one.memory.kind == "turn":
            left.append(one)
    return sorted(left, key=lambda one: -one.score)


def _words(memory: Memory) -> frozenset[str]:
    """What two memories are compared by; nothing for turns of a talk and for few words, which are never twins."""
    words = frozenset(terms.terms(memory.content)) if memory.kind != "turn" else frozenset[str]()
    return words if len(words) >= FEW else frozenset()


def _fitting(candidates: Sequence[Scored], recipe: Recipe, shown: Collection[str], result: Selection) -> list[Scored]:
    left = []
    for one in candidates:
        if why := withheld(one.memory, recipe, shown):
            result.dropped.append((one.memory.id, why))
        elif 0 < recipe.threshold > one.score:  # a logit may be negative: only differences between them mean anything
            result.dropped.append((one.memory.id, f"below the threshold of {recipe.threshold:g}"))
        else:
            left.append(one)
    return left


def withheld(memory: Memory, recipe: Recipe, shown: Collection[str]) -> str:
    """Why a memory is not shown, however well it fits; nothing when it may be."""
    if memory.id in shown or memory.content_hash in shown:
        return "shown in this session already"
    why = stale(memory.refs) if recipe.withhold_stale else ""
    return f"stale: {why}" if why else ""


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """
    >>> overlap(frozenset("ab"), frozenset("bc"))
    0.3333333333333333
    """
    return len(one & other) / len(one | other) if one and other else 0.0


def balanced(
    candidates: Sequence[Scored], limit: int, category: Callable[[Memory], str] = lambda memory: memory.kind
) -> list[Scored]:
    """Each category's best few first, then the best of all; a category is a kind unless told."""
    kinds: dict[str, list[Scored]] = defaultdict(list)
    for one in candidates:
        kinds[category(one.memory)].append(one)
    share = max(1, min(SHARE, limit // len(kinds))) if kinds else 0
    sure = {one.memory.id for group in kinds.values() for one in group[:share]}
    return [one for one in candidates if one.memory.id in sure] + [
        one for one in candidates if one.memory.id not in sure
    ]


def spread(candidates: Sequence[Scored], diversity: float) -> list[Scored]:
    """Maximal marginal relevance: each next one is the best that is least like those before it."""
    pool = list(candidates[:SPREAD_OVER])
    words = {one.memory.id: frozenset(terms.terms(one.memory.content)) for one in pool}
    chosen: list[Scored] = []
    while pool:
        best = max(
            pool,
            key=lambda one: (
                (1 - diversity) * one.score
                - diversity * max((overlap(words[one.memory.id], words[c.memory.id]) for c in chosen), default=0.0)
            ),
        )
        chosen.append(best)
        pool.remove(best)
    return chosen + list(candidates[SPREAD_OVER:])
