"""Installing: configuration files get what they need, keep everything else, and are as they were when we leave."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.events import HOSTS as EVENT_HOSTS
from recollect.cli.install import NAMES
from recollect.entrypoints import link
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
    "qwen": {".qwen/settings.json": SETTINGS},
    "copilot": {".copilot/mcp-config.json": '{"mcpServers": {"x": {"type": "local", "command": "x", "tools": ["*"]}}}'},
    "cline": {".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json": "{}"},
    "zed": {".config/zed/settings.json": '// Zed\n{\n  "theme": "One Dark", // mine\n  "context_servers": {}\n}\n'},
    "junie": {".junie/mcp/mcp.json": '{"mcpServers": {}}\n'},
    "kiro": {".kiro/settings/mcp.json": '{"mcpServers": {"x": {"command": "x", "disabled": true}}}'},
    "amp": {".config/amp/settings.json": '{"amp.url": "x", "amp.mcpServers": {"x": {"command": "x"}}}'},
    "crush": {".config/crush/crush.json": '{"$schema": "https://charm.land/crush.json", "mcp": {}}'},
    "continue": {".continue/mcpServers/recollect.json": '{"mcpServers": {"x": {"command": "x"}}}'},
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


@pytest.fixture(autouse=True)
def _no_daemon_stays(tmp_path: Path) -> Iterator[None]:
    yield
    for found in filter(None, (link.daemon(str(tmp_path / name)) for name in ("home", "new/home"))):
        os.kill(found.pid, signal.SIGTERM)


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


def test_profiles_of_tools_are_passed_on_and_seen_as_connected(user: Path, home: Path) -> None:
    for name in ("claude", "codex", "opencode", "crush"):
        do(name, user, home, program=replace(PROGRAM, tools="core,agents"))
        assert files.connected(name, PROGRAM, Folders({}, user, "Linux"), home)
        assert files.has_ours(name, home)
    told = "\n".join(text.decode() for text in everything(user).values())
    assert told.count('"core,agents"') == 4
    assert do("claude", user, home), "without the profiles it is another server"
    assert '"core,agents"' not in (user / ".claude.json").read_text()


def test_an_assistant_is_found_by_its_folder(user: Path) -> None:
    folders = Folders({}, user, "Linux")
    assert [host.name for host in hosts.HOSTS.values() if host.is_here(folders)] == []
    for name in ("qwen", "zed", "copilot"):
        filled(user, name)
    assert [host.name for host in hosts.HOSTS.values() if host.is_here(folders)] == ["qwen", "copilot", "zed"]


def test_every_assistant_can_be_named_at_the_command_line() -> None:
    assert {*hosts.HOSTS, "git-hooks"} == set(NAMES)
    assert {host.name for host in hosts.HOSTS.values() if host.captures} <= set(EVENT_HOSTS)


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


def codex_config(user: Path) -> Path:
    return user / ".codex" / "config.toml"


def as_codex_writes_it(text: str) -> str:
    """What `codex mcp add other -- echo hi` makes of a file with our table (seen with 0.166)."""
    for line in ("# >>> recollect >>>\n", 'env = { RECOLLECT_HOME = "/x" }\n'):
        text = text.replace(line, "")
    return text.replace(
        'args = ["mcp"]\n',
        'args = ["mcp"]\n\n[mcp_servers.recollect.env]\nRECOLLECT_HOME = "/x"\n\n'
        '[mcp_servers.other]\ncommand = "echo"\nargs = ["hi"]\n',
    )


@pytest.mark.parametrize("marked", [False, True], ids=["by key", "with the marks of older versions"])
def test_leaving_codex_takes_out_our_table_alone_after_codex_rewrote_the_file(
    marked: bool, user: Path, home: Path
) -> None:
    filled(user, "codex")
    program = Program(PROGRAM.path, {"RECOLLECT_HOME": "/x"})
    do("codex", user, home, program=program)
    text = codex_config(user).read_text()
    if marked:
        text = text.replace("[mcp_servers.recollect]", "# >>> recollect >>>\n[mcp_servers.recollect]")
        text += "# <<< recollect <<<\n"
    text = as_codex_writes_it(text).replace("[mcp_servers.other]", '[projects."/a.b"]\nok = 1\n\n[mcp_servers.other]')
    text += '\n# of the user\n[mcp_servers.recollect.tools.recall]\napproval_mode = "approve"\n'
    codex_config(user).write_text(text)
    kept = values(codex_config(user))
    assert do("codex", user, home, program=program) == [], "what Codex rewrote is still as we want it"
    do("codex", user, home, leave=True)
    del kept["mcp_servers"]["recollect"]
    assert values(codex_config(user)) == kept
    left = codex_config(user).read_text()
    assert "recollect" not in left
    assert "# of the user" in left
    assert "# best" in left


def test_connecting_codex_again_keeps_what_codex_added_to_our_table(user: Path, home: Path) -> None:
    filled(user, "codex")
    do("codex", user, home, program=Program("/old/recollect", {"RECOLLECT_PORT": "1"}))
    more = 'startup_timeout_sec = 30\n[mcp_servers.recollect.tools.recall]\napproval_mode = "approve"\n'
    codex_config(user).write_text(codex_config(user).read_text() + more)
    do("codex", user, home, program=Program("/new/recollect", {"RECOLLECT_PORT": "2"}))
    assert values(codex_config(user))["mcp_servers"]["recollect"] == {
        "command": "/new/recollect", "args": ["mcp"], "env": {"RECOLLECT_PORT": "2"}, "startup_timeout_sec": 30,
        "tools": {"recall": {"approval_mode": "approve"}},
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\nrecollect = { command = "recollect", args = ["mcp"] }\nother = { command = "x" }\n',
        'mcp_servers.recollect.command = "recollect"\nmcp_servers.recollect.args = [\n  "mcp", # us\n]\n[a]\nb = 1\n',
        '["mcp_servers"."recollect"]\r\ncommand = "recollect"\r\n[[a]]\r\nb = """\n[mcp_servers]"""\r\n',
    ],
)
def test_our_table_is_found_however_it_is_written(text: str, user: Path, home: Path) -> None:
    codex_config(user).parent.mkdir()
    codex_config(user).write_bytes(text.encode())
    kept = values(codex_config(user))
    do("codex", user, home)
    assert values(codex_config(user))["mcp_servers"]["recollect"]["command"] == PROGRAM.path
    codex_config(user).write_bytes(codex_config(user).read_bytes() + b"# later\n")
    do("codex", user, home, leave=True)
    del kept["mcp_servers"]["recollect"]
    found = values(codex_config(user))
    assert {**found, "mcp_servers": found.get("mcp_servers", {})} == kept


def test_a_table_that_cannot_be_edited_as_text_is_refused_and_not_touched(user: Path, home: Path) -> None:
    text = 'mcp_servers = { recollect = { command = "recollect" }, other = { command = "x" } }\n'
    codex_config(user).parent.mkdir()
    codex_config(user).write_text(text)
    with pytest.raises(BadInput, match=r"config\.toml: mcp_servers\.recollect is written in a way"):
        do("codex", user, home)
    assert codex_config(user).read_text() == text


def test_a_server_of_somebody_else_under_our_name_is_left_and_said(user: Path, home: Path) -> None:
    own = {"mcpServers": {"recollect": {"command": "mine"}}}
    (user / ".claude.json").write_text(json.dumps(own))
    do("claude", user, home)
    do("claude", user, home, leave=True)
    assert json.loads((user / ".claude.json").read_text()) == own
    told = files.remarks("claude", PROGRAM, Folders({}, user, "Linux"), leave=True)
    assert [remark.partition(": ")[2] for remark in told] == [
        "mcpServers.recollect starts another program, so it was left as it is."
    ]


def test_hooks_that_are_switched_off_are_noticed(user: Path, home: Path) -> None:
    for path, text in (
        (".claude/settings.json", '{"disableAllHooks": true}'), (".codex/config.toml", "[features]\nhooks = false\n"),
        (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
    ):  # fmt: skip
        (user / path).parent.mkdir()
        (user / path).write_text(text)
    for name in ("claude", "codex", "gemini"):
        do(name, user, home)
        (told,) = files.remarks(name, PROGRAM, Folders({}, user, "Linux"))
        assert "so no hook runs" in told
        assert files.remarks(name, PROGRAM, Folders({}, user, "Linux"), leave=True) == []
    said = recollect("install", "claude", user=user).stdout
    assert "disableAllHooks is true, so no hook runs" in said


def test_a_file_that_cannot_be_written_leaves_the_others_as_they_were(user: Path, home: Path) -> None:
    before = filled(user, "claude")
    (user / ".claude.json").unlink()
    (user / ".claude.json").symlink_to("/proc/nowhere/x.json")  # where not even root may write
    del before[user / ".claude.json"]
    with pytest.raises(BadInput, match="cannot be written"):
        do("claude", user, home)
    assert everything(user) == before
    assert not (home / files.STATE / "claude.json").exists()


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


def recollect(*words: str, user: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(user), "RECOLLECT_EMBEDDER": "hashing", **more}
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
    said = recollect("install", "codex", user=user).stdout
    assert "Codex is connected" in said
    assert "The daemon runs." in said
    assert link.daemon(os.environ["RECOLLECT_HOME"])
    assert "Codex        connected" in recollect("install", user=user).stdout
    assert tomllib.loads((user / ".codex/config.toml").read_text())["mcp_servers"]["recollect"]["args"] == ["mcp"]
    assert recollect("uninstall", "codex", user=user).returncode == 0
    assert everything(user) == before


def test_a_home_that_cannot_be_written_is_said_and_nothing_is_touched(user: Path, tmp_path: Path) -> None:
    before = filled(user, "claude")
    (tmp_path / "file").touch()
    done = recollect("install", "claude", user=user, RECOLLECT_HOME=str(tmp_path / "file" / "home"))
    assert done.returncode not in (0, 1)
    assert "Traceback" not in done.stderr
    assert f"{tmp_path / 'file'}" in done.stderr
    assert "RECOLLECT_HOME" in done.stderr
    assert everything(user) == before


def test_the_home_that_install_makes_is_its_owners_alone(user: Path, tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    assert recollect("install", "claude", user=user, RECOLLECT_HOME=str(home)).returncode == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home.parent, home, home / files.BACKUPS)} == {0o700}


def test_a_daemon_that_does_not_come_up_is_said(user: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "daemon.lock").mkdir(parents=True)
    done = recollect("install", "claude", user=user)
    assert done.returncode == 0
    assert "The daemon does not come up" in done.stdout


def test_settings_of_the_environment_are_passed_on_to_server_and_hooks(user: Path, tmp_path: Path) -> None:
    chosen = {"RECOLLECT_PORT": "7811", "RECOLLECT_STORE": "notes.db", "RECOLLECT_PROJECT": "not this"}
    assert recollect("install", "codex", user=user, **chosen).returncode == 0
    assert values(codex_config(user))["mcp_servers"]["recollect"]["env"] == {
        "RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_HOME": str(tmp_path / "home"), "RECOLLECT_PORT": "7811",
        "RECOLLECT_STORE": str(Path("notes.db").absolute()),
    }  # fmt: skip
    told = (user / ".codex" / "hooks.json").read_text()
    assert "--env RECOLLECT_PORT=7811" in told
    assert f"--home {tmp_path / 'home'}" in told
    assert "not this" not in told


def test_a_password_is_not_written_into_the_files_of_an_assistant(user: Path) -> None:
    chosen = {"RECOLLECT_STORE": "postgresql://ana:secret@db.example/recollect"}
    done = recollect("install", "codex", user=user, **chosen)
    assert done.returncode != 0
    assert "RECOLLECT_STORE holds a password" in done.stderr
    assert "secret" not in done.stderr
    assert everything(user) == {}
    assert recollect("uninstall", "codex", user=user, **chosen).returncode == 0


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
