"""The brief: what an assistant is told when a session starts.

    signals -> one query -> recall, and what proved useful -> a share for every category -> one fenced block

Learnings come from all projects, everything else from this one. Everything takes at most two seconds: slow steps are
skipped and named, and the last resort is the files of the knowledge bank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from .. import rank, text
from ..checks import MAX_QUERY
from ..engine import MIN_BUDGET, Engine
from ..errors import RecollectError, StoreUnavailable
from ..language.statements import is_statement
from ..models.tokens import Tokens
from ..recall.context import Context
from ..recall.fence import CLOSE, HEADER, OPEN, neutral
from ..recall.read import days
from ..recall.select import SHARE, Scored, balanced
from ..recall.task import LEAD
from ..settings import Settings
from ..types import EVERYWHERE, Hit, Memory, Noun, Recall, Scope
from . import bank, learning
from .learning import CATEGORY_OF
from .signals import MAX_TASK, Deadline, Signals, collect
from .tasks import get_task

BUDGET = 2.0  # seconds for everything
LEARNING = 0.4  # seconds for what was written into the files of the knowledge bank
LOOKING = 0.6  # the part of what is left that the search by meaning may take; then words alone are asked
SHOWN = 60  # characters of the question that the last line shows
LISTED = 10_000  # memories that are compared where there is no question
PAGE = 1000
LEARNT = learning.KINDS
# What else is told, by category: each has its share. Standing rules and preferences have a block of their own.
OTHERS = {
    "decision": "decisions", "incident": "incidents", "lesson": "incidents", "procedure": "facts", "fact": "facts",
    "insight": "facts", "summary": "facts", "doc": "facts", "code": "facts", "commit": "facts", "turn": "facts",
    "task": "facts",
}  # fmt: skip
CATEGORY = CATEGORY_OF | OTHERS
TOLD = ("decision", "incident", "lesson", "procedure", "fact", "insight", "summary")  # where nothing is asked for
_count = Tokens()


@dataclass(frozen=True, slots=True)
class Brief(Noun):
    """What to put before an assistant, the memories in it, and how it came about: `line` says that to a person."""

    text: str
    memories: tuple[str, ...] = ()
    entries: int = 0
    total: int = 0
    semantic: str = "active"
    query: str = ""
    matches: dict[str, int] = field(default_factory=dict)
    model: str = ""
    skipped: tuple[str, ...] = ()
    line: str = ""


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """For whom a brief is: the folder of the session, its scope, and whether other projects may be looked at.

    `talk` is what was said last in it. `tokens` and `characters` bound the whole. `files` says that it is for the
    person whose knowledge bank lies on this machine, `peek` that nothing in it counts as recalled.
    """

    folder: str = ""
    scope: Scope = EVERYWHERE
    across: bool = True
    talk: str = ""
    limit: int = 20
    tokens: int = 2000
    characters: int = 9500
    files: bool = True
    peek: bool = False
    note: str = ""  # a line of its own at the end
    now: datetime | None = None


@dataclass(slots=True)
class _Found:
    """What the store gave: the question it was asked, hits, how many candidates each arm had, and of how many."""

    query: str = ""
    hits: list[Hit] = field(default_factory=list)
    matches: dict[str, int] = field(default_factory=dict)
    total: int = 0
    skipped: list[str] = field(default_factory=list)


def build(engine: Engine, wanted: BriefRequest, deadline: Deadline | None = None) -> Brief:
    """The brief of a session; from the files of the knowledge bank where the store is switched off or broken."""
    limit = deadline or Deadline(BUDGET)
    if reason := bank.reason_disabled(engine.settings):
        return from_files(engine.settings, wanted, reason)
    try:
        return _from_store(engine, wanted, limit)
    except StoreUnavailable as error:
        told = from_files(engine.settings, wanted, f"unavailable ({error.message.rstrip('.')})")
        return replace(told, skipped=(*limit.skipped, *told.skipped))


def _from_store(engine: Engine, wanted: BriefRequest, deadline: Deadline) -> Brief:
    signals = replace(collect(wanted.folder, deadline), talk=wanted.talk)
    place = bank.bank(engine.settings, wanted.folder, wanted.scope.project)
    if wanted.files and not wanted.peek and any(place.files()):
        deadline.step(
            "bank", LEARNING, lambda: bank.import_changed(engine, place, embed=False), None, (RecollectError, OSError)
        )
    found = _Found()
    for name, recipe, part in (("meaning", "session_start", LOOKING), ("words", "session_words", 1.0)):

        def look(recipe: str = recipe) -> _Found | None:
            return _look(engine, signals, wanted, recipe, deadline)

        if (looked := deadline.step(name, part * deadline.left, look, None, ())) is not None:
            found = looked
            break
    if not found.hits and (told := from_files(engine.settings, wanted, "active (the files are not taken in yet)")).text:
        return replace(told, query=found.query, skipped=(*deadline.skipped, *found.skipped, *told.skipped))
    chosen = _chosen(found.hits, wanted.limit)
    skipped = list(dict.fromkeys((*deadline.skipped, *found.skipped)))
    model = engine.model()[0]
    missing = _said(f"skipped: {'; '.join(skipped)}") if skipped else ""
    missing = "\n\n".join(filter(None, (wanted.note, missing)))
    context = _fitting(engine, wanted, found.query, chosen, missing)
    shown = tuple(id for block in context.blocks for id in block.memories)
    entries = next((block.memories for block in context.blocks if block.name == "knowledge"), ())
    if not wanted.peek:
        engine.shown(entries)
    made = append_line(context.text, missing) if missing and (context.blocks or wanted.note) else context.text
    semantic = "active" if "vector" in found.matches or not found.query else "words only"
    return Brief(
        made, shown, len(entries), found.total, semantic, found.query, found.matches, model,
        (*skipped, *context.skipped), diagnosis(len(entries), found, model, skipped),
    )  # fmt: skip


def _fitting(engine: Engine, wanted: BriefRequest, query: str, chosen: Sequence[Hit], line: str) -> Context:
    """The context, in as many tokens as are as many characters as a hook may say, with room for a line of its own."""
    budget, most = max(MIN_BUDGET, wanted.tokens - _count(f"\n{line}\n")), wanted.characters - len(line) - 2
    while True:
        made = engine.context(query, scope=wanted.scope, budget=budget, hits=chosen, most=wanted.limit)
        if len(made.text) <= most:
            return made
        budget = max(MIN_BUDGET, budget * most // len(made.text) - 1)


def _task(engine: Engine, scope: Scope) -> str:
    """The task that is set in this project, on this branch or on none in particular."""
    found = get_task(engine, scope) if scope.project else None
    return text.shorten(found.content.removeprefix(LEAD), MAX_TASK) if found else ""


def _seen(wanted: BriefRequest) -> Scope:
    """Where learnings are looked for: everywhere the user is, or in the project alone."""
    return Scope(user=wanted.scope.user) if wanted.across else wanted.scope


def _look(engine: Engine, signals: Signals, wanted: BriefRequest, recipe: str, deadline: Deadline) -> _Found:
    """Everything that is asked of the store: the task, what bears on the question, and how much there is."""
    told = replace(signals, task=_task(engine, wanted.scope))
    query = text.clean(told.query())[:MAX_QUERY]
    found = _asked(engine, query, wanted, recipe) if query else _prominent(engine, wanted, deadline)
    found.query, found.total = query, engine.count(scope=_seen(wanted))
    if wanted.scope.project and (last := engine.summaries.last(wanted.scope)) and is_relevant(last, wanted.scope):
        found.hits = [one for one in found.hits if one.memory.id != last.id]
        best = max((one.score for one in found.hits), default=1.0)
        found.hits.insert(0, Hit(last, best, {}, "the last session here"))
    return found


def _asked(engine: Engine, query: str, wanted: BriefRequest, recipe: str) -> _Found:
    """Learnings of all projects and everything else of this one; a category that came off badly is asked for again."""
    found = _Found()
    for kinds, scope in ((LEARNT, _seen(wanted)), (tuple(OTHERS), wanted.scope)):
        told = _recalled(engine, query, recipe, kinds, scope, wanted.limit)
        _note(found, told, wanted)
        if wanted.limit < 3 * SHARE or len(told.hits) < wanted.limit:
            continue  # no shares to keep, or there is no more to be found
        for category in dict.fromkeys(CATEGORY[kind] for kind in kinds):
            own = tuple(kind for kind in kinds if CATEGORY[kind] == category)
            if sum(hit.memory.kind in own for hit in told.hits) < SHARE and engine.count(kinds=own):
                more = _recalled(engine, query, recipe, own, scope, SHARE)
                known = {hit.memory.id for hit in found.hits}
                fresh = [hit for hit in more.hits if hit.memory.id not in known]
                found.hits += [hit for hit in fresh if is_relevant(hit.memory, wanted.scope)]
    return found


def _recalled(engine: Engine, query: str, recipe: str, kinds: Sequence[str], scope: Scope, limit: int) -> Recall:
    return engine.recall(query, recipe=recipe, scope=scope, kinds=tuple(kinds), limit=limit, explain=True, peek=True)


def _note(found: _Found, told: Recall, wanted: BriefRequest) -> None:
    found.hits += [hit for hit in told.hits if is_relevant(hit.memory, wanted.scope)]
    found.skipped += told.skipped
    candidates = told.explained.candidates if told.explained else {}
    for arm, name in (("vector", "vector"), ("text", "fts5")):
        if arm in candidates:
            found.matches[name] = found.matches.get(name, 0) + len(candidates[arm])


def _prominent(engine: Engine, wanted: BriefRequest, deadline: Deadline) -> _Found:
    """Where there is no question: what proved itself, whatever it is about."""
    found = _Found()
    memories = list(_visible(engine, wanted, deadline, found.skipped))
    most, now = max((memory.observed for memory in memories), default=1), wanted.now or datetime.now(UTC)
    for m in memories:
        score = rank.prominence(m.observed, most, m.confidence, days(m.updated_at, now), m.recalled)
        found.hits.append(Hit(m, round(score, 4), {"prominence": round(score, 4)}, "what proved itself"))
    return found


def _visible(engine: Engine, wanted: BriefRequest, deadline: Deadline, skipped: list[str]) -> Iterator[Memory]:
    """What is worth telling unasked and may be seen from the scope, newest first."""
    cursor: str | None = None
    for _ in range(LISTED // PAGE):
        page = engine.list(kinds=(*LEARNT, *TOLD), limit=PAGE, cursor=cursor)
        for memory in page.memories:
            seen = (_seen(wanted) if memory.kind in LEARNT else wanted.scope).sees(memory.scope)
            if seen and is_relevant(memory, wanted.scope):
                yield memory
        if not (cursor := page.cursor):
            return
        if deadline.left < deadline.seconds / 3:
            break
    skipped.append("prominence: only the newest were compared")


def is_relevant(memory: Memory, scope: Scope) -> bool:
    """Whether a memory tells something and is not tied to another project, branch, agent or session."""
    own = [(memory.scope.branch, scope.branch), (memory.scope.agent, scope.agent)]
    if memory.kind != "turn":  # a talk often goes on where the one before it ended
        own.append((memory.scope.session, scope.session))
    if memory.kind == "turn" and (memory.speaker == "tool" or not is_statement(memory.content, firm=True)):
        return False  # it only asks, greets or shows what a tool printed
    if not scope.project and memory.scope.project and memory.kind not in LEARNT:
        return False  # a session of no project is not about any of them
    same = memory.scope.project == scope.project
    return all(have in ("", want if same else "") for have, want in own)


def _chosen(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The best, with a share for every category, best first."""
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))
    scored = [Scored(hit.memory, hit.score) for hit in ordered]
    if limit >= 3 * SHARE:
        scored = balanced(scored, limit, lambda memory: CATEGORY.get(memory.kind, "facts"))
    places = {one.memory.id for one in scored[:limit]}
    return [hit for hit in ordered if hit.memory.id in places]


