"""The secret of a home: whoever sends it over TCP counts as the owner of the home.

Every account of a machine can reach its loopback addresses, so the address proves nothing. Whoever can read the secret
file can also read the store beside it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from .private import make_folder

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from pathlib import Path

FILE = "secret"
PREFIX = "rclh_"
MAX_SIZE = 200


def read(home: str | Path) -> str:
    """The secret of a home; empty where there is none, or where we may not read it."""
    try:
        file = os.open(os.path.join(home, FILE), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
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
        is_private = stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077
        if found and is_private:
            return found, False
        is_open = not is_private
    made, fresh = PREFIX + os.urandom(32).hex(), f"{path}.new"
    make_folder(home)
    with suppress(FileNotFoundError):
        os.unlink(fresh)
    file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, f"{made}\n".encode())
    finally:
        os.close(file)
    os.replace(fresh, path)
    return made, is_open
