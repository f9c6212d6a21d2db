"""Features: what a ranker may look at when it orders candidates. Pure.

One row a candidate, one column a feature, each a number around 0…1. They say how well words and meaning fit, absolutely
and beside the other candidates; how well the neighbours fit (the turn before and after, the rest of the session); and
what sort of text it is. Nothing here knows a benchmark, a name or a project. The order of NAMES is part of the
ranker's file: a feature is added at the end, and the ranker is fitted again (`training/fit_ranker.py`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import rank
from ..language import terms
from ..language.tables import MONTH, WEEKDAYS
from ..types import Memory
from ..vectors import Floats

NAMES = (
    "text", "vector", "cosine", "cosine_gap", "covered", "covered_with_context", "covered_by_title", "words",
    "before", "after", "session_best", "session_mean", "session_covered", "length", "fused", "rank", "is_question",
    "answers_question", "has_number", "by_assistant", "asked_of_assistant", "is_turn", "is_code", "has_time_words",
    "asked_when", "lone", "text_place", "vector_place", "text_level", "vector_level", "text_share", "time", "bare_time",
    "links", "wanted_kind", "verbatim", "defines", "speaker_named", "other_speaker_named",
)  # fmt: skip
_TIME_WORDS = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end|s)?|month|year|days?|{'|'.join(WEEKDAYS)}|{MONTH}"
    r"|\d{4})\b",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\b(?:when|what (?:date|day|month|year|time)|how long|since)\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|recommended|suggested|mentioned|told me)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")


Columns = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the ranker sees it: its text, its terms, and how rare each of them is here."""

    text: str
    rarity: Mapping[str, float]

    def covered(self, found: set[str]) -> float:
        """How much of the question, by rarity, occurs among some terms."""
        total = sum(self.rarity.values())
        return sum(weight for term, weight in self.rarity.items() if term in found) / total if total else 0.0


def features(
    asked: Asked,
    memories: Sequence[Memory],
    arms: Mapping[str, rank.Scores],
    fused: rank.Scores,
    known: Columns,
) -> Floats:
    """The feature rows of some candidates, given in the order of their fused score.

    `known` has the columns that only the read path can tell: what the question asks for beside its words.
    """
    own = [terms.of_memory(memory) for memory in memories]
    wide = [set(found) | set(terms.terms(memory.context)) for found, memory in zip(own, memories, strict=True)]
    columns = {
        **_scores(memories, arms, fused),
        **_words(asked, memories, own, wide),
        **_neighbours(asked, memories, wide, fused),
        **_manner(asked, memories, own),
        **_places(memories, arms),
        **known,
    }
    return np.array([columns[name] for name in NAMES], np.float32).T.reshape(len(memories), len(NAMES))


def _scores(memories: Sequence[Memory], arms: Mapping[str, rank.Scores], fused: rank.Scores) -> Columns:
    ids = [memory.id for memory in memories]
    cosines = arms.get("vector", {})
    best = max(cosines.values(), default=0.0)
    stretched = {
        arm: rank.stretch({id: arms[arm][id] for id in ids if id in arms[arm]})
        for arm in ("text", "vector")
        if arm in arms
    }
    return {
        "text": [stretched.get("text", {}).get(id, 0.0) for id in ids],
        "vector": [stretched.get("vector", {}).get(id, 0.0) for id in ids],
        "cosine": [cosines.get(id, 0.0) for id in ids],
        "cosine_gap": [cosines.get(id, 0.0) - best for id in ids],
        "fused": [fused[id] for id in ids],
        "rank": [1 / (1 + place) for place in range(len(ids))],
    }


