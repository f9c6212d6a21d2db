"""The commands of the answer cache: `ask`, and `answers` for what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import ids, text, times
from ..errors import BadInput
from ..store.answers import TIERS
from ..types import Scope
from .present import Look, plural
from .program import App, cli, command, placed
from .terminal import progress, spoken

if TYPE_CHECKING:
    from ..answers.answered import Answered, Seeded
    from ..store.answers import Answer


@command()
@click.argument("words", nargs=-1, metavar="QUESTION...")
@click.option("--fresh", is_flag=True, help="Compute it now, whatever is kept.")
@placed
def ask(app: App, words: tuple[str, ...], fresh: bool) -> None:
    """Answer a question from memory, at once if it was asked before.

    The answer names its sources. What is not known is said so, and nothing is made up.
    """
    from ..answers.answered import Answered
    from . import asking

    question = spoken(words, "ask")
    found = asking.ask(app, "ask", Answered, question=question, fresh=fresh)
    app.skipped(found.skipped)
    app.say(found, _answered)


def _answered(found: Answered, out: Look) -> str:
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


@cli.group()
def answers() -> None:
    """Look after the answers that are kept."""


@command("list", group=answers)
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="At most so many.")
@click.option("--tier", type=click.Choice(TIERS), help="Only of this tier.")
@click.option("--kept", is_flag=True, help="Only with an answer.")
@placed
def list_(app: App, limit: int, tier: str | None, kept: bool) -> None:
    """List questions, last asked first."""
    with app.open() as engine:
        where = app.inside()
        found = engine.answers.questions(
            scope=None if where == Scope() else where, tier=tier, kept=kept or None, limit=limit
        )  # fmt: skip
    app.say(found, _listed)


def _listed(found: Sequence[Answer], out: Look) -> str:
    return "\n".join(_line(one, out) for one in found) or "No question was asked yet."


def _line(one: Answer, out: Look) -> str:
    marks = [one.tier, *(["pinned"] if one.pinned else [])]
    said = "" if one.answer is None else f"\n    {text.shorten(one.answer, 100)}"
    asked = f"asked {one.asked}×, served {one.hits}×, {times.ago(one.last_asked_at, datetime.now(UTC))}"
    return f"{out.id(one.id)} [{', '.join(marks)}] {one.question} {out.dim(asked)}{said}"


@command("show", group=answers)
@click.argument("question", metavar="QUESTION|ID")
@placed
def show(app: App, question: str) -> None:
    """Show one question: its answer, what it was built from, and its counts."""
    with app.open() as engine:
        found = engine.answers.find(question, **app.scope(engine))
    app.say(found, _whole)


def _whole(one: Answer, out: Look) -> str:
    rows = {
        "answer": one.answer or "none is kept",
        "place": f"{Scope(one.user, one.project)}",
        "confidence": "" if one.confidence is None else f"{one.confidence:.2f}, liked {one.liked}, not {one.disliked}",
        "ends": "" if one.expires_at is None else times.iso(one.expires_at),
        "ended": one.stale,
        "built from": ", ".join(f"{tie.kind} {tie.target}" for tie in one.depends),
    }
    return "\n".join([_line(one, out), *(f"  {name}: {value}" for name, value in rows.items() if value)])


@command("remember", group=answers)
@click.argument("question")
@click.argument("answer")
@click.option("--pin", is_flag=True, help="Never let it go for want of room.")
@placed
def remember(app: App, question: str, answer: str, pin: bool) -> None:
    """Keep an answer that you give."""
    with app.open() as engine:
        made = engine.answers.remember_answer(question, answer, pin=pin, **app.scope(engine))
    app.say(made, lambda _, out: f"✓ kept: {made.question}")


@command("forget", group=answers)
@click.argument("question", metavar="QUESTION|ID")
@placed
def forget(app: App, question: str) -> None:
    """Forget a question and its answer; what is remembered stays."""
    with app.open() as engine:
        gone = engine.answers.forget(question, **app.scope(engine))
    app.say(gone, lambda _, out: f"✓ forgotten: {gone.question}")


@command("pin", group=answers)
@click.argument("question", metavar="QUESTION|ID")
@click.option("--undo", is_flag=True, help="Let it go again.")
@placed
def pin(app: App, question: str, undo: bool) -> None:
    """Keep an answer whatever room is needed for."""
    with app.open() as engine:
        found = engine.answers.pin(question, undo=undo, **app.scope(engine))
    app.say(found, lambda _, out: f"✓ {'no longer pinned' if undo else 'pinned'}: {found.question}")


@command("feedback", group=answers)
@click.argument("question", metavar="QUESTION|ID")
@click.option("--helpful/--not-helpful", default=None, help="Whether the answer helped.")
@placed
def feedback(app: App, question: str, helpful: bool | None) -> None:
    """Say whether an answer helped; two that did not retire it."""
    if helpful is None:
        raise BadInput("Whether it helped was not said.", fix="Add --helpful or --not-helpful.")
    with app.open() as engine:
        found = engine.answers.feedback(question, helpful, **app.scope(engine))
    app.say(found, partial(_rated))


def _rated(found: Answer, out: Look) -> str:
    return "✓ noted" + ("; no answer is kept" if found.answer is None else f"; sure to {found.confidence or 0:.2f} now")


@command("stats", group=answers)
@placed
def stats(app: App) -> None:
    """How often answers come from the cache, and what is kept."""
    with app.open() as engine:
        where = app.inside()
        found = engine.answers.stats(scope=None if where == Scope() else where)
    app.say(found, _counted)


def _counted(found: dict[str, Any], out: Look) -> str:
    tiers = ", ".join(f"{name} {one.get('questions', 0)}" for name, one in found["by_tier"].items())
    return "\n".join(
        [
            f"{plural(found['questions'], 'question')}: {tiers}",
            f"{plural(found['answers'], 'answer')} kept, {found['pinned']} pinned, at most {found['most']:,}",
            f"{found['hits']} of {found['asked']} asks served from the cache ({found['hit_rate']:.0%})",
            f"{found['bytes_per_answer']:,} bytes an answer, {found['saved_ms'] / 1000:.1f} s of computing saved",
        ]
    )


@command("seed", group=answers)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--documents", is_flag=True, help="From the headings of documents.")
@click.option("--talk", is_flag=True, help="From questions that were asked repeatedly in captured talk.")
@click.option("-n", "--limit", type=int, default=200, show_default=True, help="At most so many.")
@placed
def seed(app: App, file: Path | None, documents: bool, talk: bool, limit: int) -> None:
    """Keep answers before anybody asks.

    FILE has a question a line, with its answer behind a tab if there is one. With nothing named, documents and talk
    are looked through.
    """
    both = not (file or documents or talk)
    with app.open() as engine, progress("seeding") as step:
        found = engine.answers.seed(
            documents=documents or both, talk=talk or both, file=file, limit=limit, progress=step, **app.scope(engine)
        )  # fmt: skip
    app.say(found, _sown)


def _sown(found: Seeded, out: Look) -> str:
    head = f"✓ {plural(found.kept, 'answer')} kept of {plural(found.looked_at, 'question')}"
    return "\n".join(
        [f"{head}, {found.known} known already", *(out.dim(f"  not known: {one}") for one in found.unanswered[:10])]
    )
