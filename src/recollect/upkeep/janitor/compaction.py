"""Compaction: old turns that nobody asked for any more become one summary with citations, and leave recall.

Five or more of one kind and scope, of little importance and unused for `compact_days`, are summed up in their own
sentences, those whose words recur most. The summary is `derived`, cites each sentence as evidence, and is tied to all
that it sums up. They are archived. A sentence whose value was rejected is left out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ... import text
from ...language import terms
from ...language.meaning import marks
from ...recall.compress import units
from ...remember.drafts import Prepared, prepare
from ...remember.write import embed_or_wait
from ...store.contract import Transaction
from ...types import Draft, Evidence, Memory, Source
from .room import Act, Room

if TYPE_CHECKING:
    from ...vectors import Floats

EPISODIC = ("turn", "incident", "task")
SMALL = 4  # the importance up to which something is of little value
FEWEST, MOST = 5, 100  # memories in one summary
LINES, LINE = 8, 240  # sentences of a summary, and characters of one
UNSAID = ("tool", "system")  # whose words are no knowledge


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a summary, and the memory it was taken from."""

    memory: Memory
    sentence: str

    def __str__(self) -> str:
        day = (self.memory.valid_from or self.memory.created_at).date()
        who = f" {self.memory.speaker}:" if self.memory.speaker else ""
        return f"- {day}{who} {self.sentence} [{self.memory.id[-6:]}]"


def compacted(room: Room) -> Iterator[list[Act]]:
    """Old turns, incidents and tasks of little value."""
    if not room.rules.compact_days:
        return
    groups: dict[Any, list[str]] = defaultdict(list)
    for page in room.pages(kinds=EPISODIC):
        for memory in page:
            if memory.importance <= SMALL and room.idle(memory) >= room.rules.compact_days:
                month = "" if memory.scope.session else f"{memory.valid_from or memory.created_at:%Y-%m}"
                groups[memory.kind, memory.scope, month].append(memory.id)
    for ids in groups.values():
        for start in range(0, len(ids), MOST):
            found = room.store.memories(room.tenant, ids[start : start + MOST])
            some = [memory for memory in found.values() if not room.sacred(memory)]
            if len(some) >= FEWEST:
                yield [_sum_up(room, sorted(some, key=_told_at))]


def _told_at(memory: Memory) -> Any:
    return memory.valid_from or memory.created_at, memory.position or 0, memory.id


def _sum_up(room: Room, members: list[Memory]) -> Act:
    lines = chosen(members, lambda sentence: bool(room.writer.tombstoned([Draft(sentence)])))
    first, last = (_told_at(memory)[0].date() for memory in (members[0], members[-1]))
    days = f"{first}" if first == last else f"{first} to {last}"
    head = f"{len(members)} {members[0].kind}s, {days}"
    draft = Draft(
        "\n".join([f"{head}:", *map(str, lines)]), kind="summary", title=head, scope=members[0].scope, importance=SMALL,
        tags=("compacted",), refs=tuple(dict.fromkeys(ref for one in members for ref in one.refs))[:16],
        valid_from=_told_at(members[0])[0], confidence=0.7, network="observation",
        source=Source("", "document", uri=f"summary:{text.key(' '.join(one.id for one in members))[:16]}", title=head),
    )  # fmt: skip
    item = prepare(draft, room.writer.content_limit, room.writer.actor, room.writer.labels)
    vectors = embed_or_wait([item.draft], room.embedder)[0]
    do = _archive(room, members, item, lines, vectors)
    return Act("summed up", members[0].id, head, do, retires=tuple(memory.id for memory in members))


def chosen(members: Sequence[Memory], unwanted: Callable[[str], bool]) -> list[Line]:
    """The sentences whose words recur most among the memories, in the order they were said."""
    lines = [
        Line(memory, unit.text)
        for memory in members if memory.speaker not in UNSAID
        for unit in units(memory.content) if unit.kind in ("prose", "item") and 12 <= len(unit.text) <= LINE
    ]  # fmt: skip
    held = [frozenset(terms.of_query(line.sentence)) for line in lines]
    seen = Counter(term for some in held for term in some)
    worth = [
        sum(math.log(seen[term]) for term in some if seen[term] > 1) / math.sqrt(4 + len(some))
        + (0.5 if line.memory.speaker == "user" else 0.0) + 0.1 * min(len(some), 8)
        for line, some in zip(lines, held, strict=True)
    ]  # fmt: skip
    taken: list[int] = []
    covered: set[tuple[frozenset[str], bool]] = set()  # "We use Kafka" does not cover "We do not use Kafka"
    for at in sorted(range(len(lines)), key=lambda at: (-worth[at], at)):
        if len(taken) == LINES:
            break
        said = held[at], marks(lines[at].sentence).denies
        if said not in covered and not unwanted(lines[at].sentence):
            covered.add(said)
            taken.append(at)
    return [lines[at] for at in sorted(taken)]


def _archive(
    room: Room, members: list[Memory], item: Prepared, lines: list[Line], vectors: Floats | None
) -> Callable[[Transaction], bool]:
    writer = room.writer

    def do(changes: Transaction) -> bool:
        current = [memory for one in members if (memory := room.unchanged(changes, one)) is not None]
        if len(current) < len(members) or any(
            room.used_at(a) > room.used_at(b) for a, b in zip(current, members, strict=True)
        ):
            return False
        if writer.rejected(changes, item.draft, writer.tombstoned([item.draft])):
            return False
        source = writer.source(changes, item.source)
        summary = writer.create(changes, item, source, trust="derived")
        for line in lines:
            now = writer.now()
            proof = Evidence(writer.new_id(now), summary.id, line.memory.source, line.sentence, line.memory.id, now)
            changes.put(proof, "create")
        for memory in current:
            writer.tie(changes, summary, "derived_from", memory, "summed up")
            changes.put(replace(memory, state="archived"), "compact", f"summed up in {summary.id}")
        if vectors is not None and room.embedder is not None:
            changes.embed(summary.id, room.embedder.model, vectors)
        return True

    return do
