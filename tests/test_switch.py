"""A change of model: the old one answers until the new one has read everything, whatever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

import recollect
from conftest import Opener, Places
from planted import fill, planted
from providers import Asked, Reply, Server
from recollect import Engine
from recollect.errors import ProviderUnavailable
from recollect.models.embedder import load
from recollect.models.hashing import HashingEmbedder
from workers import change_model
from writers import context, lines

OLD = HashingEmbedder()
COUNT, ASKED, BUSY = 2000, 12, 7  # of the server's answers, every seventh is that it has no time


class Other(HashingEmbedder):
    """A model of one's own, which nobody else can load."""

    model = "other/1"


def answered(engine: Engine, questions: dict[str, str]) -> int:
    """How many questions find the memory they were made of among the first ten."""
    return sum(id in [hit.memory.id for hit in engine.recall(question, limit=10)] for id, question in questions.items())


class Busy(Server):
    """A provider whose vectors come fast, and which has no time now and then."""

    refused = 0

    def right(self, asked: Asked) -> Reply:
        if len(self.asked) % BUSY == 0:
            self.refused += 1
            return Reply(429, {"error": "slow down"}, {"Retry-After": "0"})
        return super().right(asked)


def test_a_change_of_model_that_is_killed_twice_goes_on_and_every_question_is_answered_meanwhile(
    place: Places, opened: Opener, tmp_path: Path
) -> None:
    made = planted(COUNT, datetime.now(UTC))
    wanted = made.memories
    with Busy() as server:
        url = f"ollama://{server.host}/nomic-embed-text"
        engine = opened(embedder=url, now=lambda: datetime.now(UTC))
        fill(engine._store, "default", wanted, OLD, datetime.now(UTC))
        new = load(url).model
        doubled = {id for pair in (*made.same.items(), *made.opposed) for id in pair}
        plain = [m for m in wanted if m.expires_at is None and m.valid_to is None and m.id not in doubled][:ASKED]
        questions = {one.id: one.content for one in plain}
        by_words = answered(opened(embedder="off", now=lambda: datetime.now(UTC)), questions)
        log = tmp_path / "log"
        for life in range(3):
            child = context.Process(target=change_model, args=(place(), log, url))
            child.start()
            begun = len(lines(log))
            while child.is_alive() and not (life < 2 and len(lines(log)) >= begun + 5):
                assert answered(engine, questions) >= by_words
                time.sleep(0.05)
            if life < 2:
                assert child.pid
                os.kill(child.pid, signal.SIGKILL)
                counts = engine.stats()["embedded"]
                assert counts[OLD.model] == len(wanted), "the old vectors serve until all new ones are there"
                assert 0 < counts[new] < len(wanted)
            child.join(60)
        assert ["done", "0", "0"] in lines(log)
        assert engine.stats()["embedded"] == {new: len(wanted)}
        done = [int(step) for word, step, _ in lines(log) if word == "step"]
        assert sum(b <= a for a, b in pairwise(done)) == 2, "each life begins where the one before ended"
        assert server.refused
        engine = opened(embedder=url, now=lambda: datetime.now(UTC))
        assert answered(engine, questions) >= by_words
        assert "vector" in engine.recall("which port?").arms


def test_a_model_that_is_gone_is_not_compared_with_another(opened: Opener) -> None:
    engine = opened(embedder=Other())
    for number in range(20):
        engine.remember(f"Service {number} listens on port {8000 + number}.")
    engine.close()
    engine = opened(embedder="hashing")
    found = engine.recall("which service listens on port 8007?")
    assert found.hits[0].memory.content == "Service 7 listens on port 8007."
    assert "vector" not in found.arms
    assert "other/1 cannot be had any more" in found.skipped[0]
    engine.embed()
    assert engine.stats()["embedded"] == {"hashing/1": 20}
    assert "vector" in opened(embedder="hashing").recall("which service listens on port 8009?").arms


def test_the_old_model_answers_where_it_can_be_had(opened: Opener) -> None:
    engine = opened(embedder="hashing")
    engine.remember_many([f"Service {number} listens on port {8000 + number}." for number in range(20)])
    engine = opened(embedder=Other())
    found = engine.recall("which service listens on port 8007?")
    assert "vector" in found.arms
    assert engine.stats()["embedded"] == {"hashing/1": 20}
    engine.remember("Service 99 listens on port 9999.")
    assert engine.stats()["embedded"] == {"hashing/1": 20, "other/1": 1}
    assert engine.recall("which service listens on port 9999?").hits[0].memory.content.startswith("Service 99")


def test_a_server_that_has_no_time_pauses_the_change_and_loses_nothing(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBED_BATCH", "4")
    engine = opened(embedder="hashing")
    engine.remember_many([f"Service {number} listens on port {8000 + number}." for number in range(12)])
    engine.close()
    with Server() as server:
        engine = opened(embedder=f"ollama://{server.host}/nomic-embed-text")

        def step(done: int, total: int) -> None:
            if done == 4:
                server.script = [Reply(429, {}, {"Retry-After": "3600"})]

        with pytest.raises(ProviderUnavailable, match="3600"):
            engine.embed(progress=step)
        counts = engine.stats()["embedded"]
        assert sorted(counts.values()) == [4, 12]
        assert "vector" in engine.recall("which port has service 7?").arms
        assert engine.embed() == 8
        assert list(engine.stats()["embedded"].values()) == [12]


def test_no_question_meets_vectors_of_another_model(opened: Opener) -> None:
    engine = opened(embedder="hashing")
    engine.remember("Deploys go out on Thursdays.")
    store, vector = engine._store, OLD.embed(["Deploys go out on Thursdays."], "query")[0]
    assert store.nearest("default", "other/1", vector, recollect.types.Filter(), 5) == []
    assert store.cosines("default", "other/1", vector, [engine.list().memories[0].id]) == {}
