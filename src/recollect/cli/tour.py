"""The tour: every verb once, on a temporary store; each step runs what its command says and prints the result."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing as closed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import ids
from ..errors import Refused
from ..types import Noun
from . import present, terminal
from .present import Look
from .program import App

if TYPE_CHECKING:
    from ..engine import Engine

FAKE_KEY = "ghp_" + "n0t4Real" * 4 + "T0k3"  # built here, so that no scanner takes this file for a leak
MEMORIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Releases go out on Thursdays, never on Fridays.",
     {"kind": "decision", "reasoning": "Support is fully staffed then."}),
    ("Ana owns the billing service and its invoices.", {"tags": ["people"]}),
    ("I prefer small pull requests, one idea in each.", {"kind": "preference"}),
    ("A Redis flush during the sale killed the database.", {"kind": "incident", "importance": 9}),
    ("Staging runs PostgreSQL 15; production runs 16.", {"tags": ["postgres"]}),
    ("To reindex, stop the workers, then: make reindex", {"kind": "procedure"}),
)  # fmt: skip
QUESTIONS = {
    "which day do we ship?": "Ask in your own words: no memory says 'ship'. It is found by meaning.",
    "who is responsible for payments?": "Every answer says why it was found.",
    "why did we have an outage?": "What is important weighs more.",
}


@dataclass(frozen=True, slots=True)
class Step(Noun):
    says: str
    commands: tuple[str, ...]
    outputs: tuple[str, ...]


def opening(look: Look) -> str:
    return "\n".join(
        [
            look.paint("A tour of Recollect", bold=True),
            *look.wrap("in a scratch store that is removed at the end. Nothing of yours is read or changed."),
        ]
    )


def closing(look: Look) -> str:
    lines = [
        "",
        look.paint("That was all of it; the scratch store is gone. Now with a store of your own:", bold=True),
        "",
    ]
    for command, words in (
        ('recollect remember "…"', "keep the first thing"),
        ('recollect recall "…"', "and find it again"),
        ("recollect doctor", "see that every part works"),
        ("recollect --help", "all commands"),
    ):
        lines.append(f"   {look.paint(command.ljust(28), 'cyan')}{look.dim(words)}")
    return "\n".join(lines)


def steps(folder: Path, fresh: Callable[[], Look]) -> Generator[Step]:
    """Do the tour, a step at a time; `fresh` is the look of now, since a reader takes their time."""
    from .. import engine

    def look() -> Look:
        now = fresh()
        return replace(now, width=now.width - 4)  # steps are set in by four columns

    with engine.open(folder / "tour.db", tenant="tour", user="", project="", actor="you") as memory:
        yield _storing(memory, look())
        yield _redacting(memory, look())
        yield _again(memory, look())
        for question, says in QUESTIONS.items():
            result = memory.recall(question, limit=1)
            yield Step(says, (f'recollect recall "{question}" -n 1',), (present.recalled(result, look()),))
        yield from _correcting(memory, look())
        yield from _rejecting(memory, look())
        yield _counting(memory, look())


def _typed(content: str, fields: dict[str, Any] | None = None) -> str:
    """What one types to remember it; a line end is where a long line may be broken."""
    options = []
    for name, value in (fields or {}).items():
        for one in value if isinstance(value, list) else [value]:
            options.append(f"--{name.removesuffix('s') if isinstance(value, list) else name} {shlex.quote(str(one))}")
    return "\n".join([f'recollect remember "{content}"', *options])


def _storing(memory: Engine, look: Look) -> Step:
    return Step(
        "Tell it what you learn: facts, decisions with their reasons, preferences, incidents.",
        tuple(_typed(content, fields) for content, fields in MEMORIES),
        tuple(present.remembered(memory.remember(content, **fields), look) for content, fields in MEMORIES),
    )


def _redacting(memory: Engine, look: Look) -> Step:
    content = f"The bot uses {FAKE_KEY}"
    result = memory.remember(content)
    kept = f"  stored: {result.memory.content}" if result.memory else ""
    says = "A secret that slips in is taken out before anything is stored."
    return Step(says, (_typed(content),), (f"{present.remembered(result, look)}\n{kept}",))


def _again(memory: Engine, look: Look) -> Step:
    content = "releases go out on thursdays, never on fridays"
    says = "What is known already is counted, not doubled."
    return Step(says, (_typed(content),), (present.remembered(memory.remember(content), look),))


def _correcting(memory: Engine, look: Look) -> Iterator[Step]:
    old = memory.list(tags=["postgres"]).memories[0]
    content = "Staging and production both run PostgreSQL 16."
    new = memory.remember(content)
    link = memory.link(new.id, "supersedes", old.id, reason="staging was upgraded")
    typed = f"recollect link {ids.short(new.id)} supersedes {ids.short(old.id)}\n--reason 'staging was upgraded'"
    yield Step(
        "Things change. The new memory replaces the old one, which leaves recall but is not lost.",
        (_typed(content), typed),
        (present.remembered(new, look), present.linked(link, look)),
    )
    yield Step(
        "Every change is kept: who, when, why, and what it was before.",
        (f"recollect history {ids.short(old.id)}",),
        (present.history(memory.history(old.id), look),),
    )


def _rejecting(memory: Engine, look: Look) -> Iterator[Step]:
    content = "I prefer tabs over spaces."
    wrong = memory.remember(content, kind="preference")
    result = memory.reject(wrong.id, reason="nobody ever said so")
    yield Step(
        "An assistant got something wrong? Reject it: it goes, and cannot come back by itself.",
        (f"recollect reject {ids.short(wrong.id)} --reason 'nobody ever said so'",),
        (present.rejected(result, look),),
    )
    again = memory.remember(content.upper(), kind="preference")
    try:
        memory.edit(wrong.id, state="active")
        outcome = ""
    except Refused as error:
        outcome = present.complaint(error.as_dict(), look)
    yield Step(
        "Not by saying it again in other letters, and not by bringing the old one back.",
        (_typed(content.upper()), f"recollect edit {ids.short(wrong.id)} --state active"),
        (present.remembered(again, look), outcome),
    )


def _counting(memory: Engine, look: Look) -> Step:
    counts = {name: value for name, value in memory.stats().items() if name not in ("store", "by_project")}
    return Step(
        "Everything is one file, and you can look inside.", ("recollect stats",), (present.stats(counts, look),)
    )


def tour(app: App, no_pause: bool) -> None:
    wait = terminal.asks() and not no_pause and not app.json
    fresh, taken = partial(terminal.look, sys.stdout), []
    if not app.json:
        click.echo(opening(fresh()), color=fresh().colour)
    with (
        tempfile.TemporaryDirectory(prefix="recollect-tour-") as folder,
        closed(steps(Path(folder), fresh)) as made,
    ):
        for number, step in enumerate(made, start=1):
            taken.append(step)
            if wait and number > 1:
                click.echo(fresh().dim("\n    … Enter for the next step, Ctrl-C to leave"), err=True)
                click.getchar()
            if not app.json:
                acts = zip(step.commands, step.outputs, strict=True)
                click.echo("\n" + present.step(number, step.says, acts, fresh()), color=fresh().colour)
    app.say({"steps": taken}, lambda _, out: closing(out))
