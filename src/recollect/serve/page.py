"""The dashboard at /: static files from the package, and logging in.

Files are served below an address with the hash of all of them, so that a browser may cache them for ever. A strict
policy allows only our own files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..agents.access import Caller
from ..errors import BadInput, Forbidden, Unauthorised
from . import wire
from .sessions import COOKIE, LASTS, PROOF, Sessions
from .tenants import Tenants

FOLDER = Path(__file__).parent / "dashboard"
TYPES = {
    ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8",
}  # fmt: skip
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SHELL = "index.html"


def routes(tenants: Tenants, sessions: Sessions, secret: str) -> list[Route]:
    files = {
        str(path.relative_to(FOLDER)): path.read_bytes()
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }
    version = hashlib.sha256(b"\0".join(name.encode() + b"\0" + files[name] for name in files)).hexdigest()[:16]
    shell = files[SHELL].replace(b"{version}", version.encode())
    tag = f'"{version}"'

    async def page(request: Request) -> Response:
        request.state.operation = "page"
        headers = {"Content-Security-Policy": CSP, "ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(shell, media_type=TYPES[".html"], headers=headers)

    async def file(request: Request) -> Response:
        request.state.operation = "page"
        name = request.path_params["name"]
        if request.path_params["version"] != version or name not in files or name == SHELL:
            raise HTTPException(404)
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": tag, "Content-Security-Policy": CSP}
        return Response(files[name], media_type=TYPES[Path(name).suffix], headers=headers)

    return [
        Route("/", page, methods=["GET"], name="page"),
        Route("/login", page, methods=["GET"], name="login page"),
        Route("/login", _login(tenants, sessions, secret), methods=["POST"], name="login"),
        Route("/login/code", _code(sessions, secret), methods=["POST"], name="login code"),
        Route("/logout", _logout(sessions), methods=["POST"], name="logout"),
        Route("/app/{version}/{name:path}", file, methods=["GET"], name="file"),
    ]


def _login(tenants: Tenants, sessions: Sessions, secret: str) -> Callable[[Request], Any]:
    async def login(request: Request) -> Response:
        request.state.operation = "login"
        _proven(request)
        given = wire.loads(await request.body())
        token, code = (given.get("token"), given.get("code")) if isinstance(given, dict) else (None, None)
        if isinstance(code, str) and code:
            if not secret or not sessions.redeem(code):
                raise Unauthorised("The login link was used already, or has expired.", fix="Run: recollect dashboard")
            caller, token = tenants.local(), secret
        elif isinstance(token, str) and token.strip():
            token, host = token.strip(), request.client.host if request.client else ""
            caller = await anyio.to_thread.run_sync(tenants.gatekeeper.caller, token, host)
        else:
            raise BadInput("token is missing.", fix="Make one with: recollect token create")
        value, proof = sessions.begin(token)
        answer = JSONResponse({"actor": caller.actor, "can": sorted(caller.can), "proof": proof})
        answer.headers["Cache-Control"] = "no-store"
        answer.set_cookie(COOKIE, value, secure=_encrypted(request), **_KEPT)
        return answer

    return login


def _code(sessions: Sessions, secret: str) -> Callable[[Request], Any]:
    """What `recollect dashboard` asks for: the code of a login link, for the owner of the home."""

    async def code(request: Request) -> Response:
        request.state.operation = "login"
        caller: Caller = request.state.caller
        if caller.token or not secret:
            raise Forbidden("A login link is for the owner of the home.", fix="Log in with your token at /login.")
        return JSONResponse({"code": sessions.make_code()}, headers={"Cache-Control": "no-store"})

    return code


def _logout(sessions: Sessions) -> Callable[[Request], Any]:
    async def logout(request: Request) -> Response:
        request.state.operation = "logout"
        _proven(request)
        sessions.end(request.cookies.get(COOKIE, ""))
        answer = JSONResponse({"ended": True})
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=_encrypted(request))
        return answer

    return logout


_KEPT: dict[str, Any] = {"max_age": int(LASTS), "path": "/", "httponly": True, "samesite": "strict"}


def _proven(request: Request) -> None:
    if PROOF not in request.headers:
        raise Forbidden("Only the page itself may ask for that.", fix="Log in at /login.")


def _encrypted(request: Request) -> bool:
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
