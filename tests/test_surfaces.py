"""One store, two projects, two branches: the command line, HTTP, MCP and the Python client give the same answers.

Each surface is asked from the same folder. What it found is compared by content, so that a surface which looks in
another place, or on another branch, is seen at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from recollect.cli import cli
from recollect.project.watch import Watcher
from recollect.types import Scope
from repositories import Repo
from served import Server, serving
from test_mcp import call, calls

SHOP_MAIN = "The shop keeps its orders in PostgreSQL."
SHOP_BRANCH = "The shop keeps its orders in MongoDB on this branch."
BLOG = "The blog keeps its orders of prints in a spreadsheet."
COMMON = "Orders are kept for ten years by law."
QUESTION = "where are orders kept"
EVERYTHING = {SHOP_MAIN, SHOP_BRANCH, BLOG, COMMON}
Ask = Callable[..., set[str]]


@pytest.fixture
def repos(tmp_path: Path) -> dict[str, Repo]:
    made = {name: Repo(tmp_path / "work" / name) for name in ("shop", "blog")}
    for repo in made.values():
        repo.put("Begin", {"README.md": "Hello."})
    return made


@pytest.fixture
def folders(repos: dict[str, Repo]) -> dict[str, Path]:
    return {name: repo.path for name, repo in repos.items()}


@pytest.fixture
def server(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    store = str(tmp_path / "store.db")
    monkeypatch.setenv("RECOLLECT_STORE", store)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    with recollect.open(store) as engine, serving(engine) as server:
        engine.remember(SHOP_MAIN, scope=Scope(project="shop"))
        engine.remember(SHOP_BRANCH, scope=Scope(project="shop", branch="mongo"))
        engine.remember(BLOG, scope=Scope(project="blog"))
        engine.remember(COMMON)
        yield server


def run(*words: str) -> Any:
    result = CliRunner().invoke(cli, [*words, "--json"])
    assert result.exit_code == 0, (words, result.output)
    return json.loads(result.stdout)


def told_by_json(data: dict[str, Any]) -> set[str]:
    found = data.get("hits") or data.get("memories") or []
    return {(one.get("memory") or one)["content"] for one in found}


@pytest.fixture(params=["cli", "http", "mcp", "client"])
def ask(request: pytest.FixtureRequest, server: Server, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask one surface for `recall` or `list` from a folder; `everywhere` is in all projects. Gives what was found."""

    def by_cli(verb: str, folder: Path, *, everywhere: bool = False, **places: str) -> set[str]:
        monkeypatch.chdir(folder)
        options = [word for name, value in places.items() for word in (f"--{name}", value)]
        options += ["--everywhere"] if everywhere else []
        return told_by_json(run(verb, *([QUESTION] if verb == "recall" else []), *options))

    def by_http(verb: str, folder: Path, *, everywhere: bool = False, **places: str) -> set[str]:
        sent = {**places, **({"project": ""} if everywhere else {})}
        headers = {"Recollect-Folder": str(folder)}
        if verb == "recall":
            return told_by_json(server.call("POST", "/v1/recall", {"query": QUESTION, **sent}, headers=headers).data)
        asked = "&".join(f"{name}={value}" for name, value in sent.items())
        return told_by_json(server.call("GET", f"/v1/memories?{asked}", headers=headers).data)

    def by_mcp(verb: str, folder: Path, *, everywhere: bool = False, **places: str) -> set[str]:
        sent = {**places, **({"project": ""} if everywhere else {})}
        name, sent = ("recall", {"query": QUESTION, **sent}) if verb == "recall" else ("list_memories", sent)
        text = call(server, name, sent, **{"Recollect-Folder": str(folder)})
        return {content for content in EVERYTHING if content in text}

    def by_client(verb: str, folder: Path, *, everywhere: bool = False, **places: str) -> set[str]:
        with recollect.Client(server.url, token=server.secret, folder=folder) as client:
            scope: Any = {"scope": Scope(**places)} if places or everywhere else {}
            if verb == "recall":
                return {hit.memory.content for hit in client.recall(QUESTION, **scope)}
            return {one.content for one in client.list(**scope).memories}

    ways: dict[str, Ask] = {"cli": by_cli, "http": by_http, "mcp": by_mcp, "client": by_client}
    return ways[request.param]


def test_recall_sees_the_project_and_the_branch_of_the_folder(
    ask: Ask, repos: dict[str, Repo], folders: dict[str, Path]
) -> None:
    assert ask("recall", folders["shop"]) == {SHOP_MAIN, COMMON}
    assert ask("recall", folders["blog"]) == {BLOG, COMMON}
    repos["shop"].git("checkout", "-q", "-b", "mongo")
    assert ask("recall", folders["shop"]) == {SHOP_MAIN, SHOP_BRANCH, COMMON}


