"""Reading a file that somebody else named: a regular file of bounded size, opened without following a link.

Every file that a caller, a memory or a repository names is opened here. A folder on the way may be a link: it is
resolved first, and then no part of the path may be one, so that what was checked is what is read. JSON of strangers is
parsed here too: what is nested deeper than `MAX_DEPTH` is refused, because every function that walks a value recurses.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from .errors import BadInput

MAX_BYTES = 4 * 2**20
MAX_PATH = 4096
MAX_DEPTH = 100  # levels of lists and objects inside each other
MAX_BITS = 14_000  # of a whole number, which Python then still writes in digits


def _flags(*names: str) -> int:
    return sum(getattr(os, name, 0) for name in names)  # each is a bit of its own; Windows lacks most


_FOLDER = _flags("O_NOFOLLOW", "O_DIRECTORY", "O_PATH")
_FILE = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")


def check_path(path: str) -> str:
    """The path, or an error where no file can have that name.

    >>> check_path("src/app.py")
    'src/app.py'
    """
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        size = -1
    if "\0" in path or size < 0:
        raise BadInput("A path holds a character that no path can hold.", fix="Give the path as the system shows it.")
    if size > MAX_PATH or any(len(os.fsencode(part)) > 255 for part in path.split("/")):
        raise BadInput(f"A path has at most {MAX_PATH} bytes, and 255 in each name.", fix="Give a shorter path.")
    return path


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file for reading; an OSError says why it cannot be, and so does a ValueError for an odd name."""
    parent, name = os.path.split(os.path.abspath(path))
    real = os.path.realpath(parent)
    steps = os.open in os.supports_dir_fd
    number = _open_without_links([*real.split(os.sep)[1:], name]) if steps else _open_no_link(os.path.join(real, name))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(number, "rb")


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """What a regular file holds; an OSError where it holds more than `most` bytes."""
    with open_regular(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return found


def read_text(path: str | Path, most: int = MAX_BYTES) -> str:
    return read_bytes(path, most).decode("utf-8", "replace")


def read_json(path: str | Path) -> dict[str, Any]:
    """The JSON object that a file of ours holds; an empty one where it is missing, cut off or something else."""
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def parse_json(told: str | bytes, constant: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text; a ValueError where it is none or is nested too deeply."""
    try:
        value = json.loads(told, parse_constant=constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not is_bounded(value, len(told)):
        raise ValueError("it is nested too deeply")
    return value


def is_bounded(value: Any, most: int) -> bool:
    """True if a value has at most `most` parts, `MAX_DEPTH` levels, and no number too long to be written.

    A pickle can name one list twice in each of many, so the parts are counted as they would be written.
    """
    level = [value]
    for _ in range(MAX_DEPTH):
        if any(isinstance(one, int) and one.bit_length() > MAX_BITS for one in level):
            return False
        held = (one for one in level if isinstance(one, dict | list | tuple | set | frozenset))
        inside = (part for one in held for part in (one.values() if isinstance(one, dict) else one))
        level = list(islice(inside, most + 1))
        most -= len(level)
        if not level or most < 0:
            return not level
    return False


def files_inside(folder: Path, pattern: str) -> list[Path]:
    """The regular files of a folder that fit a pattern; no link leads out of the folder."""
    real = folder.resolve()
    return sorted(one for one in folder.glob(pattern) if one.is_file() and one.resolve().is_relative_to(real))


def _open_no_link(path: str) -> int:
    """Open a file where a path cannot be walked step by step (Windows), and then check that it was no link."""
    number = os.open(path, os.O_RDONLY | _FILE)
    if not os.path.samestat(os.lstat(path), os.fstat(number)):
        os.close(number)
        raise OSError(errno.ELOOP, "it is a link", path)
    return number


def _open_without_links(parts: list[str]) -> int:
    *folders, name = filter(None, [os.curdir, *parts])
    at = os.open(os.sep, _FOLDER)
    for part, flags in (*((folder, _FOLDER) for folder in folders), (name, _FILE)):
        try:
            below = os.open(part, flags, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at
