"""Fit which statements of a user's turn are worth keeping, and write src/recollect/capture/durable.json.

    python training/fit_durable.py --data DIR [--check]

DIR holds `talk/` (../shared/data beside a checkout). It learns from turns of real sessions that people marked
(training/talk/train.jsonl), from messages that authors wrote (training/turns), and a little from what a clean statement
and a plain request look like (training/notes, training/prompts). Each repository and each author is
told by a model that has not seen it. HELD are those that the packaged reader has not seen either: on these the weight
of its logit is fitted, the probability is calibrated, and the threshold is chosen: the lowest one from which on as many
written statements are right as PRECISION asks for. `--check` prints the figures and writes nothing.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from recollect.capture import durable
from recollect.capture.extract import candidate
from recollect.capture.segment import LONGEST, statements
from recollect.capture.windows import Turn as Said
from recollect.models.embedder import load
from recollect.models.reader import DURABLE, shared
from recollect.text import sentences
from recollect_eval.capture import Span, Turn, marked, share, written

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "recollect" / "capture" / "durable.json"
PRECISION = 0.82
HELD = ("entireio+cli", "robin-collins+gpt-crawler", "author b")  # not learnt from by the reader
LEAST = 30  # statements that a threshold must keep, or its precision says nothing
DOUBTFUL = 0.6  # the weight of what some would keep and some would not
CLEAN, CLEAN_WEIGHT = "clean", 0.15
VECTOR, SHAPE, STRENGTH = 3.0, 0.2, 4.0  # how much vector and shape count beside the words, and of the fit


def clean(rng: random.Random) -> list[Turn]:
    """Notes of made-up projects, which are worth keeping, half of them as people type; and prompts, which are not."""
    notes, prompts = [], []
    for path in sorted((ROOT / "training" / "notes").glob("*.jsonl")):
        for told in map(json.loads, path.read_text("utf-8").splitlines()):
            said = [one for one in sentences(told.get("content", ""))[:2] if 25 <= len(one) <= 220]
            notes += [(one, told["kind"]) for one in said if told["kind"] in durable.KINDS]
    for path in sorted((ROOT / "training" / "prompts").glob("*-d*.jsonl")):
        for store in map(json.loads, path.read_text("utf-8").splitlines()):
            prompts += [one["prompt"] for one in store.get("prompts", ())]
            prompts += [one["ask"] for one in store.get("questions", ())]
    made = [Turn(CLEAN, "", 0, prompt) for prompt in rng.sample(prompts, 900)]
    for note, kind in rng.sample(notes, 1800):
        typed = note if rng.random() < 0.5 else (note[0].lower() + note[1:]).rstrip(".")
        made.append(Turn(CLEAN, "", 0, typed, "", (Span(0, len(typed), kind, 2),)))
    return made


class Table:
    """Every statement: its features, whether it is right, how much it counts, and who must not have seen it."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.rows: list[durable.InContext] = []
        right, sure, weights, folds, free, kinds, langs = [], [], [], [], [], [], []
        for turn in turns:
            said = [one for one in statements(turn.text, typed=True) if len(one.text) <= LONGEST]
            self.rows += durable.in_context(said, turn.text, turn.before)
            for place, one in enumerate(said):
                part, span = share(one.text, one.start, turn.keep)
                right.append(part >= 0.5)
                sure.append(span.sure if span and part >= 0.5 else 0)
                kinds.append(durable.KINDS.index(span.kind) if span and part >= 0.5 else -1)
                weights.append(DOUBTFUL if sure[-1] == 1 else 0.3 if 0.2 < part < 0.5 else 1.0)
                weights[-1] *= CLEAN_WEIGHT if turn.group == CLEAN else 1.0
                folds.append(turn.group)
                langs.append(turn.lang)
                made = candidate(Said("user", turn.text), one, said[place - 1] if place else None, turn.before)
                free.append(made is not None and not made.veto)
        self.right, self.sure, self.kinds = np.array(right), np.array(sure), np.array(kinds)
        self.weights, self.folds, self.free = np.array(weights), np.array(folds), np.array(free)
        self.langs = np.array(langs)
        self.is_written = np.char.startswith(self.folds, "author")
        self.is_real = ~self.is_written & (self.folds != CLEAN)
        self.is_held = np.isin(self.folds, HELD)
        self._features()

    def _features(self) -> None:
        buckets = [list(durable.hashed(row)) for row in self.rows]
        ends = np.cumsum([0, *map(len, buckets)])
        values = np.concatenate([np.full(len(row), len(row) ** -0.5) for row in buckets])
        self.words = csr_matrix((values, np.concatenate(buckets), ends), (len(buckets), durable.BUCKETS))
        self.vectors = load().embed([row.text for row in self.rows], "document")
        shapes = np.array([durable.shape(row) for row in self.rows], np.float32)
        self.mean, self.spread = shapes.mean(axis=0), shapes.std(axis=0) + 1e-6
        self.shapes = (shapes - self.mean) / self.spread
        self.all = hstack([self.words, csr_matrix(VECTOR * self.vectors), csr_matrix(SHAPE * self.shapes)]).tocsr()

    def fit(self, some: NDArray[Any]) -> LogisticRegression:
        model = LogisticRegression(C=STRENGTH, max_iter=1000)
        return model.fit(self.all[some], self.right[some], sample_weight=self.weights[some])

    def unseen(self) -> NDArray[Any]:
        """The logit of each statement by a model that has seen nothing of its repository or author."""
        logits = np.zeros(len(self.rows))
        for fold in sorted({*self.folds} - {CLEAN}):
            own = self.folds == fold
            logits[own] = self.fit(~own).decision_function(self.all[own])
        return logits


