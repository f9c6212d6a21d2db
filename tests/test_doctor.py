"""The doctor finds what is broken, says how to mend it, and mends only what is ours and safe."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
from click.testing import CliRunner

import recollect
from conftest import Opener, Places
from recollect.cli import cli
from recollect.models import embedder as models
from recollect.models.hashing import HashingEmbedder
from recollect.upkeep import doctor


class Found(NamedTuple):
    code: int
    checks: dict[str, dict[str, str]]
    fixed: list[str]

    @property
    def wrong(self) -> dict[str, str]:
        return {name: check["status"] for name, check in self.checks.items() if check["status"] != "ok"}


Examine = Callable[..., Found]


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")


@pytest.fixture
def examine() -> Examine:
    def run(*args: str) -> Found:
        result = CliRunner().invoke(cli, [*args[:-1], "doctor", *args[-1:], "--json"])
        assert isinstance(result.exception, SystemExit | None), result.exception
        told: dict[str, Any] = json.loads(result.stdout)
        return Found(result.exit_code, {check["name"]: check for check in told["checks"]}, told["fixed"])

    return run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one memory in its store."""
    with recollect.open() as memory:
        memory.remember("We deploy on Thursdays.")
    return tmp_path / "home"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_whether_retention_policies_are_applied_is_told(opened: Opener, place: Places) -> None:
    def told(moment: datetime) -> tuple[str, str]:
        found = {check.name: check for check in doctor.diagnose("1", moment, store=place(), embedder="hashing").checks}
        check = found.get("retention")
        return (check.status, check.detail) if check else ("", "")

    engine, now = opened(now=lambda: datetime.now(UTC)), datetime.now(UTC)
    assert told(now) == ("", "")
    engine.policies.retain(30)
    assert told(now) == ("warning", "1 policy, applied by the daemon every 24 h, last never")
    engine.janitor.run(steps=["retention"])
    assert told(now)[0] == "ok"
    assert told(now + timedelta(days=3))[0] == "warning"


def test_a_healthy_store_is_all_well(examine: Examine, home: Path) -> None:
    found = examine()
    assert (found.code, found.wrong, found.fixed) == (0, {}, [])
    assert found.checks.keys() >= {
        "versions", "settings", "folder", "permissions", "disk", "database", "full text", "consistency", "embedder",
        "vectors",
    }  # fmt: skip
    human = CliRunner().invoke(cli, ["doctor"])
    assert human.exit_code == 0
    assert human.stdout.endswith("All is well.\n")


def test_before_the_first_memory_all_is_well_and_nothing_is_made(examine: Examine, tmp_path: Path) -> None:
    found = examine()
    assert (found.code, found.wrong) == (0, {})
    assert "not there yet" in found.checks["database"]["detail"]
    assert not (tmp_path / "home").exists()


def test_wrong_permissions_are_found_and_fixed(examine: Examine, home: Path) -> None:
    store = home / "recollect.db"
    (home / "config.toml").write_text("recall_limit = 5\n")
    store.chmod(0o644)
    home.chmod(0o755)
    found = examine()
    assert (found.code, found.wrong) == (1, {"permissions": "broken"})
    assert "doctor --fix" in found.checks["permissions"]["fix"]
    mended = examine("--fix")
    assert (mended.code, mended.wrong) == (0, {})
    assert f"{store} is 0600 now" in mended.fixed
    assert (mode(home), mode(store), mode(home / "config.toml")) == (0o700, 0o600, 0o600)


