"""The nouns of the past: what names a moment, what is kept of it, and what is told about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import times
from .types import EVERYWHERE, Entity, Entry, Evidence, Kept, Memory, Noun, Scope, Source

ACTIONS = ("archive", "purge")
MAX_ROWS = 1000  # of the audit log, at once


@dataclass(frozen=True, slots=True)
class Checkpoint(Kept):
    """A name for a place in the journal, in a scope: everything up to row `seq` had happened, nothing after it."""

    id: str
    name: str
    seq: int
    scope: Scope = EVERYWHERE
    reason: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Hold(Kept):
    """While it stands, nothing inside its scope may be erased, whoever asks."""

    id: str
    name: str
    scope: Scope = EVERYWHERE
    reason: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Retention(Kept):
    """How long memories of a kind (empty: of any) inside a scope are kept, and what happens to them then."""

    id: str
    kind: str = ""
    days: int = 0
    action: str = "archive"
    scope: Scope = EVERYWHERE
    reason: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Sighting(Noun):
    """A memory that was put before somebody: when, in which session, and from which project it was looked at.

    `way` is how it came there (start and prompt are hooks; recall, get, list and context were asked for), or `repeated`
    where the assistant said it again. `owner` is the project the memory is of, `helped` what was said of it later: 1
    yes, -1 no, 0 nothing.
    """

    memory: str
    at: datetime
    session: str = ""
    way: str = ""
    actor: str = ""
    project: str = ""
    owner: str = ""
    helped: int = 0


@dataclass(frozen=True, slots=True)
class Step(Noun):
    """One step of the way on which a memory came to be trusted as it is."""

    at: datetime
    actor: str
    operation: str
    trust: str
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Relative(Noun):
    """Another memory that one goes back to, or that came after it: how they are tied, and how many ties away it is."""

    id: str
    relation: str
    depth: int
    state: str
    content: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Provenance(Noun):
    """Why a memory is there: where it came from, on whose word, what became of it, and where it was used.

    `left_out` counts what was not told because the answer is bounded.
    """

    memory: Memory
    source: Source | None
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[Source, ...] = ()
    trust: tuple[Step, ...] = ()
    confidence: tuple[str, ...] = ()  # how evidence moved it: "0.6 -> 0.8 after INC-12"
    derived_from: tuple[Relative, ...] = ()
    superseded: tuple[Relative, ...] = ()
    superseded_by: tuple[Relative, ...] = ()
    ties: tuple[Relative, ...] = ()
    changes: tuple[Entry, ...] = ()
    shown: tuple[Sighting, ...] = ()
    helped: int = 0
    did_not_help: int = 0
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference(Noun):
    """One memory at two moments. `fields` holds what differs, before and after; `by` what stands for it now."""

    id: str
    kind: str
    content: str
    scope: Scope
    state: str
    fields: dict[str, Any] = field(default_factory=dict)
    by: str = ""


@dataclass(frozen=True, slots=True)
class Differences(Noun):
    """What changed between two places in the journal, in a scope. `counts` are of all, the lists are bounded."""

    first: int
    last: int
    scope: Scope
    added: tuple[Difference, ...] = ()
    changed: tuple[Difference, ...] = ()
    removed: tuple[Difference, ...] = ()
    superseded: tuple[Difference, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RolledBack(Noun):
    """What a rollback did, or would do when `dry_run`; `undo` is the checkpoint that takes it back."""

    to: str
    seq: int
    scope: Scope
    restored: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    links: int = 0
    evidence: int = 0
    entities: int = 0
    shared: int = 0  # pools, members, shares and handoffs
    skipped: dict[str, str] = field(default_factory=dict)
    undo: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class TakenBack(Noun):
    """What an undo put back as it was, and what had come by the change and is archived now, by id."""

    restored: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    links: int = 0
    evidence: int = 0


@dataclass(frozen=True, slots=True)
class Audit(Noun):
    """Some rows of the audit log: changes and, where asked for, reads across projects. `cursor` asks for the next."""

    entries: tuple[Entry, ...]
    reads: tuple[Sighting, ...] = ()
    cursor: int | None = None


@dataclass(frozen=True, slots=True)
class Attribute(Noun):
    """What an attribute of an entity was, since when, instead of what, and the memory that proves it."""

    name: str
    value: str
    since: datetime
    memory: str
    before: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Event(Noun):
    """A memory as a point in time: what it is, what it changed, and how far it is from the anchor, in words."""

    at: datetime
    memory: str
    network: str
    action: str
    title: str
    entity: str = ""
    changes: tuple[str, ...] = ()
    until: str = ""
    distance: str = ""


@dataclass(frozen=True, slots=True)
class Timeline(Noun):
    """Events, newest first, with the cursor of the next page and the moment that distances are counted from."""

    events: tuple[Event, ...]
    cursor: str | None = None
    anchor: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntityState(Noun):
    """What was known of an entity at a time: what was said of it, and how it was tied to others."""

    entity: Entity
    at: datetime
    true_at: datetime
    memories: tuple[Memory, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt(Noun):
    """Proof of an erasure: what went, where it was looked for afterwards, and what could not be swept.

    `kin` are memories that carried the same words and lost them. `derived` are those that were made of what was erased
    and went with it, `standing` those that stand, for other evidence or because the caller kept them. `questions` is
    how many questions of the answer cache repeated the words. `left` names each place where the words
    are still found, `unsearched` each where they may be and nobody can look; `verified` says that there is neither.
    """

    id: str
    at: datetime
    actor: str
    first: int
    last: int
    memories: tuple[str, ...]
    kin: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    files: int = 0
    questions: int = 0
    searched: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unsearched: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        return not self.left and not self.unsearched

    def as_dict(self) -> dict[str, Any]:
        # Noun.as_dict by name: the decorator with slots makes the class anew, and a bare super() would miss it.
        return {**Noun.as_dict(self), "verified": self.verified}


@dataclass(frozen=True, slots=True)
class Retained(Noun):
    """What applying the retention policies did, or would do."""

    archived: tuple[str, ...] = ()
    purged: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    sightings: int = 0
    dry_run: bool = False
