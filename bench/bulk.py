"""Memories in bulk with their vectors given: into a file, into PostgreSQL, and by eight writers of different tenants.

    python bench/bulk.py [--postgres URL] [--count 5000] [--data DIR] [--quick]

The URL is that of somebody who may create databases; without it only the file is written. Everything is what
`remember_many` does: checked, redacted, journalled, found by words and by vectors. CPU time is that of this process and
of the server, where it runs on this machine. `records` are documents and turns; `statements` are held against their
neighbours. Prints a table and writes `bench/results/bulk.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg

import corpus as data
import recollect
from backends import Both, database, postmaster
from recollect.models import reader
from recollect.models.embedder import load
from recollect.models.relation import compared
from recollect.types import Draft, Scope
from speed import machine, say
from writing import scratch

RESULTS = data.HERE / "results" / "bulk.json"
WRITERS, STATEMENTS, QUICK = 8, 5, 40  # one statement for so many records: each costs more than a record by far
KINDS = {"records": ("doc", "turn", "code"), "statements": ("fact",)}


@contextmanager
def places(url: str | None) -> Iterator[dict[str, str]]:
    """Where to write: a file, and a new database of the server."""
    with scratch() as folder:
        found = {"file": str(folder / "bulk.db")}
        if url is None:
            yield found
            return
        with database(url) as fresh:
            with psycopg.connect(fresh, autocommit=True) as con:
                con.execute("create extension if not exists vector")
            yield {**found, "postgres": fresh}


def drafts(texts: list[str], kinds: tuple[str, ...], project: str) -> list[Draft]:
    return [Draft(one, kind=kinds[n % len(kinds)], scope=Scope(project=project)) for n, one in enumerate(texts)]


def write(memory: recollect.Engine, ready: list[Draft]) -> None:
    done = memory.remember_many(ready)
    if wrong := {one.action for one in done} - {"created"}:
        raise SystemExit(f"Some were {', '.join(sorted(wrong))}: nothing is measured.")


def measure(place: str, texts: list[str], given: data.Lookup) -> dict[str, Any]:
    found = {}
    with recollect.open(place, embedder=given) as memory:
        memory.remember("The first one opens the store.")
        for what, kinds in KINDS.items():
            some = texts if what == "records" else texts[: len(texts) // STATEMENTS]
            compared.cache_clear()  # what was read for another store must be read again
            took = Both()
            with took.once():
                write(memory, drafts(some, kinds, what))
            found[what] = {"count": len(some), **took.rate(len(some))}
        took, part = Both(), texts[: len(texts) // WRITERS]
        engines = [memory.for_caller(tenant=f"team-{n}") for n in range(WRITERS)]
        with took.once(), ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda one: write(one, drafts(part, KINDS["records"], "shared")), engines))
        found[f"records, {WRITERS} tenants"] = {"count": WRITERS * len(part), **took.rate(WRITERS * len(part))}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", metavar="URL", help="a server on which a database may be made")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--quick", action="store_true", help="a few notes, without the data")
    chosen = parser.parse_args()
    corpus = data.chosen(chosen.quick, chosen.data, QUICK, 5)
    texts, embedder = corpus.texts[: chosen.count], load("default")
    given = data.Lookup(embedder, texts, data.vectors(corpus, embedder, len(texts)))
    if chosen.postgres:
        Both.server = postmaster(chosen.postgres)
    reader.shared().warm()
    found = {}
    with places(chosen.postgres) as all_places:
        for name, place in all_places.items():
            say(f"{len(texts):,} memories into: {name}")
            found[name] = measure(place, texts, given)
    for name, ways in found.items():
        for what, one in ways.items():
            print(f"{name:<10}{what:<24}{one['count']:>8,}{one['per_cpu_s']:>10,.0f} a CPU second"
                  f"{one['per_wall_s']:>10,.0f} a second")  # fmt: skip
    if not chosen.quick:
        RESULTS.write_text(json.dumps({**machine(), "stores": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
