"""Signals: what a starting session is about, read from its folder.

The current feature (`.meta.json`: slug, last phase, first paragraph of spec.md or prd.md), the files of the last three
commits, the branch unless it is the default one, the task, and what was said last. Together they are the question that
memory is asked.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from .. import text
from ..errors import RecollectError
from ..regular_files import open_regular
from ..types import Noun
from .git import checked_out, feature_branch, find

MAX_WORDS, MAX_FILES, MAX_TASK = 100, 20, 600
MAX_READ = 64 * 1024  # bytes of a file that are looked at
MAX_FEATURES = 500
FEATURES = ("docs/features/*/.meta.json", "features/*/.meta.json", "specs/*/.meta.json", ".meta.json")
FINISHED = ("completed", "complete", "done", "abandoned", "cancelled", "closed", "archived", "planned")
LAST = ("HEAD~3..HEAD", "HEAD~1..HEAD")
GIT = 0.6  # seconds that git may take
_NUMBER = re.compile(r"\d+")
_BLANK = re.compile(r"\n\s*\n")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Signals(Noun):
    """What is known of a session before it begins."""

    feature: str = ""
    description: str = ""
    phase: str = ""
    files: tuple[str, ...] = ()
    branch: str = ""
    task: str = ""
    talk: str = ""

    def query(self) -> str:
        """The question they make, or nothing.

        >>> Signals("parser", "Read logs", "design", ("src/a.py", "b.md")).query()
        'parser: Read logs. Phase: design. Files: src/a.py b.md'
        >>> Signals(files=("a.py",)).query(), Signals().query()
        ('Files: a.py', '')
        """
        feature = ": ".join(part for part in (self.feature, self.description.rstrip(".")) if part)
        parts = (
            feature,
            f"Phase: {self.phase}" if self.phase else "",
            f"Branch: {self.branch}" if self.branch else "",
            f"Task: {self.task.rstrip('.')}" if self.task else "",
            f"Files: {' '.join(self.files)}" if self.files else "",
        )
        told = ". ".join(part for part in parts if part)
        return "\n".join(part for part in (told, self.talk) if part)


@dataclass(slots=True)
class Deadline:
    """The time that is left, and what was left out because it would have taken longer."""

    seconds: float
    skipped: list[str] = field(default_factory=list)
    clock: Callable[[], float] = time.monotonic
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def left(self) -> float:
        return max(0.0, self._began + self.seconds - self.clock())

    def step(self, name: str, most: float, work: Callable[[], T], otherwise: T, fine: tuple[type[Exception], ...]) -> T:
        """What a piece of work gives, if it does within its time; what it raises is raised, unless that is `fine`.

        It runs in a thread of its own, because there is no other way to leave a slow one behind; what it gives later is
        of no use to anybody.
        """
        limit = min(most, self.left)
        done: list[T] = []
        failed: list[Exception] = []

        def run() -> None:  # what nobody expects is told by the thread itself
            try:
                done.append(work())
            except (RecollectError, OSError, ValueError) as error:
                failed.append(error)

        thread = Thread(target=run, name=f"recollect-brief-{name}", daemon=True)
        if limit > 0:
            thread.start()
            thread.join(limit)
        if done:
            return done[0]
        if failed and not isinstance(failed[0], fine):
            raise failed[0]
        slow = f"took longer than {limit:.2g} s" if thread.is_alive() or limit <= 0 else "failed"
        self.skipped.append(f"{name}: {failed[0] if failed else slow}")
        return otherwise


def collect(folder: str, deadline: Deadline) -> Signals:
    """What a folder tells. What cannot be read or takes too long is left out, and named."""
    if not folder or not Path(folder).is_absolute():
        return Signals()
    fine = (RecollectError, OSError, ValueError)
    seen = checked_out(folder)
    top = seen[0] if seen else Path(folder)
    feature, description, phase = deadline.step("feature", GIT, lambda: _feature(top), ("", "", ""), fine)
    branch = feature_branch(folder) if seen else ""
    none: tuple[str, ...] = ()
    files = deadline.step("git", GIT, lambda: changed_files(top, GIT), none, fine) if seen else none
    return Signals(feature, description, phase, files, branch)


def changed_files(top: Path, patience: float, ranges: Sequence[str] = LAST) -> tuple[str, ...]:
    """The files that changed in the first of these ranges of commits that there is; nothing where there is none."""
    repository = find(top)
    for span in ranges:
        words = ("diff", "--name-only", "-z", "--no-ext-diff", span, "--")
        if told := repository.ask(*words, fine=(0, 128), patience=patience):
            return tuple(name for name in told.split("\0") if name)[:MAX_FILES]
    return ()


def _feature(top: Path) -> tuple[str, str, str]:
    """The slug, first paragraph and last phase of the feature that is being worked on."""
    active = [(meta, path) for path in _metas(top) if (meta := _meta(path))]
    if not active:
        return "", "", ""
    meta, path = max(active, key=lambda one: (_number(one[0]), one[1].stat().st_mtime))
    told = next((said for name in ("spec.md", "prd.md") if (said := paragraph(_start(path.parent / name)))), "")
    return str(meta["slug"])[:200], told, str(meta.get("lastCompletedPhase") or "")[:100]


def _metas(top: Path) -> Iterator[Path]:
    for pattern in FEATURES:
        for number, path in enumerate(sorted(top.glob(pattern), reverse=True)):
            if number < MAX_FEATURES:
                yield path


def _meta(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_start(path))
    except ValueError:  # half written, or not what it is called
        return {}
    if not isinstance(found, dict) or not isinstance(found.get("slug"), str) or not found["slug"]:
        return {}
    return {} if str(found.get("status") or "active").lower() in FINISHED else found


def _number(meta: dict[str, Any]) -> int:
    found = _NUMBER.search(str(meta.get("id") or ""))
    return int(found[0]) if found else -1


def _start(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(MAX_READ).decode("utf-8", "replace")
    except OSError:
        return ""


def paragraph(markdown: str) -> str:
    """The first paragraph before the first heading of the second level, at most a hundred words.

    >>> paragraph("# Spec: Parser\\n\\n- Status: draft\\n\\nReads logs\\nof any sort.\\n\\nMore.\\n\\n## Goals\\nNo.")
    'Reads logs of any sort.'
    >>> paragraph("# Spec\\n\\n## Overview\\n\\nReads logs.")
    'Reads logs.'
    """
    before, _, rest = text.clean(markdown).partition("\n## ")
    said = _prose(before) or _prose(rest.partition("\n")[2].partition("\n## ")[0])
    words = said.split()
    return " ".join(words[:MAX_WORDS])


def _prose(markdown: str) -> str:
    """The first block of text that is neither heading, list, table, comment nor front matter."""
    body = markdown.split("\n---", 1)[1] if markdown.startswith("---\n") and "\n---" in markdown[4:] else markdown
    lines = (line for line in body.split("\n") if not line.startswith("#"))
    blocks = (block.strip() for block in _BLANK.split("\n".join(lines)))
    return next((one for one in blocks if one and not one.startswith(("- ", "* ", "|", "<!--", "```", "---", ">"))), "")
