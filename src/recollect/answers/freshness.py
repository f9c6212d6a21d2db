"""Freshness: whether a kept answer still holds, and what it depends on so that this can be told.

An answer carries the memories, files, commits and settings it was built from, and the journal row it was computed at.
It ends when one of these changes, when a memory that is new or changed is among the hits that recall now puts before
the question, or when its time is over: a memory it was built from ends, or another begins to hold. So a stale answer is
noticed on the next look, whoever changed what, in whichever process. Files count by the hash of their bytes,
repositories by their commit, which is read from the repository's files; nothing is run.
"""

from __future__ import annotations

import bisect
import hashlib
import math
import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..language import terms
from ..recall.loading import LOADING
from ..regular_files import MAX_BYTES, open_regular, read_text
from ..store.answers import Answer, Depends
from ..store.contract import Store
from ..types import Entry, Filter, Memory, Recall, Scope, Source
from . import compose

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.llm import LLM

FUTURE = 200  # memories that begin to hold later, looked through for the first of them
FEW = 200  # changes that are looked at one by one before recall is asked
OUTSIDE = frozenset(("file", "commit"))
FILES = 20  # files that an answer is tied to, at most
MAX_CHANGES = 5000  # changes that are looked through for one answer; after more, it is computed again
HELD = 50_000  # changes that are held in memory
PAGE = 1000
HARMLESS = {"observed"}  # fields of a memory that no answer is made of
GONE = "gone"
PRESSED = 0.03  # the share of memory below which a machine is short of it
MAX_PACKED = 64 * 2**20  # bytes of the list of all references
MEMINFO = Path("/proc/meminfo")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PATH = re.compile(r"(?:file:(?://)?)?(/.*)")


@dataclass(frozen=True, slots=True)
class Parts:
    """What the cache needs of the engine it belongs to. `model` is the id of the embedder, told without loading it."""

    recall: Callable[[str, dict[str, Any]], Recall]
    embedder: Callable[[], Embedder | None]
    model: Callable[[], str]
    llm: Callable[..., LLM | None]
    forbids: Callable[[str, Scope], bool]
    recipe: Callable[[], str]
    folders: Callable[[str], Sequence[Path]]  # in which a person worked on a project, on this machine


