"""The SQLite store's writing half: `Changes`, the only code that changes knowledge.

Each change writes its row and its journal row together; triggers keep the full text and tag indexes in step. What is
derived (vectors) is written here too, in the same transaction, and needs no journal row when its memory has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from .. import times
from ..errors import BadInput, NotFound
from ..types import SCOPE_FIELDS, USAGE_FIELDS, Entry, Evidence, Kept, Link, Memory, Scope, Source, Tombstone
from .rows import NOUNS, changed, columns, compact, from_row, noun_name, record, to_json, to_row

if TYPE_CHECKING:
    from ..vectors import Floats

N = TypeVar("N", bound=Kept)

# -- knowledge: one upsert and one removal a noun -------------------------------------------------------------------

PUT = {
    Memory: """
        insert into memory (tenant, id, content, kind, network, title, reasoning, context, speaker, position,
          keywords, tags, refs, importance, confidence, trust, state, user, project, branch, agent, session, valid_from,
          valid_to, created_at, updated_at, expires_at, observed, content_hash, source)
        values (:tenant, :id, :content, :kind, :network, :title, :reasoning, :context, :speaker, :position, :keywords,
          :tags, :refs, :importance, :confidence, :trust, :state, :user, :project, :branch, :agent, :session,
          :valid_from, :valid_to, :created_at, :updated_at, :expires_at, :observed, :content_hash, :source)
        on conflict (tenant, id) do update set content = excluded.content, kind = excluded.kind,
          network = excluded.network, title = excluded.title, reasoning = excluded.reasoning,
          context = excluded.context, speaker = excluded.speaker, position = excluded.position,
          keywords = excluded.keywords, tags = excluded.tags, refs = excluded.refs, importance = excluded.importance,
          confidence = excluded.confidence, trust = excluded.trust, state = excluded.state, user = excluded.user,
          project = excluded.project, branch = excluded.branch, agent = excluded.agent, session = excluded.session,
          valid_from = excluded.valid_from, valid_to = excluded.valid_to, created_at = excluded.created_at,
          updated_at = excluded.updated_at, expires_at = excluded.expires_at, observed = excluded.observed,
          content_hash = excluded.content_hash, source = excluded.source""",
    Source: """
        insert or replace into source (tenant, id, kind, uri, title, content, author, session, position, occurred_at,
          created_at, content_hash)
        values (:tenant, :id, :kind, :uri, :title, :content, :author, :session, :position, :occurred_at, :created_at,
          :content_hash)""",
    Evidence: """
        insert or replace into evidence (tenant, id, memory, source, quote, place, created_at)
        values (:tenant, :id, :memory, :source, :quote, :place, :created_at)""",
    Link: """
        insert or replace into link (tenant, id, origin, relation, target, origin_kind, target_kind, weight, reason,
          valid_from, valid_to, created_at)
        values (:tenant, :id, :origin, :relation, :target, :origin_kind, :target_kind, :weight, :reason, :valid_from,
          :valid_to, :created_at)""",
    Tombstone: """
        insert or replace into tombstone (tenant, id, key, user, project, branch, agent, session, memory, reason,
          created_at)
        values (:tenant, :id, :key, :user, :project, :branch, :agent, :session, :memory, :reason, :created_at)""",
}
DROP = {
    Memory: "delete from memory where tenant = ? and id = ?",
    Source: "delete from source where tenant = ? and id = ?",
    Evidence: "delete from evidence where tenant = ? and id = ?",
    Link: "delete from link where tenant = ? and id = ?",
    Tombstone: "delete from tombstone where tenant = ? and id = ?",
}
JOURNAL = """
    insert into journal (tenant, seq, at, actor, operation, noun, target, before, after, reason, purged)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
BLANK = "update journal set before = null, after = null, reason = '', purged = 1 where tenant = ? and target = ?"

# -- derived and statistics: not journalled ---------------------------------------------------------------------------

EMBED = """
    insert into embedding (tenant, memory, model, chunk, vector)
    values (?, (select n from memory where tenant = ? and id = ?), ?, ?, ?)"""
UNEMBED = """
    delete from embedding where tenant = ? and model = ?
      and memory = (select n from memory where tenant = ? and id = ?)"""
STALE = "delete from embedding where tenant = ? and memory = (select n from memory where tenant = ? and id = ?)"

# -- what a change must look at first -------------------------------------------------------------------------------

