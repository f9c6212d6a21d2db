"""What models cost: booked before and after, held to a budget that pauses the work, and told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock
from providers import KEY, Reply, Server
from recollect import settings as settings_module
from recollect.errors import BadAnswer, BadInput, BudgetSpent, ModelUnavailable, NoPrice, ProviderRefused, StoreReadOnly
from recollect.models import remote
from recollect.models.embedder import load
from recollect.models.prices import price, table
from recollect.settings import Settings
from recollect.store.contract import Store
from recollect.store.ledger import Spent
from recollect.types import Job
from recollect.upkeep.jobs import Run, Worker
from recollect.upkeep.spending import Spending

SCHEMA = {"type": "object", "properties": {"worth": {"type": "boolean"}}, "required": ["worth"]}
GITHUB = "gh" + "p_" + "a1B2" * 9
TENANT = "default"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with Server() as server:
        server.says = '{"worth": true}'
        yield server


@pytest.fixture(autouse=True)
def _paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is free; here it stands for one that is not."""
    monkeypatch.setattr("recollect.models.address.Address.free", property(lambda address: "ollama" in address.provider))


def made(store: Store, clock: Clock, server: Server, **more: Any) -> Spending:
    urls = {
        "llm": f"anthropic://claude-haiku-4-5?base=http://{server.host}/v1",
        "llm_gate": f"openai://gpt-4.1-nano?base=http://{server.host}/v1",
    }
    return Spending(store, TENANT, clock, Settings(**(urls | more)))


def ask(spending: Spending, tier: Any = "extract", project: str = "web", tokens: int = 100, said: str = "x") -> Any:
    llm = spending.llm(tier, tier, project)
    assert llm is not None
    return llm.complete("Judge.", [("user", said)], SCHEMA, tokens).data


def test_a_call_is_booked_at_what_the_provider_counted(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server)
    ask(spending)
    ask(spending, "gate")
    ask(spending, project="api")
    clock.forward(days=1)
    ask(spending)
    assert store.spent(TENANT) == [
        Spent("2026-03-02", "api", "extract", "anthropic:claude-haiku-4-5", 1, 0, 31, 9, 31_000 + 45_000),
        Spent("2026-03-02", "web", "extract", "anthropic:claude-haiku-4-5", 1, 0, 31, 9, 31_000 + 45_000),
        Spent("2026-03-02", "web", "gate", "openai:gpt-4.1-nano", 1, 0, 31, 9, 3_100 + 3_600),
        Spent("2026-03-03", "web", "extract", "anthropic:claude-haiku-4-5", 1, 0, 31, 9, 31_000 + 45_000),
    ]


def test_tiers_fall_back_and_none_is_none(store: Store, clock: Clock, server: Server) -> None:
    gate = made(store, clock, server, llm_gate="").llm("gate", "gate")
    assert gate is not None
    assert gate.model == "anthropic:claude-haiku-4-5"
    assert made(store, clock, server, llm="", llm_gate="").llm("gate", "gate") is None
    assert made(store, clock, server, llm="").llm("extract", "extract") is None


def test_a_prompt_is_redacted_before_it_is_sent(store: Store, clock: Clock, server: Server) -> None:
    llm = made(store, clock, server).llm("extract", "extract")
    assert llm is not None
    llm.complete(f"Never say {GITHUB}.", [("user", f"the token is {GITHUB}")], SCHEMA, 50)
    sent = json.dumps(server.asked[0].body)
    assert GITHUB not in sent
    assert sent.count("[redacted:github-token]") == 2


def test_tokens_of_an_answer_that_cannot_be_used_are_paid_all_the_same(
    store: Store, clock: Clock, server: Server
) -> None:
    spending = made(store, clock, server)
    server.says = "no"
    with pytest.raises(BadAnswer):
        ask(spending)
    server.script = [Reply(200, b"<html>")]
    with pytest.raises(BadAnswer):
        ask(spending)
    (row,) = store.spent(TENANT)
    assert (row.calls, row.tokens_out, row.estimated) == (2, 9, 1)
    assert row.tokens_in > 31


def test_a_call_that_was_refused_costs_nothing(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server)
    server.script = [Reply(404, {})]
    with pytest.raises(ProviderRefused):
        ask(spending)
    assert spending.report()["total"] == {"calls": 0, "refused": 0, "tokens_in": 0, "tokens_out": 0, "dollars": 0}
    assert spending.report()["rows"] == []


def test_a_budget_is_never_passed_and_pauses_until_tomorrow(store: Store, clock: Clock, server: Server) -> None:
    # 100 tokens may be written at $5 a million: half a thousandth of a dollar, and a little for the prompt.
    spending = made(store, clock, server, budget_day=0.0008)
    with pytest.raises(BudgetSpent, match=r"of \$0.0008 a day.*pauses until 2026-03-03 00:00 UTC") as raised:
        [ask(spending) for _ in range(20)]
    done = len(server.asked)
    assert 0 < done < 20
    assert raised.value.until == datetime(2026, 3, 3, tzinfo=UTC)
    month, today, _ = store.spending(TENANT, "2026-03-01", "2026-03-02")
    assert month == today == done * 76_000 <= 800_000
    told = spending.report()
    assert told["paused"].startswith("1 calls were put off today")
    assert told["total"]["refused"] == 1
    clock.forward(days=1)
    assert ask(spending) == {"worth": True}
    assert spending.report()["paused"] == ""


