"""Answers that several memories give only together, and the relations of a graph that such memories state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recollect
from conftest import Opener
from recollect.errors import BadInput
from recollect.language.relations import extract
from recollect.recall import chains
from recollect.types import Memory, Scope
from recollect_eval import graph

NOTES = (
    "checkout calls POST /v2/holds before it captures money.",
    "POST /v2/holds is served by ledger-core.",
    "ledger-core is owned by team Basalt.",
    "Team Basalt: lead is Amara, deputy is Jonte.",
    "GET /v1/rates started returning 503 on 14 September.",
    "/v1/rates is implemented in fx-feed.",
    "quote-desk calls /v1/rates for every price it shows.",
    "quote-desk is maintained by team Schist.",
    "Team Gneiss owns the reporting warehouse.",
    "Team Gabbro's standup is at 9:15 on Zoom.",
    "The leader of team Gabbro is on parental leave.",
    "Patch notes are written by whoever merges last.",
    "statement-mailer depends on auth-gate.",
    "auth-gate had an outage on 2 September (INC-501).",
    "payout-runner depends on auth-gate.",
    "ADR-005 says that money is stored as integers of minor units.",
    "Because of ADR-005, src/money/amount.py was rewritten in commit 77ab12c.",
    "invoice_totals() in billing/totals.ts changed because of ADR-005.",
    "The office in Lisbon has a broken coffee machine.",
    "Owners of a service are told by mail when it fails.",
)


@pytest.fixture
def memory(opened: Opener) -> recollect.Engine:
    return opened(embedder="default")


@pytest.fixture
def told(memory: recollect.Engine) -> recollect.Engine:
    for note in NOTES:
        memory.remember(note)
    return memory


def first_ten(memory: recollect.Engine, question: str) -> list[str]:
    return [hit.memory.content for hit in memory.recall(question, limit=10, peek=True).hits]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who leads the team that owns the service behind the endpoint checkout calls?", {NOTES[3]}),
        ("Which team owns the service that calls the failing endpoint?", {NOTES[7]}),
        ("What services depend on auth that had incidents?", {NOTES[12], NOTES[14]}),
        ("Show me all code that changed because of ADR-005", {NOTES[16], NOTES[17]}),
    ],
)
def test_a_question_that_needs_several_memories_is_answered(
    told: recollect.Engine, question: str, answers: set[str]
) -> None:
    found = first_ten(told, question)
    assert answers <= set(found)
    assert not answers.isdisjoint(found[:5])


def test_a_hit_at_the_end_of_a_chain_shows_its_way(told: recollect.Engine) -> None:
    found = told.recall("Who leads the team that owns the service behind the endpoint checkout calls?", peek=True)
    why = {hit.memory.content: hit.why for hit in found.hits}
    assert "follows " in why[NOTES[3]]


def test_a_plain_question_looks_for_no_chain(told: recollect.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(self: chains.Chains) -> list[chains.Chain]:
        raise AssertionError("no chain is wanted")

    monkeypatch.setattr(chains.Chains, "find", find)
    assert first_ten(told, "When is Gabbro's standup?")[0] == NOTES[9]


def test_a_chain_does_not_pass_what_the_caller_may_not_see(memory: recollect.Engine) -> None:
    for note in NOTES[:2]:
        memory.remember(note, scope=Scope(project="open"))
    for note in NOTES[2:4]:
        memory.remember(note, scope=Scope(project="closed"))
    question = "Who leads the team that owns the service behind the endpoint checkout calls?"
    hits = memory.recall(question, scope=Scope(project="open"), peek=True).hits
    assert {hit.memory.content for hit in hits} <= set(NOTES[:2])


def test_the_gate_needs_no_search() -> None:
    found = [Memory("1", NOTES[9])]
    nested = "Who leads the team that owns the service behind the endpoint that checkout calls?"
    plain = "When is the standup of Gabbro?"
    assert chains.wants_chain(nested, found, [-3.0], 0.05) > chains.wants_chain(plain, found, [4.0], 0.9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ledger-core is owned by team Basalt.", {"ledger core owned_by team basalt"}),
        ("pdf-mail depends on id-gate and on forge-x.", {"pdf mail depends_on id gate", "pdf mail depends_on forge x"}),
        ("WeatherGrid.cpp is Oksana's, from the first prototype on", {"WeatherGrid.cpp owned_by oksana"}),
        ("/guild/invite is handled by Starling", {"starling implements /guild/invite"}),
        ("Team Basalt: lead is Amara, deputy is Jonte.", {"team basalt led_by amara"}),
        ("auth-gate had an outage on 2 September (INC-501).", {"auth gate had_incident inc 501"}),
        (
            "payout-runner (owned by team Gabbro) calls ledger-core.",
            {"payout runner owned_by team gabbro", "payout runner calls ledger core"},
        ),
        ("Because of ADR-005, src/money/amount.py was rewritten.", {"src/money/amount.py changed_by adr 5"}),
        ("checkout calls POST /v2/holds before it captures money.", {"checkout calls /v2/holds"}),
        ("billing-api. Owner: Team Kilo.", {"billing api owned_by team kilo"}),
        ("There is a hard dependency of checkout-web on auth-service.", {"checkout web depends_on auth"}),
        ("payment-gateway reads PAYMENT_TIMEOUT at startup.", {"payment timeout configures payment gateway"}),
        ("onboarding-ui moved from AngularJS to Svelte.", {"onboarding ui uses svelte", "svelte supersedes angularj"}),
        ("INC-9: label-press was down. Dana fixed it.", {"label press had_incident inc 9", "inc 9 fixed_by dana"}),
        ("risk-desk: owned by Team Quartz, uses Kafka.", {"risk desk owned_by team quartz", "risk desk uses kafka"}),
        ("the topic order-events, which search-indexer consumes.", {"search indexer uses order event"}),
        ("Service Merlin runs in Dublin, on reserved instances.", set()),
        ("Team Schist moved to the Lisbon office.", set()),
        ("Should checkout-web use Redis?", set()),
        ("checkout-web might call auth-service later.", set()),
        ("Nobody touches production on Fridays.", set()),
    ],
)  # fmt: skip
def test_relations_are_read_from_many_forms(text: str, expected: set[str]) -> None:
    assert {f"{one.head} {one.relation} {one.tail}" for one in extract(text).relations} == expected


def test_files_of_a_commit_are_changed_by_the_decision_that_it_names(memory: recollect.Engine) -> None:
    told = "Store minor units, because of ADR-005\n\nFiles: src/money.py, src/tax.py"
    memory.remember(f"{told}\n\nCommit 77ab12c01234 by Odile, 2026-02-01.", kind="commit")
    memory.remember("Fix a typo\n\nFiles: README.md\n\nCommit 88ab12c01234 by Odile, 2026-02-02.", kind="commit")
    memory.extract_entities()
    found = memory.knowledge().query("ADR-005", relations=("changed_by",), direction="in")
    assert {tie.head for tie in found.ties} == {"src/money.py", "src/tax.py"}
    assert all(tie.quote.startswith("Store minor units") for tie in found.ties)


def test_an_evaluation_reads_the_file_that_is_named(tmp_path: Path) -> None:
    note = {
        "text": NOTES[2],
        "entities": [{"name": "ledger-core", "type": "service"}, {"name": "team Basalt", "type": "team"}],
        "relations": [["ledger-core", "owned_by", "team Basalt"]],
    }
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps(note) + "\n", "utf-8")
    found = graph.extraction(None, "judge", file=file)
    assert found["relation recall"] == found["entity precision"] == 1.0
    stores = tmp_path / "stores.jsonl"
    notes = [{"id": str(n), "text": text, "when": "2026-01-02T03:04:05"} for n, text in enumerate(NOTES)]
    asked = [{"ask": "Who owns ledger-core?", "answers": ["2"], "hops": 2, "path": ["1", "2"]}]
    stores.write_text(json.dumps({"store": "one", "notes": notes, "questions": asked}) + "\n", "utf-8")
    assert graph.multihop(None, "judge", file=stores)["recollect"] == {"2": 1.0, "all": 1.0}
    file.write_text("no json\n", "utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        graph.extraction(None, "judge", file=file)
