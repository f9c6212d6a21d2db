"""What an answer may depend on outside the store: files by the hash of their bytes, repositories by their commit.

Nothing is run: a repository's commit is read from its own files. A file that cannot be read has no hash, which differs
from any it had.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

LARGEST = 16 * 2**20  # bytes of a file that are hashed; of a larger one its size and time stand for it
PRESSED = 0.03  # the share of memory below which a machine is short of it
GONE = "gone"
MEMINFO = Path("/proc/meminfo")


class Files:
    """The hashes of files, each read again only when its size or time is another."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def hash(self, path: str) -> str:
        try:
            stat = Path(path).stat()
            stamp = stat.st_size, stat.st_mtime_ns
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                named = f"{stamp}".encode()
                data = Path(path).read_bytes() if stat.st_size <= LARGEST else named
                known = self._known[path] = stamp, hashlib.sha256(data).hexdigest()
        except (OSError, ValueError):  # a name that no file can have is one of no file
            return GONE
        return known[1]


def commit(folder: str) -> str:
    """The commit that is checked out in a working tree, from the files of its repository."""
    try:
        git = _git_folder(Path(folder))
        head = (git / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        shared = git / (git / "commondir").read_text("utf-8").strip() if (git / "commondir").exists() else git
        for place in (git, shared):
            if (place / name).is_file():
                return (place / name).read_text("utf-8").strip()
        packed = (shared / "packed-refs").read_text("utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), GONE)
    except (OSError, ValueError):
        return GONE


def _git_folder(folder: Path) -> Path:
    git = folder / ".git"
    if git.is_file():  # a worktree or submodule: the file names the folder
        return folder / git.read_text("utf-8").removeprefix("gitdir:").strip()
    return git


def pressed() -> bool:
    """Whether this machine is short of memory; where it does not tell, it is not."""
    try:
        lines = MEMINFO.read_text("utf-8").splitlines()
    except OSError:
        return False
    told = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return told.get("MemAvailable", 1) < PRESSED * told.get("MemTotal", 0)
