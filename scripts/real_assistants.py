"""Real Claude Code, Codex and Gemini CLI, each connected in both ways, against stand-ins of their model APIs.

    python scripts/real_assistants.py [--folder DIR] [--output bench/results/assistants.json]

For each assistant, first by `recollect install` and then as a plugin: the hooks' context must reach the model, the
tools must be there in the first turn and a call must be answered, what was said must be found afterwards, each turn
once, and leaving must give the configuration back byte for byte. The assistants come from npm (hundreds of megabytes)
and are kept in the folder. It needs the network for that, and nothing else; it is not part of the test suite.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from model_stubs import Generate, Messages, Responses, Stub, offered
from recollect.recall.fence import HEADS
from recollect.thin import link
from recollect.types import Scope

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).parent / "recollect"
VERSIONS = {"claude": "2.1.325", "codex": "0.166.0", "gemini": "0.61.0"}
RULE = "Indent with tabs in every file of this shop."
KNOWN = "Releases go out on Thursdays because support is fully staffed then."
ASKED = "On which day of the week do releases go out, and why on that day?"
REPLY = "They go out on Thursdays; the number of this session is {number}."
SETTINGS = '{\n   "cleanupPeriodDays": 20,\n   "hooks": {"Stop": [ ]},\n   "env": { }}'
GEMINI = '{\n\t// mine\n\t"security": {"auth": {"selectedType": "gemini-api-key"}}\n}'
CONFIG = """# mine
model = "gpt-5"   # the best
model_provider = "stub"

[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
"""


@dataclass
class Place:
    """A user's home of its own, with a project in it and a store of memories."""

    user: Path
    checks: dict[str, bool] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.user / "shop"

    @property
    def store(self) -> Path:
        return self.user / ".recollect"

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.user), "LANG": "C.UTF-8", **more}

    def run(self, *command: str | Path, **more: str) -> str:
        done = subprocess.run(
            [str(word) for word in command], env=self.environment(**more), cwd=self.project, text=True, check=False,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=240,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def files(self, *folders: str) -> dict[str, bytes]:
        paths = [path for folder in folders for path in sorted((self.user / folder).rglob("*")) if path.is_file()]
        return {str(path.relative_to(self.user)): path.read_bytes() for path in paths}


def fresh(folder: Path) -> Place:
    """A home with a rule and a decision in memory, and the daemon up with its model."""
    place = Place(folder / "user")
    place.project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(place.project)], check=True)
    with recollect.open(place.store / "recollect.db") as memory:
        memory.remember(RULE, kind="rule", scope=Scope(project="shop"))
        # Not important enough to be told at the start of a session: only the prompt can bring it.
        memory.remember(KNOWN, kind="decision", importance=6, scope=Scope(project="shop"))
    place.run(PROGRAM, "serve", "--background")
    end = time.monotonic() + 120
    while not json.loads(place.run(PROGRAM, "status", "--json")).get("model"):
        if time.monotonic() > end:
            raise RuntimeError("the daemon never had its model")
        time.sleep(0.2)
    return place


def judge(place: Place, stub: Stub, number: str) -> None:
    """What the model was given, and what is known afterwards."""
    talk = stub.talk()
    first, last = (json.dumps(talk[place]) if talk else "" for place in (0, -1))
    place.checks["session start brings the rule"] = HEADS["standing"] in first and RULE in first
    place.checks["prompt brings the decision"] = HEADS["knowledge"] in first and first.count(KNOWN) == 1
    place.checks["tools are there in the first turn"] = bool(talk) and {"recall", "remember"} <= offered(talk[0])
    place.checks["a tool call is answered"] = len(talk) > 1 and last.count(KNOWN) == 2
    place.notes["tools"] = sorted(offered(talk[0]) & {"recall", "remember", "forget", "context", "find_tools", "batch"})
    with recollect.open(place.store / "recollect.db") as memory:
        turns = memory.list(kinds=("turn",), limit=100).memories
        hits = memory.recall(f"What is the number of the session, {number}?").hits
    said = [(turn.speaker, turn.content) for turn in turns]
    place.checks["the turns are found afterwards"] = any(number in hit.memory.content for hit in hits)
    place.checks["prompt and reply are kept"] = ("user", ASKED) in said and any(number in words for _, words in said)
    place.checks["each turn is kept once"] = len(set(said)) == len(said) and {turn.observed for turn in turns} == {1}
    place.checks["nothing of ours is captured"] = not any(KNOWN in words for _, words in said)
    place.notes["turns"] = sorted((turn.position, turn.speaker, turn.content, turn.observed) for turn in turns)


