"""Transcripts: the talk of a session as the assistant itself wrote it down.

Two formats of JSON lines are read, told apart by what a line looks like: Claude Code's records (`type`, `uuid`,
`message`) and the rollouts of Codex (`type`, `payload`, or in old ones the payload alone). Neither is promised by its
maker. So only what is known is taken, and everything else is passed over and counted in a `Tally`, by what it was: a
line that is no record, a record of a kind nobody has seen before, a sidechain, what a tool gave back. Every line is in
exactly one of the counts. A line that is not whole yet is left for the next look.

What was injected by us is taken out, and what a host itself puts into a person's mouth is not theirs and goes too
(`echo.py`). What the assistant says again of the memories that were injected into its session before is no news.

A transcript that a hook names is named by whoever calls the hook, and what stands in it becomes memory. So it must be a
file of the user the daemon runs as, inside that user's home or the assistant's own folder, and must be called like a
transcript.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from .. import text as plain
from .. import times
from ..entrypoints.system import is_mine
from ..errors import BadInput
from ..regular_files import open_regular, parse_json
from ..types import Noun
from . import data
from .echo import Echoes, injected, own_words
from .events import answers
from .uses import Uses

MOST = 64 * 1024 * 1024  # bytes that are read at one look
MAX_LINE = 16 * 1024 * 1024  # bytes of one record: a larger one is a file or an image, and nothing that was said
FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME")
# Records that are known to hold nothing said. Whatever is in neither list is counted as unknown.
CLAUDE_KEEPS, CODEX_KEEPS = (frozenset(data.read("hosts")[f"{host}_keeps"].split()) for host in ("claude", "codex"))
TOOL_PARTS = frozenset(("tool_result", "function_call_output", "custom_tool_call_output", "local_shell_call_output"))
ABSORBED = "absorbed_mid_turn"  # why a message left the queue when the assistant took it up while it worked
_TEXTS = frozenset(("text", "input_text", "output_text"))


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said: by whom, when, how the host numbers it, and where."""

    id: str
    speaker: str
    text: str
    at: str = ""
    host: str = ""
    session: str = ""
    cwd: str = ""

    @property
    def moment(self) -> datetime | None:
        """When it was said, unless that is the host's own idea of a time."""
        try:
            return times.aware(self.at, "at") if self.at else None
        except BadInput:
            return None


