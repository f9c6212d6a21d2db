"""`recollect hook EVENT --host NAME`: sends what an assistant tells its hooks to the daemon, and prints the answer.

The assistant waits for this process, so everything has a deadline and the exit code is always 0. If the daemon does not
take an event, it goes to the spool under the same id, so that it is not stored twice. Events that bring memories (the
start of a session, a prompt) wait for a daemon that starts; others do not.
"""

from __future__ import annotations

import json
import os
import sys
import time

from . import link, spool

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Seconds, by the words in an event's name (the first that fits counts): how long the assistant waits for us (`install`
# tells it), how long we wait for a daemon that starts, and when the process ends whatever it is doing. Between the
# two there is time for the disk. A session that ends is given a second and a half by Claude Code, in all.
BUDGETS = (
    ("sessionend", 3, 0.7, 1.4),
    ("sessionstart", 30, 25.0, 29.5),
    ("prompt", 15, 11.0, 14.5),
    ("beforeagent", 15, 11.0, 14.5),
    ("", 5, 1.6, 4.0),
)
READING = 1.6  # seconds in which the assistant must have written its input
WARM = 6.0  # seconds that a daemon which is up may take to answer
SPARE = 3.5  # seconds after that in which the start of a session is told from files, where no daemon answers
MOST = 32 * 1024 * 1024  # bytes of input
LONGEST = 64 * 1024  # characters of one text in it: a memory is no larger
# Some hosts read the answer as JSON whatever it is, so that for them nothing is an empty object.
NOTHING = {"gemini": "{}", "cursor": "{}", "copilot": "{}"}
PLACES = ("session_id", "transcript_path", "cwd", "hook_event_name")  # names in the input that must stay what they are
DEAF = ("windsurf", "cursor")  # who takes no context with a prompt, so that there is nothing to wait for
GIT = "git"  # whose hooks run at the top of the repository they are about


def main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        link.print_usage("hook")
        return 0
    began = time.monotonic()
    event, host, home = _arguments(argv)
    alone = "--no-start" in argv  # for those who only look whether everything works
    _, patience, limit = budget(event)
    _end_by(limit)
    said = NOTHING.get(host, "")
    try:
        given = _input(began + min(patience, READING))
        envelope = {
            "id": spool.new_id(), "at": time.time(), "event": event, "host": host, "input": given,
            "cwd": os.getcwd() if host == GIT else link.working_folder(),
            "project": os.environ.get("RECOLLECT_PROJECT", ""),
        }  # fmt: skip
        said = _deliver(home or link.home(), envelope, began + patience, alone) or said
    except (OSError, ValueError) as error:
        _complain(str(error))
    _say(said)
    _end_by(0)  # while the interpreter ends, the alarm would be a signal like any other, and kill
    return 0


def _say(said: str, place: int = 1) -> None:
    """Write to the assistant, which may have stopped listening: what it told us is kept all the same."""
    try:
        print(said, end="\n" if said else "", file=sys.stdout if place == 1 else sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), place)  # else the interpreter tries again while it ends, and fails


def _complain(trouble: str) -> None:
    _say(f"recollect: {trouble}", 2)


def _arguments(argv: list[str]) -> tuple[str, str, str]:
    """The event, the host and, where told, the home; `argparse` would cost as much as all the rest."""
    event, named = "", {"--host": "", "--home": "", "--env": ""}
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in named:
            named[name] = value if equals else next(rest, "")
            if name == "--env":
                setting, _, chosen = named[name].partition("=")
                os.environ[setting] = chosen
        elif not word.startswith("-"):
            event = event or word
    return event, named["--host"].lower(), named["--home"]


def _plain(event: str) -> str:
    return event.lower().replace("-", "").replace("_", "")


def budget(event: str) -> tuple[int, float, float]:
    """The seconds that an event has: of the assistant, for a daemon that starts, and in all."""
    return next(row[1:] for row in BUDGETS if row[0] in _plain(event))


