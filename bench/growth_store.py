"""Files of many memories for `growth.py`: real texts, and vectors that are real ones moved a little.

The rows are written straight into the tables of a store that the engine has made, because the engine's own way in also
redacts, compares and journals each of them, which is measured elsewhere. Full text is made by the store's own triggers.
Beyond the texts of the corpus, texts repeat, so that the postings of a word grow with the file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import recollect
from corpus import Corpus
from recollect import ids, text
from recollect.language import terms
from recollect.store import sqlite_file
from recollect.types import Draft
from recollect.vectors import Floats, halves

NARROW = 5_000  # memories of the project that has the same number of them in every file
MOVED = 0.5  # part of the way from one real vector to another by which a further one is moved
BATCH = 20_000
START, STEP = 1_700_000_000_000_000, 60_000_000  # microseconds
KINDS = ("turn", "turn", "turn", "fact", "doc", "code", "turn", "fact", "decision", "turn")
PUT = """
    insert into memory (n, tenant, id, kind, network, title, content, reasoning, context, speaker, keywords, tags, refs,
      importance, confidence, trust, state, user, project, branch, agent, session, created_at, updated_at, observed,
      content_hash, source)
    select ?, 'default', ?, ?, ?, '', ?, '', '', '', '[]', '[]', '[]', 5, 1.0, 'stated', 'active', '', ?, '', '', '',
      ?, ?, 1, ?, (select id from source where tenant = 'default' limit 1)"""
EMBED = "insert into embedding (tenant, memory, model, chunk, vector) values ('default', ?, ?, 0, ?)"


class Given:
    """An embedder that knows the questions; what is written has a vector that is near nothing."""

    def __init__(self, model: str, queries: list[str], found: Floats) -> None:
        self.model, self.dimension = model, found.shape[1]
        self._row = {query: row for row, query in enumerate(queries)}
        self._found = found

    def warm(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Any, role: str) -> Floats:
        known = [self._row.get(one, hash(one) % len(self._found)) for one in texts]
        return np.asarray(np.roll(self._found[known], 7 * (role == "document"), axis=1), np.float32)


def project(number: int, size: int) -> str:
    """`narrow` has as many memories in every file; `wide` a tenth; the others share the rest."""
    if number % max(1, size // NARROW) == 0:
        return "narrow"
    return "wide" if number % 10 == 1 else f"other{number % 7}"


def moved(real: Floats, first: int, count: int) -> Floats:
    """Vectors of the numbers from `first` on: the real ones, and further ones that lie among them as they do."""
    numbers = np.arange(first, first + count)
    found = real[numbers % len(real)].copy()
    chance = np.random.default_rng(first)
    aside = real[chance.integers(0, len(real), count)] - real[chance.integers(0, len(real), count)]
    found[numbers >= len(real)] += MOVED * aside[numbers >= len(real)]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def rows(corpus: Corpus, first: int, count: int, size: int) -> Iterator[tuple[Any, ...]]:
    chance = random.Random(first)
    for n in range(first, first + count):
        at, kind = START + n * STEP, KINDS[n % len(KINDS)]
        content = corpus.texts[n % len(corpus.texts)]
        network = "bank" if kind in ("turn", "decision") else "world"
        id = ids.make(at // 1000, chance.getrandbits(ids.RANDOM_BITS))
        yield n + 10, id, kind, network, content, project(n, size), at, at, text.key(f"{n} {content}")


def build(path: Path, corpus: Corpus, real: Floats, size: int, model: str) -> Path:
    """The file with that many memories; one that is there is taken as it is."""
    done = path.with_name(f"{path.name}.done")
    if done.exists():
        return path
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    with recollect.open(path, embedder="off") as memory:
        memory.remember_many([Draft("The first memory has the source of all the others.")])
    con = sqlite_file.connect(path, 30.0)
    con.pragma("synchronous", "off")
    con.pragma("cache_size", -400_000)
    cut = cache(terms.joined)  # texts repeat
    con.create_scalar_function("terms", cut, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
    for first in range(0, size, BATCH):
        count = min(BATCH, size - first)
        with con:
            con.executemany(PUT, rows(corpus, first, count, size))
            found = halves(moved(real, first, count))
            con.executemany(EMBED, ((first + n + 10, model, half) for n, half in enumerate(found)))
    con.execute("insert into memory_fts (memory_fts) values ('optimize')")
    con.execute("analyze")
    con.wal_checkpoint(mode=3)
    con.close()
    done.touch()
    return path
