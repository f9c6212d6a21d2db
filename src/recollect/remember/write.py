"""The write path. Whatever wants to become a memory goes through `remember`.

    prepare (check, clean, redact) → embed in one batch
    → under the write lock: rejected before? known already? against what is known? → commit

The last questions are asked under the lock, so two processes that say the same thing at once make one memory. Memory,
source, evidence, vectors, full text and journal land in one transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from .. import text, times
from ..checks import MAX_TAGS, Cleaner
from ..errors import BadInput, ChangedMeanwhile, ModelUnavailable, NotFound, Refused
from ..grounding import hedged, lowest
from ..language.terms import of_query, terms
from ..language.vetoes import share_words
from ..models.relation import LINK, RESOLVE, relation
from ..redact import redact
from ..store.contract import Store, Transaction
from ..types import TRUSTS, Draft, Evidence, Filter, Link, Memory, Near, Remembered, Scope, Source, Tombstone
from . import belief, disguises, values
from .change import Span, apart, says_change
from .disguises import REJECTED, blank
from .drafts import MAX_KEYWORDS, MAX_REFS, TRUST_OF, Prepared, fields_of, prepare, source_of
from .labels import NONE, RECORDS, Labels
from .retraction import ends, retraction

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..vectors import Floats

BATCH = 256  # drafts a transaction: short enough that another process waits milliseconds, long enough to be fast
MAX_NEAR = 3
AROUND = 8  # memories nearest in meaning that a new one is held against
MAX_CONTEXT = 2000  # characters of the turn before that a turn carries along
MAX_TURNS = 200  # turns nearest in words that are looked through for a value that is rejected
BLANKED = ("content", "title", "reasoning", "context")
ERASED = "it was erased for good"
log = logging.getLogger("recollect")
Turn = TypeVar("Turn", Draft, Memory)


@dataclass(frozen=True, slots=True)
class Writer:
    """What the write path needs: a store, perhaps an embedder, and who is writing."""

    store: Store
    tenant: str
    actor: str
    now: Callable[[], datetime]
    new_id: Callable[[datetime], str]
    content_limit: int
    near_duplicate: float
    most: str = "stated"  # as far as the words of whoever writes are trusted: a model's are its own conclusion
    labels: Labels = NONE

    def changing(self) -> AbstractContextManager[Transaction]:
        """A transaction in the name of who is writing."""
        return self.store.transaction(self.tenant, self.actor, self.now())

    def remember(
        self, drafts: Sequence[Draft], embedder: Embedder | None, *, merge: bool = False
    ) -> Iterator[list[Remembered]]:
        """What became of each draft, in order, a batch at a time; every draft is checked before the first is stored."""
        prepared = []
        for number, draft in enumerate(drafts):
            try:
                prepared.append(prepare(draft, self.content_limit, self.actor, self.labels))
            except BadInput as error:
                if len(drafts) > 1:
                    error.message = f"Draft {number + 1} of {len(drafts)}: {error.message}"
                raise
        for start in range(0, len(prepared), BATCH):
            yield self._batch(prepared[start : start + BATCH], embedder, merge)

    def _batch(self, batch: list[Prepared], embedder: Embedder | None, merge: bool) -> list[Remembered]:
        vectors = self.vectors(batch, embedder)
        around = self.around_each(batch, vectors, embedder, merge)
        results = []
        with self.changing() as changes:
            parts = self.tombstoned(item.draft for item in batch) if self._has_tombstones() else None
            changes.expect([item.key for item in batch], [item.source for item in batch])
            for item, found, (near, others) in zip(batch, vectors, around, strict=True):
                result = self._one(changes, item, near, others, merge, parts)
                if result.action == "created" and found is not None and embedder is not None:
                    changes.embed(result.id, embedder.model, found)
                results.append(result)
        return results

    def vectors(self, batch: list[Prepared], embedder: Embedder | None) -> list[Floats | None]:
        """The vectors of the drafts that look new; what is known already need not be embedded again."""
        same = self.store.of(self.tenant, Memory, [item.key for item in batch], "content_hash")
        known = {(memory.content_hash, memory.scope) for memory in same if memory.state in ("active", "pending")}
        fresh = [n for n, item in enumerate(batch) if (item.key, item.draft.scope) not in known]
        vectors: list[Floats | None] = [None] * len(batch)
        for n, made in zip(fresh, embed_or_wait([batch[n].draft for n in fresh], embedder), strict=True):
            vectors[n] = made
        return vectors

    def around(
        self, item: Prepared, vectors: Floats | None, embedder: Embedder | None
    ) -> tuple[tuple[Near, ...], tuple[str, ...]]:
        """What is stored and says nearly the same, seen from the draft's scope, and what says otherwise."""
        return self.around_each([item], [vectors], embedder, merge=True)[0]

    def around_each(
        self, batch: Sequence[Prepared], vectors: Sequence[Floats | None], embedder: Embedder | None, merge: bool
    ) -> list[tuple[tuple[Near, ...], tuple[str, ...]]]:
        """The same for many, each scope asked at once. A record of what was said or written is only stored."""
        around: list[tuple[tuple[Near, ...], tuple[str, ...]]] = [((), ())] * len(batch)
        scopes: dict[Scope, list[int]] = {}
        for n, item in enumerate(batch):
            if vectors[n] is not None and (merge or item.draft.kind not in RECORDS):
                scopes.setdefault(item.draft.scope, []).append(n)
        for scope, numbers in scopes.items():
            asked = [made[0] for n in numbers if (made := vectors[n]) is not None]
            visible, model = Filter(scope=scope, states=("active", "pending")), embedder.model if embedder else ""
            nearest = self.store.nearest_each(self.tenant, model, asked, visible, AROUND)
            known = self.store.memories(self.tenant, list({id for found in nearest for id, _ in found}))
            for n, found in zip(numbers, nearest, strict=True):
                around[n] = self._around(batch[n], found, known)
        return around

    def _around(
        self, item: Prepared, found: Sequence[tuple[str, float]], known: Mapping[str, Memory]
    ) -> tuple[tuple[Near, ...], tuple[str, ...]]:
        near = tuple(
            Near(id, round(score, 4), memory.title or text.title_of(memory.content))
            for id, score in found[:MAX_NEAR]
            if score > self.near_duplicate and (memory := known.get(id)) and memory.content_hash != item.key
            and share_words(memory.content, item.draft.content) and not belief.sums_up(memory)
        )  # fmt: skip
        beside = [known[id] for id, _ in found if id in known] if claims(item.draft) else []
        # Read before the lock is taken: `relation` remembers what it found.
        said = [one.id for one in beside if comparable(one) and opposed(one.content, item.draft.content)]
        return near, tuple(said)

    def against(self, changes: Transaction, draft: Draft, others: Sequence[str]) -> list[Memory]:
        """The memories among these that cannot be true beside a draft, as they stand now."""
        found = [memory for id in others if (memory := changes.get(Memory, id)) and memory.state == "active"]
        said = [memory for memory in found if comparable(memory)]
        own = times.aware(draft.valid_from or self.now()), times.aware(draft.valid_to) if draft.valid_to else None
        return [one for one in said if not apart(span(one), own) and opposed(one.content, draft.content)]

    def _one(
        self, changes: Transaction, item: Prepared, near: tuple[Near, ...], others: Sequence[str], merge: bool,
        parts: Collection[str] | None,
    ) -> Remembered:  # fmt: skip
        stone = self.rejected(changes, item.draft, parts)
        if stone and (item.draft.kind != "turn" or self._cut_rejected(changes, item.draft, parts).content == REJECTED):
            changes.note("refuse", stone.id, "the value was rejected before")
            why = f"rejected before{f': {stone.reason}' if stone.reason else ''}"
            return Remembered("refused", None, item.redacted, reason=why)
        if self.erased(changes, item.source):
            return Remembered("refused", None, item.redacted, reason=ERASED)
        if self.most != "stated" and claims(item.draft) and (words := hedged(item.draft.content)):
            changes.note("refuse", self.actor, f'it takes itself back: "{words}"')
            return Remembered("refused", None, item.redacted, reason=f'it takes itself back: "{words}"')
        source = self.source(changes, item.source)
        if same := changes.same(item.key, item.draft.scope):
            seen = self.observe(changes, same, item, source, place=item.draft.place)
            return Remembered("duplicate", seen, item.redacted)
        for one in near if merge else ():
            known = changes.get(Memory, one.id)
            if known and relation(known.content, item.draft.content).kind == "same":
                merged = self.observe(changes, known, item, source, merge=True, place=item.draft.place)
                return Remembered("merged", merged, item.redacted, near)
        against = self.against(changes, item.draft, others) if claims(item.draft) else []
        memory = self.create(changes, item, source, place=item.draft.place)
        found = self.tombstoned([memory]) if memory.kind == "turn" and parts is not None else None
        if found and self.rejected(changes, memory, found):
            memory = self._blank(changes, memory, found, "a value in it was rejected before")
        gone = [other.id for other in against if self._contest(changes, memory, other)]
        beside = tuple(other.id for other in against if other.id not in gone)
        return Remembered("created", memory, item.redacted, near, superseded=tuple(gone), conflicts=beside)

    def _contest(self, changes: Transaction, new: Memory, old: Memory) -> bool:
        """Whether a new memory stands for one that it cannot be true beside; else both stand, and are tied.

        It does when it is of the same place and better supported, or as well and says itself that something changed.
        """
        gained = TRUSTS.index(new.trust) - TRUSTS.index(old.trust)
        later = (new.valid_from or new.created_at) >= (old.valid_from or old.created_at)
        same = (new.scope.user, new.scope.project) == (old.scope.user, old.scope.project)
        sure = later and opposed(old.content, new.content, RESOLVE)
        fair = new.network != "opinion" or old.network == "opinion"  # a judgement does not end a fact
        if same and fair and sure and (gained > 0 or (gained == 0 and says_change(new.content))):
            self.supersede(changes, new, old, "it says otherwise, and is newer")
            return True
        self.tie(changes, new, "contradicts", old)
        return False

    def create(self, changes: Transaction, item: Prepared, source: Source, *, place: str = "", **given: Any) -> Memory:
        """A new memory of a draft; what is `given` (state, trust, when it expires) is not the draft's to say."""
        now, draft = self.now(), item.draft
        fields: dict[str, Any] = {name: getattr(draft, name) for name in COPIED}
        # A turn is understood by the one before it; it is searched together with that.
        if draft.kind == "turn" and not draft.context and draft.scope.session and draft.position is not None:
            before = changes.turn_before(draft.scope, draft.position)
            fields["context"] = before.content[:MAX_CONTEXT] if before else ""
        fields.update({"trust": item.trust, **given})
        fields["trust"] = lowest((fields["trust"], self.most))
        memory = Memory(
            id=self.new_id(now), created_at=now, updated_at=now, content_hash=item.key, source=source.id, **fields
        )
        changes.add(memory, "create")
        self.support(changes, memory, source, item.evidence, place)
        return memory

    def observe(
        self, changes: Transaction, known: Memory, item: Prepared, source: Source, *, merge: bool = False,
        place: str = "", heard: bool = False,
    ) -> Memory:  # fmt: skip
        """A memory that was said again: counted, with the new evidence; merged, also with what the draft adds.

        What is `heard` in talk again and again matters more: a step each time its count has doubled.
        """
        seen = replace(known, observed=known.observed + 1)
        if heard and seen.observed.bit_count() == 1:
            seen = replace(seen, importance=min(10, seen.importance + 1))
        if merge:
            seen = absorb(seen, item.draft)
        changes.put(seen, "merge" if merge else "observe")
        quotes = item.evidence or ((item.draft.content,) if merge else ())
        self.support(changes, seen, source, quotes, place)
        return seen

    def support(
        self, changes: Transaction, memory: Memory, source: Source, quotes: Sequence[str], place: str = ""
    ) -> None:
        now = self.now()
        for quote in quotes:
            changes.add(Evidence(self.new_id(now), memory.id, source.id, quote, place, now), "create")

    def erased(self, changes: Transaction, source: Source) -> bool:
        """Whether what was said there was erased for good: being told of it again does not bring it back."""
        if not source.id or changes.get(Source, source.id) or not changes.was_purged(source.id):
            return False
        changes.note("refuse", source.id, ERASED)
        return True

    def source(self, changes: Transaction, source: Source) -> Source:
        """The source as the store has it: the same one again, or a new row."""
        if source.id:
            if known := changes.get(Source, source.id):
                return known
        elif known := changes.source(source):
            return known
        now = self.now()
        fresh = replace(source, id=source.id or self.new_id(now), created_at=now)
        changes.add(fresh, "create")
        return fresh

    def edit(
        self, memory: Memory, fields: dict[str, Any], embedder: Embedder | None, reason: str, version: str | None = None
    ) -> Memory:
        """Change a memory's own fields, under the same checks as a new one; with a version, only that one."""
        cleaner = Cleaner(self.content_limit, redact)
        own = {name: value for name, value in fields.items() if name not in ("state", "source")}
        named = self.labels.source(source_of(fields["source"], self.actor, cleaner)) if "source" in fields else None
        draft = fields_of(replace(Draft(**{name: getattr(memory, name) for name in COPIED}), **own), cleaner)
        labelled = self.labels.draft(draft)
        own |= {"tags": labelled.tags} if labelled.tags != draft.tags else {}
        draft = labelled
        wanted = replace(memory, **{name: getattr(draft, name) for name in COPIED})
        vectors = embed_or_wait([wanted], embedder)[0] if wanted.embedded() != memory.embedded() else None
        refused: Tombstone | None = None
        with self.changing() as changes:
            # Only what was asked for changes: another process may have edited the rest meanwhile.
            current = present(changes, memory.id)
            if version is not None and current.version != version:
                raise ChangedMeanwhile(f"Memory {memory.id} is no longer as it was read.")
            edited = replace(current, **{name: getattr(draft, name) for name in own})
            edited = replace(edited, state=fields.get("state", current.state), content_hash=text.key(edited.content))
            if "keywords" not in own:
                edited = replace(edited, keywords=_still_said(current, edited))
            if named is not None:
                source = self.source(changes, named)
                edited = replace(edited, source=source.id, trust=lowest((TRUST_OF[source.kind], self.most)))
            if fields.get("state") == "invalid":
                edited = self.ended(edited, "invalid")
            elif fields.get("state") == "active" and current.state in ENDED and "valid_to" not in own:
                edited = replace(edited, valid_to=None)  # what is brought back holds again
            if (edited.content, edited.title, edited.reasoning) != (current.content, current.title, current.reasoning):
                edited = replace(edited, updated_at=self.now(), trust=lowest((edited.trust, self.most)))
            if edited.state in ("active", "pending") and _texts(edited) != _texts(current):
                refused = self.rejected(changes, edited, self.tombstoned([edited]))
            if refused is None:
                self.may_stand(changes, edited)
                changes.put(edited, "edit", reason)
                if vectors is not None and embedder is not None and edited.embedded() == wanted.embedded():
                    changes.embed(memory.id, embedder.model, vectors)
            else:
                changes.note("refuse", refused.id, "the value was rejected before")
        if refused is not None:
            raise Refused("That value was rejected before.")
        return edited

    def rejected(self, changes: Transaction, said: Draft | Memory, parts: Collection[str] | None) -> Tombstone | None:
        """The tombstone that forbids a text: for all of it, or for one of its `parts` that some tombstone names.

        A value does not become true by standing behind a label, in a list, in a title or among the tags.
        """
        keys = [key for key in _keys(said) if key in parts] if parts else []
        return next((found for key in keys if (found := changes.tombstone(key, said.scope))), None)

    def tombstoned(self, texts: Iterable[Draft | Memory]) -> set[str]:
        """The keys of these texts and of statements inside them that some tombstone names; asked under the lock."""
        if not self._has_tombstones():
            return set()
        keys = {key for said in texts for key in _keys(said)}
        return {stone.key for stone in self.store.of(self.tenant, Tombstone, sorted(keys), "key")} if keys else set()

    def _has_tombstones(self) -> bool:
        return bool(self.store.all(self.tenant, Tombstone, "", 1))

    def forbids(self, said: str, scope: Scope) -> bool:
        """Whether somebody rejected this value, or one that stands in it, where it would be seen."""
        draft = Draft(said, scope=scope)
        with self.changing() as changes:
            stone = self.rejected(changes, draft, self.tombstoned([draft]))
            if stone is not None:
                changes.note("refuse", stone.id, "the value was rejected before")
        return stone is not None

    def may_stand(self, changes: Transaction, memory: Memory) -> None:
        """Raise if a memory may not stand as it is: its value was rejected, or another says the same."""
        if memory.state == "active" and self.rejected(changes, memory, self.tombstoned([memory])):
            raise Refused("That value was rejected before.")
        same = changes.same(memory.content_hash, memory.scope)
        if same and same.id != memory.id and memory.state in ("active", "pending"):
            raise BadInput(f"Memory {same.id} says the same.", fix=f"Forget one of the two: {same.id}.")

    def link(self, origin: Memory, relation: str, target: Memory, reason: str) -> Link:
        """Tie a memory to another; known already, it is the same link. What is superseded stops being valid now."""
        with self.changing() as changes:
            for known in self.store.of(self.tenant, Link, [origin.id], "origin"):
                if (known.relation, known.target) == (relation, target.id):
                    return known
            target = present(changes, target.id)
            if relation == "supersedes" and (state := present(changes, origin.id).state) in ("rejected", "pending"):
                raise Refused(f"Memory {origin.id} is {state}, so it stands for no other.")
            if relation == "derived_from" and (origin.network, target.network) == ("world", "opinion"):
                raise Refused(f"Memory {target.id} is an opinion; a fact does not rest on one.")
            if relation == "supersedes" and target.state == "active":
                return self.supersede(changes, origin, target, reason)
            return self.tie(changes, origin, relation, target, reason)

    def supersede(self, changes: Transaction, new: Memory, old: Memory, reason: str) -> Link:
        """The new memory stands for the old one, which leaves recall and stays in the history."""
        link = self.tie(changes, new, "supersedes", old, reason)
        changes.put(self.ended(old, "superseded"), "supersede", reason)
        return link

    def tie(self, changes: Transaction, origin: Memory, relation: str, target: Memory, reason: str = "") -> Link:
        now = self.now()
        link = Link(self.new_id(now), origin.id, relation, target.id, reason=reason, created_at=now)
        changes.put(link, "link", reason)
        if (sure := belief.moved(target, relation, origin)) != target.confidence:
            changes.put(replace(target, confidence=sure), "weigh", f"after {belief.name_evidence(origin)}")
        return link

    def ended(self, memory: Memory, state: str) -> Memory:
        """A memory that holds no longer: its validity is closed."""
        now = self.now()
        return replace(memory, state=state, valid_to=memory.valid_to or max(now, memory.valid_from or now))

    def reject(self, memories: Sequence[Memory], reason: str) -> list[Memory]:
        """Forget, and make sure that the value never comes back where this would be seen."""
        rejected = []
        with self.changing() as changes:
            for given in memories:
                memory, now = present(changes, given.id), self.now()
                # Where it was learnt does not matter: a branch, agent or session must not be a way around.
                scope = Scope(user=memory.scope.user, project=memory.scope.project)
                key = values.key(memory.content)
                stones = self.store.of(self.tenant, Tombstone, [key], "key")
                if scope not in (known.scope for known in stones):
                    stone = Tombstone(self.new_id(now), key, scope, memory.id, reason, now)
                    changes.put(stone, "create", reason)
                gone = replace(memory, state="rejected")
                changes.put(gone, "reject", reason)
                rejected.append(gone)
                for turn in self._turns(memory.content_hash, "active"):
                    if turn.id != memory.id and changes.tombstone(key, turn.scope):
                        changes.put(replace(turn, state="rejected"), "reject", reason)
                self._blank_turns(changes, memory, {key}, reason)
        return rejected

    def _blank_turns(self, changes: Transaction, rejected: Memory, parts: Collection[str] | None, reason: str) -> None:
        """Take the rejected sentence out of the turns and summaries that say more than it."""
        words = of_query(rejected.content)
        place = Scope(user=rejected.scope.user, project=rejected.scope.project)
        visible = Filter(place, inside=True, kinds=("turn", "summary"), states=("active",))
        near = [id for id, _ in self.store.match(self.tenant, words, visible, MAX_TURNS)] if words else []
        for turn in (changes.get(Memory, id) for id in sorted(near)):
            if turn and turn.state == "active" and self.rejected(changes, turn, parts):
                self._blank(changes, turn, parts, reason)

    def _blank(self, changes: Transaction, turn: Memory, parts: Collection[str] | None, reason: str) -> Memory:
        blanked = self._cut_rejected(changes, turn, parts)
        changes.put(blanked, "reject", reason)
        return blanked

    def _cut_rejected(self, changes: Transaction, turn: Turn, parts: Collection[str] | None) -> Turn:
        """A turn without the sentences that were rejected; as it was said, it stays in the journal."""

        def is_rejected(piece: str) -> bool:
            return self.rejected(changes, Draft(piece, scope=turn.scope), parts) is not None

        texts: dict[str, Any] = {name: blank(getattr(turn, name), is_rejected) for name in BLANKED}
        for name in ("tags", "keywords"):
            texts[name] = tuple(one for one in getattr(turn, name) if not is_rejected(one))
        return replace(turn, **texts)

    def unreject(self, memory: Memory, reason: str) -> Memory:
        """Take a rejection back: the memory is active again and its value may be said."""
        own = Scope(user=memory.scope.user, project=memory.scope.project)
        with self.changing() as changes:
            keys = values.keys(memory.content)
            for stone in self.store.of(self.tenant, Tombstone, list(keys), "key"):
                if stone.scope == own:
                    changes.drop(Tombstone, stone.id, "unreject", reason)
                elif stone.scope.user in ("", own.user) and stone.scope.project in ("", own.project):
                    raise Refused(f"That value was also rejected {stone.scope}.", fix=f"Undo first: {stone.memory}")
            restored = replace(present(changes, memory.id), state="active")
            changes.put(restored, "unreject", reason)
            for turn in self._turns(memory.content_hash, "rejected"):
                if turn.id != memory.id and not any(changes.tombstone(key, turn.scope) for key in keys):
                    changes.put(replace(turn, state="active"), "unreject", reason)
        return restored

    def _turns(self, key: str, state: str) -> list[Memory]:
        """The turns in which just this was said: they come and go with what was learnt from them."""
        said = self.store.of(self.tenant, Memory, [key], "content_hash")
        return [one for one in said if one.kind == "turn" and one.state == state]


