"""Every way in: the same forbidden write is tried through each path that can write, and refused by each.

Two things nobody may write: a value that a person rejected, in whichever disguise, and a secret. `PATHS` is the list of
all ways in; `test_no_way_in_is_missing` holds it against the list of operations, the tools and the commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Clock, Opener, Places
from recollect import Scope
from recollect.agents import access
from recollect.cli import cli
from recollect.graph import Node
from recollect.ids import derive
from recollect.ops import hooks
from recollect.ops.catalogue import BY_NAME, OPERATIONS
from recollect.project.refresh import refresh
from recollect.remember import values
from recollect.serve.tools import TOOLS
from recollect.tap.backfill import STATE, Backfill, Wanted, reprocess
from recollect.types import EVERYWHERE, Draft, Message
from repositories import Repo
from served import Server, serving
from test_mcp import call

VALUE = "We decided to deploy on Fridays because nobody looks then."
NEIGHBOUR = "We decided to deploy the docs on Mondays because nobody reads them on Sundays."
SECRET = "ghp_" + "a1B2" * 9
ME = access.local("default", "test", EVERYWHERE)
DISGUISES = (VALUE, VALUE.upper(), "  We  decided to deploy on Fridays because nobody looks then ", "We decided to"
             " d\u0435ploy on Frid\u200bays because nobody looks then!",
             "**We decided to deploy** on Fri days, because nob\u1d0fdy looks then",
             "The user confirmed that we decided to deploy on Fridays because nobody looks then.")  # fmt: skip


class Ways:
    """Each way that words can take into a store."""

    def __init__(self, engine: recollect.Engine, server: Server, place: str, folder: Path) -> None:
        self.engine, self.server, self.place, self.folder = engine, server, place, folder
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"way-{self.count}"

    # -- Python -------------------------------------------------------------------------------------------------------

    def remember(self, words: str) -> None:
        self.engine.remember(words)

    def remember_many(self, words: str) -> None:
        self.engine.remember_many([Draft(words, kind="decision", scope=Scope(branch="elsewhere"))])

    def remember_merged(self, words: str) -> None:
        self.engine.remember(words, merge=True)

    def edit(self, words: str) -> None:
        id = self.engine.remember(f"To be edited {self.fresh()}.").id
        self.engine.edit(id, content=words)

    def graph(self, words: str) -> None:
        self.engine.graph().create([Node(self.fresh(), "service", (words,))])

    def capture(self, words: str) -> None:
        self.engine.capture([Message("user", words)], session=self.fresh())

    def capture_later(self, words: str) -> None:
        self.engine.capture([Message("user", words)], session=self.fresh(), later=True)
        worker = self.engine.jobs.worker()
        worker.start(stay=False)
        worker.join(60)

    def extract(self, words: str) -> None:
        """Turns that lie in the store, looked at again."""
        session = self.fresh()
        self.engine.capture([Message("user", words, id="1")], origin="chat", session=session)
        self.engine.extract([derive("chat", session, "1")])

    def import_(self, words: str) -> None:
        path = self.folder / f"{self.fresh()}.jsonl"
        path.write_text(json.dumps({"content": words}) + "\n")
        self.engine.import_(path)

    def import_reference(self, words: str) -> None:
        path = self.folder / f"{self.fresh()}.jsonl"
        entity = {"type": "entity", "name": self.fresh(), "entityType": "service", "observations": [words]}
        path.write_text(json.dumps(entity) + "\n")
        self.engine.import_(path)

    # -- files and hooks ----------------------------------------------------------------------------------------------

    def transcript(self, words: str) -> None:
        name = self.fresh()
        record = {"type": "user", "uuid": name, "sessionId": name, "cwd": "", "message": {"content": words}}
        path = self.folder / f"{name}.jsonl"
        path.write_text(json.dumps(record) + "\n")
        Backfill(self.engine, Wanted()).run([path])

    def chat_export(self, words: str) -> None:
        name = self.fresh()
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps([{"uuid": name, "chat_messages": [{"sender": "human", "text": words}]}]))
        Backfill(self.engine, Wanted()).run([path])

    def hook(self, words: str, **more: Any) -> None:
        told = {"session_id": self.fresh(), "prompt": words, **more}
        envelope = {"host": "claude", "event": "UserPromptSubmit", "input": told, "at": 1772442001.0}
        hooks.answer(self.engine, ME, self.folder / "home", envelope)
        worker = self.engine.jobs.worker()
        worker.start(stay=False)
        worker.join(60)

    # -- the daemon ---------------------------------------------------------------------------------------------------

    def http(self, words: str) -> None:
        self.server.call("POST", "/v1/memories", {"content": words})

    def http_batch(self, words: str) -> None:
        self.server.call("POST", "/v1/memories/batch", {"memories": [{"content": words}]})

    def http_edit(self, words: str) -> None:
        id = self.engine.remember(f"To be edited {self.fresh()}.").id
        self.server.call("PATCH", f"/v1/memories/{id}", {"content": words})

    def http_import(self, words: str) -> None:
        self.server.call("POST", "/v1/import", {"lines": json.dumps({"content": words})})

    def remember_among_others(self, words: str) -> None:
        self.engine.remember(f"What holds here:\n- {words}\n- Use pnpm.")

    def http_memory_tool(self, words: str) -> None:
        given = {"command": "create", "path": f"/memories/{self.fresh()}.md", "file_text": words}
        self.server.call("POST", "/v1/memory-tool", given)

    # -- a project ----------------------------------------------------------------------------------------------------

    def task(self, words: str) -> None:
        self.server.call("POST", "/v1/project/task", {"task": words, "project": self.fresh()})

    def incident(self, words: str) -> None:
        self.server.call("POST", "/v1/project/incidents", {"summary": words})

    def update_memory(self, words: str) -> None:
        id = self.engine.remember(f"To be replaced {self.fresh()}.").id
        self.server.call("PUT", f"/v1/memories/{id}/content", {"value": words, "source": "a test"})

    def ingest(self, words: str) -> None:
        folder = self.folder / self.fresh()
        folder.mkdir()
        (folder / "notes.md").write_text(f"# Notes\n\n{words}\n")
        self.server.call("POST", "/v1/project/files", {"path": str(folder), "project": folder.name})

    def commit(self, words: str) -> None:
        repo = Repo(self.folder / self.fresh())
        repo.put(words, {"a.txt": "1"})
        refresh(self.engine, repo.path, repo.path.name)

    def mcp(self, words: str) -> None:
        call(self.server, "remember", {"content": words})

    def mcp_edit(self, words: str) -> None:
        id = self.engine.remember(f"To be edited {self.fresh()}.").id
        call(self.server, "edit_memory", {"id": id, "content": words})

    # -- the command line ---------------------------------------------------------------------------------------------

    def run(self, *words: str) -> None:
        result = CliRunner().invoke(cli, ["--store", self.place, *words])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception

    def cli_remember(self, words: str) -> None:
        self.run("remember", words)

    def cli_edit(self, words: str) -> None:
        id = self.engine.remember(f"To be edited {self.fresh()}.").id
        self.run("edit", id, "--content", words)

    def cli_import(self, words: str) -> None:
        path = self.folder / f"{self.fresh()}.jsonl"
        path.write_text(json.dumps({"content": words}) + "\n")
        self.run("import", str(path))

    def cli_capture(self, words: str) -> None:
        path = self.folder / f"{self.fresh()}.json"
        path.write_text(json.dumps([{"role": "user", "content": words}]))
        self.run("capture", str(path))

    def cli_bank_add(self, words: str) -> None:
        self.run("bank", "add", self.fresh(), "--category", "patterns", "--description", words, "--reasoning", words)

    def cli_bank_import(self, words: str) -> None:
        folder = self.folder / self.fresh()
        folder.mkdir()
        (folder / "patterns.md").write_text(f"### {folder.name}\n{words}\n- Reasoning: {words}\n")
        self.run("bank", "import", str(folder))

    def cli_watch(self, words: str) -> None:
        folder = self.folder / self.fresh()
        folder.mkdir()
        (folder / "notes.md").write_text(f"# Notes\n\n{words}\n")
        self.run("watch", "--once", str(folder))


PATHS = [name for name in vars(Ways) if not name.startswith("_") and name not in ("fresh", "run")]
# What the list of operations calls each of them; the rest of the operations that write change what is there already.
REACHES = {
    "remember": "remember", "remember_many": "remember_many", "edit": "edit", "import": "import_",
    "memory_tool": "http_memory_tool", "capture": "capture", "extract": "extract", "set_task_context": "task",
    "ingest_incident": "incident", "update_memory": "update_memory", "ingest_files": "ingest", "ingest_adr": "ingest",
    "ingest_code": "ingest",
}  # fmt: skip
CHANGES_NO_WORDS = {
    "try_models",  # asks the models of the settings one question
    # A summary is made of sentences that are stored, and held against the rejected ones.
    "janitor", "health", "entity_summaries",
    "forget", "reject", "link", "embed", "mend", "token_create", "token_revoke", "webhook_add", "webhook_remove",
    "approve", "checkpoint_create", "checkpoint_delete", "create_checkpoint", "hold_add", "hold_release",
    "invalidate_memory", "pending_approve", "pending_reject", "rate", "rate_memory", "retention_apply",
    "retention_remove", "retention_set", "review_approve", "review_reject", "rollback", "undo", "verify",
}  # fmt: skip
# Agents, pools and handoffs: their words are about the work, are redacted like all others, and never become knowledge.
OF_AGENTS = {
    "register_agent", "activate_agent", "deactivate_agent", "create_pool", "join_pool", "leave_pool", "invite_to_pool",
    "share_memory_to_scope", "unshare_memory", "initiate_handoff", "accept_handoff", "complete_handoff",
    "reject_handoff", "entity_merge", "entity_split",
}  # fmt: skip
# Words that become an answer in the cache, and never knowledge: tests/test_answers.py tries the same through these.
KEEPS_ANSWERS = {"remember_answer", "answer_put", "answer_seed", "forget_answer", "feedback", "pin_answer"}
QUIET_COMMANDS = {
    "agent", "answers", "audit", "backup", "checkpoint", "doctor", "embed", "forget", "graph", "handoff", "health",
    "hold", "install", "janitor", "jobs", "link", "migrate-store", "pool", "rate", "reject", "restore", "retention",
    "retro",  # repeats what is stored, through the write path
    "review", "scan", "serve", "service", "state", "stop", "token", "top", "tour", "uninstall", "usage", "verify",
    "webhook", "why",
}  # fmt: skip


@pytest.fixture
def ways(
    opened: Opener, place: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> Iterator[Ways]:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    engine = opened()
    with serving(engine) as server:
        yield Ways(engine, server, place(), tmp_path)


def attempt(ways: Ways, path: str, words: str) -> None:
    """Try it; an error that says no is an answer, anything else is not."""
    try:
        way: Callable[[str], None] = getattr(ways, path)
        way(words)
    except recollect.Refused:
        pass


def believed(engine: recollect.Engine, words: str) -> list[str]:
    """What says so, is active, and is not a mere record of what was once said."""
    found = engine.list(states=("active", "pending"), limit=1000).memories
    wanted = values._bare(words)
    return [m.content for m in found if m.kind != "turn" and wanted in values._bare(m.content)]


@pytest.mark.parametrize("path", PATHS)
def test_a_rejected_value_is_refused_and_recorded_on_every_way_in(ways: Ways, path: str) -> None:
    engine = ways.engine
    engine.reject(engine.remember(VALUE, kind="decision").id, reason="Never on Fridays")
    engine.remember(NEIGHBOUR, kind="decision")
    for words in DISGUISES:
        head = engine.head
        attempt(ways, path, words)
        assert believed(engine, VALUE) == [], words
        seen = [entry.operation for entry in engine._store.journal("default", head)]
        assert "refuse" in seen, (words, seen)
    found = [hit.memory.content for hit in engine.recall("When do we deploy?", kinds=["decision"])]
    assert found == [NEIGHBOUR]


@pytest.mark.parametrize("path", PATHS)
def test_a_secret_is_redacted_on_every_way_in(ways: Ways, path: str, place: Places) -> None:
    attempt(ways, path, f"We decided to push with {SECRET} because the robot has no key of its own.")
    kept = ways.engine.list(states=("active", "pending"), limit=100).memories
    assert any("[redacted:github-token]" in memory.content for memory in kept), [m.content for m in kept]
    ways.engine.close()
    assert SECRET.encode() not in place.everything()
    home = ways.folder / "home"
    assert not [file for file in home.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


def test_a_rejected_value_cannot_be_laundered(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    """Rejected, superseded, said and captured again, taken from an old export: it stays out, its neighbours do not."""
    engine = opened()
    transcript = tmp_path / "s1.jsonl"
    lines = [(VALUE, "user"), ("Understood.", "assistant"), (NEIGHBOUR, "user")]
    records = [
        {"type": kind, "uuid": f"u{n}", "sessionId": "s1", "cwd": "/nowhere/shop", "message": {"content": text},
         "timestamp": f"2026-03-02T09:00:0{n}Z"}
        for n, (text, kind) in enumerate(lines)
    ]  # fmt: skip
    transcript.write_text("".join(json.dumps(record) + "\n" for record in records))
    shop = Scope(project="shop")

    def inactive() -> None:
        clock.forward(minutes=1)
        assert believed(engine, VALUE) == []
        hits = engine.recall("When do we deploy, and why?", scope=shop, limit=20).hits
        assert NEIGHBOUR in [hit.memory.content for hit in hits]
        assert VALUE not in [hit.memory.content for hit in hits]

    Backfill(engine, Wanted()).run([transcript])
    assert len(believed(engine, VALUE)) == 2  # the decision, and the summary of the session that asked for it
    old = tmp_path / "old.jsonl"
    engine.export(old, journal=True)
    [wrong] = [memory for memory in engine.list(kinds=("decision",)).memories if memory.content == VALUE]
    engine.reject(wrong.id, reason="Never on Fridays")
    inactive()
    new = engine.remember("We decided to deploy on Thursdays because support is staffed then.", scope=shop)
    engine.link(new.id, "supersedes", wrong.id)
    inactive()
    for words in DISGUISES:
        assert engine.remember(words, scope=shop, kind="decision").action == "refused"
        engine.capture([Message("user", words)], session="s2", scope=shop)
        inactive()
    engine.reject(wrong.id, undo=True)
    assert VALUE in [hit.memory.content for hit in engine.recall("When do we deploy, and why?", scope=shop, limit=20)]
    engine.reject(wrong.id, reason="Never on Fridays, really")
    engine.forget(new.id, reason="let it go")
    inactive()
    Backfill(engine, Wanted(scope=shop)).run([transcript])
    (engine.settings.home / STATE).unlink()
    Backfill(engine, Wanted()).run([transcript])
    reprocess(engine, Wanted())
    inactive()
    assert engine.import_(old).created == 0
    inactive()
    other = opened("other.db")  # where nothing was rejected it may be taken in; its export may not bring it back here
    other.import_(old)
    other.remember(f"Rule: {VALUE}", scope=shop)
    again = tmp_path / "again.jsonl"
    other.export(again)
    engine.import_(again)
    inactive()
    engine.forget(wrong.id, purge=True)  # the tombstone outlives what it was made of
    assert engine.import_(old).refused >= 1
    Backfill(engine, Wanted(tools=True)).run([transcript])
    inactive()
    with pytest.raises(recollect.RecollectError):
        engine.edit(new.id, content=VALUE, state="active")
    inactive()


def test_no_way_in_is_missing() -> None:
    writes = {one.name for one in OPERATIONS if one.right != "read" and not one.read_only}
    assert writes - REACHES.keys() - CHANGES_NO_WORDS - KEEPS_ANSWERS - OF_AGENTS == set(), (
        "add a way in, or say that it brings no words"
    )
    assert set(REACHES.values()) <= set(PATHS)
    tools = {name for name, tool in TOOLS.items() if tool.right != "read" and not tool.read_only}
    assert {BY_NAME[name].mcp for name in REACHES if name in BY_NAME} & tools <= {
        "remember", "edit_memory", "capture", "set_task_context", "ingest_incident", "update_memory", "ingest_files",
        "ingest_adr", "ingest_code", "",
    }  # fmt: skip
    commands = {"remember", "edit", "import", "capture", "task", "ingest", "git", "bank", "watch"}
    told = {*commands, *QUIET_COMMANDS}
    looks = {"ask", "recall", "context", "list", "show", "history", "stats", "status", "logs", "mcp", "hook", "export",
             "eval", "config", "completion", "version", "commits", "brief", "tags", "projects",
             "dashboard", "search", "timeline"}  # fmt: skip
    assert set(cli.commands) - told - looks == set(), "add a way in, or say that it brings no words"
