"""A store with planted faults: duplicates, contradictions, expiries and decay among facts that must not be touched.

Every fact is one of many things that can be said of one of many subjects, so each has neighbours that differ from it in
a single word: another service, another part, another value. Duplicates are the same claim in other words; what only
looks like one (another scope, another number, who does what to whom) is a control. Labels are by id. The same seed
gives the same store.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect import Memory, Scope, Source
from recollect.ids import make
from recollect.models.embedder import Embedder
from recollect.remember.write import embed_drafts
from recollect.store.contract import Store
from recollect.text import key

SERVICES = (
    "billing search ledger catalogue gateway mailer indexer scheduler checkout inventory pricing shipping identity "
    "profile session reporting audit metrics alerting webhook export import media thumbnail translation chat presence "
    "feed ranking fraud refund invoice tax loyalty coupon warehouse courier tracking support archive"
).split()
PARTS = "api worker database dashboard cache queue client pipeline frontend cronjob sidecar proxy".split()
PEOPLE = (
    "Ana Bo Chidi Dana Emre Farah Goran Hana Ines Jonas Kira Luca Mira Nils Olga Pavel Rosa Selin Tomas Vera".split()
)
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
TOOLS = "Redis Kafka RabbitMQ Memcached DynamoDB Cassandra MongoDB Elasticsearch ClickHouse SQLite".split()
LANGUAGES = "Go Rust Kotlin Elixir Scala Haskell Erlang Swift Ruby Julia".split()
REGIONS = "Frankfurt Dublin Oregon Tokyo Sydney Mumbai Paris Milan Seoul Ohio".split()


@dataclass(frozen=True)
class Pick:
    """What a sentence is filled with."""

    s: str
    p: str
    who: str
    other: str
    n: int
    day: str
    tool: str
    lang: str
    region: str

    @property
    def port(self) -> int:
        return 8000 + self.n

    @property
    def other_port(self) -> int:
        return 9000 + self.n

    @property
    def more(self) -> int:
        return self.n + 7

    @property
    def weekend(self) -> str:
        return "Saturday" if self.n % 2 else "Sunday"

    def fill(self, saying: str) -> str:
        return saying.format(x=self)


# What can be said: the claim, and the same in other words.
SAYINGS: tuple[tuple[str, str], ...] = (
    (
        "The {x.s} {x.p} listens on port {x.port}.",
        "The {x.s} {x.p} is listening on port {x.port}",
    ),
    (
        "The {x.s} {x.p} retries failed calls {x.n} times.",
        "Failed calls are retried {x.n} times by the {x.s} {x.p}.",
    ),
    (
        "{x.who} owns the {x.s} {x.p}.",
        "The {x.s} {x.p} is owned by {x.who}.",
    ),
    (
        "We deploy the {x.s} {x.p} on {x.day}s.",
        "On {x.day}s we deploy the {x.s} {x.p}.",
    ),
    (
        "The {x.s} {x.p} uses {x.tool} for storage.",
        "The {x.s} {x.p} is using {x.tool} for its storage.",
    ),
    (
        "The {x.s} {x.p} is written in {x.lang}.",
        "Note that the {x.s} {x.p} was written in {x.lang}.",
    ),
    (
        "The {x.s} {x.p} runs in {x.region}.",
        "The {x.s} {x.p} is currently running in {x.region}.",
    ),
    (
        "The timeout of the {x.s} {x.p} is {x.n} seconds.",
        "The {x.s} {x.p} timeout is {x.n} seconds",
    ),
    (
        "{x.who} reviews every change to the {x.s} {x.p}.",
        "Every change to the {x.s} {x.p} is reviewed by {x.who}.",
    ),
    (
        "Never restart the {x.s} {x.p} before {x.who} has drained it.",
        "Please never restart the {x.s} {x.p} before {x.who} has drained it!",
    ),
    (
        "The {x.s} {x.p} keeps its logs for {x.n} days.",
        "Logs of the {x.s} {x.p} are kept for {x.n} days, because the auditors ask for them.",
    ),
    (
        "The config of the {x.s} {x.p} lives in the {x.region} repository.",
        "The configuration of the {x.s} {x.p} lives in the {x.region} repo.",
    ),
    (
        "{x.who} replaced {x.other} as the maintainer of the {x.s} {x.p}.",
        "{x.who} has replaced {x.other} as maintainer of the {x.s} {x.p}",
    ),
    (
        "Requests to the {x.s} {x.p} go through {x.tool} first.",
        "The requests to the {x.s} {x.p} always go through {x.tool} first.",
    ),
)
# What cannot both hold: the one, and the other.
OPPOSED: tuple[tuple[str, str], ...] = (
    (
        "The {x.s} {x.p} accepts uploads on port {x.port}.",
        "The {x.s} {x.p} accepts uploads on port {x.other_port}.",
    ),
    (
        "The {x.s} {x.p} goes out on {x.day}s.",
        "The {x.s} {x.p} goes out on {x.weekend}s.",
    ),
    (
        "The {x.s} {x.p} uses {x.tool} for counters.",
        "The {x.s} {x.p} uses Valkey for counters.",
    ),
    (
        "{x.who} maintains the {x.s} {x.p} runbook.",
        "{x.other} maintains the {x.s} {x.p} runbook.",
    ),
    (
        "The {x.s} {x.p} supports batch requests.",
        "The {x.s} {x.p} does not support batch requests.",
    ),
    (
        "The {x.s} {x.p} keeps {x.n} snapshots.",
        "The {x.s} {x.p} now keeps {x.more} snapshots.",
    ),
    (
        "The {x.s} {x.p} uses {x.tool} for locking.",
        "The {x.s} {x.p} switched from {x.tool} to Zookeeper for locking.",
    ),
)
# What looks like a pair and is none.
APART: tuple[tuple[str, str], ...] = (
    (
        "{x.who} escalates {x.s} {x.p} pages to {x.other}.",
        "{x.other} escalates {x.s} {x.p} pages to {x.who}.",
    ),
    (
        "Copy the {x.s} {x.p} from {x.region} to staging.",
        "Copy the {x.s} {x.p} from staging to {x.region}.",
    ),
    (
        "The {x.s} {x.p} alerts {x.who}.",
        "The {x.s} {x.p} also alerts {x.other}.",
    ),
    (
        "Writes to the {x.s} {x.p} need a review.",
        "Reads of the {x.s} {x.p} need a review.",
    ),
    (
        "The {x.s} {x.p} is slow.",
        "The {x.s} {x.p} is small.",
    ),
)


@dataclass
class Planted:
    """The memories of a store, and what a janitor should do with which of them."""

    memories: list[Memory] = field(default_factory=list)
    same: dict[str, str] = field(default_factory=dict)  # a duplicate → what it doubles
    opposed: set[frozenset[str]] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)
    decayed: set[str] = field(default_factory=set)


def typo(sentence: str, chance: random.Random) -> str:
    """A sentence with two letters of one long word swapped, as fingers do."""
    words = sentence.split(" ")
    able = [n for n, word in enumerate(words) if word.isalpha() and word.islower() and len(word) >= 7]
    if not able:
        return sentence.upper()
    at = chance.choice(able)
    word = words[at]
    for _ in range(20):
        cut = chance.randrange(2, len(word) - 2)
        swapped = word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :]
        if swapped != word:
            return " ".join([*words[:at], swapped, *words[at + 1 :]])
    return sentence.upper()


def planted(count: int, now: datetime, seed: int = 9) -> Planted:
    """About `count` memories: 10 % duplicates, 6 % in contradiction, 5 % expired, 4 % decayed, and controls of each."""
    chance, made = random.Random(seed), Planted()
    picks = _picks(chance)
    number = iter(range(1, 10 * count))

    def add(content: str, **fields: object) -> Memory:
        n = next(number)
        at = fields.pop("at", None) or now - timedelta(days=40) + timedelta(seconds=n)
        assert isinstance(at, datetime)
        scope = Scope(project=f"p{n % 7}") if n % 3 else Scope()
        values: dict[str, object] = {"scope": scope, "source": make(1, 1), **fields}
        memory = Memory(
            make(int(at.timestamp() * 1000) + n, n),
            content,
            created_at=at,
            updated_at=at,
            content_hash=key(content),
            **values,  # type: ignore[arg-type]
        )
        made.memories.append(memory)
        return memory

    while len(made.memories) < count:
        pick, lot = next(picks), chance.random()
        say, other = chance.choice(SAYINGS)
        if lot < 0.11:
            _same(made, add, chance, pick.fill(say), pick.fill(other))
        elif lot < 0.145:
            one, another = chance.choice(OPPOSED)
            first = add(pick.fill(one))
            later = add(pick.fill(another), scope=first.scope, at=first.created_at + timedelta(days=5))
            made.opposed.add(frozenset((first.id, later.id)))
        elif lot < 0.18:
            one, another = chance.choice(APART)
            first = add(pick.fill(one))
            add(pick.fill(another), scope=first.scope)
        elif lot < 0.195:  # both true, each in its time
            one, another = OPPOSED[0]
            first = add(pick.fill(one), valid_to=now - timedelta(days=30))
            add(pick.fill(another), scope=first.scope, valid_from=now - timedelta(days=20))
        elif lot < 0.25:
            made.expired.add(add(pick.fill(say), expires_at=now - timedelta(days=chance.randrange(1, 60))).id)
        elif lot < 0.28:
            add(pick.fill(say), expires_at=now + timedelta(days=30))
        elif lot < 0.29:
            add(pick.fill(say), expires_at=now - timedelta(days=3), tags=("pinned",))
        elif lot < 0.33:
            old = now - timedelta(days=chance.randrange(450, 900))
            made.decayed.add(add(pick.fill(say), at=old, importance=chance.choice((3, 4, 5))).id)
        elif lot < 0.35:
            old = now - timedelta(days=700)
            add(pick.fill(say), at=old, **chance.choice(KEPT))
        else:
            add(pick.fill(say))
    return made


KEPT: tuple[dict[str, object], ...] = (
    {"importance": 8}, {"kind": "rule"}, {"kind": "decision"}, {"tags": ("pinned",)}, {"observed": 4},
)  # fmt: skip


def _same(made: Planted, add: Callable[..., Memory], chance: random.Random, said: str, otherwise: str) -> None:
    first = add(said)
    how = chance.randrange(5)
    if how == 0:
        again = add(f"{said.rstrip('.')} !", scope=first.scope)
    elif how == 1:
        again = add(typo(said, chance), scope=first.scope)
    elif how == 2:
        add(said, scope=Scope(project="elsewhere"))  # the same in another place is no duplicate
        again = add(otherwise, scope=first.scope)
    else:
        again = add(otherwise, scope=first.scope)
    made.same[again.id] = first.id


def _picks(chance: random.Random) -> Iterator[Pick]:
    """Subjects, each once, then each with a number of its own."""
    round = 0
    while True:
        subjects = [(s, p) for s in SERVICES for p in PARTS]
        chance.shuffle(subjects)
        for s, p in subjects:
            who, other = chance.sample(PEOPLE, 2)
            name = s if not round else f"{s}-{round}"
            yield Pick(
                name, p, who, other, chance.randrange(2, 60), chance.choice(DAYS), chance.choice(TOOLS),
                chance.choice(LANGUAGES), chance.choice(REGIONS),
            )  # fmt: skip
        round += 1


def fill(store: Store, tenant: str, memories: Sequence[Memory], embedder: Embedder | None, now: datetime) -> None:
    """Put memories into a store as they are, with their vectors, past the write path that would tell them apart."""
    with store.transaction(tenant, "planter", now) as changes:
        if not changes.get(Source, make(1, 1)):
            changes.put(Source(make(1, 1), uri="test:planted", created_at=now), "create")
    for start in range(0, len(memories), 500):
        lot = memories[start : start + 500]
        vectors = embed_drafts(lot, embedder)
        with store.transaction(tenant, "planter", now) as changes:
            for memory, found in zip(lot, vectors, strict=True):
                changes.put(memory, "create")
                if found is not None and embedder is not None:
                    changes.embed(memory.id, embedder.model, found)
        store.restore_usage(tenant, [memory for memory in lot if memory.accessed])


def scored(right: set[object], found: set[object]) -> tuple[float, float]:
    """Precision and recall."""
    hit = len(right & found)
    return hit / max(1, len(found)), hit / max(1, len(right))
