"""Word lists are data, and stand in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recollect
from recollect.language import tables

PACKAGE = Path(recollect.__file__).parent
FILES = sorted((PACKAGE / "language" / "data").glob("*.txt"))


@pytest.mark.parametrize("word", ["wednes", "november", "niemals", "unsubscribe; "])
def test_a_word_list_stands_in_no_python_file(word: str) -> None:
    """The weekdays, the months, the negations and the opposites were once written down in several modules each."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if word in line.lower() and ">>>" not in line
    ]
    assert found == []


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_data_file_has_named_sections_and_no_section_twice(path: Path) -> None:
    heads = [line[1:-1] for line in path.read_text("utf-8").splitlines() if re.fullmatch(r"\[.*\]", line)]
    assert heads
    assert len(heads) == len(set(heads))
    for head in heads:
        assert tables.words(path.stem, head), f"{path.stem}: [{head}] is empty"


def test_the_calendar_is_whole() -> None:
    assert tables.WEEKDAYS[0] == "monday"
    assert len(tables.WEEKDAYS) == 7
    assert len(tables.MONTHS) == 12
