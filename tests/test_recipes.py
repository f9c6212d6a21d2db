"""Recipes: each keeps the formula of the system it stands for, to the third decimal."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import recollect
from conftest import START, Clock, Opener
from recollect import BadInput, Scope, rank
from recollect.models.embedder import Role
from recollect.recall.recipes import RECIPES
from recollect.vectors import Floats


class Told:
    """An embedder that is told every cosine to the question: a text `… =0.83` lies at that cosine from it."""

    model, dimension = "told/1", 64

    def warm(self) -> None:
        return None

    def embed(self, texts: list[str], role: Role) -> Floats:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
            cosine = 1.0 if role == "query" else float(text.split("=")[1].split()[0]) if "=" in text else 0.0
            row[0], row[1 + number % 60] = cosine, math.sqrt(1 - cosine * cosine)
        return rows


@pytest.fixture
def told(opened: Opener) -> recollect.Engine:
    return opened(embedder=Told())


def scores(found: recollect.Recall) -> dict[str, float]:
    return {hit.memory.content.split()[0]: hit.score for hit in found}


def test_conversation_decides_by_relevance_and_orders_by_age_and_importance(opened: Opener) -> None:
    memory = opened(embedder="default")
    old = ["captured"]
    memory.remember(
        "Ana Ruiz owns the billing service.", importance=1, tags=old, valid_from=START - timedelta(days=900)
    )
    memory.remember("Billing listens on port 7610.", importance=10)
    (only,) = memory.recall("who owns the billing service?", recipe="conversation").hits
    assert only.memory.content.startswith("Ana")  # neither old nor unimportant is a reason to stay silent
    memory.remember("Ben Lee owns the billing service together with Ana.", importance=9)
    found = memory.recall("who owns the billing service?", recipe="conversation").hits
    assert [hit.memory.content.split()[0] for hit in found] == ["Ben", "Ana"]


def test_conversation_gives_five_hundred_tokens_at_most(told: recollect.Engine) -> None:
    told.remember_many([f"note{n} =0.9 " + "words of the day " * 20 for n in range(30)])
    found = told.recall("anything", recipe="conversation", limit=30)
    assert 300 < found.tokens <= 500


def test_hybrid_is_seven_tenths_vector_and_three_tenths_keyword(told: recollect.Engine) -> None:
    told.remember("one =0.98 zebra")
    told.remember("two =0.5 zebra zebra zebra")
    told.remember("three =0.92")
    told.remember_many([f"filler{n} =0.5 of no use" for n in range(10)])
    found = told.recall("zebra", recipe="hybrid", limit=20)
    cosines = {"one": 0.98, "two": 0.5, "three": 0.92, **{f"filler{n}": 0.5 for n in range(10)}}
    distances = {name: math.sqrt(2 - 2 * cosine) for name, cosine in cosines.items()}
    reach = max(2 * max(distances.values()), 2)
    words = {hit.memory.content.split()[0]: hit.arms["text"] for hit in found if "text" in hit.arms}
    span = max(words.values()) - min(words.values())
    for name, score in scores(found).items():
        keyword = (words[name] - min(words.values())) / span if name in words else 0.0
        assert score == pytest.approx(0.7 * (1 - distances[name] / reach) + 0.3 * keyword, abs=1e-3)


def test_session_start_adds_vector_keyword_and_prominence_each_as_a_part_of_its_best(
    told: recollect.Engine, clock: Clock
) -> None:
    told.remember("one =0.8 zebra", confidence=1.0)
    told.remember("two =0.4", confidence=0.5)
    for _ in range(3):
        told.remember("two =0.4")
    found = told.recall("zebra", recipe="session_start")
    prominent = {"one": rank.prominence(1, 4, 1.0, 0, 0), "two": rank.prominence(4, 4, 0.5, 0, 0)}
    most = max(prominent.values())
    wanted = {
        "one": 0.5 * 1.0 + 0.2 * 1.0 + 0.3 * prominent["one"] / most,
        "two": 0.5 * 0.5 + 0.3 * prominent["two"] / most,
    }
    assert scores(found) == {name: pytest.approx(score, abs=1e-3) for name, score in wanted.items()}


def test_the_weight_of_a_signal_that_found_nothing_goes_to_the_others(told: recollect.Engine) -> None:
    told.remember("one =0.8")
    told.remember("two =0.4")
    found = scores(told.recall("unrelated", recipe="session_start"))
    assert found["one"] == pytest.approx((0.5 + 0.3) / 0.8, abs=1e-3)
    assert found["two"] == pytest.approx((0.5 * 0.5 + 0.3) / 0.8, abs=1e-3)


def test_without_vectors_session_start_goes_by_words_and_prominence(opened: Opener) -> None:
    memory = opened(embedder="off")
    memory.remember("one zebra")
    found = memory.recall("zebra", recipe="session_start")
    assert found.hits[0].score == pytest.approx(1.0)
    assert found.skipped == ("vector: switched off (embedder = off)",)


def test_deep_adds_reciprocal_ranks_with_sixty(told: recollect.Engine) -> None:
    told.remember("one =0.9 zebra")
    told.remember("two =0.8")
    found = told.recall("zebra", recipe="deep", effort="fast")
    raw = {"one": 1 / 61 + 1 / 61, "two": 1 / 62}
    wanted = rank.stretch(raw)
    assert scores(found) == {name: pytest.approx(score, abs=1e-3) for name, score in wanted.items()}


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting that asks for a reranker, made before a store is opened."""
    monkeypatch.setenv("RECOLLECT_RERANKER", "late")


