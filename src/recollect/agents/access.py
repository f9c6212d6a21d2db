"""Access: who is asking, what they may do, and the wall they stand behind. Pure.

The tenant, and the user and project of the wall, come from the token or from being on this machine: never from an
argument. An argument can narrow what is asked for; one that reaches past the wall is refused. Behind a wall one *sees*
what holds there, which includes what holds everywhere, and one *owns*, that is, may change, only what lies inside.

What a wall shows, by the user and the project that a memory has:

    wall                  sees                                             owns
    none                  everything of the tenant                         everything of the tenant
    user ana              users "" and ana, in any project                 user ana, in any project
    project web           user "" alone, in projects "" and web            user "" alone, in project web
    user ana project web  users "" and ana, in projects "" and web         user ana in project web

So a memory with a user is that user's alone, whatever its project: a token of a project speaks for no person and sees
nobody's own. `Caller` writes this into its wall as the user NOBODY; stores, index and graph follow from
`Scope.allowed`, the one place where a scope is compared with another.

What a right is for, and who may have it:

    right    a program or person with a token   a model over MCP                  what it is for
    read     if the token has it                if its token has it               looking
    write    if the token has it                if its token has it               remember, edit, forget, reject
    review   if the token has it                never: it proposes                approve, lift a rejection
    admin    if the token has it                never: it proposes a purge        purge, tokens, export, settings
    orchestrate
             if the token has it                if its token has it               acting for other agents

No right implies another. A proposal waits in the review queue until a person decides (`remember/proposals.py`).

Who is an agent (`registry.py`) needs, beside the right, the capability of each operation, which its declaration names;
`Operation.call` asks for both. What agents share with each other (`pools.py`) is seen through the pool alone:
`Caller.audience` says to whom, and the filter of the stores what that lets through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..agent_types import REACHES, Agent, Audience, up_to
from ..checks import MAX_NAME, Cleaner
from ..errors import Forbidden, NotFound
from ..types import EVERYWHERE, NOBODY, Memory, Scope

RIGHTS = ("read", "write", "review", "admin", "orchestrate")
PERSONAL = frozenset(("review", "admin"))  # what a model never has, in whoever's name it speaks
TELL = (
    "Tell the person what you would do and why. They decide it under Review in the dashboard, or at the command line."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever calls an operation. `home` is where a memory belongs that names no place of its own."""

    tenant: str
    actor: str
    can: frozenset[str] = field(default=frozenset(RIGHTS))
    wall: Scope = EVERYWHERE
    home: Scope = EVERYWHERE
    token: str = ""
    folder: str = ""  # where they work, of somebody on this machine
    model: bool = False  # a language model, in somebody's name
    agent: Agent | None = None  # who they are in the registry

    def __post_init__(self) -> None:
        if self.wall.project and not self.wall.user:
            object.__setattr__(self, "wall", replace(self.wall, user=NOBODY))

    def may(self, right: str, what: str) -> None:
        if right not in self.can and self.model and right in PERSONAL:
            raise Forbidden(f"{what} is for a person to decide, not for a model.", fix=TELL)
        if right not in self.can:
            raise Forbidden(
                f"{what} needs the right '{right}'.",
                fix=f"Use a token made with: recollect token create --can {right}",
            )

    def for_model(self) -> Caller:
        """A language model that speaks in this caller's name; on this machine it is one agent and acts for no other."""
        kept = self.can - PERSONAL
        return replace(self, model=True, can=kept if self.token else kept - {"orchestrate"})

    def able(self, capability: str, what: str) -> None:
        """Raise where the caller is an agent that lacks a capability; none is asked for with an empty one."""
        if self.agent and capability and capability not in self.agent.can:
            raise Forbidden(
                f"{what} needs the capability '{capability}', which {self.agent.name} does not have.",
                fix="A person can give it: recollect agent register --agent ID --can …",
            )

    def audience(self, agent: Agent, pools: Sequence[str], reach: str = "") -> Audience:
        """What of some pools this caller reads as an agent: never above the agent's own reach, nor the one named."""
        widest = min(reach or agent.reach, agent.reach, key=REACHES.index)
        project = self.wall.project or agent.scope.project
        return Audience(agent.id, agent.scope.user, project, tuple(sorted(pools)), up_to(widest, REACHES))

    @property
    def walled(self) -> bool:
        return self.wall != EVERYWHERE

    def unwalled(self, what: str) -> None:
        """Raise where something reaches the whole tenant and the caller does not."""
        if self.walled:
            raise Forbidden(f"{what} reaches beyond {self.wall}.", fix="Use a token of no user and no project.")

    def at(self, places: Mapping[str, str]) -> Caller:
        """The same caller, at home in a narrower place: a project by its address, a session."""
        return replace(self, home=self.scope(places))

    def scope(self, places: Mapping[str, Any]) -> Scope:
        """The scope to ask in: home, narrowed by what was named."""
        return self._behind(replace(self.home, **_names(places)))

    def place(self, places: Mapping[str, Any]) -> Scope:
        """The scope to remember in: the one to ask in, as a memory has it."""
        return self.scope(places).stored()

    def inside(self, places: Mapping[str, Any]) -> Scope:
        """The scope to forget or count in: the wall, narrowed by what was named. Home does not count here."""
        return self._behind(replace(self.wall, **_names(places)))

    def listing(self, places: Mapping[str, Any]) -> Scope:
        """The scope to look through: the project that was named, or else that of home; of home nothing else counts."""
        return self.inside({"project": self.home.project, **places})

    def moved(self, memory: Memory, places: Mapping[str, Any]) -> Scope:
        """Where a memory of the caller's would be moved to."""
        return self._behind(replace(memory.scope, **_names(places))).stored()

    def _behind(self, scope: Scope) -> Scope:
        """The scope, with the wall where it names nothing: "everywhere" is as far as the caller reaches."""
        for name in ("user", "project"):
            own, asked = getattr(self.wall, name), getattr(scope, name)
            if own and asked not in ("", own):
                yours = "no user" if own == NOBODY else f"{name} {own!r}"
                raise Forbidden(f"{name} {asked!r} is not yours; your token is for {yours}.", fix=f"Leave {name} out.")
        walls = {name: own for name in ("user", "project") if (own := getattr(self.wall, name))}
        return replace(scope, **walls)

    def sees(self, memory: Memory) -> bool:
        return self.wall.sees(memory.scope)

    def owns(self, memory: Memory) -> bool:
        return self.wall.contains(memory.scope)

    def asked(self, user: str, project: str) -> bool:
        """Whether a question of that place was asked behind this wall: what others ask is theirs, also in a project."""
        return self.wall.user in ("", user) and self.wall.project in ("", project)

    def seen(self, memory: Memory) -> Memory:
        """The memory, or the same words as for one that does not exist."""
        if not self.sees(memory):
            raise NotFound(f"No memory has the id {memory.id!r}.")
        return memory

    def owned(self, memory: Memory) -> Memory:
        if not self.owns(self.seen(memory)):
            raise Forbidden(
                f"Memory {memory.id} holds {memory.scope}, which is more than {self.wall}.",
                fix="Use a token that reaches as far as the memory does.",
            )
        return memory


def local(tenant: str, actor: str, home: Scope) -> Caller:
    """The person at this machine: everything of their tenant, no wall."""
    return Caller(tenant, actor, home=home)


def _names(places: Mapping[str, Any]) -> dict[str, str]:
    cleaner = Cleaner(MAX_NAME)
    return {name: cleaner.text(value, name, MAX_NAME) for name, value in places.items()}
