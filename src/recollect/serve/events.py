"""Events: the journal as a stream (Server-Sent Events), resumable by sequence number.

The id of an event is the number of its change, for `Last-Event-ID` or `?after=`. `?looks=true` adds what is recalled,
without ids. The stream ends when the token or session of its reader does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, RateLimited
from ..ops import memories
from ..ops import page as page_ops
from ..overview import Looked
from ..types import Entry
from . import wire
from .metrics import Metrics
from .tenants import Tenants

WAIT = 0.5  # seconds of waiting for a change, after which it is looked whether somebody still listens
BEAT = 15.0  # seconds between two signs of life
BATCH = 200
ASKED_EVERY = 2.0  # seconds between two looks whether the reader may still read
MOST = 100  # streams at a time


def route(tenants: Tenants, metrics: Metrics, stopping: threading.Event) -> Route:
    waiting = anyio.CapacityLimiter(MOST)  # threads of their own, so that who waits takes none from who works

    async def events(request: Request) -> Response:
        request.state.operation = "events"
        caller: Caller = request.state.caller
        caller.may("read", "Events")
        if metrics.streams >= MOST:
            raise RateLimited(f"{MOST} streams are open already.")
        engine = tenants.engine(caller)
        told = request.headers.get("last-event-id") or request.query_params.get("after")
        after = await anyio.to_thread.run_sync(lambda: _after(told, engine))
        looking = request.query_params.get("looks") == "true"
        stream = _stream(request, engine, caller, after, metrics, stopping, waiting, looking=looking)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    return Route("/v1/events", events, methods=["GET"], name="events")


def _after(told: str | None, engine: Engine) -> int:
    if told is None:
        return engine.head
    if not told.isdecimal() or len(told) > 15:
        raise BadInput(f"{told!r:.40} is not a sequence number.", fix="Give the id of the last event that was read.")
    return int(told)


async def _stream(
    request: Request,
    engine: Engine,
    caller: Caller,
    after: int,
    metrics: Metrics,
    stopping: threading.Event,
    waiting: anyio.CapacityLimiter,
    *,
    looking: bool,
) -> AsyncIterator[bytes]:
    metrics.streams += 1
    looked = engine.looks.head
    try:
        yield b"retry: 2000\n\n"
        spoken = asked = time.monotonic()
        while not stopping.is_set() and not await request.is_disconnected():
            if time.monotonic() - asked > ASKED_EVERY:
                if not await anyio.to_thread.run_sync(request.state.still_holds):
                    return
                asked = time.monotonic()
            entries, told = await anyio.to_thread.run_sync(_look, engine, caller, after)
            for entry in told:
                if time.monotonic() - asked > ASKED_EVERY:
                    break  # a slow reader: what is left is told in the next round, if they may still read
                after = entry.seq
                yield _event(entry)
            else:
                after = entries[-1].seq if entries else after
            if looking and (newest := engine.looks.head) > looked:
                for one in await anyio.to_thread.run_sync(_looks, engine, caller, looked):
                    yield b"event: look\ndata: %s\n\n" % wire.dumps(one)
                looked = newest
            if told or time.monotonic() - spoken > BEAT:
                spoken = time.monotonic()
                yield b": here\n\n"
            if len(entries) < BATCH:
                await anyio.to_thread.run_sync(engine.wait, after, WAIT, limiter=waiting)
    finally:
        metrics.streams -= 1


def _look(engine: Engine, caller: Caller, after: int) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    if engine.head <= after:
        return (), ()
    entries = engine.changes(after=after, limit=BATCH)
    return entries, memories.visible_changes(engine, caller, entries)


def _looks(engine: Engine, caller: Caller, after: int) -> list[Looked]:
    found: list[Looked] = page_ops.looks(engine, caller, after=after, limit=BATCH)["looks"]
    return found


def _event(entry: Entry) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (entry.seq, entry.operation.encode(), wire.dumps(entry))
