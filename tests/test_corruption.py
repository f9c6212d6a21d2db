"""200 damaged files: the doctor notices each damage that changes anything, nothing ends in a traceback, salvage loses
no row that is whole; and the mark beside the database tells when it was emptied, cut off or exchanged."""

from __future__ import annotations

import json
import logging
import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import recollect
from recollect import RecollectError, StoreCorrupt
from recollect.cli import cli
from recollect.settings import Settings
from recollect.store import salvage, sqlite_file
from recollect.store.sqlite import SQLiteStore
from recollect.upkeep import backup, doctor

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SIZE = 4096
KINDS = (
    "bit", "bits", "bytes", "page", "zeroed", "swapped pages", "cut", "cut off in a page", "empty", "not UTF-8",
    "swapped texts", "replaced", "older", "foreign", "header", "text", "gone", "changed number", "lost row", "lost log",
)  # fmt: skip
# Records of use and of work, which are not knowledge: no checksum guards them.
UNGUARDED = ("usage", "sighting", "job", "ledger", "sqlite_stat1", "meta")


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store with everything in it, and an earlier state of it beside."""
    folder = tmp_path_factory.mktemp("sound")
    path = folder / "store.db"
    for part in range(2):
        with recollect.open(path, embedder="hashing") as memory:
            kept = [
                memory.remember(
                    f"Fact {part}.{n}: the service {n} is deployed by team {n % 3}." + " And so on." * (n % 7) * 60,
                    tags=(f"tag{n % 4}", "all"), refs=(f"src/file{n}.py",), title=f"Title {n}",
                ).memory
                for n in range(12)
            ]  # fmt: skip
            ids = [one.id for one in kept if one]
            memory.link(ids[0], "related", ids[1])
            memory.edit(ids[2], title="Another title")
            memory.forget(id=ids[3])
            memory.forget(id=ids[4], purge=True)
        con = sqlite_file.connect(path, 5)
        con.pragma("journal_mode", "delete")
        con.close()
        if part == 0:
            shutil.copy(path, folder / "older.db")
    return path


@cache
def sound_state(sound: Path) -> tuple[dict[str, list[Any]], dict[str, recollect.Memory]]:
    """What the sound store holds, and what salvage finds in it."""
    found = salvage.from_file(sound, "default").nouns
    return dumped(sound), {noun.id: noun for noun in found if isinstance(noun, recollect.Memory)}


def dumped(path: Path) -> dict[str, list[Any]]:
    """Everything a database holds that is guarded, as SQLite reads it without us; raw bytes for texts."""
    con = sqlite_file.set_up(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY))
    try:
        tables = [str(row[0]) for row in con.execute("select name from sqlite_schema where type = 'table'").fetchall()]
        found = {}
        for table in tables:
            if table in UNGUARDED or table.startswith("memory_fts"):
                continue
            names = [str(row[1]) for row in con.execute(f"pragma table_info({table})")]
            casts = ", ".join(f'typeof("{name}"), cast("{name}" as blob)' for name in names)
            found[table] = sorted(con.execute(f"select {casts} from {table} not indexed").fetchall(), key=repr)
        return found
    finally:
        con.close()


def damage(kind: str, path: Path, sound: Path, chance: random.Random) -> set[int]:
    """Damage a file in one way; the numbers of the pages that were touched, from 1."""
    data = bytearray(path.read_bytes())
    pages = len(data) // SIZE
    match kind:
        case "bit" | "bits":
            at = [chance.randrange(len(data)) for _ in range(1 if kind == "bit" else 8)]
            for one in at:
                data[one] ^= 1 << chance.randrange(8)
        case "bytes":
            start = chance.randrange(len(data) - 40)
            data[start : start + 40] = chance.randbytes(40)
            at = [start, start + 39]
        case "page" | "zeroed":
            at = [chance.randrange(pages) * SIZE]
            data[at[0] : at[0] + SIZE] = chance.randbytes(SIZE) if kind == "page" else bytes(SIZE)
        case "swapped pages":
            one, two = (number * SIZE for number in chance.sample(range(1, pages), 2))
            data[one : one + SIZE], data[two : two + SIZE] = data[two : two + SIZE], data[one : one + SIZE]
            at = [one, two]
        case "cut" | "cut off in a page":
            left = chance.randrange(1, pages) * SIZE + (0 if kind == "cut" else chance.randrange(1, SIZE))
            at = list(range(left // SIZE * SIZE, len(data), SIZE))
            del data[left:]
        case "header":
            at = [chance.randrange(100)]
            data[at[0]] ^= 0xFF
        case _:
            return _rewrite(kind, path, sound, chance)
    path.write_bytes(data)
    return {one // SIZE + 1 for one in at}


def _rewrite(kind: str, path: Path, sound: Path, chance: random.Random) -> set[int]:
    """Damage that a program or a person does: through SQLite, or by putting another file there."""
    everything = set(range(1, path.stat().st_size // SIZE + 1))
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "gone":
            path.unlink()
        case "text":
            path.write_text("Not a database at all. " * chance.randrange(1, 900))
        case "older" | "lost log":
            shutil.copy(sound.with_name("older.db"), path)
        case "replaced":
            path.unlink()
            SQLiteStore(path.with_name("other.db"), 5, NOW).close()
            con = sqlite_file.connect(path.with_name("other.db"), 5)
            con.pragma("journal_mode", "delete")
            con.close()
            path.with_name("other.db").rename(path)
        case "foreign":
            path.unlink()
            with closing(apsw.Connection(str(path))) as con:
                con.execute(f"create table notes (id, text); insert into notes values ({chance.randrange(99)}, 'x')")
        case _:
            with closing(sqlite_file.connect(path, 5)) as con:
                con.pragma("foreign_keys", 0)
                for (name,) in con.execute("select name from sqlite_schema where type = 'trigger'").fetchall():
                    con.execute(f"drop trigger {name}")
                _change(kind, con, chance)
            return set()
    return everything


def _change(kind: str, con: apsw.Connection, chance: random.Random) -> None:
    table, column = chance.choice((("memory", "content"), ("source", "author"), ("journal", "actor")))
    key = "seq" if table == "journal" else "id"
    keys = [row[0] for row in con.execute(f"select {key} from {table} order by {key}")]
    one = chance.choice(keys)
    match kind:
        case "not UTF-8":
            con.execute(f"update {table} set {column} = cast(x'41ff42' as text) where {key} = ?", (one,))
        case "swapped texts":
            ids = [row[0] for row in con.execute("select id from memory order by id")]
            one, two = chance.sample(ids, 2)
            con.execute(
                "update memory set content = (select content from memory m where m.id = case memory.id when ?1 then ?2 "
                "else ?1 end) where id in (?1, ?2)", (one, two),
            )  # fmt: skip
        case "changed number":
            what = "purged = 1 - purged" if table == "journal" else "created_at = created_at + 1"
            con.execute(f"update {table} set {what} where {key} = ?", (one,))
        case "lost row":
            con.execute(f"delete from {table} where {key} = ?", (one,))


@cache
def places(sound: Path) -> dict[str, list[set[int]]]:
    """By memory, the sets of pages that each hold all of it: its row, and its rows in the journal."""
    data = sound.read_bytes()
    pages = {number + 1: data[number * SIZE : (number + 1) * SIZE] for number in range(len(data) // SIZE)}
    found: dict[str, list[set[int]]] = {}
    for number, page in pages.items():
        for values in salvage._cells(page, number, Touched(pages), SIZE):
            touched = {number, *Touched.last}
            Touched.last.clear()
            if len(values) > 25:
                found.setdefault(str(values[1]), []).append(touched)
    return found


class Touched(dict[int, bytes]):
    """Pages that remember which of them were read."""

    last: set[int] = set()  # noqa: RUF012

    def __getitem__(self, number: int) -> bytes:
        self.last.add(number)
        return super().__getitem__(number)


def cases() -> Iterator[tuple[str, int]]:
    yield from ((kind, seed) for seed in range(200 // len(KINDS)) for kind in KINDS)


def wrong(path: Path) -> bool:
    found = doctor.diagnose("test", NOW, store=path, embedder="off")
    return any(check.status == "broken" and check.name not in ("permissions", "disk") for check in found.checks)


def used(path: Path, out: Path) -> None:
    """What people do; an error of ours is an answer, anything else ends the test."""
    for verb in ("list", "recall", "remember", "export", "stats"):
        try:
            with recollect.open(path, embedder="off") as memory:
                match verb:
                    case "list":
                        memory.list()
                    case "recall":
                        memory.recall("Who deploys the service?")
                    case "remember":
                        memory.remember("A new fact is remembered.")
                    case "export":
                        memory.export(out, journal=True)
                    case "stats":
                        memory.stats()
        except RecollectError:
            continue


def test_there_are_200_files() -> None:
    assert len(list(cases())) == 200


@pytest.mark.parametrize("seed", range(200 // len(KINDS)))
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_noticed_and_salvage_loses_nothing_that_is_whole(
    kind: str, seed: int, sound: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    for end in ("", ".head"):
        shutil.copy(f"{sound}{end}", f"{path}{end}")
    before, clean = sound_state(sound)
    touched = damage(kind, path, sound, random.Random(f"{kind} {seed}"))
    damaged = path.read_bytes() if path.exists() else b""
    try:
        changed = dumped(path) != before if path.exists() else True
    except (apsw.Error, UnicodeDecodeError):
        changed = True
    found = salvage.from_file(path, "default")
    saved = {noun.id: noun for noun in found.nouns if isinstance(noun, recollect.Memory)}
    whole = {id for id, ways in places(sound).items() if any(not way & touched for way in ways)} & clean.keys()
    if kind not in ("empty", "gone", "text", "older", "lost log", "replaced", "foreign"):
        assert whole <= saved.keys()
        assert {id: saved[id] for id in saved.keys() & clean.keys()} == clean or missing_changes(found)
    assert (path.read_bytes() if path.exists() else b"") == damaged, "salvage changes nothing"
    if changed:
        assert wrong(path), "the doctor did not notice"
    used(path, tmp_path / "out.jsonl")


def missing_changes(found: salvage.Salvaged) -> bool:
    return bool(found.skipped) or not found.entries


def test_no_byte_of_the_header_ends_in_an_error_that_is_not_ours(sound: Path, tmp_path: Path) -> None:
    data = sound.read_bytes()
    path = tmp_path / "store.db"
    for at in range(100):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            SQLiteStore(path, 5, NOW).close()
        except RecollectError:
            continue


def test_salvage_says_that_the_end_of_the_journal_is_lost(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(f"{sound}.head", f"{path}.head")
    older = sound.with_name("older.db")
    shutil.copy(older, path)
    assert salvage.from_file(older, "default").skipped == []
    assert "changes of the journal" in salvage.from_file(path, "default").skipped[0]


@given(st.binary(max_size=80))
@example(b"\x02\x07")  # a number of which nothing is there
@example(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x07")  # a head that is longer than any file
def test_a_record_of_any_bytes_is_read_or_passed_over(record: bytes) -> None:
    page = b"\x0d" + bytes(2) + b"\x00\x01" + bytes(3) + (4096 - 2 - len(record)).to_bytes(2, "big")
    page = page.ljust(4096 - 2 - len(record), b"\0") + bytes([len(record), 1]) + record
    assert len(list(salvage._cells(page, 2, {2: page}, SIZE))) <= 1


def test_salvage_of_a_sound_store_is_everything_and_can_be_imported(sound: Path, tmp_path: Path) -> None:
    with closing(SQLiteStore(sound, 5, NOW)) as store:
        held = {memory.id for memory in store.all("default", recollect.Memory, "", 1000)}
    out = tmp_path / "rescue.jsonl"
    done = CliRunner().invoke(cli, ["--store", str(sound), "export", "--salvage", "-o", str(out), "--json"], obj=[])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["memories"] == len(held)
    with recollect.open(tmp_path / "new.db", embedder="off") as memory:
        taken = memory.import_(out)
        assert taken.created + taken.duplicate == len(held)


# -- the mark ---------------------------------------------------------------------------------------------------------


def test_an_emptied_or_missing_database_is_not_taken_for_a_new_one(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(f"{sound}.head", f"{path}.head")
    for make in (path.unlink, path.touch):
        path.touch()
        make()
        with pytest.raises(StoreCorrupt, match="empty or gone"):
            SQLiteStore(path, 5, NOW)
        assert wrong(path)
    assert doctor.accept(NOW, store=path) == ["the store begins anew"]
    assert not wrong(path)


def test_a_lost_tail_is_said_until_it_is_accepted(
    sound: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(sound.with_name("older.db"), path)
    shutil.copy(f"{sound}.head", f"{path}.head")
    with caplog.at_level(logging.WARNING, "recollect"), closing(SQLiteStore(path, 5, NOW)) as store:
        assert "changes of default are lost" in caplog.text
        assert "doctor --accept" in caplog.text
        with store.transaction("default", "test", NOW) as changes:
            changes.note("try", "something", "")
    assert wrong(path), "writing on does not hide it"
    assert doctor.accept(NOW, store=path) == ["the database was accepted as it is"]
    assert not wrong(path)


def test_the_mark_is_never_ahead_of_another_process(tmp_path: Path) -> None:
    """One that wrote less writes its mark last: what the other wrote stays marked."""
    path = tmp_path / "store.db"
    one, two = SQLiteStore(path, 5, NOW), SQLiteStore(path, 5, NOW)
    for store in (one, two, two):
        with store.transaction("t", "test", NOW) as changes:
            changes.note("try", "something", "")
    two.close()
    one.close()
    assert json.loads((tmp_path / "store.db.head").read_text())["heads"]["t"][0] == 3
    SQLiteStore(path, 5, NOW).close()
    assert not wrong(path)


def test_a_database_that_is_replaced_on_purpose_has_no_mark_of_the_one_before(sound: Path, tmp_path: Path) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    for end in ("", ".head"):
        shutil.copy(f"{sound}{end}", f"{path}{end}")
    shutil.copy(f"{sound}.head", f"{copy}.head")
    with closing(SQLiteStore(path, 5, NOW)) as store:
        backup.backup(store, copy, NOW, lambda done, total: None)
    assert not wrong(copy)
    shutil.copy(sound.with_name("older.db"), copy)
    backup.restore(copy, replace(Settings(), store=str(path), home=tmp_path), NOW, lambda done, total: None)
    assert not wrong(path), "an older backup that was restored is no loss"
    path.unlink()
    shutil.copy(f"{sound}.head", f"{path}.head")
    done = CliRunner().invoke(cli, ["migrate-store", str(copy), str(path)], obj=[])
    assert done.exit_code == 0, done.output
    assert not wrong(path)


def test_a_database_moved_or_copied_by_hand_is_as_sound_as_before(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for ends in (("",), ("", ".head")):
        for end in ends:
            shutil.copy(f"{sound}{end}", f"{path}{end}")
        with recollect.open(path, embedder="off") as memory:
            memory.remember(f"Remembered after {len(ends)} files were copied.")
        assert not wrong(path)
        path.with_name("store.db.head").unlink()
