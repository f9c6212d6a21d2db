"""What recall costs, stage by stage, and how many true neighbours the vector arm finds.

The stages are those of the read path itself: its stopwatch is replaced by one with two clocks, and the embedder by one
that looks up the question's vector, so `text`, `vector` and `rank` are the very code that answers a user. `vector` is
the scan, the reading of the exact vectors and the cosines of what only the text arm found; `rank` is the fusion, the
reading of some sixty memories, their weighing and the lines that say why; the total adds the checking of the question.
Counters of use are left out, as they are written later by a thread of their own. `embed` is measured apart.

True neighbours are the ten highest products of the float32 vectors, before they were rounded for storage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from corpus import Corpus, Lookup
from recollect import vectors
from recollect.language import terms
from recollect.models.embedder import Embedder
from recollect.models.onnx import OnnxEmbedder
from recollect.models.reranker import LateInteraction
from recollect.recall import read
from recollect.recall.query import parse
from recollect.store import index
from recollect.store.sqlite import SQLiteStore
from recollect.types import Filter, Scope
from recollect.vectors import Bits, Floats, Mask, Rows
from stores import PROJECTS, TENANT, opened, project
from timing import Times, TwoClocks

DEPTH = 100  # what recall asks of an arm
DEEP = 25  # one question in so many is asked of deep recall
WARM = 20  # questions asked before the clock runs
SECONDS, THIRDS = (1000, 2000, 4000), (100, 200, 400, 800)


def _now() -> datetime:
    return datetime.now(UTC)


def embed(corpus: Corpus, embedder: Embedder) -> dict[str, float]:
    """One question at a time, by the real model."""
    took = Times()
    for number, question in enumerate(corpus.queries):
        if number < WARM:
            embedder.embed([question], "query")
        else:
            with took.once():
                embedder.embed([question], "query")
    return took.milliseconds()


def recall(
    path: Path, corpus: Corpus, embedder: Lookup | None, name: str = "", effort: str = "balanced"
) -> dict[str, Any]:
    """The stages of recall with the question's vector given, in the whole store or in one project."""
    store = opened(path)
    reader = read.Reader(store, TENANT, _now)
    total, hits = Times(), 0
    TwoClocks.stages = {}
    with _replaced(read, Stopwatch=TwoClocks):
        for number, question in enumerate(corpus.queries):
            if number == WARM:
                TwoClocks.stages, total = {}, Times()
            with total.once():
                asked = parse(question, _now(), limit=10, scope=Scope(project=name), effort=effort)
                hits += len(reader.recall(asked, read.Models(embedder)))
    store.close()
    stages = {stage: took.milliseconds() for stage, took in TwoClocks.stages.items() if stage != "embed"}
    return stages | {"total": total.milliseconds(), "hits": round(hits / len(corpus.queries), 2)}


def deep(path: Path, corpus: Corpus, embedder: Lookup, model: OnnxEmbedder) -> dict[str, Any]:
    """Recall that also compares token by token, over a few questions: slow, and said so."""
    store = opened(path)
    reader, models = read.Reader(store, TENANT, _now), read.Models(embedder, LateInteraction(model))
    total = Times()
    for question in corpus.queries[::DEEP]:
        with total.once():
            reader.recall(parse(question, _now(), limit=10, effort="deep"), models)
    store.close()
    return total.milliseconds()


