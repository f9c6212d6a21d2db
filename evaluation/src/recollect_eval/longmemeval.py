"""LongMemEval, pooled: the evidence sessions of all questions in one store, turns as memories, sessions ranked.

A session stands where its best turn stands. The questions belong to different invented users, so another user's session
can be a fair answer that no label knows; and a third of the sessions are dated after a given question, some of its own
evidence among them. So the clock stands after the last session, and nothing is hidden by its date. Questions whose
id contains `_abs` have no answer and are left out, as in the paper. The packaged embedder was fitted on every second
question (`dev`), and has not seen the others (`held`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from . import metrics
from .corpus import HALVES, Answer, Benchmark, Corpus, Item, Question, Scores, groups, place, read_json, turn

DATA = "oracle_dev.json.gz"


def load(data: Path | None = None) -> Benchmark:
    path = place(data, "longmemeval") / DATA
    told = read_json(path)
    items: dict[str, Item] = {}
    for asked in told:
        for session, date, turns in zip(
            asked["haystack_session_ids"], asked["haystack_dates"], asked["haystack_sessions"], strict=True
        ):
            for item in _turns(session, moment_of(date), turns):
                items.setdefault(item.key, item)
    answerable = [asked for asked in told if "_abs" not in asked["question_id"]]
    questions = tuple(_question(asked, HALVES[number % 2]) for number, asked in enumerate(answerable))
    last = max(item.moment for item in items.values()) + timedelta(days=1)
    return Benchmark(
        name="longmemeval",
        corpora=(Corpus("pool", tuple(items.values()), questions, last),),
        judge=partial(judge, items),
        files=(path,),
        limit=20,
        wide=100,
        headline=("any@1", "any@5", "all@5", "recall@5", "recall@10", "nDCG@10", "turn recall@10"),
    )


def judge(items: Mapping[str, Item], question: Question, answer: Answer, wide: Answer) -> Scores:
    sessions, right = groups(wide, items), question.label("sessions")
    found = {f"any@{k}": metrics.hit(sessions, right, k) for k in (1, 5, 10)}
    found["all@5"] = metrics.whole(sessions, right, 5)
    found |= {f"recall@{k}": metrics.recall(sessions, right, k) for k in (5, 10)}
    found["nDCG@10"] = metrics.ndcg(sessions, dict.fromkeys(right, 1.0), 10)
    if question.right:
        found["turn recall@10"] = metrics.recall(answer.keys, question.right, 10)
    return found


def _question(asked: dict[str, Any], half: str) -> Question:
    sessions = dict(zip(asked["haystack_session_ids"], asked["haystack_sessions"], strict=True))
    wanted = asked["answer_session_ids"]
    turns = {
        f"{session}/{n}" for session in wanted for n, turn in enumerate(sessions[session]) if turn.get("has_answer")
    }
    return Question(
        asked["question_id"],
        asked["question"],
        frozenset(turns),
        (asked["question_type"], half),
        moment=moment_of(asked["question_date"]),
        labels={"sessions": frozenset(wanted)},
    )


def _turns(session: str, moment: datetime, turns: list[dict[str, Any]]) -> list[Item]:
    found = []
    for position, told in enumerate(turns):
        content = told["content"].strip()
        if not content:
            continue
        key = f"{session}/{position}"
        found.append(turn("longmemeval", key, content, told["role"], (session, position), moment))
    return found


def moment_of(told: str) -> datetime:
    """
    >>> moment_of("2023/04/10 (Mon) 23:07").isoformat()
    '2023-04-10T23:07:00+00:00'
    """
    return datetime.strptime(told, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
