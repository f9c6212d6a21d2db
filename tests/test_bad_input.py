"""Bad input gets one clear error, with a code and a fix, or a defined result; and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from conftest import START, Opener
from recollect import (
    Ambiguous,
    BadInput,
    BadTime,
    NotFound,
    RecollectError,
    Scope,
    Source,
    StoreUnavailable,
    TooLarge,
    text,
)
from writers import context, write_as_nobody

NAIVE = datetime(2026, 3, 1)
MISSING = "0" * 26
Act = Callable[[recollect.Engine], Any]

BAD: dict[str, tuple[Act, type[RecollectError]]] = {
    "empty content": (lambda m: m.remember(""), BadInput),
    "blank content": (lambda m: m.remember(" \n\t "), BadInput),
    "only control characters": (lambda m: m.remember("\x00\x01\x02"), BadInput),
    "only zero-width characters": (lambda m: m.remember("\u200b\u200b"), BadInput),
    "only lone surrogates": (lambda m: m.remember("\ud800\udfff"), BadInput),
    "1 MB content": (lambda m: m.remember("x" * 1_000_000), TooLarge),
    "just over the limit": (lambda m: m.remember("é" * 32_769), TooLarge),
    "content that is no text": (lambda m: m.remember(42), BadInput),  # type: ignore[arg-type]
    "content that is bytes": (lambda m: m.remember(b"bytes"), BadInput),  # type: ignore[arg-type]
    "10,000 tags": (lambda m: m.remember("x", tags=[f"t{n}" for n in range(10_000)]), TooLarge),
    "a huge tag": (lambda m: m.remember("x", tags=["t" * 10_000]), TooLarge),
    "tags as one text": (lambda m: m.remember("x", tags="a,b"), BadInput),  # type: ignore[arg-type]
    "a tag that is no text": (lambda m: m.remember("x", tags=[1]), BadInput),  # type: ignore[list-item]
    "11 keywords": (lambda m: m.remember("x", keywords=[f"k{n}" for n in range(11)]), TooLarge),
    "too many references": (lambda m: m.remember("x", refs=[f"r{n}" for n in range(65)]), TooLarge),
    "a huge title": (lambda m: m.remember("x", title="t" * 1000), TooLarge),
    "huge reasoning": (lambda m: m.remember("x", reasoning="t" * 100_000), TooLarge),
    "an unknown kind": (lambda m: m.remember("x", kind="wish"), BadInput),
    "an unknown network": (lambda m: m.remember("x", network="dream"), BadInput),
    "importance 11": (lambda m: m.remember("x", importance=11), BadInput),
    "importance 0": (lambda m: m.remember("x", importance=0), BadInput),
    "importance 5.5": (lambda m: m.remember("x", importance=5.5), BadInput),  # type: ignore[arg-type]
    "importance True": (lambda m: m.remember("x", importance=True), BadInput),
    "confidence 1.1": (lambda m: m.remember("x", confidence=1.1), BadInput),
    "confidence nan": (lambda m: m.remember("x", confidence=float("nan")), BadInput),
    "valid_from after valid_to": (
        lambda m: m.remember("x", valid_from=START, valid_to=START - timedelta(days=1)), BadTime),
    "a date without zone": (lambda m: m.remember("x", valid_from=NAIVE), BadTime),
    "a date text without zone": (lambda m: m.remember("x", expires_at="2026-03-01T10:00:00"), BadTime),
    "a date that is none": (lambda m: m.remember("x", expires_at="next tuesday"), BadTime),
    "a scope that is no Scope": (lambda m: m.remember("x", scope={"project": "web"}), BadInput),  # type: ignore[arg-type]
    "a huge scope name": (lambda m: m.remember("x", scope=Scope(project="p" * 1000)), TooLarge),
    "an unknown source kind": (lambda m: m.remember("x", source=Source("", "rumour")), BadInput),
    "a source that is no source": (lambda m: m.remember("x", source=42), BadInput),  # type: ignore[arg-type]
    "a huge quote": (lambda m: m.remember("x", evidence="q" * 100_000), TooLarge),
    "an empty question": (lambda m: m.recall("  "), BadInput),
    "a question that is no text": (lambda m: m.recall(None), BadInput),  # type: ignore[arg-type]
    "a huge question": (lambda m: m.recall("why " * 10_000), TooLarge),
    "limit 0": (lambda m: m.recall("x", limit=0), BadInput),
    "limit 10 million": (lambda m: m.recall("x", limit=10_000_000), BadInput),
    "max_tokens 0": (lambda m: m.recall("x", max_tokens=0), BadInput),
    "since after until": (lambda m: m.recall("x", since=START, until=START - timedelta(days=1)), BadTime),
    "since without zone": (lambda m: m.recall("x", since=NAIVE), BadTime),
    "as_of without zone": (lambda m: m.recall("x", as_of=NAIVE), BadTime),
    "an unknown state": (lambda m: m.recall("x", states=["gone"]), BadInput),
    "kinds as one text": (lambda m: m.recall("x", kinds="fact"), BadInput),  # type: ignore[arg-type]
    "an unknown fusion": (lambda m: m.recall("x", fusion="cold"), BadInput),  # type: ignore[arg-type]
    "an id that is not there": (lambda m: m.get(MISSING), NotFound),
    "an id that is no id": (lambda m: m.get("'; drop table memory; --"), NotFound),
    "an id that is no text": (lambda m: m.get(7), NotFound),  # type: ignore[arg-type]
    "an id with a wildcard": (lambda m: m.get("%%%%"), NotFound),
    "editing what is not there": (lambda m: m.edit(MISSING, title="x"), NotFound),
    "editing nothing": (lambda m: m.edit(m.list().memories[0].id), BadInput),
    "editing to nothing": (lambda m: m.edit(m.list().memories[0].id, content=" "), BadInput),
    "editing to importance 11": (lambda m: m.edit(m.list().memories[0].id, importance=11), BadInput),
    "editing to an unknown state": (lambda m: m.edit(m.list().memories[0].id, state="rejected"), BadInput),
    "editing to what another says": (
        lambda m: m.edit(m.list().memories[0].id, content=m.list().memories[1].content), BadInput),
    "forgetting what is not there": (lambda m: m.forget(MISSING), NotFound),
    "forgetting one of two that is not there": (lambda m: m.forget([m.list().memories[0].id, MISSING]), NotFound),
    "rejecting what is not there": (lambda m: m.reject(MISSING), NotFound),
    "taking back what was not rejected": (lambda m: m.reject(m.list().memories[0].id, undo=True), BadInput),
    "an unknown relation": (lambda m: m.link(m.list().memories[0].id, "likes", MISSING), BadInput),
    "a link to nowhere": (lambda m: m.link(m.list().memories[0].id, "related", MISSING), NotFound),
    "a link to itself": (lambda m: m.link(m.list().memories[0].id, "related", m.list().memories[0].id), BadInput),
    "history of what is not there": (lambda m: m.history(MISSING), NotFound),
    "a cursor of nobody": (lambda m: m.list(cursor="<script>"), BadInput),
    "a page of 0": (lambda m: m.list(limit=0), BadInput),
    "many drafts as one text": (lambda m: m.remember_many("abc"), BadInput),
    "a draft that is none": (lambda m: m.remember_many([5]), BadInput),  # type: ignore[list-item]
    "an option that is none": (lambda m: m.recall("x", colour="red"), BadInput),  # type: ignore[call-arg]
    "diversity 2": (lambda m: m.recall("x", diversity=2), BadInput),
    "a recipe that is none": (lambda m: m.recall("x", recipe=[]), BadInput),  # type: ignore[arg-type]
    "a fusion that is no text": (lambda m: m.recall("x", fusion=[]), BadInput),  # type: ignore[arg-type]
    "history of a number": (lambda m: m.history(5), NotFound),  # type: ignore[arg-type]
    "forgetting a number": (lambda m: m.forget(5), NotFound),  # type: ignore[arg-type]
    "forgetting by no words": (lambda m: m.forget(query=" "), BadInput),
    "a context of a number": (lambda m: m.context(5), BadInput),  # type: ignore[arg-type]
    "a context of few tokens": (lambda m: m.context("x", budget=5), BadInput),
    "a context with odd turns": (lambda m: m.context("x", history=["hi"]), BadInput),  # type: ignore[list-item]
    "a file that is not there": (lambda m: m.import_("/nonexistent/file.jsonl"), BadInput),
    "an export to nowhere": (lambda m: m.export("/nonexistent/folder/file.jsonl"), StoreUnavailable),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_error_and_changes_nothing(memory: recollect.Engine, name: str) -> None:
    memory.remember("A first fact.")
    memory.remember("A second fact.")
    before = (memory.stats()["journal"], memory.list(states=[]))
    act, wanted = BAD[name]
    with pytest.raises(wanted) as caught:
        act(memory)
    error = caught.value
    assert error.code
    assert error.message.endswith(".")
    assert error.fix
    assert 400 <= error.status < 600
    assert (memory.stats()["journal"], memory.list(states=[])) == before


def test_a_short_id_that_fits_several_names_them(memory: recollect.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(100))
    monkeypatch.setattr("recollect.core.secrets.randbits", lambda bits: next(numbers) << 40 | 7)
    memory.remember("one")
    memory.remember("two")
    with pytest.raises(Ambiguous, match="several"):
        memory.get("0007")


def test_the_content_limit_is_a_setting(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_CONTENT_LIMIT", "10")
    memory = opened()
    assert memory.remember("x" * 10).action == "created"
    with pytest.raises(TooLarge, match="10"):
        memory.remember("x" * 11)


def test_nul_and_lone_surrogates_are_dropped_and_the_rest_is_kept(memory: recollect.Engine) -> None:
    result = memory.remember("a\x00b\ud800c\r\nd\x1b[31m")
    assert memory.get(result.id).content == "abc\nd[31m"


NASTY = [
    '" OR * NEAR(', "a AND", "NOT", "NEAR(a b, 3)", "title:x", "wall : t1", '"', "''", "a*", "^a", "-a", "(((", ")))",
    "{a b}:c", "'; drop table memory; --", "1 or 1=1", "%", "_", "\\", "\x00", "\ud800", "💥", "a" * 5000, "?",
    ":tenant",
    "AND OR NOT NEAR", "+", ";", "$1", "{where}", "{0}", "%s",
]  # fmt: skip


@pytest.mark.parametrize("nasty", NASTY)
def test_query_syntax_and_sql_are_only_words(memory: recollect.Engine, nasty: str) -> None:
    memory.remember("A harmless fact about tables.")
    kept = memory.remember(f"x {nasty} y", title=nasty[:300], tags=[nasty[:60]], reasoning=nasty, refs=[nasty[:1000]],
                           scope=Scope(project=nasty[:200], user=nasty[:200]), source=nasty[:1000])  # fmt: skip
    if words := nasty.strip("\x00\ud800 "):
        memory.recall(nasty)
        memory.recall(nasty, scope=Scope(project=words[:200]), tags=[words[:60]])
        memory.forget(query=nasty, dry_run=True)
        assert memory.list(scope=Scope(project=words[:200]), tags=[words[:60]]).memories[0].id == kept.id
    assert memory.stats()["memories"] == 2
    assert [check for check in memory._store.check("default") if check.status != "ok"] == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(max_size=200), question=st.text(max_size=80))
def test_any_text_at_all_is_kept_or_refused_cleanly(memory: recollect.Engine, content: str, question: str) -> None:
    if text.fold(text.clean(content)):
        result = memory.remember(content)
        assert result.id in {hit.memory.id for hit in memory.recall(content, limit=1000)}
    else:
        with pytest.raises(BadInput):
            memory.remember(content)
    if text.clean(question):
        memory.recall(question)
    else:
        with pytest.raises(BadInput):
            memory.recall(question)


def as_nobody(path: Path, tmp_path: Path) -> str:
    """What happens in a process that may not write, which root always may."""
    log = tmp_path / "nobody.log"
    process = context.Process(target=write_as_nobody, args=(path, log))
    process.start()
    process.join()
    return log.read_text().strip()


@pytest.fixture
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that any user may look into."""
    folder = tmp_path_factory.mktemp("shared")
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    return folder


