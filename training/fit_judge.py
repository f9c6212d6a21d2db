"""Fit the judge of cached answers on pairs of questions, and write src/recollect/answers/judge.json.

    python training/fit_judge.py [--data ../shared/data] [--check]

The pairs are the train split of the Quora question pairs in the data folder; a fifth of them is never fitted on and
gives the figures that are printed and the slope and shift that turn a score into a probability. The weights that are
written are then fitted on all of them. Vectors are the default embedder's and are kept in bench/.cache. Nothing but
numpy is needed, and one run on one core takes about five minutes once the vectors are there. Set
OPENBLAS_NUM_THREADS=1: the matrices are small, and threads only wait for each other.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.answers import judge
from recollect.answers.features import NAMES, features
from recollect.answers.guards import objections, strict
from recollect.answers.judge import Committee, Fitted, Floats, Net
from recollect.answers.reading import read
from recollect.answers.two import Two
from recollect.models import embedder
from recollect_eval.cache import CachedEmbedder
from recollect_eval.corpus import place, read_json

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "answers" / "judge.json"
COMMON = 10  # questions that a stem must be in to count as everyday
WIDE, HIDDEN, EPOCHS, BATCH, RATE, DROP, DECAY = 128, 64, 12, 256, 2e-3, 0.25, 0.01


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs as arrays: both vectors, the features, whether they are the same, whether a guard forbids."""

    one: Floats
    other: Floats
    rows: Floats
    same: Floats
    forbidden: NDArray[np.bool_]

    def part(self, chosen: slice) -> Pairs:
        return Pairs(
            self.one[chosen], self.other[chosen], self.rows[chosen], self.same[chosen], self.forbidden[chosen]
        )  # fmt: skip


def rarities(questions: Sequence[str]) -> dict[str, float]:
    counts = Counter(stem for question in set(questions) for stem in {word.stem for word in read(question).words})
    total = len(set(questions))
    return {stem: round(math.log(total / n), 2) for stem, n in sorted(counts.items()) if n >= COMMON}


def collect(told: Sequence[dict[str, Any]], rarity: dict[str, float], model: CachedEmbedder) -> Pairs:
    one = model.embed([pair["text_a"] for pair in told], "query")
    other = model.embed([pair["text_b"] for pair in told], "query")
    cosines = (one * other).sum(axis=1)
    rows, forbidden = [], []
    for pair, cosine in zip(told, cosines, strict=True):
        two = Two(read(pair["text_a"]), read(pair["text_b"]))
        found = objections(two, rarity)
        rows.append(features(two, float(cosine), found, rarity))
        forbidden.append(any(one.firm for one in found.values()) or (bool(found) and strict(two, rarity)))
    same = np.array([pair["label"] for pair in told], np.float32)
    return Pairs(one, other, np.array(rows, np.float32), same, np.array(forbidden))


