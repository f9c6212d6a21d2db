"""The spool: hook events that wait on disk until a daemon stores them.

`spool/queue.jsonl` holds one JSON record a line, written under a lock and synced before `add` returns the receipt. The
daemon renames the file, stores its records, and removes it. After a crash the renamed file is read again; records that
were already stored are recognised by their id. Records that cannot be stored go to `spool/refused.jsonl`.
"""

from __future__ import annotations

import json
import os
import time

from .private import make_folder
from .system import lock, open_private

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

FOLDER = "spool"
QUEUE, REFUSED = "queue.jsonl", "refused.jsonl"
TAKEN = "taken-"  # how the name of a file begins that a daemon has taken
MOST_REFUSED = 4 * 1024 * 1024  # bytes after which what was put aside moves over, once
MOST = 256 * 1024 * 1024  # bytes; more than that has piled up only where no daemon ever starts


class Full(OSError):
    """The spool holds as much as it may."""


def new_id() -> str:
    """A receipt: sorts by time, and no two are alike."""
    return f"{time.time_ns():016x}{os.urandom(5).hex()}"


def add(home: str, record: dict[str, Any], name: str = QUEUE, *, sure: bool = True) -> str:
    """Append one record, and give its receipt once it is on the disk; or, where it need not be `sure`, soon."""
    folder = os.path.join(home, FOLDER)
    make_folder(folder)
    receipt = str(record.get("id") or new_id())
    line = json.dumps({**record, "id": receipt}, separators=(",", ":")).encode() + b"\n"
    file = _locked(os.path.join(folder, name))
    try:
        size = os.fstat(file).st_size
        if size + len(line) > MOST:
            raise Full(f"{folder} holds {size} bytes")
        if size and _read_last(file, size) != b"\n":  # a power cut tore the line before
            line = b"\n" + line
        while line:
            line = line[os.write(file, line) :]
        if sure:
            os.fsync(file)
    finally:
        os.close(file)  # which lets go of the lock
    return receipt


def _locked(path: str) -> int:
    """The file, open for appending and locked, and surely the one that has that name now."""
    while True:
        file = open_private(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            lock(file)
            there = os.stat(path)
            if (there.st_dev, there.st_ino) == (os.fstat(file).st_dev, os.fstat(file).st_ino):
                return file
        except FileNotFoundError:
            pass  # a daemon took it between the opening and the lock: the next round makes a new one
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _read_last(file: int, size: int) -> bytes:
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1)


def rewrite(path: str, change: Callable[[bytes], bytes]) -> bool:
    """Change the lines of a file where they lie, under the lock; whether any was changed."""
    try:
        file = open_private(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        lock(file)
        with os.fdopen(os.dup(file), "rb") as reader:
            lines = reader.readlines()
        changed = [change(line) for line in lines]
        if changed == lines:
            return False
        # Over the old bytes, so that none of them stays behind in a block that was let go.
        old, new = sum(map(len, lines)), b"".join(changed)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, new + b"\0" * max(0, old - len(new)))
        os.fsync(file)
        os.ftruncate(file, len(new))
        os.fsync(file)
        return True
    finally:
        os.close(file)


def take(home: str) -> list[str]:
    """Take what is queued: the files to work through, oldest first, those of a daemon that died among them."""
    folder = os.path.join(home, FOLDER)
    queue = os.path.join(folder, QUEUE)
    if os.path.exists(queue):
        file = _locked(queue)
        try:
            if os.fstat(file).st_size:
                os.rename(queue, os.path.join(folder, f"{TAKEN}{new_id()}.jsonl"))
        finally:
            os.close(file)
    return _taken(folder)


def _taken(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(TAKEN)]


def records(path: str) -> Iterator[dict[str, Any] | bytes]:
    """The records of a file, in order; what is not a record comes as the bytes it is."""
    with open(path, "rb") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError:
                found = None
            yield found if isinstance(found, dict) else line


def done(path: str) -> None:
    """Everything in a taken file is stored: it may go."""
    os.unlink(path)


def refuse(home: str, record: dict[str, Any] | bytes, reason: str) -> None:
    """Put aside what cannot be taken in, with the reason."""
    path = os.path.join(home, FOLDER, REFUSED)
    if os.path.exists(path) and os.path.getsize(path) > MOST_REFUSED:
        os.replace(path, f"{path}.1")
    kept = record if isinstance(record, dict) else {"line": record[:10_000].decode("utf-8", "replace")}
    add(home, {**kept, "refused": reason}, REFUSED)


def waiting(home: str) -> list[dict[str, Any]]:
    """What is queued now, oldest first. Where the daemon takes the queue in meanwhile, it is looked at again."""
    folder = os.path.join(home, FOLDER)
    while True:
        taken = _taken(folder)
        found: list[dict[str, Any]] = []
        for path in [*taken, os.path.join(folder, QUEUE)]:
            try:
                found += [record for record in records(path) if isinstance(record, dict)]
            except FileNotFoundError:
                continue  # never written, or taken in while we looked
        if not set(_taken(folder)) - set(taken):
            return found


def refused(home: str) -> list[dict[str, Any]]:
    """What was put aside, oldest first."""
    try:
        return [record for record in records(os.path.join(home, FOLDER, REFUSED)) if isinstance(record, dict)]
    except FileNotFoundError:
        return []
