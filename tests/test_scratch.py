"""Scratch folders: gone afterwards, also when the process that had one was killed."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import recollect
from recollect.agents.access import Caller
from recollect.ops.catalogue import BY_NAME
from recollect.scratch import FOLDER, LOCK, scratch

HOLD = """
import sys, time
from pathlib import Path
from recollect.scratch import scratch
with scratch(Path(sys.argv[1])) as folder:
    (folder / "export.jsonl").write_text("plain text")
    print(folder, flush=True)
    time.sleep(600)
"""


def left(home: Path) -> list[str]:
    return sorted(path.name for path in (home / FOLDER).glob("*"))


def with_locks(*names: str) -> list[str]:
    return sorted([*names, *(f"{name}{LOCK}" for name in names)])


def test_a_folder_is_closed_to_others_and_gone_afterwards(tmp_path: Path) -> None:
    with scratch(tmp_path) as one, scratch(tmp_path) as other:
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
        assert left(tmp_path) == with_locks(one.name, other.name)
    assert left(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        name = Path(other.stdout.readline().strip()).name
        with scratch(tmp_path) as own:
            assert left(tmp_path) == with_locks(name, own.name)
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert left(tmp_path) == with_locks(name), "the control: it was left behind"
        with scratch(tmp_path) as own:
            assert left(tmp_path) == with_locks(own.name)


def test_an_export_that_is_sent_has_no_name_any_more(memory: recollect.Engine) -> None:
    memory.remember("Ana owns billing.")
    pieces = BY_NAME["export"].call(memory, Caller("default", "test"), {})
    assert left(memory.settings.home) == []
    assert "Ana owns billing." in "".join(pieces)
