"""Ingestion: how many files a second are taken in, and what a second run over them costs.

    python bench/ingest.py [--files 20000] [--quick]

Two trees: a made-up repository of so many files (code in three languages, documents and decision records, each file
different), taken in by words alone, and this repository's own tree, by words alone and with the default model. After
each first run comes a second one, which must read, write and change nothing, and, of the first tree, a third one after
one Python file in a thousand was edited. The second run of the large tree has a bar of two seconds.

Writes `bench/results/ingest.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import recollect
from recollect.project.ingest import Report, ingest
from speed import machine, say

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "ingest.json"
BAR = 2.0  # seconds for the second run
WORDS = (
    "order invoice ledger refund cart price stock parcel ferry berth ticket route captain deck cargo manifest customs "
    "queue retry cache shard replica index cursor batch token session tenant quota limit budget alert metric trace"
).split()
VERBS = "load save merge split check apply resolve compute collect render publish revoke rotate compress sort".split()


def python(pick: random.Random, number: int) -> str:
    functions = [
        f"def {pick.choice(VERBS)}_{pick.choice(WORDS)}_{number}_{n}(given: int) -> int:\n"
        f'    """{pick.choice(VERBS).title()} the {pick.choice(WORDS)} of a {pick.choice(WORDS)}, number {number}."""\n'
        f"    return given * {number} + {n}\n"
        for n in range(3)
    ]
    return f"import {pick.choice(('os', 'json', 'math'))}\n\n\n" + "\n\n".join(functions)


def typescript(pick: random.Random, number: int) -> str:
    name = f"{pick.choice(VERBS)}{pick.choice(WORDS).title()}{number}"
    return (
        f"/** {pick.choice(VERBS)} every {pick.choice(WORDS)} */\nexport function {name}(given: number): number {{\n"
        f"  return given + {number};\n}}\n\n"
        f"export class {name.title()}Box {{\n  open(): string {{ return '{number}'; }}\n}}\n"
    )


def go(pick: random.Random, number: int) -> str:
    name = f"{pick.choice(VERBS).title()}{pick.choice(WORDS).title()}{number}"
    told = f"// {name} is the {number}th.\nfunc {name}(n int) int {{\n\treturn n + {number}\n}}\n"
    return f"package {pick.choice(WORDS)}\n\n{told}"


def document(pick: random.Random, number: int) -> str:
    told = [f"The {pick.choice(WORDS)} of the {pick.choice(WORDS)} is {n * number}." for n in range(6)]
    head = f"# About the {pick.choice(WORDS)} {number}\n\n{told[0]}\n\n"
    return f"{head}## How\n\n{told[1]} {told[2]}\n\n## Why\n\n{told[3]}\n"


def record(pick: random.Random, number: int) -> str:
    return (
        f"# {number}. Use a {pick.choice(WORDS)} for each {pick.choice(WORDS)}\n\nDate: 2024-0{1 + number % 9}-11\n\n"
        f"## Status\n\nAccepted\n\n## Context\n\nThe {pick.choice(WORDS)} {number} is slow.\n\n## Decision\n\n"
        f"We use one of {number}.\n\n## Consequences\n\nIt is faster by {number}.\n"
    )


def repository(folder: Path, files: int) -> None:
    """A repository of so many files: half Python, a fifth documents, the rest other code, and some records."""
    pick = random.Random(7)
    made = {"py": python, "ts": typescript, "go": go, "md": document}
    for number in range(files):
        suffix = ("py", "py", "py", "py", "py", "ts", "go", "md", "md", "md")[number % 10]
        place = folder / f"service{number % 37}" / f"part{number % 11}"
        name, write = f"{pick.choice(WORDS)}_{number}.{suffix}", made[suffix]
        if suffix == "md" and number % 50 == 9:
            place, name, write = folder / "docs" / "adr", f"{number:05}-decision.md", record
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(write(pick, number), encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


def edited(folder: Path, every: int = 1000) -> int:
    """Change one file in so many."""
    some = sorted(path for path in folder.rglob("*.py") if ".git" not in path.parts)[::every]
    for path in some:
        path.write_text(path.read_text("utf-8") + "\n\ndef added_later() -> None:\n    pass\n", encoding="utf-8")
    return len(some)


def timed(engine: recollect.Engine, folder: Path) -> tuple[dict[str, Any], Report]:
    wall, cpu = time.perf_counter(), time.process_time()
    report = ingest(engine, folder, project="bench")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    made = time.process_time()
    engine.embed()
    made = time.process_time() - made
    looked = report.files + report.unchanged
    return {
        "files": looked, "read": report.files, "pieces": report.pieces, "created": report.created,
        "superseded": report.superseded, "retired": report.retired, "links": report.links, "skipped": report.skipped,
        "wall_s": round(wall, 2), "cpu_s": round(cpu, 2), "vectors_cpu_s": round(made, 2),
        "files_per_s": round(looked / wall, 1),
    }, report  # fmt: skip


def measured(folder: Path, embedder: str, home: Path, *, change: bool) -> dict[str, Any]:
    """First run, second run, and one after some files were edited."""
    os.environ["RECOLLECT_HOME"] = str(home)
    with recollect.open(home / "store.db", embedder=embedder) as engine:
        first, _ = timed(engine, folder)
        head = engine.head
        second, again = timed(engine, folder)
        assert (again.files, engine.head) == (0, head), "the second run touched something"
        found: dict[str, Any] = {"first": first, "second": second}
        if change:
            count = edited(folder)
            third, report = timed(engine, folder)
            assert report.files == count
            found["after an edit"] = third
    return {**found, "store_mb": round((home / "store.db").stat().st_size / 2**20, 1),
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="few files, no model, and nothing is written")
    given = parser.parse_args()
    files = 60 if given.quick else given.files
    results: dict[str, Any] = {"machine": machine(), "files": files}
    with tempfile.TemporaryDirectory() as folder:
        say(f"a repository of {files:,} files, by words")
        tree = Path(folder, "tree")
        repository(tree, files)
        time.sleep(2.5)  # a file that was written just now is read again, lest it changed since
        results["synthetic"] = measured(tree, "off", Path(folder, "home"), change=True)
    for embedder in () if given.quick else ("off", "default"):
        say(f"this repository, embedder {embedder}")
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder, "own")  # a clone of what is committed: nobody edits it meanwhile
            subprocess.run(["git", "clone", "-q", str(HERE.parent), str(own)], check=True)
            time.sleep(2.5)
            results[f"own, {embedder}"] = measured(own, embedder, Path(folder, "home"), change=False)
    slow = results["synthetic"]["second"]["wall_s"]
    results["bars"] = {"second run of the synthetic tree, s": [slow, BAR], "held": slow <= BAR}
    print(json.dumps(results, indent=1))
    if not given.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
