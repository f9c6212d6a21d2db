"""Temporary folders inside a home, closed to others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from .entrypoints.private import make_folder
from .entrypoints.system import lock, open_private
from .settings import home_of

FOLDER = "scratch"
LOCK = ".lock"


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """A folder that is gone afterwards; one that a killed process left is removed by the next who asks.

    Beside a folder lies a file that its process has locked, because Windows can lock no folder.
    """
    make_folder(home / FOLDER)
    for one in (home / FOLDER).glob(f"*{LOCK}"):
        with suppress(BlockingIOError):  # its process is alive
            _remove(one.with_suffix(""), _locked(one))
    while True:
        own = home / FOLDER / os.urandom(8).hex()
        held = _locked(own.with_suffix(LOCK))
        if own.with_suffix(LOCK).exists():
            break  # else somebody took it for left over, before it was locked
        os.close(held)
    own.mkdir(mode=0o700)
    try:
        yield own
    finally:
        _remove(own, held)


@contextmanager
def temporary() -> Iterator[Path]:
    """The same in the home of this process; where it has none (yet), as with the library, in the system's place."""
    home = home_of(os.environ)
    with scratch(home) if home.is_dir() else TemporaryDirectory(prefix="recollect-") as folder:
        yield Path(folder)


def _locked(path: Path) -> int:
    file = open_private(path, os.O_RDWR | os.O_CREAT)
    try:
        lock(file, wait=False)
    except BlockingIOError:
        os.close(file)
        raise
    return file


def _remove(folder: Path, held: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(PermissionError):  # Windows keeps a file that is open
        folder.with_suffix(LOCK).unlink(missing_ok=True)
    os.close(held)