def present(changes: Transaction, id: str) -> Memory:
    """A memory as it stands under the lock."""
    found = changes.get(Memory, id)
    if found is None:
        raise NotFound(f"No memory has the id {id!r}.")
    return found


# Kinds that claim that something is so; what was only said, written or done contradicts nothing.
CLAIMS = frozenset(("fact", "preference", "rule", "decision", "procedure", "lesson", "insight"))
ENDED = frozenset(("superseded", "invalid"))  # states in which a memory's validity was closed
STATEMENT = 600  # characters; what is longer is a text
COPIED = (
    "content", "kind", "title", "reasoning", "context", "speaker", "position", "scope", "keywords", "tags", "refs",
    "importance", "confidence", "network", "valid_from", "valid_to", "expires_at", "observed",
)  # fmt: skip


def comparable(memory: Memory) -> bool:
    """Whether a memory claims that something is so, and could be contradicted."""
    return memory.kind in CLAIMS and len(memory.content) <= STATEMENT


def opposed(one: str, other: str, risk: float = LINK) -> bool:
    """Whether two statements cannot both hold: one takes the other back, or the reader says so."""
    for first, second in ((one, other), (other, one)):
        if (taken_back := retraction(first)) and ends(taken_back, second):
            return True
    return share_words(one, other, 0) and relation(one, other).is_sure("opposed", risk)


