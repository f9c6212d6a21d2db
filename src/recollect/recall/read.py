"""The read path: understand → candidates from independent arms → fuse → rank → weigh → read → select. Hits say why.

The arms know nothing of each other, and any of them may be missing: the answer then names what was skipped and why.
How much each counts, and what happens after, is told by the recipe, which is data. `effort` says how hard to try:
`fast` orders by the fused score, `balanced` lets the fitted ranker look at the best hundred and reads the best six
together with the question, `deep` reads sixteen and asks a reranker, if the settings name one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from .. import rank
from ..errors import ModelUnavailable, StoreCorrupt
from ..history.asof import HELD_ONCE, Past
from ..language import terms
from ..models.embedder import on_scale_of
from ..store.contract import Store
from ..types import STATES, Filter, Hit, Link, Memory, Recall
from . import coverage, foreign, fusion, intent
from .anchors import anchors
from .arms import Arms, Scores, closeness, within
from .chains import Chain, Chains, wants_chain, with_chains
from .explaining import explained
from .naming import Names, verbatim
from .observed import opinions_moved, without_summaries
from .printing import printed_tokens, read_text, said, why
from .query import Query
from .recipes import RECIPES
from .select import ALIKE, Scored, by_age, has_words_of, newer_first, once_each, select, tells, with_sessions, withheld
from .then import asked_back, held_then, passes, told_at
from .timing import DEPTH as ARRANGED
from .timing import Fit, Timing, arrange, asks_order, describe, in_order, local, timing_of
from .understand import Understood, understand

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.reader import PairReader
    from ..models.reranker import Reranker
    from ..vectors import Floats

DEPTH = 100  # candidates an arm gives
POOL = 100  # candidates that are read, ranked and weighed
WEAK = 0.5  # how probable it must be that a memory answers for the answer not to be called weak
READ, READ_DEEP = 6, 16  # the best candidates that are read together with the question
READ_HELPING = 10  # candidates that are read for a prompt
# A memory that stands out is given the benefit of the doubt: so near by cosine, so far before the next, and this
# probable to help. Where no relevance model can be had, nearness decides alone.
NEAR_ENOUGH, AHEAD, DOUBT = 0.45, 0.08, 0.03
PART = 0.9  # what the answer to one of several questions counts beside the answer to all of them
VERBATIM = 0.8  # what a memory gains that has what was quoted or named as it is
DEFINES = 1.0  # what code gains that is called what was asked for, before whatever merely speaks of it
TIE = 4.0  # how much importance, age and confidence move a logit: enough to decide between what fits about equally well
OPEN = 0.3  # what a time counts that lacks a beginning or an end: "before March" is most of the past
SETTLED = 10  # places in which what contradicts each other is put in order
LEADING = 6  # of these, those that are held against each other
ABOUT_ONE = 0.8  # the cosine, of the packaged model, from which two notes tell of the same thing
AS_WELL = 0.08  # a cosine so much lower fits a question as well, where no word of it is missing
ASKED = 8  # questions whose vector is kept
DEEP, RERANKED = 2.0, 30  # what a reranker adds to a logit at most, and the candidates it is shown


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds of each stage, for `--explain` and the benchmark."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = round(self.spent.get(name, 0.0) + (time.perf_counter() - began) * 1000, 3)


@dataclass(frozen=True, slots=True)
class Models:
    """The models a recall may use; None is left out, and `skipped` says why."""

    embedder: Embedder | None
    reranker: Reranker | None = None
    skipped: tuple[str, ...] = ()
    relevance: PairReader | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of one question, before they are ranked."""

    query: Query
    asked: Understood
    arms: dict[str, Scores]
    fused: Scores
    memories: list[Memory]
    skipped: tuple[str, ...] = ()
    parts: list[Scores] = field(default_factory=list)  # how well each question in the question is answered
    timing: Timing | None = None
    chains: dict[str, Chain] = field(default_factory=dict)  # the best that ends at a memory
    foreign: bool = False  # the question, or most of what is found, is not in English
    adapted: Scores = field(default_factory=dict)  # the sum of the arms with the shares decided for this question
    words: float | None = None  # how much words counted beside vectors, where that was decided for this question

    @property
    def question(self) -> str:
        """What is searched for: the question without its hints."""
        return self.asked.text or self.query.text


