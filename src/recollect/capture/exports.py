"""Chat exports: conversations as ChatGPT and Claude hand them out, and plain lists of roles and contents. Pure.

An export is one JSON document, often of hundreds of megabytes, and in it a list of conversations. They are read one at
a time as the text comes in, so that a large export costs no more memory than its largest conversation. Forms:

    [{"mapping": {…}, "current_node": …}, …]                ChatGPT: a tree, of which the branch that was kept is read
    [{"chat_messages": [{"sender": "human", …}]}, …]        Claude
    {"requests": [{"message": {"text": …}, "response": […]}]}   Copilot in VS Code, a session a file
    [{"messages": [{"role": "user", "content": …}]}, …]     anybody; also {"conversations": […]} around any of these
    [{"role": "user", "content": …}, …]                     one conversation; also {"messages": […]}

As in a transcript, what tools gave back, hidden messages and the instructions a person set for all chats are nobody's
words in this one; every message is counted, and what is not understood is passed over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from .. import times
from ..errors import BadInput, TooLarge
from ..regular_files import is_bounded
from .echo import own_words
from .transcripts import Said, Tally

MAX_CONVERSATION = 64 * 1024 * 1024  # characters of one conversation
MAX_MESSAGES = 100_000  # of one conversation
_BLANKS = " \t\r\n,\ufeff"
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
         "bot": "assistant", "chatgpt": "assistant", "claude": "assistant"}  # fmt: skip
_HIDDEN = frozenset(("user_editable_context", "model_editable_context"))  # what is put before every chat


def read(pieces: Iterable[str], session: str, tally: Tally) -> Iterator[Said]:
    """What was said in an export, conversation after conversation; `session` names one that has no name."""
    loose = 0
    for item in items(pieces):
        if not isinstance(item, Mapping):
            tally.lines += 1
            tally.malformed += 1
        elif "mapping" in item:
            yield from _counted(_chatgpt(item), tally)
        elif "chat_messages" in item:
            listed = item["chat_messages"] if isinstance(item["chat_messages"], list) else []
            yield from _counted(_listed(listed, _name(item, "uuid", "id") or _hash(item), host="claude.ai"), tally)
        elif isinstance(item.get("requests"), list):
            yield from _counted(_copilot(item["requests"], _name(item, "sessionId") or session), tally)
        elif "conversations" in item and isinstance(item["conversations"], list):
            yield from read([json.dumps(item["conversations"])], session, tally)
        elif "messages" in item and isinstance(item["messages"], list):
            name = _name(item, "id", "uuid", "session_id", "conversation_id") or _hash(item)
            yield from _counted(_listed(item["messages"], name), tally)
        else:
            yield from _counted(_listed([item], session, loose), tally)
            loose += 1


def items(pieces: Iterable[str]) -> Iterator[Any]:
    """The items of a list, or the one object, of a JSON document that comes in pieces.

    >>> list(items(['[{"a": 1}, {"b"', ': 2}]'])), list(items(['{"a": 1}']))
    ([{'a': 1}, {'b': 2}], [{'a': 1}])
    """
    decode, source = json.JSONDecoder().raw_decode, iter(pieces)
    text, place, wanted = "", 0, 0
    listed: bool | None = None
    ended = False
    while True:
        place += len(text[place:]) - len(text[place:].lstrip(_BLANKS))
        if listed is None and place < len(text):
            listed = text[place] == "["
            place += listed
            continue
        if listed and text[place : place + 1] == "]":
            return
        if place < len(text) and (ended or len(text) - place > wanted):
            try:
                item, end = decode(text, place)
                if not is_bounded(item, end - place):
                    raise BadInput("The file is nested too deeply.")
            except RecursionError as error:
                raise BadInput("The file is nested too deeply.") from error
            except ValueError:
                wanted = 2 * (len(text) - place)  # tried again only when twice as much is there
            else:
                if ended or end < len(text) or isinstance(item, dict | list | str):  # a number may go on
                    yield item
                    text, place, wanted = text[end:], 0, 0
                    if not listed:
                        return
                    continue
        if ended:
            what = "ends in the middle of its list" if listed else "is no JSON document"
            raise BadInput(f"The file {what}.", fix="Export it again; a file of JSON lines is called .jsonl.")
        if len(text) - place > MAX_CONVERSATION:
            raise TooLarge(f"A conversation has more than {MAX_CONVERSATION:,} characters.")
        piece = next(source, None)
        ended = piece is None
        text, place = text[place:] + (piece or ""), 0


def _chatgpt(chat: Mapping[str, Any]) -> Iterator[Said | str]:
    """The branch of a conversation that the person ended on, from its root."""
    nodes = chat["mapping"] if isinstance(chat["mapping"], Mapping) else {}
    session = _name(chat, "conversation_id", "id") or _hash(chat)
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    place = chat.get("current_node") or next((id for id, node in nodes.items() if not _children(node)), None)
    while isinstance(place, str) and place in nodes and place not in seen and len(seen) < MAX_MESSAGES:
        seen.add(place)
        node = nodes[place]
        place = node.get("parent") if isinstance(node, Mapping) else None
        if isinstance(node, Mapping) and isinstance(node.get("message"), Mapping):
            branch.append(node["message"])
    for message in reversed(branch):
        yield _chatgpt_said(message, session)


def _chatgpt_said(message: Mapping[str, Any], session: str) -> Said | str:
    author, content = message.get("author"), message.get("content")
    role = str(author.get("role")) if isinstance(author, Mapping) else ""
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    about = message.get("metadata")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
    if role in ("tool", "function") or kind in ("execution_output", "tether_quote", "tether_browsing_display"):
        return "tool output"
    if role == "system" or hidden or kind in _HIDDEN:
        return "written by the host"
    if message.get("recipient") not in (None, "all") or kind == "code":
        return "tool call"
    if kind in ("thoughts", "reasoning_recap"):
        return "thinking"
    if role not in ROLES or not isinstance(content, Mapping):
        return ""
    text = _text(content.get("parts") or content.get("text"))
    return Said(_name(message, "id"), ROLES[role], text, _time(message.get("create_time")), "chatgpt", session)


def _copilot(requests: list[Any], session: str) -> Iterator[Said | str]:
    """What was asked and answered; parts of an answer that have a kind are edits, progress and calls of tools."""
    for number, one in enumerate(requests[:MAX_MESSAGES]):
        if not isinstance(one, Mapping):
            yield ""
            continue
        id, at = _name(one, "requestId") or f"#{number}", _time(one.get("timestamp"))
        asked, parts = one.get("message"), one.get("response")
        yield Said(id, "user", _text(asked), at, "copilot", session)
        told = (
            [
                part.get("value")
                for part in parts
                if isinstance(part, Mapping) and part.get("kind") in (None, "markdownContent")
            ]
            if isinstance(parts, list)
            else []
        )
        words = [part.get("value") if isinstance(part, Mapping) else part for part in told]
        answer = "".join(one for one in words if isinstance(one, str)).strip()
        yield Said(f"{id}/answer", "assistant", answer, at, "copilot", session)


def _listed(messages: list[Any], session: str, first: int = 0, host: str = "chat") -> Iterator[Said | str]:
    for number, message in enumerate(messages[:MAX_MESSAGES], start=first):
        role = _name(message, "role", "sender", "speaker", "from").lower() if isinstance(message, Mapping) else ""
        if role in ("tool", "function"):
            yield "tool output"
        elif role in ("system", "developer"):
            yield "written by the host"
        elif role not in ROLES:
            yield ""
        else:
            text = _text(message.get("content")) or _text(message.get("text")) or _text(message.get("value"))
            at = _time(next((message[n] for n in ("timestamp", "created_at", "create_time", "at") if n in message), ""))
            yield Said(_name(message, "id", "uuid") or f"#{number}", ROLES[role], text, at, host, session)


def _counted(found: Iterable[Said | str], tally: Tally) -> Iterator[Said]:
    for one in found:
        tally.lines += 1
        if isinstance(one, str):
            tally.skip(one) if one else tally.wonder("message")
        elif not one.text.strip():
            tally.skip("nothing said")
        elif not (own := own_words(one.text)):
            tally.echoes += 1
        else:
            tally.said += 1
            yield Said(one.id, one.speaker, own, one.at, one.host, one.session, one.cwd)


def _text(content: Any) -> str:
    """The texts of a message, whichever way it holds them; pictures, calls and results say nothing here."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        return _text(content.get("text")) if content.get("type", "text") == "text" else ""
    parts = filter(None, map(_text, content)) if isinstance(content, list) else ()
    return "\n\n".join(parts)


def _children(node: Any) -> bool:
    return isinstance(node, Mapping) and bool(node.get("children"))


def _name(data: Mapping[str, Any], *names: str) -> str:
    found = next((data[name] for name in names if isinstance(data.get(name), str | int)), "")
    return str(found)[:200]


def _time(value: Any) -> str:
    """A time as ISO text, from such a text or from seconds or milliseconds since 1970."""
    if isinstance(value, int | float) and 4e9 <= value < 4e12:
        value = value / 1000
    if isinstance(value, int | float) and 0 < value < 4e9:
        return times.iso(datetime.fromtimestamp(value, UTC))
    return value[:64] if isinstance(value, str) else ""


def _hash(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[:32]
