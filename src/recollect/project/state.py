"""The state of a repository, cached: branch, changes, the last commits, the history of files.

Git is asked only if the time stamps of HEAD, the index or the tracked files changed. A large work tree, or one with
submodules, is read again after a few seconds. A reading during which a file was written is not cached.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..regular_files import read_text
from ..types import Noun
from .git import Commit, Repository, Touched, find, printable, read_lines

COMMITS = 200  # the last ones that are kept in memory
WATCHED = 2000  # files and folders that are looked at for each answer: a few milliseconds
MAX_AGE = 5.0  # seconds that a larger work tree is believed
CLOCK_STEP = 50_000_000  # nanoseconds within which two writes can look like one
MAX_LISTED = 500  # files of each list that are told
FOLDERS, REPOSITORIES, HISTORIES = 256, 64, 64  # what is kept of each, the latest
K = TypeVar("K")
V = TypeVar("V")
_OPERATIONS = {
    "MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase", "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Author(Noun):
    """Who changed a file: how often, and when last."""

    name: str
    commits: int
    last: datetime


@dataclass(frozen=True, slots=True)
class State(Noun):
    """Where a repository stands. Of lists that are too long the first are told; `counts` counts all."""

    root: str
    read_at: datetime
    branch: str = ""  # none where HEAD is on none
    head: str = ""  # none where nothing was committed yet
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    operation: str = ""  # a merge, rebase … that is not finished
    staged: tuple[Touched, ...] = ()
    unstaged: tuple[Touched, ...] = ()
    untracked: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    counts: dict[str, int] | None = None
    commits: tuple[Commit, ...] = ()
    shallow: bool = False
    bare: bool = False
    worktree: bool = False
    submodule_of: str = ""

    @property
    def clean(self) -> bool:
        return not (self.staged or self.unstaged or self.untracked or self.conflicts)


@dataclass(slots=True)
class _Reading:
    """What was read and what it was read from."""

    state: State
    head: tuple[Any, ...]
    index: tuple[Any, ...]
    tree: tuple[Any, ...] | None  # none: too large to look at
    watched: list[str] | None
    at: float


class _LruCache(Generic[K, V]):
    """A dictionary of what was asked for last, for several threads."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: K, value: V) -> V:
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return value


class StateCache:
    """The states of repositories, by the folder asked from; may be used from several threads."""

    def __init__(self) -> None:
        self._homes: _LruCache[str, tuple[Repository, Any]] = _LruCache(FOLDERS)
        self._readings: _LruCache[Path, _Reading] = _LruCache(REPOSITORIES)
        self._turns: _LruCache[Path, threading.Lock] = _LruCache(REPOSITORIES)
        self._histories: _LruCache[tuple[Path, str, str, int], tuple[Commit, ...]] = _LruCache(HISTORIES)

    def repository(self, folder: str | Path) -> Repository:
        """The repository of a folder; known ones are not looked for again while they are there."""
        name = os.path.normpath(folder)
        known, configured = self._homes.get(name) or (None, None)
        there = known and (known.git / "HEAD").exists() and (known.bare or _holds(known))
        if known and there and configured == _stamp(known.common / "config"):
            return known
        found = find(folder)
        return self._homes.put(name, (found, _stamp(found.common / "config")))[0]

    def state(self, folder: str | Path) -> State:
        """Where the repository of a folder stands now."""
        repository = self.repository(folder)
        with self._turns.get(repository.root) or self._turns.put(repository.root, threading.Lock()):
            known = self._readings.get(repository.root)
            if known and self._holds(repository, known):
                return known.state
            return self._readings.put(repository.root, self._read(repository, known)).state

    def history(self, folder: str | Path, path: str, limit: int = 50) -> tuple[Commit, ...]:
        """The commits that changed a file, newest first."""
        repository = self.repository(folder)
        key = (repository.root, self.state(folder).head, path, limit)
        known = self._histories.get(key)
        return known if known is not None else self._histories.put(key, repository.history(path, limit))

    def _holds(self, repository: Repository, known: _Reading) -> bool:
        if known.head != _head(repository) or known.index != _index(repository):
            return False
        if known.tree is None or known.watched is None:
            return time.monotonic() - known.at < MAX_AGE
        return known.tree == _stamps(known.watched)

    def _read(self, repository: Repository, known: _Reading | None) -> _Reading:
        head, index = _head(repository), _index(repository)
        same = known is not None and known.head == head
        watched = known.watched if known and known.index == index else _to_watch(repository)
        began, tree = time.time_ns(), None if watched is None else _stamps(watched)
        commits = known.state.commits if known and same else repository.log(limit=COMMITS)
        state = replace(_worked_on(repository), commits=commits, shallow=(repository.common / "shallow").exists())
        if tree is not None and max((stamp[0] for stamp in tree if stamp), default=0) > began - CLOCK_STEP:
            tree = ()  # fits nothing: it is read again
        return _Reading(state, head, index, tree, watched, time.monotonic())


def authors(commits: tuple[Commit, ...]) -> tuple[Author, ...]:
    """Who made these commits, the most first."""
    times = Counter(commit.author for commit in commits)
    last = {commit.author: commit.at for commit in reversed(commits)}
    return tuple(Author(name, count, last[name]) for name, count in times.most_common())


def _holds(repository: Repository) -> bool:
    """Whether the work tree still belongs to that repository: it may have been made anew."""
    return (repository.root / ".git").exists()


