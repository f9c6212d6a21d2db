"""Shared fixtures: a clock that tests set, a real store of each kind, and an engine on it.

Whatever asks for `store`, `opened`, `memory` or `place` runs once on SQLite and once on PostgreSQL. A module that is
about one of them has a fixture `backend` of its own that names it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import postgres
import recollect
from llama import MODEL, serving
from recollect.capture import durable
from recollect.capture.durable import InContext, Judged
from recollect.store import open_store as store_at
from recollect.store.contract import Store

pytest.register_assert_rewrite("looking")  # a plugin that test modules also import from
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# How long a machine takes says nothing about whether the code is right.
hypothesis.settings.register_profile("recollect", deadline=None)
hypothesis.settings.load_profile("recollect")
BACKENDS = ("sqlite", "postgres")
NOT_TESTED = "PostgreSQL was not tested"
NO_PAGE = "THE PAGE WAS NOT TESTED"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that leads the run, not one of xdist's workers
        watch = postgres.prepare()
        config.add_cleanup(lambda: postgres.finish(watch))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    if reasons := [reason for reason in skipped if NOT_TESTED in reason]:
        told = reasons[0].partition(NOT_TESTED)[2].rstrip("')")
        terminalreporter.write_line(f"{NOT_TESTED}{told} ({len(reasons)} tests)", red=True, bold=True)
    if any(NO_PAGE in reason for reason in skipped):
        why = "no Chromium, or the package playwright is missing"
        terminalreporter.write_line(f"{NO_PAGE}: {why}", red=True, bold=True)


class KeepsStatements:
    """In place of the fitted decision: keeps what looks like a statement, so that tests do not hang on weights.

    Tests of the decision itself, and the evaluation, use the real one.
    """

    threshold = 0.5
    TALK = re.compile(r"(?:run|thanks|go on|nice|hello|hi|hey|ok|fix|let me|read|let's|why|please)\b", re.IGNORECASE)
    KINDS = (
        ("prefer", "preference"),
        ("never", "rule"),
        ("always", "rule"),
        ("don't", "rule"),
        ("decided", "decision"),
    )

    def __init__(self, embedder: object = None) -> None:
        pass

    def judge(self, statements: Sequence[InContext]) -> list[Judged]:
        return [Judged(0.9 * self.keeps(one.text), self.kind(one.text), ("words",)) for one in statements]

    def keeps(self, said: str) -> bool:
        return len(said.split()) >= 3 and not self.TALK.match(said)

    def kind(self, said: str) -> str:
        return next((kind for word, kind in self.KINDS if word in said.lower().split()), "fact")


@pytest.fixture(autouse=True)
def plain_decision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "fitted" not in request.keywords:
        monkeypatch.setattr(durable, "Durability", KeepsStatements)


class Clock:
    """Time that moves only when told, and by a microsecond at each look, so that no two moments are the same."""

    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        self.moment += timedelta(microseconds=1)
        return self.moment

    def forward(self, **delta: float) -> datetime:
        self.moment += timedelta(**delta)
        return self.moment


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may read or write the home of the person who runs it."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def cluster() -> postgres.Cluster:
    """The PostgreSQL server of this run. On a machine that offers none its tests are left out, but never in CI."""
    try:
        return postgres.shared()
    except postgres.NoServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"{NOT_TESTED}: {error}")
        pytest.skip(f"{NOT_TESTED}: {error}")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Places:
    """Where stores lie, by a name: a file in the test's folder, or a database of the test's own."""

    def __init__(self, folder: Path, cluster: postgres.Cluster | None) -> None:
        self._folder = folder
        self._cluster = cluster
        self._databases: dict[str, str] = {}

    def __call__(self, name: str = "store.db") -> str:
        if self._cluster is None:
            return str(self._folder / name)
        if name not in self._databases:
            self._databases[name] = self._cluster.create()
        return self._databases[name]

    def remove(self, name: str) -> None:
        """Take away a store that nobody has open."""
        if self._cluster is None:
            for file in self._folder.glob(f"{name}*"):
                file.unlink()
        elif url := self._databases.pop(name, None):
            self._cluster.drop(url)

    def everything(self, name: str = "store.db") -> bytes:
        """All that a store holds: the bytes of its files, or every row of its tables."""
        if self._cluster is None:
            # By another process: one that closes a handle of an open database loses its locks on it.
            files = [str(file) for file in self._folder.glob(f"{name}*")]
            return subprocess.run(["cat", *files], capture_output=True, check=True).stdout if files else b""
        return self._cluster.dump(self._databases[name])

    def clear(self) -> None:
        for name in list(self._databases):
            self.remove(name)


@pytest.fixture
def place(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Places]:
    places = Places(tmp_path, request.getfixturevalue("cluster") if backend == "postgres" else None)
    yield places
    places.clear()


def open_store(place: str | Path, now: datetime, patience: float = 5) -> Store:
    """The store at a place, of the kind that lies there."""
    return store_at(place, patience, now)


@pytest.fixture
def stores(place: Places, clock: Clock) -> Iterator[Callable[[], Store]]:
    """Open stores at one place, each as another process would."""
    opened: list[Store] = []

    def opener() -> Store:
        opened.append(open_store(place(), clock()))
        return opened[-1]

    yield opener
    for store in opened:
        store.close()


@pytest.fixture
def store(stores: Callable[[], Store]) -> Store:
    return stores()


Opener = Callable[..., recollect.Engine]


@pytest.fixture
def opened(place: Places, clock: Clock) -> Iterator[Opener]:
    """Open engines, by default at one place; they are closed when the test ends."""
    engines: list[recollect.Engine] = []

    def opener(name: str = "store.db", **options: object) -> recollect.Engine:
        defaults: dict[str, object] = {"embedder": "hashing", "actor": "test", "now": clock}
        engine = recollect.open(place(name), **(defaults | options))  # type: ignore[arg-type]
        engines.append(engine)
        return engine

    yield opener
    for engine in engines:
        engine.close()


@pytest.fixture
def memory(opened: Opener) -> recollect.Engine:
    return opened()


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """The address of a real language model on this machine."""
    if not MODEL.exists():
        why = "NO REAL LANGUAGE MODEL WAS TESTED: make test puts one into .venv/llama"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    with serving() as address:
        yield address
