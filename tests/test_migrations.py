"""SQLite's schema: migrations arrive at schema.sql, and a file that is not ours is left as it is."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import apsw
import pytest

from conftest import Clock
from recollect import MigrationChanged, NewerSchema, NotADatabase
from recollect.store import migrate, sqlite_file
from recollect.store.migrate import Migration
from recollect.store.sqlite import SQLiteStore


@pytest.fixture
def backend() -> str:
    return "sqlite"


def shape(con: apsw.Connection) -> set[tuple[object, ...]]:
    """Every table, index and trigger with its SQL, white space and comments aside."""
    rows = con.execute("select type, name, tbl_name, sql from sqlite_schema").fetchall()
    return {(*row[:3], " ".join(str(row[3]).split())) for row in rows}


def built_from(path: Path, sql: str) -> apsw.Connection:
    path.touch()
    con = sqlite_file.connect(path, 1)
    con.execute(sql).fetchall()
    return con


def test_the_migrations_arrive_at_the_schema(tmp_path: Path, store: SQLiteStore) -> None:
    schema = resources.files("recollect.store").joinpath("sql/sqlite/schema.sql").read_text("utf-8")
    wanted = built_from(tmp_path / "schema.db", schema)
    got = apsw.Connection(str(store.path))
    assert shape(got) == shape(wanted)
    for con in (wanted, got):
        con.close()


def test_every_table_of_knowledge_has_the_tenant_first_in_its_key(store: SQLiteStore) -> None:
    con = apsw.Connection(str(store.path))
    for (table,) in con.execute(
        "select name from pragma_table_list where schema = 'main' and type = 'table'"
    ).fetchall():
        names = [row[1] for row in con.execute(f"pragma table_info({table})")]
        if str(table).startswith("sqlite_") or table in ("migration", "meta"):
            continue
        assert "tenant" in names, table
        if table not in ("memory", "embedding"):  # numbered for the indexes; unique by tenant and id
            assert con.execute(f"select name from pragma_table_info('{table}') where pk = 1").get == "tenant", table
    con.close()


def test_a_database_is_upgraded_once_and_opened_again_as_it_is(store: SQLiteStore, clock: Clock) -> None:
    con = apsw.Connection(str(store.path))
    assert con.execute("select count(*) from migration").get == len(migrate.available("sqlite"))
    first = con.execute("select * from migration").fetchall()
    SQLiteStore(store.path, 1, clock()).close()
    assert con.execute("select * from migration").fetchall() == first
    con.close()


def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "newer.db"
    SQLiteStore(path, 1, clock()).close()
    con = apsw.Connection(str(path))
    con.execute("insert into migration values (999, 'future', 'x', 0)")
    con.pragma("journal_mode", "delete")
    con.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match="999"):
        SQLiteStore(path, 1, clock())
    assert path.read_bytes() == before


def test_a_migration_edited_after_it_was_applied_is_found_out() -> None:
    applied = Migration(1, "spine", "create table t (x)")
    edited = Migration(1, "spine", "create table t (x, y)")
    with pytest.raises(MigrationChanged, match="spine"):
        migrate.missing({1: applied.sha256}, [edited])


@pytest.mark.parametrize("content", [b"just some text, long enough to look like a page" * 40, b"\x00" * 5000])
def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path, clock: Clock, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotADatabase):
        SQLiteStore(path, 1, clock())
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_not_touched(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "other.db"
    con = apsw.Connection(str(path))
    con.execute("create table memory (id)").fetchall()
    con.close()
    before = path.read_bytes()
    with pytest.raises(NotADatabase, match="another program"):
        SQLiteStore(path, 1, clock())
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "empty.db").touch()
    SQLiteStore(tmp_path / "empty.db", 1, clock()).close()


def test_files_are_for_their_owner_alone(tmp_path: Path, clock: Clock) -> None:
    store = SQLiteStore(tmp_path / "new" / "folder" / "store.db", 1, clock())
    with store.transaction("t", "test", clock()) as changes:
        changes.note("try", "nothing", "")
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in store.path.parent.iterdir()} == {0o600}
    store.close()
