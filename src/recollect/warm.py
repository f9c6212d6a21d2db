"""Reading by way of a daemon that runs: what it has loaded need not be loaded again.

`reading` gives something that is used like an engine. Its questions go to the daemon of the home over its Unix socket;
everything else, and every question where there is no daemon that would answer the same, goes to an engine on the store
itself, which is opened when it is first needed. A daemon answers the same when it is of the same version, on the same
store and with the same settings. One that does not answer is left alone after two seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import __version__, errors, times
from .nouns import remade
from .settings import Settings
from .thin import link
from .types import Noun, Recall, Scope

if TYPE_CHECKING:
    from .answers.answered import Answered
    from .engine import Engine
    from .recall.context import Context

N = TypeVar("N", bound=Noun)
PATH = "/daemon/read"
ALIVE = 2.0  # seconds in which a daemon shows that it is at work
PATIENCE = 60.0  # seconds that it may work then


@contextmanager
def reading(chosen: Settings, actor: str, open: Callable[[], Engine]) -> Iterator[Engine]:
    """What answers questions like an engine with these settings."""
    with ExitStack() as stack:
        yield cast("Engine", Reading(chosen, actor, lambda: stack.enter_context(open())))


class Reading:
    """Questions to the daemon, everything else to the engine."""

    def __init__(self, chosen: Settings, actor: str, open: Callable[[], Engine]) -> None:
        self.settings = chosen
        self._actor = actor
        self._open = open

    @cached_property
    def _engine(self) -> Engine:
        return self._open()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def recall(self, query: str, **options: Any) -> Recall:
        found = ask(self.settings, self._actor, "recall", Recall, {"query": query, **options})
        return self._engine.recall(query, **options) if found is None else found

    def context(self, query: str = "", **options: Any) -> Context:
        from .recall.context import Context

        found = ask(self.settings, self._actor, "context", Context, {"query": query, **options})
        return self._engine.context(query, **options) if found is None else found

    @property
    def answers(self) -> Any:
        return Answers(self)

    def asked(self, question: str, options: dict[str, Any]) -> Answered:
        from .answers.answered import Answered

        found = ask(self.settings, self._actor, "ask", Answered, {"question": question, **options})
        return self._engine.answers.ask(question, **options) if found is None else found


class Answers:
    """The answer cache: asked by way of the daemon, looked after on the store."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def ask(self, question: str, **options: Any) -> Answered:
        return self._reading.asked(question, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading._engine.answers, name)


def ask(chosen: Settings, actor: str, verb: str, kind: type[N], given: dict[str, Any]) -> N | None:
    """What the daemon answers, or nothing where none runs that would answer the same."""
    found = link.daemon(str(chosen.home.absolute()))
    if found is None or found.version != __version__ or not found.socket:
        return None
    sent = {
        "verb": verb,
        "given": {name: _plain(value) for name, value in given.items()},
        "settings": chosen.fingerprint(),
        "tenant": chosen.tenant,
        "user": chosen.user,
        "project": chosen.project,
        "actor": actor,
    }
    try:
        answer = found.open("POST", PATH, json.dumps(sent).encode(), timeout=ALIVE)
        try:
            if answer.status != 200:
                return None
            answer.extend(PATIENCE)
            told = json.loads(answer.read())
        finally:
            answer.close()
    except (OSError, ValueError):  # it does not answer, or it ended meanwhile
        return None
    if error := told.get("error"):
        raise errors.of(error["code"])(error["message"], fix=error["fix"])
    return remade(kind, told["result"])


def _plain(value: Any) -> Any:
    if isinstance(value, Scope):
        return value.as_dict()
    return times.iso(value) if isinstance(value, datetime) else value
