"""Problems: an error as an answer (RFC 9457), with our code and the fix."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from ..errors import RateLimited, RecollectError, Unauthorised

TYPE = "application/problem+json"
TITLES = {
    400: "Bad request", 401: "Not authorised", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
    409: "Conflict", 412: "Changed meanwhile", 413: "Too large", 415: "Wrong content type", 422: "Not usable",
    429: "Too many requests", 500: "Server error", 502: "Not reachable", 503: "Not available", 504: "Took too long",
    507: "Full",
}  # fmt: skip


def document(status: int, code: str, detail: str, fix: str) -> dict[str, Any]:
    return {
        "type": f"/docs#error-{code}", "title": TITLES.get(status, "Error"), "status": status, "detail": detail,
        "code": code, "fix": fix,
    }  # fmt: skip


def answer(status: int, code: str, detail: str, fix: str, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(document(status, code, detail, fix), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, TYPE)


def of(error: RecollectError) -> Response:
    headers = {}
    if isinstance(error, Unauthorised):
        headers["WWW-Authenticate"] = 'Bearer realm="recollect"'
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(max(1, round(error.wait)))
    return answer(error.status, error.code, error.message, error.fix, headers)
