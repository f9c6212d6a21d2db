"""The shelf: files whose knowledge is in the store, and what each of them says today.

A file is one source, under an id that is made of its address, with the hash of the bytes that were read last. What it
says are the memories it is evidence of: a piece of evidence names the memory, and the place in the file. When a file
says something no longer, the evidence goes, and with it the memory, unless another file still says it or somebody
stated it. So a run can be broken off anywhere: a hash is written after what the file says has landed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .. import ids
from ..types import Evidence, Link, Memory, Scope, Source
from .write import Writer, present

FILES = ("file", "document")
PAGE = 1000


class Said(NamedTuple):
    """A memory that a file is evidence of, and the place of it in the file."""

    place: str
    evidence: str
    memory: Memory


@dataclass(slots=True)
class Counts:
    superseded: int = 0
    retired: int = 0


class Shelf:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def read(self, ids: Sequence[str]) -> dict[str, Source]:
        """The files of these ids that were read before."""
        store, tenant = self._writer.store, self._writer.tenant
        return {one.id: one for one in store.of(tenant, Source, ids)}

    def under(self, address: str) -> list[Source]:
        """The files whose address begins like this and that are still there as far as is known."""
        every = self._writer.store.each(self._writer.tenant, Source)
        return [one for one in every if one.kind in FILES and one.content_hash and one.uri.startswith(address)]

    def said(self, ids: Sequence[str]) -> dict[str, list[Said]]:
        """What these files say, as far as is known, in the order it was learnt."""
        store, tenant = self._writer.store, self._writer.tenant
        found: dict[str, list[Said]] = {}
        proofs = store.of(tenant, Evidence, ids, "source")
        memories = store.memories(tenant, [proof.memory for proof in proofs])
        for proof in proofs:
            if proof.memory in memories:
                found.setdefault(proof.source, []).append(Said(proof.place, proof.id, memories[proof.memory]))
        return found

    def put(self, sources: Iterable[Source]) -> None:
        """Write down what was read: a hash is what says that a file need not be read again."""
        writer = self._writer
        with writer.changing() as changes:
            for source in sources:
                known = changes.get(Source, source.id)
                if known:
                    changes.put(replace(known, content_hash=source.content_hash), "edit")
                else:
                    changes.put(replace(source, created_at=writer.now()), "create")

    def unsay(self, gone: Sequence[Said], instead: Sequence[str] = (), reason: str = "") -> Counts:
        """Take back what a file says no longer; `instead` names the memory that stands for each, or nothing."""
        writer, counts = self._writer, Counts()
        heirs = dict(zip((said.evidence for said in gone), instead, strict=False))
        with writer.changing() as changes:
            for said in gone:
                changes.drop(Evidence, said.evidence, "retire", reason)
            orphans = self.unsupported(gone)
            for said in gone:
                memory = present(changes, said.memory.id)
                if memory.id not in orphans or memory.state not in ("active", "pending"):
                    continue
                heir = changes.get(Memory, heirs.get(said.evidence, ""))
                if heir and heir.id != memory.id:
                    writer.supersede(changes, heir, memory, reason)
                    counts.superseded += 1
                else:
                    changes.put(replace(memory, state="archived"), "retire", reason)
                    counts.retired += 1
        return counts

    def unsupported(self, gone: Sequence[Said]) -> set[str]:
        """The memories that nothing supports once this evidence is gone; to change them, ask under the lock."""
        writer = self._writer
        memories = {said.memory.id: said.memory for said in gone}
        dropped = {said.evidence for said in gone}
        proofs = writer.store.of(writer.tenant, Evidence, list(memories), "memory")
        own = writer.store.of(writer.tenant, Source, list({memory.source for memory in memories.values()}))
        stated = {source.id for source in own if source.kind not in FILES}
        # A file of a branch supports what holds on that branch, and not what holds for the project.
        files = {id: one.uri for id, one in self.read(list({proof.source for proof in proofs})).items()}
        held = {
            proof.memory
            for proof in proofs
            if proof.id not in dropped and not _of_branch(files.get(proof.source, ""), memories[proof.memory].scope)
        }
        return memories.keys() - held - {id for id, memory in memories.items() if memory.source in stated}

    def close(self, ends: Sequence[tuple[str, str]], reason: str) -> int:
        """Take memories out of recall that hold no longer, into a state: `superseded` or `archived`; gives how many."""
        writer, done = self._writer, 0
        with writer.changing() as changes:
            for id, state in ends:
                memory = present(changes, id)
                if memory.state == "active":
                    done += changes.put(writer.ended(memory, state), "supersede", reason)
        return done

    def tie(self, ties: Sequence[tuple[str, str, str]], reason: str = "") -> int:
        """Link memories, `(origin, relation, target)`, many at once; what is tied already stays as it is."""
        writer, done = self._writer, 0
        with writer.changing() as changes:
            origins = list({origin for origin, _, _ in ties})
            links = writer.store.of(writer.tenant, Link, origins, "origin")
            known = {(link.origin, link.relation, link.target) for link in links}
            for one in dict.fromkeys(ties):
                origin, relation, target = one
                if one in known or origin == target:
                    continue
                first, second = changes.get(Memory, origin), changes.get(Memory, target)
                if first is None or second is None:
                    continue
                if relation == "supersedes" and second.state == "active":
                    writer.supersede(changes, first, second, reason)
                else:
                    writer.tie(changes, first, relation, second, reason)
                done += 1
        return done


def _of_branch(address: str, scope: Scope) -> bool:
    """Whether an address is that of a file of a branch, and a scope that of the project."""
    return not scope.branch and address.startswith(f"file:{scope.project}@")


def shelved(address: str, user: str = "") -> str:
    """The id of a file's source: the same for the same address, each time it is read."""
    return ids.derive("shelf", user, address)
