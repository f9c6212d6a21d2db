"""Why a memory is there: where it came from, on whose word, what became of it, and where it was used.

The answer is bounded in count, depth and length; what was left out is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .. import checks, text
from ..history_types import Audit, Provenance, Relative, Sighting, Step
from ..store.contract import Store
from ..store.trail import Trace
from ..types import Entry, Evidence, Link, Memory, Scope, Source
from .asof import visible_rows

T = TypeVar("T")
MAX_DEPTH, MAX_COUNT = 10, 200
LONGEST = 2000  # characters of one text that are told
ORIGINS = ("derived_from", "elaborates", "caused_by")
LONG = ("content", "reasoning", "context", "quote")
PAGE = 1000
Sees = Callable[[Memory], bool]


def everybody(memory: Memory) -> bool:
    return True


@dataclass(slots=True)
class _Bounds:
    """Cuts lists, and counts what was cut off."""

    most: int
    left_out: dict[str, int] = field(default_factory=dict)

    def few(self, name: str, found: Sequence[T]) -> tuple[T, ...]:
        if len(found) > self.most:
            self.left_out[name] = len(found) - self.most
        return tuple(found[: self.most])


def why(
    store: Store, tenant: str, memory: Memory, *, depth: int = 3, limit: int = 50,
    sees: Sees = everybody,
) -> Provenance:  # fmt: skip
    """Everything that speaks for a memory; `sees` says which others the one who asks may be told of."""
    checks.within(depth, 0, MAX_DEPTH, "depth", whole=True)
    checks.within(limit, 1, MAX_COUNT, "limit", whole=True)
    bounds = _Bounds(limit)
    evidence = store.of(tenant, Evidence, [memory.id], "memory")
    sources = {one.id: one for one in store.of(tenant, Source, sorted({memory.source, *(e.source for e in evidence)}))}
    every = list(store.each_entry(tenant, Trace(targets=(memory.id,), nouns=("memory",))))
    entries = every if sees is everybody else visible_rows(every, lambda scope: sees(replace(memory, scope=scope)))
    kin = _Kin(store, tenant, depth, sees)
    before, after = kin.chain(memory, "origin", ("supersedes",)), kin.chain(memory, "target", ("supersedes",))
    derived = [*kin.chain(memory, "origin", ORIGINS), *kin.said_in(memory, evidence)]
    shown = store.sightings(tenant, [memory.id], limit=10 * MAX_COUNT)
    if entries and len(entries) < len(every):  # where it was shown while it was out of sight is not told either
        shown = [one for one in shown if one.at >= entries[0].at]
    own = sources.pop(memory.source, None)
    return Provenance(
        memory=_short(memory),
        source=_short(own) if own else None,
        evidence=bounds.few("evidence", [_short(one) for one in evidence]),
        sources=bounds.few("sources", [_short(one) for one in sources.values()]),
        trust=bounds.few("trust", _path(entries)),
        confidence=bounds.few("confidence", moves(entries)),
        derived_from=bounds.few("derived_from", derived),
        superseded=bounds.few("superseded", before),
        superseded_by=bounds.few("superseded_by", after),
        ties=bounds.few("ties", kin.ties(memory)),
        changes=bounds.few("changes", [_cut(entry) for entry in reversed(entries)]),
        shown=bounds.few("shown", shown),
        helped=sum(one.helped > 0 for one in shown),
        did_not_help=sum(one.helped < 0 for one in shown),
        left_out=bounds.left_out,
    )


def _path(entries: Iterable[Entry]) -> list[Step]:
    """The steps at which a memory's trust or state became what it is."""
    steps: list[Step] = []
    for entry in entries:
        told = entry.after or {}
        last = steps[-1] if steps else None
        trust = str(told.get("trust", last.trust if last else ""))
        state = str(told.get("state", last.state if last else ""))
        if entry.purged:
            continue
        if last is None or (trust, state) != (last.trust, last.state):
            steps.append(Step(entry.at, entry.actor, entry.operation, trust, state, entry.reason))
    return steps


def moves(entries: Iterable[Entry]) -> list[str]:
    """How the confidence of a memory moved, oldest first: "0.6 -> 0.8 after INC-12"."""
    return [
        f"{entry.before['confidence']:g} -> {entry.after['confidence']:g} {entry.reason}".rstrip()
        for entry in entries
        if entry.before and entry.after and "confidence" in entry.before and "confidence" in entry.after
    ]


