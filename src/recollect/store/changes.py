"""The writing half of every store: `Changes`, the only code that changes knowledge.

Each change writes its row and its journal row together. A backend adds how it runs a statement and how it keeps what is
derived (full text, tags, vectors) in step. Statements name their values `:like_this`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .. import times
from ..agent_types import Share
from ..errors import BadInput, Held, NotFound, RowDamaged
from ..history_types import Hold
from ..language import terms
from ..types import (
    SCOPE_FIELDS,
    Entry,
    Evidence,
    Kept,
    Link,
    Memory,
    Scope,
    Source,
    Token,
    Tombstone,
    Webhook,
)
from . import answers, mentions
from .access import DROP_WEBHOOK, PUT_TOKEN, PUT_WEBHOOK, token_row, webhook_row
from .checksums import new_salt, noticing, row_checksum, seal
from .rows import (
    NOUNS,
    SUMMED,
    changed,
    columns,
    compact,
    entries,
    from_rows,
    noun_name,
    quoted,
    record,
    replayed,
    to_json,
    to_row,
    to_summed_row,
)
from .statements import (
    ALIKE,
    CHAIN_AT,
    CONTENT,
    DONE,
    DROPPED,
    ENTRIES,
    MEMORIES,
    MEMORY_COLUMNS,
    META,
    NOUN,
    SAME,
    SOURCE_IS_USED,
    SOURCE_LIKE,
    SUMMING,
    TOMBSTONE,
    TURN_BEFORE,
    TURNS_AFTER,
    UNSUMMED,
    WAS_PURGED,
)

if TYPE_CHECKING:
    from ..language.relations import Extraction
    from ..vectors import Floats

N = TypeVar("N", bound=Kept)


def _upsert(kind: type[Kept]) -> str:
    names = ("tenant", *columns(kind), "checksum")
    values = ", ".join(f":{name}" for name in names)
    changes = ", ".join(f"{name} = excluded.{name}" for name in quoted(names) if name not in ("tenant", "id"))
    return f"""insert into {noun_name(kind)} ({", ".join(quoted(names))}) values ({values})
        on conflict (tenant, id) do update set {changes}"""


MANY = 500  # values that one statement names
PASSAGE = 4  # characters from which a text that was erased is looked for inside others

PUT = {kind: _upsert(kind) for kind in NOUNS.values()}
DROP = {kind: f"delete from {noun_name(kind)} where tenant = :tenant and id = :id" for kind in NOUNS.values()}
JOURNAL = """
    insert into journal (tenant, seq, at, actor, operation, noun, target, before, after, reason, purged, salt, digest,
      chain)
    values (:tenant, :seq, :at, :actor, :operation, :noun, :target, :before, :after, :reason, :purged, :salt, :digest,
      :chain)"""
# The same for many rows at a time, each column a list, where a store has lists.
NOTED = (*CONTENT, "purged", "salt", "digest", "chain")
JOURNAL_MANY = f"""
    insert into journal (tenant, {", ".join(NOTED)})
    select :tenant, t.* from unnest(:seq::bigint[], :at::bigint[], :actor::text[], :operation::text[], :noun::text[],
      :target::text[], :before::text[], :after::text[], :reason::text[], :purged::int[],
      :salt::bytea[], :digest::bytea[], :chain::bytea[]) as t"""
BLANK = """
    update journal set before = null, after = null, reason = '', purged = 1, salt = null
    where tenant = :tenant and target = :id"""

CHAIN = "update journal set salt = :salt, digest = :digest, chain = :chain where tenant = :tenant and seq = :seq"
SUM = {
    kind: f"update {noun_name(kind)} set checksum = :checksum where tenant = :tenant and id = :id" for kind in SUMMED
}
SET_META = """
    insert into meta (key, value) values (:key, :value) on conflict (key) do update set value = excluded.value"""

# Which journal rows the work of a context has written, as pairs of first and last, where somebody wants to know: who
# takes something back must name just these, and others write too.
WRITTEN: ContextVar[list[tuple[int, int]] | None] = ContextVar("written", default=None)


class Changes(ABC):
    """The transaction: knowledge changes here, with its journal row, or nowhere."""

    # The vectors of one memory and model: one more, none of that model, none at all.
    EMBED: ClassVar[str]
    UNEMBED: ClassVar[str]
    STALE: ClassVar[str]

    def __init__(self, tenant: str, actor: str, now: datetime) -> None:
        self._tenant = tenant
        self._actor = actor
        self._now = now
        self._seq, self._chain = self._head()
        self._began = self._seq
        self._touched: set[str] = set()
        self._holds: list[Hold] | None = None
        self._once: dict[str, list[tuple[type[Kept], str, str]]] | None = None  # what memories had that was dropped
        self._ahead: dict[tuple[type[Kept], str], Kept] = {}
        self._unknown: set[str] = set()  # hashes of contents that no memory has
        self._sources: dict[tuple[Any, ...], Source] = {}  # those that were looked for, by all that they say
        self._bare: set[str] = set()  # memories made here that have no vectors yet
        self._turn: Memory | None = None  # the last one made here
        self.purged = False
        self.cached = False  # whether anything was written that has no journal row

    @abstractmethod
    def _head(self) -> tuple[int, bytes | None]:
        """The number and the chain of the newest journal row, under the write lock."""

    @abstractmethod
    def _run(self, sql: str, **values: Any) -> None:
        """Run a statement of this tenant."""

    @abstractmethod
    def _value(self, sql: str, **values: Any) -> Any:
        """The first value of the first row, or nothing."""

    @abstractmethod
    def _records(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        """The rows of a statement as they are."""

    @abstractmethod
    def _holds_term(self, term: str) -> bool:
        """Whether a memory of this tenant is found by a term."""

    @abstractmethod
    def _write_vectors(self, memory: str, model: str, vectors: Floats) -> None: ...

    def _readable(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        """The rows of a statement that can be read; a backend in which some cannot leaves them out."""
        return self._records(sql, **values)

    def _rows(self, noun: type[N], names: Sequence[str], sql: str, **values: Any) -> list[N]:
        """The nouns of a statement; nothing is built on one that is damaged."""
        with noticing() as damaged:
            found = list(from_rows(noun, names, self._tenant, self._records(sql, **values)))
        if damaged:
            raise RowDamaged(f"{next(iter(damaged)).partition(':')[0]} is damaged.".capitalize())
        return found

    def _materialise(self, noun: Kept, old: Kept | None = None) -> None:
        """Write a noun's row; `old` is the one it takes the place of, where that is known."""
        self._forget_known(type(noun))
        if isinstance(noun, Memory):
            self._unknown.discard(noun.content_hash)
        self._run(PUT[type(noun)], **to_summed_row(noun, self._tenant))

    def _insert(self, noun: Kept) -> None:
        """Write the row of a noun that is new; a backend may do so later, together with others."""
        self._run(PUT[type(noun)], **to_summed_row(noun, self._tenant))

    def _remove(self, kind: type[Kept], id: str) -> None:
        self._forget_known(kind)
        self._run(DROP[kind], id=id)

    def _forget_known(self, kind: type[Kept]) -> None:
        if kind is Source:
            self._sources.clear()
        elif kind is Memory:
            self._turn = None

    def expect(self, hashes: Sequence[str], sources: Sequence[Source]) -> None:  # noqa: B027
        """Contents and sources will be asked for one by one: a backend far away may ask for all of them at once."""

    def kept(self) -> None:
        """It is committed: tell who asked which rows it wrote."""
        if (told := WRITTEN.get()) is not None and self._seq > self._began:
            told.append((self._began + 1, self._seq))

    @property
    def newest(self) -> tuple[int, bytes | None]:
        """The number and the chain of the newest journal row."""
        return self._seq, self._chain

    def get(self, kind: type[N], id: str) -> N | None:
        if kind is Memory:
            return _first(self._rows(kind, MEMORY_COLUMNS, MEMORIES + " and m.id = :id", id=id))
        return self._row(kind, id)

    def same(self, content_hash: str, scope: Scope) -> Memory | None:
        """The pending or active memory of exactly that scope with that content."""
        if content_hash in self._unknown:
            return None
        found = self._value(SAME, content_hash=content_hash, **_places(scope))
        return self.get(Memory, str(found)) if found else None

    def tombstone(self, key: str, scope: Scope) -> Tombstone | None:
        """The tombstone that forbids this value wherever a memory of that scope would be seen, if there is one."""
        sql = NOUN[Tombstone] + TOMBSTONE
        found = self._rows(Tombstone, columns(Tombstone), sql, key=key, user=scope.user, project=scope.project)
        return _first(found)

    def turn_before(self, scope: Scope, position: int) -> Memory | None:
        """The active turn of exactly that scope that stands nearest before a place."""
        last = self._turn
        if last and (last.scope, last.position, last.state) == (scope, position - 1, "active"):
            return last
        return _first(self._rows(Memory, MEMORY_COLUMNS, TURN_BEFORE, position=position, **_places(scope)))

    def source(self, like: Source) -> Source | None:
        """A source that says nothing but what this one says, under whatever id."""
        row = to_row(like)
        values = {name: row[name] for name in ALIKE}
        key = tuple(values.values())
        if key not in self._sources and self._may_have(like):
            for known in self._rows(Source, columns(Source), NOUN[Source] + SOURCE_LIKE, **values):
                self._sources[key] = known
        return self._sources.get(key)

    def _may_have(self, like: Source) -> bool:
        """Whether a source like this could be stored, as far as is known without asking."""
        return True

    def was_purged(self, id: str) -> bool:
        return bool(self._value(WAS_PURGED, id=id))

    def read_ahead(self, kind: type[Kept], ids: Sequence[str]) -> None:
        """Read nouns that are about to be changed, all at once: the next change of each need not ask what it was."""
        for start in range(0, len(ids), MANY):
            named = {f"id{number}": id for number, id in enumerate(ids[start : start + MANY])}
            sql = f"{NOUN[kind]} and id in ({', '.join(f':{name}' for name in named)})"
            self._ahead |= {(kind, noun.id): noun for noun in self._rows(kind, columns(kind), sql, **named)}

    def put(self, noun: Kept, operation: str, reason: str = "") -> bool:
        """Create or change a noun; False, and no journal row, when nothing differs."""
        kind, id, new = type(noun), noun.id, record(noun)
        old = self._row(kind, id)
        if old is None:
            self.add(noun, operation, reason)
            return True
        before, after = changed(record(old), new)
        if not after:
            return False
        self._materialise(noun, old)
        self._append(operation, noun_name(kind), id, before, after, reason)
        if isinstance(noun, Memory):
            if isinstance(old, Memory) and old.embedded() != noun.embedded():
                self._stale(id)
            self._touched.add(id)
            self._turn = noun if noun.kind == "turn" else self._turn
        return True

    def add(self, noun: Kept, operation: str, reason: str = "") -> None:
        """Create a noun that the store does not have; whoever has just made its id need not ask."""
        self._insert(noun)
        self._append(operation, noun_name(noun), noun.id, None, compact(record(noun)), reason)
        if isinstance(noun, Memory):
            self._touched.add(noun.id)
            self._bare.add(noun.id)
            self._unknown.discard(noun.content_hash)
            self._turn = noun if noun.kind == "turn" else self._turn
        elif isinstance(noun, Source):
            row = to_row(noun)
            self._sources[tuple(row[name] for name in ALIKE)] = noun

    def drop(self, kind: type[Kept], id: str, operation: str, reason: str = "") -> bool:
        old = self._row(kind, id)
        if old is None:
            return False
        self._remove(kind, id)
        self._append(operation, noun_name(kind), id, compact(record(old)), None, reason)
        return True

    def embed(self, memory: str, model: str, vectors: Floats) -> None:
        """Replace a memory's vectors of one model, one a chunk."""
        if memory in self._bare:
            self._bare.discard(memory)
        else:
            self._run(self.UNEMBED, id=memory, model=model)
        self._write_vectors(memory, model, vectors)
        # Other processes' indexes look for changed memories in the journal; one that changed here is in it already.
        if memory not in self._touched:
            self._append("embed", "embedding", memory, None, {"model": model, "chunks": len(vectors)}, "")

    def restore_vectors(self, memory: str, model: str, vectors: Floats) -> None:
        """Set a memory's vectors of one model without a journal row: one of that memory was replayed here already."""
        self._run(self.UNEMBED, id=memory, model=model)
        self._write_vectors(memory, model, vectors)

    def extracted(self, memory: str, version: str, found: Extraction) -> None:
        self._run(mentions.FORGET, id=memory)
        self._run(mentions.READ, id=memory, version=version)
        for one in found.entities:
            row = {"key": one.key, "name": one.name, "kind": one.kind, "short": one.short, "confidence": one.confidence}
            self._run(mentions.MENTION, id=memory, **row)
        for tie in found.relations:
            ends = {"head": tie.head, "relation": tie.relation, "tail": tie.tail}
            self._run(mentions.EDGE, id=memory, **ends, confidence=tie.confidence, quote=tie.quote)
        self.cached = True

    def _stale(self, memory: str) -> None:
        """What was derived from the text of a memory that has another one now."""
        self._run(self.STALE, id=memory)
        self._run(mentions.FORGET, id=memory)

    def note(self, operation: str, target: str, reason: str) -> None:
        """Append a journal row that changes nothing: something was tried, and refused."""
        self._append(operation, "note", target, None, None, reason)

    def put_token(self, token: Token, sha256: str = "") -> None:
        """Make a token with the hash of its secret, or change one. Not knowledge: its journal row is a note."""
        self._run(PUT_TOKEN, **token_row(token, sha256))
        self.note("revoke" if token.revoked_at else "create", token.id, f"token {token.name}".strip())

    def put_webhook(self, webhook: Webhook) -> None:
        self._run(PUT_WEBHOOK, **webhook_row(webhook))
        self.note("create", webhook.id, "webhook")

    def drop_webhook(self, id: str) -> None:
        self._run(DROP_WEBHOOK, id=id)
        self.note("drop", id, "webhook")

    def answer(self, hash: str, user: str, project: str) -> answers.Answer | None:
        """The question of that hash in exactly that place, as it stands under the lock."""
        for row in self._records(answers.OF, hash=hash, user=user, project=project):
            tied = self._records(answers.DEPENDS.format(ids="= :id"), id=row[0])
            return answers.from_row(row, [answers.Depends(*rest) for _, *rest in tied])
        return None

    def put_answer(self, answer: answers.Answer, vector: bytes | None = None) -> None:
        """Make or change a question with its answer. Derived, so there is no journal row.

        The vector of the question is in half precision; without one, that of the same model stays.
        """
        self._run(answers.PUT, **answers.to_row(answer), vector=vector)
        self._run(answers.UNTIE, id=answer.id)
        for one in answer.depends:
            self._run(answers.TIE, id=answer.id, kind=one.kind, target=one.target, version=one.version)
        self.cached = True

    def drop_answer(self, id: str, *, erase: bool = False) -> None:
        """Forget a question with its answer; to `erase` it means that no trace of it stays in the files."""
        self._run(answers.DROP, id=id)
        self.cached = True
        self.purged = self.purged or erase

    def drop_repeating(self, texts: Sequence[str], user: str = "") -> int:
        """Drop the questions, with their answers, that repeat what was erased; gives how many.

        They repeat a whole text, or a word of one that no memory holds any more. With a user, all of theirs go.
        """
        passages = [one for one in texts if len(one) >= PASSAGE]
        told = {term for one in texts for term in terms.terms(one)} - terms.STOP_WORDS
        held: dict[str, bool] = {}  # whether some memory still holds a word
        gone = 0
        for id, owner, question, answer in self._records(answers.SAID):
            said = f"{question}\n{answer}"
            shared = told.intersection(terms.terms(said))
            held |= {term: self._holds_term(term) for term in shared if term not in held}
            if (
                (user and owner == user)
                or any(one in said for one in passages)
                or not all(held[term] for term in shared)
            ):
                self.drop_answer(id, erase=True)
                gone += 1
        return gone

    def purge(self, memory: str) -> None:
        """Erase a memory with its evidence, links and the sources only it had, and blank their journal rows."""
        found = self.get(Memory, memory)
        if found is None:
            raise NotFound(f"No memory has the id {memory!r}.")
        self._refuse_held(found)
        evidence = self._rows(Evidence, columns(Evidence), NOUN[Evidence] + " and memory = :id order by id", id=memory)
        sql = NOUN[Link] + " and (origin = :id or target = :id) order by id"
        links = self._rows(Link, columns(Link), sql, id=memory)
        shares = self._rows(Share, columns(Share), NOUN[Share] + " and memory = :id order by id", id=memory)
        past, sources = self._dropped(memory)
        present: list[tuple[type[Kept], str]] = [(Evidence, e.id) for e in evidence]
        present += [(type(one), one.id) for one in (*links, *shares)]
        for kind, id in [*present, *(one for one in past if one not in present)]:
            self._erase(kind, id)
        self._erase(Memory, memory)
        self._run(answers.DROP_BUILT, id=memory)
        self._forget_context(found)
        for source in sorted({found.source, *sources, *(e.source for e in evidence)}):
            if not self._value(SOURCE_IS_USED, source=source):
                self._erase(Source, source)
        self.purged = True

    def _dropped(self, memory: str) -> tuple[list[tuple[type[Kept], str]], set[str]]:
        """Evidence and links of a memory that were dropped before: the journal still tells of them. And their sources.

        No index leads to them, so all are read once, when a transaction erases for the first time.
        """
        if self._once is None:
            self._once = {}
            for noun, id, told in self._records(DROPPED):
                was = json.loads(told)
                for end in {was.get("memory"), was.get("origin"), was.get("target")} - {None}:
                    self._once.setdefault(end, []).append((NOUNS[noun], id, was.get("source", "")))
        found = self._once.get(memory, [])
        return list(dict.fromkeys((kind, id) for kind, id, _ in found)), {source for *_, source in found if source}

    def _refuse_held(self, memory: Memory) -> None:
        if self._holds is None:
            self._holds = self._rows(Hold, columns(Hold), NOUN[Hold] + " order by id")
        for hold in self._holds:
            if hold.scope.contains(memory.scope):
                raise Held(f"Memory {memory.id} may not be erased: it is on hold ({hold.name}).")

    def _forget_context(self, said: Memory) -> None:
        """Take a purged or restated turn's words out of the turns after it, and of their history, which starts anew."""
        if not said.scope.session or said.position is None:
            return
        values = {"session": said.scope.session, "position": said.position, "content": said.content}
        for turn in self._rows(Memory, columns(Memory), NOUN[Memory] + TURNS_AFTER, **values):
            bare = replace(turn, context="")
            self._materialise(bare)
            self._restate(bare)
            # Evidence may not be told of before the memory it supports.
            for quote in self._rows(Evidence, columns(Evidence), NOUN[Evidence] + " and memory = :id", id=turn.id):
                self._restate(quote)

    def restate(self, noun: Kept) -> None:
        """Write a noun anew and blank every journal row of it before: its history begins here.

        What points at it must be restated after it, or a replayed journal would tell of it too early.
        """
        old = self._row(type(noun), noun.id)
        self._materialise(noun)
        if isinstance(noun, Memory):
            if isinstance(old, Memory) and old.embedded() != noun.embedded():
                self._stale(noun.id)
            if isinstance(old, Memory) and old.content != noun.content:
                self._forget_context(old)
            self._run(answers.DROP_BUILT, id=noun.id)
            self._touched.add(noun.id)
        self._restate(noun)
        self.purged = True

    def blank(self, target: str) -> None:
        """Blank the journal rows of what is no noun, or of one that is gone."""
        self._run(BLANK, id=target)
        self.note("blank", target, "")
        self.purged = True

    def _restate(self, noun: Kept) -> None:
        self._run(BLANK, id=noun.id)
        self._append("restate", noun_name(noun), noun.id, None, compact(record(noun)), "")

    def replay(self, entry: Entry) -> None:
        """Append the next journal row of another store as it is, and do what it says.

        Only into a tenant that holds nothing else. What a purge erases there is erased here, also where it was taken in
        before the purge.
        """
        if entry.seq != self._seq + 1:
            raise BadInput(f"Journal row {entry.seq} does not follow {self._seq}.", fix="Import into an empty store.")
        kind = NOUNS.get(entry.noun)
        # What a copy took in before, its source may have blanked since.
        if entry.operation in ("purge", "restate"):
            self._run(BLANK, id=entry.target)
        if kind is not None and entry.after is not None:
            # Where nothing was before, the row tells everything; fields it leaves out are empty.
            fresh = entry.before is None
            old = None if fresh and entry.operation != "restate" else self._row(kind, entry.target)
            new = kind.from_dict(entry.after if fresh or old is None else {**record(old), **entry.after})
            self._materialise(new)
            if isinstance(old, Memory) and isinstance(new, Memory) and old.embedded() != new.embedded():
                self._stale(entry.target)
        elif kind is not None and entry.operation == "purge":
            self.purged = self.purged or self._row(kind, entry.target) is not None
            self._run(answers.DROP_BUILT, id=entry.target)
            self._remove(kind, entry.target)
        elif kind is not None and not entry.purged:
            self._remove(kind, entry.target)
        self._append(
            entry.operation, entry.noun, entry.target, entry.before, entry.after, entry.reason,
            at=entry.at, actor=entry.actor, purged=entry.purged,
        )  # fmt: skip

    def _erase(self, kind: type[Kept], id: str) -> None:
        self._ahead.pop((kind, id), None)
        self._remove(kind, id)
        self._run(BLANK, id=id)
        self._append("purge", noun_name(kind), id, None, None, "", purged=True)

    def _append(
        self, operation: str, noun: str, target: str, before: dict[str, Any] | None, after: dict[str, Any] | None,
        reason: str, *, at: datetime | None = None, actor: str | None = None, purged: bool = False,
    ) -> None:  # fmt: skip
        self._seq += 1
        if self._seq == 1:
            self._run(SET_META, key=f"{SUMMING} {self._tenant}", value=DONE)
        row = (
            self._seq, times.micros(at or self._now), actor or self._actor, operation, noun, target,
            None if before is None else to_json(before), None if after is None else to_json(after), reason,
        )  # fmt: skip
        salt = None if purged else new_salt()
        digest, self._chain = seal(self._chain, self._tenant, row, salt)
        values = dict(zip(CONTENT, row, strict=True))
        self._run(JOURNAL, **values, purged=int(purged), salt=salt, digest=digest, chain=self._chain)

    def _row(self, kind: type[N], id: str) -> N | None:
        """A noun's own row; a memory comes without its counters of use, which are not knowledge."""
        ahead = self._ahead.pop((kind, id), None)
        if isinstance(ahead, kind):
            return ahead
        return _first(self._rows(kind, columns(kind), NOUN[kind] + " and id = :id", id=id))

    def backfill(self, limit: int) -> bool:
        """Give rows of older versions their checksums, some at a time; whether all of this tenant have theirs."""
        key = f"{SUMMING} {self._tenant}"
        told = str(self._value(META, key=key) or "")
        if told == DONE:
            return True
        if self._seq == 0:
            return True
        table, _, after = told.partition(" ")
        for name, kind in list(NOUNS.items())[list(NOUNS).index(table) if table in NOUNS else 0 :]:
            if table == "journal":
                break
            rows = self._readable(UNSUMMED[kind], after=after if name == table else "", limit=limit)
            for row in rows:
                self._run(SUM[kind], id=row[0], checksum=row_checksum(self._tenant, row[:-1]))
            if rows:
                self._run(SET_META, key=key, value=f"{name} {rows[-1][0]}")
                self.cached = True
                return False
        first = int(after) if table == "journal" else 0
        before = self._value(CHAIN_AT, seq=first)
        rows = self._readable(f"{ENTRIES} and chain is null order by seq limit :limit", after=first, limit=limit)
        for row in rows:
            salt = None if row[9] else new_salt()
            digest, before = seal(before, self._tenant, row[:9], salt)
            self._run(CHAIN, seq=row[0], salt=salt, digest=digest, chain=before)
        self._run(SET_META, key=key, value=f"journal {rows[-1][0]}" if rows else DONE)
        self.cached = True
        return not rows

    def heal(self, kind: type[Kept], id: str, *, drop: bool) -> bool:
        """Make the row of a noun what its journal rows lead to, where they are all sound; whether that was possible.

        With `drop`, one that the journal does not know is removed.
        """
        rows = self._readable(f"{ENTRIES} and target = :id and noun = :noun order by seq", after=0, id=id,
                              noun=noun_name(kind))  # fmt: skip
        told = list(entries(rows))
        noun = replayed(kind, told) if len(told) == len(rows) else None
        if noun is None and not (told[-1].after is None if rows and len(told) == len(rows) else drop and not rows):
            return False
        if noun is None:
            self._remove(kind, id)
        else:
            self._materialise(noun)
        self.note("heal", id, "the row was damaged")
        return True


def _first(found: list[N]) -> N | None:
    return found[0] if found else None


def _places(scope: Scope) -> dict[str, str]:
    return {name: getattr(scope, name) for name in SCOPE_FIELDS}