def test_a_budget_of_a_month_pauses_until_the_next(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server, budget_month=0.001)
    store.book(TENANT, Spent("2026-03-01", "", "extract", "m", 1, 0, 0, 0, 900_000))
    with pytest.raises(BudgetSpent, match="a month") as raised:
        ask(spending)
    assert raised.value.until == datetime(2026, 4, 1, tzinfo=UTC)
    clock.moment = datetime(2026, 12, 31, 23, tzinfo=UTC)
    store.book(TENANT, Spent("2026-12-02", "", "extract", "m", 1, 0, 0, 0, 900_000))
    with pytest.raises(BudgetSpent) as raised:
        ask(spending)
    assert raised.value.until == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_budget_of_tokens_holds_for_free_models_and_money_does_not(
    store: Store, clock: Clock, server: Server
) -> None:
    free = f"ollama://{server.host}/llama3.2"
    store.book(TENANT, Spent("2026-03-02", "", "extract", "m", 1, 0, 0, 0, 99 * 10**9))
    ask(made(store, clock, server, llm=free))
    with pytest.raises(BudgetSpent, match="tokens a day"):
        ask(made(store, clock, server, llm=free, budget_tokens=120))


def test_a_budget_is_a_tenants_own(store: Store, clock: Clock, server: Server) -> None:
    store.book("other", Spent("2026-03-02", "", "extract", "m", 1, 0, 0, 0, 99 * 10**9))
    assert ask(made(store, clock, server)) == {"worth": True}


def test_callers_at_once_do_not_pass_the_budget_together(store: Store, clock: Clock, server: Server) -> None:
    spending, outcomes = made(store, clock, server, budget_day=0.0012), []
    barrier = threading.Barrier(8)

    def one() -> None:
        barrier.wait()
        try:
            outcomes.append(ask(spending))
        except BudgetSpent:
            outcomes.append(None)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
            step(thread)
    assert len(outcomes) == 8
    # Each could have cost 0.0005 dollars and more, so that at most two can have been under way at once.
    assert store.spending(TENANT, "2026-03-01", "2026-03-02")[1] == len(server.asked) * 76_000 <= 1_200_000


def test_a_model_without_a_price_is_not_asked(store: Store, clock: Clock, server: Server) -> None:
    unknown = made(store, clock, server, llm=f"openai://gpt-99?base=http://{server.host}/v1")
    with pytest.raises(NoPrice, match=r"openai:gpt-99.*prices\.toml"):
        ask(unknown)
    assert server.asked == []


def test_a_price_of_ones_own_counts(store: Store, clock: Clock, server: Server, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('"gpt-99" = [10.0, 100]\n')
    own = made(store, clock, server, llm=f"openai://gpt-99?base=http://{server.host}/v1", home=tmp_path)
    ask(own)
    assert store.spent(TENANT)[0].nanos == 31 * 10_000 + 9 * 100_000


@pytest.mark.parametrize("line", ['"m" = 5', '"m" = [1]', '"m" = ["a", "b"]', '"m" = [-1, 2]', '"m" = [true, 2]'])
def test_a_price_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "prices.toml").write_text(line)
    with pytest.raises(BadInput, match="two numbers"):
        settings_module.prices(Settings(home=tmp_path))


def test_prices_are_of_a_day_and_of_that_very_model() -> None:
    assert datetime.strptime(table()["date"], "%Y-%m-%d")
    assert price("openai:gpt-4.1-mini-2025-04-14", {}) == (0.4, 1.6)
    for other in ("openai:gpt-5.6", "openai:gpt-4.1-mega", "gemini:gemini-2.5-flash-image", "voyage:gpt-4.1"):
        with pytest.raises(NoPrice):
            price(other, {})


def test_an_embedder_on_a_server_is_booked_and_gets_no_secrets(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server)
    embedder = spending.metered(remote.load(f"voyage://voyage-4-lite?base=http://{server.host}/v1"))
    assert embedder.embed(["a note", f"token {GITHUB}", ""], "document").shape == (3, 1024)
    assert embedder.embed(["who?"], "query").shape == (1, 1024)
    assert embedder.embed([], "document").shape == (0, 1024)
    assert embedder.embed(["x"] * 130, "document").shape == (130, 1024)
    assert GITHUB not in json.dumps([one.body for one in server.asked])
    embedded, recalled = store.spent(TENANT)
    assert (embedded.operation, embedded.calls, embedded.tokens_in, embedded.nanos) == ("embed", 4, 660, 13_200)
    assert (recalled.operation, recalled.tokens_in) == ("recall", 5)
    with pytest.raises(BadInput, match="list"):
        embedder.embed("text", "query")


def test_an_embedder_of_this_machine_is_left_as_it_is(store: Store, clock: Clock, server: Server) -> None:
    here = load("hashing")
    assert made(store, clock, server).metered(here) is here


