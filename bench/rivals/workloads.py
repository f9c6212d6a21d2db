"""What every rival is given: texts to keep and questions whose right texts are known.

A text is what a reader would need: the date and who speaks in front of what was said. The fields beside it (`content`,
`speaker`, …) are for rivals that keep them apart; only the row "structured" of ours uses them. Samples are drawn with a
fixed seed, or from the start, and are stated in the results.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contract import Item
from recollect_eval import corpus as corpora
from recollect_eval import cosqa, locomo, longmemeval

sys.path.append(str(Path(__file__).parents[2] / "training"))
import notes

SEED = 28
CONVERSATIONS, EACH, LONG, FUNCTIONS, QUERIES, PROJECTS = 2, 3, 40, 1000, 100, 4
SEEN = "the ranker of balanced and deep was fitted on these questions, the packaged embedder on others of the same set"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Store:
    """What goes into one store, and what is asked of it."""

    name: str
    items: tuple[Item, ...]
    costs: dict[str, int]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    stores: tuple[Store, ...]
    sample: str
    ours: str = ""  # what our models have seen of it

    @property
    def hash(self) -> str:
        told = [[store.items, [(q.text, sorted(q.right)) for q in store.questions]] for store in self.stores]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def every(data: Path | None, names: Sequence[str]) -> list[Workload]:
    return [SETS[name](data) for name in names]


def small() -> list[Workload]:
    """A few notes, for a quick look: data of this repository alone."""
    first = next(iter(notes.together()))
    few = [one for one in first.questions if len(one.label("answers")) > 1][:6]
    return [Workload("together", (_store(first, first.items, few),), "6 questions about one project")]


def _locomo(data: Path | None) -> Workload:
    stores = tuple(_store(one, one.items, one.questions[::EACH]) for one in locomo.load(data).corpora[:CONVERSATIONS])
    count = sum(len(store.questions) for store in stores)
    return Workload(
        "locomo", stores, f"{CONVERSATIONS} conversations of the development half, every third question: {count}"
    )


def _longmemeval(data: Path | None) -> Workload:
    pool = longmemeval.load(data).corpora[0]
    held = [one for one in pool.questions if "held" in one.slices and one.right]
    asked = random.Random(SEED).sample(held, LONG)
    sessions = frozenset().union(*(one.label("sessions") for one in asked))
    items = [item for item in pool.items if item.group in sessions]
    sample = f"{LONG} questions of the development half, over the {len(sessions)} sessions that answer them"
    return Workload("longmemeval", (_store(pool, items, asked),), sample, SEEN)


def _together(_: Path | None = None) -> Workload:
    projects = [one for one in notes.together() if one.name[0] in "fgh"]
    chosen = sorted(random.Random(SEED).sample(projects, PROJECTS), key=lambda one: one.name)
    stores = tuple(_store(one, one.items, [q for q in one.questions if len(q.label("answers")) > 1]) for one in chosen)
    count = sum(len(store.questions) for store in stores)
    sample = f"{PROJECTS} made-up projects of training/notes, {count} questions that need several notes"
    return Workload("together", stores, sample, SEEN)


def _cosqa(data: Path | None) -> Workload:
    functions = cosqa.load(data).corpora[0]
    held = [one for one in functions.questions if "held" in one.slices]
    asked = random.Random(SEED).sample(held, QUERIES)
    right = frozenset().union(*(one.right for one in asked))
    others = sorted({item.key for item in functions.items} - right)
    keys = right | set(random.Random(SEED).sample(others, FUNCTIONS - len(right)))
    sources = {str(number): text for text, number in corpora.read_json(_codes(data)).items()}
    whole = [item for item in functions.items if item.key in keys]
    first = list({item.key: item for item in whole}.values())
    items = tuple({"key": one.key, "text": sources[one.key]} for one in first)
    costs = {one["key"]: _tokens(one["text"]) for one in items}
    questions = tuple(Question(one.text, one.right) for one in asked)
    sample = f"{QUERIES} queries, {FUNCTIONS:,} functions"
    return Workload("cosqa", (Store("functions", items, costs, questions),), sample, SEEN)


def _codes(data: Path | None) -> Path:
    return corpora.place(data, "cosqa") / cosqa.CODE


def _tokens(told: str) -> int:
    from recollect import text

    return text.tokens(told)


def _store(corpus: corpora.Corpus, items: Sequence[corpora.Item], asked: Sequence[corpora.Question]) -> Store:
    told = tuple(_item(one) for one in items)
    costs = {one["key"]: _tokens(one["text"]) for one in told}
    questions = tuple(Question(one.text, one.label("answers") or one.right) for one in asked)
    return Store(corpus.name, told, costs, questions)


def _item(item: corpora.Item) -> Item:
    draft = item.draft
    return {
        "key": item.key, "text": f"[{item.moment:%Y-%m-%d %H:%M}] {item.text}", "content": draft.content,
        "kind": draft.kind, "title": draft.title, "speaker": draft.speaker, "reasoning": draft.reasoning,
        "session": draft.scope.session, "position": str(draft.position or 0), "date": item.moment.isoformat(),
    }  # fmt: skip


def texts() -> list[str]:
    """Distinct notes and questions of training/notes: what the cost is measured with."""
    found: dict[str, None] = {}
    for project in notes.together():
        found.update(dict.fromkeys(item.text for item in project.items))
        found.update(dict.fromkeys(question.text for question in project.questions))
    told = list(found)
    random.Random(SEED).shuffle(told)
    return told


SETS: dict[str, Callable[[Path | None], Workload]] = {
    "locomo": _locomo, "longmemeval": _longmemeval, "together": _together, "cosqa": _cosqa
}  # fmt: skip


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
