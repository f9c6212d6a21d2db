"""Files and folders that only their owner can read."""

from __future__ import annotations

import os
from contextlib import suppress

from .system import open_private

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from pathlib import Path


def make_folder(folder: str | Path) -> None:
    """Make a folder and every missing folder above it, each open to its owner alone.

    `makedirs` gives the mode to the last one only, so the home folder would be open to others if a folder inside it
    came first.
    """
    if os.path.isdir(folder):
        return
    make_folder(os.path.dirname(os.path.abspath(folder)))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):  # else another process was first
            raise


def make_key(home: Path, name: str) -> bytes:
    """A secret key of a home, in a file of this name; made when it is first needed."""
    path = home / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        make_folder(home)
        fresh = path.with_name(f"{name}.{os.getpid()}")
        file = open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(file, os.urandom(32))
            os.fsync(file)
        finally:
            os.close(file)
        with suppress(FileExistsError):  # another process was first
            os.link(fresh, path)
        os.unlink(fresh)
        return path.read_bytes()


def write_private(path: str | Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner alone."""
    make_folder(os.path.dirname(os.path.abspath(path)))
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        number = open_private(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)
