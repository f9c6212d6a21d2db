"""The vector index of PostgreSQL: that it is built and used, and finds what scoring every vector finds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

import postgres
from conftest import Clock, Places, open_store
from nouns import A, B, memory, put
from recollect import Scope
from recollect.ids import make
from recollect.store.postgres import MANY, NARROW, WORTH_AN_INDEX, PostgresStore
from recollect.types import Filter
from recollect.vectors import Floats
from test_vectors import clusters, unit

MODEL = "a:model 100%'s"  # nothing in a model's name may be taken for a part of the statement
SIZE, LIMIT, QUESTIONS = 32, 20, 30  # more questions than it takes until the server keeps a plan
MEMORY = """copy memory (tenant, id, kind, network, title, content, reasoning, context, speaker, keywords, tags, refs,
    importance, confidence, trust, state, "user", project, branch, agent, session, created_at, updated_at, observed,
    content_hash, source) from stdin"""


@pytest.fixture
def backend() -> str:
    return "postgres"


@pytest.fixture
def admin(cluster: postgres.Cluster, place: Places) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(cluster.as_admin(place()), autocommit=True) as con:
        register_vector(con)
        yield con


def fill(con: psycopg.Connection[Any], tenant: str, vectors: Floats) -> list[str]:
    """Put as many memories with a vector as there are vectors, the tenth part in each of ten projects."""
    ids = [make(number, number) for number in range(1, len(vectors) + 1)]
    con.execute("insert into head (tenant) values (%s)", (tenant,))
    con.execute("insert into source (tenant, id, kind, created_at) values (%s, 's', 'test', 0)", (tenant,))
    with con.cursor() as cursor:
        with cursor.copy(MEMORY) as copy:
            for number, id in enumerate(ids):
                copy.write_row((
                    tenant, id, "fact", "world", "", "text", "", "", "", "[]", "[]", "[]", 5, 1.0, "stated", "active",
                    "", f"p{number % 10}", "", "", "", 0, 0, 0, "hash", "s",
                ))  # fmt: skip
        with cursor.copy("copy embedding (tenant, memory, model, chunk, vector) from stdin (format binary)") as copy:
            copy.set_types(["text", "text", "text", "int4", "halfvec"])
            for id, vector in zip(ids, vectors, strict=True):
                copy.write_row((tenant, id, MODEL, 0, HalfVector(vector)))
    con.execute("analyze")
    return ids


def indexes(con: psycopg.Connection[Any]) -> list[tuple[str, bool]]:
    found = con.execute("""
        select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
        join pg_am a on a.oid = c.relam where a.amname = 'hnsw'""")
    return [(str(name), bool(valid)) for name, valid in found.fetchall()]


def scans(con: psycopg.Connection[Any], store: PostgresStore) -> int:
    """How often the index was scanned, once each connection of the store has told its numbers."""
    with ExitStack() as held:
        for _ in range(store._pool.get_stats()["pool_size"]):
            one = held.enter_context(store._pool.connection())
            one.execute("select pg_stat_force_next_flush()")
            one.execute("select 1")
    row = con.execute(
        "select idx_scan from pg_stat_user_indexes where indexrelname = %s", (indexes(con)[0][0],)
    ).fetchone()
    assert row
    return int(row[0])


def recall(store: PostgresStore, filter: Filter, vectors: Floats, ids: list[str], among: list[int]) -> float:
    """The part of the truly nearest that is found."""
    noise = np.random.default_rng(3).standard_normal((QUESTIONS, SIZE), np.float32)
    hits = 0
    for question in unit(vectors[:QUESTIONS] + np.float32(0.05) * noise):
        best = sorted(among, key=lambda n: -float(vectors[n] @ question))[:LIMIT]
        hits += len({ids[n] for n in best} & {id for id, _ in store.nearest(A, MODEL, question, filter, LIMIT)})
    return hits / (LIMIT * QUESTIONS)


def test_wide_filters_go_through_the_index_and_narrow_ones_are_exact(
    admin: psycopg.Connection[Any], store: PostgresStore
) -> None:
    vectors = clusters(2 * 6_500, SIZE, 1)
    ours, theirs = vectors[::2], vectors[1::2]
    ids, everything = fill(admin, A, ours), list(range(len(ours)))
    fill(admin, B, theirs)
    assert recall(store, Filter(), ours, ids, everything) > 0.995  # every vector is scored, in half precision
    store.save()
    assert [valid for _, valid in indexes(admin)] == [True]
    before = scans(admin, store)
    assert recall(store, Filter(), ours, ids, everything) > 0.97
    assert scans(admin, store) >= before + QUESTIONS
    before = scans(admin, store)
    narrow = Filter(scope=Scope(project="p3"), inside=True)
    assert recall(store, narrow, ours, ids, everything[3::10]) > 0.995
    assert scans(admin, store) == before


def test_a_question_amid_what_the_filter_throws_away_is_still_answered(
    admin: psycopg.Connection[Any], store: PostgresStore, place: Places, clock: Clock
) -> None:
    """The neighbourhood of the question is another tenant's: the scan gives up there, and every vector is scored."""
    rng = np.random.default_rng(2)
    here, there = np.eye(SIZE, dtype=np.float32)[:2] * 8
    ours = unit(rng.standard_normal((NARROW + 500, SIZE), np.float32) + here)
    ids = fill(admin, A, ours)
    fill(admin, B, unit(rng.standard_normal((2_500, SIZE), np.float32) + there))
    store.save()
    sooner = sql.SQL("alter database {} set hnsw.max_scan_tuples = 500")
    admin.execute(sooner.format(sql.Identifier(admin.info.dbname)))
    question = unit(there[None, :])[0]
    again = open_store(place(), clock())
    found = [id for id, _ in again.nearest(A, MODEL, question, Filter(), LIMIT)]
    again.close()
    expected = [ids[n] for n in np.argsort(-(ours @ question))[:LIMIT]]
    assert len(found) == LIMIT
    assert len(set(found) & set(expected)) >= LIMIT - 1  # half precision may swap the last two


