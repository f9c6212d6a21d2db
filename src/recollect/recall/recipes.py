"""Recipes: how a recall scores and selects. One table of data, no code path of its own for any of them.

A recipe says how much each arm counts, how arms' scores are put on one scale, how the sum is weighed, what is cut off
and how many come back. `default` is ours, tuned by `recollect eval`; the others keep the promises of systems that
people come from: `conversation` for every message of a chat, `hybrid` for 0.7/0.3 vector and keyword search,
`session_start` for what an assistant should know before the first word, `deep` for reciprocal ranks with a reranker.
`verified` is `default` without what is stale. Further ones are tables of `config.toml` (`OWN`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from .. import text
from ..checks import one_of, within
from ..errors import BadInput
from ..settings import Settings, recipe_tables

Scale = Literal["stretch", "best", "distance"]
Effort = Literal["fast", "balanced", "deep"]
ARMS = ("text", "vector", "links", "time", "prominence")


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


def recipe_for(kinds: Collection[str], known: Mapping[str, Recipe] = RECIPES, usual: str = "default") -> Recipe:
    """The recipe for a question that names none: the one of the kinds that are asked for, or else the usual one."""
    own = (one for one in RECIPES.values() if one.kinds and set(one.kinds) == set(kinds))
    return next(own, None) or recipe(usual, known)


def recipe(name: str, known: Mapping[str, Recipe] = RECIPES) -> Recipe:
    if name not in known:
        raise BadInput(f"recipe {name!r} is not known.", fix=f"It is one of: {', '.join(known)}.")
    return known[name]


def of_settings(settings: Settings) -> dict[str, Recipe]:
    """All recipes by name: these, with the threshold of what hooks tell, and those of one's own in `config.toml`."""
    one_of(settings.inject, ("on", "start", "off"), "inject")
    least = within(settings.inject_threshold, 0, 1, "inject_threshold", whole=False)
    own = {name: _own(name, told) for name, told in recipe_tables(settings).items()}
    if taken := own.keys() & RECIPES.keys():
        raise BadInput(f"config.toml: the recipe {min(taken)} is there already.", fix="Give yours another name.")
    known = {**RECIPES, "conversation": replace(RECIPES["conversation"], relevance=least), **own}
    recipe(settings.recall_recipe, known)
    return known


def _own(name: str, told: Mapping[str, Any]) -> Recipe:
    """A recipe from its table: the weights of its arms, and what differs from the defaults of a recipe."""
    where, given = f"config.toml: [recipe.{name}]", {**told}
    arms = given.pop("arms", None)
    if not isinstance(arms, Mapping) or not arms:
        raise BadInput(f"{where} has no arms.", fix="Write, for example: arms = { text = 0.3, vector = 0.7 }")
    weights = {one_of(arm, ARMS, f"{where}: arm"): within(weight, 0, 100, f"{where}: {arm}", whole=False)
               for arm, weight in arms.items()}  # fmt: skip
    if unknown := given.keys() - OWN.keys():
        raise BadInput(f"{where} has no field {min(unknown)!r}.", fix=f"The fields are: arms, {', '.join(OWN)}.")
    return Recipe(name, "of your own", weights, **{field: OWN[field](value, where) for field, value in given.items()})


def _choice(field: str, *choices: str) -> Callable[[Any, str], Any]:
    return lambda value, where: one_of(value, choices, f"{where}: {field}")


def _number(field: str, low: float, high: float, *, whole: bool = False) -> Callable[[Any, str], Any]:
    number = int if whole else float
    return lambda value, where: number(within(value, low, high, f"{where}: {field}", whole=whole))


def _flag(field: str) -> Callable[[Any, str], Any]:
    return lambda value, where: one_of(str(value), ("True", "False"), f"{where}: {field}") == "True"


# What a recipe of one's own may say beside its arms, and how it is read.
OWN: Mapping[str, Callable[[Any, str], Any]] = {
    "scale": _choice("scale", "stretch", "best", "distance"),
    "fusion": _choice("fusion", "sum", "rrf"),
    "rrf_k": _number("rrf_k", 1, 1000, whole=True),
    "effort": _choice("effort", "fast", "balanced", "deep"),
    "weigh": _choice("weigh", "gentle", "none"),
    "threshold": _number("threshold", 0, 1),
    "relevance": _number("relevance", 0, 1),
    "limit": _number("limit", 1, 200, whole=True),
    "max_tokens": _number("max_tokens", 1, 100_000, whole=True),
    "diversity": _number("diversity", 0, 1),
    "balance": _flag("balance"),
    "withhold_stale": _flag("withhold_stale"),
}


def fingerprint(chosen: Recipe) -> str:
    """A hash of how a recall scores: another one, when any number of the recipe or of a fitted network is another."""
    return text.key(f"{chosen!r} {_weights()}")


@cache
def _weights() -> str:
    files = (Path(__file__).with_name(f"{name}.json") for name in ("ranker", "coverage", "fusion"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()
