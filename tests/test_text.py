"""Text, terms and times: properties that hold for any input."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import START
from recollect import BadTime, Memory, Scope, ids, text, times
from recollect.language.terms import joined, of_query, stem, terms
from recollect.language.vetoes import differences, share_words

moments = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))


@given(st.text())
def test_cleaning_twice_is_cleaning_once_and_leaves_nothing_that_cannot_be_stored(said: str) -> None:
    cleaned = text.clean(said)
    assert text.clean(cleaned) == cleaned
    assert "\x00" not in cleaned
    cleaned.encode("utf-8")


@given(st.text())
def test_the_key_does_not_depend_on_case_spacing_or_zero_width_characters(said: str) -> None:
    if text.fold(said):
        assert text.key(f"  {said}\u200b ") == text.key(said)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5000), st.integers(50, 400))
def test_chunks_are_small_enough_and_lose_no_word(said: str, size: int) -> None:
    said = text.clean(said)
    pieces = text.chunks(said, size, overlap=size // 10)
    assert all(len(piece) <= size for piece in pieces)
    together = "".join("".join(piece.split()) for piece in pieces)
    assert set("".join(said.split())) == set(together)


@given(st.text())
def test_terms_are_plain_words_that_a_full_text_index_takes_as_they_are(said: str) -> None:
    for term in terms(said):
        assert term.isalnum() or not term.isascii()
        assert term == term.lower() or not term.isascii()
    assert joined(said).split() == terms(said)


@given(st.text())
def test_every_term_of_a_question_is_a_term_of_the_same_text(said: str) -> None:
    assert set(of_query(said)) <= set(terms(said))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("getUserName", "get_user_name"),
        ("ADR-005", "adr 5"),
        ("userID", "user-id"),
        ("HTTPServer", "http_server"),
        ("deployed", "deploying"),
    ],
)
def test_spellings_of_one_thing_share_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


def test_a_word_has_the_same_stem_in_every_thread() -> None:
    ends = ("s", "ing", "ed", "ness", "ational", "ously", "ement", "ability", "fulness", "ization")
    words = [f"{begin}{end}" for begin in ("connect", "relat", "deploy", "migrat", "hop") for end in ends]
    uncached = stem.__wrapped__  # with the cache, only the first of the threads would have anything to do
    wanted = {word: uncached(word) for word in words}

    def differing(number: int) -> list[str]:
        mine = words[number * 12 :] + words[: number * 12]
        return [word for word in mine * 20 if uncached(word) != wanted[word]]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(differing, range(4))) == [[]] * 4
    finally:
        sys.setswitchinterval(before)


@given(moments)
def test_times_survive_the_store_and_the_wire(moment: datetime) -> None:
    assert times.moment(times.micros(moment)) == moment
    assert times.aware(times.iso(moment)) == moment


def test_an_id_sorts_by_time_and_is_recognised() -> None:
    early, late = ids.make(1000, 2**80 - 1), ids.make(1001, 0)
    assert early < late
    assert len(early) == ids.LENGTH
    assert ids.plausible(early)
    assert ids.plausible(ids.short(early))
    assert not ids.plausible("ilou")


@given(st.builds(
    Memory, id=st.just("0" * 26), content=st.text(), tags=st.lists(st.text()).map(tuple),
    scope=st.builds(Scope, user=st.text()), valid_from=st.none() | moments, created_at=moments,
    confidence=st.floats(0, 1),
))  # fmt: skip
def test_a_noun_survives_its_wire_form(memory: Memory) -> None:
    assert Memory.from_dict(memory.as_dict()) == memory


@pytest.mark.parametrize("said", ["", "tomorrow", "2026-13-01", "2026-01-01T25:00Z", "99999999d", "7y", "1e9d"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(BadTime):
        times.parse_time(said, START, UTC)


def test_how_long_ago_reads_like_a_person_would_say_it() -> None:
    said = [times.ago(START - timedelta(days=days), START) for days in (0, 1, 3, 40, 60, 400, 1000)]
    assert said == [
        "just now",
        "yesterday",
        "3 days ago",
        "40 days ago",
        "2 months ago",
        "13 months ago",
        "3 years ago",
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Retry 3 times.", "Retry three times.", True),
        ("Use port 8080.", "Use port 8081.", False),
        ("Enable caching.", "Do not enable caching.", False),
        ("We can't deploy.", "We cannot deploy.", True),
        ("Version 1.2.3", "Version 1.2.4", False),
    ],
)
def test_numbers_and_negations_must_agree(one: str, other: str, same: bool) -> None:
    assert (not differences(one, other)) is same


def test_texts_that_share_few_words_are_not_near() -> None:
    assert share_words("The API server listens on port 8080", "The API server is listening on port 8080")
    assert not share_words(
        "The API server listens on port 8080", "The database server listens on port 5432 of another host"
    )
