"""The contract of a store. `tests/test_store.py` is its meaning; every implementation passes it.

Every method names the tenant first. Reads take a snapshot of their own. Writes happen only inside `transaction`, which
holds the store's one write lock for the tenant: what is read there cannot change before it ends, and everything it did
lands or nothing does. A transaction changes knowledge only through `put`, `drop` and `purge`, and each of them appends
the journal row of that change; there is no other way in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..history_types import Sighting
from ..types import Check, Entry, Filter, Job, Kept, Link, Memory, Scope, Source, Token, Tombstone, Webhook
from .answers import Answer, Count
from .ledger import Spent
from .trail import Trace

if TYPE_CHECKING:
    from ..vectors import Floats
    from .browsing import Sieve

N = TypeVar("N", bound=Kept)


class Transaction(Protocol):
    """Reads and changes under the write lock."""

    def get(self, kind: type[N], id: str) -> N | None: ...
    def same(self, content_hash: str, scope: Scope) -> Memory | None:
        """The pending or active memory of exactly that scope with that content."""

    def tombstone(self, key: str, scope: Scope) -> Tombstone | None:
        """The tombstone that forbids this value wherever a memory of that scope would be seen, if there is one."""

    def turn_before(self, scope: Scope, position: int) -> Memory | None:
        """The active turn of exactly that scope that stands nearest before a place."""

    def source(self, like: Source) -> Source | None:
        """A source that says nothing but what this one says, under whatever id."""

    def was_purged(self, id: str) -> bool: ...
    def read_ahead(self, kind: type[Kept], ids: Sequence[str]) -> None:
        """Read nouns that are about to be changed, all at once: the next change of each need not ask what it was."""

    def put(self, noun: Kept, operation: str, reason: str = "") -> bool:
        """Create or change a noun; False, and no journal row, when nothing differs."""

    def drop(self, kind: type[Kept], id: str, operation: str, reason: str = "") -> bool: ...
    def embed(self, memory: str, model: str, vectors: Floats) -> None:
        """Replace a memory's vectors of one model, one a chunk."""

    def note(self, operation: str, target: str, reason: str) -> None:
        """Append a journal row that changes nothing: something was tried, and refused."""

    def purge(self, memory: str) -> None:
        """Erase a memory with its evidence, links and the sources only it had, and blank their journal rows."""

    def drop_repeating(self, texts: Sequence[str], user: str = "") -> int:
        """Drop the questions, with their answers, that repeat what was erased; gives how many.

        They repeat a whole text, or a word of one that no memory holds any more. With a user, all of theirs go.
        """

    def restate(self, noun: Kept) -> None:
        """Write a noun anew and blank every journal row of it before: its history begins here.

        What points at it must be restated after it, or a replayed journal would tell of it too early.
        """

    def blank(self, target: str) -> None:
        """Blank the journal rows of what is no noun, or of one that is gone."""

    def put_token(self, token: Token, sha256: str = "") -> None:
        """Make a token with the hash of its secret, or change one. Not knowledge: its journal row is a note."""

    def answer(self, hash: str, user: str, project: str) -> Answer | None:
        """The question of that hash in exactly that place, as it stands under the lock."""

    def put_answer(self, answer: Answer, vector: bytes | None = None) -> None:
        """Make or change a question with its answer. Derived, so there is no journal row.

        The vector of the question is in half precision; without one, that of the same model stays.
        """

    def drop_answer(self, id: str, *, erase: bool = False) -> None:
        """Forget a question with its answer; to `erase` it means that no trace of it stays in the files."""

    def put_webhook(self, webhook: Webhook) -> None: ...
    def drop_webhook(self, id: str) -> None: ...

    def replay(self, entry: Entry) -> None:
        """Append the next journal row of another store as it is, and do what it says.

        Only into a tenant that holds nothing else. What a purge erases there is erased here, also where it was taken in
        before the purge.
        """

    def restore_vectors(self, memory: str, model: str, vectors: Floats) -> None:
        """Set a memory's vectors of one model without a journal row: one of that memory was replayed here already."""


