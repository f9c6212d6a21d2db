"""The engine: the verbs, each readable from top to bottom. Wiring, no SQL, no scoring.

    memory = recollect.open()
    memory.remember("We deploy on Thursdays because support is fully staffed then.", kind="decision")
    memory.recall("when do releases go out?")

An engine belongs to one tenant, and everything it does is done by one actor, whose name stands in the journal. It is
synchronous, may be used from several threads, and works beside other processes on the same file.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from . import checks, exchange, settings, text
from .agent_types import Audience
from .agents.handoffs import Handoffs
from .agents.pools import Pools
from .agents.registry import Registry
from .agents.tokens import Gatekeeper, IssuedTokens
from .agents.webhooks import Webhooks
from .arguments import DraftFields, EditFields, RecallFields
from .capture.pipeline import Pipeline
from .capture.summaries import Summaries
from .checks import MAX_NAME, Cleaner, filter_of, one_of
from .core import Core, Shared, new_id
from .entrypoints.private import make_key
from .errors import BadInput, BudgetSpent, ModelUnavailable, Refused
from .graph import Graph, Verbs
from .grounding import lowest
from .history.derived import trace
from .history.erase import Eraser
from .history.erasures import Erasures
from .lookup import Lookup
from .models.tokens import Tokens
from .recall.context import Budgets, Context, Parts, Turn, build, standing
from .recall.graph import Knowledge
from .recall.steps import NextRecall, next_step
from .recall.task import AT_HAND, stored_task
from .remember import forget, proposals
from .remember.settle import Settler
from .remember.shelf import Shelf
from .store import open_store
from .times import aware
from .types import (
    DERIVED,
    EDITABLE,
    EVERYWHERE,
    RELATIONS,
    TRUSTS,
    Captured,
    Draft,
    Forgotten,
    Hit,
    Job,
    Link,
    Memory,
    Message,
    Page,
    Recall,
    Remembered,
    Scope,
    Source,
)
from .upkeep.entities import VERSION, extract_missing
from .upkeep.jobs import Handler, Jobs, Run
from .upkeep.switch import Change, embed_missing

if TYPE_CHECKING:
    from .models.embedder import Embedder
    from .upkeep.janitor.janitor import Janitor
    from .upkeep.observations import Observer

Progress = Callable[[int, int], None]
MIN_BUDGET = 100  # tokens below which a context holds nothing but its frame
TOKENS = Tokens()
BULK = 10  # memories that are forgotten at once from which a checkpoint is set before
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


class Engine(Lookup):
    """The verbs, for one caller; what a tenant shares is in `Shared`."""

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
    def summaries(self) -> Summaries:
        """Summaries of sessions."""
        return Summaries(self._writer, self.pipeline.take_in, lambda: self._models.embedder()[0])

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
        self, *, tenant: str | None = None, actor: str | None = None, model: bool = False, at: Scope | None = None,
        most: str = "stated",
    ) -> Engine:  # fmt: skip
        """An engine for another tenant, actor or place on the same store and models; it is closed with this one.

        With `model`, a language model speaks through it: what it stores is its conclusion, whatever it claims. `most`
        is how far it is trusted otherwise.
        """
        chosen = self.settings
        if tenant is not None and tenant != self._tenant:
            chosen = replace(chosen, tenant=tenant, user="", project="")
        if at is not None:
            chosen = replace(chosen, user=at.user, project=at.project)
        core = Core.of(self._store, chosen, actor or self._actor, self._now, "derived" if model else most)
        return Engine(core, self._shared if core.tenant == self._tenant else Shared(core, self._shared))

    def other_tenants(self) -> Iterator[Engine]:
        """An engine for each of the other tenants of the store, for whoever tends the whole of it."""
        return (self.for_caller(tenant=tenant) for tenant in self._store.tenants() if tenant != self._tenant)

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
            along = trace(self._writer, found).alone if purge and not keep else ()
            return Forgotten(tuple(found), dry_run, purge, derived=tuple(along))
        if len(found) >= BULK:
            self.checkpoints.automatic("forget", scope=EVERYWHERE)
        if not purge:
            return Forgotten(tuple(forget.retire(self._writer, found, self._reason(reason))))
        user = where.user if where == Scope(user=where.user) else ""
        eraser = Eraser(self._writer, self.settings.home)
        gone, along, receipt = eraser.erase(found, self._reason(reason), user=user, keep=keep)
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
        for memory in found:
            if memory.state != "pending":
                raise BadInput(f"Memory {memory.id} does not wait for review; it is {memory.state}.")
        asked = [(memory, proposals.proposed(memory)) for memory in found]
        done = [self._confirm(*what, memory, reason) for memory, what in asked if what]
        rest = [memory for memory, what in asked if not what]
        return (*done, *(self._settler.approve(rest, target, self._reason(reason)) if rest else ()))

    def propose(self, act: str, memories: Iterable[Memory], *, reason: str = "") -> Forgotten:
        """Ask a person to erase memories for good (`purge`) or to lift their rejection (`unreject`): see `approve`."""
        made = (proposals.propose(self._writer, memory, act, reason) for memory in memories)
        return Forgotten(tuple(made), proposed=True)

    def _confirm(self, act: str, id: str, proposal: Memory, reason: str) -> Memory:
        """Do what was proposed; the proposal goes with it, because it may repeat the words that are erased."""
        if act == "unreject":
            self.reject(id, undo=True, reason=reason)
        self.forget([id, proposal.id] if act == "purge" else proposal.id, purge=act == "purge", reason=reason)
        return replace(proposal, state="archived")

    def link(self, origin: str, relation: str, target: str, *, reason: str = "") -> Link:
        """Tie one memory to another. What is superseded leaves recall and stops being valid now."""
        one_of(relation, RELATIONS, "relation")
        first, second = self._find(origin), self._find(target)
        if first.id == second.id:
            raise BadInput("A memory cannot be linked to itself.")
        return self._writer.link(first, relation, second, self._reason(reason))

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
            scores = {hit.memory.id: hit.score for hit in found.hits}
            self.looks.note(self._actor, "recall", query, options.get("scope", self._scope), list(scores), scores)
        return found

    def recall_next(
        self, question: str, *, thoughts: Sequence[str] = (), shown: Sequence[str] = (), scope: Scope | None = None,
        limit: int = 5, networks: Sequence[str] = (),
    ) -> NextRecall:  # fmt: skip
        """One step of thinking and looking up in turns: what is new for the latest thought, and what is still open."""
        where = scope or self._scope
        asked: RecallFields = {"scope": where, "limit": limit, "shown": tuple(shown), "networks": tuple(networks)}
        found = self.recall(thoughts[-1] if thoughts else question, **asked)
        seen = [one for one in self._store.memories(self._tenant, list(shown)).values() if where.sees(one.scope)]
        return next_step(question, thoughts, seen, found)

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
        order: tuple[str, ...] = ()
        if hits is None:
            hits = ()
            if text.clean(asked):
                found = self.recall(asked, scope=where, limit=20, networks=list(networks))
                hits, order = found.hits, tuple(id for group in found.groups for id in group.memories)
        memories = [*rules, *facts, *(hit.memory for hit in hits)]
        sources = {one.id: one for one in self._store.of(self._tenant, Source, [m.source for m in memories])}
        parts = Parts(
            system, standing(rules, where, sources), facts[:20], task, hits, history, asked, sources, self._now(), order
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

    @property
    def shelf(self) -> Shelf:
        """What was taken in from files: which there are, and what each says today."""
        return Shelf(self._writer)

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

    @property
    def agents(self) -> Registry:
        """Who works on this memory."""
        limit, known = self.settings.agent_rate, (self._shared.presence, self._usage.looked)
        return Registry(self._store, self._tenant, self._actor, self._now, new_id, *known, limit, self.settings.user)

    @property
    def pools(self) -> Pools:
        """What agents share with each other."""
        return Pools(self.agents)

    @property
    def handoffs(self) -> Handoffs:
        """What agents hand over to each other."""
        return Handoffs(self.agents)

    def shared(self, audience: Audience, query: str = "", **options: Any) -> Recall:
        """What is shared with an agent and bears on a question, or the newest of it; each look is noted."""
        if query.strip():
            found = self.recall(query, peek=True, scope=EVERYWHERE, shared=audience, **options)
        else:
            limit = int(options.pop("limit", 10))
            filter = filter_of(now=self._now(), shared=audience, **options)
            page = self._store.page(self._tenant, filter, None, limit)
            found = Recall("", tuple(Hit(memory, 0.0, {}, "shared") for memory in page))
        self.saw([hit.memory for hit in found.hits], "shared", session=audience.agent, every=True)
        return found

    def shows(self, audience: Audience, ids: Sequence[str]) -> set[str]:
        """Those of some memories that are shared with an agent, and hold."""
        return self._store.passing(self._tenant, filter_of(now=self._now(), shared=audience), ids)

    def export(
        self, path: str | Path, *, journal: bool = False, reference: bool = False, progress: Progress | None = None
    ) -> int:
        """Write everything to a JSONL file, optionally with the history; gives the number of memories.

        With `reference`, only the graph, in the form of the reference memory server; gives the number of entities.
        """
        if reference:
            return exchange.export_graph(self.graph(), Path(path))
        self._usage.flush()
        return exchange.export(
            self._store, self._tenant, Path(path), self._now(), journal=journal,
            progress=progress, key=make_key(self.settings.home, exchange.KEY_FILE),
        )  # fmt: skip

    def knowledge(
        self, scope: Scope | None = None, *, as_of: datetime | str | None = None, since: datetime | str | None = None,
        until: datetime | str | None = None, networks: Sequence[str] = (),
    ) -> Knowledge:  # fmt: skip
        """The graph that memories make, seen from a scope, now or as of a time: entities, relations, proofs."""
        where = Cleaner(MAX_NAME).scope(scope or self._scope)
        known, first, last = (aware(one, "time") if one else None for one in (as_of, since, until))
        only, timed = filter_of(now=None, networks=networks).networks, self.watch.hop
        return Knowledge(self._store, self._tenant, where, self._now(), known, first, last, only, timed)

    def extract_entities(self, *, progress: Progress | None = None, most: int = sys.maxsize) -> int:
        """Read the entities and relations of memories that were not read yet, all or about `most`; gives how many.

        The daemon does this in the background (the job `entities`); this is the blocking form.
        """
        done = extract_missing(self._store, self._tenant, self._actor, self._now, progress, most=most)
        if done:
            self.forget_recalls()
        return done

    @cached_property
    def observer(self) -> Observer:
        """What sums up entities; loaded when it is first asked for."""
        from .upkeep.observations import ACTOR, Observer

        writer, embedder = replace(self._writer, actor=ACTOR), lambda: self._models.embedder()[0]
        return Observer(writer, embedder, self.spending.llm, self.extract_entities)

    def has_unread(self) -> bool:
        """Whether there are memories whose entities were not read yet."""
        return bool(self._store.unread(self._tenant, VERSION, 1))

    def forget_recalls(self) -> None:
        """Drop the answers that are kept: they were given without what is new in the graph."""
        self._shared.recalls.clear()

    def import_(
        self, path: str | Path, *, embed: bool = True, trust: str = "unverified", progress: Progress | None = None
    ) -> exchange.Imported:
        """Take in a JSONL file: an export of ours, one object with `content` a line, or entities and relations.

        What it says is trusted at most as `trust`; an export of this home keeps the trust it had.
        """
        granted = one_of(trust, TRUSTS, "trust")
        if Path(path).is_file() and exchange.is_sealed(Path(path), make_key(self.settings.home, exchange.KEY_FILE)):
            granted = "stated"
        trusted, erasures = lowest((granted, self._writer.most)), Erasures.load(self.settings.home, self._tenant)
        importer = exchange.Importer(self._writer, self.graph(), trusted, erasures)
        with self.checkpoints.around("import") as made:
            result = importer.run(Path(path), self._scope, progress)
        result.checkpoint = next((one.name for one in made), "")
        if embed:
            self.embed(progress=progress, change="never")
        self.extract_entities()
        return result

    def embed(self, *, progress: Progress | None = None, change: Change = "always") -> int:
        """Give a vector to every memory that has none of today's model; gives how many there were.

        Where another model serves the store, it is changed over to today's; with `change="new"` only if that never
        served it, and with `"never"` nothing is done then.
        """
        embedder, _ = self._models.embedder()
        if embedder is None:
            return 0
        size = self.settings.embed_batch
        return embed_missing(self._store, self._tenant, self._actor, self._now, embedder, progress, size, change)

    def embed_later(self, *, change: Change = "always") -> Job:
        """Have `embed` done in the background, by whichever worker has today's model: `jobs` shows how far it is."""
        embedder, skipped = self._models.embedder()
        if embedder is None:
            raise ModelUnavailable("There is no model to embed with.", fix="; ".join(skipped))
        return self.jobs.add(f"embed:{embedder.model}", {} if change == "always" else {"change": change})

    @cached_property
    def janitor(self) -> Janitor:
        """What keeps memories clean; loaded when it is first asked for."""
        from .upkeep.janitor.janitor import Janitor
        from .upkeep.janitor.room import Rules

        rules = Rules(self.settings.decay_days, self.settings.compact_days)
        return Janitor(self._writer, self.settings.home, rules, self.answers, lambda: self._models.embedder()[0])

    def mend(self) -> None:
        """Build again what is derived in the store: the full text index."""
        self._store.mend()

    def warm(self) -> threading.Thread:
        """Load the model now, in the background: until it is there, questions are answered from words and say so."""
        return self._models.warm(self._first)

    def _first(self, embedder: Embedder) -> None:
        """A question of no meaning, so that the vectors are read by the first real one."""
        query = embedder.embed([""], "query")[0]
        self._store.nearest(self._tenant, embedder.model, query, filter_of(now=None, scope=EVERYWHERE), 1)

    def model(self) -> tuple[str, str]:
        """The embedding model in use and nothing, or nothing and why: it is loading, not asked for yet, or missing."""
        return self._models.state()

    def _handlers(self) -> dict[str, Handler]:
        """The jobs this process can do. The model stands in the kind, so that a worker with another leaves it alone.

        Each may begin anew after it was cut off: what is done already is not done twice.
        """

        def capture(run: Run) -> None:
            self.extract(list(run.job.payload.get("sources", ())), progress=run.step)

        def entities(run: Run) -> None:
            self.extract_entities(progress=run.step)

        def embed(run: Run) -> None:
            self.embed(progress=run.step, change=run.job.payload.get("change", "always"))

        embedder, _ = self._models.embedder()
        handlers: dict[str, Handler] = {
            "capture": capture, "answers": lambda run: self.answers.refresh(run.step), "janitor": self.janitor.work,
            "entities": entities, "observations": self.observer.work,
            "summary": lambda run: self.summaries.work(run.job.payload),
        }  # fmt: skip
        return {**handlers, f"embed:{embedder.model}": embed} if embedder else handlers

    def _draft(self, content: str, fields: DraftFields) -> Draft:
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in fields.items()}
        values.setdefault("scope", self._scope)
        return Draft(content, **values)
