"""The client: an engine that is elsewhere, with the same verbs and the same nouns.

    memory = recollect.open()                                        # here
    memory = recollect.Client("http://127.0.0.1:7733", token="rcl_…")  # there

Its verbs are made from the declarations of operations (`verbs`); those that take or give something else than their
operation are written here. Errors are the same classes. Only the standard library is used. A connection is kept open
for each thread; every write carries an idempotency key, so that it can be sent again without being done twice.
"""

from __future__ import annotations

import builtins
import http.client
import json
import random
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote, urlencode, urlsplit

from . import errors, times
from .entrypoints import link
from .errors import BadInput, RateLimited, RecollectError, ServerUnavailable
from .exchange import Imported
from .nouns import from_wire
from .ops.catalogue import BY_NAME
from .ops.operation import Operation
from .recall.context import Context, Turn
from .types import (
    EVERYWHERE,
    Captured,
    Draft,
    Entry,
    Evidence,
    Forgotten,
    Message,
    Page,
    Remembered,
    Scope,
    Source,
)
from .verbs import Verbs

LINES = "application/x-ndjson"
BATCH = 500  # drafts in one request


class Client(Verbs):
    """Everything an `Engine` does that makes sense from elsewhere."""

    def __init__(
        self, url: str = "http://127.0.0.1:7733", *, token: str | None = None, timeout: float = 60.0,
        folder: str | Path | None = None,
    ) -> None:  # fmt: skip
        """With a `folder` on the machine of the server, what names no project is of the project of that folder.

        Without a token the server must be the daemon of this home: it is asked over its Unix socket.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{url!r} is not an http address.", fix="Such as http://127.0.0.1:7733")
        self.url = url.rstrip("/")
        self._parts = parts
        self._token = token
        self._timeout = timeout
        self._folder = "" if folder is None else quote(str(Path(folder).absolute()))
        self._local = threading.local()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of this thread's connection; those of other threads end with them."""
        if connection := getattr(self._local, "connection", None):
            connection.close()
            self._local.connection = None

    def remember_many(self, drafts: Iterable[Draft | str], *, merge: bool = False) -> tuple[Remembered, ...]:
        """Remember many things at once. Merging looks at one thing at a time, and so goes one by one."""
        if isinstance(drafts, str | bytes) or not isinstance(drafts, Iterable):
            raise BadInput("drafts must be a list of texts or Drafts.")
        ready = [_draft(draft) for draft in drafts]
        if merge:
            return tuple(self.remember(**draft, merge=True) for draft in ready)
        pages = (self._run("remember_many", memories=ready[n : n + BATCH]) for n in range(0, len(ready), BATCH))
        return tuple(one for page in pages for one in page)

    def forget(
        self, id: str | Sequence[str] | None = None, *, query: str | None = None, scope: Scope | None = None,
        purge: bool = False, dry_run: bool = False, reason: str = "", derived: str = "purge",
    ) -> Forgotten:  # fmt: skip
        """Forget memories by id, by a query, or everything inside a scope."""
        if sum(way is not None for way in (id, query, scope)) != 1:
            raise BadInput("Name what to forget: an id, a query or a scope.", fix="Give exactly one of the three.")
        where = {} if scope is None else scope.as_dict()
        options = {"purge": purge, "dry_run": dry_run, "reason": reason, "derived": derived}
        found: Forgotten = self._run("forget", id=id, query=query, **options, **where)
        return found

    def capture(
        self, messages: Iterable[Message], *, origin: str = "api", session: str = "", scope: Scope | None = None,
        later: bool = False,
    ) -> Captured:  # fmt: skip
        """Store what was said in a session, and keep what is worth keeping of it; with `later`, in a job."""
        where = replace(scope or EVERYWHERE, session=session or (scope.session if scope else ""))
        said = [message.as_dict() for message in messages]
        found: Captured = self._run("capture", messages=said, origin=origin, later=later, scope=where)
        return found

    def context(
        self, query: str = "", *, scope: Scope | None = None, budget: int = 2000, system: str = "", task: str = "",
        history: Sequence[Turn] = (), index: bool = False,
    ) -> Context:  # fmt: skip
        """What to put before an assistant: standing rules, what the project is, the task, what bears on the query."""
        asked: dict[str, Any] = {"query": query, "budget": budget, "system": system, "task": task, "index": index}
        found: Context = self._run("context", scope=scope, history=[asdict(turn) for turn in history], **asked)
        return found

    def list(self, *, scope: Scope | None = None, limit: int = 50, cursor: str | None = None, **filters: Any) -> Page:
        """Memories inside a scope, newest first, with the cursor of the next page."""
        where = scope or (None if self._folder else EVERYWHERE)
        found: Page = self._run("list", scope=where, limit=limit, cursor=cursor, **filters)
        return found

    def evidence(self, id: str) -> tuple[Source | None, tuple[Evidence, ...]]:
        """Where a memory came from: its source, and the quotes that support it."""
        found = self._run("evidence", id=id)
        return found["source"], found["evidence"]

    def changes(self, *, after: int = 0, limit: int = 100) -> tuple[Entry, ...]:
        """What changed after a sequence number of the journal, in the order it happened."""
        found: tuple[Entry, ...] = self._run("changes", after=after, limit=limit)["changes"]
        return found

    def export(self, path: str | Path, *, journal: bool = False, reference: bool = False) -> int:
        """Write everything to a JSONL file here, optionally with the history; gives the number of memories.

        With `reference` it is the graph alone, as the reference memory server keeps it, and entities are counted.
        """
        asked = urlencode({"journal": _text(journal), "reference": _text(reference)})
        response = self._open("GET", f"/v1/export?{asked}", b"", {})
        count, counted = 0, b'{"type": "entity"' if reference else b'{"type": "memory"'
        with Path(path).open("wb") as file:
            for line in response:
                file.write(line)
                count += line.startswith(counted)
        return count

    def import_(self, path: str | Path, *, embed: bool = True, trust: str = "unverified") -> Imported:
        """Import a JSONL file of this machine."""
        try:
            lines = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read: {error}.", fix="Name a file of JSON lines.") from error
        found: Imported = self._run("import", lines=lines, embed=embed, trust=trust)
        return found

    def embed(self) -> int:
        """Give a vector to every memory that has none of the present model; gives how many there were."""
        return int(self._run("embed")["embedded"])

    def _run(self, name: str, **given: Any) -> Any:
        return self._call(BY_NAME[name], given)

    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Send an operation's arguments to its address, and make its result again."""
        sent, path = arguments(operation, given), operation.path
        for name in [name for name in sent if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", _id(sent.pop(name)))
        if operation.method in ("GET", "DELETE"):
            pairs = [(name, _text(one)) for name, value in sent.items()
                     for one in (value if isinstance(value, builtins.list) else [value])]  # fmt: skip
            answer = self._open(operation.method, f"{path}?{urlencode(pairs)}" if pairs else path, b"", {})
        else:
            headers = {"Content-Type": "application/json", "Idempotency-Key": secrets.token_urlsafe(16)}
            answer = self._open(operation.method, path, json.dumps(sent).encode(), headers)
        return from_wire(operation.returned, json.loads(answer.read()))

    def _open(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> http.client.HTTPResponse:
        """The answer, or the error it stands for. A kept connection that broke is opened anew, once."""
        sent = {"User-Agent": "recollect-client", "Accept": "application/json", **headers}
        if self._folder:
            sent["Recollect-Folder"] = self._folder
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        deadline, attempt = time.monotonic() + self._timeout, 0
        while True:
            attempt += 1
            kept = getattr(self._local, "connection", None) is not None
            try:
                connection = self._connection()
                connection.request(method, self._parts.path.rstrip("/") + path, body or None, sent)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if attempt > 1 or not kept:
                    raise ServerUnavailable(f"{self.url} does not answer: {error}.") from error
                continue
            if response.status < 400:
                return response
            problem = _error(response.status, response.read(), response.headers.get("Retry-After", ""))
            wait = problem.wait * (1 + random.random() / 2) if isinstance(problem, RateLimited) else 0.0
            if not wait or time.monotonic() + wait >= deadline:
                raise problem
            time.sleep(wait)
            attempt = 0

    def _connection(self) -> http.client.HTTPConnection:
        if getattr(self._local, "connection", None) is None:
            host, port = self._parts.hostname or "", self._parts.port
            if self._token is None and (path := _socket_of_home(host, port or 80)):
                self._local.connection = _UnixConnection(path, self._timeout)
            elif self._parts.scheme == "https":
                context = ssl.create_default_context()
                self._local.connection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
            else:
                self._local.connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
        return cast(http.client.HTTPConnection, self._local.connection)


class _UnixConnection(http.client.HTTPConnection):
    """A connection to the daemon of this home, which knows by it who is calling."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _socket_of_home(host: str, port: int) -> str:
    """The socket of this home's daemon, where it is the one that listens on a port of this machine; else empty.

    The secret of the home is not sent instead: whoever took the port of a daemon that ended would be given it.
    """
    found = link.daemon() if host in ("127.0.0.1", "::1", "localhost") else None
    return found.socket if found and found.port == port else ""


def _id(id: str) -> str:
    if not isinstance(id, str) or not id.strip():
        raise errors.NotFound(f"{id!r:.40} is not an id.")
    return quote(id.strip(), safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _draft(draft: Draft | str) -> dict[str, Any]:
    if isinstance(draft, str):
        return {"content": draft}
    if not isinstance(draft, Draft):
        raise BadInput(f"drafts must be texts or Drafts, not {type(draft).__name__}.")
    # How often it was seen is for the store to say, not for somebody who is elsewhere.
    return _plain({f.name: getattr(draft, f.name) for f in fields(Draft) if f.name != "observed"})


def arguments(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a verb as its operation takes them."""
    nullable = {one.name for one in operation.parameters if one.nullable}
    return {name: one for name, one in _plain(given).items() if one is not None or name in nullable}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they are sent: a scope as its places, times as text, tuples as lists."""
    sent: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Scope):
            sent |= {f.name: getattr(value, f.name) for f in fields(Scope)}
        elif isinstance(value, Source):
            kept = {f.name: getattr(value, f.name) for f in fields(Source)}
            sent[name] = _plain({k: v for k, v in kept.items() if k not in ("id", "created_at", "content_hash")})
        elif name == "evidence" and isinstance(value, str):
            sent[name] = [value]
        elif isinstance(value, datetime):
            sent[name] = times.iso(value)
        elif name != "scope":
            sent[name] = list(value) if isinstance(value, tuple | set | frozenset) else value
    return sent


def _error(status: int, body: bytes, wait: str) -> RecollectError:
    try:
        told = json.loads(body)
        code, detail, fix = told["code"], told["detail"], told["fix"]
    except (ValueError, KeyError, TypeError):
        return ServerUnavailable(f"What answers is not Recollect: status {status}.")
    kind = errors.of(code)
    if issubclass(kind, RateLimited):
        return kind(detail, wait=float(wait) if wait.isdecimal() else 60.0)
    return kind(detail, fix=fix)
