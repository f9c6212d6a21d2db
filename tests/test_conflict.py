"""Conflicts: whether two statements can both hold, measured on pairs that were judged first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect import Engine
from recollect.remember.conflict import LONGEST, conflict
from recollect.types import Message, Scope

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "capture" / "conflicts.jsonl").read_text().splitlines()]
SHOP = Scope(project="shop")


def test_conflicts_are_found_and_none_is_made_up() -> None:
    found = [(bool(conflict(one["old"], one["new"])), one["conflict"]) for one in PAIRS]
    right = sum(got and wanted for got, wanted in found)
    assert right / sum(got for got, _ in found) >= 0.95
    assert right / sum(wanted for _, wanted in found) >= 0.92


def test_which_was_said_first_changes_nothing() -> None:
    assert [one for one in PAIRS if conflict(one["old"], one["new"]) != conflict(one["new"], one["old"])] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 100 requests per minute.", "The limit for admins is 600 requests per minute."),
        ("The API returns 404 for unknown users.", "The API returns 403 for forbidden users."),
        ("PR #12 fixed the login bug.", "PR #15 fixed the login bug."),
        ("We never deploy on Fridays.", "We never deploy on Sundays."),
        ("We use Redis for caching.", "We use Redis for rate limiting."),
        (
            "Keys are now retained for seven days instead of one.",
            "A flag is named in the report, each one that is old.",
        ),
    ],
)
def test_what_differs_in_what_it_is_about_stands_beside(memory: Engine, one: str, other: str) -> None:
    memory.capture([Message("user", f"remember: {one}")], session="a", scope=SHOP)
    done = memory.capture([Message("user", f"remember: {other}")], session="b", scope=SHOP)
    assert [(found.action, found.conflicts) for found in done.findings] == [("created", ())]


def test_long_texts_are_no_statements() -> None:
    text = "The gateway listens on port 8080. " + "It was built with care and patience. " * (LONGEST // 30)
    assert conflict(text, text.replace("8080", "8443")) == ""