@contextmanager
def _replaced(module: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The true ten of each question, as ids of the store, for each width of filter."""

    of: dict[str, list[set[str]]]

    @classmethod
    def find(cls, path: Path, corpus: Corpus, documents: Floats, questions: Floats) -> Neighbours:
        numbers = {content: n for n, content in enumerate(corpus.texts[: len(documents)])}
        ids = [""] * len(documents)
        con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for id, content in con.execute("select id, content from memory"):
            ids[numbers[str(content)]] = str(id)
        con.close()
        projects = np.array([project(n) for n in range(len(documents))])
        found: dict[str, list[set[str]]] = {}
        for width, name in PROJECTS.items():
            rows = np.flatnonzero(projects == name) if name else np.arange(len(documents))
            found[width] = [{ids[rows[row]] for row in _top(documents[rows] @ q, 10)} for q in questions]
        return cls(found)


def _top(scores: Floats, count: int) -> NDArray[np.int64]:
    return np.argpartition(-scores, min(count, len(scores)) - 1)[:count]


def _filter(name: str) -> Filter:
    return Filter(scope=Scope(project=name), current_at=_now())


def _arm(store: SQLiteStore, model: str, questions: Floats, truth: list[set[str]], name: str, deep: int) -> Any:
    took, found, filter = Times(), 0, _filter(name)
    for question in questions[:WARM]:
        store.nearest(TENANT, model, question, filter, deep)
    for question, wanted in zip(questions, truth, strict=True):
        with took.once():
            near = store.nearest(TENANT, model, question, filter, deep)
        found += len(wanted & {id for id, _ in near[:10]})
    return took.milliseconds() | {"recall_at_10": round(found / sum(len(wanted) for wanted in truth), 4)}


def vector_arm(path: Path, model: str, questions: Floats, truth: Neighbours) -> dict[str, Any]:
    """The store's scan as recall calls it, at each width of filter."""
    store = opened(path)
    found = {
        width: _arm(store, model, questions, truth.of[width], name, DEPTH) for width, name in PROJECTS.items()
    }  # fmt: skip
    store.close()
    return found


def sweep(path: Path, model: str, questions: Floats, truth: Neighbours) -> list[dict[str, Any]]:
    """How many survive the first and the second stage, against recall and time; ten wanted, nothing filtered."""
    store = opened(path)
    table = []
    for second in SECONDS:
        for third in THIRDS:
            with _replaced(vectors, SECOND=second), _replaced(index, shortlist=_ending_with(third)):
                cell = _arm(store, model, questions, truth.of["everything"], "", 10)
            table.append({"second": second, "third": third, **cell})
    store.close()
    return table


def _ending_with(third: int) -> Callable[..., Rows]:
    """The first two stages as the index calls them, but with that many survivors of the second."""

    def shortlist(bits: Bits, mask: Mask | None, query: Floats, _: int, *others: Any) -> Rows:
        return vectors.shortlist(bits, mask, query, third, *others)

    return shortlist


def rivals(path: Path, corpus: Corpus, documents: Floats, questions: Floats) -> dict[str, Any]:
    """The obvious ways to do the same, in the same run: a float32 product over everything, and FTS5 as it comes."""
    exact = Times()
    for question in questions:
        with exact.once():
            scores = documents @ question
            top = _top(scores, DEPTH)
            top[np.argsort(-scores[top])]
    con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    ours = "select rowid from memory_fts where memory_fts match ? order by rank limit ?"
    same_terms = _fts(con, ours, [terms.of_query(question) for question in corpus.queries])
    con.close()
    con = apsw.Connection(":memory:")
    con.execute("create virtual table plain using fts5 (content, tokenize = 'porter unicode61')")
    with con:
        con.executemany("insert into plain values (?)", [(content,) for content in corpus.texts[: len(documents)]])
    plain = "select rowid from plain where plain match ? order by rank limit ?"
    words = ["".join(c if c.isalnum() else " " for c in question).split() for question in corpus.queries]
    return {
        "numpy float32, exact": exact.milliseconds(),
        "FTS5 alone, our index and terms": same_terms,
        "FTS5 alone, plain table, every word": _fts(con, plain, words),
    }


def _fts(con: apsw.Connection, sql: str, asked: list[list[str]]) -> dict[str, float]:
    took = Times()
    for number, words in enumerate(asked):
        match = " OR ".join(f'"{word}"' for word in words)
        if number == WARM:
            took = Times()
        with took.once():
            con.execute(sql, (match, DEPTH)).fetchall()
    return took.milliseconds()