def diagnosis(entries: int, found: _Found, model: str, skipped: Sequence[str]) -> str:
    """How a brief came about, in a line. It is for people: an assistant would only spend tokens on it.

    >>> diagnosis(3, _Found("parser: Reads logs", [], {"vector": 50, "fts5": 7}, 50), "arctic", ())
    '*Memory: 3 entries from 50 | semantic: active (vector=50, fts5=7) | context: "parser: Reads logs" | model: arctic*'
    """
    counts = ", ".join(f"{name}={found.matches.get(name, 0)}" for name in ("vector", "fts5"))
    shown = neutral(text.shorten(found.query, SHOWN)).replace("\n", " ").replace('"', "'")
    parts = [
        f"Memory: {entries} entries from {found.total}",
        f"semantic: active ({counts})",
        f'context: "{shown}"' if found.query else "context: none, by prominence",
        f"model: {model or 'none'}",
    ]
    if skipped:
        parts.append(f"skipped: {'; '.join(skipped)}")
    return _said(" | ".join(parts))


def _said(line: str) -> str:
    return f"*{neutral(line).replace(chr(10), ' ').replace('*', '')}*"


def append_line(block: str, line: str) -> str:
    """A block with one more line at its end, inside it."""
    inner = block.removesuffix(CLOSE).rstrip("\n") if block else f"{OPEN}\n{HEADER}"
    return f"{inner}\n\n{line}\n{CLOSE}"


