"""Recipes: how a recall scores and selects. One table of data, no code path of its own for any of them.

A recipe says how much each arm counts, how arms' scores are put on one scale, how the sum is weighed, what is cut off
and how many come back. `default` is ours, tuned by `recollect eval`; the others keep the promises of systems that
people come from: `conversation` for every message of a chat, `hybrid` for 0.7/0.3 vector and keyword search,
`session_start` for what an assistant should know before the first word, `deep` for reciprocal ranks with a reranker.
`verified` is `default` without what is stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from .. import text
from ..errors import BadInput

Scale = Literal["stretch", "best", "distance"]
Effort = Literal["fast", "balanced", "deep"]


@dataclass(frozen=True, slots=True)
class Recipe:
    name: str
    purpose: str
    arms: Mapping[str, float]
    scale: Scale = "stretch"
    fusion: Literal["sum", "rrf"] = "sum"
    rrf_k: int = 60
    effort: Effort = "fast"
    weigh: Literal["gentle", "none"] = "gentle"
    threshold: float = 0.0
    relevance: float = 0.0  # how probable it must be that a memory helps; 0 shows what comes closest, whatever it is
    limit: int | None = None
    max_tokens: int | None = None
    balance: bool = False
    diversity: float = 0.0
    withhold_stale: bool = False
    kinds: tuple[str, ...] = ()  # asked for just these, it is taken unless another is named
    messages: int = field(default=1)
    adapts: bool = False  # in `fast`, how much words count beside vectors follows from the question and the store
    covers: bool = False  # a question that wants everything on a subject is given a longer answer, laid out by topic


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "default", "the best answer to a question",
            {"text": 0.5, "vector": 0.5, "links": 0.1, "time": 0.15}, effort="balanced", covers=True, adapts=True,
        ),
        Recipe(
            "verified", "the same, without what cites code that has changed since",
            {"text": 0.5, "vector": 0.5, "links": 0.1, "time": 0.15}, effort="balanced",
            withhold_stale=True, covers=True, adapts=True,
        ),
        Recipe(
            "code", "a function or a type by what it does or what it is called; taken where only code is asked for",
            {"text": 0.1, "vector": 0.9, "links": 0.05}, kinds=("code",),
        ),
        Recipe(
            "conversation", "what bears on the last messages of a chat, and nothing else",
            {"text": 0.5, "vector": 0.5}, relevance=0.6, max_tokens=500, messages=3,
        ),
        Recipe("hybrid", "0.7 vector and 0.3 keyword", {"vector": 0.7, "text": 0.3}, scale="distance", weigh="none"),
        Recipe(
            "session_start", "what to know before the first word: fit, and what proved itself",
            {"vector": 0.5, "text": 0.2, "prominence": 0.3}, scale="best", weigh="none", limit=20, balance=True,
        ),
        Recipe(
            "session_words", "the same by words alone, where the model takes longer than a session may wait",
            {"text": 0.4, "prominence": 0.6}, scale="best", weigh="none", limit=20, balance=True,
        ),
        Recipe(
            "deep", "reciprocal ranks of every arm, then a reranker; slow, for the hard question",
            {"text": 1.0, "vector": 1.0, "links": 1.0}, fusion="rrf", effort="deep", weigh="none", limit=5,
            covers=True,
        ),
    )
}  # fmt: skip


def recipe_for(kinds: Collection[str]) -> Recipe:
    """The recipe for a question that names none: the one of the kinds that are asked for, or else `default`."""
    own = (one for one in RECIPES.values() if one.kinds and set(one.kinds) == set(kinds))
    return next(own, RECIPES["default"])


def recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise BadInput(f"recipe {name!r} is not known.", fix=f"It is one of: {', '.join(RECIPES)}.")
    return RECIPES[name]


@cache
def fingerprint(name: str = "default") -> str:
    """A hash of how a recall scores: another one, when any number of the recipe or of a fitted network is another."""
    files = (Path(__file__).with_name(f"{name}.json") for name in ("ranker", "coverage", "fusion"))
    weights = hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()
    return text.key(f"{recipe(name)!r} {weights}")
