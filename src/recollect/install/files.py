"""Plan and carry out what connecting or disconnecting an assistant changes.

A plan lists files with their bytes before and after. Disconnecting restores the original bytes if nobody changed the
file since, and otherwise removes only what is ours. Connecting starts from what disconnecting would give.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ..entrypoints.private import make_folder
from ..errors import BadInput, StoreReadOnly
from . import jsonc, toml
from .hosts import NAME, SERVER, Entry, Folders, Program, Target, host

GIVEN = re.compile(r'"--tools",\s*"([^"]+)"')
STATE, BACKUPS = "installed", "backups"
MARKS = re.compile(rf"^# (>>> {NAME} >>>|<<< {NAME} <<<)\n?", re.MULTILINE)  # older versions put them around our table


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; None is a file that is not there."""

    path: Path
    before: bytes | None
    after: bytes | None
    original: bytes | None  # without anything of ours

    def diff(self) -> str:
        old, new = (
            (side or b"").decode("utf-8", "replace").splitlines(keepends=True) for side in (self.before, self.after)
        )
        names = (
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        lines = difflib.unified_diff(old, new, *names)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan(name: str, program: Program, folders: Folders, home: Path, *, leave: bool = False) -> list[Change]:
    """What would change; empty when everything is as it should be."""
    state = _state(home, name)
    changes = []
    for target in host(name).targets(program, folders):
        before = read(target.path)
        original = _without(target, before, state.get(str(target.path)))
        # In TOML our table is changed where it stands, because Codex adds to it what the user decides about tools.
        after = original if leave else _with(target, before if target.table else original)
        if before != after:
            changes.append(Change(target.path, before, after, original))
    return changes


def connected(name: str, program: Program, folders: Folders, home: Path) -> bool:
    """Whether an assistant has everything of ours, just as we would write it now, with whichever tools it was given."""
    if not plan(name, program, folders, home):
        return True
    told = b"\n".join(read(target.path) or b"" for target in host(name).targets(program, folders))
    given = GIVEN.search(told.decode("utf-8", "replace"))
    return given is not None and not plan(name, replace(program, tools=given[1]), folders, home)


def has_ours(name: str, home: Path) -> bool:
    """Whether something was connected and not disconnected since."""
    return bool(_state(home, name))


def remarks(name: str, program: Program, folders: Folders, *, leave: bool = False) -> list[str]:
    """What a person should know of the files as they are: what was left to somebody else, and what keeps hooks off."""
    found = []
    for target in host(name).targets(program, folders):
        values, paths = _values(target), [entry.path for entry in target.entries if NAME in entry.path]
        for path in [*paths, *([SERVER] if target.table else [])]:
            server = toml.at(values, path)
            if server is not None and not _starts_us(server):
                found.append(f"{target.path}: {'.'.join(path)} starts another program, so it was left as it is.")
        if target.off and not leave and toml.at(values, target.off[0]) is target.off[1]:
            switch = f"{'.'.join(target.off[0])} is {json.dumps(target.off[1])}"
            found.append(f"{target.path}: {switch}, so no hook runs: nothing is captured, and nothing comes by itself.")
    return found


def carry_out(name: str, changes: Sequence[Change], home: Path, now: datetime, *, leave: bool = False) -> Path | None:
    """Make the changes, all of them or none; gives the folder with what the files were before."""
    if not changes:
        return None
    backup = home / BACKUPS / f"{now:%Y%m%dT%H%M%S}-{'uninstall' if leave else 'install'}-{name}"
    try:
        make_folder(backup)
        make_folder(home / STATE)
    except OSError as error:
        raise StoreReadOnly(f"{home} cannot be written: {error.strerror}.") from error
    state, made = _state(home, name), list[str]()
    for number, change in enumerate(changes):
        for end, content in (("", change.before), (".original", change.original)):
            if content is not None:
                _write(backup / f"{number}-{change.path.name}{end}", content)
        missing = [str(folder) for folder in change.path.parents if not folder.exists()]  # the innermost first
        known = state.pop(str(change.path), {}).get("made", [])
        made += known if leave else missing
        if not leave:
            kept = None if change.original is None else str(backup / f"{number}-{change.path.name}.original")
            state[str(change.path)] = {"after": _digest(change.after), "original": kept, "made": missing or known}
    record = home / STATE / f"{name}.json"
    _write_all([
        *((change.path, change.before, change.after) for change in changes),
        (record, read(record), json.dumps(state, indent=2).encode() if state else None),
    ], made if not leave else ())  # fmt: skip
    if leave:
        _leave_no_folder(made)
    return backup


def _write_all(files: Sequence[tuple[Path, bytes | None, bytes | None]], made: Sequence[str]) -> None:
    """Write each file; where one cannot be, those before it are as they were, and folders made for them are gone."""
    done: list[tuple[Path, bytes | None]] = []
    try:
        for path, before, after in files:
            _write_over(path, before, after)
            done.append((path, before))
    except BadInput:
        for path, before in reversed(done):
            _write(path, before)
        _leave_no_folder(made)
        raise


def _write_over(path: Path, before: bytes | None, after: bytes | None) -> None:
    if read(path) != before:
        raise BadInput(f"{path} changed while we looked at it.", fix="Try again; nothing was changed.")
    _write(path, after)


def _with(target: Target, original: bytes | None) -> bytes:
    if target.whole:
        return target.whole.encode()
    text = _text(target.path, original)
    with _named(target.path):
        if target.table:
            return _with_table(target, text).encode()
        text = text if text.strip() else "{}\n"
        for entry in target.entries:
            if not _present(text, entry):
                text = jsonc.add(text, entry.path, [entry.value] if _new_list(text, entry) else entry.value)
    return text.encode()


def _with_table(target: Target, text: str) -> str:
    known = toml.at(toml.parse(text), SERVER)
    foreign = known is not None and not _starts_us(known)
    as_wanted = isinstance(known, dict) and all(known.get(name) == value for name, value in target.table.items())
    return text if foreign or as_wanted else toml.put(text, SERVER, target.table)


def _starts_us(server: Any) -> bool:
    """Whether an entry of a server starts this program, from wherever it was installed."""
    command = server.get("command") if isinstance(server, Mapping) else None
    words = command if isinstance(command, list) else [command]
    return bool(words) and isinstance(words[0], str) and re.split(r"[/\\]", words[0])[-1] in (NAME, f"{NAME}.exe")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors in the text of a file, with its name."""
    try:
        yield
    except BadInput as error:
        error.message = f"{path}: {error.message}"
        raise


def _values(target: Target) -> Mapping[str, Any]:
    """What a file says now, as values."""
    text = _text(target.path, read(target.path))
    with _named(target.path):
        if target.table:
            return toml.parse(text)
        found = jsonc.parse(text).plain() if target.entries and text.strip() else {}
    return found if isinstance(found, Mapping) else {}


def _new_list(text: str, entry: Entry) -> bool:
    return entry.listed and _at(text, entry.path) is None


def _present(text: str, entry: Entry) -> bool:
    """Whether the entry needs nothing: it is there, or, where it is no thing of ours, something is."""
    found = _at(text, entry.path)
    if entry.listed:
        return isinstance(found, list) and entry.value in found
    return found is not None


def _at(text: str, path: Sequence[str]) -> Any:
    return toml.at(jsonc.parse(text).plain(), path)


def _without(target: Target, current: bytes | None, known: Mapping[str, Any] | None) -> bytes | None:
    """The file as it would be had we never been there."""
    if current is None:
        return None
    if known and known.get("after") == _digest(current):
        return read(Path(known["original"])) if known.get("original") else None
    if target.whole:
        return None if f"{NAME} hook".encode() in current or f'{NAME}", "hook"'.encode() in current else current
    text = _text(target.path, current)
    with _named(target.path):
        left = _without_table(text) if target.table else _without_entries(target, text)
    ours_alone = known is not None and known.get("original") is None and left.strip() in ("", "{}")
    return None if ours_alone else left.encode()


def _without_table(text: str) -> str:
    known = toml.at(toml.parse(text), SERVER)
    left = toml.remove(text, SERVER) if known is not None and _starts_us(known) else text
    return MARKS.sub("", left)


def _without_entries(target: Target, text: str) -> str:
    if not text.strip():
        return text
    for entry in target.entries:
        if entry.listed:
            text = jsonc.remove(text, entry.path, lambda item, like=entry: _ours(item, like))  # type: ignore[misc]
        elif NAME in entry.path and _starts_us(_at(text, entry.path)):
            text = jsonc.remove(text, entry.path)
    if jsonc.parse(text).plain() == {"version": 1}:  # which Cursor wants, and nobody else wrote
        text = jsonc.remove(text, ("version",))
    return text


def _ours(item: Any, like: Entry) -> bool:
    """Whether an item of a list of hooks calls us for the same event, from wherever we were installed then."""
    event = like.path[-1]
    return any(f"{NAME}" in said and f" hook {event} " in said for said in jsonc.strings(item))


def _state(home: Path, name: str) -> dict[str, Any]:
    found = read(home / STATE / f"{name}.json")
    try:
        state = json.loads(found) if found else {}
    except ValueError:  # damaged: leaving then takes out what is recognised
        state = {}
    return state if isinstance(state, dict) else {}


def read(path: Path) -> bytes | None:
    """The bytes of a file, or nothing where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", fix="Make it readable for you.") from error


def _leave_no_folder(made: Sequence[str]) -> None:
    """Remove the folders that we made, as far as nobody has put anything into them."""
    for folder in sorted(map(Path, made), key=lambda folder: -len(folder.parts)):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _text(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8.", fix="Mend it first; it was not touched.") from error


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()


def _write(path: Path, content: bytes | None) -> None:
    """Put a file in place of the old one, whole; None removes it."""
    real = Path(os.path.realpath(path))
    try:
        if content is None:
            path.unlink(missing_ok=True)
            return
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if real.exists():
            shutil.copymode(real, part)
        os.replace(part, real)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}.", fix="Make its folder writable for you."
        ) from error
