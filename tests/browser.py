"""A real browser for the tests of the page, its pictures and measurements: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from recollect.serve.sessions import COOKIE
from served import Server

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ELSEWHERE = "recollect.test"  # a name of this machine that does not count as this machine


class NoBrowser(Exception):
    """There is no Chromium to drive."""


def found() -> str:
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise NoBrowser("THE PAGE WAS NOT TESTED: no Chromium. Install it: apt-get install chromium")


def enter(context: BrowserContext, server: Server) -> None:
    """Log a browser in as the owner of the home, as the login link would."""
    value, proof = server.cookie()
    context.add_cookies([{"name": COOKIE, "value": value, "url": server.url, "httpOnly": True, "sameSite": "Strict"}])
    context.add_init_script(
        f"if (location.port === '{server.port}' && !localStorage.getItem('recollect.proof')) "
        f"localStorage.setItem('recollect.proof', JSON.stringify('{proof}'))"
    )


@contextmanager
def browser() -> Iterator[Browser]:
    program = found()
    with sync_playwright() as playwright:
        # Root may not use the sandbox; WebGL is drawn by the processor.
        switches = ["--no-sandbox", "--enable-unsafe-swiftshader", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"]
        running = playwright.chromium.launch(executable_path=program, args=switches)
        try:
            yield running
        finally:
            running.close()
