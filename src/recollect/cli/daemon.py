"""The commands of the daemon. What costs time (the server, its libraries) is imported by the command that needs it."""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__, settings
from ..entrypoints import link, spool
from ..errors import BadInput, ServerUnavailable
from ..serve import listen, lock, logs
from ..settings import Settings
from . import draw
from .program import App
from .terminal import look

if TYPE_CHECKING:
    from ..serve.service import Kind
    from .present import Look

LEAVING = 30.0  # seconds that `stop` waits for the daemon to be gone
STARTING = 60.0  # seconds that `dashboard` waits for one to answer
STEP = 0.05
BUSY = "It may be waiting for its store; see: recollect logs"


def serve(app: App, background: bool, host: str | None = None, port: int | None = None) -> None:
    chosen, origin = settings.load(**app.given, host=host)
    chosen = replace(chosen, home=chosen.home.absolute(), store=chosen.standing)
    exactly = port is not None or origin["port"] != "default"
    if port is not None:
        chosen = replace(chosen, port=port)
    logging.getLogger("recollect").removeHandler(app.notes)  # it remembers what it said; a daemon has a log
    if background:
        from ..serve.detach import run_detached

        info = run_detached(lambda ready: _run(chosen, exactly, ready), chosen.home)
        _announce(app, chosen, info)
    else:
        _run(chosen, exactly, partial(_announce, app, chosen))


def _run(chosen: Settings, exactly: bool, ready: Callable[[dict[str, Any]], None]) -> None:
    # Before the libraries are loaded, so that whoever comes second, or asks us to leave again, need not wait for them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with lock.Lock(chosen.home, datetime.now(UTC)):
        daemon = _daemon()
        daemon.run(chosen, exactly, ready)


def _daemon() -> Any:
    try:
        from ..serve import daemon
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("recollect"):
            raise
        raise ServerUnavailable(
            f"The daemon needs {error.name}, which is not installed.", fix="Run: pip install 'recollect[server]'"
        ) from error
    return daemon


def _announce(app: App, chosen: Settings, info: dict[str, Any]) -> None:
    app.say({**info, "home": str(chosen.home)}, lambda _, out: draw.banner(info, str(chosen.home), _program(), out))


def _program() -> str:
    """How a person calls this command from here: by its name, or by its path where the shell would not find it."""
    beside = Path(sys.executable).parent / "recollect"
    if shutil.which("recollect") or not beside.exists():
        return "recollect"
    try:
        return shlex.quote(str(beside.relative_to(Path.cwd())))
    except ValueError:  # it lies elsewhere
        return shlex.quote(str(beside))


def status(app: App) -> None:
    told = _status(app)
    app.say(told, draw.state)
    if not told["running"]:
        raise click.exceptions.Exit(3)


def _status(app: App) -> dict[str, Any]:
    chosen, _ = settings.load(**app.given)
    home = chosen.home.absolute()
    if found := link.daemon(str(home)):
        try:
            answer = found.request("GET", "/daemon/status", timeout=10)
        except OSError as error:
            raise ServerUnavailable(f"Process {found.pid} does not answer: {error}.", fix=BUSY) from error
        if answer.status != 200:
            raise ServerUnavailable(f"Process {found.pid} answered {answer.status}.", fix=BUSY)
        return {**answer.json(), "home": str(home), "installed": __version__}
    holder = lock.holder(home) or {}
    receipts: dict[str, Any] = {"queued": len(spool.waiting(str(home))), "refused": 0, "latest": []}
    if chosen.remote or chosen.store_path.exists():  # looking must not make one
        from ..ops import hooks

        with app.open() as engine:
            receipts = hooks.receipts(engine, home)
    return {
        "running": False,
        "home": str(home),
        "pid": holder.get("pid"),
        "receipts": receipts,
        "installed": __version__,
    }


def dashboard(app: App, no_open: bool) -> None:
    home = _home(app)
    found = link.daemon(str(home)) or (link.start(str(home), wait=STARTING) and link.daemon(str(home)))
    if not found:
        raise ServerUnavailable("The daemon did not come up.", fix="See why with: recollect logs")
    try:
        answer = found.request("POST", "/login/code", timeout=10)
    except OSError as error:
        raise ServerUnavailable(f"Process {found.pid} does not answer: {error}.", fix=BUSY) from error
    if answer.status != 200:
        raise ServerUnavailable(f"Process {found.pid} answered {answer.status}.", fix="Run: recollect stop; try again")
    url = listen.login_link(found.info, answer.json()["code"])
    opened = not no_open and sys.stdout.isatty() and _open(home, url)
    app.say({"url": url, "opened": opened}, lambda _, out: draw.login(url, out))


