"""Speed: recall, writes, cold start, memory and disk at 10,000 and 100,000 real memories, against the bars.

    python bench/speed.py [--sizes 10000,100000] [--data DIR] [--minilm FOLDER] [--quick]
    python bench/speed.py --store postgresql://…

The second compares the SQLite file with a copy of it on that server (`backends.py`), in a database of its own, and
writes `bench/results/stores.json`.

Prints a table and writes `bench/results/speed.json`. CPU time is the figure; wall stands beside it. `--quick` runs
with a few notes and without the data, to see that everything works, and leaves the results alone. See README.md here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw

import corpus as data
import process
import reading
import stores
import writing
from recollect.models.embedder import PACKAGED, Embedder, load
from recollect.models.onnx import OnnxEmbedder
from recollect.vectors import SECOND, THIRD

RESULTS = data.HERE / "results"
QUICK, QUICK_ASKED = 80, 25
RUNS = 5  # cold starts of each sort


def machine() -> dict[str, Any]:
    """Where and with what the figures were made."""
    cpu = platform.processor()
    if (info := Path("/proc/cpuinfo")).exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain")),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in ("apsw", "numpy", "onnxruntime")},
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=data.HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def say(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


def model_figures(corpus: data.Corpus, embedder: Embedder, size: int, runs: int, *, own: bool) -> dict[str, Any]:
    """The vector arm with the vectors of one model; of our own also the stages of recall and the rivals."""
    documents, questions = data.vectors(corpus, embedder, size), data.query_vectors(corpus, embedder)
    known = data.Lookup(embedder, corpus.texts[:size], documents)
    path, filled = stores.built(corpus, size, known, afterwards=not own)
    truth = reading.Neighbours.find(path, corpus, documents, questions)
    say(f"{size:,} memories, {embedder.model}: the vector arm")
    found: dict[str, Any] = {"filled": filled, "vector_arm": reading.vector_arm(path, embedder.model, questions, truth)}
    found["sweep"] = reading.sweep(path, embedder.model, questions, truth)
    if not own:
        return found
    say(f"{size:,} memories: recall, rivals, cold start, memory, disk")
    asker = data.Lookup(embedder, corpus.queries, questions)
    found["recall"] = {width: reading.recall(path, corpus, asker, name) for width, name in stores.PROJECTS.items()}
    found["recall_fast"] = reading.recall(path, corpus, asker, effort="fast")
    found["recall_text_only"] = reading.recall(path, corpus, None)
    found["recall_deep"] = {"total": reading.deep(path, corpus, asker, OnnxEmbedder(PACKAGED))}
    found["rivals"] = reading.rivals(path, corpus, documents, questions)
    found["cold_start"] = process.cold(path, corpus.queries[0], runs)
    found["resident_mb"] = process.resident(path, corpus)
    found["disk"] = process.disk(path)
    return found


def measure(corpus: data.Corpus, sizes: list[int], minilm: str | None, runs: int = RUNS) -> dict[str, Any]:
    own = load("default")
    found: dict[str, Any] = {"model": own.model, "embed": reading.embed(corpus, own), "bare": process.bare(runs)}
    found["sizes"] = {str(size): model_figures(corpus, own, size, runs, own=True) for size in sizes}
    if minilm:
        other = load(minilm)
        found["other"] = {"model": other.model}
        found["other"]["sizes"] = {str(size): model_figures(corpus, other, size, runs, own=False) for size in sizes}
    say("writing")
    given = data.Lookup(own, corpus.texts[: sizes[-1]], data.vectors(corpus, own, sizes[-1]))
    full, _ = stores.built(corpus, sizes[-1], given)
    found["single"] = writing.single(corpus, own, full)
    found["many"] = writing.many(corpus, own, given, sizes[-1])
    found["moved"] = writing.imported(stores.built(corpus, min(10_000, sizes[-1]), None)[0])
    return found


# -- the table --------------------------------------------------------------------------------------------------------


def bars(found: dict[str, Any]) -> Iterator[tuple[str, float, str, float]]:
    """(what, measured, ≤ or ≥, the bar): what this project has promised, at the largest size measured."""
    size = list(found["sizes"])[-1]
    asked = {found["model"]: found["sizes"][size]}
    if "other" in found:
        asked[found["other"]["model"]] = found["other"]["sizes"][size]
    figures = found["sizes"][size]
    yield "embed one question, CPU p50 ms", found["embed"]["cpu_p50_ms"], "≤", 10.0
    yield f"recall, fast, beyond that, {size}", figures["recall_fast"]["total"]["cpu_p50_ms"], "≤", 25.0
    yield f"recall, balanced, {size}", figures["recall"]["everything"]["total"]["cpu_p50_ms"], "≤", 60.0
    for model, figures in asked.items():
        arm = figures["vector_arm"]["everything"]
        yield f"vector arm, CPU p50 ms, {size} × {model}", arm["cpu_p50_ms"], "≤", 5.0
        yield f"vector arm, recall@10, {size} × {model}", arm["recall_at_10"], "≥", 0.97
    yield f"import, CPU s for {found['moved']['count']} memories", found["moved"]["import"]["cpu_s"], "≤", 6.0
    yield f"bytes a memory beyond its text, {size}", found["sizes"][size]["disk"]["beyond text"], "≤", 4096


def _row(name: str, figures: dict[str, Any], extra: str = "") -> str:
    cells = (f"{figures[key]:>9.2f}" for key in ("cpu_p50_ms", "cpu_p95_ms", "wall_p50_ms", "wall_p95_ms"))
    return f"  {name:<44}{''.join(cells)}  {extra}".rstrip()


def _rate(name: str, figures: dict[str, Any]) -> str:
    cpu, wall = figures["per_cpu_s"], figures["per_wall_s"]
    return f"  {name:<44}{cpu:>11,.0f}{wall:>11,.0f}{figures['cpu_s']:>10.2f} CPU s"


def table(found: dict[str, Any], out: Callable[[str], None]) -> None:
    heads = "".join(f"{head:>9}" for head in ("CPU p50", "CPU p95", "wall p50", "wall p95"))
    out(f"{'milliseconds':<46}{heads}")
    out(_row("embed one question", found["embed"]))
    for size, figures in found["sizes"].items():
        for width, stages in figures["recall"].items():
            out(f"\nrecall at {int(size):,}, {width} of the store seen")
            for stage in ("text", "vector", "rank", "total"):
                out(_row("total without embed" if stage == "total" else stage, stages[stage]))
        for name in ("fast", "text_only", "deep"):
            out(_row(f"total, {name.replace('_', ' ')}, everything", figures[f"recall_{name}"]["total"]))
        for rival, took in figures["rivals"].items():
            out(_row(rival, took))
    for where in (found, found.get("other", {"sizes": {}})):
        for size, figures in where["sizes"].items():
            _arm(f"{int(size):,} × {where['model']}", figures, out)
    _rest(found, out)


def _arm(name: str, figures: dict[str, Any], out: Callable[[str], None]) -> None:
    out(f"\nvector arm alone, {name}; exact search is 1.000")
    for width, arm in figures["vector_arm"].items():
        out(_row(f"{width} of the store seen", arm, f"recall@10 {arm['recall_at_10']:.3f}"))
    for cell in figures["sweep"]:
        here = "  ← as it is" if (cell["second"], cell["third"]) == (SECOND, THIRD) else ""
        out(_row(f"sweep {cell['second']} / {cell['third']}", cell, f"recall@10 {cell['recall_at_10']:.3f}{here}"))


def _rest(found: dict[str, Any], out: Callable[[str], None]) -> None:
    out(f"\n{'writing, memories a second':<46}{'a CPU s':>11}{'a wall s':>11}")
    for how, figures in found["single"].items():
        out(_rate(f"single remember, {how}", figures))
    for how, figures in found["many"].items():
        out(_rate(f"remember_many of {figures['count']:,}, {how}", figures))
    for how in ("export", "import"):
        out(_rate(f"{how} of {found['moved']['count']:,}, no vectors", found["moved"][how]))
    for size, figures in found["sizes"].items():
        out(_rate(f"filling {int(size):,}, vectors given ({figures['filled']['built'][:10]})", figures["filled"]))
    out(f"\ncold start, milliseconds\n{_row('an interpreter that does nothing', found['bare'])}")
    for size, figures in found["sizes"].items():
        for how, start in figures["cold_start"].items():
            steps = ", ".join(f"{step} {took:.0f}" for step, took in start["cpu_steps_ms"].items())
            out(_row(f"{int(size):,}, {how}", start, steps))
    for size, figures in found["sizes"].items():
        held = "; ".join(
            f"{how} {rss['VmRSS']:.0f} MB, {rss['RssAnon']:.0f} its own, peak {rss['VmHWM']:.0f}"
            for how, rss in figures["resident_mb"].items()
        )
        out(f"resident at {int(size):,}: {held}")
    for size, figures in found["sizes"].items():
        parts = ", ".join(f"{name} {each:,.0f}" for name, each in figures["disk"].items() if isinstance(each, float))
        out(f"bytes a memory at {int(size):,}: {parts}")


def verdict(found: dict[str, Any], out: Callable[[str], None]) -> list[dict[str, Any]]:
    kept = []
    out("\nbars")
    for what, value, sign, bar in bars(found):
        holds = value <= bar if sign == "≤" else value >= bar
        out(f"  {'✓' if holds else '✗'} {what:<64}{value:>10,.3f} {sign} {bar:g}")
        kept.append({"what": what, "value": value, "sign": sign, "bar": bar, "holds": holds})
    return kept


def compared(corpus: data.Corpus, sizes: list[int], url: str, folder: Path) -> dict[str, Any]:
    """Both stores at each size."""
    import backends

    own, found = load("default"), {}
    asker = data.Lookup(own, corpus.queries, data.query_vectors(corpus, own))
    for size in sizes:
        say(f"{size:,} memories in both stores")
        documents = data.vectors(corpus, own, size)
        known = data.Lookup(own, corpus.texts[:size], documents)
        path, _ = stores.built(corpus, size, known)
        with backends.database(url) as place:
            found[str(size)] = backends.compare(corpus, path, place, known, asker, documents)
    say("LoCoMo in both stores")
    with backends.database(url) as place:
        report = {"sizes": found, "quality": backends.quality(place, folder)}
    backends.table(report, print)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed at real sizes, on real text, in CPU time.")
    parser.add_argument("--sizes", default="10000,100000", help="how many memories, smallest first")
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--minilm", help="folder with a second model, whose vectors are measured too")
    parser.add_argument("--store", help="a PostgreSQL server to compare with: the URL of who may create a database")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} notes, no data, and no result is written")
    chosen = parser.parse_args()
    os.environ["RECOLLECT_HOME"] = str(data.CACHE / "home")  # no setting of this machine's user counts
    sizes = [QUICK] if chosen.quick else sorted(int(size) for size in chosen.sizes.split(","))
    corpus = data.chosen(chosen.quick, chosen.data, QUICK, QUICK_ASKED)
    if not chosen.quick and not 1000 <= sizes[0] <= sizes[-1] <= len(corpus.texts):
        raise SystemExit(f"--sizes must lie between 1,000 and {len(corpus.texts):,}.")
    report: dict[str, Any] = {"machine": machine(), "dataset": corpus.hash, "mix": corpus.mix}
    report["questions"] = len(corpus.queries)
    name = "stores" if chosen.store else "speed"
    if chosen.store:
        found = compared(corpus, sizes, chosen.store, data.place(chosen.data))
    else:
        found = measure(corpus, sizes, chosen.minilm, 1 if chosen.quick else RUNS)
        table(found, print)
        report["bars"] = verdict(found, print)
    report |= found
    target = data.CACHE / f"{name}-quick.json" if chosen.quick else RESULTS / f"{name}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwritten to {target}")


if __name__ == "__main__":
    main()
