"""The graph that memories make: what is read from them, how it is asked, and that it follows what a caller may see."""

from __future__ import annotations

import pytest

import recollect
from conftest import Clock
from recollect.agents.access import Caller
from recollect.errors import BadInput, NotFound
from recollect.language.entities import key_of
from recollect.language.relations import extract
from recollect.ops.catalogue import BY_NAME
from recollect.recall.chains import Chain, with_chains
from recollect.recall.graph import checked
from recollect.recall.select import Scored
from recollect.types import Memory, Scope
from recollect.upkeep.entities import read_memory

NOTES = (
    "checkout-web depends on AuthService.",
    "The auth service is owned by Team Kilo.",
    "Team Kilo is led by Dana Reyes.",
    "Dana joined Team Kilo in 2021.",
    "Blaze is our billing service.",
    "Blaze calls the auth service.",
    "INC-12 took down the auth service.",
)


def ties(text: str) -> set[tuple[str, str, str]]:
    return {(one.head, one.relation, one.tail) for one in extract(text).relations}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("billing-api is called by checkout-web.", {("checkout web", "calls", "billing api")}),
        ("A-team owns nothing.", set()),
        ("auth-service no longer depends on Redis.", set()),
        ("Does auth-service depend on Redis?", set()),
        ("The owner of auth-service is Team Kilo.", {("auth", "owned_by", "team kilo")}),
        (
            "pricing-service, which is owned by Team Zulu, calls ledger-service.",
            {("pricing", "owned_by", "team zulu"), ("pricing", "calls", "ledger")},
        ),
        (
            "checkout-web depends on Redis and calls auth-service.",
            {("checkout web", "depends_on", "redis"), ("checkout web", "calls", "auth")},
        ),
        ("ADR-007 was superseded by ADR-012.", {("adr 12", "supersedes", "adr 7")}),
        ("src/auth/tokens.py was changed because of ADR-005.", {("src/auth/tokens.py", "changed_by", "adr 5")}),
    ],
)
def test_relations_are_read_with_their_direction(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert ties(text) == expected


def test_spellings_of_a_name_have_one_key_and_paths_keep_their_case() -> None:
    assert len({key_of(name) for name in ("auth-service", "AuthService", "the auth service", "auth_services")}) == 1
    assert key_of("/v2/Charge") != key_of("/v2/charge")
    assert key_of("auth-db") != key_of("auth-service")


def test_a_relation_is_no_surer_than_its_ends_and_its_memory() -> None:
    found = read_memory(Memory("1", "checkout-web depends on AuthService.", confidence=0.4))
    assert {one.confidence for one in found.entities} == {one.confidence for one in found.relations} == {0.4}
    for one in extract("Marco Polo leads Team Kilo.").relations:
        assert one.confidence <= min(e.confidence for e in extract("Marco Polo leads Team Kilo.").entities)


def test_the_graph_answers_across_names_and_steps_with_proofs(memory: recollect.Engine) -> None:
    for note in NOTES:
        memory.remember(note)
    assert memory.has_unread()
    assert memory.extract_entities() == len(NOTES)
    assert memory.extract_entities() == 0
    known = memory.knowledge()
    found = known.query("auth-service", direction="in")
    assert {(tie.head, tie.relation) for tie in found.ties} == {("checkout-web", "depends_on"), ("Blaze", "calls")}
    for tie in found.ties:
        assert tie.quote in memory.get(tie.memory).content
    assert known.path("checkout-web", "Dana").path == ("checkout-web", found.nodes[0].name, "Team Kilo", "Dana")
    blaze = known.query("billing").nodes[0]
    assert {blaze.name, *blaze.aliases} == {"Blaze", "billing service"}
    with pytest.raises(NotFound):
        known.query("nothing-like-it")


def test_the_graph_answers_where_no_daemon_has_read_it(memory: recollect.Engine) -> None:
    memory.remember("billing-service depends on auth-service.")
    found = BY_NAME["graph_query"].call(
        memory,
        Caller(memory.tenant, "test", frozenset(("read", "write"))),
        {"entity": "auth-service", "relation": "dependents"},
    )
    assert "billing-service" in BY_NAME["graph_query"].text(found)


def test_what_changes_is_read_again_and_what_goes_is_gone(memory: recollect.Engine) -> None:
    one = memory.remember("checkout-web depends on AuthService.")
    two = memory.remember("ledger-core depends on AuthService.")
    memory.extract_entities()
    memory.edit(one.id, content="checkout-web depends on vault-proxy.")
    assert not memory.knowledge().query("auth", direction="in", relations=("depends_on",)).ties[1:]
    memory.extract_entities()
    assert [tie.tail for tie in memory.knowledge().query("checkout-web").ties] == ["vault-proxy"]
    memory.forget(two.id)
    with pytest.raises(NotFound):
        memory.knowledge().query("ledger-core")
    memory.forget(two.id, purge=True)
    assert memory.stats()["memories"] == 1
    assert memory.health.graph_size()["edges"] == 1
    memory.reject(one.id)
    with pytest.raises(NotFound):
        memory.knowledge().query("vault-proxy")


def test_nobody_sees_entities_edges_or_paths_of_memories_that_are_not_theirs(memory: recollect.Engine) -> None:
    memory.remember("checkout-web depends on AuthService.", scope=Scope(user="ana", project="shop"))
    memory.remember("AuthService is owned by Team Kilo.", scope=Scope(user="ben", project="shop"))
    memory.remember("Kestrel is our auth service.", scope=Scope(project="other"))
    other = memory.for_caller(tenant="globex")
    other.remember("AuthService depends on globex-vault.")
    for engine in (memory, other):
        engine.extract_entities()
    ana = memory.knowledge(Scope(user="ana", project="shop"))
    assert {node.name for node in ana.query("auth", depth=4).nodes} == {"AuthService", "checkout-web"}
    with pytest.raises(NotFound):
        ana.path("checkout-web", "Team Kilo")
    with pytest.raises(NotFound):
        ana.query("Kestrel")
    assert {node.name for node in other.knowledge().query("auth", depth=4).nodes} == {"AuthService", "globex-vault"}


def test_the_graph_as_of_a_time_is_what_was_known_then(memory: recollect.Engine, clock: Clock) -> None:
    one = memory.remember("checkout-web depends on AuthService.")
    memory.extract_entities()
    then = clock()
    clock.forward(days=1)
    memory.forget(one.id)
    with pytest.raises(NotFound):
        memory.knowledge().query("auth")
    assert memory.knowledge(as_of=then).query("auth").ties[0].head == "checkout-web"


def test_people_merge_and_split_entities_and_can_undo_it(memory: recollect.Engine) -> None:
    memory.remember("checkout-web depends on Falcon-core.")
    memory.remember("ledger-core depends on raptor-core.")
    memory.extract_entities()
    caller = Caller(memory.tenant, "test", frozenset(("read", "write")))
    BY_NAME["entity_merge"].call(memory, caller, {"entity": "falcon-core", "other": "raptor-core"})
    heads = {tie.head for tie in memory.knowledge().query("raptor-core", direction="in").ties}
    assert heads == {"checkout-web", "ledger-core"}
    BY_NAME["entity_split"].call(memory, caller, {"entity": "falcon-core", "other": "raptor-core"})
    heads = {tie.head for tie in memory.knowledge().query("raptor-core", direction="in").ties}
    assert heads == {"ledger-core"}


def test_relations_that_people_made_are_in_the_graph(memory: recollect.Engine) -> None:
    from recollect.graph import Node, Relation

    graph = memory.graph()
    graph.create([Node("billing-service", "service"), Node("auth-service", "service")])
    graph.relate([Relation("billing-service", "depends_on", "auth-service")])
    found = memory.knowledge().query("auth service", relations=checked("dependents", "in", (), 1), direction="in")
    assert [tie.head for tie in found.ties] == ["billing-service"]


def test_a_wrong_question_to_the_graph_is_refused() -> None:
    for wrong in (("", "sideways", (), 1), ("", "in", ("planet",), 1), ("", "in", (), 5)):
        with pytest.raises(BadInput):
            checked(*wrong)


def test_ends_of_chains_stand_behind_the_first_two() -> None:
    found = [Scored(Memory(str(n), f"note {n}"), 5.0 - n) for n in range(5)]
    chain = Chain((found[0].memory, found[4].memory), 2.0, ("puffin",))
    joined = with_chains(found, [chain])
    assert [one.memory.id for one in joined] == ["0", "1", "4", "2", "3"]
    assert [one.score for one in joined] == sorted((one.score for one in joined), reverse=True)
    assert chain.told() == "0 (puffin) -> 4"


def test_the_next_step_of_recall_gives_what_is_new(memory: recollect.Engine) -> None:
    first = memory.remember("Ferry is run by Puffin.")
    memory.remember("The boss of Puffin is Tadeusz.")
    step = memory.recall_next("Who is behind Ferry?", thoughts=["Who is the boss of Puffin?"], shown=[first.id])
    assert [hit.memory.content for hit in step.hits][:1] == ["The boss of Puffin is Tadeusz."]
    assert first.id not in {hit.memory.id for hit in step.hits}
    assert step.helps
