"""The made-up projects in training/notes: what some teams remember, and what is asked about it.

One file a project; its notes first, one JSON object a line, then its questions. A note has a key, a kind, a date and
its content, some a title, a reason, tags, references or the keys of what they supersede. A question names `answers`
(all that a full answer needs), `related` (right to show beside them) and `stale` (what no longer holds). The first
letter of a file is its author's: what is fitted on some authors is judged by the others.

In training/notes/together lie further questions about the same notes, by other authors, which all take several notes.
The embedder and the ranker were not fitted on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from recollect import times
from recollect.types import Draft
from recollect_eval import golden
from recollect_eval.corpus import Benchmark, Corpus, Item, Question

PLACE = Path(__file__).parents[1] / "training" / "notes"
TOGETHER = PLACE / "together"
TAUGHT = "abcde"  # authors whose questions the embedder was fitted on
ASKED_AFTER = timedelta(days=3)  # after the last note


def corpora(authors: str) -> Iterator[Corpus]:
    for path in sorted(PLACE.glob("*.jsonl")):
        if path.stem[0] in authors:
            yield _corpus(path)


def together() -> Iterator[Corpus]:
    """Every project with the questions that take several notes, its own first."""
    for path in sorted(PLACE.glob("*.jsonl")):
        project = _corpus(path)
        lines = (TOGETHER / path.name).read_text("utf-8").splitlines()
        more = (_question(f"{path.stem}+{number}", json.loads(line)) for number, line in enumerate(lines))
        asked = [one for one in (*project.questions, *more) if len(one.label("answers")) > 1]
        yield replace(project, questions=tuple(asked))


def load(_: Path | None = None) -> Benchmark:
    """The projects that the embedder has not seen."""
    others = "".join(sorted({path.stem[0] for path in PLACE.glob("*.jsonl")} - set(TAUGHT)))
    files = tuple(path for path in sorted(PLACE.glob("*.jsonl")) if path.stem[0] in others)
    told = tuple(corpora(others))
    return Benchmark("notes", told, golden.judge, files, limit=10, headline=golden.HEADLINE)


def _corpus(path: Path) -> Corpus:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    items = tuple(_items([line for line in lines if "question" not in line]))
    asked = [line for line in lines if "question" in line]
    questions = tuple(_question(f"{path.stem}-{number}", told) for number, told in enumerate(asked))
    return Corpus(path.stem, items, questions, max(item.moment for item in items) + ASKED_AFTER)


def _items(notes: list[dict[str, Any]]) -> Iterator[Item]:
    """Notes of one day a few minutes apart, in the order in which they are told."""
    seen: dict[str, int] = {}
    for told in notes:
        place = seen[told["date"]] = seen.get(told["date"], -1) + 1
        moment = times.aware(f"{told['date']}T09:00:00Z") + timedelta(minutes=7 * place)
        draft = Draft(
            told["content"], kind=told["kind"], title=told.get("title", ""), reasoning=told.get("reasoning", ""),
            tags=tuple(told.get("tags", ())), refs=tuple(told.get("refs", ())), valid_from=moment,
        )  # fmt: skip
        yield Item(told["key"], draft, moment, supersedes=tuple(told.get("supersedes", ())))


def _question(key: str, told: dict[str, Any]) -> Question:
    answers, related = frozenset(told["answers"]), frozenset(told.get("related", ()))
    return Question(
        key, told["question"], answers | related if answers else frozenset(),
        (told["type"], "answerable") if answers else (told["type"],),
        labels={"answers": answers, "stale": frozenset(told.get("stale", ())), "abroad": frozenset()},
    )  # fmt: skip