MEMORY_COLUMNS = (*columns(Memory), *USAGE_FIELDS)
MEMORIES = f"""
    select {", ".join(f"m.{name}" for name in columns(Memory))}, coalesce(u.recalled, 0), coalesce(u.accessed, 0),
      u.last_recalled_at, u.last_accessed_at
    from memory m left join usage u on u.tenant = m.tenant and u.memory = m.id
    where m.tenant = :tenant"""
BY_ID = f"{MEMORIES} and m.id in (select value from json_each(:ids))"
# The plus signs keep SQLite from searching by scope, which in one project means looking at everything.
SAME = """
    select id from memory where tenant = :tenant and content_hash = :content_hash and +state in ('active', 'pending')
    and +user = :user and +project = :project and branch = :branch and agent = :agent and session = :session limit 1"""
TOMBSTONE = """
    and key = :key and (user in ('', :user) or :user = '') and (project in ('', :project) or :project = '') limit 1"""
SOURCE_LIKE = " and kind = :kind and uri = :uri and content_hash = :content_hash limit 1"
NOUN = {
    kind: f"select {', '.join(columns(kind))} from {noun_name(kind)} where tenant = :tenant" for kind in NOUNS.values()
}
# What was said just before in a session: the nearest earlier turn.
TURN_BEFORE = f"""{MEMORIES} and m.session = :session and m.position < :position and m.kind = 'turn'
    and m.state = 'active' and +m.user = :user and +m.project = :project and m.branch = :branch and m.agent = :agent
    order by m.position desc limit 1"""
# Turns that carry what another said as their context.
TURNS_AFTER = " and session = :session and position > :position and context <> '' and instr(:content, context) = 1"
SOURCE_IS_USED = """
    select exists (select 1 from memory where tenant = :tenant and source = :source)
      or exists (select 1 from evidence where tenant = :tenant and source = :source)"""
WAS_PURGED = "select exists (select 1 from journal where tenant = ? and target = ? and operation = 'purge')"
HEAD = "select coalesce(max(seq), 0) from journal where tenant = ?"


