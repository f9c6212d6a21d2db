"""Events: what each assistant calls the same few moments, and how it wants to be answered. Pure.

Every host has its own names for the start of a session, a prompt, the use of a tool, the end of a turn, the folding of
the context and the end of a session, and its own fields for what was said. `read` makes one `Event` of them; `answer`
puts a text into the words that the host takes as context. What differs between hosts is data here: the names of the
moments, the names of the fields, the shape of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import BadInput
from .data import read as _table

Moment = Literal["start", "prompt", "tool", "stop", "compact", "end"]
_TABLES = _table("hosts")
MOMENTS: dict[str, Moment] = {name: moment for moment, names in _TABLES["moments"].items() for name in names.split()}
HOSTS = ("claude", "codex", "gemini", "cursor", "vscode", "copilot", "windsurf", "opencode", "qwen")
EITHER = "plugin"  # one plugin serves Claude Code and Codex; which of the two calls is told by what it sends

# Where a fact stands in what hosts send: the first of these that is there. A dot goes inside.
SESSION, CWD, PROMPT, REPLY, OUTPUT, INPUT, COMMAND, PATH, CHANGE = (
    _TABLES["fields"][name].split()
    for name in ("session", "cwd", "prompt", "reply", "output", "input", "command", "path", "change")
)

WRITES = re.compile(r"edit|write|patch|replace|create|insert|delete|rename|move", re.IGNORECASE)
OURS = re.compile(r"recollect", re.IGNORECASE)
_ANSWERED = re.compile(r'"([^"]+)"="([^"]*)"')
_INSTEAD = "the user said:"
MAX_ASKED, MAX_SHOWN = 600, 400  # characters of a tool's input and outcome that are kept


@dataclass(frozen=True, slots=True)
class Tool:
    """The use of a tool in a few lines, and the files it changed."""

    id: str
    text: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One moment in a session of an assistant."""

    host: str
    moment: Moment
    name: str  # as the host calls it
    session: str
    cwd: str = ""
    transcript: str = ""
    reason: str = ""  # why a session starts: startup, resume, clear, compact …
    prompt: str = ""
    reply: str = ""
    tool: Tool | None = None
    aside: bool = False  # a helper's work inside the session, not the talk with the person
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


def moment_of(name: str) -> Moment:
    """
    >>> moment_of("UserPromptSubmit"), moment_of("session-start"), moment_of("PreCompress")
    ('prompt', 'start', 'compact')
    """
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain not in MOMENTS:
        raise BadInput(f"{name!r} is not an event of a hook.", fix=f"Events are: {', '.join(sorted(MOMENTS))}.")
    return MOMENTS[plain]


def read(host: str, name: str, given: Mapping[str, Any], cwd: str = "") -> Event:
    """What a host told its hook, in our words.

    >>> read("gemini", "AfterAgent", {"session_id": "s", "prompt": "Hi", "prompt_response": "Hello."}).reply
    'Hello.'
    """
    if host == EITHER:
        rollout = _name(given.get("transcript_path")).rpartition("/")[2].startswith("rollout-")
        host = "codex" if rollout or "turn_id" in given else "claude"
    if host not in HOSTS:
        raise BadInput(f"{host!r} is not a host we know.", fix=f"Hosts are: {', '.join(HOSTS)}.")
    moment = moment_of(name or str(given.get("hook_event_name", "")))
    session = _text(given, SESSION)
    if not session:
        raise BadInput("The event names no session.", fix="Send what the assistant writes to its hooks, unchanged.")
    where = _first(given, CWD)
    reply = _text(given, REPLY) if moment in ("stop", "end") else ""
    return Event(
        host, moment, str(given.get("hook_event_name") or name), session[:200],
        cwd=_name(where) or cwd,
        transcript=_name(given.get("transcript_path")),
        reason=_name(given.get("source") or given.get("trigger") or given.get("reason")),
        prompt=_text(given, PROMPT) if moment in ("prompt", "stop") else answers(_first(given, OUTPUT)),
        reply=reply,
        tool=_tool(given, name) if moment == "tool" else None,
        aside=bool(given.get("agent_id")),
        raw=given,
    )  # fmt: skip


