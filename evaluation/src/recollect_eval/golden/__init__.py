"""The golden set: what a small company that sells ferry tickets remembers of fourteen months, and questions about it.

`memories.jsonl` is in the import format (`recollect import` takes it), with a `key` that the labels speak of and, for
a memory that was formally replaced, `supersedes`. Other contradictions are left as they happen in life: the older fact
still stands, unmarked. `questions.jsonl` names for each question

- `answers`: the memories that answer it, all of which a full answer needs;
- `related`: memories that are right to show beside them: a careful colleague would not have left them out;
- `same`: memories that say the same as an answer, and count as it;
- `stale`: older memories that must not come before the answer;
- `project`: the scope it is asked in. Nothing of another project may then be given back: `leak`.

Questions of type `unanswerable` have no answers: nothing here fits, and the right reply is none, or one that says it
is weak. `dev` questions may be tuned on; `held` ones are only looked at. The clock stands at 16 March 2026.

The figures: `precision@5` (of the first places, as many as there are answers and at most 5, the share that holds an
answer or something related), `related@5` (the same over as many places as there are answers and related ones),
`multi-hop@5` and `@10` (all answers among the first so many), `current` (of answers and stale ones, an answer comes
first), `abstained` (on unanswerable questions, nothing or a weak answer) and its price `answered` (on the others, a
reply that is not weak).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import times
from recollect.types import Draft, Scope, Source

from .. import metrics
from ..corpus import Answer, Benchmark, Corpus, Item, Question, Scores

HERE = Path(__file__).parent
MEMORIES, QUESTIONS = HERE / "memories.jsonl", HERE / "questions.jsonl"
NOW = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
UNANSWERABLE = "unanswerable"
HEADLINE = ("precision@5", "hit@1", "recall@10", "nDCG@10", "multi-hop@5", "current", "abstained", "answered", "leak")


def load(_: Path | None = None) -> Benchmark:
    items = tuple(_item(told) for told in lines(MEMORIES))
    homes = {item.key: item.draft.scope.project for item in items}
    questions = tuple(_question(told, homes) for told in lines(QUESTIONS))
    return Benchmark(
        name="golden",
        corpora=(Corpus("harbourline", items, questions, NOW),),
        judge=judge,
        files=(MEMORIES, QUESTIONS),
        limit=10,
        headline=HEADLINE,
        targets={"precision@5": 0.85, "multi-hop@5": 0.75, "abstained": 0.80},
        own=True,
    )


def judge(question: Question, answer: Answer, _: Answer) -> Scores:
    found = {}
    if abroad := question.label("abroad"):
        found["leak"] = metrics.hit(answer.keys, abroad, len(answer.keys))
    if not question.right:
        return found | {"abstained": float(answer.unsure)}
    answers, right = question.label("answers"), question.right
    keys = [question.same.get(key, key) for key in answer.keys]
    found |= {
        "precision@5": metrics.precision(keys, right, min(5, len(answers))),
        "related@5": metrics.precision(answer.keys, right, 5),
        "purity@5": metrics.purity(answer.keys, right, 5),
        "hit@1": metrics.hit(keys, answers, 1),
        "recall@5": metrics.recall(keys, answers, 5),
        "recall@10": metrics.recall(keys, answers, 10),
        "MRR": metrics.reciprocal(keys, answers),
        "nDCG@10": metrics.ndcg(list(dict.fromkeys(keys)), _gains(question), 10),
        "answered": float(not answer.unsure),
    }
    if "multi-hop" in question.slices:
        found |= {f"multi-hop@{k}": metrics.whole(keys, answers, k) for k in (5, 10)}
    if stale := question.label("stale"):
        found["current"] = metrics.hit([key for key in keys if key in answers | stale], answers, 1)
    return found


def _gains(question: Question) -> dict[str, float]:
    """An answer is worth twice what a related memory is; one that repeats an answer adds nothing."""
    answers = question.label("answers")
    return {key: 1.0 if key in answers else 0.5 for key in question.right if key not in question.same}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _item(told: dict[str, Any]) -> Item:
    moment = times.aware(told["valid_from"])
    session = told.get("session", "")
    kind = "turn" if session else "statement"
    speaker, position = told.get("speaker", ""), told.get("position")
    source = Source("", kind, f"golden:{told['key']}", author=speaker, session=session, position=position)
    draft = Draft(
        told["content"],
        kind=told["kind"],
        title=told.get("title", ""),
        reasoning=told.get("reasoning", ""),
        speaker=speaker,
        position=position,
        scope=Scope(project=told.get("project", ""), session=session),
        tags=tuple(told.get("tags", ())),
        refs=tuple(told.get("refs", ())),
        importance=told["importance"],
        valid_from=moment,
        valid_to=told.get("valid_to"),
        source=source,
    )
    return Item(told["key"], draft, moment, supersedes=tuple(told.get("supersedes", ())))


def _question(told: dict[str, Any], homes: dict[str, str]) -> Question:
    project = told.get("project", "")
    answers, related = frozenset(told["answers"]), frozenset(told.get("related", ()))
    same: dict[str, str] = told.get("same", {})
    abroad = frozenset(key for key, home in homes.items() if project and home not in ("", project))
    kind = "answerable" if answers else ""
    return Question(
        told["key"],
        told["question"],
        answers | related | same.keys(),
        tuple(name for name in (told["type"], told["part"], kind) if name),
        scope=Scope(project=project),
        same=same,
        labels={"answers": answers, "stale": frozenset(told.get("stale", ())), "abroad": abroad},
    )