@dataclass(frozen=True, slots=True)
class Ranked:
    """Scores of the candidates: logits where the ranker gave them, else sums of the arms; and what was skipped."""

    scores: Scores
    logits: bool = False
    reading: float = 0.0  # what a logit of the relevance model counts beside one of the ranker
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """What the read path needs: a store, the clock, and the words a project adds to the lexicon."""

    store: Store
    tenant: str
    now: Callable[[], datetime]
    lexicon: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: dict[tuple[str, str], Floats] = field(default_factory=dict, compare=False)

    def recall(self, query: Query, models: Models) -> Recall:
        """The answer; where a model on a server fails in the middle, the one that can be had without."""
        try:
            return self._bound(query, models)
        except ModelUnavailable as error:
            if models.embedder is None:
                raise
            return self._bound(query, replace(models, embedder=None, skipped=(*models.skipped, f"vector: {error}")))

    def _bound(self, query: Query, models: Models) -> Recall:
        """The answer of the kind that the question wants a list of; where there is none, of any."""
        found = self._recall(query, models)
        if (not found.hits or (found.weak and not intent.nth(query.text))) and intent.listed(query.text):
            return self._recall(replace(query, binds=False), models)
        return found

    def _recall(self, query: Query, models: Models) -> Recall:
        watch = Stopwatch()
        found = self.find(query, models, watch)
        with watch.stage("rank"):
            ranked = self._rank(found, models)
        of_time = _of_time(found)
        if found.query.effort != "fast":
            for part in found.asked.parts:
                of_time = max(of_time, self._take_part(found, ranked, part, models, watch))
        query = found.query
        with watch.stage("select"):
            weighed = self._weigh(found, ranked)
        with watch.stage("read"):
            if query.recipe.relevance:
                fits, read = 1.0, self._relevant(found, weighed, models)
            else:
                fits, read = self._read(found, weighed, ranked, models)
                fits = max(of_time, fits)
        weak = fits < WEAK
        with watch.stage("select"):
            scored = once_each(newer_first(read, self._older_and_newer(found, read, models)))
            scored = self._arrange(found, scored, models)
            left = [] if weak and query.abstain else scored
            if wide := self._covers(found, models):
                query, left = query.covering(), coverage.worth(left, ranked.logits, query)
            alike = coverage.ALIKE if wide else ALIKE
            chosen = select(left, query.recipe, query.limit, query.max_tokens, query.shown, printed_tokens, alike)
            hits = self._hits(found, [(one.memory, one.score) for one in chosen.chosen])
            words = set(terms.of_query(found.question))
            told_in = asks_order(found.question)
            groups = coverage.grouped([hit.memory for hit in hits], words, in_order=told_in) if wide else ()
        told = explained(found, chosen.dropped, ranked.scores, weighed, scored) if query.explain else None
        skipped = (*models.skipped, *found.skipped, *ranked.skipped)
        sure = round(min(fits, 1.0), 4)
        time = describe(found.timing, query) if found.timing else ""
        return Recall(
            query.text, hits, tuple(found.arms), skipped, chosen.tokens, watch.spent, told, weak, sure, time, groups
        )

    def _covers(self, found: Found, models: Models) -> bool:
        """Whether a question wants everything on its subject."""
        if not found.query.recipe.covers:
            return False
        fitted, model = coverage.load(), models.embedder
        vector = self._vector(found.question, model) if model is not None and model.model == fitted.model else None
        return fitted.probability(found.question, vector) >= coverage.WANTED

    def find(self, query: Query, models: Models, watch: Stopwatch) -> Found:
        """The candidates of a question: understood, looked for by every arm, fused, and read."""
        with watch.stage("understand"):
            filter = query.filter
            near = partial(self._near_clause, query, models.embedder) if models.embedder else None
            events = () if filter.shared else anchors(self.store, self.tenant, filter.scope, query.text, near)
            asked = understand(query.text, local(query.as_of or self.now()), self.lexicon, *events)
            timing = timing_of(asked.text, asked.when, self.now())
            hints = {**(intent.listed(asked.text) if query.binds else {}), **asked.hints}
            query = query.narrowed(hints)
            if not filter.shared:  # what held before what is shared need not be shared
                query = asked_back(query, timing, self.now())
        arms, skipped = self._arms(query, asked, models, watch)
        with watch.stage("fuse"):
            fused = self._fuse(query, arms)
            memories = self._memories(query, rank.order(fused)[: max(POOL, 3 * query.limit)])
            memories = without_summaries(self.store, self.tenant, memories, query.filter.networks)
            if "prominence" in query.recipe.arms:
                arms["prominence"] = self._prominence(query, memories)
                fused = self._fuse(query, arms)
            other = query.fusion == "sum" and foreign.is_foreign(asked.text or query.text, memories)
            words = fusion.decided(query, asked.text, arms, memories, models.embedder, other)
            adapted = fused if words is None else fusion.fuse(query.recipe, words, arms, memories)
            fused = adapted if other or query.effort == "fast" else fused
        return Found(
            query, asked, arms, fused, memories, skipped, timing=timing, words=words, adapted=adapted, foreign=other
        )

    def _take_part(self, found: Found, ranked: Ranked, part: str, models: Models, watch: Stopwatch) -> float:
        """Ask one of several questions on its own too: its best belong among the best of the whole."""
        alone = self.find(replace(found.query, text=part), models, watch)
        with watch.stage("rank"):
            more = self._rank(alone, models)
        scores = ranked.scores
        for memory in alone.memories:
            own = more.scores[memory.id] + (math.log(PART) if more.logits else (PART - 1) * more.scores[memory.id])
            if memory.id not in scores:
                found.memories.append(memory)
            scores[memory.id] = max(scores.get(memory.id, own), own)
        for arm, scored in alone.arms.items():
            found.arms[arm] = {**scored, **found.arms.get(arm, {})}
        return _of_time(alone)

    # -- candidates ---------------------------------------------------------------------------------------------------

    def _arms(
        self, query: Query, asked: Understood, models: Models, watch: Stopwatch
    ) -> tuple[dict[str, Scores], tuple[str, ...]]:
        # Looking back, today's state and kind say nothing about what they were: what each memory was then is held
        # against the filter. What was somewhere else then is found by its words of that time.
        filter = (
            Filter(scope=query.filter.scope, states=(), shared=query.filter.shared) if query.as_of else query.filter
        )
        look = Arms(self.store, self.tenant, filter, max(DEPTH, 3 * query.limit))
        wanted = query.recipe.arms
        question = asked.text or query.text
        arms: dict[str, Scores] = {}
        skipped: tuple[str, ...] = ()
        with watch.stage("text"):
            if "text" in wanted or models.embedder is None:
                try:
                    arms["text"] = look.text(question, asked.variants)
                    if query.as_of and not query.then:
                        arms["text"] |= self._reworded(question, query.as_of, arms["text"])
                except StoreCorrupt as error:
                    if models.embedder is None:
                        raise
                    skipped = (f"text: {error.message}",)
        if models.embedder is not None and "vector" in wanted:
            with watch.stage("embed"):
                vector = self._vector(question, models.embedder)
            with watch.stage("vector"):
                arms["vector"] = look.vector(vector, models.embedder.model, list(arms.get("text", {})))
        if "time" in wanted and asked.when is not None:
            with watch.stage("time"):
                arms["time"] = look.time(asked.when, self.now())
        if "links" in wanted:
            with watch.stage("links"):
                found = look.links(self._fuse(query, arms))
                if found:
                    arms["links"] = self._allowed(query, found, arms)
        return arms, skipped

    def _near_clause(self, query: Query, embedder: Embedder, clause: str) -> dict[str, tuple[float, float]]:
        """What is nearest to a clause of a question, with its cosines of both."""
        once = Filter(query.filter.scope, states=HELD_ONCE)
        found = self.store.nearest(self.tenant, embedder.model, self._vector(clause, embedder), once, READ_DEEP)
        ids = [id for id, _ in found]
        whole = self.store.cosines(self.tenant, embedder.model, self._vector(query.text, embedder), ids)
        return {id: (cosine, whole.get(id, 0.0)) for id, cosine in found}

    def _vector(self, question: str, embedder: Embedder) -> Floats:
        """The vector of a question; the last few are kept, because a brief asks the same of several kinds."""
        key = embedder.model, question
        if (known := self.asked.get(key)) is None:
            while len(self.asked) >= ASKED:
                self.asked.pop(next(iter(self.asked), key), None)
            known = self.asked[key] = embedder.embed([question], "query")[0]
        return known

    def _reworded(self, question: str, moment: datetime, found: Scores) -> Scores:
        """What said something else then: scored by its words of that time, as high as the best of today's."""
        shares = Past(self.store, self.tenant).saying(terms.of_query(question), moment)
        best = max(found.values(), default=1.0)
        return {id: max(found.get(id, 0.0), best * share) for id, share in shares.items()}

    def _allowed(self, query: Query, found: Scores, arms: Mapping[str, Scores]) -> Scores:
        """Neighbours that the filter lets through: an arm that follows links must not walk out of a scope."""
        known = {id for scores in arms.values() for id in scores}
        fresh = [id for id in found if id not in known]
        allowed = {m.id for m in self.store.memories(self.tenant, fresh).values() if passes(m, query)}
        if query.filter.shared:
            allowed &= self.store.passing(self.tenant, query.filter, fresh)
        return {id: score for id, score in found.items() if id in known or id in allowed}

    def _fuse(self, query: Query, arms: Mapping[str, Scores]) -> Scores:
        recipe = query.recipe
        if query.fusion == "rrf":
            ran = [(arm, scores) for arm, scores in arms.items() if recipe.arms.get(arm) and scores]
            weights = [recipe.arms[arm] for arm, _ in ran]
            return rank.stretch(rank.rrf([rank.order(scores) for _, scores in ran], recipe.rrf_k, weights))
        weights_of = recipe.arms if "vector" in arms or "text" in recipe.arms else {**recipe.arms, "text": 1.0}
        return rank.add(arms, weights_of, recipe.scale)

    def _memories(self, query: Query, ids: list[str]) -> list[Memory]:
        found = self.store.memories(self.tenant, ids)
        memories = [found[id] for id in ids if id in found]
        past = Past(self.store, self.tenant)
        if query.as_of is not None:
            then = past.memories(ids, query.as_of)
            states = query.filter.states or STATES
            memories = [then[id] for id in ids if id in then and then[id].state in states and passes(then[id], query)]
        if query.then is not None and query.as_of is None:
            return held_then(self.store, self.tenant, memories, query.then, self.now())
        moment = query.true_at or query.as_of
        return memories if moment is None else past.true(memories, moment)

    def _prominence(self, query: Query, memories: list[Memory]) -> Scores:
        """How much each candidate has proved itself, as an arm: it orders what others found, and finds nothing."""
        now = query.as_of or self.now()
        most = max((m.observed for m in memories), default=1)
        return {
            m.id: rank.prominence(m.observed, most, m.confidence, days(m.updated_at, now), m.recalled)
            for m in memories
        }  # fmt: skip

    # -- ranking ------------------------------------------------------------------------------------------------------

    def rows(self, found: Found) -> Floats:
        """The features of the candidates, as the ranker sees them."""
        from .features import Asked, features

        rarity = self._rarity(found)
        names, wanted = Names.of(found.question, found.asked.identifiers), intent.kinds(found.query.text)
        timed, linked, when = found.arms.get("time", {}), found.arms.get("links", {}), found.asked.when
        bare = intent.bare(found.question, when.words) if when else 0.0
        bounded = 1.0 if when and when.start and when.end else OPEN
        times_of = [bounded * timed.get(memory.id, 0.0) for memory in found.memories]
        known = {
            "time": times_of,
            "bare_time": [bare * one for one in times_of],
            "links": [linked.get(memory.id, 0.0) for memory in found.memories],
            "wanted_kind": [wanted.get(memory.kind, 0.0) for memory in found.memories],
            "verbatim": [verbatim(memory, found.asked) for memory in found.memories],
            "defines": [names.mean(memory) for memory in found.memories],
        }
        fused = found.fused if found.query.fusion == "sum" else rank.add(found.arms, RECIPES["default"].arms)
        return features(Asked(found.query.text, rarity), found.memories, found.arms, fused, known)

    def _rarity(self, found: Found) -> dict[str, float]:
        """How rare each word of the question is in what the caller sees."""
        words = terms.of_query(found.question)
        total, counts = self.store.frequencies(self.tenant, words, found.query.filter)
        return {word: math.log(1 + total / (1 + counts.get(word, 0))) for word in words}

    def _rank(self, found: Found, models: Models) -> Ranked:
        """The scores after a closer look by the ranker, where it can be had."""
        query, memories, arms = found.query, found.memories, found.arms
        if query.effort == "fast" or found.foreign or not memories or "vector" not in arms or "text" not in arms:
            return Ranked(self._by_arms(found))
        from . import ranker

        try:
            fitted = ranker.load()
        except ModelUnavailable as error:
            return Ranked(self._by_arms(found), skipped=(f"ranker: {error}",))
        if models.embedder is None or not ranker_knows(models.embedder):
            note = (f"ranker: it was fitted with {fitted.model}",) if query.explain else ()
            return Ranked(self._by_arms(found), skipped=note)
        by_ranker = zip(memories, fitted.score(self.rows(found)).tolist(), strict=True)
        beside = fusion.beside_ranker(query.effort, memories)
        scores = {memory.id: score + beside * found.adapted[memory.id] for memory, score in by_ranker}
        if query.effort == "deep" and models.reranker is not None:
            best = set(rank.order(scores)[:RERANKED])
            few = [memory for memory in memories if memory.id in best]
            near = models.reranker.score(query.text, [said(memory) for memory in few])
            likeness = rank.stretch(dict(zip((memory.id for memory in few), near, strict=True)))
            scores |= {id: scores[id] + DEEP * like for id, like in likeness.items()}
        return Ranked(scores, True, fitted.reading)

    def _by_arms(self, found: Found) -> Scores:
        """The fused scores, where no ranker looks closer: what the question names as it is counts more."""
        scores = with_sessions(found.memories, found.fused)
        if found.query.recipe.weigh == "none":
            return scores
        names = Names.of(found.question, found.asked.identifiers)
        return {
            memory.id: scores[memory.id] + VERBATIM * verbatim(memory, found.asked) + DEFINES * names.mean(memory)
            for memory in found.memories
        }

    def _weigh(self, found: Found, ranked: Ranked) -> list[Scored]:
        """Importance, age, confidence and use decide between memories that fit about equally well."""
        query, when = found.query, found.asked.when
        now = query.as_of or self.now()
        weighed = []
        for memory in found.memories:
            weight = 1.0
            if query.recipe.weigh == "gentle":
                # Asked for a time, age is no fault. Looked at, not merely recalled: what is recalled often would
                # otherwise be recalled ever more.
                age = 0.0 if when else days(told_at(memory), now)
                unused = days(memory.last_accessed_at or memory.created_at, now)
                weight = rank.gentle(memory.importance, age, memory.confidence, unused)
            score = ranked.scores.get(memory.id, 0.0)
            if found.timing and ranked.logits:
                score -= found.timing.penalty(memory)
            weighed.append(Scored(memory, score + TIE * math.log(weight) if ranked.logits else score * weight))
        return sorted(weighed, key=lambda one: (-one.score, one.memory.id))

    def _read(self, found: Found, scored: list[Scored], ranked: Ranked, models: Models) -> tuple[float, list[Scored]]:
        """How probable it is that one of the best answers the question or one of its parts (1 where nobody reads),
        and the best in the order that reading them together with the question gives."""
        query = found.query
        if query.effort == "fast" or models.relevance is None or not scored:
            return 1.0, scored
        if found.foreign:
            best = [one.memory for one in scored]
            seen = foreign.numbers(best, found.arms.get("vector", {}), self._rarity(found))
            return foreign.sure_of_answer(models.embedder.model if models.embedder else "", seen), scored
        most = READ_DEEP if query.effort == "deep" else READ
        some = [one for one in scored[: 2 * most] if not withheld(one.memory, query.recipe, query.shown)][:most]
        notes = [read_text(one.memory, found.question) for one in some]
        asked = (found.question, *found.asked.parts)
        readings = [models.relevance.read(question, notes) for question in asked]
        logits = [max(read["answers"] for read in of_note) for of_note in zip(*readings, strict=True)]
        telling = [tells(one.memory, found.question) for one in some]
        fits = models.relevance.sure_of_answer([logit for logit, does in zip(logits, telling, strict=True) if does])
        if not ranked.logits:
            return fits, scored
        weight = ranked.reading
        closer = [Scored(one.memory, one.score + weight * logit) for one, logit in zip(some, logits, strict=True)]
        # What was read keeps its places as a whole, so that what was not read is neither lifted nor pushed down by it;
        # the question itself, asked before, takes the last of them.
        quiet = {one.memory.id for one, does in zip(some, telling, strict=True) if not does}
        order = sorted(closer, key=lambda one: (one.memory.id in quiet, -one.score, one.memory.id))
        taken = {one.memory.id for one in some}
        places = iter(order)
        kept = [replace(next(places), score=one.score) if one.memory.id in taken else one for one in scored]
        found.chains.update(self._chains(found, kept, logits, fits, models))
        return fits, with_chains(kept, found.chains.values())

    def _chains(
        self, found: Found, read: list[Scored], logits: list[float], fits: float, models: Models
    ) -> dict[str, Chain]:  # fmt: skip
        """The best chain to each memory that leads to an answer, the best first, where a question wants one."""
        query, model = found.query, models.embedder
        if model is None or query.as_of or "links" not in query.recipe.arms:
            return {}
        if wants_chain(found.question, [one.memory for one in read], logits, fits) < 0:
            return {}
        near = partial(self.store.cosines, self.tenant, model.model, self._vector(found.question, model))
        seen = partial(passes, query=query)
        search = Chains(self.store, self.tenant, query.filter, found.question, near, seen, read)
        return {chain.last.id: chain for chain in search.find()}

    def _relevant(self, found: Found, scored: Sequence[Scored], models: Models) -> list[Scored]:
        """Of the best, those that help with the prompt; age and importance decide only which of them comes first."""
        if models.relevance is None:
            near = found.arms.get("vector", {})
            return [one for one in scored if near.get(one.memory.id, 0.0) >= NEAR_ENOUGH]
        shown = (found.query.recipe, found.query.shown)
        some = [one for one in scored if not withheld(one.memory, *shown) and tells(one.memory, found.question)]
        some = some[:READ_HELPING]
        near = found.arms.get("vector", {})
        kinds = {"is_turn": "turn", "is_code": "code"}
        known = [
            {name: float(one.memory.kind == kind) for name, kind in kinds.items()}
            | {"cosine": near.get(one.memory.id, 0.0)}
            for one in some
        ]
        helps = models.relevance.helps(found.question, [read_text(one.memory, found.question) for one in some], known)
        now, least = found.query.as_of or self.now(), found.query.recipe.relevance
        first, second = sorted((*(one["cosine"] for one in known), 0.0, 0.0), reverse=True)[:2]
        apart = first if first >= NEAR_ENOUGH and first - second >= AHEAD else None
        kept = [
            Scored(one.memory, much * rank.gentle(one.memory.importance, days(told_at(one.memory), now), 1.0))
            for one, much, told in zip(some, helps, known, strict=True)
            if much >= (min(DOUBT, least) if told["cosine"] == apart else least)
        ]
        return sorted(kept, key=lambda one: (-one.score, one.memory.id))

    def _older_and_newer(self, found: Found, scored: list[Scored], models: Models) -> list[tuple[str, str]]:
        """Of which two the newer goes first; asked about a time or looking back, both stay as they rank."""
        query = found.query
        if query.as_of or found.timing or "links" not in query.recipe.arms:
            return []
        best = {one.memory.id: one.memory for one in scored[: max(SETTLED, 2 * query.limit)]}
        links = self.store.of(self.tenant, Link, list(best), "origin")
        tied = [(one.origin, one.target) for one in links if one.relation == "contradicts" and one.target in best]
        # It must have every word of the question that the older has: else they are about two things after all.
        asked = set(terms.of_query(found.question))
        opposed = [pair for pair in map(partial(by_age, best), tied) if has_words_of(best, pair, asked)]
        return opposed + self._alike(found, scored[:LEADING], models)

    def _arrange(self, found: Found, scored: list[Scored], models: Models) -> list[Scored]:
        """The candidates in the order that the time of the question, or its wish for one, gives them."""
        if "time" not in found.query.recipe.arms:
            return scored
        near, nth = found.arms.get("vector", {}), intent.nth(found.question)
        words = set(terms.of_query(found.timing.rest(found.question, bool(nth)) if found.timing else found.question))
        if nth or (found.timing is None and asks_order(found.question)):
            return in_order(scored, words - intent.KIND_WORDS, near, found.timing, nth)
        if found.timing is None:
            return scored
        model = models.embedder.model if models.embedder and ranker_knows(models.embedder) else ""
        ids = [one.memory.id for one in scored[:ARRANGED]] if model else []
        known = {id: told[model][0] for id, told in self.store.vectors(self.tenant, ids).items() if model in told}

        def alike(one: Memory, other: Memory) -> bool:
            both = one.id in known and other.id in known
            return both and float(known[one.id] @ known[other.id]) >= ABOUT_ONE

        return arrange(scored, found.timing, Fit(words, near, alike))

    def _alike(self, found: Found, scored: Sequence[Scored], models: Models) -> list[tuple[str, str]]:
        """The older and the newer of two notes on the same thing that fit the question as well: «moved to …» after
        «lives on …», where nobody has said that one contradicts the other. Turns of a talk and code are not compared.
        """
        fits = found.arms.get("vector", {})
        if found.query.effort == "fast" or models.embedder is None or not ranker_knows(models.embedder):
            return []
        linked = {memory.id for chain in found.chains.values() for memory in chain.memories}
        notes = {
            one.memory.id: one.memory
            for one in scored
            if one.memory.id in fits and not one.memory.scope.session and one.memory.kind != "code"
            and one.memory.id not in linked
        }  # fmt: skip
        vectors = self.store.vectors(self.tenant, list(notes))
        found_for = {id: vectors[id][models.embedder.model][0] for id in notes if models.embedder.model in vectors[id]}
        pairs = (by_age(notes, pair) for pair in combinations(found_for, 2))
        asked = set(terms.of_query(found.question))
        return [
            (old, new)
            for old, new in pairs
            if float(found_for[old] @ found_for[new]) >= ABOUT_ONE
            and (
                fits[new] >= fits[old] or (fits[new] >= fits[old] - AS_WELL and has_words_of(notes, (old, new), asked))
            )
        ]

    def _hits(self, found: Found, chosen: Sequence[tuple[Memory, float]]) -> tuple[Hit, ...]:
        now = found.query.as_of or self.now()
        words = set(terms.of_query(found.question))
        moved = opinions_moved(self.store, self.tenant, [memory for memory, _ in chosen])
        hits = []
        for memory, score in chosen:
            scores = {arm: round(one[memory.id], 4) for arm, one in found.arms.items() if memory.id in one}
            scores.pop("time", None)
            if found.asked.when and "time" in found.arms and within(memory, found.asked.when):
                scores["time"] = round(closeness(memory, found.asked.when), 4)
            chain = found.chains.get(memory.id)
            told = why(memory, scores, words, now) + (f" · follows {chain.told()}" if chain else "")
            told += f" · believed {moved[memory.id]}" if memory.id in moved else ""
            hits.append(Hit(memory, round(score, 4), scores, told))
        return tuple(hits)


def ranker_knows(embedder: Embedder) -> bool:
    """Whether the cosines of this embedder are those that the ranker and the thresholds here were made with."""
    from . import ranker

    try:
        return ranker.load().model == on_scale_of(embedder.model)
    except ModelUnavailable:
        return False


def _of_time(found: Found) -> float:
    """How surely a candidate is of the time that is asked for, which answers a question however little its words do."""
    when, timed = found.asked.when, found.arms.get("time", {})
    sure = (timed[memory.id] for memory in found.memories if when and memory.id in timed and within(memory, when))
    return max(sure, default=0.0)


def days(moment: datetime, now: datetime) -> float:
    return (now - moment).total_seconds() / 86400
