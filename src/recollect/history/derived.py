"""What was derived from memories that are erased: which of it goes too, and which only loses a proof.

A memory is derived from a turn when it has the turn's source or quotes it, and from any memory that it has a link
`derived_from` to. It is erased too when no other source and no other quote speaks for it; otherwise it loses the quotes
and, if it is a summary, the lines made of them. A summary of an entity always goes, to be made again of what is left.
Only users and projects that something is erased of are touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import text
from ..remember.belief import sums_up
from ..remember.write import Writer
from ..store.contract import Transaction
from ..types import Evidence, Link, Memory, Source

SUMMARY = "summary:"  # how the address of a summary's own source begins: it proves nothing by itself


@dataclass(frozen=True, slots=True)
class Backed:
    """A derived memory that has other evidence."""

    memory: Memory
    lost: list[Evidence]
    kept: list[Evidence]
    links: list[Link]


@dataclass(slots=True)
class Derived:
    alone: list[Memory] = field(default_factory=list)
    backed: list[Backed] = field(default_factory=list)
    turns: set[str] = field(default_factory=set)  # sources of the turns that go

    def detach(self, changes: Transaction) -> None:
        """Take the proofs that go from the memories that stay."""
        for one in self.backed:
            for proof in one.lost:
                if changes.drop(Evidence, proof.id, "forget"):
                    changes.blank(proof.id)
            memory = one.memory
            if memory.source in self.turns:
                memory = replace(memory, source=one.kept[0].source)
            lines = memory.content.splitlines()
            left = [line for line in lines if not any(proof.quote and proof.quote in line for proof in one.lost)]
            if memory.kind == "summary" and left != lines:
                content = "\n".join(left)
                changes.restate(replace(memory, content=content, content_hash=text.key(content)))
                for noun in (*one.kept, *one.links):
                    changes.restate(noun)
            else:
                changes.put(memory, "edit", "its source was erased")


def trace(writer: Writer, memories: Sequence[Memory]) -> Derived:
    """What was derived from some memories, and from what goes with them."""
    gone, found = {memory.id: memory for memory in memories}, Derived()
    fresh = list(memories)
    while fresh:
        turns = [memory.source for memory in fresh if memory.kind == "turn"]
        found.turns |= {one.id for one in _of(writer, Source, turns) if one.kind == "turn"}
        found.backed, fresh = [], []
        for one in _candidates(writer, gone, found.turns):
            if not sums_up(one.memory) and (one.kept or not _needs_proof(writer, one.memory, found.turns)):
                found.backed.append(one)
            else:
                fresh.append(one.memory)
        found.alone += fresh
        gone |= {memory.id: memory for memory in fresh}
    return found


def _candidates(writer: Writer, gone: dict[str, Memory], turns: set[str]) -> list[Backed]:
    places = {(memory.scope.user, memory.scope.project) for memory in gone.values()}
    ties = [tie for tie in _of(writer, Link, gone, "target") if tie.relation == "derived_from"]
    ids = {one.memory for one in _of(writer, Evidence, turns, "source")} | {tie.origin for tie in ties}
    derived = {one.id: one for one in (*_of(writer, Memory, turns, "source"), *_of(writer, Memory, ids))}
    some = [one for id, one in sorted(derived.items()) if id not in gone and one.kind != "turn"]
    some = [one for one in some if (one.scope.user, one.scope.project) in places]
    proofs, links = _by(_of(writer, Evidence, [one.id for one in some], "memory"), "memory"), _by(ties, "origin")
    made = []
    for memory in some:
        parents = [gone[tie.target] for tie in links.get(memory.id, [])]
        lost = [
            proof for proof in proofs.get(memory.id, [])
            if proof.source in turns or any(proof.source == it.source and proof.quote in it.content for it in parents)
        ]  # fmt: skip
        kept = [proof for proof in proofs.get(memory.id, []) if proof not in lost]
        others = [tie for tie in _of(writer, Link, [memory.id], "origin") if tie.target not in gone]
        made.append(Backed(memory, lost, kept, others))
    return made


def _needs_proof(writer: Writer, memory: Memory, turns: set[str]) -> bool:
    """Whether a memory's own source says nothing for it."""
    return memory.source in turns or any(one.uri.startswith(SUMMARY) for one in _of(writer, Source, [memory.source]))


def _by(nouns: Iterable[Any], name: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in nouns:
        found.setdefault(getattr(one, name), []).append(one)
    return found


def _of(writer: Writer, kind: type[Any], ids: Iterable[str], column: str = "id") -> list[Any]:
    return writer.store.of(writer.tenant, kind, sorted(set(ids)), column)
