"""Looking at the page: a real browser, a real server with two thousand memories, and what the tests of the page share.

A plugin of pytest: a module that names it in `pytest_plugins` has its fixtures. The store is made once and copied for
each module. Nothing waits for a time: what is expected is waited for until it is there. Each test begins on a page of
its own, and after each the browser must have logged no error and reported nothing that the policy forbade.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

import recollect
from browser import NoBrowser, browser, enter, found
from conftest import KeepsStatements
from node_clients import MODULES
from populated import made
from recollect.capture import durable
from recollect.ops.catalogue import BY_NAME
from served import Server, serving

SCREENS = (
    "today", "memories", "recall", "context", "review", "graph", *(["time"] if "checkpoint_list" in BY_NAME else []),
    *(["answers"] if "answers" in BY_NAME else []), "agents", "health", "settings",
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


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two thousand memories, to be copied."""
    folder = tmp_path_factory.mktemp("stock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_HOME", str(folder / "home"))
        patch.setattr(durable, "Durability", KeepsStatements)
        made(folder / "store.db")
    return folder / "store.db"


@pytest.fixture(scope="module")
def server(stock: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_HOME", str(folder / "home"))
        shutil.copy(stock, folder / "store.db")
        with recollect.open(folder / "store.db", embedder="hashing") as memory:
            memory.recall("warm")
            with serving(memory) as running:
                yield running


Opened = Callable[..., Page]


@pytest.fixture
def context(chrome: Browser, server: Server) -> Iterator[BrowserContext]:
    context = chrome.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    enter(context, server)
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


def row(page: Page, words: str) -> Locator:
    return page.locator(".row", has_text=words)
