"""Fit the ranker on the development halves of public data, and write src/recollect/recall/ranker.json.

    python scripts/fit_ranker.py [--data DIR] [--check]

Every benchmark is put into a store and asked through the read path itself; the candidates' features and which of them
are evidence are what the ranker learns from (listwise softmax, one hidden layer, plain numpy, a fixed seed). Whether
anything fits at all is learnt from the same questions put to a store that cannot know the answer: another
conversation's. The figures are of the whole engine with its default recipe, each question ranked by a ranker that was
fitted on other conversations and other questions; the shipped file is fitted on all. Our golden set is not used.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.evaluate import cosqa, locomo, longmemeval
from recollect.evaluate.cache import CachedEmbedder
from recollect.evaluate.corpus import Benchmark, Corpus, Item, Question, place, read_json
from recollect.evaluate.provenance import provenance
from recollect.evaluate.subject import Subject
from recollect.models import embedder
from recollect.recall import ranker
from recollect.recall.features import NAMES
from recollect.recall.query import parse
from recollect.recall.ranker import PEAKS, Ranker, peaks
from recollect.recall.read import Models, Stopwatch
from recollect.types import Draft

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "ranker.json"
RESULTS = ROOT / "bench" / "results" / "ranker.json"
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 16, 24, 32, 3e-3, 1e-3
Floats = NDArray[np.float32]


def functions(data: Path | None) -> Benchmark:
    """CoSQA as bare source. Taken in as code, each function has its own comment for a title, and a ranker that learns
    from that trusts the titles of notes too much."""
    told = cosqa.load(data)
    sources = read_json(place(data, "cosqa") / cosqa.CODE)
    drafts = {str(number): Draft(text, kind="code", valid_from=cosqa.MOMENT) for text, number in sources.items()}
    items = tuple(Item(number, draft, cosqa.MOMENT) for number, draft in drafts.items())
    return replace(told, corpora=(replace(told.corpora[0], items=items),))


LOADERS = {"locomo": locomo.load, "longmemeval": longmemeval.load, "cosqa": functions}


@dataclass(frozen=True, slots=True)
class Example:
    """The candidates of one question: their features, which are evidence, and where the question comes from."""

    fold: str
    rows: Floats
    right: NDArray[np.bool_]
    wanted: int
    groups: list[str]
    wanted_groups: frozenset[str]


def examples(
    corpora: Sequence[Corpus], model: CachedEmbedder, folder: Path
) -> Iterator[tuple[list[Example], list[Floats]]]:
    """For each corpus its examples, and the features of another corpus's questions, which nothing here answers."""
    for number, corpus in enumerate(corpora):
        strangers = corpora[(number + 1) % len(corpora)].questions[::3] if len(corpora) > 1 else ()
        with Subject(corpus, folder / f"{corpus.name.replace('/', '-')}.db", model) as subject:
            group = {item.key: item.group for item in corpus.items}
            own = [example(subject, q, f"{corpus.name}#{n}", model, group) for n, q in enumerate(corpus.questions)]
            yield own, [features(subject, q, model)[0] for q in strangers]


def features(subject: Subject, question: Question, model: CachedEmbedder) -> tuple[Floats, list[str]]:
    reader = subject._engine._reader
    found = reader.find(parse(question.text, subject._asked_at, limit=20), Models(model), Stopwatch())
    return reader.rows(found), [memory.id for memory in found.memories]


def example(subject: Subject, question: Question, fold: str, model: CachedEmbedder, group: dict[str, str]) -> Example:
    rows, ids = features(subject, question, model)
    right = np.array([bool(set(subject._keys[id]) & question.right) for id in ids])
    groups = [group[subject._keys[id][0]] for id in ids]
    wanted = question.label("sessions") or frozenset(group[key] for key in question.right)
    return Example(fold, rows, right, len(question.right) or 1, groups, wanted)


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


