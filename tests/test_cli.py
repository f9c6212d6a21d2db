"""The command line: what a person sees, what a script gets, and that neither ever meets a traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import cli, terminal, tour
from recollect.cli.commands import commands, contents
from recollect.cli.memories import next_page
from recollect.types import Message

Run = Callable[..., Result]
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("RECOLLECT_PROJECT", "RECOLLECT_USER", "RECOLLECT_TENANT", "RECOLLECT_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))  # the folder of a person is of no project
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run() -> Run:
    """Run a command as a user would, but in this process; the exit code must be the one that is expected."""

    def runner(*args: str, code: int = 0, stdin: str | bytes = "") -> Result:
        result = CliRunner().invoke(cli, list(args), input=stdin)
        assert result.exit_code == code, (args, result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return runner


@pytest.fixture
def data(run: Run) -> Callable[..., Any]:
    """What a command prints with --json."""
    return lambda *args, code=0, stdin="": json.loads(run(*args, "--json", code=code, stdin=stdin).stdout)


@pytest.fixture
def kept(data: Callable[..., Any]) -> str:
    """The id of one memory."""
    return str(data("remember", "We deploy on Thursdays.", "--kind", "decision", "--tag", "release")["memory"]["id"])


def flat(text: str) -> str:
    """A text as one line: where it was wrapped depends on the length of a path."""
    return " ".join(text.split())


def shell(
    *args: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """A real process."""
    command = [sys.executable, "-m", "recollect", *args]
    return subprocess.run(command, input=stdin, capture_output=True, env=os.environ | (environment or {}), check=False)


# -- a person's first minutes -----------------------------------------------------------------------------------------


def test_without_a_command_it_says_what_to_do_first(run: Run, tmp_path: Path) -> None:
    out = run().stdout
    assert 'recollect remember "We deploy on Thursdays"' in out
    for command in ("tour", "install claude", "serve"):
        assert f"recollect {command}" in out
    assert str(tmp_path / "home") in out
    assert not (tmp_path / "home").exists()


def test_help_lists_every_command_in_a_section(run: Run) -> None:
    out = run("--help").stdout
    assert {name for name in cli.commands if not re.search(rf"^  {name} ", out, re.MULTILINE)} == set()
    assert run("-h").stdout == out


def every_command() -> list[tuple[str, ...]]:
    """The commands, and those of the groups among them; `mcp` and `hook` print what their protocols say."""
    groups = {name: found.commands for name, found in cli.commands.items() if isinstance(found, click.Group)}
    inner = [(name, one) for name, commands in groups.items() for one in commands]
    return sorted([*((name,) for name in cli.commands if name not in ("mcp", "hook", *groups)), *inner])


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_command_has_help_and_takes_json(run: Run, words: tuple[str, ...]) -> None:
    out = run(*words, "--help").stdout
    assert "--json" in out
    assert "..." not in run("--help").stdout.split("Begin:")[1], "a summary is too long for its line"


def test_no_line_of_text_is_wider_than_the_terminal(run: Run) -> None:
    run("remember", *["A long sentence about the deployment of the service."] * 9, "--title", "A title " * 12)
    for args in (["recall", "deployment", "--explain"], ["list"], ["stats"], ["config"], ["doctor"], []):
        home = os.environ["RECOLLECT_HOME"]  # a path is never broken, and here it is long
        wide = [line for line in run(*args).stdout.splitlines() if len(line) > 80 and home not in line]
        assert wide == [], args


# -- remember ---------------------------------------------------------------------------------------------------------


def test_remember_says_what_became_of_it(run: Run) -> None:
    assert re.fullmatch(r"✓ remembered [0-9a-z]{8}\n", run("remember", "We", "deploy", "on", "Thursdays").stdout)
    assert re.search(r"= known already \w{8} \(seen 2 times\)", run("remember", "we deploy on thursdays").stdout)


def test_remember_takes_every_field(data: Callable[..., Any]) -> None:
    made = data(
        *["remember", "Use pnpm", "--kind", "rule", "--title", "Packages", "--reasoning", "faster", "--tag", "a"],
        *["--tag", "b", "--keyword", "npm", "--ref", "package.json", "--importance", "8", "--confidence", "0.5"],
        *["--valid-from", "2026-01-01T00:00:00Z", "--valid-to", "2096-01-01T00:00:00Z", "--expires", "30d"],
        *["--source", "https://example.com", "--evidence", "we use pnpm", "--project", "acme", "--branch", "main"],
    )
    memory = made["memory"]
    assert made["action"] == "created"
    assert (memory["kind"], memory["title"], memory["reasoning"]) == ("rule", "Packages", "faster")
    assert (memory["tags"], memory["keywords"], memory["refs"]) == (["a", "b"], ["npm"], ["package.json"])
    assert (memory["importance"], memory["confidence"], memory["trust"]) == (8, 0.5, "cited")
    assert memory["scope"] == {"project": "acme", "branch": "main"}
    assert memory["valid_from"] == "2026-01-01T00:00:00Z"
    assert timedelta(days=29) < datetime.fromisoformat(memory["expires_at"]) - datetime.now(UTC) < timedelta(days=31)


@pytest.mark.parametrize("args", [["remember"], ["remember", "-"]])
def test_remember_reads_what_is_piped_in(data: Callable[..., Any], args: list[str]) -> None:
    assert data(*args, stdin="line one\nline two\n")["memory"]["content"] == "line one\nline two"


def test_secrets_and_near_duplicates_are_shown(run: Run) -> None:
    assert "redacted before it was stored: github-token" in run("remember", f"The bot uses {tour.FAKE_KEY}").stdout
    run("remember", "The billing service retries failed payments three times a day.")
    again = run("remember", "The billing service retries failed payments three times each day.").stdout
    assert "nearly the same is known:" in again
    assert "supersedes" in again


def test_merge_joins_what_says_nearly_the_same(run: Run) -> None:
    run("remember", "The nightly backups of the billing database in Frankfurt are stored in the archive bucket.")
    text = "We store the nightly backups of the billing database in Frankfurt in the archive bucket."
    assert "+ merged into" in run("remember", text, "--merge").stdout


def test_what_was_rejected_is_refused_with_its_reason_and_exit_code(run: Run, kept: str) -> None:
    run("reject", kept, "--reason", "nobody said so")
    out = run("remember", "we deploy on THURSDAYS", code=4).stdout
    assert "✗ refused: rejected before: nobody said so" in out
    assert "reject --undo" in out


# -- recall -----------------------------------------------------------------------------------------------------------


def test_recall_shows_the_memory_its_id_and_why(run: Run, kept: str) -> None:
    out = run("recall", "when do we deploy").stdout
    assert "1. We deploy on Thursdays." in out
    assert f"{kept[-8:]} · decision · #release" in out
    assert re.search(r"why: meaning 0\.\d\d · words deploy · just now", out)


def test_recall_prints_the_wire_form(data: Callable[..., Any], kept: str) -> None:
    result = data("recall", "deploy", "-n", "1")
    assert result["query"] == "deploy"
    assert result["hits"][0]["memory"]["id"] == kept
    assert recollect.Memory.from_dict(result["hits"][0]["memory"]).as_dict() == result["hits"][0]["memory"]
    assert result["arms"] == ["text", "vector"]


def test_explain_shows_arms_scores_and_times(run: Run, kept: str) -> None:
    out = run("recall", "deploy", "--explain").stdout
    assert re.search(r"score \d\.\d+ from text .* · vector ", out)
    assert re.search(r"arms +text, vector", out)
    assert re.search(r"time +.*text .* ms", out)


def test_recall_filters(data: Callable[..., Any], kept: str) -> None:
    def found(*args: str) -> list[str]:
        return [hit["memory"]["id"] for hit in data("recall", "deploy", *args)["hits"]]

    assert found("--kind", "decision", "--tag", "release", "--since", "7d", "--min-importance", "5") == [kept]
    today = f"{datetime.now().astimezone():%Y-%m-%d}"
    assert found("--since", today, "--until", today) == [kept]
    for args in (["--kind", "fact"], ["--tag", "other"], ["--until", "2020-01-01"], ["--min-importance", "6"]):
        assert found(*args) == []
    assert found("--as-of", "2020-01-01") == []
    assert found("--fusion", "rrf", "--max-tokens", "500") == [kept]
    assert found("--max-tokens", "1") == []


def test_nothing_found_says_what_to_do(run: Run) -> None:
    assert "Nothing is remembered yet" in run("recall", "anything").stdout
    run("remember", "We deploy on Thursdays.")
    assert "recollect list" in run("recall", "anything", "--kind", "incident").stdout


def test_a_project_sees_its_own_memories_and_the_common_ones(data: Callable[..., Any]) -> None:
    data("remember", "deploy acme with make", "--project", "acme")
    data("--project", "beta", "remember", "deploy beta with just")
    data("remember", "deploy carefully")

    def found(*args: str) -> list[str]:
        return sorted(hit["memory"]["content"] for hit in data(*args)["hits"])

    assert found("recall", "deploy", "--project", "acme") == ["deploy acme with make", "deploy carefully"]
    assert found("--project", "beta", "recall", "deploy") == ["deploy beta with just", "deploy carefully"]
    assert [m["content"] for m in data("list", "--project", "acme")["memories"]] == ["deploy acme with make"]


def test_tenants_see_nothing_of_each_other(data: Callable[..., Any], kept: str) -> None:
    assert data("--tenant", "other", "recall", "deploy")["hits"] == []


def test_without_a_model_it_is_noted_once_and_words_still_find(
    run: Run, kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", str(tmp_path))  # a folder without a model
    result = run("recall", "deploy")
    assert "We deploy on Thursdays." in result.stdout
    assert result.stderr.count("note:") == 1
    assert "model.onnx" in flat(result.stderr)
    as_json = run("recall", "deploy", "--json")
    assert as_json.stderr == ""
    assert "model.onnx" in json.loads(as_json.stdout)["skipped"][0]


# -- forget and reject ------------------------------------------------------------------------------------------------


def test_forget_by_id_and_bring_back(run: Run, data: Callable[..., Any], kept: str) -> None:
    assert "✓ forgotten: 1 memory" in run("forget", kept[-8:]).stdout
    assert data("recall", "deploy")["hits"] == []
    assert "state: archived → active" in run("edit", kept, "--state", "active").stdout
    assert len(data("recall", "deploy")["hits"]) == 1


@pytest.mark.parametrize("way", [["--query", "deploy"], ["--all-in-scope", "--project", "acme"], ["--purge", "ID"]])
def test_what_reaches_far_needs_a_yes(run: Run, data: Callable[..., Any], way: list[str]) -> None:
    made = data("remember", "deploy with make", "--project", "acme")["memory"]["id"]
    args = [made if word == "ID" else word for word in way]
    refused = run("forget", *args, code=2)
    assert made[-8:] in refused.stderr
    assert "--yes" in refused.stderr
    assert "--dry-run" in refused.stderr
    assert made[-8:] in run("forget", *args, "--dry-run").stdout
    assert data("list")["memories"] != []
    assert made in [memory["id"] for memory in data("forget", *args, "--yes")["memories"]]
    assert data("list")["memories"] == []


def test_a_person_is_asked_and_may_say_no(run: Run, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "asks", lambda: True)
    assert "Nothing was changed." in run("forget", kept, "--purge", stdin="n\n").stderr
    assert kept[-8:] in run("list").stdout
    assert "erased for good" in run("forget", kept, "--purge", stdin="y\n").stdout
    assert "erased" in run("history", kept).stdout


def test_a_person_is_asked_what_to_do_with_what_was_derived(
    run: Run, data: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with recollect.open(embedder="hashing") as engine:
        for said in ("We decided to use pnpm for everything.", "Always run make lint before a commit."):
            engine.capture([Message("user", said, id=said)], session=said)
        turns = [one.id for one in engine.list(kinds=["turn"]).memories]
    facts = [one["id"] for one in data("list")["memories"] if one["kind"] != "turn"]
    assert len(facts) == len(turns) == 2
    dry = data("forget", turns[0], "--purge", "--dry-run")["derived"]
    assert {one["id"] for one in dry} < set(facts)
    assert len(dry) == 1
    assert data("forget", turns[0], "--purge", "--dry-run", "--derived", "keep")["derived"] == []
    monkeypatch.setattr(terminal, "asks", lambda: True)
    assert "still stand" in run("forget", turns[0], "--purge", stdin="y\nn\n").stdout
    assert len([one for one in data("list")["memories"] if one["kind"] != "turn"]) == 2
    assert "derived from it" in run("forget", turns[1], "--purge", stdin="y\ny\n").stdout
    assert len([one for one in data("list")["memories"] if one["kind"] != "turn"]) == 1


def test_forget_wants_exactly_one_way(run: Run, kept: str) -> None:
    assert "exactly one" in run("forget", code=2).stderr
    assert "exactly one" in run("forget", kept, "--query", "x", code=2).stderr
    assert "Nothing to forget was named" in run("forget", "--all-in-scope", "--yes", code=2).stderr


def test_nothing_to_forget_is_no_error(run: Run) -> None:
    assert run("forget", "--all-in-scope", "--project", "none").stdout == "Nothing to forget.\n"


def test_reject_and_undo(run: Run, data: Callable[..., Any], kept: str) -> None:
    assert "✓ rejected: 1 memory" in run("reject", kept, "--reason", "wrong").stdout
    assert "was rejected" in run("edit", kept, "--state", "active", code=4).stderr
    assert "no longer rejected" in run("reject", kept, "--undo").stdout
    assert data("reject", kept)["memories"][0]["state"] == "rejected"


# -- edit, show, list, link, history ----------------------------------------------------------------------------------


def test_edit_shows_what_changed(run: Run, data: Callable[..., Any], kept: str) -> None:
    out = run("edit", kept, "--importance", "9", "--title", "Deploys", "--tag", "b", "--project", "acme").stdout
    assert "importance: 5 → 9" in out
    assert "title: none → Deploys" in out
    assert "tags: release → b" in out
    assert "scope: everywhere → project=acme" in out
    assert "nothing changed" in run("edit", kept, "--importance", "9").stdout
    assert data("edit", kept, "--clear", "tags", "--clear", "title")["tags"] == []


def test_edit_reads_the_content_from_standard_input(data: Callable[..., Any], kept: str) -> None:
    assert data("edit", kept, "--content", "-", stdin="We deploy on Mondays.")["content"] == "We deploy on Mondays."


def test_edit_opens_the_editor_when_nothing_is_told(
    run: Run, data: Callable[..., Any], kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Nothing to change" in run("edit", kept, code=2).stderr
    monkeypatch.setattr(terminal, "asks", lambda: True)
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("Thursdays", "Mondays"))
    assert "Thursdays. → We deploy on Mondays." in run("edit", kept).stdout
    monkeypatch.setattr(click, "edit", lambda text, **_: None)
    assert "nothing changed" in run("edit", kept).stdout


def test_show_tells_everything(run: Run, data: Callable[..., Any], kept: str) -> None:
    other = data(
        "remember", "Ana owns billing.", "--source", "https://x.org", "--evidence", "Ana said", "--expires", "9d"
    )
    id = other["memory"]["id"]
    run("link", id, "related", kept, "--reason", "both are people things")
    out = run("show", id[-8:]).stdout
    for words in ("Ana owns billing.", id, "https://x.org", "“Ana said”", f"this related {kept[-8:]}", "expires"):
        assert words in out
    assert f"{id[-8:]} related this (both are people things)" in run("show", kept).stdout
    shown = data("show", id)
    assert shown["memory"]["accessed"] == 1
    assert shown["source"]["uri"] == "https://x.org"
    assert [quote["quote"] for quote in shown["evidence"]] == ["Ana said"]
    assert [link["target"] for link in shown["links"]] == [kept]


def test_list_pages_and_prints_the_next_command(run: Run, data: Callable[..., Any]) -> None:
    for number in range(5):
        run("remember", f"memory number {number}", "--tag", "t")
    first = run("list", "-n", "2", "--tag", "t").stdout
    command = first.split("more: recollect ")[1].split()
    assert command[:5] == ["list", "-n", "2", "--tag", "t"]
    second, third = data(*command), data(*command[:-1], data(*command)["cursor"])
    seen = [memory["content"] for page in (second, third) for memory in page["memories"]]
    assert len(seen) == 3
    assert third["cursor"] is None


def test_the_next_page_replaces_the_cursor() -> None:
    assert next_page(["list", "--cursor", "old", "-n", "2"], "new") == "recollect list -n 2 --cursor new"
    assert next_page(["list", "--cursor=old"], "new") == "recollect list --cursor new"
    assert next_page(["list"], None) == ""


def test_list_shows_what_was_set_aside_when_asked(run: Run, kept: str) -> None:
    run("forget", kept)
    assert "No memories here" in run("list").stdout
    assert "[archived] We deploy on Thursdays." in run("list", "--state", "any").stdout


def test_link_supersedes_and_says_so(run: Run, data: Callable[..., Any], kept: str) -> None:
    new = data("remember", "We deploy on Mondays.")["memory"]["id"]
    assert f"{new[-8:]} supersedes {kept[-8:]}" in run("link", new, "supersedes", kept).stdout
    assert [hit["memory"]["id"] for hit in data("recall", "deploy")["hits"]] == [new]
    assert data("link", new, "supersedes", kept)["relation"] == "supersedes"


def test_history_reads_like_a_story(run: Run, data: Callable[..., Any], kept: str) -> None:
    run("edit", kept, "--content", "We deploy on Mondays.", "--reason", "new rota")
    out = run("history", kept).stdout
    assert re.search(r"create +cli", out)
    assert re.search(r"edit .* — new rota", out)
    assert "content: We deploy on Thursdays. → We deploy on Mondays." in out
    assert [entry["operation"] for entry in data("history", kept)] == ["create", "edit"]


# -- the store --------------------------------------------------------------------------------------------------------


def test_stats_count(run: Run, data: Callable[..., Any], kept: str) -> None:
    assert re.search(r"memories +1\n", run("stats").stdout)
    assert data("stats")["by_kind"] == {"decision": 1}


def test_export_and_import_give_the_same_store(run: Run, data: Callable[..., Any], kept: str, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.db")
    assert f"✓ exported 1 memory to {file}" in run("export", "--output", str(file)).stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    piped = run("export", "--output", "-", "--journal")
    assert "exported 1 memory" in piped.stderr
    assert json.loads(piped.stdout.splitlines()[0])["type"] == "header"
    assert "✓ imported 1 memory" in run("--store", other, "import", "-", stdin=piped.stdout).stdout
    assert data("--store", other, "recall", "deploy")["hits"][0]["memory"]["id"] == kept
    assert data("--store", other, "import", str(file))["known"] == 1
    assert data("export", "--output", str(file)) == {"memories": 1, "path": str(file), "skipped": []}


def test_export_never_replaces_a_device_or_a_folder(run: Run, tmp_path: Path) -> None:
    for output, code, words in (
        ("/dev/stdout", 2, "is not a file"),
        (str(tmp_path), 2, "is not a file"),
        (str(tmp_path / "none" / "x"), 6, "cannot be written"),
    ):
        assert words in flat(run("export", "--output", output, code=code).stderr)


def test_import_names_the_line_that_is_wrong(run: Run, tmp_path: Path) -> None:
    assert "standard input, line 2" in run("import", "-", stdin='{"content": "a"}\n{"x": 1}\n', code=2).stderr
    assert "not UTF-8" in run("import", "-", stdin=b'{"content": "caf\xe9"}\n', code=2).stderr
    assert "cannot be read" in flat(run("import", str(tmp_path / "none.jsonl"), code=2).stderr)


def test_import_shows_what_it_did_not_know(run: Run) -> None:
    lines = '{"content": "one", "mood": "good"}\n{"text": "two", "project": "acme"}\n{"content": "ONE"}\n'
    out = run("import", "-", stdin=lines).stdout
    assert "imported 2 memories (1 said again)" in out
    assert "fields not known here: mood (1×)" in out


def test_embed_makes_the_vectors_that_are_missing(run: Run, data: Callable[..., Any]) -> None:
    run("import", "-", "--no-embed", stdin='{"content": "one"}\n{"content": "two"}\n')
    assert run("embed").stdout == "✓ 2 memories embedded\n"
    assert run("embed").stdout == "= nothing to embed\n"
    assert data("embed") == {"embedded": 0, "skipped": []}


def test_config_shows_values_sources_and_meanings(
    run: Run, data: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_RECALL_LIMIT", "7")
    out = run("config").stdout
    assert "recall_limit = 7  from RECOLLECT_RECALL_LIMIT" in out
    assert "How many memories recall returns by default" in out
    row = next(row for row in data("config")["settings"] if row["name"] == "recall_limit")
    assert (row["value"], row["source"]) == (7, "RECOLLECT_RECALL_LIMIT")
    assert run("config", "recall_limit").stdout == "7\n"
    assert run("config", "path").stdout == f"{tmp_path / 'home' / 'config.toml'}\n"
    assert "no setting 'colour'" in run("config", "colour", code=2).stderr


def test_version_in_three_ways(run: Run, data: Callable[..., Any]) -> None:
    assert run("--version").stdout == f"recollect {recollect.__version__}\n"
    assert run("version").stdout.startswith(f"recollect {recollect.__version__} (Python ")
    assert data("version").keys() == {"recollect", "python", "sqlite"}


def test_the_tour_shows_every_step_and_leaves_nothing(
    run: Run, data: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = run("tour").stdout
    for words in ("redacted", "known already", "supersedes", "history", "refused", "rejected", "recollect doctor"):
        assert words in out
    assert tour.FAKE_KEY not in out.replace(f'"The bot uses {tour.FAKE_KEY}"', "")
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert len(data("tour")["steps"]) == 11
    assert list(tmp_path.iterdir()) == []


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "error", "words"),
    [
        (["show", "zzzzzzzz"], 3, "not_found", "No memory has the id"),
        (["show", "not an id"], 3, "not_found", "is not an id"),
        (["history", "0" * 26], 3, "not_found", "No memory"),
        (["recall", "x", "--since", "soon"], 2, "bad_time", "soon"),
        (["recall", "x", "--since", "2026-13-01"], 2, "bad_time", "is not a day"),
        (["recall", "x", "--since", "2026-03-01T00:00:00"], 2, "bad_time", "has no time zone"),
        (["recall", "x", "--since", "2026-05-01", "--until", "2026-04-01"], 2, "bad_time", "is after until"),
        (["recall", ""], 2, "bad_input", "query is empty"),
        (["recall", "x", "-n", "0"], 2, "bad_input", "limit must be"),
        (["remember", "x", "--importance", "11"], 2, "bad_input", "from 1 to 10"),
        (["remember", "  "], 2, "bad_input", "content is empty"),
        (["remember"], 2, "bad_input", "content is empty"),
        (["remember", "x" * 70_000], 2, "too_large", "the limit is 65536"),
        (["remember", "x", "--kind", "mood"], 2, "usage", "mood"),
        (["remember", "caf\udce9"], 2, "bad_input", "not UTF-8"),
        (["list", "--cursor", "!"], 2, "bad_input", "cursor"),
        (["recal"], 2, "usage", "No such command"),
        (["recall", "x", "--nope"], 2, "usage", "No such option"),
        (["export"], 2, "usage", "--output"),
        (["--tenant", " ", "list"], 2, "bad_input", "tenant is empty"),
    ],
)
def test_errors_name_the_fix_and_have_their_code(run: Run, args: list[str], code: int, error: str, words: str) -> None:
    human = run(*args, code=code)
    assert human.stdout == ""
    assert human.stderr.startswith("error: ")
    assert "\nfix:   " in human.stderr
    told = run(*args, "--json", code=code)
    assert told.stdout == ""
    found = json.loads(told.stderr)["error"]
    assert found["code"] == error
    assert words in found["message"]
    assert found["fix"]


def test_a_short_id_that_fits_several_is_refused(
    run: Run, data: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter([1, 0x1234, 1 << 60 | 0x1234])  # a source and two memories
    monkeypatch.setattr("secrets.randbits", lambda bits: next(numbers))
    first, second = (data("remember", word)["memory"]["id"] for word in ("one", "two"))
    assert first[-8:] == second[-8:]
    assert "several ids" in run("show", first[-8:], code=3).stderr


def test_a_file_that_is_no_database_is_left_alone(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, and longer than a header of a hundred bytes would be. " * 3)
    before = file.read_bytes()
    assert "not a database" in flat(run("--store", str(file), "list", code=6).stderr)
    assert file.read_bytes() == before


def test_text_that_is_not_utf8_gives_a_clear_error(run: Run) -> None:
    error = run("remember", "-", stdin=b"caf\xe9", code=2).stderr
    assert "Standard input is not UTF-8 text (byte 4)" in error
    assert "iconv" in error


def test_a_byte_order_mark_is_not_part_of_the_text(data: Callable[..., Any]) -> None:
    assert data("remember", "-", stdin=b"\xef\xbb\xbfhello")["memory"]["content"] == "hello"


def test_a_broken_settings_file_is_an_error_with_a_fix(run: Run, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("recall_limit = ")
    assert "is not valid TOML" in flat(run("list", code=2).stderr)


# -- real processes ---------------------------------------------------------------------------------------------------


def test_everything_lies_in_one_folder_that_is_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "elsewhere"
    environment = {"RECOLLECT_HOME": str(home), "HOME": str(tmp_path / "nobody")}
    assert shell("remember", "-", stdin=b"piped in", environment=environment).returncode == 0
    assert shell("recall", "piped", environment=environment).returncode == 0
    assert not (tmp_path / "nobody").exists()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in home.iterdir()} == {
        "recollect.db": 0,
        "recollect.db.head": 0,
    }


def loaded_by(*words: str) -> set[str]:
    """The modules that a command loads."""
    command = [sys.executable, "-X", "importtime", "-m", "recollect", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


HEAVY = {"numpy", "onnxruntime", "tokenizers", "mcp"}


def test_help_loads_no_command_and_no_heavy_library() -> None:
    loaded = loaded_by("--help")
    assert "click" in loaded
    assert loaded & {*HEAVY, "apsw", "recollect.engine", "recollect.settings", "recollect.store"} == set()
    assert loaded & {f"recollect.cli.{one.run.partition('.')[0]}" for one in commands().values() if one.run} == set()
    assert not {name for name in loaded if name.startswith("recollect.ops.")} - {
        "recollect.ops.catalogue", "recollect.ops.operation", "recollect.ops.parameters"
    }  # fmt: skip


def test_the_contents_say_what_the_commands_say_themselves() -> None:
    told = {name: line for section in contents().values() for name, line in section.items()}
    assert told == {name: one.get_short_help_str(70) for name, one in cli.commands.items()}


def test_a_cached_answer_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "default")
    assert shell("remember", "Ana owns the billing service.").returncode == 0
    question = ("ask", "Who owns the billing service?", "--json")
    assert not json.loads(shell(*question).stdout)["cached"]
    assert any(json.loads(shell(*question).stdout)["cached"] for _ in range(4))
    assert loaded_by(*question) & HEAVY == set()


def test_errors_of_a_real_process_have_no_traceback(tmp_path: Path) -> None:
    for args, stdin, code in (
        (["show", "zzzzzzzz"], b"", 3),
        (["remember", "-"], b"\xff\xfe", 2),
        (["--store", str(tmp_path), "list"], b"", 6),
        (["import", "-"], b"{", 2),
        (["forget", "--query", "x", "--purge"], b"", 0),
    ):
        done = shell(*args, stdin=stdin)
        assert (done.returncode, b"Traceback" in done.stderr) == (code, False), (args, done.stderr)


def test_a_closed_standard_input_is_an_empty_one() -> None:
    command = f"{sys.executable} -m recollect remember - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (done.returncode, b"content is empty" in done.stderr) == (2, True)


def test_a_reader_that_leaves_early_is_no_error() -> None:
    for number in range(30):
        assert CliRunner().invoke(cli, ["remember", f"memory {number} " + "word " * 500]).exit_code == 0
    command = f"{sys.executable} -m recollect list --json -n 30 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"{\n", b"")


def test_output_that_cannot_be_encoded_is_replaced(kept: str) -> None:
    done = shell("recall", "deploy", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"We deploy on Thursdays." in done.stdout
    as_json = shell("recall", "deploy", "--json", environment={"PYTHONIOENCODING": "ascii"})
    assert "·" in json.loads(as_json.stdout)["hits"][0]["why"]


def test_an_interruption_is_130(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(recollect.Engine, "stats", interrupted)
    run("stats", code=130)


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(run: Run, data: Callable[..., Any], shell_name: str) -> None:
    assert "_RECOLLECT_COMPLETE" in run("completion", shell_name).stdout
    assert data("completion", shell_name)["shell"] == shell_name


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_completion_works_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "recollect"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m recollect "$@"\n')
    program.chmod(0o755)
    script = (
        "source <(recollect completion bash); COMP_WORDS=(recollect rem); COMP_CWORD=1; "
        '_recollect_completion recollect; echo "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout.strip(), done.stderr) == ("remember", "")