def test_deep_gives_five_and_names_a_reranker_that_is_missing(late: None, told: recollect.Engine) -> None:
    told.remember_many([f"note{n} =0.{n + 10} zebra" for n in range(20)])
    found = told.recall("zebra", recipe="deep")
    assert len(found) == 5
    assert any(line.startswith("reranker:") for line in found.skipped)


def test_an_unknown_recipe_is_refused_with_the_names_of_the_known(told: recollect.Engine) -> None:
    with pytest.raises(BadInput) as caught:
        told.recall("x", recipe="secret")
    assert all(name in caught.value.fix for name in RECIPES)


# -- acceptance: the session-start system's own criteria --------------------------------------------------------------


def test_eighteen_of_twenty_close_entries_come_among_the_first_twenty_five(told: recollect.Engine) -> None:
    told.remember_many([f"parser{n} =0.{80 + n % 15} " for n in range(20)])
    told.remember_many([f"other{n} =0.{10 + n % 19} " for n in range(30)])
    found = told.recall("building a file parser", recipe="session_start", limit=25)
    assert sum(name.startswith("parser") for name in scores(found)) >= 18


def test_each_category_has_at_least_three_of_nine_places(told: recollect.Engine) -> None:
    for number, kind in enumerate(("pattern", "anti-pattern", "heuristic")):
        told.remember_many([recollect.Draft(f"{kind}{n} =0.{95 - 30 * number}", kind=kind) for n in range(12)])
    found = told.recall("anything", recipe="session_start", limit=9)
    kinds = [hit.memory.kind for hit in found]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"pattern": 3, "anti-pattern": 3, "heuristic": 3}