def from_files(settings: Settings, wanted: BriefRequest, semantic: str) -> Brief:
    """The brief of the knowledge bank's files alone: no database, no model."""
    skipped: list[str] = []
    local: list[learning.Learning] = []
    own: list[learning.Learning] = []
    try:
        if wanted.files:
            local, own = bank.bank(settings, wanted.folder, wanted.scope.project).learnings()
    except RecollectError as error:
        skipped.append(f"bank: {error.message}")
    chosen = learning.select([*local, *own], wanted.limit)
    here = {one.id for one in local}
    while True:
        ours = sum(one.id in here for one in chosen)
        how = "; ".join([f"semantic: {semantic}", *skipped])
        line = f"*Memory: {len(chosen)} entries ({ours} local, {len(chosen) - ours} global) | {how}*"
        made = learning.render(chosen, f"*Memory from the files of the knowledge bank alone; {how}*")
        if len(made) <= wanted.characters or not chosen:
            break
        chosen = chosen[:-1]
    return Brief(
        made if chosen else "", (), len(chosen), len(local) + len(own), semantic, skipped=tuple(skipped), line=line
    )


def without_store(settings: Settings, folder: str | Path, wanted: BriefRequest) -> Brief | None:
    """The brief of the files where there is no store to open, or nothing where there is one."""
    reason = bank.reason_without_store(settings)
    return from_files(settings, replace(wanted, folder=str(folder)), reason) if reason else None
