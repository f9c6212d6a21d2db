"""Real Claude Code, Codex and Gemini CLI, each connected in both ways, and Qwen Code and OpenCode, against stand-ins of
their model APIs.

    python scripts/real_assistants.py [--folder DIR] [--output bench/results/assistants.json]
    python scripts/real_assistants.py --two-sessions 10 [--load 3]

For each assistant, first by `recollect install` and then as a plugin: the hooks' context must reach the model, the
tools must be there in the first turn and a call must be answered, what was said must be found afterwards, each turn
once, and leaving must give the configuration back byte for byte. The assistants come from npm (hundreds of megabytes)
and are kept in the folder. It needs the network for that, and nothing else; it is not part of the test suite.

With `--two-sessions`, Claude Code and Codex each hold so many pairs of sessions in homes of their own, while other
processes keep the machine busy: something is stated in the first session, and a question about it opens the second.
No daemon runs when either begins. What counts is what the model reads in its first request of the second session,
before it has called a tool; the result is `bench/results/two_sessions.json`.
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
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from model_stubs import Api, Completions, Generate, Messages, Responses, Stub, offered
from recollect.entrypoints import link
from recollect.recall.fence import HEADS
from recollect.types import Scope

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).parent / "recollect"
VERSIONS = {"claude": "2.1.327", "codex": "0.169.0", "gemini": "0.61.0", "qwen": "0.15.10", "opencode": "1.18.33"}
# Where they are once `make test` has installed them.
TESTED = {"claude": "@anthropic-ai/claude-code-linux-*/claude", "codex": "@openai/codex-linux-*/vendor/*/bin/codex"}
RULE = "Indent with tabs in every file of this shop."
KNOWN = "Releases go out on Thursdays because support is fully staffed then."
ASKED = "On which day of the week do releases go out, and why on that day?"
REPLY = "They go out on Thursdays; the number of this session is {number}."
SETTINGS = '{\n   "cleanupPeriodDays": 20,\n   "hooks": {"Stop": [ ]},\n   "env": { }}'
GEMINI = '{\n\t// mine\n\t"security": {"auth": {"selectedType": "gemini-api-key"}}\n}'
QWEN = '{\n  "$version": 3,\n  "privacy": {"usageStatisticsEnabled": false}\n}\n'
OPENCODE = """{
  // mine
  "model": "stub/stub",
  "provider": {"stub": {
    "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "ADDRESS", "apiKey": "none"},
    "models": {"stub": {"tool_call": true, "limit": {"context": 100000, "output": 4000}}}
  }}
}
"""
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


def ask_claude(place: Place, program: Path, stub: Stub, prompt: str) -> None:
    place.run(
        program, "-p", prompt, "--allowedTools", "mcp__recollect__recall,mcp__plugin_recollect_recollect__recall",
        "--output-format", "json", ANTHROPIC_BASE_URL=stub.url, ANTHROPIC_API_KEY="sk-ant-none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1",
    )  # fmt: skip


def claude_session(place: Place, program: Path, number: str) -> None:
    with Stub(Messages, REPLY.format(number=number), ASKED) as stub:
        ask_claude(place, program, stub, ASKED)
        judge(place, stub, number)


def ask_codex(place: Place, program: Path, stub: Stub, prompt: str) -> None:
    config = place.user / ".codex" / "config.toml"
    kept = config.read_text()
    port = kept.partition("127.0.0.1:")[2].partition("/")[0]
    config.write_text(kept.replace(f"127.0.0.1:{port}/", f"{stub.url.removeprefix('http://')}/"))
    try:
        place.run(
            program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust", "--json", prompt, STUB_KEY="none",
        )  # fmt: skip
    finally:
        # Only the address of the stand-in was ours to change; what Codex itself wrote stays.
        config.write_text(config.read_text().replace(stub.url.removeprefix("http://"), f"127.0.0.1:{port}"))


def codex_session(place: Place, program: Path, number: str) -> None:
    with Stub(Responses, REPLY.format(number=number), ASKED) as stub:
        ask_codex(place, program, stub, ASKED)
        judge(place, stub, number)


def gemini_session(place: Place, program: Path, number: str) -> None:
    with Stub(Generate, REPLY.format(number=number), ASKED) as stub:
        place.run(
            program, "-m", "gemini-2.5-flash", "-p", ASKED, "--yolo", GEMINI_API_KEY="none",
            GEMINI_CLI_TRUST_WORKSPACE="true", GOOGLE_GEMINI_BASE_URL=stub.url,
        )  # fmt: skip
        judge(place, stub, number)


def qwen_installed(place: Place, program: Path, number: str) -> None:
    (place.user / ".qwen").mkdir()
    (place.user / ".qwen" / "settings.json").write_text(QWEN)
    before = place.files(".qwen")
    place.run(PROGRAM, "install", "qwen")
    with Stub(Completions, REPLY.format(number=number), ASKED) as stub:
        place.run(
            program, "-p", ASKED, "--yolo", "--auth-type", "openai", OPENAI_API_KEY="none", OPENAI_MODEL="stub",
            OPENAI_BASE_URL=f"{stub.url}/v1", QWEN_CODE_TRUST_WORKSPACE="true",
        )  # fmt: skip
        judge(place, stub, number)
    # Without a terminal it shows its model nothing of a session's start, and tools of servers only once it looked for
    # them: docs/assistants.md says so.
    for check in ("session start brings the rule", "tools are there in the first turn", "a tool call is answered"):
        place.notes[check] = place.checks.pop(check)
    place.run(PROGRAM, "uninstall", "qwen")
    name = ".qwen/settings.json"
    left = json.loads(place.files(".qwen")[name])
    place.checks["uninstall leaves no hooks"] = "hooks" not in left and "recollect" not in json.dumps(left)
    place.notes["settings byte-identical"] = place.files(".qwen")[name] == before[name]


def opencode_installed(place: Place, program: Path, number: str) -> None:
    folder = place.user / ".config" / "opencode"
    folder.mkdir(parents=True)
    with Stub(Completions, REPLY.format(number=number), ASKED) as stub:
        (folder / "opencode.json").write_text(OPENCODE.replace("ADDRESS", f"{stub.url}/v1"))
        before = place.files(".config/opencode")
        place.run(PROGRAM, "install", "opencode")
        place.run(program, "run", "-m", "stub/stub", ASKED, OPENCODE_DISABLE_AUTOUPDATE="true")
        judge(place, stub, number)
    # `run` puts its message into quotes before a model or a plugin sees it: docs/assistants.md says what was seen.
    for check in ("prompt brings the decision", "a tool call is answered", "prompt and reply are kept"):
        place.notes[check] = place.checks.pop(check)
    place.checks["the reply is kept"] = any(number in words for _, _, words, _ in place.notes["turns"])
    place.run(PROGRAM, "uninstall", "opencode")
    after = place.files(".config/opencode")
    name = ".config/opencode/opencode.json"
    place.notes["settings byte-identical"] = after[name] == before[name]
    place.checks["uninstall leaves nothing of ours"] = b"recollect" not in after[name]
    place.checks["uninstall leaves no hooks"] = not any("plugins/" in path for path in after)


def configure(place: Place, host: str) -> None:
    """What a user of the assistant has in its files before we come."""
    (place.user / f".{host}").mkdir()
    if host == "claude":
        (place.user / ".claude" / "settings.json").write_text(SETTINGS)
    else:
        (place.user / ".codex" / "config.toml").write_text(CONFIG.format(url="http://127.0.0.1:1"))


def claude_installed(place: Place, program: Path, number: str) -> None:
    configure(place, "claude")
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
    configure(place, "codex")
    before = place.files(".codex")
    place.run(PROGRAM, "install", "codex")
    codex_session(place, program, number)
    place.run(program, "mcp", "add", "other", "--", "echo", "hi")  # which rewrites our table, too
    written = tomllib.loads((place.user / ".codex" / "config.toml").read_text())
    place.run(PROGRAM, "uninstall", "codex")
    after = place.files(".codex")
    name = ".codex/config.toml"
    # Codex has written behind what the user had.
    place.checks["uninstall leaves the settings byte-identical"] = after[name].startswith(before[name])
    written["mcp_servers"].pop("recollect")
    place.checks["uninstall leaves what the assistant wrote since"] = tomllib.loads(after[name].decode()) == written
    place.checks["uninstall leaves no hooks"] = ".codex/hooks.json" not in after


def claude_plugged(place: Place, program: Path, number: str) -> None:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    place.run(program, "plugin", "validate", ROOT / "plugin", **quiet)
    place.run(program, "plugin", "marketplace", "add", ROOT, **quiet)
    place.run(program, "plugin", "install", "recollect@recollect", **quiet)
    claude_session(place, program, number)
    place.run(program, "plugin", "uninstall", "recollect@recollect", **quiet)


def codex_plugged(place: Place, program: Path, number: str) -> None:
    configure(place, "codex")
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


def fetched(folder: Path, wanted: Collection[str]) -> dict[str, Path]:
    """The assistants, from npm where they are not in the folder yet."""
    system, machine = platform.system().lower(), {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "arm64")
    native = f"@anthropic-ai/claude-code-{system}-{machine}"
    programs = {
        "claude": (f"{native}@{VERSIONS['claude']}", folder / "claude" / "node_modules" / native / "claude"),
        "gemini": (
            f"@google/gemini-cli@{VERSIONS['gemini']}",
            folder / "gemini" / "node_modules" / ".bin" / "gemini",
        ),
        "qwen": (f"@qwen-code/qwen-code@{VERSIONS['qwen']}", folder / "qwen" / "node_modules" / ".bin" / "qwen"),
        "opencode": (
            f"opencode-{system}-{machine}@{VERSIONS['opencode']}",
            folder / "opencode" / "node_modules" / f"opencode-{system}-{machine}" / "bin" / "opencode",
        ),
        "codex": (f"@openai/codex@{VERSIONS['codex']}", folder / "codex" / "node_modules" / ".bin" / "codex"),
    }
    for name, tested in TESTED.items():
        for program in (ROOT / "tests" / "clients" / "node_modules").glob(tested):
            programs[name] = ("", program)
    for name, (package, program) in programs.items():
        if name in wanted and not program.exists():
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
    "qwen, installed": ("qwen", qwen_installed),
    "opencode, installed": ("opencode", opencode_installed),
    "gemini, as an extension": ("gemini", gemini_plugged),
}


# -- two sessions -----------------------------------------------------------------------------------------------------

# What is said in the first session, what opens the second, and what the model must have read by then.
STATED = (
    ("The API gateway listens on port 8443 in every environment.", "What port is the API gateway on?", "8443"),
    (
        "Never squash commits when merging into the release branch.",
        "May I squash the merge into the release branch?",
        "Never squash",
    ),
    ("Our Sentry project is named orbit-web.", "What is our Sentry project called?", "orbit-web"),
    ("FYI: Marta is the contact for anything about payroll.", "Who do I ask about payroll?", "Marta"),
    ("We use Bun to run the tests because Jest was too slow.", "How do I run the tests here?", "Bun"),
    (
        "Every migration must be reversible, always write the down step.",
        "Write a migration for a column users.nick",
        "reversible",
    ),
    ("Customer ids are ULIDs, not UUIDs.", "What type are customer ids?", "ULIDs"),
    ("Please always answer me in British English.", "Which spelling should the docs have?", "British"),
    (
        "The nightly export failed because the disk of the worker was full.",
        "Why did the nightly export fail?",
        "disk of the worker",
    ),
    ("We dropped Redis and keep user sessions in PostgreSQL now.", "Where are user sessions kept?", "PostgreSQL"),
    ("Remember: the staging database is called lakeside.", "What is the staging database called?", "lakeside"),
    ("We decided to release on Tuesdays because support is staffed then.", "On which day do we release?", "Tuesdays"),
    ("Remember that invoices are rounded half up.", "How are invoices rounded?", "half up"),
    ("From now on we use pnpm instead of npm in this repository.", "Which package manager do we use here?", "pnpm"),
    ("Remember: Priya owns the billing service.", "Who owns the billing service?", "Priya"),
    ("We chose Argon2 for hashing passwords.", "How do we hash passwords?", "Argon2"),
    ("Remember: never deploy before the smoke tests on anna are green.", "What comes before a deploy?", "anna"),
    ("Let's go with PostgreSQL for the orders service.", "Which database does the orders service use?", "PostgreSQL"),
    ("Remember: the feature flags live in config/flags.yaml.", "Where do the feature flags live?", "config/flags.yaml"),
    ("I prefer commit messages in the imperative mood.", "How should I word commit messages?", "imperative"),
)
ASKING: dict[str, tuple[type[Api], Callable[[Place, Path, Stub, str], None]]] = {
    "claude": (Messages, ask_claude),
    "codex": (Responses, ask_codex),
}


def session(place: Place, host: str, program: Path, prompt: str) -> tuple[dict[str, Any], float]:
    """What the model was sent first in a session that begins without a daemon, and how long the session took."""
    if link.daemon(str(place.store)):
        place.run(PROGRAM, "stop")
    api, ask = ASKING[host]
    began = time.monotonic()
    with Stub(api, "Understood.", prompt) as stub:
        ask(place, program, stub, prompt)
        talk = stub.talk()
    return talk[0] if talk else {}, round(time.monotonic() - began, 1)


def pair_of_sessions(host: str, program: Path, number: int) -> dict[str, Any]:
    """One statement, and whether it reached the session after it."""
    stated, question, wanted = STATED[number % len(STATED)]
    with tempfile.TemporaryDirectory(prefix="assistants-") as folder:
        place = Place(Path(folder) / "user")
        place.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(place.project)], check=True)
        configure(place, host)
        place.run(PROGRAM, "install", host)
        try:
            first, took = session(place, host, program, stated)
            second, took_again = session(place, host, program, question)
        finally:
            if link.daemon(str(place.store)):
                place.run(PROGRAM, "stop")
    return {
        "stated": stated, "asked": question, "reached": wanted in json.dumps(second),
        "tools_in_the_first_turn": [{"recall", "remember"} <= offered(one) for one in (first, second)],
        "seconds": [took, took_again],
    }  # fmt: skip


def two_sessions(programs: dict[str, Path], times: int, load: int, output: Path) -> int:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    found: dict[str, list[dict[str, Any]]] = {host: [] for host in ASKING}
    try:
        for number in range(times):
            for host, done in found.items():
                done.append(pair_of_sessions(host, programs[host], number))
                print(host, json.dumps(done[-1]), flush=True)
    finally:
        for one in busy:
            one.kill()
            one.wait()
    report = {
        **stamp(f"python scripts/real_assistants.py --two-sessions {times} --load {load}"),
        "cores": os.cpu_count(), "busy_processes": load, "load": [round(one, 1) for one in os.getloadavg()],
        "assistants": {
            host: {"version": VERSIONS[host], "reached": sum(one["reached"] for one in done), "of": len(done),
                   "with_tools": sum(all(one["tools_in_the_first_turn"]) for one in done), "pairs": done}
            for host, done in found.items()
        },
    }  # fmt: skip
    output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for host, one in report["assistants"].items():
        print(f"{host}: reached {one['reached']} of {one['of']}, with tools {one['with_tools']}")
    return 0 if all(one["reached"] == one["of"] == one["with_tools"] for one in report["assistants"].values()) else 1


def stamp(command: str) -> dict[str, Any]:
    """When and of what a result is."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "commit": commit.stdout.strip(), "command": command}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "bench" / ".cache" / "assistants")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results" / "assistants.json")
    parser.add_argument("--only", choices=[*WAYS], action="append")
    parser.add_argument("--two-sessions", type=int, metavar="N", help="hold so many pairs of sessions instead")
    parser.add_argument("--load", type=int, default=3, metavar="N", help="processes that keep the machine busy")
    chosen = parser.parse_args()
    wanted = set(ASKING) if chosen.two_sessions else {WAYS[one][0] for one in chosen.only or WAYS}
    programs = fetched(chosen.folder, wanted)
    if chosen.two_sessions:
        return two_sessions(programs, chosen.two_sessions, chosen.load, chosen.output.with_name("two_sessions.json"))
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
    report = {**stamp("python scripts/real_assistants.py"), "hook_cpu_ms": cost, "sessions": results}
    if not chosen.only:
        chosen.output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return 0 if all(all(one["checks"].values()) for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
