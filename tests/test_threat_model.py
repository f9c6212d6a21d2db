"""The page of threats: every promise on it has a test, and the test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "threat-model.md"
_NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_every_promise_names_a_test_that_exists() -> None:
    rows = [
        line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and "promise | test" not in line
    ]
    assert len(rows) >= 30
    for row in rows:
        named = _NAMED.findall(row)
        assert named, f"no test is named for: {row}"
        for file, name in named:
            tree = ast.parse((TESTS / file).read_text("utf-8"))
            assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (file, name)
