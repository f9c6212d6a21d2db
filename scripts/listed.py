"""Write what is known before anything is loaded: what the MCP server says of itself, and which commands there are.

python scripts/listed.py           writes src/recollect/entrypoints/listed.json and src/recollect/cli/operations.json
python scripts/listed.py --check   fails when one is not up to date

The real server is asked, so the first file says what the server would; the second is made from the one list of
operations and the commands written by hand. `make docs` and `make lint` run it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

from recollect.cli import cli, contents
from recollect.cli import operations as commands
from recollect.entrypoints.link import Link
from recollect.entrypoints.listed import FILE, META, OWN
from recollect.ops.catalogue import NOUNS
from recollect.ops.operation import LOOKED, PLACED, Operation

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

    from recollect.serve.profiles import PROFILES

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


def operations() -> str:
    """The commands that are made from operations, and a line of help for each command."""
    made: dict[str, Any] = {"operations": {}, "groups": {}, "commands": {}}
    for noun in NOUNS:
        made["groups"] |= getattr(noun, "GROUPS", {})
        for one in noun.OPERATIONS:
            if one.cli:
                name, section = one.cli.split()[0], "Look" if one.read_only else "Change"
                made["operations"][one.name] = spec(one, noun.__name__.rpartition(".")[2])
                made["commands"].setdefault(name, {"section": section})
                contents.MODULES.setdefault(name, "")
    vars(commands).update(specs=lambda: made["operations"], groups=lambda: made["groups"])
    for name, command in cli.commands.items():
        made["commands"].setdefault(name, {"section": ""})["help"] = command.get_short_help_str(70)
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def spec(one: Operation, noun: str) -> dict[str, Any]:
    placed = (*PLACED, *LOOKED)
    return {
        "name": one.name, "noun": noun, "command": one.cli, "help": one.help or one.summary,
        "read": one.read_only and one.returns is not str, "tenant": one.tenant, "returns": named(one.returns),
        "parameters": [
            {"name": p.name, "kind": p.kind, "help": p.description, "required": p.required, "cli": p.cli,
             "default": None if p.required or isinstance(p.default, bool) else
             ", ".join(p.default) if isinstance(p.default, tuple) else p.default,
             "choices": p.choices, "empty": p.empty, "place": p in placed}
            for p in one.parameters
        ],
    }  # fmt: skip


def named(returns: Any) -> Any:
    """What an operation gives, by names that another process can look up."""
    if isinstance(returns, list):
        return [named(returns[0])]
    if isinstance(returns, dict):
        return {name: named(one) for name, one in returns.items()}
    for one in get_args(returns) or (returns,):
        if isinstance(one, type) and one.__module__.startswith("recollect."):
            return f"{one.__module__.removeprefix('recollect.')}:{one.__name__}"
    return None


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
    for path, text in ((Path(FILE), made), (Path(str(contents.FILE)), operations())):
        if path.read_text("utf-8") == text:
            continue
        if "--check" in sys.argv:
            print(f"{path.name} is not up to date. Run: python scripts/listed.py", file=sys.stderr)
            status = 1
        else:
            path.write_text(text, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
