"""LoCoMo: evidence retrieval. A turn is one memory, a conversation one store; the evidence is turns.

The protocol's text is `Speaker: text [shares image: caption]`: the name is the memory's speaker, which is searched and
embedded with the content, because who said a thing is part of what was said and questions name people. Evidence
strings that hold several ids are taken apart, misspelt ids repaired, ids of no turn dropped; a question left without
evidence is left out. The category numbers are the file's own, which papers often mix up.

With `audit_errors_dev.json` beside the data, the figures named "audited" use its corrected evidence; a question whose
corrected evidence is empty is left out of those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from . import metrics
from .corpus import Answer, Benchmark, Corpus, Item, Question, Scores, groups, place, read_json, turn

CATEGORIES = {4: "single-hop", 1: "multi-hop", 2: "temporal", 3: "open-domain", 5: "adversarial"}
DATA, AUDIT = "locomo_dev.json.gz", "audit_errors_dev.json"
_ID = re.compile(r"D:?(\d+):(\d+)")


def load(data: Path | None = None) -> Benchmark:
    folder = place(data, "locomo")
    conversations = read_json(folder / DATA)
    audit = folder / AUDIT
    corrected = _corrections(read_json(audit)) if audit.exists() else {}
    corpora = tuple(_corpus(one, 2 * number, corrected) for number, one in enumerate(conversations))
    return Benchmark(
        name="locomo",
        corpora=corpora,
        judge=partial(judge, {item.key: item for corpus in corpora for item in corpus.items}),
        files=(folder / DATA, audit) if audit.exists() else (folder / DATA,),
        limit=20,
        wide=100,
        headline=("recall@5", "recall@10", "recall@20", "audited recall@10", "session recall@5", "session recall@10"),
    )


def judge(items: Mapping[str, Item], question: Question, answer: Answer, wide: Answer) -> Scores:
    found = {f"recall@{k}": metrics.recall(answer.keys, question.right, k) for k in (5, 10, 20)}
    found["hit@5"] = metrics.hit(answer.keys, question.right, 5)
    found["nDCG@10"] = metrics.ndcg(answer.keys, dict.fromkeys(question.right, 1.0), 10)
    if audited := question.label("audited"):
        found |= {f"audited recall@{k}": metrics.recall(answer.keys, audited, k) for k in (5, 10, 20)}
    sessions, right = groups(wide, items), {items[key].group for key in question.right}
    return found | {f"session recall@{k}": metrics.recall(sessions, right, k) for k in (5, 10)}


def _corrections(audit: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Question id → evidence, where the audit gives other evidence than the file."""
    return {one["question_id"]: one["correct_evidence"] for one in audit if "correct_evidence" in one}


def _corpus(told: dict[str, Any], index: int, corrected: Mapping[str, list[str]]) -> Corpus:
    name, talk = told["sample_id"], told["conversation"]
    items = [item for session in sorted(_sessions(talk)) for item in _turns(name, session, talk)]
    keys = {item.key for item in items}
    questions = []
    for number, asked in enumerate(told["qa"]):
        right = evidence(name, asked["evidence"], keys)
        if not right:
            continue
        other = corrected.get(f"locomo_{index}_qa{number}")
        audited = right if other is None else evidence(name, other, keys)
        category = CATEGORIES[asked["category"]]
        slices = (category, *(("categories 1-4",) if asked["category"] != 5 else ()))
        questions.append(Question(f"{name}/{number}", asked["question"], right, slices, labels={"audited": audited}))
    last = max(item.moment for item in items)
    return Corpus(name, tuple(items), tuple(questions), last + timedelta(days=1))


def _sessions(talk: Mapping[str, Any]) -> list[int]:
    return [int(name.removeprefix("session_")) for name, turns in talk.items() if isinstance(turns, list)]


def _turns(name: str, number: int, talk: Mapping[str, Any]) -> list[Item]:
    moment = spoken_date(talk[f"session_{number}_date_time"])
    session = f"{name}/session_{number}"
    found = []
    for position, told in enumerate(talk[f"session_{number}"]):
        said = told["text"]
        if caption := told.get("blip_caption"):
            said = f"{said} [shares image: {caption}]"
        key = f"{name}/{told['dia_id']}"
        found.append(turn("locomo", key, said, told["speaker"], (session, position), moment))
    return found


def spoken_date(told: str) -> datetime:
    """
    >>> spoken_date("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return datetime.strptime(told.strip().upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)


def evidence(name: str, told: list[str], keys: set[str]) -> frozenset[str]:
    """The turns that evidence strings speak of, as far as they exist.

    >>> sorted(evidence("c", ["D8:6; D9:17", "D:11:26", "D4:99", "D"], {"c/D8:6", "c/D9:17", "c/D11:26"}))
    ['c/D11:26', 'c/D8:6', 'c/D9:17']
    """
    named = {f"{name}/D{int(a)}:{int(b)}" for text in told for a, b in _ID.findall(text)}
    return frozenset(named & keys)
