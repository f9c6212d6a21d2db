"""What a model is told to do about an error: with its tools, because it may have no shell.

Commands in a fix that are also tools become tools; sentences that name other commands are left out.
"""

from __future__ import annotations

import re

from ..errors import RecollectError
from .catalogue import OPERATIONS

TOOL_OF = {one.command: one.mcp for one in reversed(OPERATIONS) if one.command and one.mcp}
_SENTENCE = re.compile(r"(?<=[.;])\s+")
_PART = re.compile(r", (?:or|and) ")
_SHELL = re.compile(r"\brecollect [a-z]|\b(?:pip|uv|git|iconv|chmod|make|curl) [a-z-]|^Run: ")
_COMMAND = re.compile(r"\brecollect ([a-z][a-z-]*(?: [a-z][a-z-]*)?)((?: (?:--[a-z-]+|[A-Z]+))*)")


def for_model(error: RecollectError) -> str:
    """What happened and what to do, in one text."""
    return f"{error.message} {fix(error.fix)}".strip()


def fix(told: str) -> str:
    """
    >>> fix("List ids with: recollect list")
    'List ids with: the tool list_memories'
    >>> fix("Wait until then, or raise the budget: recollect config. See: recollect usage")
    'Wait until then. See: the tool memory_usage'
    >>> fix("Run: recollect doctor")
    ''
    """
    kept = []
    for sentence in _SENTENCE.split(_COMMAND.sub(_tool, told)):
        parts = [part for part in _PART.split(sentence) if not _SHELL.search(part)]
        if parts and _SHELL.search(sentence):
            sentence = ", or ".join(parts).rstrip(".;") + "."
        if parts:
            kept.append(sentence)
    return " ".join(kept)


def _tool(found: re.Match[str]) -> str:
    options = "".join(f" with {name}" for name in re.findall(r"--([a-z-]+)", found[2]))
    words = found[1].split()
    for count in range(len(words), 0, -1):
        if tool := TOOL_OF.get(" ".join(words[:count])):
            return " ".join([f"the tool {tool}", *words[count:]]) + options
    return found[0]
