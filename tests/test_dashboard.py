"""The page in a real browser, against a real server with two thousand memories: every screen, action and key.

Nothing here waits for a time: what is expected is waited for until it is there. Each test begins on a page of its own,
and after each the browser must have logged no error and reported nothing that the policy forbade.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="THE PAGE WAS NOT TESTED: the package playwright is missing")

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

import recollect
from browser import ELSEWHERE, NoBrowser, browser, found
from node_clients import MODULES
from populated import made
from recollect import Message, Scope
from recollect.serve.ops import BY_NAME
from served import Server, serving

SCREENS = (
    "today", "memories", "recall", "context", "review", "graph", *(["time"] if "checkpoint_list" in BY_NAME else []),
    *(["answers"] if "answers" in BY_NAME else []), "health", "settings",
)  # fmt: skip
AXE = MODULES / "axe-core" / "axe.min.js"
WATCH = """
window.__seen = [];
document.addEventListener("securitypolicyviolation",
  (event) => __seen.push(`${event.violatedDirective} ${event.blockedURI}`));
window.alert = window.confirm = window.prompt = (words) => __seen.push(`dialog ${words}`);
"""
expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    try:
        found()
    except NoBrowser as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_HOME", str(folder / "home"))
        made(folder / "store.db")
        with recollect.open(folder / "store.db", embedder="hashing") as memory:
            memory.recall("warm")
            with serving(memory) as running:
                yield running


Opened = Callable[..., Page]


@pytest.fixture
def context(chrome: Browser) -> Iterator[BrowserContext]:
    context = chrome.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.add_init_script(WATCH)
    yield context
    context.close()


@pytest.fixture
def show(context: BrowserContext, server: Server) -> Iterator[Opened]:
    """Open the page at an address; afterwards it must have complained of nothing."""
    wrong: list[str] = []
    pages: list[Page] = []

    def shown(address: str = "today", refused: str = "none") -> Page:
        def heard(line: ConsoleMessage) -> None:
            if line.type == "error" and refused not in line.text:
                wrong.append(line.text)

        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", heard)
        page.goto(f"{server.url}/#/{address}")
        pages.append(page)
        return page

    yield shown
    for page in pages:
        wrong += page.evaluate("window.__seen")
    assert wrong == []


def ready(page: Page, screen: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(screen.capitalize())
    expect(page.locator("main .waiting")).to_have_count(0)


def until(page: Page, condition: str) -> None:
    """Look until something holds. Playwright's own way evaluates texts inside the page, which its policy forbids."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"it never came: {condition}")


def kept(server: Server, words: str, **fields: Any) -> recollect.Memory:
    memory = server.engine.remember(words, **fields).memory
    assert memory is not None
    return memory


def row(page: Page, words: str) -> Any:
    return page.locator(".row", has_text=words)


# -- every screen -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", SCREENS)
def test_each_screen_opens_and_axe_finds_nothing_serious(show: Opened, context: BrowserContext, screen: str) -> None:
    page = show(screen)
    ready(page, screen)
    if not AXE.exists():
        why = "AXE WAS NOT RUN: make tests/clients/node_modules/.ready fetches it"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    driver = context.new_cdp_session(page)  # the policy of the page lets no script in from outside; the debugger may
    driver.send("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        bad = [
            (one["id"], node["target"], node.get("failureSummary", "")[:300])
            for one in found["violations"] if one["impact"] in ("serious", "critical")
            for node in one["nodes"][:3]
        ]  # fmt: skip
        assert bad == [], scheme


@pytest.mark.parametrize("screen", SCREENS)
def test_each_screen_fits_a_phone(show: Opened, screen: str) -> None:
    page = show(screen)
    page.set_viewport_size({"width": 390, "height": 800})
    ready(page, screen)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_navigation_shows_where_one_is_and_what_the_server_can_do(show: Opened) -> None:
    page = show()
    for screen in SCREENS:
        page.get_by_role("navigation").get_by_role("link", name=screen.capitalize()).click()
        ready(page, screen)
        expect(page.locator(".nav a[aria-current=page]")).to_contain_text(screen.capitalize())


# -- today ------------------------------------------------------------------------------------------------------------


