"""Edit TOML as text, so that everything that is not ours stays as it was written. Pure.

Every edit is read back and compared with the expected values, so a file that cannot be edited this way is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput


@dataclass(frozen=True, slots=True)
class Statement:
    """A header or a key with its value, and where it stands, with the end of its last line."""

    path: tuple[str, ...]  # the whole path, with that of the table it is in
    start: int
    end: int
    is_header: bool


def parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"It is not valid TOML: {error}.", fix="Correct the file first; it was not touched.") from error


def at(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value at a path, or None.

    >>> at({"a": {"b": 1}}, ("a", "b")), at({"a": 1}, ("a", "b"))
    (1, None)
    """
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def remove(text: str, path: Sequence[str]) -> str:
    """The text without a key and everything below it.

    >>> remove('a = 1\\n\\n[x.us]\\nb = 2\\n\\n[x.us.more]\\nc = 3\\n# theirs\\n[y]\\n', ("x", "us"))
    'a = 1\\n\\n# theirs\\n[y]\\n'
    """
    wanted = parse(text)
    holder = at(wanted, path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        return text
    del holder[path[-1]]
    for start, end in reversed(list(_spans(text, tuple(path)))):
        start -= text.endswith("\n\n", 0, start) and text[end : end + 1] in ("", "\n")  # a blank line too many
        text = text[:start] + text[end:]
    return _checked(text, wanted, path)


def put(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with keys set in a table, which is put at the end where it is not there; its other keys stay.

    >>> put('a = 1\\n', ("x", "us"), {"command": "it"})
    'a = 1\\n\\n[x.us]\\ncommand = "it"\\n'
    >>> put('[x.us]\\ncommand = "old"\\nmore = 1\\n', ("x", "us"), {"command": "it"})
    '[x.us]\\ncommand = "it"\\nmore = 1\\n'
    """
    wanted = parse(text)
    inside = wanted
    for name in path:
        inside = inside.setdefault(name, {})
        if not isinstance(inside, dict):
            raise _strange(path)
    before = dict(inside)
    inside.update(values)
    if any(one.is_header and one.path == tuple(path) for one in _statements(text)):
        for name in values:
            text = remove(text, (*path, name))
        place = next(one.end for one in _statements(text) if one.is_header and one.path == tuple(path))
        gap = "" if text.endswith("\n", 0, place) else "\n"
        return _checked(text[:place] + gap + _lines(values) + text[place:], wanted, path)
    text = remove(text, path)  # where it was written in another way: inside its parent, or by dotted keys
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return _checked(f"{text}{gap}{table(path, {**before, **values})}", wanted, path)


def table(path: Sequence[str], values: Mapping[str, Any]) -> str:
    """
    >>> table(("x", "a b"), {"command": "it"})
    '[x."a b"]\\ncommand = "it"\\n'
    """
    return f"[{'.'.join(map(_key, path))}]\n{_lines(values)}"


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_written(value)}\n" for name, value in values.items())


def _spans(text: str, path: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where what sets the path or a part of it begins and ends; a table reaches to the last of its keys."""
    begun = -1
    end = 0
    for one in [*_statements(text), Statement((), len(text), len(text), is_header=True)]:
        ours = one.path[: len(path)] == path
        if begun >= 0 and (one.is_header or not ours):
            yield begun, end
            begun = -1
        if ours:
            begun, end = one.start if begun < 0 else begun, one.end


def _statements(text: str) -> Iterator[Statement]:
    """The statements of a text that is valid TOML."""
    table: tuple[str, ...] = ()
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # `splitlines` would also break at letters that TOML does not
    place = number = 0
    while number < len(lines):
        said, start, number = lines[number], place, number + 1
        if said.lstrip().startswith("["):
            table = _path(said)
            yield Statement(table, start, start + len(said), is_header=True)
        elif said.strip() and not said.lstrip().startswith("#"):
            while not _is_whole(said):  # a list or a text over several lines
                said, number = said + lines[number], number + 1
            yield Statement((*table, *_path(_name(said))), start, start + len(said), is_header=False)
        place = start + len(said)


def _is_whole(said: str) -> bool:
    try:
        tomllib.loads(said)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _name(said: str) -> str:
    """The key of a statement, as a statement of its own; an equals sign may stand inside a quoted key.

    >>> _name('"a=b".c = "d=e"')
    '"a=b".c = 0'
    """
    places = (place for place, letter in enumerate(said) if letter == "=")
    return next(key for place in places if _is_whole(key := f"{said[:place]}= 0"))


def _path(said: str) -> tuple[str, ...]:
    """The path that a header or a key with a plain value names.

    >>> _path("[a.'b c'.d] # e"), _path("[[a.b]]"), _path("a.b = 0")
    (('a', 'b c', 'd'), ('a', 'b'), ('a', 'b'))
    """
    names, inside = [], tomllib.loads(said)
    while isinstance(inside, dict) and inside:
        ((name, inside),) = inside.items()
        names.append(name)
    return tuple(names)


def _written(value: Any) -> str:
    """A value on one line.

    >>> _written({"a b": ["c", 1], "d": True})
    '{ "a b" = ["c", 1], d = true }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_written(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # TOML writes texts, numbers and truth as JSON does


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else json.dumps(name, ensure_ascii=False)


def _checked(text: str, wanted: Mapping[str, Any], path: Sequence[str]) -> str:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise _strange(path) from None
    if _without_empty(found) != _without_empty(wanted):
        raise _strange(path)
    return text


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Tables without those that hold nothing: whether an empty one is named makes no difference."""
    inside = {name: _without_empty(one) if isinstance(one, Mapping) else one for name, one in values.items()}
    return {name: one for name, one in inside.items() if one != {}}


def _strange(path: Sequence[str]) -> BadInput:
    return BadInput(
        f"{'.'.join(path)} is written in a way that cannot be edited here.",
        fix=f"Write it as a table of its own, [{'.'.join(map(_key, path))}], or edit it by hand; it was not touched.",
    )
