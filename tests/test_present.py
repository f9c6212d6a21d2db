"""What a person sees: times, colours, and changes cut to where they differ."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

import recollect
from recollect.cli import present, terminal
from recollect.cli.present import Look
from recollect.cli.terminal import Moment

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_day_until_counts_to_its_end_and_expiry_looks_ahead() -> None:
    def read(kind: Moment, text: str) -> datetime:
        return kind.convert(text, None, None)

    day = read(Moment(), "2026-03-01")
    assert read(Moment(whole_day=True), "2026-03-01") == day + timedelta(days=1, microseconds=-1)
    assert read(Moment(whole_day=True), "2026-03-01T00:00:00Z") == datetime(2026, 3, 1, tzinfo=UTC)
    assert read(Moment(), "7d") < datetime.now(UTC) < read(Moment(ahead=True), "7d")


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.look(Screen()).colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.look(Screen()).colour


def test_colours_change_no_word_and_no_line_end() -> None:
    memory = recollect.Memory("0" * 26, "word " * 60, title="A title", tags=("a",), created_at=NOW, updated_at=NOW)
    result = recollect.Recall("q", (recollect.Hit(memory, 1.0, {"text": 1.0}, "words word"),), ("text",))
    plain = present.recalled(result, Look(60, False, NOW), explain=True)
    painted = present.recalled(result, Look(60, True, NOW), explain=True)
    assert "\x1b[" in painted
    assert click.unstyle(painted) == plain


def test_a_long_change_is_cut_to_where_it_differs() -> None:
    before, after = {"content": "same " * 40 + "old"}, {"content": "same " * 40 + "new"}
    assert present.changes(before, after, Look(), "") == [
        "content: …same same same same old → …same same same same new"
    ]
