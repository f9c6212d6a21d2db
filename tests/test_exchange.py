"""Export and import: everything comes back as it was, and nothing comes back that must not."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from conftest import START, Clock, Opener, Places
from recollect import BadInput, Scope, Source
from replay import entries_of, state_of

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3


def life(memory: recollect.Engine, clock: Clock) -> None:
    """A store with a bit of everything."""
    turn = Source("", "turn", "s:1", content="we said pnpm", session="s", position=3, occurred_at=START)
    first = memory.remember("Use pnpm.", kind="rule", tags=["tools"], source=turn, evidence="pnpm", importance=9)
    second = memory.remember("Use pnpm in web.", scope=Scope(user="ana", project="web"), valid_from=START)
    old = memory.remember("Node 18.")
    clock.forward(days=1)
    new = memory.remember("Node 22.", reasoning="LTS", keywords=["node"], refs=["ADR-001"])
    memory.link(new.id, "supersedes", old.id)
    memory.link(first.id, "elaborates", second.id, reason="narrower")
    memory.edit(second.id, title="Package manager")
    memory.reject(memory.remember("The sky is green.").id, reason="it is blue")
    memory.forget(memory.remember("Forgotten.").id)
    memory.forget(memory.remember("Purged.").id, purge=True)
    memory.recall("pnpm")
    memory.get(first.id)


def body(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()[1:-1]  # without the header, which has the time, and the seal over it


@pytest.mark.parametrize("journal", [False, True])
def test_a_round_trip_is_identity(opened: Opener, clock: Clock, tmp_path: Path, journal: bool) -> None:
    first, second = opened("a.db"), opened("b.db")
    life(first, clock)
    first.export(tmp_path / "a.jsonl", journal=journal)
    result = second.import_(tmp_path / "a.jsonl", embed=False)
    second.export(tmp_path / "b.jsonl", journal=journal)
    assert body(tmp_path / "b.jsonl") == body(tmp_path / "a.jsonl")
    assert state_of(second._store, "default") == state_of(first._store, "default")
    assert (result.created, result.known, result.refused) == (6, 0, 0)
    if journal:
        assert entries_of(second._store, "default") == entries_of(first._store, "default")
        assert result.journal == first.stats()["journal"]


def test_what_was_imported_is_found_by_words_and_by_meaning(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    first, second = opened("a.db"), opened("b.db")
    life(first, clock)
    first.export(tmp_path / "a.jsonl")
    second.import_(tmp_path / "a.jsonl")
    assert second.recall("pnpm").hits[0].arms.keys() >= {"text", "vector"}


def test_importing_twice_changes_nothing(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    first, second = opened("a.db"), opened("b.db")
    life(first, clock)
    first.export(tmp_path / "a.jsonl")
    second.import_(tmp_path / "a.jsonl")
    before = (second.stats()["journal"], state_of(second._store, "default"))
    again = second.import_(tmp_path / "a.jsonl")
    assert (again.created, again.known) == (0, 6)
    assert (second.stats()["journal"], state_of(second._store, "default")) == before


def test_an_old_export_brings_back_neither_the_rejected_nor_the_purged(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    wrong, secret = memory.remember("The sky is green.").id, memory.remember("Ana earns 123.").id
    memory.export(tmp_path / "old.jsonl")
    memory.forget(secret, purge=True)
    memory.reject(wrong)
    memory.forget(wrong, purge=True)
    result = memory.import_(tmp_path / "old.jsonl")
    assert (result.created, result.refused) == (0, 2)
    assert memory.stats()["memories"] == 0


def test_a_rejection_in_a_file_and_a_value_that_stands_are_settled_by_time(
    opened: Opener, clock: Clock, tmp_path: Path
) -> None:
    """Two stores: what one rejected stands in the other. The later word counts, whichever way the export goes."""
    one, two = opened("one.db"), opened("two.db")
    web = Scope(project="web")
    for engine in (one, two):
        engine.remember("The port is 8080.", scope=web)
        engine.remember("Deploy on Fridays.", scope=Scope(project="api"))  # of another project: never touched
    clock.forward(hours=1)
    wrong = one.remember("Deploy on Fridays.", scope=web)
    one.reject([wrong.id, next(m.id for m in one.list(scope=web).memories if "8080" in m.content)], reason="no")
    one.export(tmp_path / "one.jsonl")
    clock.forward(hours=1)
    later = two.remember("deploy on fridays!", scope=web)
    told = two.import_(tmp_path / "one.jsonl")
    states = {(m.content, m.scope.project): m.state for m in two.list(states=[]).memories}
    assert two.get(later.id).state == "active", "said here since"
    assert states["The port is 8080.", "web"] == "rejected", "said before, and then rejected there"
    assert states["Deploy on Fridays.", "api"] == "active"
    assert [note for note in told.notes if later.id in note and "stand" in note]
    assert [note for note in told.notes if "now here too" in note]
    assert two.remember("The port is 8080.", scope=web).action == "refused"
    assert two.remember("Deploy on Fridays.", scope=web).action == "duplicate"
    head = two.head
    again = two.import_(tmp_path / "one.jsonl")
    rows = [entry for entry in two.changes(after=head) if entry.noun in ("memory", "tombstone")]
    assert [set(entry.after or ()) for entry in rows] in ([], [{"observed"}])
    assert again.created == 0
    # And back: what the other store says by now does not undo the «no» here.
    two.export(tmp_path / "two.jsonl")
    one.import_(tmp_path / "two.jsonl")
    assert one.list(scope=web, states=["active"]).memories == ()
    assert one.get(wrong.id).state == "rejected"


def test_a_rejection_that_was_taken_back_does_not_return_with_an_older_export(
    memory: recollect.Engine, clock: Clock, tmp_path: Path
) -> None:
    fact = memory.remember("The port is 8080.").id
    memory.reject(fact)
    memory.export(tmp_path / "old.jsonl")
    clock.forward(hours=1)
    memory.reject(fact, undo=True)
    before = memory.get(fact).record()
    told = memory.import_(tmp_path / "old.jsonl")
    assert memory.get(fact).record() == before
    assert told.notes == ["rejections left out that were taken back here: 1"]
    memory.edit(fact, content="The port is 8081.")
    memory.import_(tmp_path / "old.jsonl")
    assert memory.remember("The port is 8080.").action == "created", "it may still be said"
    # Forgotten is not rejected: the newer export does not take away what was brought back here.
    memory.forget(fact)
    memory.export(tmp_path / "forgotten.jsonl")
    memory.edit(fact, state="active")
    memory.import_(tmp_path / "forgotten.jsonl")
    assert memory.get(fact).state == "active"


def test_what_is_known_under_another_id_is_counted_not_doubled(opened: Opener, tmp_path: Path) -> None:
    first, second = opened("a.db"), opened("b.db")
    first.remember("Use pnpm.")
    known = second.remember("use PNPM").id
    first.export(tmp_path / "a.jsonl")
    assert second.import_(tmp_path / "a.jsonl").duplicate == 1
    assert second.get(known).observed == 2


def test_a_history_is_left_out_and_said_so_when_the_store_has_memories(
    opened: Opener, clock: Clock, tmp_path: Path
) -> None:
    first, second = opened("a.db"), opened("b.db")
    life(first, clock)
    first.export(tmp_path / "a.jsonl", journal=True)
    second.remember("Already here.")
    result = second.import_(tmp_path / "a.jsonl")
    assert (result.created, result.journal) == (6, 0)
    assert "journal rows left out" in result.notes[0]


def test_anybodys_json_lines_are_taken_in_with_the_file_as_their_source(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    lines = [
        {"content": "Use pnpm.", "tags": ["tools"], "importance": 8, "project": "web", "mood": "good"},
        {"text": f"The key is {TOKEN}", "type": "fact"},
        {"content": "Use pnpm.", "project": "web"},
    ]
    (tmp_path / "theirs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = memory.import_(tmp_path / "theirs.jsonl")
    assert (result.created, result.duplicate) == (2, 1)
    assert (result.redacted, result.ignored) == (["github-token"], {"mood": 1})
    (kept,) = memory.list(scope=Scope(project="web")).memories
    assert (kept.tags, kept.importance, kept.trust) == (("tools",), 8, "unverified")
    source, _ = memory.evidence(kept.id)
    assert source is not None
    assert (source.kind, source.uri) == ("import", "theirs.jsonl")


def test_a_secret_in_an_export_is_taken_out_on_the_way_in(opened: Opener, place: Places, tmp_path: Path) -> None:
    first, second = opened("a.db"), opened("b.db")
    first.remember("The key is KEY.", evidence="KEY, he said")
    first.export(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text((tmp_path / "a.jsonl").read_text().replace("KEY", TOKEN))
    assert second.import_(tmp_path / "a.jsonl").redacted == ["github-token"]
    second.close()
    assert TOKEN.encode() not in place.everything("b.db")


BROKEN = {
    "not json": "{",
    "not an object": "[1, 2]",
    "no content": '{"mood": "good"}',
    "a newer format": '{"type": "header", "format": 99}',
    "an id that is none": '{"type": "memory", "id": "../../etc", "content": "x"}',
    "importance 11": '{"content": "x", "importance": 11}',
    "tags that are no list": '{"content": "x", "tags": "a"}',
    "a list for a text": '{"content": ["x"]}',
    "a time without zone": '{"content": "x", "valid_from": "2026-01-01"}',
    "an unknown state": '{"type": "memory", "id": "00000000000000000000000001", "content": "x", "state": "gone"}',
    "a number for a time": '{"type": "memory", "id": "00000000000000000000000001", "content": "x", "created_at": 7}',
    "deep nesting": "[" * 100_000,
    "a scope that is a list": '{"type": "memory", "id": "00000000000000000000000001", "content": "x", "scope": [1]}',
    "a journal row with a secret": json.dumps(
        {"type": "entry", "seq": 1, "at": "2026-01-01T00:00:00Z", "actor": "x", "operation": "create", "noun": "memory",
         "target": "0" * 26, "after": {"id": "0" * 26, "content": TOKEN}}),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_named_and_nothing_is_taken_in(memory: recollect.Engine, tmp_path: Path, name: str) -> None:
    (tmp_path / "broken.jsonl").write_text('{"content": "a good line"}\n' + BROKEN[name] + "\n")
    with pytest.raises(BadInput, match="line 2"):
        memory.import_(tmp_path / "broken.jsonl")
    assert memory.stats()["journal"] == 0


def test_a_file_that_is_not_text_is_refused(memory: recollect.Engine, tmp_path: Path) -> None:
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadInput, match="UTF-8"):
        memory.import_(tmp_path / "binary.jsonl")


def test_a_memory_whose_source_is_missing_is_refused(memory: recollect.Engine, tmp_path: Path) -> None:
    line = {"type": "memory", "id": "0" * 25 + "1", "content": "x", "source": "0" * 25 + "2"}
    (tmp_path / "orphan.jsonl").write_text(json.dumps(line))
    assert memory.import_(tmp_path / "orphan.jsonl").refused == 1


def test_an_export_is_for_its_owner_alone_and_leaves_no_half_file(memory: recollect.Engine, tmp_path: Path) -> None:
    memory.remember("Use pnpm.")
    assert memory.export(tmp_path / "out.jsonl") == 1
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("*.new"))


def test_a_database_is_told_from_text_that_cannot_be_read(memory: recollect.Engine, tmp_path: Path) -> None:
    database, packed = tmp_path / "claude-mem.db", tmp_path / "notes.jsonl.gz"
    with closing(sqlite3.connect(database)) as other:
        other.execute("create table observations (id integer, text text)")
        other.commit()
    packed.write_bytes(gzip.compress(b'{"content": "Ana owns billing."}'))
    for path, words in ((database, "is an SQLite database"), (packed, "is not UTF-8 text")):
        with pytest.raises(BadInput, match=words) as raised:
            memory.import_(path)
        assert raised.value.fix
    assert memory.stats()["memories"] == 0