def test_what_happens_appears_without_reloading_and_can_be_held_still(show: Opened, server: Server) -> None:
    page = show("today")
    ready(page, "today")
    expect(page.locator(".dot.live")).to_be_visible()
    expect(page.locator(".line").first).to_be_visible()
    kept(server, "The lighthouse keeper wrote this while the page was open.", kind="insight")
    expect(page.locator(".line").first).to_contain_text("lighthouse keeper")
    page.get_by_role("button", name="Pause").click()
    kept(server, "The second lighthouse came while it was paused.")
    expect(page.get_by_role("button", name="Go on (1)")).to_be_visible()
    expect(page.locator(".line", has_text="second lighthouse")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".line").first).to_contain_text("second lighthouse")
    page.get_by_label("Kind").select_option("insight")
    expect(page.locator(".line").first).to_contain_text("lighthouse keeper")
    page.get_by_role("button", name=re.compile("^forgotten")).click()
    expect(page.locator(".line")).to_have_count(0)


def test_what_was_recalled_is_shown_beside_the_feed(show: Opened, server: Server) -> None:
    kept(server, "The harbour master signs the tide tables.", importance=9)
    server.engine.recall("who signs the tide tables?")
    server.engine.stats()
    page = show("today")
    expect(page.get_by_label("Recalled lately")).to_contain_text("harbour master")


# -- memories ---------------------------------------------------------------------------------------------------------


def test_only_what_is_in_sight_is_drawn_and_scrolling_brings_more(show: Opened, server: Server) -> None:
    page = show("memories")
    ready(page, "memories")
    total = f"{server.engine.overview.facets(_active()).total:,}"
    expect(page.locator(".lead")).to_contain_text(total)
    assert page.locator(".row").count() < 60
    height = "document.querySelector('.rows-all').clientHeight"
    before = page.evaluate(height)
    page.evaluate("document.querySelector('.rows').scrollTop = 1e9")
    until(page, f"{height} > {before}")
    assert page.locator(".row").count() < 60


def _active() -> Any:
    from recollect.store.census import Sieve
    from recollect.types import Filter

    return Sieve(Filter(inside=True))


def test_facets_narrow_words_and_meaning_find_and_filters_are_saved(show: Opened, server: Server) -> None:
    kept(server, "Zebra crossings are painted at night.", kind="rule", tags=["zebra"], scope=Scope(project="roads"))
    page = show("memories")
    page.get_by_role("button", name=re.compile("^rule")).click()
    expect(row(page, "Zebra crossings")).to_be_visible()
    expect(page.locator(".row .kind").nth(3)).to_have_text("rule")
    page.locator("[data-search]").fill("zebra")
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_role("button", name="Save this filter").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator(".row").nth(5)).to_be_visible()
    page.get_by_role("button", name="rule · zebra", exact=True).click()
    expect(page.locator(".row")).to_have_count(1)
    page.reload()
    expect(page.get_by_role("button", name="rule · zebra", exact=True)).to_be_visible()
    page.get_by_role("button", name="Meaning").click()
    page.locator("[data-search]").fill("when are zebra crossings painted?")
    expect(page.locator(".row").first).to_contain_text("Zebra")
    page.goto(f"{server.url}/#/memories?states=rejected")
    expect(page.locator(".row .s-rejected").first).to_be_visible()
    page.get_by_role("button", name="Cards").click()
    expect(page.locator(".memory-card").first).to_be_visible()


def test_a_memory_is_shown_with_its_quote_links_validity_and_history(show: Opened, server: Server) -> None:
    first = kept(server, "The archive burns at 451 degrees.", source=_document(), evidence="The archive burns at 451",
                 valid_from="2026-01-01T00:00:00Z", valid_to="2030-01-01T00:00:00Z",
                 reasoning="Bradbury said so.")  # fmt: skip
    other = kept(server, "The archive is made of paper.")
    server.engine.link(other.id, "elaborates", first.id)
    server.engine.edit(first.id, content="The archive burns at 480 degrees.", reason="measured again")
    page = show(f"memories?open={first.id}")
    detail = page.get_by_label("Memory", exact=True)
    expect(detail.locator(".content").first).to_have_text("The archive burns at 480 degrees.")
    expect(detail.locator("mark")).to_have_text("The archive burns at 451")
    expect(detail).to_contain_text("Bradbury said so.")
    expect(detail.locator(".ties")).to_contain_text("made of paper")
    expect(detail.locator(".past del")).to_have_text("451")
    expect(detail.locator(".past ins")).to_have_text("480")
    expect(detail).to_contain_text("measured again")
    expect(detail.get_by_role("img", name="Holds from 2026-01-01 until 2030-01-01")).to_be_visible()
    server.engine.edit(first.id, title="Fire")
    expect(detail.get_by_role("heading", name="Fire")).to_be_visible()


