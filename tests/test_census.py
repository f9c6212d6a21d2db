"""The census: its counts are those that looking at every memory gives, after whatever happened to them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

import pytest

import recollect
from conftest import Clock, Opener
from recollect import Draft, Scope, Source
from recollect.history.asof import fits
from recollect.store import census
from recollect.store.browsing import Sieve
from recollect.store.census import Facets
from recollect.types import Filter, Memory

KINDS, TAGS, PROJECTS = ("fact", "rule", "lesson"), ("red", "green", "blue"), ("web", "shop", "")


def _looked_at(memory: recollect.Engine, sieve: Sieve) -> Facets:
    """The same counts by looking at each memory."""
    every = memory.list(limit=1000, states=recollect.types.STATES).memories
    kinds = {one.id: one.kind for one in memory.sources([each.source for each in every])}

    def passes(one: Memory) -> bool:
        return (not sieve.trusts or one.trust in sieve.trusts) and (
            not sieve.sources or kinds[one.source] in sieve.sources
        )

    some = [one for one in every if passes(one) and fits(one, sieve.filter)]
    of_any_state = [one for one in every if passes(one) and fits(one, sieve.filter.but(states=()))]
    return Facets(
        len(some), _sums(one.kind for one in some), _sums(one.network for one in some),
        _sums(one.state for one in of_any_state),
        _sums(one.trust for one in some), _sums(one.scope.project for one in some),
        _sums(tag for one in some for tag in one.tags), _sums(kinds[one.source] for one in some),
        _sums(one.created_at.date().isoformat() for one in some),
    )  # fmt: skip


def _sums(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names))


def _sieves(clock: Clock) -> list[Sieve]:
    middle = clock() - timedelta(days=3)
    filters = [
        Filter(), Filter(inside=True, states=()), Filter(scope=Scope(project="web")),
        Filter(scope=Scope(project="web"), inside=True), Filter(kinds=("rule", "lesson")), Filter(tags=("red",)),
        Filter(tags=("red", "green")), Filter(tags=("none",)), Filter(min_importance=6), Filter(since=middle),
        Filter(until=middle), Filter(current_at=clock()), Filter(states=("archived", "superseded")),
        Filter(scope=Scope(user="nobody"), inside=True),
    ]  # fmt: skip
    more = [Sieve(Filter(), trusts=("cited",)), Sieve(Filter(), sources=("document",))]
    return [*(Sieve(one) for one in filters), *more]


def _live(memory: recollect.Engine, chance: random.Random, clock: Clock, number: int) -> None:
    source = Source("", kind="document", uri=f"docs/{number}.md", content=f"Statement number {number} holds. So be it.")
    memory.remember_many([Draft(
        f"Statement number {number} holds.", kind=chance.choice(KINDS), scope=Scope(project=chance.choice(PROJECTS)),
        tags=tuple(chance.sample(TAGS, chance.randint(0, 3))), importance=chance.randint(1, 10),
        source=source if number % 3 == 0 else None, evidence=("holds",) if number % 3 == 0 else (),
        valid_from=clock() - timedelta(days=8) if number % 4 == 0 else None,
        valid_to=clock() - timedelta(days=1) if number % 8 == 0 else None,
    )])  # fmt: skip


def test_counts_are_what_looking_at_each_memory_gives(memory: recollect.Engine, opened: Opener, clock: Clock) -> None:
    chance = random.Random(3)
    for number in range(40):
        _live(memory, chance, clock, number)
        clock.forward(hours=3)
    other = opened()  # which counts what the first one writes
    for turn in range(3):
        every = [one.id for one in memory.list(limit=1000, states=("active",)).memories]
        if turn:
            memory.edit(every[turn], tags=["green"], kind="rule", scope=Scope(project="shop"))
            memory.forget(every[turn + 5])
            memory.forget(every[turn + 10], purge=True)
            memory.link(every[turn + 15], "supersedes", every[turn + 20])
            _live(memory, chance, clock, 100 + turn)
        for sieve in _sieves(clock):
            assert other.overview.facets(sieve) == _looked_at(memory, sieve), (turn, sieve)


def test_it_is_read_anew_when_much_has_changed(memory: recollect.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Sieve(Filter())
    assert memory.overview.facets(everything).total == 0
    monkeypatch.setattr(census, "MANY", 5)
    memory.remember_many([f"Statement number {number} holds." for number in range(20)])
    assert memory.overview.facets(everything).total == 20
    memory.remember("One more.")
    assert memory.overview.facets(everything).total == 21
