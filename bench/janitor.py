"""The janitor: how much of what was planted it finds, what it breaks, and what it costs.

    python bench/janitor.py [--sizes 10000] [--embedder default] [--stores team life] [--tell] [--quick]

A store is filled with labelled memories (duplicates in other words, contradictions, expiries and decay, each with
controls that look like them) and cleaned once: `team` is `tests/planted.py`, which was at hand while the janitor was
made, `life` is `tests/planted_life.py`, which was not, and into which real texts of `bench/corpus.py` are mixed, one in
four. Precision and recall are of the acts against the labels; what is done between two real texts, which nobody
labelled, is counted by itself. A second run, which is made to look at everything again, must change nothing. CPU
seconds are of the run alone, without making the vectors. `--tell` names each act that was wrong or missing.

Writes `bench/results/janitor.json`; `--quick`, which takes a few hundred memories and no data, does not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from corpus import chosen
from recollect.models.embedder import load
from recollect.store import open_store
from recollect.upkeep.janitor import janitor
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from planted import Planted, fill, planted, scored  # noqa: E402
from planted_life import planted_life  # noqa: E402

RESULTS = HERE / "results" / "janitor.json"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LOOKED_AT_AGAIN = 20_000  # memories up to which the second run looks at every pair again; above, at what is new
PRECISION_BAR, RECALL_BAR, CPU_BAR = 0.97, 0.90, 60.0


def stored(store: str, size: int, asked: argparse.Namespace) -> tuple[Planted, set[str]]:
    """The labelled memories of a store, and the ids of those that nobody labelled."""
    if store == "team":
        return planted(size, NOW), set()
    wanted = planted_life(size, NOW, chosen(asked.quick, asked.data, size // 4, 0).texts[: size // 4])
    return wanted, {memory.id for memory in wanted.memories[: size // 4]}


def sides(report: janitor.Report, wanted: Planted) -> dict[str, tuple[set[Any], set[Any]]]:
    """For each kind of act, what should have been done and what was."""
    acts = {one.step: one.acts for one in report.steps}
    pairs = {
        step: {frozenset((act["id"], act["other"])) for act in acts[step]} for step in ("duplicates", "contradictions")
    }
    single = {step: {act["id"] for act in acts[step]} for step in ("expired", "decayed")}
    return {
        "duplicates": ({frozenset(pair) for pair in wanted.same.items()}, pairs["duplicates"]),
        "contradictions": (set(wanted.opposed), pairs["contradictions"]),
        "expired": (set(wanted.expired), single["expired"]),
        "decayed": (set(wanted.decayed), single["decayed"]),
    }


def tell(faults: dict[str, tuple[set[Any], set[Any]]], wanted: Planted) -> None:
    said = {memory.id: memory.content for memory in wanted.memories}
    for name, (right, done) in faults.items():
        for how, ids in (("missed", right - done), ("wrong", done - right)):
            for one in ids:
                texts = [said[id][:300] for id in (sorted(one) if isinstance(one, frozenset) else [one])]
                say(json.dumps([name, how, *texts], ensure_ascii=False))


def measure(size: int, asked: argparse.Namespace, store: str, folder: Path) -> dict[str, Any]:
    wanted, unlabelled = stored(store, size, asked)
    path = folder / f"{store}-{size}.db"
    with closing(open_store(path, 30, NOW)) as empty:
        fill(empty, "default", wanted.memories, load(asked.embedder), NOW)
    with recollect.open(path, embedder=asked.embedder, now=lambda: NOW) as engine:
        began = time.process_time()
        report = engine.janitor.run()
        spent = time.process_time() - began
        head = engine.head
    if size <= LOOKED_AT_AGAIN:  # as if it had never looked
        with closing(open_store(path, 30, NOW)) as cleaned:
            jobs = cleaned.jobs("default", (), 100)
            cleaned.restore_jobs("default", [replace(job, progress={}) for job in jobs])
    with recollect.open(path, embedder=asked.embedder, now=lambda: NOW) as engine:
        again = engine.janitor.run()
        rows = engine.head - head
        active = {memory.id for memory in wanted.memories if engine.get(memory.id, peek=True).state == "active"}
        doubled = sum({one, other} <= active for one, other in wanted.same.items())
    both = sides(report, wanted)
    real = {
        name: {act for act in done if isinstance(act, frozenset) and act <= unlabelled}
        for name, (_, done) in both.items()
    }
    judged = {name: (right, done - real[name]) for name, (right, done) in both.items()}
    if asked.tell:
        tell(both, wanted)
    scores = {name: scored(*sets) for name, sets in judged.items()}
    return {
        "memories": len(wanted.memories), "store": store, "cpu_seconds": round(spent, 1),
        "steps": {one.step: one.cpu_seconds for one in report.steps},
        "precision": {name: round(score[0], 4) for name, score in scores.items()},
        "recall": {name: round(score[1], 4) for name, score in scores.items()},
        "between_real_texts": {name: len(acts) for name, acts in real.items() if acts},
        "changed": report.changed, "second_run_changed": again.changed, "second_run_rows": rows,
        "duplicates_left": round(doubled / max(1, len(active)), 4),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--embedder", default="default")
    parser.add_argument("--stores", nargs="+", default=["team", "life"], choices=["team", "life"])
    parser.add_argument("--data", help="the folder of the data, see bench/README.md")
    parser.add_argument("--tell", action="store_true", help="name each act that was wrong or missing")
    parser.add_argument("--quick", action="store_true", help="300 memories, hashed vectors, nothing is written")
    asked = parser.parse_args()
    if asked.quick:
        asked.sizes, asked.embedder = [300], "hashing"
    janitor.TOLD = 10**9  # every act is named
    results, here = [], machine()
    with tempfile.TemporaryDirectory() as folder:
        for size in asked.sizes:
            for store in asked.stores:
                result = measure(size, asked, store, Path(folder)) | {"embedder": asked.embedder, "machine": here}
                say(json.dumps(result))
                results.append(result)

    if asked.quick:
        return

    def which(one: dict[str, Any]) -> tuple[Any, ...]:
        return round(one["memories"], -2), one["store"], one["embedder"]

    old = json.loads(RESULTS.read_text("utf-8"))["results"] if RESULTS.exists() else []
    kept = [one for one in old if which(one) not in {which(result) for result in results}]
    bars = {"precision": PRECISION_BAR, "recall": RECALL_BAR, "cpu_seconds_10k": CPU_BAR}
    told = {"bars": bars, "results": sorted([*kept, *results], key=which)}
    RESULTS.write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    bad = [r for r in results if r["second_run_changed"] or min(r["precision"].values()) < PRECISION_BAR
           or min(r["recall"].values()) < RECALL_BAR]  # fmt: skip
    if bad:
        raise SystemExit("below the bars")


if __name__ == "__main__":
    main()