def test_the_index_of_another_process_is_not_built_again_and_a_broken_one_is(
    admin: psycopg.Connection[Any], store: PostgresStore
) -> None:
    fill(admin, A, clusters(WORTH_AN_INDEX, SIZE, 1))
    store.save()
    name = indexes(admin)[0][0]
    number = "select %s::regclass::oid"
    before = admin.execute(number, (name,)).fetchone()
    # It was missing when this process looked, and is there now that it has the lock.
    store._build_index(name, MODEL, WORTH_AN_INDEX, SIZE)
    assert admin.execute(number, (name,)).fetchone() == before
    admin.execute("update pg_index set indisvalid = false where indexrelid = %s::regclass", (name,))
    store.save()
    assert indexes(admin) == [(name, True)]
    assert admin.execute(number, (name,)).fetchone() != before


def test_where_the_index_could_not_scan_on_every_vector_is_scored(
    admin: psycopg.Connection[Any], store: PostgresStore
) -> None:
    vectors = clusters(NARROW + 100, SIZE, 1)
    ids = fill(admin, A, vectors)
    admin.execute("update pg_extension set extversion = '0.7.4' where extname = 'vector'")
    store.save()
    assert indexes(admin) == []
    assert recall(store, Filter(), vectors, ids, list(range(len(vectors)))) > 0.995


def test_a_store_that_grows_gets_its_index_by_itself(admin: psycopg.Connection[Any], store: PostgresStore) -> None:
    fill(admin, A, clusters(WORTH_AN_INDEX, SIZE, 1))
    put(store, *(memory(90_000 + number, f"Fact {number}.") for number in range(MANY)))
    for thread in threading.enumerate():
        if thread.name == "recollect-index":
            thread.join()
    assert [valid for _, valid in indexes(admin)] == [True]
