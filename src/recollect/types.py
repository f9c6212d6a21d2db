"""The nouns. Frozen, without behaviour beyond turning themselves into plain data and back.

`as_dict` is the one wire form: what `--json` prints, what an export line holds and what the journal keeps. `from_dict`
reads it back, so `T.from_dict(x.as_dict()) == x`. Times are aware datetimes here and ISO text there; lists are
tuples here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from . import times

KINDS = (
    "fact", "preference", "rule", "decision", "insight", "lesson", "procedure", "pattern", "anti-pattern", "heuristic",
    "incident", "summary", "doc", "code", "commit", "turn", "task",
)  # fmt: skip
NETWORKS = ("world", "bank", "opinion", "observation")
OLD_NETWORKS = {"experience": "bank"}  # what earlier versions wrote, in exports and in the journal
TRUSTS = ("unverified", "derived", "cited", "stated")
EDITABLE = ("active", "archived", "invalid")  # states that a person can put a memory into
STATES = ("pending", "active", "superseded", "invalid", "expired", "archived", "rejected")
RELATIONS = (
    "related", "supersedes", "contradicts", "supports", "elaborates", "depends_on", "uses", "implements", "calls",
    "configures", "had_incident", "owned_by", "caused_by", "derived_from", "mentions",
)  # fmt: skip
DERIVED = ("purge", "keep")  # what a purge does with memories that were made of what it erases, and of nothing else
JOB_STATES = ("queued", "running", "done", "failed", "cancelled")
SOURCES = ("statement", "turn", "document", "file", "commit", "url", "import")

UNLIKELY = 0.2  # how probable it must at least be that a hit answers, for a weak answer to be worth a look


class Noun:
    """What the frozen dataclasses below share: their wire form."""

    __slots__ = ()
    TIMES: ClassVar[frozenset[str]] = frozenset()  # the fields that are read back as times

    def __init_subclass__(cls) -> None:
        cls.TIMES = frozenset(name for name, kind in cls.__annotations__.items() if str(kind).startswith("datetime"))

    def as_dict(self) -> dict[str, Any]:
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the wire form; keys that are not fields of the noun are left out."""
        known = {}
        for f in fields(cls):  # type: ignore[arg-type]
            if f.name in data:
                known[f.name] = cls._read(f.name, data[f.name])
        return cls(**known)

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if name in cls.TIMES and value is not None:
            return times.aware(value, name)
        if name == "scope" and isinstance(value, Mapping):
            return Scope.from_dict(value)
        return tuple(value) if isinstance(value, list) else value


class Kept(Noun):
    """A noun that a store keeps, by its id."""

    __slots__ = ()
    id: str


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is datetime:
        return times.iso(value)
    if kind is tuple:
        return [_plain(item) for item in value]
    if kind is dict:
        return {name: _plain(item) for name, item in value.items()}
    return value.as_dict() if isinstance(value, Noun) else value


_AS_THEY_ARE = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Scope(Noun):
    """Where a memory holds. An empty field is "everywhere": a memory of no project is known in every project.

    Asking in a scope sees that scope and what encloses it; listing or forgetting in a scope touches only what is
    inside.
    """

    user: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    session: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name in SCOPE_FIELDS if (value := getattr(self, name)) not in ("", NOBODY)}

    def allowed(self, name: str, *, inside: bool = False) -> tuple[str, ...]:
        """The values of a field that a memory may have to be seen from here, or to lie inside; none is any."""
        value = getattr(self, name)
        if value == NOBODY:
            return ("",)
        return () if not value else (value,) if inside else (value, "")

    def sees(self, other: Scope) -> bool:
        """Whether what holds in another scope is seen from here."""
        return self._allows(other, inside=False)

    def contains(self, other: Scope) -> bool:
        """Whether another scope lies inside this one."""
        return self._allows(other, inside=True)

    def _allows(self, other: Scope, *, inside: bool) -> bool:
        return all(
            not (allowed := self.allowed(name, inside=inside)) or getattr(other.stored(), name) in allowed
            for name in SCOPE_FIELDS
        )

    def stored(self) -> Scope:
        """The scope as a memory has it: what nobody in particular says is everybody's."""
        return replace(self, user="") if self.user == NOBODY else self

    def places(self) -> tuple[str, str, str, str, str]:
        return self.user, self.project, self.branch, self.agent, self.session

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.as_dict().items()) or "everywhere"