def claude_session(place: Place, program: Path, number: str) -> None:
    with Stub(Messages, REPLY.format(number=number), ASKED) as stub:
        place.run(
            program, "-p", ASKED, "--allowedTools", "mcp__recollect__recall,mcp__plugin_recollect_recollect__recall",
            "--output-format", "json", ANTHROPIC_BASE_URL=stub.url, ANTHROPIC_API_KEY="sk-ant-none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1",
        )  # fmt: skip
        judge(place, stub, number)


def codex_session(place: Place, program: Path, number: str) -> None:
    with Stub(Responses, REPLY.format(number=number), ASKED) as stub:
        config = place.user / ".codex" / "config.toml"
        kept = config.read_text()
        port = kept.partition("127.0.0.1:")[2].partition("/")[0]
        config.write_text(kept.replace(f"127.0.0.1:{port}/", f"{stub.url.removeprefix('http://')}/"))
        try:
            place.run(
                program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust", "--json", ASKED, STUB_KEY="none",
            )  # fmt: skip
        finally:
            # Only the address of the stand-in was ours to change; what Codex itself wrote stays.
            config.write_text(config.read_text().replace(stub.url.removeprefix("http://"), f"127.0.0.1:{port}"))
        judge(place, stub, number)


def gemini_session(place: Place, program: Path, number: str) -> None:
    with Stub(Generate, REPLY.format(number=number), ASKED) as stub:
        place.run(
            program, "-m", "gemini-2.5-flash", "-p", ASKED, "--yolo", GEMINI_API_KEY="none",
            GEMINI_CLI_TRUST_WORKSPACE="true", GOOGLE_GEMINI_BASE_URL=stub.url,
        )  # fmt: skip
        judge(place, stub, number)


def claude_installed(place: Place, program: Path, number: str) -> None:
    (place.user / ".claude").mkdir()
    (place.user / ".claude" / "settings.json").write_text(SETTINGS)
    before = place.files(".claude")
    place.run(PROGRAM, "install", "claude")
    claude_session(place, program, number)
    servers = place.user / ".claude.json"
    written = json.loads(servers.read_text())
    place.run(PROGRAM, "uninstall", "claude")
    after = place.files(".claude")
    place.checks["uninstall leaves the settings byte-identical"] = (
        after[".claude/settings.json"] == before[".claude/settings.json"]
    )
    written["mcpServers"].pop("recollect")
    left = json.loads(servers.read_text())
    place.checks["uninstall leaves what the assistant wrote since"] = left == {
        name: value for name, value in written.items() if value or name != "mcpServers"
    }


def codex_installed(place: Place, program: Path, number: str) -> None:
    (place.user / ".codex").mkdir()
    (place.user / ".codex" / "config.toml").write_text(CONFIG.format(url="http://127.0.0.1:1"))
    before = place.files(".codex")
    place.run(PROGRAM, "install", "codex")
    codex_session(place, program, number)
    place.run(PROGRAM, "uninstall", "codex")
    after = place.files(".codex")
    name = ".codex/config.toml"
    place.checks["uninstall leaves the settings byte-identical"] = after[name] == before[name]
    place.checks["uninstall leaves no hooks"] = ".codex/hooks.json" not in after


def claude_plugged(place: Place, program: Path, number: str) -> None:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    place.run(program, "plugin", "validate", ROOT / "plugin", **quiet)
    place.run(program, "plugin", "marketplace", "add", ROOT, **quiet)
    place.run(program, "plugin", "install", "recollect@recollect", **quiet)
    claude_session(place, program, number)
    place.run(program, "plugin", "uninstall", "recollect@recollect", **quiet)


def codex_plugged(place: Place, program: Path, number: str) -> None:
    (place.user / ".codex").mkdir()
    (place.user / ".codex" / "config.toml").write_text(CONFIG.format(url="http://127.0.0.1:1"))
    place.run(program, "plugin", "marketplace", "add", ROOT)
    place.run(program, "plugin", "add", "recollect@recollect")
    codex_session(place, program, number)


def gemini_installed(place: Place, program: Path, number: str) -> None:
    (place.user / ".gemini").mkdir()
    (place.user / ".gemini" / "settings.json").write_text(GEMINI)
    before = place.files(".gemini")
    place.run(PROGRAM, "install", "gemini")
    gemini_session(place, program, number)
    place.run(PROGRAM, "uninstall", "gemini")
    name = ".gemini/settings.json"
    place.checks["uninstall leaves the settings byte-identical"] = place.files(".gemini")[name] == before[name]


