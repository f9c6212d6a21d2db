"""A store as a team has it after two months: projects, kinds, sources with quotes, entities, links, and what waits.

Made up, the same each time, and told through the verbs of the engine, so that it has a history as a real one has.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect
from recollect import Draft, Message, Scope, Source
from recollect.graph import Node, Relation

PROJECTS = ("checkout", "search", "mobile", "platform", "")
SERVICES = (
    "billing", "ledger", "gateway", "catalogue", "sessions", "notifications", "reports", "identity", "shipping",
    "inventory", "pricing", "recommendations", "exports", "webhooks", "scheduler", "audit",
)  # fmt: skip
PEOPLE = ("Ana", "Ben", "Chioma", "Daiki", "Elif", "Farid")
WORDS = (
    "latency",
    "retries",
    "backfill",
    "schema",
    "rollout",
    "cache",
    "quota",
    "timeout",
    "index",
    "payload",
    "cursor",
)
KINDS = {
    "decision": "{Service} {verb} its {word} in {place}. {cause}, and {person} had {habit}.",
    "rule": "Ask {person} before touching {word} in {service}: {habit} comes first, {cause}.",
    "preference": "{person} likes {habit} whenever {service} meets {other}; {cause}.",
    "fact": "{Service} stores {word} in {place}. {person} knows it best, next to {other}.",
    "incident": "One {day} {other} took {service} down. {cause}; {person} answered it with {habit}.",
    "lesson": "Look at {place} when {word} goes wrong in {other}. {person} found out through {habit}.",
    "procedure": "Renewing {word} for {service}: pause {place}, tell {person}, watch {other}, then {habit}.",
    "insight": "{Service} follows {other} by way of {place}: {cause}, which {habit} shows.",
    "code": "def {verb}_{word}(request): return {service}.ask({place!r}, then={habit!r}, by={person!r})",
    "doc": "How {word} works in {service}. It begins at {place}, {cause}, and ends with {other}; see {habit}.",
}
HABITS = (
    "a written plan", "pairing", "a dry run", "small commits", "feature flags", "load tests", "a quiet hour",
    "canaries", "a second look", "property tests", "a rollback script", "fewer retries",
)  # fmt: skip
CAUSES = (
    "the old way lost updates under load", "two writers raced for the same row", "the vendor changed its limits",
    "nobody remembered why the flag was there", "the release train leaves on Thursdays",
    "tests were slower than the bug",
)  # fmt: skip
PLACES = ("PostgreSQL", "Redis", "the edge", "a nightly job", "S3", "the feature flags", "the queue")
VERBS = ("moved", "kept", "simplified", "isolated", "doubled", "retired")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


class Clock:
    """Time that walks through two months while the store is made, and is the real time afterwards."""

    def __init__(self, days: int = 60) -> None:
        self._moment: datetime | None = datetime.now(UTC) - timedelta(days=days)

    def __call__(self) -> datetime:
        if self._moment is None:
            return datetime.now(UTC)
        self._moment += timedelta(microseconds=1)
        return self._moment

    def forward(self, **delta: float) -> None:
        if self._moment is not None:
            self._moment = min(self._moment + timedelta(**delta), datetime.now(UTC))

    def arrive(self) -> None:
        self._moment = None


def drafts(size: int, seed: int = 7) -> list[Draft]:
    """So many distinct memories."""
    chance = random.Random(seed)
    found: list[Draft] = []
    for number in range(size):
        kind = chance.choice(tuple(KINDS))
        service, other = chance.sample(SERVICES, 2)
        word, person = chance.choice(WORDS), chance.choice(PEOPLE)
        content = KINDS[kind].format(
            verb=chance.choice(VERBS), word=word, service=service, Service=service.capitalize(), other=other,
            place=chance.choice(PLACES), cause=chance.choice(CAUSES), person=person, habit=chance.choice(HABITS),
            day=chance.choice(DAYS),
        )  # fmt: skip
        quote = f"{content} That is how it is."
        cited = number % 3 == 0
        origin = Source("", kind="document", uri=f"docs/{service}/{word}.md", title=f"{service}: {word}",
                        content=f"Notes of {person}.\n\n{quote}\n\nMore below.", author=person)  # fmt: skip
        found.append(Draft(
            content, kind=kind, scope=Scope(project=chance.choice(PROJECTS)), tags=(service, word)[: 1 + number % 2],
            importance=chance.randint(2, 9), reasoning=f"Because {chance.choice(CAUSES)}." if number % 4 == 0 else "",
            source=origin if cited else None, evidence=(content,) if cited else (),
            refs=(f"src/{service}/{word}.py",) if number % 5 == 0 else (),
        ))  # fmt: skip
    return found


def made(path: Path, size: int = 2000) -> None:
    """Make such a store at a path. Vectors come last: nothing in it is compared with all the rest while it is made."""
    clock = Clock()
    with recollect.open(path, embedder="off", actor="claude-code", now=clock) as memory:
        populate(memory, clock, size)
    with recollect.open(path, embedder="hashing") as memory:
        memory.embed()


def populate(memory: recollect.Engine, clock: Clock, size: int) -> None:
    """Fill a store; `clock` is the one the engine was opened with."""
    batch = max(1, size // 50)
    made = drafts(size)
    ids: list[str] = []
    for at in range(0, size, batch):
        ids += [one.id for one in memory.remember_many(made[at : at + batch]) if one.memory]
        clock.forward(hours=26)
    memory.remember("We deploy on Thursdays, because the release train leaves then.", kind="decision", importance=9,
                    scope=Scope(project="checkout"), tags=["release"])  # fmt: skip
    _tie(memory, ids)
    _wait(memory, clock)
    memory.edit(ids[5], content=f"{memory.get(ids[5]).content} Since May also at night.", reason="it has grown")
    memory.forget(ids[6], reason="of no use any more")
    memory.reject(ids[7], reason="it was never true")
    clock.arrive()


def _tie(memory: recollect.Engine, ids: list[str]) -> None:
    graph = memory.graph()
    graph.create([Node(name, "service", (f"is run by {PEOPLE[at % 6]}",)) for at, name in enumerate(SERVICES)])
    graph.create([Node(name, "person", ("is on call in odd weeks",)) for name in PEOPLE])
    graph.relate([
        *(Relation(name, "owned_by", PEOPLE[at % 6]) for at, name in enumerate(SERVICES)),
        *(Relation(name, "depends_on", SERVICES[(at * 5 + 2) % 16]) for at, name in enumerate(SERVICES)),
    ])  # fmt: skip
    for at in range(20, 60, 4):
        memory.link(ids[at], "elaborates", ids[at + 1])
        memory.link(ids[at + 2], "depends_on", ids[at + 1])
    old = memory.remember("The gateway times out after 30 seconds.", scope=Scope(project="platform"), tags=["gateway"])
    new = memory.remember("The gateway times out after 10 seconds.", scope=Scope(project="platform"), tags=["gateway"])
    memory.link(new.id, "contradicts", old.id, reason="30 seconds and 10 seconds cannot both hold")
    memory.link(ids[11], "supersedes", ids[10], reason="moved to the new cluster")


def _wait(memory: recollect.Engine, clock: Clock) -> None:
    """What an assistant concluded and a user confirmed in passing, which waits for somebody to believe it."""
    said = [
        "The build fails because `numpy` 2 changed its ABI.",
        "The nightly job fails because `ledger.entries` has no index.",
        "The checkout tests fail because `cart.validate` runs after the charge.",
        "The exports endpoint skips rows because `offset` moves under load.",
        "The login page is slow because `sessions.list` loads every device.",
        "The queue grows because `webhooks.retry` never gives up.",
    ]
    for at, words in enumerate(said):
        talk = [
            Message("user", "What did you find?", id=f"q{at}"), Message("assistant", words, id=f"a{at}"),
            Message("user", "That worked.", id=f"w{at}"),
        ]  # fmt: skip
        memory.capture(talk, session=f"session-{at}", scope=Scope(project="checkout"))
    for at, port in enumerate((8080, 8443)):  # the second contradicts the first and does not say that it is wrong
        stated = Message("user", f"The gateway listens on port {port}.", id=f"p{at}", at=clock())
        memory.capture([stated], session=f"ports-{at}", scope=Scope(project="checkout"))
        clock.forward(hours=1)