class Freshness:
    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime], parts: Parts) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._parts = parts
        self.files = Files()
        self._changes = ChangesSince(store, tenant)
        self._known: dict[str, tuple[int, int]] = {}  # id → version, and the journal row up to which it holds
        self._bars: dict[str, tuple[int, compose.Bars]] = {}  # id → version, and what a memory must pass to bear on it
        self._lock = threading.Lock()

    def ended(self, answer: Answer) -> tuple[str, int]:
        """Why an answer no longer holds, or nothing and the journal row up to which it does."""
        head = self._store.head(self._tenant)
        why = self._time_over(answer) or self._beside(answer, OUTSIDE | {"setting"})
        why, events = (why, ()) if why else self._events(answer, self._seen_up_to(answer), head)
        if why:
            return why, 0
        place = Scope(answer.user, answer.project)
        changed = others(events, _built_from(answer), place) if answer.watched else ()
        if changed and (why := self._newer(answer, place, changed)):
            return why, 0
        with self._lock:
            self._known[answer.id] = answer.version, head
        return "", head

    def over(self, answer: Answer) -> str:
        """Why no process can ever serve an answer again, as far as that is told without asking recall or a model."""
        why = self._time_over(answer) or self._beside(answer, OUTSIDE)
        return why or self._events(answer, answer.seq, self._store.head(self._tenant))[0]

    def _time_over(self, answer: Answer) -> str:
        if answer.stale or answer.expires_at is None or answer.expires_at > self._now():
            return answer.stale
        return f"its time ended {answer.expires_at:%Y-%m-%d %H:%M} UTC"

    def _beside(self, answer: Answer, kinds: Collection[str]) -> str:
        changed = (one for one in answer.depends if one.kind in kinds and self._current(one) != one.version)
        return next((f"{one.kind} {one.target} is another" for one in changed), "")

    def _seen_up_to(self, answer: Answer) -> int:
        """The journal row up to which an answer is known to hold."""
        version, seq = self._known.get(answer.id, (-1, 0))
        return max(answer.seq, seq) if version == answer.version else answer.seq

    def _events(self, answer: Answer, seq: int, head: int) -> tuple[str, Sequence[Event]]:
        """What changed since a journal row; and why that ends the answer, if it does."""
        if head < seq:
            return "the store is older than the answer", ()
        events = self._changes.since(seq, head) if head > seq else []
        if events is None:
            return f"more than {MAX_CHANGES} changes since", ()
        return ended(events, _built_from(answer)), events

    def _newer(self, answer: Answer, place: Scope, changed: Collection[str]) -> str:
        """Whether what changed is among the hits that an answer would be made of now: then it is another answer."""
        rarity = self.rarity(answer.question, place)
        if len(changed) <= FEW and self._far(answer, changed, rarity):
            return ""
        found = self._parts.recall(answer.question, {"scope": place, "limit": compose.HITS})
        if LOADING in found.skipped:  # words alone may miss what changed
            return "it cannot be checked while the model is loading"
        bars = compose.bars(found.hits, rarity)
        near = compose.bearing(found.hits, rarity)
        new = next((memory.id for memory in near if memory.id in changed), "")
        with self._lock:
            self._bars[answer.id] = answer.version, bars
        return f"memory {new} is newer and bears on it" if new else ""

    def _far(self, answer: Answer, changed: Collection[str], rarity: Mapping[str, float]) -> bool:
        """Whether nothing of what changed can bear on a question, by the bars that the last recall for it set.

        What bears on it passes one of them, so what passes none is not worth a recall.
        """
        if answer.kind == "timely":  # what is of the time asked for bears on it, whatever it says
            return False
        version, bars = self._bars.get(answer.id, (-1, None))
        vectors = self._store.answer_vectors(self._tenant, [answer.id]) if version == answer.version else {}
        if bars is None or not vectors or answer.model != self._parts.model():
            return False
        from ..vectors import floats

        ids = sorted(changed)
        cosines = self._store.cosines(self._tenant, answer.model, floats([vectors[answer.id]])[0], ids)
        memories = self._store.memories(self._tenant, ids).values()
        return not any(compose.bears(memory, cosines.get(memory.id, 0.0), bars, rarity) for memory in memories)

    def rarity(self, question: str, place: Scope) -> dict[str, float]:
        """The words of a question, each with how rare it is in what can be seen from a place."""
        words = terms.of_query(question)
        total, counts = self._store.frequencies(self._tenant, words, Filter(scope=place))
        return {word: math.log(1 + total / (1 + counts.get(word, 0))) for word in words}

    def _current(self, one: Depends) -> str:
        if one.kind == "file":
            return self.files.hash(one.target)
        if one.kind == "commit":
            return commit(one.target)
        return self._settings().get(one.target, "")

    def _settings(self) -> dict[str, str]:
        """What an answer depends on beside knowledge: the model that finds, how it is scored, and who writes."""
        llm = self._parts.llm("extract", "ask", "")
        return {
            "embedder": self._parts.model(),
            "llm": "rules" if llm is None else llm.model,
            "recipe": self._parts.recipe(),
        }

    def tied(self, memories: Sequence[Memory], *, settings: bool = True) -> tuple[Depends, ...]:
        """The memories, the files here that they come from or speak of, and the settings that found them.

        A memory can name any file; only those in a folder of its project are looked at.
        """
        tied = {("memory", memory.id): Depends("memory", memory.id) for memory in memories}
        sources = self._store.of(self._tenant, Source, [memory.source for memory in memories])
        uris = {one.id: one.uri for one in sources}
        for memory in memories:
            for name in (uris.get(memory.source, ""), *memory.refs):
                path = self._file(name, memory.scope.project)
                if path and len(tied) < len(memories) + FILES and (version := self.files.hash(path)) != GONE:
                    tied["file", path] = Depends("file", path, version)
        if settings:
            for name, value in self._settings().items():
                tied["setting", name] = Depends("setting", name, value)
        return tuple(tied.values())

    def _file(self, name: str, project: str) -> str:
        """The path that a reference names, if it lies in a folder of the project."""
        match = _PATH.fullmatch(name)
        path = os.path.realpath(match[1]) if match and project and "\0" not in name else ""
        folders = self._parts.folders(project) if path else ()
        return path if any(Path(path).is_relative_to(folder) for folder in folders) else ""

    def first_later(self, scope: Scope) -> datetime | None:
        """When the first memory begins to hold that does not yet: no journal row will tell of that."""
        now = self._now()
        later = self._store.dated(self._tenant, Filter(scope, since=now), FUTURE)
        starts = [memory.valid_from for memory in later if memory.valid_from is not None and memory.valid_from > now]
        if len(later) == FUTURE:
            return now + timedelta(hours=1)
        return min(starts, default=None)


