"""Rivals: one run, the same work for each, every rival from its pinned package in its own environment, offline.

    make rivals                                      everything that runs here; results in bench/results/rivals.json
    python bench/rivals/rivals.py --only chroma mem0 --parts retrieval
    python bench/rivals/rivals.py --quick            our own and the plain methods, a few notes, nothing written

Results are merged into the file row by row, so a run that was stopped goes on; --again measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cost
import environments
import loopback
import quality
import safety
import workloads
from contract import Options
from environments import Rival, Unavailable
from loopback import Server
from processes import Failed
from recollect_eval.provenance import provenance

RESULTS = Path(__file__).parents[1] / "results" / "rivals.json"
PARTS = ("retrieval", "cost", "safety")
SIZES, QUICK_SIZES = (1000, 10_000), (100,)
NOT_FOR_DRIVERS = ("name", "embedder", "cost", "faults")


class Run:
    """One run: what is chosen, and the results as they come in."""

    def __init__(self, asked: argparse.Namespace, server: Server) -> None:
        self.asked, self.server = asked, server
        self.found: dict[str, Any] = {}
        if not asked.quick and RESULTS.exists():
            self.found = json.loads(RESULTS.read_text("utf-8"))

    def known(self, *path: str) -> Any:
        at: Any = self.found
        for name in path:
            at = at.get(name) if isinstance(at, dict) else None
        return None if self.asked.again else at

    def note(self, value: Any, *path: str) -> None:
        """Write one result at once, beside what another run may have written since."""
        if not self.asked.quick and RESULTS.exists():
            self.found = json.loads(RESULTS.read_text("utf-8"))
        at = self.found
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = value
        if not self.asked.quick:
            written = RESULTS.with_suffix(".new")
            written.write_text(json.dumps(self.found, indent=1, ensure_ascii=False) + "\n", "utf-8")
            written.replace(RESULTS)

    def rows(self, rival: Rival) -> list[dict[str, Any]]:
        """The rows of a rival that were chosen."""
        some = [row for row in rival.rows if row.get("cost") or not self.asked.main]
        return [row for row in some if not self.asked.rows or row["name"] in self.asked.rows]

    def say(self, told: str) -> None:
        print(told, flush=True)

    def options(self, row: dict[str, Any], *, hashing: bool = False) -> Options:
        given = {name: value for name, value in row.items() if name not in NOT_FOR_DRIVERS}
        name = row.get("embedder", "")
        if not name:
            return given
        if not (hashing or self.asked.quick):
            return {**self.server.options(name), **given}
        own = {} if name != "recollect" else {"model": self.server.options(name)["model"]}  # its ranker knows the model
        return {**self.server.options("hashing"), **own, **given}


def retrieval(run: Run, rival: Rival, folder: Path) -> None:
    for workload in workloads.small() if run.asked.quick else workloads.every(run.asked.data, run.asked.sets):
        run.note({"sample": workload.sample, "ours": workload.ours}, "samples", workload.name)
        for row in run.rows(rival):
            where = ("retrieval", row["name"], workload.name)
            if (run.known(*where) or {}).get("data") == workload.hash:
                continue
            try:
                place = Path(tempfile.mkdtemp(dir=folder))
                found = quality.measure(rival, run.options(row), workload, place)
            except Failed as error:
                found = {"failed": str(error)}
            run.note(found, *where)
            told = found.get("failed") or ", ".join(
                f"{name} {100 * found[name]['mean']:.1f}" for name in ("recall@5", "recall@10", "nDCG@10")
            )
            run.say(f"{workload.name}: {row['name']}: {told}")


def costs(run: Run, rival: Rival, folder: Path) -> None:
    sizes = QUICK_SIZES if run.asked.quick else run.asked.sizes
    texts = workloads.texts()[: max(sizes)]
    for row in (row for row in rival.rows if row.get("cost") and not run.known("cost", row["name"])):
        try:
            place = Path(tempfile.mkdtemp(dir=folder))
            found = cost.measure(rival, run.options(row, hashing=True), texts, sizes, place)
        except Failed as error:
            found = {"failed": str(error)}
        run.note(found, "cost", row["name"])
        run.say(f"cost: {row['name']}: {found.get('failed') or found['sizes']}")
    if not run.asked.quick and (size := environments.install_size(rival)):
        run.note(size, "install", rival.title)
    if rival.mcp and not run.asked.quick and not run.known("mcp", rival.title):
        try:
            shaken = cost.handshake(rival, folder / "mcp", run.server.url)
        except Failed as error:
            shaken = {"failed": str(error)}
        run.note(shaken, "mcp", rival.title)
        run.say(f"MCP: {rival.title}: {shaken}")


def faults(run: Run, rival: Rival, folder: Path) -> None:
    for row in (row for row in rival.rows if row.get("faults")):
        place = Path(tempfile.mkdtemp(dir=folder))
        known = run.known("safety", row["name"]) or {}
        if run.asked.quick:
            known = {name: {"good": None, "said": "left out"} for name in safety.FAULTS if name not in safety.QUICK}
        found = safety.measure(rival, run.options(row, hashing=True), place, known)
        run.note(found, "safety", row["name"])
        for name, verdict in found.items():
            run.say(f"{row['name']}: {name}: {verdict['said']}")


def each(run: Run, rival: Rival) -> None:
    """All parts of one rival, or why it does not run."""
    try:
        environments.prepare(rival)
    except Unavailable as error:
        if not run.asked.quick:
            run.note(str(error), "unavailable", rival.title)
        run.say(f"{rival.title}: not available: {error}")
        return
    if version := environments.version(rival):
        run.note(version, "versions", rival.package)
    parts: dict[str, Callable[[Run, Rival, Path], None]] = {
        "retrieval": retrieval, "cost": costs, "safety": faults
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="rivals-") as folder:
        for part in run.asked.parts:
            parts[part](run, rival, Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[], help="the names in rivals.toml")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--data", type=Path, help="the folder of the public data (or $RECOLLECT_DATA)")
    parser.add_argument("--again", action="store_true", help="measure also what the results hold already")
    parser.add_argument("--quick", action="store_true", help="ours and the plain methods, a few notes, nothing written")
    parser.add_argument("--sets", nargs="*", default=list(workloads.SETS), choices=list(workloads.SETS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="numbers of memories for the cost")
    parser.add_argument("--rows", nargs="*", default=[], help="only the rows of these names")
    parser.add_argument("--main", action="store_true", help="of each rival only the rows whose cost is measured")
    asked = parser.parse_args()
    asked.main = asked.main or asked.quick
    known = environments.rivals()
    chosen = asked.only or (["recollect", "plain"] if asked.quick else list(known))
    if unknown := [name for name in chosen if name not in known]:
        print(f"There is no rival {unknown[0]!r}. It is one of: {', '.join(known)}.", file=sys.stderr)
        return 2
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with loopback.serving(environments.CACHE / "embeddings") as server:
        run = Run(asked, server)
        run.note(provenance(), "measured")
        for name in chosen:
            each(run, known[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
