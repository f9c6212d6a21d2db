"""Make the pictures of docs/dashboard.md: each screen of the page, light and dark, in a real browser.

    python scripts/screenshots.py [FOLDER]

The store is the one of the tests: two thousand memories of a team, made up and the same each time. A screen that this
version of the server has not is left out.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect

import recollect
from recollect.ops.catalogue import BY_NAME

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the store and the browser are those of the tests
FOLDER = ROOT / "docs" / "screenshots"
SIZE: ViewportSize = {"width": 1200, "height": 780}
PHONE: ViewportSize = {"width": 390, "height": 780}
LARGEST = 100_000


def addresses(memory: recollect.Engine) -> dict[str, str]:
    """What is looked at on each screen, by the name of its picture."""
    cited = next(one for one in memory.list(limit=200, kinds=["decision"]).memories if one.trust == "cited")
    found = {
        "today": "today",
        "memories": "memories",
        "memory": f"memories?kinds=decision&open={cited.id}",
        "recall": "recall?q=where does billing keep its cache?",
        "context": "context?project=platform&prompt=how do we renew cache for billing?",
        "review": "review",
        "graph": "graph?focus=billing",
        "health": "health",
        "settings": "settings",
    }
    if "checkpoint_list" in BY_NAME:
        found["time"] = "time?from=7d"
    if "answers" in BY_NAME:
        found["answers"] = "answers?q=When do we deploy?"
    return found


def take(page: Page, path: Path) -> None:
    driver = page.context.new_cdp_session(page)
    for quality in (85, 70, 55):
        told = driver.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        picture = base64.b64decode(told["data"])
        if len(picture) <= LARGEST:
            break
    path.write_bytes(picture)


def pictures(memory: recollect.Engine, server: Any, folder: Path) -> None:
    from browser import browser, enter

    with browser() as chrome:
        for scheme in ("light", "dark"):
            context = chrome.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
            enter(context, server)
            page = context.new_page()
            for name, address in addresses(memory).items():
                page.goto(f"{server.url}/#/{address}")
                expect(page.locator("main .waiting")).to_have_count(0)
                page.wait_for_timeout(1500)  # for charts and the graph, which are drawn and then settle
                take(page, folder / f"{name}-{scheme}.webp")
            page.set_viewport_size(PHONE)
            screen, name = ("memories", "phone") if scheme == "light" else ("today", "phone-today")
            page.goto(f"{server.url}/#/{screen}")
            page.wait_for_timeout(1000)
            take(page, folder / f"{name}.webp")
            context.close()


def lived(memory: recollect.Engine) -> None:
    """Some use, so that there is something to see: questions of an assistant, and answers that were kept."""
    assistant = memory.beside(actor="claude-code")
    for question in ("what did we learn about retries?", "who runs the gateway?", "when do we deploy?"):
        assistant.recall(question, scope=recollect.Scope(project="checkout"), limit=4)
    for question in ("When do we deploy?", "Who feeds the cat?", "What port does the gateway listen on?"):
        for _ in range(4):  # what was asked three times is kept
            assistant.answers.ask(question)
    memory.stats()


def main() -> None:
    from populated import made
    from served import serving

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=20_000)
    with tempfile.TemporaryDirectory() as work:
        os.environ["RECOLLECT_HOME"] = f"{work}/home"
        made(Path(work, "store.db"))
        with recollect.open(Path(work, "store.db"), embedder="hashing") as memory, serving(memory) as server:
            lived(memory)
            pictures(memory, server, folder)


if __name__ == "__main__":
    main()
