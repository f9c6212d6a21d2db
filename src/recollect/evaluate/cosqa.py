"""CoSQA: web queries for Python functions. Each of the 6,267 functions is one memory of kind `code`; one is right."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ..types import Draft, Source
from . import metrics
from .corpus import Answer, Benchmark, Corpus, Item, Question, Scores, place, read_json

QUERIES, CODE = "cosqa-retrieval-dev-500.json", "code_idx_map.txt.gz"
MOMENT = datetime(2021, 5, 1, tzinfo=UTC)  # no function has a date: all are of one age


def load(data: Path | None = None) -> Benchmark:
    folder = place(data, "cosqa")
    items = []
    for code, number in read_json(folder / CODE).items():
        source = Source("", "file", uri=f"cosqa:{number}")
        items.append(Item(str(number), Draft(code, kind="code", valid_from=MOMENT, source=source), MOMENT))
    questions = tuple(
        Question(asked["idx"], asked["doc"], frozenset((str(asked["retrieval_idx"]),)))
        for asked in read_json(folder / QUERIES)
    )
    return Benchmark(
        name="cosqa",
        corpora=(Corpus("functions", tuple(items), questions, MOMENT),),
        judge=judge,
        files=(folder / QUERIES, folder / CODE),
        limit=100,
        headline=("MRR", "recall@1", "recall@10"),
    )


def judge(question: Question, answer: Answer, _: Answer) -> Scores:
    found = {f"recall@{k}": metrics.recall(answer.keys, question.right, k) for k in (1, 5, 10)}
    return {"MRR": metrics.reciprocal(answer.keys, question.right)} | found
