"""The keyword arguments of the engine's verbs, as a checker reads them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypedDict

from .types import Scope, Source


class MemoryFields(TypedDict, total=False):
    """The fields of a memory that a caller may give, whether it is new or changed."""

    kind: str
    title: str
    reasoning: str
    context: str
    speaker: str
    position: int | None
    scope: Scope
    keywords: tuple[str, ...] | list[str]
    tags: tuple[str, ...] | list[str]
    refs: tuple[str, ...] | list[str]
    importance: int
    confidence: float
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    expires_at: datetime | str | None


class DraftFields(MemoryFields, total=False):
    """The keyword arguments of `remember`: the fields of a `Draft` after its content."""

    network: str | None
    source: Source | str | None
    evidence: str | tuple[str, ...] | list[str]


class EditFields(MemoryFields, total=False):
    """The keyword arguments of `edit`."""

    content: str
    network: str
    source: Source | str
    state: str


class RecallFields(TypedDict, total=False):
    """The keyword arguments of `recall` that say which memories to look at, and how many to give back."""

    scope: Scope
    shared: Any  # an `Audience`
    limit: int
    kinds: tuple[str, ...] | list[str]
    networks: tuple[str, ...] | list[str]
    tags: tuple[str, ...] | list[str]
    since: datetime | str | None
    until: datetime | str | None
    as_of: datetime | str | None
    true_at: datetime | str | None
    min_importance: int
    states: tuple[str, ...] | list[str]
    max_tokens: int | None
    recipe: str
    effort: Literal["fast", "balanced", "deep"] | None
    fusion: Literal["sum", "rrf"] | None
    shown: tuple[str, ...] | list[str]
    diversity: float | None
    abstain: bool
    explain: bool
