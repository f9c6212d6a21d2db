"""CoSQA: web queries for Python functions. Each of the 6,267 functions is a file that is taken in; one is right."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from recollect.project import code
from recollect.types import Draft, Source

from . import metrics
from .corpus import HALVES, Answer, Benchmark, Corpus, Item, Question, Scores, place, read_json

QUERIES, CODE = "cosqa-retrieval-dev-500.json", "code_idx_map.txt.gz"
MOMENT = datetime(2021, 5, 1, tzinfo=UTC)  # no function has a date: all are of one age


def load(data: Path | None = None) -> Benchmark:
    folder = place(data, "cosqa")
    items = [item for text, number in read_json(folder / CODE).items() for item in _items(text, str(number))]
    questions = tuple(
        Question(asked["idx"], asked["doc"], frozenset((str(asked["retrieval_idx"]),)), (HALVES[number % 2],))
        for number, asked in enumerate(read_json(folder / QUERIES))
    )
    return Benchmark(
        name="cosqa",
        corpora=(Corpus("functions", tuple(items), questions, MOMENT),),
        judge=judge,
        files=(folder / QUERIES, folder / CODE),
        limit=100,
        headline=("MRR", "recall@1", "recall@10"),
        asked={"kinds": ("code",)},
    )


def _items(text: str, number: str) -> Iterator[Item]:
    """A function as ingestion takes it in: one memory or, where it holds several, one for each."""
    source = Source("", "file", uri=f"cosqa:{number}")
    for piece in code.read(text, f"{number}.py"):
        draft = Draft(
            piece.content, kind=piece.kind, title=piece.title, context=piece.context, keywords=piece.keywords,
            tags=piece.tags, refs=piece.refs, importance=piece.importance, valid_from=MOMENT, source=source,
        )  # fmt: skip
        yield Item(number, draft, MOMENT)


def judge(question: Question, answer: Answer, _: Answer) -> Scores:
    found = {f"recall@{k}": metrics.recall(answer.keys, question.right, k) for k in (1, 5, 10)}
    return {"MRR": metrics.reciprocal(answer.keys, question.right)} | found
