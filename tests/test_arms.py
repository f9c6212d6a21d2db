"""The arms and the choice: links, time, hints, variants, what was shown, twins, and an answer that explains itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import START, Clock, Opener
from recollect import Draft, Scope
from recollect.recall.recipes import RECIPES, Recipe
from recollect.recall.select import Scored, balanced, select, spread


def contents(found: recollect.Recall) -> list[str]:
    return [hit.memory.content for hit in found]


def test_what_is_linked_to_a_hit_comes_along_and_says_so(memory: recollect.Engine) -> None:
    cause = memory.remember("Connections leaked in the pool.")
    outage = memory.remember("The zebra outage took checkout down for an hour.")
    memory.remember_many([f"An unrelated remark number {n}." for n in range(40)])
    memory.link(outage.id, "caused_by", cause.id)
    found = memory.recall("zebra outage checkout", limit=40)
    hit = next(hit for hit in found if hit.memory.id == cause.id)
    assert hit.arms["links"] > 0
    assert "linked to what fits" in hit.why


def test_memories_that_refer_to_the_same_thing_are_neighbours(memory: recollect.Engine) -> None:
    memory.remember("Tokens are kept in Redis.", refs=["ADR-012"])
    memory.remember("Session store chosen in the zebra meeting.", refs=["adr-012"])
    found = memory.recall("zebra meeting")
    assert found.hits[1].arms["links"] > 0


def test_a_link_never_leads_out_of_the_scope_or_the_state(memory: recollect.Engine) -> None:
    here = memory.remember("The zebra project here.", scope=Scope(project="web"))
    there = memory.remember("Secret plans elsewhere.", scope=Scope(project="api"))
    gone = memory.remember("Old thoughts.", scope=Scope(project="web"))
    for other in (there, gone):
        memory.link(here.id, "related", other.id)
    memory.forget(gone.id)
    found = memory.recall("zebra", scope=Scope(project="web"))
    assert contents(found) == ["The zebra project here."]


def test_a_question_about_a_time_finds_what_is_of_that_time(memory: recollect.Engine, clock: Clock) -> None:
    for month in range(1, 13):
        when = datetime(2025, month, 10, tzinfo=UTC)
        memory.remember(f"Report {month} was written and sent to everyone.", valid_from=when)
    clock.moment = START
    found = memory.recall("what report was written in July 2025?", explain=True)
    assert contents(found)[0].startswith("Report 7 ")
    assert found.hits[0].arms["time"] > 0.5
    assert found.explained is not None
    assert found.explained.when.startswith("in July 2025: 2025-07-01")


def test_a_question_that_says_little_but_a_time_is_answered_by_the_time(opened: Opener, clock: Clock) -> None:
    memory = opened(embedder="default")
    incidents = (
        (3, "The search broke and nobody knew why; a broken index was to blame."),
        (5, "Tickets were printed without a barcode for two days."),
        (9, "The mail queue broke after the upgrade."),
    )
    for month, told in incidents:
        memory.remember(told, kind="incident", valid_from=datetime(2025, month, 10, tzinfo=UTC))
    memory.remember("The team met in Genoa.", valid_from=datetime(2025, 5, 12, tzinfo=UTC))
    clock.moment = START
    assert contents(memory.recall("What broke in May 2025?"))[0] == incidents[1][1]
    # With a subject of its own, the subject decides.
    assert contents(memory.recall("When did the mail queue break after the upgrade in May 2025?"))[0] == incidents[2][1]


def test_a_summary_of_a_time_is_found_though_it_was_written_after_it(opened: Opener, clock: Clock) -> None:
    memory = opened(embedder="default")
    told = (
        (datetime(2025, 4, 2, tzinfo=UTC), "summary", "Results: 3.4 million orders, two outages."),
        (datetime(2025, 4, 3, tzinfo=UTC), "fact", "The door of the server room has a new lock."),
        (datetime(2025, 5, 2, tzinfo=UTC), "summary", "Results: 3.1 million orders, one outage."),
        (datetime(2024, 11, 2, tzinfo=UTC), "fact", "The old lift was taken out."),
    )
    for moment, kind, content in told:
        memory.remember(content, kind=kind, valid_from=moment, tags=["captured"])
    clock.moment = START
    found = memory.recall("What were the results in March 2025?", explain=True)
    assert contents(found)[0] == told[0][2]
    assert found.explained is not None
    near = dict(found.explained.candidates["time"])
    ids = {hit.memory.content: hit.memory.id for hit in found}
    assert set(near) == {ids[told[0][2]], ids[told[1][2]]}  # May is too long after it
    assert near[ids[told[0][2]]] > 0.8 > 0.4 > near[ids[told[1][2]]]
    assert "time" not in found.hits[0].arms  # near the time, not of it


def test_what_came_after_a_time_does_not_crowd_it_out(memory: recollect.Engine, clock: Clock) -> None:
    after, of_may = datetime(2025, 6, 3, tzinfo=UTC), datetime(2025, 5, 20, tzinfo=UTC)
    kept = memory.remember_many([Draft(f"Mended pump {n}.", valid_from=of_may) for n in range(20)])
    memory.remember_many([Draft(f"Painted wall {n}.", valid_from=after) for n in range(120)])
    clock.moment = START
    found = memory.recall("What happened in May 2025?", explain=True)
    assert found.explained is not None
    assert {one.id for one in kept} <= set(dict(found.explained.candidates["time"]))
    assert not found.weak


def test_a_time_at_the_end_of_all_days_is_no_fault(memory: recollect.Engine) -> None:
    memory.remember("The big release is done.", valid_from="9999-12-28T00:00:00Z")
    memory.remember("Checks were added.", valid_from="2025-05-05T00:00:00Z")
    for asked in ("what was done on the day of the big release?", "what was done before the big release?"):
        assert contents(memory.recall(asked)) == ["Checks were added."]  # the release has not come yet
    last = memory.recall("what was done in the week before yesterday?", as_of="9999-12-31T00:00:00Z")
    assert len(last.hits) == 2


def test_before_a_date_is_most_of_the_past_and_decides_little(opened: Opener, clock: Clock) -> None:
    memory = opened(embedder="default")
    for month in (1, 2, 3):
        memory.remember(f"The office moved floor {month}.", valid_from=datetime(2024, month, 1, tzinfo=UTC))
    asked = "The old Certum card for signing expired, builds are signed in the cloud."
    memory.remember(asked, valid_from=datetime(2025, 3, 28, tzinfo=UTC))
    clock.moment = START
    assert contents(memory.recall("Before March 2025, how were builds signed?"))[0] == asked


def test_time_words_may_hang_on_an_event_that_is_remembered(memory: recollect.Engine, clock: Clock) -> None:
    memory.remember("The big migration was done.", valid_from=datetime(2025, 6, 1, tzinfo=UTC))
    memory.remember("Checks were added to the nightly job.", valid_from=datetime(2025, 5, 30, tzinfo=UTC))
    memory.remember("Checks were added to the weekly job.", valid_from=datetime(2024, 1, 1, tzinfo=UTC))
    found = memory.recall("which checks were added two days before the big migration")
    assert contents(found)[0] == "Checks were added to the nightly job."


def test_hints_in_the_question_narrow_the_search(memory: recollect.Engine) -> None:
    memory.remember("Use zebra here.", scope=Scope(project="web"), kind="decision", tags=["auth"])
    memory.remember("Use zebra there.", scope=Scope(project="api"), kind="decision", tags=["auth"])
    memory.remember("Use zebra somewhere.", scope=Scope(project="web"), kind="fact")
    found = memory.recall("zebra project:web type:decision tag:auth")
    assert contents(found) == ["Use zebra here."]


def test_a_hint_never_leads_out_of_what_the_caller_set(memory: recollect.Engine) -> None:
    memory.remember("Use zebra here.", scope=Scope(project="web"))
    memory.remember("Use zebra there.", scope=Scope(project="api"), kind="decision")
    found = memory.recall("zebra project:api", scope=Scope(project="web"))
    assert contents(found) == ["Use zebra here."]
    assert contents(memory.recall("zebra type:decision", kinds=["fact"])) == ["Use zebra here."]


def test_an_acronym_finds_its_long_form(opened: Opener) -> None:
    memory = opened(embedder="off")
    memory.remember("The kubernetes nodes are replaced on Mondays.")
    memory.remember_many([f"Remark {n} about lunch." for n in range(10)])
    assert contents(memory.recall("k8s"))[0].startswith("The kubernetes")


def test_a_project_teaches_its_own_words(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "lexicon.toml").write_text('blaze = ["billing service"]')
    memory = opened(embedder="off")
    memory.remember("The billing service is written in Go.")
    assert contents(memory.recall("blaze")) == ["The billing service is written in Go."]
    (tmp_path / "home" / "lexicon.toml").write_text("blaze = 7")
    with pytest.raises(recollect.BadInput, match=r"lexicon\.toml"):
        opened("other.db")


def test_a_turn_is_found_by_the_words_of_the_turn_before(opened: Opener) -> None:
    memory = opened(embedder="off")
    said = ["Which database did you pick for the zebra service?", "Postgres, in the end.", "Nice weather today."]
    memory.remember_many(
        [Draft(text, kind="turn", speaker="Ana", position=n, scope=Scope(session="s")) for n, text in enumerate(said)]
    )
    found = memory.recall("zebra service database")
    assert set(contents(found)[:2]) == set(said[:2])
    assert memory.get(found.hits[1].memory.id).position is not None


def test_what_the_session_has_seen_is_not_shown_again(memory: recollect.Engine) -> None:
    first = memory.remember("Zebra fact one is here.")
    second = memory.remember("Zebra fact two is there.")
    found = memory.recall("zebra fact", shown=[first.id], explain=True)
    assert [hit.memory.id for hit in found] == [second.id]
    assert found.explained is not None
    assert (first.id, "shown in this session already") in found.explained.dropped


def test_twins_are_shown_once(memory: recollect.Engine) -> None:
    memory.remember("The zebra service listens on port 8080 in all regions.", scope=Scope(session="a"))
    memory.remember("The zebra service listens on port 8080 in all regions!", scope=Scope(session="b"), importance=9)
    assert len(memory.recall("zebra service port")) == 1


def test_an_explained_answer_tells_what_each_arm_found_and_why_things_were_dropped(memory: recollect.Engine) -> None:
    memory.remember_many([f"Zebra remark number {n} is about {word}." for n, word in enumerate("abcdefgh")])
    found = memory.recall("zebra remark", limit=3, explain=True)
    told = found.explained
    assert told is not None
    assert len(told.candidates["text"]) == 8
    assert len(told.candidates["vector"]) == 8
    assert [reason for _, reason in told.dropped] == ["over the limit of 3"] * 5


def test_the_same_question_is_answered_from_the_cache_until_something_changes(opened: Opener, clock: Clock) -> None:
    one, other = opened(), opened()
    one.remember("Zebra fact.")
    first = one.recall("zebra")
    first.hits[0].arms["text"] = 99.0  # what a caller does to an answer does not reach the next one
    assert one.recall("zebra").hits[0].arms["text"] != 99.0
    one.recall("zebra", limit=3)
    other.remember("Another zebra fact from another process.")
    assert len(one.recall("zebra")) == 2
    assert one.stats()["recall_cache"]["hits"] == 1
    clock.forward(minutes=5)
    one.recall("zebra")
    assert one.stats()["recall_cache"]["hits"] == 1


def scored(*given: tuple[str, str, float]) -> list[Scored]:
    return [Scored(recollect.Memory(f"id{n}", text, kind=kind), score) for n, (kind, text, score) in enumerate(given)]


def test_balance_gives_each_kind_its_share_before_the_rest() -> None:
    many = scored(*[("fact", f"fact number {n}", 1 - n / 100) for n in range(20)], ("rule", "a rule", 0.1))
    assert "rule" in {one.memory.kind for one in balanced(many, 9)[:9]}


def test_diversity_prefers_the_new_over_the_alike() -> None:
    given = scored(
        ("fact", "red apples are sweet", 1.0), ("fact", "red apples are tasty", 0.95), ("fact", "trains run late", 0.9)
    )
    assert [one.memory.content for one in spread(given, 0.5)][1] == "trains run late"


def test_a_caller_may_ask_for_diversity(memory: recollect.Engine) -> None:
    said = ["Zebra red apples are sweet fruit.", "Zebra red apples are tasty fruit.", "Zebra trains run late at night."]
    memory.remember_many(said)
    found = memory.recall("zebra red apples", limit=2, diversity=1.0)
    assert said[2] in contents(found)
    assert said[2] not in contents(memory.recall("zebra red apples", limit=2))


@pytest.mark.parametrize("budget", [1, 30, 100, 10_000])
def test_no_choice_exceeds_the_budget_or_the_limit(budget: int) -> None:
    given = scored(*[("fact", "word " * n, 1 - n / 100) for n in range(1, 40)])
    plain = Recipe("plain", "", {"text": 1.0})
    chosen = select(given, plain, 12, budget, (), lambda memory: len(memory.content.split()))
    assert chosen.tokens == sum(len(one.memory.content.split()) for one in chosen.chosen) <= budget
    assert len(chosen.chosen) <= 12


def test_a_threshold_may_leave_nothing() -> None:
    assert (
        select(scored(("fact", "x", 0.3)), replace(RECIPES["default"], threshold=0.45), 5, None, (), lambda _: 1).chosen
        == []
    )


def test_age_does_not_count_against_a_memory_when_a_time_was_asked_for(memory: recollect.Engine, clock: Clock) -> None:
    memory.remember("Zebra news.", kind="turn", scope=Scope(session="old"), valid_from=START - timedelta(days=300))
    memory.remember("Zebra news.", kind="turn", scope=Scope(session="new"), valid_from=START - timedelta(days=2))
    year = (START - timedelta(days=300)).strftime("%B %Y")
    assert memory.recall(f"zebra news in {year}").hits[0].memory.scope.session == "old"


def test_a_question_that_nothing_answers_gets_a_weak_answer_or_none_with_the_real_model(opened: Opener) -> None:
    memory = opened(embedder="default")
    memory.remember_many(
        [
            "Invoices are sent on the first of the month.",
            "The API listens on port 8080.",
            "Ana owns the billing service.",
        ]
    )
    assert memory.recall("what is the boiling point of tungsten?").weak
    assert not memory.recall("what is the boiling point of tungsten?", abstain=True).hits
    assert not memory.recall("who owns the billing service?").weak


def test_two_questions_in_one_get_both_answers_with_the_real_model(opened: Opener) -> None:
    memory = opened(embedder="default")
    memory.remember_many(["Ana owns the billing service.", "Deploys go out on Thursdays at noon.", *FILLERS])
    found = contents(memory.recall("Who owns the billing service, and when do deploys go out?", limit=2))
    assert set(found) == {"Ana owns the billing service.", "Deploys go out on Thursdays at noon."}


FILLERS = [
    f"The {thing} was repainted in {colour}." for thing in ("fence", "door", "boat") for colour in ("red", "blue")
]


def test_a_named_time_never_reaches_beyond_what_the_caller_asked_for(memory: recollect.Engine) -> None:
    memory.remember("The zebra broke in the old days.", valid_from="2020-05-05T00:00:00Z")
    memory.remember("The zebra broke again.", valid_from="2025-05-05T00:00:00Z", tags=["captured"])
    found = memory.recall("what zebra broke in May 2020?", since="2023-01-01T00:00:00Z")
    assert contents(found) == ["The zebra broke again."]


def test_an_event_of_another_project_dates_nothing_here(memory: recollect.Engine) -> None:
    when = "2021-03-03T00:00:00Z"
    memory.remember("Kraken outage", kind="incident", scope=Scope(project="other"), valid_from=when)
    memory.remember("Cleaned up the zebra cage.", scope=Scope(project="web"))
    found = memory.recall("what did we do after the Kraken outage", scope=Scope(project="web"), explain=True)
    assert found.explained is not None
    assert found.explained.when == ""


def test_looking_back_keeps_to_the_scope_and_kind_of_that_time(memory: recollect.Engine, clock: Clock) -> None:
    id = memory.remember("The widget is blue.", kind="decision", scope=Scope(project="old")).id
    then = clock.forward(days=1)
    clock.forward(days=1)
    memory.edit(id, kind="fact", scope=Scope(project="new"))
    assert contents(memory.recall("widget", as_of=then, scope=Scope(project="new"))) == []
    assert contents(memory.recall("widget", as_of=then, scope=Scope(project="old"))) == ["The widget is blue."]
    assert len(memory.recall("widget", as_of=then, kinds=["decision"])) == 1


def test_a_turn_takes_its_context_only_from_its_own_scope(memory: recollect.Engine) -> None:
    memory.remember("Zebra plans.", kind="turn", scope=Scope(project="a", session="s"), position=1)
    other = memory.remember("Hello there.", kind="turn", scope=Scope(project="b", session="s"), position=2)
    assert memory.get(other.id).context == ""


def test_context_shows_a_user_nothing_of_another(memory: recollect.Engine) -> None:
    memory.remember("Bob earns zebra.", scope=Scope(user="bob", project="web"), importance=9)
    memory.remember("The site runs on Django.", scope=Scope(project="web"), importance=9)
    text = memory.context("what is up", scope=Scope(user="alice", project="web"), budget=800).text
    assert "Django" in text
    assert "Bob" not in text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ('what is said of "blue green" deploys?', "A blue green deploy needs two stacks."),
        ("what fails with HL-4092?", "HL-4092 means that the hold ran out."),
    ],
)
def test_what_is_quoted_or_named_comes_first_where_it_stands_as_it_is(
    memory: recollect.Engine, question: str, answer: str
) -> None:
    memory.remember("Green and blue deploys are both fine.")
    memory.remember("The letters HL and the number 4092.")
    memory.remember(answer)
    assert contents(memory.recall(question))[0] == answer
