"""Erasing for good, everywhere, with a receipt.

The store erases a memory with its evidence, links, vectors, full text and history. The same words may lie beside it: in
the turn they were said in, in quotes from that turn, in files of sessions and the spool, in cached questions. All of
these lose the words; a turn that said nothing else goes, and so does what was *derived* from them (`derived.py`),
unless the caller keeps it. Then the words are looked for in the bytes of the files, or in the rows of the tables, and
the receipt says where they are still found. What is erased is noted in a ledger (`erasures.py`), against which every
backup and export that is brought back is held (`replay.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from .. import text
from ..agent_types import Agent, Handoff, Member, Pool, Share
from ..entrypoints import spool
from ..errors import Held
from ..history_types import Hold, Receipt
from ..remember.belief import sums_up
from ..remember.mention import entity_key
from ..remember.write import Writer, present
from ..store.contract import Transaction
from ..store.trail import Trace
from ..types import Entity, Entry, Evidence, Kept, Link, Memory, Scope, Source, Tombstone
from .derived import trace
from .erasures import Erasure, Erasures

N = TypeVar("N", bound=Kept)
Erased = tuple[list[Memory], list[Memory], Receipt]  # what was named, what went along, and the proof of it
GONE = "[purged]"
SHORTEST, SHORTEST_QUOTE = 4, 12  # characters of a memory and of a quote that are looked for inside other texts
SEARCHED = 8  # bytes from which a text can be told from chance in a file
SESSIONS = "sessions"
HANDED_OVER = ("task", "progress", "result", "reason")  # what agents tell each other in a handoff
MAX_SHARED = 2**31
BESIDE = ("title", "reasoning", "context", "tags", "keywords")  # what a memory has beside its content


@dataclass(frozen=True, slots=True)
class Words:
    """The texts that are to go; `beside` is what was said about them (titles, reasons, tags)."""

    passages: tuple[str, ...]
    beside: tuple[str, ...] = ()

    @classmethod
    def of(cls, memories: Sequence[Memory], evidence: Sequence[Evidence], past: Iterable[Entry] = ()) -> Words:
        """Of memories with their quotes, and of what the journal tells that they said before."""
        quotes = {one.quote for one in evidence if len(one.quote) >= SHORTEST_QUOTE}
        before = [side for entry in past for side in (entry.before, entry.after) if side]
        found = {memory.content for memory in memories} | quotes | {side.get("content", "") for side in before}
        told = [memory.record() for memory in memories] + before
        beside = {text for one in told for name in BESIDE for text in _texts(one.get(name))}
        return cls(*(tuple(sorted(filter(None, some), key=len, reverse=True)) for some in (found, beside)))

    def out_of(self, said: str) -> str:
        """A text without them; what is shorter than a few letters only where it is all that was said.

        >>> Words(("the code is 1234",)).out_of("I said: the code is 1234, right?")
        'I said: [purged], right?'
        """
        if said in self.passages:
            return GONE
        clean = text.clean(said) if said else ""
        for one in self.passages:
            if len(one) >= SHORTEST and (one in said or one in clean):
                said = said.replace(one, GONE) if one in said else clean.replace(one, GONE)
                clean = text.clean(said)
        return said

    def out_of_memory(self, memory: Memory) -> Memory:
        names = ("content", "title", "reasoning", "context")
        said: dict[str, Any] = {name: self.out_of(getattr(memory, name)) for name in names}
        clean = replace(memory, **said)
        return clean if clean == memory else replace(clean, content_hash=text.key(clean.content))

    def quoted(self, quote: str) -> str:
        """A quote without them; one that is itself a part of them goes whole."""
        part = len(quote) >= SHORTEST_QUOTE and any(quote in one for one in self.passages)
        return GONE if part else self.out_of(quote)

    def within(self, value: Any) -> Any:
        """The same for whatever JSON can hold."""
        if isinstance(value, str):
            return "" if (left := self.out_of(value)) == GONE else left
        if isinstance(value, list):
            return [self.within(one) for one in value]
        return {name: self.within(one) for name, one in value.items()} if isinstance(value, dict) else value


@dataclass(frozen=True, slots=True)
class Eraser:
    writer: Writer
    home: Path
    is_replay: bool = False  # an erasure of before is done again, in an older copy: what was said since stays

    def erase(
        self, memories: Sequence[Memory], reason: str, *, user: str = "", keep: bool = False
    ) -> Erased:  # fmt: skip
        """Erase memories for good, with what only they speak for, unless told to `keep` that.

        With a `user`, also the entities that are theirs alone, and why they rejected.
        """
        writer, now = self.writer, self.writer.now()
        first = writer.store.head(writer.tenant) + 1
        with writer.store.transaction(writer.tenant, writer.actor, now) as changes:
            named = [present(changes, given.id) for given in memories]
            derived = trace(writer, named)
            alone = [] if keep else derived.alone
            gone = [*named, *alone]
            own = [memory for memory in gone if not sums_up(memory)]  # a summary of an entity quotes what stands
            evidence = self._of(Evidence, _ids(own), "memory")
            past = writer.store.each_entry(writer.tenant, Trace(targets=_ids(own))) if own else ()
            words = Words.of(own, evidence, past)
            sources = sorted({*(memory.source for memory in gone), *(one.source for one in evidence)})
            tied = [link.target for link in self._of(Link, _ids(gone), "origin") if link.target_kind == "entity"]
            if not keep:
                derived.detach(changes)
            for memory in gone:
                changes.purge(memory.id)
            places = {(memory.scope.user, memory.scope.project) for memory in gone}
            standing = [*(derived.alone if keep else ()), *(one.memory for one in derived.backed)]
            kin = _Kin(self.writer, changes, words, places, _ids(standing)).cleanse(sources)
            self._erase_entities(changes, sorted(set(tied)), words)
            self._cleanse_handoffs(changes, words)
            if user:
                self._erase_user(changes, user)
            questions = changes.drop_repeating((*words.passages, *words.beside), user)
            if not self.is_replay:
                self._record(changes, now, gone, kin, sources, user)
            id = writer.new_id(now)
            changes.note("erase", id, f"{len(gone)} erased for good{f': {reason}' if reason else ''}")
        files = 0 if self.is_replay else sweep(self.home, words)
        last = writer.store.head(writer.tenant)
        searched, left, unsearched = self._look(words, {memory.content_hash for memory in gone})
        return named, alone, Receipt(
            id, now, writer.actor, first, last, _ids(named), tuple(kin), _ids(alone), _ids(standing),
            files=files, questions=questions, searched=searched, left=left, unsearched=unsearched,
        )  # fmt: skip

    def _record(
        self, changes: Transaction, now: datetime, gone: list[Memory], kin: list[str], sources: list[str], user: str
    ) -> None:
        """Note what is gone in the ledger, before it is: else a crash between the two would let it come back."""
        same = self._of(Memory, sorted({memory.content_hash for memory in gone}), "content_hash")
        Erasures.load(self.home, self.writer.tenant).record(now, Erasure(
            gone,
            [id for id in kin if not changes.get(Memory, id)],
            [id for id in sources if not changes.get(Source, id)],
            [id for id in kin if changes.get(Memory, id)],
            [one for one in same if changes.get(Memory, one.id)],
            user,
        ))  # fmt: skip

    def _of(self, kind: type[N], ids: Sequence[str], column: str) -> list[N]:
        return self.writer.store.of(self.writer.tenant, kind, ids, column)

    def _erase_entities(self, changes: Transaction, ids: Sequence[str], words: Words) -> None:
        """Erase entities that only erased memories were tied to, where their names are among the erased words."""
        said = " ".join((*words.passages, *words.beside)).casefold()
        for entity in self._of(Entity, ids, "id"):
            links = [one for side in ("origin", "target") for one in self._of(Link, [entity.id], side)]
            if entity.name.casefold() in said and not any(changes.get(Link, one.id) for one in links):
                _drop(changes, Entity, entity.id)

    def _cleanse_handoffs(self, changes: Transaction, words: Words) -> None:
        """Take the words out of what agents handed over."""
        after = ""
        while batch := self.writer.store.all(self.writer.tenant, Handoff, after, 1000):
            after = batch[-1].id
            for one in batch:
                said: dict[str, Any] = {name: words.within(getattr(one, name)) for name in HANDED_OVER}
                if (clean := replace(one, **said)) != one:
                    changes.restate(clean)

    def _erase_agents(self, changes: Transaction, user: str) -> None:
        """Erase the agents of a user, with their pools, shares and handoffs."""
        store, tenant, whose = self.writer.store, self.writer.tenant, {"user": user}
        gone = {kind: store.matching(tenant, kind, whose, limit=MAX_SHARED) for kind in (Agent, Pool, Share, Handoff)}
        for owner, column in ((Agent, "agent"), (Pool, "pool")):
            for member in self._of(Member, [one.id for one in gone[owner]], column):
                _drop(changes, Member, member.id)
        for kind, found in gone.items():
            for one in found:
                _drop(changes, kind, one.id)

    def _erase_user(self, changes: Transaction, user: str) -> None:
        store, tenant = self.writer.store, self.writer.tenant
        for hold in store.each(tenant, Hold):
            if hold.scope.contains(Scope(user=user)):  # nothing of theirs may go, not even what is no memory
                raise Held(f"Nothing of {user} may be erased: it is on hold ({hold.name}).")
        self._erase_agents(changes, user)
        for entity in store.each(tenant, Entity):
            if entity.key == entity_key(user, entity.name):
                for side in ("origin", "target"):
                    for link in store.of(tenant, Link, [entity.id], side):
                        _drop(changes, Link, link.id)
                _drop(changes, Entity, entity.id)
        for stone in store.each(tenant, Tombstone):
            if stone.scope.user == user and stone.reason:
                changes.restate(replace(stone, reason=""))

    def _look(self, words: Words, hashes: set[str]) -> tuple[tuple[str, ...], ...]:
        """Where the words were looked for, where they are still found, and where nobody can look."""
        writer = self.writer
        twins = [one.id for one in self._of(Memory, sorted(hashes), "content_hash")]
        fragments = sorted({piece for one in words.passages if (piece := _plainest(one))})
        searched, left, unsearched = writer.store.leftovers(writer.tenant, fragments)
        if short := sum(1 for one in words.passages if not _plainest(one)):
            unsearched.append(f"{short} texts that are too short to be told from chance")
        for path in files_of(self.home):
            searched.append(str(path))
            held = path.read_bytes()
            if any(one.encode() in held for piece in fragments for one in (piece, json.dumps(piece)[1:-1])):
                left.append(str(path))
        said = [f"memory {id} says the same" for id in twins]
        return tuple(dict.fromkeys(searched)), tuple(dict.fromkeys((*said, *left))), tuple(unsearched)


def _ids(memories: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.id for memory in memories)


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _drop(changes: Transaction, kind: type[Any], id: str) -> None:
    if changes.drop(kind, id, "forget"):
        changes.blank(id)


@dataclass(slots=True)
class _Kin:
    """What shares a source with an erased memory: it loses the words, and its history where they may stand."""

    writer: Writer
    changes: Transaction
    words: Words
    places: set[tuple[str, str]]  # users and projects
    standing: tuple[str, ...]  # memories that keep what they say, because something else speaks for it or a caller does

    def cleanse(self, sources: Sequence[str]) -> list[str]:
        """The memories that lost something."""
        touched: list[str] = []
        for id in sources:
            source = self.changes.get(Source, id)
            if source is None or not source.content:  # a statement has no words but its memory's, and is shared by many
                continue
            for memory in self._kin(id):
                if memory.content in self.words.passages and memory.id not in self.standing:
                    self.changes.purge(memory.id)
                    touched.append(memory.id)
            if source := self.changes.get(Source, id):
                touched += self._restate(source)
        return list(dict.fromkeys(touched))

    def _kin(self, source: str) -> list[Memory]:
        """The memories that came from a source or quote it, of the users and projects that something was erased of."""
        quoting = {one.memory for one in self._still(Evidence, "source", [source])}
        ids = {one.id for one in self._still(Memory, "source", [source])} | quoting
        found = [memory for id in sorted(ids) if (memory := self.changes.get(Memory, id))]
        return [memory for memory in found if (memory.scope.user, memory.scope.project) in self.places]

    def _restate(self, source: Source) -> list[str]:
        """Write a source anew with all that points at it, if the words stand in any of them.

        What another user remembers from the same source keeps its words, and so does the source then.
        """
        quotes_of = self._still(Evidence, "source", [source.id])
        users = {user for user, _ in self.places}
        found = {one.id: one for one in self._still(Memory, "source", [source.id])}
        foreign = {
            one.id for one in (*found.values(), *self._still(Memory, "id", [one.memory for one in quotes_of]))
            if one.scope.user and one.scope.user not in users
        }  # fmt: skip
        memories = [one for one in found.values() if one.id not in foreign]
        ids = [memory.id for memory in memories]
        proofs = (*quotes_of, *self._still(Evidence, "memory", ids))
        evidence = {one.id: one for one in proofs if one.memory not in foreign}
        links = {one.id: one for side in ("origin", "target") for one in self._still(Link, side, ids)}
        fresh = source  # what another user's memory came from is theirs too, and stays
        if not foreign:
            fresh = replace(source, content=self.words.out_of(source.content), title=self.words.out_of(source.title))
        lines = [(one, one if one.id in self.standing else self.words.out_of_memory(one)) for one in memories]
        quotes = [(one, replace(one, quote=self.words.quoted(one.quote))) for one in evidence.values()]
        same = fresh == source and all(a == b for a, b in lines) and all(a == b for a, b in quotes)
        if same:
            return []
        if fresh.content != source.content:
            fresh = replace(fresh, content_hash=text.key(fresh.content))
        if not foreign:
            self.changes.restate(fresh)
        for _, memory in lines:
            self.changes.restate(memory)
        for _, quote in quotes:
            self.changes.restate(quote)
        for link in links.values():
            self.changes.restate(link)
        return [memory.id for memory, clean in lines if memory != clean]

    def _still(self, kind: type[Any], column: str, ids: Sequence[str]) -> list[Any]:
        """The nouns as they stand inside this transaction."""
        found = self.writer.store.of(self.writer.tenant, kind, ids, column)
        return [now for one in found if (now := self.changes.get(kind, one.id))]


def files_of(home: Path) -> list[Path]:
    """The files beside the store in which something that was said may lie."""
    return [
        *sorted((home / SESSIONS).glob("*.json")),
        *sorted((home / spool.FOLDER).glob("*.jsonl")),
    ]


def sweep(home: Path, words: Words) -> int:
    """Take the words out of the files of sessions and of the spool; how many had any."""
    if not words.passages:
        return 0
    count = 0
    for path in files_of(home):
        lines = path.suffix == ".jsonl"
        count += spool.rewrite(os.fspath(path), _cleaner(words, lines=lines))
    return count


def _cleaner(words: Words, *, lines: bool) -> Callable[[bytes], bytes]:
    def clean(line: bytes) -> bytes:
        try:
            told = json.loads(line)
        except ValueError:  # no record of ours: better gone than kept, where the words stand in it
            said = line.decode("utf-8", "replace")
            return line if words.out_of(said) == said else b""
        left = words.within(told)
        return line if left == told else json.dumps(left, separators=(",", ":")).encode() + (b"\n" if lines else b"")

    return clean


def _plainest(said: str) -> str:
    """The longest stretch of a text that looks the same in every form it may lie in: as it is, or as JSON."""
    pieces = [piece for line in said.splitlines() for part in line.split('"') for piece in part.split("\\")]
    longest = max(pieces, key=len, default="")
    return longest if len(longest.encode()) >= SEARCHED else ""
