"""What only the PostgreSQL store has: a server that may go away, many writers, row-level security, a shared schema."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import postgres
import recollect
from conftest import START, Clock, Opener, Places, open_store
from nouns import A, B, found, memory, put
from recollect import MigrationChanged, NewerSchema, NotADatabase
from recollect.language.terms import of_query
from recollect.store import migrate
from recollect.store.contract import Store
from recollect.store.postgres import PostgresStore
from replay import entries_of
from test_tenants import WIDE, fill
from writers import (
    context,
    lines,
    open_and_write,
    read_until,
    stay_in_a_transaction,
    watch,
    write_some,
    write_until,
)

TENANT = "default"
WRITERS, WRITES, READERS = 8, 500, 8
OF_NO_TENANT = {"migration", "meta"}


@pytest.fixture
def backend() -> str:
    return "postgres"


@pytest.fixture
def empty(cluster: postgres.Cluster) -> Iterator[str]:
    """A database without a single table."""
    url = cluster.create(empty=True)
    yield url
    cluster.drop(url)


@pytest.fixture
def admin(cluster: postgres.Cluster, place: Places) -> Iterator[psycopg.Connection[Any]]:
    """The test's database as its server's administrator sees it: everything."""
    with psycopg.connect(cluster.as_admin(place()), autocommit=True) as con:
        yield con


def rows(con: psycopg.Connection[Any], query: str, *values: object) -> list[tuple[Any, ...]]:
    return con.execute(query, values or None).fetchall()


# -- many processes -------------------------------------------------------------------------------------------------


def started(target: Callable[..., None], *arguments: tuple[Any, ...]) -> list[Any]:
    processes = [context.Process(target=target, args=given, daemon=True) for given in arguments]
    for process in processes:
        process.start()
    return processes


def ended(processes: list[Any]) -> None:
    for process in processes:
        process.join()
        assert process.exitcode == 0


def whole(store: Store, acknowledged: set[str]) -> None:
    """Every acknowledged memory is there, and the journal has no gap."""
    assert acknowledged <= store.memories(TENANT, list(acknowledged)).keys()
    entries = entries_of(store, TENANT)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert [check for check in store.check(TENANT) if check.status != "ok"] == []


def test_eight_writers_and_eight_readers_at_once_and_nothing_is_lost(
    place: Places, opened: Opener, tmp_path: Path, admin: psycopg.Connection[Any]
) -> None:
    watcher = opened(embedder="off")
    log, seen, stop = tmp_path / "acknowledged", tmp_path / "seen", tmp_path / "stop"
    # Without vectors: the search for near duplicates would take most of the time, and the lock is what is tried here.
    writers = started(write_some, *((place(), log, n, WRITES, "off") for n in range(WRITERS)))
    readers = started(read_until, *((place(), seen, n, stop) for n in range(READERS)))
    assert watch(watcher, log, writers) > 0
    ended(writers)
    stop.touch()
    ended(readers)
    said = lines(log) + lines(seen)
    assert [line for line in said if line[0] == "error"] == []
    assert sum(line[0] == "read" for line in said) >= READERS
    created = {line[1] for line in said if line[0] == "created"}
    assert len(created) == WRITERS * WRITES
    assert watcher.stats()["by_state"] == {"active": WRITERS * WRITES}
    whole(watcher._store, created)
    assert rows(admin, "select deadlocks from pg_stat_database where datname = current_database()") == [(0,)]


def wait_for_more(log: Path, writes: int) -> None:
    """Until each of the writers has had its turn a few times again."""
    before = sum(line[0] == "created" for line in lines(log))
    deadline = time.monotonic() + 120
    while sum(line[0] == "created" for line in lines(log)) < before + writes:
        assert time.monotonic() < deadline, "the writers do not go on"
        time.sleep(0.01)


def survives(url: str, tmp_path: Path, clock: Clock, disturb: Callable[[], object], times: int) -> None:
    """Writers go on through disturbances: they wait or fail clearly, and what they were told landed is there."""
    log, stop = tmp_path / "acknowledged", tmp_path / "stop"
    watcher = recollect.open(url, embedder="hashing")
    writers = started(write_until, *((url, log, n, stop) for n in range(4)))
    for _ in range(times):
        wait_for_more(log, 20)
        disturb()
        assert watcher.recall("goes on with number").hits
    wait_for_more(log, 20)
    stop.touch()
    ended(writers)
    watcher.close()
    said = lines(log)
    assert [line for line in said if line[0] == "error"] == []
    assert {line[1] for line in said if line[0] == "failed"} <= {"store_unavailable", "store_locked"}
    store = open_store(url, clock())
    whole(store, {line[1] for line in said if line[0] == "created"})
    store.close()


def test_lost_connections_lose_nothing_that_was_acknowledged(
    cluster: postgres.Cluster, place: Places, tmp_path: Path, clock: Clock
) -> None:
    survives(place(), tmp_path, clock, lambda: cluster.cut_off(place()), times=10)


def test_a_server_that_crashes_and_comes_back_loses_nothing_that_was_acknowledged(
    cluster: postgres.Cluster, tmp_path: Path, clock: Clock
) -> None:
    server = postgres.private()
    try:
        url = postgres.Cluster.on(server.url).create()
        survives(url, tmp_path, clock, lambda: server.restart("immediate"), times=3)
    finally:
        server.stop()


def test_a_server_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(recollect.StoreUnavailable) as caught:
        recollect.open(f"postgresql://ana:hush@/nowhere?host={tmp_path}", embedder="off")
    assert "hush" not in str(caught.value)


def test_a_writer_killed_inside_a_transaction_leaves_neither_traces_nor_its_lock(
    place: Places, tmp_path: Path, opened: Opener
) -> None:
    log = tmp_path / "log"
    (writer,) = started(stay_in_a_transaction, (place(), log))
    while lines(log) != [["inside"]]:
        assert writer.is_alive()
        time.sleep(0.01)
    writer.kill()
    writer.join()
    memory = opened()
    assert memory.remember("After the crash.").action == "created"
    assert {entry.actor for entry in entries_of(memory._store, TENANT)} == {"test"}
    assert memory._store.of(TENANT, recollect.Source, ["0" * 26]) == []


# -- tenants --------------------------------------------------------------------------------------------------------

TABLES = """
    select c.oid, c.relname, exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant'),
      c.relrowsecurity, c.relforcerowsecurity
    from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace order by 2"""
# The columns of each index in their order; an expression has no name.
INDEXES = """
    select i.relname, am.amname, x.indisprimary,
      (select a.attname from pg_attribute a where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am am on am.oid = i.relam where x.indrelid = %s"""
FOREIGN_KEYS = """
    select k.conname, (select array_agg(a.attname || '=' || b.attname)
      from unnest(k.conkey, k.confkey) as pair (mine, theirs)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.mine
      join pg_attribute b on b.attrelid = k.confrelid and b.attnum = pair.theirs)
    from pg_constraint k where k.contype = 'f' and k.conrelid = %s"""
NEEDED = """
    select a.attname, format_type(a.atttypid, null) from pg_attribute a
    where a.attrelid = %s and a.attnum > 0 and not a.attisdropped and a.attnotnull and not a.atthasdef
      and a.attname <> 'tenant'"""
CHECKS = """
    select conname, conrelid::regclass::text from pg_constraint
    where contype = 'c' and connamespace = current_schema()::regnamespace and conrelid <> 0"""
VALUES = {
    "text": "x",
    "bigint": 1,
    "integer": 1,
    "real": 1.0,
    "double precision": 1.0,
    "jsonb": "{}",
    "halfvec": "[1]",
    "bytea": b"x",
}


def with_tenant(con: psycopg.Connection[Any]) -> list[tuple[int, str]]:
    return [(oid, name) for oid, name, has_tenant, *_ in rows(con, TABLES) if has_tenant]


def fill_every_table(con: psycopg.Connection[Any]) -> None:
    """A row of each of two tenants in every table there is, whatever the table is for."""
    con.execute("set session_replication_role = replica")  # no triggers and no foreign keys
    for name, table in rows(con, CHECKS):
        con.execute(sql.SQL("alter table {} drop constraint {}").format(sql.SQL(table), sql.Identifier(name)))
    for oid, table in with_tenant(con):
        needed = rows(con, NEEDED, oid)
        names = sql.SQL(", ").join(map(sql.Identifier, ["tenant", *(name for name, _ in needed)]))
        for tenant in (A, B):
            row = sql.SQL(", ").join(map(sql.Literal, [tenant, *(VALUES.get(kind, "{}") for _, kind in needed)]))
            con.execute(sql.SQL("insert into {} ({}) values ({})").format(sql.Identifier(table), names, row))


def contents(con: psycopg.Connection[Any]) -> dict[str, list[Any]]:
    return {name: sorted(rows(con, f'select t::text from "{name}" t')) for _, name in with_tenant(con)}


def test_every_table_stands_behind_the_wall_and_can_be_distributed_by_tenant(admin: psycopg.Connection[Any]) -> None:
    tables = rows(admin, TABLES)
    assert {name for _, name, has_tenant, *_ in tables if not has_tenant} == OF_NO_TENANT
    assert len(tables) > 15
    for oid, table, has_tenant, secured, forced in tables:
        if not has_tenant:
            continue
        assert secured, table
        assert forced, table
        indexes = rows(admin, INDEXES, oid)
        assert [first for _, _, primary, first in indexes if primary] == ["tenant"], table
        for index, method, _, first in indexes:
            # These two have no order in which something could stand first.
            assert first == "tenant" or method in ("gin", "hnsw"), index
        for constraint, pairs in rows(admin, FOREIGN_KEYS, oid):
            assert "tenant=tenant" in pairs, constraint


def test_without_a_where_a_connection_sees_and_changes_only_its_own_tenant(
    place: Places, admin: psycopg.Connection[Any]
) -> None:
    fill_every_table(admin)
    before = contents(admin)
    with psycopg.connect(place(), autocommit=True) as con:
        assert rows(con, "select rolsuper or rolbypassrls from pg_roles where rolname = current_user") == [(False,)]
        for _, table in with_tenant(con):
            assert rows(con, f'select 1 from "{table}"') == [], f"{table} without a tenant"
        for me, other in ((A, B), (B, A)):
            con.execute(sql.SQL("set recollect.tenant = {}").format(me))
            for _, table in with_tenant(con):
                assert rows(con, f'select tenant from "{table}"') == [(me,)], table
                for change in ("delete from {} where tenant = {}", "update {} set tenant = tenant where tenant = {}"):
                    statement = sql.SQL(change).format(sql.Identifier(table), other)
                    assert con.execute(statement).rowcount == 0, table
                with pytest.raises(psycopg.Error, match=r"row-level security|append-only"):
                    con.execute(sql.SQL("update {} set tenant = {}").format(sql.Identifier(table), other))
    assert contents(admin) == before


def test_the_wall_is_up_again_when_a_connection_goes_back_to_the_pool(place: Places, store: Store) -> None:
    fill(store, A, 100)
    fill(store, B, 200)
    for tenant in (A, B, A):
        assert [one.title for one in store.page(tenant, WIDE, None, 10)] == [f"mark-of-{tenant} x"] * 2
    assert store.page("nobody", WIDE, None, 10) == []


def test_how_often_a_word_occurs_is_counted_in_ones_own_memories_alone(store: Store) -> None:
    ours, theirs = fill(store, A, 100), fill(store, B, 200)
    for me, other in ((ours, theirs), (theirs, ours)):
        own, foreign = of_query(f"only{me.tenant}"), of_query(f"only{other.tenant}")
        count, found = store.frequencies(me.tenant, [*own, *foreign], WIDE)
        assert count == 2
        assert {found.get(term, 0) for term in own} == {2}
        assert {found.get(term, 0) for term in foreign} == {0}


def test_what_others_hold_does_not_change_how_well_a_memory_matches(store: Store) -> None:
    ours = fill(store, A, 100)
    alone = store.match(A, of_query("launch code"), WIDE, 10)
    fill(store, B, 200)
    put(store, *(memory(1000 + n, "launch launch launch code " * 9) for n in range(20)), tenant=B)
    assert store.match(A, of_query("launch code"), WIDE, 10) == alone
    assert alone[0][0] == ours.ids[0]


# -- the database ---------------------------------------------------------------------------------------------------


def test_the_journal_cannot_be_changed_or_deleted_even_by_hand(store: Store, admin: psycopg.Connection[Any]) -> None:
    put(store, memory(1, "Facts."))
    for statement in ("delete from journal", "update journal set actor = 'mallory'", "update journal set after = '{}'"):
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            rows(admin, statement)
    assert [entry.actor for entry in store.journal(A)] == ["test", "test"]


# Everything that makes up a schema, as text: tables with their columns and walls, keys and checks, indexes, triggers,
# policies, functions.
SHAPE = """
    select 'table', c.relname, concat_ws(' ', c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
      c.relreplident, c.reloptions::text)
    from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
    union all select 'column', c.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
      a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated, a.attstorage, a.attcompression,
      a.attcollation::regcollation)
    from pg_attribute a join pg_class c on c.oid = a.attrelid
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0
      and not a.attisdropped
    union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
    from pg_constraint where connamespace = current_schema()::regnamespace
    union all select 'index', indexname, indexdef from pg_indexes where schemaname = current_schema()
    union all select 'valid', indexrelid::regclass::text, indisvalid::text from pg_index
    where indrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
    union all select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal
    union all select 'policy', tablename || '.' || policyname, concat_ws(' ', permissive, roles, cmd, qual, with_check)
    from pg_policies where schemaname = current_schema()
    union all select 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.prokind in ('f', 'p')
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    order by 1, 2, 3"""


def shape(con: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return [(*row[:2], " ".join(str(row[2]).split())) for row in rows(con, SHAPE)]


def test_the_migrations_arrive_at_the_schema(empty: str, store: Store, place: Places) -> None:
    schema = resources.files("recollect.store").joinpath("sql/postgres/schema.sql").read_text("utf-8")
    with psycopg.connect(empty, autocommit=True) as wanted, psycopg.connect(place()) as got:
        wanted.execute(schema)
        assert shape(got) == shape(wanted)
        assert len(shape(got)) > 200


def test_a_database_is_upgraded_once_and_opened_again_as_it_is(
    store: Store, place: Places, admin: psycopg.Connection[Any], clock: Clock
) -> None:
    first = rows(admin, "select * from migration order by 1")
    assert len(first) == len(migrate.available("postgres"))
    open_store(place(), clock()).close()
    assert rows(admin, "select * from migration order by 1") == first


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("insert into migration (version, name, sha256, applied_at) values (999, 'future', 'x', 0)", NewerSchema),
        ("update migration set sha256 = 'edited' where version = 1", MigrationChanged),
    ],
)
def test_a_schema_that_is_newer_or_not_what_it_was_is_refused_and_not_touched(
    place: Places, admin: psycopg.Connection[Any], clock: Clock, change: str, error: type[recollect.RecollectError]
) -> None:
    admin.execute(change)
    before = shape(admin), contents(admin), rows(admin, "select * from migration")
    with pytest.raises(error):
        open_store(place(), clock())
    assert (shape(admin), contents(admin), rows(admin, "select * from migration")) == before


def test_the_database_of_another_program_is_refused_and_not_touched(empty: str, clock: Clock) -> None:
    with psycopg.connect(empty, autocommit=True) as con:
        con.execute("create table memory (id integer)")
        before = shape(con)
        with pytest.raises(NotADatabase, match="another program"):
            open_store(empty, clock())
        assert shape(con) == before


def test_processes_that_open_an_empty_database_at_once_all_succeed(empty: str, tmp_path: Path, clock: Clock) -> None:
    log, together = tmp_path / "log", context.Barrier(4)
    ended(started(open_and_write, *((empty, log, n, together) for n in range(4))))
    assert [line for line in lines(log) if line[0] != "created"] == []
    assert len(lines(log)) == 4
    store = open_store(empty, clock())
    assert store.count(TENANT, WIDE) == 4
    whole(store, {line[1] for line in lines(log)})
    store.close()


def test_a_closed_store_says_so_and_holds_no_connection(
    place: Places, clock: Clock, admin: psycopg.Connection[Any]
) -> None:
    store = PostgresStore(place(), 5, clock())
    put(store, memory(1, "one"))
    store.close()
    store.close()
    with pytest.raises(recollect.StoreUnavailable):
        store.head(A)
    open_ones = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    deadline = time.monotonic() + 30
    while rows(admin, open_ones) != [(0,)] and time.monotonic() < deadline:
        time.sleep(0.01)  # a server process takes a moment to end after its client has gone
    assert rows(admin, open_ones) == [(0,)]


def test_a_purge_says_what_it_cannot_reach_and_what_clears_it(
    opened: Opener, place: Places, cluster: postgres.Cluster
) -> None:
    memory = opened()
    memory.remember("This one stays.", title="It stays", evidence="It stays, they said.", tags=["stays"])
    kept = [memory.remember(f"Thing number {n} is zanzibarite-{n}.", title=f"zanzibarite {n}") for n in range(40)]
    memory._store.tidy()  # so that the planner's statistics hold words too
    said = memory.forget([one.id for one in kept], purge=True).receipt
    assert (said["left"], said["verified"]) == ([], False)
    files, log = said["unsearched"]
    assert "write-ahead log" in log
    everything = """
        select relname, pg_read_binary_file(pg_relation_filepath(oid), 0, 100000000, true) from pg_class
        where relkind in ('r', 'i', 't') and pg_relation_filepath(oid) is not null"""

    with psycopg.connect(cluster.as_admin(place()), autocommit=True) as con:

        def holding() -> list[str]:
            con.execute("checkpoint")
            return [name for name, held in con.execute(everything) if held and b"zanzibarite" in bytes(held)]

        assert holding(), "the control: before, they are in the files"
        con.execute(files[files.index("vacuum (") :])
        assert holding() == []


def test_texts_in_other_languages_are_indexed_anew(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that was filled before their words were made by their own rules."""
    german = memory(1, "Die Rechnungen werden am Freitag verschickt.")
    with monkeypatch.context() as before:
        before.setattr("recollect.language.terms.terms", lambda said: said.lower().split())
        put(store, german, memory(2, "The invoices are sent on Friday."))
    assert found(store, "Welche Rechnung fehlt?") == []
    with psycopg.connect(store.url, autocommit=True) as con:
        con.execute("insert into meta (key, value) values ('words', 'again')")
    again = PostgresStore(store.url, 5, START)
    assert found(again, "Welche Rechnung fehlt?") == [german.id]
    again.close()
