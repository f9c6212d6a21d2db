"""Fit the ranker on the development halves of public data, and write src/recollect/recall/ranker.json.

    python scripts/fit_ranker.py [--data DIR] [--check]

Every benchmark is put into a store and asked through the read path itself; the candidates' features and which of them are
evidence are what the ranker learns from (listwise softmax, one hidden layer, plain numpy, a fixed seed). Whether anything
fits at all is learnt from the same questions put to a store that cannot know the answer: another conversation's. What is
printed was fitted on other conversations and other questions than it was measured on; the shipped file is fitted on all.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.evaluate import cosqa, locomo, longmemeval
from recollect.evaluate.cache import CachedEmbedder
from recollect.evaluate.corpus import Corpus, Question
from recollect.evaluate.provenance import provenance
from recollect.evaluate.subject import Subject
from recollect.models import embedder
from recollect.recall.features import NAMES
from recollect.recall.query import parse
from recollect.recall.ranker import PEAKS, peaks
from recollect.recall.read import Models, Stopwatch

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "ranker.json"
RESULTS = ROOT / "bench" / "results" / "ranker.json"
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 16, 24, 32, 3e-3, 1e-3
Floats = NDArray[np.float32]


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


def measured(ranked: Sequence[tuple[Floats, Example]]) -> dict[str, float]:
    """Recall of the evidence itself, and of the sessions it is in, each where its best turn stands."""
    values: dict[str, list[float]] = {}
    for scores, one in ranked:
        order = np.argsort(-scores, kind="stable")
        groups = list(dict.fromkeys(one.groups[i] for i in order))
        found = {f"recall@{k}": one.right[order[:k]].sum() / one.wanted for k in (1, 5, 10, 20)}
        if len(set(one.groups)) > 1:
            gains = [1 / np.log2(place + 2) for place, group in enumerate(groups[:10]) if group in one.wanted_groups]
            best = sum(1 / np.log2(place + 2) for place in range(min(10, len(one.wanted_groups))))
            found |= {f"session recall@{k}": len(one.wanted_groups & set(groups[:k])) / len(one.wanted_groups)
                      for k in (5, 10)}  # fmt: skip
            found |= {"session any@1": float(groups[0] in one.wanted_groups), "session nDCG@10": sum(gains) / best}
        for name, value in found.items():
            values.setdefault(name, []).append(float(value))
    return {name: round(100 * float(np.mean(all)), 1) for name, all in values.items()}


def held_out(sets: dict[str, list[Example]], name: str) -> dict[str, float]:
    """What the ranker reaches on a set when it has seen neither that conversation nor those questions."""
    own = sets[name]
    many = len({one.fold.split("#")[0] for one in own}) > 1

    def part(one: Example) -> str:
        corpus, number = one.fold.split("#")
        return corpus if many else str(int(number) % 5)

    ranked: list[tuple[Floats, Example]] = []
    for held in sorted({part(one) for one in own}):
        train = [one for other, them in sets.items() for one in them if other != name or part(one) != held]
        net = fit(train)
        ranked += [(net.score(one.rows), one) for one in own if part(one) == held]
    return measured(ranked)


def plain(own: list[Example]) -> dict[str, float]:
    return measured([(one.rows[:, NAMES.index("fused")], one) for one in own])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $RECOLLECT_DATA or ../shared/data")
    parser.add_argument("--check", action="store_true", help="measure on folds, write nothing")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    sets: dict[str, list[Example]] = {}
    unknown: list[Floats] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, load in (("locomo", locomo.load), ("longmemeval", longmemeval.load), ("cosqa", cosqa.load)):
            sets[name] = []
            for own, strange in examples(load(args.data).corpora, model, Path(folder)):
                sets[name] += own
                unknown += strange
            print(f"{name}: {len(sets[name])} questions", flush=True)
    known = [one.rows for one in sets["locomo"]]
    results = {name: {"fused": plain(own), "ranker, held out": held_out(sets, name)} for name, own in sets.items()}
    for name, rows in results.items():
        for system, figures in rows.items():
            print(f"{name:12} {system:18}", "  ".join(f"{k} {v}" for k, v in figures.items()), flush=True)
    fits, bias = fit_fits(known, unknown)
    sure = lambda rows: 1 / (1 + np.exp(-(peaks(rows) @ fits + bias)))  # noqa: E731
    for cut in (0.1, 0.15, 0.2, 0.3, 0.5):
        print(f"fits < {cut}: {np.mean([sure(r) < cut for r in known]):.1%} of the answerable, "
              f"{np.mean([sure(r) < cut for r in unknown]):.1%} of the others")  # fmt: skip
    if not args.check:
        everything = [one for own in sets.values() for one in own]
        write(fit(everything), fits, bias, {name: len(own) for name, own in sets.items()})
        told = {"machine": provenance(), "model": model.model, "results": results}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def write(net: Network, fits: Floats, bias: float, counts: dict[str, int]) -> None:
    hidden, hidden_bias, out = net.weights
    told = {
        "about": "Fitted by scripts/fit_ranker.py",
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
    told |= {name: np.round(np.asarray(array, np.float64), 5).tolist() for name, array in arrays.items()}
    told["fit_bias"] = round(bias, 5)
    TARGET.write_text(json.dumps(told) + "\n", "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