PARSER = [
    "The tokenizer must keep line numbers so that syntax errors can be reported.",
    "Read real file samples when parsing; the spec lies.",
    "Recover from a malformed record by skipping to the next newline.",
    "A recursive descent parser was easier to extend than the regex.",
    "CSV fields may contain quoted line breaks; split after quoting is resolved.",
    "Always detect the byte order mark before reading a text file.",
    "Grammar ambiguities were solved by longest match first.",
    "The YAML loader must be the safe one, or files can run code.",
    "Stream large files instead of reading them whole into memory.",
    "Unknown fields in the input are kept and reported, never dropped.",
    "Dates in log files come in four formats; try them in a fixed order.",
    "Error messages of the reader name the column and show the line.",
    "Unterminated strings should be reported at their opening quote.",
    "JSON numbers lose precision above 2^53 when read as floats.",
    "Markdown tables are parsed line by line with a small state machine.",
    "The lexer treats tabs as one column, editors do not.",
    "Validate the header of the file before trusting its length field.",
    "The XML reader refuses external entities.",
    "An empty input file is valid and yields no records.",
    "Nested brackets deeper than 200 are refused to protect the stack.",
]
DEPLOYMENT = [
    f"Deployment note {n}: {what}"
    for n, what in enumerate(
        (
            "canary releases take ten minutes per step",
            "rollbacks use the previous image tag",
            "the cluster is upgraded on Tuesdays",
            "helm values live beside the chart",
            "secrets are mounted, never baked into images",
            "staging mirrors production at a tenth",
            "health checks need a start-up delay",
            "blue and green share one database",
            "terraform state is locked in S3",
            "pods without limits are refused",
            "the CDN is purged after each release",
            "database migrations run before the roll-out",
            "two approvals are needed for production",
            "releases stop on Friday afternoon",
            "the load balancer drains for thirty seconds",
            "autoscaling looks at queue length",
            "images are signed before they are pushed",
            "each region is deployed in turn",
            "feature flags are removed after a month",
            "on-call is told before a big roll-out",
        )
    )
]
TESTING = [
    f"Testing note {n}: {what}"
    for n, what in enumerate(
        (
            "flaky tests are quarantined for a week",
            "fixtures must not touch the network",
            "coverage is measured on merged branches",
            "slow suites run at night",
            "mocks of our own code are forbidden",
            "browser tests run headless",
            "seeds are printed on failure",
            "snapshot tests need a reviewer",
            "load tests use recorded traffic",
            "property tests found the rounding bug",
        )
    )
]


def test_a_session_about_parsers_gets_the_parser_entries_with_the_real_model(opened: Opener) -> None:
    memory = opened(embedder="default")
    for kind, notes in (("pattern", PARSER), ("heuristic", DEPLOYMENT), ("anti-pattern", TESTING)):
        memory.remember_many([recollect.Draft(note, kind=kind) for note in notes])
    found = memory.recall("building a file parser with error handling", recipe="session_start", limit=25)
    assert sum(hit.memory.content in PARSER for hit in found) >= 15


def test_a_wifi_problem_finds_network_configuration_with_the_real_model(opened: Opener) -> None:
    memory = opened(embedder="default")
    # Of middling importance: 3 of 5 there is 6 of 10 here.
    memory.remember("The router's network configuration was reset: the access point now uses channel 11.", importance=6)
    memory.remember_many([*DEPLOYMENT, *TESTING])
    assert any("network configuration" in hit.memory.content for hit in memory.recall("WiFi problem", limit=3))
    assert memory.recall("WiFi problem", recipe="conversation").hits[0].memory.content.startswith("The router")


def test_standing_rules_come_without_a_shared_word_and_within_their_budget(opened: Opener) -> None:
    memory = opened()
    memory.remember("Answer in British English.", kind="preference", scope=Scope(user="ana"), importance=9)
    memory.remember("Never push to main.", kind="rule", scope=Scope(project="web"), importance=10)
    memory.remember("Use tabs.", kind="rule", scope=Scope(project="api"))
    memory.remember_many(
        [recollect.Draft(f"Rule {n} of little weight.", kind="rule", importance=1) for n in range(100)]
    )
    text = memory.context("how does the retry queue work?", scope=Scope(user="ana", project="web"), budget=1200).text
    assert "British English" in text
    assert "Never push to main" in text
    assert "Use tabs" not in text


# -- recipes of one's own, and the settings of what hooks tell --------------------------------------------------------


def with_config(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)
    monkeypatch.setenv("RECOLLECT_HOME", str(folder))


