"""What writing costs: single calls, many at once, and an import. Each into a store of its own, thrown away after.

`off` writes rows, full text and journal; `model` embeds with the real model too; `given` has the vectors looked up, so
that the engine's own part of a write with vectors can be seen. Every transaction waits for the disk (synchronous=full),
which wall time shows and CPU time does not.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollect
from corpus import CACHE, Corpus, Lookup
from recollect.models.embedder import Embedder
from stores import copy, drafts
from timing import Times

SINGLE = 300
BULK, BULK_EMBEDDED = 10_000, 1_000


@contextmanager
def scratch() -> Iterator[Path]:
    folder = CACHE / "scratch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def single(corpus: Corpus, embedder: Embedder, full: Path) -> dict[str, Any]:
    """One `remember` after the other, into an empty store and into a copy of the full one."""
    found = {}
    for where in ("empty", "full"):
        for how, model in (("off", "off"), ("model", embedder)):
            with scratch() as folder:
                path = copy(full, folder / "one.db") if where == "full" else folder / "one.db"
                took = Times()
                with recollect.open(path, embedder=model) as memory:
                    memory.remember("The first one opens the file, loads the index and is not counted.")
                    for number, content in enumerate(corpus.texts[: min(SINGLE, len(corpus.texts) // 4)]):
                        with took.once():
                            memory.remember(f"Note {number}. {content}")
                found[f"{where}, {how}"] = took.rate() | took.milliseconds()
    return found


def many(corpus: Corpus, embedder: Embedder, given: Lookup, most: int) -> dict[str, Any]:
    """`remember_many` into an empty store."""
    ways: tuple[tuple[str, Any, int], ...] = (
        ("off", "off", min(BULK, most)),
        ("given", given, min(BULK, most)),
        ("model", embedder, min(BULK_EMBEDDED, most)),
    )
    found = {}
    for how, model, count in ways:
        with scratch() as folder, recollect.open(folder / "many.db", embedder=model) as memory:
            ready, took = drafts(corpus, count), Times()
            with took.once():
                memory.remember_many(ready)
            found[how] = {"count": count, **took.rate(count)}
    return found


def imported(store: Path) -> dict[str, Any]:
    """An export of a store, and its import into an empty one, without vectors."""
    with scratch() as folder:
        lines, took, back = folder / "export.jsonl", Times(), Times()
        with recollect.open(copy(store, folder / "from.db"), embedder="off") as memory, took.once():
            count = memory.export(lines)
        with recollect.open(folder / "to.db", embedder="off") as memory, back.once():
            taken = memory.import_(lines, embed=False)
        if taken.created != count:
            raise SystemExit(f"The import took {taken.created} of {count} memories: nothing is measured.")
        return {"count": count, "export": took.rate(count), "import": back.rate(count)}