def _open(home: Path, url: str) -> bool:
    """Show a link in a browser. By a file of the owner's, because every account sees what programs are started with."""
    import webbrowser

    if sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    page = home / "dashboard.html"
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">\n', "utf-8")
    return webbrowser.open(page.as_uri())


def stop(app: App) -> None:
    home = _home(app)
    holder = lock.holder(home)
    if not holder or not holder.get("pid"):
        app.say({"stopped": False}, lambda _, out: "= no daemon is running")
        return
    os.kill(holder["pid"], signal.SIGTERM)
    if hasattr(signal, "SIGCONT"):
        os.kill(holder["pid"], signal.SIGCONT)  # one that was stopped would not hear of it
    deadline = time.monotonic() + LEAVING
    while (still := lock.holder(home)) and still.get("pid") == holder["pid"]:
        if time.monotonic() > deadline:
            raise ServerUnavailable(
                f"Process {holder['pid']} is still busy after {LEAVING:.0f} seconds.", fix="See: recollect logs"
            )
        time.sleep(STEP)
    app.say({"stopped": True, "pid": holder["pid"]}, lambda _, out: f"✓ stopped process {holder['pid']}")


def show_logs(app: App, count: int, follow: bool, level: str) -> None:
    home = _home(app)
    found = logs.tail(home, level, count)
    if not follow:
        app.say({"file": str(logs.path(home)), "lines": found}, partial(_lines, home, found))
        return
    for told in chain(found, logs.follow(home, level)):
        if app.json:
            click.echo(json.dumps(told))  # one a line: nobody waits for the end of a list that has none
        else:
            out = look(sys.stdout)
            click.echo(draw.line(told, out), color=out.colour)


def _lines(home: Path, found: list[dict[str, Any]], _: Any, out: Look) -> str:
    return "\n".join(draw.line(told, out) for told in found) or f"= nothing in {logs.path(home)}"


def _home(app: App) -> Path:
    return settings.load(**app.given)[0].home.absolute()


def install(app: App, dry_run: bool, kind: Kind | None = None) -> None:
    chosen, origin = settings.load(**app.given)
    if origin["store"] not in ("default", str(chosen.config_path)):  # a unit is no place for a password
        raise BadInput(
            f"A service takes its store from {chosen.config_path}, and not from {origin['store']}.",
            fix='Write it there: store = "…"',
        )
    _change_service(app, chosen.home.absolute(), kind, dry_run, write=True)


def uninstall(app: App, dry_run: bool, kind: Kind | None = None) -> None:
    _change_service(app, _home(app), kind, dry_run, write=False)


def _change_service(app: App, home: Path, kind: Kind | None, dry_run: bool, *, write: bool) -> None:
    from ..serve import service as services

    made = services.of(kind or services.usual(), home, Path.home())
    commands = made.install if write else made.uninstall
    if dry_run:
        data: dict[str, Any] = {"path": str(made.path), "content": made.text, "run": commands}
        app.say(data, lambda _, out: draw.planned(made, commands, out, write=write))
        return
    done = services.write(made) if write else made.path.exists()
    left = services.execute(commands) if done or write else []
    if not write:
        made.path.unlink(missing_ok=True)
    data = {"path": str(made.path), "written" if write else "removed": done, "left": left}
    app.say(data, lambda _, out: draw.served(made, done, left, out, write=write))


# What assistants start. `__main__` passes these two to `entrypoints` before this module is loaded; they stand here for
# calls with a global option before the command.


def mcp(app: App, words: tuple[str, ...]) -> None:
    project = app.given["project"]
    _entry("mcp", *(("--project", project) if project else ()), *words)


def hook(app: App, words: tuple[str, ...]) -> None:
    _entry("hook", *words)


def _entry(*words: str) -> None:
    done = subprocess.run([sys.executable, "-P", "-m", "recollect", *words], check=False)
    raise click.exceptions.Exit(done.returncode)
