"""Agents that share a memory: random calls held against the rules, and fifty agents at once on PostgreSQL.

    python bench/agents.py [--calls 20000] [--seed 1] [--quick]

Agents of two tenants and three users, with every mix of rights, capabilities and reaches, call operations with ids of
each other (`tests/agent_world.py`). What is read above a scope, done without a capability or answered with a server
error is counted. Then fifty threads, each an agent of its own, share memories and hand work over on PostgreSQL:
`share_visible` is from the call that shares until another agent has been shown it, `handoff` from the offer to its
completion by another agent, `look_up` one get_agent_info; in milliseconds of wall-clock time. Writes
`bench/results/agents.json`; `--quick` makes few calls and does not. Exits with 1 when a rule was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import recollect
from recollect.agents.access import Caller
from recollect.ops.catalogue import BY_NAME
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
BARS = {"share_visible": 500.0, "handoff": 2000.0, "look_up": 50.0}
PARTNERS = 2  # agents that work together: one shares and offers, the other looks and accepts


def fuzz(calls: int, seed: int) -> dict[str, Any]:
    from agent_world import World

    with tempfile.TemporaryDirectory() as folder, recollect.open(f"{folder}/fuzz.db", embedder="off") as engine:
        world = World({name: engine.for_caller(tenant=name) for name in ("acme", "globex")}, random.Random(seed))
        for number in range(calls):
            world.act()
            if number % 5000 == 4999:
                say(f"{number + 1:,} calls, {len(world.wrong)} wrong")
    return {"calls": calls, "seed": seed, "answers": dict(world.counts), "wrong": world.wrong[:20],
            "broken": len(world.wrong)}  # fmt: skip


def crowd(agents: int, rounds: int) -> dict[str, Any]:
    """The p50 and p95 of what fifty agents wait for, or why there is none."""
    import postgres

    watch = postgres.prepare()
    try:
        server = postgres.shared()
        return _crowd(server.create(), agents, rounds)
    except postgres.NoServer as error:
        return {"skipped": str(error)}
    finally:
        postgres.finish(watch)


def _crowd(url: str, agents: int, rounds: int) -> dict[str, Any]:
    took: dict[str, list[float]] = {name: [] for name in BARS}
    failed: list[str] = []
    with recollect.open(url, embedder="off") as engine:
        tenant = engine.settings.tenant

        def do(caller: Caller, operation: str, **given: Any) -> Any:
            return BY_NAME[operation].call(engine, engine.agents.enter(caller), given)

        callers, names = [], []
        for number in range(agents):
            token, _ = engine.tokens.create(name=f"agent {number}", can=("read", "write"))
            callers.append(Caller(tenant, f"token {number}", frozenset(token.can), token=token.id))
            given = {"agent_type": "other", "token": token.id, "name": f"agent {number}"}
            names.append(BY_NAME["register_agent"].call(engine, Caller(tenant, "cli"), given).id)

        def life(first: int) -> None:
            mine, other = callers[first], callers[first + 1]
            pool = do(mine, "create_pool", name=f"pool {first}").id
            do(other, "join_pool", pool=pool)
            for number in range(rounds):
                kept = do(mine, "remember", content=f"Fact {number} of agent {first} is {first * 7919 + number}.").id
                began = time.perf_counter()
                do(mine, "share_memory_to_scope", pool=pool, memory=kept)
                while kept not in {hit.memory.id for hit in do(other, "query_shared", pool=pool, limit=5).hits}:
                    time.sleep(0.005)
                shared = time.perf_counter()
                made = do(mine, "initiate_handoff", task=f"Work {number}.", target=names[first + 1], memories=[kept]).id
                do(other, "accept_handoff", handoff=made, budget=200)
                do(other, "complete_handoff", handoff=made)
                handed = time.perf_counter()
                do(mine, "get_agent_info", agent=names[first + 1])
                looked = time.perf_counter()
                for name, spent in zip(BARS, (shared - began, handed - shared, looked - handed), strict=True):
                    took[name].append(1000 * spent)

        def run(first: int) -> None:
            try:
                life(first)
            except recollect.RecollectError as error:
                failed.append(repr(error))

        threads = [threading.Thread(target=run, args=(first,)) for first in range(0, agents, PARTNERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return {"agents": agents, "rounds": rounds, "failed": failed[:5],
            **{name: _percentiles(values, BARS[name]) for name, values in took.items()}}  # fmt: skip


def _percentiles(values: list[float], bar: float) -> dict[str, Any]:
    ordered = sorted(values) or [0.0]
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"p50": round(ordered[len(ordered) // 2], 1), "p95": round(p95, 1), "bar": bar, "met": p95 <= bar}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"RECOLLECT_HOME": home, "RECOLLECT_AGENT_RATE": "100000000"}
        found: dict[str, Any] = {"machine": machine()}
        found["crowd"] = {"skipped": "quick"} if asked.quick else crowd(50, 8)
        say(json.dumps(found["crowd"]))
        found["fuzz"] = fuzz(300 if asked.quick else asked.calls, asked.seed)
    print(json.dumps(found, indent=1))
    if not asked.quick:
        (HERE / "results" / "agents.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 1 if found["fuzz"]["broken"] or found["crowd"].get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
