"""Folders for a while inside a home, for exports and imports on their way; they are closed to others."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .entrypoints.private import make_folder

FOLDER = "scratch"


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """A folder that is gone afterwards; one that a killed process left is removed by the next who asks."""
    make_folder(home / FOLDER)
    for one in (home / FOLDER).glob("*"):
        if (lock := _lock(one)) is not None:  # the lock of a folder ends with its process
            shutil.rmtree(one, ignore_errors=True)
            os.close(lock)
    while True:
        own = home / FOLDER / os.urandom(8).hex()
        own.mkdir(mode=0o700)
        if (lock := _lock(own)) is not None:
            break  # else somebody took it for left over, between the two lines above
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """The lock of a folder, unless another process holds it or the folder is gone."""
    with suppress(FileNotFoundError, NotADirectoryError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.exists():
                return lock
        os.close(lock)
    return None
