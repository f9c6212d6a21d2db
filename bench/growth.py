"""How cost grows with the file: 10,000, 100,000 and 1,000,000 memories, in CPU time.

    python bench/growth.py [--sizes 10000,100000,1000000] [--cache FOLDER] [--data DIR] [--quick]

The files are made by `growth_store.py` and kept in the cache (1.7 GB for a million). Questions are real, with their
vectors given; each is asked of everything, of a project that has as many memories in every file (`narrow`), and of a
project with a tenth of them (`wide`). recall@10 is counted against the exact product with every vector. Prints a table
and writes `bench/results/growth.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import corpus as data
import growth_store as made
import recollect
from recollect.language import terms
from recollect.models import reader
from recollect.models.embedder import load
from recollect.recall import read
from recollect.recall.query import parse
from recollect.store import sqlite_file
from recollect.store.sqlite import SQLiteStore
from recollect.types import Filter, Scope
from recollect.vectors import Floats, floats
from speed import machine, say
from timing import Times

RESULTS = data.HERE / "results" / "growth.json"
SIZES = "10000,100000,1000000"
REAL = 10_000  # texts whose real vectors the others are moved from
QUESTIONS, RECALLS, WRITES, QUICK = 60, 16, 20, 200
DEPTH, TENANT = 100, "default"
WIDTHS = {"everything": "", "wide": "wide", "narrow": "narrow"}
VECTORS = "select vector, n from embedding where n > ? order by n limit 20000"
# A fresh process until its first answer by vectors, with the saved index.
COLD = """
import json, sys, time
import numpy as np
from datetime import UTC, datetime
from pathlib import Path
from recollect.store.sqlite import SQLiteStore
from recollect.types import Filter
def own():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("RssAnon")) / 1024
store, before, began = SQLiteStore(Path(sys.argv[1]), 30.0, datetime.now(UTC)), own(), time.process_time()
store.nearest("default", sys.argv[2], np.ones(int(sys.argv[3]), np.float32), Filter(), 10)
print(json.dumps({"cpu_s": round(time.process_time() - began, 3), "index_mb": round(own() - before, 1)}))
"""


def _now() -> datetime:
    return datetime.now(UTC)


def timed(asked: Sequence[tuple[Any, ...]], ask: Callable[..., Any]) -> tuple[dict[str, float], list[Any]]:
    """CPU and wall milliseconds of each question after a first round, which counts the words."""
    took, found = Times(), []
    for one in asked:
        ask(*one)
    for one in asked:
        with took.once():
            found.append(ask(*one))
    return took.milliseconds(), found


def truth(path: Path, questions: Floats) -> list[float]:
    """The tenth highest product of each question with a vector: what is as near belongs to the nearest ten."""
    best = np.full((len(questions), 10), -1.0, np.float32)
    con = sqlite_file.connect(path, 30.0)
    rows: list[Any] = con.execute(VECTORS, (0,)).fetchall()
    while rows:
        scores = np.asarray(questions @ floats([row[0] for row in rows]).T, np.float32)
        best = -np.sort(-np.concatenate([best, scores], axis=1), axis=1)[:, :10]
        rows = con.execute(VECTORS, (rows[-1][1],)).fetchall()
    con.close()
    return [float(one) for one in best[:, -1]]


def arms(store: SQLiteStore, path: Path, corpus: data.Corpus, given: made.Given, questions: Floats) -> dict[str, Any]:
    found: dict[str, Any] = {}
    few = list(range(min(QUESTIONS, len(corpus.queries))))
    for width, name in WIDTHS.items():
        filter = Filter(scope=Scope(project=name), inside=bool(name), states=("active",), current_at=_now())
        words = [terms.of_query(corpus.queries[n]) for n in few]
        vector, near = timed([(TENANT, given.model, questions[n], filter, DEPTH) for n in few], store.nearest)
        text, _ = timed([(TENANT, said, filter, DEPTH) for said in words], store.match)
        counted, _ = timed([(TENANT, said, filter) for said in words], store.frequencies)
        lists, _ = timed([(TENANT, filter, None, 50)] * 10, store.page)
        found[width] = {"vector": vector, "text": text, "words counted": counted, "list of 50": lists}
        if not name:
            tenth = truth(path, questions[few])
            hits = sum(score > least - 1e-5 for one, least in zip(near, tenth, strict=True) for _, score in one[:10])
            found["recall_at_10"] = round(hits / 10 / len(tenth), 4)
    return found


def recalls(store: SQLiteStore, corpus: data.Corpus, given: made.Given) -> dict[str, Any]:
    """Whole recalls, the question's vector given, with the models that read the best together with the question."""
    asker = read.Reader(store, TENANT, _now)
    models = read.Models(given, relevance=reader.shared())
    found = {}
    for effort in ("fast", "balanced", "deep"):
        for width in ("everything", "narrow"):
            scope = Scope(project=WIDTHS[width])
            asked = [parse(q, _now(), limit=10, scope=scope, effort=effort) for q in corpus.queries[:RECALLS]]
            found[f"{effort}, {width}"] = timed([(query, models) for query in asked], asker.recall)[0]
    return found


