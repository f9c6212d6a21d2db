"""The watcher and the daily log: files followed as they change, a line for a new memory, and no feeding in circles."""

from __future__ import annotations

import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollect
from conftest import START, Clock, Opener
from recollect.errors import BadInput
from recollect.project import watch
from recollect.project.bank import BankWriter
from recollect.project.journal import WIDTH, DailyLog
from recollect.project.watch import Watcher, watched_folders
from recollect.serve.work import Work
from recollect.settings import Settings
from recollect.types import Draft, Source

PATIENCE = 60.0  # seconds until something that must happen is given up


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def said(memory: recollect.Engine) -> set[str]:
    return {one.content for one in memory.list(limit=1000).memories}


def holds(what: Callable[[], bool]) -> bool:
    """Whether something comes to hold, sooner or later."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    stopping = threading.Event()
    thread = threading.Thread(target=watcher.run, args=(stopping,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


# -- looking once -----------------------------------------------------------------------------------------------------


def test_everything_that_is_there_is_taken_in_at_first_and_nothing_the_second_time(
    memory: recollect.Engine, notes: Path
) -> None:
    (notes / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n")
    (notes / "deep").mkdir()
    (notes / "deep" / "b.md").write_text("# Queue\n\nThe queue lives on disk.\n")
    (notes / "code.py").write_text("print('not markdown')\n")
    (notes / "node_modules").mkdir()
    (notes / "node_modules" / "c.md").write_text("# Junk\n\nNot ours.\n")
    done = Watcher(memory, [notes]).scan()
    assert done.files == 2
    told = said(memory)
    assert any("The cache lives in memory." in one for one in told)
    assert not any("Not ours" in one or "not markdown" in one for one in told)
    head = memory.head
    again = Watcher(memory, [notes]).scan()
    assert (again.files, again.unchanged, memory.head) == (0, 2, head)


def test_a_file_over_a_hundred_kilobytes_is_passed_over_and_that_is_said(memory: recollect.Engine, notes: Path) -> None:
    (notes / "large.md").write_text("# Large\n\n" + "word " * 25_000)
    heard: list[str] = []
    done = Watcher(memory, [notes], said=heard.append).scan()
    assert said(memory) == set()
    assert done.skipped == heard == [f"{os.path.realpath(notes / 'large.md')} is larger than 100 KB"]


def test_what_was_deleted_while_nobody_watched_is_retired(memory: recollect.Engine, notes: Path) -> None:
    (notes / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n")
    (notes / "b.md").write_text("# Queue\n\nThe queue lives on disk.\n")
    Watcher(memory, [notes]).scan()
    (notes / "a.md").unlink()
    assert Watcher(memory, [notes]).scan().retired >= 1
    assert not any("cache" in one for one in said(memory))
    assert any("queue" in one for one in said(memory))


def test_a_folder_that_is_not_there_is_an_error(memory: recollect.Engine, notes: Path) -> None:
    with pytest.raises(BadInput, match="is no folder"):
        Watcher(memory, [notes / "nowhere"])


def test_the_setting_names_several_folders(tmp_path: Path) -> None:
    assert watched_folders(Settings(watch=f"{tmp_path}/a{os.pathsep} {tmp_path}/b {os.pathsep}")) == [
        tmp_path / "a",
        tmp_path / "b",
    ]
    assert watched_folders(Settings()) == []


# -- following --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("poll", [False, True], ids=["told", "polling"])
def test_files_are_followed_as_they_come_change_and_go(opened: Opener, notes: Path, poll: bool) -> None:
    memory = opened(now=None)
    (notes / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n\n# Queue\n\nThe queue lives on disk.\n")
    watcher = Watcher(memory, [notes], poll=poll)
    with watching(watcher):
        assert holds(lambda: any("cache" in one for one in said(memory)))
        (queue,) = [one for one in memory.list(limit=50).memories if "queue lives" in one.content]
        (notes / "b.md").write_text("# Log\n\nThe log is kept for a week.\n")
        assert holds(lambda: any("for a week" in one for one in said(memory)))
        text = (notes / "a.md").read_text().replace("in memory", "on a server")
        (notes / "a.md").write_text(text)
        assert holds(lambda: any("on a server" in one for one in said(memory)))
        assert holds(lambda: not any("lives in memory" in one for one in said(memory)))
        assert memory.get(queue.id, peek=True).version == queue.version, "only the section that changed is new"
        (notes / "b.md").unlink()
        assert holds(lambda: not any("for a week" in one for one in said(memory)))
    assert watcher.done.skipped == []


def test_a_folder_that_is_moved_away_takes_what_it_said_with_it(opened: Opener, notes: Path, tmp_path: Path) -> None:
    memory = opened(now=None)
    (notes / "deep").mkdir()
    (notes / "deep" / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n")
    with watching(Watcher(memory, [notes])):
        assert holds(lambda: bool(said(memory)))
        (notes / "deep").rename(tmp_path / "elsewhere")
        assert holds(lambda: not said(memory))


def test_a_file_is_read_when_it_has_been_quiet(
    memory: recollect.Engine, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten saves in a row are one reading: time is set by hand, and the changes are given."""
    now = [100.0]
    monkeypatch.setattr(watch, "monotonic", lambda: now[0])
    path = Path(os.path.realpath(notes)) / "a.md"
    seen: list[int] = []

    def changes(_: threading.Event) -> Iterator[set[Path]]:
        yield set()
        for n in range(10):
            path.write_text(f"# Cache\n\nThe cache is of version {n}.\n")
            now[0] += 0.4
            yield {path}
            seen.append(watcher.done.files)
        now[0] += 0.5
        yield set()
        seen.append(watcher.done.files)

    watcher = Watcher(memory, [notes])
    monkeypatch.setattr(watcher, "_changes", changes)
    watcher.run(threading.Event())
    assert seen == [0] * 10 + [1]
    assert {one for one in said(memory) if "version" in one} == {one for one in said(memory) if "version 9" in one}