def test_a_read_only_store_is_a_clear_error(shared_folder: Path, tmp_path: Path) -> None:
    path = shared_folder / "store.db"
    with recollect.open(path, embedder="off") as memory:
        memory.remember("A fact.")
    path.chmod(0o444)
    shared_folder.chmod(0o555)
    assert as_nobody(path, tmp_path) == "store_read_only"


def test_a_folder_that_cannot_be_written_is_a_clear_error(shared_folder: Path, tmp_path: Path) -> None:
    shared_folder.chmod(0o555)
    assert as_nobody(shared_folder / "new.db", tmp_path) == "store_read_only"


def test_a_store_in_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable):
        recollect.open(tmp_path / "file" / "store.db")


@pytest.mark.parametrize("value", ["x", "-1", "0"])
def test_a_setting_of_the_wrong_kind_names_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str) -> None:
    monkeypatch.setenv("RECOLLECT_RECALL_LIMIT", value)
    with pytest.raises(BadInput, match="RECOLLECT_RECALL_LIMIT"):
        recollect.open(tmp_path / "store.db")


@pytest.mark.parametrize("config", ["no_such_setting = 1", "recall_limit = 'many'", "not toml at all ["])
def test_a_config_file_with_a_mistake_is_named(tmp_path: Path, config: str) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text(config)
    with pytest.raises(BadInput, match=r"config\.toml"):
        recollect.open(tmp_path / "store.db")


def test_times_in_any_zone_are_taken_and_given_in_utc(memory: recollect.Engine) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    id = memory.remember("Zoned.", valid_from=datetime(2026, 1, 1, 5, 30, tzinfo=zone)).id
    kept = memory.get(id).valid_from
    assert kept is not None
    assert kept.isoformat() == "2026-01-01T00:00:00+00:00"


def test_a_closed_engine_says_so(memory: recollect.Engine) -> None:
    memory.remember("A fact.")
    memory.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        memory.list()
