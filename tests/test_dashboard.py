"""The page in a real browser: every screen and width, the feed, keys, logging in, and texts that want to be code."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("playwright", reason="THE PAGE WAS NOT TESTED: the package playwright is missing")

from playwright.sync_api import BrowserContext, expect

import recollect
from browser import ELSEWHERE
from looking import AXE, SCREENS, Opened, kept, ready, until
from recollect import Message, Scope
from recollect.graph import Node, Relation
from served import Server, serving

pytest_plugins = ["looking"]
OVERDRAWN = """
[...document.querySelectorAll("main .line, main .row, main .card > *, main .figure")].flatMap((box) => {
  const parts = [...box.children].map((one) => one.getBoundingClientRect()).filter((one) => one.width && one.height);
  return parts.some((a, at) => parts.slice(at + 1).some((b) => a.left < b.right - 2 && b.left < a.right - 2
    && a.top < b.bottom - 2 && b.top < a.bottom - 2)) ? [box.outerHTML.slice(0, 100)] : [];
})
"""
MOUSE_ONLY = """
[...document.querySelectorAll("main *, nav *")].filter((one) => getComputedStyle(one).cursor === "pointer"
  && !one.closest("a[href], button, input, select, textarea, summary, label, .row")
  && !one.querySelector("a[href], button"))
  .map((one) => one.outerHTML.slice(0, 100))
