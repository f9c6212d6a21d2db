"""Files that somebody else names: regular ones of bounded size, in the caller's folders, and nothing told of others."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Opener
from recollect import BadInput, Forbidden, Scope
from recollect.agents.access import RIGHTS, Caller
from recollect.agents.places import Places
from recollect.answers import freshness
from recollect.ops.catalogue import BY_NAME, OPERATIONS
from recollect.project.ingest import ingest
from recollect.project.signals import Deadline, collect
from recollect.regular_files import open_regular, read_bytes
from repositories import Repo
from served import Server, serving

ALL = frozenset(RIGHTS)


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None)) as server:
        yield server


def odd_files(folder: Path) -> dict[str, Path]:
    """One file of each sort that is no regular file, or leads elsewhere."""
    os.mkfifo(folder / "pipe")
    (folder / "real.txt").write_text("secret")
    (folder / "link.txt").symlink_to(folder / "real.txt")
    (folder / "endless").symlink_to("/dev/zero")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.relpath(folder / "socket"))
    listening.close()
    names = ("pipe", "link.txt", "endless", "socket")
    return {name: folder / name for name in names} | {"device": Path("/dev/zero"), "folder": folder}


def test_only_a_regular_file_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in odd_files(tmp_path).items():
        with pytest.raises(OSError, match=r"regular|symbolic|device"):
            open_regular(path).close()
        assert freshness.Files().hash(str(path)) == freshness.GONE, name
    assert read_bytes(tmp_path / "real.txt") == b"secret"
    (tmp_path / "way").symlink_to(tmp_path)
    assert read_bytes(tmp_path / "way" / "real.txt") == b"secret"  # a folder may be a link: it is resolved first
    with pytest.raises(OSError, match="more than 5 bytes"):
        read_bytes(tmp_path / "real.txt", 5)


def test_an_answer_is_tied_to_no_device_or_pipe(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in odd_files(tmp_path).values():
        given = {"question": "What is in it?", "answer": "Nothing.", "files": [str(path)]}
        assert server.call("PUT", "/v1/answers", given).status == 400
        given["files"], given["repositories"] = [], [str(path)]
        assert server.call("PUT", "/v1/answers", given).status == 400
    assert server.call("POST", "/v1/recall", {"query": "anything"}).status == 200
    fine = {"question": "What is in it?", "answer": "A word.", "files": [str(tmp_path / "real.txt")]}
    assert server.call("PUT", "/v1/answers", fine).status == 200


def test_a_file_that_becomes_a_pipe_ends_the_answer_and_blocks_nobody(memory: recollect.Engine, tmp_path: Path) -> None:
    file = tmp_path / "config.ini"
    file.write_text("a = 1")
    memory.answers.put("What is a?", "It is 1.", files=[str(file)])
    assert memory.answers.get("What is a?") is not None
    file.unlink()
    os.mkfifo(file)
    assert memory.answers.get("What is a?") is None


def test_somebody_elsewhere_names_only_files_of_the_project_and_hears_nothing_of_others(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    inside = tmp_path / "shop"
    inside.mkdir()
    (inside / "own.txt").write_text("own")
    (tmp_path / "there.txt").write_text("secret")
    (inside / "way_out").symlink_to(tmp_path)
    Places(memory.settings).note("shop", inside)
    remote = Caller("default", "remote", ALL, home=Scope(project="shop"), token="t1")

    def put(**given: Any) -> str:
        try:
            BY_NAME["answer_put"].call(memory, remote, {"question": "q?", "answer": "a", **given})
        except (Forbidden, BadInput) as error:
            return f"{type(error).__name__} {error}"
        return "kept"

    assert put(files=["own.txt"]) == put(files=[str(inside / "own.txt")]) == "kept"
    for field in ("files", "repositories"):
        for there, missing in (
            (str(tmp_path / "there.txt"), str(tmp_path / "missing.txt")),
            ("../there.txt", "../missing.txt"),
            ("way_out/there.txt", "way_out/missing.txt"),
            ("/dev/zero", "/dev/missing"),
        ):
            told = put(**{field: [there]})
            assert told.startswith("Forbidden")
            assert told == put(**{field: [missing]})


def test_a_memory_that_names_a_file_outside_its_project_ties_no_answer_to_it(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    inside = tmp_path / "shop"
    inside.mkdir()
    (inside / "own.md").write_text("own")
    (tmp_path / "there.md").write_text("secret")
    (inside / "link.md").symlink_to(tmp_path / "there.md")
    Places(memory.settings).note("shop", inside)
    names = (inside / "own.md", tmp_path / "there.md", inside / "link.md", inside / ".." / "there.md")
    place = Scope(project="shop")
    memory.remember("The staging server runs PostgreSQL 15.", scope=place, refs=[str(one) for one in names])
    for _ in range(4):
        found = memory.answers.ask("Which database does the staging server run?", scope=place)
    ties = memory.answers.find(found.id).depends
    assert [tie.target for tie in ties if tie.kind == "file"] == [str(inside / "own.md")]


def test_what_a_repository_calls_its_commit_is_one(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the password of the bank")
    git = tmp_path / "work" / ".git"
    git.mkdir(parents=True)
    for head in (f"ref: {secret}", "ref: ../../secret", "the password of the bank", "ref: refs/heads/main"):
        (git / "HEAD").write_text(head)
        assert freshness.commit(str(git.parent)) == freshness.GONE
    (git / "HEAD").write_text("a" * 40)
    assert freshness.commit(str(git.parent)) == "a" * 40
    (git / "HEAD").unlink()
    os.mkfifo(git / "HEAD")
    assert freshness.commit(str(git.parent)) == freshness.GONE


ODD_PATHS = ("a\0b", "\0", "a\ud800b", "x" * 300, "/".join(["abc"] * 2000))


def test_a_path_that_no_file_can_have_is_bad_input_everywhere(server: Server) -> None:
    asked = 0
    samples = {"question": "q?", "answer": "a", "query": "pool", "accept": []}
    for operation in OPERATIONS:
        for one in (one for one in operation.parameters if one.kind in ("path", "paths")):
            for path in ODD_PATHS:
                given = {other.name: samples.get(other.name, "x") for other in operation.parameters if other.required}
                given[one.name] = [path] if one.kind == "paths" else path
                with pytest.raises(BadInput):
                    operation.call(server.engine, Caller("default", "test"), given)
                asked += 1
    assert asked >= 10 * len(ODD_PATHS)


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("GET", "/v1/project/state?path=a%00b", None),
        ("GET", "/v1/project/state?file=a%00b", None),
        ("GET", "/v1/project/commits?query=x&folder=a%00b", None),
        ("POST", "/v1/project/files", {"path": "a\0b"}),
        ("PUT", "/v1/answers", {"question": "q?", "answer": "a", "files": ["a\0b"]}),
        ("PUT", "/v1/answers", {"question": "q?", "answer": "a", "repositories": ["a\0b"]}),
        ("POST", "/hook", {"host": "claude-code", "event": "SessionStart", "cwd": "/a\0b", "input": {}}),
        ("POST", "/hook", {"host": "claude-code", "event": "SessionStart", "input": {"cwd": "/a\0b"}}),
        ("POST", "/hook", {"host": "git", "event": "post-commit", "cwd": "/a\0b", "input": {}}),
    ],
)
def test_a_nul_in_a_path_is_told_as_the_callers_mistake(server: Server, method: str, path: str, data: Any) -> None:
    assert server.call(method, path, data).status == 400


@pytest.mark.parametrize("folder", ["/a%00b", "/" + "x" * 300, "/a%ED%A0%80"])
def test_an_odd_folder_in_the_header_is_told_as_the_callers_mistake(server: Server, folder: str) -> None:
    answer = server.call("POST", "/v1/recall", {"query": "anything"}, headers={"Recollect-Folder": folder})
    assert answer.status in (200, 400)
    assert answer.status == 400 or "%ED" in folder  # bytes that are no text are replaced as they are read


def test_a_folder_with_pipes_and_links_for_files_is_taken_in(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "inner").mkdir(parents=True)
    (folder / "notes.md").write_text("# Notes\n\nThe queue is drained at noon.\n")
    os.mkfifo(folder / "other.md")
    (folder / "endless.md").symlink_to("/dev/zero")
    report = ingest(memory, folder, project="plain")
    assert (report.files, report.skipped["a link"], report.skipped["no plain file"]) == (1, 1, 1)
    os.mkfifo(folder / "inner" / ".gitignore")
    with pytest.raises(BadInput):  # what is to be ignored cannot be told, so nothing is read
        ingest(memory, folder, project="plain")


def test_a_repository_whose_own_files_are_pipes_blocks_no_session(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"a.txt": "1"})
    feature = repo.path / "features" / "f1"
    feature.mkdir(parents=True)
    (repo.path / ".git" / "HEAD").unlink()
    os.mkfifo(repo.path / ".git" / "HEAD")
    deadline = Deadline(20.0)
    assert collect(str(repo.path), deadline).branch == ""
    assert not [line for line in deadline.skipped if "longer" in line]
