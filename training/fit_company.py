"""Fit what belongs beside the best hit, and write src/recollect/recall/company.json.

    python training/fit_company.py [--check]

The questions of training/notes that take several notes are asked through the read path itself. Of each, the best
candidates stand at a table: the first has its place, and for every further place the network learns which of those left
is right, beside those that have one already (listwise softmax, as `fit_ranker.py` fits). The figures are precision over
the places that an answer takes, for the authors that the embedder has not seen, by networks that were fitted on other
authors; beside them the order as it was. The shipped file is fitted on all. Our golden set is not used.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import notes
from fit_ranker import ROOT, Example, Floats, fit, write
from recollect.models import embedder
from recollect.recall.company import NAMES, PLACES, WIDE, Table
from recollect.recall.network import Network
from recollect.recall.read import Found, Models, Reader
from recollect.recall.select import Scored
from recollect_eval.cache import CachedEmbedder
from recollect_eval.corpus import Corpus, Question
from recollect_eval.provenance import provenance
from recollect_eval.subject import Subject

TARGET = ROOT / "src" / "recollect" / "recall" / "company.json"
RESULTS = ROOT / "bench" / "results" / "company.json"
RELATED = 0.5  # what a related note counts beside an answer
JUDGED = 5  # the most places that precision looks at


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the table of its candidates, and how right each of them is."""

    question: Question
    table: Table
    right: Floats

    def precision(self, order: Sequence[int]) -> float:
        places = min(JUDGED, len(self.question.label("answers")))
        return float(np.mean(self.right[list(order[:places])] > 0))

    def examples(self) -> Iterator[Example]:
        """One for each further place; it goes to the best placed that is right, as it should have been."""
        chosen, left = [0], list(range(1, len(self.right)))
        while len(chosen) < PLACES and len(left) > 1 and self.right[left].any():
            yield Example(self.question.key, self.table.rows(chosen, left), self.right[left], lone=True)
            best = next(number for number in left if self.right[number])
            chosen.append(best)
            left.remove(best)


def asked(corpus: Corpus, model: CachedEmbedder, folder: Path) -> Iterator[Asked]:
    tables: list[tuple[Table, list[str]]] = []

    def note(self: Reader, found: Found, scored: list[Scored], models: Models) -> tuple[list[Scored], tuple[str, ...]]:
        few = scored[:WIDE]
        if table := self.table(found, few, model):
            tables.append((table, [one.memory.id for one in few]))
        return scored, ()

    Reader._accompanied = note  # type: ignore[method-assign]
    with Subject(corpus, folder / f"{corpus.name}.db", model) as subject:
        for question in corpus.questions:
            tables.clear()
            subject.answer(question, 10)
            answers = question.label("answers")
            for table, ids in tables:
                keys = [set(subject._keys[id]) for id in ids]
                right = [1.0 if own & answers else RELATED if own & question.right else 0.0 for own in keys]
                yield Asked(question, table, np.array(right, np.float32))


def fitted(some: Sequence[Asked]) -> Network:
    return fit([example for one in some for example in one.examples()]).network()


def figures(some: Sequence[Asked], networks: dict[str, Network]) -> dict[str, float]:
    """Before and after, for all and for each kind of question."""
    values: dict[str, list[float]] = {}
    for one in some:
        orders = {"before": range(len(one.right)), "after": one.table.seated(networks[one.question.key[0]], PLACES)}
        for name, order in orders.items():
            for kind in ("all", one.question.slices[0]):
                values.setdefault(f"{kind} {name}", []).append(one.precision(order))
    told = {name: round(100 * float(np.mean(all)), 1) for name, all in sorted(values.items())}
    return told | {"questions": len(some)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="measure on folds, and leave the network as it is")
    args = parser.parse_args()
    model = CachedEmbedder(embedder.load("default"), ROOT / "bench" / ".cache" / "embeddings")
    with tempfile.TemporaryDirectory() as folder:
        every = [one for corpus in notes.together() for one in asked(corpus, model, Path(folder))]
    print(f"{len(every)} questions", flush=True)
    unseen = [one for one in every if one.question.key[0] not in notes.TAUGHT]
    authors = sorted({one.question.key[0] for one in unseen})
    networks = {author: fitted([one for one in every if one.question.key[0] != author]) for author in authors}
    told = figures(unseen, networks)
    print("  ".join(f"{name} {value}" for name, value in told.items()))
    found = {"machine": provenance(), "model": model.model, "results": told}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if not args.check:
        write(TARGET, fitted(every), NAMES, {"notes": len(every)}, {"model": model.model})


if __name__ == "__main__":
    main()
