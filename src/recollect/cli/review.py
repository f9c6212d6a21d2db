"""`recollect review`: a person looks at what was found and not believed yet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import click

from .. import times
from ..errors import BadInput, RecollectError
from .present import Look, plural
from .program import App
from .terminal import asks, look

if TYPE_CHECKING:
    from ..engine import Engine
    from ..types import Memory, Page

KEYS = {"a": "approve", "e": "edit", "r": "reject", "m": "merge", "w": "why", "s": "skip", "q": "quit"}


def review(
    app: App, approve: bool, reject: bool, into: str, only_list: bool, limit: int, reason: str, id: Sequence[str] = ()
) -> None:
    if approve + reject + bool(into) > 1:
        raise BadInput("Name one of --approve, --reject and --into.")
    with app.open() as engine:
        if approve or reject or into:
            if not id:
                raise BadInput("Nothing was named.", fix="Name the ids, as recollect review --list shows them.")
            done = _decide(engine, id, reject, into, reason)
            app.say(done, partial(_told, word="rejected" if reject else "approved"))
            return
        page = engine.pending(scope=app.inside(), limit=limit)
        waiting = [one for one in page.memories if not id or any(one.id.endswith(part.lower()) for part in id)]
        if only_list or app.json or not asks():
            app.say(page, _listed)
            return
        _ask(engine, waiting, reason)


def _decide(engine: Engine, ids: Sequence[str], reject: bool, into: str, reason: str) -> tuple[Memory, ...]:
    if reject:
        return engine.reject(list(ids), reason=reason).memories
    return engine.approve(list(ids), into=into, reason=reason)


def _ask(engine: Engine, waiting: Sequence[Memory], reason: str) -> None:
    """One after the other; what goes wrong with one is told, and the next is asked about."""
    out = look(sys.stdout)
    counts: dict[str, int] = {}
    for number, memory in enumerate(waiting, 1):
        click.echo(f"\n{number} of {len(waiting)}  {_line(memory, out)}")
        verb = _one(engine, memory, reason, out)
        if verb == "quit":
            break
        counts[verb] = counts.get(verb, 0) + 1
    click.echo("\n" + (", ".join(f"{verb} {n}" for verb, n in counts.items()) or "Nothing waits for review."))


def _one(engine: Engine, memory: Memory, reason: str, out: Look) -> str:
    while True:
        key = click.prompt(
            "  [a]pprove [e]dit [r]eject [m]erge [w]hy [s]kip [q]uit", type=click.Choice([*KEYS]), show_choices=False,
            default="s",
        )  # fmt: skip
        try:
            if key == "w":
                click.echo(_why(engine, memory, out))
                continue
            if key == "e":
                words = click.edit(memory.content, require_save=True)
                if words:
                    memory = engine.edit(memory.id, content=words, reason=reason)
                    click.echo(f"  {_line(memory, out)}")
                continue
            if key == "m":
                engine.approve(memory.id, into=click.prompt("  id of the memory that says the same"), reason=reason)
            elif key == "a":
                engine.approve(memory.id, reason=reason)
            elif key == "r":
                engine.reject(memory.id, reason=reason)
        except RecollectError as error:
            click.echo(f"  ! {error}")
            continue
        return KEYS[key]


def _line(memory: Memory, out: Look) -> str:
    return f"{out.dim(memory.id[-8:])} {memory.kind}, {memory.trust}: {memory.content}"


def _why(engine: Engine, memory: Memory, out: Look) -> str:
    """Where it comes from: the words that prove it, the turn they stand in, and what it contradicts."""
    source, quotes = engine.evidence(memory.id)
    lines = [f"  said by {memory.speaker or 'somebody'}: '{quote.quote}'" for quote in quotes]
    if source is not None:
        said = times.ago(source.occurred_at, datetime.now(UTC)) if source.occurred_at else ""
        lines.append(out.dim(f"  in {source.uri} {said}"))
    for link in engine.links(memory.id):
        if link.relation == "contradicts" and link.origin == memory.id:
            lines.append(f"  contradicts {_line(engine.get(link.target, peek=True), out)}")
    return "\n".join(lines) or "  nothing is known about where it comes from"


def _listed(page: Page, out: Look) -> str:
    if not page.memories:
        return "Nothing waits for review."
    return "\n".join([*(_line(memory, out) for memory in page.memories), out.dim(_hint(page))])


def _hint(page: Page) -> str:
    more = ", and there are more" if page.cursor else ""
    return (
        f"{plural(len(page.memories), 'memory', 'memories')} waiting{more}. Decide with: recollect review ID --approve"
    )


def _told(memories: Sequence[Memory], out: Look, *, word: str) -> str:
    return "\n".join(f"✓ {word}: {_line(memory, out)}" for memory in memories)