def span(memory: Memory) -> Span:
    """Since when and until when a memory holds."""
    return memory.valid_from or memory.created_at, memory.valid_to


def claims(draft: Draft) -> bool:
    """Whether a draft is a statement that something is so; a whole text says many things."""
    return draft.kind in CLAIMS and len(draft.content) <= STATEMENT


def _still_said(before: Memory, after: Memory) -> tuple[str, ...]:
    """The keywords of a memory that was edited, without those that stood in its old text and not in the new one."""
    old, new = set(terms(before.content)), set(terms(after.content))
    return tuple(word for word in before.keywords if not old.issuperset(found := terms(word)) or new.issuperset(found))


def _keys(said: Draft | Memory) -> list[str]:
    """The keys of every statement in every text of a memory."""
    told = dict.fromkeys(one for field in _texts(said) for one in disguises.statements(field))
    return [key for one in told for key in values.keys(one)]


def _texts(said: Draft | Memory) -> list[str]:
    """What a memory says, field by field, and across those in which a value may be cut into pieces."""
    joined = (f"{said.title} {said.content}" if said.title else "", " ".join(said.tags), " ".join(said.keywords))
    found = (said.content, said.title, said.reasoning, said.context, *said.tags, *said.keywords, *said.refs, *joined)
    return [one for one in found if one]


