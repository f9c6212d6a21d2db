"""`recollect mcp`: MCP on stdin and stdout, forwarded to the daemon over its Unix socket.

Each request is posted in its own thread. The daemon keeps no state between requests, so notifications are not
forwarded, and a cancelled request is cancelled by closing its connection. The handshake and the lists are answered
from the package (`listed`). A missing daemon is started; one that dies is started again and asked once more. If none
can run, the server runs in this process (`serve.solo`).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from .link import Answer, Hangs, Link, daemon, print_usage, start, working_folder
from .listed import META, Listed

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .link import Stream

    # The server in this process: what `daemon.json` would say of it, and how to end it; or why there is none.
    Alone = Callable[[], tuple[Mapping[str, Any] | None, Callable[[], None], str]]

PATIENCE = 45.0  # seconds that a daemon may take to start, on a machine that is busy
DRAIN = 30.0  # seconds that requests may take after stdin has ended
TRIES = 3
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603


def main(argv: list[str], alone: Alone) -> int:
    options = {"--project": os.environ.get("RECOLLECT_PROJECT", ""), "--tools": ""}
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            print_usage("mcp")
            return 0
        if name not in options:
            print(f"recollect mcp: there is no option {word}\n", file=sys.stderr)
            print_usage("mcp", sys.stderr)
            return 2
        options[name] = value if equals else next(rest, "")
    project, tools = quoted(options["--project"]), quoted(options["--tools"])
    path = f"/mcp/{project}" if project else "/mcp"
    listed = Listed(options["--tools"])
    shim = Shim(f"{path}?tools={tools}" if tools else path, quoted(working_folder()), alone, listed)
    threading.Thread(target=shim.prepare, daemon=True).start()
    try:
        for line in sys.stdin.buffer:
            if line.strip():
                shim.take(line)
    except KeyboardInterrupt:
        return 130
    finally:
        shim.end()
    return 0


class Shim:
    """One assistant's connection. `take` returns at once; answers are written as they come."""

    def __init__(self, path: str, folder: str, alone: Alone, listed: Listed) -> None:
        self._path = path
        self._listed = listed
        self._folder = folder
        self._alone = alone
        self._writing = threading.Lock()
        self._finding = threading.Lock()
        self._link: Link | None = None
        self._leave: Callable[[], None] | None = None
        self._why = ""
        self._version = ""  # what the handshake agreed on, where there was one
        self._agent = "mcp"
        self._noting = threading.Lock()
        self._running: dict[str, Stream | None] = {}  # by request id; None until it was sent
        self._threads: list[threading.Thread] = []

    def take(self, line: bytes) -> None:
        """Deal with one line."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, PARSE_ERROR, "That line is not JSON.")
            return
        if not isinstance(message, dict):
            self._fail(None, INVALID_REQUEST, "A line must be one JSON-RPC message; batches are not taken.")
        elif "method" in message and "id" in message:
            if found := self._listed.answer(message):
                self._agent_of(message)
                self._reply({"jsonrpc": "2.0", "id": message["id"], "result": found}, message)
                return
            with self._noting:
                self._running[json.dumps(message["id"])] = None
            thread = threading.Thread(target=self._ask, args=(message, line.strip()), daemon=True)
            self._threads = [*(one for one in self._threads if one.is_alive()), thread]
            thread.start()
        elif message.get("method") == "notifications/cancelled":
            self._cancel(_inside(message, "params").get("requestId"))

    def prepare(self) -> None:
        """Have the daemon started by the time of the first call."""
        start(wait=PATIENCE)

    def end(self) -> None:
        """Let what runs come to its end, for a while."""
        deadline = time.monotonic() + DRAIN
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if self._leave:
            self._leave()

    def _ask(self, message: dict[str, Any], line: bytes) -> None:
        key, dead, trouble = json.dumps(message["id"]), None, ""
        deadline = time.monotonic() + DRAIN
        try:
            for _ in range(TRIES):
                link = self._daemon(dead, trouble)
                if link is None:
                    self._fail(message["id"], INTERNAL_ERROR, self._why)
                    return
                try:
                    while wait := self._exchange(link, key, message, line, deadline):
                        if wait is True:
                            return
                        time.sleep(wait)
                except Hangs as error:
                    trouble = str(error)
                dead = link
            self._fail(message["id"], INTERNAL_ERROR, "The recollect daemon ended while it answered, again and again.")
        finally:
            with self._noting:
                self._running.pop(key, None)

    def _exchange(self, link: Link, key: str, message: dict[str, Any], line: bytes, deadline: float) -> bool | float:
        """Ask a daemon and pass on its answer; False if it went away, or the seconds to wait if it is busy."""
        try:
            stream = link.ask("POST", self._path, line, self._headers(message), timeout=None)
        except Hangs:
            raise
        except OSError:
            return False
        try:
            with self._noting:
                if key not in self._running:
                    return True
                self._running[key] = stream
            answer = Answer(stream)
            if (wait := answer.wait) and time.monotonic() + wait < deadline:
                return wait
            return self._pass_on(answer, message)
        except Hangs:
            raise
        except (OSError, ValueError):  # broken off; which is what giving it up looks like too
            return key not in self._running
        finally:
            stream.close()

    def _cancel(self, id: Any) -> None:
        with self._noting:
            stream = self._running.pop(json.dumps(id), None)
        if stream:
            stream.close()

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        params = _inside(message, "params")
        meta = _inside(params, "_meta")
        self._agent_of(message)
        headers = {
            "Accept": "application/json, text/event-stream", "User-Agent": self._agent,
            "Recollect-Folder": self._folder,
        }  # fmt: skip
        modern = meta.get(f"{META}protocolVersion")
        if isinstance(modern, str):
            headers["MCP-Protocol-Version"] = _safe(modern)
            headers["Mcp-Method"] = _safe(str(message["method"]))
            if (named := params.get(NAMED.get(str(message["method"]), ""))) is not None:
                headers["Mcp-Name"] = _safe(str(named))
        elif self._version and message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _agent_of(self, message: dict[str, Any]) -> None:
        """Note who the assistant is, where it says so."""
        params = _inside(message, "params")
        told = _inside(params, "clientInfo") or _inside(_inside(params, "_meta"), f"{META}clientInfo")
        if name := str(told.get("name", "")):
            self._agent = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:40]

    def _pass_on(self, answer: Answer, message: dict[str, Any]) -> bool:
        """Write what the daemon says; whether the request was answered with it."""
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return self._pass_events(answer, message)
        body = answer.read()
        if answer.status == 200 and message["method"] != "initialize":
            self._write(body)
            return True
        try:
            found = json.loads(body)
        except ValueError:
            found = {}
        if not isinstance(found, dict) or not ("result" in found or isinstance(found.get("error"), dict)):
            told = _inside({"it": found}, "it")
            words = f"{told.get('detail') or f'the daemon answered {answer.status}'} {told.get('fix', '')}".strip()
            self._fail(message["id"], INTERNAL_ERROR, words)
            return True
        found["id"] = message["id"]  # a refusal of the transport may not know it
        self._reply(found, message)
        return True

    def _pass_events(self, answer: Answer, message: dict[str, Any]) -> bool:
        data: list[bytes] = []
        answered = False
        for line in answer.lines():
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                found = json.loads(b"\n".join(data))
                data.clear()
                answered = answered or "id" in found
                self._reply(found, message)
        return answered

    def _reply(self, found: dict[str, Any], message: dict[str, Any]) -> None:
        if message["method"] == "initialize" and "result" in found:
            self._version = _safe(str(_inside(found, "result").get("protocolVersion", "")))
        self._write(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))

    def _daemon(self, dead: Link | None, trouble: str) -> Link | None:
        """The daemon, started if needed, or else a server in this process.

        `dead` is a daemon that no longer answers, and `trouble` says why looking for another is pointless.
        """
        with self._finding:
            if self._leave is None and (self._link is None or self._link is dead):
                self._link = None if trouble else daemon() or (daemon() if start(wait=PATIENCE) else None)
                if self._link is None:
                    info, self._leave, self._why = self._alone()
                    self._link = Link(info, str(info.get("secret", ""))) if info else None
                    print("recollect mcp:", *filter(None, (trouble, self._why)), file=sys.stderr, flush=True)
            return self._link

    def _fail(self, id: Any, code: int, words: str) -> None:
        found = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}
        self._write(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))

    def _write(self, message: bytes) -> None:
        with self._writing:
            try:
                sys.stdout.buffer.write(message.replace(b"\n", b" ") + b"\n")
                sys.stdout.buffer.flush()
            except (BrokenPipeError, ValueError):  # nobody listens any more; stdin will end as well
                return


def quoted(text: str) -> str:
    """Quote text for a URL; importing `urllib.parse` would take longer than the request.

    >>> quoted("a b/ü,c")
    'a%20b%2F%C3%BC,c'
    """
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~,"
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in text.encode("utf-8", "replace"))


def _inside(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _safe(value: str) -> str:
    """A value that may stand in a header: as it is, or encoded as the protocol says."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?"):
        return value
    import binascii

    return f"=?base64?{binascii.b2a_base64(value.encode('utf-8', 'replace'), newline=False).decode()}?="
