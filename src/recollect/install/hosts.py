"""Hosts: which files connect which assistant, and what they contain. `scripts/plugin.py` writes `plugin/` from it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..entrypoints.hook import budget
from ..errors import BadInput

NAME = "recollect"
HOME = "RECOLLECT_HOME"
BLOCK = f"mcpServers/{NAME}.json"  # a file of its own for Continue
SERVER = ("mcp_servers", NAME)  # where Codex keeps it
TOOLS = "Bash|Edit|MultiEdit|Write|NotebookEdit|apply_patch|shell|exec_command"
GEMINI_TOOLS = "run_shell_command|write_file|replace"
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd")
GEMINI_EVENTS = ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd")
CURSOR_EVENTS = (
    "sessionStart", "beforeSubmitPrompt", "afterShellExecution", "afterFileEdit", "afterAgentResponse", "preCompact",
    "sessionEnd",
)  # fmt: skip
COPILOT_EVENTS = ("sessionStart", "userPromptSubmitted", "postToolUse", "agentStop", "sessionEnd")
WINDSURF_EVENTS = ("pre_user_prompt", "post_run_command", "post_write_code", "post_cascade_response")


@dataclass(frozen=True, slots=True)
class Program:
    """How the program is called, and the settings (`RECOLLECT_…`) it is to have, because whoever connects it has."""

    path: str = NAME
    settings: Mapping[str, str] = field(default_factory=dict)
    tools: str = ""  # the profiles of tools that its server lists

    @property
    def words(self) -> list[str]:
        """What follows the program where it is to be an MCP server."""
        return ["mcp", *(["--tools", self.tools] if self.tools else [])]

    def server(self) -> dict[str, Any]:
        """What nearly every host calls an MCP server on standard input and output."""
        return {"command": self.path, "args": self.words} | self.environment()

    def environment(self, name: str = "env") -> dict[str, Any]:
        return {name: dict(self.settings)} if self.settings else {}

    def options(self, host: str) -> list[str]:
        """What follows the event: hooks are a line for the shell, and not every host gives them an environment."""
        words = ["--host", host]
        for name, value in self.settings.items():
            words += ["--home", value] if name == HOME else ["--env", f"{name}={value}"]
        return words

    def hook(self, event: str, host: str) -> str:
        """
        >>> Program("/opt/my tools/recollect").hook("Stop", "claude")
        "'/opt/my tools/recollect' hook Stop --host claude"
        """
        return shlex.join([self.path, "hook", event, *self.options(host)])


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and where it goes; the end of a list where the path leads to one."""

    path: tuple[str, ...]
    value: Any
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and what of ours belongs in it: entries of JSON, a table of TOML, or the whole of it."""

    path: Path
    entries: tuple[Entry, ...] = ()
    table: Mapping[str, Any] = field(default_factory=dict)  # of `SERVER`
    whole: str = ""
    off: tuple[tuple[str, ...], bool] | None = None  # the setting, and its value, by which a host runs no hooks


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    title: str
    targets: Callable[[Program, Folders], tuple[Target, ...]]
    note: str = ""
    captures: bool = True  # it has hooks of ours, so that what is said is stored

    def is_here(self, folders: Folders) -> bool:
        """Whether the assistant seems to be used here: the folder of its configuration is there."""
        return bool(getattr(folders, self.name.replace("continue", "continued")).is_dir())


class Folders:
    """Where the hosts keep their configuration, as the environment says."""

    def __init__(self, environ: Mapping[str, str], home: Path, system: str) -> None:
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        code = home / "Library" / "Application Support" if system == "Darwin" else config
        own = environ.get("CLAUDE_CONFIG_DIR")
        self.claude = Path(own) if own else home / ".claude"
        # Where Claude Code keeps its servers: beside its folder, or inside one that was chosen.
        self.claude_servers = self.claude / ".claude.json" if own else home / ".claude.json"
        self.codex = Path(environ.get("CODEX_HOME") or home / ".codex")
        self.gemini = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini"
        self.cursor = home / ".cursor"
        self.vscode = code / "Code" / "User"
        self.windsurf = home / ".codeium" / "windsurf"
        self.opencode = Path(environ.get("OPENCODE_CONFIG_DIR") or config / "opencode")
        self.qwen = Path(environ.get("QWEN_HOME") or home / ".qwen").expanduser()
        self.copilot = Path(environ.get("COPILOT_HOME") or home / ".copilot")
        self.cline = self.vscode / "globalStorage" / "saoudrizwan.claude-dev"
        self.zed, self.amp, self.crush = (config / name for name in ("zed", "amp", "crush"))
        self.junie, self.kiro = home / ".junie", home / ".kiro"
        self.continued = home / ".continue"


def claude_hooks(program: Program, host: str, unit: int = 1) -> dict[str, list[dict[str, Any]]]:
    """Claude Code's hooks, which are Codex's too, and Qwen Code's, which counts milliseconds."""
    made: dict[str, list[dict[str, Any]]] = {}
    for event in EVENTS:
        handler = {"type": "command", "command": program.hook(event, host), "timeout": unit * budget(event)[0]}
        matcher = {"matcher": TOOLS} if event == "PostToolUse" else {}
        made[event] = [{**matcher, "hooks": [handler]}]
    return made


