"""Installing: configuration files get what they need, keep everything else, and are as they were when we leave."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import BadInput
from recollect.install import files, hosts, jsonc
from recollect.install.hosts import Folders, Program

ROOT = Path(__file__).parents[1]
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PROGRAM = Program("/opt/recollect/bin/recollect")

SETTINGS = """{
  // what I like
  "model": "opus",   /* the big one */
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }, // beep
    ],
  },
}
"""
FILES = {
    "claude": {".claude/settings.json": SETTINGS, ".claude.json": '{"n": 3, "mcpServers": {"x": {"command": "x"}}}'},
    "codex": {".codex/config.toml": 'model = "gpt-5"   # best\n\n[tui]\ntheme = "x"', ".codex/hooks.json": "{}"},
    "gemini": {".gemini/settings.json": '{\r\n\t"ui": {"theme": "x"}\r\n}\r\n'},
    "cursor": {".cursor/mcp.json": '{ "mcpServers": { } }', ".cursor/hooks.json": '{"version": 1, "hooks": {}}\n'},
    "vscode": {".config/Code/User/mcp.json": '{\n    "inputs": [],\n    "servers": {}\n}\n'},
    "windsurf": {".codeium/windsurf/mcp_config.json": ""},
    "opencode": {".config/opencode/opencode.json": '\ufeff{"$schema": "https://opencode.ai/config.json"}'},
}  # fmt: skip


def filled(home: Path, name: str) -> dict[Path, bytes]:
    for path, text in FILES[name].items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    return everything(home)


def everything(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


def do(name: str, user: Path, home: Path, *, leave: bool = False, program: Program = PROGRAM) -> list[files.Change]:
    folders = Folders({}, user, "Linux")
    changes = files.plan(name, program, folders, home, leave=leave)
    files.carry_out(name, changes, home, NOW, leave=leave)
    return changes


@pytest.fixture
def user(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "ours"


@pytest.mark.parametrize("name", hosts.HOSTS)
@pytest.mark.parametrize("empty", [False, True], ids=["configured", "fresh"])
def test_leaving_gives_back_the_very_bytes_and_connecting_twice_is_once(
    name: str, empty: bool, user: Path, home: Path
) -> None:
    before = {} if empty else filled(user, name)
    assert do(name, user, home), "something had to change"
    after = everything(user)
    assert do(name, user, home) == [], "a second time there is nothing to do"
    assert files.connected(name, PROGRAM, Folders({}, user, "Linux"), home)
    assert everything(user) == after
    assert do(name, user, home, leave=True)
    assert everything(user) == before
    assert do(name, user, home, leave=True) == []
    if empty:
        assert list(user.iterdir()) == [], "folders that we made are gone too"


@pytest.mark.parametrize("name", hosts.HOSTS)
def test_what_was_there_stays_and_what_is_ours_is_understood(name: str, user: Path, home: Path) -> None:
    filled(user, name)
    old = {user / path: values(user / path) for path, text in FILES[name].items() if text}
    do(name, user, home)
    for path, known in old.items():
        assert contains(values(path), known), path
    told = "\n".join(text.decode() for text in everything(user).values())
    assert PROGRAM.path in told


def values(path: Path) -> Any:
    text = path.read_text("utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.parse(text).plain()


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], inside) for name, inside in part.items())
    return all(item in whole for item in part) if isinstance(part, list) else bool(whole == part)


@pytest.mark.parametrize("name", hosts.HOSTS)
def test_a_file_that_others_wrote_into_since_keeps_what_they_wrote(name: str, user: Path, home: Path) -> None:
    filled(user, name)
    do(name, user, home)
    for path in everything(user):
        if path.suffix == ".json":  # an assistant reads its file and writes it again in its own way
            path.write_text(json.dumps({"new": {"of": "theirs"}, **values(path)}, indent=3))
        elif path.suffix == ".toml":
            path.write_text('new = "of theirs"\n' + path.read_text())
    do(name, user, home, leave=True)
    told = "\n".join(text.decode() for text in everything(user).values())
    assert "of" in told
    assert "theirs" in told
    assert "recollect" not in told.lower()
    for file, text in FILES[name].items():
        if text and file.endswith(".json") and "{}" not in text and "{ }" not in text:
            assert contains(values(user / file), jsonc.parse(text).plain()), file


def test_connecting_again_from_elsewhere_replaces_the_old_place(user: Path, home: Path) -> None:
    before = filled(user, "claude")
    do("claude", user, home, program=Program("/old/recollect"))
    do("claude", user, home)
    told = "\n".join(text.decode() for text in everything(user).values())
    assert "/old/recollect" not in told
    assert told.count("hook Stop --host claude") == 1
    do("claude", user, home, leave=True)
    assert everything(user) == before


def test_each_file_is_saved_first_and_keeps_its_mode_and_its_link(user: Path, home: Path) -> None:
    filled(user, "claude")
    real = user / "dotfiles.json"
    (user / ".claude" / "settings.json").rename(real)
    (user / ".claude" / "settings.json").symlink_to(real)
    real.chmod(0o640)
    do("claude", user, home)
    assert (user / ".claude" / "settings.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    saved = list((home / files.BACKUPS).rglob("*settings.json"))
    assert [path.read_text() for path in saved] == [SETTINGS]
    assert stat.S_IMODE(saved[0].stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".claude/settings.json", '{"hooks": '), (".claude/settings.json", '{"hooks": []}'),
        (".claude/settings.json", '["no object"]'), (".claude/settings.json", "[" * 200),
        (".claude.json", '{"mcpServers": 1}'), (".claude.json", "\x00\x01"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_added_to_stops_everything(path: str, text: str, user: Path, home: Path) -> None:
    (user / ".claude").mkdir()
    (user / path).write_text(text)
    with pytest.raises(BadInput, match="json"):
        do("claude", user, home)
    assert everything(user) == {user / path: text.encode()}
    assert not home.exists()


@pytest.mark.parametrize("text", ["model = ", 'mcp_servers = "x"'])
def test_a_toml_file_that_cannot_be_added_to_stops_everything(text: str, user: Path, home: Path) -> None:
    (user / ".codex").mkdir()
    (user / ".codex" / "config.toml").write_text(text)
    with pytest.raises(BadInput, match=r"config\.toml"):
        do("codex", user, home)
    assert everything(user) == {user / ".codex" / "config.toml": text.encode()}


def test_a_server_the_user_set_up_in_codex_is_left_alone(user: Path, home: Path) -> None:
    own = '[mcp_servers.recollect]\ncommand = "mine"\n'
    (user / ".codex").mkdir()
    (user / ".codex" / "config.toml").write_text(own)
    do("codex", user, home)
    assert (user / ".codex" / "config.toml").read_text() == own


def test_the_environment_says_where_the_files_are(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/g", "GEMINI_CLI_HOME": "/e"}
    folders = Folders(environ, tmp_path, "Linux")
    paths = {
        str(target.path) for name in ("claude", "codex", "gemini", "vscode", "opencode")
        for target in hosts.host(name).targets(PROGRAM, folders)
    }  # fmt: skip
    assert paths == {
        "/c/settings.json", "/c/.claude.json", "/x/hooks.json", "/x/config.toml", "/e/.gemini/settings.json",
        "/g/Code/User/mcp.json", "/g/opencode/opencode.json", "/g/opencode/plugins/recollect.js",
    }  # fmt: skip
    assert "Library/Application Support" in str(Folders({}, tmp_path, "Darwin").vscode)


# -- the text editor --------------------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_characters='"\\'), max_size=5)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(names, trees, max_size=4), st.sampled_from([None, 0, 2, "\t"]), trees)
def test_what_is_added_is_there_and_removing_it_gives_the_values_back(tree: Any, indent: Any, value: Any) -> None:
    tree = {name: inside for name, inside in tree.items() if name not in ("ours", "hooks")}
    text = json.dumps(tree, indent=indent)
    added = jsonc.add(text, ("ours", "deep"), value)
    assert jsonc.parse(added).plain() == {**tree, "ours": {"deep": value}}
    assert jsonc.parse(jsonc.remove(added, ("ours", "deep"))).plain() == tree
    listed = jsonc.add(jsonc.add(text, ("hooks", "Stop"), [1]), ("hooks", "Stop"), {"us": value})
    assert jsonc.parse(listed).plain() == {**tree, "hooks": {"Stop": [1, {"us": value}]}}
    left = jsonc.remove(listed, ("hooks", "Stop"), lambda item: isinstance(item, dict))
    assert jsonc.parse(left).plain() == {**tree, "hooks": {"Stop": [1]}}


@pytest.mark.parametrize(
    "text",
    [
        SETTINGS, "{}", "{\n}\n", '{"a": 1}', '{\n  "a": 1\n}', '{\n  "a": 1,\n}',
        '{\n  "a": [1, 2], // two\n  /* b */\n}', '{\n\t"a": {\n\t\t"b": 1 // one\n\t}\n}\n',
    ],
)  # fmt: skip
def test_comments_commas_and_indentation_survive(text: str) -> None:
    added = jsonc.add(text, ("servers", "us"), {"command": "x"})
    assert jsonc.parse(added).plain()["servers"] == {"us": {"command": "x"}}
    for remark in ("// what I like", "/* the big one */", "// beep", "// two", "/* b */", "// one"):
        assert (remark in text) == (remark in added)
    assert jsonc.remove(added, ("servers", "us")).split() == text.split() or not jsonc.parse(text).members


# -- the command ------------------------------------------------------------------------------------------------------


def recollect(*words: str, user: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(user)}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "recollect", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)


def test_a_dry_run_shows_the_difference_and_touches_nothing(user: Path) -> None:
    before = filled(user, "claude")
    done = recollect("install", "claude", "--dry-run", user=user)
    assert done.returncode == 0, done.stderr
    assert "+" in done.stdout
    assert "hook SessionStart --host claude" in done.stdout
    assert everything(user) == before
    told = json.loads(recollect("install", "claude", "--dry-run", "--json", user=user).stdout)
    assert [Path(change["path"]).name for change in told["changes"]] == ["settings.json", ".claude.json"]


def test_install_and_uninstall_from_the_command_line(user: Path) -> None:
    before = filled(user, "codex")
    assert "connected" in recollect("install", "codex", user=user).stdout
    assert "Codex        connected" in recollect("install", user=user).stdout
    assert tomllib.loads((user / ".codex/config.toml").read_text())["mcp_servers"]["recollect"]["args"] == ["mcp"]
    assert recollect("uninstall", "codex", user=user).returncode == 0
    assert everything(user) == before


# -- the plugin -------------------------------------------------------------------------------------------------------


def test_the_plugin_says_what_install_would() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "plugin.py", "--check"], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_and_skill_of_the_plugin_has_its_head() -> None:
    for path in [*(ROOT / "plugin" / "commands").glob("*.md"), *(ROOT / "plugin" / "skills").glob("*/SKILL.md")]:
        assert path.read_text("utf-8").startswith("---\n"), path
        assert "\ndescription: " in path.read_text("utf-8"), path
    assert {path.stem for path in (ROOT / "plugin" / "commands").glob("*.md")} == {
        "remember", "recall", "forget", "memories"
    }  # fmt: skip


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the plugin of OpenCode")
def test_the_plugin_of_opencode_carries_to_the_hook_and_back(tmp_path: Path) -> None:
    """The real plugin in the real runtime; the hook is a script that answers as ours does and writes down its input."""
    said = tmp_path / "said.jsonl"
    program = tmp_path / "recollect"
    program.write_text(f'#!/bin/sh\ncat >> {said}; echo >> {said}\necho \'{{"context": "known"}}\'\n')
    program.chmod(0o755)
    (tmp_path / "plugin.mjs").write_text(hosts.opencode_plugin(Program(str(program))))
    (tmp_path / "run.mjs").write_text("""
        import { Recollect } from "./plugin.mjs";
        const answer = { info: { role: "assistant" }, parts: [{ type: "text", text: "So." }] };
        const client = { session: { messages: async () => ({ data: [answer] }) } };
        const made = await Recollect({ client, directory: "/work/shop" });
        await made.event({ event: { type: "session.created", properties: { info: { id: "s" } } } });
        await made["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "Why?" }] });
        const call = { tool: "bash", sessionID: "s", callID: "c", args: { command: "ls" } };
        await made["tool.execute.after"](call, { output: "a" });
        await made.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
        const system = [];
        await made["experimental.chat.system.transform"]({ sessionID: "s" }, { system });
        console.log(JSON.stringify(system));
    """)
    done = subprocess.run(["node", tmp_path / "run.mjs"], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == ["known\nknown"]
    told = [json.loads(line) for line in said.read_text().splitlines()]
    assert [one["session_id"] for one in told] == ["s"] * 4
    assert [told[1]["prompt"], told[2]["tool_input"], told[3]["last_assistant_message"]] == [
        "Why?",
        {"command": "ls"},
        "So.",
    ]
