"""Corpus: memories to fill a store with, and questions whose right memories are known. One shape for every benchmark.

An item has a key of the data set's own, which the labels speak of; the ids of a store are never seen here. `moment` is
when the item would have been said: a store is filled in that order, with the clock standing there. `group` is what a
session-level figure ranks: the session of a turn.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect import ids, text
from recollect.errors import BadInput
from recollect.types import EVERYWHERE, Draft, Scope, Source

HOME = Path(__file__).parents[4] / "shared" / "data"  # beside a checkout of this project
PRINTED_ID = "0" * ids.LENGTH
HALVES = ("dev", "held")  # every second question: what is chosen and fitted is so on the first half


@dataclass(frozen=True, slots=True)
class Item:
    """One memory to be."""

    key: str
    draft: Draft
    moment: datetime
    group: str = ""
    supersedes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that plain search may look at."""
        draft = self.draft
        said = f"{draft.speaker}: {draft.content}" if draft.speaker else draft.content
        parts = (draft.title, said, draft.reasoning, " ".join((*draft.tags, *draft.keywords, *draft.refs)))
        return "\n".join(part for part in parts if part)

    @property
    def cost(self) -> int:
        """Its tokens as it is handed to a reader."""
        head = f"[{PRINTED_ID}] {self.draft.title}\n" if self.draft.title else f"[{PRINTED_ID}] "
        said = f"{self.draft.speaker}: " if self.draft.speaker else ""
        return text.tokens(head + said + self.draft.content)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the keys that are right. `slices` are the rows of the table it counts in, beside "all".

    `labels` are further sets of keys that the benchmark's judge knows; `same` maps a key to the one it repeats.
    """

    key: str
    text: str
    right: frozenset[str]
    slices: tuple[str, ...] = ()
    moment: datetime | None = None
    scope: Scope = EVERYWHERE
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)

    def label(self, name: str) -> frozenset[str]:
        return self.labels.get(name, frozenset())


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system gave back: keys, best first; what they cost; whether it says that it does not know."""

    keys: tuple[str, ...]
    tokens: int
    unsure: bool = False
    best: float = 0.0


@dataclass(frozen=True, slots=True)
class Corpus:
    """What goes into one store, and what is asked of it at which moment."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    moment: datetime


Scores = dict[str, float]
Judge = Callable[[Question, Answer, Answer], Scores]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set ready to run. `judge` is given the question and two answers: `limit` memories, and `wide` of them."""

    name: str
    corpora: tuple[Corpus, ...]
    judge: Judge
    files: tuple[Path, ...]
    limit: int = 20
    wide: int = 0
    headline: tuple[str, ...] = ()
    targets: Mapping[str, float] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)  # what every question says to recall beside its text
    own: bool = False  # ours to quote: a report may then say which questions were missed

    @property
    def hash(self) -> str:
        """One hash of all files, in their order."""
        whole = hashlib.sha256()
        for path in self.files:
            whole.update(path.read_bytes())
        return whole.hexdigest()


def place(data: Path | str | None, folder: str) -> Path:
    """The folder of one data set: in `data`, in `$RECOLLECT_DATA`, or beside the checkout."""
    root = Path(data or os.environ.get("RECOLLECT_DATA") or HOME).expanduser()
    if not (root / folder).is_dir():
        raise BadInput(
            f"There is no folder {folder} in {root}.", fix="Name the folder of the data: --data, or $RECOLLECT_DATA."
        )
    return root / folder


def read_json(path: Path) -> Any:
    """A JSON file, packed or not."""
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except FileNotFoundError as error:
        raise BadInput(f"{path} is missing.", fix="See the README of the data folder.") from error
    except (OSError, ValueError, EOFError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error


def turn(benchmark: str, key: str, said: str, speaker: str, place: tuple[str, int], moment: datetime) -> Item:
    """One turn of a talk as a memory to be; `place` is its session and where it stands in it."""
    session, position = place
    source = Source(
        "", "turn", uri=f"{benchmark}:{key}", author=speaker, session=session, position=position, occurred_at=moment
    )  # fmt: skip
    draft = Draft(
        said, kind="turn", speaker=speaker, position=position, scope=Scope(session=session), valid_from=moment,
        source=source,
    )  # fmt: skip
    return Item(key, draft, moment, session)


def groups(answer: Answer, items: Mapping[str, Item]) -> list[str]:
    """The groups of a ranking, each where its best item stands."""
    return list(dict.fromkeys(items[key].group for key in answer.keys))


def by_moment(items: Sequence[Item]) -> list[list[Item]]:
    """Items in the order of time, those of one moment together."""
    found: dict[datetime, list[Item]] = {}
    for item in items:
        found.setdefault(item.moment, []).append(item)
    return [found[moment] for moment in sorted(found)]