SCOPE_FIELDS = tuple(f.name for f in fields(Scope))
NOBODY = "(nobody)"  # asked as this user, one sees and touches what belongs to no user; no memory has it
EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Memory(Kept):
    """One piece of knowledge. `updated_at` moves with content, never with counters.

    `context` is what stood around it (the turn before, the headings above): it is searched and not shown as content.
    `speaker` and `position` say who said it and where it stands in its session or document.
    """

    id: str
    content: str
    kind: str = "fact"
    network: str = "world"
    title: str = ""
    reasoning: str = ""
    context: str = ""
    speaker: str = ""
    position: int | None = None
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    importance: int = 5
    confidence: float = 1.0
    trust: str = "stated"
    state: str = "active"
    scope: Scope = EVERYWHERE
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime = times.EPOCH
    updated_at: datetime = times.EPOCH
    expires_at: datetime | None = None
    observed: int = 1
    content_hash: str = ""
    source: str = ""
    recalled: int = 0
    accessed: int = 0
    last_recalled_at: datetime | None = None
    last_accessed_at: datetime | None = None

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return OLD_NETWORKS.get(value, value) if name == "network" else super(Memory, cls)._read(name, value)

    @property
    def happened_at(self) -> datetime:
        """When it happened: a commit or an incident has a time of its own, whenever it was taken in."""
        own = self.valid_from if self.kind in ("commit", "incident") else None
        return own or self.created_at

    def embedded(self) -> tuple[str, str, str]:
        """What an embedder reads of it: when one of these changes, its vectors are stale."""
        return self.title, self.speaker, self.content

    @property
    def version(self) -> str:
        """What changes whenever the memory does, and not when it is only looked at."""
        told = json.dumps(self.record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(told.encode()).hexdigest()[:24]

    def record(self) -> dict[str, Any]:
        """The wire form without the counters of use, which are statistics and not knowledge."""
        return {name: value for name, value in self.as_dict().items() if name not in USAGE_FIELDS}


USAGE_FIELDS = ("recalled", "accessed", "last_recalled_at", "last_accessed_at")


@dataclass(frozen=True, slots=True)
class Source(Kept):
    """Where knowledge came from: the raw turn, document, commit or file, or the person who stated it."""

    id: str
    kind: str = "statement"
    uri: str = ""
    title: str = ""
    content: str = ""
    author: str = ""
    session: str = ""
    position: int | None = None
    occurred_at: datetime | None = None
    created_at: datetime = times.EPOCH
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Evidence(Kept):
    """The quote in a source, and its place, that supports a memory."""

    id: str
    memory: str
    source: str
    quote: str = ""
    place: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Entity(Kept):
    """Something that memories speak of, by its name; `key` is what makes two of them the same."""

    id: str
    kind: str
    name: str
    key: str
    project: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Link(Kept):
    """A typed, dated edge from one memory or entity to another."""

    id: str
    origin: str
    relation: str
    target: str
    origin_kind: str = "memory"
    target_kind: str = "memory"
    weight: float = 1.0
    reason: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Tombstone(Kept):
    """A value a person rejected, by the key of what it says (`remember/values.py`); it outlives every expiry."""

    id: str
    key: str
    scope: Scope = EVERYWHERE
    memory: str = ""
    reason: str = ""
    created_at: datetime = times.EPOCH


@dataclass(frozen=True, slots=True)
class Job(Kept):
    """Work to be done in the background, that outlives the process which asked for it.

    Whoever does it holds a lease; when the lease lapses, another takes over. Not knowledge, so not in the journal.
    """

    id: str
    kind: str
    payload: dict[str, Any] = field(default_factory=dict)
    state: str = "queued"
    attempts: int = 0
    max_attempts: int = 5
    run_at: datetime = times.EPOCH
    leased_by: str = ""
    leased_until: datetime | None = None
    error: str = ""
    progress: dict[str, Any] = field(default_factory=dict)
    created_at: datetime = times.EPOCH
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entry(Noun):
    """One row of the journal: who did what to which noun, when, why, and what it was before and after."""

    seq: int
    at: datetime
    actor: str
    operation: str
    noun: str
    target: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""
    purged: bool = False


@dataclass(frozen=True, slots=True)
class Token(Noun):
    """Who may call from elsewhere, behind which wall, with which rights. Its secret is nowhere, only a hash of it."""

    id: str
    tenant: str
    name: str = ""
    scope: Scope = EVERYWHERE  # user and project only
    can: tuple[str, ...] = ("read",)
    created_at: datetime = times.EPOCH
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Webhook(Noun):
    """An address that changes are posted to, and how far it has come: `cursor` is the last change it took.

    `private` says that the address may lie on this machine or its network.
    """

    id: str
    tenant: str
    url: str
    operations: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)
    private: bool = False
    cursor: int = 0
    failures: int = 0
    error: str = ""
    next_at: datetime | None = None
    created_at: datetime = times.EPOCH

    def as_dict(self) -> dict[str, Any]:
        """Without the secret, which is told once, when it is made."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "secret"}


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller asks to be remembered, before the write path has looked at it."""

    content: str
    kind: str = "fact"
    title: str = ""
    reasoning: str = ""
    context: str = ""
    speaker: str = ""
    position: int | None = None
    scope: Scope = EVERYWHERE
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    importance: int = 5
    confidence: float = 1.0
    network: str | None = None
    valid_from: datetime | str | None = None
    valid_to: datetime | str | None = None
    expires_at: datetime | str | None = None
    source: Source | str | None = None
    evidence: str | tuple[str, ...] = ()
    observed: int = 1  # how often it was seen before it came here
    place: str = ""  # where in the source the evidence stands


