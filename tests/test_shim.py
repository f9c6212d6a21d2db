"""`recollect mcp`: what an assistant starts, against a real daemon, by hand and with the SDK's client."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

import recollect
from recollect.entrypoints.link import INFO, Link, daemon
from recollect.entrypoints.listed import META, Listed
from recollect.entrypoints.shim import quoted
from recollect.serve.tools import PROFILES

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "Tést client", "version": "1"},
}
PATIENCE = 60.0  # seconds that anything may take before a test gives up


class Assistant:
    """An assistant that started `recollect mcp` and speaks to it line by line."""

    def __init__(self, home: Path, *options: str, cwd: Path | None = None, **environment: str) -> None:
        self.environment = environment_of(home) | environment
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment, cwd=cwd or home.parent, text=True,
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        self.said: list[dict[str, Any]] = []
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        self._number = 0

    def _listen(self) -> None:
        assert self._process.stdout
        with self._process.stdout as stdout:
            for line in stdout:
                self._lines.put(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> tuple[int, str]:
        """Close stdin, as assistants do; the exit code and what was written to stderr."""
        assert self._process.stdin
        assert self._process.stderr
        self._process.stdin.close()
        code = self._process.wait(PATIENCE)
        self._listening.join(PATIENCE)
        said = self._process.stderr.read() if not self._process.stderr.closed else ""
        self._process.stderr.close()
        return code, said

    def write(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = True, **meta: Any) -> int:
        self._number += 1
        told = {**(params or {}), "_meta": (MODERN if modern else {}) | meta}
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": told}) + "\n")
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a request; what comes before it is kept in `said`."""
        deadline = time.monotonic() + PATIENCE
        while True:
            message = json.loads(self._lines.get(timeout=max(0.1, deadline - time.monotonic())))
            self.said.append(message)
            if "method" not in message and message["id"] == number:
                return dict(message)

    def ask(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = True, **meta: Any) -> Any:
        answer = self.answer(self.send(method, params, modern=modern, **meta))
        return answer["result"] if "result" in answer else answer["error"]

    def call(self, tool: str, arguments: dict[str, Any], **how: Any) -> str:
        return str(self.ask("tools/call", {"name": tool, "arguments": arguments}, **how)["content"][0]["text"])


