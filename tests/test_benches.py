"""Every benchmark still runs: with `--quick` it takes seconds, needs no data from elsewhere and writes no result.

What is measured is judged on a quiet machine and never here; here a benchmark that asks for something which is no
longer there is found on the day it breaks.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from browser import found as chromium
from conftest import NO_PAGE

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"
SCRIPTS = sorted(path.stem for path in BENCH.glob("*.py") if 'if __name__ == "__main__"' in path.read_text("utf-8"))
ELSEWHERE = {"gptcache_week"}  # runs in an environment with another program, started by answers.py
PRIVATE = re.compile(r"\b(?!self\b|os\b)\w+(?:\(.*\))?\._(?!_|replace\b|exit\b)[a-z]\w*")


@pytest.mark.parametrize("script", [name for name in SCRIPTS if name not in ELSEWHERE])
def test_a_benchmark_runs_quickly_and_writes_no_result(script: str, tmp_path: Path) -> None:
    if script == "dashboard" and not chromium():
        pytest.fail(NO_PAGE) if os.environ.get("CI") else pytest.skip(NO_PAGE)
    before = {path: path.stat().st_mtime_ns for path in (BENCH / "results").iterdir()}
    environment = {
        **os.environ,
        "RECOLLECT_BENCH_CACHE": str(tmp_path / "cache"),
        "RECOLLECT_DATA": str(tmp_path / "no"),
    }
    done = subprocess.run(
        [sys.executable, str(BENCH / f"{script}.py"), "--quick"], capture_output=True, text=True, check=False,
        env=environment, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert {path: path.stat().st_mtime_ns for path in (BENCH / "results").iterdir()} == before


def test_benchmarks_use_what_is_public() -> None:
    """Also inside the code that they give to processes of their own, which no checker reads."""
    for path in sorted(BENCH.glob("*.py")):
        source = path.read_text("utf-8")
        texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
        inner = [text for text in texts if isinstance(text, str) and "import recollect" in text]
        assert [line for part in (source, *inner) for line in part.splitlines() if PRIVATE.search(line)] == [], path
