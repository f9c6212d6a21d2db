"""Many at once on one PostgreSQL: whoever waits for another must not stand in the way of what the other waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import postgres
import recollect
from conftest import START, Clock, Places, open_store
from nouns import A, B, memory, put
from recollect import Job, Link
from recollect.store import migrate
from recollect.store.contract import Store
from recollect.store.postgres import PostgresStore
from recollect.store.postgres_server import CONNECTIONS

PATIENCE = 2


@pytest.fixture
def backend() -> str:
    return "postgres"


@pytest.fixture
def admin(cluster: postgres.Cluster, place: Places) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(cluster.as_admin(place()), autocommit=True) as con:
        yield con


def test_more_writers_than_connections_may_read_inside_their_transactions(store: Store) -> None:
    put(store, memory(1, "one"))
    together, failed = threading.Barrier(CONNECTIONS + 4), []

    def write(number: int) -> None:
        together.wait()
        try:
            with store.transaction(A, "test", START) as changes:
                assert store.of(A, Link, [memory(1, "one").id], "origin") == []
                changes.note("try", f"t{number}", "")
        except recollect.RecollectError as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(CONNECTIONS + 4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failed == []


def test_jobs_and_counters_do_not_wait_for_a_writer(store: Store) -> None:
    put(store, memory(1, "one"), memory(2, "two"))
    with store.transaction(A, "test", START) as changes:
        changes.put(memory(3, "three"), "create")
        changes.purge(memory(1, "one").id)
        assert changes.was_purged(memory(1, "one").id)  # so far the server has come
        assert store.enqueue(A, Job("j" * 26, "embed", run_at=START, created_at=START))
        store.used(A, {memory(1, "one").id: (1, 0), memory(2, "two").id: (1, 0)}, START)
    kept = store.memories(A, [memory(n, "").id for n in (1, 2, 3)])
    assert {one.content: one.recalled for one in kept.values()} == {"two": 1, "three": 0}


def test_a_purge_that_is_kept_is_no_failure_where_a_table_cannot_be_swept_yet(
    place: Places, admin: psycopg.Connection[Any], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(place(), clock(), patience=PATIENCE)
    put(store, memory(1, "one"))
    with admin.transaction():  # as whoever builds an index there
        admin.execute("lock table embedding in share update exclusive mode")
        with store.transaction(A, "test", START) as changes:
            changes.purge(memory(1, "one").id)
    assert store.memories(A, [memory(1, "one").id]) == {}
    assert ["embedding" in record.message for record in caplog.records if "swept" in record.message] == [True]
    store.close()


def test_a_call_that_is_not_borne_out_makes_nobody_look_without_end(
    store: PostgresStore, admin: psycopg.Connection[Any]
) -> None:
    """Stores in two schemas of one database call on one channel, and each has numbers of its own."""
    put(store, memory(1, "one"))
    looks = []

    def look(tenant: str) -> int:
        looks.append(tenant)
        for call in (f"{10**9} {A}", "whatever"):
            admin.execute("select pg_notify('recollect_journal', %s)", (call,)) if len(looks) == 1 else None
        return store.head(tenant)

    head = store.head(A)
    assert store._listener.wait(A, head, 1.5, look) == head
    assert len(looks) < 6


def test_a_tenant_in_which_nothing_was_done_is_none(store: Store) -> None:
    with store.transaction(A, "test", START):
        pass
    store.used(B, {memory(1, "one").id: (1, 0)}, START)
    assert store.tenants() == []


def test_nobody_can_be_called_like_everybody(store: Store) -> None:
    put(store, memory(1, "one"))
    with pytest.raises(recollect.BadInput), store.transaction("*", "test", START):
        pass
    with pytest.raises(recollect.BadInput):
        store.enqueue("*", Job("j" * 26, "embed", run_at=START, created_at=START))
    assert store.tenants() == [A]


# -- addresses and schemas ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ana:hush%zz@db.invalid/x",
        "postgresql://ana:hush@[db.invalid/x",
        "postgresql://ana:a@hush@db.invalid/x",
        "postgresql://ana:a/hush@db.invalid/x",
        "postgresql://ana:hush@db.invalid/x?nonsense=hush",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_showing_the_password(address: str) -> None:
    with pytest.raises(recollect.BadInput) as caught:
        open_store(address, START)
    assert "hush" not in f"{caught.value} {caught.value.__cause__}"


def test_a_schema_that_is_not_there_is_refused_and_not_replaced_by_another(
    place: Places, admin: psycopg.Connection[Any]
) -> None:
    def at(path: str) -> str:
        return f"{place()}&options=-csearch_path%3D{path}"

    with pytest.raises(recollect.StoreUnavailable, match="no schema 'own'"):
        open_store(at("own,public"), START)
    admin.execute("create schema own")
    admin.execute("grant all on schema own to public")
    with pytest.raises(recollect.StoreUnavailable, match="search path"):
        open_store(at("own"), START)
    with_own = open_store(at("own,public"), START)
    put(with_own, memory(1, "one"))
    assert with_own.tenants() == [A]
    with_own.close()
    assert admin.execute("select count(*) from public.memory").fetchone() == (0,)


def test_an_index_whose_online_building_was_broken_off_is_built_again(
    place: Places, admin: psycopg.Connection[Any], clock: Clock
) -> None:
    admin.execute("update pg_index set indisvalid = false where indexrelid = 'memory_time'::regclass")
    online = [one.version for one in migrate.available("postgres") if one.sql.startswith("-- online")]
    admin.execute("delete from migration where version = any(%s)", (online,))
    open_store(place(), clock()).close()
    assert admin.execute("select indisvalid from pg_index where indexrelid = 'memory_time'::regclass").fetchone() == (
        True,
    )