def _document() -> recollect.Source:
    content = "Notes of the fire brigade.\n\nThe archive burns at 451 degrees. Nobody has tried."
    return recollect.Source("", kind="document", uri="docs/fire.md", title="Fire", content=content)


def test_a_memory_is_edited_pinned_forgotten_and_each_is_taken_back(show: Opened, server: Server) -> None:
    memory = kept(server, "The quokka smiles in the morning.")
    page = show("memories?q=quokka")
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.get_by_label("What is known").fill("The quokka smiles in the evening.")
    page.get_by_label("Why it is changed").fill("seen at dusk")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(row(page, "in the evening")).to_be_visible()
    assert server.engine.history(memory.id)[-1].reason == "seen at dusk"
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row(page, "in the morning")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator(".toast", has_text="Pinned")).to_be_visible()
    assert server.engine.get(memory.id).tags == ("pinned",)
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back: Pinned")).to_be_visible()
    assert server.engine.get(memory.id).tags == ()
    page.keyboard.press("f")
    expect(page.get_by_role("dialog")).to_contain_text("quokka")
    page.get_by_role("button", name="Forget", exact=True).last.click()
    expect(page.locator(".row")).to_have_count(0)
    assert server.engine.get(memory.id).state == "archived"
    page.keyboard.press("u")
    expect(page.locator(".row")).to_have_count(1)
    assert server.engine.get(memory.id).state == "active"


def test_several_are_chosen_previewed_and_changed_at_once(show: Opened, server: Server) -> None:
    ids = [kept(server, f"The {animal} sleeps in the pangolin house.").id for animal in ("bat", "owl", "fox")]
    page = show("memories?q=pangolin")
    expect(page.locator(".row")).to_have_count(3)
    for _ in ids:
        page.keyboard.press("j")
        page.keyboard.press("x")
    bulk = page.get_by_role("toolbar")
    expect(bulk).to_contain_text("3 selected")
    bulk.get_by_role("button", name="Tag").click()
    page.get_by_label("Tags, with commas").fill("zoo, night")
    page.get_by_role("dialog").get_by_role("button", name="Tag").click()
    expect(page.locator(".toast", has_text="Tagged 3")).to_be_visible()
    assert {server.engine.get(id).tags for id in ids} == {("zoo", "night")}
    page.get_by_role("checkbox", name=re.compile("The bat")).check()
    page.get_by_role("checkbox", name=re.compile("The owl")).check()
    bulk.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("radio").nth(1).check()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.locator(".row")).to_have_count(2)
    assert sorted(server.engine.get(id).state for id in ids) == ["active", "active", "superseded"]
    page.get_by_role("checkbox", name=re.compile("The fox")).check()
    bulk.get_by_role("button", name="Reject").click()
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    expect(page.locator(".row")).to_have_count(1)
    assert server.engine.get(ids[2]).state == "rejected"
    page.keyboard.press("u")
    expect(page.locator(".row")).to_have_count(2)
    page.get_by_role("checkbox", name=re.compile("The fox")).check()
    bulk.get_by_role("button", name="Erase").click()
    expect(page.get_by_role("dialog")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator(".row")).to_have_count(1)
    with pytest.raises(recollect.NotFound):
        server.engine.get(ids[2])


def test_something_is_remembered_and_a_mistake_is_told(show: Opened, server: Server) -> None:
    page = show("memories?q=narwhal", refused="400 (Bad Request)")
    ready(page, "memories")
    page.locator("main").click()
    page.keyboard.press("n")
    page.get_by_label("What is known").fill("The narwhal is not a unicorn.")
    page.get_by_label("Importance, 1 to 10").fill("7")
    page.get_by_label("Holds from").fill("2026-05-01")
    page.get_by_label("Holds until").fill("2026-04-01")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Holds until").fill("")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(row(page, "narwhal")).to_be_visible()


# -- recall and context -----------------------------------------------------------------------------------------------