def gemini_plugged(place: Place, program: Path, number: str) -> None:
    (place.user / ".gemini").mkdir()
    (place.user / ".gemini" / "settings.json").write_text(GEMINI)
    extension = str(ROOT / "plugin" / "gemini")
    place.run(program, "extensions", "validate", extension, GEMINI_API_KEY="none", GEMINI_CLI_TRUST_WORKSPACE="true")
    place.run(
        program, "extensions", "install", extension, "--consent", GEMINI_API_KEY="none",
        GEMINI_CLI_TRUST_WORKSPACE="true",
    )  # fmt: skip
    gemini_session(place, program, number)


def fetched(folder: Path) -> dict[str, Path]:
    """The assistants, from npm where they are not in the folder yet."""
    system, machine = platform.system().lower(), {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "arm64")
    native = f"@anthropic-ai/claude-code-{system}-{machine}"
    programs = {
        "claude": (f"{native}@{VERSIONS['claude']}", folder / "claude" / "node_modules" / native / "claude"),
        "gemini": (
            f"@google/gemini-cli@{VERSIONS['gemini']}",
            folder / "gemini" / "node_modules" / ".bin" / "gemini",
        ),
        "codex": (f"@openai/codex@{VERSIONS['codex']}", folder / "codex" / "node_modules" / ".bin" / "codex"),
    }
    for name, (package, program) in programs.items():
        if not program.exists():
            command = ["npm", "install", "--no-save", "--force", "--prefix", str(folder / name), package]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {name: program for name, (_, program) in programs.items()}


def processor(command: Sequence[str], environment: dict[str, str], times: int = 20) -> float:
    """Milliseconds of processor time that a command takes, at the median."""
    taken = []
    for n in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = json.dumps({"session_id": f"cpu{n}", "prompt": ASKED, "cwd": "/shop"}).encode()
        subprocess.run(command, input=told, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(sorted(taken)[times // 2] * 1000, 1)


def measured(place: Place) -> dict[str, float]:
    """What the hook costs beside an interpreter that does nothing, in one run, with compiled modules as installed."""
    environment = place.environment(PYTHONPYCACHEPREFIX=str(place.store / "compiled"))
    hook = [str(PROGRAM), "hook", "UserPromptSubmit", "--host", "claude"]
    processor(hook, environment, 1)
    return {
        "python -c pass": processor([sys.executable, "-c", "pass"], environment),
        "recollect hook UserPromptSubmit": processor(hook, environment),
    }


WAYS: dict[str, tuple[str, Callable[[Place, Path, str], None]]] = {
    "claude, installed": ("claude", claude_installed),
    "claude, as a plugin": ("claude", claude_plugged),
    "codex, installed": ("codex", codex_installed),
    "codex, as a plugin": ("codex", codex_plugged),
    "gemini, installed": ("gemini", gemini_installed),
    "gemini, as an extension": ("gemini", gemini_plugged),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "bench" / ".cache" / "assistants")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results" / "assistants.json")
    parser.add_argument("--only", choices=[*WAYS], action="append")
    chosen = parser.parse_args()
    programs = fetched(chosen.folder)
    results: dict[str, Any] = {}
    cost: dict[str, float] = {}
    for name, (host, way) in WAYS.items():
        if chosen.only and name not in chosen.only:
            continue
        with tempfile.TemporaryDirectory(prefix="assistants-") as folder:
            place = fresh(Path(folder))
            try:
                way(place, programs[host], f"{time.time_ns() % 10**9}")
                cost = cost or measured(place)
            except (RuntimeError, subprocess.SubprocessError) as error:
                place.checks["the session ran"] = False
                place.notes["error"] = str(error)
            finally:
                if link.daemon(str(place.store)):
                    place.run(PROGRAM, "stop")
            results[name] = {"version": VERSIONS[host], "checks": place.checks, "notes": place.notes}
            print(name)
            for check, held in place.checks.items():
                print(f"  {'✓' if held else '✗'} {check}")
            if not all(place.checks.values()):
                print(json.dumps(place.notes, indent=2, ensure_ascii=False))
    print("processor time, ms:", cost)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    report = {
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "commit": commit.stdout.strip(),
        "command": "python scripts/real_assistants.py", "hook_cpu_ms": cost, "sessions": results,
    }  # fmt: skip
    if not chosen.only:
        chosen.output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return 0 if all(all(one["checks"].values()) for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