def test_recall_sees_everything_when_asked_to(ask: Ask, folders: dict[str, Path]) -> None:
    assert ask("recall", folders["shop"], everywhere=True) == EVERYTHING
    assert ask("recall", folders["blog"], everywhere=True) == EVERYTHING


def test_a_project_that_is_named_is_looked_in_from_any_folder(ask: Ask, folders: dict[str, Path]) -> None:
    assert ask("recall", folders["shop"], project="blog") == {BLOG, COMMON}
    assert ask("list", folders["blog"], project="shop") == {SHOP_MAIN, SHOP_BRANCH}
    assert ask("recall", folders["shop"], project="shop", branch="mongo") == {SHOP_MAIN, SHOP_BRANCH, COMMON}


def test_a_list_is_of_the_project_of_the_folder(ask: Ask, folders: dict[str, Path], tmp_path: Path) -> None:
    assert ask("list", folders["shop"]) == {SHOP_MAIN, SHOP_BRANCH}
    assert ask("list", folders["shop"], everywhere=True) == EVERYTHING
    assert ask("list", Path("/")) == EVERYTHING


# -- what says where it looked ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["recall", "list"])
def test_every_surface_says_where_it_looked_when_that_hides_something(
    verb: str, server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["blog"])
    words = ["recall", QUESTION] if verb == "recall" else ["list"]
    by_cli = run(*words)["skipped"]
    headers = {"Recollect-Folder": str(folders["blog"])}
    with recollect.Client(server.url, token=server.secret, folder=folders["blog"]) as client:
        found = client.recall(QUESTION) if verb == "recall" else client.list()
    asked, name = ({"query": QUESTION}, "recall") if verb == "recall" else ({}, "list_memories")
    line = next(one for one in by_cli if one.startswith("place:"))
    assert "project blog" in line
    assert line in found.skipped
    assert line.replace(" or --everywhere", "") in call(server, name, asked, **headers), "a model has no flags"
    assert not [one for one in run(*words, "--everywhere")["skipped"] if one.startswith("place:")]
    assert "--everywhere" in CliRunner().invoke(cli, words).stderr


def test_nothing_is_said_about_the_place_where_it_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    made = run("remember", "The gate is green.")
    assert made["memory"]["scope"] == {"project": "alone"}
    assert run("recall", "which colour has the gate")["skipped"] == []


# -- writing, asking and contexts -------------------------------------------------------------------------------------


def test_what_is_remembered_belongs_to_the_project_of_the_folder(
    server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["shop"])
    headers = {"Recollect-Folder": str(folders["shop"])}
    run("remember", "Said on the command line.")
    server.call("POST", "/v1/memories", {"content": "Said over HTTP."}, headers=headers)
    call(server, "remember", {"content": "Said by an assistant."}, **headers)
    with recollect.Client(server.url, token=server.secret, folder=folders["shop"]) as client:
        client.remember("Said by a program.")
    said = [one for one in server.engine.list(limit=100).memories if one.content.startswith("Said")]
    assert [one.scope for one in said] == [Scope(project="shop")] * 4
    assert run("remember", "Said for all.", "--everywhere")["memory"]["scope"] == {}


def test_a_context_holds_nothing_of_another_project_or_branch(
    server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["shop"])
    headers = {"Recollect-Folder": str(folders["shop"])}
    with recollect.Client(server.url, token=server.secret, folder=folders["shop"]) as client:
        texts = [
            run("context", QUESTION)["text"],
            server.call("POST", "/v1/context", {"query": QUESTION}, headers=headers).data["text"],
            call(server, "context", {"query": QUESTION}, **headers),
            client.context(QUESTION).text,
        ]
    for text in texts:
        assert {content for content in EVERYTHING if content in text} == {SHOP_MAIN, COMMON}