@dataclass(frozen=True, slots=True)
class Near(Noun):
    """A memory that says nearly the same."""

    id: str
    similarity: float
    title: str


@dataclass(frozen=True, slots=True)
class Remembered(Noun):
    """What became of one draft: which memories it stands for now, and which it contradicts while both stand."""

    action: Literal["created", "duplicate", "merged", "refused"]
    memory: Memory | None
    redacted: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    reason: str = ""
    skipped: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.memory.id if self.memory else ""


ROLES = ("user", "assistant", "tool", "system")


@dataclass(frozen=True, slots=True)
class Message(Noun):
    """One thing that was said: by whom, when, and under which name its own source knows it.

    Of what a tool or a system says, nothing is taken for knowledge.
    """

    role: str
    content: str
    id: str = ""
    at: datetime | None = None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding(Noun):
    """What became of one statement that capture found: stored, queued for review, or left out, and why.

    `conflicts` names the memories it cannot be true beside.
    """

    action: Literal["created", "pending", "duplicate", "merged", "superseded", "retracted", "blocked", "refused"]
    content: str
    kind: str
    tier: int
    quote: str
    source: str
    memory: str = ""
    reason: str = ""
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Captured(Noun):
    """What one capture did: turns that were stored and known already, windows looked at, and what they gave.

    `job` is the one that will look at them when it was asked for later.
    """

    turns: int = 0
    known: int = 0
    windows: int = 0
    worth: int = 0
    findings: tuple[Finding, ...] = ()
    skipped: tuple[str, ...] = ()
    job: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a read looks at. Times are compared with `valid_from`, or with `created_at` where it is not known.

    With `inside`, only memories whose scope has the same values; without, also those of the enclosing scopes.
    `current_at` keeps what is valid and unexpired at that time; None keeps all.
    """

    scope: Scope = EVERYWHERE
    inside: bool = False
    kinds: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[str, ...] = ("active",)
    since: datetime | None = None
    until: datetime | None = None
    min_importance: int = 1
    current_at: datetime | None = None
    shared: Any = None  # the `Audience` that it must be shared with

    def but(self, **changes: Any) -> Filter:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Hit(Noun):
    """A memory that was found, its score, the score of each arm, and why it is here in one line."""

    memory: Memory
    score: float
    arms: dict[str, float]
    why: str


@dataclass(frozen=True, slots=True)
class Explained(Noun):
    """How an answer came about: what each arm found, what was understood, and what was dropped and why.

    `stages` has the score of each candidate that was looked at closer, after fusing, ranking and weighing. `words` is
    how much words counted beside vectors, where that was decided for this question.
    """

    candidates: dict[str, tuple[tuple[str, float], ...]]
    dropped: tuple[tuple[str, str], ...] = ()
    when: str = ""
    hints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    stages: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    words: float | None = None


@dataclass(frozen=True, slots=True)
class Group(Noun):
    """Memories on one topic, by their ids, the oldest first; without a topic, those that share none."""

    topic: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall(Noun):
    """The answer to a question: hits, best first, with what ran and what was skipped, and why.

    `weak` says that probably none of the hits answers the question: show them as such, or not at all. `fits` is how
    probable it is that one does; 1 where no ranker looked. `time` says from which time the question is answered.
    `groups` lays the hits out by topic, where the question wants everything on a subject.
    """

    query: str
    hits: tuple[Hit, ...]
    arms: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    tokens: int = 0
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    explained: Explained | None = None
    weak: bool = False
    fits: float = 1.0
    time: str = ""
    groups: tuple[Group, ...] = ()

    @property
    def laid_out(self) -> tuple[tuple[str, tuple[Hit, ...]], ...]:
        """The hits under their topics; all under none where the question asks for one answer."""
        by_id = {hit.memory.id: hit for hit in self.hits}
        told = ((one.topic, tuple(by_id[id] for id in one.memories if id in by_id)) for one in self.groups)
        return tuple(one for one in told if one[1]) or (("", self.hits),)

    @property
    def unlikely(self) -> bool:
        """Whether it is far more probable that nothing answers than that something does."""
        return self.fits < UNLIKELY

    def __iter__(self) -> Any:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Page(Noun):
    """Some memories, the cursor that asks for the next ones, and what was not looked at."""

    memories: tuple[Memory, ...]
    cursor: str | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten(Noun):
    """What `forget` or `reject` did, or would do when `dry_run`; a purge comes with its receipt (`past.Receipt`).

    `derived` are memories that a purge takes along: they were made of the others, and nothing else speaks for them.
    With `proposed` nothing was done: the memories are proposals that wait for a person.
    """

    memories: tuple[Memory, ...]
    dry_run: bool = False
    purged: bool = False
    receipt: dict[str, Any] = field(default_factory=dict)
    derived: tuple[Memory, ...] = ()
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class Check(Noun):
    """One finding of the doctor."""

    name: str
    status: Literal["ok", "warning", "broken"]
    detail: str
    fix: str = ""