def environment_of(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RECOLLECT_", "CLAUDE_"))}
    return {**kept, "RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}


def pid_of(home: Path) -> int:
    return int(json.loads((home / INFO).read_text())["pid"])


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def end(home: Path) -> None:
    if (home / INFO).exists() and not gone(pid := pid_of(home)):
        os.kill(pid, signal.SIGTERM)
        until(lambda: gone(pid))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose daemon the first assistant starts, and which is ended afterwards."""
    folder = tmp_path_factory.mktemp("work") / "home"
    yield folder
    end(folder)


def test_the_first_assistant_starts_the_daemon_and_the_handshake_works(home: Path) -> None:
    with Assistant(home, "--project", "shop") as assistant:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        started = assistant.ask("initialize", hello, modern=False)
        assert started["protocolVersion"] == "2025-06-18"
        assert "Look before you answer" in started["instructions"]
        assistant.notify("notifications/initialized")
        assert len(assistant.ask("tools/list", modern=False)["tools"]) == 12
        assert assistant.ask("ping", modern=False) == {}
        said = assistant.call("remember", {"content": "We deploy on Thursdays."}, modern=False)
        assert said.startswith("Remembered as ")
    assert daemon(str(home))
    with Assistant(home, "--project=shop") as assistant:
        assert assistant.ask("server/discover")["supportedVersions"]
        assert "We deploy on Thursdays." in assistant.call("recall", {"query": "when do we deploy?"})
        with recollect.open(home / "recollect.db", embedder="hashing") as engine:
            made = engine.list().memories[0]
            assert made.scope.project == "shop"
            assert engine.history(made.id)[0].actor == "old"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_client_speaks_through_it(home: Path, mode: str) -> None:
    async def talk() -> list[Any]:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "recollect", "mcp", "--tools", "reference", "--project", mode],
            env=environment_of(home),
        )  # fmt: skip
        heard = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)

        async with Client(command, mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            made = await client.call_tool(
                "create_entities",
                {"entities": [{"name": "Ana ☕", "entityType": "person", "observations": ["likes tea"]}]},
            )
            calls = [{"tool": "open_nodes", "arguments": {"names": ["Ana ☕"]}, "fields": ["entities.0.name"]}] * 3
            batch = await client.call_tool("batch", {"calls": calls}, progress_callback=progress)
            read = await client.read_resource("memory://recent")
            return [tools, made.structured_content, batch.content[0].text, read.contents[0].text, heard]  # type: ignore[union-attr]

    tools, made, batch, read, heard = anyio.run(talk)
    assert len(tools) == 9
    assert made == {"entities": [{"name": "Ana ☕", "entityType": "person", "observations": ["likes tea"]}]}
    assert batch.splitlines()[2] == '2 open_nodes: {"entities.0.name": "Ana ☕"}'
    assert "likes tea" in read
    assert heard[:2] == [1, 2]


def test_many_requests_at_once_are_answered_each_and_none_waits_for_another(home: Path) -> None:
    with Assistant(home, "--project", "many") as assistant:
        numbers = {
            assistant.send("tools/call", {"name": "remember", "arguments": {"content": f"Fact number {n} of many."}}): n
            for n in range(24)
        }
        for number in numbers:
            found = next((one for one in assistant.said if one.get("id") == number), None) or assistant.answer(number)
            assert found["result"]["isError"] is False
        listed = assistant.call("batch", {"calls": [{"tool": "list_memories", "fields": ["memories.*.content"]}]})
        assert all(f"Fact number {n} of many." in listed for n in range(24))


def test_a_cancelled_request_is_given_up_and_not_answered(home: Path) -> None:
    with Assistant(home, "--project", "stop") as assistant:
        calls = [{"tool": "remember", "arguments": {"content": f"Step {n}."}} for n in range(50)]
        number = assistant.send("tools/call", {"name": "batch", "arguments": {"calls": calls}}, progressToken="p")
        assistant.notify("notifications/cancelled", requestId=number)
        assistant.notify("notifications/cancelled", requestId="never asked")
        assert "content" in assistant.ask("tools/call", {"name": "recall", "arguments": {"query": "step"}})
        last = assistant.call("list_memories", {"limit": 1})
        assert number not in [one.get("id") for one in assistant.said]
        code, said = assistant.leave()
        assert (code, said) == (0, "")
        assert last


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_a_daemon_that_dies_is_started_again_and_nothing_is_lost(home: Path, killed: signal.Signals) -> None:
    with Assistant(home, "--project", f"again{killed}") as assistant:
        assistant.call("remember", {"content": "Before the end."})
        pid = pid_of(home)
        os.kill(pid, killed)
        until(lambda: gone(pid))
        assert "Before the end." in assistant.call("recall", {"query": "what was before the end?"})
        assert assistant.call("remember", {"content": "After the end."}).startswith("Remembered")
        assert pid_of(home) != pid


def test_bad_lines_are_answered_and_the_next_one_is_served(home: Path) -> None:
    with Assistant(home) as assistant:
        assistant.write("this is no JSON\n")
        assert assistant.answer(None)["error"]["code"] == -32700
        assistant.write('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n')
        assert assistant.answer(None)["error"]["code"] == -32600
        assistant.write("\n  \n")
        assistant.write('{"jsonrpc": "2.0", "id": 77, "result": {}}\n{"jsonrpc": "2.0", "method": 7}\n')
        assert assistant.ask("nonsense/method")["code"] == -32601
        assert assistant.ask("tools/call", {"name": "nonsense"})["message"] == "Unknown tool: nonsense"
        assert assistant.ask("resources/read", {"uri": "memory://ñ"})["code"] == -32602
        assert assistant.ask("tools/list", {"_meta": 1}, modern=False)["tools"]
        deep = '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": ' + "[" * 100_000
        assistant.write(deep + "\n")
        assert assistant.answer(None)["error"]["code"] == -32700
        assert assistant.ask("server/discover")["supportedVersions"]


def test_an_unknown_profile_is_said_to_the_assistant(home: Path) -> None:
    with Assistant(home, "--tools", "nonsense") as assistant:
        assert "no tool profile 'nonsense'" in assistant.ask("tools/list")["message"]


def test_the_folder_of_the_assistant_is_its_project(home: Path, tmp_path: Path) -> None:
    (tmp_path / "Änd co" / ".git").mkdir(parents=True)
    (tmp_path / "Änd co" / "src").mkdir()
    with Assistant(home, cwd=tmp_path / "Änd co" / "src") as assistant:
        said = assistant.call("batch", {"calls": [{"tool": "remember", "arguments": {"content": "Here."},
                                                   "fields": ["memory.scope.project"]}]})  # fmt: skip
        assert "Änd co" in said


def test_without_a_daemon_the_server_runs_in_the_process(tmp_path: Path) -> None:
    """A lock that cannot be had is one of the ways in which no daemon can be had."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "daemon.lock").mkdir()
    with Assistant(home, "--project", "solo") as assistant:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        assert assistant.ask("initialize", hello, modern=False)["serverInfo"]["name"] == "recollect"
        assert assistant.call("remember", {"content": "Alone."}, modern=False).startswith("Remembered")
        assert "Alone." in assistant.call("recall", {"query": "alone"})
        code, said = assistant.leave()
    assert code == 0
    assert "no daemon could be had; serving from this process" in said
    assert not (home / INFO).exists()
    with recollect.open(home / "recollect.db", embedder="hashing") as engine:
        assert engine.stats()["memories"] == 1


def test_when_nothing_can_be_had_every_request_is_told_why(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "daemon.lock").mkdir()
    (home / "recollect.db").write_text("this is something else, and long enough to be looked at" * 100)
    with Assistant(home) as assistant:
        assert assistant.ask("tools/list")["tools"], "which needs nobody"
        for _ in range(2):
            error = assistant.ask("tools/call", {"name": "recall", "arguments": {"query": "anything"}})
            assert error["code"] == -32603
            assert "not a" in error["message"].lower()
            assert "it was not touched" in error["message"].lower()
        assert assistant.leave()[0] == 0


# -- what is known without a daemon -----------------------------------------------------------------------------------

HELLO = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def served(link: Link, tools: str, message: dict[str, Any]) -> Any:
    """What the daemon itself answers, without anybody between."""
    headers = {"Accept": "application/json, text/event-stream"}
    if meta := message["params"].get("_meta"):
        headers |= {"MCP-Protocol-Version": str(meta[f"{META}protocolVersion"]), "Mcp-Method": message["method"]}
    answer = link.request("POST", f"/mcp?tools={tools}", json.dumps(message).encode(), headers, timeout=PATIENCE)
    told = answer.body.decode()
    if answer.headers["content-type"].startswith("text/event-stream"):
        told = next(line[5:] for line in told.splitlines() if line.startswith("data:"))
    found = json.loads(told)
    return found.get("result", found.get("error"))


def parameters(result: dict[str, Any]) -> list[list[str]]:
    return [list(tool["inputSchema"].get("properties", ())) for tool in result.get("tools", ())]


@pytest.mark.parametrize("tools", [*PROFILES, "", "core,reference", " Memory , capture"])
def test_what_is_packaged_is_what_the_server_says(home: Path, tools: str) -> None:
    with Assistant(home) as assistant:
        assistant.call("recall", {"query": "whether the daemon runs"})
    link, listed = daemon(str(home)), Listed(tools)
    assert link
    messages: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"protocolVersion": version, **HELLO})
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01")
    ]
    messages += [(method, {"_meta": MODERN}) for method in ("server/discover", *LISTS)]
    messages += [(method, {}) for method in LISTS]
    for method, params in messages:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        found = listed.answer(message)
        assert found is not None
        wanted = served(link, quoted(tools), message)
        assert found == wanted, (method, params)
        assert parameters(found) == parameters(wanted), "in the order in which a model should read them"


