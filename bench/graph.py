"""The knowledge graph at 100,000 memories and 50,000 relations: CPU milliseconds of questions, and how fast it is read.

    python bench/graph.py [--quick]

Every second memory relates two of 5,000 services; the others name one. Nothing is embedded. `extraction` is memories
read and stored in a CPU second (bar 100). `recall` is p50 and p95 of 100 questions with effort deep and with
effort balanced, without a model: chains of names need one and are not in these figures. `graph query` is p50 and p95
from one service, by depth. On PostgreSQL, where there is one, the same 2,000 memories must give the same answers.
Writes `bench/results/graph.json`; `--quick` takes 2,000 memories and does not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import recollect
from recollect.errors import NotFound
from recollect.types import Draft
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
SMALL, LARGE, ASKED = 2000, 100_000, 100
Effort = Literal["balanced", "deep"]
EFFORTS: tuple[Effort, ...] = ("balanced", "deep")
SAYS = ("calls", "depends on", "is owned by", "uses")


def drafts(count: int) -> Iterator[Draft]:
    """Notes about a twentieth as many services as there are notes."""
    services = max(20, count // 20)
    for n in range(count):
        name, other = f"unit{n % services}-service", f"unit{(n * 7919 + 13) % services}-service"
        verb = SAYS[n // services % len(SAYS)]
        tail = f"Team Number{n % 97}" if verb == "is owned by" else other
        related = f"{name} {verb} {tail}, as change {n} says."
        yield Draft(related if n % 2 else f"The dashboard of {name} got a panel in change {n}.")


def spent(run: Callable[[int], object], times: int = ASKED) -> dict[str, float]:
    """The p50 and p95 of the CPU milliseconds of a call."""
    took = []
    for n in range(times):
        began = time.process_time()
        run(n)
        took.append(1000 * (time.process_time() - began))
    took.sort()
    return {"p50": round(took[len(took) // 2], 1), "p95": round(took[int(0.95 * len(took))], 1)}


def measure(count: int, folder: str) -> dict[str, Any]:
    with recollect.open(Path(folder) / "graph.db", embedder="off") as memory:
        memory.remember_many(list(drafts(count)), embed=False)
        say(f"{count:,} memories are there")
        began = time.process_time()
        read = memory.extract_entities()
        speed = read / (time.process_time() - began)
        say(f"{speed:.0f} memories read in a CPU second")
        services = max(20, count // 20)

        def ask(effort: Effort) -> Callable[[int], object]:
            return lambda n: memory.recall(
                f"Which team owns the service that unit{n * 31 % services}-service calls?", effort=effort, peek=True
            )

        def query(depth: int) -> Callable[[int], object]:
            return lambda n: memory.knowledge().query(f"unit{n * 31 % services}-service", depth=depth)

        recall = {effort: spent(ask(effort)) for effort in EFFORTS}
        return {
            "memories": count, "graph": memory.health.graph_size(),
            "extraction": {"memories in a CPU second": round(speed), "bar": 100, "met": speed >= 100},
            "recall": recall,
            "graph query": {f"depth {depth}": spent(query(depth)) for depth in (1, 2, 3, 4)},
        }  # fmt: skip


def answers(url: str | Path) -> list[Any]:
    """What the graph of a small store says of some services, without ids."""
    found: list[Any] = []
    with recollect.open(url, embedder="off") as memory:
        memory.remember_many(list(drafts(SMALL)), embed=False)
        memory.extract_entities()
        for n in range(0, 40, 3):
            try:
                told = memory.knowledge().query(f"unit{n}-service", depth=2)
            except NotFound:
                found.append(None)
                continue
            found.append(sorted((tie.head, tie.relation, tie.tail, tie.quote) for tie in told.ties))
            found.append(sorted((node.name, node.kind, node.hops) for node in told.nodes))
    return found


def compare(folder: str) -> dict[str, Any]:
    import postgres

    watch = postgres.prepare()
    try:
        same = answers(postgres.shared().create()) == answers(Path(folder) / "small.db")
    except postgres.NoServer as error:
        return {"skipped": str(error)}
    finally:
        postgres.finish(watch)
    return {"memories": SMALL, "same answers": same}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        found = {"machine": machine(), **measure(SMALL if quick else LARGE, folder)}
        found["PostgreSQL"] = {"skipped": "quick"} if quick else compare(folder)
    print(json.dumps(found, indent=1))
    if not quick:
        (HERE / "results" / "graph.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0 if found["PostgreSQL"].get("same answers", True) else 1


if __name__ == "__main__":
    sys.exit(main())