def absorb(known: Memory, other: Draft | Memory) -> Memory:
    """A memory with what another that says the same adds: tags, references, keywords, a reason, importance."""
    limits = {"tags": MAX_TAGS, "refs": MAX_REFS, "keywords": MAX_KEYWORDS}
    lists: dict[str, Any] = {
        name: tuple(dict.fromkeys((*getattr(known, name), *getattr(other, name))))[:most]
        for name, most in limits.items()
    }
    importance, reasoning = max(known.importance, other.importance), known.reasoning or other.reasoning
    return replace(known, importance=importance, reasoning=reasoning, **lists)


def embedded_text(draft: Draft | Memory) -> list[str]:
    """What an embedder reads of a memory: its content in chunks, each under the title and with who said it."""
    head = (f"{draft.title}\n" if draft.title else "") + (f"{draft.speaker}: " if draft.speaker else "")
    return [head + chunk for chunk in text.chunks(draft.content)]


def embed_or_wait(drafts: Sequence[Draft | Memory], embedder: Embedder | None) -> list[Floats | None]:
    """The same where something must be stored whether or not the model answers: it gets its vectors later then."""
    try:
        return embed_drafts(drafts, embedder)
    except ModelUnavailable as error:
        log.warning("stored without vectors, until recollect embed: %s", error)
        return [None] * len(drafts)


def embed_drafts(drafts: Sequence[Draft | Memory], embedder: Embedder | None) -> list[Floats | None]:
    """The vectors of each draft, one a chunk, all made in one batch."""
    if embedder is None:
        return [None] * len(drafts)
    pieces = [embedded_text(draft) for draft in drafts]
    vectors = embedder.embed([piece for chunks in pieces for piece in chunks], "document")
    found: list[Floats | None] = []
    start = 0
    for chunks in pieces:
        found.append(vectors[start : start + len(chunks)])
        start += len(chunks)
    return found
