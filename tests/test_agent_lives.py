"""Lives of agents, pools and handoffs: random calls in any order, with the rules written down a second time beside."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import recollect
from agent_world import World
from conftest import Clock, Opener

LIVES, STEPS = (int(n) for n in os.environ.get("RECOLLECT_LIVES", "3x20").split("x"))  # more of them: 100x60


@pytest.fixture
def engine(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> recollect.Engine:
    monkeypatch.setenv("RECOLLECT_AGENT_RATE", "1000000")
    return opened(embedder="off")


def test_nothing_is_read_above_its_scope_or_done_without_a_capability(engine: recollect.Engine, clock: Clock) -> None:
    lives = iter(range(10**6))

    class Life(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            names = f"life {(number := next(lives))} a", f"life {number} b"
            engines = {name: engine.for_caller(tenant=name) for name in names}
            self.world = World(engines, random.Random(number), clock, clock.forward)

        @rule(seed=st.integers(0, 10**9))
        def act(self, seed: int) -> None:
            self.world.chance.seed(seed)
            for _ in range(5):
                self.world.act()

        @invariant()
        def keeps_the_rules(self) -> None:
            assert self.world.wrong == []

    run_state_machine_as_test(Life, settings=settings(max_examples=LIVES, stateful_step_count=STEPS, deadline=None))
