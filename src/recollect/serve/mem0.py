"""mem0's HTTP interface, so that its own client works with this server: `MemoryClient(api_key=TOKEN, host=…)`.

Its addresses end in a slash and ours do not, so none of them clashes with ours. What they do goes through the same
operations, with the caller's rights and wall. Webhooks, exports, profiles and feedback are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..adapters.mem0 import IDS, Memory
from ..agents.access import Caller
from ..client import Client, arguments
from ..engine import Engine
from ..errors import BadInput, NotFound, TooSlow
from ..ops.operation import Operation
from . import wire
from .tenants import Tenants

Given = dict[str, Any]
COUNTS = ("page", "page_size", "top_k", "limit")
Act = Callable[[Memory, Given], Any]


class _Within(Client):
    """The verbs of a client for a caller of this process: their operations are called, not sent."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        super().__init__()
        self._engine, self._caller = engine, caller

    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        return operation.call(self._engine, self._caller, arguments(operation, given))


def _get(memory: Memory, given: Given) -> Any:
    found = memory.get(given["memory_id"])
    if found is None:
        raise NotFound(f"No memory has the id {given['memory_id']!r:.60}.")
    return found


def _of_somebody(act: Act) -> Act:
    """What needs to be told of whom: without that it is one of our addresses with an empty id."""

    def acting(memory: Memory, given: Given) -> Any:
        if not IDS.keys() & given.keys():
            raise NotFound("There is nothing at this address.", fix="Name a memory, or a user_id.")
        return act(memory, given)

    return acting


def _each(act: Act) -> Act:
    """The same for each memory of a batch."""

    def acting(memory: Memory, given: Given) -> Any:
        listed = given.get("memories")
        if not isinstance(listed, list) or not all(isinstance(one, dict) and "memory_id" in one for one in listed):
            raise BadInput("memories must be a list of objects with a memory_id.")
        for one in listed:
            act(memory, one)
        return {"message": f"Done for {len(listed)} memories."}

    return acting


def _update(memory: Memory, given: Given) -> Any:
    return memory.update(**given)


def _delete(memory: Memory, given: Given) -> Any:
    return memory.delete(given["memory_id"])


ACTS: tuple[tuple[str, str, Act], ...] = (
    (
        "GET",
        "/v1/ping/",
        lambda memory, given: {"status": "ok", "org_id": "recollect", "project_id": "recollect", "user_email": None},
    ),
    ("POST", "/v3/memories/add/", lambda memory, given: memory.add(**given)),
    ("POST", "/v1/memories/", lambda memory, given: memory.add(**given)),
    *(
        ("POST", f"/{version}/memories/search/", lambda memory, given: memory.search(**given))
        for version in ("v1", "v2", "v3")
    ),
    *(("POST", f"/{version}/memories/", lambda memory, given: memory.get_all(**given)) for version in ("v2", "v3")),
    ("GET", "/v1/memories/", _of_somebody(lambda memory, given: memory.get_all(**given))),
    ("DELETE", "/v1/memories/", _of_somebody(lambda memory, given: memory.delete_all(**given))),
    ("GET", "/v1/memories/{memory_id}/", _get),
    ("PUT", "/v1/memories/{memory_id}/", _update),
    ("DELETE", "/v1/memories/{memory_id}/", _delete),
    ("GET", "/v1/memories/{memory_id}/history/", lambda memory, given: memory.history(given["memory_id"])),
    ("GET", "/v1/entities/", lambda memory, given: memory.users()),
    ("PUT", "/v1/batch/", _each(_update)),
    ("DELETE", "/v1/batch/", _each(_delete)),
)


def told(engine: Engine, caller: Caller, act: Act, given: Given) -> Any:
    """What a caller is told who asks for this."""
    try:
        return act(Memory(_Within(engine, caller)), given)
    except TypeError as error:  # an argument that the verb lacks, or one that is missing
        raise BadInput(f"The request does not fit: {error!s:.200}.") from error


def routes(tenants: Tenants) -> list[Route]:
    return [
        Route(path, _endpoint(tenants, act), methods=[method], name=f"mem0 {method} {path}")
        for method, path, act in ACTS
    ]


def _endpoint(tenants: Tenants, act: Act) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        request.state.operation = "mem0"
        came, body = request.state.caller, await request.body()
        sent = wire.loads(body) if body else {}
        if not isinstance(sent, dict):
            raise BadInput("The body must be a JSON object.")
        given = {**_numbers(request), **sent, **request.path_params}

        def run() -> Response:
            engine = tenants.engine(came)
            answer = told(engine, engine.agents.enter(came), act, given)
            return Response(wire.dumps(answer), 200, None, "application/json")

        try:
            with anyio.fail_after(tenants.settings.request_timeout):
                return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except TimeoutError as error:
            raise TooSlow(f"It took longer than {tenants.settings.request_timeout:g} seconds.") from error

    return endpoint


def _numbers(request: Request) -> Given:
    """The query string, with its numbers as numbers."""
    return {name: int(value) if name in COUNTS and value.isdecimal() and len(value) < 10 else value
            for name, value in request.query_params.items()}  # fmt: skip
