"""Context: what an assistant is given to read before it answers, in blocks, in a budget that holds. Pure.

    <recollect> header · system · standing · project · task · knowledge · history </recollect>

**The order is by how seldom a block changes**, so that a prompt cache keeps its prefix from one call to the next. The
caller's system text never changes; standing rules change when someone states a new one; project facts when something is
learned; the task when work moves on; knowledge with each request; history with each turn. Whatever is before a block is
the same, byte for byte, whatever the block holds: nothing before knowledge looks at the request, nothing before history
looks at the turns. Dates in the stable blocks are days, not «3 days ago», which would change overnight.

**The budget is kept by the final string**, fences, headings and all, counted by the tokenizer that is named in the
result. Each block has its own budget, and what a block leaves unused flows to the blocks after it, never to those
before: that would let history reach back and change knowledge. Whoever has no history to give sets its budget to 0.

**Nothing is said twice**: a memory stands in the first block that shows it, by its id and by its content.

**Standing instructions** are an always-on tier: rules and preferences of the user or project that share no word with
the request, and would never be recalled for it. Since they are the one block an assistant is told to follow, only what
a person stated, or what is cited from a turn, file or commit of their own, may stand there; a page of the web may not.

With `index`, project and knowledge are given as one line a memory (id, title, age), and the full text is a `show` away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from .. import ids, times
from .. import text as plain
from ..errors import BadInput
from ..grounding import stale
from ..language import terms
from ..types import EVERYWHERE, SCOPE_FIELDS, Hit, Memory, Noun, Scope, Source
from .compress import Count, compress, kept_history
from .fence import CLOSE, HEADER, HEADS, OPEN, UNASKED, fenced, guarded, neutral, strip_fences
from .printing import label

if TYPE_CHECKING:
    from ..models.tokens import Tokens

ORDER = tuple(HEADS)  # system, standing, project, task, knowledge, history
SHARES = {"system": 150, "standing": 250, "project": 300, "task": 150, "knowledge": 800, "history": 350}
INDEX_HINT = " (index: show an id for its full text)"
INDEX_LINE = 20  # tokens of an index line, at most; a title of two or three words makes about 15
LEAST = 12  # tokens of content that are worth a fence
PIECE = 96  # tokens a long memory may take before others have had their turn
STANDING_KINDS = ("rule", "preference")
STANDING_SOURCES = ("statement", "turn", "file", "commit")
NO_SOURCES: Mapping[str, Source] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What a context is made of. Memories come ranked, best first; `sources` says where they are from, by source id."""

    system: str = ""
    standing: Sequence[Memory] = ()
    project: Sequence[Memory] = ()
    task: str = ""
    knowledge: Sequence[Hit] = ()
    history: Sequence[Turn] = ()
    query: str = ""
    sources: Mapping[str, Source] = field(default_factory=dict)
    now: datetime | None = None  # for the ages of an index; without it they are dates
    order: Sequence[str] = ()  # ids of the knowledge as it is laid out, where that is not best first

    def first(self, most: int) -> Parts:
        """The same with at most so many memories; half of them are left to the knowledge, where there is as much."""
        room = most - min(len(self.knowledge), most // 2)
        rules = self.standing[:room]
        facts = self.project[: room - len(rules)]
        return replace(self, standing=rules, project=facts, knowledge=self.knowledge[: most - len(rules) - len(facts)])


@dataclass(frozen=True, slots=True)
class Budgets:
    """Tokens a block may take; what it leaves flows to the next. Their sum bounds the whole.

    >>> Budgets().total, Budgets.of(1000, history=0)
    (2000, Budgets(system=90, standing=151, project=181, task=90, knowledge=488, history=0))
    """

    system: int = SHARES["system"]
    standing: int = SHARES["standing"]
    project: int = SHARES["project"]
    task: int = SHARES["task"]
    knowledge: int = SHARES["knowledge"]
    history: int = SHARES["history"]

    def __post_init__(self) -> None:
        for name in ORDER:
            if getattr(self, name) < 0:
                raise BadInput(f"The budget of {name} is {getattr(self, name)}.", fix="Give 0 to leave a block out.")

    @property
    def total(self) -> int:
        return sum(getattr(self, name) for name in ORDER)

    @classmethod
    def of(cls, total: int, **fixed: int) -> Budgets:
        """Share a total out as the defaults do; blocks that are named get what is said, the others share the rest."""
        if unknown := fixed.keys() - SHARES.keys():
            raise BadInput(f"{', '.join(sorted(unknown))}: no such block.", fix=f"Blocks are {', '.join(ORDER)}.")
        rest = total - sum(fixed.values())
        if rest < 0:
            raise BadInput(f"The blocks that were named take {sum(fixed.values())} tokens of {total}.")
        whole = sum(share for name, share in SHARES.items() if name not in fixed) or 1
        shared = {name: rest * share // whole for name, share in SHARES.items() if name not in fixed}
        for name in ("knowledge", *shared):  # what rounding left goes to knowledge, or else to the first
            if name in shared:
                shared[name] += rest - sum(shared.values())
        return cls(**(shared | fixed))


@dataclass(frozen=True, slots=True)
class Block(Noun):
    """One block as it stands in the context, the ids of the memories in it, and how many were left out."""

    name: str
    text: str
    tokens: int
    memories: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Context(Noun):
    """What to put before the assistant. `saved` is how many tokens more it would cost to send everything unabridged."""

    text: str
    tokens: int
    blocks: tuple[Block, ...]
    saved: int
    tokenizer: str
    skipped: tuple[str, ...] = ()

    @property
    def report(self) -> str:
        """
        >>> Context("…", 600, (), 3400, "arctic-embed-s").report
        '600 tokens; sending everything would take 4,000 (85 % saved; counted by arctic-embed-s)'
        """
        every = self.tokens + self.saved
        part = 100 * self.saved // every if every else 0
        counted = f"counted by {self.tokenizer}"
        return f"{self.tokens:,} tokens; sending everything would take {every:,} ({part} % saved; {counted})"


def build(parts: Parts, budgets: Budgets, count: Tokens, *, index: bool = False) -> Context:
    """The context of these parts: blocks in their stable order, within the budgets, without repetition."""
    counted = cache(count)  # headings, fences and bodies are weighed more than once
    page = _Page(parts, counted, index, turns(parts.history))
    allowed = counted(f"{OPEN}\n{HEADER}\n\n\n{CLOSE}")  # the frame is paid by whichever block comes last
    for name in ORDER:
        allowed += getattr(budgets, name)
        page.add(name, min(allowed, budgets.total) if getattr(budgets, name) else 0)
    text = page.text()
    tokens = count(text)
    everything = _everything(parts, counted)
    return Context(text, tokens, tuple(page.blocks), max(0, everything - tokens), count.name, tuple(page.skipped))


def standing(
    memories: Iterable[Memory], scope: Scope = EVERYWHERE, sources: Mapping[str, Source] = NO_SOURCES
) -> tuple[Memory, ...]:
    """The rules and preferences that hold in a scope and may be followed, the closest and most important first.

    Closest is what was said for this user in this project, then for the project, for the user, for everywhere; within
    that, what was said for this branch, agent or session; then importance, then the newest, then the id.
    """
    fitting = [m for m in memories if m.kind in STANDING_KINDS and m.state == "active" and _believed(m, sources)]
    fitting = [m for m in fitting if all(getattr(m.scope, n) in ("", getattr(scope, n)) for n in SCOPE_FIELDS)]
    return tuple(sorted(fitting, key=lambda m: (*_distance(m.scope), -m.importance, -times.micros(_date(m)), m.id)))


def _believed(memory: Memory, sources: Mapping[str, Source]) -> bool:
    source = sources.get(memory.source)
    return memory.trust == "stated" or (
        memory.trust == "cited" and source is not None and source.kind in STANDING_SOURCES
    )


def _distance(scope: Scope) -> tuple[int, int]:
    return 3 - (2 * bool(scope.project) + bool(scope.user)), -sum(map(bool, (scope.branch, scope.agent, scope.session)))


def _date(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


# -- one page ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Page:
    """The context while it is being written: block after block, each knowing only what stands before it."""

    parts: Parts
    count: Count
    index: bool
    turns: list[str]
    blocks: list[Block] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)  # ids and content keys

    def text(self, more: str = "") -> str:
        blocks = [block.text for block in self.blocks] + ([more] if more else [])
        return "\n\n".join([f"{OPEN}\n{HEADER}", *blocks]) + f"\n{CLOSE}" if blocks else ""

    def add(self, name: str, allowed: int) -> None:
        """Write a block, if there is something to write, so that the page stays within what is allowed so far."""
        write = self._words if name in ("system", "task", "history") else self._memories
        size = self._size(name)
        room = allowed - self.count(self.text("\n"))
        block = None
        for _ in range(4):  # a tokenizer may count the whole higher than its parts
            found = write(name, room) if size and room > 0 else None
            if found is None:
                break
            if (over := self.count(self.text(found.text)) - allowed) <= 0:
                block = found
                break
            room -= over
        if left := block.left_out if block else size:
            said = "shortened" if block and name in ("system", "task") else f"{left} of {size} left out, no room"
            self.skipped.append(f"{name}: {said}")
        if block:
            self.blocks.append(block)
            contents = {memory.id: memory.content for memory in self._given(name)}
            self.shown.update(block.memories, (plain.key(contents[id]) for id in block.memories))

    def _size(self, name: str) -> int:
        """How many things there are to show in a block."""
        if name == "history":
            return len(self.turns)
        return int(bool(guarded(getattr(self.parts, name)))) if name in ("system", "task") else len(self._fresh(name))

    # -- words ------------------------------------------------------------------------------------------------------

    def _words(self, name: str, room: int) -> Block | None:
        """A block of the caller's own words, or of the conversation."""
        head = HEADS[name] + "\n"
        room -= self.count(head)
        if name == "history":
            words, left = kept_history(self.turns, room, self.count)
        else:
            given = guarded(getattr(self.parts, name))
            words = compress(given, (), room, self.count)
            left = int(words != given)
        return self._block(name, head + words, (), left) if words else None

    # -- memories ---------------------------------------------------------------------------------------------------

    def _given(self, name: str) -> list[Memory]:
        if name == "knowledge":
            return [hit.memory for hit in self.parts.knowledge]
        return list(getattr(self.parts, name)) if name in ("standing", "project") else []

    def _fresh(self, name: str) -> list[Memory]:
        """The memories of a block that no block before it has shown, each once."""
        fresh: dict[str, Memory] = {}
        for memory in self._given(name):
            if memory.id not in self.shown and (key := plain.key(memory.content)) not in self.shown:
                fresh.setdefault(key, memory)
        return list({memory.id: memory for memory in fresh.values()}.values())

    def _memories(self, name: str, room: int) -> Block | None:
        memories = self._fresh(name)
        listed = self.index and name != "standing"
        unasked = name == "knowledge" and not self.parts.query
        head = (UNASKED if unasked else HEADS[name]) + (INDEX_HINT if listed else "")
        room -= self.count(f"{head}\n")
        asked = terms.of_query(self.parts.query) if name == "knowledge" else []
        lines = self._listed(memories, name, room) if listed else self._told(memories, asked, room, unasked)
        if not lines:
            return None
        if name == "knowledge" and self.parts.order:
            lines = {id: lines[id] for id in self.parts.order if id in lines}
        return self._block(name, "\n".join([head, *lines.values()]), tuple(lines), len(memories) - len(lines))

    def _told(self, memories: list[Memory], asked: list[str], room: int, unasked: bool) -> dict[str, str]:
        """Memories in their fences, while there is room: first a piece of each, then more of those that were cut.

        Of what nobody asked for, a piece is enough.
        """
        piece = max(PIECE, room // min(len(memories), 5)) if memories else 0
        piece = min(piece, 2 * PIECE) if unasked else piece
        told: dict[str, str] = {}
        cut: list[Memory] = []
        for memory in memories:
            line, whole = self._element(memory, asked, min(piece, room))
            if line:
                told[memory.id] = line
                room -= self.count(f"{line}\n")
            if line and not whole:
                cut.append(memory)
        for memory in () if unasked else cut:
            had = self.count(told[memory.id])
            line, _ = self._element(memory, asked, had + room) if room > LEAST else ("", False)
            if len(line) > len(told[memory.id]):
                told[memory.id] = line
                room -= self.count(line) - had
        return told

    def _element(self, memory: Memory, asked: list[str], room: int) -> tuple[str, bool]:
        """A memory in its fence in at most that many tokens, or nothing; and whether it is there as a whole."""
        source = self.parts.sources.get(memory.source)
        words = body(memory)
        inner = room - self.count(element(memory, "", source))
        for _ in range(4):  # marks that neutralise an order take room too
            if inner < LEAST and inner < self.count(words):
                break
            kept = compress(words, asked, inner, self.count)
            made = element(memory, kept, source)
            if (over := self.count(made) - room) <= 0:
                return made, kept == words.strip()
            inner -= over
        return "", False

    def _listed(self, memories: list[Memory], name: str, room: int) -> dict[str, str]:
        now = self.parts.now if name == "knowledge" else None
        lines: dict[str, str] = {}
        for memory in memories:
            line = index_line(memory, now, self.count)
            if (room := room - self.count(f"{line}\n")) < 0:
                break
            lines[memory.id] = line
        return lines

    def _block(self, name: str, text: str, memories: tuple[str, ...], left_out: int) -> Block:
        return Block(name, text, self.count(text), memories, left_out)


# -- pieces -----------------------------------------------------------------------------------------------------------


def body(memory: Memory) -> str:
    """What a memory says: its title where it adds something, its content, and why."""
    title = memory.title if memory.title and plain.fold(memory.title) not in plain.fold(memory.content) else ""
    why = f"Why: {memory.reasoning}" if memory.reasoning else ""
    return "\n".join(part for part in (title, memory.content, why) if part)


def element(memory: Memory, words: str, source: Source | None = None) -> str:
    """A memory in its fence. A fact that was stated is the ordinary case, and is not said."""
    return fenced(
        words,
        id=ids.short(memory.id),
        kind="" if (said := label(memory)) == "fact" else said,
        date=f"{_date(memory).astimezone(UTC):%Y-%m-%d}",
        source=origin(source) if source else "",
        trust="" if memory.trust == "stated" else memory.trust,
        stale=stale(memory.refs),
    )


def origin(source: Source) -> str:
    """A source in a few words.

    >>> origin(Source("x", "turn", session="42")), origin(Source("y", "file", uri="docs/adr-005.md"))
    ('turn session:42', 'file docs/adr-005.md')
    """
    session = f"session:{source.session}" if source.session else ""
    return f"{source.kind} {source.title or source.uri or session or source.author}".strip()


def index_line(memory: Memory, now: datetime | None, count: Count) -> str:
    """One line that stands for a memory: enough to decide whether to ask for it.

    >>> from datetime import timedelta
    >>> noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    >>> note = Memory("01kb3vq4zt7m8w2n5x9r0c6d1e", "We deploy on Thursdays.", title="Deploy day", created_at=noon)
    >>> index_line(note, noon + timedelta(days=3), plain.tokens)
    '- 9r0c6d1e Deploy day — 3 days ago'
    """
    age = times.ago(_date(memory), now) if now else f"{_date(memory).astimezone(UTC):%Y-%m-%d}"
    title = neutral(plain.shorten(memory.title or plain.title_of(memory.content), 60)).replace("\n", " ")
    room = INDEX_LINE - count(f"- {ids.short(memory.id)} — {age}")
    return f"- {ids.short(memory.id)} {compress(title, (), max(room, 3), count)} — {age}"


def turns(history: Sequence[Turn]) -> list[str]:
    """The conversation as lines: what we injected into it taken out, what it quotes neutralised."""
    said = [(turn.role, neutral(strip_fences(turn.text))) for turn in history]
    return [f"- {neutral(plain.shorten(role, 20))}: {words}".replace("\n", "\n  ") for role, words in said if words]


def _everything(parts: Parts, count: Count) -> int:
    """What it would cost to send all of it, unabridged, in the same fences."""
    hits = [hit.memory for hit in parts.knowledge]
    memories = {m.id: m for m in (*parts.standing, *parts.project, *hits)}.values()
    fences = (f"{element(m, '', parts.sources.get(m.source))}\n{body(m)}" for m in memories)
    said = (f"- {turn.role}: {turn.text}" for turn in parts.history)
    return sum(count(f"{piece}\n") for piece in (parts.system, parts.task, *fences, *said) if piece)