@pytest.mark.parametrize(
    "message",
    [
        {"method": "initialize", "params": {"protocolVersion": 7, **HELLO}}, {"method": "initialize"},
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}},
        {"method": "tools/list", "params": {"_meta": {**MODERN, f"{META}protocolVersion": "2027-01-01"}}},
        {"method": "tools/list", "params": {"_meta": {f"{META}protocolVersion": "2026-07-28"}}},
        {"method": "tools/list", "params": {"cursor": "x"}}, {"method": "tools/list", "params": []},
        {"method": "server/discover", "params": {}}, {"method": ["tools/list"]}, {"method": "tools/call"},
    ],
)  # fmt: skip
def test_what_is_not_quite_as_expected_is_left_to_the_server(message: dict[str, Any]) -> None:
    assert Listed("core").answer(message) is None
    assert Listed("nonsense").answer({"method": "tools/list"}) is None


def test_the_tools_are_there_while_no_daemon_is(tmp_path: Path) -> None:
    """The daemon of this home is stopped while it starts, so that it never comes up."""
    home = tmp_path / "home"
    home.mkdir()
    os.close(os.open(home / "daemon.tried", os.O_CREAT, 0o600))  # somebody is just starting one
    with Assistant(home, "--tools", "core,history") as assistant:
        assert assistant.ask("initialize", {"protocolVersion": "2025-06-18", **HELLO}, modern=False)["serverInfo"]
        assert "undo" in str(assistant.ask("tools/list", modern=False)["tools"])
        assert assistant.ask("prompts/list", modern=False)["prompts"]
        assert not (home / INFO).exists()
        end_process(assistant)