class Fit:
    """One network while it is fitted: Adam on the logistic loss, with dropout."""

    def __init__(self, columns: int, dimension: int, wide: int, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.wide = wide
        inputs = 2 * wide + columns
        self.weights: list[Floats] = [
            self._drawn((dimension, wide), 4 / math.sqrt(dimension)),
            self._drawn((inputs, HIDDEN), 1 / math.sqrt(inputs)),
            np.zeros(HIDDEN, np.float32), self._drawn((HIDDEN,), 1 / math.sqrt(HIDDEN)), np.zeros(1, np.float32),
        ]  # fmt: skip
        self._first = [np.zeros_like(weight) for weight in self.weights]
        self._second = [np.zeros_like(weight) for weight in self.weights]
        self.steps = 0

    def _drawn(self, shape: tuple[int, ...], scale: float) -> Floats:
        return np.asarray(self.chance.normal(0, scale, shape), np.float32)

    def _kept(self, shape: tuple[int, ...]) -> Floats:
        return np.asarray((self.chance.random(shape, np.float32) > DROP) / (1 - DROP), np.float32)

    def gradient(self, one: Floats, other: Floats, rows: Floats, same: Floats) -> list[Floats]:
        project, hidden, hidden_bias, out, bias = self.weights
        a, b = one @ project, other @ project
        apart = np.sign(a - b)
        kept = self._kept((len(rows), 2 * self.wide + rows.shape[1]))
        inputs = np.concatenate([a * b, np.abs(a - b), rows], axis=1) * kept
        raw = inputs @ hidden + hidden_bias
        alive = (raw > 0) * self._kept(raw.shape)
        inner = raw * alive
        slope = np.asarray((1 / (1 + np.exp(-(inner @ out + bias[0]))) - same) / len(same), np.float32)
        back = np.outer(slope, out) * alive
        below = (back @ hidden.T) * kept
        product, distance = below[:, : self.wide], below[:, self.wide : 2 * self.wide] * apart
        projecting = one.T @ (product * b + distance) + other.T @ (product * a - distance)
        return [projecting, inputs.T @ back, back.sum(axis=0), inner.T @ slope, slope.sum(keepdims=True)]

    def step(self, gradients: Sequence[Floats], rate: float) -> None:
        self.steps += 1
        for weight, gradient, first, second in zip(self.weights, gradients, self._first, self._second, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean, square = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
            weight -= rate * (mean / (np.sqrt(square) + 1e-8) + DECAY * weight)

    def net(self) -> Net:
        project, hidden, hidden_bias, out, bias = self.weights
        return Net(project if self.wide else None, hidden, hidden_bias, out, float(bias[0]))


def fitted_net(pairs: Pairs, wide: int, seed: int) -> Net:
    fit = Fit(pairs.rows.shape[1], pairs.one.shape[1], wide, seed)
    total = EPOCHS * (len(pairs.same) // BATCH)
    for _ in range(EPOCHS):
        order = fit.chance.permutation(len(pairs.same))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            rate = RATE * 0.5 * (1 + math.cos(math.pi * fit.steps / total))
            fit.step(fit.gradient(pairs.one[batch], pairs.other[batch], pairs.rows[batch], pairs.same[batch]), rate)
    return fit.net()


def calibrated(nets: Sequence[Net], held: Pairs) -> Committee:
    """The slope and shift that make probabilities of scores, by logistic regression on pairs not fitted on."""
    score = np.mean([net.score(held.rows, held.one, held.other) for net in nets], axis=0).astype(np.float64)
    slope, shift = 1.0, 0.0
    for _ in range(4000):
        error = 1 / (1 + np.exp(-(slope * score + shift))) - held.same
        slope -= 0.05 * float((error * score).mean())
        shift -= 0.05 * float(error.mean())
    return Committee(tuple(nets), slope, shift)


def told_of(probability: Floats, pairs: Pairs, *, guarded: bool) -> str:
    """Precision and recall at some thresholds."""
    cells = []
    for threshold in (0.5, 0.7, 0.8, 0.84, 0.86, 0.88, 0.9, 0.92):
        served = (probability >= threshold) & ~(pairs.forbidden if guarded else np.zeros_like(pairs.forbidden))
        precision = pairs.same[served].mean() if served.any() else 0.0
        cells.append(f"{threshold}: {precision:.3f}/{pairs.same[served].sum() / pairs.same.sum():.3f}")
    return "  ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $RECOLLECT_DATA or ../shared/data")
    parser.add_argument("--check", action="store_true", help="measure on the held fifth, write nothing")
    parser.add_argument("--nets", type=int, default=4, help="how many networks are asked together")
    args = parser.parse_args()
    told: list[dict[str, Any]] = read_json(place(args.data, "qqp") / "pairs_train.json.gz")
    random.Random(1).shuffle(told)
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    rarity = rarities([pair[side] for pair in told for side in ("text_a", "text_b")])
    every = collect(told, rarity, model)
    mean, spread = every.rows.mean(axis=0), np.maximum(every.rows.std(axis=0), 0.05)
    every = Pairs(every.one, every.other, (every.rows - mean) / spread, every.same, every.forbidden)
    cut = int(0.8 * len(told))
    known, held = every.part(slice(0, cut)), every.part(slice(cut, None))
    committees: dict[str, Committee] = {}
    for name, wide in (("vectors", WIDE), ("words", 0)):
        nets = [fitted_net(known, wide, seed) for seed in range(args.nets)]
        trial = calibrated(nets, held)
        probability = trial.probability(held.rows, held.one, held.other)
        for guarded in (False, True):
            print(
                f"{name}, {'guarded' if guarded else 'alone'}: {told_of(probability, held, guarded=guarded)}",
                flush=True,
            )
        if not args.check:
            final = tuple(fitted_net(every, wide, seed) for seed in range(args.nets))
            committees[name] = Committee(final, trial.slope, trial.shift)
    if not args.check:
        write(Fitted(model.model, rarity, mean, spread, committees["vectors"], committees["words"]), len(told))


def write(fitted: Fitted, pairs: int) -> None:
    def shown(one: Committee) -> dict[str, Any]:
        nets = [
            {
                "project": judge.packed(net.project) if net.project is not None else None,
                "hidden": judge.packed(net.hidden), "hidden_bias": judge.packed(net.hidden_bias),
                "out": judge.packed(net.out), "bias": round(net.bias, 5),
            }
            for net in one.nets
        ]  # fmt: skip
        return {"slope": round(one.slope, 5), "shift": round(one.shift, 5), "nets": nets}

    told = {
        "about": "Fitted by training/fit_judge.py", "model": fitted.model, "fitted_on": pairs, "features": list(NAMES),
        "mean": judge.packed(fitted.mean), "spread": judge.packed(fitted.spread), "vectors": shown(fitted.vectors),
        "words": shown(fitted.words), "rarity": fitted.rarity,
    }  # fmt: skip
    TARGET.write_text(json.dumps(told) + "\n", "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