def test_an_answer_holds_nothing_of_another_branch(
    server: Server, repos: dict[str, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repos["shop"].path)
    headers = {"Recollect-Folder": str(repos["shop"].path)}
    question = "In what does the shop keep its orders on this branch?"
    for _ in range(4):  # often enough for an answer to be kept
        assert "MongoDB" not in run("ask", question)["answer"]
        assert "MongoDB" not in server.call("POST", "/v1/ask", {"question": question}, headers=headers).data["answer"]
        assert "MongoDB" not in call(server, "ask_librarian", {"question": question}, **headers)
    repos["shop"].git("checkout", "-q", "-b", "mongo")
    assert "MongoDB" in run("ask", question)["answer"]
    repos["shop"].git("checkout", "-q", "main")
    assert "MongoDB" not in run("ask", question)["answer"]


def test_forgetting_by_words_stays_in_the_project(
    server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["blog"])
    assert told_by_json(run("forget", "--query", "orders", "--dry-run")) == {BLOG}
    assert told_by_json(run("forget", "--query", "orders", "--project", "shop", "--dry-run")) == {
        SHOP_MAIN,
        SHOP_BRANCH,
    }
    said = call(server, "forget", {"query": "orders", "dry_run": True}, **{"Recollect-Folder": str(folders["blog"])})
    assert {content for content in EVERYTHING if content in said} == {BLOG}


def test_everywhere_and_a_project_exclude_each_other(server: Server) -> None:
    result = CliRunner().invoke(cli, ["recall", "x", "--project", "shop", "--everywhere"])
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


# -- notes, wherever they lie -----------------------------------------------------------------------------------------


def test_watched_notes_are_found_from_every_folder(
    server: Server, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    note = "The tax office wants invoices in triplicate."
    (notes / "office.md").write_text(f"# Office\n\n{note}\n")
    (folders["blog"] / "plans.md").write_text("# Plans\n\nThe invoices of the blog are pink.\n")
    Watcher(server.engine, [notes, folders["blog"]]).scan()
    headers = {"Recollect-Folder": str(folders["shop"])}
    found = call(server, "recall", {"query": "invoices"}, **headers)
    assert note in found
    assert "pink" not in found
    assert "pink" in call(server, "recall", {"query": "invoices", "project": ""}, **headers)
    monkeypatch.chdir(folders["shop"])
    assert note in " ".join(told_by_json(run("recall", "invoices")))


@pytest.mark.parametrize("tool", ["recall", "memory_search", "semantic_search"])
def test_an_empty_project_widens_every_search(server: Server, folders: dict[str, Path], tool: str) -> None:
    headers = {"Recollect-Folder": str(folders["shop"])}
    narrow, wide = calls(server, [(tool, {"query": QUESTION}), (tool, {"query": QUESTION, "project": ""})], **headers)
    assert {content for content in EVERYTHING if content in narrow} == {SHOP_MAIN, COMMON}
    assert {content for content in EVERYTHING if content in wide} == EVERYTHING


def test_an_empty_project_does_not_move_what_a_model_stores(server: Server, folders: dict[str, Path]) -> None:
    sent = {"content": "Models send empty texts for what they leave out.", "project": ""}
    call(server, "remember", sent, **{"Recollect-Folder": str(folders["shop"])})
    assert server.engine.list(limit=1).memories[0].scope == Scope(project="shop")


# -- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["remember", "seed"])
def test_an_answer_of_no_project_reaches_who_asks_in_a_project(
    way: str, server: Server, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    if way == "remember":
        run("answers", "remember", "Who signs off releases?", "Ana signs them off.", "--pin")
    else:
        (tmp_path / "faq.tsv").write_text("Who signs off releases?\tAna signs them off.\n")
        run("answers", "seed", str(tmp_path / "faq.tsv"))
    monkeypatch.chdir(folders["shop"])  # where something is staged on another branch, so that nothing computed is kept
    headers = {"Recollect-Folder": str(folders["shop"])}
    assert run("ask", "Who signs off releases?")["answer"] == "Ana signs them off."
    assert "Ana signs them off." in call(server, "ask_librarian", {"question": "who signs off releases"}, **headers)
    monkeypatch.chdir(folders["blog"])
    assert run("ask", "Who signs off releases?")["answer"] == "Ana signs them off."
    run("answers", "remember", "Who signs off releases?", "Ben does, of the blog.")
    assert run("ask", "Who signs off releases?")["answer"] == "Ben does, of the blog."


def test_what_is_computed_without_a_project_stays_there(
    server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "In what does the blog keep its orders of prints?"
    monkeypatch.chdir("/")
    for _ in range(4):
        assert "spreadsheet" in run("ask", question)["answer"]
    monkeypatch.chdir(folders["shop"])
    assert "spreadsheet" not in run("ask", question)["answer"]


def test_a_document_seeds_the_answers_of_its_own_project(
    server: Server, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.engine.remember(
        "The print queue holds the orders of prints until Friday.", kind="doc", title="Print queue",
        scope=Scope(project="blog"),
    )  # fmt: skip
    monkeypatch.chdir("/")
    assert run("answers", "seed", "--documents")["kept"] == 1
    monkeypatch.chdir(folders["blog"])
    found = run("ask", "What is Print queue?")
    assert found["cached"]
    assert "until Friday" in found["answer"]
