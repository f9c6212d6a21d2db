"""Transcripts: the talk of a session as the assistant itself wrote it down.

Two formats of JSON lines are read, told apart by what a line looks like: Claude Code's records (`type`, `uuid`,
`message`) and the rollouts of Codex (`type`, `payload`). Neither is promised by its maker. So only what is known is
taken, everything else is passed over, and a line that is not whole yet is left for the next look.

Reading goes on where it stopped: `read` takes an offset and gives the next one. What was injected by us is taken out,
and what a host itself puts into a person's mouth (reminders, the output of its commands) is not theirs and goes too.

A transcript is named by whoever calls the hook, and what stands in it becomes memory. So it must be a file of the user
the daemon runs as, inside that user's home or the assistant's own folder, and must be called like a transcript.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..recall.fence import strip_fences

MOST = 64 * 1024 * 1024  # bytes that are read at one look
FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME")
# What hosts write into a user's turn on their own; inside of it nobody has said anything.
THEIRS = "system-reminder command-name command-message command-args local-command-stdout local-command-stderr" \
    " local-command-caveat environment_context user_instructions turn_aborted bash-stdout bash-stderr hook_context" \
    " session_context"  # fmt: skip
_THEIRS = re.compile(rf"<({'|'.join(THEIRS.split())})\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
_NOT_SAID = re.compile(r"\[Request interrupted by user|# AGENTS\.md instructions|Caveat: The messages below")


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said: by whom, when, and how the host numbers it."""

    id: str
    speaker: str
    text: str
    at: str = ""


def own_words(text: str) -> str:
    """What a person or assistant really said: without what we injected, and without what the host wrote in.

    >>> own_words("<system-reminder>Mind the cat.</system-reminder>\\nWhy Thursday?")
    'Why Thursday?'
    """
    left = _THEIRS.sub("", strip_fences(text)).strip()
    return "" if _NOT_SAID.match(left) else left


def read(path: str, offset: int = 0) -> tuple[list[Said], int]:
    """What was said since an offset, and the offset after it; nothing where there is no such transcript."""
    if not readable(path):
        return [], offset
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(offset if offset <= size else 0)  # a transcript that shrank was written anew
        start = file.tell()
        block = file.read(MOST)
    end = block.rfind(b"\n") + 1
    return list(_said(block[:end])), start + end


def length(path: str) -> int:
    """Where a transcript ends now."""
    return os.stat(path).st_size if readable(path) else 0


def readable(path: str) -> bool:
    """Whether the path may be a transcript, and is one that is ours to read."""
    if not path.endswith(".jsonl") or "\0" in path:
        return False
    real = Path(os.path.realpath(path))
    places = [Path.home(), *(Path(folder) for name in FOLDERS if (folder := os.environ.get(name)))]
    try:
        return any(real.is_relative_to(place.resolve()) for place in places) and os.stat(real).st_uid == os.getuid()
    except OSError:  # not there yet, or not for us
        return False


def _said(block: bytes) -> Iterator[Said]:
    for line in block.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # not a record; the transcript is not ours to judge
        if isinstance(record, Mapping) and (said := _claude(record) or _codex(record)) and (said.text):
            yield said


def _claude(record: Mapping[str, Any]) -> Said | None:
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
        return None
    if record.get("isSidechain") or record.get("isMeta") or record.get("isCompactSummary"):
        return None
    text = own_words(_text(message.get("content")))
    return Said(str(record.get("uuid", "")), str(record["type"]), text, str(record.get("timestamp", "")))


def _codex(record: Mapping[str, Any]) -> Said | None:
    inside = record.get("payload")
    if record.get("type") != "response_item" or not isinstance(inside, Mapping) or inside.get("type") != "message":
        return None
    if inside.get("role") not in ("user", "assistant"):
        return None
    text = own_words(_text(inside.get("content")))
    id, at = str(inside.get("id") or ""), str(record.get("timestamp", ""))
    return Said(id or f"{at}/{record.get('ordinal', '')}", str(inside["role"]), text, at)


def _text(content: Any) -> str:
    """The texts of a message, without its tool calls, results and thoughts."""
    if isinstance(content, str):
        return content
    kinds = ("text", "input_text", "output_text")
    parts = content if isinstance(content, list) else []
    return "\n\n".join(
        str(part.get("text", "")) for part in parts if isinstance(part, Mapping) and part.get("type") in kinds
    )
