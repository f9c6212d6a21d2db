"""How answers look to a person, and `answers seed`, which takes a file and shows how far it has come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .. import ids, text, times
from ..types import Scope
from .commands import Asked, View
from .present import Look, plural
from .program import App
from .terminal import existing, progress

if TYPE_CHECKING:
    from ..answers.types import Answered, Seeded
    from ..store.answers import Answer


def _answered(found: Answered, out: Look, asked: Asked) -> str:
    if not found.answer:
        rows = [f"Not known: {found.why}."]
    else:
        how = f"from the cache, {found.cache_tier}" if found.cached else f"computed in {found.computed_ms:.0f} ms"
        rows = [
            found.answer,
            *(
                out.dim(f"  [{n}] {ids.short(str(one['memory']))} {one['date']} {one['title']}")
                for n, one in enumerate(found.sources, 1)
            ),
            out.dim(f"  {how}; asked {found.ask_count}×; sure to {found.confidence:.2f}: {found.why}"),
        ]
    for one in found.related:
        rows += [f"Related, not the same question: {one.question}", f"  {one.answer}", out.dim(f"  {one.why}")]
    return "\n".join(rows)


def _listed(found: Sequence[Answer], out: Look, asked: Asked) -> str:
    return "\n".join(_line(one, out) for one in found) or "No question was asked yet."


def _line(one: Answer, out: Look) -> str:
    marks = [one.tier, *(["pinned"] if one.pinned else [])]
    said = "" if one.answer is None else f"\n    {text.shorten(one.answer, 100)}"
    asked = f"asked {one.asked}×, served {one.hits}×, {times.ago(one.last_asked_at, datetime.now(UTC))}"
    return f"{out.id(one.id)} [{', '.join(marks)}] {one.question} {out.dim(asked)}{said}"


def _whole(one: Answer, out: Look, asked: Asked) -> str:
    rows = {
        "answer": one.answer or "none is kept",
        "place": f"{Scope(one.user, one.project)}",
        "confidence": "" if one.confidence is None else f"{one.confidence:.2f}, liked {one.liked}, not {one.disliked}",
        "ends": "" if one.expires_at is None else times.iso(one.expires_at),
        "ended": one.stale,
        "built from": ", ".join(f"{tie.kind} {tie.target}" for tie in one.depends),
    }
    return "\n".join([_line(one, out), *(f"  {name}: {value}" for name, value in rows.items() if value)])


def _rated(found: Answer, out: Look, asked: Asked) -> str:
    return "✓ noted" + ("; no answer is kept" if found.answer is None else f"; sure to {found.confidence or 0:.2f} now")


VIEWS = {
    "ask": View(_answered),
    "answers": View(_listed),
    "answer": View(_whole),
    "remember_answer": View(lambda made, out, asked: f"✓ kept: {made.question}"),
    "forget_answer": View(lambda gone, out, asked: f"✓ forgotten: {gone.question}"),
    "pin_answer": View(
        lambda one, out, asked: f"✓ {'no longer pinned' if asked.given.get('undo') else 'pinned'}: {one.question}"
    ),
    "feedback": View(_rated),
}


def seed(app: App, limit: int, documents: bool, talk: bool, file: str | None = None) -> None:
    source = existing(file) if file else None
    both = not (file or documents or talk)
    with app.open() as engine, progress("seeding") as step:
        found = engine.answers.seed(
            documents=documents or both, talk=talk or both, file=source, limit=limit, progress=step, **app.scope(engine)
        )  # fmt: skip
    app.say(found, _sown)


def _sown(found: Seeded, out: Look) -> str:
    head = f"✓ {plural(found.kept, 'answer')} kept of {plural(found.looked_at, 'question')}"
    return "\n".join(
        [f"{head}, {found.known} known already", *(out.dim(f"  not known: {one}") for one in found.unanswered[:10])]
    )
