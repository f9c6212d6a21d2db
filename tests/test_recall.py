"""The read path: what is found, in which order, and what it says about itself."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

import recollect
from conftest import START, Clock, Opener
from recollect import Scope, text
from recollect.models.embedder import Role
from recollect.recall.printing import printed
from recollect.vectors import Floats

NOTES = [
    "The payments service retries three times and then parks the message.",
    "Use pnpm in the monorepo, never npm.",
    "ADR-005 chose PostgreSQL over MongoDB because of transactions.",
    "getUserName() caches for five minutes.",
    "The office has a coffee machine on the second floor.",
]


@pytest.fixture
def notes(memory: recollect.Engine) -> recollect.Engine:
    memory.remember_many(NOTES)
    return memory


class Spy:
    """A tiny true embedder: one axis a topic, so that meaning can be told exactly."""

    model, dimension = "spy/1", 8
    TOPICS = (("car", "automobile", "vehicle"), ("tea", "drink"), ("deploy", "release", "ship"))

    def __init__(self) -> None:
        self.roles: list[Role] = []

    def warm(self) -> None:
        return None

    def embed(self, texts: list[str], role: Role) -> Floats:
        self.roles.append(role)
        rows = np.full((len(texts), self.dimension), 0.01, np.float32)
        for row, said in zip(rows, texts, strict=True):
            for axis, words in enumerate(self.TOPICS):
                row[axis] += sum(word in said.lower() for word in words)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def contents(found: recollect.Recall) -> list[str]:
    return [hit.memory.content for hit in found.hits]


@pytest.mark.parametrize(
    ("question", "answer"), [("user name cache", 3), ("ADR 5", 2), ("pnpm", 1), ("parks messages", 0)]
)
def test_a_question_finds_the_note_that_answers_it(notes: recollect.Engine, question: str, answer: int) -> None:
    assert contents(notes.recall(question))[0] == NOTES[answer]


def test_meaning_is_found_without_a_shared_word(opened: Opener) -> None:
    spy = Spy()
    memory = opened(embedder=spy)
    memory.remember("Her automobile is red.")
    memory.remember("Green tea is best.")
    found = memory.recall("which car?")
    assert contents(found)[0] == "Her automobile is red."
    assert found.hits[0].arms.keys() == {"vector"}
    assert spy.roles == ["document", "document", "query"]


def test_each_hit_carries_its_scores_and_a_line_of_why(notes: recollect.Engine) -> None:
    hit = notes.recall("coffee machine").hits[0]
    assert hit.arms.keys() == {"text", "vector"}
    assert hit.why.startswith("meaning 0.")
    assert "words coffee, machine" in hit.why
    assert hit.why.endswith("just now")


def test_the_answer_names_the_arms_that_ran(notes: recollect.Engine) -> None:
    found = notes.recall("pnpm")
    assert (found.arms, found.skipped) == (("text", "vector"), ())
    assert found.timings.keys() >= {"understand", "text", "embed", "vector", "links", "rank", "select"}


def test_without_an_embedder_words_are_found_and_the_answer_says_what_was_skipped(opened: Opener) -> None:
    memory = opened(embedder="off")
    memory.remember("Use pnpm.")
    found = memory.recall("pnpm")
    assert contents(found) == ["Use pnpm."]
    assert (found.arms, found.skipped) == (("text",), ("vector: switched off (embedder = off)",))


def test_a_missing_model_degrades_to_words_and_says_how_to_mend_it(
    opened: Opener, tmp_path: object, caplog: pytest.LogCaptureFixture
) -> None:
    memory = opened(embedder=f"{tmp_path}/no-such-model")
    result = memory.remember("Use pnpm.")
    found = memory.recall("pnpm")
    memory.recall("pnpm again")
    assert contents(found) == ["Use pnpm."]
    assert found.skipped == result.skipped
    assert "no-such-model" in found.skipped[0]
    assert len([record for record in caplog.records if "words only" in record.message]) == 1


def test_memories_stored_without_vectors_are_found_by_words_and_embedded_later(opened: Opener) -> None:
    opened(embedder="off").remember("The automobile is red.")
    memory = opened(embedder=Spy())
    assert memory.recall("automobile").hits[0].arms.keys() == {"text"}
    assert memory.embed() == 1
    assert memory.embed() == 0
    assert memory.recall("automobile").hits[0].arms.keys() == {"text", "vector"}


@pytest.mark.parametrize("fusion", ["sum", "rrf"])
def test_both_fusions_put_what_both_arms_like_first(notes: recollect.Engine, fusion: str) -> None:
    found = notes.recall("PostgreSQL or MongoDB transactions", fusion=fusion)  # type: ignore[arg-type]
    assert contents(found)[0] == NOTES[2]


@pytest.mark.parametrize(
    ("better", "worse"), [({"importance": 10}, {"importance": 1}), ({"confidence": 1.0}, {"confidence": 0.1})]
)
def test_importance_and_confidence_decide_between_equals(
    memory: recollect.Engine, better: dict[str, int], worse: dict[str, int]
) -> None:
    low = memory.remember("Alpha caching.", kind="turn", scope=Scope(session="1"), **worse)  # type: ignore[arg-type]
    high = memory.remember("Alpha caching.", kind="turn", scope=Scope(session="2"), **better)  # type: ignore[arg-type]
    assert [hit.memory.id for hit in memory.recall("alpha caching")] == [high.id, low.id]


def test_the_newer_of_equals_comes_first(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember("Alpha caching.", kind="turn", scope=Scope(session="1"))
    clock.forward(days=200)
    new = memory.remember("Alpha caching.", kind="turn", scope=Scope(session="2"))
    assert [hit.memory.id for hit in memory.recall("alpha caching")] == [new.id, old.id]


def test_limit_is_an_upper_bound(notes: recollect.Engine) -> None:
    assert len(notes.recall("the", limit=2)) == 2
    assert len(notes.recall("pnpm", limit=1)) == 1


def test_the_token_budget_is_an_upper_bound_on_what_is_printed(notes: recollect.Engine) -> None:
    for budget in (1, 20, 40, 80, 1000):
        found = notes.recall("service pnpm PostgreSQL cache coffee", max_tokens=budget)
        spent = sum(text.tokens(printed(hit.memory)) for hit in found)
        assert spent == found.tokens <= budget
    assert len(found) == len(NOTES)


def test_only_active_valid_and_unexpired_memories_are_found_unless_asked(
    memory: recollect.Engine, clock: Clock
) -> None:
    day = timedelta(days=1)
    memory.remember("Alpha now.")
    memory.remember("Alpha later.", valid_from=START + 9 * day)
    memory.remember("Alpha before.", valid_to=START - day)
    memory.remember("Alpha expired.", expires_at=START + day)
    memory.forget(memory.remember("Alpha archived.").id)
    clock.forward(days=2)
    assert contents(memory.recall("alpha")) == ["Alpha now."]
    assert len(memory.recall("alpha", states=["active"])) == 4
    assert contents(memory.recall("alpha", states=["archived"])) == ["Alpha archived."]


def test_of_two_that_contradict_each_other_the_newer_comes_first(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember("The staging database listens on port 5433.", importance=10)
    clock.forward(days=3)
    new = memory.remember("Ana saw 5434 as port of the database, in staging, yesterday.", importance=1)
    asked = "which port has the staging database"
    assert [hit.memory.id for hit in memory.recall(asked)] == [old.id, new.id]
    memory.link(new.id, "contradicts", old.id)
    assert [hit.memory.id for hit in memory.recall(asked)] == [new.id, old.id]
    assert [hit.memory.id for hit in memory.recall(asked, as_of=clock() - timedelta(days=1))] == [old.id]
    trusted = memory.remember("The port of the archive is 7000.", importance=10)
    clock.forward(days=3)
    guessed = memory.for_caller(model=True).remember("Its log names 7001 as port of the archive.", importance=1)
    memory.link(guessed.id, "contradicts", trusted.id)
    assert memory.recall("which port has the archive").hits[0].memory.id == trusted.id


def test_of_two_notes_on_one_thing_the_newer_comes_first_though_nobody_linked_them(
    opened: Opener, clock: Clock
) -> None:
    memory = opened(embedder="default")
    old = memory.remember("PDF export uses Qt's QPdfWriter.", importance=10)
    spoken = memory.remember(
        "The tests run where? On the Mac mini.", kind="turn", scope=Scope(session="s"), importance=10
    )
    clock.forward(days=90)
    new = memory.remember("PDF export goes through krilla, fonts subset.", importance=1)
    later = memory.remember("Tests, well, the Hetzner box.", kind="turn", scope=Scope(session="s"), importance=1)
    asked = "How is the PDF export done?"
    assert [hit.memory.id for hit in memory.recall(asked, limit=2)] == [new.id, old.id]
    assert [hit.memory.id for hit in memory.recall(asked, limit=2, effort="fast")] == [old.id, new.id]
    assert [hit.memory.id for hit in memory.recall(asked, limit=1, as_of=clock() - timedelta(days=1))] == [old.id]
    here = memory.remember("The search service listens on port 7001 in staging.", importance=10)
    clock.forward(days=1)
    memory.remember("The search service listens on port 8443 in production.", importance=10)
    assert memory.recall("Which port has the search service in staging?").hits[0].memory.id == here.id
    turns = [hit.memory.id for hit in memory.recall("Where do the tests run?", limit=2)]
    assert turns == [spoken.id, later.id]  # what was said is as it was said


def test_since_and_until_look_at_when_a_memory_holds_from_or_was_made(memory: recollect.Engine, clock: Clock) -> None:
    day = timedelta(days=1)
    memory.remember("Alpha of old.", valid_from=START - 30 * day)
    memory.remember("Alpha of today.")
    clock.forward(days=5)
    memory.remember("Alpha of this week.")
    assert set(contents(memory.recall("alpha", since=START - day))) == {"Alpha of today.", "Alpha of this week."}
    assert contents(memory.recall("alpha", until=START - day)) == ["Alpha of old."]
    assert contents(memory.recall("alpha", since=START - day, until=START + day)) == ["Alpha of today."]


def test_looking_back_shows_what_was_known_and_believed_then(memory: recollect.Engine, clock: Clock) -> None:
    day = timedelta(days=1)
    old = memory.remember("We use Node 18 in production.")
    clock.forward(days=1)
    memory.edit(old.id, content="We use Node 19 in production.")
    clock.forward(days=1)
    new = memory.remember("We use Node 22 in production.")
    memory.link(new.id, "supersedes", old.id)
    assert contents(memory.recall("Node in production")) == ["We use Node 22 in production."]
    assert contents(memory.recall("Node in production", as_of=START + 1.5 * day)) == ["We use Node 19 in production."]
    assert contents(memory.recall("Node in production", as_of=START + 0.5 * day)) == ["We use Node 18 in production."]
    assert contents(memory.recall("Node in production", as_of=START - day)) == []


def test_a_recall_is_counted_without_touching_the_journal(notes: recollect.Engine) -> None:
    before = notes.stats()["journal"]
    id = notes.recall("pnpm", limit=1).hits[0].memory.id
    notes.recall("pnpm", limit=1)
    kept = notes.get(id)
    assert (kept.recalled, kept.last_recalled_at is not None) == (2, True)
    assert notes.get(id).accessed == 1
    assert notes.stats()["journal"] == before


def test_a_long_text_is_found_by_its_best_part(opened: Opener) -> None:
    memory = opened(embedder=Spy())
    filler = "Nothing of note happened on that long and quiet day in the office. " * 60
    memory.remember(f"The automobile is red. {filler} We ship on Thursdays. {filler}")
    # As one vector the text would lie between its two topics, at 0.71 from either.
    assert memory.recall("release").hits[0].arms["vector"] > 0.95
    assert memory.recall("vehicle").hits[0].arms["vector"] > 0.95


def test_the_same_question_gets_the_same_answer(notes: recollect.Engine) -> None:
    assert contents(notes.recall("service cache")) == contents(notes.recall("service cache"))


def test_a_page_of_the_list_leads_to_the_next(memory: recollect.Engine) -> None:
    memory.remember_many([f"note number {n}" for n in range(25)])
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.list(limit=10, cursor=cursor)
        seen += [m.content for m in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(f"note number {n}" for n in range(25))
