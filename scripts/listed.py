"""Write what is made from declarations: what the MCP server says of itself, the signatures of the client's verbs, and
the parsed declarations.

python scripts/listed.py           writes src/recollect/entrypoints/listed.json, src/recollect/verbs.pyi and
                                   src/recollect/ops/parsed.json
python scripts/listed.py --check   fails when one is not up to date

The real server is asked, so the first file says what the server would before anything is loaded. `make docs` and
`make lint` run it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from recollect import Client, verbs
from recollect.entrypoints.link import Link
from recollect.entrypoints.listed import FILE, META, OWN
from recollect.ops.catalogue import OPERATIONS
from recollect.ops.operation import Operation
from recollect.ops.parameters import PARSED, Parameter, shared

PLACED = (*shared("placed"), *shared("looked"))
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


TYPES = {
    "whole": "int", "number": "float", "flag": "bool", "texts": "Sequence[str]", "paths": "Sequence[str]",
    "wholes": "Sequence[int]", "time": "datetime | str", "later": "datetime | str", "ids": "str | Sequence[str]",
    "objects": "Sequence[Mapping[str, Any]]", "map": "Mapping[str, Any]", "source": "Source | str",
}  # fmt: skip


def stub() -> str:
    """The signatures of the client's verbs, but for those that it has its own of."""
    imports = {"types": {"Scope", "Source"}, "ops.operation": {"Operation"}}
    lines = []
    for one in OPERATIONS:
        if verbs.name_of(one) not in vars(Client):
            lines.append(f"    def {verbs.name_of(one)}({signature(one)}) -> {annotation(one.returned, imports)}: ...")
    names = [f"from .{module} import {', '.join(sorted(found))}" for module, found in sorted(imports.items())]
    text = "\n".join([
        "# Written by scripts/listed.py from the declarations of operations.",
        "from collections.abc import Mapping, Sequence", "from datetime import datetime", "from typing import Any", "",
        *names, "", "class Verbs:",
        "    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any: ...", *lines, "",
        "def name_of(operation: Operation) -> str: ...", "def positional(operation: Operation) -> list[str]: ...",
    ])  # fmt: skip
    command = [str(Path(sys.executable).parent / "ruff"), "format", "--stdin-filename", "verbs.pyi", "-"]
    return subprocess.run(command, input=text + "\n", capture_output=True, text=True, check=True).stdout


def parsed() -> str:
    """The TOML files that the command line reads, each with its hash; JSON is read ten times as fast."""
    package = Path(verbs.__file__).parent
    files = [*sorted((package / "ops").glob("*.toml")), package / "cli" / "commands.toml"]
    lines = []
    for path in files:
        told = path.read_bytes()
        entry = [hashlib.sha256(told).hexdigest(), tomllib.loads(told.decode("utf-8"))]
        name = path.relative_to(package).as_posix()
        lines.append(f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def signature(one: Operation) -> str:
    free = verbs.positional(one)
    words = ["self", *(f"{p.name}: {hint(p)}" for p in one.parameters if p.name in free and p.required)]
    words += [f"{p.name}: {hint(p)} | None = ..." for p in one.parameters if p.name in free and not p.required]
    rest = [f"{p.name}: {hint(p)} | None = ..." for p in one.parameters if p.name not in free]
    if any(p in PLACED for p in one.parameters):
        rest.append("scope: Scope | None = ...")
    return ", ".join([*words, *(["*", *rest] if rest else [])])


def hint(one: Parameter) -> str:
    return TYPES.get(one.kind, "str")


def annotation(returned: Any, imports: dict[str, set[str]]) -> str:
    if isinstance(returned, list):
        return f"tuple[{annotation(returned[0], imports)}, ...]"
    if isinstance(returned, dict) or ":" not in returned:
        return "dict[str, Any]" if isinstance(returned, dict) or returned == "dict" else str(returned)
    module, _, name = returned.rstrip("?").partition(":")
    imports.setdefault(module, set()).add(name)
    return f"{name} | None" if returned.endswith("?") else name


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
    status = 0
    package = Path(verbs.__file__).parent
    for path, text in (
        (Path(FILE), made),
        (package / "verbs.pyi", stub()),
        (package / "ops" / PARSED, parsed()),
    ):
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if "--check" in sys.argv:
            print(f"{path.name} is not up to date. Run: python scripts/listed.py", file=sys.stderr)
            status = 1
        else:
            path.write_text(text, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