def _end_by(limit: float) -> None:
    """Whatever hangs, a disk or a pipe: the process ends, and ends well; nought takes that back."""
    try:
        import signal

        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, limit)
    except (AttributeError, ValueError):  # no such signal on Windows, and none outside the main thread
        return


def _reader(source: int) -> Callable[[float], bytes]:
    """What reads the next piece within some seconds. On Windows, where `select` takes sockets alone, a thread waits."""
    import select

    if hasattr(select, "poll"):
        return lambda left: os.read(source, 1 << 20) if select.select([source], [], [], left)[0] else b""
    import queue
    import threading

    pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def pump() -> None:
        while piece := os.read(source, 1 << 20):
            pieces.put(piece)
        pieces.put(b"")

    def read(left: float) -> bytes:
        try:
            return pieces.get(timeout=left)
        except queue.Empty:
            return b""

    threading.Thread(target=pump, daemon=True).start()
    return read


def _input(deadline: float) -> dict[str, Any]:
    """What the host wrote to us: one JSON object."""
    parts: list[bytes] = []
    size = 0
    source = sys.stdin.fileno() if sys.stdin else -1
    if source < 0 or os.isatty(source):
        return {}
    read = _reader(source)
    while size <= MOST and (left := deadline - time.monotonic()) > 0:
        # A host that leaves its end open must not keep us: what has come by then is what there is.
        if not (piece := read(left)):
            break
        parts.append(piece)
        size += len(piece)
    if size > MOST:
        raise ValueError(f"the input is larger than {MOST} bytes")
    text = b"".join(parts).strip()
    try:
        found = json.loads(text.decode("utf-8-sig", "replace")) if text else {}
    except ValueError as error:
        raise ValueError(f"the input is not JSON: {error}") from error
    if isinstance(found, dict):
        # A file that a tool read is not what was said.
        return _each(found, lambda said: said[:LONGEST]) if size > LONGEST else found
    raise ValueError("the input is not a JSON object")


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed, except for the names of places."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: part if name in PLACES else _each(part, change) for name, part in value.items()}
    return [_each(part, change) for part in value] if isinstance(value, list) else value


def _deliver(home: str, envelope: dict[str, Any], deadline: float, alone: bool) -> str:
    """What to print. The daemon has the envelope when it says so; else it is in the spool when this comes back."""
    plain = _plain(envelope["event"])
    starts = "sessionstart" in plain
    asks = starts or (("prompt" in plain or "beforeagent" in plain) and envelope["host"] not in DEAF)
    found = link.daemon(home)
    if found:
        deadline = min(deadline, time.monotonic() + WARM)
    elif asks and not alone and link.start(home, wait=deadline - time.monotonic()):
        found = link.daemon(home)
    if found:
        try:
            left = max(deadline - time.monotonic(), READING)
            answer = found.request("POST", "/hook", json.dumps(envelope).encode(), timeout=left)
            if answer.status == 200:
                return str(answer.json().get("print", ""))
            _complain(_trouble(answer))
        except OSError as error:
            _complain(str(error))
    if starts:  # where nothing was said, there is nothing to keep
        return "" if alone else _by_hand(home, envelope, SPARE)
    from ..redact import redact  # takes longer to load than all the rest, and only here

    spool.add(home, {**envelope, "input": _each(envelope["input"], lambda said: redact(said)[0])})
    if not found and not alone:
        link.start(home, wait=0)
    return ""


def _by_hand(home: str, envelope: dict[str, Any], left: float) -> str:
    """What a session should know where no daemon answers: read in a process of its own, or from the files."""
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recollect", "brief", "--hook"], input=json.dumps(envelope), text=True,
            capture_output=True, timeout=left, check=False, env={**os.environ, "RECOLLECT_HOME": home},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        _complain(f"no daemon answers, and reading the memories without one took more than {left:g} seconds")
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _trouble(answer: link.Answer) -> str:
    """What the daemon said went wrong."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, LookupError, TypeError):
        return f"the daemon answered {answer.status}"
