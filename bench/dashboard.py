"""The page with 100,000 memories: how long scripts run for the first sight of Memories and for each change of a filter.

The browser tells what its main thread did between two looks (`Performance.getMetrics`), in processor time of that
thread, so that neither waiting for the server nor a busy machine counts. `main` is everything: scripts, styles, layout,
reading what came. It is what is held against the bar, because scripts cannot take more. How long it took by the clock,
until all counts stood beside the list, is told too. Each step is done several times and the worst counts.

    python bench/dashboard.py [--size 100000] [--rounds 5] [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, expect

import recollect

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))  # the store and the browser are those of the tests

LIMIT = 0.3  # seconds
QUICK = 500
CACHE = Path(os.environ.get("RECOLLECT_BENCH_CACHE") or HERE / ".cache")
RESULT = HERE / "results" / "dashboard.json"


def store(size: int) -> Path:
    """The store, made once; it takes minutes."""
    path = CACHE / f"dashboard-{size}.db"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        from populated import made

        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        made(part, size)
        part.rename(path)
    return path


class Watch:
    """What the browser did between two looks."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self) -> dict[str, float]:
        told = self._session.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in told}

    def step(self, act: Callable[[], Any], *, fresh: bool) -> dict[str, float]:
        """What something took; a fresh page begins to count anew."""
        before, began = {} if fresh else self.spent(), time.perf_counter()
        act()
        waited = time.perf_counter() - began
        after = self.spent()
        names = {"main": "TaskDuration", "script": "ScriptDuration", "layout": "LayoutDuration"}
        return {short: after[name] - before.get(name, 0.0) for short, name in names.items()} | {"waited": waited}


def settled(page: Page, words: str = "") -> None:
    """The list and the counts are those of the filter."""
    expect(page.locator(".row").first).to_contain_text(words)
    for part in (".list", ".facets"):
        expect(page.locator(part)).to_have_attribute("aria-busy", "false")


def measure(server: Any, rounds: int) -> dict[str, list[dict[str, float]]]:
    from browser import browser, enter

    steps: dict[str, list[dict[str, float]]] = {}
    with browser() as chrome:
        for _ in range(rounds):
            context = chrome.new_context(viewport={"width": 1280, "height": 800})
            enter(context, server)
            page = context.new_page()
            watch = Watch(page)

            def note(name: str, act: Callable[[], Any], watch: Watch = watch) -> None:
                steps.setdefault(name, []).append(watch.step(act, fresh=name == "first sight"))

            def first(page: Page = page) -> None:
                page.goto(f"{server.url}/#/memories")
                settled(page)
                expect(page.locator(".lead")).to_contain_text("memories")

            def press(label: str, words: str = "", page: Page = page) -> Callable[[], None]:
                def click() -> None:
                    page.locator(".facet-one", has_text=label).first.click()
                    settled(page, words)

                return click

            def scroll(page: Page = page) -> None:
                for _ in range(10):
                    page.evaluate("document.querySelector('.rows').scrollTop += 4000")
                    page.wait_for_timeout(50)

            def typed(page: Page = page) -> None:
                page.locator("[data-search]").fill("quota")
                settled(page, "quota")

            note("first sight", first)
            note("kind", press("rule", "rule"))
            note("project", press("search", "search"))
            note("trust", press("cited", "cited"))
            note("kind off", press("rule"))
            note("ten screens of scrolling", scroll)
            note("words", typed)
            page.close()
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a small store once, no bar, nothing is written")
    asked = parser.parse_args()
    if asked.quick:
        asked.size, asked.rounds = QUICK, 1
    expect.set_options(timeout=60_000)
    from served import serving

    path = store(asked.size)
    with tempfile.TemporaryDirectory() as home:
        os.environ["RECOLLECT_HOME"] = home
        with recollect.open(path, embedder="hashing") as memory, serving(memory) as server:
            count = memory.stats()["memories"]
            steps = measure(server, asked.rounds)
    worst = {name: {key: round(max(one[key] for one in all), 4) for key in all[0]} for name, all in steps.items()}
    for name, numbers in worst.items():
        print(f"{name:26} " + "  ".join(f"{key} {value * 1000:7.1f} ms" for key, value in numbers.items()))
    if asked.quick:
        return
    slow = [name for name, numbers in worst.items() if numbers["main"] > LIMIT]
    RESULT.write_text(json.dumps({
        "memories": count, "rounds": asked.rounds, "limit": LIMIT, "worst": worst, "python": platform.python_version(),
    }, indent=1) + "\n")  # fmt: skip
    if slow:
        sys.exit(f"more than {LIMIT * 1000:.0f} ms on the main thread: {', '.join(slow)}")


if __name__ == "__main__":
    main()
