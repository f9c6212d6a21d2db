"""Drafts: what a caller gives, checked, cleaned and rid of secrets, before anything is stored. Pure.

Trust is not a field of a draft: it follows from the kind of the source, which is the path the knowledge came in by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from .. import text, times
from ..checks import MAX_NAME, MAX_TAG, MAX_TAGS, Cleaner, network, one_of, span, within
from ..errors import BadInput
from ..redact import redact
from ..types import KINDS, SOURCES, Draft, Source
from .belief import network_of
from .labels import Labels

MAX_TITLE = 300
MAX_KEYWORDS = 10
MAX_REFS, MAX_REF = 64, 1024
MAX_EVIDENCE = 64
TRUST_OF = {"statement": "stated", "turn": "cited", "document": "cited", "file": "cited", "commit": "cited",
            "url": "cited", "import": "unverified"}  # fmt: skip
_URI = re.compile(r"(https?|file|commit):\S+")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft that may be stored: every field final, except for ids and times of its own."""

    draft: Draft
    source: Source
    evidence: tuple[str, ...]
    key: str
    trust: str
    redacted: tuple[str, ...]


def fields_of(draft: Draft, cleaner: Cleaner) -> Draft:
    """The draft with every field checked and cleaned."""
    valid_from, valid_to = span(draft.valid_from, draft.valid_to, ("valid_from", "valid_to"))
    return replace(
        draft,
        content=cleaner.content(draft.content),
        kind=one_of(draft.kind, KINDS, "kind"),
        title=cleaner.text(draft.title, "title", MAX_TITLE),
        reasoning=cleaner.text(draft.reasoning, "reasoning"),
        context=cleaner.text(draft.context, "context"),
        speaker=cleaner.text(draft.speaker, "speaker", MAX_NAME),
        position=None if draft.position is None else int(within(draft.position, 0, 10**9, "position", whole=True)),
        scope=cleaner.scope(draft.scope).stored(),
        keywords=cleaner.texts(draft.keywords, "keywords", MAX_KEYWORDS, MAX_TAG),
        tags=cleaner.texts(draft.tags, "tags", MAX_TAGS, MAX_TAG),
        refs=cleaner.texts(draft.refs, "refs", MAX_REFS, MAX_REF),
        importance=int(within(draft.importance, 1, 10, "importance", whole=True)),
        confidence=within(draft.confidence, 0, 1, "confidence", whole=False),
        network=network(draft.network or network_of(draft.kind, draft.content, _source_kind(draft.source))),
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=None if draft.expires_at is None else times.aware(draft.expires_at, "expires_at"),
        observed=int(within(draft.observed, 1, 10**6, "observed", whole=True)),
        place=cleaner.text(draft.place, "place", MAX_REF),
    )


def _source_kind(source: Source | str | None) -> str:
    if isinstance(source, Source):
        return source.kind
    return source.partition(":")[0] if isinstance(source, str) else ""  # `source_of` refuses anything else


def prepare(draft: Draft, content_limit: int, actor: str, labels: Labels) -> Prepared:
    """Check one draft; raises before anything is changed."""
    cleaner = Cleaner(content_limit, redact)
    checked = labels.draft(fields_of(draft, cleaner))
    source = labels.source(source_of(draft.source, actor, cleaner))
    quotes = (draft.evidence,) if isinstance(draft.evidence, str) else draft.evidence
    evidence = labels.texts(cleaner.texts(quotes, "evidence", MAX_EVIDENCE, content_limit))
    trust = TRUST_OF[source.kind]
    return Prepared(checked, source, evidence, text.key(checked.content), trust, tuple(sorted(cleaner.redacted)))


def source_of(source: Source | str | None, actor: str, cleaner: Cleaner) -> Source:
    """The source a draft names, without an id: its own, one told by a URI or a few words, or the speaker."""
    if source is None:
        return Source("", "statement", f"recollect:{actor}", author=actor)
    if isinstance(source, str):
        uri = cleaner.text(source, "source", MAX_REF)
        kind = {"http": "url", "https": "url"}.get(uri.split(":")[0], uri.split(":")[0])
        return Source("", kind if _URI.fullmatch(uri) else "statement", uri, author=actor)
    if not isinstance(source, Source):
        raise BadInput(f"source must be a Source or text, not {type(source).__name__}.")
    content = cleaner.text(source.content, "source.content")
    names: dict[str, Any] = {name: cleaner.text(getattr(source, name), f"source.{name}", MAX_REF)
             for name in ("id", "uri", "title", "author", "session")}  # fmt: skip
    occurred = None if source.occurred_at is None else times.aware(source.occurred_at, "source.occurred_at")
    kind = one_of(source.kind, SOURCES, "source.kind")
    hashed = text.key(content) if content else ""
    return replace(source, kind=kind, content=content, content_hash=hashed, occurred_at=occurred, **names)
