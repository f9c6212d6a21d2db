"""The PostgreSQL store's transaction: full text, tags and references are written beside the rows they come from.

Statements that only write are sent without waiting for their answer (pipeline mode); one that reads waits for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pgvector import HalfVector

from .. import text
from ..errors import BadInput
from ..types import Evidence, Kept, Memory, Source
from . import words
from .changes import BLANK, JOURNAL, JOURNAL_MANY, NOTED, Changes
from .postgres_server import Connection, named
from .rows import columns, noun_name, quoted, to_json, to_row, to_summed_row

if TYPE_CHECKING:
    from ..vectors import Floats


# The row is made first and locked then: locking one that two are making would let one of them see nothing. Where there
# is one, nothing is inserted: even an insert that does nothing waits for whoever is changing the row.
ENTER = """
    insert into head (tenant) select :tenant where not exists (select 1 from head where tenant = :tenant)
    on conflict do nothing"""
LOCK = "select seq, chain from head where tenant = :tenant for update"
LEAVE = "update head set seq = :seq, chain = :chain where tenant = :tenant"
TOLD = "recollect_journal"
TELL = f"select pg_notify('{TOLD}', :seq || ' ' || :tenant)"

# Full text, with the numbers of all memories and words that ranking needs.
UNPOST = """
    delete from posting where tenant = :tenant and memory = :id and term = any(
      select unnest(terms) from memory_terms where tenant = :tenant and memory = :id)"""
# In one go: the words that are gone, those that are there now, and the numbers. A statement's parts do not see what
# the others do, so a word that stays is changed where it stands.
INDEX = """
    with was as (select length, terms from memory_terms where tenant = :tenant and memory = :id),
    gone as (
      delete from posting where tenant = :tenant and memory = :id and term = any(select unnest(terms) from was)
        and term <> all(:terms::text[])),
    posted as (
      insert into posting (tenant, term, memory, weight, length)
      select :tenant, term, :id, weight, :length from unnest(:terms::text[], :weights::real[]) as t (term, weight)
      on conflict (tenant, term, memory) do update set weight = excluded.weight, length = excluded.length),
    written as (
      insert into memory_terms (tenant, memory, length, terms) values (:tenant, :id, :length, :terms)
      on conflict (tenant, memory) do update set length = excluded.length, terms = excluded.terms)
    update head set memories = memories + 1 - (select count(*) from was),
      words = words + :length - coalesce((select sum(length) from was), 0)
    where tenant = :tenant"""
# The same for many memories that are new.
INDEX_MANY = """
    with posted as (
      insert into posting (tenant, term, memory, weight, length)
      select :tenant, t.* from unnest(:terms::text[], :memories::text[], :weights::real[], :lengths::int[]) as t),
    written as (
      insert into memory_terms (tenant, memory, length, terms)
      select :tenant, m.id, m.length, coalesce(array_agg(t.term) filter (where t.term is not null), '{}')
      from unnest(:ids::text[], :sizes::int[]) as m (id, length)
        left join unnest(:terms::text[], :memories::text[]) as t (term, id) using (id)
      group by m.id, m.length),
    tagged as (
      insert into memory_tag (tenant, tag, memory)
      select :tenant, t.* from unnest(:tags::text[], :tagged::text[]) as t on conflict do nothing),
    referring as (
      insert into memory_ref (tenant, ref, memory)
      select :tenant, t.* from unnest(:refs::text[], :referring::text[]) as t on conflict do nothing)
    update head set memories = memories + cardinality(:ids::text[]),
      words = words + (select coalesce(sum(size), 0) from unnest(:sizes::int[]) as size)
    where tenant = :tenant"""
KNOWN_CONTENTS = "select content_hash from memory where tenant = :tenant and content_hash = any(:hashes)"
KNOWN_SOURCES = """
    select s.kind, s.uri, s.content_hash
    from unnest(:kinds::text[], :uris::text[], :hashes::text[]) as w (kind, uri, hash)
      join source s on s.tenant = :tenant and s.kind = w.kind and s.uri = w.uri and s.content_hash = w.hash"""
UNINDEX = """
    with gone as (delete from memory_terms where tenant = :tenant and memory = :id returning length)
    update head set memories = memories - (select count(*) from gone),
      words = words - coalesce((select sum(length) from gone), 0)
    where tenant = :tenant"""
HELD = "select exists (select 1 from posting where tenant = :tenant and term = :term)"
UNTAG = "delete from memory_tag where tenant = :tenant and memory = :id and tag <> all(:values)"
TAG = """
    insert into memory_tag (tenant, tag, memory) select :tenant, unnest(:values::text[]), :id on conflict do nothing"""
UNREFER = "delete from memory_ref where tenant = :tenant and memory = :id and ref <> all(:values)"
REFER = """
    insert into memory_ref (tenant, ref, memory) select :tenant, unnest(:values::text[]), :id on conflict do nothing"""
DERIVED = ("posting", "memory_terms", "memory_tag", "memory_ref")
CLEAR = (
    *(f"delete from {table} where tenant = :tenant" for table in DERIVED),
    "update head set memories = 0, words = 0 where tenant = :tenant",
)
AT_ONCE = 500  # rows of a table that are held back and written together
HELD_BACK: tuple[type[Kept], ...] = (Source, Memory, Evidence)  # what is before is pointed at by what is behind
LONGEST = 500  # characters of a reference that are kept as they are: an index takes no more than 2,700 bytes


def _insert_many(kind: type[Kept]) -> str:
    names, table = ", ".join(quoted(("tenant", *columns(kind), "checksum"))), noun_name(kind)
    return f"insert into {table} ({names}) select {names} from json_populate_recordset(null::{table}, :rows::json)"


INSERT_MANY = {kind: _insert_many(kind) for kind in HELD_BACK}


class PostgresChanges(Changes):
    EMBED = """
        insert into embedding (tenant, memory, model, chunk, vector) select :tenant, t.*
        from unnest(:ids::text[], :models::text[], :chunks::int[], :vectors::halfvec[]) as t"""
    UNEMBED = "delete from embedding where tenant = :tenant and model = :model and memory = :id"
    STALE = "delete from embedding where tenant = :tenant and memory = :id"

    def __init__(self, con: Connection, tenant: str, actor: str, now: datetime) -> None:
        self._con = con
        self._noted: list[dict[str, Any]] = []  # journal rows that are still to be written
        self._new: dict[type[Kept], list[Any]] = {kind: [] for kind in HELD_BACK}  # and the nouns, and their vectors
        self._vectors: list[tuple[str, str, int, HalfVector]] = []
        self._absent: set[tuple[str, str, str]] = set()  # kind, address and hash of sources that nobody has
        super().__init__(tenant, actor, now)

    @property
    def head(self) -> int:
        """The number of the newest journal row."""
        return self._seq

    @property
    def written(self) -> int:
        """How many journal rows this transaction has added."""
        return self._seq - self._began

    def leave(self) -> None:
        """The last words of the transaction: how far the journal has come, and a call to those who listen."""
        self._write_held()
        if self.written:
            self._run(LEAVE, seq=self._seq, chain=self._chain)
            self._run(TELL, seq=str(self._seq))

    @property
    def idle(self) -> bool:
        """Whether all that this transaction did is to make its tenant's row: then there is nothing to keep."""
        return self._made and not self.written and not self.cached

    def clear(self) -> None:
        """Forget what is derived from the memories, before `index` makes it again."""
        for statement in CLEAR:
            self._run(statement)

    def _head(self) -> tuple[int, bytes | None]:
        self._made = self._con.execute(named(ENTER), {"tenant": self._tenant}).rowcount > 0
        row = self._con.execute(named(LOCK), {"tenant": self._tenant}).fetchone() or (0, None)
        return int(row[0]), row[1]

    def _run(self, sql: str, **values: Any) -> None:
        """Run a statement. Journal rows wait for each other: only what reads or blanks the journal must find them."""
        if sql is JOURNAL:
            self._noted.append(values)
            if len(self._noted) >= AT_ONCE:
                self._note_down()
            return
        self._write_new()
        if sql is BLANK:
            self._note_down()
        self._con.execute(named(sql), {"tenant": self._tenant, **values})

    def expect(self, hashes: Sequence[str], sources: Sequence[Source]) -> None:
        self._unknown = set(hashes) - {row[0] for row in self._records(KNOWN_CONTENTS, hashes=list(set(hashes)))}
        places = {place for like in sources if any((place := _place(like))[1:])}
        kinds, uris, told = ([*one] for one in zip(*places, strict=True)) if places else ([], [], [])
        found = self._records(KNOWN_SOURCES, kinds=kinds, uris=uris, hashes=told) if places else []
        self._absent = places - {tuple(row) for row in found}

    def _may_have(self, like: Source) -> bool:
        return _place(like) not in self._absent

    def _insert(self, noun: Kept) -> None:
        kind = type(noun)
        if kind not in self._new:
            super()._insert(noun)
            return
        if isinstance(noun, Source):
            self._absent.discard(_place(noun))
        self._new[kind].append(noun)
        if len(self._new[kind]) >= AT_ONCE:
            self._write_new()

    def _write_held(self) -> None:
        self._write_new()
        self._note_down()

    def _write_new(self) -> None:
        """Write the nouns that are new, one statement a table."""
        if not any(self._new.values()) and not self._vectors:
            return
        for kind, nouns in self._new.items():
            if nouns:
                rows = [{"tenant": self._tenant, **to_summed_row(noun, self._tenant)} for noun in nouns]
                self._con.execute(named(INSERT_MANY[kind]), {"rows": _as_json(rows)})
        if self._new[Memory]:
            self._con.execute(named(INDEX_MANY), {"tenant": self._tenant, **_indexed(self._new[Memory])})
        if self._vectors:
            ids, models, chunks, vectors = ([*one] for one in zip(*self._vectors, strict=True))
            values = {"tenant": self._tenant, "ids": ids, "models": models, "chunks": chunks, "vectors": vectors}
            self._con.execute(named(self.EMBED), values)
        self._new, self._vectors = {kind: [] for kind in HELD_BACK}, []

    def _note_down(self) -> None:
        if self._noted:
            columns = {name: [row[name] for row in self._noted] for name in NOTED}
            self._noted = []
            self._con.execute(named(JOURNAL_MANY), {"tenant": self._tenant, **columns})

    def _value(self, sql: str, **values: Any) -> Any:
        self._write_held()
        row = self._con.execute(named(sql), {"tenant": self._tenant, **values}).fetchone()
        return row[0] if row else None

    def _records(self, sql: str, **values: Any) -> list[Sequence[Any]]:
        self._write_held()
        return list(self._con.execute(named(sql), {"tenant": self._tenant, **values}))

    def _holds_term(self, term: str) -> bool:
        return bool(self._value(HELD, term=term))

    def _write_vectors(self, memory: str, model: str, vectors: Floats) -> None:
        self._vectors += [(memory, model, chunk, HalfVector(vector)) for chunk, vector in enumerate(vectors)]

    def _materialise(self, noun: Kept, old: Kept | None = None) -> None:
        super()._materialise(noun)
        if isinstance(noun, Memory):
            before = old if isinstance(old, Memory) else None
            if before is None or _found_by(before) != _found_by(noun):
                self.index(noun, before)

    def index(self, memory: Memory, old: Memory | None = None) -> None:
        """Keep what is derived from a memory's row in step with it; `old` is what it was, where that is known."""
        weighed, length = words.weigh_terms(to_row(memory))
        self._run(INDEX, id=memory.id, length=length, terms=list(weighed), weights=list(weighed.values()))
        if old is None or old.tags != memory.tags:
            self._replace(UNTAG, TAG, memory.id, sorted(set(memory.tags)))
        if old is None or old.refs != memory.refs:
            self._replace(UNREFER, REFER, memory.id, _refs(memory))

    def _replace(self, remove: str, add: str, memory: str, values: list[str]) -> None:
        self._run(remove, id=memory, values=values)
        if values:
            self._run(add, id=memory, values=values)

    def _remove(self, kind: type[Kept], id: str) -> None:
        if kind is Memory:
            self._run(UNPOST, id=id)
            self._run(UNINDEX, id=id)
        super()._remove(kind, id)


