"""The operations of the answer cache: asking, and what a person or a program may do with the answers that are kept.

An answer belongs to one user and one project; one that was given for no project is served in all of them. A caller
behind a wall asks inside it, and an answer on the other side is like one that does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .. import text, times
from ..agents.access import Caller
from ..answers.answered import Answered, Seeded
from ..answers.course import Ask
from ..engine import Engine
from ..errors import NotFound
from ..recall.fence import HEADER, fenced, neutral
from ..store.answers import TIERS, Answer
from ..types import Scope
from .folders import asked_in, folder_of, left_out
from .operation import LOOKED, PLACED, Operation, P

QUESTION = P("question", "text", "The question, in plain words.", aliases=("query", "q", "text"), cli="QUESTION...")
KNOWN = P(
    "question", "text", "The question, or its id in the cache.", aliases=("query", "q", "text", "id"), cli="QUESTION|ID"
)
PLACES, ASKED = PLACED[:2], LOOKED[:2]  # an answer is kept for a user and a project, and nothing narrower


def _place(caller: Caller, places: dict[str, Any]) -> Scope:
    found = caller.scope({name: value for name, value in places.items() if value is not None})
    return Scope(found.user, found.project)


def _known(engine: Engine, caller: Caller, question: str, places: dict[str, Any]) -> str:
    """The id of a question that the caller may speak of."""
    found = engine.answers.find(question, scope=_place(caller, places))
    if not caller.asked(found.user, found.project):
        raise NotFound(f"«{text.shorten(question, 80)}» was not asked here.")
    return found.id


# -- verbs ------------------------------------------------------------------------------------------------------------


def ask(engine: Engine, caller: Caller, *, question: str, fresh: bool = False, **places: Any) -> Answered:
    scope = asked_in(engine, caller, places)
    found = engine.answers.ask(question, scope=scope, fresh=fresh)
    return replace(found, skipped=(*found.skipped, *left_out(engine, caller, places, scope)))


def answer_get(engine: Engine, caller: Caller, *, question: str, **places: Any) -> dict[str, Any]:
    found = engine.answers.get(question, scope=asked_in(engine, caller, places))
    return {"hit": found is not None, "answer": found}


def answer_put(engine: Engine, caller: Caller, *, question: str, answer: str, **values: Any) -> Answered:
    places: dict[str, Any] = {name: values.pop(name) for name in ("project", "user") if name in values}
    where = _place(caller, places)
    for name in ("files", "repositories"):
        for path in values.get(name, ()):
            caller.may("admin", f"Naming {path!r:.60}, which lies on this machine,")
        values[name] = [str(folder_of(engine, caller, where.project, path)[1]) for path in values.get(name, ())]
    for id in values.get("memories", ()):
        caller.seen(engine.get(id, peek=True))
    return engine.answers.put(question, answer, scope=where, **values)


def remember_answer(
    engine: Engine, caller: Caller, *, question: str, answer: str, pin: bool = False, **places: Any
) -> Answered:
    return engine.answers.remember_answer(question, answer, scope=_place(caller, places), pin=pin)


def forget_answer(engine: Engine, caller: Caller, *, question: str, **places: Any) -> Answer:
    return engine.answers.forget(_known(engine, caller, question, places))


def feedback(engine: Engine, caller: Caller, *, question: str, helpful: bool, **places: Any) -> Answer:
    return engine.answers.feedback(_known(engine, caller, question, places), helpful)


def pin(engine: Engine, caller: Caller, *, question: str, undo: bool = False, **places: Any) -> Answer:
    return engine.answers.pin(_known(engine, caller, question, places), undo=undo)


def answer_list(
    engine: Engine, caller: Caller, *, limit: int, tier: str | None = None, kept: bool | None = None, **places: Any
) -> tuple[Answer, ...]:
    narrowed = caller.walled or any(value for value in places.values())
    where = _place(caller, places) if narrowed else None
    return engine.answers.questions(scope=where, tier=tier, kept=kept, limit=limit)


def answer_show(engine: Engine, caller: Caller, *, id: str, **places: Any) -> Answer:
    return engine.answers.find(_known(engine, caller, id, places))


def answer_stats(engine: Engine, caller: Caller, **places: Any) -> dict[str, Any]:
    narrowed = caller.walled or any(value for value in places.values())
    return engine.answers.stats(scope=_place(caller, places) if narrowed else None)


def answer_asks(engine: Engine, caller: Caller, *, limit: int) -> list[Ask]:
    own = (one for one in engine.answers.course.last() if caller.asked(one.scope.user, one.scope.project))
    return list(own)[-limit:]


def answer_seed(engine: Engine, caller: Caller, *, documents: bool, talk: bool, limit: int, **places: Any) -> Seeded:
    return engine.answers.seed(documents=documents, talk=talk, scope=_place(caller, places), limit=limit)


# -- words ------------------------------------------------------------------------------------------------------------


def said(result: Answered, now: datetime) -> str:
    """An answer as a model reads it: fenced, because it is made of what was remembered."""
    lines = []
    if result.answer:
        how = f"from the cache, {result.cache_tier}" if result.cached else "computed now"
        lines = [
            HEADER, fenced(result.answer, id=result.id or "answer", kind="answer", trust="derived"),
            f"({how}, asked {result.ask_count} times, sure to {result.confidence:.2f}: {neutral(result.why)})",
            *(
                neutral(f"[{n}] {one['memory']} {one['date']} {one['title']}")
                for n, one in enumerate(result.sources, 1)
            ),
        ]  # fmt: skip
    else:
        lines = [f"Not known: {neutral(result.why)}."]
    for one in result.related:
        lines.append(f"Related, not the same question ({neutral(one.why)}): {neutral(one.question)}")
        lines.append(fenced(one.answer, id="related", kind="answer", trust="derived"))
    return "\n".join([*lines, *(f"(skipped: {neutral(line)})" for line in result.skipped)])


def line(answer: Answer, now: datetime) -> str:
    marks = [answer.tier, *(["pinned"] if answer.pinned else []), *([f"ended: {answer.stale}"] if answer.stale else [])]
    kept = "" if answer.answer is None else f" → {text.shorten(neutral(answer.answer), 100)}"
    asked = f"asked {answer.asked}, served {answer.hits}, {times.ago(answer.last_asked_at, now)}"
    return f"{answer.id} [{', '.join(marks)}] {neutral(answer.question)}{kept} ({asked})"


def lines(found: Sequence[Answer], now: datetime) -> str:
    return "\n".join(line(one, now) for one in found) or "No question was asked yet."


def asks(found: Sequence[Ask], now: datetime) -> str:
    return "\n".join(
        f"{times.iso(one.at)} {'served' if one.cached else 'computed'}: {neutral(one.question)} ({neutral(one.why)})"
        for one in found
    )


def counted(stats: dict[str, Any], now: datetime) -> str:
    tiers = ", ".join(f"{name} {found.get('questions', 0)}" for name, found in stats["by_tier"].items())
    return (
        f"{stats['questions']} questions ({tiers}), {stats['answers']} answers kept ({stats['pinned']} pinned), "
        f"{stats['hits']} of {stats['asked']} asks served from the cache ({stats['hit_rate']:.0%}), "
        f"{stats['bytes_per_answer']:,} bytes an answer, {stats['saved_ms'] / 1000:.1f} s of computing saved"
    )


def sown(found: Seeded, now: datetime) -> str:
    unknown = len(found.unanswered)
    return f"{found.kept} of {found.looked_at} answers kept, {found.known} known already, {unknown} not known"


def rated(answer: Answer, now: datetime) -> str:
    if answer.answer is None:
        return "Noted; no answer is kept for it."
    return f"Noted; it is sure to {answer.confidence or 0:.2f} now."


GROUPS = {"answers": "Look after the answers that are kept."}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "ask", "Ask the librarian", "Answer a question from memory, at once if it was asked before.",
        "Use it for questions that come up again: how something works, where it lies, who owns it, what was decided. "
        "The answer names its sources and how sure it is. What is not known is said, and an answer to a question that "
        "is only near is marked as related: do not take it for the answer.",
        (QUESTION, P("fresh", "flag", "Compute it now, whatever is kept.", False), *LOOKED),
        ask, said, "POST", "/v1/ask", Answered,
        read_only=True, idempotent=True, mcp="ask_librarian", cli="ask",
    ),
    Operation(
        "remember_answer", "Remember an answer", "Keep an answer to a question, to be given when it is asked again.",
        "Use it when the user gave or confirmed an answer. It ends when what is known about the question changes.",
        (
            replace(QUESTION, cli="QUESTION"), P("answer", "text", "The answer.", cli="ANSWER"),
            P("pin", "flag", "Never let it go for want of room.", False), *PLACES,
        ),
        remember_answer, said, "POST", "/v1/answers", Answered,
        right="write", idempotent=True, mcp="librarian_remember", cli="answers remember", status=201,
    ),
    Operation(
        "forget_answer", "Forget an answer", "Take a question and its answer out of the cache.",
        "Use it when a kept answer is wrong or old. What is remembered stays; the question is answered anew.",
        (KNOWN, *ASKED),
        forget_answer, lambda found, now: f"Forgotten: {neutral(found.question)}", "POST", "/v1/answers/forget", Answer,
        right="write", destructive=True, mcp="librarian_forget", cli="answers forget",
    ),
    Operation(
        "feedback", "Rate an answer", "Say whether an answer helped.",
        "Use it when the user says so. Two that did not help retire the answer.",
        (KNOWN, P("helpful", "flag", "Whether it helped.", cli="--helpful/--not-helpful"), *ASKED),
        feedback, rated, "POST", "/v1/answers/feedback", Answer,
        right="write", mcp="librarian_feedback", cli="answers feedback",
    ),
    Operation(
        "answer_stats", "Statistics of answers", "How often answers come from the cache, and what is kept there.",
        "Use it when asked how well the cache works.",
        PLACES,
        answer_stats, counted, "GET", "/v1/answers/stats", dict,
        read_only=True, idempotent=True, mcp="librarian_memory_stats", cli="answers stats",
    ),
    Operation(
        "answer_asks", "Questions lately", "The last questions: whether each was answered from the cache, and why.",
        "Oldest first; the server holds the last few hundred in memory.",
        (P("limit", "whole", "At most so many.", 200, aliases=("k", "n"), least=1, most=500),),
        answer_asks, asks, "GET", "/v1/answers/asks", [Ask],
        read_only=True, idempotent=True, no_mcp="a model asks, and does not watch the cache",
        no_cli="the page at / shows it",
    ),
    Operation(
        "pin_answer", "Pin an answer", "Keep an answer whatever room is needed for.",
        "It still ends when what it was built from changes, and is then computed again by itself.",
        (KNOWN, P("undo", "flag", "Let it go again.", False), *ASKED),
        pin, line, "POST", "/v1/answers/pin", Answer,
        right="write", idempotent=True, no_mcp="a person decides what stays", cli="answers pin",
    ),
    Operation(
        "answer_get", "Look an answer up", "A kept answer that holds, or none: the cache alone.",
        "For programs that compute answers themselves: look here first, and put what was computed with answer_put.",
        (QUESTION, *ASKED),
        answer_get, lambda found, now: said(found["answer"], now) if found["hit"] else "Not kept.",
        "POST", "/v1/answers/get", dict,
        read_only=True, idempotent=True, no_mcp="for programs; a model uses ask_librarian",
        no_cli="for programs; a person uses recollect ask",
    ),
    Operation(
        "answer_put", "Put an answer", "Keep an answer that a program computed, with what it depends on.",
        "It ends when one of the memories, files or repositories it names changes, and after its hours.",
        (
            QUESTION, P("answer", "text", "The answer."),
            P("memories", "texts", "Ids of memories it was made of.", ()),
            P("files", "paths", "Paths of files it was made of, on the server. Needs the right «admin».", ()),
            P("repositories", "paths", "Folders whose checked out commit counts. Needs the right «admin».", ()),
            P("hours", "number", "How long it holds.", None, least=0.001, most=100_000),
            P("confidence", "number", "0 to 1.", 1.0, least=0, most=1),
            P("compute_ms", "number", "How long computing it took.", None, least=0, most=10**9),
            *PLACES,
        ),
        answer_put, said, "PUT", "/v1/answers", Answered,
        right="write", idempotent=True, no_mcp="for programs; a model uses librarian_remember",
        no_cli="for programs; a person uses recollect answers remember",
    ),
    Operation(
        "answer_seed", "Seed answers", "Keep answers before anybody asks: to headings, and to what was asked in talk.",
        "Headings of documents become «what is X?»; questions that came up twice in talk are taken as they are.",
        (
            P("documents", "flag", "From the headings of documents.", True),
            P("talk", "flag", "From questions that were asked repeatedly.", True),
            P("limit", "whole", "At most so many.", 200, least=1, most=10_000), *PLACES,
        ),
        answer_seed, sown, "POST", "/v1/answers/seed", Seeded,
        right="write", idempotent=True, no_mcp="upkeep, not work on knowledge", within="answers seed",
    ),
    Operation(
        "answers", "List answers", "Questions that were asked, last asked first, with the answers that are kept.",
        "Those of every user and project, unless one is named.",
        (
            P("limit", "whole", "At most so many.", 50, aliases=("k", "n"), least=1, most=1000, cli="-n --limit"),
            P("tier", "text", "Only of this tier.", None, choices=TIERS),
            P("kept", "flag", "Only with an answer, or only without.", None, cli="--kept/--not-kept"), *PLACES,
        ),
        answer_list, lines, "GET", "/v1/answers", [Answer],
        read_only=True, idempotent=True, no_mcp="a model asks, and does not browse the cache", cli="answers list",
    ),
    Operation(
        "answer", "Show an answer", "One question with its answer, what it was built from and how often it was asked.",
        "By the id of the question.",
        (P("id", "text", "The id of the question, or at least its last 4 characters.", cli="QUESTION|ID"), *ASKED),
        answer_show, line, "GET", "/v1/answers/{id}", Answer,
        read_only=True, idempotent=True, no_mcp="a model asks, and does not browse the cache", cli="answers show",
    ),
)  # fmt: skip
