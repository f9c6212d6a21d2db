"""Settling: what becomes of a statement that nobody asked to keep, and that was found in a conversation.

    rejected before → refused · said again → counted, with its evidence · nearly the same → merged
    · against what is known → the newer and better supported stands, or a person decides · new → active or pending

**Against what is known.** When the claim is trusted more, or a person corrects what is trusted as much, the older
memory is superseded. Trusted as much but not said to be a change: the claim waits for a person. Trusted less, or older:
it is blocked. What holds in a wider scope than the claim is not touched: both stand, tied by `contradicts`.

**The queue** of what waits has a capacity for each tenant; when it is full, new claims are refused. What nobody looks
at within some weeks is believed if a person said it twice, and else expires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from ..errors import BadInput
from ..grounding import Verdict
from ..language import terms
from ..models.relation import MERGE, relation
from ..store.contract import Transaction
from ..types import TRUSTS, Draft, Evidence, Filter, Link, Memory, Near, Scope, Source
from .drafts import Prepared, prepare
from .mention import mention
from .retraction import differ_in_one_place, of_another
from .write import ERASED, Writer, present

if TYPE_CHECKING:
    from ..models.embedder import Embedder

NOT_KNOWN = "by itself it is not worth keeping, and it sets nothing right that is known"
LOOKED_AT = 12  # memories nearest in words that a claim is held against
Action = Literal["created", "pending", "duplicate", "merged", "superseded", "retracted", "blocked", "refused"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A draft with what its grounding says of it.

    `corrects`: a person says that something is otherwise. `echo`: an assistant may only be repeating what it was shown.
    `forgets`: what is taken back; then nothing is stored. `place` tells the version of what found it. `names`: what it
    calls by name; where there is an entity of that name, the memory is tied to it. `only_known`: by itself it is not
    worth keeping, so it is stored only where it sets something right that is known.
    """

    draft: Draft
    verdict: Verdict
    corrects: bool = False
    echo: bool = False
    forgets: str = ""
    place: str = ""
    names: tuple[str, ...] = ()
    only_known: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a claim."""

    action: Action
    memory: Memory | None = None
    reason: str = ""
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settler:
    """Settles claims through a writer, with the size and patience of the review queue."""

    writer: Writer
    capacity: int
    patience: timedelta

    def settle(self, claims: Sequence[Claim], embedder: Embedder | None) -> list[Settled]:
        """What became of each claim, in order. One after the other: a later one may set an earlier one right."""
        if claims:
            self._decide_overdue()
        return [self._settle(claim, embedder) for claim in claims]

    def _decide_overdue(self) -> None:
        """Decide what nobody reviewed in time: what a person said in two turns is believed, the rest expires."""
        writer, now = self.writer, self.writer.now()
        waiting = writer.store.page(writer.tenant, Filter(states=("pending",), tags=("captured",)), None, self.capacity)
        late = [one for one in waiting if one.expires_at and one.expires_at <= now]
        held = writer.store.of(writer.tenant, Evidence, [one.id for one in late], "memory") if late else []
        for memory in late:
            sources = {evidence.source for evidence in held if evidence.memory == memory.id}
            if memory.trust == "stated" and len(sources) > 1:
                self.approve([memory], None, "nobody reviewed it in time, and it was said twice")
            else:
                with writer.changing() as changes:
                    changes.put(replace(memory, state="expired"), "expire", "nobody reviewed it in time")

    def _settle(self, claim: Claim, embedder: Embedder | None) -> Settled:
        writer = self.writer
        if claim.verdict.tier == 3:
            return Settled("blocked", reason=claim.verdict.reason)
        try:
            item = prepare(claim.draft, writer.content_limit, writer.actor, writer.labels)
        except BadInput as error:  # one that cannot be stored must not keep the others out
            return Settled("blocked", reason=error.message)
        if claim.forgets:
            return self._retract(claim, item)
        vectors = writer.vectors([item], embedder)[0]
        near, others = writer.around(item, vectors, embedder)
        others = tuple(dict.fromkeys((*self._in_words(item), *others)))
        with writer.changing() as changes:
            result = self._one(changes, claim, item, near, others)
            new = result.memory is not None and result.action in ("created", "pending", "superseded")
            if new and result.memory and vectors is not None and embedder is not None:
                changes.embed(result.memory.id, embedder.model, vectors)
        return result

    def _in_words(self, item: Prepared) -> list[str]:
        """Memories that may speak of the same, because they use the same words."""
        visible = Filter(scope=item.draft.scope, states=("active",))
        asked = terms.of_query(item.draft.content)
        found = self.writer.store.match(self.writer.tenant, asked, visible, LOOKED_AT) if asked else []
        return [id for id, _ in found]

    def _one(
        self, changes: Transaction, claim: Claim, item: Prepared, near: tuple[Near, ...], others: Sequence[str]
    ) -> Settled:
        writer = self.writer
        if stone := writer.rejected(changes, item.draft, writer.tombstoned([item.draft])):
            changes.note("refuse", stone.id, "the value was rejected before")
            return Settled("refused", reason=f"rejected before{f': {stone.reason}' if stone.reason else ''}")
        if writer.erased(changes, item.source):
            return Settled("refused", reason=ERASED)
        source = writer.source(changes, item.source)
        if same := changes.same(item.key, item.draft.scope):
            return self._again(changes, claim, same, item, source)
        for one in near:
            known = changes.get(Memory, one.id)
            mine = known and known.kind != "turn" and _beside(known.scope, item.draft.scope)
            if known and mine and relation(known.content, item.draft.content).is_sure("same", MERGE):
                return self._again(changes, claim, known, item, source, merge=True)
        against = writer.against(changes, item.draft, others)
        if not against and claim.corrects:
            against = self._said_before(item, source)
        if against:
            return self._contest(changes, claim, item, source, against)
        if claim.only_known:
            return Settled("blocked", reason=NOT_KNOWN)
        return self._fresh(changes, claim, item, source)

    def _said_before(self, item: Prepared, source: Source) -> list[Memory]:
        """What was said in the same session and differs from a correction in one place: "use yarn", "no, use pnpm"."""
        writer = self.writer
        recent = writer.store.dated(writer.tenant, Filter(scope=item.draft.scope, tags=("captured",)), LOOKED_AT)
        theirs = {one.id: one.session for one in writer.store.of(writer.tenant, Source, [one.source for one in recent])}
        return [
            one for one in recent
            if source.session and theirs.get(one.source) == source.session and one.source != source.id
            and differ_in_one_place(one.content, item.draft.content)
        ][:1]  # fmt: skip

    def _again(
        self, changes: Transaction, claim: Claim, known: Memory, item: Prepared, source: Source, *, merge: bool = False
    ) -> Settled:
        """What is known already: more evidence, if it is other words or another source, and no echo."""
        held = self.writer.store.of(self.writer.tenant, Evidence, [known.id], "memory")
        told = {(evidence.source, evidence.quote) for evidence in held}
        if claim.echo or all((source.id, quote) in told for quote in item.evidence):
            return Settled("duplicate", known)
        seen = self.writer.observe(changes, known, item, source, merge=merge, place=claim.place, heard=True)
        if seen.state == "pending" and claim.verdict.tier == 1:  # a person says what waited for one
            seen = replace(seen, state="active", trust=claim.verdict.trust, expires_at=None)
            changes.put(seen, "approve", claim.verdict.reason)
        return Settled("merged" if merge else "duplicate", seen)

    def _contest(
        self, changes: Transaction, claim: Claim, item: Prepared, source: Source, against: Sequence[Memory]
    ) -> Settled:
        ids = tuple(memory.id for memory in against)
        said = item.draft.valid_from
        if isinstance(said, datetime) and any((memory.valid_from or said) > said for memory in against):
            return Settled("blocked", reason="something newer says otherwise", conflicts=ids)
        mine = TRUSTS.index(claim.verdict.trust)
        theirs = max(TRUSTS.index(memory.trust) for memory in against)
        if mine < theirs:
            return Settled("blocked", reason="what is better supported says otherwise", conflicts=ids)
        beside = [memory for memory in against if _beside(memory.scope, item.draft.scope)]
        settled = claim.verdict.tier == 1 and (mine > theirs or claim.corrects)
        if beside and not settled:
            claim = replace(claim, verdict=replace(claim.verdict, tier=2, reason="it contradicts what is known"))
        made = self._fresh(changes, claim, item, source)
        if made.memory is None:
            return replace(made, conflicts=ids)
        for memory in against:
            if settled and memory in beside:
                self.writer.supersede(changes, made.memory, memory, "it says otherwise, and is newer")
            else:
                self.writer.tie(changes, made.memory, "contradicts", memory)
        return replace(made, action="superseded" if settled and beside else made.action, conflicts=ids)

    def _fresh(self, changes: Transaction, claim: Claim, item: Prepared, source: Source) -> Settled:
        writer, verdict, now = self.writer, claim.verdict, self.writer.now()
        if verdict.tier == 1:
            memory = writer.create(changes, item, source, place=claim.place, trust=verdict.trust)
            mention(writer, changes, memory, claim.names)
            return Settled("created", memory, verdict.reason)
        waiting = writer.store.count(writer.tenant, Filter(states=("pending",), current_at=now))
        if waiting >= self.capacity:
            why = f"the review queue is full ({waiting} wait)"
            changes.note("refuse", source.id, why)
            return Settled("refused", reason=why)
        memory = writer.create(
            changes, item, source, place=claim.place, trust=verdict.trust, state="pending",
            expires_at=now + self.patience,
        )  # fmt: skip
        mention(writer, changes, memory, claim.names)
        return Settled("pending", memory, verdict.reason)

    def _retract(self, claim: Claim, item: Prepared) -> Settled:
        """What a person takes back without putting anything in its place: it ends being valid."""
        writer = self.writer
        if claim.verdict.tier != 1:
            return Settled("blocked", reason="only a person takes something back")
        wanted = set(terms.of_query(claim.forgets))
        visible = Filter(scope=item.draft.scope, states=("active", "pending"))
        ids = [id for id, _ in writer.store.match(writer.tenant, sorted(wanted), visible, LOOKED_AT)] if wanted else []
        gone = []
        with writer.changing() as changes:
            for id in ids:
                memory = changes.get(Memory, id)
                # Only what was heard in talk: what somebody had stored is theirs to forget, with a word of its own.
                mine = memory and "captured" in memory.tags and _beside(memory.scope, item.draft.scope)
                theirs = memory and of_another(memory.content, claim.forgets)
                if memory and mine and not theirs and wanted <= set(terms.of_memory(memory)):
                    changes.put(writer.ended(memory, "invalid"), "retract", item.evidence[0])
                    gone.append(memory.id)
        return Settled("retracted", reason=f"taken back: {claim.forgets}", conflicts=tuple(gone))

    def approve(self, memories: Sequence[Memory], into: Memory | None, reason: str) -> list[Memory]:
        """A person believes what waited. What it contradicts is superseded; `into` takes it in as more evidence."""
        if into is not None:
            return [self._join(memory, into, reason) for memory in memories]
        writer, done = self.writer, []
        with writer.changing() as changes:
            for given in memories:
                memory = replace(present(changes, given.id), state="active", expires_at=None)
                writer.may_stand(changes, memory)
                changes.put(memory, "approve", reason)
                for link in writer.store.of(writer.tenant, Link, [memory.id], "origin"):
                    other = changes.get(Memory, link.target) if link.relation == "contradicts" else None
                    if other is not None and other.state == "active" and _beside(other.scope, memory.scope):
                        writer.supersede(changes, memory, other, reason)
                done.append(memory)
        return done

    def _join(self, memory: Memory, into: Memory, reason: str) -> Memory:
        """What waited says what a memory says that stands: its evidence goes there, and that one stands for it."""
        writer = self.writer
        with writer.changing() as changes:
            waiting, target = present(changes, memory.id), present(changes, into.id)
            if target.state != "active" or target.id == waiting.id:
                raise BadInput(f"Memory {target.id} is {target.state}; only an active one takes another in.")
            seen = replace(
                target, observed=target.observed + waiting.observed,
                importance=max(target.importance, waiting.importance),
            )  # fmt: skip
            changes.put(seen, "merge", reason)
            for held in writer.store.of(writer.tenant, Evidence, [waiting.id], "memory"):
                now = writer.now()
                moved = Evidence(writer.new_id(now), seen.id, held.source, held.quote, held.place, now)
                changes.put(moved, "create")
            writer.supersede(changes, seen, waiting, reason)
        return seen


def _beside(one: Scope, other: Scope) -> bool:
    """Whether two memories are of the same user and project: then one may stand for the other."""
    return (one.user, one.project) == (other.user, other.project)
