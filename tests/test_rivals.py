"""The run of the rivals: its plain methods and ours do the same work, and what is judged is judged rightly."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HERE = ROOT / "bench" / "rivals"
RIVALS = tomllib.loads((HERE / "rivals.toml").read_text("utf-8"))


@pytest.fixture
def quality(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(HERE))
    import quality

    return quality


def test_the_quick_run_measures_ours_and_the_plain_methods(tmp_path: Path) -> None:
    results = ROOT / "bench" / "results"
    before = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    done = subprocess.run(
        [sys.executable, str(HERE / "rivals.py"), "--quick"], capture_output=True, text=True, check=False, timeout=900,
        env={**os.environ, "RECOLLECT_BENCH_CACHE": str(tmp_path), "RECOLLECT_DATA": str(tmp_path / "none")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    rows = [row for name in ("recollect", "plain") for row in RIVALS[name]["rows"] if row.get("cost")]
    assert len(rows) >= 5
    for row in rows:
        assert f"together: {row['name']}: recall@5" in done.stdout
    assert "failed" not in done.stdout
    assert "Recollect, balanced: killed while adding: 0 of 24 acknowledged items lost" in done.stdout
    assert "Recollect, balanced: two users: kept apart" in done.stdout
    assert "Recollect, balanced: deleted, in the bytes: gone from the files" in done.stdout
    assert "grep over Markdown: rejected fact: comes back" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in results.iterdir()} == before


def test_every_rival_has_a_driver_rows_and_pinned_packages() -> None:
    run = {name: rival for name, rival in RIVALS.items() if "absent" not in rival}
    for name, rival in run.items():
        assert (HERE / "drivers" / f"drive_{rival['driver']}.py").exists(), name
        assert rival["rows"], name
        pinned = HERE / "requirements" / f"{name}.txt"
        if pinned.exists():
            loose = [line for line in pinned.read_text("utf-8").split() if "==" not in line]
            assert loose == [], name
    names = [row["name"] for rival in run.values() for row in rival["rows"]]
    assert len(names) == len(set(names))


def test_a_list_is_judged_by_what_fits_into_the_tokens(quality: object) -> None:
    costs = {"a": 200, "b": 100, "c": 300, "d": 50}
    found = quality.scores(["c", "a", "b", "d"], frozenset(("a", "b")), costs)  # type: ignore[attr-defined]
    assert found["recall@5"] == 1.0
    assert found["evidence@256"] == 0.5  # c is passed over, a fits, then b does not
    assert found["evidence@1024"] == 1.0