def test_a_recall_is_looked_into_and_compared(show: Opened, server: Server) -> None:
    page = show("recall")
    page.locator("[data-search]").fill("when do we deploy?")
    expect(page.locator(".hit").first).to_contain_text("Thursdays")
    expect(page.locator(".arms").first).to_contain_text("text")
    expect(page.locator(".stages").first).to_be_visible()
    expect(page.get_by_role("heading", name="Candidates by arm")).to_be_visible()
    page.get_by_label("Beside it").select_option("hybrid")
    expect(page.locator(".answer")).to_have_count(2)
    page.get_by_label("Token budget").fill("40")
    expect(page.locator(".budget").first).to_contain_text("of 40")
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.locator(".toast")).to_be_visible()
    assert '"max_tokens": 40' in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Copy as command").click()
    until(page, "navigator.clipboard.readText().then((text) => text.startsWith('recollect recall'))")


def test_the_exact_text_is_shown_before_it_is_given(show: Opened, server: Server) -> None:
    kept(server, "Always greet the ferryman.", kind="rule", scope=Scope(project="river"), importance=10)
    page = show("context?project=river")
    start = page.get_by_label("At the start of a session")
    expect(start).to_contain_text("Always greet the ferryman.")
    expect(start).to_contain_text("of 2,000 tokens")
    page.get_by_role("textbox", name="Prompt").fill("always greet the ferryman")
    expect(page.get_by_label("With the next prompt")).to_contain_text("of 500 tokens")


# -- review -----------------------------------------------------------------------------------------------------------


def test_what_waits_is_approved_rejected_and_edited_by_one_key(show: Opened, server: Server) -> None:
    for name in ("alpha", "beta", "gamma"):
        said = f"The {name} build fails because `{name}lib` 2 changed its ABI."
        server.engine.capture([Message("assistant", said)], session=name, scope=Scope(project="review"))
    page = show("review")
    before = len(server.engine.pending(limit=100).memories)
    expect(page.locator(".claim")).to_have_count(before)
    expect(page.locator(".nav .count")).to_have_text(str(before))
    expect(page.locator(".claim.here blockquote")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator(".claim")).to_have_count(before - 1)
    page.keyboard.press("r")
    expect(page.locator(".claim")).to_have_count(before - 2)
    expect(page.locator(".nav .count")).to_have_text(str(before - 2))
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("What is known").fill("The build fails, and now we know why.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".claim", has_text="now we know why")).to_be_visible()


def test_a_contradiction_is_settled(show: Opened, server: Server) -> None:
    old, new = kept(server, "The moat is ten feet deep."), kept(server, "The moat is dry.")
    server.engine.link(new.id, "contradicts", old.id, reason="deep and dry")
    page = show("review?tab=disputes")
    claim = page.locator(".claim", has_text="The moat is dry.")
    expect(claim).to_contain_text("ten feet deep")
    claim.get_by_role("button", name="This one holds").first.click()
    expect(page.locator(".claim", has_text="The moat is dry.")).to_have_count(0)
    assert {server.engine.get(old.id).state, server.engine.get(new.id).state} == {"active", "superseded"}
    for tab in ("Duplicates", "Secrets"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator("[role=tabpanel] .claim, [role=tabpanel] .empty").first).to_be_visible()


# -- graph, health, settings ------------------------------------------------------------------------------------------


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
    expect(page.locator("tbody tr")).to_contain_text("How many memories recall gives back")
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
    expect(page.locator(".toast", has_text="Taken back")).to_be_visible()
    assert server.engine.get(later.id).state == "active"
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".timeline li").first).to_be_visible()


def test_a_question_is_answered_kept_pinned_rated_and_forgotten(show: Opened, server: Server) -> None:
    for _ in range(3):  # what was asked three times is kept, however sure it is
        server.engine.answers.ask("When do we deploy?")
    page = show("answers")
    page.locator("[data-search]").fill("When do we deploy?")
    expect(page.locator(".told")).to_contain_text("Thursdays")
    page.locator(".answers .link", has_text="deploy").first.click()
    kept_answer = page.locator(".answers li", has_text="deploy").first
    expect(kept_answer).to_contain_text("It rests on")
    kept_answer.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".toast", has_text="Pinned.")).to_be_visible()
    kept_answer.get_by_role("button", name="It helped").click()
    expect(page.locator(".toast", has_text="it helped")).to_be_visible()
    kept_answer.get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast", has_text="Forgotten")).to_be_visible()


# -- keys, login, the first minute, and texts that want to be code ----------------------------------------------------


def test_keys_go_everywhere(show: Opened) -> None:
    page = show("today")
    ready(page, "today")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("approve, reject, merge")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page.locator(".row").nth(1)).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("[data-search]")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".row").nth(1)).to_have_class(re.compile("here"))
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Memory", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Memory", exact=True)).to_have_count(0)


