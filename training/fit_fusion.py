"""Fit how much words count beside vectors, and write src/recollect/recall/fusion.json.

    python training/fit_fusion.py PASSAGES [--data DIR] [--check]     PASSAGES is written by training/domains.py

What both arms found is collected as for the ranker. Listwise: the evidence of a question is to come before the rest in
the sum of both arms. Each domain counts the same; the bias is drawn to the share at which the domains do about equally
well. The figures are nDCG@10, each domain told by what was fitted on the others; LoCoMo and golden are only asked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import domains
import fit_ranker
from fit_ranker import Example, ndcg
from recollect import rank
from recollect.models import embedder
from recollect.recall import fusion
from recollect_eval.cache import CachedEmbedder

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "fusion.json"
LEARNT = ("docs", "chats", "notes", "together", "small")
STEPS, RATE, SHARP, DECAY, USUAL, PRIOR = 250, 0.05, 12.0, 0.006, -0.85, 0.5
SHARES = (0.0, 0.2, 0.3, 0.5, 1.0)
Floats = NDArray[np.float64]


class Domain:
    """The examples of one domain, as arrays."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = list(examples)
        most, size = max(len(one.right) for one in self.examples), len(self.examples)
        self.text, self.vector, self.right = (np.zeros((size, most)) for _ in range(3))
        self.real = np.zeros((size, most), bool)
        seen = []
        for number, one in enumerate(self.examples):
            found = [_found(one.arms[arm]) for arm in ("words", "vectors")]
            seen.append(fusion.numbers(one.question, *found))
            for rows, scores in zip((self.text, self.vector), map(rank.stretch, found), strict=True):
                for place, score in scores.items():
                    rows[number, int(place)] = score
            self.right[number, : len(one.right)], self.real[number, : len(one.right)] = one.right, True
        self.numbers = np.array(seen)

    def answered(self) -> tuple[Floats, ...]:
        kept = self.right.any(axis=1)
        return tuple(some[kept] for some in (self.text, self.vector, self.right, self.real, self.numbers))

    def figure(self, shares: Floats) -> float:
        sums = shares[:, None] * self.text + (1 - shares[:, None]) * self.vector
        given = zip(sums, self.examples, strict=True)
        return round(100 * float(np.mean([ndcg(row[: len(one.right)], one) for row, one in given])), 1)


def _found(scores: NDArray[np.float32]) -> dict[str, float]:
    return {str(place): float(score) for place, score in enumerate(scores) if score > 0}


def fit(sets: Sequence[Domain]) -> tuple[Floats, Floats, Floats]:
    """The mean, spread and weight of each number."""
    every = np.concatenate([one.answered()[4] for one in sets])
    mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-6
    mean[0], spread[0] = 0.0, 1.0
    weights, first, second = (np.zeros(len(fusion.NAMES)) for _ in range(3))
    weights[0] = USUAL
    for step in range(1, STEPS + 1):
        slope = sum((_slope(one, weights, mean, spread) for one in sets), np.zeros(len(weights))) / len(sets)
        slope[1:] += DECAY * weights[1:]
        slope[0] += PRIOR * (weights[0] - USUAL)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights -= RATE * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return mean, spread, weights


def shares(numbers: Floats, mean: Floats, spread: Floats, weights: Floats) -> Floats:
    return fusion.LOW + (fusion.HIGH - fusion.LOW) / (1 + np.exp(-((numbers - mean) / spread @ weights)))


def _slope(domain: Domain, weights: Floats, mean: Floats, spread: Floats) -> Floats:
    text, vector, right, real, numbers = domain.answered()
    share = shares(numbers, mean, spread, weights)
    scores = np.where(real, SHARP * (share[:, None] * text + (1 - share[:, None]) * vector), -1e9)
    guess = np.exp(scores - scores.max(axis=1, keepdims=True))
    guess /= guess.sum(axis=1, keepdims=True)
    by_share = (SHARP * (guess - right / right.sum(axis=1, keepdims=True)) * (text - vector)).sum(axis=1)
    part = (share - fusion.LOW) / (fusion.HIGH - fusion.LOW)
    slope = by_share * (fusion.HIGH - fusion.LOW) * part * (1 - part)
    return np.asarray((slope[:, None] * (numbers - mean) / spread).mean(axis=0))


def judge(sets: Mapping[str, Domain]) -> tuple[Floats, Floats, Floats]:
    whole = fit([sets[name] for name in LEARNT if name in sets])
    for name, own in sets.items():
        left_out = fit_ranker.TOGETHER.get(name, (name,))
        fitted = fit([sets[other] for other in LEARNT if other not in left_out]) if name in LEARNT else whole
        fixed = {share: own.figure(np.full(len(own.examples), share)) for share in SHARES}
        given = shares(own.numbers, *fitted)
        print(f"{name}: fixed {fixed}, fitted {own.figure(given)} (share {given.mean():.2f})", flush=True)
    return whole


def write(fitted: tuple[Floats, Floats, Floats], model: str) -> None:
    rows = zip(fusion.NAMES, *(np.round(one, 5).tolist() for one in fitted), strict=True)
    told = {"about": "Fitted by training/fit_fusion.py", "model": model, "numbers": {name: row for name, *row in rows}}
    TARGET.write_text(json.dumps(told) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", type=Path, help="what training/domains.py has written")
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $RECOLLECT_DATA or ../shared/data")
    parser.add_argument("--check", action="store_true", help="measure, and leave the file as it is")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    corpora = domains.load(args.passages, args.data) | domains.judging(args.data)
    fitted = judge({name: Domain(list(fit_ranker.examples(some, model))) for name, some in corpora.items()})
    if not args.check:
        write(fitted, model.model)


if __name__ == "__main__":
    main()
