"""Files of other programs, made to harm whoever imports them: each is refused in words, or read without its poison."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conftest import Opener
from recollect import BadInput, Engine
from recollect.capture.transcripts import Talk
from recollect.regular_files import MAX_DEPTH, is_bounded, parse_json
from recollect.tap.bring import Asked, Brought, bring

POINT = b"\x80\x04cqdrant_client.http.models.models\nPointStruct\n)\x81"


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def engine(opened: Opener) -> Engine:
    return opened()


def take(engine: Engine, path: Path, source: str = "") -> Brought:
    return bring(engine, Asked(path, source))


def document(folder: Path, text: str, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def text_of(words: str) -> bytes:
    return b"X" + struct.pack("<I", len(words)) + words.encode()


def qdrant(folder: Path, *points: bytes) -> Path:
    """A vector store of mem0 with these pickles."""
    place = folder / "collection" / "mem0"
    place.mkdir(parents=True)
    with sqlite3.connect(place / "storage.sqlite") as connection:
        connection.execute("create table points (id text primary key, point blob)")
        connection.executemany("insert into points values (?, ?)", [(str(n), one) for n, one in enumerate(points)])
    return folder


def point(payload: bytes) -> bytes:
    """A pickled point whose payload is made by these instructions."""
    return POINT + b"}(" + text_of("__dict__") + b"}(" + text_of("payload") + payload + b"uub."


DOUBLED = b"]" + text_of("boom") + b"a"
for _ in range(40):
    DOUBLED = b"(" + DOUBLED + b"2l"  # the same list twice in a list: 2 to the 40th texts, written out


@pytest.mark.parametrize(
    "payload",
    [
        b"}(" + text_of("data") + DOUBLED + b"u",
        b"}(" + text_of("data") + text_of("some words") + text_of("more") + DOUBLED + b"u",
        b"}q\x05(" + text_of("data") + text_of("some words") + text_of("more") + b"h\x05u",  # it holds itself
        b"}(" + text_of("data") + b"\x8b" + struct.pack("<I", 3000) + b"\x7f" * 3000 + b"u",  # a number of 7,000 digits
        b"}(" + text_of("data") + text_of("x") + b"r" + struct.pack("<I", 2**28) + b"u",  # put aside at place 2**28
    ],
    ids=["doubled", "doubled beside", "circle", "number", "memo"],
)
def test_a_pickle_that_grows_as_it_is_read_is_refused(engine: Engine, tmp_path: Path, payload: bytes) -> None:
    with pytest.raises(BadInput, match="point of the vector store"):
        take(engine, qdrant(tmp_path / "store", point(payload)))


def test_a_pickle_that_calls_something_is_refused(engine: Engine, tmp_path: Path) -> None:
    class Call:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "called"),)

    with pytest.raises(BadInput, match="no part of a point"):
        take(engine, qdrant(tmp_path / "store", pickle.dumps(Call())))
    assert not (tmp_path / "called").exists()


def nested(open: str, close: str, depth: int = 900) -> str:
    return open * depth + '"x"' + close * depth


@pytest.mark.parametrize(
    "text",
    [
        f'{{"memories": [{{"id": "1", "memory": {nested("[", "]")}, "metadata": {{}}}}]}}',
        f'{{"memories": [{{"id": "1", "memory": "a text", "metadata": {nested("""{"a":""", "}")}}}]}}',
        f'[{{"mapping": {nested("""{"a":""", "}")}}}]',
        f'{{"content": "a text", "tags": {nested("[", "]")}}}',
        f'{{"content": "a text", "about": 5, "source": {{"id": "{"0" * 26}"}}}}',
        f'{{"content": "a text", "about": [{{}}], "source": {{"id": "{"0" * 26}"}}}}',
    ],
    ids=["list", "object", "chat", "line", "about a number", "about an object"],
)
def test_a_document_nested_too_deeply_or_of_odd_types_is_refused(engine: Engine, tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput):
        take(engine, document(tmp_path, text))


def test_json_inside_a_text_is_nested_no_deeper(engine: Engine, tmp_path: Path) -> None:
    inside = json.dumps(nested("[", "]"))
    found = take(
        engine, document(tmp_path, f'{{"memories": [{{"id": "1", "memory": "a text", "metadata": {inside}}}]}}')
    )
    assert found.made == {"fact": 1}


def test_numbers_without_end_are_no_times_and_no_weights(engine: Engine, tmp_path: Path) -> None:
    record = '{"id": "1", "memory": "Ana likes tea.", "created_at": 1e400, "importance": NaN, "confidence": Infinity}'
    assert take(engine, document(tmp_path, f'{{"memories": [{record}]}}')).made == {"fact": 1}


def test_a_database_whose_text_is_none_is_refused_in_words(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table memories (content text, content_hash text, tags text, memory_type text)")
        connection.execute("insert into memories values (cast(x'ff80' as text), 'h', '', 'note')")
    with pytest.raises(BadInput, match="cannot be read"):
        take(engine, path)


def test_two_collections_with_changes_still_to_be_written_are_read_each_by_itself(
    engine: Engine, tmp_path: Path
) -> None:
    held = []
    for name in ("one", "two"):
        place = tmp_path / "collection" / name
        place.mkdir(parents=True)
        connection = sqlite3.connect(place / "storage.sqlite", isolation_level=None)
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table points (id text primary key, point blob)")
        payload = b"}(" + text_of("data") + text_of(f"Ana likes {name}.") + b"u"
        connection.execute("insert into points values (?, ?)", (name, point(payload)))
        held.append(connection)  # while it is open, its rows are in the second file
    take(engine, tmp_path)
    for connection in held:
        connection.close()
    assert {one.content for one in engine.list().memories} == {"Ana likes one.", "Ana likes two."}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
@pytest.mark.parametrize("named", ["x.json", "notes/b.md", ".specstory/history/a.md", "collection/c/storage.sqlite"])
def test_a_pipe_blocks_no_import(engine: Engine, tmp_path: Path, named: str) -> None:
    path = tmp_path / named
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(BadInput):
        take(engine, path if named == "x.json" else tmp_path)


def test_no_link_leads_out_of_a_folder(engine: Engine, tmp_path: Path) -> None:
    secret = document(tmp_path, '{"memories": [{"id": "1", "memory": "This is private."}]}', "private.json")
    note = document(tmp_path, "- [fact] This is private, too.\n", "private.md")
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "memory.json").symlink_to(secret)
    with pytest.raises(BadInput, match="no format"):
        take(engine, folder)
    (folder / "memory.json").unlink()
    (folder / "private.md").symlink_to(note)
    (folder / "own.md").write_text("- [fact] This is of the folder.\n", "utf-8")
    take(engine, folder, "basic-memory")
    assert [one.content for one in engine.list().memories] == ["This is of the folder."]


def test_a_note_that_is_too_large_is_refused_in_words(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("- [fact] Ana likes tea.\n" + "x" * 2**22, "utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        take(engine, tmp_path, "basic-memory")


@pytest.mark.parametrize("name", ["a\0b.json", "a" * 300, "\ud800"])
def test_a_name_that_no_file_can_have_is_bad_input(engine: Engine, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="A path"):
        take(engine, tmp_path / name)


def packed(path: Path, how: int) -> Path:
    with zipfile.ZipFile(path, "w", how) as box:
        box.writestr("conversations.json", "[" + '{"mapping": {}},' * 5000 + "{}]")
    return path


def test_an_encrypted_or_damaged_archive_is_refused_in_words(engine: Engine, tmp_path: Path) -> None:
    for number, how in enumerate((zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)):
        damaged = packed(tmp_path / f"{number}.zip", how)
        told = bytearray(damaged.read_bytes())
        told[60:90] = b"\xa5" * 30
        damaged.write_bytes(told)
        with pytest.raises(BadInput, match="unpacked"):
            take(engine, damaged)
    secret = packed(tmp_path / "secret.zip", zipfile.ZIP_STORED)
    told = bytearray(secret.read_bytes())
    for sign, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        told[told.find(sign) + at] |= 1  # the flag that says it is encrypted
    secret.write_bytes(told)
    with pytest.raises(BadInput, match="encrypted"):
        take(engine, secret)


def test_an_archive_that_unpacks_without_end_is_given_up(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as box, box.open("conversations.json", "w") as file:
        file.write(b'["')
        for _ in range(70):
            file.write(b"a" * 2**20)
    with pytest.raises(BadInput, match="more than"):
        take(engine, path)


def test_conversations_of_odd_types_say_nothing(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    talk = {"createdAt": 1e300, "fullConversationHeadersOnly": [{"bubbleId": {}, "type": [1], "text": "hello"}]}
    with sqlite3.connect(path) as connection:
        connection.execute("create table cursorDiskKV (key text, value blob)")
        connection.execute("insert into cursorDiskKV values ('composerData:x', ?)", (json.dumps(talk),))
    assert take(engine, path).made == {"turn": 0}


def test_a_record_of_a_transcript_nested_too_deeply_is_passed_over() -> None:
    part = f'{{"type": "tool_use", "id": "1", "name": "Bash", "input": {nested("[", "]")}}}'
    record = f'{{"type": "assistant", "message": {{"role": "assistant", "content": [{part}]}}}}'
    talk = Talk()
    assert (list(talk.read([record.encode()])), talk.tally.malformed) == ([], 1)


def test_how_deep_a_value_may_be() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match="deeply"):
        parse_json("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(ValueError, match="deeply"):
        parse_json("[" * 100_000)
    assert is_bounded([1, [2, 3]], 4)
    assert not is_bounded([1, [2, 3]], 3)
