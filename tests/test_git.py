"""Repositories of every shape, made by git itself: what is read of them, and that nothing is read twice for nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect import BadInput
from recollect.errors import GitUnavailable, NoRepository
from recollect.project import git, state
from recollect.project.git import CommitQuery, Repository, find
from recollect.project.state import StateCache
from repositories import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "shop")


def settled(repo: Repo) -> None:
    """Let every file be older than the moment within which two writes look like one."""
    past = time.time() - 10
    for path in repo.path.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (past, past), follow_symlinks=False)
    os.utime(repo.path, (past, past))


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What git is asked from now on."""
    words: list[str] = []
    before = git._run

    def run(folder: Path, given: tuple[str, ...], *rest: object) -> object:
        words.append(given[0])
        return before(folder, given, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(git, "_run", run)
    return words


# -- where it stands --------------------------------------------------------------------------------------------------


def test_an_empty_repository_has_a_branch_and_nothing_else(repo: Repo) -> None:
    found = StateCache().state(repo.path)
    assert (found.branch, found.head, found.commits, found.clean) == ("main", "", (), True)


def test_what_is_staged_changed_new_and_renamed_is_told_apart(repo: Repo) -> None:
    repo.put("Begin", {"a.py": "1\n2\n", "b c.py": "x = 1\n" * 5, "gone.py": "1\n"})
    repo.write("a.py", "1\n2\n3\n")
    repo.git("mv", "b c.py", "d\te.py")
    (repo.path / "gone.py").unlink()
    repo.write("new\nline.txt", "?")
    found = StateCache().state(repo.path)
    assert [(one.path, one.status, one.before) for one in found.staged] == [("d\te.py", "R", "b c.py")]
    assert [(one.path, one.status, one.added, one.removed) for one in found.unstaged] == [
        ("a.py", "M", 1, 0), ("gone.py", "D", 0, 1)
    ]  # fmt: skip
    assert found.untracked == ("new\nline.txt",)
    assert found.counts == {"staged": 1, "unstaged": 2, "untracked": 1, "conflicts": 0}


def test_a_detached_head_has_no_branch(repo: Repo) -> None:
    first = repo.put("Begin", {"a": "1"})
    repo.put("More", {"a": "2"})
    repo.git("checkout", "-q", first)
    found = StateCache().state(repo.path)
    assert (found.branch, found.head) == ("", first)
    assert git.checked_out(repo.path) == (repo.path, "")


def test_a_worktree_is_a_place_of_its_own_in_the_same_repository(repo: Repo, tmp_path: Path) -> None:
    repo.put("Begin", {"a": "1"})
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    found, kept = find(tmp_path / "side"), StateCache()
    assert found.linked
    assert found.common == repo.path / ".git"
    assert (kept.state(tmp_path / "side").branch, kept.state(repo.path).branch) == ("side", "main")
    assert kept.state(tmp_path / "side").worktree
    assert git.checked_out(tmp_path / "side") == (tmp_path / "side", "side")
    assert (git.feature_branch(tmp_path / "side"), git.feature_branch(repo.path)) == ("side", "")


def test_a_submodule_knows_what_it_is_part_of_and_its_repository_sees_it_move(repo: Repo, tmp_path: Path) -> None:
    part = Repo(tmp_path / "part")
    part.put("Begin", {"p": "1"})
    repo.put("Begin", {"a": "1"})
    repo.git("submodule", "add", "-q", str(part.path), "lib")
    repo.put("Take the part in")
    inner = Repo(repo.path / "lib", init=False)
    found = find(inner.path)
    assert (found.above, found.root) == (str(repo.path), inner.path)
    inner.put("Inside", {"p": "2"})
    assert [one.path for one in StateCache().state(repo.path).unstaged] == ["lib"]
    assert StateCache().state(inner.path).commits[0].subject == "Inside"


def test_a_shallow_clone_says_so(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.put(f"Commit {number}", {"a": str(number)})
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    found = StateCache().state(tmp_path / "shallow")
    assert found.shallow
    assert [one.subject for one in found.commits] == ["Commit 2"]
    assert find(tmp_path / "shallow").default() == "main"
    assert (found.upstream, found.ahead, found.behind) == ("origin/main", 0, 0)


def test_a_bare_repository_has_commits_and_no_work_tree(repo: Repo, tmp_path: Path) -> None:
    repo.put("Begin", {"a": "1"})
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "shop.git"))
    found = StateCache().state(tmp_path / "shop.git")
    assert (found.bare, found.branch, found.clean) == (True, "main", True)
    assert [one.subject for one in found.commits] == ["Begin"]


