"""The store for a team: one PostgreSQL with pgvector, read side by side with `sqlite.py`.

Each read is a transaction with one snapshot; each write holds the row of its tenant in `head`. Full text is BM25 in SQL
over the same terms as in SQLite. Vectors are found by an HNSW index where the filter is wide and scored one by one
where it is narrow: left to itself, the planner takes the index for both and finds the wrong rows for the second.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from pgvector import Vector
from psycopg import sql as compose

from .. import times
from ..errors import BadInput, RecollectError, StoreLocked, StoreUnavailable
from ..language import terms
from ..settings import shown
from ..types import Filter, Kept, Memory
from . import filters, words
from . import postgres_server as server
from .access import TOKEN
from .listen import Listener
from .postgres_changes import ENTER, PostgresChanges
from .postgres_server import Connection, named
from .postgres_tending import Tending, index_name
from .reading import COUNT, GROUPS, STATS, Figures
from .rows import from_rows
from .statements import MEMORIES

if TYPE_CHECKING:
    from ..vectors import Floats

N = TypeVar("N", bound=Kept)
log = logging.getLogger("recollect")


# Full text: BM25, a word's rarity counted among what the caller may see in the same pass over its postings. What is
# materialised is so because the planner, which cannot know the numbers, would do it again for every row.
MATCH = f"""
    with seen as materialized (select p.memory, p.term, p.weight::float8, p.length, (true {{where}}) as wanted
      from posting p join memory m on m.tenant = p.tenant and m.id = p.memory
      where p.tenant = :tenant and p.term = any(:terms) {{wall}}),
    rarity as materialized (select term,
      ln(1 + (greatest(:total, count(*)) - count(*) + 0.5) / (count(*) + 0.5)) as rarity from seen group by term)
    select memory, sum(rarity * weight * {1 + words.SATURATION} / (weight + {words.SATURATION}
      * ({1 - words.BY_LENGTH} + {words.BY_LENGTH} * length / {words.AVERAGE}))) as score
    from seen join rarity using (term) where wanted group by memory order by score desc, memory limit :limit"""
FREQUENCY = """
    select p.term, count(*) from posting p join memory m on m.tenant = p.tenant and m.id = p.memory
    where p.tenant = :tenant and p.term = any(:terms) {wall} group by 1"""

# Vectors. `<#>` is the negative inner product; vectors are of length one. They are kept in half precision, the query is
# not: rounding it too would change scores in the fourth digit. Only the index compares halves with halves.
EXACT = """
    with chosen as materialized (select m.id from memory m where m.tenant = :tenant {where})
    select e.memory, max(-(e.vector::vector <#> :query)) from chosen c
      join embedding e on e.tenant = :tenant and e.memory = c.id and e.model = :model
    group by 1 order by 2 desc, 1 limit :limit"""
CHOSEN = """
    select e.memory, e.vector from memory m join embedding e on e.tenant = m.tenant and e.memory = m.id
    where m.tenant = :tenant and e.model = :model {where}"""
APPROXIMATE = """
    select memory, max(score), sum(count(*)) over () from (
      select e.memory, -(e.vector::vector <#> :query) as score
      from embedding e join memory m on m.tenant = e.tenant and m.id = e.memory
      where e.tenant = :tenant and e.model = :literal {where}
      order by e.vector::halfvec({size}) <#> :query::halfvec({size}) limit :chunks) best
    group by 1 order by 2 desc, 1 limit :limit"""
COSINES = """
    select memory, max(-(vector::vector <#> :query)) from embedding
    where tenant = :tenant and memory = any(:ids) and model = :model group by 1"""
ALL_VECTORS_OF = """
    select memory, model, vector::real[] from embedding
    where tenant = :tenant and memory = any(:ids) order by memory, model, chunk"""
# The vector index of a model, with how many vectors it holds; one that is still being built does not count. Before
# pgvector 0.8 a scan of it cannot go on when a filter has thrown away what it found: there every vector is scored.
SCANS_ON = """
    select 1 from pg_extension
    where extname = 'vector' and regexp_match(extversion, '^([0-9]+)[.]([0-9]+)')::int[] >= '{0,8}'"""
VECTOR_INDEX = f"""
    select c.reltuples from pg_class c join pg_index i on i.indexrelid = c.oid
    where c.relname = :name and c.relnamespace = current_schema()::regnamespace and i.indisvalid
      and exists ({SCANS_ON})"""
VECTORS_OF_ALL = "select count(*), max(vector_dims(vector)) from embedding where tenant = :tenant and model = :model"
BUILD_INDEX = """
    create index concurrently {name} on embedding using hnsw ((vector::halfvec({size})) halfvec_ip_ops)
    where model = {model}"""
TENANTS = "select tenant from head order by tenant"
EVERYBODY = "*"  # what a transaction names to see the list of tenants; no tenant can be called so

PURGED = (
    "memory", "posting", "memory_terms", "memory_tag", "memory_ref", "embedding", "evidence", "link",
    "source", "share", "handoff", "journal", "answer", "answer_dependency",
)  # fmt: skip
# Where words stay after a purge, though no statement reads them. Writing the tables anew locks each of them, so it is
# left to whoever runs the server.
UNREACHED = (
    "freed room in the files of the tables and the planner's statistics; to clear both, run as the database's owner: "
    f"vacuum (full, analyze) {', '.join(PURGED)}, pg_statistic",
    "the server's write-ahead log and its archive, replicas, base backups and dumps",
)

NARROW = 5_000  # memories up to which each vector is scored: about as long as the index takes
WORTH_FETCHING = 16  # questions asked at once for which the vectors are fetched
WIDE = 0.05  # the part of all vectors from which the index finds the right ones
WORTH_AN_INDEX = 5_000  # vectors of a model
EF_SEARCH = 200
MANY = 250  # journal rows after which the planner's knowledge and the vector indexes are looked at
WRITERS = server.CONNECTIONS // 2  # transactions of one process at once: who is inside one may have to read beside it


class PostgresStore(Tending):
    AMONG, KEY = "= any(:{})", "id"
    HEAD = "select seq from head where tenant = :tenant"
    ENDING = (
        "select id from memory where tenant = :tenant and right(id, length(:tail)) = :tail order by id limit :limit"
    )
    UNEMBEDDED = f"""{MEMORIES} and m.id > :after and not exists (select 1 from embedding e
        where e.tenant = m.tenant and e.memory = m.id and e.model = :model) order by m.id limit :limit"""
    NAMING = """ and m.id in (
      select memory from posting where tenant = :tenant and term = any(:naming)
      group by memory having count(*) = :named)"""
    SHARING = """
        select r.memory, s.memory, count(*) from memory_ref r
          join memory_ref s on s.tenant = r.tenant and s.ref = r.ref and s.memory <> r.memory
        where r.tenant = :tenant and r.memory = any(:ids) group by 1, 2 limit 500"""
    LOCK = "for update skip locked"
    SHARE = "for key share skip locked"

    def __init__(self, url: str, patience: float, now: datetime) -> None:
        self.url = url
        self._patience = patience
        with server.our_errors(url):
            self._identity = server.prepare(url, patience, times.micros(now))
        self._pool = server.pool(url, patience)
        self._pool.open()
        self._listener = Listener(url)
        self._closed = False
        self._written = 0
        self._counting = threading.Lock()
        self._figures = Figures()
        self._writers = threading.BoundedSemaphore(WRITERS)
        self._building = threading.Lock()
        self._summed = set()
        self._make_words_again()

    @contextmanager
    def _begin(self, tenant: str, mode: str) -> Iterator[Connection]:
        with server.our_errors(self.url):
            start = server.within(tenant, mode)
            con, _ = server.begun(self._pool, self._patience, lambda con: con.execute(start))
            try:
                yield con
            finally:
                server.back(self._pool, con)

    @contextmanager
    def _reading(self, tenant: str) -> Iterator[Connection]:
        """A connection inside one snapshot of one tenant."""
        with self._begin(tenant, "isolation level repeatable read read only") as con:
            yield con

    @contextmanager
    def transaction(self, tenant: str, actor: str, now: datetime) -> Iterator[PostgresChanges]:
        with self._turn(tenant), server.our_errors(self.url):
            start = server.within(tenant, "")

            def enter(con: Connection) -> PostgresChanges:
                con.execute(start)
                return PostgresChanges(con, tenant, actor, now)

            con, changes = server.begun(self._pool, self._patience, enter)
            try:
                with con.pipeline():
                    yield changes
                    changes.leave()
                if not changes.idle:
                    self._commit(con)
            finally:
                server.back(self._pool, con)
        # The change is kept: what fails from here on is no reason to say that it was not.
        changes.kept()
        if changes.purged:
            self._forget_copies()
        self._tend(tenant, changes.head, changes.written)
        self.sum_rows(tenant)

    @contextmanager
    def _turn(self, tenant: str) -> Iterator[None]:
        """Leave connections to those who read: writers that wait for a lock must not hold them all."""
        _refuse_reserved(tenant)
        if not self._writers.acquire(timeout=self._patience):
            raise StoreLocked(f"{WRITERS} other writers of this process did not end in time: {shown(self.url)}.")
        try:
            yield
        finally:
            self._writers.release()

    def _tend(self, tenant: str, head: int, written: int) -> None:
        """Look after what the server does not see to in time, every few hundred changes."""
        with self._counting:
            self._written += written
            if self._written < MANY:
                return
            self._written = 0
        try:
            self._tell_planner(head)
        except (psycopg.Error, RecollectError) as error:
            log.warning("the tables could not be counted for the planner: %s", error)
        threading.Thread(target=self._index_aside, args=(tenant,), name="recollect-index", daemon=True).start()

    def _tell_planner(self, head: int) -> None:
        """Have the tables counted when they have doubled: until the server does so by itself, plans are far off."""
        with self._pool.connection() as con:
            row = con.execute("select reltuples from pg_class where oid = 'memory'::regclass").fetchone()
            if row and head > 2 * row[0] + MANY:
                con.execute("analyze (skip_locked) memory, posting, memory_terms, embedding, memory_ref, journal")

    def _index_aside(self, tenant: str) -> None:
        """Build what a tenant lacks, beside everything else; what cannot be built now is tried again later."""
        if not self._building.acquire(blocking=False):
            return
        try:
            self._build_indexes(tenant)
        except (psycopg.Error, RecollectError) as error:
            if not self._closed:
                log.warning("the vector index could not be built: %s", error)
        finally:
            self._building.release()

    def _commit(self, con: Connection) -> None:
        try:
            con.execute("commit")
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnavailable(
                f"The connection was lost while a change was being kept: {shown(self.url)}. It may have been kept.",
                fix="Look for it, or try again: what is remembered twice is kept once.",
            ) from error

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._listener.close()
        self._pool.close()

    def tenants(self) -> list[str]:
        return [str(row[0]) for row in self._query(TENANTS, tenant=EVERYBODY)]

    def _find_token(self, sha256: str) -> list[tuple[Any, ...]]:
        with self._reading("") as con:
            con.execute(compose.SQL("set local recollect.token = {}").format(compose.Literal(sha256)))
            return con.execute(named(TOKEN), {"sha256": sha256}).fetchall()

    def _as_list(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def _select(self, kind: type[N], names: Sequence[str], sql: str, **values: Any) -> list[N]:
        return list(from_rows(kind, names, values["tenant"], self._query(sql, **values)))

    def _query(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with self._reading(values["tenant"]) as con:
            return con.execute(named(sql), values).fetchall()

    def changed(self, tenant: str, after: int, timeout: float) -> int:
        return self._listener.wait(tenant, after, timeout, self.head)

    def _naming(self, tenant: str, words: Sequence[str]) -> dict[str, Any]:
        return {"naming": list(words), "named": len(set(words))}

    def match(self, tenant: str, terms: Sequence[str], filter: Filter, limit: int) -> list[tuple[str, float]]:
        if not terms:
            return []
        conditions, values = self._where(filter)
        wall, among = self._where(filters.wall(filter))
        with self._reading(tenant) as con:
            total = self._breadth(con, tenant, wall, among)
            values |= {"tenant": tenant, "terms": list(terms), "limit": limit, "total": total}
            rows = con.execute(named(MATCH.format(where=conditions, wall=wall)), values).fetchall()
        return [(str(id), round(float(score), 9)) for id, score in rows]

    def frequencies(self, tenant: str, terms: Sequence[str], filter: Filter) -> tuple[int, dict[str, int]]:
        wall, among = self._where(filters.wall(filter))
        with self._reading(tenant) as con:
            values = {"tenant": tenant, "terms": list(terms), **among}
            found = con.execute(named(FREQUENCY.format(wall=wall)), values).fetchall()
            total = self._breadth(con, tenant, wall, among)
        return max(total, *(count for _, count in found), 1), dict(found)

    def nearest(self, tenant: str, model: str, query: Floats, filter: Filter, limit: int) -> list[tuple[str, float]]:
        conditions, values = self._where(filter)
        with self._reading(tenant) as con:
            indexed = con.execute(named(VECTOR_INDEX), {"name": index_name(model)}).fetchone()
            wide = indexed and self._breadth(con, tenant, conditions, values) > max(NARROW, WIDE * indexed[0])
            values |= {"tenant": tenant, "model": model, "query": Vector(query), "limit": limit}
            rows = self._by_index(con, conditions, values, len(query)) if wide else None
            if rows is None:
                rows = con.execute(named(EXACT.format(where=conditions)), values).fetchall()
        return [(str(id), float(score)) for id, score, *_ in rows]

    def nearest_each(
        self, tenant: str, model: str, queries: Sequence[Floats], filter: Filter, limit: int
    ) -> list[list[tuple[str, float]]]:
        """Where the filter is narrow, what it lets through is fetched once and scored here."""
        from .. import vectors

        conditions, values = self._where(filter)
        with self._reading(tenant) as con:
            few = len(queries) >= WORTH_FETCHING and self._breadth(con, tenant, conditions, values) <= NARROW
            values |= {"tenant": tenant, "model": model}
            rows = con.execute(named(CHOSEN.format(where=conditions)), values).fetchall() if few else []
        if not few:
            return super().nearest_each(tenant, model, queries, filter, limit)
        return vectors.nearest_each(
            [str(id) for id, _ in rows], [vector.to_numpy() for _, vector in rows], queries, limit
        )

    def _by_index(
        self, con: Connection, conditions: str, values: dict[str, Any], size: int
    ) -> list[tuple[Any, ...]] | None:
        """The nearest by the vector index; None where it gave up before it had enough of them.

        It is one index for all tenants and projects: where the neighbourhood of a question is full of what the filter
        throws away, it ends after so many vectors and has found too little, or nothing.
        """
        con.execute(compose.SQL(f"set local hnsw.ef_search = {EF_SEARCH}"))
        con.execute("set local hnsw.iterative_scan = relaxed_order")
        chunks = 2 * values["limit"] + 20
        # The planner takes the index of a model only where the model's name stands in the statement.
        literal = compose.Literal(values["model"]).as_string(con).replace("%", "%%")
        sql = named(APPROXIMATE.format(where=conditions, size=size)).replace("%(literal)s", literal)
        rows = con.execute(sql, values | {"chunks": chunks}).fetchall()
        return rows if rows and rows[0][2] >= chunks else None

    def cosines(self, tenant: str, model: str, query: Floats, ids: Sequence[str]) -> dict[str, float]:
        rows = self._query(COSINES, tenant=tenant, model=model, query=Vector(query), ids=list(ids))
        return {str(id): float(score) for id, score in rows}

    def vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Floats]]:
        import numpy as np

        found: dict[str, dict[str, Floats]] = {}
        rows = self._query(ALL_VECTORS_OF, tenant=tenant, ids=list(ids))
        for (id, model), chunks in itertools.groupby(rows, key=lambda row: row[:2]):
            found.setdefault(id, {})[model] = np.array([vector for *_, vector in chunks], np.float32)
        return found

    def _breadth(self, con: Connection, tenant: str, conditions: str, values: dict[str, Any]) -> int:
        """How many memories a filter lets through."""
        row = con.execute(named(self.HEAD), {"tenant": tenant}).fetchone()
        key = repr((tenant, conditions, sorted((name, value) for name, value in values.items() if name != "current")))

        def count() -> float:
            found = con.execute(named(COUNT.format(where=conditions)), {"tenant": tenant, **values}).fetchone()
            return float(found[0]) if found else 0.0

        return int(self._figures.get(key, int(row[0]) if row else 0, count))

    def save(self) -> None:
        """Build the vector index of each model that has become large enough for one."""
        for tenant in self.tenants():
            self._build_indexes(tenant)

    def _build_indexes(self, tenant: str) -> None:
        for (model,) in self._query("select distinct model from embedding where tenant = :tenant", tenant=tenant):
            name = index_name(model)
            if not self._query(VECTOR_INDEX, tenant=tenant, name=name):
                count, size = self._query(VECTORS_OF_ALL, tenant=tenant, model=model)[0]
                if count >= WORTH_AN_INDEX:
                    self._build_index(name, model, count, size)

    def _build_index(self, name: str, model: str, count: int, size: int) -> None:
        # On a connection of its own, which may wait longer than a writer: for every transaction that was there before.
        with server.our_errors(self.url), psycopg.connect(self.url, autocommit=True) as con:
            locked = con.execute("select pg_try_advisory_lock(%s)", (server.BUILDING,)).fetchone()
            if not (locked and locked[0]) or not con.execute(SCANS_ON).fetchone():
                return  # another process is at it, or the index would be of no use
            if con.execute(named(VECTOR_INDEX), {"name": name}).fetchone():
                return  # another process has just done it
            log.info("building the vector index of %s over %d vectors", model, count)
            identifier = compose.Identifier(name)
            con.execute(compose.SQL("drop index concurrently if exists {}").format(identifier))  # of a broken try
            con.execute("set maintenance_work_mem = '512MB'; set lock_timeout = '10min'")
            statement = compose.SQL(BUILD_INDEX)
            con.execute(statement.format(name=identifier, size=compose.Literal(size), model=compose.Literal(model)))

    def _forget_copies(self) -> None:
        """After a purge nothing of the text may stay in dead rows. Backups and replicas' logs are out of our reach."""
        for table in PURGED:
            try:
                with self._pool.connection() as con:
                    con.execute(compose.SQL("vacuum {}").format(compose.Identifier(table)))
            except psycopg.Error as error:
                log.warning("what was purged from %s is not swept out yet, run vacuum on it: %s", table, error)

    def _alter(self, tenant: str, sql: str, many: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]:
        found: list[Sequence[Any]] = []
        _refuse_reserved(tenant)
        with self._begin(tenant, "") as con:
            for values in many:
                rows = con.execute(named(sql), values)
                found += rows.fetchall() if rows.description else []
            if found:  # a job may be the first thing that a tenant has
                con.execute(named(ENTER), {"tenant": tenant})
            con.execute("commit")
        return found

    def stats(self, tenant: str) -> dict[str, Any]:
        with self._reading(tenant) as con:
            counts: dict[str, Any] = {}
            for name, sql in STATS.items():
                counts[name] = (con.execute(named(sql), {"tenant": tenant}).fetchone() or (0,))[0]
            for name, sql in GROUPS.items():
                counts[name] = dict(con.execute(named(sql), {"tenant": tenant}).fetchall())
            counts["bytes"] = (con.execute("select pg_database_size(current_database())").fetchone() or (0,))[0]
        counts["store"] = shown(self.url)
        return counts

    def leftovers(self, tenant: str, texts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        found = []
        for name, sql in server.LEFTOVERS.items():
            if texts and self._query(sql, tenant=tenant, texts=list(texts))[0][0]:
                found.append(name)
        return list(server.LEFTOVERS), found, list(UNREACHED)

    def _make_words_again(self) -> None:
        """Index texts that are not English anew, where the rules for their words have changed since."""
        with server.our_errors(self.url), self._pool.connection() as con:
            if not con.execute("select 1 from meta where key = 'words'").fetchone():
                return
        for tenant in self.tenants():
            with self.transaction(tenant, "upgrade", times.moment(0)) as changes:
                for memory in self.each(tenant, Memory):
                    if any(map(terms.other_language, (memory.title, memory.content, memory.context))):
                        changes.index(memory, memory)
        with server.our_errors(self.url), self._pool.connection() as con:
            con.execute("delete from meta where key = 'words'")

    def mend(self) -> None:
        """Take damaged rows from the journal, and build full text, tags and references again from the rows."""
        for tenant in self.tenants():
            self.heal(tenant)
            with self.transaction(tenant, "mend", times.moment(0)) as changes:
                changes.clear()
                for memory in self.each(tenant, Memory):
                    changes.index(memory)


def _refuse_reserved(tenant: str) -> None:
    if tenant == EVERYBODY:
        raise BadInput(f"A tenant cannot be called {tenant!r}.", fix="Choose another name.")