def _stamp(path: str | Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _stamps(paths: list[str]) -> tuple[Any, ...]:
    return tuple([_stamp(path) for path in paths])


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except OSError:
        return ""


def _head(repository: Repository) -> tuple[Any, ...]:
    head = _text(repository.git / "HEAD")
    own = head.partition(":")[2].strip()
    common = repository.common
    return (
        head, _text(common / own) if own else "", _stamp(common / "packed-refs"), _stamp(common / "config"),
        _stamp(common / "shallow"), _stamp(common / "FETCH_HEAD"), _stamp(common / "reftable" / "tables.list"),
        _stamp(repository.git / "logs" / "HEAD"), _operation(repository),
    )  # fmt: skip


def _index(repository: Repository) -> tuple[Any, ...]:
    return (_stamp(repository.git / "index"), _stamp(repository.common / "info" / "exclude"))


def _operation(repository: Repository) -> str:
    return next((name for file, name in _OPERATIONS.items() if (repository.git / file).exists()), "")


def _to_watch(repository: Repository) -> list[str] | None:
    """The tracked files and their folders; nothing where they are too many, or where submodules are among them."""
    if repository.bare:
        return []
    told = repository.ask("ls-files", "-s", "-z").split("\0")
    files = [line.partition("\t") for line in told if line]
    if len(files) > WATCHED or any(mode.startswith("160000") for mode, _, _ in files):
        return None
    root = os.fspath(repository.root)
    paths = {os.path.join(root, name) for _, _, name in files}
    folders = {root}
    for path in paths:
        while (path := os.path.dirname(path)) not in folders:
            folders.add(path)
    watched = sorted(paths | folders)
    return watched if len(watched) <= WATCHED else None


def _worked_on(repository: Repository) -> State:
    """Branch and status, in one question, and the lines that changed, in two."""
    state = State(
        str(repository.root), datetime.now(UTC), operation=_operation(repository), bare=repository.bare,
        worktree=repository.linked, submodule_of=repository.above,
    )  # fmt: skip
    if repository.bare:
        head = repository.ask("symbolic-ref", "-q", "--short", "HEAD", fine=(0, 1, 128)).strip()
        return replace(state, branch=head, head=repository.resolve("HEAD"))
    told = repository.ask("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", patience=30)
    found = read_status(told)
    lines = ("diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv")
    staged = read_lines(repository.ask(*lines, "--cached")) if found["staged"] else {}
    unstaged = read_lines(repository.ask(*lines)) if found["unstaged"] else {}
    listed = ("staged", "unstaged", "untracked", "conflicts")
    counts = {name: len(found[name]) for name in listed}
    cut = {name: tuple(found[name][:MAX_LISTED]) for name in listed}
    return replace(
        state, branch=found["branch"], head=found["head"], upstream=found["upstream"], ahead=found["ahead"],
        behind=found["behind"], staged=_counted(cut["staged"], staged), unstaged=_counted(cut["unstaged"], unstaged),
        untracked=cut["untracked"], conflicts=cut["conflicts"], counts=counts,
    )  # fmt: skip


def _counted(
    files: tuple[Touched, ...], lines: dict[str, tuple[int | None, int | None]]
) -> tuple[Touched, ...]:  # fmt: skip
    told = [(file, lines.get(file.path, (None, None))) for file in files]
    return tuple(replace(file, added=added, removed=removed) for file, (added, removed) in told)


def read_status(told: str) -> dict[str, Any]:
    """Branch and files, from an answer of `git status --porcelain=v2 --branch -z`. Pure.

    >>> read_status(chr(0).join(["# branch.oid ab", "# branch.head main", "1 .M N... 1 1 1 a b x y.py", "? new", ""]))[
    ...     "unstaged"][0].path
    'x y.py'
    """
    found: dict[str, Any] = {
        "branch": "", "head": "", "upstream": "", "ahead": 0, "behind": 0, "staged": [], "unstaged": [],
        "untracked": [], "conflicts": [],
    }  # fmt: skip
    parts = iter(told.split("\0"))
    for part in parts:
        match part[:2]:
            case "# ":
                _, name, value = part.split(" ", 2)
                _read_branch(name, value, found)
            case "1 ":
                marks, path = part.split(" ")[1], part.split(" ", 8)[8]
                _note(found, marks, printable(path), "")
            case "2 ":
                marks, path = part.split(" ")[1], part.split(" ", 9)[9]
                _note(found, marks, printable(path), printable(next(parts, "")))
            case "u ":
                found["conflicts"].append(printable(part.split(" ", 10)[10]))
            case "? ":
                found["untracked"].append(printable(part[2:]))
    return found


def _read_branch(name: str, value: str, found: dict[str, Any]) -> None:
    match name:
        case "branch.oid" if value != "(initial)":
            found["head"] = value
        case "branch.head" if value != "(detached)":
            found["branch"] = printable(value)
        case "branch.upstream":
            found["upstream"] = printable(value)
        case "branch.ab":
            ahead, behind = value.split()
            found["ahead"], found["behind"] = int(ahead), -int(behind)


def _note(found: dict[str, Any], marks: str, path: str, before: str) -> None:
    for mark, name in zip(marks, ("staged", "unstaged"), strict=True):
        if mark != ".":
            found[name].append(Touched(path, mark, before=before if mark in "RC" else ""))
