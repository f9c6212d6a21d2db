"""The timeline and the state of an entity at 100,000 memories, in CPU milliseconds (median of 30).

    python bench/timeline.py [--quick | --write]

Memories are about 2,000 services; each says what an attribute of one is. Nothing is embedded: neither read looks at
vectors. The targets are 30 ms for a page of 50 events and 10 ms for a state.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect
from recollect.types import Draft
from speed import machine

RESULTS = Path(__file__).parent / "results" / "timeline.json"
SERVICES, START = 2000, datetime(2024, 1, 1, tzinfo=UTC)


def drafts(count: int) -> list[Draft]:
    return [
        Draft(
            f"The timeout of the service-{n % SERVICES} is {n} s since change {n}.",
            kind="decision" if n % 3 else "fact", valid_from=START + timedelta(minutes=n),
        )
        for n in range(count)
    ]  # fmt: skip


def spent(run: Callable[[int], object]) -> float:
    """The median CPU milliseconds of a read."""
    took = []
    for n in range(30):
        began = time.process_time()
        run(n)
        took.append((time.process_time() - began) * 1000)
    return round(statistics.median(took), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="with 2,000 memories, for CI")
    parser.add_argument("--write", action="store_true", help="write results/timeline.json")
    given = parser.parse_args()
    count = SERVICES if given.quick else 100_000
    with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / "s.db", embedder="off") as memory:
        memory.remember_many(drafts(count), embed=False)
        found = {
            "memories": count,
            "timeline page of an entity": spent(lambda n: memory.timeline(f"service-{n * 7}")),
            "timeline page of everything": spent(lambda n: memory.timeline()),
            "timeline page of a network": spent(lambda n: memory.timeline(networks=["bank"])),
            "timeline page of two networks": spent(lambda n: memory.timeline(networks=["world", "bank"])),
            "state": spent(lambda n: memory.state(f"service-{n * 7}")),
        }
    print(json.dumps(found, indent=1))
    if given.write:
        RESULTS.write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
