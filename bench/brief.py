"""How long the start of a session takes.

    python bench/brief.py [--quick]

`local` is what is computed here, without a model: search, scoring and the block, over 10,000 learnings with random
vectors of 768 numbers. `whole` is all of it with the packaged model, in a repository with a feature at hand: the first
time in a process, and again when its question is another and the model is loaded. `files` is the knowledge bank alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollect
from recollect.models.embedder import Role
from recollect.project import brief, learning
from recollect.project.brief import BriefRequest
from recollect.project.learning import Learning
from recollect.project.signals import Deadline
from recollect.types import Draft, Scope
from speed import machine

RESULTS = Path(__file__).parent / "results" / "brief.json"
KINDS = ("pattern", "anti-pattern", "heuristic", "decision", "fact")
TOPICS = "parser deploy test cache queue index login search export billing".split()
AGAIN, QUICK_AGAIN = 20, 2


class Random:
    """Unit vectors that mean nothing."""

    model, dimension = "random/1", 768

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    def warm(self) -> None:
        return

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        rows = self._random.standard_normal((len(texts), self.dimension), np.float32)
        made: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made


def drafts(count: int) -> list[Draft]:
    return [
        Draft(
            f"Note {n}: the {TOPICS[n % 10]} was changed in step {n * 7} because the {TOPICS[n * 3 % 10]} needed it.",
            kind=KINDS[n % 5], scope=Scope(project="work" if n % 2 else "other"),
        )
        for n in range(count)
    ]  # fmt: skip


def repository(folder: Path) -> Path:
    """A repository of a few commits with a feature at hand."""
    who = ["-c", "user.name=A", "-c", "user.email=a@x"]
    (folder / "docs/features/1").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    for n in range(5):
        (folder / f"module_{n}.py").write_text(f"value = {n}\n")
        subprocess.run(["git", "-C", str(folder), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(folder), *who, "commit", "-q", "-m", f"step {n}"], check=True)
    (folder / "docs/features/1/.meta.json").write_text('{"slug": "log-parser", "lastCompletedPhase": "design"}')
    return folder


def described(folder: Path, words: str) -> None:
    (folder / "docs/features/1/spec.md").write_text(f"# Spec\n\n{words}\n")


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds on the clock and of the processor: on a busy machine they are far apart."""
    began, spent = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - began) * 1000, (time.process_time() - spent) * 1000


def told(spent: list[tuple[float, float]]) -> dict[str, float]:
    clock, processor = sorted(one[0] for one in spent), [one[1] for one in spent]
    return {
        "p50": round(statistics.median(clock), 1),
        "p95": round(clock[int(0.95 * (len(clock) - 1))], 1),
        "processor_p50": round(statistics.median(processor), 1),
    }


def local(folder: Path, count: int, again: int) -> dict[str, float]:
    with recollect.open(folder / "local.db", embedder="off") as memory:
        memory.remember_many(drafts(count))
    with recollect.open(folder / "local.db", embedder=Random()) as memory:
        memory.embed()
        wanted = BriefRequest(scope=Scope(project="work"))
        spent = []
        for n in range(again + 1):
            asked = BriefRequest(**{**_fields(wanted), "talk": f"The {TOPICS[n % 10]} in step {n}."})
            spent.append(timed(lambda asked=asked: brief.build(memory, asked, Deadline(60))))  # type: ignore[misc]
        prominent = [timed(lambda: brief.build(memory, wanted, Deadline(60))) for _ in range(5)]
    return {
        **told(spent[1:]),
        "first": round(spent[0][0], 1),
        "by_prominence_p50": told(prominent)["p50"],
        "by_prominence_processor_p50": told(prominent)["processor_p50"],
    }


def _fields(wanted: BriefRequest) -> dict[str, Any]:
    return {name: getattr(wanted, name) for name in BriefRequest.__dataclass_fields__}


def whole(folder: Path, count: int, again: int) -> dict[str, float]:
    repo = repository(folder / "work")
    with recollect.open(folder / "whole.db") as memory:
        memory.remember_many(drafts(count))
    with recollect.open(folder / "whole.db") as memory:
        wanted = BriefRequest(str(repo), Scope(project="work"))
        spent = []
        for n in range(again + 1):
            described(repo, f"Reads log files number {n} of the {TOPICS[n % 10]} and tells their errors.")
            spent.append(timed(lambda: brief.build(memory, wanted, Deadline(60))))
    return {**told(spent[1:]), "first": round(spent[0][0], 1)}


def files(folder: Path, count: int) -> dict[str, float]:
    with recollect.open(folder / "files.db", embedder="off") as memory:
        chosen = memory.settings
    place = folder / "shop" / "docs" / "knowledge-bank"
    place.mkdir(parents=True)
    entries = [Learning(f"Name {n}", draft.content, "patterns", "Because.") for n, draft in enumerate(drafts(count))]
    (place / "patterns.md").write_text("\n".join(learning.write(one) for one in entries))
    wanted = BriefRequest(str(folder / "shop"), Scope(project="shop"))
    return told([timed(lambda: brief.from_files(chosen, wanted, "disabled")) for _ in range(5)])


def main() -> None:
    parser = argparse.ArgumentParser(description="How long the start of a session takes.")
    parser.add_argument("--quick", action="store_true", help="few learnings, and nothing is written")
    quick = parser.parse_args().quick
    many, few, again = (100, 20, QUICK_AGAIN) if quick else (10_000, 1000, AGAIN)
    found: dict[str, Any] = {"machine": machine(), "milliseconds": {}}
    with tempfile.TemporaryDirectory(prefix="recollect-brief-") as name:
        folder = Path(name)
        found["milliseconds"] = {
            f"local_{many}": local(folder, many, again),
            f"whole_{few}": whole(folder, few, again),
            f"files_{few}": files(folder, few),
        }
    if not quick:
        RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
