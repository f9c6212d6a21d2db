"""The question: what a caller asks of recall, checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from .. import text, times
from ..checks import MAX_QUERY, filter_of, one_of, several, within
from ..errors import BadInput, TooLarge
from ..history.asof import HELD_ONCE
from ..types import SCOPE_FIELDS, Filter
from . import recipes
from .recipes import Recipe

MAX_LIMIT = 1000
MAX_TOKENS = 1_000_000
DEFAULT_LIMIT = 10
COVERED_LIMIT, COVERED_TOKENS = 30, 3000  # where everything on a subject is wanted, and the caller sets no limit


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    filter: Filter
    recipe: Recipe
    limit: int
    as_of: datetime | None
    true_at: datetime | None
    max_tokens: int | None
    fusion: str
    effort: str
    shown: frozenset[str]
    abstain: bool
    explain: bool
    binds: bool = True  # a kind that the question wants a list of is the only one looked at
    then: tuple[datetime, datetime] | None = None  # a time that is over, which the question itself names
    free: bool = False  # the limit is the usual one, and not the caller's

    def key(self) -> tuple[object, ...]:
        """What must be equal for an answer to serve again; the moment of asking is not part of it."""
        filter = self.filter.but(current_at=None)
        current = self.filter.current_at is not None
        rest = (
            self.recipe.name,
            self.recipe.diversity,
            self.limit,
            self.free,
            self.as_of,
            self.true_at,
            self.max_tokens,
            self.fusion,
            self.effort,
            self.shown,
        )
        return (self.text, filter, current, *rest, self.abstain, self.explain)

    def covering(self) -> Query:
        """With room for everything on a subject, where the caller has set no limits."""
        tokens = COVERED_TOKENS if self.max_tokens is None and self.free else self.max_tokens
        return replace(self, limit=max(COVERED_LIMIT, self.limit) if self.free else self.limit, max_tokens=tokens)

    def narrowed(self, hints: Mapping[str, tuple[str, ...]]) -> Query:
        """With what the question itself says of where to look (`project:web type:decision tag:auth`).

        A hint can only narrow: where the caller has set a place or kinds, the words of a question change nothing.
        """
        if not hints:
            return self
        scope = self.filter.scope
        places = {name: hints[name][0] for name in SCOPE_FIELDS if hints.get(name) and not getattr(scope, name)}
        filter = self.filter.but(
            scope=replace(scope, **places),
            kinds=self.filter.kinds or hints.get("kind", ()),
            networks=self.filter.networks or hints.get("network", ()),
            tags=self.filter.tags + hints.get("tag", ()),
        )
        return replace(self, filter=filter)


def parse(
    query: Any, now: datetime, *, limit: Any = None, as_of: Any = None, true_at: Any = None, max_tokens: Any = None,
    fusion: Any = None, states: Any = None, recipe: Any = None, effort: Any = None, shown: Any = (),
    abstain: Any = False, diversity: Any = None, explain: bool = False,
    known: Mapping[str, Recipe] = recipes.RECIPES, usual: str = "default", **filters: Any,
) -> Query:  # fmt: skip
    """Check a question. Asking for other states than active also asks for what is expired or no longer valid."""
    if not isinstance(query, str):
        raise BadInput(f"query must be text, not {type(query).__name__}.")
    if len(query) > MAX_QUERY:
        raise TooLarge(f"query has {len(query)} characters; the limit is {MAX_QUERY}.", fix="Ask a shorter question.")
    if not (cleaned := text.clean(query)):
        raise BadInput("query is empty.", fix="Ask something, or see everything with: recollect list")
    moment = None if as_of is None else times.aware(as_of, "as_of")
    truth = None if true_at is None else times.aware(true_at, "true_at")
    # Looking back, the arms see today's memories; what each was then is held against the times asked for.
    current = truth if moment is None and truth else now if states is None and moment is None else None
    wanted = (HELD_ONCE if truth else ("active",)) if states is None else states
    filter = filter_of(now=current, states=wanted, **filters)
    chosen = recipes.recipe_for(filter.kinds, known, usual) if recipe is None else recipes.recipe(str(recipe), known)
    if diversity is not None:
        chosen = replace(chosen, diversity=within(diversity, 0, 1, "diversity", whole=False))
    budget = chosen.max_tokens if max_tokens is None else max_tokens
    return Query(
        text=cleaned,
        filter=filter,
        recipe=chosen,
        limit=int(within(chosen.limit or DEFAULT_LIMIT if limit is None else limit, 1, MAX_LIMIT, "limit", whole=True)),
        as_of=moment,
        true_at=truth,
        max_tokens=None if budget is None else int(within(budget, 1, MAX_TOKENS, "max_tokens", whole=True)),
        fusion=one_of(chosen.fusion if fusion is None else fusion, ("sum", "rrf"), "fusion"),
        effort=one_of(chosen.effort if effort is None else effort, ("fast", "balanced", "deep"), "effort"),
        shown=frozenset(str(id) for id in several(shown, "shown")),
        abstain=bool(abstain),
        explain=bool(explain),
    )