def end_process(assistant: Assistant) -> None:
    """Not by its stdin: it would wait for what it has begun."""
    assistant._process.kill()


# -- a daemon that takes no more, or says nothing ---------------------------------------------------------------------


def test_a_call_that_is_too_large_is_told_so(home: Path) -> None:
    with Assistant(home) as assistant:
        for size in (5_000_000, 20_000_000):
            error = assistant.ask("tools/call", {"name": "remember", "arguments": {"content": "a" * size}})
            told = str(error.get("message") or error["content"])
            assert "the limit is" in told or "A request may have" in told
            assert "again and again" not in told
        assert "A request may have 16,777,216 bytes and has 20,000," in told
        assert assistant.call("remember", {"content": "Small enough."}).startswith("Remembered")


def test_a_daemon_that_was_stopped_is_said_and_the_server_runs_in_the_process(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Assistant(home, "--project", "shop") as assistant:
        assistant.call("remember", {"content": "The staging host is called anna."})
        pid = pid_of(home)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert "anna" in assistant.call("recall", {"query": "what is the staging host called?"})
            assert assistant.call("remember", {"content": "Alone."}).startswith("Remembered")
            code, said = assistant.leave()
        finally:
            os.kill(pid, signal.SIGCONT)
    assert code == 0
    assert f"The daemon, process {pid}, does not answer" in said
    assert f"kill -CONT {pid}" in said
    end(home)


def test_stdin_that_ends_at_once_still_gets_its_answers(home: Path) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}})
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "mcp"], input=line, capture_output=True, text=True, check=True,
        env=environment_of(home), cwd=home.parent, timeout=PATIENCE,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["result"]["tools"]) == 12
    assert done.stderr == ""


def test_its_options_are_checked(home: Path) -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "recollect", "mcp", *options], capture_output=True, text=True, check=False,
            env=environment_of(home), stdin=subprocess.DEVNULL,
        )  # fmt: skip

    assert run("--help").stdout.startswith("Usage: recollect mcp [--project NAME]")
    wrong = run("--colour", "red")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "there is no option --colour" in wrong.stderr


def test_it_imports_nothing_heavy(home: Path) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}})
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "recollect", "mcp"], input=line, capture_output=True, text=True,
        check=True, env=environment_of(home), cwd=home.parent, timeout=PATIENCE,
    )  # fmt: skip
    assert '"result"' in done.stdout
    loaded = {row.split("|")[-1].strip().split(".")[0] for row in done.stderr.splitlines() if "|" in row}
    assert loaded <= {*sys.stdlib_module_names, "recollect", "imported package", "sitecustomize", "_distutils_hack"} | {
        name for name in loaded if name.endswith((".pth", "_impl_recollect")) or name.startswith("__editable__")
    }
    assert not loaded & {"subprocess", "http", "dataclasses", "pathlib", "logging", "asyncio", "typing", "urllib"}


def test_claude_code_hands_a_task_over_to_codex(home: Path) -> None:
    """By the programs that the two assistants start: `recollect mcp` for the tools, `recollect hook` for a session."""

    def named(name: str) -> dict[str, Any]:
        return {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}

    claude_code, codex_cli = named("claude-code"), named("codex-mcp-client")
    with Assistant(home, "--tools", "agents") as claude, Assistant(home, "--tools", "agents") as codex:
        assert len(claude.ask("tools/list", **claude_code)["tools"]) == 15
        assert "codex" in codex.call("get_agent_info", {}, **codex_cli)
        task = {"task": "Mend the login test.", "target": "codex", "state": {"tried": "ntp"}}
        made = claude.call("initiate_handoff", task, **claude_code).split()[0]
        start = subprocess.run(
            [sys.executable, "-m", "recollect", "hook", "SessionStart", "--host", "codex", "--home", str(home)],
            input=json.dumps({"session_id": "c1", "cwd": str(home.parent), "hook_event_name": "SessionStart"}),
            capture_output=True, text=True, check=True, env=environment_of(home),
        ).stdout  # fmt: skip
        assert "1 handoff waits for you" in start
        assert "Mend the login test." in start
        assert "another agent" in claude.call("accept_handoff", {"handoff_id": made}, **claude_code)
        assert "tried: ntp" in codex.call("accept_handoff", {"handoff_id": made}, **codex_cli)
        done = codex.call("complete_handoff", {"handoff_id": made, "result": {"commit": "4f1c2ab"}}, **codex_cli)
        assert "completed" in done
        assert "4f1c2ab" in done
        told = claude.call("get_agents_for_user", {}, **claude_code)
        assert "claude_code" in told
        assert "codex" in told
