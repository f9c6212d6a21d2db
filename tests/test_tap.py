"""Taps: transcripts and exports are taken in once, completely, and again after whatever stopped them."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Opener
from recollect import BadInput, Scope
from recollect.cli import cli
from recollect.recall.fence import fenced
from recollect.tap.backfill import BATCH, STATE, Backfill, Report, Wanted, reprocess
from replay import entries_of, replayed, state_of

ROOT = Path(__file__).parents[1]
TRANSCRIPTS = ROOT.parent / "shared" / "data" / "transcripts"
DEPLOYS = "We decided to deploy on Thursdays because support is fully staffed then."


def said(number: int, text: str, kind: str = "user", **more: Any) -> str:
    record = {
        "type": kind, "uuid": f"uuid-{number}", "sessionId": "s1", "cwd": "/nowhere/shop", "isSidechain": False,
        "timestamp": f"2026-03-02T{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": kind, "content": [{"type": "text", "text": text}]}, **more,
    }  # fmt: skip
    return json.dumps(record) + "\n"


def take(engine: recollect.Engine, *paths: Path, **wanted: Any) -> Report:
    return Backfill(engine, Wanted(**wanted)).run(paths)


def turns(engine: recollect.Engine) -> list[str]:
    """What was said; the uses of tools that a summary cites are turns too."""
    found = [turn for turn in engine.list(kinds=("turn",), limit=1000).memories if turn.speaker != "tool"]
    return [turn.content for turn in sorted(found, key=lambda turn: (turn.scope.session, turn.position or 0))]


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="the transcripts are not here")
def test_real_transcripts_are_taken_in_with_no_record_left_over_and_twice_gives_the_same_store(
    memory: recollect.Engine, place: Any, tmp_path: Path
) -> None:
    report = take(memory, TRANSCRIPTS)
    assert report.failed == {}
    assert report.files == len(list(TRANSCRIPTS.iterdir()))
    passed = report.echoes + report.malformed + sum(report.skipped.values()) + sum(report.unknown.values())
    assert report.turns + passed == report.lines
    assert report.unknown == {"no type": 1}, "only the line that was made to be one of no kind"
    assert report.turns == len(turns(memory)) > 100
    store = memory._store
    before, head = state_of(store, "default"), memory.head
    again = take(memory, TRANSCRIPTS)
    assert (again.turns, again.unchanged, again.files) == (0, report.files, 0)
    (memory.settings.home / STATE).unlink()  # losing it costs time and nothing else
    assert take(memory, TRANSCRIPTS).turns == 0
    assert state_of(store, "default") == before
    assert memory.head == head
    copy = replayed(store, "default", place("copy.db"))
    assert state_of(copy, "default") == before
    copy.close()


def test_every_memory_that_was_found_resolves_to_its_quote(memory: recollect.Engine, tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_text(said(1, DEPLOYS) + said(2, "Noted.", "assistant"))
    assert take(memory, tmp_path).found.get("created") == 1
    [decision] = memory.list(kinds=("decision",)).memories
    assert decision.scope == Scope(project="shop")
    source, evidence = memory.evidence(decision.id)
    assert source is not None
    assert (source.kind, source.uri, source.author) == ("turn", "claude:s1", "user")
    assert [quote.quote in source.content for quote in evidence] == [True]


def test_a_file_that_grew_is_taken_in_from_where_it_was_left(memory: recollect.Engine, tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    shown = line = "The staging database listens on port 5433 of host anna."
    hook = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": fenced(shown, id="x1")}}
    path.write_text(json.dumps(hook) + "\n" + said(1, "Where is staging?") + said(2, line)[:40])
    assert take(memory, path).turns == 1, "half a line is left for the next look"
    path.write_text(
        path.read_text()[:-40] + said(2, "It is there. " + line, "assistant") + said(3, "Thank you, that helps.")
    )
    report = take(memory, path)
    assert (report.turns, report.known) == (2, 0)
    assert turns(memory) == ["Where is staging?", "It is there.", "Thank you, that helps."]
    path.write_text(said(4, "Written anew."))
    assert take(memory, path).turns == 1


def test_what_a_hook_stored_is_not_stored_again_from_the_transcript(memory: recollect.Engine, tmp_path: Path) -> None:
    from recollect.agents import access
    from recollect.ops import hooks

    told = {"session_id": "s1", "cwd": "/nowhere/shop", "hook_event_name": "UserPromptSubmit", "prompt": DEPLOYS}
    envelope = {"id": "d1", "at": 1772442001.0, "host": "claude", "event": "UserPromptSubmit", "input": told}
    hooks.answer(memory, access.local("default", "hook", Scope()), tmp_path / "home", envelope)
    (tmp_path / "s1.jsonl").write_text(said(1, DEPLOYS))
    report = take(memory, tmp_path / "s1.jsonl")
    assert (report.turns, report.known) == (0, 1)
    assert turns(memory) == [DEPLOYS]


def test_only_what_is_asked_for_is_taken(memory: recollect.Engine, tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(said(1, "Early.") + said(7200, "Late.") + said(7201, "Aside.", "assistant", isSidechain=True))
    since = datetime(2026, 3, 2, 10, tzinfo=UTC)
    dry = take(memory, path, dry_run=True)
    assert (dry.turns, dry.tokens > 0, memory.head) == (2, True, 0)
    assert dry.cost["dollars"] == 0, "no model is set"
    assert take(memory, path, since=since).older == 1
    assert turns(memory) == ["Late."]
    assert take(memory, path, scope=Scope(project="mine"), sidechains=True).turns == 2
    assert {memory.scope.project for memory in memory.list(kinds=("turn",)).memories} == {"shop", "mine"}


def test_exports_and_packed_files_are_read(memory: recollect.Engine, tmp_path: Path) -> None:
    chats = [{"uuid": "c1", "chat_messages": [{"uuid": "m1", "sender": "human", "text": "From a zip."}]}]
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as box:
        box.writestr("data/conversations.json", json.dumps(chats))
    with gzip.open(tmp_path / "old.jsonl.gz", "wt") as packed:
        packed.write(said(1, "From a gzip."))
    (tmp_path / "list.json").write_text(json.dumps([{"role": "user", "content": "From a list."}]))
    (tmp_path / "list.jsonl").write_text(json.dumps({"role": "user", "content": "From lines."}) + "\n")
    paths = [tmp_path / name for name in ("export.zip", "old.jsonl.gz", "list.json", "list.jsonl")]
    assert take(memory, *paths).turns == 4
    assert take(memory, *paths).unchanged == 4
    assert sorted(turns(memory)) == ["From a gzip.", "From a list.", "From a zip.", "From lines."]


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_taken_in(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"not packed at all")
    (tmp_path / "conversations.json").write_text('[{"messages": [{"role": "user", "content": "Whole."}]}, {"half')
    (tmp_path / "z.jsonl").write_text("nonsense\n" + said(1, "Good."))
    report = take(memory, tmp_path)
    assert sorted(Path(path).name for path in report.failed) == ["a.jsonl.gz", "conversations.json"]
    assert sorted(turns(memory)) == ["Good.", "Whole."]
    assert report.malformed == 1
    for wrong in (tmp_path / "nowhere", tmp_path / "notes.txt"):
        (tmp_path / "notes.txt").write_text("")
        with pytest.raises(BadInput):
            take(memory, wrong)


def test_files_are_followed_as_they_grow(memory: recollect.Engine, tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(said(1, "One."))
    looks = 0

    def stop() -> bool:
        nonlocal looks
        looks += 1
        if looks == 2:
            with path.open("a") as file:
                file.write(said(2, "Two."))
        if looks == 3:
            (tmp_path / "s2.jsonl").write_text(said(3, "Three.", sessionId="s2"))
        return looks > 4

    for wanted in (Wanted(), Wanted(since=datetime(2026, 1, 1, tzinfo=UTC))):
        looks = 0
        Backfill(memory, wanted).follow([tmp_path], stop, pause=0)
    assert turns(memory) == ["One.", "Two.", "Three."]


def test_looking_again_doubles_nothing(memory: recollect.Engine, tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_text(said(1, DEPLOYS) + said(2, "Always run the linter before you push."))
    take(memory, tmp_path)
    before, head = state_of(memory._store, "default"), memory.head
    assert reprocess(memory, Wanted(dry_run=True)).windows > 0
    report = reprocess(memory, Wanted())
    assert report.known == 2
    assert set(report.found) <= {"duplicate"}
    assert (state_of(memory._store, "default"), memory.head) == (before, head)


def story(count: int) -> str:
    words = [
        "We decided to use port {} for service {}.",
        "The root cause was worker {} of queue {}.",
        "Go on with {}{}.",
    ]
    return "".join(said(n, words[n % 3].format(7000 + n, n), ("user", "assistant")[n % 2]) for n in range(count))


def known(store: str) -> set[tuple[Any, ...]]:
    with recollect.open(store, embedder="hashing") as engine:
        state = state_of(engine._store, "default")["memory"]
        assert len(entries_of(engine._store, "default")) == engine.head
    told = {(one["kind"], one["content"], one["state"], one["speaker"], one["observed"]) for one in state}
    assert len(told) == len(state)
    return told


def test_a_run_that_was_killed_goes_on_and_arrives_at_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(story(5 * BATCH))
    environment = {**os.environ, "RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_HOME": str(tmp_path / "killed")}
    command = [sys.executable, "-m", "recollect", "capture", str(path)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "killed" / STATE).exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["turns"] < 5 * BATCH, "it did not begin anew"
    whole = {**environment, "RECOLLECT_HOME": str(tmp_path / "whole")}
    subprocess.run(command, env=whole, capture_output=True, check=True)
    assert known(str(tmp_path / "killed" / "recollect.db")) == known(str(tmp_path / "whole" / "recollect.db"))


def test_the_command_tells_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opener) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(cli, ["capture", *words])
        assert result.exit_code == code, result.output
        return result.output

    assert "usual places" in run(code=BadInput.exit)
    folder = tmp_path / "claude" / "projects" / "-nowhere-shop"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(said(1, DEPLOYS) + '{"type": "unheard-of"}\n')
    dry = run("--dry-run")
    assert "1 turn (" in dry
    assert "costs nothing" in dry
    assert "✓ 1 turn taken in" in run()
    assert "1 file unchanged" in run()
    assert json.loads(run("--reprocess", "--json"))["found"] == {"duplicate": 1}
    assert "✓ 1 turn looked at again" in run("--reprocess")
    assert "go" in run("--reprocess", str(folder), code=BadInput.exit)
    (folder / "conversations.json").write_text("nonsense")
    assert "is no JSON document" in run(code=1)
