"""Fit how sure recall is of an answer that is not in English: the weights of src/recollect/recall/foreign.py.

    python training/fit_foreign.py [default|multilingual ...]

Every second line of `recollect eval languages` (questions in the language of the notes, and in English), asked of a
store with the note that answers and of one without. Logistic regression; printed, with how often the other half is
judged rightly.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import recollect
from recollect.models import embedder
from recollect.recall import foreign
from recollect.recall.query import parse
from recollect.recall.read import Models, Stopwatch
from recollect_eval import languages
from recollect_eval.subject import Clock

DECAY = 0.01


def seen(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of every question with and without its note, whether it has one, and which half it is of."""
    model = embedder.load(name)
    rows, right, half = [], [], []
    for code in languages.CODES:
        own = languages.lines(code)
        with (
            tempfile.TemporaryDirectory() as folder,
            recollect.open(
                Path(folder) / "fit.db", embedder=model, actor="fit", now=Clock(datetime.now(UTC))
            ) as engine,
        ):
            ids = [engine.remember(note).id for note, _, _ in own]
            reader = engine._shared.reader
            for number, (id, line) in enumerate(zip(ids, own, strict=True)):
                for ask in line[1:]:
                    found = reader.find(parse(ask, datetime.now(UTC), limit=10), Models(model), Stopwatch())
                    near, rarity = found.arms.get("vector", {}), reader._rarity(found)
                    for there in (True, False):
                        memories = [one for one in found.memories if there or one.id != id]
                        cosines = {key: value for key, value in near.items() if there or key != id}
                        rows.append(foreign.numbers(memories, cosines, rarity))
                        right.append(there and id in [one.id for one in memories[:5]])
                        half.append(number % 2)
    return np.array(rows), np.array(right), np.array(half)


def fit(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    weights = np.zeros(rows.shape[1])
    for _ in range(4000):
        guess = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (guess - right) / len(right)
        slope[1:] += DECAY * weights[1:] / len(weights)
        weights -= 1.0 * slope
    return weights


for name in sys.argv[1:] or ["default", "multilingual"]:
    rows, right, half = seen(name)
    weights = fit(rows[half == 0], right[half == 0])
    sure = 1 / (1 + np.exp(-rows[half == 1] @ weights)) >= 0.5
    held = right[half == 1]
    print(name, foreign.NAMES, np.round(weights, 2).tolist())
    print(f"held: right called weak {np.mean(~sure[held]):.1%}, others called weak {np.mean(~sure[~held]):.1%}")
