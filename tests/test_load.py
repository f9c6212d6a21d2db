"""Too much at once: a real server refuses early, is fair, counts it, and does not wait for heads that never end.

A request is held by its own caller, who sends its head and not yet its body: so it has its turn, or waits for one, for
as long as the test likes.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.entrypoints.link import Link
from recollect.serve import connection, queue
from served import SECRET, Answer, Server, serving

PATIENCE = 50.0  # seconds that anything may take before a test gives up
BODY = json.dumps({"content": "Its body came late."}).encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Works on two requests of one caller and four in all, and lets one of each wait, and two in all."""
    limits = {"RUNNING": 4, "RUNNING_TENANT": 4, "RUNNING_EACH": 2, "WAITING": 2, "WAITING_TENANT": 3}
    for name, limit in {**limits, "WAITING_EACH": 1, "PATIENCE": 10 * PATIENCE}.items():
        monkeypatch.setattr(queue, name, limit)
    with recollect.open(tmp_path / "store.db", embedder="hashing") as engine, serving(engine) as running:
        yield running


class Held:
    """A request without its body."""

    def __init__(self, server: Server, token: str = "", path: str = "/v1/memories") -> None:
        self._socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        head = (
            f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token or SECRET}",
            "Content-Type: application/json", f"Content-Length: {len(BODY)}", "Connection: close",
        )  # fmt: skip
        self._socket.sendall("".join(f"{line}\r\n" for line in (*head, "")).encode())

    def send(self) -> None:
        self._socket.sendall(BODY)

    def status(self) -> int:
        with self._socket, self._socket.makefile("rb") as answer:
            return int(answer.read().split()[1])

    def leave(self) -> None:
        self._socket.close()


def ended(held: list[Held]) -> set[int]:
    """Send every body, in whatever order they have their turns; the statuses of the answers."""
    for one in held:
        one.send()
    return {one.status() for one in held}


def measured(server: Server, name: str) -> float:
    told = server.call("GET", "/metrics").body.decode()
    found = re.search(rf"^{re.escape(name)} (\S+)$", told, re.MULTILINE)
    assert found, told
    return float(found[1])


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def filled(server: Server, token: str = "", waiting: int = 1) -> list[Held]:
    """All turns and places of one caller, taken."""
    held = [Held(server, token) for _ in range(3)]
    until(lambda: measured(server, "recollect_http_requests_waiting") == waiting)
    return held


def told_to_come_back(answer: Answer) -> tuple[int, str]:
    assert int(answer.headers["retry-after"]) >= 1
    return answer.status, answer.data["code"]


def shed(server: Server) -> dict[str, float]:
    reasons = ("caller", "full", "waited")
    return {reason: measured(server, f'recollect_http_shed_total{{reason="{reason}"}}') for reason in reasons}


def test_who_asks_for_too_much_is_refused_while_others_are_served(server: Server) -> None:
    tokens = [server.engine.tokens.create(can=["read", "write"])[1] for _ in range(3)]
    held = filled(server)
    assert told_to_come_back(server.call("GET", "/v1/stats")) == (429, "rate_limited")
    assert server.call("GET", "/v1/stats", token=tokens[0]).status == 200
    held += filled(server, tokens[0], waiting=2)
    assert told_to_come_back(server.call("GET", "/v1/stats", token=tokens[1])) == (503, "busy"), "all places are taken"
    assert shed(server) == {"caller": 1, "full": 1, "waited": 0}
    assert server.call("GET", "/readyz").status == 200
    assert ended(held) <= {200, 201}
    assert measured(server, "recollect_http_requests_waiting") == 0
    assert server.call("GET", "/v1/stats").data["memories"] == 1


def test_who_waits_too_long_is_told_to_come_back(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "PATIENCE", 0.05)
    held = [Held(server) for _ in range(2)]
    until(lambda: measured(server, "recollect_http_requests_in_flight") == 3)  # with the one that asks
    assert told_to_come_back(server.call("GET", "/v1/stats")) == (503, "busy")
    assert shed(server) == {"caller": 0, "full": 0, "waited": 1}
    assert ended(held) <= {200, 201}
    assert server.call("GET", "/v1/stats").status == 200, "who gave up holds no turn"


def test_who_leaves_gives_up_the_turn(server: Server) -> None:
    for one in filled(server):
        one.leave()
    until(lambda: measured(server, "recollect_http_requests_in_flight") == 1)  # the one that asks
    assert ended(filled(server)) <= {200, 201}


def by_client(server: Server, token: str) -> Any:
    with recollect.Client(server.url, token=token, timeout=PATIENCE) as client:
        return client.remember("It came back.").action


def by_link(server: Server, token: str) -> Any:
    body = json.dumps({"content": "It came back."}).encode()
    return (
        Link({"pid": os.getpid(), "port": server.port}, token)
        .request("POST", "/v1/memories", body, timeout=PATIENCE)
        .json()["action"]
    )


@pytest.mark.parametrize("ask", [by_client, by_link])
def test_what_is_ours_comes_back_while_it_has_time(server: Server, ask: Callable[[Server, str], Any]) -> None:
    _, token = server.engine.tokens.create(can=["read", "write"])
    held = filled(server, token)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server, token)
        until(lambda: shed(server)["caller"] >= 1)
        assert ended(held) <= {200, 201}
        assert asked.result(PATIENCE) == "created"


def test_streams_that_last_take_no_turns(server: Server) -> None:
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\nAccept: text/event-stream\r\n\r\n"
    streams = []
    for path in ("/v1/events", "/mcp", "/mcp/some-project") * 2:
        streams.append(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
        streams[-1].sendall(f"GET {path} HTTP/1.1\r\n{head}".encode())
    until(lambda: measured(server, "recollect_http_requests_in_flight") == len(streams) + 1)
    assert server.call("GET", "/v1/stats").status == 200
    for stream in streams:
        stream.close()


def test_heads_that_never_end_are_closed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD", 2.0)
    whole = Held(server)
    line = b"GET /v1/stats HTTP/1.1\r\n"
    halves = []
    for sent in (b"", b"G", line, line + b"Host: 127.0.0.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + line):
        halves.append(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
        halves[-1].sendall(sent)
    for half in halves:
        with half, half.makefile("rb") as answer:
            answer.read()  # ends when the server has closed it, and fails when that does not come
    assert ended([whole]) == {201}, "a body may take longer than a head"


def test_a_head_that_drips_is_closed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD", 0.5)
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")

        def is_closed() -> bool:
            try:
                slow.sendall(b"a")
            except OSError:
                return True
            return False

        until(is_closed)