def calibrate(table: Table, logits: NDArray[Any]) -> tuple[float, float, float]:
    """What makes the logits of words and of the reader a probability: the weight of each, and a bias."""
    some = table.is_held
    both = np.stack([logits[some], read(table, some)], axis=1)
    model = LogisticRegression(C=100).fit(both, table.right[some], sample_weight=table.weights[some])
    return float(model.coef_[0, 0]), float(model.coef_[0, 1]), float(model.intercept_[0])


def read(table: Table, some: NDArray[Any]) -> NDArray[Any]:
    """The reader's logit of some statements."""
    rows = (row for row, wanted in zip(table.rows, some, strict=True) if wanted)
    return np.array([shared(DURABLE).durable(row.text, durable.surroundings(row)) for row in rows])


def threshold(table: Table, sure: NDArray[Any], wanted: float) -> float:
    """The lowest probability from which on the wanted share of written statements is right."""
    some = table.is_written & table.is_held & table.free
    order = np.argsort(-sure[some])
    right = np.cumsum(table.right[some][order]) / np.arange(1, some.sum() + 1)
    good = np.flatnonzero(right >= wanted)
    good = good[good >= LEAST]
    return float(sure[some][order][good[-1]]) if len(good) else 1.0


def report(table: Table, sure: NDArray[Any]) -> None:
    for name, own in (("real", table.is_real), ("written", table.is_written)):
        some = own & table.is_held
        spans = table.right & some
        print(f"{name}: {some.sum()} statements, {spans.sum()} right, {(spans & ~table.free).sum()} of them vetoed")
        for least in (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2):
            kept = some & table.free & (sure >= least)
            many, right = max(1, kept.sum()), (kept & spans).sum()
            print(
                f"  from {least:.1f}: kept {kept.sum():4}, right {right / many:.3f}, "
                f"sure {(table.sure[kept] == 2).sum() / many:.3f}, found {right / spans.sum():.3f}"
            )


def report_languages(table: Table, sure: NDArray[Any], least: float) -> None:
    """What is kept of the written messages of an author whom no part has seen, by language."""
    print(f"by language, from {least:.2f}, author b")
    for lang in sorted({*table.langs[table.is_written]}):
        some = table.is_held & table.is_written & (table.langs == lang)
        kept = some & table.free & (sure >= least)
        right, spans = (kept & table.right).sum(), (some & table.right).sum()
        print(f"  {lang}: {some.sum():3} statements, kept {kept.sum():3}, wrong {kept.sum() - right}, "
              f"right {right / max(1, kept.sum()):.3f}, found {right / max(1, spans):.3f}")  # fmt: skip


def packed(values: NDArray[Any]) -> str:
    return base64.b64encode(np.asarray(values, np.float16).tobytes()).decode()


def fit(table: Table) -> dict[str, Any]:
    logits = table.unseen()
    slope, reading, bias = calibrate(table, logits)
    sure = np.zeros(len(logits))
    own = table.is_held
    sure[own] = 1 / (1 + np.exp(-(slope * logits[own] + reading * read(table, own) + bias)))
    report(table, sure)
    report_languages(table, sure, threshold(table, sure, PRECISION))
    model = table.fit(np.ones(len(table.rows), bool))
    weights = model.coef_[0] * slope
    words, vector, shape = np.split(weights, (durable.BUCKETS, durable.BUCKETS + table.vectors.shape[1]))
    step = float(np.abs(words).max() / 127)
    some = table.kinds >= 0
    dense = np.hstack([table.vectors, table.shapes])[some]
    kinds = LogisticRegression(C=3, max_iter=1000).fit(dense, table.kinds[some])
    rows = np.zeros((len(durable.KINDS), dense.shape[1]))
    rows[kinds.classes_] = kinds.coef_
    biases = np.full(len(durable.KINDS), -100.0)
    biases[kinds.classes_] = kinds.intercept_
    return {
        "script": "training/fit_durable.py", "fitted_on": "talk: sessions of permissively licensed repositories; turns",
        "threshold": round(threshold(table, sure, PRECISION), 4), "step": step,
        "reading": round(reading, 5), "bias": round(float(model.intercept_[0] * slope + bias), 5),
        "table": base64.b64encode(np.round(words / step).astype(np.int8).tobytes()).decode(),
        "vector": packed(VECTOR * vector), "shape": packed(SHAPE * shape), "mean": packed(table.mean),
        "spread": packed(table.spread), "kinds": packed(rows), "kind_bias": packed(biases),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    talk = given.data / "talk"
    real = [*marked(talk, "train"), *marked(talk, "train-more")]
    told = fit(Table([*real, *written(), *clean(random.Random(1))]))
    print("threshold", told["threshold"])
    if not given.check:
        TARGET.write_text(json.dumps(told) + "\n", "utf-8")
