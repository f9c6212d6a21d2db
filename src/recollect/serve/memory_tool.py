"""The memory tool: Claude's `memory_20250818` commands, over memories.

A file is a memory of kind `doc` with the tag `memory-file`, whose title is the path and whose content is the path as
its first line and the text below it, so that two files may hold the same text and a recall tells which file it found.
Files lie in the scope the caller is at home in; nobody else's are seen. Directories are what paths have in common.

Paths are text, never names of the file system. They begin with /memories and are refused when a part is empty, a dot,
two dots, or holds an encoded or unusual sign.

A mistake of the model is an answer (`is_error`), as the tool's contract has it; only a request that is no command at
all is an error. Text is kept as every memory is: without blanks at its end, control characters or secrets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import RecollectError
from ..types import Memory, Scope

COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
ROOT = "/memories"
TAG = "memory-file"
MAX_PATH = 250
MAX_FILES = 1000  # looked at in one scope
_PART = re.compile(r"[\w .,@+()\[\]-]+")
PLACES = ("project", "user", "branch", "agent", "session")


class Mistake(Exception):
    """Something the model can mend by itself."""


def run(engine: Engine, caller: Caller, *, command: str, **given: Any) -> dict[str, Any]:
    """Do one command; the content is what the model is told."""
    scope = caller.scope({name: given.pop(name) for name in PLACES if name in given})
    files = Files(engine, caller, scope)
    try:
        return {"content": getattr(files, command)(given), "is_error": False}
    except Mistake as mistake:
        return {"content": str(mistake), "is_error": True}
    except RecollectError as error:
        if error.status >= 500:
            raise
        from .advice import for_model  # which knows every operation, this one among them

        return {"content": for_model(error), "is_error": True}


def checked(path: Any, name: str = "path") -> str:
    """A path below /memories, or a mistake.

    >>> checked("/memories/notes/a.md/")
    '/memories/notes/a.md'
    """
    if not isinstance(path, str):
        raise Mistake(f"{name} is missing.")
    trimmed = path.removesuffix("/") if path != "/" else path
    parts = trimmed.split("/")
    inside = parts[:2] == ["", "memories"]
    if not inside or len(path) > MAX_PATH or any(not _PART.fullmatch(p) or not p.strip(". ") for p in parts[2:]):
        raise Mistake(f"{name} must be a plain path below {ROOT}.")
    return trimmed


class Files:
    """The files of one scope."""

    def __init__(self, engine: Engine, caller: Caller, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        page = engine.list(scope=scope, tags=[TAG], limit=MAX_FILES)
        mine = [memory for memory in page.memories if memory.scope == scope and caller.owns(memory)]
        self._kept: dict[str, Memory] = {memory.title: memory for memory in reversed(mine)}

    # -- commands -----------------------------------------------------------------------------------------------------

    def view(self, given: dict[str, Any]) -> str:
        path = checked(given.get("path"))
        if path in self._kept:
            return self._lines(path, given.get("view_range"))
        below = self._below(path)
        if not below and path != ROOT:
            raise Mistake(f"There is no file or directory {path}.")
        shown: dict[str, int] = {path: sum(len(self._text(one)) for one in below)}
        for file in below:  # two levels, as a directory listing of a person would have
            parts = file[len(path) + 1 :].split("/")
            for depth in range(1, min(len(parts), 2) + 1):
                inner = "/".join([path, *parts[:depth]])
                shown[inner] = shown.get(inner, 0) + len(self._text(file))
        return "\n".join(
            [f"In {path}, two levels deep, with sizes:", *(f"{n}\t{one}" for one, n in sorted(shown.items()))]
        )

    def create(self, given: dict[str, Any]) -> str:
        path = self._new(given.get("path"), "path", replaces=True)
        self._write(path, _told(given, "file_text"))
        return f"Written: {path}"

    def str_replace(self, given: dict[str, Any]) -> str:
        path = self._file(given.get("path"))
        old, text = _told(given, "old_str"), self._text(path)
        if not old or text.count(old) != 1:
            places = [n for n, line in enumerate(text.split("\n"), 1) if old and old.split("\n")[0] in line]
            raise Mistake(f"old_str must occur exactly once in {path}; it occurs {text.count(old) if old else 0} times"
                          f"{f', near lines {places[:20]}' if len(places) > 1 else ''}.")  # fmt: skip
        self._write(path, text.replace(old, given.get("new_str") or ""))
        return f"Edited: {path}"

    def insert(self, given: dict[str, Any]) -> str:
        path = self._file(given.get("path"))
        lines, at = self._text(path).split("\n"), given.get("insert_line")
        if at is None or at > len(lines):
            raise Mistake(f"insert_line must be from 0 to {len(lines)}.")
        self._write(path, "\n".join([*lines[:at], _told(given, "insert_text").removesuffix("\n"), *lines[at:]]))
        return f"Edited: {path}"

    def delete(self, given: dict[str, Any]) -> str:
        path = checked(given.get("path"))
        gone = [path] if path in self._kept else self._below(path)
        if path == ROOT or not gone:
            raise Mistake(f"{path} cannot be deleted." if path == ROOT else f"There is no file or directory {path}.")
        self._engine.forget([self._kept[one].id for one in gone], reason="deleted with the memory tool")
        return f"Deleted: {path}"

    def rename(self, given: dict[str, Any]) -> str:
        old, new = checked(given.get("old_path"), "old_path"), self._new(given.get("new_path"), "new_path")
        moved = [old] if old in self._kept else self._below(old)
        if old == ROOT or not moved:
            raise Mistake(f"There is no file or directory {old} to rename.")
        if new.startswith(f"{old}/"):
            raise Mistake(f"{old} cannot be moved into itself.")
        for one in moved:
            target = checked(new + one[len(old) :], "new_path")
            content = f"{target}\n{self._text(one)}"
            self._engine.edit(self._kept[one].id, title=target, content=content, reason=f"renamed from {one}")
        return f"Renamed: {old} is now {new}"

    # -- small parts --------------------------------------------------------------------------------------------------

    def _file(self, path: Any) -> str:
        if (wanted := checked(path)) not in self._kept:
            raise Mistake(f"There is no file {wanted}.")
        return wanted

    def _new(self, path: Any, name: str, *, replaces: bool = False) -> str:
        wanted = checked(path, name)
        if wanted == ROOT or self._below(wanted) or (wanted in self._kept and not replaces):
            raise Mistake(f"{wanted} is there already.")
        parents = wanted.split("/")[:-1]
        if file := next((p for n in range(3, len(parents) + 1) if (p := "/".join(parents[:n])) in self._kept), None):
            raise Mistake(f"{file} is a file, not a directory.")
        if len(self._kept) >= MAX_FILES:
            raise Mistake(f"There are {MAX_FILES} files already; delete one first.")
        return wanted

    def _below(self, path: str) -> list[str]:
        return sorted(one for one in self._kept if one.startswith(f"{path}/"))

    def _text(self, path: str) -> str:
        return self._kept[path].content.removeprefix(path).removeprefix("\n")

    def _write(self, path: str, text: str) -> None:
        content = f"{path}\n{text}"
        if path in self._kept:
            self._engine.edit(self._kept[path].id, content=content, reason="written with the memory tool")
            return
        done = self._engine.remember(
            content, kind="doc", title=path, tags=[TAG], scope=self._scope, source=f"file:{path.replace(' ', '%20')}"
        )
        if done.action == "refused":
            raise Mistake(f"Refused: {done.reason}.")

    def _lines(self, path: str, wanted: Sequence[int] | None) -> str:
        lines = self._text(path).split("\n")
        first, last = 1, len(lines)
        if wanted is not None:
            if len(wanted) != 2:
                raise Mistake("view_range must be two numbers, the first and the last line.")
            first, last = wanted[0], len(lines) if wanted[1] == -1 else wanted[1]
            if not 1 <= first <= last:
                raise Mistake(f"view_range must lie within lines 1 to {len(lines)}.")
        shown = [f"{number:6}\t{line}" for number, line in enumerate(lines, 1) if first <= number <= last]
        return "\n".join([f"{path}, with line numbers:", *shown])


def _told(given: dict[str, Any], name: str) -> str:
    if given.get(name) is None:
        raise Mistake(f"{name} is missing.")
    return str(given[name])
