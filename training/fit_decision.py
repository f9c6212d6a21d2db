"""Fit the probability that recall's candidates answer a question, from what the reader says of them.

    python fit_decision.py [--cache DIR]     writes the weights to the reader's card; needs recollect and recollect-eval

Each author's stores are filled and asked through recall, so that what is read is what recall reads. The authors are
those whom the reader has not learnt from, and stores of plain notes on many topics (`topics.py`); all count the same.
Each is told by a fit on the others first; the card is fitted on all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollect
import topics
from fit_reader import logistic, probability
from fit_relevance import TARGET
from recollect import times
from recollect.models.embedder import load
from recollect.models.reader import PairReader
from recollect.types import Draft
from recollect_eval.cache import CachedEmbedder
from recollect_eval.relevance import NOW, PROMPTS

STORES = PROMPTS.parent / "authored" / "stores"
AUTHORS = ("d4", "d5", "k3", "topics")
NAMES = ("answers", "first")
EACH = 400  # what the questions of one author count together
Row = tuple[list[float], bool]


def stores(author: str) -> Iterator[dict[str, Any]]:
    if author == "topics":
        yield from topics.stores(random.Random(21))
    for path in (PROMPTS / f"relevance-{author}.jsonl", STORES / f"relevance-{author}.jsonl.gz"):
        if path.exists():
            raw = path.read_bytes()
            yield from map(json.loads, (gzip.decompress(raw) if path.suffix == ".gz" else raw).splitlines())


def asked(author: str, embedder: Any) -> list[Row]:
    """For each question the logits of the best note and of recall's first, and whether anything answers it."""
    seen: list[list[float]] = []
    judge = PairReader.sure_of_answer

    def record(reader: PairReader, logits: Any) -> float:
        seen.append([max(logits), logits[0]] if logits else [])
        return judge(reader, logits)

    PairReader.sure_of_answer = record  # type: ignore[method-assign,assignment]
    rows: list[Row] = []
    for store in stores(author):
        with (
            tempfile.TemporaryDirectory() as folder,
            recollect.open(Path(folder) / "store.db", embedder=embedder, now=lambda: NOW) as engine,
        ):
            for note in store["notes"]:
                moment = times.aware(f"{note['at']}T09:00:00Z")
                engine.remember_many([Draft(note["text"], kind=note["kind"], valid_from=moment)])
            for question in store["questions"]:
                seen.clear()
                engine.recall(question["ask"], limit=5)
                rows += [(row, bool(question["answers"])) for row in seen[:1] if row]
    PairReader.sure_of_answer = judge  # type: ignore[method-assign]
    return rows


def fitted(some: list[list[Row]]) -> dict[str, float]:
    rows = [(row, right, EACH / len(own)) for own in some for row, right in own]
    weights = logistic([row for row, _, _ in rows], [right for _, right, _ in rows], [weight for _, _, weight in rows])
    return {name: round(weight, 4) for name, weight in zip((*NAMES, "bias"), weights, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="a folder that keeps embeddings")
    args = parser.parse_args()
    embedder = CachedEmbedder(load("default"), args.cache) if args.cache else load("default")
    rows = {author: asked(author, embedder) for author in AUTHORS}
    for author, own in rows.items():
        weights = fitted([some for other, some in rows.items() if other != author])
        sure = [(probability(weights, dict(zip(NAMES, row, strict=True))) >= 0.5, right) for row, right in own]
        for right, name in ((True, "answered"), (False, "abstained")):
            said = [yes == right for yes, told in sure if told == right]
            print(f"{author}: {name} {sum(said) / max(1, len(said)):.3f} of {len(said)}", flush=True)
    path = TARGET / "model.json"
    card = json.loads(path.read_text("utf-8"))
    card["calibration"]["answers"] = fitted(list(rows.values()))
    path.write_text(json.dumps(card, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
