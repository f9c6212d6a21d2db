"""The current diff of a repository with its patch text, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..redact import redact
from ..types import Noun
from .git import Repository, printable

LARGE = 2_000_000  # characters of a diff that are looked at
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(r"diff --git a/.*? b/(.*)")


@dataclass(frozen=True, slots=True)
class Patch(Noun):
    """What was changed since the last commit: whole patches of files, the shortest first, and who had no room."""

    text: str
    tokens: int
    left_out: tuple[str, ...] = ()


def patch(repository: Repository, most: int, count: Callable[[str], int]) -> Patch:
    """The patches of staged and unstaged changes, without secrets, in at most so many tokens."""
    words = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M")
    whole = repository.ask(*words, "HEAD" if repository.resolve("HEAD") else "--cached")
    files = [redact(printable(one))[0] for one in _FILE.split(whole[:LARGE]) if one.strip()]
    used, kept, left = 0, set(), []
    for number, one in sorted(enumerate(files), key=lambda numbered: len(numbered[1])):
        size = count(one)
        if used + size <= most:
            used += size
            kept.add(number)
        else:
            left.append(name[1] if (name := _NAME.match(one)) else "a file")
    if len(whole) > LARGE:
        left.append(f"what follows the first {LARGE:,} characters")
    return Patch("".join(one for number, one in enumerate(files) if number in kept), used, tuple(left))