def gemini_hooks(program: Program) -> dict[str, list[dict[str, Any]]]:
    """Gemini counts milliseconds."""
    made: dict[str, list[dict[str, Any]]] = {}
    for event in GEMINI_EVENTS:
        handler = {"name": NAME, "type": "command", "command": program.hook(event, "gemini"),
                   "timeout": 1000 * budget(event)[0]}  # fmt: skip
        matcher = {"matcher": GEMINI_TOOLS} if event == "AfterTool" else {}
        made[event] = [{**matcher, "hooks": [handler]}]
    return made


def plain_hooks(program: Program, host: str, events: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    return {event: [{"command": program.hook(event, host)}] for event in events}


def _listed(hooks: Mapping[str, list[dict[str, Any]]]) -> tuple[Entry, ...]:
    return tuple(Entry(("hooks", event), group, listed=True) for event, groups in hooks.items() for group in groups)


def _claude(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = {"type": "stdio", **program.server(), "alwaysLoad": True}
    return (
        Target(
            folders.claude / "settings.json", _listed(claude_hooks(program, "claude")), off=(("disableAllHooks",), True)
        ),
        Target(folders.claude_servers, (Entry(("mcpServers", NAME), server),)),
    )


def _codex(program: Program, folders: Folders) -> tuple[Target, ...]:
    return (
        Target(folders.codex / "hooks.json", _listed(claude_hooks(program, "codex"))),
        Target(folders.codex / "config.toml", table=program.server(), off=(("features", "hooks"), False)),
    )


def _gemini(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = Entry(("mcpServers", NAME), program.server())
    hooks = _listed(gemini_hooks(program))
    return (Target(folders.gemini / "settings.json", (server, *hooks), off=(("hooksConfig", "enabled"), False)),)


def _cursor(program: Program, folders: Folders) -> tuple[Target, ...]:
    hooks = (Entry(("version",), 1), *_listed(plain_hooks(program, "cursor", CURSOR_EVENTS)))
    return (
        Target(folders.cursor / "mcp.json", (Entry(("mcpServers", NAME), program.server()),)),
        Target(folders.cursor / "hooks.json", hooks),
    )


def _vscode(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = {"type": "stdio", **program.server()}
    return (Target(folders.vscode / "mcp.json", (Entry(("servers", NAME), server),)),)


def _windsurf(program: Program, folders: Folders) -> tuple[Target, ...]:
    return (
        Target(folders.windsurf / "mcp_config.json", (Entry(("mcpServers", NAME), program.server()),)),
        Target(folders.windsurf / "hooks.json", _listed(plain_hooks(program, "windsurf", WINDSURF_EVENTS))),
    )


def _opencode(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = {
        "type": "local",
        "command": [program.path, *program.words],
        "enabled": True,
        **program.environment("environment"),
    }
    return (
        Target(folders.opencode / "opencode.json", (Entry(("mcp", NAME), server),)),
        Target(folders.opencode / "plugins" / f"{NAME}.js", whole=opencode_plugin(program)),
    )


def _qwen(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = Entry(("mcpServers", NAME), program.server())
    hooks = _listed(claude_hooks(program, "qwen", 1000))
    return (Target(folders.qwen / "settings.json", (server, *hooks), off=(("disableAllHooks",), True)),)


def _copilot(program: Program, folders: Folders) -> tuple[Target, ...]:
    server = {"type": "local", **program.server(), "tools": ["*"]}
    hooks = {
        event: [{"type": "command", "bash": program.hook(event, "copilot"), "timeoutSec": budget(event)[0]}]
        for event in COPILOT_EVENTS
    }
    return (
        Target(folders.copilot / "mcp-config.json", (Entry(("mcpServers", NAME), server),)),
        Target(folders.copilot / "hooks" / f"{NAME}.json", (Entry(("version",), 1), *_listed(hooks))),
    )


def _tools_alone(name: str, file: str, *keys: str, **more: Any) -> Callable[[Program, Folders], tuple[Target, ...]]:
    """For a host that has no hooks we could use: a server below some keys of a file in its folder."""

    def targets(program: Program, folders: Folders) -> tuple[Target, ...]:
        entry = Entry((*keys, NAME), {**more, **program.server()})
        return (Target(getattr(folders, name) / file, (entry,)),)

    return targets


def opencode_plugin(program: Program) -> str:
    """The plugin that comes with the package, calling the program as it is called here."""
    script = (files(__package__) / "opencode.js").read_text("utf-8")
    script = script.replace('["recollect", "hook"]', json.dumps([program.path, "hook"]))
    return script.replace('["--host", "opencode"]', json.dumps(program.options("opencode")))


HOSTS = {
    host.name: host
    for host in (
        Host("claude", "Claude Code", _claude),
        Host("codex", "Codex", _codex, "Codex asks once whether it may trust the hooks: answer yes."),
        Host("gemini", "Gemini CLI", _gemini),
        Host("cursor", "Cursor", _cursor),
        Host("vscode", "VS Code", _vscode, "For hooks in VS Code, connect copilot too: both read its folder.", False),
        Host("windsurf", "Windsurf", _windsurf, "Windsurf takes no context from hooks: it asks the tools."),
        Host("opencode", "OpenCode", _opencode),
        Host("qwen", "Qwen Code", _qwen),
        Host("copilot", "Copilot CLI", _copilot),
        Host("cline", "Cline", _tools_alone("cline", "settings/cline_mcp_settings.json", "mcpServers"), captures=False),
        Host("zed", "Zed", _tools_alone("zed", "settings.json", "context_servers", source="custom"), captures=False),
        Host("junie", "Junie", _tools_alone("junie", "mcp/mcp.json", "mcpServers"), captures=False),
        Host("kiro", "Kiro", _tools_alone("kiro", "settings/mcp.json", "mcpServers"), captures=False),
        Host("amp", "Amp", _tools_alone("amp", "settings.json", "amp.mcpServers"), captures=False),
        Host("crush", "Crush", _tools_alone("crush", "crush.json", "mcp", type="stdio"), captures=False),
        Host(
            "continue", "Continue", _tools_alone("continued", f"mcpServers/{NAME}.json", "mcpServers"), captures=False
        ),
    )
}


def host(name: str) -> Host:
    if name not in HOSTS:
        raise BadInput(f"{name!r} is not an assistant we can connect.", fix=f"It is one of: {', '.join(HOSTS)}.")
    return HOSTS[name]
