"""Stores for the benchmark, built once through the engine itself and kept under `bench/.cache`.

A store is named after the corpus, its size, the schema and the model, so whatever changes one of them builds anew.
Memories fall into three projects by their number: 1 %, 10 % and the rest, so that filters of both widths can be asked.
The figures of the build lie beside the store, written last: a store without them is not finished and is built again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from corpus import CACHE, Corpus
from recollect.models.embedder import Embedder
from recollect.store.sqlite import SQLiteStore
from recollect.types import Draft, Scope
from timing import Times

TENANT = "default"
PROJECTS = {"everything": "", "10 %": "tenth", "1 %": "hundredth"}


def project(number: int) -> str:
    """The project of the text with that number."""
    return {0: "hundredth"}.get(number % 100, "tenth" if number % 10 == 1 else "rest")


def drafts(corpus: Corpus, size: int) -> list[Draft]:
    return [Draft(content, scope=Scope(project=project(n))) for n, content in enumerate(corpus.texts[:size])]


def _schema() -> str:
    folder = Path(recollect.__file__).parent / "store" / "sql" / "sqlite"
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("0*.sql")))).hexdigest()[:8]


def remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def copy(path: Path, target: Path) -> Path:
    """A copy with its index; the index is recognised by the store's identity, which is copied too."""
    for file in path.parent.glob(f"{path.name}*"):
        if file.suffix != ".json":
            shutil.copyfile(file, target.with_name(target.name + file.name.removeprefix(path.name)))
    return target


def _said(kind: str) -> Any:
    def progress(done: int, total: int) -> None:
        print(f"\rbuilding {kind}: {done:,} of {total:,}  ", end="", file=sys.stderr, flush=True)

    return progress


def built(corpus: Corpus, size: int, embedder: Embedder | None, *, afterwards: bool = False) -> tuple[Path, Any]:
    """The store of that size and what it took to fill; `afterwards` embeds with `Engine.embed`, not while writing."""
    kind = f"{size}-{embedder.model.replace('/', '-') if embedder else 'text'}"
    path = CACHE / f"{corpus.hash}-{_schema()}-{kind}.db"
    told = path.with_name(f"{path.name}.json")
    if not told.exists():
        remove(path)
        took = Times()
        if embedder and afterwards:
            copy(built(corpus, size, None)[0], path)
        with recollect.open(path, embedder=embedder or "off") as memory, took.once():
            if embedder and afterwards:
                memory.embed(progress=_said(kind))
            else:
                memory.remember_many(drafts(corpus, size), progress=_said(kind))
        if embedder:
            _index(path, embedder)
        print(file=sys.stderr)
        told.write_text(json.dumps({**took.rate(size), "built": datetime.now(UTC).isoformat(timespec="seconds")}))
    return path, json.loads(told.read_text())


def opened(path: Path) -> SQLiteStore:
    return SQLiteStore(path, 30.0, datetime.now(UTC))


def _index(path: Path, embedder: Embedder) -> None:
    """Ask once, so that the index is loaded, and saved when the store is closed."""
    with recollect.open(path, embedder=embedder) as memory:
        found = memory.list(limit=1).memories[0]
        memory.recall(found.content)
