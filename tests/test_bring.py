"""Bringing memory from other programs: what their files hold arrives once, with times and users, and can go again.

The files in tests/foreign/ were written by the programs themselves where they run offline (scripts/foreign_samples.py),
and by hand after their published form where they do not; docs/importing.md says which.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from foreign_files import unpack
from recollect import BadInput, Memory, RecollectError, Scope
from recollect.tap import outward
from recollect.tap.bring import NAMES, Asked, bring
from recollect.tap.formats import formats

FILES = {  # which file is whose, and some of what is in it: kind, user, words
    "mem0/qdrant": ("mem0", [("fact", "alice", "Prefers tea over coffee."), ("fact", "bob", "Releases happen on Wed")]),
    "mem0/history.db": ("mem0", [("fact", "", "Releases happen on Wednesdays.")]),
    "mem0/export.json": ("mem0", [("fact", "alice", "The staging database is called lakeside.")]),
    "chroma/chroma": ("mem0", [("fact", "alice", "Alice rides to work.")]),
    "claude-mem": ("claude-mem", [("lesson", "", "now they are rounded half up."), ("summary", "", "Finance wants")]),
    "mcp-memory-service/sqlite_vec.db": ("mcp-memory-service", [("decision", "", "Invoices are rounded half up.")]),
    "basic-memory/notes": (
        "basic-memory",
        [("decision", "", "Invoices are rounded half up"), ("doc", "", "turns orders")],
    ),
    "server-memory/memory.jsonl": ("server-memory", [("fact", "", "Ana: works from Graz")]),
    "letta/agent.af": ("letta", [("fact", "", "Allergic to nuts."), ("turn", "", "Book me a table for four.")]),
    "zep/user.json": ("zep", [("fact", "", "Ana subscribed to the Premium plan.")]),
    "graphiti/graph.json": (
        "graphiti",
        [("fact", "", "Ana owns the billing service."), ("doc", "", "until September")],
    ),
    "cognee/export": ("cognee", [("fact", "alice", "reads invoices on Mondays."), ("doc", "", "The handbook says")]),
    "langgraph/store.db": ("langgraph", [("preference", "alice", "short answers."), ("fact", "bob", "Uses vim.")]),
    "chatgpt/conversations.json": ("chatgpt", [("turn", "", "We decided to keep backups for 90 days.")]),
    "claude/conversations.json": ("claude", [("turn", "", "The gateway listens on port 8443.")]),
    "cursor/state.vscdb": (
        "cursor",
        [("turn", "", "We use pnpm in this repository"), ("turn", "", "Indent with tabs.")],
    ),
    "copilot/session.json": ("copilot", [("turn", "", "Good to know. I will run them so.")]),
    "copilot/events.jsonl": ("copilot", [("turn", "", "Deploys go out on Thursdays.")]),
    "specstory/history": (
        "specstory",
        [("turn", "", "allows 100 requests a minute."), ("turn", "", "set in limits.py")],
    ),
    "aider/.aider.chat.history.md": ("aider", [("turn", "", "Migrations are written by hand, never generated.")]),
    "answer-cache/memory.db": ("answer-cache", [("fact", "", "Orders go through RabbitMQ")]),
    "memory-agent/memory.db": ("memory-agent", [("decision", "", "We moved the WiFi to channel 36")]),
    "memory-tools/memory.db": ("memory-tools", [("preference", "", "Prefers dark mode.")]),
    "semantic-memory/memory.db": ("semantic-memory", [("heuristic", "", "Read real samples of a file")]),
}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("foreign"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[recollect.Engine]:
    with recollect.open(tmp_path / "s.db", embedder="hashing", actor="test") as engine:
        yield engine


def everything(memory: recollect.Engine) -> list[Memory]:
    return memory.list(scope=Scope(), limit=1000).memories  # type: ignore[return-value]


def one(memory: recollect.Engine, words: str) -> Memory:
    return next(found for found in everything(memory) if words in found.content)


@pytest.mark.parametrize("name", FILES)
def test_what_another_program_keeps_arrives_once_and_can_be_taken_back(
    memory: recollect.Engine, foreign: Path, name: str
) -> None:
    told, wanted = FILES[name]
    memory.remember("What was here before stays.")
    before = {found.id for found in everything(memory)}
    looked = bring(memory, Asked(foreign / name, dry_run=True, embed=False))
    assert looked.format == told
    assert sum(looked.made.values())
    assert {found.id for found in everything(memory)} == before
    brought = bring(memory, Asked(foreign / name, embed=False))
    found = [(one.kind, one.scope.user, one.content) for one in everything(memory)]
    for kind, user, words in wanted:
        assert any((k, u) == (kind, user) and words in said for k, u, said in found), (words, found)
    head = memory.head
    again = bring(memory, Asked(foreign / name, embed=False))
    assert memory.head == head, "a second import changes nothing"
    assert again.checkpoint == ""
    assert brought.checkpoint
    memory.checkpoints.rollback(brought.checkpoint)
    assert {found.id for found in everything(memory)} == before


def test_every_format_that_can_be_named_is_tried_here() -> None:
    assert {told for told, _ in FILES.values()} | {"recollect"} == set(NAMES)


def test_times_scopes_tags_and_what_has_no_place_are_kept(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "mem0/qdrant", embed=False))
    lakeside = one(memory, "lakeside")
    assert (lakeside.scope.project, lakeside.trust) == ("shop", "unverified")
    assert lakeside.valid_from is not None
    tea = one(memory, "tea")
    source, _ = memory.evidence(tea.id)
    assert source
    assert tea.tags == ("taste",)
    assert json.loads(source.content) == {"payload.shop": {"city": "Graz"}}
    assert (source.kind, source.uri, source.author) == ("import", "import:mem0", "alice")
    bring(memory, Asked(foreign / "mcp-memory-service/sqlite_vec.db", embed=False))
    rounded = one(memory, "rounded half up")
    assert str(rounded.valid_from) == "2025-11-01 12:26:40+00:00"
    assert (rounded.tags, rounded.scope.session) == (("billing", "money"), "c1")
    assert not any("Fridays" in found.content for found in everything(memory)), "it was deleted there"
    bring(memory, Asked(foreign / "zep/user.json", embed=False))
    subscribed = next(
        found
        for found in memory.list(scope=Scope(), states=["active"], limit=100).memories
        if "subscribed" in found.content
    )
    assert (str(subscribed.valid_from)[:10], str(subscribed.valid_to)[:10]) == ("2025-01-01", "2025-06-01")


def test_an_agent_of_ones_own_keeps_its_importance_and_links(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "memory-agent/memory.db", embed=False))
    moved, first = one(memory, "channel 36"), one(memory, "channel 11")
    assert (moved.importance, first.importance) == (10, 4)
    assert [(link.relation, link.target) for link in memory.links(moved.id)] == [("elaborates", first.id)]
    bring(memory, Asked(foreign / "semantic-memory/memory.db", embed=False))
    read = one(memory, "Read real samples")
    assert (read.observed, read.confidence, read.keywords, read.refs) == (3, 0.9, ("parser", "samples"), ("parser.py",))
    assert read.reasoning.startswith("Two parsers were wrong")


def test_observations_and_relations_of_notes_become_memories_and_links(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "basic-memory/notes", embed=False))
    found = memory.graph(Scope()).open(["Billing service"])
    assert {(one.origin, one.relation, one.target) for one in found.relations} == {
        ("Billing service", "depends_on", "Order queue"), ("Billing service", "relates_to", "Deploy checklist"),
    }  # fmt: skip
    rounded = one(memory, "rounded half up")
    assert (rounded.kind, rounded.tags, rounded.context) == (
        "decision",
        ("money",),
        "Billing service: agreed with finance",
    )
    assert "not an observation" in one(memory, "turns orders").content, "a task of the note stays in the note"
    whole = one(memory, "turns orders")
    waiting = one(memory, "Orders wait here")
    assert ("depends_on", waiting.id) in {(link.relation, link.target) for link in memory.links(whole.id)}


def test_places_that_are_named_go_before_those_of_the_file(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "mem0/qdrant", places={"user": "ana", "project": "web"}, embed=False))
    assert {(found.scope.user, found.scope.project) for found in everything(memory)} == {("ana", "web")}


def test_trust_is_what_the_importer_grants(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "claude-mem", embed=False))
    bring(memory, Asked(foreign / "langgraph/store.db", trust="stated", embed=False))
    bring(memory, Asked(foreign / "chatgpt/conversations.json", embed=False))
    assert one(memory, "Finance wants").trust == "unverified"
    assert one(memory, "Uses vim.").trust == "stated"
    assert {found.trust for found in everything(memory) if "90 days" in found.content} == {"unverified"}


def test_what_was_erased_does_not_come_back(memory: recollect.Engine, foreign: Path) -> None:
    bring(memory, Asked(foreign / "langgraph/store.db", embed=False))
    memory.forget(one(memory, "Uses vim.").id, purge=True)
    bring(memory, Asked(foreign / "langgraph/store.db", embed=False))
    assert not any("Uses vim." in found.content for found in everything(memory))


def test_a_changed_record_is_new_and_the_others_are_known(
    memory: recollect.Engine, foreign: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    shutil.copyfile(foreign / "langgraph/store.db", path)
    bring(memory, Asked(path, embed=False))
    with closing(sqlite3.connect(path)) as store:
        store.execute("update store set value = ? where key = 'm3'", ('{"memory": "Uses emacs."}',))
        store.commit()
    imported = bring(memory, Asked(path, embed=False)).imported
    assert imported is not None
    assert (imported.created, imported.known) == (1, 3)


def test_the_file_of_the_other_program_is_not_touched(memory: recollect.Engine, foreign: Path, tmp_path: Path) -> None:
    shutil.copytree(foreign / "claude-mem", tmp_path / "copy")
    before = {file.name: file.read_bytes() for file in (tmp_path / "copy").iterdir()}
    bring(memory, Asked(tmp_path / "copy", embed=False))
    assert {file.name: file.read_bytes() for file in (tmp_path / "copy").iterdir()} == before


WRONG: dict[str, tuple[bytes, str, str, str]] = {
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"0" * 40, "", "is a picture", "Known are recollect, mem0"),
    "another database": (b"", "mem0", "is not a file of mem0: it looks like one of", "--from mcp-memory-service"),
    "nothing": (b"", "", "is an empty file", "Known are"),
    "JSON of somebody's": (
        b'{"a": [{"b": 1}]}',
        "zep",
        "is JSON with a, document, and not what zep keeps",
        "nodes, edges",
    ),
    "broken JSON": (b'{"nodes": [', "graphiti", "is not JSON", ""),
    "text": (b"Dear diary,\n", "claude-mem", "is a text file, and not what claude-mem keeps", "~/.claude-mem"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_told_what_it_is_and_what_to_do(
    memory: recollect.Engine, foreign: Path, tmp_path: Path, what: str
) -> None:
    content, given, message, fix = WRONG[what]
    path = tmp_path / "given"
    path.write_bytes(content)
    if what == "another database":
        path = foreign / "mcp-memory-service/sqlite_vec.db"
    with pytest.raises(BadInput) as error:
        bring(memory, Asked(path, given))
    assert message in error.value.message
    assert fix in error.value.fix
    assert memory.stats()["memories"] == 0


def hostile(sample: Path, folder: Path) -> Iterator[Path]:
    """What somebody may give in place of a file: cut off, scrambled, too deep, a link, a name that leads out of it."""
    files = [sample] if sample.is_file() else [one for one in sample.rglob("*") if one.is_file()]
    data = max(files, key=lambda one: one.stat().st_size).read_bytes()
    made = {
        "cut": data[: len(data) // 2],
        "header": data[:100] + b"\0" * 8000,
        "scrambled": bytes((one * 7 + place) % 256 for place, one in enumerate(data)),
        "deep": b'{"nodes": ' + b"[" * 200_000,
        "deeper": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
        "number": b"1" * 100_000,
        "zeros": b"\0" * 4096,
        "lone": b"\xff\xfe" * 50,
        "lines": b'{"content": 1}\n' * 50,
    }
    for name, content in made.items():
        path = folder / f"{name}{sample.suffix}"
        path.write_bytes(content)
        yield path
    (folder / "link").symlink_to("/etc/passwd")
    yield folder / "link"
    with zipfile.ZipFile(folder / "out.zip", "w") as packed:
        packed.writestr("../../escaped.json", data)
        packed.writestr("bomb.json", b"0" * 50_000_000, zipfile.ZIP_DEFLATED)
    yield folder / "out.zip"


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_or_hostile_file_is_refused_or_read_and_nothing_else_happens(
    memory: recollect.Engine, foreign: Path, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    for path in hostile(foreign / name, folder):
        for given in (FILES[name][0], ""):
            head, refused = memory.head, False
            try:
                bring(memory, Asked(path, given, embed=False))
            except RecollectError:
                refused = True
            assert not refused or memory.head == head, path
            assert not any("root:" in one.content for one in everything(memory)), path
    assert not list(tmp_path.parent.rglob("escaped.json"))


def test_a_pickle_that_would_call_something_is_refused(memory: recollect.Engine, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "storage.sqlite")) as store:
        store.execute("create table points (id text primary key, point blob)")
        store.execute("insert into points values ('x', ?)", (b"cos\nsystem\n(S'touch hacked'\ntR.",))
        store.commit()
    with pytest.raises(BadInput, match=r"os\.system is no part of a point"):
        bring(memory, Asked(tmp_path / "storage.sqlite"))
    assert not Path("hacked").exists()


def test_every_format_declares_fields_that_are_ours() -> None:
    known = {
        "needs", "id", "content", "title", "kind", "kinds", "default", "tags", "keywords", "refs", "user", "agent",
        "session", "project", "at", "until", "expires_at", "importance", "of_importance", "confidence", "observed",
        "context", "reasoning", "speaker", "position", "entity", "entity_kind", "from", "to", "relation", "named",
        "first", "second", "between", "skip", "only", "last", "leave",
    }  # fmt: skip
    for form in formats().values():
        for shelf in form.shelves:
            assert shelf.told.keys() <= known, (form.name, shelf.name)


def test_what_is_handed_out_as_notes_is_linked_and_read_again(
    memory: recollect.Engine, foreign: Path, tmp_path: Path
) -> None:
    bring(memory, Asked(foreign / "basic-memory/notes", embed=False))
    memory.remember("-1 is no port", tags=["net"], reasoning="the parser took it")
    assert outward.write(memory, "markdown", tmp_path / "vault") == 6
    notes = {path.name: path.read_text("utf-8") for path in (tmp_path / "vault").rglob("*.md")}
    whole = next(text for name, text in notes.items() if name.startswith("Billing service 0") or "turns orders" in text)
    assert "- mentions [[Billing service]]" in whole
    assert "- depends_on [[Order queue]]" in notes["Billing service.md"]
    ends = {end for text in notes.values() for end in re.findall(r"\[\[(.*?)\]\]", text)}
    assert {f"{end}.md" for end in ends} <= notes.keys(), "every link leads to a note"
    with recollect.open(tmp_path / "other.db", embedder="hashing", actor="test") as other:
        again = bring(other, Asked(tmp_path / "vault", "basic-memory", embed=False))
        assert again.imported
        assert any("turns orders" in found.content for found in everything(other))
    with pytest.raises(BadInput, match="is there already"):
        outward.write(memory, "markdown", tmp_path / "vault")


def test_a_table_has_a_memory_a_row_and_no_formula(memory: recollect.Engine, tmp_path: Path) -> None:
    memory.remember("=1+1 is what he typed", tags=["a", "b"])
    memory.remember("Use pnpm,\nnot npm.", scope=Scope(user="ana", project="web"))
    assert outward.write(memory, "csv", tmp_path / "m.csv") == 2
    rows = list(csv.DictReader(io.StringIO((tmp_path / "m.csv").read_text("utf-8"))))
    assert [(row["content"], row["user"], row["project"], row["tags"]) for row in rows] == [
        ("'=1+1 is what he typed", "", "", "a, b"), ("Use pnpm,\nnot npm.", "ana", "web", ""),
    ]  # fmt: skip


def test_what_server_memory_keeps_comes_back_as_it_was(memory: recollect.Engine, foreign: Path, tmp_path: Path) -> None:
    bring(memory, Asked(foreign / "server-memory/memory.jsonl", embed=False))
    outward.write(memory, "server-memory", tmp_path / "memory.jsonl")
    told = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (
        foreign / "server-memory/memory.jsonl", tmp_path / "memory.jsonl",
    )]  # fmt: skip
    assert told[0] == told[1]