def test_what_cannot_be_booked_is_not_bought(
    store: Store, clock: Clock, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tenant: str, spent: Spent) -> None:
        raise StoreReadOnly("The store cannot be written.")

    monkeypatch.setattr(store, "book", full)
    with pytest.raises(ModelUnavailable, match="cannot be booked"):
        ask(made(store, clock, server))
    assert server.asked == []
    assert ask(made(store, clock, server, llm=f"ollama://{server.host}/m")) == {"worth": True}


def test_a_job_that_meets_a_spent_budget_waits_for_the_next(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server, budget_day=0.0001)
    store.enqueue(TENANT, Job("j" * 26, "extract", run_at=clock(), created_at=clock(), max_attempts=2))

    def handler(run: Run) -> None:
        ask(spending)

    for day in (3, 4, 5):
        worker = Worker(store, TENANT, {"extract": handler}, clock)
        worker.start(stay=False)
        assert worker.join(30)
        (job,) = store.jobs(TENANT, (), 10)
        assert (job.state, job.attempts, job.run_at) == ("queued", 0, datetime(2026, 3, day, tzinfo=UTC))
        assert worker.failed == 0
        clock.forward(days=1)
    assert server.asked == []


def test_a_report_tells_this_month_or_the_days_asked_for(store: Store, clock: Clock, server: Server) -> None:
    spending = made(store, clock, server)
    store.book(TENANT, Spent("2026-02-20", "web", "extract", "m", 1, 0, 10, 5, 2 * 10**9))
    ask(spending)
    ask(spending, project="api")
    told = spending.report()
    assert (told["since"], told["until"]) == ("2026-03-01", "2026-03-02")
    assert told["total"]["calls"] == 2
    assert told["total"]["dollars"] == pytest.approx(0.000152)
    assert told["budgets"]["day"] == {"limit": 1.0, "spent": pytest.approx(0.000152)}
    assert [row["project"] for row in spending.report(project="api")["rows"]] == ["api"]
    assert spending.report(since="2026-02-01", until="2026-02-28")["total"]["dollars"] == 2.0
    json.dumps(told)
    for wrong in ("yesterday", "2026-13-01", "'; drop table ledger"):
        with pytest.raises(BadInput, match="since must be a day"):
            spending.report(since=wrong)


def test_an_estimate_tells_what_a_back_fill_would_cost(store: Store, clock: Clock, server: Server) -> None:
    told = made(store, clock, server).estimate("extract", 1000, 600_000, 200_000)
    assert told["dollars"] == pytest.approx(1.6)
    assert told["model"] == "anthropic:claude-haiku-4-5"
    assert made(store, clock, server, llm="", llm_gate="").estimate("extract", 1000, 600_000, 200_000)["dollars"] == 0
    assert server.asked == []
    assert store.spent(TENANT) == []


def test_the_day_is_that_of_utc(store: Store, clock: Clock, server: Server) -> None:
    from datetime import timezone

    clock.moment = datetime(2026, 3, 3, 1, tzinfo=timezone(timedelta(hours=3)))
    ask(made(store, clock, server))
    assert store.spent(TENANT)[0].day == "2026-03-02"


def test_the_command_tells_a_person_and_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    import recollect
    from recollect.cli import cli

    path = str(tmp_path / "my.db")
    with recollect.open(path, embedder="hashing") as memory:
        today = memory.spending.report()["until"]
        memory._store.book("default", Spent(today, "web", "extract", "openai:gpt-4.1", 3, 2, 900, 40, 5 * 10**8, 1))
        memory._store.book("default", Spent(today, "api", "gate", "openai:gpt-4.1", 1, 0, 9, 4, 10**8))
    run = CliRunner()
    words = run.invoke(cli, ["--store", path, "usage"]).stdout
    assert "$0.60, 4 calls, 909 tokens read, 44 written" in words
    assert "web  extract  openai:gpt-4.1: 3 calls, 900 + 40 tokens (estimated), 2 put off, $0.50" in words
    assert "budget: $0.60 of $1.00 today, $0.60 of $10.00 this month" in words
    assert "paused: 2 calls were put off today" in words
    told = json.loads(run.invoke(cli, ["--store", path, "usage", "--project", "api", "--json"]).stdout)
    assert told["total"]["dollars"] == 0.1
    assert run.invoke(cli, ["--store", path, "usage", "--since", "soon"]).exit_code == 2


def test_the_operation_is_for_those_who_see_the_whole_tenant(opened: Any) -> None:
    from recollect.agents.access import Caller, local
    from recollect.errors import Forbidden
    from recollect.ops.catalogue import BY_NAME
    from recollect.types import EVERYWHERE, Scope

    usage = BY_NAME["usage"]
    engine = opened()
    report = usage.call(engine, local("default", "test", EVERYWHERE), {})
    assert report["total"]["calls"] == 0
    assert "no language model is set" in usage.text(report)
    with pytest.raises(Forbidden):
        usage.call(engine, Caller("default", "test", frozenset(("read",)), Scope(project="web")), {})
