"""Real Claude Code and real Codex on a machine of their own, driven by scripts instead of models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from model_stubs import Api, Messages, Responses, Step, Stub
from node_clients import MODULES

CLAUDE = next(MODULES.glob("@anthropic-ai/claude-code-linux-*/claude"), MODULES / "none")
CODEX = next(MODULES.glob("@openai/codex-linux-*/vendor/*/bin/codex"), MODULES / "none")
LIMIT = 240  # seconds that a session may take on a busy machine
TOOLS = ["mcp", "--tools", "agents"]

needs_assistants = pytest.mark.skipif(
    not (CLAUDE.exists() and CODEX.exists()),
    reason="SKIPPED: NO REAL ASSISTANT WAS TRIED. Run: make tests/clients/node_modules/.ready",
)


@dataclass
class Desk:
    """A person's machine: a home, a folder to work in, and both assistants connected to one memory."""

    folder: Path

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True)
        for host in ("claude", "codex"):
            self.recollect("install", host)
        servers = self.home / ".claude.json"
        told = json.loads(servers.read_text("utf-8"))
        told["mcpServers"]["recollect"]["args"] = TOOLS
        servers.write_text(json.dumps(told), "utf-8")
        config = self.home / ".codex" / "config.toml"
        config.write_text(config.read_text("utf-8").replace('["mcp"]', json.dumps(TOOLS)), "utf-8")

    @property
    def home(self) -> Path:
        return self.folder / "user"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    def run(self, *command: str, **more: str) -> str:
        """A program in an environment that has nothing of this machine's own but where programs are."""
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(self.home),
            "CODEX_HOME": str(self.home / ".codex"), "RECOLLECT_HOME": str(self.memory),
            "RECOLLECT_EMBEDDER": "hashing", **more,
        }  # fmt: skip
        done = subprocess.run(
            command, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command[0], done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def recollect(self, *words: str) -> str:
        return self.run(sys.executable, "-m", "recollect", *words)

    def claude(self, prompt: str, *script: Step) -> str:
        """A session of Claude Code; gives all that its model was told."""
        with self._model(Messages, script) as stub:
            self.run(
                str(CLAUDE), "-p", prompt, "--allowedTools", "mcp__recollect", "--output-format", "json",
                ANTHROPIC_BASE_URL=stub.url, ANTHROPIC_API_KEY="sk-ant-none", DISABLE_AUTOUPDATER="1",
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", MCP_CONNECTION_NONBLOCKING="0",
            )  # fmt: skip
        return json.dumps(stub.talk(), ensure_ascii=False)

    def codex(self, prompt: str, *script: Step) -> str:
        """A session of Codex; gives all that its model was told."""
        with self._model(Responses, script) as stub:
            provider = (
                f'model_providers.stub={{name="stub",base_url="{stub.url}/v1",wire_api="responses",env_key="KEY"}}'
            )
            self.run(
                str(CODEX), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust", "-c", 'model="gpt-5"', "-c", 'model_provider="stub"', "-c",
                provider, "--json", prompt, KEY="none",
            )  # fmt: skip
        return json.dumps(stub.talk(), ensure_ascii=False)

    @staticmethod
    def _model(api: type[Api], script: tuple[Step, ...]) -> Stub:
        return Stub(api, "Done.", "", script or [("nothing", lambda _: {})])
