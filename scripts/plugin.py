"""Write the parts of `plugin/` that follow from the table of hosts, so that they say what `recollect install` would.

python scripts/plugin.py           writes them
python scripts/plugin.py --check   fails when one is not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.install import hosts, toml
from recollect.install.hosts import NAME, Program

ROOT = Path(__file__).parents[1]
SENTENCE = "Memory across sessions: one file on your machine, no API key, nothing believed without a source."
OWNER = {"name": "Recollect"}


def written() -> dict[str, str]:
    """Every generated file of the plugin, by its path in the repository."""
    program = Program()
    commands = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "plugin" / "commands").glob("*.md"))}
    made: dict[str, Any] = {
        ".claude-plugin/marketplace.json": {
            "name": NAME, "owner": OWNER, "metadata": {"description": SENTENCE},
            "plugins": [{"name": NAME, "source": "./plugin", "description": SENTENCE, "version": __version__}],
        },
        "plugin/.claude-plugin/plugin.json": {
            "name": NAME, "version": __version__, "description": SENTENCE, "author": OWNER, "license": "Apache-2.0",
            "keywords": ["memory", "recall", "mcp", "hooks"],
        },
        "plugin/.mcp.json": {"mcpServers": {NAME: {**program.server(), "alwaysLoad": True}}},
        "plugin/hooks/hooks.json": {"description": "Gives what is known, keeps what is said.",
                                    "hooks": hosts.claude_hooks(program, "plugin")},
        "plugin/gemini/gemini-extension.json": {
            "name": NAME, "version": __version__, "description": SENTENCE, "contextFileName": "GEMINI.md",
            "mcpServers": {NAME: program.server()},
        },
        "plugin/gemini/hooks/hooks.json": {"hooks": hosts.gemini_hooks(program)},
    }  # fmt: skip
    folders = hosts.Folders({}, Path("/"), "Linux")
    for name in ("cursor", "vscode", "windsurf", "opencode"):
        for target in hosts.host(name).targets(program, folders):
            if target.entries:
                made[f"plugin/snippets/{name}-{target.path.name}"] = _nested(target.entries)
    texts = {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in made.items()}
    texts["plugin/snippets/opencode-plugins-recollect.js"] = hosts.opencode_plugin(program)
    texts["plugin/snippets/codex-config.toml"] = toml.table(hosts.SERVER, program.server())
    texts |= {f"plugin/gemini/commands/{name}.toml": _gemini_command(text) for name, text in commands.items()}
    return texts


def _nested(entries: tuple[hosts.Entry, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for entry in entries:
        inside = made
        for name in entry.path[:-1]:
            inside = inside.setdefault(name, {})
        if entry.listed:
            inside.setdefault(entry.path[-1], []).append(entry.value)
        else:
            inside[entry.path[-1]] = entry.value
    return made


def _gemini_command(text: str) -> str:
    """A command in Gemini's words: its description, and the prompt with its own name for the arguments."""
    _, head, prompt = text.split("---\n", 2)
    description = next(line.partition(": ")[2] for line in head.splitlines() if line.startswith("description"))
    body = prompt.strip().replace("$ARGUMENTS", "{{args}}")
    return f'description = {json.dumps(description)}\nprompt = """\n{body}\n"""\n'


def main() -> int:
    stale = []
    for name, text in written().items():
        path = ROOT / name
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    if stale and "--check" in sys.argv:
        print(f"{', '.join(stale)}: not up to date. Run: python scripts/plugin.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
