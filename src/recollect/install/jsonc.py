"""Edit JSON with comments as text, so that everything that is not ours stays as it was written. Pure.

A file is parsed into spans, and a change inserts or cuts text at one place. Removing what was added restores the bytes.

    add('{"a": 1}', ("servers", "x"), 2)   ->   '{"a": 1, "servers": {"x": 2}}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadInput

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
MAX_DEPTH = 100


@dataclass(slots=True)
class Node:
    """A value and where it stands; an object has named members, a list has unnamed ones."""

    start: int
    end: int = 0
    value: Any = None  # of what is neither an object nor a list
    kind: str = "value"
    members: list[Member] = field(default_factory=list)

    def get(self, name: str) -> Node | None:
        """The member of that name; of several, the last, which is the one that counts."""
        return next((member.node for member in reversed(self.members) if member.name == name), None)

    def plain(self) -> Any:
        """The value as Python has it.

        >>> parse('{"a": [1, /* two */ 2,], "b": null}').plain()
        {'a': [1, 2], 'b': None}
        """
        if self.kind == "object":
            return {member.name: member.node.plain() for member in self.members}
        return [member.node.plain() for member in self.members] if self.kind == "list" else self.value


@dataclass(slots=True)
class Member:
    name: str
    start: int  # of the name, or of the value in a list
    node: Node


def parse(text: str) -> Node:
    """Where everything stands; raises BadInput with the line where it is no JSON."""
    place = _after(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, place, 0)
    if _after(text, node.end) != len(text):
        raise _wrong(text, node.end)
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise BadInput("The file is nested too deeply.")
    node = Node(at)
    if text[at : at + 1] in ("{", "["):
        return _members(text, node, depth)
    if found := _STRING.match(text, at) or _PLAIN.match(text, at):
        node.end = found.end()
        try:
            node.value = json.loads(found[0])
        except ValueError as error:
            raise _wrong(text, at) from error
        return node
    raise _wrong(text, at)


def _members(text: str, node: Node, depth: int) -> Node:
    named = text[node.start] == "{"
    node.kind, close = ("object", "}") if named else ("list", "]")
    at = _after(text, node.start + 1)
    while text[at : at + 1] != close:
        start, name = at, ""
        if named:
            found = _STRING.match(text, at)
            if not found or text[(at := _after(text, found.end())) : at + 1] != ":":
                raise _wrong(text, at)
            name, at = str(json.loads(found[0])), _after(text, at + 1)
        node.members.append(Member(name, start, _value(text, at, depth + 1)))
        at = _after(text, node.members[-1].node.end)
        if text[at : at + 1] == ",":
            at = _after(text, at + 1)
        elif text[at : at + 1] != close:
            raise _wrong(text, at)
    node.end = at + 1
    return node


def _after(text: str, at: int) -> int:
    """The first place after blanks and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int) -> BadInput:
    line = text.count("\n", 0, at) + 1
    return BadInput(f"Line {line} is not JSON.", fix="Mend the file, or move it away; it was not touched.")


def add(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value put at the end of what the path leads to; a list takes it as one more item.

    >>> add('{\\n  "a": 1 // one\\n}', ("b", "c"), True)
    '{\\n  "a": 1, // one\\n  "b": {\\n    "c": true\\n  }\\n}'
    >>> add('{"hooks": {"Stop": [1]}}', ("hooks", "Stop"), 2)
    '{"hooks": {"Stop": [1, 2]}}'
    """
    node, left = parse(text), list(path)
    while left and node.kind == "object" and (found := node.get(left[0])):
        node, left = found, left[1:]
    if (node.kind == "object") != bool(left) or node.kind == "value":
        raise BadInput(f"{'.'.join(path)} is not what was expected there.", fix="Look at that part of the file.")
    for name in reversed(left[1:]):
        value = {name: value}
    unit, own = _indent(text), _line_indent(text, node.start)
    spread = "\n" in text[node.start : node.end] or not node.members
    written = json.dumps(value, indent=unit if spread else None, ensure_ascii=False)
    written = written.replace("\n", "\n" + own + unit)
    item = f"{json.dumps(left[0])}: {written}" if left else written
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        tail = "" if "\n" in inside else f"\n{own}"
        head = node.start + 1
        return f"{text[:head]}\n{own}{unit}{item}{tail}{text[head:]}"
    last = node.members[-1].node.end
    comma = _comma(text, last)
    if not spread:
        return f"{text[:last]}, {item}{text[last:]}"
    # On a line of its own, after whatever remark stands behind the last one.
    line = _line_end(text, comma or last, node.end - 1)
    if comma:
        return f"{text[:line]}\n{own}{unit}{item},{text[line:]}"
    return f"{text[:last]},{text[last:line]}\n{own}{unit}{item}{text[line:]}"


def _comma(text: str, at: int) -> int:
    """The place after the comma that follows, or nought."""
    at = _after(text, at)
    return at + 1 if text[at : at + 1] == "," else 0


def _line_end(text: str, at: int, most: int) -> int:
    """The end of the line, where only blanks and a remark are left on it; else the place itself."""
    found = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\n)").match(text, at)
    return found.end() if found and found.end() <= most else at


def _indent(text: str) -> str:
    """How the file is indented.

    >>> _indent('{\\n\\t"a": 1}'), _indent("{}")
    ('\\t', '  ')
    """
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _line_indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found[0] if found else ""


def remove(text: str, path: Sequence[str], ours: Callable[[Any], bool] | None = None) -> str:
    """The text without the member at the path, or, where it is told which are ours, without those items of the list.

    What is left empty by it goes too, up to the first thing that holds something else.

    >>> remove('{"a": 1, "b": {"c": true}}', ("b", "c"))
    '{"a": 1}'
    >>> remove('{"hooks": {"Stop": [1, 2, 3]}}', ("hooks", "Stop"), lambda item: item == 2)
    '{"hooks": {"Stop": [1, 3]}}'
    """
    chain = [parse(text)]
    for name in path:
        found = chain[-1].get(name) if chain[-1].kind == "object" else None
        if found is None:
            return text
        chain.append(found)
    if ours is not None:
        gone = [n for n, member in enumerate(chain[-1].members) if ours(member.node.plain())]
        if not gone:
            return text
        if len(gone) < len(chain[-1].members):
            for number in reversed(gone):
                text = _cut(text, chain[-1], number)
            return text
    depth = len(chain) - 1
    while depth > 1 and len(chain[depth - 1].members) == 1:
        depth -= 1
    holder = chain[depth - 1]
    number = next(n for n, member in enumerate(holder.members) if member.node is chain[depth])
    return _cut(text, holder, number)


def _cut(text: str, holder: Node, number: int) -> str:
    """The text without one member and without the comma that has become one too many."""
    member = holder.members[number]
    if number:  # from the end of the one before, so that its comma and our line go
        before = holder.members[number - 1].node.end
        comma = _comma(text, before)
        start = max(text.rfind("\n", comma, member.start), comma)
        rest = text[member.node.end :]
        if number == len(holder.members) - 1 and not _comma(text, member.node.end):
            return text[:before] + text[before : comma - 1] + text[comma:start] + rest
        after = _comma(text, member.node.end)
        return text[:start] + text[after:] if after else text[:start] + rest
    after = _comma(text, member.node.end) or member.node.end
    if len(holder.members) > 1:
        return text[: member.start] + text[holder.members[1].start :]
    tail = text[after : holder.end - 1]
    start = holder.start + 1
    return text[:start] + (tail if tail.strip() else "") + text[holder.end - 1 :]


def strings(value: Any) -> Iterator[str]:
    """Every text inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
