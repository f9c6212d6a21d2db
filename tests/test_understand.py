"""Understanding a question: hints, phrases, identifiers and other words for it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.language import tables
from recollect.recall import lexicon
from recollect.recall.understand import (
    MAX_IDENTIFIERS,
    MAX_REWRITTEN,
    MAX_VALUES,
    MAX_VARIANTS,
    Understood,
    understand,
    variants,
)
from recollect.types import KINDS

NOW = datetime(2026, 2, 18, 12, tzinfo=UTC)


def ask(text: str) -> Understood:
    return understand(text, NOW)


@pytest.mark.parametrize(
    ("said", "text", "hints"),
    [
        ("project:shop why pnpm?", "why pnpm?", {"project": ("shop",)}),
        ("why pnpm project:shop", "why pnpm", {"project": ("shop",)}),
        ("why project:shop pnpm", "why pnpm", {"project": ("shop",)}),
        ("Project:Shop why", "why", {"project": ("Shop",)}),
        ('project:"my shop" why', "why", {"project": ("my shop",)}),
        ("kind:decision why", "why", {"kind": ("decision",)}),
        ("type:Decisions why", "why", {"kind": ("decision",)}),
        ("kind:anti-pattern retries", "retries", {"kind": ("anti-pattern",)}),
        ("tag:auth tag:perf tag:auth why", "why", {"tag": ("auth", "perf")}),
        ("#auth why slow, #perf", "why slow,", {"tag": ("auth", "perf")}),
        ("tag:auth,tag:perf why", "why", {"tag": ("auth", "perf")}),
        ("user:anna session:s-1 what", "what", {"user": ("anna",), "session": ("s-1",)}),
        ("branch:feature/login what", "what", {"branch": ("feature/login",)}),
        ("what about it, branch:main?", "what about it, ?", {"branch": ("main",)}),
    ],
)
def test_hints_are_taken_out_of_the_text(said: str, text: str, hints: dict[str, tuple[str, ...]]) -> None:
    found = ask(said)
    assert (found.text, found.hints) == (text, hints)


@pytest.mark.parametrize(
    "said",
    [
        "user: anna", "std::string", "type::name", "at 12:30", "http://project:80/x", "https://a.b/tag:c", "type:int",
        "kind:unknown", "project:http://x.y", "tag:a/b", "project:/etc/x", "myproject:x", "project:", "project:x:y",
        "user:@anna", "C# code", "#include <x>", "#fff", "#12", "issue#tag", "# heading", '"project:shop"',
        "`tag:auth`", "colour:red", "file.py:12", "localhost:8080", "{user:anna}", "a:b", "mailto:a@b.c", "user:-",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_hint_is_text(said: str) -> None:
    for text in (said, f"why {said} now"):
        found = ask(text)
        assert (found.text, found.hints) == (text, {})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_memory_can_be_asked_for(kind: str) -> None:
    assert ask(f"kind:{kind} x").hints == {"kind": (kind,)}


@pytest.mark.parametrize(
    ("said", "phrases"),
    [
        ('find "blue green" and "canary"', ("blue green", "canary")),
        ("find “blue green”", ("blue green",)),
        ("the 'Run for the Cure' event", ("Run for the Cure",)),
        ("read 'The Hitchhiker's Guide' again", ("The Hitchhiker's Guide",)),
        ("it isn't Anna's", ()),
        ("the users' guides aren't 'done", ()),
        ('an empty "" and an open "quote', ()),
        ('twice "a b" and "a b"', ("a b",)),
    ],
)
def test_quoted_phrases_stay_whole(said: str, phrases: tuple[str, ...]) -> None:
    found = ask(said)
    assert found.phrases == phrases
    assert found.text == said


@pytest.mark.parametrize(
    "name",
    [
        "getUserName", "HttpServer", "snake_case", "__init__", "MAX_SIZE", "src/a.py", "./run.sh", "/etc/hosts",
        "~/.config/x",
        "a.py", "os.path", "std::string", "E1234", "TS2322", "ADR-005", "incident-123", "CVE-2024-1234", "v1.2.3", "v2",
        "3.11", "2.0.0-rc.1", "--flag", "--dry-run", "ENOENT", "ECONNREFUSED", "#123", "deadbe7", "@scope/pkg",
        "https://a.b/c?d=e", "NullPointerException",
    ],
)  # fmt: skip
def test_names_codes_and_versions_stay_whole(name: str) -> None:
    for said in (name, f"why does {name} fail?", f"see ({name}), please", f"{name}: broken", f"in {name}."):
        assert ask(said).identifiers == (name,)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("we got HTTP 502 twice", ("HTTP 502",)),
        ("what calls parse() first", ("parse",)),
        ("the `weird name` and `thing`", ("thing",)),
        ("plain words only, and 2026-03-01 or 500 errors", ()),
        ("A sentence. Another one, e-mail and well-known things", ()),
    ],
)
def test_other_identifiers(said: str, names: tuple[str, ...]) -> None:
    assert ask(said).identifiers == names


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("k8s setup", "kubernetes setup"),
        ("Kubernetes setup", "k8s setup"),
        ("which db in prod?", "which database in production?"),
        ("auth flow", "authentication flow"),
        ("the PR, please", "the pull request, please"),
        ("open pull requests", "open prs"),
        ("two repos", "two repositories"),
        ("it ran out of memory", "it ran oom"),
        ("ci is red", "continuous integration is red"),
        ("tmp files", "temporary files"),
        ('db of "db"', 'database of "db"'),
        ("(pg)", "(postgres)"),
        ("c# or c++?", "csharp or cpp?"),
    ],
)
def test_the_first_variant_uses_the_closest_words(said: str, first: str) -> None:
    assert ask(said).variants[0] == first


@pytest.mark.parametrize(
    "said",
    [
        "hello world",
        "",
        "db_name and src/db/x",
        "`db`",
        '"db"',
        "temporary files",
        "the db is a database",
        "it has no elements",
    ],
)
def test_nothing_is_said_in_other_words_where_nothing_applies(said: str) -> None:
    assert ask(said).variants == ()


def test_variants_are_few_distinct_and_not_the_text_itself() -> None:
    said = "deploy the auth config to prod k8s with ci, then perf"
    found = variants(said)
    assert 1 < len(found) <= MAX_VARIANTS
    assert len({said, *found}) == len(found) + 1
    assert variants("db " * MAX_REWRITTEN) == ()


def test_a_caller_adds_words_and_theirs_come_first() -> None:
    own = {"Billing Engine": ["BE2", "ledger"], "db": ["Spanner"]}
    assert understand("the billing engine", NOW, own).variants == ("the be2", "the ledger")
    assert understand("the ledger", NOW, own).variants[0] == "the billing engine"
    assert understand("the db", NOW, own).variants == ("the spanner", "the database")
    assert understand("the db", NOW).variants == ("the database",)


def test_the_lexicon_is_broad_folded_and_never_offers_a_word_for_itself() -> None:
    assert len(tables.lines("synonyms", "developers")) >= 120
    for term, others in lexicon.BUILT_IN.items():
        assert term == term.casefold() == " ".join(term.split())
        assert others
        assert term not in others
    for ambiguous in ("go", "c", "cd", "ms", "key", "state", "test", "run", "be", "in", "to", "do", "is", "it"):
        assert ambiguous not in lexicon.BUILT_IN


def test_everything_is_understood_at_once() -> None:
    anchors = {"the release": datetime(2026, 2, 10, tzinfo=UTC)}
    found = understand(
        'project:shop #auth "blue green" db errors in src/a.py since the release', NOW, anchor=anchors.get
    )
    assert found.when is not None
    assert found.when.words == "since the release"
    assert found.hints == {"project": ("shop",), "tag": ("auth",)}
    assert found.text == '"blue green" db errors in src/a.py since the release'
    assert found.phrases == ("blue green",)
    assert found.identifiers == ("src/a.py",)
    assert found.variants[0] == '"blue green" database errors in src/a.py since the deploy'


PIECES = (
    'project:a kind:fact kind:x tag:b #c # : " “ ” ` , ; . user:"q r" last week db k8s getX a/b \' 12:30 -- \n'.split(
        " "
    )
)
mixed = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "  ", ",", "\n"])), max_size=16).map(
    lambda pairs: "".join(piece + gap for piece, gap in pairs)
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=300), mixed))
def test_any_text_is_understood_within_the_limits_and_hints_go_at_once(said: str) -> None:
    found = ask(said)
    again = ask(found.text)
    assert (again.text, again.hints) == (found.text, {})
    assert all(phrase in found.text for phrase in found.phrases)
    assert len(found.phrases) <= MAX_VALUES
    assert len(found.identifiers) <= MAX_IDENTIFIERS
    assert len(found.variants) <= MAX_VARIANTS
    assert all(len(values) <= MAX_VALUES for values in found.hints.values())


@settings(deadline=None)
@given(st.text(max_size=200))
def test_a_text_without_hints_stays_as_it_is(said: str) -> None:
    if ":" not in said and "#" not in said:
        assert ask(said).text == said.strip()


@pytest.mark.parametrize(
    "unit",
    ["1", "last ", '"', "'", "'a ", "“", "`", "project:", "project:a ", "#a ", "a-1", "a/", "_a", "::", "db ", "a."],
)
def test_time_is_linear_in_the_text_whatever_the_text(unit: str) -> None:
    began = time.process_time()
    ask((unit * 16384)[:16384])
    assert time.process_time() - began < 1.5