def _built_from(answer: Answer) -> set[str]:
    return {one.target for one in answer.depends if one.kind == "memory"}


@dataclass(frozen=True, slots=True)
class Event:
    """A memory that changed. `said` is whether what it says may have; else only how it is found has."""

    seq: int
    memory: str
    said: bool
    operation: str
    scope: tuple[str, str] | None = None  # user and project, where the row tells them

    def seen_from(self, place: tuple[str, str]) -> bool:
        if self.scope is None:
            return True
        return all(not wanted or own in ("", wanted) for own, wanted in zip(self.scope, place, strict=True))


def events(entry: Entry) -> Iterable[Event]:
    """What a journal row may mean for an answer."""
    after, before = entry.after or {}, entry.before or {}
    if entry.noun == "memory":
        if entry.after is None or not after.keys() <= HARMLESS:
            told = after.get("scope", {}) if entry.before is None and entry.after is not None else None
            scope = None if told is None else (str(told.get("user", "")), str(told.get("project", "")))
            yield Event(entry.seq, entry.target, True, entry.operation, scope)
    elif entry.noun == "embedding":
        yield Event(entry.seq, entry.target, False, entry.operation)
    elif entry.noun == "link":
        link = {**before, **after}
        for end in ("origin", "target"):
            # What contradicts or supersedes a memory says that it does not hold.
            said = link.get("relation") == "contradicts" or (link.get("relation") == "supersedes" and end == "target")
            if link.get(end):
                yield Event(entry.seq, str(link[end]), said, str(link.get("relation", entry.operation)))


class ChangesSince:
    """What changed in the journal since an answer was computed, read once for all answers that are looked at."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._from = self._to = 0

    def since(self, seq: int, head: int) -> list[Event] | None:
        """The events after a journal row, or None where there are too many to look through."""
        if head - seq > MAX_CHANGES:
            return None
        with self._lock:
            if not self._from <= seq <= self._to:
                self._events, self._from, self._to = [], seq, seq
            while self._to < head:
                rows = self._store.journal(self._tenant, self._to, PAGE)
                if not rows:
                    break
                self._events += [event for row in rows for event in events(row)]
                self._to = rows[-1].seq
            if len(self._events) > HELD:
                self._from = self._events[-HELD // 2].seq
                self._events = self._events[-HELD // 2 + 1 :]
            start = bisect.bisect_right(self._events, seq, key=lambda event: event.seq)
            return self._events[start:]


def ended(events: Iterable[Event], built_from: Collection[str]) -> str:
    """Why what an answer was built from no longer says the same; nothing where it does."""
    for event in events:
        if event.said and event.memory in built_from:
            return f"memory {event.memory} changed ({event.operation})"
    return ""


def others(events: Iterable[Event], built_from: Collection[str], place: Scope) -> set[str]:
    """The memories that are new or another, besides those it was built from, and may be seen from a place."""
    own = place.user, place.project
    return {event.memory for event in events if event.memory not in built_from and event.seen_from(own)}


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


def is_short_of_memory() -> bool:
    """Whether this machine is short of memory; where it does not tell, it is not."""
    try:
        lines = MEMINFO.read_text("utf-8").splitlines()
    except OSError:
        return False
    told = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return told.get("MemAvailable", 1) < PRESSED * told.get("MemTotal", 0)
