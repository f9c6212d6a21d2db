"""What a file brings in is trusted no more than whoever imports it grants, and no date of it lies in the future."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import Opener
from recollect import Engine
from recollect.exchange import KEY_FILE
from recollect.types import Memory, Source, Tombstone

SAID = "The gateway listens on port 8080."
SOURCE = {"type": "source", "id": "0" * 25 + "1", "kind": "statement", "uri": "recollect:ben", "author": "ben"}


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def exported(memory: Engine, tmp_path: Path) -> Path:
    memory.remember(SAID)
    memory.export(tmp_path / "out.jsonl", journal=True)
    return tmp_path / "out.jsonl"


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The file with something changed in its lines."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        change(line)
    other = path.with_name("changed.jsonl")
    other.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return other


def only(memory: Engine) -> Memory:
    (found,) = memory.list().memories
    return found


def test_what_this_home_exported_comes_back_as_it_was(memory: Engine, exported: Path, opened: Opener) -> None:
    assert only(memory).trust == "stated"
    other = opened("other.db")
    result = other.import_(exported)
    assert (only(other).trust, result.notes) == ("stated", [])
    assert result.journal > 0


def test_a_file_that_was_changed_or_comes_from_elsewhere_is_unverified(
    memory: Engine, exported: Path, opened: Opener
) -> None:
    def tell(line: dict[str, Any]) -> None:
        if line["type"] == "memory":
            line["content"] = "The gateway listens on port 9090."

    other = opened("other.db")
    result = other.import_(changed(exported, tell))
    assert (only(other).trust, result.journal) == ("unverified", 0)
    assert "journal rows left out" in result.notes[0]
    os.unlink(memory.settings.home / KEY_FILE)  # as on another machine
    third = opened("third.db")
    third.import_(exported)
    assert only(third).trust == "unverified"


@pytest.mark.parametrize("line", ["{}\n", '{"type": "seal", "hmac": "' + "0" * 64 + '"}\n'])
def test_nothing_can_be_added_behind_a_seal(exported: Path, opened: Opener, line: str) -> None:
    told = json.dumps({"content": "Ben is the owner.", "source": "Ben said so"}) + "\n"
    exported.write_text(exported.read_text("utf-8") + (told if line == "{}\n" else line + told), "utf-8")
    other = opened("other.db")
    other.import_(exported)
    assert {one.trust for one in other.list().memories} == {"unverified"}


@pytest.mark.parametrize("granted", ["unverified", "derived", "cited", "stated"])
def test_whoever_imports_says_how_far_a_file_is_believed(memory: Engine, tmp_path: Path, granted: str) -> None:
    crafted = {"type": "memory", "id": "0" * 25 + "2", "content": SAID, "source": SOURCE["id"], "trust": "stated"}
    path = tmp_path / "crafted.jsonl"
    told = {**crafted, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    path.write_text(f"{json.dumps({**SOURCE, 'created_at': '2026-01-01T00:00:00Z'})}\n{json.dumps(told)}\n", "utf-8")
    memory.import_(path, trust=granted)
    assert only(memory).trust == granted


def test_a_line_that_names_a_speaker_is_not_what_they_said(memory: Engine, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps({"content": SAID, "source": "Ben said so", "trust": "stated"}), "utf-8")
    memory.import_(path)
    assert only(memory).trust == "unverified"


def test_a_strangers_rejection_ends_nothing_that_is_trusted_more(opened: Opener, tmp_path: Path) -> None:
    there = opened("there.db")
    there.reject(there.remember(SAID).id, reason="no")
    there.export(tmp_path / "out.jsonl")

    def later(line: dict[str, Any]) -> None:
        for name in ("created_at", "updated_at"):
            if name in line:
                line[name] = "2099-01-01T00:00:00Z"

    here = opened("here.db")
    mine = here.remember(SAID)
    result = here.import_(changed(tmp_path / "out.jsonl", later))
    assert here.get(mine.id).state == "active"
    assert any("trusted more here" in note for note in result.notes)
    here.import_(tmp_path / "out.jsonl", trust="stated")
    own = opened("own.db")
    own.import_(changed(tmp_path / "out.jsonl", later), trust="stated")
    now = own._now() + timedelta(seconds=1)
    kept: list[Any] = [row for kind in (Memory, Source, Tombstone) for row in own._store.all("default", kind, "", 10)]
    assert kept
    assert all(row.created_at <= now for row in kept)


def test_the_key_is_for_its_owner_alone(memory: Engine, exported: Path) -> None:
    key = memory.settings.home / KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_bytes().hex() not in exported.read_text("utf-8")
