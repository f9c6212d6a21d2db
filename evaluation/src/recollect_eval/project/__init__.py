"""A project's own papers: real decision records and incident reports, taken in as ingestion does, and asked about.

Every file of the folders `adr` and `postmortems` is read by the parser that knows it, and each piece becomes a memory:
a decision, an incident, a lesson. `questions.jsonl` asks in other words than the files use ("what broke DNS?") and
names the file that answers. What counts is the file: a memory of it among the first five, whichever. Records that
another took the place of are superseded, and may not be given at all.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from recollect.project.ingest import draft_of
from recollect.project.recognise import recognise
from recollect.types import EVERYWHERE, Source

from .. import metrics
from ..corpus import Answer, Benchmark, Corpus, Item, Question, Scores, place

FOLDERS = ("adr", "postmortems")
QUESTIONS = Path(__file__).parent / "questions.jsonl"
BEFORE, NOW = datetime(2017, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)  # undated records are of the first day
LIMIT = 65_536


def load(data: Path | None = None) -> Benchmark:
    files = [path for name in FOLDERS for path in sorted(place(data, name).rglob("*.md"))]
    items = _items(files, place(data, FOLDERS[0]).parent)
    return Benchmark(
        name="project",
        corpora=(Corpus("papers", items, _questions(), NOW),),
        judge=judge,
        files=(QUESTIONS, *files),
        limit=20,
        headline=("recall@5", "MRR", "hit@1"),
        own=True,
    )


def _items(files: list[Path], root: Path) -> tuple[Item, ...]:
    found: list[Item] = []
    numbers: dict[tuple[str, str], str] = {}  # of the records in a folder
    over: list[tuple[str, str, str]] = []
    for file in files:
        path = file.relative_to(root).as_posix()
        source = Source("", "file", f"file:papers/{path}", path)
        for piece in recognise(path, file.read_text("utf-8")).pieces:
            draft = draft_of(piece, path, source, EVERYWHERE, LIMIT)
            found.append(Item(path, draft, piece.valid_from or BEFORE))
            numbers[str(file.parent), piece.key] = path
            over += [(path, str(file.parent), other) for relation, other in piece.links if relation == "superseded_by"]
    heirs = {numbers[folder, other]: old for old, folder, other in over if (folder, other) in numbers}
    return tuple(
        Item(one.key, one.draft, one.moment, supersedes=(heirs[one.key],)) if one.key in heirs else one for one in found
    )


def _questions() -> tuple[Question, ...]:
    told = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    return tuple(
        Question(one["key"], one["question"], frozenset(one["answers"]), (one["answers"][0].partition("/")[0],))
        for one in told
    )


def judge(question: Question, answer: Answer, _: Answer) -> Scores:
    files = list(dict.fromkeys(answer.keys))
    return {
        "recall@5": metrics.recall(files, question.right, 5),
        "recall@10": metrics.recall(files, question.right, 10),
        "MRR": metrics.reciprocal(files, question.right),
        "hit@1": metrics.hit(files, question.right, 1),
    }
