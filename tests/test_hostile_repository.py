"""A repository that somebody else made: whatever it names to be run, reading it runs nothing.

Each trick has a name and writes that name into a folder of canaries when it works. The first test shows that the traps
are sharp: plain git, asked the same, springs them.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

import recollect
from recollect.errors import RecollectError
from recollect.project import signals
from recollect.project.git import CommitQuery, find
from recollect.project.refresh import refresh
from recollect.project.state import StateCache
from recollect.project.walk import find_files as walk
from repositories import ENVIRONMENT, Repo

SETTINGS = (
    "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.editor", "core.pager", "core.askPass", "pager.status",
    "pager.log", "pager.diff", "sequence.editor", "diff.external", "diff.evil.command", "diff.evil.textconv",
    "diff.odd=name.textconv", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "credential.helper",
    "filter.evil.clean", "filter.evil.smudge", "filter.odd=name.clean", "filter.long.process", "merge.evil.driver",
    "alias.status", "alias.log", "alias.rev-parse", "alias.ls-files", "alias.diff", "submodule.lib.update",
    "uploadpack.packObjectsHook", "core.alternateRefsCommand", "trailer.see.command", "remote.origin.uploadpack",
    "remote.origin.vcs", "interactive.diffFilter", "man.evil.cmd", "browser.evil.cmd", "difftool.evil.cmd",
    "mergetool.evil.cmd", "sendemail.smtpServer", "web.browser", "init.templateDir", "gc.recentObjectsHook",
)  # fmt: skip
HOOKS = (
    "post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-commit",
    "pre-auto-gc", "post-merge", "post-rewrite", "update", "sendemail-validate",
)  # fmt: skip
FILTERED = ("info.txt", "clean.txt", "odd.txt", "long.txt", "text.conv", "odd.conv", "external.conv")


class Hostile:
    """A repository of traps, and what they did."""

    def __init__(self, folder: Path) -> None:
        self.canaries = folder / "canaries"
        self.canaries.mkdir()
        self._traps = folder / "traps"
        self._traps.mkdir()
        self.repo = Repo(folder / "shop")
        self.repo.put("Begin", dict.fromkeys(FILTERED, "1\n"))
        self.repo.put("More\n\nSee: that", dict.fromkeys(FILTERED, "1\n2\n"))
        part = Repo(folder / "part")
        part.put("Begin", {"p.txt": "1\n"})
        self.repo.git("submodule", "add", "-q", str(part.path), "lib")
        self.repo.put("Take a part in")
        for name in SETTINGS:
            self.repo.git("config", name, self.trap(name))
        self.repo.git("config", "submodule.lib.update", f"!{self.trap('submodule.lib.update')}")
        self.repo.git("config", "log.showSignature", "true")
        self.repo.git("config", "filter.evil.required", "true")
        self._attributes(self.repo.path / ".gitattributes")
        (self.repo.path / ".git" / "info" / "attributes").write_text("info.txt filter=evil\n")
        self._hooks(self.repo.path / ".git" / "hooks")
        self._include()
        self._part()
        for name in FILTERED:
            self.repo.write(name, "1\n2\n3\n")
        self._stale(self.repo.path)

    def trap(self, name: str) -> str:
        """A program that tells that it ran. What it was given comes back, so that nothing fails before the next."""
        path = self._traps / name.replace("/", "_").replace("=", "-")
        path.write_text(f"#!/bin/sh\ntouch '{self.canaries}/{name}'\ncat 2>/dev/null\n")
        path.chmod(0o755)
        return str(path)

    def sprung(self) -> list[str]:
        return sorted(os.listdir(self.canaries))

    def forget(self) -> None:
        for name in self.sprung():
            (self.canaries / name).unlink()

    def _attributes(self, path: Path) -> None:
        path.write_text(
            "clean.txt filter=evil\nodd.txt filter=odd=name\nlong.txt filter=long\ntext.conv diff=evil\n"
            "odd.conv diff=odd=name\nexternal.conv diff=evil\n* merge=evil\nincluded.txt filter=included\n"
        )

    def _hooks(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(self.trap(f"hook-{hook}"), folder / hook)

    def _include(self) -> None:
        """Filters that stand in another file, and one that is there only where git reads names from its input."""
        more = self.repo.path / ".git" / "more"
        more.write_text(f'[filter "included"]\n\tclean = "{self.trap("included")}"\n')
        self.repo.git("config", "include.path", "more")
        self.repo.git("config", "includeIf.gitdir:/**.path", "more")
        self.repo.git("config", "--add", "include.path", "/dev/stdin")
        self.repo.write("included.txt", "1\n")

    def _part(self) -> None:
        """A submodule whose own configuration holds a filter and a monitor."""
        lib = Repo(self.repo.path / "lib", init=False)
        lib.git("config", "filter.part.clean", self.trap("filter-of-a-submodule"))
        lib.git("config", "core.fsmonitor", self.trap("monitor-of-a-submodule"))
        lib.write(".gitattributes", "* filter=part\n")
        lib.write("p.txt", "2\n")
        self._stale(lib.path)

    def _stale(self, folder: Path) -> None:
        """Let no stamp fit the index, so that git has to read every file again."""
        for path in folder.iterdir():
            if path.is_file():
                os.utime(path, (1, 1))


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


def test_the_traps_are_sharp(hostile: Hostile) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for words in (["status"], ["diff"], ["diff", "--no-ext-diff"], ["hash-object", "included.txt"]):
        subprocess.run(
            ["git", *words], cwd=hostile.repo.path, env=clean | ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=30,
        )  # fmt: skip
    assert set(hostile.sprung()) >= {
        "core.fsmonitor", "diff.evil.command", "diff.evil.textconv", "diff.external", "diff.odd=name.textconv",
        "filter-of-a-submodule", "filter.evil.clean", "filter.long.process", "filter.odd=name.clean", "included",
        "hook-post-index-change", "monitor-of-a-submodule",
    }  # fmt: skip


def test_nothing_that_a_repository_names_is_run(hostile: Hostile) -> None:
    hostile.forget()
    kept = StateCache()
    state = kept.state(hostile.repo.path)
    repository = find(hostile.repo.path)
    assert state.branch == "main"
    assert len(state.commits) == 3
    assert {one.path for one in state.unstaged} >= {"clean.txt", "text.conv"}
    for name in FILTERED:
        kept.history(hostile.repo.path, name)
    repository.search(CommitQuery(content="2", words=("more",)))
    assert set(repository.hashes([*FILTERED, "included.txt"])) == {*FILTERED, "included.txt"}
    repository.hashes_at("HEAD", FILTERED)
    repository.text_at("HEAD", "clean.txt")
    signals.changed_files(hostile.repo.path, 10)
    walk(hostile.repo.path)
    assert hostile.sprung() == []


def test_keeping_up_with_a_repository_runs_nothing(hostile: Hostile, memory: recollect.Engine) -> None:
    hostile.forget()
    refresh(memory, hostile.repo.path, "shop")
    assert hostile.sprung() == []


def test_names_given_as_input_cannot_be_read_as_configuration(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    canary = tmp_path / "canary"
    names = ['[filter "x"]', f"clean=touch {canary};cat".replace("/", "\\57")]
    repo.put("Begin", {".gitattributes": "* filter=x\n", "a": "1"})
    for name in names:
        (repo.path / name).write_text("1")
    repo.git("config", "include.path", "/dev/stdin")
    assert set(find(repo.path).hashes([*names, "a"])) >= {"a"}
    assert not canary.exists()


def test_a_bare_repository_hidden_in_a_folder_runs_nothing(tmp_path: Path) -> None:
    hostile = Hostile(tmp_path)
    hidden = tmp_path / "plain" / "docs"
    shutil.copytree(hostile.repo.path / ".git", hidden)
    text = (hidden / "config").read_text().replace("bare = false", "bare = true")
    (hidden / "config").write_text(text)
    hostile.forget()
    assert StateCache().state(hidden).bare
    assert hostile.sprung() == []


def test_a_missing_object_is_not_fetched(tmp_path: Path) -> None:
    """A partial clone names a program that brings what is missing."""
    hostile = Hostile(tmp_path)
    repo = hostile.repo
    for name, value in (
        ("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{hostile.trap('ext')}"), ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"), ("core.repositoryFormatVersion", "1"),
    ):  # fmt: skip
        repo.git("config", name, value)
    blob = repo.git("rev-parse", "HEAD:clean.txt")
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    hostile.forget()
    repository = find(repo.path)
    assert repository.text_at("HEAD", "clean.txt") == ""
    with pytest.raises(RecollectError):
        repository.ask("cat-file", "blob", blob)
    assert hostile.sprung() == []


def test_a_git_that_lies_in_the_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"a": "1"})
    false = repo.path / "git"
    false.write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    false.chmod(false.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PATH", f".:{os.pathsep}{os.environ['PATH']}")
    assert find(repo.path).refs()
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", ["GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "PAGER", "EDITOR", "GIT_EXEC_PATH"])
def test_the_environment_names_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"a": "1"})
    repo.write("a", "2")
    monkeypatch.setenv(name, f"touch {tmp_path}/canary")
    assert [one.path for one in StateCache().state(repo.path).unstaged] == ["a"]
    assert not (tmp_path / "canary").exists()
