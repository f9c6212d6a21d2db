"""The plain methods: BM25 and vectors in memory, and grep over Markdown files."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from contract import Driver, Embeddings, Item, NotOffered, Options, serve
from recollect import text
from recollect.types import Draft
from recollect_eval import controls, corpus

LONGEST = 200  # the start of a file's name


class Plain(Driver):
    def open(self, folder: Path, options: Options) -> None:
        self.method: Any = {"bm25": Bm25, "vectors": Vectors, "grep": Grep}[options["method"]](folder, options)
        self.items: list[Item] = []

    def add(self, items: Sequence[Item]) -> None:
        self.items += items
        self.method.add(items)

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        found: list[Item] = self.method.search(query, limit)
        return found

    def keys(self) -> list[str]:
        found: list[str] = self.method.keys()
        return found

    def delete(self, key: str) -> None:
        self.method.delete(key)


class Ranked:
    """What scores all that it holds in memory."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.items: list[Item] = []

    def keys(self) -> list[str]:
        return [one["key"] for one in self.items]

    def delete(self, key: str) -> None:
        raise NotOffered

    def best(self, scores: Any, limit: int) -> list[Item]:
        order = np.argsort(-scores, kind="stable")[:limit]
        return [self.items[n] for n in order if scores[n] > -np.inf]


class Bm25(Ranked):
    index: controls.Bm25 | None = None

    def add(self, items: Sequence[Item]) -> None:
        self.items += items
        self.index = None

    def search(self, query: str, limit: int) -> list[Item]:
        if not self.items:
            return []
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        if self.index is None:
            told = tuple(corpus.Item(one["key"], Draft(one["text"]), moment) for one in self.items)
            self.index = controls.Bm25(corpus.Corpus("all", told, (), moment))
        return self.best(self.index.scores(corpus.Question("", query, frozenset())), limit)


class Vectors(Ranked):
    def __init__(self, folder: Path, options: Options) -> None:
        super().__init__(folder, options)
        self.embeddings = Embeddings(options)
        self.rows: list[Any] = []
        self.starts: list[int] = []
        self.matrix: Any = None

    def add(self, items: Sequence[Item]) -> None:
        for one in items:
            self.starts.append(len(self.rows))
            self.rows += text.chunks(one["text"])
            self.items.append(one)
        fresh = [n for n, row in enumerate(self.rows) if isinstance(row, str)]
        for n, row in zip(fresh, self.embeddings.embed([self.rows[n] for n in fresh]), strict=True):
            self.rows[n] = np.array(row, dtype=np.float32)
        self.matrix = None

    def search(self, query: str, limit: int) -> list[Item]:
        if not self.rows:
            return []
        if self.matrix is None:
            self.matrix = np.stack(self.rows)
        likeness = self.matrix @ np.array(self.embeddings.embed([query], "query")[0], dtype=np.float32)
        return self.best(np.maximum.reduceat(likeness, self.starts), limit)


class Grep:
    """Each item is a Markdown file; those that hold most words of the question come first, of equals the newest."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.place = folder / "notes"
        self.place.mkdir(exist_ok=True)

    def _path(self, key: str) -> Path:
        return self.place / (re.sub(r"[^\w.-]", "_", key)[:LONGEST] + ".md")

    def add(self, items: Sequence[Item]) -> None:
        for one in items:
            self._path(one["key"]).write_text(f"---\nkey: {one['key']}\n---\n{one['text']}\n", "utf-8")

    def search(self, query: str, limit: int) -> list[Item]:
        asked = {word for word in re.findall(r"\w+", query.lower()) if len(word) > 2}
        asked -= controls.STOP_WORDS
        found: Counter[str] = Counter()
        for word in asked:
            command = ["grep", "-rliF", "--", word, str(self.place)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            found.update(done.stdout.splitlines())
        newest = {path: Path(path).stat().st_mtime_ns for path in found}
        best = sorted(found, key=lambda path: (-found[path], -newest[path]))[:limit]
        return [self._read(Path(path)) for path in best]

    @staticmethod
    def _read(path: Path) -> Item:
        _, head, said = path.read_text("utf-8").split("---\n", 2)
        return {"key": head.strip().removeprefix("key: "), "text": said.strip()}

    def keys(self) -> list[str]:
        return [self._read(path)["key"] for path in self.place.iterdir()]

    def delete(self, key: str) -> None:
        self._path(key).unlink()


serve(Plain())
