"""Build the wheel and the source distribution, install each in an empty environment, and use what was installed.

python scripts/smoke.py                       with this Python
python scripts/smoke.py python3.12 python3.13 with these, one after another

In each environment: the tour, a memory stored and recalled, the daemon started and stopped. Nothing of the checkout is
on the path. Prints a line for each step and ends with 1 when one fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"
STEPS = (
    ("version",),
    ("tour", "--no-pause"),
    ("remember", "Ana owns the billing service."),
    ("recall", "who owns billing?"),
    ("doctor",),
    ("serve", "--background", "--port", "0"),
    ("recall", "billing"),
    ("stop",),
)


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    words = [str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=cwd, env={**environment, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed ({done.returncode}): {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> list[Path]:
    """The wheel and the source distribution of this checkout."""
    venv.create(folder / "builder", with_pip=True)
    python = folder / "builder" / BIN / "python"
    run(python, "-m", "pip", "install", "--quiet", "build", cwd=folder)
    run(python, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    return sorted((folder / "dist").iterdir())


def use(python: str, archive: Path, folder: Path) -> None:
    """Install an archive with its server in an environment of its own, and use it."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    run(folder / BIN / "python", "-m", "pip", "install", "--quiet", f"{archive}[server]", cwd=folder)
    for words in STEPS:
        said = run(folder / BIN / "recollect", *words, cwd=folder, RECOLLECT_HOME=str(folder / "home"))
        if words[0] == "recall" and "Ana owns the billing service." not in said:
            sys.exit(f"failed: recall said\n{said}")
    print(f"ok: {archive.name} with {run(folder / BIN / 'python', '--version', cwd=folder).strip()}", flush=True)


def main(pythons: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archives = build(folder)
        for number, python in enumerate(pythons):
            for archive in archives if not number else archives[:1]:
                use(python, archive, folder / f"{number}-{archive.suffix[1:]}")


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