def test_what_was_saved_just_before_the_end_is_not_lost(
    memory: recollect.Engine, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(memory, [notes])
    path = Path(os.path.realpath(notes)) / "a.md"

    def changes(_: threading.Event) -> Iterator[set[Path]]:
        yield set()
        path.write_text("# Cache\n\nThe cache lives in memory.\n")
        yield {path}

    monkeypatch.setattr(watcher, "_changes", changes)
    assert watcher.run(threading.Event()).files == 1


def test_where_the_system_cannot_tell_the_folders_are_looked_through(
    opened: Opener, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(now=None)
    monkeypatch.setitem(sys.modules, "watchfiles", None)  # as where it is not installed
    heard: list[str] = []
    with watching(Watcher(memory, [notes], said=heard.append)):
        assert holds(lambda: bool(heard))
        (notes / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n")
        assert holds(lambda: bool(said(memory)))
    assert "looking every 1 s instead" in heard[0]


# -- the daily log ----------------------------------------------------------------------------------------------------


def lines(folder: Path) -> list[str]:
    found = [line for path in sorted(folder.glob("*.md")) for line in path.read_text("utf-8").splitlines()]
    return [line for line in found if line.startswith("- ")]


def test_a_day_has_a_file_and_a_memory_a_line(memory: recollect.Engine, clock: Clock, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    log = DailyLog(memory, folder)
    memory.remember("From before the log began.")
    assert log.run() == 0
    kept = memory.remember("We deploy on Thursdays. " + "Because. " * 60, kind="decision", title="Deploy day")
    memory.remember("We deploy on Thursdays. " + "Because. " * 60)
    clock.forward(days=1)
    memory.remember("Next day.\nSecond line.")
    assert log.run() == 2, "what was said again is no new memory"
    assert sorted(path.name for path in folder.iterdir()) == ["2026-03-02.md", "2026-03-03.md"]
    first, second = lines(folder)
    assert first.startswith(f"- {START:%H:%M}:00 decision · Deploy day: We deploy on Thursdays. Because.")
    assert first.endswith(f" · recollect:test ({kept.id[-8:]})")
    assert len(first) <= WIDTH
    assert "fact · Next day. Second line. · recollect:test (" in second
    assert (folder / "2026-03-02.md").read_text().startswith("# 2026-03-02\n\n- ")
    assert stat.S_IMODE((folder / "2026-03-02.md").stat().st_mode) == 0o600
    assert log.run() == 0


def test_what_came_from_a_file_and_what_was_only_said_is_not_logged(memory: recollect.Engine, tmp_path: Path) -> None:
    log = DailyLog(memory, tmp_path / "log")
    log.run()
    memory.remember_many([
        Draft("From a file.", source=Source("", "file", "file:a.md")),
        Draft("From a commit.", source=Source("", "commit", "commit:abc")),
        Draft("Said in a session.", kind="turn", speaker="user"),
        Draft("Learnt in a talk.", source=Source("", "turn", session="s")),
    ])  # fmt: skip
    assert log.run() == 1
    assert "Learnt in a talk. · turn s (" in lines(tmp_path / "log")[0]


def test_a_purge_takes_its_line_out_of_the_log(memory: recollect.Engine, tmp_path: Path) -> None:
    log = DailyLog(memory, tmp_path / "log")
    log.run()
    gone = memory.remember("The door code is four nines.")
    memory.remember("Knock twice.")
    log.run()
    memory.forget(gone.id, purge=True)
    log.run()
    assert [line.split(" · ")[1][:12] for line in lines(tmp_path / "log")] == ["Knock twice."]


def test_the_watcher_and_the_log_do_not_feed_each_other(opened: Opener, notes: Path) -> None:
    """The log lies in the watched folder: each run of one gives the other something to read, and it ends there."""
    memory = opened(now=None)
    log, watcher = DailyLog(memory, notes), Watcher(memory, [notes])
    log.run()
    watcher.scan()
    memory.remember("We deploy on Thursdays.", kind="decision")
    memory.remember("Retry with jitter.", kind="pattern")
    assert log.run() == 2
    watcher.scan()
    indexed = [one for one in memory.list(limit=50).memories if one.kind not in ("decision", "pattern")]
    assert indexed, "the log was read like any other file"
    for _ in range(5):
        head = memory.head
        assert log.run() == 0, "and what was read from it is not logged"
        BankWriter(memory).run()
        watcher.scan()
    assert memory.head == head
    assert len(lines(notes)) == 2


def test_the_daemon_watches_and_logs_at_the_same_time(
    opened: Opener, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RECOLLECT_WATCH", str(notes))
    monkeypatch.setenv("RECOLLECT_DAILY_LOG", str(notes))
    monkeypatch.setattr("recollect.serve.work.EVERY", 0.05)
    memory = opened(now=None)
    stopping = threading.Event()
    work = Work(memory, memory.settings.home, stopping)
    with caplog.at_level(logging.WARNING):
        work.start()
        assert holds(lambda: (memory.settings.home / "follow" / "daily.json").exists())
        memory.remember("Retry with jitter.", kind="pattern")
        (notes / "a.md").write_text("# Cache\n\nThe cache lives in memory.\n")
        assert holds(lambda: len(lines(notes)) == 1)
        assert holds(lambda: any("cache" in one for one in said(memory)))
        assert holds(lambda: any("Retry with jitter. · " in one for one in said(memory))), "the log itself was read"
        assert holds(lambda: (memory.settings.bank_path / "patterns.md").exists())
        assert work.stop(PATIENCE)
    assert len(lines(notes)) == 1
    assert caplog.records == []
