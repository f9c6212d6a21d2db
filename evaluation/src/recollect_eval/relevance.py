"""Relevance: does recall know when nothing answers? Small and large stores, half of the questions unanswerable.

One line a store in `training/prompts/relevance-AUTHOR.jsonl`: its notes, and questions with the ids of all notes that
answer them. The authors had not seen the code. Files of authors whose name begins with `d` were looked at and fitted
on; those of `j` judge and were only ever counted.

`answered` is the share of answerable questions whose reply is not called weak, `abstained` the share of the others
whose reply is called weak or empty. Slices are the authors, the kinds of notes and the sizes of the stores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect import times
from recollect.errors import BadInput
from recollect.types import Draft

from . import metrics
from .corpus import Answer, Benchmark, Corpus, Item, Question, Scores

PROMPTS = Path(__file__).parents[3] / "training" / "prompts"
NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
SIZES = ((5, "1 to 5 notes"), (40, "6 to 40 notes"), (10_000, "more than 40 notes"))
HEADLINE = ("answered", "abstained", "hit@1", "hit@5")


def files(name: str) -> tuple[Path, ...]:
    """The files of one set, one for each author."""
    found = tuple(sorted(PROMPTS.glob(f"{name}-*.jsonl")))
    if not found:
        raise BadInput(f"{PROMPTS} holds no questions.", fix="Run it in a checkout of the repository.")
    return found


def load(_: Path | None = None) -> Benchmark:
    paths = files("relevance")
    return Benchmark(
        name="relevance",
        corpora=tuple(corpus for path in paths for corpus in corpora(path)),
        judge=judge,
        files=paths,
        limit=5,
        headline=HEADLINE,
        targets={"answered": 0.9, "abstained": 0.9},
    )


def judge(question: Question, answer: Answer, _: Answer) -> Scores:
    if not question.right:
        return {"abstained": float(answer.unsure)}
    hits = {f"hit@{k}": metrics.hit(answer.keys, question.right, k) for k in (1, 5)}
    return {"answered": float(not answer.unsure), **hits}


def corpora(path: Path) -> Iterator[Corpus]:
    author = path.stem.partition("-")[2]
    part = "held" if author.startswith("j") else "dev"
    for line in path.read_text("utf-8").splitlines():
        told = json.loads(line)
        size = next(name for most, name in SIZES if len(told["notes"]) <= most)
        slices = (part, author, told["kind"], size)
        items = tuple(_item(note, place) for place, note in enumerate(told["notes"]))
        questions = tuple(
            Question(f"{author}-{told['store']}-{number}", asked["ask"], frozenset(asked["answers"]), slices)
            for number, asked in enumerate(told["questions"])
        )
        yield Corpus(f"{author}-{told['store']}", items, questions, NOW)


def _item(told: dict[str, Any], place: int) -> Item:
    moment = times.aware(f"{told['at']}T09:00:00Z") + timedelta(seconds=place)
    return Item(told["id"], Draft(told["text"], kind=told["kind"], valid_from=moment), min(moment, NOW))
