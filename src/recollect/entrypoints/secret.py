"""The secret of a home: whoever sends it over TCP counts as the owner of the home.

Every account of a machine can reach its loopback addresses, so the address proves nothing. Whoever can read the secret
file can also read the store beside it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from .private import make_folder
from .system import is_private, open_private

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from pathlib import Path

FILE = "secret"
PREFIX = "rclh_"
MAX_SIZE = 200
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def read(home: str | Path) -> str:
    """The secret of a home; empty where there is none, or where we may not read it."""
    try:
        file = open_private(os.path.join(home, FILE), os.O_RDONLY | _PLAIN)
    except OSError:
        return ""
    try:
        found = os.read(file, MAX_SIZE).decode("ascii", "replace").strip()
    finally:
        os.close(file)
    return found if found.startswith(PREFIX) and len(found) > 40 and found.isascii() else ""


def ensure(home: str | Path) -> tuple[str, bool]:
    """The secret of a home, made where there is none that is ours alone; and whether one was there that was not."""
    path = os.path.join(home, FILE)
    found, is_open = read(home), False
    with suppress(FileNotFoundError):
        about = os.lstat(path)
        is_open = not (stat.S_ISREG(about.st_mode) and is_private(about))
        if found and not is_open:
            return found, False
    made, fresh = PREFIX + os.urandom(32).hex(), f"{path}.new"
    make_folder(home)
    with suppress(FileNotFoundError):
        os.unlink(fresh)
    file = open_private(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    try:
        os.write(file, f"{made}\n".encode())
    finally:
        os.close(file)
    os.replace(fresh, path)
    return made, is_open
