"""Fit the ranker on public data and on made-up projects, and write src/recollect/recall/ranker.json.

    python training/fit_ranker.py [--data DIR] [--check]

Every benchmark is put into a store and asked through the read path itself; the candidates' features and which of them
are evidence are what the ranker learns from (listwise softmax, eight networks of one hidden layer, plain numpy, fixed
seeds). The data are the development halves of LoCoMo, LongMemEval and CoSQA and the projects of training/notes, all but
what the embedder was fitted on. The figures are of the whole engine with its default
recipe, each question ranked by a ranker that was fitted on other conversations, authors and questions; the shipped file
is fitted on all. Our golden set is not used.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import notes
from recollect.models import embedder
from recollect.recall import ranker
from recollect.recall.features import NAMES
from recollect.recall.network import WEIGHTS, Network
from recollect.recall.query import parse
from recollect.recall.ranker import Ranker
from recollect.recall.read import Models, Stopwatch
from recollect.types import Draft
from recollect_eval import cosqa, locomo, longmemeval
from recollect_eval.cache import CachedEmbedder
from recollect_eval.corpus import Benchmark, Corpus, Item, Question, place, read_json
from recollect_eval.provenance import provenance
from recollect_eval.subject import Subject

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "ranker.json"
RESULTS = ROOT / "bench" / "results" / "ranker.json"
NETWORKS, HIDDEN, EPOCHS, BATCH, RATE, DECAY = 8, 16, 16, 32, 3e-3, 1e-3
Floats = NDArray[np.float32]


def functions(data: Path | None) -> Benchmark:
    """CoSQA as bare source. Taken in as code, each function has its own comment for a title, and a ranker that learns
    from that trusts the titles of notes too much."""
    told = cosqa.load(data)
    sources = read_json(place(data, "cosqa") / cosqa.CODE)
    drafts = {str(number): Draft(text, kind="code", valid_from=cosqa.MOMENT) for text, number in sources.items()}
    items = tuple(Item(number, draft, cosqa.MOMENT) for number, draft in drafts.items())
    return replace(told, corpora=(replace(told.corpora[0], items=items),))


def unseen(load: Callable[[Path | None], Benchmark]) -> Callable[[Path | None], Benchmark]:
    """Every second question: the embedder was fitted on the others (`fit_embedder.py`)."""

    def loaded(data: Path | None) -> Benchmark:
        told = load(data)
        return replace(told, corpora=tuple(replace(one, questions=one.questions[1::2]) for one in told.corpora))

    return loaded


LOADERS = {
    "locomo": locomo.load, "longmemeval": unseen(longmemeval.load), "cosqa": unseen(functions), "notes": notes.load,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """The candidates of one question: their features, which are evidence, and where the question comes from."""

    fold: str
    rows: Floats
    right: Floats  # how right each is
    lone: bool  # notes, not talk or code: they need no disguise


def examples(name: str, corpora: Sequence[Corpus], model: CachedEmbedder, folder: Path) -> Iterator[list[Example]]:
    """The examples of each corpus."""
    for corpus in corpora:
        with Subject(corpus, folder / f"{corpus.name.replace('/', '-')}.db", model) as subject:
            yield [example(subject, q, f"{corpus.name}#{n}", model, name) for n, q in enumerate(corpus.questions)]


def features(subject: Subject, question: Question, model: CachedEmbedder) -> tuple[Floats, list[str]]:
    reader = subject._engine._reader
    found = reader.find(parse(question.text, subject._asked_at, limit=20), Models(model), Stopwatch())
    return reader.rows(found), [memory.id for memory in found.memories]


def example(subject: Subject, question: Question, fold: str, model: CachedEmbedder, name: str) -> Example:
    rows, ids = features(subject, question, model)
    answers = question.label("answers") or question.right
    right = np.array([bool(set(subject._keys[id]) & answers) for id in ids], np.float32)
    return Example(fold, rows, right, name == "notes")


def disguised(one: Example) -> Example:
    """The same candidates as single notes: no session, no neighbours, no kind. Most memories are like that."""
    rows = one.rows.copy()
    for name in ("before", "after", "session_covered", "is_turn", "is_code", "by_assistant", "asked_of_assistant"):
        rows[:, NAMES.index(name)] = 0.0
    for name in ("session_best", "session_mean"):
        rows[:, NAMES.index(name)] = rows[:, NAMES.index("fused")] / (3 if name == "session_mean" else 1)
    rows[:, NAMES.index("session_covered")] = rows[:, NAMES.index("covered_with_context")]
    rows[:, NAMES.index("lone")] = 1.0
    return replace(one, rows=rows)


@dataclass(frozen=True, slots=True)
class Networks:
    """Networks of one hidden layer that begin differently, fitted side by side: together they are one wide one."""

    mean: Floats
    spread: Floats
    hidden: Floats  # networks × features × units
    bias: Floats
    out: Floats

    def network(self) -> Network:
        """As the engine takes them."""
        count, features, units = self.hidden.shape
        wide = self.hidden.transpose(1, 0, 2).reshape(features, count * units)
        return Network(self.mean, self.spread, wide, self.bias.ravel(), self.out.ravel() / count)

    def ranker(self, model: str) -> Ranker:
        one = self.network()
        return Ranker(one.mean, one.spread, one.hidden, one.hidden_bias, one.out, model)


def fit(examples: Sequence[Example]) -> Networks:
    """Listwise: each question's evidence is to come before the rest of its candidates. Adam, a falling rate."""
    seen = [one for one in examples if one.right.any()]
    given = seen + [disguised(one) for one in seen if not one.lone]
    rows, real, wanted = packed(given)
    every = rows[real]
    # What never varies here says nothing: it is put on a scale on which it stays small.
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0), 0.05)
    rows = np.where(real[:, :, None], (rows - mean) / spread, 0.0).astype(np.float32)
    weights = beginnings(every.std(axis=0) >= 1e-3)
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in weights]
    chance = np.random.default_rng(1)
    total, done = EPOCHS * (len(given) // BATCH + 1), 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(given))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            slopes = gradients(weights, rows[some], real[some], wanted[some])
            rate, done = RATE * 0.5 * (1 + np.cos(np.pi * done / total)), done + 1
            for weight, slope, (first, second) in zip(weights, slopes, moments, strict=True):
                first += 0.1 * (slope - first)
                second += 0.001 * (slope**2 - second)
                size = np.sqrt(second / (1 - 0.999**done)) + 1e-8
                weight -= (rate * (first / (1 - 0.9**done) / size + DECAY * weight)).astype(np.float32)
    return Networks(mean.astype(np.float32), spread.astype(np.float32), *weights)


def packed(examples: Sequence[Example]) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """The candidates of all questions in one array, which of its places are filled, and what each should get."""
    most = max(len(one.rows) for one in examples)
    rows = np.zeros((len(examples), most, examples[0].rows.shape[1]), np.float32)
    real, wanted = np.zeros((len(examples), most), bool), np.zeros((len(examples), most), np.float32)
    for number, one in enumerate(examples):
        count = len(one.rows)
        rows[number, :count], real[number, :count] = one.rows, True
        wanted[number, :count] = one.right / one.right.sum()
    return rows, real, wanted


def beginnings(varies: NDArray[np.bool_]) -> list[Floats]:
    """The weights that the networks begin with, each by a seed of its own."""
    hidden, out = [], []
    for seed in range(NETWORKS):
        chance = np.random.default_rng(seed)
        hidden.append(chance.normal(0, 1 / np.sqrt(len(varies)), (len(varies), HIDDEN)) * varies[:, None])
        out.append(chance.normal(0, 1 / np.sqrt(HIDDEN), HIDDEN))
    bias = np.zeros((NETWORKS, HIDDEN))
    return [np.array(weight, np.float32) for weight in (hidden, bias, out)]


def gradients(weights: Sequence[Floats], rows: Floats, real: NDArray[np.bool_], wanted: Floats) -> list[Floats]:
    """The slopes of the loss of every network over one batch."""
    hidden, bias, out = weights
    size, most, features = rows.shape
    flat = rows.reshape(size * most, features)
    wide = hidden.transpose(1, 0, 2).reshape(features, -1)
    inner = np.tanh(flat @ wide + bias.ravel()).reshape(size, most, NETWORKS, HIDDEN)
    score = np.where(real[:, :, None], (inner * out).sum(axis=-1), -1e9)
    guess = np.exp(score - score.max(axis=1, keepdims=True))
    slope = (guess / guess.sum(axis=1, keepdims=True) - wanted[:, :, None]) / size
    back = slope[..., None] * out * (1 - inner**2)
    to_hidden = (flat.T @ back.reshape(size * most, -1)).reshape(features, NETWORKS, HIDDEN).transpose(1, 0, 2)
    return [to_hidden, back.sum(axis=(0, 1)), (inner * slope[..., None]).sum(axis=(0, 1))]


def folds(own: Sequence[Example]) -> list[str]:
    """Which part each question belongs to: its author, its conversation, or one of five where there is one store."""
    if own[0].lone:
        return [one.fold[0] for one in own]
    many = len({one.fold.split("#")[0] for one in own}) > 1
    return [one.fold.split("#")[0] if many else str(int(one.fold.split("#")[1]) % 5) for one in own]


def held_out(sets: dict[str, list[Example]], name: str, model: str) -> list[Ranker]:
    """For each question of a set a ranker that has seen neither its conversation nor its part of the questions."""
    parts = folds(sets[name])
    fitted: dict[str, Ranker] = {}
    for part in sorted(set(parts)):
        others = [one for other, them in sets.items() if other != name for one in them]
        rest = [one for one, p in zip(sets[name], parts, strict=True) if p != part]
        fitted[part] = fit(others + rest).ranker(model)
    return [fitted[part] for part in parts]


def measured(benchmark: Benchmark, rankers: Sequence[Ranker], model: CachedEmbedder, effort: str) -> dict[str, float]:
    """The benchmark's own figures, each question asked with its own ranker."""
    values: dict[str, list[float]] = {}
    turn = iter(rankers)
    with tempfile.TemporaryDirectory() as folder:
        for corpus in benchmark.corpora:
            with Subject(corpus, Path(folder) / f"{corpus.name.replace('/', '-')}.db", model, effort=effort) as subject:
                for question in corpus.questions:
                    one = next(turn)
                    ranker.load = lambda one=one: one  # type: ignore[assignment]
                    question = replace(question, moment=None)
                    answer = subject.answer(question, benchmark.limit)
                    wide = subject.answer(question, benchmark.wide) if benchmark.wide else answer
                    for metric, value in benchmark.judge(question, answer, wide).items():
                        values.setdefault(metric, []).append(value)
    return {metric: round(100 * float(np.mean(all)), 1) for metric, all in values.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $RECOLLECT_DATA or ../shared/data")
    parser.add_argument("--check", action="store_true", help="measure on folds, and leave the ranker as it is")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    benchmarks = {name: load(args.data) for name, load in LOADERS.items()}
    sets: dict[str, list[Example]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, benchmark in benchmarks.items():
            sets[name] = []
            for own in examples(name, benchmark.corpora, model, Path(folder)):
                sets[name] += own
            print(f"{name}: {len(sets[name])} questions", flush=True)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, benchmark in benchmarks.items():
        rankers = held_out(sets, name, model.model)
        results[name] = {effort: measured(benchmark, rankers, model, effort) for effort in ("fast", "balanced")}
        for effort, figures in results[name].items():
            print(f"{name} {effort}:", "  ".join(f"{k} {v}" for k, v in figures.items()), flush=True)
    told = {"machine": provenance(), "model": model.model, "results": results}
    RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    if not args.check:
        everything = [one for own in sets.values() for one in own]
        counts = {name: len(own) for name, own in sets.items()}
        write(TARGET, fit(everything).ranker(model.model), NAMES, counts, {"model": model.model})


def write(
    target: Path, fitted: Network, names: Sequence[str], counts: dict[str, int], extra: dict[str, Any] | None = None
) -> None:
    told = {"about": f"Fitted by training/fit_{target.stem}.py", "fitted_on": counts, "features": list(names)}
    weights = {weight: rounded(getattr(fitted, weight)) for weight in WEIGHTS}
    target.write_text(json.dumps(told | (extra or {}) | weights) + "\n", "utf-8")
    print(f"wrote {target.relative_to(ROOT)}, {target.stat().st_size} bytes")


def rounded(weights: Floats) -> Any:
    return np.round(np.asarray(weights, np.float64), 5).tolist()


if __name__ == "__main__":
    main()
