"""Deliveries: changes posted to webhooks, in order, signed, and retried until they are accepted.

    Recollect-Delivery: ID-FIRST-LAST          the same for a retry
    Recollect-Timestamp: 1772442000            seconds
    Recollect-Signature: sha256=HEX            HMAC of "TIMESTAMP.BODY" with the secret of the webhook

A 2xx answer moves the cursor in the store; anything else doubles the wait, up to an hour. Redirects are not followed.
A webhook that was not made at this machine reaches only public addresses, and the resolved address is the one used.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import logging
import random
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from ..errors import RecollectError
from ..types import Entry, Webhook
from . import wire
from .tenants import Tenants

EVERY = 1.0
BATCH = 100
PATIENCE = 10.0  # seconds an address may take
LONGEST = timedelta(hours=1)
# IPv6 addresses that wrap an IPv4 address: those of a translator on the way, those of tunnels (6to4, Teredo,
# translators of one network, and a form that nobody uses any more), and the middle of those that ISATAP makes.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
TUNNELS = tuple(map(ipaddress.ip_network, ("2002::/16", "2001::/32", "64:ff9b:1::/48", "::/96")))
ISATAP = 0x5EFE
log = logging.getLogger("recollect.webhooks")


class Undelivered(Exception):
    """The address did not take it, and why."""


class Deliveries:
    def __init__(self, tenants: Tenants, now: Callable[[], datetime], every: float = EVERY) -> None:
        self._tenants = tenants
        self._now = now
        self._every = every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recollect-webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the delivery in hand end, and begin no other."""
        self._stop.set()
        self._thread.join(PATIENCE + 5)

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self.round()
            except RecollectError as error:  # the store is busy or away: the next round finds it again
                log.warning("webhooks were not looked at: %s", error)

    def round(self) -> int:
        """Look at every webhook once; gives how many deliveries were taken."""
        taken = 0
        now = self._now()
        for webhook in self._tenants.first.webhooks.everyone():
            while not self._stop.is_set() and (webhook.next_at is None or webhook.next_at <= now):
                engine = self._tenants.of(webhook.tenant)
                if engine.head <= webhook.cursor:
                    break
                entries = engine.changes(after=webhook.cursor, limit=BATCH)
                moved = self._deliver(webhook, entries)
                engine.webhooks.moved(moved)
                if moved.failures:
                    break
                taken += 1
                webhook = moved  # on to its next changes
        return taken

    def _deliver(self, webhook: Webhook, entries: tuple[Entry, ...]) -> Webhook:
        wanted = [e for e in entries if not webhook.operations or e.operation in webhook.operations]
        try:
            if wanted:
                post(webhook, wanted, self._now())
        except Undelivered as error:
            failures = webhook.failures + 1
            wait = min(LONGEST, timedelta(seconds=2 ** min(failures, 20))) * random.uniform(0.75, 1.25)
            log.warning("webhook %s: %s; attempt %d, next in %d s", webhook.id, error, failures, wait.total_seconds())
            return replace(webhook, failures=failures, error=str(error)[:200], next_at=self._now() + wait)
        return replace(webhook, cursor=entries[-1].seq, failures=0, error="", next_at=None)


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """
    >>> signature("key", 1, b"{}")[:20]
    'sha256=1ba6b8171186e'
    """
    return "sha256=" + hmac.new(secret.encode(), b"%d.%b" % (timestamp, body), hashlib.sha256).hexdigest()


def post(webhook: Webhook, entries: list[Entry], now: datetime) -> None:
    body = wire.dumps({"webhook": webhook.id, "changes": entries})
    timestamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "recollect",
        "Recollect-Delivery": f"{webhook.id}-{entries[0].seq}-{entries[-1].seq}",
        "Recollect-Timestamp": str(timestamp),
        "Recollect-Signature": signature(webhook.secret, timestamp, body),
    }
    parts = urlsplit(webhook.url)
    try:
        connection = _connect(webhook)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, headers)
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise Undelivered(f"{type(error).__name__}: {error}") from error
    if not 200 <= status < 300:
        raise Undelivered(f"it answered {status}")


def is_public(address: str) -> bool:
    """Whether an address leads to the public network, also where it wraps one that is unwrapped on the way.

    >>> [is_public(one) for one in ("93.184.215.14", "2606:2800:220::1", "64:ff9b::93.184.215.14")]
    [True, True, True]
    >>> any(map(is_public, ("10.0.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::", "fe80::1%lo")))
    False
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in net for net in TUNNELS):
            return False
        if found in NAT64 or found.ipv4_mapped or (int(found) >> 32) & 0xFDFF_FFFF == ISATAP:
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)))
    return found.is_global and not found.is_multicast


def _connect(webhook: Webhook) -> http.client.HTTPConnection:
    """A connection to the address as it was looked up here, so that a second look-up cannot tell another."""
    parts = urlsplit(webhook.url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    allowed = [address for address in found if webhook.private or is_public(address)]
    if not allowed:
        raise Undelivered(f"{host} is not a public address")
    connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    plain = socket.create_connection((allowed[0], port), PATIENCE)
    connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
    return connection
