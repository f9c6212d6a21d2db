"""The operations of the answer cache.

An answer belongs to one user and one project; an answer for no project is served in all of them. An answer behind
somebody else's wall does not exist for a caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .. import text, times
from ..agents.access import Caller
from ..answers.counters import Ask
from ..answers.types import Answered, Seeded
from ..engine import Engine
from ..errors import NotFound
from ..recall.fence import HEADER, fenced, neutral
from ..store.answers import Answer
from ..types import Scope
from .folders import asked_in, folder_of, left_out


def _place(caller: Caller, places: dict[str, Any]) -> Scope:
    found = caller.scope({name: value for name, value in places.items() if value is not None})
    return Scope(found.user, found.project)


def _known(engine: Engine, caller: Caller, question: str, places: dict[str, Any]) -> str:
    """The id of a question that the caller may speak of."""
    found = engine.answers.find(question, scope=_place(caller, places))
    if not caller.asked(found.user, found.project):
        raise NotFound(f"'{text.shorten(question, 80)}' was not asked here.")
    return found.id


def ask(
    engine: Engine, caller: Caller, *, question: str, fresh: bool = False, networks: Sequence[str] = (), **places: Any
) -> Answered:
    scope = asked_in(engine, caller, places)
    found = engine.answers.ask(question, scope=scope, fresh=fresh, networks=networks)
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
    own = (one for one in engine.answers.recent.last() if caller.asked(one.scope.user, one.scope.project))
    return list(own)[-limit:]


def answer_seed(engine: Engine, caller: Caller, *, documents: bool, talk: bool, limit: int, **places: Any) -> Seeded:
    return engine.answers.seed(documents=documents, talk=talk, scope=_place(caller, places), limit=limit)


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


def forgotten_answer(found: Answer, now: datetime) -> str:
    return f"Forgotten: {neutral(found.question)}"


def looked_up(found: dict[str, Any], now: datetime) -> str:
    return said(found["answer"], now) if found["hit"] else "Not kept."
