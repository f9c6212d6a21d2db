"""What capture keeps, forbids and sets right: requests, replies, corrections, repetition, answers through tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import Clock
from recollect import Engine
from recollect.capture import durable, pipeline
from recollect.capture.durable import Durability, InContext, Judged
from recollect.capture.transcripts import Talk
from recollect.cli import cli
from recollect.models.relation import Relation, relation
from recollect.types import Captured, Message, Scope

SHOP = Scope(project="shop")


def say(memory: Engine, *said: str, session: str = "s1", before: str = "") -> Captured:
    talk = [Message("assistant", before)] if before else []
    return memory.capture([*talk, *(Message("user", one) for one in said)], session=session, scope=SHOP)


def known(memory: Engine, state: str = "active") -> list[str]:
    found = memory.list(scope=SHOP, states=(state,)).memories
    return sorted(one.content for one in found if one.kind != "turn")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Please remember that staging runs Debian 12.", "Staging runs Debian 12."),
        ("Merk dir: Tests laufen nur mit make check.", "Tests laufen nur mit make check."),
        ("Souviens-toi que le port est 8443.", "Le port est 8443."),
        ("Recuerda que usamos pnpm.", "Usamos pnpm."),
        ("Lembre-se: usamos Postgres 16.", "Usamos Postgres 16."),
        ("记住: 测试用 pytest。", "测试用 pytest。"),
        ("デプロイは木曜日だと覚えておいてください。", "デプロイは木曜日だ"),
    ],
)
@pytest.mark.fitted
def test_what_somebody_asks_to_remember_is_kept_in_seven_languages(memory: Engine, said: str, kept: str) -> None:
    say(memory, said)
    assert [one.rstrip("。.") for one in known(memory)] == [kept.rstrip("。.")]
    assert memory.list(scope=SHOP, tags=("asked-for",)).memories


@pytest.mark.parametrize(
    "said",
    [
        "Use port 9000 for the gateway for now.", "Vielleicht nutzen wir Kafka für die Rechnungen.",
        "Imagine we had three data centres in Europe.", "Pretend you are a pirate who owns the gateway.",
        "Does the gateway listen on port 9000?", "It takes nine seconds to start.",
    ],
)  # fmt: skip
def test_rules_only_forbid(memory: Engine, said: str) -> None:
    say(memory, said)
    assert known(memory) == known(memory, "pending") == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I think we should keep the helpers in two files.", True),
        ("It would be nice to have dark mode.", False),
        ("Ich glaube, wir sollten pnpm nutzen.", True),
        ("I think the cache is full.", False),
        ("I think we should maybe keep the helpers in two files.", False),
    ],
)
def test_a_wish_may_be_polite_and_a_fact_may_not_be_hedged(
    memory: Engine, monkeypatch: pytest.MonkeyPatch, said: str, kept: bool
) -> None:
    monkeypatch.setattr(durable.Durability, "judge", lambda _, some: [Judged(0.9, "decision") for _ in some])
    say(memory, said)
    assert known(memory) == ([said] if kept else [])


def test_a_question_in_the_same_breath_keeps_no_statement_out(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable.Durability, "judge", lambda _, some: [Judged(0.9, "fact") for _ in some])
    say(memory, "The nightly tests take nine minutes, can you split them?")
    limited = "We deploy the shop on Thursdays at noon - but not in December when it is full."
    say(memory, limited, session="s2")
    assert known(memory) == ["The nightly tests take nine minutes", limited]


def test_a_short_reply_is_kept_with_the_question_that_it_answers(memory: Engine) -> None:
    say(memory, "1. yes, for everybody 2. postgres, version 16", before="1. Do you need accounts?\n2. Which database?")
    say(memory, "both of them", before="Shall I lint tests or sources?", session="s2")
    say(memory, "1. no, trials don't count", before="1. Should members who paused keep it?", session="s3")
    assert known(memory) == [
        "Do you need accounts? Yes, for everybody",
        "Shall I lint tests or sources? Both of them",
        "Should members who paused keep it? No, trials don't count",
        "Which database? Postgres, version 16",
    ]


@pytest.mark.parametrize("kind", ["procedure", "decision"])
def test_an_option_that_was_turned_down_is_recorded_so(
    memory: Engine, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(durable.Durability, "judge", lambda _, some: [Judged(0.9, kind) for _ in some])
    say(memory, "We do not deploy with Ansible any more.")
    say(memory, "no, not in this project", before="Shall I cache sessions in Redis?", session="s2")
    say(memory, "We deploy with make release.", session="s3")
    found = memory.list(scope=SHOP, kinds=("decision", "procedure")).memories
    told = {one.content: (one.kind, "rejected" in one.tags) for one in found}
    assert told["We do not deploy with Ansible any more."] == ("decision", True)
    assert told["Shall I cache sessions in Redis? No, not in this project"] == ("decision", True)
    assert told["We deploy with make release."] == (kind, False)


def test_a_correction_ends_what_was_said_in_the_same_session_and_in_others(memory: Engine, clock: Clock) -> None:
    say(memory, "Remember: use yarn for this.")
    say(memory, "No, use pnpm for this.")
    assert known(memory) == ["Use pnpm for this."]
    say(memory, "Remember: the gateway times out after 30 seconds.", session="s2")
    clock.forward(days=1)
    say(memory, "Wait sorry, I was wrong: the gateway times out after 60 seconds.", session="s3")
    assert known(memory) == ["The gateway times out after 60 seconds.", "Use pnpm for this."]


def test_what_is_said_in_three_sessions_is_a_preference(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable.Durability, "judge", lambda _, some: [Judged(0.2, "fact") for _ in some])
    said = [say(memory, "I'll run the server myself.", session=f"s{number}").findings for number in range(3)]
    assert said[:2] == [(), ()]
    assert [(one.action, one.kind) for one in said[2]] == [("created", "preference")]


def test_of_every_other_session_one_statement_is_read(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a pair takes ten milliseconds, and a turn may be compared with twenty others of many statements."""
    monkeypatch.setattr(durable.Durability, "judge", lambda _, some: [Judged(0.2, "fact") for _ in some])
    for number in range(3):
        say(memory, *(f"The server {word} by hand today." for word in ("starts", "stops")), session=f"s{number}")
    read: list[str] = []

    def counted(a: str, b: str) -> Relation:
        read.append(a)
        return relation(a, b)

    monkeypatch.setattr(pipeline, "relation", counted)
    say(memory, "The server is started by hand.", "Nothing here is alike at all, not a single word.", session="s4")
    assert 0 < len(read) <= 3


@pytest.mark.fitted
def test_the_fitted_decision_tells_a_fact_from_an_errand() -> None:
    texts = [
        "We use pnpm because npm is slow.",
        "Never push to main without asking me.",
        "Fix the login bug.",
        "run the tests",
    ]
    judged = Durability().judge([InContext(text, turn=text) for text in texts])
    assert min(one.probability for one in judged[:2]) > 2 * max(one.probability for one in judged[2:])


def test_an_answer_through_a_tool_is_the_users_word() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": 'User has answered your questions: "Which port?"="8080".',
    }
    record = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": [result]}}
    [said] = Talk().read([json.dumps(record).encode()])
    assert (said.speaker, said.text) == ("user", "Which port? 8080")


@pytest.mark.fitted
def test_explain_says_why_and_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "Remember: we use pnpm. Why is it slow?"}) + "\n", "utf-8")
    told = CliRunner().invoke(cli, ["capture", "--explain", str(path)])
    assert told.exit_code == 0, told.output
    assert "kept as" in told.output
    assert "not kept: it asks, and states nothing" in told.output
