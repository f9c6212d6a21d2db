"""Provenance: where and with what a figure was made, so that a number can be traced and made again."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("recollect", "apsw", "numpy", "onnxruntime", "tokenizers")


def provenance() -> dict[str, Any]:
    """Commit, date, machine and versions; the commit is empty outside a checkout."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain")),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.platform(terse=True)},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
