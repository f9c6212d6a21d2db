"""What differs between operating systems: locks on files, whose a file is, private files.

Windows has no `fcntl`, no user ids, no Unix sockets in Python and no `fork`. Whoever needs one of them asks here, or
asks whether the name is there: `hasattr(socket, "AF_UNIX")`. `tests/test_system.py` runs the program without these.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Python opens files for the process alone. Windows would change line ends on their way.
_BINARY = getattr(os, "O_BINARY", 0)
# Windows forbids reading what is locked, so the byte that is locked there lies behind every content.
_FAR = 1 << 30


def open_private(path: str | Path, flags: int) -> int:
    """Open a file that only its owner may read once it is made."""
    return os.open(path, flags | _BINARY, 0o600)


def lock(file: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file until it is closed; raises BlockingIOError if another process has it and we do not wait."""
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(file, wait)
        return
    fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


def _lock_on_windows(file: int, wait: bool) -> None:
    import importlib
    import time

    msvcrt, at = importlib.import_module("msvcrt"), os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _FAR, os.SEEK_SET)
    try:
        while not _took(msvcrt.locking, file, msvcrt.LK_NBLCK):
            if not wait:
                raise BlockingIOError("another process holds the lock")
            time.sleep(0.01)
    finally:
        os.lseek(file, at, os.SEEK_SET)


def _took(locking: Callable[[int, int, int], None], file: int, how: int) -> bool:
    try:
        locking(file, how, 1)
    except PermissionError:  # which is how Windows says that it is locked
        return False
    return True


def user_id() -> int:
    """The account of this process; nought where accounts have no numbers."""
    return os.getuid() if hasattr(os, "getuid") else 0


def is_mine(found: os.stat_result) -> bool:
    """Whether a file belongs to the account of this process; Windows does not say, so there every file does."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def is_private(found: os.stat_result) -> bool:
    """Whether only its owner, which we are, may use a file. On Windows the user's folder sees to that."""
    return os.name == "nt" or (is_mine(found) and not stat.S_IMODE(found.st_mode) & 0o077)
