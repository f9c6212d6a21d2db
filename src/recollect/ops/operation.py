"""What an operation is, and the parameters that several share.

An operation has a name, a sentence, a longer text that tells a model when to use it, its parameters, the verb that does
it, the right it needs, honest hints, its address over HTTP, the command that does the same, its MCP tool, and words for
a model. Where a surface has none, the operation says why. `call` is the one way to run it: rights, then parameters,
then the verb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from ..agents.access import Caller
from ..engine import Engine
from ..types import KINDS, NETWORKS, SOURCES, STATES
from . import words
from .parameters import Parameter, read, schema

P = Parameter  # the tables of operations are long enough
Right = Literal["read", "write", "review", "admin"]
WHEN = "A time with its zone (2026-03-01T09:30:00Z), a day (2026-03-01), or how long ago (7d, 2h)."


@dataclass(frozen=True, slots=True)
class Operation:
    """`returns` is the noun it gives: one, a `[noun]` list of them, or a dictionary of names to either.

    `cli` is the command that is made from it, or `within` one that does it among other things. `help` is what the
    command says of itself, where that is not the summary; `tenant` lets the command name one.
    """

    name: str
    title: str
    summary: str
    description: str
    parameters: tuple[P, ...]
    run: Callable[..., Any]
    say: words.Words
    method: str
    path: str
    returns: Any
    right: Right = "read"
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    also: tuple[tuple[str, str], ...] = ()
    mcp: str = ""
    no_mcp: str = ""
    cli: str = ""
    within: str = ""
    no_cli: str = ""
    help: str = ""
    tenant: bool = False
    status: int = 200

    @property
    def command(self) -> str:
        return self.cli or self.within

    def schema(self, *, rare: bool = True) -> dict[str, Any]:
        return schema(self.parameters, rare=rare)

    def call(
        self, engine: Engine, caller: Caller, given: Mapping[str, Any], *, loose: bool = False,
        now: datetime | None = None,
    ) -> Any:  # fmt: skip
        """Run it for a caller; nothing is done before the right and every parameter are found good."""
        caller.may(self.right, self.title)
        values = read(self.parameters, given, loose=loose, now=now)
        return self.run(engine, caller, **values)

    def text(self, result: Any, now: datetime | None = None) -> str:
        """What a model reads of the result."""
        return self.say(result, now or datetime.now(UTC))


# -- parameters that several share ------------------------------------------------------------------------------------

ID = P("id", "text", "The id, or at least its last 4 characters.", aliases=("memory_id",), cli="ID")
IDS = P("id", "ids", "An id, or a list of ids.", aliases=("ids", "memory_id", "memory_ids"), cli="ID...")
REASON = P("reason", "text", "Why; kept in the history.", "")
PLACED = (
    P("project", "text", "The project; narrows where it holds or is looked for.", None, aliases=("service",)),
    P("user", "text", "The user it belongs to.", None, rare=True, aliases=("user_id",)),
    P("branch", "text", "The git branch.", None, rare=True),
    P("agent", "text", "The agent.", None, rare=True, aliases=("agent_id",)),
    P("session", "text", "The session or conversation.", None, rare=True, aliases=("session_id", "run_id")),
)
LOOKED = (
    replace(
        PLACED[0], empty=True,
        description='The project to look in: the one worked in unless told; "" looks in every project.',
    ),
    *PLACED[1:],
)  # fmt: skip
FILTERS = (
    P("kinds", "texts", "Only these kinds.", None, choices=KINDS, aliases=("kind", "type", "types"), cli="--kind"),
    P("tags", "texts", "Only with all these tags.", None, aliases=("tag",), cli="--tag"),
    P("since", "time", f"Not older than. {WHEN}", None, aliases=("after_date",)),
    P("until", "time", f"Not newer than. {WHEN}", None, aliases=("before_date",)),
    P("min_importance", "whole", "At least so important, 1 to 10.", None, least=1, most=10, rare=True),
    P(
        "states",
        "texts",
        "Other states than active; any is all of them.",
        None,
        choices=(*STATES, "any"),
        rare=True,
        cli="--state",
    ),
)
BACK = (
    P("as_of", "time", f"What was known then; and held then, unless true_at is told. {WHEN}", None, rare=True),
    P("true_at", "time", f"What held then, by what is known. {WHEN}", None, rare=True),
)
KIND = P("kind", "text", "What sort of knowledge it is.", None, choices=KINDS, aliases=("type", "category"))
FIELDS = (
    P("title", "text", "A short name for it.", None),
    P("reasoning", "text", "Why it is so.", None, aliases=("why", "rationale")),
    P("tags", "texts", "Words to file it under.", None, cli="--tag"),
    P("importance", "whole", "1 to 10; 5 when not told.", None, least=1, most=10),
    P("refs", "texts", "Files, commits, tickets or URLs it is about.", None, aliases=("references", "files"),
      cli="--ref"),
    P("keywords", "texts", "Words it should be found by, at most 10.", None, rare=True, cli="--keyword"),
    P("confidence", "number", "0 to 1; 1 when not told.", None, least=0, most=1, rare=True),
    P("network", "text", "Which sort of truth it is; follows from the kind.", None, choices=NETWORKS, rare=True),
    P("context", "text", "What stood around it; searched, not shown.", None, rare=True),
    P("speaker", "text", "Who said it.", None, rare=True),
    P("position", "whole", "Its place in a session or document.", None, least=0, most=10**9, nullable=True, rare=True),
    P("valid_from", "time", f"When it began to hold. {WHEN}", None, nullable=True, rare=True),
    P("valid_to", "time", f"When it ceased to hold. {WHEN}", None, nullable=True, rare=True),
    P("expires_at", "later", "When to drop it: a time with its zone, a day, or 30d from now.", None, nullable=True,
      rare=True, aliases=("expires",), cli="--expires"),
)  # fmt: skip
SOURCE = P(
    "source", "source", "Where it comes from: a URL, file:… or commit:…, a few words, or an object.", None, rare=True,
    fields=(
        P("kind", "text", "What sort of source it is.", None, choices=SOURCES),
        P("uri", "text", "Its address.", None),
        P("title", "text", "Its title.", None),
        P("content", "text", "The source itself, kept beside the memory.", None),
        P("author", "text", "Who wrote or said it.", None),
        P("session", "text", "The session it is from.", None),
        P("position", "whole", "Its place in the session.", None, least=0, most=10**9, nullable=True),
        P("occurred_at", "time", f"When it happened. {WHEN}", None, nullable=True),
    ),
)  # fmt: skip
DRAFT = (
    P("content", "text", "What to remember, in one or a few sentences that stand on their own.",
      aliases=("text", "memory", "fact"), cli="TEXT..."),
    KIND,
    *FIELDS,
    SOURCE,
    P("evidence", "texts", "The words that prove it.", None, rare=True),
    P("place", "text", "Where in the source these stand.", None, rare=True),
    *PLACED,
)  # fmt: skip
