"""Write what the MCP server says of itself, so that it can be answered before anything is loaded.

python scripts/listed.py           writes src/recollect/entrypoints/listed.json
python scripts/listed.py --check   fails when it is not up to date

The real server is asked, so the file says what the server would. `make docs` and `make lint` run it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from recollect.entrypoints.link import Link
from recollect.entrypoints.listed import FILE, META, OWN

HELLO = {"name": "listed", "version": "1"}
LISTS = ("prompts/list", "resources/list", "resources/templates/list")


def asked(link: Link, method: str, modern: str = "", tools: str = "core", **params: Any) -> dict[str, Any]:
    """The result of one request to the real server."""
    meta = {f"{META}protocolVersion": modern, f"{META}clientInfo": HELLO, f"{META}clientCapabilities": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    if modern:
        params["_meta"] = meta
        headers |= {"MCP-Protocol-Version": modern, "Mcp-Method": method}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    answer = link.request("POST", f"/mcp?tools={tools}", body, headers, timeout=60)
    told = answer.body.decode()
    if answer.headers["content-type"].startswith("text/event-stream"):
        told = next(line[5:] for line in told.splitlines() if line.startswith("data:"))
    result: dict[str, Any] = json.loads(told)["result"]
    return result


def collected(link: Link) -> dict[str, Any]:
    """Everything the file holds."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    from recollect.serve.tools import PROFILES

    (modern,) = MODERN_PROTOCOL_VERSIONS
    own, other = sorted(OWN)[0], next(name for name in PROFILES if name not in OWN)
    plain = asked(link, "tools/list")
    around = {name: value for name, value in asked(link, "tools/list", modern).items() if name not in plain}
    greetings = [asked(link, "initialize", tools=name, protocolVersion=HANDSHAKE_PROTOCOL_VERSIONS[-1],
                       capabilities={}, clientInfo=HELLO) for name in (own, other)]  # fmt: skip
    discovered = asked(link, "server/discover", modern)
    listed = {name: asked(link, "tools/list", tools=name)["tools"] for name in PROFILES}
    apart = ("protocolVersion", "instructions", *around)
    return {
        "versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "modern": modern,
        "initialize": {name: value for name, value in greetings[0].items() if name not in apart},
        "discover": {name: value for name, value in discovered.items() if name not in apart},
        "instructions": [greeting["instructions"] for greeting in greetings],
        "around": around,
        "lists": {method: asked(link, method) for method in LISTS},
        "profiles": {name: [tool["name"] for tool in tools] for name, tools in listed.items()},
        "tools": {tool["name"]: tool for tools in listed.values() for tool in tools},
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"RECOLLECT_HOME": home, "RECOLLECT_EMBEDDER": "hashing"}
        from recollect.serve import solo

        info, leave, why = solo.start()
        if info is None:
            raise SystemExit(why)
        try:
            made = json.dumps(collected(Link(info)), indent=1, ensure_ascii=False) + "\n"
        finally:
            leave()
    path = Path(FILE)
    if path.read_text("utf-8") == made:
        return 0
    if "--check" in sys.argv:
        print(f"{path.name} is not up to date. Run: python scripts/listed.py", file=sys.stderr)
        return 1
    path.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