def test_a_merge_that_stopped_is_told_with_its_conflicts(repo: Repo) -> None:
    repo.put("Begin", {"a": "1"})
    repo.git("checkout", "-q", "-b", "side")
    repo.put("Side", {"a": "2"})
    repo.git("checkout", "-q", "main")
    repo.put("Main", {"a": "3"})
    repo.git("merge", "side", check=False)
    found = StateCache().state(repo.path)
    assert (found.operation, found.conflicts) == ("merge", ("a",))


def test_no_repository_no_folder_and_no_git_are_said_each_in_its_words(
    tmp_path: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "")
    bare = tmp_path / "plain"
    bare.mkdir()
    with pytest.raises(NoRepository, match="not inside a git repository"):
        find(bare)
    with pytest.raises(NoRepository, match="no folder"):
        find(tmp_path / "nowhere")
    assert git.checked_out(bare) is None
    monkeypatch.setenv("PATH", str(bare))
    with pytest.raises(GitUnavailable, match="not installed"):
        find(repo.path)


def test_a_git_that_hangs_is_given_up(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (slow / "git").chmod(0o755)
    found = find(repo.path)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    with pytest.raises(GitUnavailable, match="took longer"):
        found.ask("status", patience=0.1)


def test_variables_of_a_hook_do_not_lead_to_another_repository(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    other.put("Other", {"x": "1"})
    repo.put("Begin", {"a": "1"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    assert [one.subject for one in StateCache().state(repo.path).commits] == ["Begin"]


def test_settings_that_change_what_is_told_are_kept(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "somebody"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {home}/ignored\n")
    (home / "ignored").write_text("*.mine\n")
    monkeypatch.setenv("HOME", str(home))
    repo.put("Begin", {"a": "1"})
    repo.git("config", "core.fileMode", "false")
    (repo.path / "a").chmod(0o755)
    repo.write("b.mine", "1")
    kept = StateCache()
    assert kept.state(repo.path).clean
    repo.git("config", "core.fileMode", "true")
    assert [one.path for one in kept.state(repo.path).unstaged] == ["a"], "a change of the settings counts at once"


def test_a_repository_with_longer_hashes_is_read(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "long", init=False)
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    head = repo.put("Begin", {"a": "1"})
    assert (len(head), StateCache().state(repo.path).head) == (64, head)


# -- from memory ------------------------------------------------------------------------------------------------------


def test_what_has_not_moved_is_answered_without_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.put("Begin", {"a.py": "1", "deep/er/b.py": "2"})
    settled(repo)
    kept = StateCache()
    first, history = kept.state(repo.path), kept.history(repo.path, "a.py")
    words = asked(monkeypatch)
    assert kept.state(repo.path) is first
    assert kept.state(repo.path / "deep") == first or words  # another folder: found once, then known
    words.clear()
    assert kept.state(repo.path / "deep") == first
    assert kept.history(repo.path, "a.py") == history
    assert words == []


CHANGES: dict[str, Callable[[Repo], object]] = {
    "a file": lambda repo: repo.write("a.py", "22"),
    "a deep file": lambda repo: repo.write("deep/er/b.py", "22"),
    "a new file": lambda repo: repo.write("deep/new.py", "1"),
    "the index": lambda repo: repo.git("mv", "a.py", "n.py"),
    "a commit": lambda repo: repo.put("More"),
    "an amended commit": lambda repo: repo.git("commit", "-q", "--amend", "-m", "Other"),
    "a branch": lambda repo: repo.git("checkout", "-q", "-b", "side"),
    "a file that is gone": lambda repo: (repo.path / "a.py").unlink(),
    "packed refs": lambda repo: (repo.git("pack-refs", "--all"), repo.put("Packed")),
    "the mode": lambda repo: repo.git("rm", "-q", "--cached", "a.py"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_moves_is_seen_at_once(repo: Repo, change: str) -> None:
    repo.put("Begin", {"a.py": "1", "deep/er/b.py": "2"})
    settled(repo)
    kept = StateCache()
    before = kept.state(repo.path)
    CHANGES[change](repo)
    now, truly = kept.state(repo.path), StateCache().state(repo.path)
    assert now.as_dict() | {"read_at": ""} == truly.as_dict() | {"read_at": ""}
    assert now != before


def test_a_file_written_in_the_moment_of_the_reading_is_looked_at_again(repo: Repo) -> None:
    repo.put("Begin", {"a.py": "1"})
    kept = StateCache()
    kept.state(repo.path)
    stamp = (repo.path / "a.py").stat()
    repo.write("a.py", "2")
    os.utime(repo.path / "a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    git_says = repo.git("diff", "--name-only")  # git itself may be deceived by the same stamp, and then so may we
    assert [one.path for one in kept.state(repo.path).unstaged] == git_says.split()


def test_a_large_work_tree_is_believed_for_a_while(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "WATCHED", 2)
    repo.put("Begin", {f"{n}.py": "1" for n in range(5)})
    kept = StateCache()
    first = kept.state(repo.path)
    repo.write("0.py", "22")
    assert kept.state(repo.path) is first
    monkeypatch.setattr(state, "MAX_AGE", 0.0)
    assert [one.path for one in kept.state(repo.path).unstaged] == ["0.py"]
    monkeypatch.setattr(state, "MAX_AGE", 60.0)
    head = repo.put("A commit is seen at once")
    assert kept.state(repo.path).head == head


def test_a_repository_made_anew_in_the_same_folder_is_another(repo: Repo, tmp_path: Path) -> None:
    import shutil

    repo.put("Begin", {"a": "1"})
    kept = StateCache()
    kept.state(repo.path)
    shutil.rmtree(repo.path)
    with pytest.raises(NoRepository):
        kept.state(repo.path)
    Repo(repo.path).put("Anew", {"b": "1"})
    assert [one.subject for one in kept.state(repo.path).commits] == ["Anew"]


def test_at_most_two_hundred_commits_are_kept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "COMMITS", 3)
    for number in range(5):
        repo.put(f"Commit {number}", {"a": str(number)})
    assert [one.subject for one in StateCache().state(repo.path).commits] == ["Commit 4", "Commit 3", "Commit 2"]


# -- commits ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def found(repo: Repo) -> Repository:
    repo.put("Add the pool\n\nBecause connections are dear.", {"src/pool.py": "size = 5\n"})
    repo.put("Raise the POOL size", {"src/pool.py": "size = 50\n"}, author="Ben")
    repo.put("-- odd %s $(message) `x`", {"docs/a b.md": "text"}, author="Zoë <x>")
    repo.git("mv", "src/pool.py", "src/connections.py")
    repo.put("Rename it")
    return find(repo.path)


@pytest.mark.parametrize(
    ("wanted", "subjects"),
    [
        (CommitQuery(words=("pool",)), ["Raise the POOL size", "Add the pool"]),
        (CommitQuery(words=("pool", "dear")), ["Add the pool"]),
        (CommitQuery(words=("$(message)",)), ["-- odd %s $(message) `x`"]),
        (CommitQuery(words=("-- odd",)), ["-- odd %s $(message) `x`"]),
        (CommitQuery(words=(".*",)), []),
        (CommitQuery(author="ben"), ["Raise the POOL size"]),
        (CommitQuery(path="src/pool.py"), ["Rename it", "Raise the POOL size", "Add the pool"]),
        (CommitQuery(path="docs"), ["-- odd %s $(message) `x`"]),
        (CommitQuery(path="*.md"), []),
        (CommitQuery(content="size = 50"), ["Raise the POOL size"]),
        (CommitQuery(content="--output=x"), []),
        (CommitQuery(since=datetime.fromtimestamp(1772300000 + 110, UTC), limit=1), ["Rename it"]),
        (CommitQuery(until=datetime.fromtimestamp(1772300000 + 70, UTC)), ["Add the pool"]),
        (CommitQuery(words=("pool",), author="ana"), ["Add the pool"]),
    ],
)  # fmt: skip
def test_commits_are_searched(found: Repository, wanted: CommitQuery, subjects: list[str]) -> None:
    assert [one.subject for one in found.search(wanted)] == subjects


def test_a_commit_has_its_body_files_and_author(found: Repository) -> None:
    last, odd, raised, first = found.log(limit=10)
    assert (first.body, first.parents) == ("Because connections are dear.", ())
    assert [(file.path, file.status, file.before) for file in last.files] == [
        ("src/connections.py", "R", "src/pool.py")
    ]
    assert raised.author == "Ben"
    assert odd.author == "Zoë x"


def test_the_history_of_a_file_goes_back_before_its_renaming(found: Repository) -> None:
    commits = found.history("src/connections.py")
    assert [one.subject for one in commits] == ["Rename it", "Raise the POOL size", "Add the pool"]
    assert [(one.name, one.commits) for one in state.authors(commits)] == [("Ana", 2), ("Ben", 1)]


def test_secrets_in_messages_are_not_told(repo: Repo) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo.put(f"Use {secret} for the robot\n\nand {secret}", {"a": "1"})
    [commit] = find(repo.path).log(limit=1)
    assert secret not in str(commit.as_dict())


def test_names_and_messages_that_are_no_utf8_are_read(repo: Repo) -> None:
    path = os.fsencode(repo.path) + b"/caf\xe9.txt"
    with open(path, "wb") as file:
        file.write(b"1")
    repo.git("config", "i18n.commitEncoding", "latin-1")
    repo.put("Caf\u00e9")
    kept = StateCache().state(repo.path)
    assert kept.commits[0].files[0].path == "caf\ufffd.txt"
    kept.as_dict()


@pytest.mark.parametrize("path", ["../elsewhere", "/etc/passwd", "a/../../x", "a\0b"])
def test_a_path_does_not_lead_out_of_the_repository(found: Repository, path: str) -> None:
    with pytest.raises((BadInput, ValueError)):
        found.inside(path)


def test_the_default_branch_is_found(repo: Repo, tmp_path: Path) -> None:
    repo.put("Begin", {"a": "1"})
    assert find(repo.path).default() == "main"
    odd = Repo(tmp_path / "odd", branch="release")
    odd.put("Begin", {"a": "1"})
    assert find(odd.path).default() == "release", "the only one there is"
    odd.git("branch", "other")
    assert find(odd.path).default() == ""
    assert git.feature_branch(odd.path) == "", "where nobody knows the default, nothing is staged"
    odd.git("clone", "-q", str(odd.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    assert find(clone.path).default() == "release"
    clone.git("checkout", "-q", "-b", "feature/x")
    assert git.feature_branch(clone.path) == "feature/x"


def test_a_symbolic_link_is_no_way_out(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def key():\n    return 1\n")
    (repo.path / "way_out.py").symlink_to(tmp_path / "secret.py")
    (repo.path / "folder").symlink_to(tmp_path)
    repo.write("own.py", "x = 1\n")
    found = find(repo.path)
    assert set(found.hashes(["way_out.py", "folder/secret.py", "own.py"])) == {"own.py"}
    assert (found.text_at("", "way_out.py"), found.text_at("", "own.py")) == ("", "x = 1\n")


def test_a_commit_of_no_sane_time_is_read(repo: Repo) -> None:
    first = repo.put("Begin", {"a": "1"})
    tree = repo.git("rev-parse", f"{first}^{{tree}}")
    for number, seconds in enumerate(("99999999999999", "4102444800")):
        who = f"author A <a@x> {seconds} +0000\ncommitter A <a@x> 1 +0000"
        text = f"tree {tree}\nparent {first}\n{who}\n\nOdd {number}\n"
        path = repo.path.parent / "commit"
        path.write_text(text)
        sha = repo.git("hash-object", "-t", "commit", "-w", "--literally", str(path))
        repo.git("update-ref", "refs/heads/main", sha)
        assert StateCache().state(repo.path).commits[0].subject == f"Odd {number}"
