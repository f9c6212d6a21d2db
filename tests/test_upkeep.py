"""Upkeep: recall that is measured, backups that are read back, numbers for whoever watches, a tidy database."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import START, Clock, Opener, Places, open_store
from planted import fill, planted
from recollect import BadInput, Engine, Message, Scope
from recollect.cli import cli, screen
from recollect.models.hashing import HashingEmbedder
from recollect.settings import Settings
from recollect.store.copy import parts
from recollect.store.sqlite import SQLiteStore
from recollect.upkeep import backup as backups
from recollect.upkeep import health
from served import serving

MODEL = HashingEmbedder()


def quiet(done: int, total: int) -> None:
    """No progress bar."""


@pytest.fixture
def filled(opened: Opener) -> Engine:
    engine = opened()
    memories = [replace(one, tags=(*one.tags, f"t{n % 9}")) for n, one in enumerate(planted(600, START).memories)]
    fill(engine._store, "default", memories, MODEL, START)
    return engine


# -- the health of recall ---------------------------------------------------------------------------------------------


def test_a_sound_index_is_healthy_with_every_filter(filled: Engine, tmp_path: Path) -> None:
    found = filled.health.run()
    assert found.status == "ok"
    assert set(found.recall) == {"all", "project", "tag", "time"}
    assert min(found.recall.values()) >= 0.9
    assert found.questions == health.QUESTIONS
    kept = filled.settings.home / health.FILE
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    told = kept.read_text()
    assert "default" not in told.replace('"model"', ""), "not even the name of the tenant"
    words = {word for one in filled.list(limit=50).memories for word in one.content.split() if len(word) > 6}
    assert not [word for word in words if word in told]
    assert not list(kept.parent.glob("*.new"))
    assert filled.health.last() == found
    assert not filled.health.due(24)


def test_a_broken_index_is_noticed_built_again_and_measured_again(opened: Opener, backend: str) -> None:
    if backend == "postgres":
        pytest.skip("a small store has no vector index on PostgreSQL: every vector is scored")
    engine = opened()
    fill(engine._store, "default", planted(3000, START).memories, MODEL, START)
    assert engine.health.run().status == "ok"
    store = engine._store
    assert isinstance(store, SQLiteStore)
    [index] = store._indexes.values()
    index.bits.packed[:] = 0  # every vector looks the same now
    found = engine.health.run(rebuild=False)
    assert found.status == "alert"
    assert "below 0.90" in found.alerts[0]
    found = engine.health.run()
    assert found.status == "rebuilt"
    assert min(found.recall.values()) >= 0.9


def test_a_drop_from_the_first_measurement_is_an_alert() -> None:
    alerts = health.Checkup._alerts({"all": 0.93, "tag": 0.97, "time": 0.89}, {"all": 0.99, "tag": 0.99, "time": 0.9})
    assert alerts == ["recall@10 is 0.89 (time), below 0.90", "recall@10 fell from 0.99 to 0.93 (all)"]


def test_milestones_are_told_once(filled: Engine, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(health, "MILESTONES", ((500, "look at it"), (100, "nothing to do")))
    caplog.set_level("INFO", "recollect.health")
    assert (filled.health.run().milestone, filled.health.run().advice) == (500, "look at it")
    assert [record.getMessage() for record in caplog.records].count(f"{count(filled)} memories: look at it") == 1


def count(engine: Engine) -> int:
    return len([1 for one in engine._store.page("default", recollect.types.Filter(), None, 10**5)])


def test_without_a_model_nothing_is_measured_and_that_is_said(opened: Opener) -> None:
    assert opened(embedder="off").health.run().status == "unknown"
    assert opened("empty.db").health.run().status == "unknown"


def test_damaged_notes_are_begun_anew(filled: Engine) -> None:
    path = filled.settings.home / health.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{ not json")
    assert filled.health.run().status == "ok"
    assert json.loads(path.read_text())


# -- backups ----------------------------------------------------------------------------------------------------------


def busy(opened: Opener) -> Engine:
    engine = opened()
    for number in range(30):
        engine.remember(
            f"Service {number} listens on port {8000 + number}.", tags=["ports"], scope=Scope(project="shop")
        )
    engine.capture([Message("user", "We decided to use pnpm because it is fast.")], session="s1")
    engine.reject(engine.remember("Deploy on Fridays.").id)
    engine.for_caller(tenant="globex").remember("Another house.")
    engine.tokens.create(can=["read"], name="ci")
    engine.recall("which port?")
    engine.stats()  # which writes what is noted
    return engine


def test_a_backup_is_the_whole_store_and_comes_back_as_it_was(
    opened: Opener, place: Places, tmp_path: Path, backend: str
) -> None:
    engine, file = busy(opened), tmp_path / "saved" / "monday.db"
    made = backups.backup(engine._store, file, datetime.now(UTC), quiet)
    assert "same by count and hash" in made.verified
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = list(parts(engine._store, quiet))
    engine.remember("This comes after the backup.")
    engine.close()
    target = place() if backend == "sqlite" else place("another")
    done = backups.restore(file, replace(Settings(), store=target, home=tmp_path), datetime.now(UTC), quiet)
    assert (done.memories, done.tenants) == (made.memories, 2)
    assert bool(done.aside) == (backend == "sqlite")
    with closing(open_store(target, START)) as store:
        assert list(parts(store, quiet)) == before
    restored = opened("store.db" if backend == "sqlite" else "another")
    assert restored.recall("which service listens on port 8007?").hits[0].memory.content.endswith("8007.")
    assert restored.remember("Deploy on Fridays.").action == "refused"
    if done.aside:  # what was there is not lost
        with closing(open_store(done.aside, START)) as old:
            assert old.head("default") > restored.head - 5


def test_a_backup_while_others_write_is_one_moment_of_the_store(opened: Opener, tmp_path: Path) -> None:
    engine = busy(opened)
    writing = True

    def write() -> None:
        number = 0
        while writing:
            engine.remember(f"Meanwhile number {number} was written down.")
            number += 1

    thread = Thread(target=write)
    thread.start()
    try:
        made = backups.backup(engine._store, tmp_path / "live.db", datetime.now(UTC), quiet)
    finally:
        writing = False
        thread.join()
    assert made.verified
    with closing(open_store(tmp_path / "live.db", START)) as store:
        assert store.head("default") <= engine.head
        assert [check.status for check in store.check("default")].count("broken") == 0


def test_a_backup_writes_over_nothing_and_a_restore_believes_nothing(opened: Opener, tmp_path: Path) -> None:
    engine, file = busy(opened), tmp_path / "b.db"
    file.write_text("mine")
    with pytest.raises(BadInput, match="there already"):
        backups.backup(engine._store, file, datetime.now(UTC), quiet)
    assert file.read_text() == "mine"
    wanted = replace(Settings(), store=str(tmp_path / "new.db"), home=tmp_path)
    with pytest.raises(recollect.NotADatabase):
        backups.restore(file, wanted, datetime.now(UTC), quiet)
    with pytest.raises(BadInput, match="no backup"):
        backups.restore(tmp_path / "none.db", wanted, datetime.now(UTC), quiet)
    assert not (tmp_path / "new.db").exists()


# Whether a process of its own gets the lock that SQLite takes on the whole file: nobody else may have it open then.
LOCKS = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
        print("free")
    except OSError:
        print("held")
"""