class Changes:
    """The transaction: knowledge changes here, with its journal row, or nowhere."""

    def __init__(self, con: apsw.Connection, tenant: str, actor: str, now: datetime) -> None:
        self._con = con
        self._tenant = tenant
        self._actor = actor
        self._now = now
        self._seq = int(con.execute(HEAD, (tenant,)).get)
        self._touched: set[str] = set()
        self.purged = False

    def get(self, kind: type[N], id: str) -> N | None:
        if kind is Memory:
            return next(self._rows(kind, MEMORY_COLUMNS, MEMORIES + " and m.id = :id", id=id), None)
        return self._row(kind, id)

    def same(self, content_hash: str, scope: Scope) -> Memory | None:
        places = {name: getattr(scope, name) for name in SCOPE_FIELDS}
        values = {"tenant": self._tenant, "content_hash": content_hash, **places}
        found = self._con.execute(SAME, values).get
        return self.get(Memory, str(found)) if found else None

    def tombstone(self, key: str, scope: Scope) -> Tombstone | None:
        sql = NOUN[Tombstone] + TOMBSTONE
        return next(
            self._rows(Tombstone, columns(Tombstone), sql, key=key, user=scope.user, project=scope.project), None
        )

    def turn_before(self, scope: Scope, position: int) -> Memory | None:
        places = {name: getattr(scope, name) for name in SCOPE_FIELDS}
        return next(self._rows(Memory, MEMORY_COLUMNS, TURN_BEFORE, position=position, **places), None)

    def source(self, kind: str, uri: str, content_hash: str) -> Source | None:
        sql = NOUN[Source] + SOURCE_LIKE
        return next(self._rows(Source, columns(Source), sql, kind=kind, uri=uri, content_hash=content_hash), None)

    def was_purged(self, id: str) -> bool:
        return bool(self._con.execute(WAS_PURGED, (self._tenant, id)).get)

    def put(self, noun: Kept, operation: str, reason: str = "") -> bool:
        kind, id, new = type(noun), noun.id, record(noun)
        old = self._row(kind, id)
        if old is None:
            before, after = None, compact(new)
        else:
            before, after = changed(record(old), new)
            if not after:
                return False
        self._materialise(noun)
        self._append(operation, noun_name(kind), id, before, after, reason)
        if isinstance(noun, Memory):
            if isinstance(old, Memory) and old.embedded() != noun.embedded():
                self._con.execute(STALE, (self._tenant, self._tenant, id))
            self._touched.add(id)
        return True

    def drop(self, kind: type[Kept], id: str, operation: str, reason: str = "") -> bool:
        old = self._row(kind, id)
        if old is None:
            return False
        self._con.execute(DROP[kind], (self._tenant, id))
        self._append(operation, noun_name(kind), id, compact(record(old)), None, reason)
        return True

    def embed(self, memory: str, model: str, vectors: Floats) -> None:
        from .. import vectors as codec

        self._con.execute(UNEMBED, (self._tenant, model, self._tenant, memory))
        self._con.executemany(
            EMBED,
            [
                (self._tenant, self._tenant, memory, model, chunk, half)
                for chunk, half in enumerate(codec.halves(vectors))
            ],
        )
        # Other processes' indexes look for changed memories in the journal; one that changed here is in it already.
        if memory not in self._touched:
            self._append("embed", "embedding", memory, None, {"model": model, "chunks": len(vectors)}, "")

    def note(self, operation: str, target: str, reason: str) -> None:
        self._append(operation, "note", target, None, None, reason)

    def purge(self, memory: str) -> None:
        found = self.get(Memory, memory)
        if found is None:
            raise NotFound(f"No memory has the id {memory!r}.")
        evidence = list(self._rows(Evidence, columns(Evidence), NOUN[Evidence] + " and memory = :id", id=memory))
        sql = NOUN[Link] + " and (origin = :id or target = :id)"
        links = list(self._rows(Link, columns(Link), sql, id=memory))
        for kind, id in [(Evidence, e.id) for e in evidence] + [(Link, link.id) for link in links] + [(Memory, memory)]:
            self._erase(kind, id)
        self._forget_context(found)
        for source in {found.source, *(e.source for e in evidence)}:
            if not self._con.execute(SOURCE_IS_USED, {"tenant": self._tenant, "source": source}).get:
                self._erase(Source, source)
        self.purged = True

    def _forget_context(self, said: Memory) -> None:
        """Take a purged turn's words out of the turns after it, and out of their history, which starts anew."""
        if not said.scope.session or said.position is None:
            return
        values = {"session": said.scope.session, "position": said.position, "content": said.content}
        for turn in list(self._rows(Memory, columns(Memory), NOUN[Memory] + TURNS_AFTER, **values)):
            bare = replace(turn, context="")
            self._con.execute(BLANK, (self._tenant, turn.id))
            self._materialise(bare)
            self._append("restate", "memory", turn.id, None, compact(record(bare)), "")

    def replay(self, entry: Entry) -> None:
        if entry.seq != self._seq + 1:
            raise BadInput(f"Journal row {entry.seq} does not follow {self._seq}.", fix="Import into an empty store.")
        kind = NOUNS.get(entry.noun)
        if kind is not None and entry.after is not None:
            current = self._row(kind, entry.target)
            whole = {**(record(current) if current else {}), **entry.after}
            self._materialise(kind.from_dict(whole))
        elif kind is not None and not entry.purged and entry.after is None:
            self._con.execute(DROP[kind], (self._tenant, entry.target))
        self._append(
            entry.operation, entry.noun, entry.target, entry.before, entry.after, entry.reason,
            at=entry.at, actor=entry.actor, purged=entry.purged,
        )  # fmt: skip

    def _erase(self, kind: type[Kept], id: str) -> None:
        self._con.execute(DROP[kind], (self._tenant, id))
        self._con.execute(BLANK, (self._tenant, id))
        self._append("purge", noun_name(kind), id, None, None, "", purged=True)

    def _materialise(self, noun: Kept) -> None:
        self._con.execute(PUT[type(noun)], {"tenant": self._tenant, **to_row(noun)})

    def _append(
        self, operation: str, noun: str, target: str, before: dict[str, Any] | None, after: dict[str, Any] | None,
        reason: str, *, at: datetime | None = None, actor: str | None = None, purged: bool = False,
    ) -> None:  # fmt: skip
        self._seq += 1
        texts = (None if value is None else to_json(value) for value in (before, after))
        moment = times.micros(at or self._now)
        head = (self._tenant, self._seq, moment, actor or self._actor, operation, noun, target)
        self._con.execute(JOURNAL, (*head, *texts, reason, int(purged)))

    def _row(self, kind: type[N], id: str) -> N | None:
        """A noun's own row; a memory comes without its counters of use, which are not knowledge."""
        return next(self._rows(kind, columns(kind), NOUN[kind] + " and id = :id", id=id), None)

    def _rows(self, type: type[N], names: Sequence[str], sql: str, **values: Any) -> Iterator[N]:
        for row in self._con.execute(sql, {"tenant": self._tenant, **values}):
            yield from_row(type, names, row)
