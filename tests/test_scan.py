"""Scan: a secret that is stored already is found wherever it lies, and after --fix it lies nowhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Opener, Places
from recollect import Link, Scope, Source
from recollect.cli import cli
from recollect.store.answers import Answer
from recollect.store.contract import Store
from recollect.text import key
from recollect.types import Evidence, Memory, Tombstone
from recollect.upkeep.scan import files, scan
from replay import entries_of, replayed, state_of

SECRET = "ghp_" + "a1B2" * 9
OTHER = "sk-ant-" + "x9Y8" * 8
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
T = "default"


def fill(store: Store) -> None:
    """A store from a time when no rule knew these: the secret is in every noun and in the history of some."""
    with store.transaction(T, "old", NOW) as changes:
        said = f"Push with {SECRET} please."
        source = Source(
            "s" * 26, "turn", content=said, session="s1", position=0, created_at=NOW, content_hash=key(said)
        )
        changes.put(source, "create")
        memory = Memory("m" * 26, said, kind="turn", source=source.id, content_hash=key(said), position=0,
                        scope=Scope(session="s1"), tags=("git", SECRET), created_at=NOW, updated_at=NOW)  # fmt: skip
        changes.put(memory, "create")
        after = Memory("n" * 26, "Done.", kind="turn", source=source.id, context=said, content_hash=key("Done."),
                       scope=Scope(session="s1"), position=1, created_at=NOW, updated_at=NOW)  # fmt: skip
        changes.put(after, "create")
        changes.put(Evidence("e" * 26, after.id, source.id, said, created_at=NOW), "create")
        changes.put(Link("k" * 26, memory.id, "related", after.id, reason=OTHER, created_at=NOW), "create")
        wrong = Memory("w" * 26, f"The token is {SECRET}", source=source.id, state="rejected", created_at=NOW,
                       content_hash=key(f"The token is {SECRET}"), updated_at=NOW)  # fmt: skip
        changes.put(wrong, "create")
        changes.put(Tombstone("t" * 26, wrong.content_hash, memory=wrong.id, created_at=NOW), "create")
        gone = Tombstone("g" * 26, "x" * 32, reason=SECRET, created_at=NOW)
        changes.put(gone, "create")
        changes.drop(Tombstone, gone.id, "unreject", "")
        edited = Memory("d" * 26, f"Use {OTHER}.", source=source.id, content_hash="h", created_at=NOW, updated_at=NOW)
        changes.put(edited, "create")
        changes.put(Memory(edited.id, "Use the vault.", source=source.id, content_hash=key("Use the vault."),
                           created_at=NOW, updated_at=NOW), "edit")  # fmt: skip
        clean = Source("c" * 26, "statement", uri="recollect:me", created_at=NOW)
        changes.put(clean, "create")
        changes.put(Memory("y" * 26, "We use pnpm.", source=clean.id, content_hash=key("We use pnpm."), created_at=NOW,
                           updated_at=NOW), "create")  # fmt: skip
        changes.put_answer(Answer("a" * 26, f"Is {SECRET} ours?", "q1"))
        changes.put_answer(Answer("b" * 26, "Which token is ours?", "q2", answer=f"It is {OTHER}.", kind="given"))
        changes.put_answer(Answer("f" * 26, "Do we use pnpm?", "q3"))


def test_a_secret_is_found_and_then_lies_nowhere(store: Store, place: Places) -> None:
    fill(store)
    before, head = state_of(store, T), store.head(T)
    found = scan(store, T, "me", NOW, fix=False)
    assert (found.memories, found.sources, found.evidence, found.others) == (3, 1, 1, 3)
    assert found.history >= 8
    assert set(found.kinds) >= {"github-token", "anthropic-key"}
    assert SECRET not in json.dumps(found.as_dict())
    assert (state_of(store, T), store.head(T)) == (before, head), "looking changes nothing"
    assert scan(store, T, "me", NOW, fix=True).as_dict() == {**found.as_dict(), "fixed": True}
    assert scan(store, T, "me", NOW, fix=False).places == 0
    assert [one.question for one in store.all_answers(T, "", 10)] == ["Do we use pnpm?"]
    told = json.dumps(state_of(store, T)) + str(entries_of(store, T))
    assert SECRET not in told
    assert OTHER not in told
    store.close()
    everything = place.everything()
    assert SECRET.encode() not in everything
    assert OTHER.encode() not in everything


def test_what_is_left_is_whole_and_its_journal_still_tells_it(store: Store, place: Places) -> None:
    fill(store)
    clean = store.memories(T, ["y" * 26])["y" * 26]
    history = store.journal(T, target=clean.id)
    scan(store, T, "me", NOW, fix=True)
    memory = store.memories(T, ["m" * 26])["m" * 26]
    assert memory.content == "Push with [redacted:github-token] please."
    assert memory.tags == ("git", "[redacted:github-token]")
    assert memory.content_hash == key(memory.content)
    assert store.journal(T, target=clean.id) == history, "what held no secret keeps its history"
    assert [check for check in store.check(T) if check.status != "ok"] == []
    copy = replayed(store, T, place("copy.db"))
    assert state_of(copy, T) == state_of(store, T)
    copy.close()


def test_a_rejected_value_stays_rejected_in_its_redacted_form(opened: Opener) -> None:
    engine = opened()
    fill(engine._store)
    scan(engine._store, T, "me", NOW, fix=True)
    assert engine.remember(f"The token is {SECRET}").action == "refused"
    assert engine.remember("We use yarn.").action == "created"


def test_the_files_of_sessions_are_looked_through(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"said": [f"Push with {SECRET}"], "turns": 3}))
    (folder / "b.json").write_text(json.dumps({"said": ["Push."]}))
    (folder / "c.json").write_text("{damaged")
    assert files(tmp_path, fix=False) == 1
    assert files(tmp_path, fix=True) == 1
    assert json.loads((folder / "a.json").read_text()) == {"said": ["Push with [redacted:github-token]"], "turns": 3}
    assert files(tmp_path, fix=False) == 0


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")

    def runner(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(cli, ["scan", *words])
        assert result.exit_code == code, result.output
        return result.output

    return runner


def test_the_command_finds_and_redacts(run: Any) -> None:
    assert "no secret found" in run()
    with recollect.open(embedder="hashing") as engine:
        fill(engine._store)
        engine.embed()
    assert "! secrets in 3 memories, 1 sources" in run(code=1)
    assert "✓ redacted in 3 memories" in run("--fix")
    assert json.loads(run("--json"))["kinds"] == {}
    with recollect.open(embedder="hashing") as engine:
        assert [check for check in engine._store.check(T) if check.status != "ok"] == []
        assert engine.embed() == 0, "what was redacted has a vector again"