def test_a_store_that_somebody_has_open_keeps_its_locks_while_it_is_restored_from(tmp_path: Path) -> None:
    """SQLite's locks end when a process closes any handle of the file, and others take it for one that nobody uses."""

    def lock(name: str) -> str:
        command = [sys.executable, "-c", LOCKS, str(tmp_path / name)]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()

    with recollect.open(tmp_path / "a.db", embedder="hashing") as engine:
        engine.remember("Deploys go out on Thursdays.")
        assert lock("a.db") == "held"
        backups.backup(engine._store, tmp_path / "saved.db", datetime.now(UTC), quiet)
        wanted = replace(Settings(), store=str(tmp_path / "b.db"), home=tmp_path)
        assert backups.restore(tmp_path / "a.db", wanted, datetime.now(UTC), quiet).memories == 1
        assert lock("a.db") == "held"
        with recollect.open(tmp_path / "a.db", embedder="hashing"):
            pass
        assert lock("a.db") == "held"
    assert lock("a.db") == "free"
    with recollect.open(tmp_path / "b.db", embedder="hashing") as engine:
        engine.remember("Not on Fridays.")
        assert (tmp_path / "b.db-wal").exists(), "what was put back is a store like any other, with a log"


def test_the_commands_back_up_and_restore(opened: Opener, place: Places, tmp_path: Path, backend: str) -> None:
    busy(opened).close()
    run = CliRunner().invoke
    made = run(cli, ["--store", place(), "backup", str(tmp_path / "b.db")])
    assert made.exit_code == 0, made.output
    assert "verified" in made.output
    target = str(tmp_path / "fresh.db")
    done = run(cli, ["--store", target, "--json", "restore", str(tmp_path / "b.db")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["memories"] > 30


# -- the database -----------------------------------------------------------------------------------------------------


def test_a_tidy_store_answers_as_before_and_look_ups_still_search(
    filled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import test_plans
    from recollect.store import sqlite_tending

    monkeypatch.setattr(sqlite_tending, "LARGE", 100)
    monkeypatch.setattr(sqlite_tending, "WORTH", 1)
    monkeypatch.setattr(sqlite_tending, "SPARE", 0.0)
    before = [hit.memory.id for hit in filled.recall("which port?")]
    done = filled._store.tidy()
    assert "memory" in done["analyzed"]
    assert done["vacuumed"]
    filled._shared.recalls.clear()
    assert [hit.memory.id for hit in filled.recall("which port?")] == before
    assert not [check for check in filled._store.check("default") if check.status == "broken"]
    if isinstance(filled._store, SQLiteStore):
        for name in test_plans.STATEMENTS:
            test_plans.test_a_look_up_searches_by_more_than_the_tenant(filled._store, name)


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_metrics_tell_what_every_part_does(opened: Opener, clock: Clock) -> None:
    engine = busy(opened)
    engine.health.run()
    engine.janitor.run()
    engine.capture([Message("user", "We decided to use uv because it is fast.")], session="s9", later=True)
    worker = engine.jobs.worker()
    worker.start(stay=False)
    worker.join()
    engine.remember("checkout-web depends on auth-service.")
    engine.extract_entities()
    engine.knowledge().query("checkout-web")
    engine.remember("Nobody has read this note yet.")
    health = engine.health.run()
    with serving(engine) as server:
        for _ in range(3):
            server.call("POST", "/v1/recall", {"query": "which service listens on port 8003?"})
        head, sample = engine.head, screen.read(server.call("GET", "/metrics").body.decode())
        token = server.call("POST", "/v1/tokens", {"can": ["read"], "project": "shop"}).data["secret"]
        walled = screen.read(server.call("GET", "/metrics", token=token).body.decode())
    name = "recollect_recall_stage_seconds"
    for stage in ("text", "embed", "vector", "fuse", "rank", "select", "all"):
        quantiles = [sample.of(name, stage=stage, quantile=q) for q in ("0.5", "0.95", "0.99")]
        assert quantiles == sorted(quantiles)
        assert sample.of(f"{name}_count", stage=stage) >= 1
    assert sample.of("recollect_recall_arm_hits_total", arm="vector") > 0
    assert sample.of("recollect_index_recall", filter="all") == 1.0
    assert health.graph["unread"] == sample.of("recollect_graph", of="unread") == 1
    assert health.graph["edges"] == sample.of("recollect_graph", of="edges") >= 1
    assert health.graph["hop 1 p95 ms"] > 0
    assert sample.of("recollect_graph_hop_seconds_count", hop="1") >= 1
    assert sample.of("recollect_graph_candidates_total", hop="1") >= 1
    assert sample.of("recollect_write_readable_seconds_count") == 1
    assert sample.of("recollect_journal_seq") == head
    assert "day" in sample.by("recollect_models_dollars", "window")
    assert sample.of("recollect_janitor_finished_seconds") > 0
    assert name not in walled.values, "what the whole tenant does is not for somebody who sees a part of it"
    drawn = screen.drawn(sample, sample)
    assert "vector" in drawn
    assert "recall@10" in drawn


def test_top_needs_a_daemon(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["top", "--once"])
    assert result.exit_code == 6
    assert "recollect serve" in result.output


class Collector:
    """A collector of spans on the loopback, which takes what an exporter sends."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = Thread(target=made.http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_spans_go_to_whoever_collects_them_without_a_word_of_what_was_asked(
    opened: Opener, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setenv("RECOLLECT_TRACES", f"http://127.0.0.1:{collector.http.server_address[1]}/v1/traces")
    engine = opened()
    engine.remember("The xyzzy gateway listens on port 8443.")
    with engine.watch.span("recollect.context"):
        engine.recall("where does xyzzy listen?")
    engine.watch._trace().span_processor.force_flush()
    sent = b"".join(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in collector.bodies)
    for name in (b"recollect.context", b"recollect.recall", b"recollect.recall.vector"):
        assert name in sent
    assert b"xyzzy" not in sent


def test_which_memories_were_used_and_why_is_in_the_log(opened: Opener, caplog: Any) -> None:
    caplog.set_level("DEBUG", "recollect.recall")
    engine = opened()
    kept = engine.remember("The xyzzy gateway listens on port 8443.").id
    engine.recall("where does xyzzy listen?")
    [record] = [one for one in caplog.records if one.getMessage() == "recalled"]
    assert record.fields["hits"][0][0] == kept


def test_the_daemon_keeps_a_run_waiting(opened: Opener, clock: Clock, tmp_path: Path) -> None:
    import threading

    from recollect.serve.work import Work

    engine = opened(now=lambda: datetime.now(UTC))
    work = Work(engine, tmp_path, threading.Event())
    work._schedule()
    assert engine.jobs.list() == (), "an empty store has nothing to clean"
    engine.remember("Use pnpm.")
    engine.for_caller(tenant="globex").remember("Use yarn.")
    work._schedule()
    work._schedule()
    for one in (engine, *engine.other_tenants()):
        [job] = one.jobs.list()
        assert (job.kind, job.state) == ("janitor", "queued")
        assert job.run_at > datetime.now(UTC) + timedelta(hours=23)