def test_from_elsewhere_a_token_opens_the_page_with_its_rights(context: BrowserContext, server: Server) -> None:
    _, secret = server.engine.tokens.create(name="reader", can=["read"], project="checkout")
    page = context.new_page()
    page.goto(f"http://{ELSEWHERE}:{server.port}/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("Token").fill("rcl_wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Log in").click()
    ready(page, "today")
    cookie = next(one for one in context.cookies() if one["name"] == "recollect_session")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    expect(page.get_by_role("button", name="Remember…")).to_have_count(0)
    expect(page.get_by_role("link", name="Settings")).to_have_count(0)
    page.get_by_role("link", name="Memories").click()
    expect(page.locator(".row .row-place").first).to_have_text("checkout")
    page.reload()
    ready(page, "memories")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_the_first_memory_takes_one_minute(context: BrowserContext, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "new.db", embedder="hashing") as memory, serving(memory) as fresh:
        page = context.new_page()
        page.goto(fresh.url)
        expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
        page.get_by_role("radio", name="Codex").click()
        page.get_by_role("button", name="Copy command").click()
        until(page, "navigator.clipboard.readText().then((text) => text === 'recollect install codex')")
        page.get_by_label("One thing worth knowing").fill("We deploy on Thursdays.")
        page.get_by_label("The first memory").get_by_role("button", name="Remember").click()
        expect(page.locator(".line").first).to_contain_text("We deploy on Thursdays.")
        for screen in SCREENS[1:]:
            page.goto(f"{fresh.url}/#/{screen}")
            ready(page, screen)
        page.close()


XSS = (
    "<script>__seen.push('script')</script>", "<img src=x onerror=\"__seen.push('img')\">",
    "javascript:__seen.push('url')", "\"><svg onload=__seen.push('svg')>", "' onmouseover='__seen.push(1)",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "</textarea><iframe srcdoc='<script>parent.__seen.push(1)</script>'>", "<a href=data:text/html,x>x</a>",
    "\u202etxt.exe",
    "<style>*{display:none}</style>",
    "<math><mtext></table></math><mglyph><svg><mtext><textarea><path id=\"</textarea><img>\">",
)  # fmt: skip


def test_texts_that_want_to_be_code_stay_texts(show: Opened, server: Server) -> None:
    ids = []
    for number, bad in enumerate(XSS):
        source = recollect.Source("", kind="document", uri=bad, title=bad, content=f"{bad} kraken {number}", author=bad)
        memory = kept(
            server, f"{bad} kraken {number}", title=f"{bad} {number}", reasoning=bad,
            tags=[f"kraken{number}", bad[:60]], refs=[bad], keywords=[bad[:40]], speaker=bad[:60],
            context=bad, source=source, evidence=f"{bad} kraken", scope=Scope(project=bad[:80], session=bad[:80]),
        )  # fmt: skip
        server.engine.edit(memory.id, reasoning=f"{bad} again", reason=bad)
        ids.append(memory.id)
    server.engine.link(ids[0], "contradicts", ids[1], reason=XSS[1])
    server.engine.capture([Message("assistant", f"The build fails because `{XSS[1]}` changed its ABI.")], session="x")
    page = show("memories?q=kraken")
    expect(page.locator(".row")).to_have_count(len(XSS))
    for bad in XSS[:5]:
        expect(page.locator(".row-title", has_text=bad).first).to_be_visible()
    for id in ids:
        page.goto(f"{server.url}/#/memories?open={id}")
        expect(page.locator(".detail .past li").nth(1)).to_be_visible()
        assert page.locator(".detail script, .detail img:not([role]), .detail iframe, .detail style").count() == 0
    page.get_by_role("button", name=re.compile("^Edit")).click()
    expect(page.get_by_label("What is known")).to_have_value(re.compile("kraken"))
    page.keyboard.press("Escape")
    for address in (
        "today", "recall?q=kraken", f"context?prompt=kraken&project={ids[0]}", "review", "review?tab=disputes",
        f"graph?focus={ids[0]}", "health", "memories?q=%3Cimg%20src%3Dx%20onerror%3D__seen.push(1)%3E",
    ):  # fmt: skip
        page.goto(f"{server.url}/#/{address}")
        ready(page, address.split("?")[0])
    page.get_by_role("button", name="Save this filter").click()
    assert page.evaluate("window.__seen") == []
