"""Summaries of sessions, stored: one for each session, replaced when the session goes on.

A summary is made of the turns that are stored and, where a transcript was read, of the uses of tools in it; of those it
stores as turns the ones that it cites. Every line has its proof, so what is erased takes its lines along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import ids
from ..history.derived import SUMMARY
from ..remember.drafts import prepare
from ..remember.write import Writer, embed_or_wait
from ..times import EPOCH
from ..types import Draft, Evidence, Filter, Memory, Message, Scope, Source
from .summary import Line, Proof, Step, summed_up
from .transcripts import Said, used
from .turns import names

if TYPE_CHECKING:
    from ..models.embedder import Embedder

MOST_TURNS = 2000  # of a session, the newest
KEPT = ("decision", "rule", "preference", "fact", "procedure", "lesson")
TAG = "session"


@dataclass(frozen=True, slots=True)
class Summaries:
    """What writes summaries: through the write path, and `take_in` for the uses of tools that are cited."""

    writer: Writer
    take_in: Callable[[Sequence[Message], str, str, Scope], object]
    embedder: Callable[[], Embedder | None]

    def write(
        self, origin: str, session: str, scope: Scope, uses: Iterable[Said] = (), *, embed: bool = True
    ) -> Memory | None:
        """Sum a session up, and end the summary before it; None where nothing was done in it that is worth telling.

        `uses` are uses of tools as a transcript has them, which need not be stored.
        """
        turns, uses = self._turns(session, scope), list(uses)
        known = self._of(session, replace(turns[-1].scope, session="")) if turns else []
        if known and not uses and (known[0].valid_from or EPOCH) >= (turns[-1].valid_from or EPOCH):
            return known[0]  # nothing was said since
        stored = {turn.source for turn in turns}
        steps = [
            *(Step(one.speaker, one.content, one.source, one.valid_from, "") for one in turns),
            *(one for one in map(_step, uses) if stored.isdisjoint(names(origin, session, _message(one)))),
        ]  # fmt: skip
        steps.sort(key=lambda one: one.at or EPOCH)
        lines = self._allowed(summed_up(steps, self._kept(steps)))
        lines = self._proved(lines, origin, session, scope)
        return self._stored(lines, turns, session, embed) if len(lines) > 1 and turns else None

    def work(self, told: Mapping[str, Any]) -> None:
        """Do a job: the session, its scope, its host and its transcript."""
        self.write(told["origin"], told["session"], Scope.from_dict(told["scope"]), used(told["transcript"]))

    def last(self, scope: Scope) -> Memory | None:
        """The summary of the newest session that is seen from a scope."""
        found = self.writer.store.dated(
            self.writer.tenant, Filter(scope=replace(scope, session=""), kinds=("summary",), tags=(TAG,)), 1
        )
        return found[0] if found else None

    def _of(self, session: str, scope: Scope) -> list[Memory]:
        """The summary of a session that stands."""
        found = self.writer.store.of(self.writer.tenant, Memory, [_id(session, scope)], "source")
        return [one for one in found if one.kind == "summary" and one.state == "active"]

    def _turns(self, session: str, scope: Scope) -> list[Memory]:
        where = Filter(scope=replace(scope, branch="", session=session), inside=True, kinds=("turn",))
        found = self.writer.store.dated(self.writer.tenant, where, MOST_TURNS)
        return sorted(found, key=lambda one: (one.valid_from or one.created_at, one.position or 0))

    def _kept(self, steps: Sequence[Step]) -> list[Proof]:
        """The statements of the session that are believed, in the words in which they were said."""
        by_source = {step.source: step for step in steps if step.role == "user" and step.source}
        store, tenant, sources = self.writer.store, self.writer.tenant, list(by_source)
        proofs = [
            one for start in range(0, len(sources), 256)
            for one in store.of(tenant, Evidence, sources[start : start + 256], "source")
        ]  # fmt: skip
        known = store.memories(tenant, sorted({one.memory for one in proofs}))
        good = [
            one for one in proofs
            if (memory := known.get(one.memory)) and memory.state == "active" and memory.kind in KEPT
            and one.quote in by_source[one.source].content
        ]  # fmt: skip
        good.sort(key=lambda one: (-known[one.memory].importance, KEPT.index(known[one.memory].kind), one.id))
        return list(dict.fromkeys(Proof(by_source[one.source], one.quote) for one in good))

    def _allowed(self, lines: Sequence[Line]) -> list[Line]:
        """Without what repeats something that was rejected."""
        return [line for line in lines if not self.writer.tombstoned([Draft(line.text)])]

    def _proved(self, lines: Sequence[Line], origin: str, session: str, scope: Scope) -> list[Line]:
        """The lines whose proofs are all stored, word for word; the uses of tools that they cite are stored now."""
        cited = {proof.step.id: proof.step for line in lines for proof in line.proofs if not proof.step.source}
        self.take_in([_message(step) for step in cited.values()], origin, session, scope)
        named = {names(origin, session, _message(step))[0]: id for id, step in cited.items()}
        found = self.writer.store.of(self.writer.tenant, Memory, sorted(named), "source")
        there = {named[one.source]: one for one in found if one.source}

        def placed(proof: Proof) -> Proof | None:
            step, known = proof.step, there.get(proof.step.id)
            if not step.source and known:
                step = replace(step, source=known.source, content=known.content)
            return Proof(step, proof.quote) if step.source and proof.quote in step.content else None

        made = [(line, [placed(proof) for proof in line.proofs]) for line in lines]
        return [Line(line.text, tuple(p for p in proofs if p)) for line, proofs in made if all(proofs)]

    def _stored(self, lines: Sequence[Line], turns: Sequence[Memory], session: str, embed: bool) -> Memory | None:
        writer, last = self.writer, turns[-1]
        scope = replace(last.scope, session="")
        asked = sum(turn.speaker == "user" for turn in turns)
        day = (last.valid_from or last.created_at).date()
        head = f"Session of {day}, {asked} {'request' if asked == 1 else 'requests'}"
        source = Source(
            _id(session, scope), "document", f"{SUMMARY}{session}"[:1024],
            title="a session", session=session,
        )  # fmt: skip
        draft = Draft(
            "\n".join([f"{head}:", *(f"- {line.text}" for line in lines)]), kind="summary", title=head, scope=scope,
            importance=5, confidence=0.8, network="bank", tags=(TAG,), valid_from=last.valid_from, source=source,
        )  # fmt: skip
        item = prepare(draft, writer.content_limit, writer.actor, writer.labels)
        before = self._of(session, scope)
        if same := [one for one in before if one.content_hash == item.key]:
            return same[0]
        embedder = self.embedder() if embed else None
        vectors = embed_or_wait([item.draft], embedder)[0]
        with writer.changing() as changes:
            if writer.erased(changes, item.source) or writer.rejected(changes, draft, writer.tombstoned([draft])):
                return None
            made = writer.create(changes, item, writer.source(changes, item.source), trust="derived")
            for proof in (one for line in lines for one in line.proofs):
                now = writer.now()
                changes.put(Evidence(writer.new_id(now), made.id, proof.step.source, proof.quote, "", now), "create")
            if vectors is not None and embedder is not None:
                changes.embed(made.id, embedder.model, vectors)
            for old in before:
                writer.supersede(changes, made, old, "the session went on")
        return made


def _id(session: str, scope: Scope) -> str:
    return ids.derive("summary", scope.user, scope.project, session)


def _step(said: Said) -> Step:
    return Step(said.speaker, said.text, "", said.moment, said.id)


def _message(step: Step) -> Message:
    return Message("tool", step.content, step.id, step.at)