def _places(memories: Sequence[Memory], arms: Mapping[str, rank.Scores]) -> Columns:
    """Where each candidate stands in each arm, whatever the scale of its scores."""
    columns: Columns = {}
    for arm in ("text", "vector"):
        scores = np.array([arms.get(arm, {}).get(memory.id, 0.0) for memory in memories], np.float32)
        order = np.argsort(-scores, kind="stable")
        places = np.empty(len(order))
        places[order] = np.arange(len(order))
        columns[f"{arm}_place"] = np.where(scores > 0, 1 / (1 + places), 0.0).tolist()
        columns[f"{arm}_level"] = ((scores - scores.mean()) / (scores.std() + 1e-6)).tolist() if len(order) else []
        columns[f"{arm}_share"] = (scores / (scores.max(initial=0.0) + 1e-6)).tolist()
    return columns


def _words(asked: Asked, memories: Sequence[Memory], own: Sequence[list[str]], wide: Sequence[set[str]]) -> Columns:
    def weight(found: list[str]) -> float:
        counts = {term: found.count(term) for term in asked.rarity}
        return sum(asked.rarity[term] * n / (n + 1.2) for term, n in counts.items() if n) / 10

    titles = [set(terms.terms(" ".join((memory.title, *memory.keywords, *memory.tags)))) for memory in memories]
    return {
        "covered": [asked.covered(set(found)) for found in own],
        "covered_with_context": [asked.covered(found) for found in wide],
        "covered_by_title": [asked.covered(found) for found in titles],
        "words": [weight(found) for found in own],
        "length": [float(np.log1p(len(found))) / 5 for found in own],
    }


def _neighbours(asked: Asked, memories: Sequence[Memory], wide: Sequence[set[str]], fused: rank.Scores) -> Columns:
    """How well the turn before and after fit, and the session as a whole, as far as they are candidates too."""
    placed = {(memory.scope, memory.position): fused[memory.id] for memory in memories if memory.position is not None}
    sessions: dict[str, list[int]] = defaultdict(list)
    for number, memory in enumerate(memories):
        sessions[memory.scope.session or memory.id].append(number)
    best: list[float] = [0.0] * len(memories)
    mean, covered = best.copy(), best.copy()
    for numbers in sessions.values():
        scores = sorted((fused[memories[n].id] for n in numbers), reverse=True)
        together: set[str] = set().union(*(wide[n] for n in numbers))
        for n in numbers:
            best[n], mean[n], covered[n] = scores[0], sum(scores[:3]) / 3, asked.covered(together)
    steps = {"before": -1, "after": 1}
    return {
        **{
            name: [placed.get((m.scope, m.position + step), 0.0) if m.position is not None else 0.0 for m in memories]
            for name, step in steps.items()
        },
        "session_best": best,
        "session_mean": mean,
        "session_covered": covered,
        "lone": [float(not memory.scope.session) for memory in memories],
    }


def _manner(asked: Asked, memories: Sequence[Memory], own: Sequence[list[str]]) -> Columns:
    by_assistant = [float(memory.speaker.lower() in ("assistant", "ai", "model", "bot")) for memory in memories]
    of_assistant = float(bool(_YOU.search(asked.text)))
    words = set(terms.terms(asked.text))
    named = [bool(words.intersection(terms.terms(memory.speaker))) for memory in memories]
    when = float(bool(_WHEN.search(asked.text)))
    timed = [float(bool(_TIME_WORDS.search(memory.content[:2000]))) for memory in memories]
    return {
        "is_question": [float(memory.content.rstrip().endswith("?")) for memory in memories],
        "answers_question": [float(memory.context.rstrip().endswith("?")) for memory in memories],
        "has_number": [float(bool(_NUMBER.search(memory.content[:2000]))) for memory in memories],
        "by_assistant": by_assistant,
        "asked_of_assistant": [of_assistant * value for value in by_assistant],
        "is_turn": [float(memory.kind == "turn") for memory in memories],
        "is_code": [float(memory.kind == "code") for memory in memories],
        "has_time_words": timed,
        "asked_when": [when * value for value in timed],
        "speaker_named": [float(value) for value in named],
        "other_speaker_named": [
            float(any(named) and bool(m.speaker) and not own) for m, own in zip(memories, named, strict=True)
        ],
    }
