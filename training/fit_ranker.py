"""Fit the ranker on many domains, judge it by leaving one out, and write src/recollect/recall/ranker.json.

    python training/fit_ranker.py PASSAGES [--data DIR] [--check]     PASSAGES is written by training/domains.py

Every corpus is put into a store and asked through the read path itself; the candidates' features and which of them are
evidence are what the ranker learns from (listwise softmax, eight networks of one hidden layer, plain numpy, fixed
seeds). Every domain counts by the root of its size, so that no large one drowns the others.

The figures are nDCG@10 of the order of the candidates, each domain ranked by a ranker that was fitted on the other
domains, beside words, vectors, their sum and reciprocal rank fusion of the same candidates. The shipped file
is fitted on all domains of `domains.load`; LoCoMo and the golden set are only asked.

How much reading the best together with the question counts beside the ranker is chosen on domains that the relevance
model has not seen.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import domains
from recollect import rank
from recollect.models import embedder
from recollect.models.reader import PairReader
from recollect.recall.features import NAMES
from recollect.recall.fusion import BY_ARMS
from recollect.recall.network import WEIGHTS, Network
from recollect.recall.printing import read_text
from recollect.recall.query import parse
from recollect.recall.read import READ, Models, Stopwatch
from recollect_eval.cache import CachedEmbedder
from recollect_eval.corpus import Corpus, Question
from recollect_eval.provenance import provenance
from recollect_eval.subject import Subject

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "ranker.json"
RESULTS = ROOT / "bench" / "results" / "ranker.json"
NETWORKS, HIDDEN, EPOCHS, BATCH, RATE, DECAY = 8, 16, 6, 32, 3e-3, 1e-3
LEVEL = 1500  # questions of a domain that counts once
TOGETHER = {"notes": ("notes", "together"), "together": ("notes", "together")}  # left out together: the same notes
UNREAD = ("chats", "small")  # domains of which the relevance model has seen nothing, or a part
READING = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
SAMPLE = 150  # questions of a domain that are read
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """The candidates of one question: their features and texts, and which are evidence."""

    question: str
    rows: Floats
    right: Floats  # how right each is
    count: int  # how many there are in the store
    arms: Mapping[str, Floats]
    texts: list[str]
    lone: bool  # notes, not talk or code: they need no disguise


def examples(corpora: Sequence[Corpus], model: CachedEmbedder) -> Iterator[Example]:
    for corpus in corpora:
        with tempfile.TemporaryDirectory() as folder, Subject(corpus, Path(folder) / "fit.db", model) as subject:
            for question in corpus.questions:
                if question.right and (one := example(subject, question, model)) is not None:
                    yield one


def example(subject: Subject, question: Question, model: CachedEmbedder) -> Example | None:
    reader = subject._engine._shared.reader
    subject._clock.moment = moment = question.moment or subject._asked_at
    found = reader.find(parse(question.text, moment, limit=20), Models(model), Stopwatch())
    if not found.memories:
        return None
    ids = [memory.id for memory in found.memories]
    answers = question.label("answers") or question.right
    right = np.array([bool(set(subject._keys[id]) & answers) for id in ids], np.float32)
    scores = {"words": found.arms.get("text", {}), "vectors": found.arms.get("vector", {}), "sum": found.fused}
    scores["adapted"] = found.adapted
    arms = {arm: np.array([some.get(id, 0.0) for id in ids], np.float32) for arm, some in scores.items()}
    lone = not any(memory.scope.session or memory.kind == "code" for memory in found.memories)
    texts = [read_text(memory, question.text) for memory in found.memories]
    return Example(question.text, reader.rows(found), right, len(answers), arms, texts, lone)


def disguised(one: Example) -> Example:
    """The same candidates as single notes: no session, no neighbours, no kind. Most memories are like that."""
    rows = one.rows.copy()
    for name in ("before", "after", "is_turn", "is_code", "by_assistant", "asked_of_assistant"):
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


def fit(sets: Mapping[str, Sequence[Example]]) -> Network:
    """Listwise: each question's evidence is to come before the rest of its candidates. Adam, a falling rate."""
    given, chances = [], []
    for own in sets.values():
        seen = [one for one in own if one.right.any()]
        seen += [disguised(one) for one in seen if not one.lone]
        given += seen
        chances += [(LEVEL / len(seen)) ** 0.5] * len(seen)
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
        order = chance.choice(len(given), len(given), p=np.array(chances) / sum(chances))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            slopes = gradients(weights, rows[some], real[some], wanted[some])
            rate, done = RATE * 0.5 * (1 + np.cos(np.pi * done / total)), done + 1
            for weight, slope, (first, second) in zip(weights, slopes, moments, strict=True):
                first += 0.1 * (slope - first)
                second += 0.001 * (slope**2 - second)
                size = np.sqrt(second / (1 - 0.999**done)) + 1e-8
                weight -= (rate * (first / (1 - 0.9**done) / size + DECAY * weight)).astype(np.float32)
    return Networks(mean.astype(np.float32), spread.astype(np.float32), *weights).network()


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