def test_a_recipe_of_ones_own_weighs_the_arms_as_its_table_says(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_config(
        monkeypatch, tmp_path / "own",
        "[recipe.mine]\narms = { text = 0.25, vector = 0.75 }\nscale = 'distance'\nweigh = 'none'\nlimit = 2\n"
        "[recipe.words]\narms = { text = 1 }\n",
    )  # fmt: skip
    memory = opened(embedder=Told())
    memory.remember_many(["near =0.9 ", "zebra =0.2 ", "far =0.1 "])
    mine = memory.recall("zebra", recipe="mine")
    assert len(mine) == 2
    assert scores(mine)["near"] == pytest.approx(0.75 / 1.2, abs=1e-3)
    assert list(scores(mine)) == ["zebra", "near"]
    assert list(scores(memory.recall("zebra", recipe="words"))) == ["zebra"]
    with pytest.raises(BadInput) as caught:
        memory.recall("zebra", recipe="other")
    assert "mine, words" in caught.value.fix


def test_a_recall_that_names_no_recipe_takes_the_usual_one(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_config(monkeypatch, tmp_path / "own", "recall_recipe = 'words'\n[recipe.words]\narms = { text = 1 }\n")
    memory = opened(embedder=Told())
    memory.remember_many(["near =0.9 ", "zebra =0.2 "])
    assert list(scores(memory.recall("zebra"))) == ["zebra"]
    assert set(scores(memory.recall("zebra", recipe="hybrid"))) == {"near", "zebra"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[recipe.mine]\n", "no arms"),
        ("[recipe.mine]\narms = { smell = 1 }\n", "arm 'smell'"),
        ("[recipe.mine]\narms = { text = -1 }\n", "text must be a number"),
        ("[recipe.mine]\narms = { text = 1 }\nspeed = 2\n", "no field 'speed'"),
        ("[recipe.mine]\narms = { text = 1 }\nscale = 'large'\n", "scale"),
        ("[recipe.mine]\narms = { text = 1 }\nlimit = 1.5\n", "limit must be a whole number"),
        ("[recipe.default]\narms = { text = 1 }\n", "there already"),
        ("recipe = 'mine'\n", "table of tables"),
        ("recall_recipe = 'mine'\n", "'mine' is not known"),
        ("inject_threshold = 1.2\n", "inject_threshold"),
        ("inject = 'maybe'\n", "inject 'maybe'"),
        ("access_log = 'maybe'\n", "access_log 'maybe'"),
        ("answers = 'maybe'\n", "answers 'maybe'"),
    ],
)
def test_a_table_that_is_wrong_says_what_is(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, said: str
) -> None:
    with_config(monkeypatch, tmp_path / "own", table)
    with pytest.raises(BadInput, match=said):
        opened()


def test_the_threshold_of_what_hooks_tell_is_that_of_the_recipe_conversation(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(least: str) -> int:
        monkeypatch.setenv("RECOLLECT_INJECT_THRESHOLD", least)
        memory = opened(embedder="default")
        memory.remember_many([
            "Ana Ruiz owns the billing service.", "Ben Lee owns the billing service too.",
            "The logo is blue and green.",
        ])  # fmt: skip
        return len(memory.recall("who owns the billing service?", recipe="conversation"))

    assert [found(least) for least in ("0", "0.6", "1")] == [3, 2, 0]


def test_the_access_log_tells_who_asked_what_and_how_it_scored_and_forgets_what_is_purged(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_ACCESS_LOG", "on")
    memory = opened()
    kept = memory.remember("The door code of the cellar is four nines.")
    score = memory.recall("The door code of the cellar is four nines. " + "gh" + "p_" + "a1B2" * 9).hits[0].score
    path = memory.settings.home / "spool" / "access.jsonl"
    (line,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert (line["actor"], line["way"], line["hits"]) == (
        "test",
        "recall",
        [{"memory": kept.id, "score": round(score, 4)}],
    )
    assert "four nines" in line["query"]
    assert "a1B2" not in line["query"]
    assert path.stat().st_mode & 0o777 == 0o600
    memory.forget(kept.id, purge=True)
    assert "four nines" not in path.read_text()
    monkeypatch.setenv("RECOLLECT_ACCESS_LOG", "off")
    size = path.stat().st_size
    opened().recall("anything")
    assert path.stat().st_size == size
