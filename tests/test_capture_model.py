"""Capture with language models: what they find is held against what was said, and where they fail rules do the work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import Clock, Opener
from providers import KEY, Reply, Server
from recollect import Engine
from recollect.capture import model
from recollect.capture.windows import Turn, windows
from recollect.cli import cli
from recollect.graph import Node
from recollect.types import Captured, Message, Scope

SHOP = Scope(project="shop")
SAID = "We moved the invoices to Kafka, and Ana looks after them. Maybe the retries belong there too."
NOTHING = json.dumps({"memories": []})
YES, NO = '{"worth": true}', '{"worth": false}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with Server() as server:
        yield server


@pytest.fixture
def memory(opened: Opener, server: Server, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine with a gate that speaks like OpenAI and an extractor that speaks like Anthropic."""
    monkeypatch.setenv("RECOLLECT_LLM", f"anthropic://claude-haiku-4-5?base=http://{server.host}/v1")
    monkeypatch.setenv("RECOLLECT_LLM_GATE", f"openai://gpt-4.1-nano?base=http://{server.host}/v1")
    return opened()


def found(content: str, quote: str, **more: Any) -> dict[str, Any]:
    usual = {"kind": "fact", "importance": 6, "tags": [], "keywords": [], "entities": [], "reasoning": ""}
    return {"content": content, "quote": quote, **usual, **more}


def say(memory: Engine, server: Server, *answers: str | list[dict[str, Any]], said: str = SAID) -> Captured:
    server.sayings = [one if isinstance(one, str) else json.dumps({"memories": one}) for one in answers]
    return memory.capture([Message("user", said)], session="s1", scope=SHOP)


def test_a_small_model_gates_and_a_better_one_extracts(memory: Engine, server: Server) -> None:
    memory.remember("Invoices are written by the billing service.", scope=SHOP)
    memory.graph(SHOP).create([Node("Kafka", "queue")])
    one = found(
        "We moved the invoices to Kafka.", "moved the invoices to Kafka", kind="decision", importance=14,
        keywords=[f"Word {n}" for n in range(14)], entities=["Kafka", "RabbitMQ"], reasoning="it scales better",
    )  # fmt: skip
    done = say(memory, server, YES, [one])
    assert [asked.body["model"] for asked in server.asked] == ["gpt-4.1-nano", "claude-haiku-4-5"]
    assert all(asked.body["temperature"] == 0 for asked in server.asked)
    assert "Invoices are written by the billing service." in str(server.asked[1].body)
    assert (done.windows, done.worth, [one.action for one in done.findings]) == (1, 1, ["created"])
    kept = memory.get(done.findings[0].memory)
    assert (kept.kind, kept.importance, kept.trust, len(kept.keywords)) == ("decision", 10, "stated", 10)
    assert kept.reasoning == "", "nobody said why"
    source, quotes = memory.evidence(kept.id)
    assert source
    assert quotes[0].quote == "We moved the invoices to Kafka, and Ana looks after them."
    assert quotes[0].quote in source.content
    assert quotes[0].place == "anthropic:claude-haiku-4-5 prompt 1"
    assert kept.content == quotes[0].quote, "without Ana it would say less than was said"
    assert [node.observations for node in memory.graph(SHOP).read().nodes] == [(kept.content,)]
    total = memory.spending.report()["total"]
    assert (total["calls"], total["tokens_in"] > 0) == (2, True)


def test_what_the_gate_turns_down_is_not_extracted_unless_a_person_marked_it(memory: Engine, server: Server) -> None:
    assert say(memory, server, NO).worth == 0
    assert len(server.asked) == 1
    done = say(memory, server, NO, said="remember: the staging database is read-only")
    assert [one.action for one in done.findings] == ["created"]


