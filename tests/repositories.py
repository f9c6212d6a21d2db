"""Real repositories for tests: made by git itself, away from the configuration of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "Ana", "LC_ALL": "C.UTF-8",
    "GIT_AUTHOR_EMAIL": "ana@example.org", "GIT_COMMITTER_NAME": "Ana", "GIT_COMMITTER_EMAIL": "ana@example.org",
}  # fmt: skip


class Repo:
    """A repository and the few things tests do with it."""

    def __init__(self, path: Path, *, init: bool = True, branch: str = "main") -> None:
        self.path = path
        self._time = 1772300000
        if init:
            path.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "-b", branch)

    def git(self, *words: str, check: bool = True, **environment: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words], cwd=self.path, capture_output=True, text=True,
            check=False, env=clean | ENVIRONMENT | environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def put(self, message: str, files: dict[str, str] | None = None, author: str = "Ana") -> str:
        """Write files, and commit all there is."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self.git("add", "-A")
        self._time += 60
        when = f"{self._time} +0000"
        self.git(
            "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message, GIT_AUTHOR_NAME=author,
            GIT_AUTHOR_EMAIL=f"{author.split()[0].lower()}@example.org", GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when,
        )  # fmt: skip
        return self.git("rev-parse", "HEAD")