@dataclass(slots=True)
class Tally(Noun):
    """What became of each line: said, or passed over and why. `echoes` counts what was said, but not by the speaker."""

    lines: int = 0
    said: int = 0
    malformed: int = 0
    echoes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)

    def skip(self, why: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def wonder(self, kind: str) -> None:
        self.unknown[kind[:80]] = self.unknown.get(kind[:80], 0) + 1

    @property
    def accounted(self) -> int:
        """The lines that are in one of the counts: all of them."""
        return self.said + self.malformed + self.echoes + sum(self.skipped.values()) + sum(self.unknown.values())


@dataclass(slots=True)
class Talk:
    """Reads the records of one transcript, line after line: a pure function of the lines and of what came before.

    Sidechains (what a subagent was told and answered) and the output of tools are left out unless they are asked for.
    """

    sidechains: bool = False
    tools: bool = False
    session: str = ""  # where the records do not tell it
    cwd: str = ""
    echoes: Echoes = field(default_factory=Echoes)
    tally: Tally = field(default_factory=Tally)
    used: list[Said] = field(default_factory=list)  # the uses of tools that ran or changed something
    _uses: Uses = field(default_factory=Uses)
    _queue: list[Said] = field(default_factory=list)  # typed while the assistant worked, and not yet taken up
    _taken: set[str] = field(default_factory=set)  # the keys of what was taken up from the queue

    def read(self, lines: Iterable[bytes]) -> Iterator[Said]:
        for line in lines:
            if said := self._line(line):
                yield said
        while self._queue:  # nothing tells what became of it: it was typed
            if said := self._unqueued():
                yield said

    def _line(self, line: bytes) -> Said | None:
        self.tally.lines += 1
        if not line.strip():
            self.tally.skip("empty line")
            return None
        if len(line) > MAX_LINE:
            self.tally.skip("too long")
            return None
        try:
            record = parse_json(line)
        except ValueError:
            self.tally.malformed += 1
            return None
        if not isinstance(record, Mapping):
            self.tally.malformed += 1
            return None
        said = self._record(record)
        heard = None
        if self.sidechains or not record.get("isSidechain"):
            at, session = _name(record.get("timestamp")), _name(record.get("sessionId")) or self.session
            self.used += (Said(id, "tool", text, at, "", session) for id, text in self._uses.see(record))
        if isinstance(said, Said):
            heard = self._heard(said)
        elif record.get("type") == "queue-operation":
            heard = self._queued(record)
        elif said:
            self.tally.skip(said)
        else:
            self.tally.wonder(str(record.get("type") or "no type"))
        if b"memory id" in line:  # ours, in whichever record it stands: what comes after may only repeat it
            self.echoes.add(found for text in _strings(record) for found in injected(text))
        return heard

    def _record(self, record: Mapping[str, Any]) -> Said | str:
        """What a record says, or why it says nothing; an empty reason for a record of no known kind."""
        kind = record.get("type")
        if kind in ("user", "assistant") and "message" in record:
            return self._claude(record)
        if kind == "attachment":
            return self._attachment(record)
        if isinstance(kind, str) and isinstance(record.get("data"), Mapping) and "." in kind:
            return self._copilot(kind, record)
        if kind == "message" or (isinstance(kind, str) and kind in CODEX_KEEPS):
            return self._codex(record)
        if isinstance(kind, str) and kind in CLAUDE_KEEPS:
            return f"{kind} record"
        if kind is None and "instructions" in record and "id" in record:  # how old rollouts begin
            self.session = self.session or _name(record["id"])
            return "session_meta record"
        if kind is None and record.get("role") in ("user", "assistant") and "content" in record:  # a plain list
            speaker, text, why = _parts(record["content"], str(record["role"]), self.tools)
            id, at = _name(record.get("id")) or f"#{self.tally.lines}", _name(record.get("timestamp"))
            return why or Said(id, speaker, text, at, "chat", self.session, self.cwd)
        return "state record" if record.get("record_type") == "state" else ""

    def _copilot(self, kind: str, record: Mapping[str, Any]) -> Said | str:
        """A record of Copilot CLI: `user.message`, `assistant.message`, and others that say nothing."""
        inside = record["data"]
        if kind == "session.start":
            context = inside.get("context")
            self.session = _name(inside.get("sessionId")) or self.session
            self.cwd = _name(context.get("cwd")) if isinstance(context, Mapping) else self.cwd
        if kind not in ("user.message", "assistant.message"):
            return f"{kind} record"
        speaker, text, why = _parts(inside.get("content"), kind.partition(".")[0], self.tools)
        at = _name(record.get("timestamp"))
        return why or Said(_name(record.get("id")), speaker, text, at, "copilot", self.session, self.cwd)

    def _claude(self, record: Mapping[str, Any]) -> Said | str:
        message = record["message"]
        if not isinstance(message, Mapping):
            return "no message"
        if record.get("isSidechain") and not self.sidechains:
            return "sidechain"
        if record.get("isCompactSummary"):
            return "compact summary"
        if record.get("isMeta"):
            return "written by the host"
        speaker, text, why = _parts(message.get("content"), str(record["type"]), self.tools)
        if answered := _answered(record, message.get("content")):
            speaker, text, why = "user", answered, ""
        if why:
            return why
        return Said(
            _name(record.get("uuid")), speaker, text, _name(record.get("timestamp")), "claude",
            _name(record.get("sessionId")) or self.session, _name(record.get("cwd")) or self.cwd,
        )  # fmt: skip

    def _attachment(self, record: Mapping[str, Any]) -> Said | str:
        """What was typed while the assistant worked and was handed to it at once; any other attachment says nothing."""
        inside = record.get("attachment")
        if not isinstance(inside, Mapping) or inside.get("type") != "queued_command":
            return "attachment record"
        if record.get("isSidechain") and not self.sidechains:
            return "sidechain"
        origin = inside.get("origin")
        sender = origin.get("kind") if isinstance(origin, Mapping) else "human"
        if sender != "human" or inside.get("commandMode", "prompt") != "prompt" or inside.get("isMeta"):
            return "written by the host"
        _, text, why = _parts(inside.get("prompt"), "user", self.tools)
        if why:
            return why
        said = self._typed(record, text)
        key = plain.key(text)
        self._queue, before = [one for one in self._queue if plain.key(one.text) != key], len(self._queue)
        for _ in range(before - len(self._queue)):
            self.tally.skip("queue-operation record")
        if key in self._taken:
            return "attachment record"
        self._taken.add(key)
        return said

    def _queued(self, record: Mapping[str, Any]) -> Said | None:
        """What an operation on the queue says: a message counts when it leaves the queue for the assistant.

        After `dequeue` it follows as a turn of its own, after `remove` it does not; `popAll` takes all of them back.
        """
        kind, content = record.get("operation"), record.get("content")
        if kind == "enqueue" and isinstance(content, str) and own_words(content):
            self._queue.append(self._typed(record, content))
            return None  # it is counted when it leaves the queue
        self.tally.skip("queue-operation record")
        if kind == "popAll":
            for _ in self._queue:
                self.tally.skip("queue-operation record")
            self._queue.clear()
        if kind not in ("dequeue", "remove") or not self._queue:
            return None
        if isinstance(content, str):
            self._queue.sort(key=lambda one: one.text != content)  # the one that is meant comes first
        if kind == "remove" and record.get("reason", ABSORBED) == ABSORBED:
            return self._unqueued()
        self._queue.pop(0)
        self.tally.skip("queue-operation record")
        return None

    def _unqueued(self) -> Said | None:
        said = self._queue.pop(0)
        self._taken.add(plain.key(said.text))
        return self._heard(said)

    def _typed(self, record: Mapping[str, Any], text: str) -> Said:
        """A message of the queue. It has no name, so that its words tell whether it comes again as a turn."""
        session, at = _name(record.get("sessionId")) or self.session, _name(record.get("timestamp"))
        return Said("", "user", text, at, "claude", session, _name(record.get("cwd")) or self.cwd)

    def _codex(self, record: Mapping[str, Any]) -> Said | str:
        inside = record.get("payload")
        kind = str(record["type"])
        if not isinstance(inside, Mapping):
            inside = record  # an old rollout
        elif kind != "response_item":
            if kind in ("session_meta", "turn_context"):
                self.session = _name(inside.get("id")) or self.session if kind == "session_meta" else self.session
                self.cwd = _name(inside.get("cwd")) or self.cwd
            return f"{kind} record"
        if inside.get("type") != "message":
            kind = _name(inside.get("type"))
            if kind in TOOL_PARTS and self.tools:
                text = _shown(inside.get("output"))
                id = _name(inside.get("call_id")) or _name(record.get("timestamp"))
                return Said(id, "tool", text, _name(record.get("timestamp")), "codex", self.session, self.cwd)
            return "tool output" if kind in TOOL_PARTS else f"{kind} record" if kind in CODEX_KEEPS else ""
        if inside.get("role") not in ("user", "assistant"):
            return "written by the host"
        speaker, text, why = _parts(inside.get("content"), str(inside["role"]), self.tools)
        if why:
            return why
        id, at = _name(inside.get("id")), _name(record.get("timestamp"))
        return Said(id or f"{at}/{record.get('ordinal', '')}", speaker, text, at, "codex", self.session, self.cwd)

    def _heard(self, said: Said) -> Said | None:
        own = own_words(said.text)
        if said.speaker == "assistant":
            own = self.echoes.without(own)
        if not own:
            self.tally.echoes += 1
            return None
        self.tally.said += 1
        return Said(said.id, said.speaker, own, said.at, said.host, said.session, said.cwd)


def read(path: str, offset: int = 0, echoes: Echoes | None = None) -> tuple[list[Said], int]:
    """What was said since an offset, and the offset after it; nothing where there is no such transcript.

    `echoes` knows what was injected before the offset, and learns what was after it.
    """
    if not readable(path):
        return [], offset
    with open_regular(os.path.realpath(path)) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(offset if offset <= size else 0)  # a transcript that shrank was written anew
        start = file.tell()
        block = file.read(MOST)
    end = block.rfind(b"\n") + 1
    return list(Talk(echoes=Echoes() if echoes is None else echoes).read(block[:end].splitlines())), start + end


def used(path: str) -> list[Said]:
    """The uses of tools in a transcript that ran or changed something; nothing where there is no such transcript."""
    talk = Talk()
    if readable(path):
        with open_regular(os.path.realpath(path)) as file:
            block = file.read(MOST)
        deque(talk.read(block[: block.rfind(b"\n") + 1].splitlines()), 0)
    return talk.used


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
        found = os.stat(real)
        mine = stat.S_ISREG(found.st_mode) and is_mine(found)
        return mine and any(real.is_relative_to(place.resolve()) for place in places)
    except OSError:  # not there yet, or not for us
        return False


def _parts(content: Any, speaker: str, tools: bool) -> tuple[str, str, str]:
    """Who speaks in a message and what; or, as the third, why nobody does."""
    if isinstance(content, str):
        return speaker, content, "" if content.strip() else "nothing said"
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    text = "\n\n".join(str(part.get("text", "")) for part in parts if part.get("type") in _TEXTS)
    if text.strip():
        return speaker, text, ""
    results = [part for part in parts if part.get("type") in TOOL_PARTS]
    if results and tools:
        return "tool", "\n\n".join(_shown(part.get("content")) for part in results), ""
    kinds = {str(part.get("type")) for part in parts}
    if results:
        return speaker, "", "tool output"
    return speaker, "", "tool call" if "tool_use" in kinds else "thinking" if "thinking" in kinds else "nothing said"


def _answered(record: Mapping[str, Any], content: Any) -> str:
    """What the user answered through a tool: its result is the user's word."""
    results = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    told = [
        record.get("toolUseResult"),
        *(_shown(one.get("content")) for one in results if one.get("type") in TOOL_PARTS),
    ]
    return next(filter(None, map(answers, told)), "")


def _shown(output: Any) -> str:
    """What a tool gave back, as text."""
    if isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        return _shown(output.get("text") or output.get("content") or output.get("output") or "")
    return "\n".join(filter(None, map(_shown, output))) if isinstance(output, list) else ""


def _strings(value: Any) -> Iterator[str]:
    """Every text in a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)


def _name(value: Any) -> str:
    return value[:1024] if isinstance(value, str) else ""
