"""The terminal: standard input, progress bars, notes and interruptions."""

from __future__ import annotations

import getpass
import logging
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import times
from ..errors import BadInput, TooLarge
from .present import Look

if TYPE_CHECKING:
    from ..upkeep.jobs import Worker

    _Type = click.ParamType[datetime]
else:
    _Type = click.ParamType  # generic only in click's later versions

MAX_INPUT = 64 * 1024 * 1024  # bytes of one text on standard input; the engine's own limit is far below


class Notes(logging.Handler):
    """What is worth a line on standard error, said once; in JSON the results say it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self.quiet = False

    def emit(self, record: logging.LogRecord) -> None:
        self.say(record.getMessage())

    def say(self, words: str) -> None:
        detail = words.partition(": ")[2] or words  # the log and a result name one reason in two ways
        if not any(detail in said for said in self.said):
            self.said.append(words)
            if not self.quiet:
                click.echo(f"note: {words}", err=True)


def look(stream: Any) -> Look:
    colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    return Look(width, colour, datetime.now(UTC))


def actor() -> str:
    try:
        return f"cli:{getpass.getuser()}"
    except (OSError, KeyError, ImportError):  # a user id without a name, as in some containers
        return "cli"


def asks() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def spoken(words: Sequence[str], what: str) -> str:
    """The words of the command line, or of standard input where they are `-` or missing."""
    if words and tuple(words) != ("-",):
        said = " ".join(words)
        try:
            said.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadInput("The text is not UTF-8.", fix="Type it in a UTF-8 terminal, or pipe it in.") from error
        return said
    if not words and asks():
        raise BadInput(f"Nothing to {what} was given.", fix=f'Say it: recollect {what} "…", or pipe it in.')
    return piped()


def piped() -> str:
    """Standard input as text."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise TooLarge(f"Standard input has more than {MAX_INPUT:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"Standard input is not UTF-8 text (byte {error.start + 1:,}).",
            fix="Convert it first, such as with: iconv -f latin1 -t utf-8",
        ) from error


def existing(path: str, *, folder: bool = False) -> Path:
    """A path of the command line that must be there."""
    found = Path(path)
    if not (found.is_dir() if folder else found.is_file()):
        raise BadInput(f"{path} is not a {'folder' if folder else 'file'}.", fix="Check the path.")
    return found


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error when that is a terminal; it starts over when the work starts over."""
    bar: Any = None

    def finish() -> None:
        if bar is not None:
            bar.render_finish()

    def step(done: int, total: int) -> None:
        nonlocal bar
        if not sys.stderr.isatty():
            return
        if bar is None or done < bar.pos:
            finish()
            bar = click.progressbar(length=total, label=label, file=sys.stderr, show_pos=True)
        bar.length = total
        bar.update(done - bar.pos)

    try:
        yield step
    finally:
        finish()


@contextmanager
def interruptible(react: Callable[[int], object]) -> Iterator[None]:
    """Call a function when the process is interrupted, instead of ending."""
    before = {number: signal.signal(number, lambda n, _: react(n)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def work(worker: Worker, *, stay: bool) -> None:
    """Let a worker do its jobs. The first interruption asks it to stop, another to stop at once."""
    heard: list[int] = []
    with interruptible(heard.append):
        worker.start(stay=stay)
        while not worker.join(0.2):
            if heard:
                worker.stop(at_once=len(heard) > 1)


class Moment(_Type):
    """A time as a person types it: ISO with zone, a day of this machine's zone, how long ago, or in words."""

    name = "time"

    def __init__(self, *, ahead: bool = False, whole_day: bool = False) -> None:
        self._ahead = ahead  # "7d" means in seven days
        self._whole_day = whole_day  # a day means its end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        from .. import checks

        now = datetime.now(UTC)
        name = (param.name if param else None) or "time"
        found = checks.moment(str(value), now, None, name, end=self._whole_day)
        return now + (now - found) if self._ahead and times.is_duration(value) else found
