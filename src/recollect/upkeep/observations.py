"""Observations: what the memories of one place say of an entity, summed up in their own sentences.

An entity that three memories of exactly one scope name has one summary there, in the network `observation`. It is made
of facts and deeds and never of opinions; each line is a dated sentence of a memory, which it cites as evidence and is
derived from. Where a language model is configured it words the lines, and a line that its memories do not bear out is
dropped. The background job makes a summary anew when one of its memories changes, and ends it when too few are left.
Recall hands one out only where observations are asked for (`recall/observed.py`), so none stands before its parts.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import ids, text
from ..errors import BadAnswer, BudgetSpent, ModelUnavailable
from ..history.timeline import read_state, told_at
from ..language import terms
from ..language.changes import mentions
from ..language.meaning import marks
from ..recall.compress import units
from ..recall.fence import HEADER
from ..remember.belief import ENTITY, sums_up
from ..remember.drafts import Prepared, prepare
from ..remember.write import Writer, embed_or_wait
from ..store.contract import Transaction
from ..store.trail import Trace
from ..types import Draft, Evidence, Filter, Link, Memory, Scope, Source
from .janitor.compaction import Line, chosen
from .jobs import LISTED, Run

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.llm import LLM
    from .spending import Tier

ACTOR = "observer"
KIND = "observations"  # of the job
FEWEST, MOST = 3, 100  # memories that one is made of; of more, the newest
PAGE = 200  # changed memories looked at together
URI = "observation:"  # how the address of its source begins, which proves nothing by itself
NO_PARTS = ("turn", "code", "doc", "summary")
NO_THINGS = ("ticket", "file", "config", "symbol", "event", "pattern")
ASKED = f"""You word a neutral summary of one thing from numbered notes, and from nothing else. {HEADER}
Write at most six plain sentences without judgement, each with the numbers of the notes that say it. Use only names, \
numbers and dates that stand in those notes."""
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": {
        "type": "object",
        "properties": {"said": {"type": "string"}, "notes": {"type": "array", "items": {"type": "integer"}}},
        "required": ["said", "notes"], "additionalProperties": False,
    }}},
    "required": ["sentences"], "additionalProperties": False,
}  # fmt: skip
TOKENS = 800
_NAMED = re.compile(r"\b(?:[A-Z][\w-]*|[\w.-]*\d[\w.-]*)")


@dataclass(frozen=True, slots=True)
class Said:
    """A line of a summary, and the sentences of memories that bear it out."""

    words: str
    proofs: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Observer:
    """Keeps the summaries of one tenant's entities."""

    writer: Writer
    embedder: Callable[[], Embedder | None]
    llm: Callable[[Tier, str, str], LLM | None]
    read: Callable[[], object]  # reads what new memories name, which comes before they are summed up

    def work(self, run: Run) -> None:
        """Do a job: look at what changed since the last one that was done."""
        self.read()
        store, tenant = self.writer.store, self.writer.tenant
        head, over = store.head(tenant), store.jobs(tenant, ("done",), LISTED)
        since = max((int(job.progress.get("through", 0)) for job in over if job.kind == KIND), default=0)
        self.refresh(since, run.step)
        run.progress = {"through": head}

    def refresh(self, since: int = 0, progress: Callable[[int, int], None] | None = None) -> int:
        """Look again at what the memories name that changed after a number of the journal; gives how many changed."""
        store, tenant = self.writer.store, self.writer.tenant
        changed = sorted({row.target for row in store.each_entry(tenant, Trace(after=since, nouns=("memory",)))})
        seen, made = set[str](), 0
        for start in range(0, len(changed), PAGE):
            for key in sorted(self._keys(changed[start : start + PAGE]) - seen):
                seen.add(key)
                made += self.look(key)
            if progress:
                progress(min(start + PAGE, len(changed)), len(changed))
        return made

    def _keys(self, ids: Sequence[str]) -> set[str]:
        """The entities that memories name, or that a summary of them is about."""
        store, tenant = self.writer.store, self.writer.tenant
        named = {
            one.key for one in store.mentions(tenant, ids, Filter(inside=True), "memory") if one.kind not in NO_THINGS
        }
        ties = [link.origin for link in store.of(tenant, Link, ids, "target") if link.relation == "derived_from"]
        summaries = [one for one in store.memories(tenant, ties).values() if sums_up(one)]
        sources = store.of(tenant, Source, sorted({one.source for one in summaries}))
        return named | {one.uri.removeprefix(URI) for one in sources if one.uri.startswith(URI)}

    def look(self, key: str) -> int:
        """Make, renew and end the summaries of one entity, a scope at a time; gives how many changed."""
        store, tenant, now = self.writer.store, self.writer.tenant, self.writer.now()
        found = store.mentions(tenant, [key], Filter(inside=True, states=("active",), current_at=now))
        names = {one.memory: one.name for one in found}
        groups: dict[Scope, list[Memory]] = defaultdict(list)
        for memory in store.memories(tenant, list(names)).values():
            if (
                memory.network not in ("opinion", "observation")
                and memory.kind not in NO_PARTS
                and not memory.scope.session
            ):
                groups[memory.scope].append(memory)
        there = {one.scope: one for one in self._summaries(key)}
        done = 0
        for scope in [*groups, *(scope for scope in there if scope not in groups)]:
            known, members = there.get(scope), sorted(groups[scope], key=lambda one: (told_at(one), one.id))[-MOST:]
            if len(members) < FEWEST:
                done += self._end(known)
            elif known is None or known.state in ("active", "invalid"):  # one that a person put away stays away
                done += self._write(key, names[members[-1].id], scope, members, known)
        return done

    def _summaries(self, key: str) -> list[Memory]:
        found = self.writer.store.of(self.writer.tenant, Memory, [_source(key).id], "source")
        return [one for one in found if sums_up(one)]

    def _end(self, known: Memory | None) -> int:
        if known is None or known.state != "active":
            return 0
        with self.writer.changing() as changes:
            current = changes.get(Memory, known.id)
            ended = self.writer.ended(current, "invalid") if current and current.state == "active" else None
            return int(ended is not None and changes.put(ended, "edit", "too few memories name it"))

    def _write(self, key: str, name: str, scope: Scope, members: list[Memory], known: Memory | None) -> int:
        if known and known.state == "active" and self._is_of(known, members):
            return 0
        said = self._sentences(name, members)
        if not said:
            return self._end(known)
        first, last = told_at(members[0]).date(), told_at(members[-1]).date()
        head = f"{name}, by {len(members)} memories from {first} to {last}:"
        draft = Draft(
            "\n".join([head, *(one.words for one in said)]), kind="summary", title=name, scope=scope, importance=4,
            tags=(ENTITY,), network="observation", confidence=min(one.confidence for one in members),
            valid_from=told_at(members[-1]), source=_source(key),
        )  # fmt: skip
        item = prepare(draft, self.writer.content_limit, self.writer.actor, self.writer.labels)
        model = self.embedder()
        vectors = embed_or_wait([item.draft], model)[0]
        with self.writer.changing() as changes:
            now = [changes.get(Memory, one.id) for one in members]
            if any(one is None or one.record() != old.record() for one, old in zip(now, members, strict=True)):
                return 0  # something changed meanwhile: its own entry in the journal brings the next look
            if self.writer.rejected(changes, item.draft, self.writer.tombstoned([item.draft])):
                return 0
            memory = self._put(changes, key, item, known, members[-1])
            self._prove(changes, memory, members, said)
            if vectors is not None and model is not None:
                changes.embed(memory.id, model.model, vectors)
        return 1

    def _is_of(self, known: Memory, members: Sequence[Memory]) -> bool:
        """Whether a summary was made of exactly these memories, as they are."""
        links = self.writer.store.of(self.writer.tenant, Link, [known.id], "origin")
        parts = {link.target for link in links if link.relation == "derived_from"}
        return parts == {one.id for one in members} and all(one.updated_at <= known.updated_at for one in members)

    def _put(self, changes: Transaction, key: str, item: Prepared, known: Memory | None, newest: Memory) -> Memory:
        if known is None:
            return self.writer.create(changes, item, self.writer.source(changes, _source(key)), trust="derived")
        draft = item.draft
        renewed = replace(
            known, content=draft.content, title=draft.title, content_hash=item.key, confidence=draft.confidence,
            valid_from=told_at(newest), valid_to=None, state="active", updated_at=self.writer.now(),
        )  # fmt: skip
        changes.put(renewed, "edit", "the memories it is made of changed")
        return renewed

    def _prove(self, changes: Transaction, memory: Memory, members: Sequence[Memory], said: Sequence[Said]) -> None:
        """The quotes and links of a summary as they are now; those of before go where they no longer hold."""
        store, tenant = self.writer.store, self.writer.tenant
        quotes = {(line.memory.source, line.sentence, line.memory.id) for one in said for line in one.proofs}
        parts = {one.id: one for one in members}
        for proof in store.of(tenant, Evidence, [memory.id], "memory"):
            if (own := (proof.source, proof.quote, proof.place)) in quotes:
                quotes.discard(own)
            else:
                changes.drop(Evidence, proof.id, "edit")
        for link in store.of(tenant, Link, [memory.id], "origin"):
            if link.relation == "derived_from" and parts.pop(link.target, None) is None:
                changes.drop(Link, link.id, "unlink")
        for source, quote, place in sorted(quotes):
            now = self.writer.now()
            changes.put(Evidence(self.writer.new_id(now), memory.id, source, quote, place, now), "create")
        for part in parts.values():
            self.writer.tie(changes, memory, "derived_from", part, "summed up")

    # -- what it says -------------------------------------------------------------------------------------------------

    def _sentences(self, name: str, members: Sequence[Memory]) -> list[Said]:
        """What the members say of an entity: what proves its state first, then what recurs; in the order of time."""

        def unwanted(sentence: str) -> bool:
            return not mentions(sentence, name) or bool(self.writer.tombstoned([Draft(sentence)]))

        lines = chosen(members, unwanted)
        proofs = {one.memory for one in read_state(members, name, self.writer.now())} - {one.memory.id for one in lines}
        for memory in (one for one in members if one.id in proofs):
            if told := next((one.text for one in units(memory.content) if not unwanted(one.text)), ""):
                lines.append(Line(memory, told))
        lines.sort(key=lambda line: told_at(line.memory))
        plain = [Said(str(line), (line,)) for line in lines]
        return self._worded(name, members[0].scope.project, lines) or plain

    def _worded(self, name: str, project: str, lines: Sequence[Line]) -> list[Said]:
        """The lines in the words of the language model; nothing where there is none or it fails."""
        if not lines or (llm := self.llm("extract", KIND, project)) is None:
            return []
        notes = "\n".join(
            f"{number}. {told_at(line.memory):%Y-%m-%d}: {line.sentence}" for number, line in enumerate(lines, 1)
        )
        try:
            done = llm.complete(ASKED, [("user", f"The thing: {name}\n\n{notes}")], ANSWER, TOKENS)
        except (BadAnswer, ModelUnavailable, BudgetSpent):  # the extracted lines stand for themselves
            return []
        return list(_borne_out(done.data["sentences"], name, lines))


def _source(key: str) -> Source:
    """The source of the summaries of one entity, which is found by its id."""
    return Source(hashlib.sha256(f"{URI}{key}".encode()).hexdigest()[: ids.LENGTH], "document", uri=URI + key)


def _borne_out(told: Iterable[dict[str, Any]], name: str, lines: Sequence[Line]) -> Iterator[Said]:
    """Those sentences of a model whose names, numbers and most words stand in the notes that it cites for them."""
    for one in told:
        proofs = tuple(lines[n - 1] for n in dict.fromkeys(one["notes"]) if 0 < n <= len(lines))
        notes = " ".join([name, *(f"{told_at(line.memory):%Y-%m-%d %-d %B} {line.sentence}" for line in proofs)])
        said, words = text.clean(one["said"]), set(terms.of_query(one["said"]))
        named = all(found[0].casefold() in notes.casefold() for found in _NAMED.finditer(said[1:]))
        known = 3 * len(words & set(terms.of_query(notes))) >= 2 * len(words)
        agrees = marks(said).denies == any(marks(line.sentence).denies for line in proofs)
        if said and proofs and named and known and agrees:
            yield Said(f"- {said} [{', '.join(line.memory.id[-6:] for line in proofs)}]", proofs)
