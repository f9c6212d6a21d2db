"""The pipeline: from what was said to what is known.

    turns are stored as they are → windows → extract (a fitted decision, or a language model) → ground → settle

Storing comes first and is all that anybody waits for; the rest can be a job of kind `capture`. Every step after storing
reads from the stored sources, so it can be done again when the rules are better, and doing it again changes nothing
that stands: the same words of the same source are evidence once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from .. import text
from ..checks import MAX_NAME, Cleaner, one_of
from ..errors import BadInput, ModelUnavailable
from ..grounding import Verdict, citations, cited_in, ground
from ..language import terms
from ..language.vetoes import likeness, share_words
from ..models.relation import LINK, relation
from ..recall.fence import orders
from ..remember.settle import NOT_KNOWN, Claim, Settled, Settler
from ..store.contract import Store
from ..types import ROLES, Captured, Draft, Filter, Finding, Memory, Message, Remembered, Scope, Source
from . import turns, words
from .echo import Echoes, injected, own_words
from .extract import Candidate, Extractor
from .model import Looking, Tier
from .segment import public, statements
from .windows import Turn, in_reply, windows

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.llm import LLM

BATCH = 256  # sources looked up at once
MAX_MESSAGES = 100_000
NEAR = 8  # memories a model is shown
FEW = 20  # turns that are looked at for what came before, and for repetitions
REPEATED = 3  # sessions in which a wish makes a preference
ALIKE = 0.3  # the share of content words below which two statements are not even compared
TEMPLATE = 200  # characters; a longer turn that comes again word for word was not typed
UNPROVED = "a model said it, and nothing that was said proves it"
PERSONAL = ("preference", "rule")  # what holds for a person, on whichever branch it was said
HEARD = ("user", "assistant")  # whose words can become knowledge
Step = Callable[[int, int], None]


class Taken(NamedTuple):
    """Turns that were stored, how many were known, and the names of all of them."""

    turns: tuple[Memory, ...]
    known: int
    names: tuple[str, ...]

    @property
    def sources(self) -> list[str]:
        """Of the turns in which something worth keeping may have been said."""
        return [turn.source for turn in self.turns if turn.speaker in HEARD]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What capture needs: the store, the way turns are stored, and the settler of what is found in them."""

    store: Store
    tenant: str
    now: Callable[[], datetime]
    content_limit: int
    remember: Callable[[list[Draft]], tuple[Remembered, ...]]
    settler: Settler
    llm: Callable[[Tier, str, str], LLM | None]

    # -- storing ------------------------------------------------------------------------------------------------------

    def take_in(
        self, messages: Iterable[Message], origin: str, session: str, scope: Scope, known: Collection[str] = ()
    ) -> Taken:
        """Store what was said in one session, in order. `known` are names of turns that are stored under others."""
        cleaner = Cleaner(MAX_NAME)
        origin = cleaner.text(origin, "origin", MAX_NAME) or "api"
        where = replace(cleaner.scope(scope), session=cleaner.text(session, "session", MAX_NAME) or scope.session)
        heard = list(self._heard(messages))
        ids = [turns.names(origin, where.session, message) for message in heard]
        names = {*known, *self._known(sorted({id for some in ids for id in some}))}
        place = self.store.count(self.tenant, Filter(scope=where, inside=True, kinds=("turn",), states=()))
        drafts: list[Draft] = []
        for message, some in zip(heard, ids, strict=True):
            if names.isdisjoint(some):
                message = replace(message, content=turns.fitting(message.content, self.content_limit))
                drafts.append(turns.draft(origin, message, some[0], where, place + len(drafts), self.now()))
            names.update(some)
        # A turn that says nothing but what was rejected is not kept at all.
        new = [one.memory for one in (self.remember(drafts) if drafts else ()) if one.memory]
        return Taken(tuple(new), len(heard) - len(drafts), tuple(id for some in ids for id in some))

    def _heard(self, messages: Iterable[Message]) -> Iterator[Message]:
        """What was really said: without what was injected, what hosts wrote in, and repeats of what was shown."""
        echoes = Echoes()
        for number, message in enumerate(messages):
            if number >= MAX_MESSAGES:
                raise BadInput(f"More than {MAX_MESSAGES} messages.", fix="Give one session at a time.")
            if not isinstance(message, Message) or not isinstance(message.content, str):
                raise BadInput("messages must be Messages with a text.", fix="Use Message(role, content).")
            one_of(message.role, ROLES, "role")
            echoes.add(injected(message.content))
            said = own_words(message.content) if message.role in HEARD else public(message.content)
            said = text.clean(echoes.without(said) if message.role == "assistant" else said)
            if any(map(str.isalnum, said)):  # a message without a word in it, such as "---", says nothing
                yield replace(message, content=said)

    def _known(self, ids: Sequence[str]) -> set[str]:
        batches = (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
        return {source.id for batch in batches for source in self.store.of(self.tenant, Source, batch)}

    # -- looking ------------------------------------------------------------------------------------------------------

    def look(
        self, sources: Sequence[str], embedder: Embedder | None, *, dry_run: bool = False, step: Step | None = None
    ) -> Captured:
        """Find what is worth keeping in stored turns, and settle it; with `dry_run` only say what rules find.

        `BudgetSpent` ends it where models are paid for; what was settled before stands, and it can begin anew.
        """
        spoken = self._spoken(sources)
        looking = self._looking(embedder, dry_run)
        seen = good = done = 0
        findings: list[Finding] = []
        for scope, said in groupby(spoken, key=lambda memory: memory.scope):
            talk = list(said)
            learnt = replace(scope, session="")  # it holds beyond the session it was said in
            looking.extractor = replace(looking.extractor, repeated=partial(self._repeated, scope))
            for window in windows(list(in_reply(map(_turn, talk), self._before(talk[0])))):
                seen += 1
                look = looking.look(window, learnt)
                good += look.worth
                claims = [(found, self._claim(found, learnt)) for found in look.found]
                findings += self._settled(claims, embedder, dry_run)
                findings += [Finding("blocked", told, "fact", 3, "", "", reason=UNPROVED) for told in look.unproved]
            done += len(talk)
            if step:
                step(done, len(spoken))
        return Captured(windows=seen, worth=good, findings=tuple(findings), skipped=tuple(looking.skipped))

    def _looking(self, embedder: Embedder | None, dry_run: bool) -> Looking:
        from .durable import Durability  # which needs numpy; a cached answer must not wait for that

        skipped: dict[str, None] = {}
        try:
            model = Durability(embedder)
        except ModelUnavailable as error:
            model = None
            skipped[f"durable: {error} Only what somebody asks to remember is kept."] = None
        extractor = Extractor(model, explain=dry_run)
        return Looking((lambda *_: None) if dry_run else self.llm, self._near, extractor, skipped)

    def _before(self, first: Memory) -> Turn | None:
        """What the assistant said just before a turn, as it is stored."""
        said = Filter(scope=first.scope, inside=True, kinds=("turn",), until=first.valid_from)
        earlier = [
            one for one in self.store.dated(self.tenant, said, FEW)
            if one.speaker in HEARD and (one.position or 0) < (first.position or 0)
        ]  # fmt: skip
        last = max(earlier, key=lambda one: one.position or 0, default=None)
        return Turn("assistant", last.content, last.source) if last and last.speaker == "assistant" else None

    def _repeated(self, scope: Scope, said: str, turn: Turn) -> bool:
        """Whether a person said the same in two other sessions. A long turn that comes again whole is a template.

        Of each session only the statement that is nearest by its words is read, and only where it is near enough.
        """
        asked = terms.of_query(said)
        inside = Filter(scope=replace(scope, session="", branch=""), inside=True, kinds=("turn",))
        ids = [id for id, _ in self.store.match(self.tenant, asked, inside, FEW)] if asked else []
        nearest: dict[str, tuple[float, str]] = {}
        for one in self.store.memories(self.tenant, ids).values():
            template = len(one.content) > TEMPLATE and text.key(one.content) == text.key(turn.content)
            if one.speaker == "user" and one.scope.session != scope.session and not template:
                parts = (part.text for part in statements(one.content) if share_words(part.text, said, ALIKE))
                near = max(((likeness(part, said)["shared"], part) for part in parts), default=(0.0, ""))
                nearest[one.scope.session] = max(near, nearest.get(one.scope.session, (0.0, "")))
        order = [part for _, part in sorted(nearest.values(), reverse=True) if part]
        wanted = REPEATED - 1
        for place, part in enumerate(order):
            if not 0 < wanted <= len(order) - place:
                break
            wanted -= relation(part, said).is_sure("same", LINK)
        return wanted == 0

    def _near(self, said: str, scope: Scope) -> list[str]:
        """What is known already near to what is said, for a model that must not repeat it."""
        asked = terms.of_query(said[:2000])
        ids = [id for id, _ in self.store.match(self.tenant, asked, Filter(scope=scope), 4 * NEAR)] if asked else []
        known = self.store.memories(self.tenant, ids)
        return [known[id].content for id in ids if id in known and known[id].kind != "turn"][:NEAR]

    def _spoken(self, sources: Sequence[str]) -> list[Memory]:
        """The turns of these sources that are still there, session by session, in the order they were said."""
        found: list[Memory] = []
        for start in range(0, len(sources), BATCH):
            found += self.store.of(self.tenant, Memory, sources[start : start + BATCH], "source")
        kept = [one for one in found if one.kind == "turn" and one.state == "active" and one.speaker in HEARD]
        return sorted(kept, key=lambda one: (one.scope.places(), one.position or 0, one.id))

    def _claim(self, found: Candidate, scope: Scope) -> Claim:
        """A candidate with its grounding: trust follows from who said it, whatever it says of itself."""
        whole = f"{found.lead} {found.quote}" if found.lead else found.quote
        cited = citations(whole)
        resolved = [one for one in cited if self._resolves(one, scope)]
        said = words.without_politeness(whole)
        verdict = ground(said, found.role, resolved=resolved, orders=bool(orders(found.content)))
        if found.is_wish and verdict.tier == 3:
            verdict = Verdict(1, verdict.trust, "said by the user, as a wish")
        if found.veto:
            verdict = replace(verdict, tier=3, reason=found.veto)
        source = Source(found.source, "turn")
        if found.kind in PERSONAL:  # what somebody likes does not wait for a merge
            scope = replace(scope, branch="")
        draft = Draft(
            found.content, kind=found.kind, reasoning=found.reasoning, speaker=found.role, scope=scope,
            keywords=found.keywords, tags=found.tags, refs=found.refs, importance=found.importance,
            confidence=CONFIDENCE[verdict.trust], valid_from=found.at, source=source,
            evidence=(found.lead, found.quote),
        )  # fmt: skip
        corrects = found.corrects and found.role == "user"
        return Claim(
            draft, verdict, corrects, found.role == "assistant", found.forgets, found.version, found.entities,
            only_known=found.rule == "correction",
        )  # fmt: skip

    def _resolves(self, citation: str, scope: Scope) -> bool:
        """Whether what is cited is known from a source of its own, and not only from talk."""
        asked = terms.of_query(citation)
        filter = Filter(scope=scope)
        ids = [id for id, _ in self.store.match(self.tenant, asked, filter, 20)] if asked else []
        found = [memory for memory in self.store.memories(self.tenant, ids).values() if memory.kind != "turn"]
        kinds = {one.id: one.kind for one in self.store.of(self.tenant, Source, [memory.source for memory in found])}
        return any(
            kinds.get(memory.source) in ("document", "file", "commit", "url")
            and any(cited_in(citation, said) for said in (memory.content, memory.title, memory.reasoning, *memory.refs))
            for memory in found
        )

    def _settled(
        self, claims: Sequence[tuple[Candidate, Claim]], embedder: Embedder | None, dry_run: bool
    ) -> list[Finding]:
        if dry_run:
            return [_finding(found, claim, _would(claim)) for found, claim in claims]
        settled = self.settler.settle([claim for _, claim in claims], embedder)
        return [
            _finding(found, claim, one)
            for (found, claim), one in zip(claims, settled, strict=True)
            if one.reason != NOT_KNOWN
        ]


CONFIDENCE = {"stated": 0.9, "cited": 0.8, "derived": 0.6, "unverified": 0.4}


def _turn(memory: Memory) -> Turn:
    return Turn(memory.speaker, memory.content, memory.source, memory.valid_from, memory.refs)


def _would(claim: Claim) -> Settled:
    """What would become of a claim if nothing were known yet."""
    if claim.verdict.tier == 3:
        return Settled("blocked", reason=claim.verdict.reason)
    if claim.forgets:
        return Settled("retracted", reason=f"taken back: {claim.forgets}")
    return Settled("created" if claim.verdict.tier == 1 else "pending", reason=claim.verdict.reason)


def _finding(found: Candidate, claim: Claim, settled: Settled) -> Finding:
    return Finding(
        settled.action, found.content, found.kind, claim.verdict.tier, found.quote, found.source,
        settled.memory.id if settled.memory else "", "; ".join(filter(None, (settled.reason, found.why))),
        settled.conflicts,
    )  # fmt: skip