@dataclass(slots=True)
class _Kin:
    """The memories that one is tied to, as far as the one who asks may see them."""

    store: Store
    tenant: str
    depth: int
    sees: Sees

    def chain(self, memory: Memory, side: str, relations: Sequence[str]) -> list[Relative]:
        """Along links that go out from a memory (`origin`) or come in (`target`), the near ones first."""
        found: dict[str, Relative] = {}
        edge, other = [memory.id], "target" if side == "origin" else "origin"
        for depth in range(1, self.depth + 1):
            links = [one for one in self._links(edge, side) if one.relation in relations]
            ends = {getattr(one, other): one for one in links if getattr(one, other) not in (memory.id, *found)}
            edge = []
            for id, one in self._memories(ends):
                link = ends[id]
                found[id] = _relative(one, link.relation, depth, link.reason)
                edge.append(id)
            if not edge or len(found) > MAX_COUNT:
                break
        return list(found.values())

    def said_in(self, memory: Memory, evidence: Sequence[Evidence]) -> list[Relative]:
        """The turns and documents that what supports a memory was said in."""
        sources = sorted({memory.source, *(one.source for one in evidence)})
        same = self.store.of(self.tenant, Memory, sources, "source")
        return [
            _relative(one, "said in", 1, "")
            for one in same
            if one.id != memory.id
            and one.kind in ("turn", "doc", "commit")
            and memory.kind != "turn"
            and self.sees(one)
        ]

    def ties(self, memory: Memory) -> list[Relative]:
        """All other links of a memory to another, whichever way they go."""
        links = {link.id: link for side in ("origin", "target") for link in self._links([memory.id], side)}
        known = ("supersedes", *ORIGINS)
        others = {
            (link.target if link.origin == memory.id else link.origin): link
            for link in links.values()
            if not (link.relation in known and (link.origin == memory.id or link.relation == "supersedes"))
        }
        return [_relative(one, others[id].relation, 1, others[id].reason) for id, one in self._memories(others)]

    def _links(self, ids: Sequence[str], side: str) -> list[Link]:
        found = self.store.of(self.tenant, Link, list(ids), side) if ids else []
        return [link for link in found if link.origin_kind == link.target_kind == "memory"]

    def _memories(self, ids: Iterable[str]) -> list[tuple[str, Memory]]:
        found = self.store.memories(self.tenant, sorted(ids))
        return [(id, found[id]) for id in sorted(found) if self.sees(found[id])]


def _relative(memory: Memory, relation: str, depth: int, reason: str) -> Relative:
    return Relative(memory.id, relation, depth, memory.state, text.shorten(memory.content, 200), reason)


N = TypeVar("N", Memory, Source, Evidence)


def _short(noun: N) -> N:
    """A noun whose long texts are cut."""
    names = [name for name in LONG if hasattr(noun, name)]
    told = {name: getattr(noun, name) for name in names}
    cut: dict[str, Any] = {name: text.shorten(v, LONGEST) for name, v in told.items() if len(v) > LONGEST}
    return replace(noun, **cut) if cut else noun


def _cut(entry: Entry) -> Entry:
    def short(fields: dict[str, Any] | None) -> dict[str, Any] | None:
        if fields is None:
            return None
        return {
            name: text.shorten(value, LONGEST) if isinstance(value, str) and len(value) > LONGEST else value
            for name, value in fields.items()
        }

    return replace(entry, before=short(entry.before), after=short(entry.after))


def audit(store: Store, tenant: str, trace: Trace, *, reads: bool, limit: int) -> Audit:
    """Journal rows that fit, newest first, and the reads across projects of the same span of time."""
    entries = store.trail(tenant, replace(trace, newest=True), limit + 1)
    more = len(entries) > limit
    entries = entries[:limit]
    seen: list[Sighting] = []
    if reads:
        # A page tells the reads between its own first and last row, so that the pages together tell each once.
        since = entries[-1].at if more else trace.since
        until = trace.until if trace.until_seq is None else _before(store, tenant, trace.until_seq)
        seen = store.sightings(tenant, across=True, since=since, until=until, limit=PAGE)
        seen = [one for one in seen if _fits(one, trace)]
    return Audit(tuple(entries), tuple(seen), entries[-1].seq if more else None)


def _before(store: Store, tenant: str, seq: int) -> Any:
    """When the row after a page's first one happened: up to then its reads are told."""
    found = store.trail(tenant, Trace(after=seq), 1)
    return found[0].at if found else None


def _fits(one: Sighting, trace: Trace) -> bool:
    return (
        (not trace.actors or one.actor in trace.actors)
        and (not trace.targets or one.memory in trace.targets)
        and (not trace.project or trace.project in (one.owner, one.project))
    )


def across(here: Scope, memory: Memory) -> bool:
    """Whether somebody at home in one project looks at what another owns."""
    return bool(here.project) and memory.scope.project not in ("", here.project)
