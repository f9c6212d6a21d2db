"""One model serves a store: processes with different ones do not undo each other, and say that they differ."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from conftest import Clock, Opener, Places
from recollect import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.serve.work import Work
from recollect.upkeep import doctor, switch
from replay import entries_of, replayed, state_of

TENANT = "default"
COUNT = 12


class Other(HashingEmbedder):
    """A model of one's own, which nobody else can load."""

    model = "other/1"


class Third(HashingEmbedder):
    model = "third/1"


def filled(engine: Engine) -> None:
    engine.remember_many([f"Service {number} listens on port {8000 + number}." for number in range(COUNT)])


def vectors(engine: Engine) -> dict[str, int]:
    found: dict[str, int] = engine.stats()["embedded"]
    return found


def round_of(engine: Engine) -> None:
    """What the daemon does when it looks for memories without a vector."""
    Work(engine, engine.settings.home, threading.Event())._embed()


def changes(engine: Engine) -> list[str]:
    return [entry.reason for entry in entries_of(engine._store, TENANT) if entry.operation == "serve"]


def test_two_daemons_with_different_models_change_over_once_and_not_back(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    one = opened()
    filled(one)
    round_of(one)
    assert changes(one) == [], "nothing was changed, so there is nothing to tell"
    two = opened(embedder=Other())
    round_of(two)  # its setting is new: that is a change of model
    assert vectors(one) == {"other/1": COUNT}
    assert changes(one) == ["hashing/1", "other/1"]
    for number in range(3):
        one.remember(f"Meanwhile {number} was said.")
        with caplog.at_level(logging.WARNING):
            round_of(one)
        assert "other/1 serves this store, and hashing/1 is set here" in caplog.text
        assert vectors(two)["other/1"] == COUNT + number
        round_of(two)
        assert vectors(two) == {"other/1": COUNT + number + 1}, "what is written with another model gets its vector"
    assert changes(one) == ["hashing/1", "other/1"]


def test_a_half_made_change_is_left_alone_by_a_process_with_the_old_model(opened: Opener) -> None:
    one, two = opened(), opened(embedder=Other())
    filled(one)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        two.embed(progress=stop)
    half = vectors(one)
    assert half["hashing/1"] == COUNT
    assert half["other/1"] > 0
    round_of(one)
    assert vectors(one) == half
    assert "vector" in one.recall("which service listens on port 8007?").arms, "the old one answers until then"
    round_of(two)
    assert vectors(one) == {"other/1": COUNT}


def test_a_person_changes_over_and_back(opened: Opener, place: Places) -> None:
    one, two = opened(), opened(embedder=Other())
    filled(one)
    two.embed()
    assert vectors(one) == {"other/1": COUNT}
    assert one.embed(change="never") == one.embed(change="new") == 0
    assert one.embed() == COUNT, "asked for, it is changed back"
    assert vectors(one) == {"hashing/1": COUNT}
    round_of(two)
    assert vectors(one) == {"hashing/1": COUNT}
    job = two.embed_later(change="never")
    worker = two.jobs.worker()
    worker.start(stay=False)
    worker.join()
    assert two.jobs.get(job.id).state == "done"
    assert vectors(one) == {"hashing/1": COUNT}
    assert changes(one) == ["hashing/1", "other/1", "hashing/1"]
    assert [(e.actor, e.noun) for e in one.audit(operations=["serve"]).entries] == [("test", "note")] * 3
    copy = replayed(one._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(one._store, TENANT)
    assert switch.Serving.told(copy, TENANT).model == "hashing/1", "a copy of the store knows it too"
    copy.close()


def test_an_import_with_another_model_set_changes_nothing_over(opened: Opener, tmp_path: Path) -> None:
    one = opened()
    filled(one)
    (tmp_path / "more.jsonl").write_text('{"content": "Service 99 listens on port 9999."}\n')
    two = opened(embedder=Other())
    two.import_(tmp_path / "more.jsonl")
    assert vectors(one) == {"hashing/1": COUNT}
    assert one.embed(change="never") == 1, "the process with the serving model sees to it"


def test_an_engine_that_had_settled_notices_a_change_by_somebody_else(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = opened(), opened(embedder=Other()), opened(embedder=Third())
    filled(two)
    two.embed()
    assert "vector" in two.recall("which service listens on port 8001?").arms
    one.embed()
    monkeypatch.setattr(switch, "AGAIN", -1.0)
    found = two.recall("which service listens on port 8002?")
    assert "vector" in found.arms, "the one that serves can be had here, and answers"
    three.embed()
    found = two.recall("which service listens on port 8003?")
    assert "vector" not in found.arms
    assert "third/1" in found.skipped[0]


def test_doctor_and_health_say_that_another_model_serves(opened: Opener, place: Places, clock: Clock) -> None:
    two = opened(embedder=Other())
    filled(two)
    one = opened()
    told = "other/1 serves this store, and hashing/1 is set here"
    found = doctor.diagnose("1", clock(), store=place(), embedder="hashing")
    (check,) = [check for check in found.checks if check.name == "vectors"]
    assert (check.status, check.detail, check.fix) == ("warning", told, switch.FIX)
    assert not found.unembedded, "doctor --fix leaves the choice to a person"
    assert (one.health.run().status, one.health.run().alerts) == ("unknown", (told,))
    assert two.health.run().status == "ok"