def answer(event: Event, text: str) -> str:
    """What to print, so that the host gives the text to its model; empty where the host takes none at that moment."""
    said: dict[str, Any] = {}
    if event.host in ("claude", "codex", "gemini", "vscode", "qwen"):
        inside = {"hookEventName": event.name, "additionalContext": text}
        said = {"hookSpecificOutput": inside} if text else {}
    elif event.host == "copilot":
        said = {"additionalContext": text} if text else {}
    elif event.host == "opencode":
        said = {"context": text} if text else {}
    elif event.host == "cursor":
        # A prompt can only be let through; what is recalled for it is kept for where Cursor takes it.
        said = {"additional_context": text} if text and event.moment == "start" else {}
        if event.moment == "prompt":
            said = {"continue": True}
    empty = "{}" if event.host in ("gemini", "cursor", "copilot") else ""
    return json.dumps(said, ensure_ascii=False) if said else empty


def takes_context(event: Event) -> bool:
    """Whether the host would show its model what we answer now."""
    if event.host == "windsurf" or event.moment not in ("start", "prompt"):
        return False
    return event.host != "cursor" or event.moment == "start"


# -- tools ------------------------------------------------------------------------------------------------------------


def _tool(given: Mapping[str, Any], event: str) -> Tool | None:
    """What a tool did, where it ran or changed something; what only read, and our own tools, tell nothing new."""
    name = _name(given.get("tool_name") or given.get("toolName") or given.get("tool") or given.get("agent_action_name"))
    name = name or _name(given.get("hook_event_name")) or event  # a host that has an event for each sort of tool
    inside = _first(given, INPUT)
    if isinstance(inside, str):
        try:
            inside = json.loads(inside)
        except ValueError:
            inside = {"command": inside}
    asked = {**given, **inside} if isinstance(inside, Mapping) else dict(given)
    return tool_use(name, asked, _first(given, OUTPUT), _name(given.get("tool_use_id") or given.get("callID")))


def tool_use(name: str, asked: Mapping[str, Any], outcome: Any, id: str) -> Tool | None:
    """
    >>> tool_use("Bash", {"command": "pytest -q"}, {"stdout": "3 passed"}, "t1")
    Tool(id='t1', text='Bash: pytest -q\\n→ 3 passed', files=())
    >>> tool_use("Read", {"file_path": "a.py"}, "…", "t2")
    """
    command, path = _first(asked, COMMAND), _text(asked, PATH)
    if isinstance(command, Sequence) and not isinstance(command, str):
        command = " ".join(map(str, command))
    if OURS.search(name) or (isinstance(command, str) and OURS.match(command.strip())):
        return None
    if isinstance(command, str) and command.strip():
        shown = _short(" ".join(_words(outcome)), MAX_SHOWN)
        return Tool(id, f"{name}: {_short(command, MAX_ASKED)}" + (f"\n→ {shown}" if shown else ""))
    if path and WRITES.search(name):
        change = _short(" ".join(_words(_first(asked, CHANGE))), MAX_SHOWN)
        return Tool(id, f"{name}: {path}" + (f"\n{change}" if change else ""), (path[:1024],))
    return None


def _words(value: Any) -> Iterator[str]:
    """The texts in what a tool gave back, whatever its shape."""
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, Mapping):
        for name in ("stdout", "stderr", "output", "text", "content", "new_string", "error", "message"):
            if name in value:
                yield from _words(value[name])
    elif isinstance(value, Sequence):
        for part in value:
            yield from _words(part)


def _short(text: str, most: int) -> str:
    """Head and tail: an outcome begins with what was done and ends with how it went."""
    text = text.strip()
    return text if len(text) <= most else f"{text[: most * 2 // 3].rstrip()} … {text[-(most // 3) :].lstrip()}"


def answers(result: Any) -> str:
    """What the user answered through a tool: to the assistant's questions, on its plan, or by turning a tool down.

    >>> answers({"answers": {"Which database?": "Postgres"}})
    'Which database? Postgres'
    >>> answers('User has answered your questions: "Which port?"="8080". You can now continue.')
    'Which port? 8080'
    """
    if isinstance(result, Mapping) and isinstance(result.get("answers"), Mapping):
        return "\n".join(f"{question} {answer}" for question, answer in result["answers"].items())
    said = " ".join(_words(result)) if not isinstance(result, str) else result
    if said.startswith("User has answered your question"):
        return "\n".join(f"{question} {answer}" for question, answer in _ANSWERED.findall(said))
    if said.startswith("User has approved your plan"):
        return "Plan approved."
    return said.partition(_INSTEAD)[2].strip() if said.startswith("The user doesn't want to proceed") else ""


# -- fields -----------------------------------------------------------------------------------------------------------


def _first(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        value: Any = given
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value not in (None, "", [], {}):
            return value
    return None


def _text(given: Mapping[str, Any], names: Sequence[str]) -> str:
    found = _first(given, names)
    return found if isinstance(found, str) else ""


def _name(value: Any) -> str:
    """A value that should be one short text; the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else ""
