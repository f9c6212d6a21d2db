"""The files below a folder that may be read, and why others may not.

Git lists them in a repository; elsewhere `.gitignore` files count. `.recollectignore` applies on top. Symbolic links
are not followed.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput, GitUnavailable, NoRepository
from ..regular_files import read_text
from . import git

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

OWN = ".recollectignore"
MAX_RULES = 2**20  # bytes of a file that says what is ignored
PATIENCE = 60.0  # seconds that git may take to list a repository
JUNK = frozenset(
    ".git .hg .svn .jj node_modules .venv venv __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache .idea "
    ".gradle .terraform .next .nuxt .cache bower_components .eggs .hypothesis site-packages".split()
)


@dataclass(frozen=True, slots=True)
class File:
    """A file by its path below the root, with `/` between the names, and what changes when it does."""

    path: str
    size: int
    changed: int  # nanoseconds


@dataclass(slots=True)
class Tree:
    """What was found. `below` is the part of the root that was looked at: all of it, a folder of it, or one file."""

    root: Path
    below: str = ""
    files: list[File] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    only: Callable[[Path], bool] | None = None
    repository: git.Repository | None = None

    def covers(self, path: str) -> bool:
        """Whether a path lies in the part that was looked at."""
        below = not self.below or path == self.below or path.startswith(f"{self.below}/")
        return below and (self.only is None or self.only(self.root / path))


def find_files(path: Path, only: Callable[[Path], bool] | None = None) -> Tree:
    """The files at a path: of a folder all that are not ignored, a file by itself. With `only`, these and no others."""
    tree = _list_files(path)
    tree.only = only
    tree.files = [file for file in tree.files if tree.covers(file.path)]
    return tree


def _list_files(path: Path) -> Tree:
    whole = Path(os.path.abspath(path))
    try:
        repository = git.find(whole if whole.is_dir() else whole.parent)
        root = None if repository.bare else repository.root
    except (NoRepository, GitUnavailable):
        root = None
    if root is not None:
        whole = whole.resolve() if whole.is_dir() else whole.parent.resolve() / whole.name
        if not whole.is_relative_to(root):
            root = None
    if root is None:
        tree = Tree(whole if whole.is_dir() else whole.parent, "" if whole.is_dir() else whole.name)
    else:
        tree = Tree(root, "" if whole == root else whole.relative_to(root).as_posix(), repository=repository)
    if not whole.is_dir():
        _look(tree, [tree.below])
    elif root is None or (tree.below and repository.says("check-ignore", "-q", "--", tree.below)):
        _look(tree, _not_ignored(tree, _walk(tree)))
    else:
        asked = repository.ask(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", tree.below or ".",
            patience=PATIENCE,
        )  # fmt: skip
        _look(tree, _not_ignored(tree, [name for name in asked.split("\0") if name]))
    return tree


def _look(tree: Tree, names: Iterable[str]) -> None:
    """Add the plain files among the names; a name whose file is gone is not there."""
    top = os.fspath(tree.root)
    for name in names:
        try:
            seen = os.lstat(f"{top}/{name}")
        except OSError:
            continue
        if stat.S_ISREG(seen.st_mode):
            tree.files.append(File(name, seen.st_size, seen.st_mtime_ns))
        elif stat.S_ISLNK(seen.st_mode):
            tree.skipped["a link"] += 1
        else:
            tree.skipped["no plain file"] += 1


def _not_ignored(tree: Tree, names: list[str]) -> Iterator[str]:
    """The names that no `.recollectignore` excludes."""
    own = [(name.removesuffix(OWN), _patterns(tree.root / name)) for name in names if name.rpartition("/")[2] == OWN]
    if tree.below:  # those above the part that is looked at count too
        parts = tree.below.split("/")
        for depth in range(len(parts)):
            folder = "".join(f"{part}/" for part in parts[:depth])
            if (tree.root / folder / OWN).is_file():
                own.append((folder, _patterns(tree.root / folder / OWN)))
    for name in names:
        if any(name.startswith(folder) and rules.match_file(name[len(folder) :]) for folder, rules in own):
            tree.skipped[f"ignored by {OWN}"] += 1
        elif name.rpartition("/")[2] != OWN:
            yield name


def _patterns(path: Path) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(read_text(path, MAX_RULES).splitlines())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}.", fix="Mend the file, or take it away.") from error


def _walk(tree: Tree) -> list[str]:
    """All names below a folder that is in no repository, by its own `.gitignore` files."""
    top = os.fspath(tree.root / tree.below)
    before = f"{tree.below}/" if tree.below else ""
    ignoring: dict[str, list[tuple[str, GitIgnoreSpec]]] = {}
    names: list[str] = []
    for folder, inner, files in os.walk(top):
        here = "" if folder == top else f"{os.path.relpath(folder, top).replace(os.sep, '/')}/"
        rules = list(ignoring.get(here.rstrip("/").rpartition("/")[0], ())) if here else []
        if ".gitignore" in files:
            rules.append((here, _patterns(Path(folder, ".gitignore"))))
        ignoring[here.rstrip("/")] = rules

        def ignored(name: str, rules: list[tuple[str, GitIgnoreSpec]] = rules) -> bool:
            # The innermost file that says anything of a name decides.
            for base, spec in reversed(rules):
                if (verdict := spec.check_file(name[len(base) :]).include) is not None:
                    return verdict
            return False

        inner[:] = sorted(name for name in inner if name not in JUNK and not ignored(f"{here}{name}/"))
        for name in sorted(files):
            if ignored(f"{here}{name}"):
                tree.skipped["ignored by .gitignore"] += 1
            else:
                names.append(f"{here}{name}")
    return [f"{before}{name}" for name in names]
