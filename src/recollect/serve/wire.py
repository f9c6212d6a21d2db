"""The wire: results as JSON, JSON that came in, and errors as problem documents (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from starlette.responses import Response

from ..errors import BadInput, RateLimited, RecollectError, Unauthorised
from ..nouns import wire
from ..regular_files import parse_json

PROBLEM = "application/problem+json"
TITLES = {
    400: "Bad request", 401: "Not authorised", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
    409: "Conflict", 412: "Changed meanwhile", 413: "Too large", 415: "Wrong content type", 422: "Not usable",
    429: "Too many requests", 500: "Server error", 502: "Not reachable", 503: "Not available", 504: "Took too long",
    507: "Full",
}  # fmt: skip


def dumps(value: Any) -> bytes:
    return json.dumps(wire(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def loads(body: bytes) -> Any:
    """What a caller sent as JSON; whatever is wrong with it is one error."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    try:
        return parse_json(body, refuse)
    except ValueError as error:
        raise BadInput(f"The body is not JSON: {error!s:.200}.", fix="Send a JSON object.") from error


def problem(status: int, code: str, detail: str, fix: str, headers: dict[str, str] | None = None) -> Response:
    """An error as an answer, with our code and the fix."""
    told = {
        "type": f"/docs#error-{code}", "title": TITLES.get(status, "Error"), "status": status, "detail": detail,
        "code": code, "fix": fix,
    }  # fmt: skip
    body = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, PROBLEM)


def problem_of(error: RecollectError) -> Response:
    headers = {}
    if isinstance(error, Unauthorised):
        headers["WWW-Authenticate"] = 'Bearer realm="recollect"'
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(max(1, round(error.wait)))
    return problem(error.status, error.code, error.message, error.fix, headers)
