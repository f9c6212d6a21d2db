"""Labels: what is added to a memory, and what is done with personal data in it, before it is stored.

With the setting `keyword_labels`, what has no keywords is given some. By the setting `pii`, `mark` tags a memory with
`pii` and the kinds that it holds, `redact` takes them out of the words of a memory, its source and its evidence, and
`keep` does neither. Names that say where a memory belongs (users, projects, tags) stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import personal
from ..checks import MAX_TAGS
from ..language.keywords import keywords
from ..types import Draft, Source

RECORDS = frozenset(("turn", "doc", "code", "commit"))  # said or written elsewhere: many may say the same
POLICIES = ("keep", "mark", "redact")
TAG = "pii"
WORDS = ("content", "title", "reasoning", "context")


@dataclass(frozen=True, slots=True)
class Labels:
    pii: str = "keep"
    keywords: bool = False

    def draft(self, draft: Draft) -> Draft:
        if self.keywords and not draft.keywords and draft.kind not in RECORDS:
            draft = replace(draft, keywords=keywords(draft.content))
        if self.pii == "redact":
            return replace(
                draft, content=self.text(draft.content), title=self.text(draft.title),
                reasoning=self.text(draft.reasoning), context=self.text(draft.context),
            )  # fmt: skip
        if self.pii == "mark":
            kinds = sorted({kind for name in WORDS for *_, kind in personal.find(getattr(draft, name))})
            own = tuple(one for one in draft.tags if one != TAG and not one.startswith(f"{TAG}:"))
            tags = (*own, *((TAG, *(f"{TAG}:{kind}" for kind in kinds)) if kinds else ()))
            return replace(draft, tags=tags[:MAX_TAGS]) if tags != draft.tags else draft
        return draft

    def source(self, source: Source) -> Source:
        return replace(source, content=self.text(source.content), title=self.text(source.title))

    def texts(self, values: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.text, values))

    def text(self, said: str) -> str:
        """The text as it may be stored; JSON stays JSON."""
        if self.pii != "redact" or not personal.find(said):
            return said
        try:
            value = json.loads(said)
        except ValueError:
            return personal.redacted(said)
        return json.dumps(_each(value, personal.redacted), separators=(",", ":"))


NONE = Labels()


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """A value of JSON with every text in it changed, and every number that would be."""
    if isinstance(value, dict):
        return {name: _each(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [_each(one, change) for one in value]
    if isinstance(value, str):
        return change(value)
    return told if isinstance(value, int) and (told := change(str(value))) != str(value) else value
