"""The journal is the whole truth: random lives of a store, replayed from it, give the same store.

A state machine does at random what users do, from two processes' worth of engines on one store with restarts in
between, and keeps a simple model beside it. After every step the store must agree with the model; at the end of each
life the journal alone must give the same state, and every index must be in step with its rows.
"""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

import recollect
from conftest import Clock, Places
from recollect import BadInput, Refused, Scope
from recollect.text import key
from replay import entries_of, replayed, state_of

TENANT = "default"
WORDS = ["pnpm", "yarn", "Node 18", "deploys on Thursday", "ADR-005", "getUserName", "the café", "東京", "retry twice"]
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" and ".join)
scopes = st.sampled_from(
    [Scope(), Scope(project="web"), Scope(user="ana"), Scope(user="ana", project="web", session="s")]
)


class Life(RuleBasedStateMachine):
    known = Bundle("known")

    numbers = itertools.count()

    place: Places  # set by the test

    def __init__(self) -> None:
        super().__init__()
        self.name, self.copy = (f"{what}-{next(self.numbers)}.db" for what in ("life", "copy"))
        self.clock = Clock()
        self.engines = [self.open(), self.open()]
        self.model: dict[str, dict[str, Any]] = {}
        self.purged: set[str] = set()

    def open(self) -> recollect.Engine:
        return recollect.open(self.place(self.name), embedder="hashing", actor="life", now=self.clock)

    def engine(self, number: int) -> recollect.Engine:
        return self.engines[number]

    def same(self, content: str, scope: Scope) -> list[str]:
        return [
            id
            for id, one in self.model.items()
            if (key(one["content"]), one["scope"], one["state"]) == (key(content), scope, "active")
        ]

    def forbidden(self, content: str, scope: Scope) -> bool:
        def overlap(one: Scope) -> bool:
            return all(
                "" in pair or pair[0] == pair[1] for pair in ((one.user, scope.user), (one.project, scope.project))
            )

        return any(
            one["state"] == "rejected" and key(one["content"]) == key(content) and overlap(one["scope"])
            for one in self.model.values()
        )

    @rule(target=known, content=contents, scope=scopes, number=st.integers(0, 1), importance=st.integers(1, 10))
    def remember(self, content: str, scope: Scope, number: int, importance: int) -> Any:
        result = self.engine(number).remember(content, scope=scope, importance=importance, evidence="said so")
        if self.forbidden(content, scope):
            assert result.action == "refused"
            return ""
        if same := self.same(content, scope):
            assert (result.action, result.id) == ("duplicate", same[0])
            self.model[result.id]["observed"] += 1
        else:
            assert result.action == "created"
            self.model[result.id] = {"content": content, "scope": scope, "state": "active", "observed": 1}
        return result.id

    @rule(id=known, content=contents, number=st.integers(0, 1))
    def edit(self, id: str, content: str, number: int) -> None:
        # A rejected memory's tombstone keeps the value it was rejected for; the model has no tombstones of its own.
        if id not in self.model or self.model[id]["state"] == "rejected":
            return
        one = self.model[id]
        clash = one["state"] == "active" and [other for other in self.same(content, one["scope"]) if other != id]
        try:
            self.engine(number).edit(id, content=content, reason="because")
        except BadInput:
            assert clash
        except Refused:
            assert one["state"] == "active"
            assert self.forbidden(content, one["scope"])
        else:
            assert not clash
            one["content"] = content

    @rule(id=known, number=st.integers(0, 1))
    def forget(self, id: str, number: int) -> None:
        if id in self.model and self.model[id]["state"] == "active":
            self.engine(number).forget(id)
            self.model[id]["state"] = "archived"

    @rule(id=known, number=st.integers(0, 1))
    def reject(self, id: str, number: int) -> None:
        if id in self.model and self.model[id]["state"] == "active":
            self.engine(number).reject(id, reason="wrong")
            self.model[id]["state"] = "rejected"

    @rule(a=known, b=known, relation=st.sampled_from(["related", "contradicts"]), number=st.integers(0, 1))
    def link(self, a: str, b: str, relation: str, number: int) -> None:
        if a in self.model and b in self.model and a != b:
            self.engine(number).link(a, relation, b)

    @rule(id=consumes(known), number=st.integers(0, 1))
    def purge(self, id: str, number: int) -> None:
        if id in self.model and self.model[id]["state"] != "rejected":
            self.engine(number).forget(id, purge=True)
            del self.model[id]
            self.purged.add(id)

    @rule(number=st.integers(0, 1))
    def restart(self, number: int) -> None:
        self.engines[number].close()
        self.engines[number] = self.open()

    @invariant()
    def both_engines_show_the_model(self) -> None:
        for engine in self.engines:
            listed = engine.list(states=[], limit=1000).memories
            shown = {
                m.id: {"content": m.content, "scope": m.scope, "state": m.state, "observed": m.observed} for m in listed
            }
            assert shown == {
                id: {n: one[n] for n in ("content", "scope", "state", "observed")} for id, one in self.model.items()
            }

    def teardown(self) -> None:
        try:
            store = self.engines[0]._store
            entries = entries_of(store, TENANT)
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
            copy = replayed(store, TENANT, self.place(self.copy))
            assert state_of(copy, TENANT) == state_of(store, TENANT)
            assert entries_of(copy, TENANT) == entries
            for one in (store, copy):
                assert [check for check in one.check(TENANT) if check.status != "ok"] == []
            copy.close()
            self.every_active_memory_is_found()
        finally:
            for engine in self.engines:
                engine.close()
            for name in (self.name, self.copy):
                self.place.remove(name)

    def every_active_memory_is_found(self) -> None:
        for id, one in self.model.items():
            answer = self.engines[1].recall(one["content"], limit=1000, scope=Scope(), explain=True)
            # Of memories that say the same in the same words only one is shown; the others are named as dropped.
            assert answer.explained is not None
            found = {hit.memory.id for hit in answer} | {twin for twin, _ in answer.explained.dropped}
            assert (id in found) == (one["state"] == "active")
            assert not found & self.purged


def test_random_lives_agree_with_a_simple_model_and_with_their_own_journal(place: Places) -> None:
    class Here(Life):
        pass

    Here.place = place
    run_state_machine_as_test(Here, settings=settings(max_examples=12, stateful_step_count=25, deadline=None))