class Network:
    """One hidden layer, fitted with Adam to put evidence first."""

    def __init__(self, mean: Floats, spread: Floats, seed: int = 0) -> None:
        chance = np.random.default_rng(seed)
        self.mean, self.spread = mean, spread
        self.weights = [
            chance.normal(0, 1 / np.sqrt(len(mean)), (len(mean), HIDDEN)), np.zeros(HIDDEN),
            chance.normal(0, 1 / np.sqrt(HIDDEN), HIDDEN),
        ]  # fmt: skip
        self._moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self._steps = 0

    def score(self, rows: Floats) -> Floats:
        hidden, bias, out = self.weights
        return np.asarray(np.tanh((rows - self.mean) / self.spread @ hidden + bias) @ out, np.float32)

    def gradient(self, one: Example) -> list[NDArray[np.float64]]:
        hidden, bias, out = self.weights
        x = (one.rows - self.mean) / self.spread
        inner = np.tanh(x @ hidden + bias)
        score = inner @ out
        guess = np.exp(score - score.max())
        slope = guess / guess.sum() - one.right / one.right.sum()
        back = np.outer(slope, out) * (1 - inner**2)
        return [x.T @ back, back.sum(axis=0), inner.T @ slope]

    def step(self, gradients: list[NDArray[np.float64]], rate: float) -> None:
        self._steps += 1
        for weight, gradient, (first, second) in zip(self.weights, gradients, self._moments, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean, square = first / (1 - 0.9**self._steps), second / (1 - 0.999**self._steps)
            weight -= rate * (mean / (np.sqrt(square) + 1e-8) + DECAY * weight)


def fit(examples: Sequence[Example]) -> Network:
    seen = [one for one in examples if one.right.any()]
    given = seen + [disguised(one) for one in seen]
    every = np.concatenate([one.rows for one in given])
    # What never varies here says nothing: it is put on a scale on which it stays small.
    net = Network(every.mean(axis=0), np.maximum(every.std(axis=0), 0.05))
    net.weights[0][every.std(axis=0) < 1e-3] = 0.0
    chance = np.random.default_rng(1)
    total, done = EPOCHS * (len(given) // BATCH + 1), 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(given))
        for start in range(0, len(order), BATCH):
            batch = [net.gradient(given[i]) for i in order[start : start + BATCH]]
            rate = RATE * 0.5 * (1 + np.cos(np.pi * done / total))
            net.step([np.mean(parts, axis=0) for parts in zip(*batch, strict=True)], rate)
            done += 1
    return net


def fit_fits(known: Sequence[Floats], unknown: Sequence[Floats]) -> tuple[Floats, float]:
    """Logistic regression: does the best of the candidates answer? Both sides count the same in all."""
    x = np.array([peaks(rows) for rows in (*known, *unknown)], np.float64)
    y = np.array([1.0] * len(known) + [0.0] * len(unknown))
    each = np.where(y == 1, 0.5 / len(known), 0.5 / len(unknown))
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z, weight, bias = (x - mean) / spread, np.zeros(x.shape[1]), 0.0
    for _ in range(3000):
        slope = (1 / (1 + np.exp(-(z @ weight + bias))) - y) * each
        weight -= 2.0 * (z.T @ slope + 1e-3 * weight)
        bias -= 2.0 * slope.sum()
    return np.asarray(weight / spread, np.float32), float(bias - (weight / spread) @ mean)


def folds(own: Sequence[Example]) -> list[str]:
    """Which part each question belongs to: its conversation, or one of five where there is one store."""
    many = len({one.fold.split("#")[0] for one in own}) > 1
    return [one.fold.split("#")[0] if many else str(int(one.fold.split("#")[1]) % 5) for one in own]


def held_out(sets: dict[str, list[Example]], name: str, model: str) -> list[Ranker]:
    """For each question of a set a ranker that has seen neither its conversation nor its part of the questions."""
    parts = folds(sets[name])
    fitted: dict[str, Ranker] = {}
    for part in sorted(set(parts)):
        others = [one for other, them in sets.items() if other != name for one in them]
        fitted[part] = as_ranker(
            fit(others + [one for one, p in zip(sets[name], parts, strict=True) if p != part]), model
        )
    return [fitted[part] for part in parts]


def as_ranker(net: Network, model: str) -> Ranker:
    """A network as the engine takes it; with this bias it holds everything for answerable."""
    hidden, hidden_bias, out = (np.asarray(weight, np.float32) for weight in net.weights)
    return Ranker(net.mean, net.spread, hidden, hidden_bias, out, np.zeros(len(PEAKS), np.float32), 9.0, model)


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
    parser.add_argument("--check", action="store_true", help="measure on folds, write nothing")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    benchmarks = {name: load(args.data) for name, load in LOADERS.items()}
    sets: dict[str, list[Example]] = {}
    unknown: list[Floats] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, benchmark in benchmarks.items():
            sets[name] = []
            for own, strange in examples(benchmark.corpora, model, Path(folder)):
                sets[name] += own
                unknown += strange
            print(f"{name}: {len(sets[name])} questions", flush=True)
    known = [one.rows for one in sets["locomo"]]
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, benchmark in benchmarks.items():
        rankers = held_out(sets, name, model.model)
        results[name] = {effort: measured(benchmark, rankers, model, effort) for effort in ("fast", "balanced")}
        for effort, figures in results[name].items():
            print(f"{name} {effort}:", "  ".join(f"{k} {v}" for k, v in figures.items()), flush=True)
    fits, bias = fit_fits(known, unknown)

    def sure(rows: Floats) -> float:
        return float(1 / (1 + np.exp(-(peaks(rows) @ fits + bias))))

    for cut in (0.1, 0.15, 0.2, 0.3, 0.5):
        print(f"fits < {cut}: {np.mean([sure(r) < cut for r in known]):.1%} of the answerable, "
              f"{np.mean([sure(r) < cut for r in unknown]):.1%} of the others")  # fmt: skip
    if not args.check:
        everything = [one for own in sets.values() for one in own]
        write(fit(everything), fits, bias, {name: len(own) for name, own in sets.items()}, model.model)
        told = {"machine": provenance(), "model": model.model, "results": results}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def write(net: Network, fits: Floats, bias: float, counts: dict[str, int], model: str) -> None:
    hidden, hidden_bias, out = net.weights
    told: dict[str, Any] = {
        "about": "Fitted by scripts/fit_ranker.py",
        "model": model,
        "fitted_on": counts,
        "features": list(NAMES),
        "peaks": list(PEAKS),
    }
    arrays = {
        "mean": net.mean,
        "spread": net.spread,
        "hidden": hidden,
        "hidden_bias": hidden_bias,
        "out": out,
        "fit": fits,
    }
    rounded = {name: np.round(np.asarray(array, np.float64), 5).tolist() for name, array in arrays.items()}
    told |= {**rounded, "fit_bias": round(float(bias), 5)}
    TARGET.write_text(json.dumps(told) + "\n", "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
