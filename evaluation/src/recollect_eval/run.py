"""Run a benchmark: fill a store, ask every question of the engine and of the controls, judge, report.

    report = run("golden")
    print(render(report))

Every system is asked for the same number of memories about the same corpus. The engine is also asked once for each
token budget; controls fill a budget from the top of their ranking, passing over what is too large.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from recollect.errors import BadInput
from recollect.models.embedder import Embedder
from recollect.models.embedder import load as load_model

from . import cosqa, golden, locomo, longmemeval, metrics, project, relevance
from .cache import CachedEmbedder
from .controls import System, controls
from .corpus import Answer, Benchmark, Corpus, Question, Scores
from .provenance import provenance
from .report import BUDGETS, SUBJECT, Figure, Report, Table
from .subject import Subject

LOADERS: dict[str, Callable[[Path | None], Benchmark]] = {
    "golden": golden.load,
    "locomo": locomo.load,
    "longmemeval": longmemeval.load,
    "cosqa": cosqa.load,
    "project": project.load,
    "relevance": relevance.load,
}
FIRST = 10  # how many memories "tokens an answer" counts: what recall gives when not told
DEEP = 200  # the most memories that a token budget may hold
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: with which embedder, against the controls or not, with the curve of token budgets or not.

    `cache` is a folder for embeddings; `part` takes only the `dev` or the `held` questions of golden or cosqa; `every`
    asks only each n-th question, for a quick look; `asked` puts the clock at each question's own date, so that what is
    dated later is not seen; `store` is an empty database to measure in, where each corpus becomes a tenant of its own,
    in place of a file that is thrown away; `recall` holds further arguments of recall, such as `fusion`.
    """

    embedder: str = "default"
    cache: Path | None = None
    controls: bool = True
    curve: bool = True
    part: str = "all"
    every: int = 1
    asked: bool = False
    store: str | None = None
    recall: dict[str, Any] = field(default_factory=dict)


def run(name: str, *, data: Path | None = None, options: Options | None = None, say: Say | None = None) -> Report:
    """Run one of the benchmarks in LOADERS; `data` is the folder of the public data."""
    if name not in LOADERS:
        raise BadInput(f"There is no benchmark {name!r}.", fix=f"It is one of: {', '.join(LOADERS)}.")
    chosen = options or Options()
    began = time.process_time()
    benchmark = LOADERS[name](data)
    embedder = _embedder(chosen)
    tally = Tally()
    for corpus in benchmark.corpora:
        some = _chosen(corpus, chosen)
        if say:
            say(f"{name}: {some.name}, {len(some.items)} memories, {len(some.questions)} questions")
        _measure(benchmark, some, embedder, chosen, tally)
    if not tally.table():
        raise BadInput(
            f"No question of {name} is left to ask.", fix="Only golden, cosqa and relevance have parts, dev and held."
        )
    settings = {key: value for key, value in asdict(chosen).items() if key != "cache"} | {
        "model": embedder.model if embedder else "off",
        "data": benchmark.hash,
        "memories": sum(len(corpus.items) for corpus in benchmark.corpora),
    }
    spent = {"cpu_s": round(time.process_time() - began, 1)} | tally.spent()
    return Report(
        name, tally.table(), benchmark.headline, benchmark.targets, settings, provenance(), spent, tally.details()
    )  # fmt: skip


def _embedder(options: Options) -> Embedder | None:
    if options.embedder == "off":
        return None
    loaded = load_model(options.embedder)
    return CachedEmbedder(loaded, options.cache) if options.cache else loaded


def _chosen(corpus: Corpus, options: Options) -> Corpus:
    if options.part not in ("all", "dev", "held"):
        raise BadInput(f"part {options.part!r} is not known.", fix="It is one of: all, dev, held.")
    if options.every < 1:
        raise BadInput(f"every must be a whole number above zero, not {options.every!r}.")
    kept = [question for question in corpus.questions if options.part in ("all", *question.slices)]
    if not options.asked:
        kept = [replace(question, moment=None) for question in kept]
    return replace(corpus, questions=tuple(kept[:: options.every]))


def _measure(benchmark: Benchmark, corpus: Corpus, embedder: Embedder | None, options: Options, tally: Tally) -> None:
    if not corpus.questions:
        return
    with tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder:
        with tally.clock("fill"):
            place = options.store or str(Path(folder) / "store.db")
            subject = Subject(corpus, place, embedder or "off", **{**benchmark.asked, **options.recall})
        with subject:
            systems: list[System] = [subject]
            if options.controls:
                systems += controls(corpus, embedder)
            cheapest = min(item.cost for item in corpus.items)
            for question in corpus.questions:
                for system in systems:
                    asked = Asked(benchmark, system, question, cheapest if options.curve else 0)
                    tally.add(system.name, question, _ask(asked, tally))


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to one system. `cheapest` is the cost of the smallest memory; 0 when no budget is looked at."""

    benchmark: Benchmark
    system: System
    question: Question
    cheapest: int


def _ask(asked: Asked, tally: Tally) -> Scores:
    benchmark, system, question = asked.benchmark, asked.system, asked.question
    with tally.clock(system.name):
        answer = system.answer(question, benchmark.limit)
    wide = system.answer(question, benchmark.wide) if benchmark.wide else answer
    scores = benchmark.judge(question, answer, wide)
    scores["tokens@10"] = float(system.answer(question, FIRST).tokens)
    if asked.cheapest and question.right:
        for budget in BUDGETS:
            most = max(FIRST, min(DEEP, budget // asked.cheapest))  # more cannot fit
            within = system.answer(question, most, budget)
            scores[f"evidence@{budget}"] = metrics.recall(within.keys, question.right, len(within.keys))
    if benchmark.own and system.name == SUBJECT:
        tally.note(question, answer)
    return scores


class Tally:
    """Scores as they come in, question by question."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        self._clocks: dict[str, list[float]] = defaultdict(list)
        self._best: dict[bool, list[float]] = {True: [], False: []}
        self.missed: list[dict[str, Any]] = []

    @contextmanager
    def clock(self, what: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self._clocks[what].append(time.process_time() - began)

    def add(self, system: str, question: Question, scores: Scores) -> None:
        for slice in ("all", *question.slices):
            for metric, value in scores.items():
                self._values[system][slice][metric].append(value)

    def note(self, question: Question, answer: Answer) -> None:
        """Keep, of our own set, which right memories did not come first, and what came instead."""
        self._best[bool(question.right)].append(answer.best)
        first = answer.keys[: max(5, len(question.right))]
        if question.right - set(first) or (not question.right and not answer.unsure):
            right = sorted(question.right - set(first))
            self.missed.append({"question": question.key, "absent": right, "given": list(answer.keys[:5])})

    def table(self) -> Table:
        return {
            system: {
                slice: {metric: Figure.of(values) for metric, values in row.items()} for slice, row in slices.items()
            }
            for system, slices in self._values.items()
        }

    def details(self) -> dict[str, Any]:
        if not self.missed:
            return {}
        return {"separation": round(metrics.separation(self._best[True], self._best[False]), 4), "missed": self.missed}

    def spent(self) -> dict[str, float]:
        """CPU seconds of the filling, and CPU milliseconds of one recall, the question's embedding included."""
        asked = self._clocks[SUBJECT]
        return {
            "fill_cpu_s": round(sum(self._clocks["fill"]), 1),
            "recall_cpu_ms": round(1000 * sum(asked) / max(len(asked), 1), 2),
        }
