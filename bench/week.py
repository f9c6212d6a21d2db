"""A week of questions: facts of a made-up company that change, and what people ask about them. Pure, by a seed.

Each fact has a value, a sentence, a question and other ways to ask the same. Facts lie close together on purpose: the
same attribute of other services, other environments, other numbers, so that a cache which goes by likeness alone gives
the answer of a neighbour. People ask by a Zipf-like law: a few questions again and again, most of them seldom.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

SERVICES = (
    "billing", "search", "ledger", "catalogue", "gateway", "mailer", "indexer", "scheduler", "inventory", "checkout",
    "identity", "reporting", "notifications", "pricing", "shipping", "audit",
)  # fmt: skip
ENVIRONMENTS = ("staging", "production")
PEOPLE = ("Ana", "Ben", "Chloe", "Dmitri", "Esra", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kira", "Liam", "Mona")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
DATABASES = ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "Cassandra", "DynamoDB", "Redis", "ClickHouse")
LANGUAGES = ("Go", "Rust", "Python", "Kotlin", "TypeScript", "Elixir", "Java", "Scala")
REGIONS = ("eu-west-1", "us-east-2", "ap-south-1", "eu-north-1", "sa-east-1", "us-west-2")

# Values, the sentence, the question, other ways to ask it; {s} is the service, {e} the environment, {v} the value.
KINDS: tuple[tuple[Any, bool, str, str, tuple[str, ...]], ...] = (
    (range(3000, 9000, 7), True, "The {s} service listens on port {v} in {e}.",
     "Which port does the {s} service listen on in {e}?",
     ("What port does the {s} service use in {e}?", "On which port does the {s} service listen in {e}?",
      "What is the port of the {s} service in {e}?", "In {e}, which port is the {s} service on?")),
    (PEOPLE, False, "{v} owns the {s} service.",
     "Who owns the {s} service?",
     ("Who is the owner of the {s} service?", "Which person owns the {s} service?", "Whose service is {s}?",
      "Who is the {s} service owned by?")),
    (DAYS, False, "The {s} service is deployed every {v}.",
     "On which day is the {s} service deployed?",
     ("Which day is the {s} service deployed on?", "What day do we deploy the {s} service?",
      "Which weekday is the {s} service deployed?", "On what day of the week is the {s} service deployed?")),
    (DATABASES, True, "The {s} service stores its data in {v} in {e}.",
     "Which database does the {s} service use in {e}?",
     ("What database does the {s} service use in {e}?", "In {e}, which database is used by the {s} service?",
      "Which database is used by the {s} service in {e}?", "What is the database of the {s} service in {e}?")),
    (LANGUAGES, False, "The {s} service is written in {v}.",
     "Which language is the {s} service written in?",
     ("What language is the {s} service written in?", "In which programming language is the {s} service written?",
      "What is the programming language of the {s} service?", "Which programming language does the {s} service use?")),
    (range(5, 120), True, "Requests to the {s} service time out after {v} seconds in {e}.",
     "After how many seconds do requests to the {s} service time out in {e}?",
     ("What is the request timeout of the {s} service in {e}?", "How long is the request timeout of {s} in {e}?",
      "In {e}, after how many seconds do requests to the {s} service time out?",
      "How many seconds until requests to the {s} service time out in {e}?")),
    (range(2, 60), True, "The {s} service runs {v} replicas in {e}.",
     "How many replicas does the {s} service run in {e}?",
     ("How many replicas of the {s} service run in {e}?", "What is the number of replicas of the {s} service in {e}?",
      "In {e}, how many replicas does the {s} service have?", "How many replicas does the {s} service have in {e}?")),
    (PEOPLE, False, "{v} is on call for the {s} service.",
     "Who is on call for the {s} service?",
     ("Which person is on call for the {s} service?", "Who has the on-call duty for the {s} service?",
      "Who is the on-call person of the {s} service?", "For the {s} service, who is on call?")),
    (REGIONS, False, "The backups of the {s} service are kept in {v}.",
     "Where are the backups of the {s} service kept?",
     ("In which region are the backups of the {s} service kept?", "Where do we keep the backups of the {s} service?",
      "What region holds the backups of the {s} service?", "Where are backups of the {s} service stored?")),
    (range(7, 400), False, "Logs of the {s} service are kept for {v} days.",
     "For how many days are the logs of the {s} service kept?",
     ("How long are the logs of the {s} service kept?", "How many days are logs of the {s} service kept?",
      "For how long do we keep the logs of the {s} service?", "What is the log retention of the {s} service in days?")),
)  # fmt: skip


@dataclass
class Fact:
    """Something that is known and may change; `was` are the values it had before."""

    values: Any
    sentence: str
    question: str
    others: tuple[str, ...]
    value: str
    was: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        return self.sentence.replace("{v}", self.value)

    def changed(self, chance: random.Random) -> None:
        left = [str(value) for value in self.values if str(value) not in (self.value, *self.was)]
        self.was.append(self.value)
        self.value = chance.choice(left or [str(value) for value in self.values if str(value) != self.value])


@dataclass(frozen=True)
class Ask:
    """Somebody asks about a fact, in its own words or in others."""

    at: float  # seconds since the week began
    fact: int
    question: str
    paraphrased: bool


@dataclass(frozen=True)
class Change:
    """A fact becomes another: how, of the ways in which knowledge changes."""

    at: float
    fact: int
    how: str


def facts(chance: random.Random) -> list[Fact]:
    made = []
    for service in SERVICES:
        for values, placed, sentence, question, others in KINDS:
            for environment in ENVIRONMENTS if placed else ("",):

                def fill(text: str, s: str = service, e: str = environment) -> str:
                    return text.replace("{s}", s).replace("{e}", e)

                value = str(chance.choice(values))
                made.append(Fact(values, fill(sentence), fill(question), tuple(map(fill, others)), value))
    chance.shuffle(made)
    return made


def week(known: list[Fact], asks: int, changes: int, chance: random.Random) -> list[Ask | Change]:
    """What happens in a week, in its order: three asks in ten are in other words."""
    weights = [1 / (rank + 1) for rank in range(len(known))]
    length = 7 * 86400.0
    events: list[Ask | Change] = []
    for fact in chance.choices(range(len(known)), weights, k=asks):
        other = chance.random() < 0.3
        words = chance.choice(known[fact].others) if other else known[fact].question
        events.append(Ask(chance.uniform(0, length), fact, words, other))
    # Popular things change too: by the same law, a little flatter.
    flat = [weight**0.5 for weight in weights]
    for fact in chance.choices(range(len(known)), flat, k=changes):
        how = chance.choice(("edit", "supersede", "forget and say anew", "say otherwise"))
        events.append(Change(chance.uniform(0, length), fact, how))
    return sorted(events, key=lambda event: event.at)
