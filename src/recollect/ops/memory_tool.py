"""The memory tool: Claude's `memory_20250818` commands, over memories.

A file is a memory of kind `doc` with the tag `memory-file`; its title is the path, its content the path and the text.
Paths are text, never names in the file system. Answers and refusals use the words of Anthropic's SDK, because models
are trained on them. A mistake of the model is an answer (`is_error`). Text is shown line by line as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import RecollectError
from ..recall.fence import neutral_line
from ..types import Memory, Scope
from .advice import for_model
from .parameters import PLACES

COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
ROOT = "/memories"
TAG = "memory-file"
MAX_PATH = 250
MAX_FILES = 1000  # looked at in one scope
MISSING = "The path {} does not exist. Please provide a valid path."
END = "\u2060"  # behind the blanks that a file ends in; it is not seen
_PART = re.compile(r"[\w .,@+()\[\]-]+")


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
    if parts[:2] != ["", "memories"]:
        raise Mistake(f"Path must start with {ROOT}, got: {path}")
    if ".." in parts:
        raise Mistake(f"Path {path} would escape {ROOT} directory")
    if len(path) > MAX_PATH or any(not _PART.fullmatch(p) or not p.strip(". ") for p in parts[2:]):
        raise Mistake(f"{name} must be a plain path below {ROOT}.")
    return trimmed


class Files:
    """The files of one scope."""

    def __init__(self, engine: Engine, caller: Caller, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        page = engine.list(scope=scope, tags=[TAG], limit=MAX_FILES)
        mine = [memory for memory in page.memories if memory.scope == scope.stored() and caller.owns(memory)]
        self._kept: dict[str, Memory] = {memory.title: memory for memory in reversed(mine)}

    def view(self, given: dict[str, Any]) -> str:
        path = checked(given.get("path"))
        if path in self._kept:
            return self._lines(path, given.get("view_range"))
        below = [one for one in self._below(path) if not any(part.startswith(".") for part in one.split("/"))]
        if not self._below(path) and path != ROOT:
            raise Mistake(MISSING.format(path))
        shown: dict[str, int] = {}
        for file in below:  # two levels, as a directory listing of a person would have
            parts, size = file[len(path) + 1 :].split("/"), len(self._text(file).encode())
            for depth in range(1, min(len(parts), 2) + 1):
                inner = "/".join([path, *parts[:depth]]) + ("/" if depth < len(parts) else "")
                shown[inner] = shown.get(inner, 0) + size
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        total = sum(len(self._text(one).encode()) for one in below)
        return "\n".join([head, f"{_size(total)}\t{path}", *(f"{_size(n)}\t{one}" for one, n in sorted(shown.items()))])

    def create(self, given: dict[str, Any]) -> str:
        path = checked(given.get("path"))
        if path == ROOT or path in self._kept or self._below(path):
            raise Mistake(f"File {path} already exists")
        self._free(path)
        self._write(path, _told(given, "file_text"))
        return f"File created successfully at: {path}"

    def str_replace(self, given: dict[str, Any]) -> str:
        path = self._file(given.get("path"))
        old, new = _told(given, "old_str"), given.get("new_str") or ""
        text = _as_shown(self._text(path), old)
        if not old or old not in text:
            raise Mistake(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if text.count(old) > 1:
            places = ", ".join(str(text.count("\n", 0, at) + 1) for at in _places(text, old))
            raise Mistake(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. "
                "Please ensure it is unique"
            )
        at = text.count("\n", 0, text.index(old))
        text = text.replace(old, new)
        self._write(path, text)
        snippet = _numbered(text.split("\n"), max(0, at - 2), at + 3)
        return "\n".join([
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):", *snippet
        ])  # fmt: skip

    def insert(self, given: dict[str, Any]) -> str:
        path = self._file(given.get("path"))
        lines, at = self._text(path).removesuffix("\n").split("\n"), given.get("insert_line")
        lines = lines if lines != [""] else []
        if at is None or at > len(lines):
            raise Mistake(f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}].")
        lines.insert(at, _told(given, "insert_text").rstrip("\n"))
        self._write(path, "\n".join([*lines, ""]))
        return f"The file {path} has been edited."

    def delete(self, given: dict[str, Any]) -> str:
        path = checked(given.get("path"))
        if path == ROOT:
            raise Mistake(f"Cannot delete the {ROOT} directory itself")
        self._engine.forget([self._kept[one].id for one in self._those(path)], reason="deleted with the memory tool")
        return f"Successfully deleted {path}"

    def rename(self, given: dict[str, Any]) -> str:
        old, new = checked(given.get("old_path"), "old_path"), checked(given.get("new_path"), "new_path")
        if old == ROOT:
            raise Mistake(f"Cannot rename the {ROOT} directory itself")
        if new == ROOT or new in self._kept or self._below(new):
            raise Mistake(f"The destination {new} already exists")
        moved = self._those(old)
        if new.startswith(f"{old}/"):
            raise Mistake(f"{old} cannot be moved into itself.")
        self._free(new)
        for one in moved:
            target = checked(new + one[len(old) :], "new_path")
            content = _content(target, self._text(one))
            self._engine.edit(self._kept[one].id, title=target, content=content, reason=f"renamed from {one}")
        return f"Successfully renamed {old} to {new}"

    def _file(self, path: Any) -> str:
        if (wanted := checked(path)) not in self._kept:
            there = wanted == ROOT or self._below(wanted)
            raise Mistake(f"The path {wanted} is not a file." if there else MISSING.format(wanted))
        return wanted

    def _those(self, path: str) -> list[str]:
        """The file, or the files of the directory."""
        found = [path] if path in self._kept else self._below(path)
        if not found:
            raise Mistake(f"The path {path} does not exist")
        return found

    def _free(self, path: str) -> None:
        """Raise where a file cannot be put."""
        parents = path.split("/")[:-1]
        if file := next((p for n in range(3, len(parents) + 1) if (p := "/".join(parents[:n])) in self._kept), None):
            raise Mistake(f"{file} is a file, not a directory.")
        if len(self._kept) >= MAX_FILES:
            raise Mistake(f"There are {MAX_FILES} files already; delete one first.")

    def _below(self, path: str) -> list[str]:
        return sorted(one for one in self._kept if one.startswith(f"{path}/"))

    def _text(self, path: str) -> str:
        return self._kept[path].content.removeprefix(path).removeprefix("\n").removesuffix(END)

    def _write(self, path: str, text: str) -> None:
        content = _content(path, text)
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
            first, last = max(1, wanted[0]), len(lines) if wanted[1] == -1 else wanted[1]
            if not first <= last:
                raise Mistake(f"view_range must lie within lines 1 to {len(lines)}.")
        return "\n".join([f"Here's the content of {path} with line numbers:", *_numbered(lines, first - 1, last)])


def _numbered(lines: Sequence[str], start: int, end: int) -> list[str]:
    return [f"{number:6}\t{neutral_line(line)}" for number, line in enumerate(lines[start:end], start + 1)]


def _as_shown(text: str, old: str) -> str:
    """The text, with the lines that `old` names in the form in which they were shown, where it names them so."""
    lines, shown = text.split("\n"), "\n".join(map(neutral_line, text.split("\n")))
    if not old or old in text or old not in shown:
        return text
    first = shown.count("\n", 0, shown.index(old))
    places = slice(first, first + old.count("\n") + 1)
    lines[places] = shown.split("\n")[places]
    return "\n".join(lines)


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _content(path: str, text: str) -> str:
    """What is stored. A memory loses the blanks at its end, so a file that ends in some gets a mark behind them."""
    return f"{path}\n{text}{END if text != text.rstrip() or text.endswith(END) else ''}"


def _size(count: int) -> str:
    """
    >>> _size(0), _size(512), _size(1536)
    ('0B', '512B', '1.5K')
    """
    unit = min((max(count, 1).bit_length() - 1) // 10, 3)
    size = count / 1024**unit
    return f"{size:.0f}{'BKMG'[unit]}" if size == int(size) else f"{size:.1f}{'BKMG'[unit]}"


def _told(given: dict[str, Any], name: str) -> str:
    if given.get(name) is None:
        raise Mistake(f"{name} is missing.")
    return str(given[name])


def answered(result: dict[str, Any], now: Any) -> str:
    return str(result["content"])
