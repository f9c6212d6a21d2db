"""The engine: the verbs, each readable from top to bottom. Wiring, no SQL, no scoring.

    memory = recollect.open()
    memory.remember("We deploy on Thursdays because support is fully staffed then.", kind="decision")
    memory.recall("when do releases go out?")

An engine belongs to one tenant, and everything it does is done by one actor, whose name stands in the journal. It is
synchronous, may be used from several threads, and works beside other processes on the same file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from . import checks, ids, settings, text
from .agents.tokens import Gatekeeper, IssuedTokens
from .agents.webhooks import Webhooks
from .arguments import DraftFields, EditFields, RecallFields
from .capture.pipeline import Pipeline
from .checks import MAX_NAME, Cleaner, filter_of, one_of
from .core import Core, Shared, new_id
from .errors import Ambiguous, BadInput, BudgetSpent, NotFound, Refused, RowDamaged
from .graph import Graph, Verbs
from .history.facade import History
from .history.usage import counts
from .history.verbs import Hindsight
from .maintenance import Maintenance
from .models.tokens import Tokens
from .recall.context import Budgets, Context, Parts, Turn, build, standing
from .recall.query import MAX_LIMIT
from .recall.task import AT_HAND, stored_task
from .redact import redact
from .remember import forget
from .remember.settle import Settler
from .remember.shelf import Shelf
from .remember.write import Writer
from .store import open_store
from .store.checksums import sound_rows
from .types import (
    DERIVED,
    EDITABLE,
    EVERYWHERE,
    RELATIONS,
    Captured,
    Draft,
    Entry,
    Evidence,
    Filter,
    Forgotten,
    Hit,
    Link,
    Memory,
    Message,
    Page,
    Recall,
    Remembered,
    Scope,
    Source,
)
from .upkeep.jobs import Handler, Jobs, Run

if TYPE_CHECKING:
    from .models.embedder import Embedder

Progress = Callable[[int, int], None]
MIN_BUDGET = 100  # tokens below which a context holds nothing but its frame
TOKENS = Tokens()
STANDING = 200  # rules and project facts that are looked at for a context


def open(
    path: str | Path | None = None, *, tenant: str | None = None, user: str | None = None, project: str | None = None,
    embedder: Embedder | str | None = None, actor: str | None = None, now: Callable[[], datetime] | None = None,
) -> Engine:  # fmt: skip
    """Open the store at `path` (a file, or postgresql://…), or the one the settings name, and make it if need be.

    `embedder` is a model of your own, or the name of one (`default`, `hashing`, `off`, or a folder with an ONNX model).

    >>> import recollect, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, recollect.open(f"{folder}/my.db", embedder="hashing") as memory:
    ...     kept = memory.remember("Ana owns the billing service.", tags=["people"])
    ...     [hit.memory.content for hit in memory.recall("who owns billing?")]
    ['Ana owns the billing service.']
    """
    named = embedder if isinstance(embedder, str) else None
    place = None if path is None else os.fspath(path)
    given: dict[str, Any] = {"store": place, "tenant": tenant, "user": user, "project": project}
    chosen, _ = settings.load(embedder=named, **given)
    clock = now or (lambda: datetime.now(UTC))
    store = open_store(chosen.place, chosen.busy_timeout, clock())
    own = None if embedder is None or isinstance(embedder, str) else embedder
    try:
        core = Core.of(store, chosen, actor or "python", clock, "stated")
        return Engine(core, Shared(core, embedder=own), owner=True)
    except BaseException:
        store.close()
        raise


class Engine(Hindsight, Maintenance):
    """The verbs, for one caller. Parts are built when they are first used; what a tenant shares is in `Shared`."""

    def __init__(self, core: Core, shared: Shared, *, owner: bool = False) -> None:
        self.settings = core.settings
        self._core = core
        self._shared = shared
        self._is_owner = owner  # of the store, which is closed with it
        self._store, self._tenant, self._actor, self._now = core.store, core.tenant, core.actor, core.now
        self._scope = core.scope
        self._models, self._usage = shared.models, shared.usage
        self.watch, self.looks, self.overview = shared.watch, shared.looks, shared.overview
        self.answers, self.spending, self.health = shared.answers, shared.spending, shared.health

    @cached_property
    def _writer(self) -> Writer:
        return self._core.writer

    @cached_property
    def _past(self) -> History:
        return History(self._writer, self.settings.home)

    @cached_property
    def _settler(self) -> Settler:
        return Settler(self._writer, self.settings.review_capacity, timedelta(days=self.settings.review_days))

    @cached_property
    def pipeline(self) -> Pipeline:
        """What stores turns and finds what is worth remembering in them."""
        return Pipeline(
            self._store, self._tenant, self._now, self.settings.content_limit, self.remember_many, self._settler,
            self.spending.llm,
        )  # fmt: skip

    @cached_property
    def jobs(self) -> Jobs:
        """Work in the background."""
        return Jobs(self._store, self._tenant, self._now, self._handlers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is pending and let go of the store."""
        self._usage.flush()
        self.answers.flush()
        if self._is_owner:
            self._store.close()

    def for_caller(
        self, *, tenant: str | None = None, actor: str | None = None, model: bool = False, at: Scope | None = None
    ) -> Engine:
        """An engine for another tenant, actor or place on the same store and models; it is closed with this one.

        With `model`, a language model speaks through it: what it stores is its conclusion, whatever it claims.
        """
        chosen = self.settings
        if tenant is not None and tenant != self._tenant:
            chosen = replace(chosen, tenant=tenant, user="", project="")
        if at is not None:
            chosen = replace(chosen, user=at.user, project=at.project)
        core = Core.of(self._store, chosen, actor or self._actor, self._now, "derived" if model else "stated")
        return Engine(core, self._shared if core.tenant == self._tenant else Shared(core, self._shared))

    def other_tenants(self) -> Iterator[Engine]:
        """An engine for each of the other tenants of the store, for whoever tends the whole of it."""
        return (self.for_caller(tenant=tenant) for tenant in self._store.tenants() if tenant != self._tenant)

    # -- writing ------------------------------------------------------------------------------------------------------

    def remember(self, content: str, *, merge: bool = False, **fields: Unpack[DraftFields]) -> Remembered:
        """Remember one thing; the result says whether it is new, known already, or refused, and what was redacted.

        With `merge`, a memory that says nearly the same takes the new one in instead of standing beside it.
        """
        return self.remember_many([self._draft(content, fields)], merge=merge)[0]

    def remember_many(
        self, drafts: Iterable[Draft | str], *, merge: bool = False, embed: bool = True,
        progress: Progress | None = None,
    ) -> tuple[Remembered, ...]:  # fmt: skip
        """Remember many things at once: checked together, embedded in batches, committed in short transactions.

        Without `embed` they are found by their words alone, until `embed` or the daemon has given them vectors.
        """
        if isinstance(drafts, str | bytes) or not isinstance(drafts, Iterable):
            raise BadInput("drafts must be a list of texts or Drafts.")
        ready = [self._draft(draft, {}) if isinstance(draft, str) else draft for draft in drafts]
        if wrong := [draft for draft in ready if not isinstance(draft, Draft)]:
            raise BadInput(f"drafts must be texts or Drafts, not {type(wrong[0]).__name__}.")
        embedder, skipped = self._models.embedder() if embed else (None, ())
        done: list[Remembered] = []
        for batch in self._writer.remember(ready, embedder, merge=merge):
            done.extend(replace(result, skipped=skipped) for result in batch)
            if progress:
                progress(len(done), len(ready))
        return tuple(done)

    def edit(self, id: str, *, reason: str = "", version: str | None = None, **fields: Unpack[EditFields]) -> Memory:
        """Change fields of a memory; the journal keeps what it was. `state` may be set to active, archived or invalid.

        With the `version` of the memory as it was read, the change is made only if it still stands like that.
        """
        memory = self._find(id)
        if not fields:
            raise BadInput("Nothing to change was given.", fix="Name a field, such as content or importance.")
        if "state" in fields:
            one_of(fields["state"], EDITABLE, "state")
            if memory.state == "rejected":
                raise Refused(f"Memory {memory.id} was rejected.")
        listed = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        return self._writer.edit(memory, listed, self._models.embedder()[0], self._reason(reason), version)

    def forget(
        self, id: str | Sequence[str] | None = None, *, query: str | None = None, scope: Scope | None = None,
        purge: bool = False, dry_run: bool = False, reason: str = "", derived: str = "purge",
    ) -> Forgotten:  # fmt: skip
        """Forget memories by id, by a query (those in which each of its words occurs), or everything inside a scope.

        Forgotten memories leave recall and can be brought back with `edit(id, state="active")`. With `purge` the
        content, its vectors, full text and history are erased and cannot be had back. What was derived from it and has
        no other evidence goes too, unless `derived` is "keep". With `dry_run` nothing happens: the result is what would
        go.
        """
        keep = one_of(derived, DERIVED, "derived") == "keep"
        if sum(way is not None for way in (id, query, scope)) != 1:
            raise BadInput("Name what to forget: an id, a query or a scope.", fix="Give exactly one of the three.")
        where = EVERYWHERE if scope is None else scope
        found = self._named(id) if id is not None else forget.meant(self._writer, query, self._scope, where, purge)
        if dry_run:
            return Forgotten(
                tuple(found), dry_run, purge, derived=self._past.derived(found) if purge and not keep else ()
            )
        self._past.before_forgetting(found)
        if not purge:
            return Forgotten(tuple(forget.retire(self._writer, found, self._reason(reason))))
        user = where.user if where == Scope(user=where.user) else ""
        gone, along, receipt = self._past.erase(found, self._reason(reason), user=user, keep=keep)
        self._shared.recalls.clear()
        receipt = replace(receipt, tokens=self.tokens.end(user)) if user else receipt
        return Forgotten(tuple(gone), purged=True, receipt=receipt.as_dict(), derived=tuple(along))

    def reject(self, id: str | Sequence[str], *, reason: str = "", undo: bool = False) -> Forgotten:
        """Forget memories and never let their value come back; `undo` takes a rejection back."""
        found = self._named(id)
        if undo:
            for memory in found:
                if memory.state != "rejected":
                    raise BadInput(f"Memory {memory.id} was not rejected; it is {memory.state}.")
            return Forgotten(tuple(self._writer.unreject(memory, self._reason(reason)) for memory in found))
        return Forgotten(tuple(self._writer.reject(found, self._reason(reason))))

    # -- capture and review -------------------------------------------------------------------------------------------

    def capture(
        self, messages: Iterable[Message], *, origin: str = "api", session: str = "", scope: Scope | None = None,
        later: bool = False,
    ) -> Captured:  # fmt: skip
        """Store what was said in a session, and keep what is worth keeping of it; with `later`, in a job.

        A turn is stored once, by its id or by who said what. Nothing is believed that was not said by the user or does
        not cite something known: the rest waits for review.
        """
        taken = self.pipeline.take_in(messages, origin, session, scope or self._scope)
        stored, done = taken.sources, Captured()
        if stored and not later:
            try:
                done = self.extract(stored)
            except BudgetSpent as error:  # the turns are safe; a job looks at them when there is money again
                later, done = True, Captured(skipped=(str(error),))
        job = self.jobs.add("capture", {"sources": stored}).id if later and stored else ""
        return replace(done, turns=len(taken.turns), known=taken.known, job=job)

    def extract(self, sources: Sequence[str], *, dry_run: bool = False, progress: Progress | None = None) -> Captured:
        """Look (again) at turns that are stored, by the ids of their sources; what stands already is not doubled."""
        embedder, skipped = self._models.embedder()
        done = self.pipeline.look(sources, embedder, dry_run=dry_run, step=progress)
        return replace(done, skipped=skipped + done.skipped)

    def pending(self, *, scope: Scope | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """What waits for a person, newest first; what nobody looked at in time has left the queue."""
        where = scope or EVERYWHERE
        return self._page(filter_of(now=self._now(), scope=where, inside=True, states=("pending",)), limit, cursor)

    def approve(self, id: str | Sequence[str], *, into: str = "", reason: str = "") -> tuple[Memory, ...]:
        """Believe what waits, and supersede what it contradicts, or do what was proposed. `into` joins it to one."""
        found, target = self._named(id), self._find(into) if into else None
        done, rest = self._confirmed(found, reason)
        return (*done, *(self._settler.approve(rest, target, self._reason(reason)) if rest else ()))

    def link(self, origin: str, relation: str, target: str, *, reason: str = "") -> Link:
        """Tie one memory to another. What is superseded leaves recall and stops being valid now."""
        one_of(relation, RELATIONS, "relation")
        first, second = self._find(origin), self._find(target)
        if first.id == second.id:
            raise BadInput("A memory cannot be linked to itself.")
        return self._writer.link(first, relation, second, self._reason(reason))

    # -- reading ------------------------------------------------------------------------------------------------------

    def recall(self, query: str, *, peek: bool = False, **options: Unpack[RecallFields]) -> Recall:
        """Find the memories that bear on a question, best first, each with its scores and why it was found.

        An answer that probably does not fit is marked `weak`; with `abstain` it is empty instead. `diversity`, from 0
        to 1, prefers what differs from the hits before it; `shown` names memories the session has seen already.
        Only what is active, valid and unexpired is found unless `states` or `as_of` ask for more. `limit` and
        `max_tokens` are upper bounds. `since` and `until` are compared with when a memory holds from, or else was made.
        With `peek` the hits are not counted as recalled.
        """
        found = self._shared.recall(query, {"scope": self._scope, **options})
        if not peek:
            self._usage.add((hit.memory.id for hit in found.hits), recalled=1)
            self.saw((hit.memory for hit in found.hits), "recall")
            where, given = options.get("scope", self._scope), [hit.memory.id for hit in found.hits]
            self.looks.note(self._actor, "recall", query, where, given)
        return found

    def context(
        self, query: str = "", *, scope: Scope | None = None, budget: int = 2000, system: str = "", task: str = "",
        history: Sequence[Turn] = (), index: bool = False, hits: Sequence[Hit] | None = None, most: int = 0,
        networks: Sequence[str] = (),
    ) -> Context:  # fmt: skip
        """What to put before an assistant: standing rules, what the project is, the task, what bears on the query.

        The whole is at most `budget` tokens as it is sent. Recalled text is fenced as data with its source and date.
        With `index`, memories are lines of id, title and age, to be read in full with `get`. `hits` is what bears on
        the query, where that is known already; `most` is how many memories may be shown in all, and
        `networks` which of them may.
        """
        where = scope or self._scope
        cleaner = Cleaner(self.settings.content_limit)
        query, system, task = (cleaner.text(v, n) for v, n in ((query, "query"), (system, "system"), (task, "task")))
        checks.within(budget, MIN_BUDGET, 1_000_000, "budget", whole=True)
        if not all(isinstance(turn, Turn) for turn in history):
            raise BadInput("history must be a list of Turns.")
        task = task or stored_task(self._store, self._tenant, where, self._now())
        visible = filter_of(now=self._now(), scope=where, kinds=("rule", "preference"), networks=networks)
        rules = self._store.page(self._tenant, visible, None, STANDING)
        facts: Sequence[Memory] = []
        if where.project:
            known = filter_of(now=self._now(), scope=where, min_importance=7, networks=networks)
            seen = self._store.page(self._tenant, known, None, STANDING)
            own = [one for one in seen if one.scope.project == where.project and AT_HAND not in one.tags]
            facts = sorted(own, key=lambda m: (-m.importance, m.id))
        asked = query or task
        noted = [] if hits is None else [hit.memory for hit in hits]  # recall notes what it finds
        if hits is None:
            hits = self.recall(asked, scope=where, limit=20, networks=list(networks)).hits if text.clean(asked) else ()
        memories = [*rules, *facts, *(hit.memory for hit in hits)]
        sources = {one.id: one for one in self._store.of(self._tenant, Source, [m.source for m in memories])}
        parts = Parts(
            system, standing(rules, where, sources), facts[:20], task, hits, history, asked, sources, self._now()
        )  # fmt: skip
        fixed = {} if history else {"history": 0}
        made = build(parts.first(most) if most else parts, Budgets.of(budget, **fixed), TOKENS, index=index)
        told = {id for block in made.blocks for id in block.memories}
        self.saw([memory for memory in (*rules, *facts, *noted) if memory.id in told], "context")
        return made

    def shown(self, ids: Sequence[str]) -> None:
        """Count memories as recalled, which were found with `peek` and put before somebody since."""
        self._usage.add(ids, recalled=1)

    def graph(self, scope: Scope | None = None, inside: Scope = EVERYWHERE) -> Graph:
        """Entities by name, what is known of each and how they relate: seen from a scope, changed inside another."""
        where = Cleaner(MAX_NAME).scope(scope or self._scope)
        verbs = Verbs(self.remember_many, lambda query: self.recall(query, scope=where, limit=20), new_id)
        return Graph(self._store, self._tenant, self._actor, self._now, where, inside, verbs)

    def get(
        self, id: str, *, peek: bool = False, as_of: datetime | str | None = None, true_at: datetime | str | None = None
    ) -> Memory:
        """One memory, by its id or the last characters of it; with `peek` the look is not counted.

        `as_of` gives it as it was known then; `true_at` the one that held then, of it and those it stands for.
        """
        memory = self._past.get(lambda: self._find(id), id, as_of, true_at)
        if not peek:
            self._usage.add([memory.id], accessed=1)
            self.saw([memory], "get")
        return memory

    def list(self, *, scope: Scope | None = None, limit: int = 50, cursor: str | None = None, **filters: Any) -> Page:
        """Memories inside a scope, newest first, with the cursor of the next page.

        Takes the filters of recall: `kinds`, `networks`, `tags`, `states`, `since`, `until`, `min_importance`; and
        `as_of`, what was known then, and `true_at`, what held then.
        """
        self._usage.flush()
        where = scope or EVERYWHERE
        self._may_page(limit, cursor)
        past = self._past.page(
            lambda at, more: filter_of(now=at, scope=where, inside=True, **more), filters, cursor, limit + 1
        )
        page = self._page(filter_of(now=None, scope=where, inside=True, **filters), limit, cursor, past)
        self.saw(page.memories, "list")
        return page

    def count(self, *, scope: Scope | None = None, **filters: Any) -> int:
        """How many memories `list` would give, all pages together."""
        return self._store.count(self._tenant, filter_of(now=None, scope=scope or EVERYWHERE, inside=True, **filters))

    def _page(self, filter: Filter, limit: int, cursor: str | None, past: Sequence[Memory] | None = None) -> Page:
        self._may_page(limit, cursor)
        found, damaged = sound_rows(
            lambda most: self._store.page(self._tenant, filter, cursor, most) if past is None else past, limit + 1
        )
        return Page(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None, damaged)

    @staticmethod
    def _may_page(limit: int, cursor: str | None) -> None:
        if not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise BadInput(f"limit must be a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")
        if cursor is not None and not (isinstance(cursor, str) and ids.whole(cursor)):
            raise BadInput(f"cursor {cursor!r} is not one of ours.", fix="Take the cursor of the page before.")

    def evidence(self, id: str) -> tuple[Source | None, tuple[Evidence, ...]]:
        """Where a memory came from: its source, and the quotes that support it."""
        memory = self._find(id)
        sources = self._store.of(self._tenant, Source, [memory.source])
        quotes = self._store.of(self._tenant, Evidence, [memory.id], "memory")
        return (sources[0] if sources else None), tuple(quotes)

    def sources(self, ids: Sequence[str]) -> tuple[Source, ...]:
        """The sources among these ids that are known: what has been taken in already."""
        return tuple(self._store.of(self._tenant, Source, list(ids)))

    def links(self, id: str) -> tuple[Link, ...]:
        """The links from and to a memory."""
        memory = self._find(id)
        found = {
            link.id: link
            for column in ("origin", "target")
            for link in self._store.of(self._tenant, Link, [memory.id], column)
        }
        return tuple(found.values())

    def history(self, id: str) -> tuple[Entry, ...]:
        """Every change of a memory, oldest first: who, when, why, before and after."""
        whole = isinstance(id, str) and len(id) == ids.LENGTH
        entries = self._past.rows(id if whole else self._find(id).id)
        if not entries:
            raise NotFound(f"No memory has the id {id!r}.")
        return tuple(entries)

    def changes(self, *, after: int = 0, limit: int = 100) -> tuple[Entry, ...]:
        """What changed after a sequence number of the journal, in the order it happened."""
        checks.within(after, 0, 2**53, "after", whole=True)
        checks.within(limit, 1, MAX_LIMIT, "limit", whole=True)
        return tuple(self._store.journal(self._tenant, after, limit))

    def stats(self, *, scope: Scope | None = None) -> dict[str, Any]:
        """Counts of everything, and the size of the files; with a scope, of the memories inside it alone."""
        if scope is not None:
            return counts(self._store, self._tenant, scope)
        self._usage.flush()
        return {**self._store.stats(self._tenant), "recall_cache": self._shared.recalls.stats.as_dict()}

    @property
    def head(self) -> int:
        """The sequence number of the newest change."""
        return self._store.head(self._tenant)

    def wait(self, after: int, seconds: float) -> int:
        """Wait until there is a change later than the number `after`, or the time is over; the newest number."""
        return self._store.changed(self._tenant, after, seconds)

    @property
    def shelf(self) -> Shelf:
        """What was taken in from files: which there are, and what each says today."""
        return Shelf(self._writer)

    # -- access -------------------------------------------------------------------------------------------------------

    @property
    def tokens(self) -> IssuedTokens:
        """Who may call from elsewhere."""
        return IssuedTokens(self._store, self._tenant, self._actor, self._now, new_id)

    @property
    def webhooks(self) -> Webhooks:
        """Where changes are posted to."""
        return Webhooks(self._store, self._tenant, self._actor, self._now, new_id)

    def gatekeeper(self) -> Gatekeeper:
        """The look-up of tokens, of whichever tenant, for a server in front of this store."""
        return Gatekeeper(self._store, self._now, self.settings.rate_limit)

    # -- jobs ---------------------------------------------------------------------------------------------------------

    def _handlers(self) -> dict[str, Handler]:
        """The jobs this process can do. The model stands in the kind, so that a worker with another leaves it alone."""
        embedder, _ = self._models.embedder()
        handlers: dict[str, Handler] = {
            "capture": self._capture_job, "answers": self._answers_job, "janitor": self.janitor.work
        }  # fmt: skip
        return {**handlers, f"embed:{embedder.model}": self._embed_job} if embedder else handlers

    def _capture_job(self, run: Run) -> None:
        """Looking twice changes nothing, so an attempt may begin anew."""
        self.extract(list(run.job.payload.get("sources", ())), progress=run.step)

    def _answers_job(self, run: Run) -> None:
        """Only what no longer holds is computed again, so an attempt may begin anew."""
        self.answers.refresh(run.step)

    def _embed_job(self, run: Run) -> None:
        """Every batch is committed, so an attempt goes on where the one before was cut off."""
        self.embed(progress=run.step, change=run.job.payload.get("change", "always"))

    # -- small parts --------------------------------------------------------------------------------------------------

    def _draft(self, content: str, fields: DraftFields) -> Draft:
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in fields.items()}
        values.setdefault("scope", self._scope)
        return Draft(content, **values)

    def _reason(self, reason: str) -> str:
        return Cleaner(MAX_NAME, redact).text(reason, "reason", 1000)

    def _named(self, id: str | Sequence[str]) -> Sequence[Memory]:
        """The memories of one or several ids, each once."""
        if not isinstance(id, str | list | tuple):
            raise NotFound(f"{text.shorten(str(id), 40)!r} is not an id.")
        found = [self._find(one) for one in ([id] if isinstance(id, str) else id)]
        return list({memory.id: memory for memory in found}.values())

    def _find(self, id: str) -> Memory:
        """The memory of an id, or of its last few characters."""
        if not isinstance(id, str) or not ids.plausible(wanted := id.strip().lower()):
            raise NotFound(f"{text.shorten(str(id), 40)!r} is not an id.")
        self._usage.flush()
        if len(wanted) < ids.LENGTH:
            fitting = self._store.ending(self._tenant, wanted, 3)
            if len(fitting) > 1:
                raise Ambiguous(f"{wanted!r} is the end of several ids: {', '.join(fitting)}.")
            wanted = fitting[0] if fitting else wanted
        found, damaged = sound_rows(lambda _: self._store.memories(self._tenant, [wanted]), 1)
        if wanted not in found:
            raise RowDamaged(f"{wanted} is damaged.") if damaged else NotFound(f"No memory has the id {wanted!r}.")
        return found[wanted]
