"""What an answer may depend on outside the store: files by the hash of their bytes, repositories by their commit.

Nothing is run: a repository's commit is read from its own files. A file that cannot be read has no hash, which differs
from any it had.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ..regular_files import MAX_BYTES, open_regular, read_text

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PRESSED = 0.03  # the share of memory below which a machine is short of it
GONE = "gone"
MAX_PACKED = 64 * 2**20  # bytes of the list of all references
MEMINFO = Path("/proc/meminfo")


class Files:
    """The hashes of files, each read again only when its size or time is another; of a large one these stand for it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def hash(self, path: str) -> str:
        try:
            with open_regular(path) as file:
                stat = os.fstat(file.fileno())
                stamp = stat.st_size, stat.st_mtime_ns
                known = self._known.get(path)
                if known is None or known[0] != stamp:
                    data = file.read(MAX_BYTES) if stat.st_size <= MAX_BYTES else f"{stamp}".encode()
                    known = self._known[path] = stamp, hashlib.sha256(data).hexdigest()
        except (OSError, ValueError):  # a name that no file can have is one of no file
            return GONE
        return known[1]


def commit(folder: str) -> str:
    """The commit that is checked out in a working tree, from the files of its repository.

    Their links may lead anywhere, so nothing but a commit is given back.
    """
    try:
        found = _head(_git_folder(Path(folder)))
    except (OSError, ValueError):
        return GONE
    return found if _COMMIT.fullmatch(found) else GONE


def _head(git: Path) -> str:
    head = read_text(git / "HEAD").strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    shared = git / read_text(git / "commondir").strip() if (git / "commondir").exists() else git
    for place in (git, shared):
        if (place / name).is_file():
            return read_text(place / name).strip()
    packed = read_text(shared / "packed-refs", MAX_PACKED).splitlines()
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), GONE)


def _git_folder(folder: Path) -> Path:
    git = folder / ".git"
    if git.is_file():  # a worktree or submodule: the file names the folder
        return folder / read_text(git).removeprefix("gitdir:").strip()
    return git


def pressed() -> bool:
    """Whether this machine is short of memory; where it does not tell, it is not."""
    try:
        lines = MEMINFO.read_text("utf-8").splitlines()
    except OSError:
        return False
    told = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return told.get("MemAvailable", 1) < PRESSED * told.get("MemTotal", 0)