def test_files_that_are_not_ours_are_never_closed(examine: Examine, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    other, beside = folder / "passwd", folder / "passwd-"
    for path in (other, beside):
        path.write_text("somebody else's file, longer than the header of a database would be. " * 3)
        path.chmod(0o644)
    found = examine("--store", str(other), "--fix")
    assert (found.code, found.wrong, found.fixed) == (1, {"database": "broken"}, [])
    assert (mode(other), mode(beside), mode(folder)) == (0o644, 0o644, 0o755)


def test_a_home_that_many_use_is_not_closed(examine: Examine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("RECOLLECT_HOME", str(shared))
    found = examine("--fix")
    assert found.wrong == {"permissions": "warning"}
    assert "RECOLLECT_HOME" in found.checks["permissions"]["fix"]
    assert mode(shared) == 0o1777


def test_a_file_that_is_no_database_is_reported_with_its_fix(examine: Examine, home: Path) -> None:
    store = home / "recollect.db"
    store.write_bytes(b"this is not a database, whatever its name may say. " * 20)
    found = examine()
    assert (found.code, found.wrong) == (1, {"database": "broken"})
    assert "not a database" in found.checks["database"]["detail"]
    assert "--store" in found.checks["database"]["fix"]


def test_a_newer_schema_is_reported_with_its_fix(examine: Examine, home: Path) -> None:
    con = apsw.Connection(str(home / "recollect.db"))
    con.execute("insert into migration (version, name, sha256, applied_at) values (999, 'later', 'x', 0)")
    con.close()
    found = examine()
    assert (found.code, found.wrong) == (1, {"database": "broken"})
    assert "Upgrade" in found.checks["database"]["fix"]


def test_a_damaged_database_is_reported(examine: Examine, home: Path) -> None:
    store = home / "recollect.db"
    data = bytearray(store.read_bytes())
    for start in range(8192, len(data) - 512, 4096):
        data[start : start + 512] = b"\xff" * 512
    store.write_bytes(data)
    found = examine()
    assert found.code == 1
    assert found.checks["database"]["status"] == "broken"
    assert found.checks["database"]["fix"]


def test_a_missing_table_is_reported_and_not_raised(examine: Examine, home: Path) -> None:
    con = apsw.Connection(str(home / "recollect.db"))
    con.execute("drop table embedding")
    con.close()
    found = examine()
    assert (found.code, found.checks["database"]["status"]) == (1, "broken")


def test_rows_that_lost_their_other_half_are_reported(examine: Examine, home: Path) -> None:
    con = apsw.Connection(str(home / "recollect.db"))
    con.execute("delete from memory_fts")
    con.close()
    found = examine()
    assert (found.code, found.wrong) == (1, {"consistency": "broken"})
    assert "1 memories without full text" in found.checks["consistency"]["detail"]


def test_a_missing_model_is_reported_with_its_fix(
    examine: Examine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "/nonexistent")
    found = examine()
    assert (found.code, found.wrong) == (1, {"embedder": "broken"})
    assert "/nonexistent" in found.checks["embedder"]["detail"]
    assert "default" in found.checks["embedder"]["fix"]


def test_a_model_whose_vectors_mean_nothing_is_reported(
    examine: Examine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Numb(HashingEmbedder):
        def embed(self, texts: Any, role: Any) -> Any:
            return super().embed(["always the same"] * len(texts), role)

    monkeypatch.setattr(models, "load", lambda name: Numb())
    found = examine()
    assert (found.code, found.wrong) == (1, {"embedder": "broken"})
    assert "do not tell likeness" in found.checks["embedder"]["detail"]


def test_vectors_of_another_text_are_reported(examine: Examine, home: Path) -> None:
    with recollect.open() as memory:
        memory.remember("Cats like to sleep in the warm sun.")
    con = apsw.Connection(str(home / "recollect.db"))
    con.execute("update embedding set vector = (select vector from embedding order by n limit 1)")
    con.close()
    found = examine()
    assert (found.code, found.wrong) == (1, {"vector rows": "broken", "vectors": "broken"})


def test_a_switched_off_model_is_as_it_should_be(examine: Examine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "off")
    found = examine()
    assert (found.code, found.wrong) == (0, {})
    assert "switched off" in found.checks["embedder"]["detail"]


def test_missing_vectors_are_reported_and_fixed(examine: Examine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "off")
    with recollect.open() as memory:
        memory.remember("Ana owns the billing service.")
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    found = examine()
    assert (found.code, found.wrong) == (0, {"vectors": "warning"})
    assert "1 memory has none" in found.checks["vectors"]["detail"]
    mended = examine("--fix")
    assert (mended.code, mended.wrong, mended.fixed) == (0, {}, ["1 memory embedded"])


def test_unreadable_settings_are_a_finding(examine: Examine, home: Path) -> None:
    (home / "config.toml").write_text("colour = 'red'\n")
    found = examine()
    assert (found.code, found.wrong) == (1, {"settings": "broken"})
    assert "no setting 'colour'" in found.checks["settings"]["detail"]


def test_a_folder_that_is_a_file_is_reported(examine: Examine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    file.chmod(0o600)
    assert examine("--store", str(file / "x.db"), "--fix").wrong == {"folder": "broken"}
    monkeypatch.setenv("RECOLLECT_HOME", str(file))
    assert examine().wrong == {"settings": "broken"}


@pytest.mark.parametrize(("free", "status"), [(10**10, "ok"), (10**8, "warning"), (10**6, "broken")])
def test_little_disk_space_is_told(
    examine: Examine, home: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: str
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(free))
    assert examine().checks["disk"]["status"] == status


def test_what_is_broken_is_printed_with_its_fix(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chmod(home, 0o755)
    result = CliRunner().invoke(cli, ["doctor"])
    assert result.exit_code == 1
    assert "✗ permissions" in result.stdout
    assert "fix: recollect doctor --fix" in result.stdout
    assert result.stdout.endswith("1 part is broken.\n")
