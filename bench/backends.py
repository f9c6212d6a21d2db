"""Two stores side by side: the SQLite file and a copy of it in PostgreSQL, the same questions to both in turn.

CPU time of a database server is not in our process: where the server runs on this machine, the CPU of all its processes
is added (/proc). Wall time is what a caller waits, and on a busy machine only the ratio of the two says something.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

import recollect
from corpus import CACHE, Corpus, Lookup
from reading import Neighbours
from recollect.language import terms
from recollect.recall import read
from recollect.recall.query import parse
from recollect.store import open_store
from recollect.store.contract import Store
from recollect.store.copy import copy
from recollect.types import Draft, Filter, Scope
from recollect.vectors import Floats
from recollect_eval.run import Options, run
from stores import PROJECTS, TENANT
from stores import copy as copy_file
from timing import Times
from writing import scratch

QUESTIONS, LIMIT = 150, 100
SINGLE, BULK = 200, 2000


def server_cpu(of: int) -> float:
    """CPU seconds that the processes of a PostgreSQL on this machine have spent so far; nought when it is elsewhere."""
    spent = 0
    for pid in _children(of):
        try:
            spent += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        except OSError:
            continue  # it has just ended
    return spent / 1e9


def _children(parent: int) -> list[str]:
    try:
        return Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return []


def postmaster(url: str) -> int:
    """The process that all others of a server on this machine come from."""
    with psycopg.connect(url) as con:
        pid = con.info.backend_pid
    return (
        int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) if Path(f"/proc/{pid}").exists() else 0
    )


class Both(Times):
    """Our CPU and the server's."""

    server: ClassVar[int] = 0

    @contextmanager
    def once(self) -> Iterator[None]:
        began = server_cpu(self.server)
        with super().once():
            yield
        self.cpu[-1] += server_cpu(self.server) - began


def compare(corpus: Corpus, path: Path, url: str, known: Lookup, asker: Lookup, documents: Floats) -> dict[str, Any]:
    """Every figure of the two, by the name of the backend."""
    Both.server = postmaster(url)
    stores = {"sqlite": open_store(path, 30.0, _now()), "postgres": open_store(url, 30.0, _now())}
    found: dict[str, Any] = {name: {} for name in stores}
    questions = asker.embed(corpus.queries, "query")
    copied, built = Both(), Both()
    with copied.once():
        copy(stores["sqlite"], stores["postgres"])
    with built.once():
        stores["postgres"].save()
    found["postgres"]["copied"] = copied.rate(len(documents))
    found["postgres"]["index"] = built.rate(len(documents))
    truth = Neighbours.find(path, corpus, documents, questions)
    for width, project in PROJECTS.items():
        asked = list(zip(corpus.queries, questions, truth.of[width], strict=True))[:QUESTIONS]
        for name, stages in _stages(stores, asker.model, asked, project).items():
            found[name].setdefault("stages", {})[width] = stages
    for name, took in _recall(stores, corpus.queries[:QUESTIONS], asker).items():
        found[name]["recall"] = took.milliseconds()
    for name, store in stores.items():
        found[name]["bytes_a_memory"] = round(store.stats(TENANT)["bytes"] / len(documents))
        store.close()
    found["sqlite"]["writing"] = _writing(lambda folder: copy_file(path, folder / "one.db"), corpus, known)
    found["postgres"]["writing"] = _writing(lambda _: url, corpus, known)
    return found


def _now() -> datetime:
    return datetime.now(UTC)


def quality(url: str, folder: Path | None) -> dict[str, Any]:
    """How much of the evidence each store finds on LoCoMo: the same, or one of the two is wrong."""
    found = {}
    for name, store in (("sqlite", None), ("postgres", url)):
        options = Options(controls=False, curve=False, cache=CACHE / "embeddings", store=store)
        figures = run("locomo", data=folder, options=options).figures["recollect"]["all"]
        found[name] = {metric: figures[metric].mean for metric in ("recall@5", "recall@10")}
    return found


@contextmanager
def database(url: str) -> Iterator[str]:
    """A database of our own on the server, dropped afterwards."""
    name = f"recollect_bench_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as con:
        con.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            con.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


Asked = list[tuple[str, Floats, set[str]]]


