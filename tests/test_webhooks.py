"""Webhooks: changes reach a real address in order, signed, once it takes them."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import recollect
from conftest import Clock, Opener
from recollect import BadInput, NotFound
from recollect.serve.deliveries import Deliveries, is_public
from recollect.serve.tenants import Tenants
from served import serving


class Address(ThreadingHTTPServer):
    """An address that takes deliveries, or does not."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taker)
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self.came = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?a=1"

    def changes(self) -> list[dict[str, Any]]:
        return [change for _, body in self.taken for change in json.loads(body)["changes"]]


class _Taker(BaseHTTPRequestHandler):
    server: Address

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.status < 300:
            self.server.taken.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.server.came.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed while testing."""


@pytest.fixture
def address() -> Iterator[Address]:
    server = Address()
    yield server
    server.shutdown()
    server.server_close()


def test_changes_are_delivered_in_order_and_signed(memory: recollect.Engine, address: Address, clock: Clock) -> None:
    memory.remember("Before the webhook.")
    hook = memory.webhooks.add(address.url)
    kept = memory.remember("After the webhook.")
    memory.edit(kept.id, importance=9)
    deliveries = Deliveries(Tenants(memory), clock)
    assert deliveries.round() == 1
    assert deliveries.round() == 0
    headers, body = address.taken[0]
    stamp = headers["Recollect-Timestamp"]
    wanted = hmac.new(hook.secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["Recollect-Signature"] == f"sha256={wanted}"
    assert headers["Recollect-Delivery"].startswith(hook.id)
    found = address.changes()
    assert [change["seq"] for change in found] == sorted(change["seq"] for change in found)
    assert [change["operation"] for change in found if change["target"] == kept.id] == ["create", "edit"]
    assert b"Before the webhook" not in body
    assert hook.secret.encode() not in body


def test_only_the_operations_that_were_asked_for_come(memory: recollect.Engine, address: Address, clock: Clock) -> None:
    memory.webhooks.add(address.url, ["forget"])
    kept = memory.remember("It will be forgotten.")
    deliveries = Deliveries(Tenants(memory), clock)
    deliveries.round()
    assert address.taken == []
    memory.forget(kept.id)
    deliveries.round()
    assert [change["operation"] for change in address.changes()] == ["forget"]


@pytest.mark.parametrize("status", [500, 302, 404])
def test_what_is_not_taken_is_tried_again_later_and_later(
    memory: recollect.Engine, address: Address, clock: Clock, status: int
) -> None:
    address.status = status
    memory.webhooks.add(address.url)
    kept = memory.remember("It will arrive.")
    deliveries = Deliveries(Tenants(memory), clock)
    waits = []
    for _ in range(4):
        assert deliveries.round() == 0
        failed = memory.webhooks.all()[0]
        assert str(status) in failed.error
        assert failed.next_at is not None
        waits.append((failed.next_at - clock()).total_seconds())
        assert deliveries.round() == 0  # not before its time
        clock.moment = failed.next_at
    assert memory.webhooks.all()[0].failures == 4
    assert all(later > sooner for sooner, later in zip(waits, waits[2:], strict=False))
    address.status = 200
    assert deliveries.round() == 1
    assert kept.id in {change["target"] for change in address.changes()}
    assert memory.webhooks.all()[0].failures == 0


def test_deliveries_go_on_where_another_process_left_them(opened: Opener, address: Address, clock: Clock) -> None:
    first = opened()
    first.webhooks.add(address.url)
    first.remember("The first.")
    Deliveries(Tenants(first), clock).round()
    first.remember("The second.")
    first.close()
    second = opened()
    Deliveries(Tenants(second), clock).round()
    contents = [c["after"]["content"] for c in address.changes() if c["noun"] == "memory"]
    assert contents == ["The first.", "The second."]


def test_each_tenant_is_told_of_its_own_changes(memory: recollect.Engine, address: Address, clock: Clock) -> None:
    other = memory.for_caller(tenant="other")
    other.webhooks.add(address.url)
    memory.remember("Of the default tenant.")
    other.remember("Of the other tenant.")
    Deliveries(Tenants(memory), clock).round()
    assert [c["after"]["content"] for c in address.changes() if c["noun"] == "memory"] == ["Of the other tenant."]


def test_a_webhook_made_from_elsewhere_does_not_reach_this_machine(
    opened: Opener, address: Address, clock: Clock
) -> None:
    engine = opened(now=None)
    _, secret = engine.tokens.create(can=["read", "write", "admin"])
    with serving(engine) as server:
        added = server.call("POST", "/v1/webhooks", {"url": address.url}, secret)
        assert added.status == 201
        assert added.data["secret"]
        assert "secret" not in added.data["webhook"]
        assert "secret" not in server.call("GET", "/v1/webhooks").data["webhooks"][0]
        Deliveries(Tenants(engine), engine._now).round()
    assert address.taken == []
    assert "not a public address" in engine.webhooks.all()[0].error


def test_a_running_server_delivers_by_itself(opened: Opener, address: Address) -> None:
    with serving(opened(now=None)) as server:
        added = server.call("POST", "/v1/webhooks", {"url": address.url}).data
        server.call("POST", "/v1/memories", {"content": "Told to the world."})
        assert address.came.wait(15)
        removed = server.call("DELETE", f"/v1/webhooks/{added['webhook']['id']}")
        assert removed.status == 200
        assert server.call("GET", "/v1/webhooks").data["webhooks"] == []


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "http://", "nonsense", "http://user:pass@x/", "http://x/ y", "http://[::1", "http://x:99999/", ""],
)
def test_what_is_no_address_is_refused(memory: recollect.Engine, url: str) -> None:
    with pytest.raises(BadInput):
        memory.webhooks.add(url)
    assert memory.webhooks.all() == []


def test_a_webhook_is_removed_by_the_end_of_its_id_and_all_of_it_is_in_the_journal(memory: recollect.Engine) -> None:
    hook = memory.webhooks.add("http://127.0.0.1:1/")
    with pytest.raises(NotFound):
        memory.webhooks.remove("zzzzzzzz")
    memory.webhooks.remove(hook.id[-8:])
    assert [(e.operation, e.noun, e.target) for e in memory.changes()] == [
        ("create", "note", hook.id), ("drop", "note", hook.id),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("64:ff9b::169.254.169.254", False), ("64:ff9b::7f00:1", False), ("64:ff9b:1::a00:1", False),
        ("2002:7f00:1::1", False), ("2002:c0a8:101::", False), ("::ffff:192.168.1.1", False), ("::10.0.0.1", False),
        ("2001:0:a00:1::1", False), ("2606:2800:220::5efe:10.0.0.1", False), ("fd00::1", False), ("ff02::1", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("::", False),
        ("64:ff9b::93.184.215.14", True), ("93.184.215.14", True), ("2606:2800:220:1::1", True),
    ],
)  # fmt: skip
def test_an_address_is_public_only_if_the_one_it_wraps_is(address: str, public: bool) -> None:
    assert is_public(address) is public
