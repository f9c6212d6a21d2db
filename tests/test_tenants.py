"""The wall between tenants: two of them hold the same knowledge, and no method of a store shows one the other's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from conftest import START
from nouns import A, B, memory, put, source, unit
from recollect import Evidence, Link, Memory, NotFound, Scope, Source
from recollect.agent_types import Agent, AgentSession
from recollect.history_types import Checkpoint, Hold, Retention, Sighting
from recollect.ids import make
from recollect.language.relations import Extraction, Named, Relation
from recollect.language.terms import of_query
from recollect.store.answers import Answer, Count, Depends
from recollect.store.browsing import Sieve
from recollect.store.contract import Store, Transaction
from recollect.store.ledger import Spent
from recollect.store.trail import Trace
from recollect.text import key
from recollect.types import SOURCES, Filter, Job, Token, Tombstone, Webhook
from replay import entries_of, state_of

WIDE = Filter(states=())
SAID = ("The launch code is kept in the safe.", "Ana has the key to the safe.")
HASH = "1" * 64
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Filled:
    """What one tenant holds. Ids and marks are its own; what is said is the same in both."""

    tenant: str
    mark: str
    ids: tuple[str, str]
    evidence: str
    link: str
    tombstone: str
    job: str
    token: str
    webhook: str
    answer: str
    agent: str

    def secrets(self) -> tuple[str, ...]:
        named = self.evidence, self.link, self.tombstone, self.job, self.token, self.webhook, self.answer, self.agent
        return self.mark, *self.ids, *named


def fill(store: Store, tenant: str, base: int) -> Filled:
    mark = f"mark-of-{tenant}"
    one, two = (
        memory(base + n, said, title=f"{mark} x", tags=("safe", mark), refs=("ADR-1",), reasoning=f"only{tenant}")
        for n, said in enumerate(SAID, 1)
    )
    put(store, one, two, tenant=tenant)
    evidence, link, tombstone, job, token, webhook, answer = (make(base + n, 7) for n in range(10, 17))
    agent = make(base + 19, 7)
    with store.transaction(tenant, mark, START) as changes:
        changes.put(Evidence(evidence, one.id, source().id, mark, created_at=START), "create", mark)
        changes.put(Link(link, one.id, "related", two.id, reason=mark, created_at=START), "link")
        changes.put(Tombstone(tombstone, key(f"never {tenant}"), reason=mark, created_at=START), "reject")
        changes.put(Checkpoint(make(base + 16, 7), mark, 3, created_at=START), "create")
        changes.put(Hold(make(base + 17, 7), mark, Scope(user=mark), created_at=START), "create")
        changes.put(Retention(make(base + 18, 7), "turn", 9, scope=Scope(user=mark), created_at=START), "create")
        changes.put(Agent(agent, mark, key=mark, created_at=START), "create")
        changes.extracted(one.id, "before", extraction(mark))
        changes.put_token(Token(token, tenant, mark, created_at=START), f"hash-of-{mark}")
        changes.put_webhook(Webhook(webhook, tenant, f"https://{mark}.test", created_at=START))
        changes.put_answer(answered(answer, mark, one.id), unit(1).astype("<f2").tobytes())
        for number, id in enumerate((one.id, two.id)):
            changes.embed(id, "m", unit(1, number)[None, :])
    store.used(tenant, {one.id: (1, 2)}, START)
    store.saw(tenant, [Sighting(one.id, START, mark, "prompt", mark, mark, mark)])
    store.enqueue(tenant, Job(job, "sweep", payload={"mark": mark}, run_at=START, created_at=START))
    store.attend(tenant, AgentSession(agent, mark, START, START))
    return Filled(tenant, mark, (one.id, two.id), evidence, link, tombstone, job, token, webhook, answer, agent)


def extraction(mark: str) -> Extraction:
    """A thing of the same name in every tenant, tied to one of its own."""
    found = tuple(Named(key, mark, "service", 0.9) for key in ("launch", mark))
    return Extraction(found, (Relation("launch", "uses", mark, 0.9, mark),))


def answered(id: str, mark: str, built_from: str = "") -> Answer:
    """The same question in every tenant, in the same place, with an answer of its own."""
    tied = (Depends("memory", built_from),) if built_from else ()
    return Answer(
        id, "Who has the key?", HASH, "ana", "web", answer=mark, tier="warm", asked=2, model="m", depends=tied
    )


# What a tenant may try with what it knows of the other's: each is called for one tenant with the ids of the other.
CALLS: dict[str, Callable[[Store, str, Filled], Any]] = {
    "memories": lambda store, me, other: store.memories(me, other.ids),
    "ending": lambda store, me, other: [store.ending(me, id[-8:], 10) for id in other.ids],
    "page": lambda store, me, other: store.page(me, WIDE, None, 100) + store.page(me, WIDE, make(10**6, 0), 100),
    "dated": lambda store, me, other: store.dated(me, WIDE, 100),
    "count": lambda store, me, other: store.count(me, WIDE),
    "match": lambda store, me, other: store.match(me, of_query(f"launch code {other.mark}"), WIDE, 100),
    "frequencies": lambda store, me, other: store.frequencies(me, of_query("launch code"), WIDE),
    "sharing": lambda store, me, other: store.sharing(me, other.ids),
    "nearest": lambda store, me, other: store.nearest(me, "m", unit(1), WIDE, 100),
    "vectors": lambda store, me, other: store.vectors(me, other.ids),
    "cosines": lambda store, me, other: store.cosines(me, "m", unit(1), other.ids),
    "unembedded": lambda store, me, other: store.unembedded(me, "another model", 100),
    "of": lambda store, me, other: [
        store.of(me, Memory, other.ids), store.of(me, Evidence, [other.evidence]), store.of(me, Link, [other.link]),
        store.of(me, Link, other.ids, "origin"), store.of(me, Evidence, other.ids, "memory"),
        store.of(me, Tombstone, [other.tombstone]),
    ],
    "all": lambda store, me, other: [
        store.all(me, kind, "", 100)
        for kind in (Memory, Source, Evidence, Link, Tombstone, Checkpoint, Hold, Retention)
    ],
    "each": lambda store, me, other: [[*store.each(me, kind)] for kind in (Memory, Source, Evidence, Link)],
    "walk": lambda store, me, other: [*store.walk(me, WIDE)],
    "each_entry": lambda store, me, other: [*store.each_entry(me, Trace())],
    "each_answer": lambda store, me, other: [*store.each_answer(me)],
    "damage": lambda store, me, other: store.damage(me),
    "heal": lambda store, me, other: store.heal(me),
    "sum_rows": lambda store, me, other: store.sum_rows(me, everything=True),
    "head": lambda store, me, other: store.head(me),
    "changed": lambda store, me, other: store.changed(me, 0, 0),
    "journal": lambda store, me, other: [store.journal(me), *(store.journal(me, target=id) for id in other.ids)],
    "trail": lambda store, me, other: [store.trail(me, Trace(), 1000), store.trail(me, Trace(targets=other.ids), 1000)],
    "reached": lambda store, me, other: store.reached(me, START + WEEK),
    "saw": lambda store, me, other: store.saw(me, [Sighting(id, START + WEEK) for id in other.ids]),
    "sightings": lambda store, me, other: [store.sightings(me), store.sightings(me, other.ids)],
    "rate": lambda store, me, other: store.rate(me, Sighting(other.ids[0], START, other.mark, "prompt"), -1),
    "forget_sightings": lambda store, me, other: store.forget_sightings(me, START - WEEK),
    "tokens": lambda store, me, other: store.tokens(me),
    "webhooks": lambda store, me, other: store.webhooks(me),
    "moved": lambda store, me, other: store.moved(Webhook(other.webhook, me, "https://thief.test", cursor=99)),
    "doors": lambda store, me, other: store.doors(me),
    "restore_doors": lambda store, me, other: store.restore_doors(me, []),
    "book": lambda store, me, other: store.book(me, Spent("2026-03-02", "", "extract", "m", calls=1)),
    "spent": lambda store, me, other: store.spent(me),
    "spending": lambda store, me, other: store.spending(me, "", "2026-03-02"),
    "restore_ledger": lambda store, me, other: store.restore_ledger(me, []),
    "answer_of": lambda store, me, other: store.answer_of(me, HASH, "ana", "web"),
    "answers": lambda store, me, other: store.answers(me, [other.answer]),
    "all_answers": lambda store, me, other: store.all_answers(me, "", 100),
    "answer_vectors": lambda store, me, other: store.answer_vectors(me, [other.answer]),
    "answer_page": lambda store, me, other: store.answer_page(me) + store.answer_page(me, evictable=True),
    "shelf": lambda store, me, other: store.shelf(me, "ana", "web", "m", 0),
    "asked": lambda store, me, other: store.asked(me, [Count(other.answer, 9, 9, "core", 0, 99)], START + WEEK),
    "answers_kept": lambda store, me, other: store.answers_kept(me),
    "answer_stats": lambda store, me, other: store.answer_stats(me),
    "used": lambda store, me, other: store.used(me, dict.fromkeys(other.ids, (9, 9)), START + WEEK),
    "restore_usage": lambda store, me, other: store.restore_usage(me, []),
    "enqueue": lambda store, me, other: store.enqueue(me, Job(make(7, 7), "other work", run_at=START)),
    "claim": lambda store, me, other: store.claim(me, "thief", ["sweep"], START - WEEK, WEEK),
    "renew": lambda store, me, other: store.renew(me, other.job, "thief", START + WEEK),
    "finish": lambda store, me, other: store.finish(me, other.job, "thief", START),
    "fail": lambda store, me, other: store.fail(me, other.job, "thief", "broken", None, START),
    "release": lambda store, me, other: store.release(me, other.job, "thief", START),
    "cancel": lambda store, me, other: store.cancel(me, other.job, START),
    "retry": lambda store, me, other: store.retry(me, other.job, START),
    "jobs": lambda store, me, other: store.jobs(me, [], 100),
    "restore_jobs": lambda store, me, other: store.restore_jobs(me, [Job(other.job, "mine")]),
    "browse": lambda store, me, other: store.browse(me, Sieve(WIDE, sources=SOURCES), None, 100),
    "counted": lambda store, me, other: [*store.counted(me), *store.counted(me, other.ids)],
    "recalled_last": lambda store, me, other: store.recalled_last(me, WIDE, 100),
    "work": lambda store, me, other: store.work(me, 0),
    "newest_links": lambda store, me, other: store.newest_links(me, 100),
    "related": lambda store, me, other: store.related(me, "related", 100),
    "stats": lambda store, me, other: {**store.stats(me), "store": "", "bytes": 0},
    "check": lambda store, me, other: [(check.name, check.status) for check in store.check(me)],
    "reindex": lambda store, me, other: store.reindex(me, "m"),
    "drop_vectors": lambda store, me, other: store.drop_vectors(me, "nobody's"),
    "transaction": lambda store, me, other: inside(store, me, other),
    "passing": lambda store, me, other: store.passing(me, WIDE, other.ids),
    "matching": lambda store, me, other: [store.matching(me, Agent, one) for one in ({"id": other.agent}, {})],
    "tally": lambda store, me, other: store.tally(me, Agent, {}),
    "attend": lambda store, me, other: store.attend(me, AgentSession(other.agent, "s", START + WEEK, START + WEEK)),
    "attended": lambda store, me, other: [one.session for one in store.attended(me)],
    "last_seen": lambda store, me, other: [*store.last_seen(me).values()],
    "forget_sessions": lambda store, me, other: store.forget_sessions(me, START - WEEK),
    "mentions": lambda store, me, other: store.mentions(me, ["launch", other.mark], WIDE),
    "edges": lambda store, me, other: store.edges(me, ["launch", other.mark], WIDE, "head"),
    "entities_named": lambda store, me, other: store.entities_named(me, [other.mark]),
    "unread": lambda store, me, other: store.unread(me, "v", 100),
    "nearest_each": lambda store, me, other: store.nearest_each(me, "m", [unit(1)], WIDE, 100),
    "graph_size": lambda store, me, other: store.graph_size(me, "none"),
    "most_named": lambda store, me, other: store.most_named(me, 10),
}  # fmt: skip
# These belong to no tenant: a token is found by its secret, and its tenant by the token; what was purged is looked for
# in the bytes of files that all tenants share.
OF_ALL = {"tenants", "token", "close", "mend", "save", "tidy", "leftovers"}


def inside(store: Store, me: str, other: Filled) -> Any:
    with store.transaction(me, f"mark-of-{me}", START) as changes:
        answers = {name: call(changes, other) for name, call in ATTEMPTS.items()}
        for id in other.ids:
            with pytest.raises(NotFound):
                changes.purge(id)
    return answers


ATTEMPTS: dict[str, Callable[[Transaction, Filled], Any]] = {
    "expect": lambda changes, other: changes.expect([key(text) for text in SAID], [source(2, uri=other.mark)]),
    "get": lambda changes, other: [
        changes.get(Memory, other.ids[0]), changes.get(Evidence, other.evidence), changes.get(Link, other.link),
        changes.get(Tombstone, other.tombstone),
    ],
    "same": lambda changes, other: changes.same(key(SAID[0]), Scope()),
    "tombstone": lambda changes, other: changes.tombstone(key(f"never {other.tenant}"), Scope()),
    "turn_before": lambda changes, other: changes.turn_before(Scope(), 100),
    "source": lambda changes, other: changes.source(source(2, uri=other.mark)),
    "was_purged": lambda changes, other: changes.was_purged(other.ids[0]),
    "read_ahead": lambda changes, other: changes.read_ahead(Memory, other.ids),
    "drop": lambda changes, other: [
        changes.drop(Memory, other.ids[0], "drop"), changes.drop(Evidence, other.evidence, "drop"),
        changes.drop(Link, other.link, "drop"), changes.drop(Tombstone, other.tombstone, "drop"),
    ],
    "drop_webhook": lambda changes, other: changes.drop_webhook(other.webhook),
    "answer": lambda changes, other: changes.answer(HASH, "ana", "web"),
    "drop_answer": lambda changes, other: changes.drop_answer(other.answer),
    "drop_repeating": lambda changes, other: changes.drop_repeating((other.mark,)),
    "blank": lambda changes, other: changes.blank(other.evidence),
    "note": lambda changes, other: changes.note("try", "nothing", ""),
    "heal": lambda changes, other: changes.heal(Memory, other.ids[0], drop=True),
    "backfill": lambda changes, other: changes.backfill(100),
}  # fmt: skip
# These change only what they are given, or are tried by `inside`.
OF_THEIR_OWN = {
    "add", "put", "put_answer", "put_token", "put_webhook", "embed", "purge", "replay", "restate", "restore_vectors",
    "kept", "extracted",
}  # fmt: skip


def methods(contract: type) -> set[str]:
    return {name for name in dir(contract) if callable(getattr(contract, name)) and not name.startswith("_")}


def test_no_method_is_left_out() -> None:
    assert CALLS.keys() | OF_ALL == methods(Store)
    assert ATTEMPTS.keys() | OF_THEIR_OWN == methods(Transaction)


def held(store: Store, tenant: str) -> Any:
    """Everything a tenant has, with its counters of use, its jobs, its tokens and webhooks."""
    memories = store.memories(tenant, [one.id for one in store.all(tenant, Memory, "", 1000)])
    answers = store.all_answers(tenant, "", 100)
    beside = (
        memories,
        store.jobs(tenant, [], 100),
        store.doors(tenant),
        answers,
        store.shelf(tenant, "ana", "web", "m", 0),
    )
    return state_of(store, tenant), entries_of(store, tenant), beside


def test_two_tenants_with_the_same_content_see_nothing_of_each_other_by_any_method(store: Store) -> None:
    ours, theirs = fill(store, A, 100), fill(store, B, 200)
    for me, other in ((ours, theirs), (theirs, ours)):
        before = held(store, other.tenant)
        for name, call in CALLS.items():
            shown = repr(call(store, me.tenant, other))
            for secret in other.secrets():
                assert secret not in shown, name
        assert held(store, other.tenant) == before
        assert store.count(me.tenant, WIDE) == 2
        assert store.stats(me.tenant)["memories"] == 2
        assert store.sharing(me.tenant, me.ids[:1]) == [(*me.ids, 1)]


@pytest.mark.parametrize("others", ["tenant", "user", "project"])
def test_the_words_of_others_move_no_score_and_no_order(store: Store, others: str) -> None:
    """Neither how rare a word is, nor how long memories are, is counted in what a caller may not see."""
    mine = Scope(user="ana", project="web")
    said = (
        "The cache is warm.",
        "The cache of the shop is cold, and the queue of the shop is long.",
        "The queue waits.",
    )
    put(store, *(memory(n, text, scope=mine if n % 2 else Scope()) for n, text in enumerate(said, 1)))
    terms = of_query("Is the cache or the queue of the shop cold?")

    def seen() -> tuple[Any, Any]:
        filter = Filter(scope=mine)
        return store.match(A, terms, filter, 10), store.frequencies(A, terms, filter)

    before = seen()
    assert len(before[0]) == 3
    for n in range(60):
        text = f"cache cold shop {n} " * (1 + n)
        if others == "tenant":
            put(store, memory(1000 + n, text), tenant=B)
        else:
            other = Scope(user="ben", project="web") if others == "user" else Scope(user="ana", project="vault")
            put(store, memory(1000 + n, text, scope=other))
    assert seen() == before