def _stages(stores: dict[str, Store], model: str, asked: Asked, project: str) -> dict[str, dict[str, Any]]:
    """Each way of reading, question by question, both stores in turn."""
    filter = Filter(scope=Scope(project=project), current_at=_now())
    took: dict[str, dict[str, Both]] = {name: {} for name in stores}
    right = dict.fromkeys(stores, 0)
    for question, vector, best in asked:
        for name, store in stores.items():
            ids = _ask(store, model, terms.of_query(question), vector, filter, took[name])
            right[name] += len(best & set(ids[:10]))
    possible = sum(len(best) for _, _, best in asked)
    return {
        name: {way: times.milliseconds() for way, times in ways.items()} | {"recall_at_10": right[name] / possible}
        for name, ways in took.items()
    }


def _ask(
    store: Store, model: str, words: list[str], vector: Floats, filter: Filter, took: dict[str, Both]
) -> list[str]:
    ids: list[str] = []
    ways: dict[str, Callable[[], Any]] = {
        "head": lambda: store.head(TENANT),
        "text": lambda: store.match(TENANT, words, filter, LIMIT),
        "rarity": lambda: store.frequencies(TENANT, words, filter),
        "vector": lambda: ids.extend(id for id, _ in store.nearest(TENANT, model, vector, filter, LIMIT)),
        "rows": lambda: store.memories(TENANT, ids),
        "cosines": lambda: store.cosines(TENANT, model, vector, ids),
    }
    for way, ask in ways.items():
        with took.setdefault(way, Both()).once():
            ask()
    return ids


def _recall(stores: dict[str, Store], questions: list[str], embedder: Lookup) -> dict[str, Both]:
    """Whole recalls, the question's vector given."""
    took = {name: Both() for name in stores}
    readers = {name: read.Reader(store, TENANT, _now) for name, store in stores.items()}
    for question in questions:
        for name, reader in readers.items():
            with took[name].once():
                reader.recall(parse(question, _now(), limit=10), read.Models(embedder))
    return took


def _writing(place: Callable[[Path], str | Path], corpus: Corpus, embedder: Lookup) -> dict[str, Any]:
    """Single and bulk writes with vectors given, into the full store."""
    with scratch() as folder, recollect.open(place(folder), embedder=embedder) as memory:
        single, bulk = Both(), Both()
        memory.remember(corpus.texts[0], scope=Scope(user="first"))
        for number, content in enumerate(corpus.texts[:SINGLE]):
            with single.once():
                memory.remember(content, scope=Scope(user=f"bench {number}"))
        drafts = [Draft(content, scope=Scope(user="bench")) for content in corpus.texts[:BULK]]
        with bulk.once():
            memory.remember_many(drafts)
        return {"single": single.rate() | single.milliseconds(), "bulk": bulk.rate(BULK)}


def table(found: dict[str, Any], out: Callable[[str], None]) -> None:
    for name, figures in found["quality"].items():
        out(f"LoCoMo, {name}: " + ", ".join(f"{metric} {100 * value:.1f}" for metric, value in figures.items()))
    for size, both in found["sizes"].items():
        for width in PROJECTS:
            out(
                f"\n{f'{int(size):,} memories, {width} of them seen':<46}{'SQLite: CPU, wall p50, p95':>32}  PostgreSQL"
            )
            for way in both["sqlite"]["stages"][width]:
                if way != "recall_at_10":
                    out(_row(way, [both[name]["stages"][width][way] for name in both]))
            right = "".join(f"{both[name]['stages'][width]['recall_at_10']:>32.3f}" for name in both)
            out(f"  {'recall@10 of the vectors':<44}{right}")
        out(_row("a whole recall", [both[name]["recall"] for name in both]))
        out(_row("one remember, vector given", [both[name]["writing"]["single"] for name in both]))
        for name, figures in both.items():
            bulk = figures["writing"]["bulk"]["per_wall_s"]
            out(f"  {name}: {bulk:,.0f} memories a second in bulk, {figures['bytes_a_memory']:,} bytes each")
        copied, index = (both["postgres"][what]["wall_s"] for what in ("copied", "index"))
        out(f"  postgres: copied in {copied:.0f} s, vector index built in {index:.0f} s")


def _row(name: str, cells: list[dict[str, float]]) -> str:
    columns = (f"{cell['cpu_p50_ms']:>12.2f}{cell['wall_p50_ms']:>10.2f}{cell['wall_p95_ms']:>10.2f}" for cell in cells)
    return f"  {name:<44}{''.join(columns)}"
