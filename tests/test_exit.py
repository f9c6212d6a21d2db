"""No process of ours dies by a signal, whatever its threads are at when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# A model that takes for ever to load: the real library opens the real model again and again. Whoever ends meanwhile
# ends while a thread is inside native code, where Python's way of ending threads aborts the process.
SLOW = """
import sys
from pathlib import Path
sys.path.remove(str(Path(__file__).parent))
del sys.modules["onnxruntime"]
import onnxruntime
model = {model!r}
Path({mark!r}).touch()
while True:
    onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
"""


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mark that is there once the model is being loaded, by whatever process."""
    from recollect.models.embedder import PACKAGED

    (tmp_path / "slow").mkdir()
    mark = tmp_path / "loading"
    code = SLOW.format(model=str(PACKAGED / "model.onnx"), mark=str(mark))
    (tmp_path / "slow" / "onnxruntime.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "slow"))
    return mark


def recollect(*words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recollect", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, input=said, timeout=120)


def remembered(content: str) -> None:
    os.environ["RECOLLECT_EMBEDDER"] = "off"
    try:
        assert recollect("remember", "--everywhere", content).returncode == 0
    finally:
        del os.environ["RECOLLECT_EMBEDDER"]


def test_a_brief_ends_well_while_the_model_is_loading(slow: Path, tmp_path: Path) -> None:
    remembered("The parser reads logs line by line.")
    feature = tmp_path / "project" / "docs" / "features" / "parser"
    feature.mkdir(parents=True)
    (feature / ".meta.json").write_text(json.dumps({"slug": "parser", "status": "active"}))
    for _ in range(3):
        slow.unlink(missing_ok=True)
        done = recollect("brief", "--folder", str(tmp_path / "project"))
        assert slow.exists()
        assert (done.returncode, "terminate" in done.stderr) == (0, False), done.stderr
        assert "The parser reads logs line by line." in done.stdout


def test_a_daemon_ends_well_while_the_model_is_loading(slow: Path) -> None:
    serving = subprocess.Popen([sys.executable, "-m", "recollect", "serve", "--port", "0"], stdout=subprocess.DEVNULL)
    wait_for(slow)
    serving.send_signal(signal.SIGTERM)
    assert serving.wait(60) == 0


def test_a_server_without_a_daemon_ends_well_while_the_model_is_loading(slow: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "daemon.lock").mkdir(parents=True)  # so that no daemon can be had
    with subprocess.Popen(
        [sys.executable, "-m", "recollect", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as serving:  # fmt: skip
        assert serving.stdin
        assert serving.stderr
        call = {"name": "recall", "arguments": {"query": "parser"}}
        serving.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n")
        serving.stdin.flush()
        wait_for(slow)
        serving.stdin.close()
        assert (serving.wait(60), "terminate" in serving.stderr.read()) == (0, False)


def wait_for(mark: Path) -> None:
    deadline = time.monotonic() + 60
    while not mark.exists():
        assert time.monotonic() < deadline, "the model is not being loaded"
        time.sleep(0.05)
