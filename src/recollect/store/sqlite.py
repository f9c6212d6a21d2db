"""The embedded store: one SQLite file.

Vectors lie in their own table and in an index in memory (`index.py`) that catches up from the journal before each use.
Each thread has its own connection for reading; one connection, taken in turn, writes. Several processes on one file are
normal.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from .. import text, times
from ..errors import StoreCorrupt
from ..types import Filter, Kept
from . import sqlite_file
from .access import TOKEN
from .changes import Changes
from .checksums import notice
from .mark import RESTORE, Mark
from .reading import GROUPS, STATS, Figures
from .rows import from_rows, noun_name, quoted, to_json
from .search import found_in
from .sqlite_changes import SQLiteChanges
from .sqlite_file import fetch
from .sqlite_text import FullText
from .statements import CHAIN_AT, HEAD, MEMORIES

if TYPE_CHECKING:
    from ..vectors import Floats
    from .index import VectorIndex

N = TypeVar("N", bound=Kept)
log = logging.getLogger("recollect")

INDEX_ROWS = """
    select e.n, m.n, m.id, e.vector, m.user, m.project, m.branch, m.agent, m.session, m.kind, m.network, m.state,
      m.importance, coalesce(m.valid_from, m.created_at), m.valid_from, m.valid_to, m.expires_at
    from embedding e join memory m on m.n = e.memory where e.tenant = :tenant and e.model = :model"""
INDEX_PURGES = """
    select target from journal where tenant = :tenant and seq > :after and noun = 'memory' and operation = 'purge'"""
INDEX_CHANGES = """
    select n from memory where tenant = :tenant and id in
      (select target from journal where tenant = :tenant and seq > :after and noun in ('memory', 'embedding'))"""
VECTORS = """
    select n, vector from embedding
    where n in (select value from json_each(:rows)) and tenant = :tenant and model = :model"""
ALL_VECTORS_OF = """
    select m.id, e.model, e.vector from memory m join embedding e on e.memory = m.n
    where m.tenant = :tenant and m.id in (select value from json_each(:ids)) order by m.id, e.model, e.chunk"""
VECTORS_OF = """
    select m.id, e.vector from memory m join embedding e on e.memory = m.n
    where m.tenant = :tenant and m.id in (select value from json_each(:ids)) and e.model = :model"""
# From tenant to tenant along the index, without looking at every row.
TENANTS = " union ".join(
    f"""
    select name from (with recursive tenant (name) as (select min(tenant) from {table}
      union all select (select min(tenant) from {table} where tenant > name) from tenant where name is not null)
    select name from tenant where name is not null)"""
    for table in ("journal", "job", "ledger", "answer")
)
# Memories that share a reference with some others, with how many they share.
SHARED = "select m.n from memory m where m.tenant = :tenant {where}"
TAGGED = "select memory from memory_tag where tenant = ? and tag = ?"

LOOK = 0.1  # seconds between two looks at the journal of somebody who waits for news
INDEX_BATCH = 16384  # vectors read at a time when the index is built
WORTH_SAVING = 5000  # vectors from which a copy of the index beside the database pays


class SQLiteStore(FullText):
    AMONG, KEY = "in (select value from json_each(:{}))", "n"
    ENDING = "select id from memory where tenant = :tenant and id like '%' || :tail order by id limit :limit"
    UNEMBEDDED = f"""{MEMORIES} and m.id > :after and not exists
        (select 1 from embedding e where e.memory = m.n and e.model = :model) order by m.id limit :limit"""
    NAMING = " and m.n in (select rowid from memory_fts where memory_fts match :naming)"
    SHARING = """
        select a.id, b.id, count(*) from memory a join memory_ref r on r.memory = a.n
          join memory_ref s on s.tenant = r.tenant and s.ref = r.ref and s.memory <> r.memory
          join memory b on b.n = s.memory
        where a.tenant = :tenant and a.id in (select value from json_each(:ids)) group by 1, 2 limit 500"""

    def __init__(self, path: Path, patience: float, now: datetime) -> None:
        self.path = path
        self._patience = patience
        self.mark = Mark(path)
        marked = self.mark.read()
        if marked and sqlite_file.is_empty(path):
            raise StoreCorrupt(f"The database is empty or gone, and was not before: {path}.", fix=RESTORE)
        sqlite_file.prepare(path, patience, times.micros(now))
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._writer: apsw.Connection | None = None
        self._writing = threading.Lock()
        self._closed = False
        self._indexing = threading.RLock()
        self._indexes: dict[tuple[str, str], VectorIndex] = {}
        self._figures = Figures()
        self._summed = set()
        with self._reading() as con:
            self._identity = str(con.execute("select value from meta where key = 'store'").get)
            self.mark.compare(marked, self._identity, lambda tenant, seq: self._head_and_chain(con, tenant, seq))
        if self.mark.wrong:
            log.warning("%s: %s. %s", path, self.mark.wrong, RESTORE)

    def _connect(self) -> apsw.Connection:
        con = sqlite_file.connect(self.path, self._patience)
        self._connections.add(con)
        return con

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        """This thread's own connection, inside one snapshot."""
        with sqlite_file.our_errors(self.path):
            con: apsw.Connection | None = getattr(self._local, "con", None)
            if con is None:
                con = self._local.con = self._connect()
            if con.in_transaction:
                yield con
                return
            con.execute("begin")
            try:
                yield con
            finally:
                con.execute("rollback")

    @contextmanager
    def _locked(self) -> Iterator[apsw.Connection]:
        """The write lock: of this process's threads first, then of all processes."""
        with self._writing, sqlite_file.our_errors(self.path):
            con = self._writer = self._writer or self._connect()
            con.execute("begin immediate")
            try:
                yield con
                con.execute("commit")
            finally:
                if con.in_transaction:
                    con.execute("rollback")

    def _alter(self, tenant: str, sql: str, many: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]:
        with self._locked() as con:
            return [row for values in many for row in con.execute(sql, values)]

    @contextmanager
    def transaction(self, tenant: str, actor: str, now: datetime) -> Iterator[Changes]:
        with self._locked() as con:
            changes = SQLiteChanges(con, tenant, actor, now)
            yield changes
        changes.kept()
        self.mark.note(self._identity, tenant, *changes.newest)
        if changes.purged:
            self._forget_copies(tenant)
        self.sum_rows(tenant)

    def close(self) -> None:
        if self._closed:
            return
        self.save()
        self.mark.flush(self._identity)
        with self._writing:  # a write that has begun is let to its end
            self._closed = True
            for con in list(self._connections):
                sqlite_file.end(con, self._patience)

    @staticmethod
    def _head_and_chain(con: apsw.Connection, tenant: str, seq: int) -> tuple[int, str]:
        chain = con.execute(CHAIN_AT, {"tenant": tenant, "seq": seq}).get
        return int(con.execute(HEAD, {"tenant": tenant}).get), (chain or b"").hex()

    def accept(self) -> None:
        """Take the database as it is for what it should be: the mark follows it from here on."""
        self.mark.wrong = ""
        with self._reading() as con:
            heads = {tenant: self._head_and_chain(con, tenant, self.head(tenant)) for tenant in self.tenants()}
        self.mark.write(self._identity, heads)

    def tenants(self) -> list[str]:
        with self._reading() as con:
            return sorted(str(row[0]) for row in con.execute(TENANTS))

    def _as_list(self, values: Sequence[Any]) -> str:
        return to_json(list(values))

    def _select(self, kind: type[N], names: Sequence[str], sql: str, **values: Any) -> list[N]:
        with self._reading() as con:
            rows, partly = fetch(con, sql, values)
            if partly:
                known = {row[0] for row in rows}
                ids = f"with found ({', '.join(quoted((*names, 'checksum')))}) as ({sql}) select id from found"
                for (id,) in fetch(con, ids, values)[0]:
                    if id not in known:
                        notice(noun_name(kind), id)
        return list(from_rows(kind, names, str(values["tenant"]), rows))

    def changed(self, tenant: str, after: int, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (newest := self.head(tenant)) <= after and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, LOOK))
        return newest

    def _naming(self, tenant: str, words: Sequence[str]) -> dict[str, Any]:
        house = sqlite_file.wall(tenant, "").split()[0]
        return {"naming": f"wall : {house} AND " + " AND ".join(f'"{word}"' for word in words)}

    def nearest(self, tenant: str, model: str, query: Floats, filter: Filter, limit: int) -> list[tuple[str, float]]:
        with self._indexing, self._reading() as con:
            index = self._index(con, tenant, model)
            if not index.count:
                return []
            rows = index.candidates(query, index.mask(filter, self._find_tagged(con, tenant, filter)), limit)
            values = {"rows": to_json(list(rows)), "tenant": tenant, "model": model}
            found: list[Any] = con.execute(VECTORS, values).fetchall()
        scores = _best([(rows[row], vector) for row, vector in found], query)
        return sorted(scores.items(), key=lambda item: -item[1])[:limit]

    def cosines(self, tenant: str, model: str, query: Floats, ids: Sequence[str]) -> dict[str, float]:
        with self._reading() as con:
            values = {"ids": to_json(list(ids)), "tenant": tenant, "model": model}
            found: list[Any] = con.execute(VECTORS_OF, values).fetchall()
        return _best(found, query)

    def vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Floats]]:
        from .. import vectors as codec

        with self._reading() as con:
            rows: list[Any] = con.execute(ALL_VECTORS_OF, {"tenant": tenant, "ids": to_json(list(ids))}).fetchall()
        found: dict[str, dict[str, Floats]] = {}
        for (id, model), chunks in itertools.groupby(rows, key=lambda row: row[:2]):
            found.setdefault(id, {})[model] = codec.floats([vector for *_, vector in chunks])
        return found

    def _find_tagged(self, con: apsw.Connection, tenant: str, filter: Filter) -> list[int] | None:
        """The numbers of the memories that have the tags and are shared, where the filter asks for either."""
        sets = [{row[0] for row in con.execute(TAGGED, (tenant, tag))} for tag in filter.tags]
        if filter.shared:
            conditions, values = self._where(Filter(states=(), shared=filter.shared))
            found = con.execute(SHARED.format(where=conditions), {**values, "tenant": tenant})
            sets.append({row[0] for row in found})
        return list(set.intersection(*sets)) if sets else None

    def _index(self, con: apsw.Connection, tenant: str, model: str) -> VectorIndex:
        """The index as of this connection's snapshot."""
        from .index import VectorIndex

        key = tenant, model
        index = self._indexes.get(key)
        if index is None:
            index = VectorIndex.load(self._copy(tenant, model), self._stamp(tenant, model)) or VectorIndex()
            self._indexes[key] = index
        head = int(con.execute(HEAD, {"tenant": tenant}).get)
        # A later state is of a database that was put back from a backup since.
        if index.seq > head or index.off_center:
            index = self._indexes[key] = VectorIndex()
        if index.seq < head:
            values: dict[str, Any] = {"tenant": tenant, "model": model}
            if index.seq == 0:
                rows = con.execute(INDEX_ROWS, values)
                index.build(iter(lambda: list(itertools.islice(rows, INDEX_BATCH)), []))
            else:
                changed = [row[0] for row in con.execute(INDEX_CHANGES, {**values, "after": index.seq})]
                index.kill([str(row[0]) for row in con.execute(INDEX_PURGES, {**values, "after": index.seq})])
                sql = INDEX_ROWS + " and m.n in (select value from json_each(:memories))"
                index.replace(changed, con.execute(sql, {**values, "memories": to_json(changed)}).fetchall())
            index.seq = head
        return index

    def _stamp(self, tenant: str, model: str) -> dict[str, str]:
        return {"store": self._identity, "tenant": text.key(tenant), "model": model}

    def _copy(self, tenant: str, model: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{text.key(f'{tenant} {model}')[:8]}.index")

    def save(self) -> None:
        with self._indexing, self._reading() as con:
            for tenant, model in list(self._indexes):
                index = self._index(con, tenant, model)  # caught up: what was purged since must not reach the disk
                grown = index.seq - index.saved_seq
                worth = not index.saved_seq or grown > index.count // 20
                if index.count >= WORTH_SAVING and worth:
                    try:
                        index.save(self._copy(tenant, model), self._stamp(tenant, model))
                    except OSError as error:
                        log.warning("the vector index was not saved, the next start will be slower: %s", error)

    def _forget_copies(self, tenant: str) -> None:
        """After a purge nothing derived from the text may stay: not in an index, not in the write-ahead log."""
        with self._indexing:
            for key in [key for key in self._indexes if key[0] == tenant]:
                del self._indexes[key]
            for copy in self.path.parent.glob(f"{self.path.name}.*.index"):
                copy.unlink(missing_ok=True)
        with self._writing, sqlite_file.our_errors(self.path):
            if self._writer:
                self._writer.execute("insert into memory_fts (memory_fts) values ('optimize')")
                try:
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                except apsw.BusyError:
                    log.warning("another process is reading: traces of what was purged leave the log when it is done")

    def _find_token(self, sha256: str) -> list[tuple[Any, ...]]:
        return self._query(TOKEN, sha256=sha256)

    def _query(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with self._reading() as con:
            rows, partly = fetch(con, sql, values)
        if partly:
            notice("a row", "with text that is not UTF-8")
        return rows

    def stats(self, tenant: str) -> dict[str, Any]:
        with self._reading() as con:
            counts: dict[str, Any] = {name: con.execute(sql, {"tenant": tenant}).get for name, sql in STATS.items()}
            for name, sql in GROUPS.items():
                groups: list[Any] = con.execute(sql, {"tenant": tenant}).fetchall()
                counts[name] = dict(groups)
        files = [
            self.path,
            self.path.with_name(f"{self.path.name}-wal"),
            *self.path.parent.glob(f"{self.path.name}.*.index"),
        ]
        counts["bytes"] = sum(file.stat().st_size for file in files if file.exists())
        counts["store"] = str(self.path)
        return counts

    def leftovers(self, tenant: str, texts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        wanted = [form for one in texts for form in (one.encode(), to_json(one)[1:-1].encode())]
        files = [str(file) for file in sorted(self.path.parent.glob(f"{self.path.name}*"))]
        return files, found_in(files, wanted), []


def _best(found: Sequence[tuple[str, bytes]], query: Floats) -> dict[str, float]:
    """The cosine of each memory's best chunk."""
    from .. import vectors

    best: dict[str, float] = {}
    if found:
        scores = vectors.dots(vectors.floats([vector for _, vector in found]), query)
        for (id, _), score in zip(found, scores.tolist(), strict=True):
            best[id] = max(score, best.get(id, -1.0))
    return best