"""


# -- every screen ------------------------------------------------------------------------------------------------------


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
    assert page.evaluate("document.getAnimations().length") == 0, "who wants no motion sees none"
    assert page.evaluate(MOUSE_ONLY) == [], "what can be clicked can be reached by keys"


@pytest.mark.parametrize("screen", SCREENS)
def test_each_screen_fits_a_phone(show: Opened, screen: str) -> None:
    page = show(screen)
    page.set_viewport_size({"width": 390, "height": 800})
    ready(page, screen)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(OVERDRAWN) == [], "nothing is drawn over its neighbour"


def test_navigation_shows_where_one_is_and_what_the_server_can_do(show: Opened) -> None:
    page = show()
    for screen in SCREENS:
        page.get_by_role("navigation").get_by_role("link", name=screen.capitalize()).click()
        ready(page, screen)
        expect(page.locator(".nav a[aria-current=page]")).to_contain_text(screen.capitalize())


# -- today -------------------------------------------------------------------------------------------------------------


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


def test_recalls_come_into_the_feed_which_is_narrowed_by_project_and_session(show: Opened, server: Server) -> None:
    master = kept(server, "The harbour master signs the tide tables.", kind="rule", scope=Scope(project="harbour"))
    page = show("today")
    ready(page, "today")
    expect(page.locator(".dot.live")).to_be_visible()
    server.engine.recall("who signs the tide tables?", scope=Scope(project="harbour", session="s-42"))
    line = page.locator(".line.g-recalled").first
    expect(line).to_contain_text('"who signs the tide tables?"')
    expect(line).to_contain_text("The harbour master signs the tide tables.")
    expect(line).to_contain_text("by python")
    page.get_by_label("Session").select_option("s-42")
    expect(page.locator(".line")).to_have_count(1)
    page.get_by_label("Session").select_option("")
    page.get_by_label("Project").select_option("harbour")
    expect(page.locator(".line")).to_have_count(2)
    page.get_by_role("button", name=re.compile("^recalled")).click()
    expect(page.locator(".line")).to_have_count(1)
    page.locator("main").press(" ")  # holds it still
    server.engine.recall("who signs the tide tables now?", scope=Scope(project="harbour"))
    expect(page.get_by_role("button", name="Go on (1)")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.locator(".line")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".line.here")).to_contain_text("tables?")
    page.locator(".line.here .told-of a", has_text="harbour master").click()
    expect(page.get_by_label("Memory", exact=True)).to_contain_text("The harbour master")
    assert master.id in page.url


def test_the_janitor_and_what_is_superseded_have_their_place_in_the_feed(show: Opened, server: Server) -> None:
    old, new = kept(server, "The buoy is red."), kept(server, "The buoy is green since May.")
    page = show("today")
    expect(page.locator(".line", has_text="The buoy is red.")).to_be_visible()
    server.engine.for_caller(actor="janitor").edit(old.id, importance=2, reason="nobody asks for it")
    expect(page.locator(".line.g-janitor")).to_contain_text("nobody asks for it")
    server.engine.link(new.id, "supersedes", old.id)
    expect(page.locator(".line.g-superseded").first).to_contain_text("The buoy is red.")


# -- keys, login, the first minute, and texts that want to be code -----------------------------------------------------


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
    context.clear_cookies()
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
        code = fresh.call("POST", "/login/code").data["code"]
        page.goto(f"{fresh.url}/#/login?code={code}")
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
    ids = [_stored(server, number, bad) for number, bad in enumerate(XSS)]
    _hung_on(server, ids)
    page = show("memories?q=kraken", refused="400 (Bad Request)")
    expect(page.locator(".row")).to_have_count(len(XSS))
    for bad in XSS[:5]:
        expect(page.locator(".row-title", has_text=bad).first).to_be_visible()
    for id in ids:
        page.goto(f"{server.url}/#/memories?open={id}")
        expect(page.locator(".detail .past li").nth(1)).to_be_visible()
        assert page.locator(".detail script, .detail img:not([role]), .detail iframe, .detail style").count() == 0
    page.get_by_role("button", name=re.compile("^Edit")).click()
    expect(page.get_by_label("What is known")).to_have_value(re.compile("kraken"))
    page.get_by_label("Refers to").fill(XSS[0])
    page.get_by_role("textbox", name="Holds from").fill("2026-05-01")
    page.get_by_role("textbox", name="Holds until").fill("2026-04-01")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.keyboard.press("Escape")
    for address, told in {
        "today": XSS[1], "recall?q=kraken": XSS[0], f"context?prompt=kraken&project={quote(XSS[0])}": "", "review": "",
        "review?tab=disputes": XSS[1], f"graph?focus={quote(XSS[1])}": XSS[1], "time": XSS[1],
        f"time?tab=timeline&project={quote(XSS[0])}": XSS[0], f"answers?q={quote(XSS[1])}": XSS[1], "health": "",
        "settings?tab=tokens": XSS[1], f"memories?project={quote(XSS[0])}": XSS[0], f"memories?q={quote(XSS[1])}": "",
    }.items():  # fmt: skip
        page.goto(f"{server.url}/#/{address}")
        ready(page, re.split(r"\W", address)[0])
        expect(page.locator("main")).to_contain_text(told)
    page.get_by_role("button", name="Save this filter").click()
    expect(page.get_by_role("button", name=XSS[1][:20])).not_to_have_count(0)
    page.goto(f"{server.url}/#/settings?tab=moving")
    file = {"name": f"{XSS[1][:9]}.jsonl", "mimeType": "text/plain", "buffer": XSS[0].encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_role("dialog")).to_contain_text("<img")
    page.get_by_role("dialog").get_by_role("button", name="Import").click()
    expect(page.locator(".toast.wrong")).to_be_visible()
    assert page.locator("main img, main iframe, main script, dialog img").count() == 0
    assert page.evaluate("window.__seen") == []


def _stored(server: Server, number: int, bad: str) -> str:
    """A memory each of whose texts wants to be code."""
    source = recollect.Source("", kind="document", uri=bad, title=bad, content=f"{bad} kraken {number}", author=bad)
    memory = kept(
        server, f"{bad} kraken {number}", title=f"{bad} {number}", reasoning=bad,
        tags=[f"kraken{number}", bad[:60]], refs=[bad], keywords=[bad[:40]], speaker=bad[:60],
        context=bad, source=source, evidence=f"{bad} kraken", scope=Scope(project=bad[:80], session=bad[:80]),
    )  # fmt: skip
    server.engine.edit(memory.id, reasoning=f"{bad} again", reason=bad)
    return memory.id


def _hung_on(server: Server, ids: list[str]) -> None:
    """The same texts wherever else somebody may write: links, claims, entities, moments, tokens, questions."""
    memory, bad = server.engine, XSS[1]
    memory.link(ids[0], "contradicts", ids[1], reason=bad)
    memory.capture([Message("assistant", f"The build fails because `{bad}` changed its ABI.")], session="x")
    memory.graph().create([Node(bad, XSS[0][:40], (f"is called {bad}",)), Node("kraken", "beast", ())])
    memory.graph().relate([Relation(bad, "fears", "kraken")])
    memory.checkpoints.create(bad, reason=XSS[0])
    memory.tokens.create(name=bad, can=["read"], project=XSS[0][:80])
    memory.answers.put(bad, XSS[0])
    memory.recall(f"{bad} kraken", scope=Scope(session=XSS[0][:80]))
