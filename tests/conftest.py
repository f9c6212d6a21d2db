"""Shared fixtures: a clock that tests set, a real store in a temporary folder, and an engine on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.store.sqlite import SQLiteStore

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


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


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SQLiteStore]:
    store = SQLiteStore(tmp_path / "store.db", patience=5, now=clock())
    yield store
    store.close()


Opener = Callable[..., recollect.Engine]


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opener]:
    """Open engines on one file; they are closed when the test ends."""
    engines: list[recollect.Engine] = []

    def opener(name: str = "store.db", **options: object) -> recollect.Engine:
        defaults: dict[str, object] = {"embedder": "hashing", "actor": "test", "now": clock}
        engine = recollect.open(tmp_path / name, **(defaults | options))  # type: ignore[arg-type]
        engines.append(engine)
        return engine

    yield opener
    for engine in engines:
        engine.close()


@pytest.fixture
def memory(opened: Opener) -> recollect.Engine:
    return opened()
