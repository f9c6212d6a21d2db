"""The connection to the daemon: find it, start it, send requests.

`daemon.json` in the home folder says where the daemon listens. Each request has its own connection, so requests can run
in threads and are cancelled by closing them. HTTP is written by hand because importing `http.client` takes longer than
the whole request. A timeout limits the whole request. Errors are `OSError`; `Hangs` means that the daemon accepts
connections and does not answer.

    link = daemon() or (daemon() if start() else None)
    answer = link.request("POST", "/v1/recall", b'{"query": "deploy"}', timeout=2)
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress

from . import secret
from .private import make_folder
from .system import open_private

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

INFO = "daemon.json"  # where the daemon listens; written when it is ready to answer
TRIED = "daemon.tried"  # when somebody last tried to start one
STORM = 10.0  # seconds for which one attempt at a start stands for everybody's
STEP = 0.05
QUIET = 1.5  # seconds without a word after which the daemon is asked whether it lives
ALIVE = "/healthz"  # which it answers however busy it is
READ = "/daemon/read"  # where the command line asks its questions
LIVES = 4.0  # seconds that it may take to say so, on a machine that is busy
FAILED = b"failed"  # what the note of an attempt says once it came to nothing
ALREADY = 9  # how `serve` ends when another daemon was first
MOST = 64 * 1024 * 1024  # bytes of an answer, and of a line in it
PROJECT_FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")

_launches: list[subprocess.Popen[bytes]] = []  # kept, because Python complains of a process that is forgotten


def home() -> str:
    """The folder of everything the program stores."""
    return os.path.expanduser(os.environ.get("RECOLLECT_HOME") or "~/.recollect")


def print_usage(command: str, file: Any = None) -> None:
    with open(os.path.join(os.path.dirname(__file__), f"{command}.txt"), encoding="utf-8") as text:
        print(text.read(), end="", file=file)


def working_folder() -> str:
    """The folder the assistant works in; empty if it was removed."""
    try:
        return next((os.environ[name] for name in PROJECT_FOLDERS if os.environ.get(name)), "") or os.getcwd()
    except OSError:
        return ""


def daemon(home_: str | None = None) -> Link | None:
    """The link to the daemon of a home, or None when none answers."""
    try:
        with open(os.path.join(home_ or home(), INFO), encoding="utf-8") as file:
            info = json.load(file)
        link = Link(info)
        if not link.socket:
            link = Link(info, secret.read(home_ or home()))
        link.connect(1.0).close()
    except (OSError, ValueError, KeyError, TypeError):  # not there, half written, or left behind by a killed one
        return None
    return link


def start(home_: str | None = None, wait: float = 3.0) -> bool:
    """Start the daemon of a home in the background, and wait until it answers; True if it does.

    If another process tried a moment ago, wait for that attempt, so that twenty hooks do not start twenty daemons.
    """
    where, deadline = home_ or home(), time.monotonic() + wait
    launched = None
    while not daemon(where):
        if launched is None:
            tried = _tried_lately(where)
            if tried == FAILED:
                return False
            if tried is None:
                _note(where, b"")
                launched = _launch(where)
        elif launched.poll() not in (None, 0, ALREADY):
            _note(where, FAILED)  # it ended with an error; nothing will come, for those who wait with us either
            return False
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(STEP, left))
    return True


def _tried_lately(where: str) -> bytes | None:
    """What is noted about an attempt within the last seconds; None if there was none."""
    path = os.path.join(where, TRIED)
    try:
        if abs(time.time() - os.stat(path).st_mtime) < STORM:
            with open(path, "rb") as file:
                return file.read()
    except OSError:
        pass  # nobody tried
    return None


def _note(where: str, what: bytes) -> None:
    with suppress(OSError):  # a home that cannot be written: the daemon will say what is wrong with it
        make_folder(where)
        file = open_private(os.path.join(where, TRIED), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(file, what)
            os.utime(file)
        finally:
            os.close(file)


def _launch(where: str) -> subprocess.Popen[bytes]:
    """`serve --background` leaves the daemon behind and ends, so that the daemon is nobody's child."""
    import subprocess

    # The daemon serves every project, so it does not belong to the one whose assistant happened to start it.
    environment = {name: value for name, value in os.environ.items() if name != "RECOLLECT_PROJECT"}
    nothing = subprocess.DEVNULL
    launched = subprocess.Popen(
        [sys.executable, "-P", "-m", "recollect", "serve", "--background"],
        stdin=nothing, stdout=nothing, stderr=nothing, env={**environment, "RECOLLECT_HOME": where}, cwd="/",
        start_new_session=True,
    )  # fmt: skip
    _launches.append(launched)
    return launched


