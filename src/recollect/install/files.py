"""Files: what connecting or leaving an assistant would change, shown first, then done.

A plan is a list of changes, each a file with its bytes before and after; nothing has happened yet. Doing it keeps a
copy of every file as it was and writes the new one whole, in place of the old, with its mode, also behind a symbolic
link.

Leaving gives back the very bytes that were there before, as long as nobody has changed the file since. Where somebody
has, and assistants write into their own files, only what is ours is taken out, and the rest stays as it is now.
Connecting again starts from what leaving would give, so that it can be done any number of times.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import BadInput
from . import jsonc
from .hosts import NAME, Entry, Folders, Program, Target, host

STATE, BACKUPS = "installed", "backups"
OPENS, CLOSES = f"# >>> {NAME} >>>", f"# <<< {NAME} <<<"


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
        before = _read(target.path)
        original = _without(target, before, state.get(str(target.path)))
        after = original if leave else _with(target, original)
        if before != after:
            changes.append(Change(target.path, before, after, original))
    return changes


def connected(name: str, program: Program, folders: Folders, home: Path) -> bool:
    """Whether an assistant has everything of ours, just as we would write it now."""
    return not plan(name, program, folders, home)


def carry_out(name: str, changes: Sequence[Change], home: Path, now: datetime, *, leave: bool = False) -> Path | None:
    """Make the changes; gives the folder with what the files were before."""
    if not changes:
        return None
    backup = home / BACKUPS / f"{now:%Y%m%dT%H%M%S}-{'uninstall' if leave else 'install'}-{name}"
    backup.mkdir(mode=0o700, parents=True, exist_ok=True)
    state, emptied = _state(home, name), list[str]()
    for number, change in enumerate(changes):
        if _read(change.path) != change.before:
            raise BadInput(f"{change.path} changed while we looked at it.", fix="Try again; it was not touched.")
        saved = backup / f"{number}-{change.path.name}"
        original = backup / f"{number}-{change.path.name}.original"
        for place, content in ((saved, change.before), (original, change.original)):
            if content is not None:
                _write(place, content)
        made = [str(folder) for folder in change.path.parents if not folder.exists()]  # the innermost first
        _write(change.path, change.after)
        if leave:
            emptied += state.pop(str(change.path), {}).get("made", [])
        else:
            kept = None if change.original is None else str(original)
            made = made or state.get(str(change.path), {}).get("made", [])
            state[str(change.path)] = {"after": _digest(change.after), "original": kept, "made": made}
    _leave_no_folder(emptied)
    _write(home / STATE / f"{name}.json", json.dumps(state, indent=2).encode() if state else None)
    return backup


# -- with and without us ----------------------------------------------------------------------------------------------


def _with(target: Target, original: bytes | None) -> bytes:
    if target.whole:
        return target.whole.encode()
    text = _text(target.path, original)
    if target.block:
        return _with_block(target, text).encode()
    text = text if text.strip() else "{}\n"
    try:
        for entry in target.entries:
            if not _present(text, entry):
                text = jsonc.add(text, entry.path, [entry.value] if _new_list(text, entry) else entry.value)
    except BadInput as error:
        error.message = f"{target.path}: {error.message}"
        raise
    return text.encode()


def _new_list(text: str, entry: Entry) -> bool:
    return entry.listed and _at(text, entry.path) is None


def _present(text: str, entry: Entry) -> bool:
    """Whether the entry needs nothing: it is there, or, where it is no thing of ours, something is."""
    found = _at(text, entry.path)
    if entry.listed:
        return isinstance(found, list) and entry.value in found
    return found is not None


def _at(text: str, path: Sequence[str]) -> Any:
    value = jsonc.parse(text).plain()
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _with_block(target: Target, text: str) -> str:
    try:
        known = tomllib.loads(text)
        if NAME in known.get("mcp_servers", {}):  # the user's own entry is as good as ours
            return text
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        made = f"{text}{gap}{OPENS}\n{target.block}\n{CLOSES}\n"
        tomllib.loads(made)
    except (tomllib.TOMLDecodeError, AttributeError, TypeError) as error:
        raise BadInput(
            f"{target.path} cannot be added to: {error}.", fix="Mend it first; it was not touched."
        ) from error
    return made


def _without(target: Target, current: bytes | None, known: Mapping[str, Any] | None) -> bytes | None:
    """The file as it would be had we never been there."""
    if current is None:
        return None
    if known and known.get("after") == _digest(current):
        return _read(Path(known["original"])) if known.get("original") else None
    if target.whole:
        return None if f"{NAME} hook".encode() in current or f'{NAME}", "hook"'.encode() in current else current
    text = _text(target.path, current)
    left = _without_block(text) if target.block else _without_entries(target, text)
    ours_alone = known is not None and known.get("original") is None and left.strip() in ("", "{}")
    return None if ours_alone else left.encode()


def _without_block(text: str) -> str:
    start, end = text.find(OPENS), text.find(CLOSES)
    if start < 0 or end < start:
        return text
    after = end + len(CLOSES)
    after += text.startswith("\n", after)
    start -= text.endswith("\n\n", 0, start)
    return text[:start] + text[after:]


def _without_entries(target: Target, text: str) -> str:
    if not text.strip():
        return text
    try:
        for entry in target.entries:
            if entry.listed:
                text = jsonc.remove(text, entry.path, lambda item, like=entry: _ours(item, like))  # type: ignore[misc]
            elif NAME in entry.path:
                text = jsonc.remove(text, entry.path)
        if jsonc.parse(text).plain() == {"version": 1}:  # which Cursor wants, and nobody else wrote
            text = jsonc.remove(text, ("version",))
    except BadInput as error:
        error.message = f"{target.path}: {error.message}"
        raise
    return text


def _ours(item: Any, like: Entry) -> bool:
    """Whether an item of a list of hooks calls us for the same event, from wherever we were installed then."""
    event = like.path[-1]
    return any(f"{NAME}" in said and f" hook {event} " in said for said in jsonc.strings(item))


# -- small parts ------------------------------------------------------------------------------------------------------


def _state(home: Path, name: str) -> dict[str, Any]:
    found = _read(home / STATE / f"{name}.json")
    try:
        state = json.loads(found) if found else {}
    except ValueError:  # damaged: leaving then takes out what is recognised
        state = {}
    return state if isinstance(state, dict) else {}


def _read(path: Path) -> bytes | None:
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
    if content is None:
        path.unlink(missing_ok=True)
        return
    real = Path(os.path.realpath(path))
    try:
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