def writes(path: Path, corpus: data.Corpus, given: made.Given) -> dict[str, Any]:
    """One memory after the other into the file, its vector given; what is written stays there."""
    found = {}
    with recollect.open(path, embedder=given) as memory:
        for kind in ("doc", "fact"):
            took = Times()
            for number in range(WRITES):
                said = f"Written {_now().isoformat()}, {number}: {corpus.texts[number]}"
                with took.once():
                    memory.remember(said, kind=kind, scope=Scope(project="narrow"))
            found[kind] = took.milliseconds()
    return found


def measure(path: Path, corpus: data.Corpus, given: made.Given, questions: Floats) -> dict[str, Any]:
    store = SQLiteStore(path, 30.0, _now())
    found = {"mb": round(path.stat().st_size / 1e6, 1), **arms(store, path, corpus, given, questions)}
    found["recall"] = recalls(store, corpus, given)
    store.save()
    store.close()
    child = [sys.executable, "-c", COLD, str(path), given.model, str(given.dimension)]
    found["cold"] = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
    return found | {"write": writes(path, corpus, given)}


def table(sizes: dict[str, Any]) -> None:
    print(f"{'CPU p50 / p95 ms':<34}" + "".join(f"{int(size):>22,}" for size in sizes))
    first = next(iter(sizes.values()))
    rows = [(width, what) for width in WIDTHS for what in first[width]]
    rows += [(part, what) for part in ("recall", "write") for what in first[part]]
    for part, what in rows:
        cells = [f"{one[part][what]['cpu_p50_ms']:.1f} / {one[part][what]['cpu_p95_ms']:.1f}" for one in sizes.values()]
        print(f"{f'{what}, {part}':<34}" + "".join(f"{cell:>22}" for cell in cells))
    for what in ("recall_at_10", "cold"):
        print(f"{what:<34}" + "".join(f"{one[what]!s:>22}" for one in sizes.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--cache", type=Path, default=data.CACHE, help="folder of the files")
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--quick", action="store_true", help="a few notes, without the data")
    given = parser.parse_args()
    corpus = data.chosen(given.quick, given.data, QUICK, 5)
    embedder = load("default")
    documents = data.vectors(corpus, embedder, min(REAL, len(corpus.texts)))
    questions = data.query_vectors(corpus, embedder)
    asker = made.Given(embedder.model, corpus.queries, questions)
    found: dict[str, Any] = {}
    for size in [QUICK, 2 * QUICK] if given.quick else map(int, given.sizes.split(",")):
        say(f"{size:,} memories")
        path = made.build(given.cache / f"growth-{size}.db", corpus, documents, size, embedder.model)
        found[str(size)] = measure(path, corpus, asker, questions)
    table(found)
    if not given.quick:
        RESULTS.write_text(json.dumps({**machine(), "sizes": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
