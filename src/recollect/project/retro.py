"""The retrospective: what the last days taught, as entries of the knowledge bank that a person approves.

A lesson or an insight becomes a heuristic, an incident or an option that was turned down an anti-pattern, a procedure a
pattern. An entry waits for review; approved, it is written into the bank's files. The same memory is proposed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .. import times
from ..engine import Engine
from ..grounding import lowest
from ..types import Draft, Memory, Noun, Scope, Source
from .learning import heading

KIND_OF = {"lesson": "heuristic", "insight": "heuristic", "incident": "anti-pattern", "procedure": "pattern"}
LEAD = {"heuristic": "Keep in mind", "anti-pattern": "Avoid", "pattern": "Do"}
TURNED_DOWN = "rejected"  # the tag of an option that somebody decided against
PAGE, NAME = 200, 80  # memories looked at a time; characters of a name


@dataclass(frozen=True, slots=True)
class Retro(Noun):
    """What was proposed, and how much of what was learnt is in the bank, waits or was turned down already."""

    proposed: tuple[Memory, ...] = ()
    drafts: tuple[str, ...] = ()  # what would be proposed, in a dry run
    known: int = 0


def retro(engine: Engine, since: datetime, scope: Scope, now: datetime, *, dry_run: bool = False) -> Retro:
    """Propose what was learnt since a time."""
    made, known, drafts = [], 0, []
    for memory, kind in _learnt(engine, since, scope):
        draft = _draft(memory, kind)
        if dry_run:
            drafts.append(f"{kind}: {draft.content}")
            continue
        found, is_new = engine.queue(
            draft, trust=lowest((memory.trust, "derived")), expires_at=now + timedelta(days=engine.settings.review_days)
        )
        if found is not None and is_new:
            made.append(found)
        else:
            known += 1
    return Retro(tuple(made), tuple(drafts), known)


def _learnt(engine: Engine, since: datetime, scope: Scope) -> Iterator[tuple[Memory, str]]:
    for asked in ({"kinds": tuple(KIND_OF)}, {"tags": (TURNED_DOWN,)}):
        cursor: str | None = None
        while True:
            page = engine.list(scope=scope, limit=PAGE, cursor=cursor, **asked)
            for memory in page.memories:
                if memory.created_at >= since and ("tags" in asked) == (TURNED_DOWN in memory.tags):
                    yield memory, "anti-pattern" if TURNED_DOWN in memory.tags else KIND_OF[memory.kind]
            cursor = page.cursor
            if cursor is None or page.memories[-1].created_at < since:
                break


def _draft(memory: Memory, kind: str) -> Draft:
    said = memory.content.strip()
    day = times.iso(memory.valid_from or memory.created_at)[:10]
    return Draft(
        f"{LEAD[kind]}: {said}", kind=kind, title=heading(memory.title or said.partition("\n")[0][:NAME]),
        reasoning=memory.reasoning or f"Learnt on {day}, from the {memory.kind} {memory.id}.", refs=memory.refs,
        keywords=memory.keywords, confidence=min(memory.confidence, 2 / 3),
        scope=replace(memory.scope, session="", branch="", agent=""),
        source=Source("", "document", f"retro:{memory.id}", title="a retrospective"),
    )  # fmt: skip
