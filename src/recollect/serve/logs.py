"""The log of the daemon: one JSON object a line in `logs/daemon.jsonl`, without secrets, rotated at a few megabytes."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Any

from ..checks import one_of
from ..entrypoints.private import make_folder
from ..redact import redact

LEVELS = ("debug", "info", "warning", "error")
SIZE, KEPT = 5_000_000, 3
STEP = 0.2
# Libraries say at `info` what we say ourselves.
ALOUD = ("recollect",)


def path(home: Path) -> Path:
    return home / "logs" / "daemon.jsonl"


class Lines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": "error" if record.levelno >= logging.ERROR else record.levelname.lower(),
            "part": record.name.removeprefix("recollect."),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        safe = {name: redact(value)[0] if isinstance(value, str) else value for name, value in told.items()}
        return json.dumps(safe, ensure_ascii=False, default=str)


class Log(RotatingFileHandler):
    """The file, readable by its owner alone, also after it was moved aside and begun anew."""

    def _open(self) -> Any:
        file = super()._open()
        os.chmod(self.baseFilename, 0o600)
        return file


def begin(home: Path, level: str) -> Log:
    """Send what is logged in this process to the file; gives what `end` takes."""
    one_of(level, LEVELS, "log_level")
    make_folder(path(home).parent)
    log = Log(path(home), maxBytes=SIZE, backupCount=KEPT, encoding="utf-8")
    log.setFormatter(Lines())
    root = logging.getLogger()
    root.addHandler(log)
    for name in ALOUD:
        logging.getLogger(name).setLevel(level.upper())
    return log


def end(log: Log) -> None:
    logging.getLogger().removeHandler(log)
    log.close()


def tail(home: Path, level: str, count: int) -> list[dict[str, Any]]:
    """The last lines of at least that level, oldest first, from the files that were moved aside too."""
    found: list[dict[str, Any]] = []
    for number in range(KEPT + 1):
        aside = path(home).with_name(f"{path(home).name}.{number}") if number else path(home)
        if (file := _open_file(aside)) is not None:
            with file:
                found = _at_least(file.read().splitlines(), level) + found
        if len(found) >= count:
            break
    return found[-count:] if count else []


def follow(home: Path, level: str) -> Iterator[dict[str, Any]]:
    """Lines of at least that level as they are written, without an end."""
    at, rest = path(home), ""
    file = _open_file(at)
    if file:
        file.seek(0, os.SEEK_END)
    try:
        while True:
            # Looked at first and read after, so that what was written before the move is all there to be read.
            moved = not (file and _same(file, at))
            *whole, rest = (rest + (file.read() if file else "")).split("\n")
            yield from _at_least(whole, level)
            if moved and (begun := _open_file(at)):
                if file:
                    file.close()
                file, rest = begun, ""
            else:
                time.sleep(STEP)
    finally:
        if file:
            file.close()


def _open_file(at: Path) -> IO[str] | None:
    """The file, or None while there is none: the writer moves it aside before it begins the next."""
    try:
        return at.open(encoding="utf-8")
    except FileNotFoundError:
        return None


def _same(file: IO[str], at: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), at.stat())
    except FileNotFoundError:
        return False


def _at_least(lines: list[str], level: str) -> list[dict[str, Any]]:
    wanted = LEVELS[LEVELS.index(one_of(level, LEVELS, "level")) :]
    told = (_parse(line) for line in lines)
    return [line for line in told if line.get("level") in wanted]


def _parse(line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError:
        return {}  # a kill cut it off
    return told if isinstance(told, dict) else {}
