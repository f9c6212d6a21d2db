"""The janitor: how much of what was planted it finds, what it breaks, and what it costs.

    python bench/janitor.py [--sizes 10000] [--embedder default]

A store is filled with the labelled memories of `tests/planted.py` (duplicates in other words, contradictions, expiries
and decay, each with controls that look like them) and cleaned once. Precision and recall are of the acts against the
labels. A second run, which is made to look at everything again, must change nothing. CPU seconds are of the run alone,
without making the vectors.

Writes `bench/results/janitor.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from recollect.models.embedder import load
from recollect.upkeep.janitor import janitor
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from planted import Planted, fill, planted, scored  # noqa: E402

RESULTS = HERE / "results" / "janitor.json"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LOOKED_AT_AGAIN = 20_000  # memories up to which the second run looks at every pair again; above, at what is new
PRECISION_BAR, RECALL_BAR, CPU_BAR = 0.97, 0.90, 60.0


def found(report: janitor.Report, wanted: Planted) -> dict[str, tuple[float, float]]:
    acts = {one.step: one.acts for one in report.steps}
    pairs = {
        step: {frozenset((act["id"], act["other"])) for act in acts[step]} for step in ("duplicates", "contradictions")
    }
    single = {step: {act["id"] for act in acts[step]} for step in ("expired", "decayed")}
    return {
        "duplicates": scored({frozenset(pair) for pair in wanted.same.items()}, set(pairs["duplicates"])),
        "contradictions": scored(set(wanted.opposed), set(pairs["contradictions"])),
        "expired": scored(set(wanted.expired), set(single["expired"])),
        "decayed": scored(set(wanted.decayed), set(single["decayed"])),
    }


def measure(size: int, embedder: str, folder: Path) -> dict[str, Any]:
    wanted = planted(size, NOW)
    with recollect.open(folder / f"{size}.db", embedder=embedder, now=lambda: NOW) as engine:
        fill(engine._store, "default", wanted.memories, load(embedder), NOW)
        began = time.process_time()
        report = engine.janitor.run()
        spent = time.process_time() - began
        head = engine.head
        if size <= LOOKED_AT_AGAIN:  # as if it had never looked
            jobs = engine._store.jobs("default", (), 100)
            engine._store.restore_jobs("default", [replace(job, progress={}) for job in jobs])
        again = engine.janitor.run()
        rows = engine.head - head
        left = {frozenset(pair) for pair in wanted.same.items()}
        active = {memory.id for memory in wanted.memories if engine.get(memory.id, peek=True).state == "active"}
        doubled = sum(pair <= active for pair in left)
    scores = found(report, wanted)
    return {
        "memories": len(wanted.memories), "cpu_seconds": round(spent, 1),
        "steps": {one.step: one.cpu_seconds for one in report.steps},
        "precision": {name: round(score[0], 4) for name, score in scores.items()},
        "recall": {name: round(score[1], 4) for name, score in scores.items()},
        "changed": report.changed, "second_run_changed": again.changed, "second_run_rows": rows,
        "duplicates_left": round(doubled / max(1, len(active)), 4),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--embedder", default="default")
    asked = parser.parse_args()
    janitor.TOLD = 10**9  # every act is named
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for size in asked.sizes:
            result = measure(size, asked.embedder, Path(folder)) | {"embedder": asked.embedder}
            say(json.dumps(result))
            results.append(result)
    old = json.loads(RESULTS.read_text("utf-8"))["results"] if RESULTS.exists() else []
    kept = [
        one
        for one in old
        if (one["memories"], one["embedder"]) not in {(r["memories"], r["embedder"]) for r in results}
    ]
    told = {
        "machine": machine(),
        "bars": {"precision": PRECISION_BAR, "recall": RECALL_BAR, "cpu_seconds_10k": CPU_BAR},
    }
    RESULTS.write_text(json.dumps({**told, "results": [*kept, *results]}, indent=2) + "\n", "utf-8")
    bad = [r for r in results if r["second_run_changed"] or min(r["precision"].values()) < PRECISION_BAR
           or min(r["recall"].values()) < RECALL_BAR]  # fmt: skip
    if bad:
        raise SystemExit("below the bars")


if __name__ == "__main__":
    main()