class Store(Protocol):
    def tenants(self) -> list[str]:
        """Every tenant that has anything, in order: the one look across the wall, for whoever tends the whole store."""

    def transaction(self, tenant: str, actor: str, now: datetime) -> AbstractContextManager[Transaction]: ...
    def close(self) -> None: ...

    def memories(self, tenant: str, ids: Sequence[str]) -> dict[str, Memory]: ...
    def ending(self, tenant: str, tail: str, limit: int) -> list[str]:
        """Ids of memories that end like this."""

    def page(self, tenant: str, filter: Filter, after: str | None, limit: int) -> list[Memory]:
        """Memories by id, newest first, below the id `after`."""

    def dated(self, tenant: str, filter: Filter, limit: int) -> list[Memory]:
        """Memories by the time they are of (`valid_from`, else `created_at`), newest first."""

    def count(self, tenant: str, filter: Filter) -> int: ...
    def match(self, tenant: str, terms: Sequence[str], filter: Filter, limit: int) -> list[tuple[str, float]]:
        """Full text: ids with their BM25, best first. How rare a word is, is counted in what the scope shows."""

    def frequencies(self, tenant: str, terms: Sequence[str], filter: Filter) -> tuple[int, dict[str, int]]:
        """How many memories the filter's scope lets through, and in how many of them each term occurs."""

    def sharing(self, tenant: str, ids: Sequence[str]) -> list[tuple[str, str, int]]:
        """Pairs of one of these memories and another that shares references with it, with how many."""

    def nearest(self, tenant: str, model: str, query: Floats, filter: Filter, limit: int) -> list[tuple[str, float]]:
        """Vectors: ids with the cosine of their best chunk, best first."""

    def vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Floats]]:
        """The vectors of memories by model, one row a chunk; memories that have none are left out."""

    def cosines(self, tenant: str, model: str, query: Floats, ids: Sequence[str]) -> dict[str, float]: ...
    def unembedded(self, tenant: str, model: str, limit: int, after: str = "") -> list[Memory]:
        """Memories without a vector of that model, in the order of their ids."""

    def of(self, tenant: str, kind: type[N], ids: Sequence[str], column: str = "id") -> list[N]:
        """Nouns of one kind whose `column` is among the ids, in the order of their own ids."""

    def all(self, tenant: str, kind: type[N], after: str, limit: int) -> list[N]:
        """Nouns of one kind in the order of their ids, above the id `after`."""

    def head(self, tenant: str) -> int:
        """The number of the newest journal row."""

    def changed(self, tenant: str, after: int, timeout: float) -> int:
        """Wait until the journal has a row above the number `after`, or the seconds are over; the newest number."""

    def journal(
        self, tenant: str, after: int = 0, limit: int = 1000, target: str | None = None, since: datetime | None = None
    ) -> list[Entry]:
        """Journal rows above a number, in order; of one target, or later than a time."""

    def tokens(self, tenant: str | None) -> list[Token]:
        """The tokens of a tenant; None is all of them, for whoever opens a door."""

    def token(self, sha256: str) -> tuple[Token, str] | None:
        """The token of a secret's hash, of whichever tenant, with the hash as it is stored."""

    def webhooks(self, tenant: str | None) -> list[Webhook]:
        """The webhooks of a tenant; None is all of them, for whoever delivers."""

    def moved(self, noun: Token | Webhook) -> None:
        """Write when a token was last used, or how far a webhook has come: not journalled."""

    def doors(self, tenant: str) -> list[dict[str, Any]]:
        """Tokens and webhooks as they lie here, hashes and secrets included: for a copy of the store, nothing else."""

    def restore_doors(self, tenant: str, doors: Sequence[Mapping[str, Any]]) -> None:
        """Set tokens and webhooks as they lie in another store, and drop the webhooks that do not."""

    def used(self, tenant: str, counts: dict[str, tuple[int, int]], at: datetime) -> None:
        """Add to the counters of use: memory id → (recalled, accessed)."""

    def restore_usage(self, tenant: str, memories: Sequence[Memory]) -> None:
        """Set the counters of use as they stand in these memories (an import)."""

    # Jobs. One is a worker's from `claim` until another claims it after its lease has lapsed, or a person cancels it.
    # From then on the worker can neither renew nor end it, and is told so by False.

    def enqueue(self, tenant: str, job: Job) -> bool:
        """Add a job; False, and nothing changes, when there is one of that id."""

    def claim(self, tenant: str, worker: str, kinds: Sequence[str], now: datetime, lease: timedelta) -> Job | None:
        """Take the job of these kinds that has been due longest: one that is queued, or whose worker's lease lapsed.

        Nobody else gets it before `now + lease`. A job whose last attempt lapsed fails instead.
        """

    def renew(
        self, tenant: str, id: str, worker: str, until: datetime, progress: dict[str, Any] | None = None
    ) -> bool: ...
    def finish(self, tenant: str, id: str, worker: str, now: datetime) -> bool: ...
    def fail(self, tenant: str, id: str, worker: str, error: str, retry_at: datetime | None, now: datetime) -> bool:
        """End an attempt with an error: to be tried again then, or failed for good."""

    def release(self, tenant: str, id: str, worker: str, now: datetime) -> bool:
        """Give a job back; the attempt does not count."""

    def cancel(self, tenant: str, id: str, now: datetime) -> bool:
        """Call off a job that is queued or running; False when it is neither."""

    def retry(self, tenant: str, id: str, now: datetime) -> bool:
        """Queue a job again that is waiting, failed or was cancelled, with all its attempts before it."""

    def jobs(self, tenant: str, states: Sequence[str], limit: int) -> list[Job]:
        """Jobs in these states, or in any, newest first."""

    def restore_jobs(self, tenant: str, jobs: Sequence[Job]) -> None:
        """Set jobs as they stand here (a copy of another store)."""

    # The ledger of what models cost: sums by day, project, operation and model.

    def book(self, tenant: str, spent: Spent) -> None:
        """Add to the sums of a day; a correction may be negative."""

    def spent(self, tenant: str, since: str = "", until: str = "9999-12-31") -> list[Spent]:
        """The sums of the days from `since` to `until`, both included, in order."""

    def spending(self, tenant: str, since: str, day: str) -> tuple[int, int, int]:
        """The money since a day, the money of `day`, and the tokens of `day`."""

    def restore_ledger(self, tenant: str, rows: Sequence[Spent]) -> None:
        """Set sums as they stand here (a copy of another store)."""

    # The answer cache: questions, and the answers that are kept for some of them.

    def answer_of(self, tenant: str, hash: str, user: str, project: str) -> Answer | None:
        """The question of that hash in exactly that place."""

    def answers(self, tenant: str, ids: Sequence[str]) -> list[Answer]: ...
    def all_answers(self, tenant: str, after: str, limit: int) -> list[Answer]:
        """Questions in the order of their ids, above the id `after`."""

    def answer_vectors(self, tenant: str, ids: Sequence[str]) -> dict[str, bytes]:
        """The vectors of questions, in half precision; those that have none are left out."""

    def answer_page(
        self, tenant: str, *, user: str | None = None, project: str | None = None, tiers: Sequence[str] = (),
        kept: bool | None = None, evictable: bool = False, limit: int = 100,
    ) -> list[Answer]:  # fmt: skip
        """Questions, last asked first; with `evictable` those not pinned, in the order in which they may go."""

    def shelf(
        self, tenant: str, user: str, project: str, model: str, after: int
    ) -> tuple[int, list[tuple[str, int, bytes]]]:
        """How many questions of a place have a vector of that model, and those that changed after a number."""

    def asked(self, tenant: str, counts: Sequence[Count], at: datetime) -> None:
        """Add to how often questions were asked and served."""

    def answers_kept(self, tenant: str) -> tuple[int, int]:
        """How many questions there are, and how many of them have an answer."""

    def answer_stats(self, tenant: str, user: str | None = None, project: str | None = None) -> dict[str, Any]: ...

    # The trail: what happened, and where memories were put before somebody.

    def trail(self, tenant: str, trace: Trace, limit: int) -> list[Entry]:
        """The journal rows that fit, in order, or newest first."""

    def reached(self, tenant: str, moment: datetime) -> int:
        """How far the journal had come at a time."""

    def saw(self, tenant: str, sightings: Sequence[Sighting]) -> None:
        """Note where memories were shown; what is gone meanwhile is passed over."""

    def sightings(
        self, tenant: str, memories: Sequence[str] = (), *, session: str = "", across: bool = False,
        since: datetime | None = None, until: datetime | None = None, limit: int = 1000,
    ) -> list[Sighting]:  # fmt: skip
        """Sightings, newest first; `across` keeps those in which one project looked at what another owns."""

    def rate(self, tenant: str, sighting: Sighting, helped: int) -> None: ...
    def forget_sightings(self, tenant: str, before: datetime) -> int:
        """Drop what is older; gives how many there were."""

    # Browsing: what a person sees who looks through a store.

    def browse(self, tenant: str, sieve: Sieve, after: str | None, limit: int) -> list[Memory]: ...
    def counted(self, tenant: str, only: Sequence[str] | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """What memories are counted by, in batches."""

    def recalled_last(self, tenant: str, filter: Filter, limit: int) -> list[Memory]: ...
    def work(self, tenant: str, since: int) -> list[tuple[int, str, int]]: ...
    def newest_links(self, tenant: str, limit: int) -> list[Link]: ...
    def related(self, tenant: str, relation: str, limit: int) -> list[Link]: ...

    def stats(self, tenant: str) -> dict[str, Any]: ...
    def check(self, tenant: str) -> list[Check]: ...
    def leftovers(self, tenant: str, texts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """Where texts were looked for after a purge, where one of them is still found, and where nobody can look."""

    def mend(self) -> None:
        """Build again what is derived inside the store."""

    def save(self) -> None:
        """Write what is derived and worth keeping for the next process."""

    def tidy(self) -> dict[str, Any]:
        """Tend what the backend keeps for itself (statistics, free space, full text), and say what was done."""

    def reindex(self, tenant: str, model: str) -> None:
        """Build the vector index of a model again."""

    def drop_vectors(self, tenant: str, model: str) -> int:
        """Drop the vectors of a model, which is not in use any more; gives how many there were."""
