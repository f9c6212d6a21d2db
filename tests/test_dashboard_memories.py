"""The screen Memories in a real browser: lists, facets, one memory whole, and each change with its way back."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("playwright", reason="THE PAGE WAS NOT TESTED: the package playwright is missing")

from playwright.sync_api import expect

import recollect
from looking import Opened, kept, ready, row, until
from recollect import Scope
from served import Server

pytest_plugins = ["looking"]


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
    from recollect.store.browsing import Sieve
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
    page.locator(".toast").last.get_by_role("button", name="Undo").click()
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
    page.get_by_role("checkbox", name=re.compile("The fox")).check()
    page.keyboard.press("p")
    expect(page.get_by_role("dialog")).to_contain_text("The fox sleeps")
    page.get_by_role("button", name="Cancel").click()
    assert "pinned" not in server.engine.get(ids[0]).tags, "several are shown first"
    page.get_by_role("checkbox", name=re.compile("The fox")).uncheck()
    page.get_by_role("checkbox", name=re.compile("The owl")).check()
    bulk.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("radio").nth(1).check()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.locator(".row")).to_have_count(2)
    assert sorted(server.engine.get(id).state for id in ids) == ["active", "active", "superseded"]
    page.keyboard.press("u")
    expect(page.locator(".row")).to_have_count(3)
    assert [server.engine.links(id) for id in ids] == [(), (), ()], "the link of the merge is gone too"
    assert {server.engine.get(id).valid_to for id in ids} == {None}
    page.goto(f"{server.url}/#/memories?q=pangolin&open={ids[0]}")
    page.get_by_label("Memory", exact=True).get_by_role("button", name="Merge…").click()
    page.get_by_label("Words of the other memory").fill("owl sleeps")
    page.get_by_label("Found").get_by_role("button", name=re.compile("The owl")).click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.locator(".row")).to_have_count(2)
    page.keyboard.press("Escape")
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
