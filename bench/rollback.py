"""Going back over 10,000 changes: what a rollback costs on a file and on PostgreSQL, and that everything follows it.

    python bench/rollback.py [--changes 10000] [--backends sqlite postgres] [--data DIR] [--quick]

A store is filled with texts of `bench/corpus.py` and given a checkpoint. Then as many changes are made as are asked
for: four in ten say something else, three in ten have another importance and other tags, two in ten are new, one in ten
is archived. The rollback is measured, previewed and done, in CPU seconds of this process and of the server, and wall
seconds; afterwards every memory is compared with what it was, full text is asked for a word of the new texts, and what
lost its vector with its text gets one. Writes `bench/results/rollback.json`; `--quick`, with few changes of a
file and no data, does not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpus as texts
import recollect
from backends import postmaster, server_cpu
from recollect.arguments import EditFields
from recollect.store.rows import record
from recollect.types import Memory
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
import postgres  # noqa: E402

RESULTS = HERE / "results" / "rollback.json"
MARK = "zanzibar"  # a word of the new texts alone


def change(memory: recollect.Engine, kept: list[Memory], said: list[str], count: int) -> None:
    """Make the changes: a new memory, an edit, or another state each."""
    new = count // 5
    for number, one in enumerate(kept[: count - new]):
        memory.edit(one.id, reason="for the benchmark", **_edited(number, said[number]))
    memory.remember_many([f"{MARK} new: {text}" for text in said[count : count + new]])


def _edited(number: int, text: str) -> EditFields:
    if number % 8 < 4:
        return {"content": f"{MARK} {number}: {text}"}
    if number % 8 < 7:
        return {"importance": 9, "tags": ("changed", f"t{number % 50}")}
    return {"state": "archived"}


def timed(work: Callable[[], Any], server: int) -> tuple[Any, dict[str, float]]:
    began, spent, there = time.perf_counter(), time.process_time(), server_cpu(server)
    found = work()
    return found, {
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(time.process_time() - spent, 2),
        "server_cpu_s": round(server_cpu(server) - there, 2),
    }


def measure(place: str, said: list[str], count: int, server: int) -> dict[str, Any]:
    with recollect.open(place, embedder="hashing", actor="bench") as memory:
        results = memory.remember_many(said[:count])
        ids = dict.fromkeys(result.memory.id for result in results if result.memory)  # some texts say the same
        kept = [memory.get(id, peek=True) for id in ids]
        memory.checkpoints.create("before")
        head = memory.head
        began = time.perf_counter()
        change(memory, kept, said, count)
        made = {"rows": memory.head - head, "wall_s": round(time.perf_counter() - began, 1)}
        say(f"changed: {made}")
        _, preview = timed(lambda: memory.checkpoints.rollback("before", dry_run=True), server)
        head = memory.head
        done, spent = timed(lambda: memory.checkpoints.rollback("before"), server)
        rows = memory.head - head
        other = [one.id for one in kept if _said(memory.get(one.id, peek=True)) != _said(one)]
        found = [hit for hit in memory.recall(MARK, limit=10).hits if MARK in hit.memory.content]
        memory.embed()
        embedded = memory.stats()["embedded"]
    return {
        "changes": made, "preview": preview, "rollback": spent, "journal_rows": rows, "restored": len(done.restored),
        "archived": len(done.archived), "not_as_before": other[:5], "found_by_new_words": len(found),
        "vectors": embedded,
    }  # fmt: skip


def _said(memory: Memory) -> dict[str, Any]:
    return {name: value for name, value in record(memory).items() if name != "updated_at"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--backends", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--quick", action="store_true", help="150 changes on a file, no data, nothing is written")
    asked = parser.parse_args()
    if asked.quick:
        asked.changes, asked.backends = 150, ["sqlite"]
    said = texts.chosen(asked.quick, asked.data, 2 * asked.changes, 0).texts
    report: dict[str, Any] = {"machine": machine(), "backends": {}}
    watch = postgres.prepare()
    try:
        with tempfile.TemporaryDirectory(prefix="recollect-rollback-") as folder:
            os.environ["RECOLLECT_HOME"] = str(Path(folder, "home"))
            for backend in asked.backends:
                url = postgres.shared().create() if backend == "postgres" else ""
                server = postmaster(postgres.shared().as_admin(url)) if url else 0
                place = url or str(Path(folder, "store.db"))
                report["backends"][backend] = measure(place, said, asked.changes, server)
                say(f"{backend}: {json.dumps(report['backends'][backend])}")
    finally:
        postgres.finish(watch)
    if asked.changes >= 10_000 and len(asked.backends) > 1:
        RESULTS.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    if any(one["not_as_before"] or one["found_by_new_words"] for one in report["backends"].values()):
        raise SystemExit("not everything came back")


if __name__ == "__main__":
    main()