class Hangs(ConnectionError):
    """A daemon is there and takes connections, but says nothing."""


class Link:
    """Where a daemon listens, as it said itself: `pid`, `port`, `socket`, `version`, `started`.

    Without a socket it is asked by its port, and shown the secret of the home.
    """

    __slots__ = ("_secret", "info", "pid", "port", "socket", "version")

    def __init__(self, info: Mapping[str, Any], secret: str = "") -> None:
        self.info = dict(info)
        self._secret = secret
        self.pid = int(info["pid"])
        self.port = int(info["port"])
        self.socket = str(info.get("socket") or "")
        self.version = str(info.get("version", ""))

    def connect(self, timeout: float) -> socket.socket:
        family, where = (socket.AF_UNIX, self.socket) if self.socket else (socket.AF_INET, ("127.0.0.1", self.port))
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.settimeout(max(timeout, 0.001))
            made.connect(where)
        except OSError:
            made.close()
            raise
        return made

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, timeout: float = 5.0
    ) -> Answer:
        """Send a request and read the whole answer. If the daemon is busy, try again while there is time."""
        deadline = time.monotonic() + timeout
        while True:
            answer = self.open(method, path, body, headers, deadline - time.monotonic())
            try:
                answer.read()
            finally:
                answer.close()
            wait = answer.wait
            if not wait or time.monotonic() + wait >= deadline:
                return answer
            time.sleep(wait)

    def open(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None,
        timeout: float | None = 5.0,
    ) -> Answer:  # fmt: skip
        """Send a request and return the answer as soon as its head is there; then `read` or `lines`, and `close`."""
        stream = self.ask(method, path, body, headers, timeout)
        try:
            return Answer(stream)
        except BaseException:
            stream.close()
            raise

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None,
        timeout: float | None = 5.0,
    ) -> Stream:  # fmt: skip
        """Send a request without waiting: `Answer` reads what comes, and closing the stream cancels the request."""
        fields = {"Host": "localhost", "Connection": "close", "Content-Length": str(len(body))}
        if body:
            fields["Content-Type"] = "application/json"
        if self._secret and not self.socket:
            fields["Authorization"] = f"Bearer {self._secret}"
        fields |= headers or {}
        head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        if any("\r" in line or "\n" in line for line in head):
            raise ValueError("a line break in the head of a request")
        deadline = None if timeout is None else time.monotonic() + timeout
        stream = Stream(self.connect(5.0 if timeout is None else timeout), deadline, self.check)
        try:
            stream.send("\r\n".join([*head, "\r\n"]).encode("latin-1") + body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it would not hear more, which is how a body that is too large ends: it has answered why
        except BaseException:
            stream.close()
            raise
        return stream

    def check(self) -> None:
        """Raise `Hangs` if the daemon does not answer a health check."""
        try:
            stream = Stream(self.connect(LIVES), time.monotonic() + LIVES)
            try:
                stream.send(f"GET {ALIVE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                Answer(stream)
            finally:
                stream.close()
        except TimeoutError:
            raise Hangs(
                f"The daemon, process {self.pid}, does not answer: it was stopped, or hangs. "
                f"End it with: recollect stop; or let it go on with: kill -CONT {self.pid}"
            ) from None


class Stream:
    """A connection with one deadline for everything that is sent and read on it."""

    __slots__ = ("_buffer", "_check", "_connection", "deadline")

    def __init__(
        self, connection: socket.socket, deadline: float | None, check: Callable[[], None] | None = None
    ) -> None:
        self._connection = connection
        self._buffer = b""
        self._check = check
        self.deadline = deadline

    def _patiently(self, step: Callable[[Any], Any], given: Any) -> Any:
        """Send or receive, and check now and then that the daemon is alive while it is silent."""
        while True:
            left = None if self.deadline is None else self.deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError("the daemon took too long")
            self._connection.settimeout(left if not self._check else QUIET if left is None else min(left, QUIET))
            try:
                return step(given)
            except TimeoutError:
                # With less time than it may take to answer, it could not be told from one that is busy.
                if self._check and (left is None or left >= QUIET + LIVES):
                    self._check()

    def send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._patiently(self._connection.send, rest) :]

    def more(self) -> bytes:
        """Whatever has come; empty at the end."""
        if self._buffer:
            found, self._buffer = self._buffer, b""
            return found
        return bytes(self._patiently(self._connection.recv, 65536))

    def line(self) -> bytes:
        """One line with its end; what is left at the end of everything; then empty."""
        parts = []
        size = 0
        while piece := self.more():
            end = piece.find(b"\n") + 1
            size += len(piece)
            if end:
                parts.append(piece[:end])
                self._buffer = piece[end:]
                break
            if size > MOST:
                raise ConnectionError("the daemon's answer is too large")
            parts.append(piece)
        return b"".join(parts)

    def close(self) -> None:
        with suppress(OSError):  # the other side may be first
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def unread(self, data: bytes) -> None:
        self._buffer = data + self._buffer


class Answer:
    """The answer of the daemon: `status`, `headers` (lower-case names), and the body, whole or in pieces."""

    __slots__ = ("_left", "_stream", "body", "headers", "status")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        words = stream.line().split(None, 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
            raise ConnectionError("the daemon closed the connection" if not words else "that is not HTTP")
        self.status = int(words[1])
        self.headers: dict[str, str] = {}
        while (line := stream.line().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self.body = b""
        length = self.headers.get("content-length")
        self._left = int(length) if length is not None and length.isdigit() else None

    def chunks(self) -> Iterator[bytes]:
        """The body in the pieces in which it comes."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            yield from self._chunked()
            return
        while self._left is None or self._left > 0:
            if not (piece := self._stream.more()):
                if self._left is None:
                    return
                raise ConnectionError("the daemon's answer broke off")
            if self._left is not None:
                piece = piece[: self._left]
                self._left -= len(piece)
            yield piece

    def _chunked(self) -> Iterator[bytes]:
        while True:
            size = self._stream.line().split(b";")[0].strip()
            try:
                left = int(size, 16)
            except ValueError:
                raise ConnectionError("the daemon's answer broke off") from None
            if left == 0:
                return
            while left:
                if not (piece := self._stream.more()):
                    raise ConnectionError("the daemon's answer broke off")
                if len(piece) > left:
                    self._stream.unread(piece[left:])
                    piece = piece[:left]
                left -= len(piece)
                yield piece
            self._stream.line()

    def lines(self) -> Iterator[bytes]:
        """The body line by line, without the ends: what an event stream is made of."""
        rest = b""
        for piece in self.chunks():
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
        if rest:
            yield rest

    def read(self) -> bytes:
        """All that is left of the body; from now on it is in `body` too."""
        parts, size = [], 0
        for piece in self.chunks():
            parts.append(piece)
            if (size := size + len(piece)) > MOST:
                raise ConnectionError("the daemon's answer is too large")
        self.body = b"".join(parts)
        return self.body

    @property
    def wait(self) -> float:
        """Seconds until a busy daemon may be asked again; 0 if it answered."""
        told = self.headers.get("retry-after", "")
        if self.status not in (429, 503) or not told.isdecimal():
            return 0.0
        return int(told) * (1 + os.urandom(1)[0] / 512)  # not all at the same moment

    def json(self) -> Any:
        return json.loads(self.body)

    def extend(self, timeout: float | None) -> None:
        """Set a new timeout for the rest; None is no timeout."""
        self._stream.deadline = None if timeout is None else time.monotonic() + timeout

    def close(self) -> None:
        self._stream.close()