def _refs(memory: Memory) -> list[str]:
    return sorted({ref.lower() if len(ref) <= LONGEST else text.key(ref.lower()) for ref in memory.refs})


def _place(source: Source) -> tuple[str, str, str]:
    return source.kind, source.uri, source.content_hash


def _as_json(rows: list[dict[str, Any]]) -> str:
    if "\\u0000" in (told := to_json(rows)) and any("\0" in str(one) for row in rows for one in row.values()):
        raise BadInput("A text holds a NUL character, which PostgreSQL cannot keep.")
    return told


def _indexed(memories: Sequence[Memory]) -> dict[str, list[Any]]:
    """The values of `INDEX_MANY`: what is found of each memory, in columns."""
    found = [(memory, *words.weigh_terms(to_row(memory))) for memory in memories]
    # In the order of their keys, because neighbours lie on one page of the index.
    posted = sorted(
        (term, memory.id, weight, size) for memory, weighed, size in found for term, weight in weighed.items()
    )
    tagged = [(tag, memory.id) for memory in memories for tag in memory.tags]
    referring = [(ref, memory.id) for memory in memories for ref in _refs(memory)]
    tables: tuple[tuple[tuple[str, ...], Sequence[tuple[Any, ...]]], ...] = (
        (("ids", "sizes"), [(memory.id, size) for memory, _, size in found]),
        (("terms", "memories", "weights", "lengths"), posted),
        (("tags", "tagged"), tagged),
        (("refs", "referring"), referring),
    )
    return {name: [row[number] for row in rows] for names, rows in tables for number, name in enumerate(names)}


def _found_by(memory: Memory) -> tuple[object, ...]:
    """What of a memory `index` reads: where none of it changes, full text, tags and references stay as they are."""
    around = memory.context, memory.speaker, memory.valid_from, memory.refs
    return memory.title, memory.content, memory.keywords, memory.reasoning, memory.tags, *around
