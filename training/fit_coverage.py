"""Fit what tells questions that want everything on a subject, and write src/recollect/recall/coverage.json.

    python training/fit_coverage.py [--check | --recall AUTHORS]

Wanted are the lists and the periods among the questions of `notes/together`, and the lines with a plus in `coverage/`;
all other questions about the notes want one answer. Two logistic regressions: over words, and over the result of the
first and the vector of the question. Two authors (the first letters of projects) are judged by models that were
fitted on the others, and so is every second line of `coverage/`. `--recall h` asks recall itself for the lists and
periods of an author: how much of what is wanted comes back with a limit of 10 and of 20, and where no limit is set.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import notes
from recollect.models import embedder
from recollect.recall import coverage
from recollect_eval.cache import CachedEmbedder
from recollect_eval.subject import Subject

ROOT = Path(__file__).parents[1]
OWN = ROOT / "training" / "coverage" / "questions.txt"
TARGET = ROOT / "src" / "recollect" / "recall" / "coverage.json"
COMMON, LETTERS, COUNTS = (
    4,
    2,
    3.0,
)  # a word is used that often, by that many authors; what a line of `coverage/` counts
STEPS, RATE, ON_WORDS, ON_VECTOR = 150, 0.1, 1.0, 0.1
JUDGED = ("c", "h", "own0", "own1")
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    wanted: bool
    author: str
    vector: NDArray[np.float32]


def questions() -> list[Asked]:
    told: list[tuple[str, bool, str]] = []
    for folder in (notes.PLACE, notes.TOGETHER):
        for path in sorted(folder.glob("*.jsonl")):
            lines = map(json.loads, path.read_text("utf-8").splitlines())
            for line in lines:
                if "question" in line:
                    listed = folder == notes.TOGETHER and line["type"] in ("list", "time")
                    told.append((line["question"], listed, path.stem[0]))
    own = [line for line in OWN.read_text("utf-8").splitlines() if line[:1] in "+-" and line]
    told += [(line[2:], line[0] == "+", f"own{number % 2}") for number, line in enumerate(own)]
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    vectors = model.embed([text for text, _, _ in told], "query")
    return [Asked(*one, vector) for one, vector in zip(told, vectors, strict=True)]


def logistic(rows: Floats, wanted: Floats, counts: Floats, decay: Floats) -> Floats:
    """Weights by Adam over all rows; the last column is the bias."""
    weights, first, second = (np.zeros(rows.shape[1], np.float32) for _ in range(3))
    for step in range(1, STEPS + 1):
        guess = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (guess - wanted)) + decay * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        change = rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weights -= change.astype(np.float32)
    return weights


def fit(asked: Sequence[Asked], model: str) -> coverage.Model:
    marks = [coverage.marks(one.text) for one in asked]
    used, by = Counter(mark for some in marks for mark in some), defaultdict(set)
    for one, some in zip(asked, marks, strict=True):
        for mark in some:
            by[mark].add(one.text if one.author.startswith("own") else one.author)
    words = sorted(mark for mark, count in used.items() if count >= COMMON and len(by[mark]) >= LETTERS)
    places = {word: place for place, word in enumerate(words)}
    rows = np.zeros((len(asked), len(words) + 1), np.float32)
    rows[:, -1] = 1
    for number, some in enumerate(marks):
        rows[number, [places[mark] for mark in some if mark in places]] = 1
    wanted = np.array([one.wanted for one in asked], np.float32)
    counts = np.array([COUNTS if one.author.startswith("own") else 1.0 for one in asked], np.float32)
    of_words = logistic(rows, wanted, counts, np.array([ON_WORDS] * len(words) + [0.0], np.float32))
    odds = rows @ of_words
    both = np.column_stack([odds, np.stack([one.vector for one in asked]), np.ones(len(asked))]).astype(np.float32)
    of_both = logistic(both, wanted, counts, np.array([0.0] + [ON_VECTOR] * (both.shape[1] - 2) + [0.0], np.float32))
    kept = {word: round(float(weight), 3) for word, weight in zip(words, of_words, strict=False) if abs(weight) >= 0.05}
    vector = tuple(round(float(one), 3) for one in of_both[1:-1])
    return coverage.Model(
        model, round(float(of_words[-1]), 4), kept, round(float(of_both[-1]), 4), round(float(of_both[0]), 4), vector
    )


def judged(fitted: coverage.Model, asked: Sequence[Asked]) -> str:
    told = []
    for name, given in (("words", False), ("both", True)):
        sure = np.array([fitted.probability(one.text, one.vector if given else None) for one in asked])
        wanted = np.array([one.wanted for one in asked])
        taken = sure >= coverage.WANTED
        told.append(
            f"{name}: found {taken[wanted].mean():.1%}, of those right {wanted[taken].mean():.1%}, "
            f"others taken {taken[~wanted].mean():.1%}"
        )
    return f"{len(asked)} questions; " + "; ".join(told)


def recalled(authors: str) -> None:
    """How much of what lists and periods want is given back."""
    kinds = {
        f"{path.stem}+{number}": json.loads(line)["type"]
        for path in notes.TOGETHER.glob("*.jsonl")
        for number, line in enumerate(path.read_text("utf-8").splitlines())
    }
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    shares: dict[str, list[float]] = defaultdict(list)
    for corpus in notes.together():
        if corpus.name[0] not in authors:
            continue
        with tempfile.TemporaryDirectory() as folder, Subject(corpus, Path(folder) / "ask.db", model) as subject:
            for question in corpus.questions:
                if kinds.get(question.key) not in ("list", "time"):
                    continue
                wanted = question.label("answers")
                for limit in (10, 20, None):
                    subject._clock.moment = subject._asked_at
                    options: dict[str, Any] = {"limit": limit} if limit else {}
                    found = subject._engine.recall(question.text, scope=question.scope, **options)
                    keys = {key for hit in found.hits for key in subject._keys[hit.memory.id]}
                    shares[f"recall, limit {limit}"].append(len(keys & wanted) / len(wanted))
                    shares[f"memories, limit {limit}"].append(len(found.hits) / 100)
                shares["laid out"].append(float(bool(found.groups)))
    for name, values in sorted(shares.items()):
        print(f"{name}: {100 * float(np.mean(values)):.1f} ({len(values)} questions)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="measure, and leave the file as it is")
    parser.add_argument("--recall", metavar="AUTHORS", help="measure recall on the lists and periods of these authors")
    args = parser.parse_args()
    if args.recall:
        recalled(args.recall)
        return
    asked, model = questions(), embedder.load("default").model
    for author in JUDGED:
        fitted = fit([one for one in asked if one.author != author], model)
        print(author, judged(fitted, [one for one in asked if one.author == author]), flush=True)
    if not args.check:
        fitted = fit(asked, model)
        told = {name: getattr(fitted, name) for name in coverage.Model.__dataclass_fields__}
        TARGET.write_text(json.dumps({"about": "Fitted by training/fit_coverage.py"} | told) + "\n", "utf-8")
        print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
