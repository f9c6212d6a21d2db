"""How long the state of a repository takes: asked for the first time, and again when nothing moved.

    python bench/git.py [FOLDER] [--quick]

Without a folder, repositories of 100 to 10,000 files with 300 commits are made and thrown away.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect.project.state import StateCache
from speed import machine

AGAIN = 200
RESULTS = Path(__file__).parent / "results" / "git.json"
NOBODY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x"}


def make(folder: Path, files: int, commits: int = 300) -> None:
    """A repository of so many files, by one stream of `git fast-import`."""
    lines = []
    for number in range(commits):
        message = f"Commit {number}\n\nBecause of {number}."
        lines += ["commit refs/heads/main", f"committer A <a@x> {1_772_000_000 + number * 60} +0000"]
        lines += [f"data {len(message)}", message]
        for at in range(files if number == 0 else 5):
            place = at if number == 0 else (number * 7 + at) % files
            text = f"value = {number}\n"
            lines += [f"M 644 inline d{place % 50}/f{place}.py", f"data {len(text)}", text]
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    stream = ("\n".join(lines) + "\n").encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=folder, check=True, env={**os.environ, **NOBODY})


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def measure(folder: Path, file: str) -> dict[str, float]:
    """Milliseconds: cold, and of the warm ones what they cost the processor, the middle and the 95th percentile."""
    time.sleep(0.1)  # a file written just now is looked at again
    kept = StateCache()
    cold = timed(lambda: kept.state(folder))
    kept.state(folder)
    spent = time.process_time()
    warm = sorted(timed(lambda: kept.state(folder)) for _ in range(AGAIN))
    spent = time.process_time() - spent
    first = timed(lambda: kept.history(folder, file))
    again = sorted(timed(lambda: kept.history(folder, file)) for _ in range(AGAIN))
    return {
        "cold_ms": round(cold, 1),
        "warm_cpu_ms": round(spent / AGAIN * 1000, 2),
        "warm_p50_ms": round(statistics.median(warm), 2),
        "warm_p95_ms": round(warm[int(AGAIN * 0.95)], 2),
        "history_cold_ms": round(first, 1),
        "history_warm_p95_ms": round(again[int(AGAIN * 0.95)], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="How long the state of a repository takes.")
    parser.add_argument("folder", nargs="?", type=Path, help="a repository of your own")
    parser.add_argument("--quick", action="store_true", help="one small repository, and nothing is written")
    given = parser.parse_args()
    if given.folder:
        print(json.dumps(measure(given.folder, "README.md"), indent=2))
        return
    found: dict[str, dict[str, float]] = {}
    for files in (50,) if given.quick else (100, 1000, 1900, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), files, 20 if given.quick else 300)
            found[f"{files} files"] = measure(Path(folder), "d0/f0.py")
    if not given.quick:
        RESULTS.write_text(json.dumps({"machine": machine(), "state": found}, indent=1) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
