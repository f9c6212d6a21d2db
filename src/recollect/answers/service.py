"""The answer cache: `ask` gives the kept answer, or computes one and keeps it if it pays.

The same question is found by the hash of its normal form. Else the nearest questions by vector are candidates: an
answer is served only when no veto forbids it and `relation` says that it is the same question at the risk the settings
allow; what comes near is shown as related, never as the answer. A computed answer is found only in its user and
project; one that somebody gave is also found in what its place encloses. An answer is served only while it holds
(`freshness.py`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import ids, text
from ..checks import MAX_NAME, Cleaner, one_of, within
from ..errors import BadAnswer, BadInput, BudgetSpent, ModelUnavailable, NotFound, Refused
from ..models.relation import relation
from ..recall.loading import LOADING
from ..recall.select import tells
from ..redact import redact
from ..store.answers import TIERS, Answer, Depends
from ..store.contract import Store, Transaction
from ..types import Filter, Memory, Scope
from . import compose, seeding
from .counters import Counters, RecentAsks
from .eviction import Eviction, Leaving
from .freshness import GONE, Freshness, Parts, commit, is_short_of_memory
from .knowledge import Knowledge, cited, ends
from .policy import RISKS, Policy, without_answer
from .questions import Asked, key
from .storage import QuestionVectors
from .types import Answered, Related, Seeded

if TYPE_CHECKING:
    from ..vectors import Floats

MAX_QUESTION, MAX_ANSWER, MAX_FILES = 2000, 6000, 20
NEAR, NEAREST = 8, 0.5  # candidates that are judged, and the cosine below which none can be the same question
RELATED = 3
OFFER = 0.4  # the probability from which a question is shown as related
log = logging.getLogger("recollect")


@dataclass(slots=True)
class Look:
    """What the cache has for a question: an answer that holds, or what comes near, and why not."""

    answer: Answer | None = None
    seq: int = 0
    why: str = ""
    ended: str = ""
    related: tuple[Related, ...] = ()
    vector: Floats | None = None


class Answers:
    """The answers of a tenant."""

    def __init__(
        self, store: Store, tenant: str, now: Callable[[], datetime], new_id: Callable[[datetime], str], home: Scope,
        policy: Policy, flags: frozenset[str], parts: Parts,
    ) -> None:  # fmt: skip
        self._store = store
        self._tenant = tenant
        self._now = now
        self._new_id = new_id
        self._home = home
        self._policy = policy
        self._risk = RISKS[policy.risk]
        self._flags = flags
        self._parts = parts
        self._freshness = Freshness(store, tenant, now, parts)
        self._knowledge = Knowledge(store, tenant, now, policy, self._freshness, parts)
        self._vectors = QuestionVectors(store, tenant)
        self._counters = Counters(store, tenant, now, policy)
        self.recent = RecentAsks(now)
        self._lock = threading.Lock()
        self._kept = policy.most  # answers kept since room was last made: before the first, it is looked for

    def ask(
        self, question: str, *, scope: Scope | None = None, fresh: bool = False, networks: Sequence[str] = ()
    ) -> Answered:
        """The answer to a question: a kept one that holds, else one computed now; with `fresh`, always computed.

        Without a fitting memory there is no answer, and `why` says so. What is asked of some networks is not kept.
        """
        asked = self._read_question(question, scope)
        if networks:
            asked = replace(asked, narrow=True, networks=tuple(networks))
        if not self._policy.on:
            asked = replace(asked, narrow=True)
        look = Look() if fresh or networks or not self._policy.on else self._look(asked)
        done = self._compute(asked, look) if look.answer is None else self._serve(asked, look, look.answer)
        return self.recent.note(asked.scope, done)

    def get(self, question: str, *, scope: Scope | None = None) -> Answered | None:
        """A kept answer that holds, or None: the cache alone, for programs that compute answers themselves."""
        asked = self._read_question(question, scope)
        look = self._look(asked)
        if look.answer is None:
            return None
        return self.recent.note(asked.scope, self._serve(asked, look, look.answer))

    def put(
        self, question: str, answer: str, *, scope: Scope | None = None, memories: Sequence[str] = (),
        files: Sequence[str] = (), repositories: Sequence[str] = (), hours: float | None = None,
        confidence: float = 1.0, compute_ms: float | None = None, pin: bool = False,
    ) -> Answered:  # fmt: skip
        """Keep an answer that was made elsewhere. It ends with what it is said to depend on, and after its time.

        `memories` are ids, `files` paths, and `repositories` folders whose checked out commit counts.
        """
        asked, said = self._read_given(question, answer, scope)
        tied = [Depends("memory", self._memory(id)) for id in _some(memories, "memories")]
        tied += [Depends("file", path, self._freshness.files.hash(path)) for path in _some(files, "files")]
        tied += [Depends("commit", folder, commit(folder)) for folder in _some(repositories, "repositories")]
        if gone := [one.target for one in tied if one.version == GONE]:
            raise BadInput(f"{gone[0]!r:.200} cannot be read.", fix="Name files and repositories that are there.")
        within(confidence, 0, 1, "confidence", whole=False)
        ends = None if hours is None else self._now() + timedelta(hours=within(hours, 1e-6, 1e6, "hours", whole=False))
        made = Answer(
            "", asked.question, asked.hash, asked.scope.user, asked.scope.project, "given", said, pinned=pin,
            confidence=confidence, compute_ms=None if compute_ms is None else int(compute_ms),
            seq=self._store.head(self._tenant), depends=tuple(tied), expires_at=ends,
        )  # fmt: skip
        return self._show(self._keep(asked, made, None), "kept as it was given")

    def remember_answer(self, question: str, answer: str, *, scope: Scope | None = None, pin: bool = False) -> Answered:
        """Keep an answer that a person gave. It ends when what is known about its question changes."""
        asked, said = self._read_given(question, answer, scope)
        head = self._store.head(self._tenant)
        found = self._knowledge.recall(asked)
        hits = [hit.memory for hit in found.hits if tells(hit.memory, question)]
        known = () if found.weak else tuple(hits[: compose.CITED])
        made = Answer(
            "", asked.question, asked.hash, asked.scope.user, asked.scope.project, "given", said, pinned=pin,
            confidence=1.0, seq=head, watched=True, depends=self._freshness.tied(known, settings=False),
            expires_at=self._policy.ends("given", self._now(), *ends(known), self._freshness.first_later(asked.scope)),
        )  # fmt: skip
        return self._show(self._keep(asked, made, None), "kept as it was given")

    def _look(self, asked: Asked, *, holding: bool = True) -> Look:
        """The kept answer of the same question, or of one that is surely the same; `holding` only if it holds."""
        look = Look()
        same = self._same(asked)
        for one in same:
            ended, look.seq = self._freshness.ended(one) if holding else ("", 0)
            if not ended:
                look.answer, look.why = one, "the same question"
                return look
            look.ended = look.ended or ended
        embedder = self._parts.embedder()
        if embedder is None:
            return look
        try:
            look.vector = embedder.embed([asked.question], "query")[0]
        except ModelUnavailable as error:
            log.warning("questions in other words are not looked for: %s", error)
            return look
        self._look_near(asked, look, embedder.model, {one.id for one in same}, holding)
        return look

    def _same(self, asked: Asked) -> list[Answer]:
        """The kept answers of the same question that are meant for its place, the nearest place first."""
        found = (self._store.answer_of(self._tenant, asked.hash, *place) for place in asked.around)
        return [one for one in found if one is not None and one.answer is not None and asked.served_by(one)]

    def _look_near(self, asked: Asked, look: Look, model: str, same: set[str], holding: bool) -> None:
        assert look.vector is not None
        near: dict[str, float] = {}
        for user, project in asked.around:
            near |= self._vectors.near(user, project, model, look.vector, NEAR, NEAREST)
        ids = [id for id in near if id not in same]
        found = [one for one in self._store.answers(self._tenant, ids) if one.answer and asked.served_by(one)]
        if not found or self._knowledge.understood(asked).hints:  # what a hint narrows, no likeness of words can tell
            return
        judged = [(relation(asked.question, one.question, "question"), one) for one in found]
        related: list[Related] = []
        for told, one in sorted(judged, key=lambda pair: (bool(pair[0].reasons), -pair[0].probability)):
            sure = told.is_sure("same", self._risk.serve)
            if not sure and told.probability < OFFER and told.risk > self._risk.offer:
                continue
            serves = sure or (not told.reasons and not related and self._same_by_model(asked, one))
            ended, seq = self._freshness.ended(one) if holding else ("", 0)
            if ended:
                continue
            if serves:
                look.answer, look.seq = one, seq
                look.why = f'asked before as "{one.question}", the same to {told.probability:.3f}'
                return
            why = "; ".join(told.reasons) or f"the same question only to {told.probability:.2f}"
            related.append(Related(one.question, str(one.answer), round(told.probability, 4), why))
        look.related = tuple(related[:RELATED])

    def _same_by_model(self, asked: Asked, known: Answer) -> bool:
        """Ask a model about two questions that are nearly the same, where the settings say so."""
        if "judge" not in self._flags:
            return False
        return self._yes(compose.SAME, f"1: {asked.question}\n2: {known.question}", asked.scope.project)

    def _yes(self, system: str, question: str, project: str) -> bool:
        llm = self._parts.llm("gate", "answers", project)
        if llm is None:
            return False
        try:
            return bool(llm.complete(system, [("user", question)], compose.YES, 50).data["yes"])
        except (BadAnswer, ModelUnavailable, BudgetSpent) as error:
            log.warning("the gate model did not decide, so it is no: %s", error)
            return False

    def _compute(self, asked: Asked, look: Look) -> Answered:
        began = time.perf_counter()
        head = self._store.head(self._tenant)
        found = self._knowledge.recall(asked)
        before = self._store.answer_of(self._tenant, *asked.place)
        made, skipped = self._knowledge.compose(asked, found, before.retired if before else "")
        if made is not None:
            made = replace(made, confidence=self._policy.doubt(made.confidence, before))
        took = (time.perf_counter() - began) * 1000
        answered = Answered(
            asked.question, made.text if made else "", confidence=made.confidence if made else 0.0,
            why=made.why if made else "nothing that is remembered answers it", computed_ms=round(took, 3),
            related=look.related, skipped=(*found.skipped, *skipped), sources=cited(made) if made else (),
        )  # fmt: skip
        # While the model is loading words alone answer, and only this once: with it the answer may be another.
        if asked.narrow or LOADING in found.skipped:
            return answered
        kept = self._keep(asked, self._knowledge.made(asked, made, head, took), look.vector)
        why = f"{answered.why}; not served from the cache: {look.ended}" if look.ended else answered.why
        return replace(answered, why=why, cache_tier=kept.tier, ask_count=kept.asked, id=kept.id)

    def _keep(self, asked: Asked, made: Answer, vector: Floats | None, *, sown: bool = False) -> Answer:
        """Count a question that was asked, and keep its answer if it was given, or sown, or pays."""
        given = made.kind == "given" or sown
        self._counters.flush()
        now = self._now()
        before = self._store.answer_of(self._tenant, *asked.place)
        count = (before.asked if before else 0) + (not given)
        reason = self._worth(made, before, count, given)
        model, half = self._vector(asked, vector) if reason else ("", None)
        with self._store.transaction(self._tenant, "answers", now) as changes:
            old = changes.answer(*asked.place)
            if self._was_erased(changes, made):
                return replace(made, id=old.id if old else "", asked=count)
            count = (old.asked if old else 0) + (not given)
            fresh = replace(
                old or replace(made, id=self._new_id(now), first_asked_at=now, version=0),
                last_asked_at=now, asked=count, question=asked.question, compute_ms=made.compute_ms,
            )  # fmt: skip
            if reason:
                turned_down = fresh.disliked if fresh.answer in (None, made.answer) else 0
                same = old is not None and old.answer == made.answer and set(old.depends) == set(made.depends)
                fresh = replace(
                    fresh, kind=made.kind, answer=made.answer, sources=made.sources, confidence=made.confidence,
                    seq=made.seq, watched=made.watched, depends=made.depends, model=model, stale="",
                    version=fresh.version + (not same), disliked=turned_down,
                    expires_at=made.expires_at or self._policy.ends(made.kind, now), pinned=fresh.pinned or made.pinned,
                )  # fmt: skip
            else:
                fresh = without_answer(fresh)
            fresh = replace(fresh, tier=self._policy.tier(count, kept=bool(reason)))
            changes.put_answer(fresh, half)
        if reason:
            self._make_room()
        return fresh

    def _was_erased(self, changes: Transaction, made: Answer) -> bool:
        """Whether something an answer was built from was erased since: then nothing of it may be written any more."""
        if self._store.head(self._tenant) == made.seq:
            return False
        return any(one.kind == "memory" and changes.get(Memory, one.target) is None for one in made.depends)

    def _worth(self, made: Answer, before: Answer | None, count: int, given: bool) -> str:
        """Why an answer is kept; nothing where it is not, because it does not pay or may not be trusted."""
        if made.answer is None:
            return ""
        if made.kind == "given":
            return "given"
        if before is not None and before.retired == text.key(made.answer):
            return ""
        pinned = before is not None and before.pinned
        why = "wanted" if pinned or given else self._policy.worth(count, made.compute_ms or 0, made.confidence or 0.0)
        if why and "check" in self._flags:
            told = compose.check_text(made.question, made.answer, [str(one["quote"]) for one in made.sources])
            return why if self._yes(compose.CHECK, told, made.project) else ""
        return why

    def _vector(self, asked: Asked, vector: Floats | None) -> tuple[str, bytes | None]:
        """The vector of a question whose answer is kept; embedded now, unless the look had to."""
        embedder = self._parts.embedder()
        if embedder is None:
            return "", None
        try:
            made = embedder.embed([asked.question], "query")[0] if vector is None else vector
        except ModelUnavailable as error:
            log.warning("the question is found by its own words only: %s", error)
            return "", None
        from ..vectors import halves

        return embedder.model, halves(made[None, :])[0]

    def _make_room(self) -> None:
        """Let go of what is over the limits, now and then: coldest first, and in a tier what was asked longest ago."""
        with self._lock:
            self._kept += 1
            if self._kept < max(1, self._policy.most // 100):
                return
            self._kept = 0
        self.evict()

    def evict(self, count: int | None = None) -> int:
        """Let go of answers that are over the limit, or so many; gives how many went."""
        questions, answers = self._store.answers_kept(self._tenant)
        bare, over = self._policy.too_many(questions, answers, is_short_of_memory())
        over = over if count is None else count
        gone = self._store.answer_page(self._tenant, kept=True, evictable=True, limit=over) if over else []
        idle = self._store.answer_page(self._tenant, kept=False, evictable=True, limit=bare) if bare else []
        if gone or idle:
            with self._store.transaction(self._tenant, "answers", self._now()) as changes:
                for one in gone:
                    changes.put_answer(without_answer(one))
                for one in idle:
                    changes.drop_answer(one.id)
        return len(gone)

    def forget(self, question: str, *, scope: Scope | None = None) -> Answer:
        """Forget a question and its answer, by the question or its id."""
        found = self.find(question, scope=scope)
        with self._store.transaction(self._tenant, "answers", self._now()) as changes:
            changes.drop_answer(found.id)
        return found

    def feedback(self, question: str, helpful: bool, *, scope: Scope | None = None) -> Answer:
        """Say whether an answer helped: its confidence follows, and one that is turned down twice is retired."""
        if not isinstance(helpful, bool):
            raise BadInput(f"helpful must be true or false, not {helpful!r:.40}.")
        known = self.find(question, scope=scope)
        said = known.answer
        if said is None:  # it was given and not kept: what would be given now is what was
            said = self._knowledge.fresh(self._read_question(known.question, Scope(known.user, known.project))).answer
        return self._change(known.id, scope, lambda found: self._policy.rated(found, helpful, said))

    def pin(self, question: str, *, scope: Scope | None = None, undo: bool = False) -> Answer:
        """Never let an answer go for want of room; it still ends when what it was built from changes."""
        return self._change(question, scope, lambda found: replace(found, pinned=not undo))

    def _change(self, question: str, scope: Scope | None, change: Callable[[Answer], Answer]) -> Answer:
        found = self.find(question, scope=scope)
        with self._store.transaction(self._tenant, "answers", self._now()) as changes:
            current = changes.answer(found.question_hash, found.user, found.project)
            if current is None:
                raise NotFound("The question was forgotten meanwhile.")
            changed = change(current)
            changes.put_answer(changed)
        return changed

    def find(self, question: str, *, scope: Scope | None = None) -> Answer:
        """A question in the cache: by its id or the end of it, by its words, or by words that surely ask the same."""
        self._counters.flush()
        wanted = question.strip().lower() if isinstance(question, str) else ""
        if ids.whole(wanted):
            found = self._store.answers(self._tenant, [wanted])
        elif " " not in wanted and ids.plausible(wanted):
            found = [one for one in self._store.each_answer(self._tenant) if one.id.endswith(wanted)]
        else:
            found = []
        if len(found) == 1:
            return found[0]
        asked = self._read_question(question, scope)
        same = self._same(asked)
        own = same[0] if same else self._store.answer_of(self._tenant, *asked.place)
        near = own or self._look(asked, holding=False).answer
        if near is None:
            raise NotFound(
                f'"{text.shorten(asked.question, 80)}" was not asked here.',
                fix="List questions with: recollect answers list",
            )
        return near

    def questions(
        self, *, scope: Scope | None = None, tier: str | None = None, kept: bool | None = None, limit: int = 50
    ) -> tuple[Answer, ...]:
        """Questions, last asked first; with a scope, those of exactly that user and project."""
        self._counters.flush()
        within(limit, 1, 1000, "limit", whole=True)
        tiers = () if tier is None else (one_of(tier, TIERS, "tier"),)
        user, project = _place(scope)
        found = self._store.answer_page(
            self._tenant, user=user, project=project, tiers=tiers, kept=kept, limit=limit
        )  # fmt: skip
        return tuple(found)

    def stats(self, *, scope: Scope | None = None) -> dict[str, Any]:
        """How many questions and answers there are, how often an answer was served, and what that saved."""
        self._counters.flush()
        found = self._store.answer_stats(self._tenant, *_place(scope))
        kept = found["answers"] + found["stale"]
        return {
            **found,
            "hit_rate": round(found["hits"] / found["asked"], 4) if found["asked"] else 0.0,
            "bytes_per_answer": round(found["bytes"] / kept) if kept else 0,
            "most": self._policy.most,
        }

    def ended(self) -> tuple[Answer, ...]:
        """Core and pinned answers that no longer hold."""
        self._counters.flush()
        core = self._store.answer_page(self._tenant, tiers=("core",), kept=True, limit=self._policy.most)
        pinned = [one for one in self._store.each_answer(self._tenant) if one.pinned]
        found = {one.id: one for one in (*core, *pinned)}
        own = (one for one in found.values() if one.kind != "given")
        return tuple(one for one in own if one.answer is None or self._freshness.ended(one)[0])

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Compute core and pinned answers again that no longer hold, before somebody asks; gives how many."""
        waiting = self.ended()
        for number, one in enumerate(waiting, 1):
            asked = self._read_question(one.question, Scope(one.user, one.project))
            self._renew(asked, one, self._knowledge.fresh(asked))
            if progress is not None:
                progress(number, len(waiting))
        return len(waiting)

    def seed(
        self, *, documents: bool = False, talk: bool = False, file: str | Path | None = None,
        scope: Scope | None = None, limit: int = 200, progress: Callable[[int, int], None] | None = None,
    ) -> Seeded:  # fmt: skip
        """Keep answers before anybody asks: to headings, to what was asked again in talk, to the lines of a file.

        What a document or talk of a project gives is kept for that project, where it will be asked.
        """
        place = replace(scope or self._home, branch="", agent="", session="")
        wanted: list[tuple[str, str, Scope]] = []
        for is_wanted, kind, read in ((documents, "doc", seeding.of_headings), (talk, "turn", seeding.of_talk)):
            if is_wanted:
                found = self._store.walk(self._tenant, Filter(place, kinds=(kind,)))
                wanted += seeding.by_place(found, place, read)
        if file is not None:
            try:
                lines = Path(file).read_text("utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise BadInput(f"{file} cannot be read: {error}.", fix="Name a file with a question a line.") from error
            wanted += [(*one, place) for one in seeding.of_lines(lines, str(file))]
        return self._seed_all(wanted[: int(within(limit, 1, 10_000, "limit", whole=True))], progress)

    def _seed_all(
        self, wanted: Sequence[tuple[str, str, Scope]], progress: Callable[[int, int], None] | None
    ) -> Seeded:  # fmt: skip
        kept = known = 0
        unanswered: list[str] = []
        for number, (question, answer, place) in enumerate(wanted, 1):
            asked = self._read_question(question, place)
            same = self._store.answer_of(self._tenant, *asked.place)
            if answer:
                kept += self.remember_answer(question, answer, scope=place).known
            elif same is not None and same.answer is not None and not self._freshness.ended(same)[0]:
                known += 1
            else:
                made = self._knowledge.fresh(asked)
                kept += made.answer is not None
                unanswered += [] if made.answer else [question]
                if made.answer:
                    self._keep(asked, made, None, sown=True)
            if progress is not None:
                progress(number, len(wanted))
        return Seeded(len(wanted), kept, known, tuple(unanswered))

    def _renew(self, asked: Asked, old: Answer, fresh: Answer) -> None:
        """Put another answer to a question in the place of one that ended; nobody asked, so nothing is counted."""
        model, half = (old.model, None) if old.model else self._vector(asked, None)
        with self._store.transaction(self._tenant, "answers", self._now()) as changes:
            current = changes.answer(old.question_hash, old.user, old.project)
            if current is None or current.version != old.version or self._was_erased(changes, fresh):
                return
            if fresh.answer is None or current.retired == text.key(fresh.answer):
                changes.put_answer(without_answer(current))
                return
            changes.put_answer(replace(
                current, kind=fresh.kind, answer=fresh.answer, sources=fresh.sources, confidence=fresh.confidence,
                seq=fresh.seq, watched=True, depends=fresh.depends, stale="", expires_at=fresh.expires_at, model=model,
                compute_ms=fresh.compute_ms, version=current.version + 1,
            ), half)  # fmt: skip

    def leaving(self) -> Iterator[tuple[int, Sequence[Leaving]]]:
        """What has had its time, for the janitor: a page at a time, and how many were looked at."""
        self._counters.flush()
        return Eviction(self._store, self._tenant, self._policy, self._freshness, self._now).leaving()

    def flush(self) -> None:
        """Write what is noted."""
        self._counters.flush()

    def _read_question(self, question: str, scope: Scope | None) -> Asked:
        cleaner = Cleaner(MAX_NAME, redact)
        said = cleaner.text(question, "question", MAX_QUESTION)
        if not any(letter.isalnum() for letter in said):
            raise BadInput("question is empty.", fix="Ask something.")
        where = Cleaner(MAX_NAME).scope(scope or self._home)
        return Asked(said, key(said), where, any((where.branch, where.agent, where.session)))

    def _read_given(self, question: str, answer: str, scope: Scope | None) -> tuple[Asked, str]:
        asked = self._read_question(question, scope)
        if asked.narrow:
            raise BadInput("An answer is kept for a user or a project.", fix="Leave branch, agent and session out.")
        said = Cleaner(MAX_ANSWER, redact).text(answer, "answer", MAX_ANSWER)
        if not any(letter.isalnum() for letter in said):
            raise BadInput("answer is empty.", fix="Say what the answer is.")
        if self._parts.forbids(said, asked.scope):
            raise Refused("That value was rejected before.")
        return asked, said

    def _memory(self, id: str) -> str:
        if id not in self._store.memories(self._tenant, [id]):
            raise NotFound(f"No memory has the id {id!r:.60}.")
        return id

    def _serve(self, asked: Asked, look: Look, answer: Answer) -> Answered:
        count = self._counters.add(answer, look.seq)
        shown = self._show(replace(answer, asked=count, tier=self._policy.tier(count, kept=True)), look.why)
        return replace(shown, question=asked.question, cached=True)

    def _show(self, answer: Answer, why: str) -> Answered:
        return Answered(
            answer.question, answer.answer or "", False, answer.tier, answer.asked, answer.confidence or 0.0, why,
            answer.sources, float(answer.compute_ms or 0), id=answer.id,
        )  # fmt: skip


def _place(scope: Scope | None) -> tuple[str | None, str | None]:
    return (None, None) if scope is None else (scope.user, scope.project)


def _some(values: Sequence[str], name: str) -> Sequence[str]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise BadInput(f"{name} must be a list of texts.")
    if len(values) > MAX_FILES:
        raise BadInput(f"{name} has {len(values)} entries; the limit is {MAX_FILES}.")
    return list(dict.fromkeys(values))
