"""The screens on which people work, in a real browser: recall, context, review, graph, time, answers, health."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="THE PAGE WAS NOT TESTED: the package playwright is missing")

from playwright.sync_api import expect

from looking import Opened, kept, until
from recollect import Message, Scope
from recollect.agents.access import Caller
from recollect.ops.catalogue import BY_NAME
from served import Server

pytest_plugins = ["looking"]


# -- recall and context ------------------------------------------------------------------------------------------------


def test_a_recall_is_looked_into_and_compared(show: Opened, server: Server) -> None:
    page = show("recall")
    page.locator("[data-search]").fill("when do we deploy?")
    expect(page.locator(".hit").first).to_contain_text("Thursdays")
    expect(page.locator(".arms").first).to_contain_text("text")
    expect(page.locator(".arms .stage-score").nth(2)).to_contain_text("weighed")
    expect(page.locator(".stages").first).to_be_visible()
    expect(page.get_by_role("heading", name="Candidates by arm")).to_be_visible()
    page.get_by_label("Beside it").select_option("hybrid")
    expect(page.locator(".answer")).to_have_count(2)
    page.get_by_label("Token budget").fill("40")
    expect(page.locator(".budget").first).to_contain_text("of 40")
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.locator(".toast").last).to_be_visible()
    assert '"max_tokens": 40' in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Copy as command").click()
    until(page, "navigator.clipboard.readText().then((text) => text.startsWith('recollect recall'))")
    server.engine.stats()  # writes the counters
    assert server.engine.recall("when do we deploy?", peek=True).hits[0].memory.recalled == 0, (
        "looking is not recalling"
    )


def test_the_exact_text_is_shown_before_it_is_given(show: Opened, server: Server) -> None:
    kept(server, "Always greet the ferryman.", kind="rule", scope=Scope(project="river"), importance=10)
    page = show("context?project=river")
    start = page.get_by_label("At the start of a session")
    expect(start).to_contain_text("Always greet the ferryman.")
    expect(start).to_contain_text("of 2,000 tokens")
    page.get_by_role("textbox", name="Prompt").fill("always greet the ferryman")
    expect(page.get_by_label("With the next prompt")).to_contain_text("of 500 tokens")


# -- review ------------------------------------------------------------------------------------------------------------


def test_what_waits_is_approved_rejected_and_edited_by_one_key(show: Opened, server: Server) -> None:
    for name in ("alpha", "beta", "gamma"):
        said = f"The {name} build fails because `{name}lib` 2 changed its ABI."
        talk = [Message("assistant", said), Message("user", "That worked.")]
        server.engine.capture(talk, session=name, scope=Scope(project="review"))
    page = show("review")
    before = len(server.engine.pending(limit=100).memories)
    expect(page.locator(".claim")).to_have_count(before)
    expect(page.locator(".nav .count")).to_have_text(str(before))
    expect(page.locator(".claim.here blockquote")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator(".claim")).to_have_count(before - 1)
    page.keyboard.press("u")
    expect(page.locator(".claim")).to_have_count(before)
    assert {one.state for one in server.engine.pending(limit=100).memories} == {"pending"}, "it waits again"
    page.keyboard.press("a")
    expect(page.locator(".claim")).to_have_count(before - 1)
    page.keyboard.press("r")
    expect(page.locator(".claim")).to_have_count(before - 2)
    expect(page.locator(".nav .count")).to_have_text(str(before - 2))
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back: Rejected")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("What is known").fill("The build fails, and now we know why.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".claim", has_text="now we know why")).to_be_visible()


def test_what_waits_is_merged_into_what_it_contradicts_and_taken_back(show: Opened, server: Server) -> None:
    waits = next(one for one in server.engine.pending(limit=100).memories if "port 8443" in one.content)
    (link,) = server.engine.links(waits.id)
    stands = server.engine.get(link.target, peek=True)
    page = show("review")
    claim = page.locator(".claim", has_text="port 8443")
    expect(claim).to_contain_text("contradicts")
    expect(claim.locator(".against del")).to_contain_text("8080")
    claim.click()
    page.keyboard.press("m")
    expect(claim).to_have_count(0)
    assert server.engine.get(waits.id, peek=True).state == "superseded"
    page.keyboard.press("u")
    expect(claim).to_have_count(1)
    assert server.engine.links(waits.id) == (link,), "the link of the merge is gone"
    assert server.engine.get(stands.id, peek=True) == stands


def test_a_contradiction_is_settled_and_taken_back(show: Opened, server: Server) -> None:
    old, new = kept(server, "The moat is ten feet deep."), kept(server, "The moat is dry.")
    link = server.engine.link(new.id, "contradicts", old.id, reason="deep and dry")
    page = show("review?tab=disputes")
    claim = page.locator(".claim", has_text="The moat is dry.")
    expect(claim).to_contain_text("ten feet deep")
    claim.click()
    page.keyboard.press("1")
    expect(page.locator(".claim", has_text="The moat is dry.")).to_have_count(0)
    assert server.engine.get(old.id).state == "superseded"
    page.keyboard.press("u")
    expect(page.locator(".claim", has_text="The moat is dry.")).to_be_visible()
    assert server.engine.links(new.id) == (link,)
    assert server.engine.get(old.id).valid_to is None
    claim.get_by_role("button", name="This one holds").nth(1).click()
    expect(page.locator(".claim", has_text="The moat is dry.")).to_have_count(0)
    assert server.engine.get(new.id).state == "superseded"
    for tab in ("Duplicates", "Secrets"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator("[role=tabpanel] .claim, [role=tabpanel] .empty").first).to_be_visible()


# -- graph, health, settings -------------------------------------------------------------------------------------------


def test_the_graph_is_focused_expanded_walked_and_seen_as_it_was(show: Opened, server: Server) -> None:
    page = show("graph")
    expect(page.locator(".canvas canvas").first).to_be_visible()
    page.locator("[data-search]").fill("billing")
    page.keyboard.press("Enter")
    side = page.get_by_label("Dots")
    expect(side.locator(".card")).to_contain_text("billing")
    side.get_by_role("button", name="Expand").click()
    side.get_by_role("button", name=re.compile("^Ana")).first.click()
    expect(side.locator(".card")).to_contain_text("Ana")
    target = side.get_by_label("Path to").locator("option", has_text=re.compile("^billing$")).first
    side.get_by_label("Path to").select_option(target.get_attribute("value"))
    expect(side.locator(".way li")).to_have_count(2)
    page.goto(f"{server.url}/#/graph?as_of=2020-01-01")
    expect(page.get_by_text("Nothing is tied yet")).to_be_visible()


def test_health_tells_counts_latency_and_what_the_doctor_finds(show: Opened, server: Server) -> None:
    server.engine.recall("anything")
    page = show("health")
    expect(page.locator(".figure", has_text="active memories")).to_be_visible()
    expect(page.get_by_label("Doctor")).to_contain_text("database")
    expect(page.locator(".chart canvas").first).to_be_visible()
    expect(page.get_by_label("Latency", exact=True).locator("tbody tr").first).to_contain_text("ms")
    expect(page.get_by_label("Costs")).to_contain_text("month")


def test_settings_are_listed_models_tried_tokens_made_and_memories_moved(show: Opened, server: Server) -> None:
    page = show("settings")
    page.get_by_label("Search settings").fill("recall_limit")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("How many memories recall returns by default")
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Try the models").click()
    expect(page.locator(".check.ok")).to_contain_text("answered in")
    page.get_by_role("tab", name="Access").click()
    page.get_by_label("Name", exact=True).fill("phone")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator(".command code")).to_contain_text("rcl_")
    page.locator("tr", has_text="phone").get_by_role("button", name="End").click()
    page.get_by_role("button", name="End it").click()
    expect(page.locator("tr", has_text="phone")).to_contain_text("revoked")
    page.get_by_role("tab", name="Assistants").click()
    expect(page.locator(".hosts")).to_contain_text("recollect install claude")
    page.get_by_role("tab", name="Import and export").click()
    lines = b'{"content": "The imported tortoise is a hundred."}\n'
    page.locator("input[type=file]").set_input_files({"name": "a.jsonl", "mimeType": "text/plain", "buffer": lines})
    page.get_by_role("dialog").get_by_role("button", name="Import").click()
    expect(page.locator("[role=tabpanel] [role=status]")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export", exact=True).click()
    assert "imported tortoise" in Path(download.value.path()).read_text("utf-8")


def test_a_moment_is_named_compared_and_gone_back_to(show: Opened, server: Server) -> None:
    page = show("time")
    page.get_by_label("Name this moment").fill("calm")
    page.get_by_role("button", name="Create a checkpoint").click()
    expect(page.locator(".checkpoint", has_text="calm")).to_be_visible()
    later = kept(server, "The storm came after the calm.")
    page.locator(".checkpoint", has_text="calm").get_by_role("button", name="What changed since").click()
    expect(page.get_by_label("New", exact=True)).to_contain_text("The storm came after the calm.")
    since = page.locator("label.field", has=page.get_by_text("From", exact=True)).locator("select")
    since.select_option("7d")
    expect(page.get_by_label("New", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    since.select_option("calm")
    page.locator(".checkpoint", has_text="calm").get_by_role("button", name="Go back").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 memory that came since")
    page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    expect(page.locator(".toast", has_text="Went back")).to_be_visible()
    assert server.engine.get(later.id).state == "archived"
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back").last).to_be_visible()
    assert server.engine.get(later.id).state == "active"
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".timeline li").first).to_be_visible()


def test_a_timeline_has_a_lane_for_each_network_and_tells_two_dates_apart(show: Opened, server: Server) -> None:
    notes = (
        ("2025-01-10", "fact", "ferry-api is owned by team Fjord."),
        ("2025-03-05", "incident", "The ferry-api is degraded because of the certificate."),
        ("2025-06-01", "decision", "We raised the ferry-api timeout from 5 s to 60 s."),
        ("2025-09-01", "fact", "ferry-api is owned by team Lagune."),
        ("2025-10-01", "fact", "I think the ferry-api is doomed."),
    )
    made = [
        kept(server, said, kind=kind, valid_from=datetime.fromisoformat(f"{date}T09:00:00+00:00"))
        for date, kind, said in notes
    ]
    page = show("time?tab=timeline&entity=ferry-api&around=2025-06-01")
    lanes = page.locator(".lanes [data-lane]")
    expect(lanes).to_have_count(4)
    assert [lanes.nth(n).locator("circle").count() for n in range(4)] == [2, 2, 1, 0]
    expect(page.locator(".timeline li")).to_have_count(5)
    expect(page.locator(".timeline li", has_text="team Fjord")).to_contain_text("5 months before")
    state = page.get_by_label("State", exact=True)
    expect(state).to_contain_text("team Lagune")
    page.get_by_label("Date: ").focus()
    page.keyboard.press("Home")
    expect(page.get_by_label("Date: 2025-01-10")).to_be_visible()
    expect(page.locator(".timeline li")).to_have_count(1)
    expect(state).to_contain_text("team Fjord")
    assert "at=2025-01-10" in page.url
    page.keyboard.press("End")
    page.get_by_label("Compare with").fill("2025-02-01")
    expect(state.locator("tr.differs")).to_have_count(3)
    expect(state.locator("tr", has_text="owner")).to_contain_text(
        "team Fjord since 2025-01-10team Lagune since 2025-09-01"
    )
    expect(page.get_by_label("What was learnt between")).to_contain_text("New")
    page.get_by_label("Date: ").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".timeline li")).to_have_count(5)
    page.locator(".lanes circle").first.click(force=True)
    expect(page).to_have_url(re.compile(made[0].id[:6]))


def test_a_question_is_answered_explained_pinned_rated_and_forgotten(show: Opened, server: Server) -> None:
    for _ in range(3):  # what was asked three times is kept, however sure it is
        server.engine.answers.ask("When do we deploy?")
    page = show("answers")
    page.locator("[data-search]").fill("When do we deploy?")
    asked = server.engine.answers.stats()["asked"]
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_contain_text("Thursdays")
    expect(page.locator(".told")).to_contain_text("from the cache")
    expect(page.get_by_label("Asked lately").locator("li").first).to_contain_text("the same question")
    expect(page.get_by_label("Hit rate").locator("canvas")).to_be_visible()
    for _ in range(100):  # the page's own look may be writing the count down just now
        if (counted := server.engine.answers.stats()["asked"]) > asked:
            break
        page.wait_for_timeout(100)
    assert counted == asked + 1, "what is being typed is no question yet"
    page.locator(".answers .link", has_text="deploy").first.click()
    kept_answer = page.locator(".answers li", has_text="deploy").first
    expect(kept_answer).to_contain_text("It rests on 4 things")
    expect(kept_answer).to_contain_text("nothing it rests on has changed")
    kept_answer.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".toast", has_text="Pinned.")).to_be_visible()
    kept_answer.get_by_role("button", name="It helped").click()
    expect(page.locator(".toast", has_text="it helped")).to_be_visible()
    kept_answer.get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast", has_text="Forgotten")).to_be_visible()


def test_agents_pools_and_handoffs_are_seen_live(show: Opened, server: Server) -> None:
    engine = server.engine
    claude, codex = (Caller(engine.settings.tenant, name).for_model() for name in ("claude-code", "codex"))

    def do(caller: Caller, operation: str, **given: object) -> Any:
        return BY_NAME[operation].call(engine, engine.agents.enter(caller), given)

    page = show("agents")
    expect(page.get_by_role("heading", name="Handoffs")).to_be_visible()
    do(codex, "get_agent_info")
    pool = do(claude, "create_pool", name="night shift", purpose="What the night needs").id
    do(codex, "join_pool", pool=pool)
    row = page.locator(".agents tr", has_text="claude_code").first
    expect(row).to_contain_text("handoff receive")
    expect(row.locator("time")).to_be_visible()
    expect(page.locator(".pool", has_text="night shift").locator(".members li")).to_have_count(2)
    made = do(claude, "initiate_handoff", task="Watch the <b>queue</b>.", target="codex")
    lane = page.get_by_role("region", name="Waiting")
    expect(lane.locator(".handoff")).to_contain_text("Watch the <b>queue</b>.")
    do(codex, "accept_handoff", handoff=made.id)
    expect(lane.locator(".handoff")).to_have_count(0)
    expect(page.get_by_role("region", name="Taken").locator(".handoff")).to_contain_text("claude_code → codex")
    page.locator(".agents tr", has_text="codex").last.get_by_role("button", name="Deactivate").click()
    page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    expect(page.locator(".agents tr", has_text="deactivated")).to_have_count(1)
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.locator(".agents tr", has_text="deactivated")).to_have_count(0)
