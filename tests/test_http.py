"""HTTP: a real server on a real port, asked over real sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.types import Message, Receive, Scope, Send

from conftest import Opener
from recollect import errors
from recollect.ops.catalogue import OPERATIONS
from recollect.serve import app, openapi, reference
from recollect.serve.connection import PEER
from recollect.serve.gate import Gate
from recollect.serve.metrics import Metrics
from recollect.serve.sessions import COOKIE, Sessions
from recollect.serve.tenants import Tenants
from served import SECRET, Server, serving


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as running:
        yield running


def keep(server: Server, content: str, **fields: object) -> dict[str, object]:
    kept = server.call("POST", "/v1/memories", {"content": content, **fields})
    assert kept.status in (200, 201), kept.body
    memory: dict[str, object] = kept.data["memory"]
    return memory


# -- the operations ---------------------------------------------------------------------------------------------------


def test_what_is_remembered_over_http_is_recalled_listed_changed_and_forgotten(server: Server) -> None:
    kept = server.call(
        "POST", "/v1/memories", {"content": "We deploy on Thursdays.", "kind": "decision", "tags": ["ops"]}
    )
    assert kept.status == 201
    assert kept.data["action"] == "created"
    id = kept.data["memory"]["id"]
    assert kept.headers["location"] == f"/v1/memories/{id}"
    again = server.call("POST", "/v1/memories", {"content": "we deploy on thursdays"})
    assert (again.status, again.data["action"]) == (200, "duplicate")
    found = server.call("POST", "/v1/recall", {"q": "when do we deploy?", "k": 3}).data
    assert [hit["memory"]["id"] for hit in found["hits"]] == [id]
    assert server.call("GET", "/v1/memories?kinds=decision&kinds=fact&tags=ops").data["memories"][0]["id"] == id
    edited = server.call("PATCH", f"/v1/memories/{id}", {"importance": 9, "reason": "it matters"})
    assert (edited.status, edited.data["importance"]) == (200, 9)
    assert [entry["operation"] for entry in server.call("GET", f"/v1/memories/{id}/history").data][-1] == "edit"
    assert server.call("GET", f"/v1/memories/{id}/evidence").data["source"]["kind"] == "statement"
    gone = server.call("DELETE", f"/v1/memories/{id}?reason=no+use")
    assert gone.data["memories"][0]["state"] == "archived"
    assert server.call("POST", "/v1/recall", {"query": "deploy"}).data["hits"] == []
    assert server.call("GET", "/v1/stats").data["by_state"] == {"archived": 1}


def test_the_other_operations_answer_too(server: Server) -> None:
    one, two = keep(server, "The port is open.")["id"], keep(server, "The port is closed.")["id"]
    linked = server.call("POST", "/v1/links", {"from": two, "type": "supersedes", "to": one})
    assert (linked.status, linked.data["relation"]) == (201, "supersedes")
    links = server.call("GET", f"/v1/memories/{one}/links").data
    assert [link["relation"] for link in links] == ["contradicts", "supersedes"]
    assert "<recollect>" in server.call("POST", "/v1/context", {"query": "port", "budget": 400}).data["text"]
    many = server.call(
        "POST", "/v1/memories/batch", {"memories": [{"content": "A."}, {"text": "B.", "project": "web"}]}
    )
    assert [one["action"] for one in many.data] == ["created", "created"]
    assert (
        server.call("POST", "/v1/reject", {"id": [two], "reason": "wrong"}).data["memories"][0]["state"] == "rejected"
    )
    refused = server.call("POST", "/v1/memories", {"content": "the port is closed"})
    assert (refused.status, refused.data["action"]) == (200, "refused")
    assert server.call("POST", "/v1/embed", {}).data == {"embedded": 0}
    assert server.call("POST", "/v1/mend", {}).data == {"mended": ["full text"]}
    changes = server.call("GET", "/v1/changes?after=2&limit=1").data
    assert (len(changes["changes"]), changes["after"]) == (1, 3)


def test_an_export_streams_lines_and_an_import_takes_them_in(server: Server, opened: Opener) -> None:
    for number in range(3):
        keep(server, f"Fact number {number} about exports.")
    exported = server.call("GET", "/v1/export?journal=true")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in exported.body.splitlines()]
    assert sum(line["type"] == "memory" for line in lines) == 3
    with serving(opened("other.db", now=None)) as other:
        taken = other.call("POST", "/v1/import", exported.body, headers={"Content-Type": "application/x-ndjson"})
        assert (taken.status, taken.data["journal"]) == (200, len([1 for line in lines if line["type"] == "entry"]))
        assert other.call("GET", "/v1/stats").data["memories"] == 3
        bad = other.call("POST", "/v1/import", {"lines": "not json"})
        assert (bad.status, bad.data["code"]) == (400, "bad_input")
        assert "/tmp" not in bad.data["detail"]


def test_pages_follow_one_another_by_cursor_and_by_link(server: Server) -> None:
    kept = [keep(server, f"Page entry {number}.")["id"] for number in range(5)]
    path, seen = "/v1/memories?limit=2", []
    while path:
        page = server.call("GET", path)
        seen += [memory["id"] for memory in page.data["memories"]]
        link = page.headers.get("link", "")
        path = link.split(">")[0].removeprefix("<") if 'rel="next"' in link else ""
    assert seen == kept[::-1]


# -- versions ---------------------------------------------------------------------------------------------------------


def test_an_etag_changes_with_the_memory_and_not_with_a_look(server: Server) -> None:
    id = keep(server, "The build takes ten minutes.")["id"]
    first = server.call("GET", f"/v1/memories/{id}").headers["etag"]
    server.call("POST", "/v1/recall", {"query": "build"})
    again = server.call("GET", f"/v1/memories/{id}", headers={"If-None-Match": f'"other", {first}'})
    assert (again.status, again.body) == (304, b"")
    edited = server.call("PATCH", f"/v1/memories/{id}", {"content": "It takes five."}, headers={"If-Match": first})
    assert edited.status == 200
    assert edited.headers["etag"] != first
    late = server.call("PATCH", f"/v1/memories/{id}", {"content": "It takes two."}, headers={"If-Match": first})
    assert (late.status, late.data["code"]) == (412, "changed_meanwhile")
    assert server.call("GET", f"/v1/memories/{id}").data["content"] == "It takes five."
    assert server.call("DELETE", f"/v1/memories/{id}", headers={"If-Match": first}).status == 412
    assert server.call("DELETE", f"/v1/memories/{id}", headers={"If-Match": edited.headers["etag"]}).status == 200


def test_of_many_edits_to_one_version_one_wins(server: Server) -> None:
    id = keep(server, "Counter at zero.")["id"]
    tag = server.call("GET", f"/v1/memories/{id}").headers["etag"]

    def edit(number: int) -> int:
        return server.call(
            "PATCH", f"/v1/memories/{id}", {"content": f"At {number}."}, headers={"If-Match": tag}
        ).status

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(edit, range(8))) == [200] + [412] * 7


def test_a_write_with_an_idempotency_key_is_done_once(server: Server) -> None:
    key = {"Idempotency-Key": "k-1"}

    def send(_: int) -> tuple[int, bytes]:
        done = server.call("POST", "/v1/memories", {"content": "Said once."}, headers=key)
        return done.status, done.body

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(send, range(6)))) == 1
    memory = server.call("GET", "/v1/memories").data["memories"][0]
    assert memory["observed"] == 1
    other = server.call("POST", "/v1/memories", {"content": "Something else."}, headers=key)
    assert (other.status, other.data["code"]) == (400, "bad_input")
    failed = {"Idempotency-Key": "k-2"}
    assert server.call("POST", "/v1/memories", {"content": ""}, headers=failed).status == 400
    assert server.call("POST", "/v1/memories", {"content": ""}, headers=failed).status == 400


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "data", "status", "code"),
    [
        ("GET", "/v1/memories/zzzzzzzz", None, 404, "not_found"),
        ("GET", "/v1/nothing", None, 404, "not_found"),
        ("GET", "/v1/memories/", None, 404, "not_found"),
        ("PUT", "/v1/memories", {}, 405, "method_not_allowed"),
        ("POST", "/v1/recall", {}, 400, "bad_input"),
        ("POST", "/v1/recall", {"query": "x", "unknown": 1}, 400, "bad_input"),
        ("POST", "/v1/recall", {"query": 7}, 400, "bad_input"),
        ("POST", "/v1/recall", {"query": "x" * 20_000}, 413, "too_large"),
        ("POST", "/v1/recall", [1], 400, "bad_input"),
        ("POST", "/v1/recall", b"{", 400, "bad_input"),
        ("POST", "/v1/recall", b'{"query": NaN}', 400, "bad_input"),
        ("POST", "/v1/recall", b'{"query": ' + b"[" * 100_000, 400, "bad_input"),
        ("POST", "/v1/recall", b'{"query": "x", "limit": ' + b"9" * 5000 + b"}", 400, "bad_input"),
        ("POST", "/v1/recall", b"\xff\xfe{", 400, "bad_input"),
        ("POST", "/v1/recall?query=x", {"query": "y"}, 400, "bad_input"),
        ("GET", "/v1/memories?limit=none", None, 400, "bad_input"),
        ("GET", "/v1/memories?cursor=%00", None, 400, "bad_input"),
        ("GET", "/v1/memories?since=soon", None, 400, "bad_time"),
        ("POST", "/v1/forget", {}, 400, "bad_input"),
        ("POST", "/v1/memories", {"content": "x", "valid_from": "2d", "valid_to": "3d"}, 400, "bad_time"),
    ],
)  # fmt: skip
def test_an_error_is_a_problem_with_code_and_fix(
    server: Server, method: str, path: str, data: object, status: int, code: str
) -> None:
    answer = server.call(method, path, data)
    assert (answer.status, answer.data["code"], answer.data["status"]) == (status, code, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.data["detail"]
    assert answer.data["fix"]
    assert server.call("GET", "/v1/stats").data["memories"] == 0


def test_a_body_must_be_json_and_say_so(server: Server) -> None:
    answer = server.call("POST", "/v1/memories", b'{"content": "x y"}', headers={"Content-Type": "text/plain"})
    assert (answer.status, answer.data["code"]) == (400, "bad_input")


def test_a_request_that_is_too_large_is_refused_before_it_is_read_whole(opened: Opener) -> None:
    engine = opened(now=None)
    engine.settings = replace(engine.settings, request_limit=1000)
    with serving(engine) as server:
        told = server.call("POST", "/v1/memories", {"content": "x" * 2000})
        assert (told.status, told.data["code"]) == (413, "too_large")
        with socket.create_connection(("127.0.0.1", server.port), 10) as raw:  # a length that is not told
            head = "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            head += f"Authorization: Bearer {server.secret}\r\n"
            raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            raw.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
            assert b" 413 " in raw.recv(4096)


def test_a_request_that_takes_too_long_is_told_so(opened: Opener) -> None:
    engine = opened(now=None)
    engine.settings = replace(engine.settings, request_timeout=0.2)
    with serving(engine) as server, engine._store.transaction("default", "test", engine._now()):
        answer = server.call("POST", "/v1/memories", {"content": "Waits for the lock."})
    assert (answer.status, answer.data["code"]) == (504, "too_slow")


# -- the gate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:7733"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"X-Forwarded-For": "1.2.3.4"}, 401),
        ({"Forwarded": "for=1.2.3.4"}, 401),
        ({"Authorization": "Basic eDp5"}, 401),
        ({"Authorization": "Bearer rcl_wrong"}, 401),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]:1"}, 200),
        ({"Origin": "http://localhost:6274"}, 200),
    ],
)
def test_the_secret_of_the_home_counts_on_this_machine_alone(
    server: Server, headers: dict[str, str], status: int
) -> None:
    answer = server.call("GET", "/v1/stats", headers=headers)
    assert answer.status == status
    assert server.call("GET", "/healthz", headers=headers).status == 200
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_the_owner_is_known_by_the_socket_or_by_the_secret_and_by_no_address(opened: Opener) -> None:
    async def entered(client: object, state: dict[str, object], shown: str = "") -> str:
        seen: list[str] = []

        async def inner(scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(scope["state"]["caller"].actor)

        async def send(message: Message) -> None:
            seen.append(str(message.get("status", "")))

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        gate = Gate(inner, Tenants(memory), Metrics(), Sessions(), SECRET)
        head = {"type": "http", "method": "GET", "path": "/v1/stats", "client": client, "state": state}
        await gate(head | {"headers": [(b"authorization", f"Bearer {shown}".encode())] if shown else []}, receive, send)
        return seen[0]

    memory = opened()
    assert asyncio.run(entered(None, {PEER: os.getuid()})) == "local"
    assert asyncio.run(entered(None, {PEER: 0})) == "local"
    assert asyncio.run(entered(None, {PEER: os.getuid() + 1})) == "401"
    assert asyncio.run(entered(None, {PEER: None})) == "401"
    assert asyncio.run(entered(None, {})) == "401"
    assert asyncio.run(entered(("127.0.0.1", 40000), {})) == "401"
    assert asyncio.run(entered(("127.0.0.1", 40000), {}, SECRET[:-1])) == "401"
    assert asyncio.run(entered(("127.0.0.1", 40000), {}, SECRET)) == "403"  # no Host
    assert asyncio.run(entered(("192.168.1.5", 40000), {}, SECRET)) == "401"
    assert asyncio.run(entered(None, {}, SECRET)) == "401"


def test_hooks_are_taken_from_this_machine_and_from_no_page(server: Server) -> None:
    _, secret = server.engine.tokens.create(can=["read", "write", "admin"])
    assert server.call("POST", "/hook", {}, secret).status == 403
    assert server.call("POST", "/hook", {}, headers={"Origin": "http://localhost:3000"}).status == 403
    assert server.call("POST", "/hook", b"[]").data["code"] == "bad_input"


def test_a_token_says_who_calls_and_what_they_may(server: Server) -> None:
    keep(server, "Everybody knows this.")
    can_read = server.call("POST", "/v1/tokens", {"can": ["read"], "user": "ana", "name": "ci"}).data["secret"]
    writes = server.call("POST", "/v1/tokens", {"can": ["write"], "user": "ana", "name": "tap"}).data["secret"]
    assert server.call("POST", "/v1/recall", {"query": "everybody"}, can_read).status == 200
    assert server.call("POST", "/v1/memories", {"content": "No."}, can_read).status == 403
    assert server.call("POST", "/v1/recall", {"query": "x"}, writes).status == 403
    assert server.call("POST", "/v1/memories", {"content": "Ana was here."}, writes).data["memory"]["scope"] == {
        "user": "ana"
    }
    assert server.call("GET", "/v1/tokens", None, can_read).status == 403
    actors = {entry.actor for entry in server.engine.changes(limit=1000)}
    assert "token tap" in actors
    # From elsewhere a token is enough, whatever name the machine was called by.
    assert server.call("GET", "/v1/stats", None, can_read, {"Host": "memory.example"}).status == 200


def test_a_revoked_or_ended_token_is_let_in_no_more(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.agents.tokens.REMEMBERED", timedelta(0))
    made = server.call("POST", "/v1/tokens", {"can": ["read"]}).data
    assert server.call("GET", "/v1/stats", None, made["secret"]).status == 200
    ended = server.call("DELETE", f"/v1/tokens/{made['token']['id']}")
    assert ended.data["token"]["revoked_at"]
    assert server.call("GET", "/v1/stats", None, made["secret"]).status == 401
    listed = server.call("GET", "/v1/tokens")
    assert made["secret"].encode() not in listed.body
    assert b"sha256" not in listed.body


def test_each_token_has_its_rate_and_wrong_ones_have_theirs(opened: Opener) -> None:
    engine = opened(now=None)
    engine.settings = replace(engine.settings, rate_limit=5)
    one, other = (engine.tokens.create(can=["read"])[1] for _ in range(2))
    with serving(engine) as server:
        assert [server.call("GET", "/v1/changes", None, one).status for _ in range(7)][-1] == 429
        limited = server.call("GET", "/v1/changes", None, one)
        assert int(limited.headers["retry-after"]) >= 1
        assert server.call("GET", "/v1/changes", None, other).status == 200
        assert [server.call("GET", "/v1/stats", None, "rcl_no").status for _ in range(25)][-1] == 429
        assert server.call("GET", "/v1/stats").status == 200


# -- what the server tells about itself -------------------------------------------------------------------------------


def test_health_readiness_and_metrics(server: Server) -> None:
    assert server.call("GET", "/healthz").data["status"] == "ok"
    assert server.call("GET", "/readyz").data["store"] == "ok"
    keep(server, "One for the metrics.")
    server.call("GET", "/v1/memories/none")
    told = server.call("GET", "/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = told.body.decode().splitlines()
    assert 'recollect_http_requests_total{operation="remember",method="POST",status="201"} 1' in lines
    assert 'recollect_http_request_seconds_count{operation="get"} 1' in lines
    assert 'recollect_http_request_seconds_bucket{operation="get",le="+Inf"} 1' in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)
    assert all(line.startswith("#") or len(line.rsplit(" ", 1)) == 2 for line in lines)


def test_a_store_that_does_not_answer_in_time_is_not_ready(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "READY", 0.0)
    answer = server.call("GET", "/readyz")
    assert (answer.status, answer.data["code"]) == (503, "store_unavailable")
    monkeypatch.undo()
    assert server.call("GET", "/readyz").status == 200


def test_the_openapi_document_and_the_page_name_every_operation(server: Server) -> None:
    document = server.call("GET", "/openapi.json").data
    assert document["openapi"] == "3.1.0"
    assert document == json.loads(json.dumps(openapi.document()))
    page = server.call("GET", "/docs")
    text = page.body.decode()
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "//cdn" not in text
    assert "<script" not in text
    assert text == reference.page(server.url)
    assert f"{server.url}/v1/recall" in text
    for operation in OPERATIONS:
        assert f'id="{operation.name}"' in text
    codes = [e.code for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.RecollectError)]
    assert [code for code in codes if f'id="error-{code}"' not in text] == []


def test_every_answer_forbids_being_framed_or_sniffed(server: Server) -> None:
    for path in ("/healthz", "/v1/stats", "/nothing"):
        headers = server.call("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


# -- events -----------------------------------------------------------------------------------------------------------


class Stream:
    """A reader of events on a connection of its own."""

    def __init__(self, server: Server, headers: dict[str, str] | None = None, query: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
        shown = {"Authorization": f"Bearer {server.secret}"}
        self._connection.request(
            "GET", f"/v1/events{query}", headers={k: v for k, v in (shown | (headers or {})).items() if v}
        )
        self.response = self._connection.getresponse()

    def next(self) -> tuple[int, str, dict[str, object]]:
        fields: dict[str, str] = {}
        while line := self.response.readline().decode().rstrip("\n"):
            if not line.startswith((":", "retry")):
                name, _, value = line.partition(": ")
                fields[name] = value
        return (int(fields["id"]), fields["event"], json.loads(fields["data"])) if "id" in fields else self.next()

    def close(self) -> None:
        self._connection.close()


def test_events_come_as_changes_are_made_and_go_on_after_the_last_one(server: Server) -> None:
    keep(server, "Before anybody listened.")
    stream = Stream(server)
    assert stream.response.status == 200
    one = keep(server, "The first event.")
    seq, event, data = stream.next()
    while data["noun"] != "memory":
        seq, event, data = stream.next()
    assert (event, data["target"]) == ("create", one["id"])
    stream.close()
    two = keep(server, "While nobody listened.")
    again = Stream(server, {"Last-Event-ID": str(seq)})
    found = [again.next()[2]["target"] for _ in range(1)]
    while found[-1] != two["id"]:
        found.append(again.next()[2]["target"])
    assert one["id"] not in found
    again.close()
    everything = Stream(server, query="?after=0")
    assert everything.next()[0] == 1
    everything.close()
    assert server.call("GET", "/v1/events?after=x").status == 400


def test_events_end_when_the_server_is_asked_to_stop(server: Server) -> None:
    stream = Stream(server)
    ended = threading.Event()

    def read() -> None:
        while stream.response.readline():
            pass
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    time.sleep(0.1)
    server.stopping.set()
    assert ended.wait(10)
    stream.close()


@pytest.mark.parametrize("way", ["token", "cookie"])
def test_a_stream_ends_when_the_token_is_revoked_or_the_session_has_ended(server: Server, way: str) -> None:
    token, secret = server.engine.tokens.create(can=["read"])
    value, proof = server.cookie()
    mine = {"Cookie": f"{COOKIE}={value}", "X-Recollect-Page": proof, "Authorization": ""}
    stream = Stream(server, mine if way == "cookie" else {"Authorization": f"Bearer {secret}"})
    assert stream.response.status == 200
    before = keep(server, "Read while it was allowed.")
    while stream.next()[2]["target"] != before["id"]:
        pass
    ended = threading.Event()

    def read() -> None:
        while stream.response.readline():
            pass
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    if way == "token":
        server.call("DELETE", f"/v1/tokens/{token.id}")
    else:
        assert server.call("POST", "/logout", {}, headers=mine).status == 200
    for number in range(100):
        keep(server, f"Said after that, number {number}.")
        if ended.wait(0.3):
            break
    assert ended.is_set()
    stream.close()