def test_a_model_is_believed_only_as_far_as_it_quotes(memory: Engine, server: Server) -> None:
    told = [
        found("The user confirmed that all passwords are in Vault.", "all passwords are in Vault"),
        found("The retries belong to Kafka.", "the retries belong there too"),
        found("We moved the invoices to Kafka, and Ana looks after them and twelve brokers.", "Ana looks after them"),
    ]
    done = say(memory, server, YES, told)
    by_action = {one.content: (one.action, one.reason) for one in done.findings}
    assert by_action["The user confirmed that all passwords are in Vault."][0] == "blocked", "nobody said it"
    assert by_action["Maybe the retries belong there too."][0] == "blocked", "the quote leaves out a maybe"
    assert by_action["We moved the invoices to Kafka, and Ana looks after them and twelve brokers."][0] == "pending", (
        "more than was said"
    )
    assert memory.pending(scope=SHOP).memories[0].trust == "derived"


def test_what_a_model_reads_as_a_wish_is_kept_with_its_politeness(memory: Engine, server: Server) -> None:
    said = "Can we use checkpointID instead of cpID? Maybe the cache is full. Should it be so for all tests?"
    told = [
        found("Use checkpointID instead of cpID", "use checkpointID instead of cpID", kind="decision"),
        found("The cache is full.", "the cache is full", kind="fact"),
        found("It should be so for all tests.", "it be so for all tests", kind="rule"),
    ]
    done = say(memory, server, YES, told, said=said)
    assert [(one.content, one.action) for one in done.findings] == [
        ("Can we use checkpointID instead of cpID?", "created"),
        ("Maybe the cache is full.", "blocked"),
        ("Should it be so for all tests?", "blocked"),
    ]


def test_a_model_that_marks_a_list_is_understood(memory: Engine, server: Server) -> None:
    said = "We agreed on this:\n- Vertical slices for all features\n- .NET Aspire runs it"
    done = say(
        memory,
        server,
        YES,
        [found("Vertical slices for all features", "- Vertical slices for all features")],
        said=said,
    )
    assert [one.action for one in done.findings] == ["created"]


@pytest.mark.parametrize("bad", ["", "no json", '{"memories": [{"content": 5}]}'])
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(memory: Engine, server: Server, bad: str) -> None:
    done = say(memory, server, YES, bad, [found("We moved the invoices to Kafka.", "moved the invoices to Kafka")])
    assert len(server.asked) == 3
    assert [one.action for one in done.findings] == ["created"]
    assert done.skipped == ()


def test_after_two_bad_answers_rules_do_the_work_and_it_is_said(memory: Engine, server: Server) -> None:
    done = say(memory, server, YES, "", "", said="We use pnpm because npm is slow.")
    assert [one.action for one in done.findings] == ["created"]
    assert memory.evidence(done.findings[0].memory)[1][0].place.startswith("durable")
    assert [one.partition(":")[0] for one in done.skipped] == ["extract"]
    assert "The fitted decision did it" in done.skipped[0]


def test_a_model_that_is_away_is_not_asked_again_in_the_same_run(memory: Engine, server: Server) -> None:
    server.script = [Reply(401, {"error": {"message": "no such key"}})] * 2
    talk = [
        Message("user", f"We use pnpm because npm is slow, as measured in week {n}. " + "word " * 400) for n in (1, 2)
    ]
    done = memory.capture(talk, session="s1", scope=SHOP)
    assert done.windows == 2
    assert len(server.asked) == 2, "one call for each tier"
    assert len(done.skipped) == 2
    assert {one.action for one in done.findings} <= {"created", "merged", "duplicate", "pending", "superseded"}


