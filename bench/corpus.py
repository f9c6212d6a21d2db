"""The corpus of the speed benchmark: 100,000 distinct real texts, real questions, and their vectors.

Texts are what a memory of an assistant could hold: turns of long conversations cut at paragraphs, chat turns, code,
incident reports, decision records, and short questions to fill up. They are shuffled once with a fixed seed, so the
first 10,000 are the same mix as all of them, and a vector file made for 10,000 is continued for 100,000.

`--quick` of every benchmark takes the notes of `training/notes` instead, which need no data from elsewhere.

No question is a text of the corpus. Vectors are appended to a file in whole rows of float32 as they are made; a run
that was stopped goes on where the file ends. Data is read from where it lies and never copied.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recollect import text
from recollect.models.embedder import Embedder, Role, load
from recollect.redact import redact
from recollect.vectors import Floats

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("RECOLLECT_BENCH_CACHE") or HERE / ".cache")
SIZE = 100_000
QUERIES = 500
SEED = 20240
SHORTEST = 20  # letters; below that a paragraph is "Sure!" or a heading
BATCH = 2000


class NoData(SystemExit):
    """The data is not where it was looked for; the message says how to name the place."""


@dataclass(frozen=True, slots=True)
class Corpus:
    texts: list[str]
    queries: list[str]
    mix: dict[str, int]
    hash: str  # what a cached vector file and a result belong to


def place(given: str | None) -> Path:
    """The folder of the data: named, or in the environment, or beside the project."""
    folder = Path(given or os.environ.get("RECOLLECT_DATA") or HERE.parents[1] / "shared" / "data").expanduser()
    if not (folder / "longmemeval" / "oracle_dev.json.gz").is_file():
        raise NoData(f"No benchmark data in {folder}.\nName the folder with --data or RECOLLECT_DATA; see its README.")
    return folder


def _json(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _paragraphs(content: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", content):
        # One memory, one vector: what the engine would cut into chunks is cut here.
        yield from text.chunks(text.clean(paragraph))


def _longmemeval(folder: Path) -> Iterator[str]:
    for asked in _json(folder / "longmemeval" / "oracle_dev.json.gz"):
        for session in asked["haystack_sessions"]:
            for turn in session:
                yield from _paragraphs(turn["content"])


def _locomo(folder: Path) -> Iterator[str]:
    for talk in _json(folder / "locomo" / "locomo_dev.json.gz"):
        for name, turns in talk["conversation"].items():
            if name.startswith("session_") and isinstance(turns, list):
                for turn in turns:
                    yield from _paragraphs(f"{turn['speaker']}: {turn['text']}")


def _cosqa(folder: Path) -> Iterator[str]:
    for code in _json(folder / "cosqa" / "code_idx_map.txt.gz"):
        yield text.chunks(text.clean(code))[0]


def _markdown(folder: Path, name: str) -> Iterator[str]:
    for path in sorted((folder / name).rglob("*.md")):
        yield from _paragraphs(path.read_text(encoding="utf-8"))


def _qqp(folder: Path) -> Iterator[str]:
    for part in ("train", "dev"):
        for pair in _json(folder / "qqp" / f"pairs_{part}.json.gz"):
            yield text.clean(pair["text_a"])
            yield text.clean(pair["text_b"])


def _questions(folder: Path) -> list[str]:
    asked = [item["question"] for item in _json(folder / "longmemeval" / "oracle_dev.json.gz")]
    asked += [qa["question"] for talk in _json(folder / "locomo" / "locomo_dev.json.gz") for qa in talk["qa"]]
    return list(dict.fromkeys(" ".join(question.split()) for question in asked))


def read(folder: Path) -> Corpus:
    """The texts in their fixed order and the questions, with how many texts each source gave."""
    queries = _questions(folder)
    random.Random(SEED).shuffle(queries)
    queries = queries[:QUERIES]
    seen = {text.key(query) for query in queries}
    chosen: list[str] = []
    mix: dict[str, int] = {}
    sources = {
        "longmemeval": _longmemeval(folder),
        "locomo": _locomo(folder),
        "cosqa": _cosqa(folder),
        "postmortems": _markdown(folder, "postmortems"),
        "adr": _markdown(folder, "adr"),
        "qqp": _qqp(folder),
    }
    for name, found in sources.items():
        before = len(chosen)
        for one in found:
            if len(chosen) == SIZE:
                break
            # What the engine would fold into one memory, or change before storing it, is left out.
            if len(one) >= SHORTEST and (key := text.key(one)) not in seen and redact(one)[0] == one:
                seen.add(key)
                chosen.append(one)
        mix[name] = len(chosen) - before
    random.Random(SEED).shuffle(chosen)
    return Corpus(chosen, queries, mix, _hash([*chosen, *queries]))


def small(size: int, questions: int) -> Corpus:
    """Notes of made-up projects and questions about them: what `--quick` runs with."""
    told = [
        json.loads(line)
        for path in sorted((HERE.parent / "training" / "notes").glob("*.jsonl"))
        for line in path.open("rb")
    ]
    texts = list(dict.fromkeys(text.clean(line["content"]) for line in told if "content" in line))[:size]
    queries = list(dict.fromkeys(line["question"] for line in told if "question" in line))[:questions]
    return Corpus(texts, queries, {"notes": len(texts)}, _hash([*texts, *queries]))


def chosen(quick: bool, data: str | None, size: int, questions: int) -> Corpus:
    """The corpus, or with `quick` a small one of so many texts and questions."""
    return small(size, questions) if quick else read(place(data))


def _hash(lines: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\0")
    return digest.hexdigest()[:16]


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def vectors(corpus: Corpus, embedder: Embedder, count: int) -> Floats:
    """The vectors of the first texts, from the cache as far as it goes."""
    return _grown(corpus.texts[:count], "document", embedder, f"{corpus.hash}-{_slug(embedder.model)}")


def query_vectors(corpus: Corpus, embedder: Embedder) -> Floats:
    return _grown(corpus.queries, "query", embedder, f"{corpus.hash}-{_slug(embedder.model)}-queries")


def _grown(texts: Sequence[str], role: Role, embedder: Embedder, name: str) -> Floats:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{name}.f32"
    width = embedder.dimension
    done = path.stat().st_size // (4 * width) if path.exists() else 0
    if done < len(texts):
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(done * 4 * width)  # a run that was killed may have left half a row
            file.seek(0, os.SEEK_END)
            began, first = time.perf_counter(), done
            while done < len(texts):
                batch = texts[done : done + BATCH]
                file.write(embedder.embed(batch, role).astype("<f4").tobytes())
                file.flush()
                done += len(batch)
                left = (time.perf_counter() - began) / (done - first) * (len(texts) - done)
                print(f"\r{embedder.model}: {done:,} of {len(texts):,} embedded, {left / 60:.1f} min left  ",
                      end="", file=sys.stderr, flush=True)  # fmt: skip
            print(file=sys.stderr)
    return np.fromfile(path, "<f4", len(texts) * width).reshape(len(texts), width)


class Lookup:
    """An embedder that looks its vectors up: the engine runs as it does, without the model's time."""

    def __init__(self, embedder: Embedder, texts: Sequence[str], found: Floats) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._row = {text: row for row, text in enumerate(texts)}
        self._found = found

    def warm(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Sequence[str], role: Role) -> Floats:
        # A question that asks two things is asked in parts too; their vectors cost the same wherever they point.
        return self._found[[self._row.get(text, 0) for text in texts]]


def main() -> None:
    """Fill the cache: run this in the background before the first benchmark."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--model", default="default", help="default, or a folder with an ONNX model")
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--quick", action="store_true", help="a few notes, without the data")
    given = parser.parse_args()
    corpus = chosen(given.quick, given.data, 20, 5)
    print(f"{len(corpus.texts):,} texts {corpus.mix}, {len(corpus.queries)} questions, hash {corpus.hash}")
    embedder = load(given.model)
    query_vectors(corpus, embedder)
    vectors(corpus, embedder, min(given.size, len(corpus.texts)))


if __name__ == "__main__":
    main()