# -- judging ----------------------------------------------------------------------------------------------------------


def ndcg(scores: Floats, one: Example, most: int = 10) -> float:
    order = np.argsort(-scores, kind="stable")[:most]
    gained = sum(one.right[place] / np.log2(number + 2) for number, place in enumerate(order))
    return float(gained / sum(1 / np.log2(number + 2) for number in range(min(most, one.count))))


def mean(own: Sequence[Example], score: Callable[[Example], Floats]) -> float:
    return round(100 * float(np.mean([ndcg(score(one), one) for one in own])), 1)


def rrf(one: Example) -> Floats:
    ids = [str(number) for number in range(len(one.right))]
    lists = [rank.order(dict(zip(ids, one.arms[arm].tolist(), strict=True))) for arm in ("words", "vectors")]
    fused = rank.rrf(lists, 60)
    return np.array([fused[id] for id in ids], np.float32)


def final(one: Example, fitted: Network) -> Floats:
    """The score that recall gives: the ranker's, and beside it the sum with the shares decided for the question."""
    return fitted.score(one.rows) + BY_ARMS * one.arms["adapted"]


def compared(own: Sequence[Example], fitted: Network) -> dict[str, float]:
    """The order of the candidates by plain methods and by a ranker."""
    plain = {arm: mean(own, lambda one, arm=arm: one.arms[arm]) for arm in ("words", "vectors", "sum")}  # type: ignore[misc]
    return plain | {"rrf": mean(own, rrf), "ranker": mean(own, lambda one: final(one, fitted))}


def reading(own: Sequence[Example], fitted: Network, relevance: PairReader) -> dict[float, float]:
    """nDCG@10 by how much the logits of the relevance model count, for the best that are read."""
    some = random.Random(1).sample(list(own), min(SAMPLE, len(own)))
    found: dict[float, list[float]] = {weight: [] for weight in READING}
    for one in some:
        scores = final(one, fitted)
        best = np.argsort(-scores, kind="stable")[:READ]
        logits = [read["answers"] for read in relevance.read(one.question, [one.texts[place] for place in best])]
        for weight in READING:
            closer = scores.copy()
            order = best[np.argsort(-(scores[best] + weight * np.array(logits)), kind="stable")]
            closer[order] = np.sort(scores[best])[::-1]
            found[weight].append(ndcg(closer, one))
    return {weight: round(100 * float(np.mean(values)), 1) for weight, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", type=Path, help="what training/domains.py has written")
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $RECOLLECT_DATA or ../shared/data")
    parser.add_argument("--check", action="store_true", help="measure, and leave the ranker as it is")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    learnt, asked = domains.load(args.passages, args.data), domains.judging(args.data)
    sets: dict[str, list[Example]] = {}
    for name, corpora in (learnt | asked).items():
        sets[name] = list(examples(corpora, model))
        print(f"{name}: {len(sets[name])} questions", flush=True)
    relevance = PairReader()
    whole = fit({name: sets[name] for name in learnt})
    results: dict[str, dict[str, Any]] = {}
    for name, own in sets.items():
        left_out = TOGETHER.get(name, (name,))
        fitted = fit({other: sets[other] for other in learnt if other not in left_out}) if name in learnt else whole
        results[name] = {"questions": len(own), **compared(own, fitted), "read": reading(own, fitted, relevance)}
        print(name, results[name], flush=True)
    weight = max(READING, key=lambda weight: sum(results[name]["read"][weight] for name in UNREAD))
    for told in results.values():
        told["read"] = told["read"][weight]
    RESULTS.write_text(json.dumps({"machine": provenance(), "model": model.model, "results": results}, indent=1) + "\n")
    if not args.check:
        write(whole, {name: len(sets[name]) for name in learnt}, model.model, weight)


def write(fitted: Network, counts: dict[str, int], model: str, weight: float) -> None:
    told = {"about": "Fitted by training/fit_ranker.py", "fitted_on": counts, "features": list(NAMES), "model": model}
    weights = {weight: rounded(getattr(fitted, weight)) for weight in WEIGHTS}
    TARGET.write_text(json.dumps(told | {"reading": weight} | weights) + "\n", "utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")


def rounded(weights: Floats) -> Any:
    return np.round(np.asarray(weights, np.float64), 5).tolist()


if __name__ == "__main__":
    main()