def test_a_spent_budget_pauses_the_work_and_the_turns_are_safe(
    opened: Opener, server: Server, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr("recollect.models.address.Address.free", property(lambda _: False))
    monkeypatch.setenv("RECOLLECT_LLM", f"anthropic://claude-haiku-4-5?base=http://{server.host}/v1")
    monkeypatch.setenv("RECOLLECT_BUDGET_DAY", "0.000001")
    memory = opened()
    done = memory.capture([Message("user", "We use pnpm because npm is slow.")], session="s1", scope=SHOP)
    assert (done.turns, done.findings, server.asked) == (1, (), [])
    assert "budget" in done.skipped[0]
    assert memory.jobs.get(done.job).state == "queued"
    monkeypatch.setenv("RECOLLECT_BUDGET_DAY", "1")
    clock.forward(days=1)
    again = opened()
    server.sayings = [YES, json.dumps({"memories": [found("We use pnpm.", "We use pnpm")]})]
    worker = again.jobs.worker()
    worker.start(stay=False)
    assert worker.join(60)
    assert [one.content for one in again.list(scope=SHOP, kinds=("fact",)).memories] == ["We use pnpm."]


def test_a_dry_run_asks_nobody(memory: Engine, server: Server) -> None:
    say(memory, server, NO)
    asked = len(server.asked)
    sources = [one.source for one in memory.list(scope=SHOP, kinds=("turn",)).memories]
    memory.extract(sources, dry_run=True)
    assert len(server.asked) == asked


def test_what_a_back_fill_would_cost_is_at_most() -> None:
    load = model.Load()
    load.add(windows([Turn("user", "word " * 300), Turn("user", "word " * 300)]))
    calls, read, wrote = load.of("extract")
    assert (calls, read > load.of("gate")[1] > 600, wrote > 500) == (2, True, True)


def test_a_dry_run_of_a_back_fill_tells_what_it_costs(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.models.address.Address.free", property(lambda _: False))
    monkeypatch.setenv("RECOLLECT_LLM", f"anthropic://claude-haiku-4-5?base=http://{server.host}/v1")
    log = tmp_path / "s1.jsonl"
    talk = {"type": "user", "uuid": "1", "sessionId": "s1", "cwd": "/nowhere", "timestamp": "2026-03-02T09:00:00Z"}
    log.write_text(
        json.dumps(talk | {"message": {"role": "user", "content": "We use pnpm because npm is slow."}}) + "\n"
    )
    run = CliRunner().invoke(cli, ["--store", str(tmp_path / "m.db"), "capture", str(log), "--dry-run"])
    assert "costs at most $0.0" in run.output
    assert "anthropic:claude-haiku-4-5" in run.output
    assert server.asked == []


def test_a_real_model_gates_and_extracts(opened: Opener, llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a very small one: whatever it says, only what was said is kept, and each memory resolves to its quote."""
    monkeypatch.setenv("RECOLLECT_LLM", llama)
    memory = opened()
    done = memory.capture(
        [Message("user", "We deploy on Thursdays because support is staffed then. remember: never deploy on Fridays")],
        session="s1", scope=SHOP,
    )  # fmt: skip
    kept = [one for one in done.findings if one.memory]
    assert any("Fridays" in one.content for one in kept)
    for one in kept:
        source, quotes = memory.evidence(one.memory)
        assert source
        assert all(quote.quote in source.content for quote in quotes)
    assert memory.spending.report()["total"]["calls"] >= 1
    assert memory.spending.report()["total"]["dollars"] == 0


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("We moved the invoices from Kafka to SQS.", "We moved the invoices to Kafka."),
        ("On this team Ana reports to Tom about deploys.", "Tom reports to Ana about deploys."),
        ("We deploy to production on Fridays only if Ana is there.", "We deploy to production on Fridays."),
        ("We used to keep the sessions in Redis.", "We keep the sessions in Redis."),
    ],
)
def test_where_a_model_changes_what_was_said_the_words_of_the_person_are_kept(
    memory: Engine, server: Server, said: str, claim: str
) -> None:
    done = say(memory, server, YES, [found(claim, said)], said=said)
    assert [(one.action, one.content) for one in done.findings] == [("created", said)]
    assert memory.get(done.findings[0].memory).content == said


def test_a_statement_that_cannot_be_stored_keeps_no_other_out(memory: Engine, server: Server) -> None:
    endless = found(SAID.partition(".")[0] + " again" * 50_000, "moved the invoices to Kafka")
    good = found("We moved the invoices to Kafka.", "moved the invoices to Kafka")
    done = say(memory, server, YES, [endless, good])
    assert [one.action for one in done.findings] == ["blocked", "created"]
    assert "the limit is" in done.findings[0].reason
